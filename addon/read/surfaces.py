"""What shapes really look like at the start: to tell bodies that overlap from convex parts that overlap.

A concave body that moves is simulated as convex parts, which fill hollows up to the concavity that was asked for. A pin
may overlap the parts of its bearing although there is play between the meshes.
"""

from typing import NamedTuple

import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from ...solver_core.geometry import rotations
from ...solver_core.geometry.hulls import ConvexHull
from ...solver_core.geometry.shapes import Box


class StartSurfaces:
    """The surfaces of a scene's bodies, each found when it is asked for: few bodies overlap at the start."""

    def __init__(self):
        self._shapes = {}
        self._meshes = {}
        self._found = {}

    def add(self, body, shape, mesh=None) -> None:
        """Add a body.

        Parameters
        ----------
        body : int
        shape : any shape
        mesh : (float64 [vertex_count, 3], int64 [triangle_count, 3]), optional
            What convex parts stand for.
        """
        self._shapes[body] = shape
        if mesh is not None:
            self._meshes[body] = mesh

    def get(self, body) -> "StartSurface | None":
        """What a body really looks like at the start, where that is known."""
        if body not in self._found:
            mesh = self._meshes.get(body)
            known = surface_of(self._shapes.get(body)) if mesh is None else StartSurface(*mesh, is_in_parts=True)
            self._found[body] = known
        return self._found[body]


class StartSurface(NamedTuple):
    """A closed surface in the user frame of its body.

    Attributes
    ----------
    vertices : float64 [vertex_count, 3]
    triangles : int64 [triangle_count, 3]
    is_in_parts : bool
        The body is simulated as convex parts of it.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    is_in_parts: bool


def surface_of(shape) -> StartSurface | None:
    """Surface of a box or a hull; None of other shapes, and of flat ones."""
    if isinstance(shape, Box):
        half_extents = np.asarray(shape.half_extents, float)
        if half_extents.min() <= 0.0:
            return None
        signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
        corners = rotations.rotate(np.asarray(shape.orientation, float), signs * half_extents)
        shape = ConvexHull.from_points(corners + shape.position)
    if not isinstance(shape, ConvexHull) or shape.flat_face is not None:
        return None
    fans = [(loop[0], loop[k], loop[k + 1]) for loop in shape.loops for k in range(1, len(loop) - 1)]
    return StartSurface(shape.vertices, np.array(fans, np.int64), is_in_parts=False)


def parts_fill_play(surfaces, model, bodies) -> bool:
    """Whether two bodies that overlap do so by convex parts only: their surfaces are apart at the start.

    Parameters
    ----------
    surfaces : StartSurfaces
    model : Model
    bodies : (int, int)
    """
    known = [surfaces.get(body) for body in bodies]
    if None in known or not any(surface.is_in_parts for surface in known):
        return False
    position, orientation = model.user_poses(model.initial_state.position, model.initial_state.orientation)
    placed = [
        (rotations.rotate(orientation[body], surface.vertices) + position[body], surface.triangles)
        for body, surface in zip(bodies, known, strict=True)
    ]
    return are_apart(*placed)


def are_apart(one, other) -> bool:
    """Whether two closed surfaces neither cross nor lie within each other.

    Parameters
    ----------
    one, other : (float64 [vertex_count, 3], int64 [triangle_count, 3])
        In one frame.
    """
    middle = one[0].mean(axis=0)  # single precision is finest there
    trees = [
        BVHTree.FromPolygons((vertices - middle).tolist(), triangles.tolist(), all_triangles=True)
        for vertices, triangles in (one, other)
    ]
    if trees[0].overlap(trees[1]):
        return False
    return not (_is_inside(other[0][0] - middle, trees[0]) or _is_inside(one[0][0] - middle, trees[1]))


def _is_inside(point, tree) -> bool:
    """Whether a ray from the point leaves the surface an odd number of times."""
    origin, direction, crossings = Vector(point), Vector((0.577, 0.211, 0.789)).normalized(), 0
    while crossings < 1000:
        hit, _, _, _ = tree.ray_cast(origin, direction)
        if hit is None:
            return crossings % 2 == 1
        origin, crossings = hit + 1e-6 * direction * max(hit.length, 1e-3), crossings + 1
    return False
