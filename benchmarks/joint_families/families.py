"""Random jointed scenes of many families: a family's name and a seed give a scene.

Doors, figures, chains, bridges, polygons, nets, glued blocks, carts, trees of bars and rigs are what people build; the
others are their cousins. Masses are over two decades and more, sizes 0.3 to 3 m, half of the files have Blender's own
damping. Seeds 0 to 999 are for tuning, 1000 to 1999 to show.
"""

import itertools
import math
import zlib
from dataclasses import replace

import numpy as np

from cairn.solver_core import (
    LOCKED,
    Axis,
    Box,
    ConeTwist,
    Cylinder,
    Fixed,
    Generic,
    Hinge,
    Motor,
    Point,
    Slider,
    Sphere,
    Spring,
)
from cairn.solver_core.geometry import rotations

from .assembly import (
    STATIC,
    Assembly,
    about,
    limited,
    random_turn,
    rod,
    scaled,
    turn_of,
    within,
)

_SIZES = (0.3, 3.0)
# A hinge turns about z: these turn it about x and y.
_ALONG_X, _ALONG_Y = turn_of((1, 0, 0)), turn_of((0, 1, 0))


def draw(family: str, seed: int) -> Assembly:
    """One scene; the same arguments always give the same one."""
    random = np.random.default_rng([seed, zlib.crc32(family.encode())])
    size = float(np.exp(random.uniform(*np.log(_SIZES))))
    damped = bool(random.integers(2))
    return replace(scaled(FAMILIES[family](random), size), damped=damped)


def _doors(random):
    """Two or three hinges, leaning, misplaced by up to a thousandth; opened at random, and some hit by a ball."""
    scene = Assembly(reach=1.0)
    lean = about((1, 0, 0), random.uniform(0.0, 0.5))
    up = rotations.rotate(lean, np.array([0.0, 0.0, 1.0]))
    turn = rotations.multiply(about(up, random.uniform(-2.5, 2.5)), lean)
    frame = scene.body(Box((0.05, 0.05, 1.0)), (-0.06, 0, 0), turn=lean, kind=STATIC, name="Frame")
    door = scene.body(
        Box((0.5, 0.025, 1.0)),
        rotations.rotate(turn, np.array([0.5, 0, 0])),
        turn=turn,
        mass=10 ** random.uniform(0, 2),
        name="Door",
    )
    off = (0.0, 1e-6, 1e-5, 1e-4, 1e-3)[random.integers(5)]
    for z in ((-0.8, 0.8), (-0.8, 0.0, 0.8))[random.integers(2)]:
        scene.joint(Hinge(), frame, door, up * z + random.uniform(-off, off, 3), turn=lean)
    if random.integers(2):
        way = rotations.rotate(turn, np.array([0.0, random.choice((-1.0, 1.0)), 0.0]))
        at = rotations.rotate(turn, np.array([random.uniform(0.2, 0.5), 0, 0])) + 1.5 * way
        scene.body(Sphere(0.15), at, mass=10 ** random.uniform(-1, 2), linear_velocity=tuple(-4.0 * way), name="Ball")
    return scene


def _figures(random):
    """Limbs that overlap at their joints, thrown at stairs; several of them in some."""
    scene = Assembly(reach=1.5)
    for step in range(6):
        scene.body(Box((0.3, 2, 0.5)), (0.6 * step, 0, -0.2 * step - 0.5), kind=STATIC, name="Step")
    scene.floor(-1.6)
    for number in range(random.integers(1, 4)):
        _figure(scene, random, np.array([0.3 * number, 0.3 * number - 0.3, 1.2 + 1.2 * number]))
    return scene


