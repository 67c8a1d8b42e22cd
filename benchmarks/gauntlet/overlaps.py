"""How deep bodies are in each other, from their poses alone: no code of either engine is used.

Polytopes (boxes and hulls) by the separating axis theorem: the shortest translation that takes two of them apart is
along a face's normal or the cross product of two edges, so the least overlap over these is exact. Balls with balls and
boxes in closed form. All other pairs by coal (GJK and EPA), in units of the smaller body; so are hulls of very many
edges, which have too many cross products.
"""

from functools import cached_property

import numpy as np
from scipy.spatial import ConvexHull, cKDTree

from .scene import matrix

_POLYTOPES = ("box", "hull")
# Edges as parallel as this have no axis of their own.
_PARALLEL = 1e-9
# Directions that agree to this are one.
_SAME_DIRECTION = 1e-7
# Now and then coal finds no depth and returns a huge number: it is asked again for a pair that is moved by these shares
# of the smaller part. A pair without an answer counts as apart.
_SHIFTS, _NO_ANSWER = (0.0, 1e-7, 1e-6, 1e-5, 1e-4), 1e6
# Polytopes with more pairs of edges than this are left to coal.
_MOST_EDGE_PAIRS = 4_000
# Numbers in one array of projections.
_CHUNK = 4_000_000


