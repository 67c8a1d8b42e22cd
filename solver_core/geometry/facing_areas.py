"""Where the surfaces of pieces face each other within a gap: the area that glue would have, and how it is spread.

Two triangles face each other if their normals are nearly opposite. Seen along n = (n_a - n_b) / |n_a - n_b|, their area
is the polygon of the one, clipped by the other and by where the distance of their planes along n, which is linear, is
most the gap, to either side. Of all polygons of two pieces together, with the fan of triangles (p, q, r) of area a,

    A = sum a,   S = sum a (p + q + r) / 3,   C = sum a (p p' + q q' + r r' + s s') / 12,   s = p + q + r

are the area, its first and its second moments. Section moduli, by which a linear stress gives a moment at the rim, are
second moments about the principal axes through the middle S / A over the distance of the farthest corner.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

# Normals are nearly opposite up to this cosine: some 25 degrees.
_COSINE = 0.9
# Slivers below this share of the smaller piece's surface box are none.
_RATIO_SLIVER = 1e-3
# Second moments that differ by less are the same in all directions: then the axes follow the sides.
_RATIO_ROUND = 1e-3
# Pairs of triangles that are looked at together: some hundred megabytes.
_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class FacingAreas:
    """Areas where pieces face each other, one for each two pieces that do.

    Attributes
    ----------
    first, second : int64 [n]
        The pieces, ``first`` below ``second``.
    area : float64 [n]
        [m^2].
    center, normal, axis : float64 [n, 3]
        The middle [m]; the mean normal, from the first piece to the second; and the principal axis y, along which the
        area is longest. The third is z = normal x axis.
    bending_y, bending_z, torsion : float64 [n]
        Section moduli about y and z, and the polar one [m^3].
    gyration_y, gyration_z : float64 [n]
        Radii of gyration about y and z [m].
    """

    first: np.ndarray
    second: np.ndarray
    area: np.ndarray
    center: np.ndarray
    normal: np.ndarray
    axis: np.ndarray
    bending_y: np.ndarray
    bending_z: np.ndarray
    torsion: np.ndarray
    gyration_y: np.ndarray
    gyration_z: np.ndarray


def facing_areas(pieces: Sequence[tuple[ArrayLike, ArrayLike]], gap: float) -> FacingAreas:
    """Find where pieces face each other.

    Parameters
    ----------
    pieces : sequence of (float [v, 3], int [t, 3])
        Vertices in one frame [m], and triangles. A closed surface may be inside out.
    gap : float
        Distance, or depth of an overlap, up to which surfaces count as touching [m].
    """
    triangles, normals, owner = _oriented(pieces)
    low, high = triangles.min(axis=1), triangles.max(axis=1)
    count = len(pieces)
    boxes = np.full((2, count, 3), np.inf)
    boxes[1] = -np.inf
    np.minimum.at(boxes[0], owner, low)
    np.maximum.at(boxes[1], owner, high)
    pairs = _near_pairs(boxes[0], boxes[1], gap)
    first = np.searchsorted(owner, np.arange(count + 1))
    total = _Moments(len(pairs))
    for pair, one, two in _facing_triangles(pairs, first, low, high, normals, boxes, gap):
        total.add(pair, triangles[one], triangles[two], normals[one], normals[two], gap)
    span = np.maximum(boxes[1] - boxes[0], 0.0)
    surface = span[:, 0] * span[:, 1] + span[:, 1] * span[:, 2] + span[:, 2] * span[:, 0]
    least = _RATIO_SLIVER * np.minimum(surface[pairs[:, 0]], surface[pairs[:, 1]])
    return total.areas(pairs, least)


def _oriented(pieces):
    """All triangles [t, 3, 3] with some area, their outward normals [t, 3], and their pieces [t]."""
    parts, owners = [np.zeros((0, 3, 3))], [np.zeros(0, np.int64)]
    for index, (vertices, faces) in enumerate(pieces):
        points = np.asarray(vertices, float).reshape(-1, 3)[np.asarray(faces, np.int64).reshape(-1, 3)]
        if len(points):
            middle = points.reshape(-1, 3).mean(axis=0)
            a, b, c = np.moveaxis(points - middle, 1, 0)
            if np.sum(a * np.cross(b, c)) < 0.0:
                points = points[:, ::-1]
        parts.append(points)
        owners.append(np.full(len(points), index))
    triangles, owner = np.concatenate(parts), np.concatenate(owners)
    across = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    length = np.linalg.norm(across, axis=1)
    has_area = length > 0.0
    return triangles[has_area], across[has_area] / length[has_area, None], owner[has_area]


def _near_pairs(low, high, gap):
    """Pairs of pieces whose boxes are within the gap [n, 2], sorted."""
    found = [np.zeros((0, 2), np.int64)]
    rows = max(1, _AT_ONCE // max(len(low), 1))
    for start in range(0, len(low), rows):
        part = slice(start, start + rows)
        near = np.all((low[part, None] <= high[None] + gap) & (high[part, None] >= low[None] - gap), axis=2)
        one, two = np.nonzero(near)
        one = one + start
        found.append(np.column_stack([one, two])[one < two])
    return np.concatenate(found)


def _facing_triangles(pairs, first, low, high, normals, boxes, gap) -> Iterator[tuple]:
    """Triangles that may face each other, some at a time: (pair, triangle of its first piece, of its second)."""
    for start, end in _portions(np.diff(first)[pairs].sum(axis=1)):
        chunk = np.arange(start, end)
        near = []
        for side in (0, 1):
            piece, other = pairs[chunk, side], pairs[chunk, 1 - side]
            row, triangle = _spread(first[piece], first[piece + 1])
            box = boxes[:, other[row]]
            is_near = np.all((low[triangle] <= box[1] + gap) & (high[triangle] >= box[0] - gap), axis=1)
            near.append((row[is_near], triangle[is_near]))
        (row_a, one), (row_b, two) = near
        ends_b = np.searchsorted(row_b, row_a, "left"), np.searchsorted(row_b, row_a, "right")
        for begin, stop in _portions(ends_b[1] - ends_b[0]):
            place, other = _spread(ends_b[0][begin:stop], ends_b[1][begin:stop])
            a, b, row = one[begin:stop][place], two[other], row_a[begin:stop][place]
            faces = np.einsum("ij,ij->i", normals[a], normals[b]) < -_COSINE
            a, b, row = a[faces], b[faces], row[faces]
            meet = np.all((low[a] <= high[b] + gap) & (high[a] >= low[b] - gap), axis=1)
            yield chunk[row[meet]], a[meet], b[meet]


def _portions(counts):
    """Runs of rows whose counts together are about ``_AT_ONCE``: (start, end) of each."""
    ends = np.cumsum(counts)
    start = 0
    while start < len(counts):
        before = ends[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(ends, before + _AT_ONCE, "right")))
        yield start, end
        start = end


def _spread(begin, end):
    """Of runs ``begin`` to ``end``: the number of the run, and the item, of each item."""
    counts = end - begin
    row = np.repeat(np.arange(len(counts)), counts)
    within = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    return row, begin[row] + within


class _Moments:
    """Sums over all polygons of each pair."""

    def __init__(self, count):
        self.count = count
        self.pair: list[np.ndarray] = []
        self.polygon: list[np.ndarray] = []
        self.corners: list[np.ndarray] = []
        self.normal: list[np.ndarray] = []

    def add(self, pair, one, two, normal_one, normal_two, gap):
        """Add the polygons in which triangles [n, 3, 3] face each other."""
        if not len(pair):
            return
        normal = normal_one - normal_two
        normal /= np.linalg.norm(normal, axis=1)[:, None]
        side = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal), axis=1)])
        side /= np.linalg.norm(side, axis=1)[:, None]
        axes = np.stack([side, np.cross(normal, side), normal], axis=1)
        origin = one.mean(axis=1)
        flat_one, flat_two = (np.einsum("nij,nkj->nki", axes, part - origin[:, None]) for part in (one, two))
        corners, count = flat_one[:, :, :2], np.full(len(pair), 3)
        for edge in range(3):
            # seen from outside of the first, the second one's corners go round the other way
            start, end = flat_two[:, edge, :2], flat_two[:, edge - 1, :2]
            slope = np.column_stack([start[:, 1] - end[:, 1], end[:, 0] - start[:, 0]])
            corners, count = _clipped(corners, count, slope, -np.einsum("ni,ni->n", slope, start))
        heights = [
            _plane(flat, np.einsum("nij,nj->ni", axes, of))
            for flat, of in zip((flat_one, flat_two), (normal_one, normal_two), strict=True)
        ]
        (slope_one, at_one), (slope_two, at_two) = heights
        apart, at = slope_two - slope_one, at_two - at_one
        for sign in (1.0, -1.0):
            corners, count = _clipped(corners, count, -sign * apart, gap - sign * at)
        middle = 0.5 * (np.einsum("nki,ni->nk", corners, slope_one + slope_two) + (at_one + at_two)[:, None])
        local = np.concatenate([corners, middle[:, :, None]], axis=2)
        points = origin[:, None] + np.einsum("nki,nij->nkj", local, axes)
        some = count >= 3
        self.pair.append(pair[some])
        self.polygon.append(points[some])
        self.corners.append(count[some])
        self.normal.append(normal[some])

    def areas(self, pairs, least) -> FacingAreas:
        """What the sums are, of pairs that have more than the least area."""
        width = max((part.shape[1] for part in self.polygon), default=3)
        polygon = np.concatenate([np.zeros((0, width, 3)), *(_padded(part, width) for part in self.polygon)])
        pair = np.concatenate([np.zeros(0, np.int64), *self.pair])
        corners = np.concatenate([np.zeros(0, np.int64), *self.corners])
        normals = np.concatenate([np.zeros((0, 3)), *self.normal])
        base = np.zeros((self.count, 3))
        base[pair] = polygon[:, 0]
        polygon = polygon - base[pair][:, None]
        area, first, second = _fan_moments(polygon, corners, normals)
        total, along = _summed(pair, area, self.count), _summed(pair, area[:, None] * normals, self.count)
        kept = np.flatnonzero(total > least)
        place = np.full(self.count, -1)
        place[kept] = np.arange(len(kept))
        of_kept = place[pair] >= 0
        pair, polygon, corners, normals = place[pair[of_kept]], polygon[of_kept], corners[of_kept], normals[of_kept]
        total, along, base = total[kept], along[kept], base[kept]
        middle = _summed(pair, first[of_kept], len(kept)) / total[:, None]
        spread = _summed(pair, second[of_kept], len(kept)) / total[:, None, None]
        spread -= np.einsum("ni,nj->nij", middle, middle)
        normal = _mean_normals(along, total, pair, area[of_kept], normals)
        axis, var_y, var_z = _principal_axis(normal, spread)
        points, owner = _corner_points(polygon, corners, pair)
        _follow_sides(axis, normal, var_y, var_z, points, owner)
        third = np.cross(normal, axis)
        offset = points - middle[owner]
        y, z = np.einsum("ni,ni->n", offset, axis[owner]), np.einsum("ni,ni->n", offset, third[owner])
        far_y, far_z, far = (np.zeros(len(kept)) for _ in range(3))
        np.maximum.at(far_y, owner, np.abs(y))
        np.maximum.at(far_z, owner, np.abs(z))
        np.maximum.at(far, owner, np.hypot(y, z))
        return FacingAreas(
            first=pairs[kept, 0],
            second=pairs[kept, 1],
            area=total,
            center=base + middle,
            normal=normal,
            axis=axis,
            bending_y=total * var_z / far_z,
            bending_z=total * var_y / far_y,
            torsion=total * (var_y + var_z) / far,
            gyration_y=np.sqrt(var_z),
            gyration_z=np.sqrt(var_y),
        )


def _padded(polygon, width):
    return np.pad(polygon, ((0, 0), (0, width - polygon.shape[1]), (0, 0)))


def _plane(flat, normal):
    """A triangle's height over its plan: slope [n, 2] and height at the origin [n]."""
    slope = -normal[:, :2] / normal[:, 2:]
    return slope, flat[:, 0, 2] - np.einsum("ni,ni->n", slope, flat[:, 0, :2])


