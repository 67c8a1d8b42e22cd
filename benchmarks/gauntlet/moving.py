"""Families of scenes in motion: falls, hits, and layers that start in each other.

Each function draws a scene with bodies of about 1 m from a NumPy Generator; ``families.draw`` scales it.
"""

from dataclasses import replace

import numpy as np

from .overlaps import Overlaps
from .scene import GRAVITY, Body, Part, Scene, ball, box, compound, floor, hull, matrix, random_turn, turn
from .standing import bond, rough

# Deepest overlap at the start of heaps and layers, as a share of the smaller body's size.
_DEEPEST = 0.15
# Of walls that are hit while they overlap.
_DEEPEST_OF_BRICKS = 0.05


def heaps(random) -> Scene:
    """27 to 300 unequal boxes, turned at random, that fall together; they overlap at the start by up to 15 %."""
    count = round(10.0 ** random.uniform(np.log10(27), np.log10(300)))
    half = random.uniform(0.2, 0.5, (count, 3)) * random.uniform(0.5, 1.5, (count, 1))
    density = 10.0 ** random.uniform(-0.5, 0.5, count)
    boxes = [
        box(
            half[number],
            mass=8.0 * density[number] * half[number].prod(),
            position=place,
            orientation=random_turn(random),
        )
        for number, place in enumerate(_places(random, count, 1.0))
    ]
    return _squeezed("heaps", random, boxes)


def layers(random) -> Scene:
    """3 x 3 x 2 to 7 x 7 x 7 boxes in layers on the floor, turned about the vertical; they overlap by up to 15 %."""
    across, along, high = int(random.integers(3, 8)), int(random.integers(3, 8)), int(random.integers(2, 8))
    half = np.array([*random.uniform(0.3, 0.5, 2), random.uniform(0.2, 0.5)])
    rise = 2.0 * half[2] * float(random.choice([1.0, random.uniform(1.0, 1.5)]))
    boxes = [
        box(
            half,
            mass=8.0 * half.prod(),
            position=(x - 0.5 * (across - 1), y - 0.5 * (along - 1), half[2] + rise * z),
            orientation=turn("z", random.uniform(0.0, 2.0 * np.pi)),
        )
        for z, y, x in np.ndindex(high, along, across)
    ]
    return _squeezed("layers", random, boxes, horizontally=True)


def hit_walls(random) -> Scene:
    """A wall of bricks and a ball of 1 to 500 times a brick's mass, at 3 to 15 m/s for bricks of 1 m."""
    bricks = bond(random, int(random.integers(4, 11)), int(random.integers(4, 11)))
    mass = max(brick.mass for brick in bricks) * 10.0 ** random.uniform(0.0, np.log10(500.0))
    thrown = shot(random, bricks, random.uniform(-1.0, 1.0), random.uniform(0.1, 0.3), mass, random.uniform(0.2, 0.8))
    return Scene("hit walls", rough([floor(), *bricks, thrown], random.uniform(0.3, 1.0)))


def hit_overlaps(random) -> Scene:
    """A wall whose bricks overlap at the start by up to 5 %, hit by one to four balls one after the other."""
    bricks = bond(random, int(random.integers(4, 11)), int(random.integers(4, 11)))
    most = 0.5 * _DEEPEST_OF_BRICKS * min(brick.size for brick in bricks)
    bricks = [grown(brick, random.uniform(0.0, most)) for brick in bricks]
    mass = max(brick.mass for brick in bricks)
    balls = [
        shot(
            random, bricks, along, 0.2 + 0.3 * number, mass * 10.0 ** random.uniform(0.0, 2.0), random.uniform(0.2, 0.6)
        )
        for number, along in enumerate(random.permutation([-0.9, -0.3, 0.3, 0.9])[: random.integers(1, 5)])
    ]
    friction = random.uniform(0.3, 1.0)
    return Scene("hit overlaps", rough([floor(), *bricks, *balls], friction), overlap=_DEEPEST_OF_BRICKS)


def dominoes(random) -> Scene:
    """20 to 90 dominoes on a straight row or an arc; the first leans and falls on the next."""
    count = int(random.integers(20, 91))
    thickness, width, height = random.uniform(0.06, 0.18), random.uniform(0.4, 0.7), 1.0
    bend = float(random.choice([0.0, random.uniform(-0.12, 0.12)]))  # a domino's heading against the one before
    lean = np.arctan(thickness / height) + random.uniform(0.02, 0.08)
    # the one that leans has yet to fall some way, or it would not push the next over
    pitch = thickness + max(random.uniform(0.2, 0.6), np.sin(lean) + 0.2) * height
    bodies, place, heading = [floor()], np.zeros(2), 0.0
    for number in range(count):
        ahead = np.array([np.cos(heading), np.sin(heading)])
        tilt = lean if number == 0 else 0.0
        # turned about the lower front edge, which stays on the floor
        forward = 0.5 * height * np.sin(tilt) + 0.5 * thickness * (1.0 - np.cos(tilt))
        up = 0.5 * height * np.cos(tilt) + 0.5 * thickness * np.sin(tilt)
        a, b = 0.5 * heading, 0.5 * tilt
        facing = (np.cos(a) * np.cos(b), -np.sin(a) * np.sin(b), np.cos(a) * np.sin(b), np.sin(a) * np.cos(b))
        bodies.append(
            box(
                (0.5 * thickness, 0.5 * width, 0.5 * height),
                position=(*(place + forward * ahead), up),
                orientation=facing,
            )
        )
        # a full turn would run into the start
        heading += bend if abs(heading + bend) < 1.5 * np.pi else 0.0
        place = place + pitch * np.array([np.cos(heading), np.sin(heading)])
    return Scene("dominoes", rough(bodies, random.uniform(0.2, 0.8)))


