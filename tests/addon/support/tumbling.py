"""Made-up simulations for the tests of keyframes: bodies that tumble, and what Blender shows of them."""

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion, Vector

import cairn
from cairn.addon.read.frame_samples import sample_frame, simulation_paused
from cairn.addon.read.scene_export import export_scene
from cairn.addon.write import earlier_animation, fcurves, keyframes
from cairn.solver_core.trajectory import Trajectory

FRAMES = 30


def new_scene():
    """A fresh file with a Rigid Body World whose cache has 30 frames after the first."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    cairn.register()
    bpy.ops.rigidbody.world_add()
    scene = bpy.context.scene
    scene.rigidbody_world.collection = bpy.data.collections.new("RigidBodyWorld")
    scene.rigidbody_world.point_cache.frame_end = 1 + FRAMES
    return scene


def cube_mesh():
    if "Cube" in bpy.data.meshes:
        return bpy.data.meshes["Cube"]
    mesh = bpy.data.meshes.new("Cube")
    corners = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    mesh.from_pydata(corners, [], [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    return mesh


def add_body(scene, name="Body", *, location=(0.3, -0.2, 2.0), rotation=(0.3, -0.4, 0.5), scale=(1, 1, 1), mode="XYZ"):
    obj = bpy.data.objects.new(name, cube_mesh())
    obj.location = location
    obj.rotation_euler = rotation
    obj.rotation_quaternion = Euler(rotation).to_quaternion()
    axis, angle = obj.rotation_quaternion.to_axis_angle()
    obj.rotation_axis_angle = (angle, *axis)
    obj.scale = scale
    obj.rotation_mode = mode
    scene.collection.objects.link(obj)
    scene.rigidbody_world.collection.objects.link(obj)
    return obj


def add_empty(scene, name="Parent", **values):
    obj = bpy.data.objects.new(name, None)
    for key, value in values.items():
        setattr(obj, key, value)
    scene.collection.objects.link(obj)
    return obj


def key(obj, path, values, *, index=-1):
    """Key a property at frames, {frame: value}."""
    for frame, value in values.items():
        setattr(obj, path, value) if index < 0 else getattr(obj, path).__setitem__(index, value)
        obj.keyframe_insert(path, index=index, frame=frame)


def launched_body(scene):
    """A body that is carried along a keyed path and let go at frame 11."""
    obj = add_body(scene)
    key(obj, "location", {-5: (0, 0, 0), 3: (0, 0, 1), 25: (4, 5, 6)})
    key(obj, "rotation_euler", {1: (0, 0, 0), 25: (1, 2, 3)})
    key(obj, "hide_render", {5: True, 15: False})
    key(obj.rigid_body, "kinematic", {1: True, 11: False})
    obj["glow"] = 1.0
    obj.keyframe_insert('["glow"]', frame=4)
    return obj


def curves(obj):
    data = obj.animation_data
    return fcurves.curves_of(fcurves.channelbag(data.action, data.action_slot)) if data else {}


class Tumble:
    """A made-up simulation of a scene: every body that moves falls and turns about an axis of its own."""

    def __init__(self, scene, frames=FRAMES, *, follow_until=1, speed=0.3):
        self.export = export_scene(scene)
        with simulation_paused(scene):
            self.samples = [
                sample_frame(scene, self.export, frame)
                for frame in range(self.export.frame_start + 1, self.export.frame_start + frames + 1)
            ]
        model = self.export.model
        start = [Matrix(body.matrix_world_start) for body in self.export.bodies]
        self.start = np.array(start)
        position = np.array([matrix.translation for matrix in start], float)
        orientation = np.array([proper(matrix).to_quaternion() for matrix in start], float)
        self.trajectory = Trajectory(position, orientation)
        random = np.random.default_rng(1)
        axes = random.normal(size=(model.body_count, 3))
        for i, sample in enumerate(self.samples, 1):
            followed = sample.kind != 2
            turn = np.array(
                [Quaternion(axis, speed * i) @ Quaternion(q) for axis, q in zip(axes, orientation, strict=True)]
            )
            fall = position + np.array([0.05 * i, 0.02 * i, -0.004 * i * i])
            self.trajectory.append(
                np.where(followed[:, None], sample.position, fall),
                np.where(followed[:, None], sample.orientation, turn),
                None,
            )

    def world(self, name, frame):
        """The world matrix that the object must have at a frame."""
        body = next(body for body in self.export.bodies if body.object_name == name)
        i = frame - self.export.frame_start
        rigid = [
            Matrix.LocRotScale(
                Vector(self.trajectory.position[k][body.index]),
                Quaternion(self.trajectory.orientation[k][body.index]),
                None,
            )
            for k in (i, 0)
        ]
        return np.array(rigid[0] @ rigid[1].inverted() @ Matrix(self.start[body.index]))

    def write(self, scene, **arguments):
        keyframes.write_trajectory(scene, self.export, self.trajectory, self.samples, **arguments)


def proper(matrix):
    axes = matrix.to_3x3().normalized()
    return axes * -1 if axes.determinant() < 0 else axes


def world_at(obj, frame, subframe=0.0):
    bpy.context.scene.frame_set(frame, subframe=subframe)
    return np.array(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)


def assert_motion(tumble, scene, tolerance=2e-5):
    """Blender shows the simulated poses; the worst object and frame are named."""
    frames = np.random.default_rng(0).integers(1, 1 + tumble.trajectory.frame_count, size=6)
    for body in tumble.export.bodies:
        for frame in (1, *frames.tolist()):
            shown = world_at(scene.objects[body.object_name], frame)
            wanted = tumble.world(body.object_name, frame)
            error = np.abs(shown - wanted).max()
            assert error < tolerance, f"{body.object_name}, frame {frame}: {error}\n{shown}\n{wanted}"


def transforms(scene, frames):
    """World matrices of all objects at frames, with Blender's own simulation off."""
    with simulation_paused(scene):
        return np.array([[world_at(obj, frame) for obj in scene.objects] for frame in frames])


def state(obj):
    """What the user can see of an object's animation and transform."""
    data = obj.animation_data
    return {
        "action": data.action.name if data and data.action else None,
        "slot": data.action_slot.identifier if data and data.action_slot else None,
        "curves": {key: fcurves.digest(curve) for key, curve in curves(obj).items()},
        "location": tuple(obj.location),
        "rotation": [tuple(getattr(obj, path)) for path in earlier_animation.ROTATION_PATHS],
        "constraints": [constraint.mute for constraint in obj.constraints],
        "drivers": [curve.mute for curve in data.drivers] if data else [],
        "tracks": len(data.nla_tracks) if data else 0,
        "has_data": data is not None,
    }