class Overlaps:
    """Measures the poses of one scene.

    Parameters
    ----------
    scene : Scene

    Attributes
    ----------
    sizes : float64 [body_count]
        Longest sides, infinite of what is static: an overlap is a share of the smaller one.
    """

    def __init__(self, scene):
        self.sizes = np.where(scene.dynamic, scene.sizes, np.inf)
        parts = [(body, part) for body, whole in enumerate(scene.bodies) for part in whole.parts]
        self._parts = [part for _, part in parts]
        self._body = np.array([body for body, _ in parts])
        self._moves = scene.dynamic[self._body]
        self._place = np.array([part.position for part in self._parts], float)
        self._turn = matrix(np.array([part.orientation for part in self._parts], float))
        self._kind = np.array([part.kind for part in self._parts])
        self._class = np.where(self._kind == "box", 0, np.where(self._kind == "hull", 1, 2))
        self._radius = np.array([_bounding_radius(part) for part in self._parts])
        self._half = np.array([part.numbers if part.kind == "box" else (0.0, 0.0, 0.0) for part in self._parts])
        self._tables = [_table([part for part in self._parts if part.kind == kind]) for kind in _POLYTOPES]
        self._row = np.zeros(len(parts), int)
        for kind in _POLYTOPES:
            chosen = self._kind == kind
            self._row[chosen] = np.arange(chosen.sum())
        self._geometries = {}

    def deepest(self, position, orientation) -> float:
        """Deepest overlap as a share of the smaller body's size; 0 without one, infinite where a pose is not finite."""
        if not (np.isfinite(position).all() and np.isfinite(orientation).all()):
            return np.inf
        first, second, depth = self.pairs(position, orientation)
        return float((depth / np.minimum(self.sizes[first], self.sizes[second])).max(initial=0.0))

    def pairs(self, position, orientation):
        """All bodies that overlap.

        Parameters
        ----------
        position, orientation : float64 [body_count, 3], [body_count, 4]

        Returns
        -------
        first, second : int64 [pair_count]
            Bodies; those of several parts may be there several times.
        depth : float64 [pair_count]
            [m], above 0.
        """
        axes = matrix(np.asarray(orientation, float))
        turn = axes[self._body] @ self._turn
        place = np.asarray(position, float)[self._body] + np.einsum("pij,pj->pi", axes[self._body], self._place)
        first, second = self._candidates(place, turn)
        depth = np.zeros(len(first))
        swap = self._class[first] > self._class[second]
        first, second = np.where(swap, second, first), np.where(swap, first, second)
        kinds = np.stack([self._class[first], self._class[second]])
        for one in (0, 1):
            for two in range(one, 2):
                chosen = np.flatnonzero((kinds[0] == one) & (kinds[1] == two))
                depth[chosen] = self._polytopes(first[chosen], second[chosen], place, turn)
        ball_first, ball_second = self._kind[first] == "sphere", self._kind[second] == "sphere"
        balls = np.flatnonzero(ball_first & ball_second)
        depth[balls] = (self._radius[first] + self._radius[second])[balls] - np.linalg.norm(
            place[first[balls]] - place[second[balls]], axis=1
        )
        in_box = np.flatnonzero((kinds[0] == 0) & ball_second)
        depth[in_box] = self._ball_in_box(first[in_box], second[in_box], place, turn)
        others = (kinds[1] == 2) & ~(ball_first & ball_second) & ~((kinds[0] == 0) & ball_second)
        for pair in np.flatnonzero(others):
            depth[pair] = self._by_coal(first[pair], second[pair], place, turn)
        deep = depth > 0.0
        return self._body[first[deep]], self._body[second[deep]], depth[deep]

    def _candidates(self, place, turn):
        """Parts of different bodies, one of which moves, whose bounding boxes overlap."""
        reach = np.broadcast_to(self._radius[:, None], place.shape).copy()
        boxes = self._class == 0
        reach[boxes] = np.einsum("pij,pj->pi", np.abs(turn[boxes]), self._half[boxes])
        moving, fixed = np.flatnonzero(self._moves), np.flatnonzero(~self._moves)
        first, second = np.empty(0, int), np.empty(0, int)
        if len(moving) > 1:
            near = cKDTree(place[moving]).query_pairs(2.0 * self._radius[moving].max(), output_type="ndarray")
            first, second = moving[near[:, 0]], moving[near[:, 1]]
        first = np.concatenate([first, np.repeat(fixed, len(moving))])
        second = np.concatenate([second, np.tile(moving, len(fixed))])
        apart = np.abs(place[first] - place[second]) >= reach[first] + reach[second]
        kept = ~apart.any(axis=1) & (self._body[first] != self._body[second])
        return first[kept], second[kept]

    def _polytopes(self, first, second, place, turn):
        """Depths of pairs of boxes and hulls; not above 0 where they are apart."""
        depth = np.full(len(first), np.inf)
        if not len(first):
            return depth
        tables = self._tables[self._class[first[0]]], self._tables[self._class[second[0]]]
        faces = [
            np.einsum("pij,pfj->pfi", turn[parts], table.normals[self._row[parts]])
            for parts, table in zip((first, second), tables, strict=True)
        ]
        self._least(depth, np.concatenate(faces, axis=1), first, second, place, turn)
        touching = np.flatnonzero(depth > 0.0)  # most pairs are apart along a face's normal
        edge_count = tables[0].edges.shape[1] * tables[1].edges.shape[1]
        if edge_count > _MOST_EDGE_PAIRS:
            for pair in touching:
                depth[pair] = min(depth[pair], self._by_coal(first[pair], second[pair], place, turn))
            return depth
        for chunk in np.array_split(touching, 1 + len(touching) * edge_count * 32 // _CHUNK):
            edges = [
                np.einsum("pij,pej->pei", turn[parts[chunk]], table.edges[self._row[parts[chunk]]])
                for parts, table in zip((first, second), tables, strict=True)
            ]
            axes = np.cross(edges[0][:, :, None], edges[1][:, None]).reshape(len(chunk), edge_count, 3)
            length = np.linalg.norm(axes, axis=2)
            axes = np.divide(axes, length[:, :, None], where=length[:, :, None] > _PARALLEL, out=np.zeros_like(axes))
            least = depth[chunk]
            self._least(least, axes, first[chunk], second[chunk], place, turn)
            depth[chunk] = least
        return depth

    def _least(self, depth, axes, first, second, place, turn):
        """Lower ``depth`` to the least overlap along ``axes`` [pair_count, axis_count, 3]; but those of length 0."""
        if not len(first):
            return
        between = np.einsum("pai,pi->pa", axes, place[second] - place[first])
        low_1, high_1 = self._extent(axes, first, turn)
        low_2, high_2 = self._extent(axes, second, turn)
        overlap = np.minimum(high_1 - low_2 - between, high_2 + between - low_1)
        overlap[np.einsum("pai,pai->pa", axes, axes) < 0.5] = np.inf
        np.minimum(depth, overlap.min(axis=1, initial=np.inf), out=depth)

    def _extent(self, axes, parts, turn):
        """Least and largest projection of each part about its centre, [pair_count, axis_count]."""
        local = np.einsum("pij,pai->paj", turn[parts], axes)
        if self._class[parts[0]] == 0:
            reach = np.einsum("paj,pj->pa", np.abs(local), self._half[parts])
            return -reach, reach
        along = np.einsum("paj,pvj->pav", local, self._tables[1].vertices[self._row[parts]])
        return along.min(axis=2), along.max(axis=2)

    def _ball_in_box(self, boxes, balls, place, turn):
        center = np.einsum("pij,pi->pj", turn[boxes], place[balls] - place[boxes])
        outside = np.linalg.norm(center - np.clip(center, -self._half[boxes], self._half[boxes]), axis=1)
        inside = np.min(self._half[boxes] - np.abs(center), axis=1, initial=np.inf)
        return self._radius[balls] + np.where(outside > 0.0, -outside, inside)

    def _by_coal(self, first, second, place, turn):
        """Depth of one pair; both are measured in units of the smaller one and about the first one's centre."""
        coal, request = self._coal
        unit = min(self._radius[first], self._radius[second])
        geometries = []
        for part in (first, second):
            if (part, unit) not in self._geometries:
                self._geometries[part, unit] = _geometry(coal, self._parts[part], unit)
            geometries.append(self._geometries[part, unit])
        first_pose, between = coal.Transform3s(turn[first], np.zeros(3)), (place[second] - place[first]) / unit
        for shift in _SHIFTS:
            pose = coal.Transform3s(turn[second], between + shift)
            distance = coal.distance(geometries[0], first_pose, geometries[1], pose, request, coal.DistanceResult())
            if abs(distance) < _NO_ANSWER:
                return -unit * distance
        return 0.0

    @cached_property
    def _coal(self):
        try:
            import coal
        except ImportError as error:
            raise ImportError(
                "round shapes are measured with coal, which is not installed (pip install coal)"
            ) from error
        request = coal.DistanceRequest()
        request.enable_signed_distance = True
        request.gjk_tolerance = request.epa_tolerance = 1e-8
        request.gjk_max_iterations = request.epa_max_iterations = 500
        return coal, request


class _Table:
    """Vertices, unique face normals and unique edge directions of polytopes of one kind, padded with repetitions."""

    def __init__(self, solids):
        self.vertices, self.normals, self.edges = (_padded([solid[place] for solid in solids]) for place in range(3))


def _table(parts):
    if not parts:
        return None
    return _Table([_box_solid(part) if part.kind == "box" else _hull_solid(part) for part in parts])


def _box_solid(part):
    signs = np.array(list(np.ndindex(2, 2, 2))) * 2.0 - 1.0
    return signs * part.numbers, np.eye(3), np.eye(3)


def _hull_solid(part):
    """Edges are those between triangles of different planes."""
    hull = ConvexHull(part.points)
    normals = hull.equations[:, :3]
    edges = []
    for triangle, neighbours in enumerate(hull.neighbors):
        for corner, neighbour in enumerate(neighbours):
            if neighbour > triangle and normals[triangle] @ normals[neighbour] < 1.0 - _SAME_DIRECTION:
                one, two = np.delete(hull.simplices[triangle], corner)
                edges.append(part.points[two] - part.points[one])
    edges = np.array(edges)
    return part.points, _unique_directions(normals), _unique_directions(edges / np.linalg.norm(edges, axis=1)[:, None])


def _unique_directions(directions):
    """Without those that another one is parallel to."""
    kept, count = np.empty_like(directions), 0
    for direction in directions:
        if (np.linalg.norm(np.cross(direction, kept[:count]), axis=1) > _SAME_DIRECTION).all():
            kept[count], count = direction, count + 1
    return kept[:count]


def _padded(arrays):
    longest = max(len(array) for array in arrays)
    return np.array([np.concatenate([array, np.repeat(array[-1:], longest - len(array), axis=0)]) for array in arrays])


def _bounding_radius(part) -> float:
    """About the part's own origin [m]."""
    if part.kind == "hull":
        return float(np.linalg.norm(part.points, axis=1).max())
    if part.kind in ("box", "cylinder", "cone"):
        return float(np.linalg.norm(part.numbers))
    return float(sum(part.numbers))


def _geometry(coal, part, unit):
    numbers = [number / unit for number in part.numbers]
    if part.kind == "box":
        return coal.Box(*(2.0 * number for number in numbers))
    if part.kind == "sphere":
        return coal.Sphere(*numbers)
    if part.kind == "hull":
        points = coal.StdVec_Vec3s()
        points.extend(list(part.points / unit))
        return coal.Convex.convexHull(points, False, "")
    shape = {"capsule": coal.Capsule, "cylinder": coal.Cylinder, "cone": coal.Cone}[part.kind]
    return shape(numbers[0], 2.0 * numbers[1])
