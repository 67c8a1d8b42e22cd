"""The convex polyhedron of a point set: Qhull's triangles, merged into the polygons that a user sees.

All lengths are shares of the longest side of the points' bounding box: the work is done in a unit cube. SciPy is
loaded at the first use.
"""

import numpy as np
from numpy.typing import ArrayLike

from .points import RATIO_SAME_POINT, RATIO_SINGLE_PRECISION, first_equal_row
from .shapes import ShapeError, describe

# Triangles whose corners are this close to one plane are one face. Above the rounding of single-precision meshes,
# far below what can be seen or felt.
RATIO_COPLANAR = 1e-6
# A point set that is thinner than this is flat; one whose second extent is below it lies on a line.
RATIO_FLAT = 1e-5


def polyhedron_of_points(
    points: ArrayLike, thickness: float | None = None
) -> tuple[np.ndarray, list[np.ndarray], np.ndarray, int | None]:
    """Vertices, faces and their normals of the convex hull of a point set.

    Parameters
    ----------
    points : array-like [point_count, 3]
    thickness : float, optional
        Of the prism that flat point sets give [m]; None gives them a sheet.

    Returns
    -------
    vertices : float64 [vertex_count, 3]
    loops : list of int64 arrays
        Vertices of each face, counterclockwise seen from outside.
    normals : float64 [face_count, 3]
        Outwards.
    flat_face : int or None
        The first of the two sides of a sheet; None for a solid.

    Raises
    ------
    ShapeError
    """
    points = _checked_points(points)
    center, size = _center_and_size(points)
    # What single precision has rounded at the points' distance from the origin is not a shape.
    rounding = min(RATIO_SINGLE_PRECISION * np.abs(points).max() / size, RATIO_FLAT)
    unit = _distinct((points - center) / size, max(RATIO_SAME_POINT, rounding))
    if len(unit) == 1:
        raise ShapeError(f"convex hull: {len(points)} points lie all at {describe(center)}; they must span an area")
    extents, axes = _extents_along_principal_axes(unit)
    if extents[1] <= RATIO_FLAT:
        raise ShapeError(f"convex hull: {len(points)} points lie on a line {size:g} long; they must span an area")
    if extents[2] > RATIO_FLAT:
        vertices, loops, normals = _polyhedron(unit, max(RATIO_COPLANAR, rounding))
        return center + size * vertices, loops, normals, None
    if thickness is not None and not (np.isfinite(thickness) and thickness > 0.0):
        raise ShapeError(f"convex hull: thickness is {thickness!r}; it must be above 0")
    return _prism(unit, axes, center, size, 0.0 if thickness is None else float(thickness))


def _checked_points(points) -> np.ndarray:
    try:
        points = np.array(points, float)
    except (TypeError, ValueError):
        raise ShapeError("convex hull: points must be numbers [point_count, 3]") from None
    if points.ndim != 2 or points.shape[1] != 3:
        raise ShapeError(f"convex hull: points have shape {points.shape}; they must be [point_count, 3]")
    if len(points) == 0:
        raise ShapeError("convex hull: there is no point")
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        raise ShapeError(f"convex hull: point {bad[0]} is {describe(points[bad[0]])}; points must be finite")
    return points


def _center_and_size(points):
    """Middle and longest side of the bounding box: what brings the points into a unit cube."""
    lower, upper = points.min(axis=0), points.max(axis=0)
    # Halved before the sum, which could overflow.
    with np.errstate(over="ignore"):
        center, size = 0.5 * lower + 0.5 * upper, (upper - lower).max()
    if not np.isfinite(size):
        raise ShapeError(f"convex hull: points reach from {describe(lower)} to {describe(upper)}; that must be finite")
    if size <= RATIO_SAME_POINT * np.abs(points).max():
        raise ShapeError(f"convex hull: {len(points)} points lie all at {describe(center)}; they must span an area")
    return center, size


def _distinct(unit, spacing) -> np.ndarray:
    """One point per grid cell, the first of those given, in their order; points in one cell count as the same."""
    first = first_equal_row(np.round(unit / spacing))
    return unit[first == np.arange(len(unit))]


