"""What tutorials show that none of the others does: plates, books, cereal, a snow globe, a gripper, rocks, cups."""

import itertools
import math
import random

import scene_objects as make
from played_scenes import played
from truths import (
    always_within,
    ends_within,
    falls_over,
    moves,
    no_faster_than,
    nothing_below,
    reaches,
    rests_from,
    stays,
)


@played()
def plates_stacked_and_knocked():
    """Ten plates with a rim, concave meshes, sink into each other by a few millimetres each; a ball hits the stack."""
    make.new_file(frames=(1, 120))
    make.floor()
    profile = [(0.001, 0.0), (0.3, 0.0), (0.5, 0.1), (0.5, 0.13), (0.29, 0.035), (0.001, 0.035)]
    one = make.body(make.lathe("Plate.0", profile, (0, 0, 0.005)), "ACTIVE", "MESH", mass=0.4)
    for index in range(1, 10):
        make.copy_of(one, f"Plate.{index}", (0, 0, 0.005 + 0.058 * index))
    ball = make.body(make.ball("Ball", (-3, 0, 0.4), 0.2), shape="SPHERE", mass=2)
    make.shoot(ball, (-3, 0, 0.4), (-1.2, 0, 0.4), (40, 50))
    return [no_faster_than(9), nothing_below(0, slack=0.02), moves("Plate.9", 0.2), stays("Plate", 0.08, until=45)]


@played()
def books_fall_along_a_shelf():
    """Books of different sizes stand on a board between two ends; a keyed finger pushes the first."""
    make.new_file(frames=(1, 110))
    make.passive(make.cube("Board", (1.2, 0, -0.05), (3.6, 0.5, 0.1)), "BOX")
    make.passive(make.cube("End", (2.95, 0, 0.3), (0.1, 0.5, 0.6)), "BOX")
    rng = random.Random(3)
    x = 0.0
    for index in range(14):
        thick, high = rng.uniform(0.05, 0.09), rng.uniform(0.4, 0.55)
        x += 0.14 + 0.5 * thick
        make.body(make.cube(f"Book.{index:02}", (x, 0, high / 2), (thick, 0.35, high)), mass=0.5)
    finger = make.moved_by_keys(make.cube("Finger", (-0.1, 0, 0.4), (0.1, 0.1, 0.1)), "BOX")
    make.key(finger, "location", {1: (-0.1, 0, 0.4), 12: (-0.1, 0, 0.4), 24: (0.22, 0, 0.4), 40: (-0.1, 0, 0.4)})
    return [falls_over("Book", 25, all_but=1), no_faster_than(6), nothing_below(0, slack=0.01), rests_from(105, "Book")]


@played(nightly=True)
def cereal_into_a_bowl():
    """Forty rings of convex parts fall into an open bowl without thickness."""
    make.new_file(frames=(1, 100))
    make.floor()
    make.passive(make.lathe("Bowl", [(0.01, 0.03), (0.4, 0.06), (0.65, 0.25), (0.75, 0.5)]), friction=0.5)
    rng = random.Random(5)
    one = make.body(make.torus("Ring.00", (0, 0, 0.7), 0.09, 0.04, (0, 0, 0), (10, 6)), "ACTIVE", "MESH", mass=0.01)
    for index in range(1, 40):
        angle, away = rng.uniform(0, 2 * math.pi), rng.uniform(0, 0.3)
        at = (away * math.cos(angle), away * math.sin(angle), 0.7 + 0.14 * index)
        make.copy_of(one, f"Ring.{index:02}", at, [rng.uniform(0, 360) for _ in range(3)])
    return [
        no_faster_than(12),
        nothing_below(0, slack=0.02),
        ends_within("Ring", (-0.9, -0.9, 0), (0.9, 0.9, 0.8), all_but=6),
    ]


@played()
def dice_tower():
    """Five dice with bevelled edges tumble over three slopes of a tower onto a tray."""
    make.new_file(frames=(1, 110))
    make.passive(make.cube("Tray", (0.6, 0, -0.05), (3, 1.2, 0.1)), "BOX")
    for side in (-1, 1):
        make.passive(make.cube(f"Side{side}", (0, 0.55 * side, 1.1), (1.1, 0.1, 2.4)), "BOX")
    make.passive(make.cube("Back", (-0.55, 0, 1.1), (0.1, 1.1, 2.4)), "BOX")
    make.passive(make.cube("Front", (0.55, 0, 1.5), (0.1, 1.1, 1.6)), "BOX")
    for index, (x, z, turn) in enumerate(((-0.2, 1.7, 35), (0.2, 1.15, -35), (-0.15, 0.45, 35))):
        make.passive(make.cube(f"Slope.{index}", (x, 0, z), (0.85, 1.0, 0.05), (0, turn, 0)), "BOX", friction=0.3)
    rng = random.Random(2)
    for index in range(5):
        die = make.cube(f"Die.{index}", (-0.1, -0.3 + 0.15 * index, 2.4 + 0.25 * index), (0.16, 0.16, 0.16))
        die.rotation_euler = [rng.uniform(0, 6) for _ in range(3)]
        make.modifier(die, "BEVEL", width=0.02, segments=2)
        make.body(make.as_mesh(die), mass=0.02, restitution=0.4)
    return [
        no_faster_than(8),
        nothing_below(0, slack=0.02),
        ends_within("Die", (0.2, None, 0), (None, None, 0.3), all_but=1),
    ]