def bins(random) -> Scene:
    """125 to 343 balls of unequal radii that fall into a bin; some bounce."""
    side = int(random.integers(5, 8))
    restitution = float(random.choice([0.0, 0.0, 0.3, 0.6])) ** 0.5
    inner, tall = 0.5 * side + 0.1, 0.6 * side
    walls = [
        box(half, position=place, static=True)
        for half, place in (
            ((0.5, inner + 1.0, tall), (inner + 0.5, 0.0, tall)),
            ((0.5, inner + 1.0, tall), (-inner - 0.5, 0.0, tall)),
            ((inner, 0.5, tall), (0.0, inner + 0.5, tall)),
            ((inner, 0.5, tall), (0.0, -inner - 0.5, tall)),
        )
    ]
    balls = []
    for x, y, z in np.ndindex(side, side, side):
        radius = random.uniform(0.3, 0.47)
        place = np.array([x - 0.5 * (side - 1), y - 0.5 * (side - 1), z + 0.6]) + random.uniform(-0.02, 0.02, 3)
        balls.append(ball(radius, mass=radius**3 * 10.0 ** random.uniform(0.0, 1.0), position=place))
    bodies = [replace(body, restitution=restitution) for body in (floor(), *walls, *balls)]
    return Scene("bins", rough(bodies, random.uniform(0.1, 0.8)))


def mixed(random) -> Scene:
    """30 to 120 balls, boxes, capsules, cylinders, cones and hulls that fall into a heap."""
    count = int(random.integers(30, 121))
    bodies = [_any_body(random, place) for place in _places(random, count, 1.3)]
    return Scene("mixed", rough([floor(), *bodies], random.uniform(0.2, 1.0)))


def concave(random) -> Scene:
    """20 to 80 pieces made of boxes (L, T, U, plus, and square rings) that fall into a heap."""
    count = int(random.integers(20, 81))
    bodies = []
    for place in _places(random, count, 1.9):
        parts = _PIECES[int(random.integers(len(_PIECES)))](random)
        mass = sum(part.volume() for part in parts) * 10.0 ** random.uniform(0.0, 1.0)
        spin = random.normal(0.0, 1.0, 3)
        bodies.append(compound(parts, mass=mass, position=place, orientation=random_turn(random), spin=tuple(spin)))
    return Scene("concave", rough([floor(), *bodies], random.uniform(0.2, 1.0)))


# ---- places and overlaps


def _places(random, count, pitch):
    """Points of a grid a bit higher than wide, shifted at random by 5 % of the pitch, the lowest at 0.6 pitches."""
    side = max(1, round((count / 1.5) ** (1.0 / 3.0)))
    for number in range(count):
        layer, place = divmod(number, side * side)
        row, column = divmod(place, side)
        middle = np.array([column - 0.5 * (side - 1), row - 0.5 * (side - 1), layer + 0.6])
        yield pitch * (middle + random.uniform(-0.05, 0.05, 3))


def _squeezed(family, random, boxes, horizontally=False) -> Scene:
    """Draw the boxes together until the deepest overlap is a share of the size drawn up to ``_DEEPEST``."""
    target = random.uniform(0.0, _DEEPEST)
    friction = random.uniform(0.2, 1.0)
    stretch = np.array([1.0, 1.0, 0.0 if horizontally else 1.0])
    overlaps = Overlaps(Scene(family, tuple(boxes)))
    position, orientation = Scene(family, tuple(boxes)).poses()
    apart, together = 1.0, 1.0
    while overlaps.deepest(_stretched(position, apart, stretch), orientation) > target:
        apart *= 1.2
    while overlaps.deepest(_stretched(position, together, stretch), orientation) < target and together > 0.3:
        together *= 0.9
    for _ in range(25):
        middle = 0.5 * (apart + together)
        if overlaps.deepest(_stretched(position, middle, stretch), orientation) > target:
            together = middle
        else:
            apart = middle
    position = _stretched(position, apart, stretch)
    if not horizontally:
        position[:, 2] += 0.05 - min(_lowest(body, place) for body, place in zip(boxes, position, strict=True))
    boxes = [replace(body, position=tuple(place)) for body, place in zip(boxes, position, strict=True)]
    return Scene(family, rough([floor(), *boxes], friction), overlap=_DEEPEST, notes={"overlap": target})