def _extents_along_principal_axes(unit):
    """Extents of the points along their principal axes, largest first, and the axes as rows.

    The second axis and the third are found from distances, not from the covariance: it would square the small ones
    away (1e-9 of the first), and one far point among thousands would not weigh.
    """
    start = unit[np.argmax(np.linalg.norm(unit - unit[0], axis=1))]
    span = unit[np.argmax(np.linalg.norm(unit - start, axis=1))] - start
    first = span / np.linalg.norm(span)
    across = unit - start
    across = across - np.outer(across @ first, first)
    distances = np.linalg.norm(across, axis=1)
    widest = int(np.argmax(distances))
    if distances[widest] <= RATIO_FLAT:
        return np.array([np.linalg.norm(span), distances[widest], 0.0]), np.eye(3)
    second = across[widest] / distances[widest]
    third = np.cross(first, second)
    # The plane of those three points, then the best plane through all: the least singular direction.
    _, _, rows = np.linalg.svd(unit - unit.mean(axis=0), full_matrices=False)
    fitted = rows[-1]
    if np.ptp(unit @ fitted) < np.ptp(unit @ third):
        third = -fitted if fitted @ third < 0.0 else fitted
        first = first - (first @ third) * third
        first /= np.linalg.norm(first)
        second = np.cross(third, first)
    axes = np.array([first, second, third])
    return np.ptp(unit @ axes.T, axis=0), axes


def _polyhedron(unit, coplanar):
    """Vertices, loops and normals of the hull of points in a unit cube, coplanar triangles merged."""
    from scipy.spatial import ConvexHull as Qhull
    from scipy.spatial import QhullError

    try:
        hull = Qhull(unit)
    except QhullError as error:
        reason = str(error).strip().splitlines()[0]
        raise ShapeError(f"convex hull: Qhull found no hull of {len(unit)} points: {reason}") from None
    triangles = _oriented(unit, hull.simplices.astype(np.int64), hull.equations[:, :3])
    for tolerance in (coplanar, 0.0):
        faces = _coplanar_groups(unit, triangles, hull.neighbors, hull.equations, tolerance)
        seeds = [hull.equations[face[0], :3] for face in faces]
        loops, seeds = _without_straight_corners([_boundary_loop(triangles[face]) for face in faces], seeds)
        if loops is not None and _is_closed(loops):
            break
    else:
        raise ShapeError(f"convex hull: {len(unit)} points are too close to flat or to a line to make faces of")
    used = np.unique(np.concatenate(loops))
    renumber = np.full(len(unit), -1, np.int64)
    renumber[used] = np.arange(len(used))
    vertices = unit[used]
    loops = [renumber[loop] for loop in loops]
    return (
        vertices,
        loops,
        np.array([_face_normal(vertices[loop], seed) for loop, seed in zip(loops, seeds, strict=True)]),
    )


def _oriented(unit, triangles, normals) -> np.ndarray:
    """Triangles counterclockwise seen from outside."""
    corners = unit[triangles]
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum("ni,ni->n", areas, normals) < 0.0
    triangles = triangles.copy()
    triangles[inward, 1], triangles[inward, 2] = triangles[inward, 2], triangles[inward, 1].copy()
    return triangles


def _coplanar_groups(unit, triangles, neighbors, equations, tolerance):
    """Triangles grouped into faces.

    A group grows from its largest triangle and keeps that one's plane, so that slivers, whose own planes are noise,
    join a real face, and a smooth surface does not melt into one face step by step.
    """
    corners = unit[triangles]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    group = np.full(len(triangles), -1, np.int64)
    groups: list[list[int]] = []
    for seed in np.argsort(-areas, kind="stable"):
        if group[seed] >= 0:
            continue
        group[seed] = len(groups)
        members = [seed]
        normal, offset = equations[seed, :3], equations[seed, 3]
        for member in members:
            for neighbor in neighbors[member]:
                if group[neighbor] < 0 and np.all(np.abs(corners[neighbor] @ normal + offset) <= tolerance):
                    group[neighbor] = len(groups)
                    members.append(neighbor)
        groups.append(members)
    return groups


def _boundary_loop(triangles):
    """The outline of triangles of one face; None where it is not one simple loop."""
    following = {}
    edges = {(a, b) for a, b, c in triangles} | {(b, c) for a, b, c in triangles} | {(c, a) for a, b, c in triangles}
    for a, b in edges:
        if (b, a) not in edges:
            if a in following:
                return None
            following[a] = b
    if not following:
        return None
    start = min(following)
    loop = [start]
    while (vertex := following.get(loop[-1])) is not None and vertex != start and len(loop) <= len(following):
        loop.append(vertex)
    return np.array(loop, np.int64) if len(loop) == len(following) else None