@played()
def snow_globe_is_shaken():
    """Sixty flakes in a sphere seen from within, a mesh that keys shake; all stay in."""
    make.new_file(frames=(1, 90))
    globe = make.moved_by_keys(make.ball("Globe", (0, 0, 2), 1.0, 24), "MESH")
    globe.display_type = "WIRE"
    globe.hide_render = True
    places = {1: (0, 0, 2), 10: (0, 0, 2), 16: (0.6, 0, 2.3), 22: (-0.6, 0.2, 1.8), 28: (0.5, -0.3, 2.4), 36: (0, 0, 2)}
    make.key(globe, "location", places, "BEZIER")
    flake = make.body(make.icosphere("Flake.00", (0, 0, 1.6), 0.06, 1, (1, 1, 0.5)), mass=0.001)
    spots = itertools.product((-0.3, -0.15, 0, 0.15, 0.3), (-0.3, -0.1, 0.1, 0.3), (1.6, 1.8, 2.0))
    for index, spot in enumerate(list(spots)[1:], 1):
        make.copy_of(flake, f"Flake.{index:02}", spot)
    # twice as fast as the globe, whose keys take it 1.32 m in a quarter of a second, in the middle half as fast again
    return [no_faster_than(15.8), always_within("Flake", (-2, -2, 0.7), (2, 2, 3.5)), _in_the_globe()]


@played()
def gumball_machine():
    """Balls in a funnel above a keyed wheel with one hole, which lets one after the other through."""
    make.new_file(frames=(1, 150))
    make.floor()
    make.passive(make.lathe("Glass", [(0.33, 1.3), (0.33, 1.5), (0.9, 2.0), (0.9, 3.0)])).hide_render = True
    make.passive(make.lathe("Pipe", [(0.33, 0.9), (0.33, 1.3)]))
    return _gumballs()


@played()
def rocks_down_a_mountain():
    """Thirty rocks of hulls are let go above a displaced grid, a mesh, and roll to its foot."""
    make.new_file(frames=(1, 130))
    rng = random.Random(11)
    count, wide = 22, 12.0
    points = []
    for i, j in itertools.product(range(count), range(count)):
        x, y = wide * i / (count - 1) - wide / 2, wide * j / (count - 1) - wide / 2
        points.append((x, y, 3.0 / (1 + math.exp(1.1 * x)) + 0.12 * rng.random()))
    faces = [
        (i * count + j, (i + 1) * count + j, (i + 1) * count + j + 1, i * count + j + 1)
        for i, j in itertools.product(range(count - 1), range(count - 1))
    ]
    make.passive(make.mesh_object("Mountain", points, faces))
    for index in range(30):
        row, column = divmod(index, 6)
        at = (-1.4 + 0.55 * row, -1.8 + 0.72 * column, 3.6 - 0.25 * row)
        rock = make.icosphere(
            f"Rock.{index:02}", at, rng.uniform(0.15, 0.3), 1, [rng.uniform(0.7, 1.2) for _ in range(3)]
        )
        rock.rotation_euler = [rng.uniform(0, 6) for _ in range(3)]
        make.body(rock, mass=rng.uniform(1, 5), friction=0.7)
    return [no_faster_than(12), nothing_below(-0.02, slack=0.05), moves("Rock", 0.5, axis=0)]


