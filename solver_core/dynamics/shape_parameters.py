"""Shapes that animation changes: meshes that deform, and round shapes that grow.

A frame's input says where vertices and surfaces are at its end. They go there at constant rates (``mesh_motion`` and
``scaled_shapes`` of collision) and are put exactly there when the frame is done.
"""

import numpy as np

from ..collision.data.workspace import POSITION
from ..collision.mesh.mesh_motion import fit_mesh
from ..geometry import rotations
from ..geometry.shapes import ShapeKind
from ..model.model import BodyKind

# Shapes that can grow as such; boxes and hulls do as meshes.
_GROWING_KINDS = (ShapeKind.SPHERE, ShapeKind.CAPSULE, ShapeKind.CYLINDER, ShapeKind.CONE)
# Elements of rotation matrices that differ by less are equal.
_SAME_TURN = 1e-6


def _shape_named(model, key):
    """Number and body of the shape that a key of ``FrameInput.vertices`` or ``shapes`` names, and words for it.

    Parameters
    ----------
    model : Model
    key : int or (int, int)
        A body of one shape, or a body and its part, from 0.

    Returns
    -------
    int, int, str
        The number is -1 where there is no such shape.
    """
    body, part = key if isinstance(key, tuple) else (key, None)
    numbers = np.flatnonzero(model.arrays.shapes.body == body)
    name = model.names[body]
    if part is None:
        return (int(numbers[0]) if len(numbers) == 1 else -1), body, name
    return (int(numbers[part]) if 0 <= part < len(numbers) else -1), body, f"part {part} of {name}"


def mesh_targets(model, vertices_of) -> list:
    """Meshes that are given new vertices.

    Parameters
    ----------
    model : Model
    vertices_of : dict of int or (int, int) to float64 [given_vertex_count, 3]
        As ``FrameInput.vertices``.

    Returns
    -------
    list of (int, slice, float64 [n, 3])
        Number of the mesh, its rows in the tables, positions in the mesh's own frame [m].

    Raises
    ------
    ValueError
        Names the body.
    """
    targets = []
    shapes, meshes = model.arrays.shapes, model.meshes
    for key, given in vertices_of.items():
        number, _, name = _shape_named(model, key)
        if number < 0 or shapes.kind[number] != ShapeKind.MESH:
            raise ValueError(f"vertices are given for {name}, whose shape is not one mesh")
        mesh = int(shapes.hull[number])
        rows = slice(*meshes.start[mesh : mesh + 2, 0])
        vertices = np.asarray(given, float)
        needed = int(meshes.given_vertex[rows].max()) + 1
        if vertices.ndim != 2 or vertices.shape[1] != 3 or len(vertices) < needed:
            raise ValueError(
                f"vertices of {name} have the shape {vertices.shape}; "
                f"they must be [{needed} or more, 3], as its mesh was made"
            )
        vertices = vertices[meshes.given_vertex[rows]] - meshes.position[mesh]
        if not np.all(np.isfinite(vertices)):
            raise ValueError(f"vertices of {name} hold NaN or infinity")
        targets.append((mesh, rows, vertices))
    return targets


def aim_meshes(model, workspace, targets, duration, h):
    """Give vertices the constant velocities that take them to their targets.

    Parameters
    ----------
    model : Model
    workspace : CollisionWorkspace
        Written.
    targets
        Of ``mesh_targets``.
    duration, h : float
        Of the frame and of a substep [s].

    Yields
    ------
    int64 [n], float
        Shapes that change, and how far their surface goes [m].
    """
    shapes, tables = model.arrays.shapes, workspace.meshes
    for mesh, rows, vertices in targets:
        velocity = (vertices - tables.vertex[rows]) / duration
        tables.vertex_velocity[rows] = velocity
        tables.speed[mesh] = np.linalg.norm(velocity, axis=1).max()
        fit_mesh(tables, workspace.polytopes, mesh, h)
        if tables.speed[mesh] > 0.0:
            changed = np.flatnonzero((shapes.kind == ShapeKind.MESH) & (shapes.hull == mesh))
            yield changed, duration * tables.speed[mesh]


def place_meshes(workspace, targets):
    """Put vertices exactly where they are to be; they stand still there."""
    tables = workspace.meshes
    for mesh, rows, vertices in targets:
        tables.vertex[rows] = vertices
        tables.vertex_velocity[rows] = 0.0
        tables.speed[mesh], tables.has_deformed[mesh] = 0.0, True
        fit_mesh(tables, workspace.polytopes, mesh, 0.0)


def shape_targets(model, kind, shape_of) -> list:
    """Round shapes that are given a new size.

    Parameters
    ----------
    model : Model
    kind : int64 [body_count]
        ``BodyKind`` in the frame.
    shape_of : dict of int or (int, int) to Sphere, Capsule, Cylinder or Cone
        As ``FrameInput.shapes``.

    Returns
    -------
    list of (int, shape, float64 [3])
        Number of the shape, the shape at the frame's end, and its position in the body frame [m].

    Raises
    ------
    ValueError
        Names the body.
    """
    targets = []
    arrays = model.arrays.shapes
    for key, shape in shape_of.items():
        number, body, name = _shape_named(model, key)
        if number < 0 or arrays.kind[number] not in _GROWING_KINDS:
            raise ValueError(f"a shape is given for {name}, whose own is not one that can grow")
        if kind[body] == BodyKind.DYNAMIC:
            raise ValueError(f"a shape is given for {name}, which is dynamic; it must be static or kinematic")
        turn = model.frame_orientation[body]
        orientation = rotations.multiply(turn, np.asarray(shape.orientation, float))
        if shape.kind != arrays.kind[number] or not np.allclose(
            rotations.matrix(orientation), rotations.matrix(arrays.orientation[number]), atol=_SAME_TURN
        ):
            raise ValueError(f"the shape given for {name} is another one, or turned")
        position = model.frame_position[body] + rotations.rotate(turn, np.asarray(shape.position, float))
        targets.append((number, shape, position))
    return targets


def aim_shapes(workspace, targets, duration):
    """Give round shapes the constant rates that take them to their targets; yields as ``aim_meshes``."""
    for number, shape, position in targets:
        now, shift = workspace.shape_parameters, position - workspace.local_pose[number, POSITION]
        rate = (shape.parameters[:2] - now.parameters[number, :2]) / duration
        now.parameter_rate[number] = rate
        now.position_rate[number] = shift / duration
        now.surface_speed[number] = np.abs(rate).sum() + np.linalg.norm(now.position_rate[number])
        now.bounding_radius[number] = max(now.bounding_radius[number], shape.bounding_radius)
        workspace.size[number] = max(workspace.size[number], shape.size)
        if now.surface_speed[number] > 0.0:
            yield np.array([number]), duration * now.surface_speed[number]


def place_shapes(workspace, targets):
    """Put round shapes exactly where they are to be, and as large; they stay so."""
    for number, shape, position in targets:
        now = workspace.shape_parameters
        now.parameters[number] = shape.parameters
        now.parameter_rate[number] = now.position_rate[number] = now.surface_speed[number] = 0.0
        now.has_grown[number] = True
        now.bounding_radius[number] = shape.bounding_radius
        workspace.size[number] = shape.size
        workspace.local_pose[number, POSITION] = position
