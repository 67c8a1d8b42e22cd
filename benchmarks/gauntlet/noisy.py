"""Families of bodies as they come from scans, imports and remeshing: hulls whose faces are flat but for something.

Each box and each stone of a scene of another family becomes a hull of 8 to 488 corners, of which each lies a little
within the surface that it should lie on. Nothing overlaps by that, and the flaw is at most ``flaw`` deep:

- noise: every corner is off by its own random part of it;
- bumps: the corners are sunk in, and each face has one more corner that is not, somewhere about its middle;
- bevels: corners and edges are cut off;
- stones, in heaps alone: the box is rounded off and noisy, as scanned boulders are.

What stands as boxes stands. It may go as far as its flaws let it: each joint sinks by two flaws and leans until what
stood highest in it touches, and what stands above leans along.
"""

from dataclasses import replace

import numpy as np

from .moving import heaps
from .scene import Part, Scene, hull, matrix
from .standing import arches, card_houses, crates, pyramids, towers, walls

_KINDS = ("noise", "bumps", "bevels")
# Corners along an edge: 8 to 488 corners of a body.
_ALONG_EDGE = (2, 3, 5, 7, 10)
# Flaws, as shares of a body's shortest side; none in one scene of eight.
_FLAWS = (1e-7, 1e-2)
# Bodies in a scene at most: the rest is left to the families of boxes.
_BODIES = 40
# A flaw may let bodies go this share of their size: what stands has no more than that to spare.
_MOST_PLAY = 0.02


def noisy(random) -> Scene:
    """What stands, of flawed hulls."""
    kinds = (towers, walls, pyramids, crates, arches, card_houses)
    while True:
        scene = kinds[random.integers(len(kinds))](random)
        if scene.dynamic.sum() <= _BODIES:
            break
    flaw = _flaw(random)
    while play(scene, flaw) > _MOST_PLAY:
        flaw *= 0.5
    flawed = _flawed(random, scene, flaw)
    return replace(flawed, family="noisy", play=play(scene, flaw), notes={**flawed.notes, "of": scene.family})


def noisy_heaps(random) -> Scene:
    """Flawed boxes that fall together, turned at random."""
    while True:
        scene = heaps(random)
        if scene.dynamic.sum() <= 2 * _BODIES:
            break
    return replace(_flawed(random, scene, _flaw(random), (*_KINDS, "stones")), family="noisy heaps")


def play(scene, flaw) -> float:
    """How far flaws may let a body of a scene go until it stands, as a share of its size.

    A joint whose surfaces are both up to f deep sinks by 2 f and leans by up to 4 f / w over its width w. With bodies
    of the height h there are at most N = H / h joints below each other in a scene of the height H, and what is highest
    moves by each lean times its height over that joint: 2 f N + 4 f / w (H N / 2) in all. In an arch the joints follow
    each other along its length, and so many bodies as there are.

    Parameters
    ----------
    scene : Scene
    flaw : float
        As a share of a body's shortest side.
    """
    shortest = np.array([2.0 * np.min(_half_extents(body.parts[0])) for body in scene.bodies if not body.static])
    sizes = scene.sizes[scene.dynamic]
    height = float(np.max([body.position[2] for body in scene.bodies])) + sizes.max()
    joints = len(shortest) if scene.family in ("arches", "towers") else height / shortest.min()
    depth = flaw * shortest.max()
    return float(depth * (2.0 + 2.0 * height / shortest.min()) * joints / sizes.min())


def _flaw(random) -> float:
    return 0.0 if random.integers(8) == 0 else float(np.exp(random.uniform(*np.log(_FLAWS))))


def _flawed(random, scene, flaw, kinds=_KINDS) -> Scene:
    """The scene with every dynamic body as a flawed hull."""
    kind, along = str(random.choice(kinds)), int(random.choice(_ALONG_EDGE))
    bodies = [body if body.static else _hull_of(random, body, kind, along, flaw) for body in scene.bodies]
    corners = max(len(body.parts[0].points) for body in bodies if not body.static)
    # a flawed hull may reach out of what it was made from by as much as its corners are off
    notes = {"flaw": kind, "depth": flaw, "corners": corners}
    return replace(scene, bodies=tuple(bodies), overlap=max(scene.overlap, flaw), notes=notes)


def _hull_of(random, body, kind, along, flaw):
    """A body of one box or hexahedron as a flawed hull."""
    corner = _hexahedron(body.parts[0])
    places = _places(random, kind, along, corner, flaw)
    weight = np.array([[1.0 - places[:, axis], places[:, axis]] for axis in range(3)])
    points = sum(
        (weight[0, i] * weight[1, j] * weight[2, k])[:, None] * corner[i, j, k] for i, j, k in np.ndindex(2, 2, 2)
    )
    axes = matrix(body.orientation)
    made = hull(points, mass=body.mass)
    center = np.asarray(made.position)
    return replace(body, parts=made.parts, position=tuple(np.asarray(body.position) + axes @ center))


def _places(random, kind, along, corner, flaw) -> np.ndarray:
    """Corners of the flawed body in the unit cube whose corners are those of the exact one."""
    lengths = np.array([np.linalg.norm(np.diff(corner, axis=axis), axis=-1).min() for axis in range(3)])
    depth = flaw * lengths.min() / lengths
    if kind in ("noise", "stones"):
        grid = np.array(list(np.ndindex(along, along, along))) / (along - 1)
        grid = grid[((grid == 0.0) | (grid == 1.0)).any(axis=1)]
        inwards = depth * random.uniform(0.0, 1.0, grid.shape)
        if kind == "stones":
            # A ball in the norm of fourth powers, between a box and an ellipsoid.
            rays = 2.0 * grid - 1.0
            rays /= (rays**4).sum(axis=1, keepdims=True) ** 0.25
            return 0.5 + (0.5 - inwards[:, :1]) * rays
        return np.where(grid == 0.0, inwards, np.where(grid == 1.0, 1.0 - inwards, grid))
    cube = np.array(list(np.ndindex(2, 2, 2)), float)
    if kind == "bumps":
        middles = [np.insert(random.uniform(0.3, 0.7, 2), axis, side) for axis in range(3) for side in (0.0, 1.0)]
        return np.vstack([np.clip(cube, depth, 1.0 - depth), middles])
    # Of each corner the three points from which it is cut off.
    return np.vstack([np.where(np.arange(3) == axis, cube, np.clip(cube, depth, 1.0 - depth)) for axis in range(3)])


def _hexahedron(part) -> np.ndarray:
    """Corners [2, 2, 2, 3] of a box, or of a stone of an arch, whose eight corners ``arches`` gives."""
    if part.kind == "box":
        signs = 2.0 * np.array(list(np.ndindex(2, 2, 2))) - 1.0
        return (signs * part.numbers).reshape(2, 2, 2, 3)
    points = part.points
    front, back = (points[side * points[:, 1] > 0.0] for side in (-1.0, 1.0))
    quads = []
    for quad in (front, back):
        middle = quad.mean(axis=0)
        angle = np.arctan2(quad[:, 2] - middle[2], quad[:, 0] - middle[0])
        around = quad[np.argsort(angle)]
        quads.append([[around[0], around[3]], [around[1], around[2]]])
    return np.array(quads).transpose(1, 0, 2, 3)


def _half_extents(part) -> np.ndarray:
    lower, upper = Part(part.kind, part.numbers, points=part.points).bounds()
    return 0.5 * (upper - lower)


FAMILIES = {"noisy": noisy, "noisy heaps": noisy_heaps}
