"""What is painted on a piece, read at points of its surface: a vertex group, or an attribute of numbers or colors."""

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

from .scene_shapes import evaluated_mesh

_NUMBERS = {"FLOAT": np.float32, "INT": np.int32, "INT8": np.int32, "BOOLEAN": bool}
_COLORS = {"FLOAT_COLOR", "BYTE_COLOR"}
# What a linear color's red, green and blue add to how bright it is (ITU-R BT.709), as in Blender's nodes.
_LUMINANCE = np.array((0.2126, 0.7152, 0.0722))


def painted_at(ob: bpy.types.Object, name: str, points, matrix, depsgraph) -> np.ndarray | None:
    """What a vertex group or attribute is at the points of an object's surface that are nearest to some.

    Parameters
    ----------
    ob : bpy.types.Object
    name : str
        Where both have it, the vertex group counts.
    points : float64 [n, 3]
        In the world.
    matrix : float64 [4, 4]
        Of the object, in the world.
    depsgraph : bpy.types.Depsgraph

    Returns
    -------
    float64 [n] or None
        None where the object has no such vertex group or attribute, or no faces.
    """
    if ob.type != "MESH":
        return None
    with evaluated_mesh(ob, depsgraph) as mesh:
        if mesh is None or not len(mesh.polygons):
            return None
        mesh.calc_loop_triangles()
        corners = _triangles(mesh, "vertices")
        values = _at_corners(ob, mesh, name, corners)
        if values is None:
            return None
        vertices = _read(mesh.vertices, "co", 3, np.float32)
    vertices = vertices @ matrix[:3, :3].T + matrix[:3, 3]
    middle = vertices.mean(axis=0)  # single precision is finest there
    vertices -= middle
    tree = BVHTree.FromPolygons(vertices.tolist(), corners.tolist(), all_triangles=True)
    found = [tree.find_nearest(point) for point in (points - middle).tolist()]
    triangle = np.array([row for _, _, row, _ in found])
    weights = _weights(np.array([place for place, _, _, _ in found]), vertices[corners[triangle]])
    return np.sum(weights * values[triangle], axis=1)


def paint_values(ob: bpy.types.Object, name: str) -> bytes:
    """What is painted on an object before its modifiers, by which a bake finds out that it has changed."""
    if ob.type != "MESH":
        return b""
    group = ob.vertex_groups.get(name)
    if group is not None:
        return _weights_of_group(ob.data, group.index).tobytes()
    attribute = ob.data.attributes.get(name)
    values = None if attribute is None else _values(attribute)
    return b"" if values is None else values.tobytes() + attribute.domain.encode()


def first_value(mesh: bpy.types.Mesh, name: str) -> float | None:
    """The first number of a mesh's attribute; None where it has none."""
    attribute = mesh.attributes.get(name)
    values = None if attribute is None else _values(attribute)
    return float(values[0]) if values is not None and len(values) else None


def _at_corners(ob, mesh, name, corners):
    """Values at the corners of triangles [n, 3]."""
    group = ob.vertex_groups.get(name)
    if group is not None:
        return _weights_of_group(mesh, group.index)[corners]
    attribute = mesh.attributes.get(name)
    values = None if attribute is None else _values(attribute)
    if values is None or not len(values):
        return None
    if attribute.domain == "POINT":
        return values[corners]
    if attribute.domain == "CORNER":
        return values[_triangles(mesh, "loops")]
    if attribute.domain == "FACE":
        return np.repeat(values[_read(mesh.loop_triangles, "polygon_index", 1, np.int32)], 3).reshape(-1, 3)
    return None


def _values(attribute):
    """The numbers of an attribute, of colors how bright they are; None where it has others."""
    if attribute.data_type in _COLORS:
        return _read(attribute.data, "color", 4, np.float32)[:, :3] @ _LUMINANCE
    kind = _NUMBERS.get(attribute.data_type)
    return None if kind is None else _read(attribute.data, "value", 1, kind).astype(float)


def _weights_of_group(mesh, index):
    weights = np.zeros(len(mesh.vertices))
    for vertex in mesh.vertices:
        for entry in vertex.groups:
            if entry.group == index:
                weights[vertex.index] = entry.weight
    return weights


def _triangles(mesh, name):
    return _read(mesh.loop_triangles, name, 3, np.int32)


def _read(owner, name, width, kind):
    values = np.empty(width * len(owner), kind)
    owner.foreach_get(name, values)
    return values.reshape(-1, width) if width > 1 else values


def _weights(points, corners):
    """Barycentric coordinates [n, 3] of points in triangles [n, 3, 3]; of one without area it is the first corner."""
    one, other, along = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0], points - corners[:, 0]
    normal = np.cross(one, other)
    area = np.sum(normal * normal, axis=1)
    share = np.where(area > 0.0, area, 1.0)
    second = np.sum(np.cross(along, other) * normal, axis=1) / share
    third = np.sum(np.cross(one, along) * normal, axis=1) / share
    return np.clip(np.column_stack([1.0 - second - third, second, third]), 0.0, 1.0)
