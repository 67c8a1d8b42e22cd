"""Scenes of rigid bodies for the tests, and ways to look at the model that becomes of them."""

import numpy as np

CUBE_CORNERS = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
CUBE_FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


class SceneMaker:
    """Builds a scene of rigid bodies in a fresh file.

    Attributes
    ----------
    scene : bpy.types.Scene
        With a Rigid Body World and its collection; the cache runs from frame 1 to 250.
    """

    def __init__(self):
        import bpy

        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        self.bpy = bpy
        self.scene = bpy.context.scene
        bpy.ops.rigidbody.world_add()
        self.scene.rigidbody_world.collection = bpy.data.collections.new("RigidBodyWorld")

    @property
    def world(self):
        return self.scene.rigidbody_world

    def mesh(self, points=CUBE_CORNERS, faces=CUBE_FACES, name="Mesh"):
        mesh = self.bpy.data.meshes.new(name)
        mesh.from_pydata([tuple(point) for point in points], [], faces)
        return mesh

    def object(self, name, data=None, **values):
        ob = self.bpy.data.objects.new(name, data)
        self.scene.collection.objects.link(ob)
        for key, value in values.items():
            setattr(ob, key, value)
        return ob

    def body(self, name="Body", *, data=None, shape="CONVEX_HULL", type="ACTIVE", settings=None, **values):
        """A cube of side 1 (or ``data``) as a rigid body; other arguments are the object's."""
        ob = self.object(name, data if data is not None else self.mesh(), **values)
        self.world.collection.objects.link(ob)
        ob.rigid_body.type = type
        ob.rigid_body.collision_shape = shape
        for key, value in (settings or {}).items():
            setattr(ob.rigid_body, key, value)
        return ob

    def key(self, ob, path, values):
        """Key a property, {frame: value}, with straight lines between the keys."""
        owner, _, attribute = path.rpartition(".")
        target = ob.path_resolve(owner) if owner else ob
        for frame, value in values.items():
            setattr(target, attribute, value)
            ob.keyframe_insert(path, frame=frame)
        animation = ob.id_data.animation_data
        for layer in animation.action.layers:
            for strip in layer.strips:
                for curve in strip.channelbag(animation.action_slot).fcurves:
                    for point in curve.keyframe_points:
                        point.interpolation = (
                            "LINEAR" if curve.data_path.startswith(("loc", "rot", "pose")) else "CONSTANT"
                        )

    def save(self, path):
        self.bpy.ops.wm.save_as_mainfile(filepath=str(path), check_existing=False)
        return path

    def reopen(self, path):
        """Save and open again, as the user's file comes: nothing is evaluated yet."""
        self.save(path)
        self.bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
        self.scene = self.bpy.context.scene


def quaternion_matrix(quaternion):
    """Rotation matrix of (w, x, y, z), by the sandwich formula."""
    w, x, y, z = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def model_points(export, name):
    """Corners of a body's shapes in the world (of a sphere: its centre), read from the model's arrays."""
    index = export.model.names.index(name)
    model, shapes = export.model, export.model.arrays.shapes
    turn = quaternion_matrix(model.initial_state.orientation[index])
    points = []
    for shape in np.flatnonzero(shapes.body == index):
        if shapes.kind[shape] == 0:
            local = np.array(CUBE_CORNERS) * 2.0 * shapes.parameters[shape]
        elif shapes.kind[shape] == 1:
            local = np.zeros((1, 3))
        elif shapes.kind[shape] == 6:
            first, last = model.meshes.start[shapes.hull[shape] : shapes.hull[shape] + 2, 0]
            local = model.meshes.vertex[first:last]
        else:
            first, last = model.hulls.start[shapes.hull[shape] : shapes.hull[shape] + 2, 0]
            local = model.hulls.vertex[first:last]
        points.append(local @ quaternion_matrix(shapes.orientation[shape]).T + shapes.position[shape])
    return np.concatenate(points) @ turn.T + model.initial_state.position[index]


def same_points(first, second, tolerance):
    """Whether two point sets agree, in any order."""
    distances = np.linalg.norm(np.asarray(first)[:, None] - np.asarray(second)[None], axis=2)
    return distances.min(axis=1).max() <= tolerance and distances.min(axis=0).max() <= tolerance


def world_vertices(name):
    """Vertices of an object as Blender shows them, at the current frame."""
    import bpy

    ob = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())
    points = np.array([tuple(vertex.co) for vertex in ob.data.vertices])
    matrix = np.array(ob.matrix_world)
    return points @ matrix[:3, :3].T + matrix[:3, 3]
