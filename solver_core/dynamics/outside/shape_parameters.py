"""Shapes that animation changes: meshes that deform, and round shapes that grow.

A frame's input says where vertices and surfaces are at its end. They go there at constant rates (``mesh_motion`` and
``scaled_shapes`` of collision), or on the cubic paths of ``driven_paths`` from substep to substep, and are put exactly
there when the frame is done.
"""

import numpy as np

from ...collision.data.workspace import POSITION
from ...collision.mesh.mesh_motion import fit_mesh
from ...geometry import rotations
from ...geometry.shapes import ShapeKind
from ...model.model import BodyKind

# Hermite's cubic goes beyond its ends by this share of its two tangents at most, each the largest of s (1 - s)^2.
_RATIO_BEYOND = 4.0 / 27.0
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
        now = workspace.shape_parameters
        _set_rates(workspace, number, shape.parameters[:2], position, duration)
        now.bounding_radius[number] = max(now.bounding_radius[number], shape.bounding_radius)
        workspace.size[number] = max(workspace.size[number], shape.size)
        if now.surface_speed[number] > 0.0:
            yield np.array([number]), duration * now.surface_speed[number]


def _set_rates(workspace, number, parameters, position, duration):
    """Give a round shape the constant rates that take it to two parameters and a position in the body frame."""
    now = workspace.shape_parameters
    rate = (parameters - now.parameters[number, :2]) / duration
    now.parameter_rate[number] = rate
    now.position_rate[number] = (position - workspace.local_pose[number, POSITION]) / duration
    now.surface_speed[number] = np.abs(rate).sum() + np.linalg.norm(now.position_rate[number])


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


class VertexPaths:
    """Cubic paths of the vertices of a mesh within a frame.

    Parameters
    ----------
    model : Model
    workspace : CollisionWorkspace
    target
        Of ``mesh_targets``.
    given : float64 [2, given_vertex_count, 3]
        Velocities at the frame's two ends, in the user frame [m/s].
    duration : float
        [s].
    """

    def __init__(self, model, workspace, target, given, duration):
        mesh, rows, vertices = target
        self._model, self._workspace, self._mesh, self._rows = model, workspace, mesh, rows
        self._start = workspace.meshes.vertex[rows].copy()
        first, last = duration * np.asarray(given, float)[:, model.meshes.given_vertex[rows]]
        self._coefficients = first, vertices - self._start, last

    @property
    def reach(self):
        """Shapes that change, and how far their surface may go at most [m]."""
        shapes = self._model.arrays.shapes
        first, way, last = (np.linalg.norm(part, axis=1).max() for part in self._coefficients)
        changed = np.flatnonzero((shapes.kind == ShapeKind.MESH) & (shapes.hull == self._mesh))
        return changed, way + _RATIO_BEYOND * (first + last)

    def aim(self, weights, h):
        """Give the vertices the velocities that take them along in a substep; ``weights`` are those at its end."""
        target = self._start + sum(weight * part for weight, part in zip(weights, self._coefficients, strict=True))
        for _ in aim_meshes(self._model, self._workspace, [(self._mesh, self._rows, target)], h, h):
            pass


class GrowthPath:
    """Cubic path of a round shape's size and position within a frame.

    Parameters
    ----------
    model : Model
    workspace : CollisionWorkspace
    target
        Of ``shape_targets``.
    given : float64 [2, 5]
        Rates at the frame's two ends: of the shape's two parameters, and of its position in the user frame [m/s].
    duration : float
        [s].
    """

    def __init__(self, model, workspace, target, given, duration):
        self._workspace = workspace
        self._number, shape, position = target
        now, given = workspace.shape_parameters, duration * np.asarray(given, float)
        self._start = np.append(now.parameters[self._number, :2], workspace.local_pose[self._number, POSITION])
        turn = model.frame_orientation[model.arrays.shapes.body[self._number]]
        first, last = (np.append(rates[:2], rotations.rotate(turn, rates[2:])) for rates in given)
        self._coefficients = first, np.append(shape.parameters[:2], position) - self._start, last
        now.bounding_radius[self._number] += _RATIO_BEYOND * (np.abs(first) + np.abs(last)).sum()

    @property
    def reach(self):
        """As of ``VertexPaths``."""
        first, way, last = (np.abs(part).sum() for part in self._coefficients)
        return np.array([self._number]), way + _RATIO_BEYOND * (first + last)

    def aim(self, weights, h):
        """As of ``VertexPaths``."""
        target = self._start + sum(weight * part for weight, part in zip(weights, self._coefficients, strict=True))
        _set_rates(self._workspace, self._number, target[:2], target[2:], h)
