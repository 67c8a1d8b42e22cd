"""Families of scenes that must stand still: a static equilibrium exists by construction, with room to spare.

Each function draws a scene with bodies of about 1 m from a NumPy Generator; ``families.draw`` scales it.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq, linprog

from .scene import FLOOR_HALF_WIDTH, Part, Scene, box, compound, floor, hull, product, turn

# Centres of mass lie within this share of the way from the middle of a support to its nearest edge.
_WITHIN_SUPPORT = 0.6
# Of an arch: the thrust keeps this share of a joint away from its ends, and needs at most this share of the friction.
_JOINT_MARGIN, _FRICTION_MARGIN = 0.15, 0.8


def rough(bodies, friction) -> tuple:
    """The bodies with one coefficient of friction for every pair."""
    return tuple(replace(body, friction=float(friction) ** 0.5) for body in bodies)


def towers(random) -> Scene:
    """A column of 3 to 30 boxes of unequal widths, shifted and turned, with masses over four orders of magnitude."""
    count = int(random.integers(3, 31))
    half = np.column_stack([random.uniform(0.35, 0.65, (count, 2)), random.uniform(0.15, 0.5, count)])
    mass = 10.0 ** random.uniform(-2.0, 2.0, count)
    shift = random.uniform(-0.15, 0.15, (count, 2))
    radius = half[:, :2].min(axis=1)
    while not _carried(shift, mass, radius):
        shift *= 0.7
    heights = 2.0 * half[:, 2]
    bottom = np.concatenate([[0.0], np.cumsum(heights)[:-1]])
    boxes = [
        box(
            half[level],
            mass=mass[level],
            position=(*shift[level], bottom[level] + half[level, 2]),
            orientation=turn("z", random.uniform(0.0, 2.0 * np.pi)),
        )
        for level in range(count)
    ]
    return Scene("towers", rough([floor(), *boxes], random.uniform(0.3, 1.0)), stands=True)


def walls(random) -> Scene:
    """3 to 12 courses of bricks in running bond, with half bricks at the ends; joints may be open by 2 %."""
    courses, bricks = int(random.integers(3, 13)), int(random.integers(3, 13))
    return Scene("walls", rough([floor(), *bond(random, courses, bricks)], random.uniform(0.3, 1.0)), stands=True)


def bond(random, courses, bricks) -> list:
    """Bricks in running bond on z = 0, along x; joints are tight or open by up to 2 %."""
    length, width, height = 1.0, random.uniform(0.35, 0.6), random.uniform(0.3, 0.6)
    gap = float(random.choice([0.0, random.uniform(0.0, 0.02)]))
    density = 10.0 ** random.uniform(0.0, 3.0)
    whole = length * bricks + gap * (bricks - 1)
    bodies = []
    for course in range(courses):
        ends = [(length + gap) * brick for brick in range(bricks)]
        lengths = [length] * bricks
        if course % 2:
            half = 0.5 * (length - gap)
            lengths = [half, *[length] * (bricks - 1), half]
            ends = [0.0, *(half + gap + (length + gap) * brick for brick in range(bricks))]
        for start, long in zip(ends, lengths, strict=True):
            bodies.append(
                box(
                    (0.5 * long, 0.5 * width, 0.5 * height),
                    mass=density * long * width * height,
                    position=(start + 0.5 * long - 0.5 * whole, 0.0, (course + 0.5) * height),
                )
            )
    return bodies


def pyramids(random) -> Scene:
    """Square layers of 3 x 3 to 7 x 7 boxes, each box on four."""
    base = int(random.integers(3, 8))
    half = np.array([0.5, 0.5, random.uniform(0.25, 0.5)])
    pitch = 1.0 + float(random.choice([0.0, random.uniform(0.0, 0.3)]))
    mass = 10.0 ** random.uniform(-1.0, 2.0)
    bodies = [floor()]
    for layer in range(base):
        places = pitch * (np.arange(base - layer) - 0.5 * (base - layer - 1))
        bodies += [box(half, mass=mass, position=(x, y, (2 * layer + 1) * half[2])) for x in places for y in places]
    return Scene("pyramids", rough(bodies, random.uniform(0.3, 1.0)), stands=True)


def crates(random) -> Scene:
    """Crates packed side by side, 2 x 2 x 1 to 6 x 6 x 4, that touch on all sides; masses over two orders."""
    counts = [int(random.integers(2, 7)), int(random.integers(2, 7)), int(random.integers(1, 5))]
    half = np.array([0.5, *random.uniform(0.25, 0.5, 2)])
    bodies = [floor()]
    for place in np.ndindex(*counts):
        middle = (2.0 * np.array(place) + [1 - counts[0], 1 - counts[1], 1.0]) * half
        bodies.append(box(half, mass=10.0 ** random.uniform(-1.0, 1.0), position=middle))
    return Scene("crates", rough(bodies, random.uniform(0.3, 1.0)), stands=True)


def arches(random) -> Scene:
    """Arches of 9 to 121 stones along a catenary, of any thickness at which the thrust has room in each joint.

    Thickness is drawn between 1/70 and 1/6 of the span; ``_stands`` decides by limit analysis, and the nearest
    thickness to which it agrees is taken. Where an arch is thick and its stones short, the lowest are one stone.
    """
    stones = 2 * int(random.integers(4, 61)) + 1
    span, rise = 10.0, random.uniform(3.0, 9.0)
    drawn, depth = 10.0 * 10.0 ** random.uniform(-1.85, -0.75), random.uniform(0.4, 1.5)
    parameter = brentq(lambda a: a * (np.cosh(0.5 * span / a) - 1.0) - rise, span / 100.0, 100.0 * span)
    needed = 1.0 / np.sinh(0.5 * span / parameter)  # thrust over load at the feet
    friction = random.uniform(1.4, 2.0) * needed
    for thickness in drawn * 1.15 ** np.array(sorted(range(-12, 13), key=abs)):
        joints = _catenary_joints(parameter, stones, span, rise, thickness)
        if _stands(joints, friction):
            break
    else:
        return arches(random)
    density = 10.0 ** random.uniform(0.0, 3.0)
    bodies = [floor()]
    for first, second in pairwise(joints):
        corners = np.array([*first, *second[::-1]])
        points = [(x, y, z) for y in (-0.5 * depth, 0.5 * depth) for x, z in corners]
        bodies.append(hull(points, mass=density * depth * _area_and_center(corners)[0]))
    notes = {"stones": len(joints) - 1, "thickness over span": thickness / span, "rise over span": rise / span}
    return Scene("arches", rough(bodies, friction), stands=True, notes=notes)


def card_houses(random) -> Scene:
    """1 to 5 storeys of leaning pairs, with level cards between; friction is above what the lean asks for.

    A leaning card pushes outwards with up to tan(lean) times its load.
    """
    levels = int(random.integers(1, 6))
    lean = np.radians(random.uniform(12.0, 25.0))
    thickness, width = random.uniform(0.01, 0.04), random.uniform(0.5, 1.0)
    density = 10.0 ** random.uniform(0.0, 2.0)
    cosine, sine = np.cos(lean), np.sin(lean)
    height = cosine + thickness * sine
    pitch = 2.0 * (sine + thickness * cosine) * random.uniform(1.1, 1.25)
    overhang, gap = 2.0 * thickness, 0.25 * thickness
    bodies, base = [floor()], 0.0

    def card(length, x, z, angle):
        half = (0.5 * thickness, 0.5 * width, 0.5 * length)
        mass = density * thickness * width * length
        bodies.append(box(half, mass=mass, position=(x, 0.0, z), orientation=turn("y", angle)))

    for level in range(levels):
        pairs = levels - level
        middles = pitch * (np.arange(pairs) - 0.5 * (pairs - 1))
        for middle in middles:
            for side in (-1.0, 1.0):
                card(1.0, middle + side * 0.5 * (sine + thickness * cosine), base + 0.5 * height, -side * lean)
        base += height
        for bay in range(pairs - 1):
            left = middles[bay] + (-overhang if bay == 0 else 0.5 * gap)
            right = middles[bay + 1] + (overhang if bay == pairs - 2 else -0.5 * gap)
            card(right - left, 0.5 * (left + right), base + 0.5 * thickness, 0.5 * np.pi)
        base += thickness
    friction = random.uniform(1.3, 2.0) * np.tan(lean)
    return Scene("card houses", rough(bodies, friction), stands=True)


def tables(random) -> Scene:
    """2 to 8 tables on top of each other, each one body of five boxes, or four loose legs and a plate."""
    count, loose = int(random.integers(2, 9)), bool(random.integers(2))
    plate = np.array([0.5, random.uniform(0.3, 0.5), random.uniform(0.02, 0.06)])
    thick, tall = random.uniform(0.03, 0.08, 2), random.uniform(0.1, 0.4)
    bodies, base = [floor()], 0.0
    # the legs of a table stand within those of the one below
    inset = np.cumsum(random.uniform(0.0, 0.02, count))
    for level in range(count):
        mass = 10.0 ** random.uniform(-1.0, 1.0)
        corner = plate[:2] - thick - inset[level]
        legs = [
            Part("box", (*thick, tall), (x, y, base + tall))
            for x in (-corner[0], corner[0])
            for y in (-corner[1], corner[1])
        ]
        top = Part("box", tuple(plate), (0.0, 0.0, base + 2.0 * tall + plate[2]))
        if loose:
            bodies += [box(leg.numbers, mass=0.1 * mass, position=leg.position) for leg in legs]
            bodies.append(box(plate, mass=mass, position=top.position))
        else:
            bodies.append(compound([*legs, top], mass=mass))
        base += 2.0 * (tall + plate[2])
    notes = {"legs": "loose" if loose else "fixed"}
    return Scene("tables", rough(bodies, random.uniform(0.3, 1.0)), stands=True, notes=notes)


def slopes(random) -> Scene:
    """4 to 25 columns of one to three boxes on a slope of 5 to 35 degrees, with friction above its tangent."""
    angle = np.radians(random.uniform(5.0, 35.0))
    tilt = turn("y", angle)
    along = np.array([np.cos(angle), 0.0, -np.sin(angle)])
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    side = int(random.integers(2, 6))
    slope = box((FLOOR_HALF_WIDTH, FLOOR_HALF_WIDTH, 1.0), position=-normal, orientation=tilt, static=True)
    bodies = [slope]
    for row, column in np.ndindex(side, side):
        half = random.uniform(0.25, 0.5, 3)
        # no column tips: its centre is above the inner part of its base
        tallest = _WITHIN_SUPPORT * half[:2].min() / np.tan(angle)
        half[2] = min(half[2], tallest)
        levels = int(random.integers(1, 4))
        levels = max(1, min(levels, int(tallest / half[2])))
        heading = product(tilt, turn("z", random.uniform(0.0, 2.0 * np.pi)))
        place = 1.5 * ((row - 0.5 * (side - 1)) * along + (column - 0.5 * (side - 1)) * np.array([0.0, 1.0, 0.0]))
        for level in range(levels):
            middle = place + (2 * level + 1) * half[2] * normal
            mass = 10.0 ** random.uniform(-0.5, 0.5) if levels == 1 else 1.0
            bodies.append(box(half, mass=mass, position=tuple(middle), orientation=heading))
    friction = random.uniform(1.15, 2.0) * np.tan(angle)
    return Scene("slopes", rough(bodies, friction), stands=True)


# ---- statics


def _carried(shift, mass, radius) -> bool:
    """Whether what lies on each box has its centre of mass well within the circles in that box and the one above."""
    for level in range(len(mass) - 1):
        above = np.average(shift[level + 1 :], axis=0, weights=mass[level + 1 :])
        for support in (level, level + 1):
            if np.linalg.norm(above - shift[support]) > _WITHIN_SUPPORT * radius[support]:
                return False
    whole = np.average(shift, axis=0, weights=mass)
    return bool(np.linalg.norm(whole - shift[0]) <= _WITHIN_SUPPORT * radius[0])


def _catenary_joints(parameter, stones, span, rise, thickness) -> np.ndarray:
    """Inner and outer end (x, z) of each joint, across z = rise - a (cosh(x / a) - 1) [stones + 1, 2, 2].

    The feet are cut level, as wide as the level cut through the arch. Joints that would end at the ground or below it
    are left out.
    """
    half = 0.5 * span
    length = parameter * np.sinh(half / parameter)
    x = parameter * np.arcsinh(np.linspace(-length, length, stones + 1) / parameter)
    middle = np.stack([x, rise - parameter * (np.cosh(x / parameter) - 1.0)], axis=1)
    slope = -np.sinh(x / parameter)
    outward = np.stack([-slope, np.ones_like(slope)], axis=1) / np.sqrt(1.0 + slope**2)[:, None]
    joints = np.stack([middle - 0.5 * thickness * outward, middle + 0.5 * thickness * outward], axis=1)
    for foot, side in ((0, -1.0), (-1, 1.0)):
        width = 0.5 * thickness / abs(outward[foot, 0])
        joints[foot] = [[side * (half - width), 0.0], [side * (half + width), 0.0]]
    kept = joints[:, :, 1].min(axis=1) > 0.5 * length / stones
    kept[[0, -1]] = True
    return joints[kept]


def _stands(joints, friction) -> bool:
    """Limit analysis of a plane arch: whether forces at points inside its joints can hold every stone.

    Unknown are normal and tangential force at two points of each joint, with margins on where they act and on friction.
    """
    count = len(joints) - 1
    areas, centers = zip(
        *(_area_and_center(np.array([*joints[k], *joints[k + 1][::-1]])) for k in range(count)), strict=True
    )
    across = joints[:, 1] - joints[:, 0]
    if count < 9 or min(areas) <= 0.0:
        return False
    tangent = across / np.linalg.norm(across, axis=1, keepdims=True)
    normal = np.stack([tangent[:, 1], -tangent[:, 0]], axis=1)  # into the stone that follows
    equations, loads = np.zeros((3 * count, 4 * (count + 1))), np.zeros(3 * count)
    for joint in range(count + 1):
        for end, share in enumerate((_JOINT_MARGIN, 1.0 - _JOINT_MARGIN)):
            point = joints[joint, 0] + share * across[joint]
            for stone, sign in ((joint, 1.0), (joint - 1, -1.0)):
                if 0 <= stone < count:
                    arm = point - centers[stone]
                    for kind, force in enumerate((normal[joint], tangent[joint])):
                        column = 4 * joint + 2 * end + kind
                        equations[3 * stone : 3 * stone + 2, column] = sign * force
                        equations[3 * stone + 2, column] = sign * (arm[0] * force[1] - arm[1] * force[0])
    loads[1::3] = np.array(areas) / np.mean(areas)
    bound = _FRICTION_MARGIN * friction
    cone = np.zeros((4 * (count + 1), 4 * (count + 1)))
    for place in range(2 * (count + 1)):
        for row, sign in enumerate((1.0, -1.0)):
            cone[2 * place + row, [2 * place, 2 * place + 1]] = -bound, sign
    limits = [(0.0, None), (None, None)] * (2 * (count + 1))
    zero = np.zeros(4 * (count + 1))
    return linprog(zero, A_ub=cone, b_ub=zero, A_eq=equations, b_eq=loads, bounds=limits, method="highs").status == 0


def _area_and_center(corners) -> tuple:
    """Area (0 where the outline crosses itself) and centroid of a polygon (x, z) that turns one way."""
    x, z = corners.T
    next_x, next_z = np.roll(x, -1), np.roll(z, -1)
    cross = x * next_z - next_x * z
    area = 0.5 * cross.sum()
    edges = np.roll(corners, -1, axis=0) - corners
    following = np.roll(edges, -1, axis=0)
    bends = edges[:, 0] * following[:, 1] - edges[:, 1] * following[:, 0]
    if area == 0.0 or bends.min() < 0.0 < bends.max():
        return 0.0, corners.mean(axis=0)
    center = np.array([((x + next_x) * cross).sum(), ((z + next_z) * cross).sum()]) / (6.0 * area)
    return abs(area), center


FAMILIES = {
    "towers": towers,
    "walls": walls,
    "pyramids": pyramids,
    "crates": crates,
    "arches": arches,
    "card houses": card_houses,
    "tables": tables,
    "slopes": slopes,
}