def _without_straight_corners(loops, seeds):
    """Drop vertices of only two faces: they lie inside an edge (to tolerance). Faces that vanish go with their seeds.

    None in place of the loops where no polyhedron is left.
    """
    if any(loop is None for loop in loops):
        return None, seeds
    while True:
        count = np.bincount(np.concatenate(loops))
        shorter = [loop[count[loop] > 2] for loop in loops]
        if all(len(new) == len(old) for new, old in zip(shorter, loops, strict=True)):
            return loops, seeds
        # A sliver that has become a line goes; its two neighbours then share that edge.
        seeds = [seed for seed, loop in zip(seeds, shorter, strict=True) if len(loop) >= 3]
        loops = [loop for loop in shorter if len(loop) >= 3]
        if len(loops) < 4:
            return None, seeds


def _is_closed(loops) -> bool:
    """Whether every edge lies in two faces, once in each direction, and Euler's V - E + F = 2 holds."""
    directed = [(int(a), int(b)) for loop in loops for a, b in zip(loop, np.roll(loop, -1), strict=True)]
    edges = set(directed)
    if len(edges) != len(directed) or any((b, a) not in edges for a, b in edges):
        return False
    vertex_count = len(np.unique(np.concatenate(loops)))
    return vertex_count - len(edges) // 2 + len(loops) == 2


def _prism(unit, axes, center, size, thickness):
    """Vertices, loops, normals and flat face of a flat point set's hull, extruded by ``thickness`` [m]."""
    from scipy.spatial import ConvexHull as Qhull
    from scipy.spatial import QhullError

    local = unit @ axes.T
    try:
        outline = Qhull(local[:, :2]).vertices
    except QhullError as error:
        reason = str(error).strip().splitlines()[0]
        raise ShapeError(f"convex hull: Qhull found no outline of {len(unit)} points: {reason}") from None
    outline = _without_nearly_straight(local, outline)
    height = local[outline, 2].mean()
    corners = center + size * (np.column_stack([local[outline, :2], np.full(len(outline), height)]) @ axes)
    half = 0.5 * thickness * axes[2]
    count = len(outline)
    numbers = np.arange(count)
    following = np.roll(numbers, -1)
    loops = [numbers, count + numbers[::-1]]
    loops += [np.array([a, count + a, count + b, b]) for a, b in zip(numbers, following, strict=True)]
    sides = np.cross(corners[following] - corners, axes[2])
    sides /= np.linalg.norm(sides, axis=1, keepdims=True)
    normals = np.vstack([axes[2], -axes[2], sides])
    return np.concatenate([corners + half, corners - half]), loops, normals, 0 if thickness == 0.0 else None


def _without_nearly_straight(local, outline) -> np.ndarray:
    """Drop corners of a plane outline that lie on the line between their neighbours, to tolerance."""
    outline = list(outline)
    index = 0
    while index < len(outline) and len(outline) > 3:
        before, here, after = (local[outline[(index + step) % len(outline)], :2] for step in (-1, 0, 1))
        span = after - before
        height = abs(span[0] * (here - before)[1] - span[1] * (here - before)[0]) / np.linalg.norm(span)
        if height <= RATIO_COPLANAR:
            del outline[index]
        else:
            index += 1
    return np.array(outline)


def _face_normal(corners, seed) -> np.ndarray:
    """Unit normal of a merged face: by all of its corners, or that of its largest triangle, whichever fits them better.

    The first is Newell's method (areas of the polygon's projections, Ericson 2005, section 12.4.2). It evens out
    rounding, but a face of a needle is so narrow that its corners' rounding tilts it.
    """
    if len(corners) == 3:
        return seed
    middle = corners - corners.mean(axis=0)
    normal = np.cross(middle, np.roll(middle, -1, axis=0)).sum(axis=0)
    length = np.linalg.norm(normal)
    if length > 0.0 and np.ptp(middle @ normal) <= length * np.ptp(middle @ seed):
        return normal / length
    return seed