@played()
def tumble_dryer():
    """A keyed drum with three vanes, an open mesh, lifts twelve soft-edged things and lets them fall."""
    make.new_file(frames=(1, 120))
    drum = make.moved_by_keys(_drum(), "MESH", friction=0.8)
    make.key(drum, "rotation_euler", {1: (0, 0, 0), 120: make.radians(0, 720, 0)})
    for name, y in (("Glass", -0.52), ("Back", 0.52)):
        make.passive(make.cube(name, (0, y, 1.2), (2.4, 0.04, 2.4)), "BOX").hide_render = True
    rng = random.Random(4)
    for index in range(12):
        at = (-0.3 + 0.2 * (index % 4), -0.25 + 0.25 * (index // 4), 0.7 + 0.22 * (index % 3))
        sock = make.icosphere(f"Sock.{index:02}", at, 0.13, 1, (1.3, 0.8, 0.6))
        sock.rotation_euler = [rng.uniform(0, 6) for _ in range(3)]
        make.body(sock, mass=0.2, friction=0.8)
    return [no_faster_than(9), always_within("Sock", (-1.1, -0.6, 0.1), (1.1, 0.6, 2.3)), reaches("Sock", 1.3)]


@played()
def gripper_moves_a_box():
    """Two keyed jaws close on a box with a millimetre to spare, lift it, carry it and let it go on a table."""
    make.new_file(frames=(1, 140))
    make.floor()
    make.passive(make.cube("Table", (2, 0, 0.25), (1, 1, 0.5)), "BOX")
    make.body(make.cube("Box", (0, 0, 0.2), (0.4, 0.4, 0.4)), "ACTIVE", "BOX", mass=1, friction=0.8)
    for side in (-1, 1):
        jaw = make.moved_by_keys(make.cube(f"Jaw{side}", (0, 0.5 * side, 0.25), (0.3, 0.1, 0.3)), "BOX", friction=1.0)
        shut, way = 0.249, {1: (0, 0.25), 15: (0, 0.25), 40: (0, 1.2), 75: (2, 1.2), 100: (2, 0.76), 110: (2, 0.76)}
        places = {frame: (x, side * (0.4 if frame == 1 else shut), z) for frame, (x, z) in way.items()}
        make.key(jaw, "location", places | {118: (2, 0.6 * side, 0.76), 140: (2, 0.6 * side, 1.5)})
    return [
        reaches("Box", 1.0),
        ends_within("Box", (1.8, -0.3, 0.65), (2.2, 0.3, 0.75)),
        no_faster_than(4),
        rests_from(135),
    ]


@played()
def crates_on_a_bumpy_trailer():
    """A keyed trailer with low walls drives over three bumps, six crates and a barrel on it."""
    make.new_file(frames=(1, 120))
    make.floor()
    for index in range(3):
        make.passive(make.cylinder(f"Bump.{index}", (3 + 2.5 * index, 0, -0.1), 0.3, 3, (90, 0, 0)), "CYLINDER")
    bed = make.moved_by_keys(make.cube("Bed", (0, 0, 0.6), (3, 1.6, 0.1)), "BOX")
    walls = [((0, 0.8, 0.25), (3, 0.06, 0.4)), ((0, -0.8, 0.25), (3, 0.06, 0.4))]
    walls += [((1.5, 0, 0.25), (0.06, 1.6, 0.4)), ((-1.5, 0, 0.25), (0.06, 1.6, 0.4))]
    for index, ((x, y, z), size) in enumerate(walls):
        wall = make.moved_by_keys(make.cube(f"Wall.{index}", (x, y, 0.6 + z), size), "BOX")
        make.child_of(wall, bed)
    heights = {1: 0, 10: 0, 40: 0, 45: 0.15, 50: 0, 65: 0, 70: 0.15, 75: 0, 90: 0, 95: 0.15, 100: 0, 120: 0}
    tilts = {1: 0, 40: 0, 43: -5, 47: 5, 51: 0, 65: 0, 68: -5, 72: 5, 76: 0, 90: 0, 93: -5, 97: 5, 101: 0}
    ways = {frame: 9 * max(frame - 10, 0) / 110 for frame in heights}
    make.key(bed, "location", {frame: (ways[frame], 0, 0.6 + high) for frame, high in heights.items()})
    make.key(bed, "rotation_euler", {frame: make.radians(0, angle, 0) for frame, angle in tilts.items()})
    for index in range(6):
        at = (-0.9 + 0.6 * (index % 3), -0.35 + 0.7 * (index // 3), 0.91)
        make.body(make.cube(f"Crate.{index}", at, (0.5, 0.5, 0.5)), "ACTIVE", "BOX", mass=8)
    make.body(make.cylinder("Barrel", (1.1, 0, 0.96), 0.25, 0.6), "ACTIVE", "CYLINDER", mass=10)
    return [no_faster_than(7), moves("Crate", 7.0, axis=0), nothing_below(0, slack=0.02)]


@played()
def pyramid_of_cups_and_a_ball():
    """Ten cups upside down, open concave meshes with thickness; a light ball is thrown at them."""
    make.new_file(frames=(1, 100))
    make.floor()
    profile = [(0.001, 0.4), (0.13, 0.4), (0.2, 0.0), (0.18, 0.0), (0.115, 0.385), (0.001, 0.385)]
    one = make.body(make.lathe("Cup.0", profile, (0, -0.63, 0.001), 16), "ACTIVE", "MESH", mass=0.05)
    spots = [(y, z) for z in range(4) for y in range(4 - z)]
    for index, (y, z) in enumerate(spots[1:], 1):
        make.copy_of(one, f"Cup.{index}", (0, -0.63 + 0.42 * y + 0.21 * z, 0.001 + 0.402 * z))
    ball = make.body(make.ball("Ball", (-3, 0.1, 0.8), 0.12), shape="SPHERE", mass=0.1, restitution=0.6)
    make.shoot(ball, (-3, 0.1, 0.8), (-1.2, 0.1, 0.9), (30, 36))
    return [stays("Cup", 0.02, until=35), no_faster_than(11), nothing_below(0, slack=0.02), moves("Cup.9", 0.3)]


@played(nightly=True)
def rings_onto_a_peg():
    """Eight rings of convex parts fall around a peg on a base, and stack up on it."""
    make.new_file(frames=(1, 120))
    make.floor()
    make.passive(make.cylinder("Peg", (0, 0, 0.9), 0.16, 1.8), "CYLINDER")
    for index in range(8):
        at = (0.03 * (-1) ** index, 0.02 * (index % 3 - 1), 2.0 + 0.5 * index)
        ring = make.torus(f"Ring.{index}", at, 0.42 - 0.02 * index, 0.1, (8 * (-1) ** index, 5, 0), (20, 8))
        make.body(ring, "ACTIVE", "MESH", mass=0.5, friction=0.4)
    return [
        ends_within("Ring", (-0.5, -0.5, 0), (0.5, 0.5, 1.9), all_but=1),
        no_faster_than(11),
        nothing_below(0, slack=0.02),
    ]


def _in_the_globe():
    from truths import Truth

    def fault(play):
        away = [play.middle(name) - play.path("Globe") for name in play.chosen("Flake")]
        farthest = max((path**2).sum(axis=1).max() for path in away) ** 0.5
        return f"{farthest:.2f} m from the middle" if farthest > 1.0 else ""

    return Truth("every flake stays in the globe", fault)


def _gumballs():
    """The wheel of the machine, its balls, and what must be true."""
    points, faces = [], []
    steps, hole = 24, 3
    for z in (1.31, 1.37):
        for radius in (0.02, 0.32):
            for step in range(steps):
                angle = 2 * math.pi * step / steps
                points.append((radius * math.cos(angle), radius * math.sin(angle), z))
    low_in, low_out, high_in, high_out = (steps * ring for ring in range(4))
    for step in range(steps - hole):
        after = step + 1
        faces += [(low_in + step, low_in + after, low_out + after, low_out + step)]
        faces += [(high_in + step, high_out + step, high_out + after, high_in + after)]
        faces += [(low_out + step, low_out + after, high_out + after, high_out + step)]
        faces += [(low_in + after, low_in + step, high_in + step, high_in + after)]
    for step in (0, steps - hole):
        faces += [(low_in + step, low_out + step, high_out + step, high_in + step)]
    wheel = make.moved_by_keys(make.mesh_object("Wheel", points, faces), "MESH")
    make.key(wheel, "rotation_euler", {1: (0, 0, 0), 150: make.radians(0, 0, 720)})
    one = make.body(make.ball("Gum.00", (0, 0, 1.6), 0.1, 12), shape="SPHERE", mass=0.02)
    spots = itertools.product(range(5), (-0.24, 0, 0.24), (-0.24, 0, 0.24))
    for index, (layer, x, y) in enumerate(list(spots)[1:], 1):
        make.copy_of(one, f"Gum.{index:02}", (x + 0.01 * (layer % 2), y, 1.9 + 0.23 * layer))
    return [no_faster_than(8), nothing_below(0, slack=0.02), always_within("Gum", (-1.2, -1.2, 0), (1.2, 1.2, 3.5))]


def _drum():
    """An open tube about Y with three vanes inside."""
    points, faces = [], []
    steps = 30
    for y in (-0.5, 0.5):
        points += [(math.sin(2 * math.pi * k / steps), y, math.cos(2 * math.pi * k / steps)) for k in range(steps)]
    for k in range(steps):
        after = (k + 1) % steps
        faces.append((k, after, steps + after, steps + k))
    for vane in range(3):
        angle = 2 * math.pi * vane / 3
        first = len(points)
        for y, away in itertools.product((-0.5, 0.5), (1.0, 0.7)):
            points.append((away * math.sin(angle), y, away * math.cos(angle)))
        faces.append((first, first + 1, first + 3, first + 2))
    return make.mesh_object("Drum", points, faces, (0, 0, 1.2))