def _figure(scene, random, at):
    turn, capsules = random_turn(random), bool(random.integers(2))
    speed = tuple(random.uniform((1, -1, -1), (3, 1, 1)))
    shoulder = (limited(1.2, 1.0, 0.8), Point(), ConeTwist(swing=1.2, twist=0.7))[random.integers(3)]

    def placed(point):
        return at + rotations.rotate(turn, np.asarray(point, float))

    def limb(half, point, mass):
        shape = Box(half)
        local = turn
        if capsules and max(half) > 0.14:
            axis = np.eye(3)[int(np.argmax(half))]
            shape, local = rod(2 * max(half), min(half), True), rotations.multiply(turn, turn_of(axis))
        return scene.body(shape, placed(point), turn=local, mass=mass, linear_velocity=speed, name="Limb")

    def tie(joint, first, second, point, frame=(1.0, 0.0, 0.0, 0.0)):
        scene.joint(joint, first, second, placed(point), turn=rotations.multiply(turn, np.array(frame)))

    heavy = 10 ** random.uniform(0.5, 1.5)
    torso = limb((0.12, 0.2, 0.3), (0, 0, 0), heavy)
    head = limb((0.1, 0.1, 0.12), (0, 0, 0.4), 4.0)
    tie(limited(1.0, 0.7, 0.5), torso, head, (0, 0, 0.29))
    for side in (-1, 1):
        arm = limb((0.05, 0.16, 0.05), (0, 0.34 * side, 0.24), 2.0)
        hand = limb((0.05, 0.16, 0.05), (0, 0.64 * side, 0.24), 10 ** random.uniform(-1, 0.5))
        thigh = limb((0.08, 0.08, 0.22), (0, 0.11 * side, -0.5), 5.0)
        shin = limb((0.06, 0.06, 0.2), (0, 0.11 * side, -0.9), 10 ** random.uniform(0, 0.7))
        tie(shoulder, torso, arm, (0, 0.2 * side, 0.24), turn_of((0, side, 0)))
        tie(Hinge(axis=Axis(lower=-2.0, upper=0.1)), arm, hand, (0, 0.49 * side, 0.24))
        tie(limited(1.0, 0.5, 0.4), torso, thigh, (0, 0.11 * side, -0.28))
        tie(Hinge(axis=Axis(lower=-0.05, upper=2.2)), thigh, shin, (0, 0.11 * side, -0.71), _ALONG_Y)


def _chains(random):
    """Five to fifty links with a load, level, hanging or crumpled; some beside a post."""
    count = int(random.integers(5, 51))
    length = 4.0 / count
    scene = Assembly(reach=4.0)
    block = scene.body(Box((0.2, 0.2, 0.2)), (-0.2, 0, 0), kind=STATIC, name="Block")
    way, at, before = np.array([1.0, 0.0, 0.0]), np.zeros(3), block
    crumpled = random.integers(3) == 0
    for _ in range(count):
        if crumpled:
            way = way + random.normal(size=3) * 1.5
            way /= np.linalg.norm(way)
        shape = rod(0.9 * length, 0.15 * length, random.integers(2) == 0)
        link = scene.body(shape, at + way * length / 2, turn=turn_of(way), mass=1.0, name="Link")
        joint = (Point(), Hinge(), limited(0.8, 0.8, 0.3))[int(random.choice(3, p=(0.7, 0.15, 0.15)))]
        scene.joint(joint, before, link, at, turn=turn_of(way))
        at, before = at + way * length, link
    load = 10 ** random.uniform(0, 4)
    half = 0.3
    weight = scene.body(Box((half, half, half)), at + half * way, turn=turn_of(way), mass=load, name="Load")
    scene.joint(Point(), before, weight, at)
    if random.integers(2):
        scene.body(Cylinder(0.15, 2.0), (1.5, 0, -2.2), turn=_ALONG_Y, kind=STATIC, name="Post")
    return scene


