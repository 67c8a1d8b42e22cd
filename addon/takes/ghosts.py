"""Where the bodies of another take, or of Blender's own simulation, are at a frame: poses and surfaces to draw.

Poses are those of the objects' rotation and place, without scale; surfaces are the objects' meshes as they are seen,
in these axes. Nothing is evaluated anew, and nothing is changed. What Bullet has done is known of this session.
"""

from dataclasses import dataclass

import numpy as np
from mathutils import Euler, Matrix, Quaternion

from ..sight import known_scenes
from ..write import attach, channels, fcurves
from . import book

# Edges are drawn where two faces meet at a larger angle than this cosine tells, and where a mesh ends.
_COSINE = np.cos(np.radians(20.0))


@dataclass
class BulletMotion:
    """How Blender's own simulation has moved bodies.

    Attributes
    ----------
    names : list of str
    first : int
        Frame of the first matrices.
    matrices : float32 [frame_count, body_count, 4, 4]
        World matrices, columns first.
    """

    names: list[str]
    first: int
    matrices: np.ndarray


_bullet: dict[int, BulletMotion] = {}


def note_bullet(scene, names, first, matrices) -> None:
    """Remember what Bullet has done in a scene."""
    _bullet[scene.session_uid] = BulletMotion(list(names), first, matrices)


def bullet_of(scene) -> BulletMotion | None:
    """What is known of Bullet in a scene."""
    return _bullet.get(scene.session_uid)


def forget() -> None:
    """Another file was opened."""
    _bullet.clear()


def bullet_matrices(scene, frame: float) -> tuple[list, np.ndarray]:
    """Objects that Bullet has moved, and their world matrices [n, 4, 4], columns first, at the nearest known frame."""
    motion = bullet_of(scene)
    if motion is None or not len(motion.matrices):
        return [], np.zeros((0, 4, 4), np.float32)
    row = int(np.clip(round(frame) - motion.first, 0, len(motion.matrices) - 1))
    objects = attach.objects_by_name(scene)
    there = [place for place, name in enumerate(motion.names) if name in objects]
    return [objects[motion.names[place]] for place in there], motion.matrices[row, there]


def take_matrices(scene, take, frame: float) -> tuple[list, np.ndarray]:
    """Objects of a take and their world matrices [n, 4, 4], columns first, where its keys put them at a frame.

    A parent that is a body of the take is where the take has it; other parents are where they are now.
    """
    if take.action is None:
        return [], np.zeros((0, 4, 4), np.float32)
    found, _ = book.bodies_of(scene, take)
    bags = {obj: (fcurves.channelbag(take.action, slot), mode) for obj, slot, mode in found}
    known: dict = {}
    objects = list(bags)
    matrices = [np.array(_world(obj, frame, bags, known)).T for obj in objects]
    return objects, np.array(matrices, np.float32).reshape(-1, 4, 4)


def _world(obj, frame, bags, known):
    if obj in known:
        return known[obj]
    basis = _basis(obj, frame, *bags[obj])
    parent = obj.parent
    if parent is None:
        world = basis
    elif parent in bags and obj.parent_type == "OBJECT":
        world = _world(parent, frame, bags, known) @ obj.matrix_parent_inverse @ basis
    else:
        world = obj.matrix_world @ obj.matrix_basis.inverted_safe() @ basis
    known[obj] = world
    return world


def _basis(obj, frame, bag, mode):
    """T(location + delta) D R S of an object whose location and rotation are those of ``bag``."""
    path = channels.rotation_path(mode)
    values = {"location": list(obj.location), path: list(getattr(obj, path))}
    for curve in bag.fcurves if bag is not None else ():
        if curve.data_path in values:
            values[curve.data_path][curve.array_index] = curve.evaluate(frame)
    rotation = values[path]
    if mode == "QUATERNION":
        turn = Quaternion(obj.delta_rotation_quaternion) @ Quaternion(rotation)
        turn = turn.normalized().to_matrix()
    elif mode == "AXIS_ANGLE":
        turn = Quaternion(rotation[1:], rotation[0]).to_matrix()
    else:
        turn = Euler(obj.delta_rotation_euler, mode).to_matrix() @ Euler(rotation, mode).to_matrix()
    place = [value + delta for value, delta in zip(values["location"], obj.delta_location, strict=True)]
    scale = [value * delta for value, delta in zip(obj.scale, obj.delta_scale, strict=True)]
    return Matrix.Translation(place) @ turn.to_4x4() @ Matrix.Diagonal((*scale, 1.0))


