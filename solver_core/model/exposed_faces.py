"""The surfaces of bodies as points with an area each, for forces that act on what faces them.

Boxes and hulls are divided so that forces that are quadratic over a face are exact; round shapes into strips of which
each point stands for one, with the area that it truly has. Shapes of a compound count with all of their surfaces, also
where they touch each other. Surfaces of meshes and of sheets, which nothing moves, have none.
"""

import itertools
import math

import numpy as np

from ..geometry import rotations
from ..geometry.hulls import HullArrays
from ..geometry.shapes import ShapeKind
from .model import Model

# Strips around and along round surfaces.
_AROUND, _ALONG = 16, 12


def exposed_faces(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Points on the surfaces of all bodies.

    Parameters
    ----------
    model : Model

    Returns
    -------
    first : int64 [body_count + 1]
        First point of each body.
    points : float64 [point_count, 6]
        In the body frames: where [m], and the outward normal times the area [m^2].
    """
    shapes = model.arrays.shapes
    found: list[list[np.ndarray]] = [[] for _ in range(model.body_count)]
    for shape, body in enumerate(shapes.body):
        own = _faces_of(int(shapes.kind[shape]), shapes.parameters[shape], int(shapes.hull[shape]), model.hulls)
        turn = np.broadcast_to(shapes.orientation[shape], (len(own), 4))
        place = rotations.rotate(turn, np.ascontiguousarray(own[:, :3])) + shapes.position[shape]
        found[body].append(np.concatenate([place, rotations.rotate(turn, np.ascontiguousarray(own[:, 3:]))], axis=1))
    counts = [sum(map(len, pieces)) for pieces in found]
    pieces = [piece for own in found for piece in own]
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), np.concatenate(pieces).reshape(-1, 6)


def _faces_of(kind, parameters, hull, hulls) -> np.ndarray:
    a, b, c = (float(number) for number in parameters)
    if kind == ShapeKind.BOX:
        return _of_box(a, b, c)
    if kind == ShapeKind.HULL:
        return _of_hull(hulls, hull)
    if kind == ShapeKind.SPHERE:
        return _turned([(a, 0.0, 0.5 * math.pi, 0.0), (a, 0.0, 0.0, -0.5 * math.pi)], [])
    if kind == ShapeKind.CAPSULE:
        arcs = [(a, b, 0.5 * math.pi, 0.0), (a, -b, 0.0, -0.5 * math.pi)]
        return _turned(arcs, [(a, b, a, -b)] if b > 0.0 else [])
    if kind == ShapeKind.CYLINDER:
        return _turned([], [(0.0, b, a, b), (a, b, a, -b), (a, -b, 0.0, -b)])
    if kind == ShapeKind.CONE:
        return _turned([], [(0.0, b, a, -b), (a, -b, 0.0, -b)])
    return np.zeros((0, 6))


def _of_box(a, b, c) -> np.ndarray:
    """Four points of Gauss on each face."""
    rows, half = [], (a, b, c)
    for axis in range(3):
        one, other = (axis + 1) % 3, (axis + 2) % 3
        for side in (-1.0, 1.0):
            for u in (-1.0, 1.0):
                for v in (-1.0, 1.0):
                    row = np.zeros(6)
                    row[axis] = side * half[axis]
                    row[one], row[other] = u * half[one] / math.sqrt(3.0), v * half[other] / math.sqrt(3.0)
                    row[3 + axis] = side * half[one] * half[other]
                    rows.append(row)
    return np.array(rows)


def _of_hull(hulls: HullArrays, hull) -> np.ndarray:
    """The middles of the sides of each triangle of each face, a third of its area each."""
    rows = []
    first_vertex, first_face = int(hulls.start[hull, 0]), int(hulls.start[hull, 1])
    for face in range(first_face, int(hulls.start[hull + 1, 1])):
        loop = hulls.loop[hulls.loop_start[face] : hulls.loop_start[face + 1]]
        corners = [hulls.vertex[first_vertex + vertex].tolist() for vertex in loop]
        normal = hulls.plane[face, :3].tolist()
        for one, other in itertools.pairwise(corners[1:]):
            area = _area(corners[0], one, other)
            for start, end in ((corners[0], one), (one, other), (other, corners[0])):
                middle = [0.5 * (p + q) for p, q in zip(start, end, strict=True)]
                rows.append(middle + [area / 3.0 * number for number in normal])
    return np.array(rows).reshape(-1, 6)


def _area(one, other, third) -> float:
    ux, uy, uz = (q - p for p, q in zip(one, other, strict=True))
    vx, vy, vz = (q - p for p, q in zip(one, third, strict=True))
    return 0.5 * math.sqrt((uy * vz - uz * vy) ** 2 + (uz * vx - ux * vz) ** 2 + (ux * vy - uy * vx) ** 2)


def _turned(arcs, lines) -> np.ndarray:
    """Surfaces that turn about the axis z.

    ``arcs`` are parts of circles (radius, height of the middle, angle above it at the start and at the end), ``lines``
    go from (radius, height) to (radius, height), both from the top down.
    """
    strips = []
    for radius, height, start, end in arcs:
        for step in range(_ALONG):
            upper = start + (end - start) * step / _ALONG
            lower = start + (end - start) * (step + 1) / _ALONG
            middle = 0.5 * (upper + lower)
            area = 2.0 * math.pi * radius * radius * (math.sin(upper) - math.sin(lower))
            out, up = math.cos(middle), math.sin(middle)
            strips.append((radius * out, height + radius * up, out, up, area))
    for radius, height, last_radius, last_height in lines:
        length = math.hypot(last_radius - radius, height - last_height)
        out, up = (height - last_height) / length, (last_radius - radius) / length
        for step in range(_ALONG):
            share = (step + 0.5) / _ALONG
            r, z = radius + share * (last_radius - radius), height + share * (last_height - height)
            strips.append((r, z, out, up, 2.0 * math.pi * r * length / _ALONG))
    rows = []
    for r, z, out, up, area in strips:
        for step in range(_AROUND):
            angle = 2.0 * math.pi * (step + 0.5) / _AROUND
            cosine, sine, part = math.cos(angle), math.sin(angle), area / _AROUND
            rows.append([r * cosine, r * sine, z, part * out * cosine, part * out * sine, part * up])
    return np.array(rows)
