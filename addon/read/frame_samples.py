"""What animation gives the simulation in a frame: kinds, poses, gravity, duration, and shapes that change.

All of it is read from the evaluated scene while Blender's own simulation is off (``simulation_paused``).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import bpy
import numpy as np

from ...solver_core.geometry import rotations
from ...solver_core.model.model import BodyKind
from .activation import sample_activation
from .exported_scene import ExportedBody, FrameSample, SceneExport
from .faults import Faults, SceneError
from .force_fields import fields_at
from .forces import forces_at
from .growing_compounds import sample_growing
from .guides import follow_at
from .object_keys import find_object
from .scene_animation import give_least_scale
from .scene_joints import breaking_load
from .scene_poses import (
    finite_matrices,
    parents_part,
    rigid_poses,
    rotation_and_stretch,
    vector_text,
)
from .scene_shapes import MeshError, ShapeReader


def sample_frame(
    scene: bpy.types.Scene, export: SceneExport, frame: int, shown: bpy.types.Scene | None = None
) -> FrameSample:
    """Evaluate one frame and read what is given from outside for the step that ends there.

    Call it inside ``simulation_paused``, which puts the frame back, or with the scene that ``Aside.frames`` has
    ``shown``: the frame is evaluated there.

    Raises
    ------
    SceneError
        An object was deleted or renamed, or a pose is not finite.
    """
    depsgraph = evaluate_frame(shown or scene, frame)
    sample = sample_without_bodies(scene, depsgraph, frame, export)
    bodies = [body for body in export.bodies if is_sampled(body)]
    objects = [_object_of(scene, body) for body in bodies]
    evaluated = [ob.evaluated_get(depsgraph) for ob in objects]
    matrices = finite_matrices(evaluated, f"at frame {frame}")
    give_least_scale(evaluated, matrices)
    rows = [row for row, body in enumerate(bodies) if body.follows]
    following = [bodies[row].index for row in rows]
    sample.position[following], sample.orientation[following] = rigid_poses(matrices[rows])
    for body, ob, matrix in zip(bodies, evaluated, matrices, strict=True):
        sample.kind[body.index] = kind_at(ob.rigid_body, body)
        if body.parent_animated:
            sample.parent_matrix[body.object_name] = parents_part(ob)
        if body.carries_bodies:
            sample.matrix_world[body.object_name] = matrix.copy()
    # Last, since reading a shape may evaluate anew, which would leave earlier references behind.
    faults = Faults()
    for body, ob, matrix in zip(bodies, objects, matrices, strict=True):
        with faults.caught():
            _sample_shape(sample, scene, depsgraph, body, ob, matrix)
    faults.raise_any()
    sample_activation(sample, export, depsgraph)
    if any(one.is_sampled for one in export.fields):
        sample = replace(sample, fields=fields_at(export.fields, depsgraph))
    if export.forces_change:
        sample = replace(sample, forces=forces_at(export.bodies, depsgraph))
    if export.follow_changes:
        sample = replace(sample, follow_at=follow_at(export.bodies, depsgraph))
    return _with_joints(sample, scene, depsgraph, export)


def _object_of(scene, body):
    ob = find_object(body.object_name, body.library)
    if ob is None or ob.rigid_body is None:
        raise SceneError(body.object_name, "is no longer a rigid body of this scene; bake again")
    return ob


def _sample_shape(sample, scene, depsgraph, body, ob, matrix):
    """Read what changes its form or size."""
    if body.deforming_vertices:
        sample.vertices[body.index] = _vertices_at(ob, matrix, depsgraph, sample.frame, body)
    if body.grows:
        sample.shapes[body.index] = _shape_at(ob, matrix, depsgraph, sample.frame, body)
    if body.growing_parts:
        children = [find_object(part.object_name, part.library) for part in body.growing_parts]
        pose = sample.position[body.index], sample.orientation[body.index]
        vertices, shapes = sample_growing(depsgraph, sample.frame, ob, children, body.growing_parts, *pose)
        sample.vertices.update({(body.index, part): points for part, points in vertices.items()})
        sample.shapes.update({(body.index, part): shape for part, shape in shapes.items()})


def _with_joints(sample, scene, depsgraph, export) -> FrameSample:
    """The sample, with what is animated of the joints: the settings of a step are those of its last frame."""
    if not any(joint.is_sampled for joint in export.joints):
        return sample
    enabled = np.array([joint.enabled for joint in export.joints])
    names = {drive.value for joint in export.joints for drive in joint.drives}
    values = {name: np.full((len(export.joints), 6), np.nan) for name in sorted(names)}
    if any(joint.breaking_changes for joint in export.joints):
        values["joint_breaking"] = np.full((len(export.joints), 2), np.nan)
    for joint in export.joints:
        if not joint.is_sampled:
            continue
        ob, constraints = find_object(joint.object_name, joint.library), scene.rigidbody_world.constraints
        if ob is None or ob.rigid_body_constraint is None or ob not in set(constraints.all_objects):
            raise SceneError(joint.object_name, "is no longer a rigid body constraint of this scene; bake again")
        evaluated = ob.evaluated_get(depsgraph)
        enabled[joint.index] = evaluated.rigid_body_constraint.enabled
        if joint.switch is not None:
            enabled[joint.index] = joint.switch.holds(sample.frame)
        for drive in joint.drives:
            values[drive.value][joint.index, drive.axis] = drive.read(evaluated)
        if joint.breaking_changes:
            load = breaking_load(depsgraph.scene_eval, evaluated.rigid_body_constraint)
            values["joint_breaking"][joint.index] = load
    return replace(sample, joint_enabled=enabled, joint_values=values)


@contextmanager
def simulation_paused(scene: bpy.types.Scene) -> Iterator[None]:
    """Stop Blender's own simulation meanwhile; at exit the world's switch and the current frame are as before.

    With the world switched off, every object is where its animation puts it, at any frame.
    """
    world = scene.rigidbody_world
    # who reads a scene from a script may not have registered the add-on
    book = getattr(scene, "cairn", None)
    enabled = world.enabled
    waiting = book if book is not None and book.world_waits else None
    frame, subframe = scene.frame_current, scene.frame_subframe
    world.enabled = False
    if waiting is not None:
        waiting.world_waits = False
    try:
        yield
    finally:
        # The switch first: the frame is then shown as before, with what Blender's own simulation has cached of it.
        world.enabled = enabled
        if waiting is not None:
            waiting.world_waits = True
        scene.frame_set(frame, subframe=subframe)


def evaluate_frame(scene: bpy.types.Scene, frame: int) -> bpy.types.Depsgraph:
    """Evaluate a frame and return the depsgraph; needed once even at the current frame of a file just opened."""
    scene.frame_set(frame)
    return view_layer_of(scene).depsgraph


def poses_at(
    scene: bpy.types.Scene, shown: bpy.types.Scene, bodies: list[ExportedBody], time: float
) -> tuple[np.ndarray, np.ndarray]:
    """Where animation puts bodies at a time between two frames, positions [n, 3] and orientations [n, 4].

    ``scene`` is the one that they are in, ``shown`` the one whose frames are set, as for ``sample_frame``.
    """
    frame = int(np.floor(time))
    shown.frame_set(frame, subframe=time - frame)
    depsgraph = view_layer_of(shown).depsgraph
    objects = [find_object(body.object_name, body.library) for body in bodies]
    evaluated = [ob.evaluated_get(depsgraph) for ob in objects if ob is not None]
    return rigid_poses(finite_matrices(evaluated, f"at frame {time:g}"))


def view_layer_of(scene: bpy.types.Scene) -> bpy.types.ViewLayer:
    """The view layer whose depsgraph is read: the user's where the scene is the one in view."""
    return bpy.context.view_layer if bpy.context.scene == scene else scene.view_layers[0]