def _clipped(corners, count, slope, offset):
    """The part of convex polygons where slope . p + offset >= 0 (Sutherland and Hodgman 1974)."""
    width = corners.shape[1]
    here = np.arange(width)[None] < count[:, None]
    following = np.where(np.arange(width)[None] + 1 < count[:, None], np.arange(width)[None] + 1, 0)
    rows = np.arange(len(corners))[:, None]
    value = np.einsum("nki,ni->nk", corners, slope) + offset[:, None]
    after, end = value[rows, following], corners[rows, following]
    crosses = here & ((value >= 0.0) != (after >= 0.0))
    share = np.divide(value, value - after, out=np.zeros_like(value), where=crosses)
    meets = corners + share[:, :, None] * (end - corners)
    given = np.stack([here & (value >= 0.0), crosses], axis=2).reshape(len(corners), 2 * width)
    points = np.stack([corners, meets], axis=2).reshape(len(corners), 2 * width, 2)
    place, left = np.cumsum(given, axis=1) - 1, given.sum(axis=1)
    # one corner more at most, but for rounding of slivers
    result = np.zeros((len(corners), int(left.max(initial=1)), 2))
    row, column = np.nonzero(given)
    result[row, place[row, column]] = points[row, column]
    return result, left


def _fan_moments(polygon, corners, normals):
    """Area [n], first [n, 3] and second moments [n, 3, 3] of polygons."""
    area, first, second = np.zeros(len(polygon)), np.zeros((len(polygon), 3)), np.zeros((len(polygon), 3, 3))
    for corner in range(1, polygon.shape[1] - 1):
        some = corners > corner + 1
        p, q, r = polygon[some, 0], polygon[some, corner], polygon[some, corner + 1]
        part = 0.5 * np.einsum("ni,ni->n", np.cross(q - p, r - p), normals[some])
        whole = p + q + r
        area[some] += part
        first[some] += part[:, None] * whole / 3.0
        products = sum(np.einsum("ni,nj->nij", point, point) for point in (p, q, r, whole))
        second[some] += part[:, None, None] * products / 12.0
    return area, first, second


