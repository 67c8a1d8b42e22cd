"""Marbles, fruit, coins and pills: many round or small things in funnels, bowls and runs."""

import math
import random

import bpy
import scene_objects as make
from played_scenes import played
from truths import always_within, ends_within, moves, no_faster_than, nothing_below, rests_from, turns


@played()
def marble_run_of_open_rails():
    """Three tilted gutters, open sheets, each above the next; the marbles end in a cup."""
    make.new_file(frames=(1, 260))
    make.floor()
    for level, direction in enumerate((1, -1, 1)):
        _gutter(f"Rail.{level}", (0.5 * (level % 2), 0, 2.6 - 0.8 * level), 2.4, 6 * direction)
        make.passive(
            make.cube(f"Back.{level}", (1.85 - 3.2 * (level % 2), 0, 2.3 - 0.8 * level), (0.1, 0.8, 1.2)), "BOX"
        )
    _open_box("Cup", (1.5, 0, 0.0), (0.6, 0.9, 0.5))
    for index in range(5):
        make.body(
            make.ball(f"Marble.{index}", (-1.0 + 0.26 * index, 0.002 * index, 2.85 - 0.027 * index), 0.12),
            shape="SPHERE",
            mass=0.1,
        )
    # later ones may jam side by side where they drop onto the next rail: two are as wide as the half pipe
    return [
        ends_within("Marble.4", (1.1, -0.5, 0), (1.9, 0.5, 0.6)),
        ends_within("Marble", (-1.4, -0.5, 0), (1.9, 0.5, 2.9)),
        nothing_below(0, slack=0.02),
        no_faster_than(9),
    ]


@played()
def marbles_into_a_funnel():
    """30 marbles into a cone without caps, and through it into a box."""
    make.new_file(frames=(1, 200))
    make.floor()
    make.passive(make.cone("Funnel", (0, 0, 2.5), 0.25, 1.6, 1.6, ends="NOTHING", vertices=32))
    _open_box("Box", (0, 0, 0.02), (1.4, 1.4, 1.2))
    rng = random.Random(1)
    for index in range(30):
        at = (rng.uniform(-0.8, 0.8), rng.uniform(-0.8, 0.8), 3.6 + 0.12 * index)
        make.body(make.ball(f"Marble.{index:02}", at, 0.1), shape="SPHERE", mass=0.05, friction=0.2)
    return [
        ends_within("Marble", (-0.7, -0.7, 0), (0.7, 0.7, 3.4)),
        nothing_below(0.02, slack=0.03),
        no_faster_than(12),
    ]


@played()
def fruit_in_a_bowl():
    """Fruit of odd sizes, scales not applied, fall into a lathed bowl with a Solidify modifier."""
    make.new_file(frames=(1, 150))
    make.floor()
    profile = [(0.4, 0.05), (0.7, 0.1), (1.0, 0.35), (1.2, 0.75), (1.3, 1.1)]
    bowl = make.lathe("Bowl", [(0.0, 0.05), *profile], (0, 0, 0))
    make.modifier(bowl, "SOLIDIFY", thickness=0.05)
    make.passive(bowl, mesh_source="FINAL")
    rng = random.Random(2)
    for index in range(12):
        size = rng.uniform(0.18, 0.28)
        scale = (1.0, 1.0, rng.choice((0.85, 1.0, 1.4)))
        at = (rng.uniform(-0.4, 0.4), rng.uniform(-0.4, 0.4), 1.2 + 0.45 * index)
        make.body(make.icosphere(f"Fruit.{index:02}", at, size, scale=scale), mass=size, friction=0.6)
    return [ends_within("Fruit", (-1.3, -1.3, 0.1), (1.3, 1.3, 2.0)), no_faster_than(12), rests_from(145, within=0.02)]