def is_sampled(body: ExportedBody) -> bool:
    return (
        body.follows
        or body.flags_change
        or body.parent_animated
        or body.carries_bodies
        or body.deforming_vertices > 0
        or body.grows
        or body.growing_parts != ()
    )


def _vertices_at(ob, matrix, depsgraph, frame, body) -> np.ndarray:
    """Vertices of a deforming mesh at an evaluated frame, in the user frame."""
    _, stretch = rotation_and_stretch(matrix, ob.name)
    try:
        vertices = ShapeReader(depsgraph).vertices(ob, stretch)
    except MeshError as error:
        raise SceneError(ob.name, f"at frame {frame}, {error}") from error
    if len(vertices) != body.deforming_vertices:
        raise SceneError(
            ob.name,
            f"its mesh has {body.deforming_vertices} vertices at the start and {len(vertices)} at frame {frame}; "
            "only their places may change: set Source to Deform or Base in Physics > Rigid Body > Collisions",
        )
    return vertices


def _shape_at(ob, matrix, depsgraph, frame, body):
    """Shape of a round body that grows at an evaluated frame, in the user frame."""
    _, stretch = rotation_and_stretch(matrix, ob.name)
    _, at_start = rotation_and_stretch(body.matrix_world_start, ob.name)
    if np.any(stretch * at_start <= 0.0):
        raise SceneError(ob.name, f"its scale changes its sign by frame {frame}; a shape that grows must keep it")
    try:
        return ShapeReader(depsgraph).read(ob, stretch, moves=False)[0]
    except MeshError as error:
        raise SceneError(ob.name, f"at frame {frame}, {error}") from error


def kind_at(settings, body: ExportedBody) -> int:
    """Kind of a body whose evaluated rigid-body settings are given.

    A body that moves in other frames stands still where it is while ``enabled`` is off, as in Blender; one that never
    moves follows its animation.
    """
    if body.passive:
        return BodyKind.KINEMATIC if body.follows else BodyKind.STATIC
    if settings.kinematic:
        return BodyKind.KINEMATIC
    if settings.enabled:
        return BodyKind.DYNAMIC
    return BodyKind.KINEMATIC if body.follows and not body.moves else BodyKind.STATIC


def sample_without_bodies(scene, depsgraph, frame, export) -> FrameSample:
    """Duration and gravity at an evaluated frame; kinds and poses as at the start."""
    evaluated = depsgraph.scene_eval
    render = evaluated.render
    model = export.model
    start = export.default_sample
    if start is None:  # this is it
        rigid = np.array([body.rigid_start for body in export.bodies])
        position, orientation = rigid[:, :3, 3].copy(), rotations.from_matrix(rigid[:, :3, :3])
    else:
        position, orientation = start.position.copy(), start.orientation.copy()
    return FrameSample(
        frame=frame,
        duration=evaluated.rigidbody_world.time_scale * render.fps_base / render.fps,
        gravity=gravity_of(evaluated, evaluated.rigidbody_world),
        kind=model.initial_state.kind.copy(),
        position=position,
        orientation=orientation,
        parent_matrix={},
        matrix_world={},
        vertices={},
        shapes={},
    )


def gravity_of(scene, world) -> np.ndarray:
    """Gravity as Blender weighs it [m/s^2]."""
    if not scene.use_gravity:
        return np.zeros(3)
    weights = world.effector_weights
    gravity = np.array(scene.gravity, float) * (weights.gravity * weights.all)
    if not np.all(np.isfinite(gravity)):
        raise SceneError(None, f"gravity of scene {scene.name!r} is {vector_text(gravity)}; it must be finite")
    return gravity