def _summed(pair, values, count):
    total = np.zeros((count, *values.shape[1:]))
    np.add.at(total, pair, values)
    return total


def _mean_normals(along, total, pair, area, normals):
    """The normals [n, 3] of areas that together have these area vectors; of the largest polygon where they cancel."""
    length = np.linalg.norm(along, axis=1)
    result = along / np.where(length > 0.0, length, 1.0)[:, None]
    for index in np.flatnonzero(length < 0.1 * total):
        own = np.flatnonzero(pair == index)
        result[index] = normals[own[np.argmax(area[own])]]
    return result


def _principal_axis(normal, spread):
    """The axis across the normal along which an area is longest, and its second moments along it and across [n]."""
    one = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal), axis=1)])
    one /= np.linalg.norm(one, axis=1)[:, None]
    two = np.cross(normal, one)
    a, b, c = (np.einsum("ni,nij,nj->n", x, spread, y) for x, y in ((one, one), (one, two), (two, two)))
    angle = 0.5 * np.arctan2(2.0 * b, a - c)
    axis = np.cos(angle)[:, None] * one + np.sin(angle)[:, None] * two
    mean, half = 0.5 * (a + c), np.hypot(0.5 * (a - c), b)
    return axis, mean + half, np.maximum(mean - half, 0.0)