def _stretched(position, factor, stretch):
    return position * (1.0 + (factor - 1.0) * stretch)


def _lowest(body, place):
    """Least height of a box at ``place``."""
    return place[2] - np.abs(matrix(body.orientation)[2]) @ body.parts[0].numbers


def grown(brick, extra) -> Body:
    """A brick whose ends and upper side lie farther out, by ``extra`` each end and twice that above [m]."""
    half = np.array(brick.parts[0].numbers)
    larger = half + [extra, 0.0, extra]
    place = np.array(brick.position) + [0.0, 0.0, extra]
    return box(larger, mass=brick.mass * larger.prod() / half.prod(), position=tuple(place))


# ---- bodies


def shot(random, bricks, along, arrival, mass, radius) -> Body:
    """A ball that is thrown at a wall, along y, at 3 to 15 m/s for bricks of 1 m.

    Parameters
    ----------
    random : numpy.random.Generator
    bricks : list of Body
    along : float
        Where it hits along the wall, from -1 to 1.
    arrival : float
        When it hits [s].
    mass, radius : float
    """
    places = np.array([brick.position for brick in bricks])
    width, height = np.abs(places[:, 0]).max(), places[:, 2].max()
    speed = random.uniform(3.0, 15.0)
    aim = max(radius, random.uniform(0.2, 0.9) * height)
    half_width = bricks[0].parts[0].numbers[1]
    start = (0.9 * along * width, -half_width - radius - speed * arrival, aim)
    # it comes back to the height it was thrown from
    return ball(radius, mass=mass, position=start, velocity=(0.0, speed, 0.5 * GRAVITY * arrival))


def _any_body(random, place):
    size = random.uniform(0.3, 0.55)
    length = size * random.uniform(0.4, 1.0)
    kind = str(random.choice(["sphere", "box", "capsule", "cylinder", "cone", "hull"]))
    body = {
        "mass": size**3 * 10.0 ** random.uniform(0.0, 1.0),
        "position": place,
        "orientation": random_turn(random),
        "spin": tuple(random.normal(0.0, 1.0, 3)),
    }
    if kind == "hull":
        points = random.normal(size=(int(random.integers(8, 13)), 3))
        points *= size / np.linalg.norm(points, axis=1, keepdims=True)
        return hull(points, **body)
    numbers = {
        "sphere": (size,),
        "box": tuple(size * random.uniform(0.4, 0.7, 3)),
        "capsule": (0.4 * size, 0.6 * length),
        "cylinder": (0.7 * size, 0.7 * length),
        "cone": (0.7 * size, 0.7 * length),
    }[kind]
    return compound([Part(kind, numbers)], **body)


def _bar(half, *place):
    return Part("box", tuple(half), tuple(place))


def _angle_piece(random):
    a, t = 0.5, random.uniform(0.1, 0.18)
    return [_bar((a, t, t), 0.0, 0.0, 0.0), _bar((t, t, 0.5 * a), -a + t, 0.0, t + 0.5 * a)]


def _t_piece(random):
    a, t = 0.5, random.uniform(0.1, 0.18)
    return [_bar((a, t, t), 0.0, 0.0, 0.0), _bar((t, t, 0.6 * a), 0.0, 0.0, t + 0.6 * a)]


def _u_piece(random):
    a, t, tall = 0.5, random.uniform(0.08, 0.15), random.uniform(0.2, 0.35)
    return [
        _bar((a, t, t), 0.0, 0.0, 0.0),
        *(_bar((t, t, tall), side * (a - t), 0.0, t + tall) for side in (-1.0, 1.0)),
    ]


def _plus_piece(random):
    a, t = 0.5, random.uniform(0.1, 0.18)
    arm = 0.5 * (a - t)
    return [_bar((a, t, t), 0.0, 0.0, 0.0), *(_bar((t, t, arm), 0.0, 0.0, side * (t + arm)) for side in (-1.0, 1.0))]


def _ring_piece(random):
    a, t = 0.5, random.uniform(0.08, 0.15)
    return [
        *(_bar((a, t, t), 0.0, 0.0, side * (a - t)) for side in (-1.0, 1.0)),
        *(_bar((t, t, a - 2.0 * t), side * (a - t), 0.0, 0.0) for side in (-1.0, 1.0)),
    ]


_PIECES = (_angle_piece, _t_piece, _u_piece, _plus_piece, _ring_piece)

FAMILIES = {
    "heaps": heaps,
    "layers": layers,
    "hit walls": hit_walls,
    "hit overlaps": hit_overlaps,
    "dominoes": dominoes,
    "bins": bins,
    "mixed": mixed,
    "concave": concave,
}