def _bridges(random):
    """Planks on pairs of joints between two banks, under loads that fall on them."""
    count = int(random.integers(6, 25))
    length = 6.0 / count
    scene = Assembly(reach=3.0)
    banks = [scene.body(Box((1, 1, 1)), (x, 0, -1), kind=STATIC, name="Bank") for x in (-1.0, 7.0)]
    planks = [
        scene.body(
            Box((0.45 * length, 0.8, 0.04)),
            ((number + 0.5) * length, 0, -0.04),
            mass=10 ** random.uniform(0, 1),
            name="Plank",
        )
        for number in range(count)
    ]
    joint = (Point(), Hinge(), limited(0.6, 0.6, 0.6))[random.integers(3)]
    row = [banks[0], *planks, banks[1]]
    for number, (first, second) in enumerate(itertools.pairwise(row)):
        for y in (-0.7, 0.7):
            scene.joint(joint, first, second, (number * length, y, -0.04), turn=_ALONG_Y)
    for number in range(random.integers(1, 5)):
        half = random.uniform(0.2, 0.5)
        at = (random.uniform(1, 5), random.uniform(-0.4, 0.4), 1.0 + 1.2 * number)
        shape = Sphere(half) if random.integers(2) else Box((half,) * 3)
        scene.body(shape, at, turn=random_turn(random), mass=10 ** random.uniform(0, 3), name="Load")
    return scene


def _polygons(random):
    """Three to fourteen bars in a closed ring of all kinds of joints, which touch the block that holds them."""
    count = int(random.integers(3, 15))
    radius = 0.5 / math.sin(math.pi / count)
    scene = Assembly(reach=2 * radius)
    angles = 2 * math.pi * np.arange(count + 1) / count + math.pi / 2
    corners = radius * np.stack([np.cos(angles), 0 * angles, np.sin(angles)], axis=1)
    block = scene.body(Box((0.05, 0.05, 0.05)), corners[0], kind=STATIC, name="Block")
    bars = [
        scene.body(
            rod(random.uniform(0.9, 1.0), 0.03, random.integers(2) == 0),
            (first + second) / 2,
            turn=turn_of(second - first),
            mass=10 ** random.uniform(-1, 1),
            name="Bar",
        )
        for first, second in itertools.pairwise(corners)
    ]
    kinds = (Hinge(), Point(), limited(0.5, 0.5, 0.5), Hinge(axis=Axis(lower=-1.0, upper=1.0)), Fixed())
    chances = (0.5, 0.25, 0.1, 0.1, 0.05)
    for place in range(count):
        joint = kinds[int(random.choice(len(kinds), p=chances))]
        scene.joint(joint, bars[place - 1], bars[place], corners[place], turn=_ALONG_Y)
    scene.joint(Hinge(), block, bars[0], corners[0], turn=_ALONG_Y)
    if random.integers(2):
        scene.floor(-radius - 1.0)
    return scene


def _nets(random):
    """Knots in a grid, each joined to its neighbours; two or four corners held, a ball falls in, or none."""
    count = int(random.integers(4, 10))
    step = 2.0 / (count - 1)
    held = [(0, 0), (count - 1, 0), *(((0, count - 1), (count - 1, count - 1)) if random.integers(2) else ())]
    scene = Assembly(reach=2.0)
    shape = Box((0.2 * step,) * 3) if random.integers(2) else Sphere(0.2 * step)
    knots = {}
    for place in itertools.product(range(count), repeat=2):
        mass = 10 ** random.uniform(-1, 1)
        settings = {"kind": STATIC} if place in held else {"mass": mass}
        knots[place] = scene.body(shape, (step * place[0], step * place[1], 0), name="Knot", **settings)
    for (x, y), knot in knots.items():
        for other in ((x + 1, y), (x, y + 1)):
            if other in knots:
                scene.joint(Point(), knot, knots[other], (step * (x + other[0]) / 2, step * (y + other[1]) / 2, 0))
    if random.integers(2):
        scene.body(Sphere(0.4), (1.0, 1.0, 1.0), mass=10 ** random.uniform(0, 3), name="Ball")
    return scene