def _corner_points(polygon, corners, pair):
    """All corners [m, 3], and their pairs [m], in turn."""
    row, column = np.nonzero(np.arange(polygon.shape[1])[None] < corners[:, None])
    order = np.argsort(pair[row], kind="stable")
    return polygon[row, column][order], pair[row][order]


def _follow_sides(axis, normal, var_y, var_z, points, owner):
    """Of areas whose second moments are the same in all directions, let the axis be that of the smallest box."""
    starts = np.searchsorted(owner, np.arange(len(axis) + 1))
    for index in np.flatnonzero(var_y - var_z <= _RATIO_ROUND * (var_y + var_z)).tolist():
        own = points[starts[index] : starts[index + 1]]
        third = np.cross(normal[index], axis[index])
        flat = np.column_stack([own @ axis[index], own @ third])
        sides = np.diff(np.concatenate([flat, flat[:1]]), axis=0)
        length = np.hypot(*sides.T)
        ways = sides[length > 1e-6 * length.max()] / length[length > 1e-6 * length.max()][:, None]
        boxes = [np.prod(np.ptp(np.column_stack([flat @ way, flat @ (-way[1], way[0])]), axis=0)) for way in ways]
        if boxes:
            way = ways[int(np.argmin(boxes))]
            axis[index] = way[0] * axis[index] + way[1] * third
