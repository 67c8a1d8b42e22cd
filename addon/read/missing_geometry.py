"""Meshes that lack vertices, faces or a size, and what stands in for them: what Blender's simulation would take.

Blender sizes a shape by the bounding box, which of a mesh without vertices is a cube of side 1, and takes that box
where a mesh has no triangles. What has no width collides in Blender by its margin alone; here it is a thin rod or a
small ball.
"""

import numpy as np

# Blender's margin [m] of shapes whose own is not switched on.
_DEFAULT_MARGIN = 0.04

_CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])

NO_VERTICES = "has no vertices: simulated as large as a cube of side 1, as in Blender"
NO_FACES = "has no faces: simulated as its bounding box, as in Blender"
NO_FACES_YET = (
    "has no faces before its modifiers: simulated as its bounding box, as in Blender; to use those that it has "
    "after them, set Source to Final in Physics > Rigid Body > Collisions"
)
ONE_POINT = "has all its vertices in one point: simulated as a ball as large as its collision margin"


def missing_geometry(kind, vertex_count, face_count) -> str | None:
    """What a note says about a mesh from which Blender would take its collision shape otherwise.

    Parameters
    ----------
    kind : str
        The body's collision shape ("MESH").
    vertex_count, face_count : int

    Returns
    -------
    str or None
        None if nothing is missing: boxes, round shapes and hulls need no faces.
    """
    if vertex_count == 0:
        return NO_VERTICES
    return NO_FACES if kind == "MESH" and face_count == 0 else None


def box_corners(points) -> np.ndarray:
    """Corners of the bounding box of points [8, 3]; of a cube of side 1 about the origin if there are none."""
    if len(points) == 0:
        return _CORNERS
    lower, upper = points.min(axis=0), points.max(axis=0)
    return lower + (_CORNERS + 0.5) * (upper - lower)


def is_point(points) -> bool:
    """Whether all points are the same."""
    return bool(np.all(points == points[0]))


def margin_of(settings) -> float:
    """The collision margin [m] that Blender would use for a body's ``rigid_body`` settings."""
    return settings.collision_margin if settings.use_margin else _DEFAULT_MARGIN


def rod_corners(points, ratio) -> np.ndarray:
    """Corners of a square rod about points on a line [8, 3].

    Parameters
    ----------
    points : float64 [point_count, 3]
        Not all the same.
    ratio : float
        Thickness of the rod, as a share of its length.
    """
    center = points.mean(axis=0)
    axes = np.linalg.svd(points - center, full_matrices=True)[2]
    along = (points - center) @ axes[0]
    half_width = 0.5 * ratio * np.ptp(along)
    local = np.column_stack(
        [np.where(_CORNERS[:, 0] < 0.0, along.min(), along.max()), 2.0 * half_width * _CORNERS[:, 1:]]
    )
    return center + local @ axes