def _glued(random):
    """Blocks glued to a grid and dropped; some in reach of breaking."""
    shape = tuple(int(n) for n in random.integers(1, 4, 3))
    scene = Assembly(reach=3.0)
    scene.floor()
    _glue_grid(scene, random, shape, np.array([0.0, 0.0, 2.5]), random_turn(random))
    if random.integers(2):
        _glue_grid(scene, random, (2, 2, 1), np.array([0.2, 0.1, 5.0]), random_turn(random))
    return scene


def _glue_grid(scene, random, shape, at, turn, breaking=None):
    middle = 0.25 * (np.array(shape) - 1)
    blocks = {}

    def placed(point):
        return at + rotations.rotate(turn, 0.5 * np.asarray(point, float) - middle)

    for place in np.ndindex(*shape):
        mass = 10 ** random.uniform(0, 1)
        blocks[place] = scene.body(Box((0.25,) * 3), placed(place), turn=turn, mass=mass, friction=0.8, name="Block")
    for place, other in itertools.combinations(blocks, 2):
        if np.abs(np.subtract(place, other)).sum() == 1:
            middle_of = placed(0.5 * np.add(place, other))
            scene.joint(Fixed(), blocks[place], blocks[other], middle_of, turn=turn, breaking_load=breaking)


def _walls(random):
    """A wall of bricks on breakable glue, hit by a ball."""
    columns, rows = int(random.integers(3, 8)), int(random.integers(2, 6))
    scene = Assembly(reach=3.0)
    scene.floor()
    breaking = 10 ** random.uniform(2.5, 4.5)
    bricks = {}
    for x, z in itertools.product(range(columns), range(rows)):
        bricks[x, z] = scene.body(Box((0.25, 0.15, 0.15)), (0.5 * x, 0, 0.3 * z + 0.15), mass=5.0, name="Brick")
    for (x, z), brick in bricks.items():
        for other in ((x + 1, z), (x, z + 1)):
            if other in bricks:
                at = (0.25 * (x + other[0]), 0, 0.15 * (z + other[1]) + 0.15)
                scene.joint(Fixed(), brick, bricks[other], at, breaking_load=breaking)
    at = (random.uniform(0, 0.5 * columns), -3.0, random.uniform(0.3, 0.3 * rows))
    speed = (0.0, random.uniform(2, 8), 0.0)
    scene.body(Sphere(0.3), at, mass=10 ** random.uniform(0, 2.5), linear_velocity=speed, name="Ball")
    return scene


def _carts(random):
    """A body on four wheels, rolled down a ramp over bumps; some with motors or springs."""
    scene = Assembly(reach=3.0)
    slope = random.uniform(0.1, 0.4)
    ramp = about((0, 1, 0), slope)
    scene.body(Box((8, 3, 0.5)), rotations.rotate(ramp, np.array([4.0, 0, -0.5])), turn=ramp, kind=STATIC, name="Ramp")
    for number in range(3):
        at = rotations.rotate(ramp, np.array([3.0 + 1.5 * number, random.uniform(-0.5, 0.5), 0.0]))
        scene.body(Box((0.05, 1.0, random.uniform(0.02, 0.08))), at, turn=ramp, kind=STATIC, name="Bump")

    def placed(point):
        return rotations.rotate(ramp, np.asarray(point, float))

    radius, heavy = random.uniform(0.2, 0.35), 10 ** random.uniform(0.5, 3)
    hull = scene.body(Box((0.8, 0.4, 0.15)), placed((0.5, 0, radius + 0.25)), turn=ramp, mass=heavy, name="Hull")
    kind = random.integers(4)
    axle = rotations.multiply(ramp, _ALONG_Y)
    for x, y in itertools.product((-0.05, 1.05), (-0.55, 0.55)):
        at = placed((x, y, radius + 0.01))
        shape = Cylinder(radius, 0.08) if random.integers(4) else Sphere(radius)
        wheel = scene.body(shape, at, turn=axle, mass=10 ** random.uniform(-0.5, 1), friction=0.9, name="Wheel")
        joint = Hinge()
        if kind == 1:
            joint, scene.driven = Hinge(axis=Axis(motor=Motor(velocity=8.0, largest=5.0 * heavy))), True
        elif kind == 2:
            scene.driven = True  # springs give back what they have
            stiffness = 0.25 * heavy * (2 * math.pi * 2.0) ** 2
            spring = Spring(stiffness=stiffness, damping=0.1 * stiffness)
            joint = Generic(
                linear=(LOCKED, Axis(lower=-0.1, upper=0.1, spring=spring), LOCKED), angular=(LOCKED, LOCKED, Axis())
            )
        scene.joint(joint, hull, wheel, at, turn=axle)
    return scene