def poses_of(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Poses [n, 3], [n, 4] of world matrices [n, 4, 4], columns first."""
    count = len(matrices)
    numbers = [(str(row), None) for row in range(count)]
    start = np.zeros((count, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
    return known_scenes.poses_of(numbers, matrices, {key: row for row, key in enumerate(numbers)}, start)


def shape_key(obj):
    """Tells whether an object has to be drawn with another form than before."""
    data = obj.data
    count = len(data.vertices) if obj.type == "MESH" else 0
    return obj.name, obj.session_uid, count, tuple(obj.scale), tuple(obj.delta_scale)


def surface_of(objects, graph, colour, most_vertices: int):
    """The meshes of objects as one surface, in the axes of ``poses_of``; large ones as boxes where there are too many.

    Parameters
    ----------
    objects : sequence of bpy.types.Object
    graph : bpy.types.Depsgraph
        Its evaluated meshes are taken.
    colour : tuple of float
        (r, g, b, a)
    most_vertices : int

    Returns
    -------
    Surface
    """
    from ..sight.shape_surfaces import Surface

    pieces, used, boxed = [], 0, 0
    for number, obj in enumerate(objects):
        evaluated = obj.evaluated_get(graph)
        mesh = evaluated.data if evaluated.type == "MESH" else None
        if mesh is not None and used + len(mesh.vertices) > most_vertices:
            mesh, boxed = None, boxed + 1
        vertices, triangles, edges = _box(evaluated) if mesh is None else _mesh(mesh)
        own = _in_own_axes(vertices, evaluated.matrix_world)
        place = np.column_stack([own, np.full(len(own), number)]).astype(np.float32)
        pieces.append((place, triangles + used, edges + used))
        used += len(place)
    place = np.concatenate([np.zeros((0, 4), np.float32), *(piece[0] for piece in pieces)])
    triangles = np.concatenate([np.zeros((0, 3), np.int32), *(piece[1] for piece in pieces)]).astype(np.int32)
    edges = np.concatenate([np.zeros((0, 2), np.int32), *(piece[2] for piece in pieces)]).astype(np.int32)
    return Surface(place, np.tile(np.float32(colour), (len(place), 1)), triangles, edges, boxed)


def _in_own_axes(vertices, matrix):
    """Vertices with the object's scale and shear, but without its rotation and place."""
    columns = np.array(matrix, float).T
    position, orientation = poses_of(columns[None])
    turn = channels.quaternion_matrices(orientation[0])
    world = vertices @ columns[:3, :3] + columns[3, :3]
    return (world - position[0]) @ turn


def _box(obj):
    from ..sight.shape_surfaces import box_between

    corners = np.array([tuple(corner) for corner in obj.bound_box])
    return box_between(corners.min(axis=0), corners.max(axis=0))


def _mesh(mesh):
    vertices = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", vertices)
    triangles = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    return vertices.reshape(-1, 3).astype(float), triangles.reshape(-1, 3), _creases(mesh)


def _creases(mesh):
    """Edges [n, 2] that tell a form: between faces that are not nearly in one plane, and of one face or none."""
    count = len(mesh.edges)
    ends = np.empty(2 * count, np.int32)
    mesh.edges.foreach_get("vertices", ends)
    edge = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("edge_index", edge)
    length = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_total", length)
    normal = np.empty(3 * len(mesh.polygons), np.float32)
    mesh.polygons.foreach_get("normal", normal)
    order = np.argsort(edge, kind="stable")
    face = np.repeat(np.arange(len(length)), length)[order]
    faces = np.bincount(edge, minlength=count)
    first = np.cumsum(faces) - faces
    pair = np.flatnonzero(faces == 2)
    normal = normal.reshape(-1, 3)
    flat = np.einsum("ij,ij->i", normal[face[first[pair]]], normal[face[first[pair] + 1]]) > _COSINE
    seen = np.ones(count, bool)
    seen[pair[flat]] = False
    return ends.reshape(-1, 2)[seen]