@played()
def pinball():
    """A tilted table with pins and a keyed flipper; balls roll down to it and are hit."""
    make.new_file(fps=60, frames=(1, 240), substeps=4)
    board = make.plane("Board", (0, 0, 1), 4, (12, 0, 0))
    make.passive(board)
    for side in (-1, 1):
        make.passive(make.cube(f"Side{side}", (2 * side, 0, 1.1), (0.1, 4.2, 0.6), (12, 0, 0)), "BOX")
    for end, z in ((-2, 0.68), (2, 1.52)):
        make.passive(make.cube(f"End{end}", (0, end, z), (4.2, 0.1, 0.6), (12, 0, 0)), "BOX")
    for index in range(7):
        x, y = (index % 3 - 1) * 1.0 + 0.3 * (index // 3), 0.8 - 0.6 * (index // 3)
        make.passive(
            make.cylinder(f"Pin.{index}", (x, y, 1 + 0.2126 * y + 0.15), 0.15, 0.4, (12, 0, 0)), restitution=1.0
        )
    flipper = make.cube("Flipper", (0.0, -1.5, 1 - 0.319 + 0.14), (1.4, 0.12, 0.2), (12, 0, -20))
    make.moved_by_keys(flipper, "BOX")
    up, down = [math.radians(angle) for angle in (25, -20)]
    swing = {1: down}
    for start in (40, 90, 140, 190):
        swing |= {start: down, start + 4: up, start + 8: down}
    make.key(flipper, "rotation_euler", {frame: (math.radians(12), 0, angle) for frame, angle in swing.items()})
    for index in range(5):
        at = (-1.2 + 0.6 * index, 1.6, 1.65)
        make.body(make.ball(f"Ball.{index}", at, 0.12), shape="SPHERE", mass=0.2, restitution=0.6)
    return [always_within("Ball", (-2.1, -2.1, 0.5), (2.1, 2.1, None)), no_faster_than(14)]


@played()
def galton_board():
    """25 balls through rows of pegs between two panes; they end in the bins: two abreast are no arch between pegs."""
    make.new_file(frames=(1, 220))
    make.floor()
    for side in (-1, 1):
        make.passive(make.plane(f"Pane{side}", (0, 0.14 * side, 2.5), 6, (90, 0, 0)))
        make.passive(make.cube(f"Side{side}", (1.93 * side, 0, 2.5), (0.1, 0.3, 5)), "BOX")
    for row in range(6):
        for column in range(8 - row % 2):
            x = 0.44 * (column - 3.5 + 0.5 * (row % 2))
            make.passive(make.cylinder(f"Peg.{row}{column}", (x, 0, 1.6 + 0.4 * row), 0.05, 0.3, (90, 0, 0), 12))
    for column in range(8):
        make.passive(make.cube(f"Bin.{column}", (0.44 * (column - 3.5), 0, 0.5), (0.04, 0.26, 1)), "BOX")
    rng = random.Random(3)
    for index in range(25):
        at = (rng.uniform(-0.3, 0.3), 0, 3.9 + 0.25 * index)
        make.body(make.ball(f"Ball.{index:02}", at, 0.08, 12), shape="SPHERE", mass=0.1, restitution=0.3)
    return [ends_within("Ball", (-1.93, -0.15, 0), (1.93, 0.15, 1.5)), nothing_below(0, slack=0.03), no_faster_than(14)]


@played()
def hourglass():
    """40 small balls run through the neck of a lathed glass, from the inside of one mesh."""
    make.new_file(frames=(1, 200))
    profile = [(0.0, 0), (0.8, 0), (0.8, 0.7), (0.16, 1.5), (0.8, 2.3), (0.8, 3.4)]
    make.passive(make.lathe("Glass", profile, segments=32))
    rng = random.Random(4)
    for index in range(40):
        angle, radius = rng.uniform(0, 2 * math.pi), rng.uniform(0, 0.45)
        at = (radius * math.cos(angle), radius * math.sin(angle), 2.3 + 0.06 * index)
        make.body(make.ball(f"Grain.{index:02}", at, 0.07, 8), shape="SPHERE", mass=0.01, friction=0.2)
    return [
        always_within("Grain", (-0.8, -0.8, 0), (0.8, 0.8, None)),
        no_faster_than(9),
        ends_within("Grain", (None, None, 0), (None, None, 2.0), all_but=4),
    ]


@played()
def coins_of_true_size():
    """16 coins of 24 mm fall on a desk of a metre: a library's file at true scale, 10 substeps."""
    make.new_file(frames=(1, 90))
    make.passive(make.cube("Desk", (0, 0, -0.02), (1, 1, 0.04)), "BOX")
    rng = random.Random(5)
    for index in range(16):
        at = (rng.uniform(-0.02, 0.02), rng.uniform(-0.02, 0.02), 0.05 + 0.02 * index)
        turn = [rng.uniform(0, 180) for _ in range(3)]
        make.body(make.cylinder(f"Coin.{index:02}", at, 0.012, 0.002, turn), mass=0.006, restitution=0.3)
    return [nothing_below(0, slack=0.03), ends_within("Coin", (-0.5, -0.5, 0), (0.5, 0.5, 0.03)), no_faster_than(3.5)]


@played()
def boulders_a_hundred_times_as_large():
    """Rocks of 20 to 50 m down a displaced slope of 600 m."""
    make.new_file(frames=(1, 250))
    points, faces, side = [], [], 21
    for row in range(side):
        for column in range(side):
            x, y = 30.0 * (column - 10), 30.0 * (row - 10)
            points.append((x, y, -0.5 * y + 8 * math.sin(0.031 * x) * math.cos(0.023 * y)))
    for row in range(side - 1):
        for column in range(side - 1):
            low = row * side + column
            faces.append((low, low + 1, low + side + 1, low + side))
    make.passive(make.mesh_object("Slope", points, faces))
    rng = random.Random(6)
    for index in range(12):
        rock = make.icosphere(
            f"Rock.{index:02}", (40 * (index % 4) - 60, -180 + 50 * (index // 4), 160), 10 + 12 * rng.random(), 1
        )
        for vertex in rock.data.vertices:
            vertex.co *= rng.uniform(0.8, 1.2)
        make.body(rock, mass=50000)
    return [
        always_within("Rock", (None, None, -400), (None, None, 400)),
        moves("Rock", -20, axis=2),
        no_faster_than(120),
    ]


@played()
def ball_pit_from_frame_50():
    """60 balls into a pen; the scene and its cache begin at frame 50."""
    make.new_file(fps=25, frames=(50, 150))
    make.floor()
    _open_box("Pen", (0, 0, 0), (2.4, 2.4, 1.0))
    rng = random.Random(7)
    first = None
    for index in range(60):
        at = (rng.uniform(-0.8, 0.8), rng.uniform(-0.8, 0.8), 0.5 + 0.09 * index)
        if first is None:
            first = make.body(make.ball("Ball.00", at, 0.2), shape="SPHERE", mass=0.2, restitution=0.4)
        else:
            make.copy_of(first, f"Ball.{index:02}", at)
    return [nothing_below(0, slack=0.02), ends_within("Ball", (None, None, 0), (None, None, 1.4)), no_faster_than(12)]


@played()
def pills_into_a_jar():
    """Capsules into a lathed jar, at 30 frames a second."""
    make.new_file(fps=30, frames=(1, 150))
    make.floor()
    make.passive(
        make.lathe("Jar", [(0.0, 0.02), (0.6, 0.02), (0.65, 0.1), (0.65, 1.2), (0.5, 1.4), (0.5, 1.6)], segments=32)
    )
    rng = random.Random(8)
    profile = [(0.0, -0.2), (0.06, -0.18), (0.1, -0.1), (0.1, 0.1), (0.06, 0.18), (0.0, 0.2)]
    for index in range(25):
        pill = make.lathe(
            f"Pill.{index:02}", profile, (rng.uniform(-0.2, 0.2), rng.uniform(-0.2, 0.2), 1.5 + 0.16 * index), 12
        )
        pill.rotation_euler = [rng.uniform(0, 3) for _ in range(3)]
        make.body(pill, shape="CAPSULE", mass=0.02)
    return [ends_within("Pill", (-0.66, -0.66, 0), (0.66, 0.66, 1.6)), nothing_below(0, slack=0.05), no_faster_than(11)]


@played()
def big_dice_under_gravity_300():
    """Dice of 2 m, a table of 40, gravity 300: how people make large things fall as fast as small ones."""
    make.new_file(frames=(1, 80), substeps=10, gravity=300)
    make.floor(80)
    for index in range(6):
        die = make.body(make.cube(f"Die.{index}", (3.0 * index - 7.5, 0, 12), (2, 2, 2), (20 * index, 30, 10 * index)))
        die.rigid_body.restitution = 0.3
    return [nothing_below(0, slack=0.02), rests_from(78), no_faster_than(110)]


@played()
def boxes_fast_onto_a_plane_at_one_substep():
    """Small boxes thrown down at 30 m/s on a plane without thickness, one substep a frame."""
    make.new_file(frames=(1, 90), substeps=1)
    make.floor()
    for index in range(9):
        x, y = 1.5 * (index % 3 - 1), 1.5 * (index // 3 - 1)
        box = make.body(make.cube(f"Box.{index}", (x, y, 12), (0.3, 0.3, 0.3), (10 * index, 20, 0)))
        make.shoot(box, (x, y, 12), (x, y, 8.25), (1, 4))
    return [nothing_below(0, slack=0.05), no_faster_than(40), rests_from(88)]


@played(view=(0.3, -1, 0.8))
def monkeys_into_a_crate():
    """Monkey heads as hulls: linked copies with several turns, into an open crate."""
    make.new_file(frames=(1, 110))
    make.floor()
    _open_box("Crate", (0, 0, 0), (3.2, 3.2, 1.4))
    rng = random.Random(9)
    first = None
    for index in range(16):
        at = (rng.uniform(-0.8, 0.8), rng.uniform(-0.8, 0.8), 1.0 + 0.75 * index)
        turn = [rng.uniform(0, 360) for _ in range(3)]
        if first is None:
            first = make.body(make.monkey("Monkey.00", at, 0.9))
        else:
            make.copy_of(first, f"Monkey.{index:02}", at, turn)
    return [nothing_below(0, slack=0.03), ends_within("Monkey", (-1.7, -1.7, 0), (1.7, 1.7, 2.5)), no_faster_than(20)]


@played()
def coin_spins_and_settles():
    """A coin of 10 cm spun on its edge by keys and let go; it goes on turning for a second."""
    make.new_file(fps=60, frames=(1, 180), substeps=5)
    make.floor()
    coin = make.body(
        make.cylinder("Coin", (0, 0, 0.11), 0.1, 0.012, (90, 0, 0)), shape="CYLINDER", mass=0.05, friction=0.3
    )
    spin = {frame: (math.radians(90), 0, math.radians(10 * (frame - 1))) for frame in (1, 20)}
    make.key(coin, "rotation_euler", spin)
    make.key(coin, "rigid_body.kinematic", {1: True, 20: False}, "CONSTANT")
    return [
        nothing_below(0, slack=0.02),
        no_faster_than(3),
        ends_within("Coin", (-0.6, -0.6, 0), (0.6, 0.6, 0.12)),
        turns("Coin", 360, axis=1),
    ]


@played()
def marbles_in_a_helix():
    """A spiral tube, a bevelled curve of two turns, is the passive mesh; 8 marbles roll down within it."""
    make.new_file(frames=(1, 250))
    make.floor(80)
    curve = bpy.data.curves.new("Helix", "CURVE")
    curve.dimensions, curve.bevel_depth, curve.bevel_resolution = "3D", 0.22, 4
    spline = curve.splines.new("POLY")
    n = 64
    spline.points.add(n)
    for i in range(n + 1):
        a = 4 * math.pi * i / n
        spline.points[i].co = (1.2 * math.cos(a), 1.2 * math.sin(a), 3.2 - 2.6 * i / n, 1)
    ob = bpy.data.objects.new("Helix", curve)
    bpy.context.scene.collection.objects.link(ob)
    make.passive(make.as_mesh(ob))
    for i in range(8):
        a = 0.2 + 0.3 * i
        at = (1.2 * math.cos(a), 1.2 * math.sin(a), 3.2 - 2.6 * a / (4 * math.pi) - 0.06)
        make.body(make.ball(f"Marble.{i}", at, 0.12), shape="SPHERE", mass=0.05)
    return [nothing_below(0, slack=0.03), no_faster_than(9), ends_within("Marble", (-16, -16, 0), (16, 16, 0.4))]


@played()
def coins_into_a_slot():
    """Coins of 24 mm roll on their rims down a tilted channel of two walls and drop through a slot into a tin."""
    make.new_file(frames=(1, 120), substeps=10)
    make.floor()
    a = 8
    s, c = math.sin(math.radians(a)), math.cos(math.radians(a))
    make.passive(make.cube("Ramp", (0, 0, 0.2), (0.4, 0.012, 0.01), (0, a, 0)), "BOX")
    for side in (-1, 1):
        make.passive(make.cube(f"Wall{side}", (0.03, 0.0085 * side, 0.22), (0.5, 0.012, 0.06), (0, a, 0)), "BOX")
    make.passive(make.cube("Stop", (0.265, 0, 0.18), (0.01, 0.06, 0.12)), "BOX")
    make.passive(
        make.lathe(
            "Tin",
            [(0.0, 0.0), (0.05, 0.0), (0.05, 0.1), (0.046, 0.1), (0.046, 0.004), (0.0, 0.004)],
            (0.225, 0, 0.001),
            24,
        )
    )
    for i in range(5):
        u = -0.18 + 0.045 * i
        at = (u * c + 0.018 * s, 0, 0.2 - u * s + 0.0182 * c)
        make.body(make.cylinder(f"Coin.{i}", at, 0.012, 0.002, (90, 0, 0)), shape="CYLINDER", mass=0.005, friction=0.4)
    return [nothing_below(0, slack=0.03), no_faster_than(4), ends_within("Coin", (0.17, -0.06, 0), (0.28, 0.06, 0.12))]


@played()
def balls_roll_over_a_sheet_that_tips():
    """Balls roll down the valley of a displaced grid without thickness, which keys tip the other way."""
    make.new_file(frames=(1, 140))
    make.floor(z=-1.0)
    n = 24
    flat = [(-3 + 6 * i / n, -2 + 4 * j / n) for i in range(n + 1) for j in range(n + 1)]
    points = [(x, y, 0.06 * math.sin(3 * x) - 0.25 * math.cos(1.6 * y)) for x, y in flat]
    corners = [(n + 1) * i + j for i in range(n) for j in range(n)]
    faces = [(corner, corner + n + 1, corner + n + 2, corner + 1) for corner in corners]
    sheet = make.moved_by_keys(make.mesh_object("Sheet", points, faces), "MESH")
    make.key(
        sheet,
        "rotation_euler",
        {1: make.radians(0, 9, 0), 60: make.radians(0, 9, 0), 90: make.radians(0, -9, 0)},
        "BEZIER",
    )
    for i in range(4):
        make.body(make.ball(f"Ball.{i}", (-2.3 + 0.5 * i, 0.1 * i, 0.75), 0.2 - 0.03 * i), shape="SPHERE", mass=5 - i)
    return [
        always_within("Ball", (None, -3, None), (None, 3, None)),
        nothing_below(-1, slack=0.03),
        no_faster_than(7),
        moves("Ball.3", 3, axis=0),
    ]


def _gutter(name, at, length, tilt):
    """A half pipe without thickness, along x, that goes down to +x by ``tilt`` degrees."""
    points, faces, sides = [], [], 9
    for end in (-0.5, 0.5):
        for step in range(sides):
            angle = math.pi * (1 + step / (sides - 1))
            points.append((length * end, 0.25 * math.cos(angle), 0.25 + 0.25 * math.sin(angle)))
    for step in range(sides - 1):
        faces.append((step, step + 1, sides + step + 1, sides + step))
    rail = make.mesh_object(name, points, faces, at)
    rail.rotation_euler = (0, math.radians(tilt), 0)
    return make.passive(rail)


def _open_box(name, at, size):
    """Five planes as one mesh, open above, without thickness."""
    x, y, z = size[0] / 2, size[1] / 2, size[2]
    points = [(-x, -y, 0), (x, -y, 0), (x, y, 0), (-x, y, 0), (-x, -y, z), (x, -y, z), (x, y, z), (-x, y, z)]
    faces = [(0, 1, 2, 3), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]
    return make.passive(make.mesh_object(name, points, faces, at))