def _trees(random):
    """Bars of all kinds of joints and masses; some begin at one point without being joined to each other."""
    scene = Assembly(reach=3.0)
    root = scene.body(Box((0.05, 0.05, 0.05)), (0, 0, 0), kind=STATIC, name="Root")
    ends = [(root, np.zeros(3))]
    kinds = (
        Point(),
        Hinge(),
        Fixed(),
        limited(0.6, 0.4, 0.3),
        ConeTwist(swing=0.6, twist=0.3),
        Slider(axis=within(0.2)),
    )
    for _ in range(int(random.integers(4, 16))):
        parent, start = ends[random.integers(min(len(ends), 5))]
        turn, length = random_turn(random), random.uniform(0.3, 0.8)
        way = rotations.rotate(turn, np.array([0.0, 0.0, length]))
        shape = rod(length, 0.03, random.integers(2) == 0)
        bar = scene.body(shape, start + way / 2, turn=turn, mass=10 ** random.uniform(-1, 1), name="Bar")
        scene.joint(kinds[random.integers(len(kinds))], parent, bar, start, turn=turn)
        ends.append((bar, start + way))
    if random.integers(2):
        scene.floor(-1.5)
    return scene


def _rigs(random):
    """A body that an animation sways, with hair and a skirt of sprung chains whose limits are narrow and cross-tied."""
    scene = Assembly(reach=0.5)
    stride, turning = random.uniform(0.1, 0.5), random.uniform(0.2, 1.2)
    pace = random.uniform(0.7, 2.0)

    def torso_at(seconds):
        phase = 2 * math.pi * pace * seconds
        at = np.array(
            [stride * math.sin(0.5 * phase), 0.1 * stride * math.sin(phase), 0.05 * stride * math.sin(2 * phase)]
        )
        return at, about((0.1, 0.2, 1.0), turning * math.sin(0.5 * phase))

    def carried(point, swing=0.0, length=0.0, side=0.0):
        """A limb that hangs from a point of the torso, and swings about y."""

        def led(seconds):
            at, turn = torso_at(seconds)
            leg = rotations.multiply(turn, about((0, 1, 0), swing * math.sin(2 * math.pi * pace * seconds + side)))
            top = at + rotations.rotate(turn, np.asarray(point, float))
            return top + rotations.rotate(leg, np.array([0.0, 0.0, -length / 2])), leg

        return led

    torso = scene.body(rod(0.6, 0.14, True), (0, 0, 0), path=torso_at, name="Torso")
    head = scene.body(Sphere(0.13), (0, 0, 0), path=carried((0, 0, 0.45)), name="Head")
    for side in (-1, 1):
        path = carried((0, 0.09 * side, -0.25), swing=random.uniform(0.2, 0.9), length=0.8, side=side * math.pi / 2)
        scene.body(rod(0.8, 0.08, True), (0, 0, 0), path=path, name="Leg")
    narrow = math.radians(random.uniform(3, 20))
    stiffness = 10 ** random.uniform(-2, 1) if random.integers(2) else None
    spring = stiffness and Spring(stiffness=stiffness, damping=0.05 * stiffness)
    _strands(scene, random, head, narrow, spring)
    _skirt(scene, random, torso, narrow, spring)
    return scene


def _strands(scene, random, head, narrow, spring):
    links = int(random.integers(3, 8))
    for number in range(random.integers(2, 7)):
        angle = math.pi * (0.6 + 0.8 * random.uniform())
        out = np.array([math.cos(angle), math.sin(angle), 0.0])
        start, before, length = np.array([0, 0, 0.5]) + 0.12 * out, head, 0.1
        for link in range(links):
            way = out + np.array([0, 0, -1.0 - 0.5 * link])
            way /= np.linalg.norm(way)
            turn = turn_of(way, 0.1 * number)
            mass = 10 ** random.uniform(-1, 0)
            hair = scene.body(rod(length, 0.025, True), start + way * length / 2, turn=turn, mass=mass, name="Hair")
            scene.joint(limited(narrow, narrow, narrow, spring=spring), before, hair, start, turn=turn)
            start, before = start + way * length, hair


def _skirt(scene, random, torso, narrow, spring):
    around, rows, length = int(random.integers(6, 11)), int(random.integers(2, 4)), 0.16
    cloth, spread = {}, 0.35
    for number in range(around):
        angle = 2 * math.pi * number / around
        out = np.array([math.cos(angle), math.sin(angle), 0.0])
        way = np.array([0, 0, -1.0]) + spread * out
        way /= np.linalg.norm(way)
        turn, start, before = turn_of(way, angle), np.array([0, 0, -0.2]) + 0.17 * out, torso
        for row in range(rows):
            shape = Box((0.015, 0.05, length / 2 - 0.01)) if random.integers(2) else rod(length, 0.03, True)
            mass = 10 ** random.uniform(-1, 0)
            piece = scene.body(shape, start + way * length / 2, turn=turn, mass=mass, name="Skirt")
            scene.joint(limited(narrow, narrow, narrow, spring=spring), before, piece, start, turn=turn)
            cloth[number, row] = piece, start + way * length / 2, turn
            start, before = start + way * length, piece
    slack = random.uniform(0.002, 0.03)
    beside = Generic(linear=(within(slack),) * 3, angular=(within(narrow, spring),) * 3)
    for (number, row), (piece, at, turn) in cloth.items():
        if row:
            scene.joint(beside, piece, cloth[(number + 1) % around, row][0], at, turn=turn)


def _scissors(random):
    """A lift of crossed bars on hinges, pressed by a load."""
    count, angle = int(random.integers(1, 6)), random.uniform(0.4, 0.9)
    scene = Assembly(reach=float(count))
    scene.floor(-0.1)
    before = None
    for level in range(count):
        z = (2 * level + 1) * 0.5 * math.sin(angle)
        bars = [
            scene.body(
                Box((0.5, 0.02, 0.02)),
                (0, 0.06 * side, z),
                turn=about((0, 1, 0), -side * angle),
                mass=10 ** random.uniform(-0.5, 0.5),
                name="Bar",
            )
            for side in (1, -1)
        ]
        scene.joint(Hinge(), *bars, (0, 0, z), turn=_ALONG_Y)
        if before is not None:
            for side, (first, second) in ((1, (before[0], bars[1])), (-1, (before[1], bars[0]))):
                at = (side * 0.5 * math.cos(angle), 0, level * math.sin(angle))
                scene.joint(Hinge(), first, second, at, turn=_ALONG_Y)
        before = bars
    scene.body(
        Box((0.6, 0.3, 0.05)), (0, 0, count * math.sin(angle) + 0.1), mass=10 ** random.uniform(0, 2), name="Load"
    )
    return scene


def _curtains(random):
    """Strips of plates side by side on a rod, tied at their sides, which a ball flies through."""
    columns, rows = int(random.integers(3, 8)), int(random.integers(3, 7))
    scene = Assembly(reach=2.0)
    bar = scene.body(rod(4.0, 0.05), (1.0, 0, 0.1), turn=_ALONG_X, kind=STATIC, name="Rod")
    plates = {}
    for x, z in itertools.product(range(columns), range(rows)):
        mass = 10 ** random.uniform(-1.5, 0)
        plates[x, z] = scene.body(Box((0.14, 0.01, 0.14)), (0.3 * x, 0, -0.3 * z - 0.15), mass=mass, name="Plate")
        scene.joint(Hinge(), plates[x, z - 1] if z else bar, plates[x, z], (0.3 * x, 0, -0.3 * z), turn=_ALONG_X)
    if random.integers(2):
        for (x, z), plate in plates.items():
            if (x + 1, z) in plates:
                scene.joint(Point(), plate, plates[x + 1, z], (0.3 * x + 0.15, 0, -0.3 * z - 0.15))
    speed = (0.0, random.uniform(1, 6), 0.0)
    at = (0.15 * columns, -1.5, -0.15 * rows)
    scene.body(Sphere(0.25), at, mass=10 ** random.uniform(-1, 2), linear_velocity=speed, name="Ball")
    return scene


def _mobiles(random):
    """Rods that hang from rods, with weights that do not balance."""
    scene = Assembly(reach=2.0)
    hook = scene.body(Box((0.05,) * 3), (0, 0, 0.05), kind=STATIC, name="Hook")

    def hang(parent, at, half, depth):
        at = np.asarray(at, float)
        string = scene.body(rod(0.3, 0.01), at - (0, 0, 0.15), mass=10 ** random.uniform(-2, -1), name="String")
        scene.joint(Point(), parent, string, at)
        low = at - (0, 0, 0.3)
        if depth == 0:
            weight = scene.body(Sphere(0.1), low - (0, 0, 0.1), mass=10 ** random.uniform(-1, 1.5), name="Weight")
            scene.joint((Point(), Fixed())[random.integers(2)], string, weight, low)
            return
        turn = turn_of((math.cos(depth), math.sin(depth), 0))
        beam = scene.body(rod(2 * half, 0.02), low, turn=turn, mass=10 ** random.uniform(-1, 0.5), name="Beam")
        scene.joint(Point(), string, beam, low)
        for side in (-1, 1):
            hang(beam, low + side * half * np.array([math.cos(depth), math.sin(depth), 0]), half / 2, depth - 1)

    hang(hook, (0, 0, 0), 0.8, int(random.integers(1, 4)))
    return scene


def _mills(random):
    """A wheel of paddles that a motor turns among balls and loose plates on hinges."""
    scene = Assembly(reach=2.0, driven=True)
    stand = scene.body(Box((0.1, 0.6, 0.1)), (0, 0.9, 1.2), kind=STATIC, name="Stand")
    scene.floor()
    for x in (-1.5, 1.5):
        scene.body(Box((0.1, 1.0, 0.6)), (x, 0, 0.6), kind=STATIC, name="Side")
    hub = scene.body(Cylinder(0.2, 0.2), (0, 0, 1.2), turn=_ALONG_Y, mass=5.0, name="Hub")
    motor = Motor(velocity=random.uniform(-6, 6), largest=10 ** random.uniform(1, 3))
    scene.joint(Hinge(axis=Axis(motor=motor)), stand, hub, (0, 0.2, 1.2), turn=_ALONG_Y)
    count = int(random.integers(3, 7))
    for number in range(count):
        angle = 2 * math.pi * number / count
        way = np.array([math.cos(angle), 0, math.sin(angle)])
        at = np.array([0, 0, 1.2])
        paddle = scene.body(Box((0.02, 0.25, 0.4)), at + 0.62 * way, turn=turn_of(way), mass=1.0, name="Paddle")
        joint = Fixed() if random.integers(2) else Hinge(axis=within(0.5))
        scene.joint(joint, hub, paddle, at + 0.2 * way, turn=_ALONG_Y)
    for _ in range(random.integers(3, 15)):
        at = random.uniform((-1.2, -0.6, 2.0), (1.2, 0.6, 4.0))
        scene.body(Sphere(random.uniform(0.1, 0.25)), at, mass=10 ** random.uniform(-1, 1), name="Ball")
    return scene


def _trains(random):
    """Wagons on rails of air: boxes on sliders to the world's line, coupled by short rods, the first one hit."""
    scene = Assembly(reach=2.0)
    track = scene.body(Box((10, 0.5, 0.1)), (5, 0, -0.5), kind=STATIC, name="Track")
    before = None
    for number in range(int(random.integers(2, 9))):
        at = np.array([1.5 * number, 0, 0])
        wagon = scene.body(Box((0.5, 0.3, 0.3)), at, mass=10 ** random.uniform(0, 2), name="Wagon")
        scene.joint(Slider(axis=Axis(lower=-4.0, upper=4.0)), track, wagon, at)
        if before is not None:
            coupling = scene.body(rod(0.5, 0.03), at - (0.75, 0, 0), turn=_ALONG_X, mass=0.5, name="Coupling")
            scene.joint(Point(), before, coupling, at - (1.0, 0, 0))
            scene.joint(Point(), coupling, wagon, at - (0.5, 0, 0))
        before = wagon
    speed = (random.uniform(2, 10), 0.0, 0.0)
    scene.body(Sphere(0.3), (-2.0, 0, 0), mass=10 ** random.uniform(0, 2), linear_velocity=speed, name="Ball")
    return scene


def _boxes(random):
    """Boxes with hinged lids that are full of small things, dropped on each other."""
    scene = Assembly(reach=3.0)
    scene.floor()
    for number in range(random.integers(1, 3)):
        at, turn = (
            np.array([0.3 * number, 0.1 * number, 1.5 + 1.8 * number]),
            about(random.normal(size=3), random.uniform(0, 1)),
        )

        def placed(point, at=at, turn=turn):
            return at + rotations.rotate(turn, np.asarray(point, float))

        sides = [scene.body(Box((0.5, 0.5, 0.03)), placed((0, 0, 0)), turn=turn, mass=2.0, name="Bottom")]
        for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            shape = Box((0.03, 0.5, 0.25)) if x else Box((0.47, 0.03, 0.25))
            side = scene.body(shape, placed((0.5 * x, 0.47 * y, 0.28)), turn=turn, mass=1.0, name="Side")
            scene.joint(Fixed(), sides[0], side, placed((0.5 * x, 0.47 * y, 0.03)), turn=turn)
            sides.append(side)
        lid = scene.body(Box((0.5, 0.5, 0.03)), placed((0, 0, 0.56)), turn=turn, mass=1.5, name="Lid")
        hinge = rotations.multiply(turn, _ALONG_Y)
        for y in (-0.3, 0.3):
            scene.joint(Hinge(axis=Axis(lower=-2.0, upper=2.0)), sides[1], lid, placed((0.5, y, 0.53)), turn=hinge)
        for _ in range(random.integers(1, 6)):
            point = random.uniform((-0.3, -0.3, 0.12), (0.3, 0.3, 0.4))
            scene.body(Sphere(0.08), placed(point), mass=10 ** random.uniform(-1, 0.5), name="Thing")
    return scene


FAMILIES = {
    "doors": _doors,
    "figures": _figures,
    "chains": _chains,
    "bridges": _bridges,
    "polygons": _polygons,
    "nets": _nets,
    "glued": _glued,
    "walls": _walls,
    "carts": _carts,
    "trees": _trees,
    "rigs": _rigs,
    "scissors": _scissors,
    "curtains": _curtains,
    "mobiles": _mobiles,
    "mills": _mills,
    "trains": _trains,
    "boxes": _boxes,
}
