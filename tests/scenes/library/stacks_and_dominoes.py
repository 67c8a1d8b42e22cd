"""Dominoes, walls, towers, shelves and pins: what stands until something hits it."""

import math
import random

import bpy
import scene_objects as make
from played_scenes import played
from truths import (
    ends_within,
    falls_in_order,
    falls_over,
    moves,
    no_faster_than,
    nothing_below,
    rests_from,
    stays,
    stays_below,
)


@played()
def dominoes_in_a_spiral():
    """40 dominoes along a spiral; a keyed block tips the first one."""
    make.new_file(frames=(1, 200))
    make.floor()
    angle = 0.0
    for index in range(40):
        radius = 1.0 + 0.22 * angle
        at = (radius * math.cos(angle), radius * math.sin(angle), 0.4)
        make.body(make.cube(f"Domino.{index:02}", at, (0.4, 0.1, 0.8), (0, 0, math.degrees(angle))))
        angle += 0.32 / radius
    pusher = make.moved_by_keys(make.cube("Pusher", (1.0, -0.6, 0.6), (0.3, 0.3, 0.3)))
    make.key(pusher, "location", {1: (1.0, -0.6, 0.6), 20: (1.0, -0.05, 0.6)})
    return [
        falls_over("Domino", 40),
        falls_in_order("Domino"),
        nothing_below(0),
        rests_from(185, "Domino"),
        no_faster_than(7),
    ]


@played()
def dominoes_hit_by_a_ball():
    """A thrown ball starts a straight run of boxes; 60 frames a second, origins at the feet."""
    make.new_file(fps=60, frames=(1, 240), substeps=5)
    make.floor()
    for index in range(24):
        tile = make.cube(f"Domino.{index:02}", (0.35 * index, 0, 0), (0.08, 0.4, 0.8))
        tile.data.transform(_lifted(0.5))
        make.body(tile, shape="BOX")
    ball = make.body(make.ball("Ball", (-3, 0, 1.6), 0.2), shape="SPHERE", mass=1)
    make.shoot(ball, (-3, 0, 1.6), (-2, 0, 1.6), (1, 16))
    return [falls_over("Domino", 45), falls_in_order("Domino"), nothing_below(0), no_faster_than(8)]


@played()
def brick_wall_hit_by_a_shot_ball():
    """A wall of bricks in the running bond, with a keyed ball that is let go just before it."""
    make.new_file(frames=(1, 90))
    make.floor(200)
    brick = None
    for course in range(8):
        for column in range(8):
            at = (column + 0.5 * (course % 2) - 4, 0, 0.25 + 0.5 * course)
            name = f"Brick.{course}{column}"
            brick = make.copy_of(brick, name, at) if brick else make.body(make.cube(name, at, (0.98, 0.5, 0.5)))
    ball = make.body(make.ball("Ball", (0, -8, 2), 0.6), shape="SPHERE", mass=20)
    make.shoot(ball, (0, -8, 2), (0, -2, 2), (1, 12))
    return [
        nothing_below(0, slack=0.02),
        stays("Brick.0", 0.01, until=12),
        moves("Brick.43", 0.5),
        no_faster_than(16),
        rests_from(88, "Brick.00"),
    ]


@played()
def tower_of_planks_and_wrecking_ball():
    """A cross-laid tower of planks; a heavy ball on a chain of empties swings into it."""
    make.new_file(frames=(1, 100))
    make.floor()
    for storey in range(12):
        for side in (-1, 1):
            turn = 90 * (storey % 2)
            at = (0.4 * side, 0, 0.1 + 0.2 * storey) if turn else (0, 0.4 * side, 0.1 + 0.2 * storey)
            make.body(make.cube(f"Plank.{storey:02}{side}", at, (1.0, 0.2, 0.2), (0, 0, turn)), friction=0.6)
    crane = make.passive(make.cube("Crane", (3, 0, 5), (0.2, 0.2, 0.2)), "BOX")
    ball = make.body(make.ball("Wrecker", (6.5, 0, 5), 0.5), shape="SPHERE", mass=50)
    make.joint("POINT", crane, ball, (3, 0, 5))
    return [
        nothing_below(0, "Plank", slack=0.02),
        moves("Plank.11", 0.5),
        no_faster_than(25, "Plank"),
        no_faster_than(9.5, "Wrecker"),
    ]


@played()
def pyramid_of_cans():
    """15 cans, true cylinders, with a thin table under them; one ball in an arc."""
    make.new_file(frames=(1, 100))
    make.floor()
    make.passive(make.cube("Table", (0, 0, 0.95), (3, 1, 0.1)), "BOX")
    for row in range(5):
        for column in range(5 - row):
            at = (0.31 * (column - 0.5 * (4 - row)), 0, 1.2 + 0.4 * row)
            make.body(make.cylinder(f"Can.{row}{column}", at, 0.15, 0.4), shape="CYLINDER", mass=0.3)
    ball = make.body(make.ball("Ball", (0, -4, 1), 0.15), shape="SPHERE", mass=0.5, restitution=0.3)
    make.shoot(ball, (0, -4, 1.4), (0, -2, 1.8), (1, 8))
    return [
        nothing_below(0, slack=0.02),
        stays("Can.0", 0.01, until=8),
        no_faster_than(14),
        moves("Can.40", 0.3),
    ]


@played()
def books_on_a_shelf_that_collapses():
    """A shelf of boards on two keyed brackets; the brackets are pulled away and all comes down."""
    make.new_file(frames=(1, 130))
    make.floor()
    make.passive(make.cube("Wall", (0, 0.55, 2), (4, 0.1, 4)), "BOX")
    for side in (-1, 1):
        bracket = make.moved_by_keys(make.cube(f"Bracket{side}", (1.2 * side, 0, 1.4), (0.1, 0.8, 0.1)), "BOX")
        here, gone = (1.2 * side, 0, 1.4), (3.0 * side, 0, 1.4)
        make.key(bracket, "location", {1: here, 30: here, 36: gone})
    make.body(make.cube("Board", (0, 0, 1.5), (3, 0.8, 0.1)), mass=4)
    for index in range(10):
        make.body(make.cube(f"Book.{index}", (-1.0 + 0.16 * index, 0, 1.85), (0.15, 0.5, 0.6)), mass=0.6)
    make.body(make.icosphere("Vase", (1.1, 0, 1.85), 0.3), mass=1)
    return [
        nothing_below(0, slack=0.02),
        stays("Book", 0.02, until=30),
        stays_below("Book", 1.9),
        moves("Board", -1.0, axis=2),
        no_faster_than(12),
    ]


@played(
    fails="what stands on the keyed block and on its two neighbours loads the keyed one alone at rest, and small steps "
    "leave it there as the block is pulled, so that the storeys above go along; in the quality Exact the tower stands"
)
def blocks_game_with_one_pulled_out():
    """A tower of three blocks a storey; a waxed one in the middle is keyed out of it and let go. The tower stands."""
    make.new_file(frames=(1, 100))
    make.floor()
    for storey in range(10):
        for column in range(3):
            turn = 90 * (storey % 2)
            along = 0.255 * (column - 1)
            at = (along, 0, 0.075 + 0.15 * storey) if turn else (0, along, 0.075 + 0.15 * storey)
            make.body(make.cube(f"Block.{storey}{column}", at, (0.75, 0.25, 0.15), (0, 0, turn)), mass=0.2)
    import bpy

    pulled = bpy.data.objects["Block.41"]
    pulled.name, pulled.rigid_body.friction = "Pulled", 0.1
    make.key(pulled, "location", {1: (0, 0, 0.675), 10: (0, 0, 0.675), 60: (1.2, 0, 0.675)})
    make.key(pulled, "rigid_body.kinematic", {1: True, 61: False}, "CONSTANT")
    return [
        stays("Block", 0.06),
        rests_from(80, "Block"),
        nothing_below(0, slack=0.02),
        ends_within("Pulled", (0.6, None, 0), (None, None, 0.2)),
    ]


@played()
def house_of_cards():
    """Three storeys of thin boxes, scale not applied; a marble rolls past without touching."""
    make.new_file(frames=(1, 120), substeps=10)
    make.floor()
    from cairn.solver_core import scenes

    for body in scenes.card_house(2).bodies[1:]:
        card = make.cube(body.name, body.position, [2 * half for half in body.shape.half_extents])
        card.rotation_mode, card.rotation_quaternion = "QUATERNION", body.orientation
        make.body(card, shape="BOX", friction=0.8)
    return [stays("Card", 0.01), nothing_below(0)]


@played()
def bowling():
    """Ten pins, lathed, as hulls on a lane; the ball is keyed and let go, with a spin. World speed 2."""
    make.new_file(fps=30, frames=(1, 70), speed=2.0)
    make.floor(60)
    profile = [(0.0, 0), (0.1, 0), (0.19, 0.35), (0.1, 0.8), (0.12, 0.95), (0.06, 1.1), (0.0, 1.12)]
    first = None
    for row in range(4):
        for column in range(row + 1):
            at = (0.6 * (column - 0.5 * row), 0.52 * row, 0)
            name = f"Pin.{row}{column}"
            if first is None:
                first = make.body(make.lathe(name, profile, at, 16), mass=1.5)
            else:
                make.copy_of(first, name, at)
    ball = make.body(make.ball("Ball", (0.05, -12, 0.35), 0.35), shape="SPHERE", mass=6, friction=0.2)
    make.shoot(ball, (0.05, -12, 0.35), (0.05, -8, 0.35), (1, 8))
    return [
        stays("Pin", 0.01, until=12),
        falls_over("Pin", 45, all_but=4),
        nothing_below(0, slack=0.02),
        no_faster_than(40),
    ]


@played()
def tablecloth_trick():
    """A cloth (a thin keyed slab) is pulled from under cups and plates within five frames."""
    make.new_file(frames=(1, 80))
    make.passive(make.cube("Table", (0, 0, 0.5), (4, 2, 1)), "BOX")
    make.floor()
    cloth = make.moved_by_keys(make.cube("Cloth", (0, 0, 1.01), (3.6, 1.8, 0.02)), "BOX", friction=0.2)
    make.key(cloth, "location", {1: (0, 0, 1.01), 20: (0, 0, 1.01), 23: (-8, 0, 1.01)})
    for index, x in enumerate((-1.0, 0.0, 1.0)):
        make.body(make.cylinder(f"Plate.{index}", (x, 0, 1.05), 0.35, 0.06), mass=0.4, friction=0.4)
        make.body(make.cone(f"Cup.{index}", (x, 0, 1.23), 0.1, 0.16, 0.3), mass=0.2, friction=0.6)
    return [
        stays("Plate", 0.02, until=20),
        ends_within("Plate", (-1.9, -1, 1), (1.9, 1, 1.2)),
        rests_from(75),
        no_faster_than(20),
    ]


@played()
def compound_table_laid_and_dropped():
    """A table as a compound parent (a top, four legs) falls 30 cm with things on it."""
    make.new_file(frames=(1, 100))
    make.floor()
    table = make.cube("Table", (0, 0, 1.3), (0.2, 0.2, 0.05))
    make.body(table, shape="COMPOUND", mass=10)
    top = make.cube("Top", (0, 0, 1.3), (2, 1.2, 0.1))
    make.child_of(make.body(top, shape="BOX"), table)
    for index, (x, y) in enumerate(((-0.9, -0.5), (0.9, -0.5), (-0.9, 0.5), (0.9, 0.5))):
        leg = make.cube(f"Leg.{index}", (x, y, 0.775), (0.1, 0.1, 0.95))
        make.child_of(make.body(leg, shape="BOX"), table)
    for index in range(3):
        make.body(make.cylinder(f"Glass.{index}", (0.6 * (index - 1), 0, 1.5), 0.1, 0.3), shape="CYLINDER", mass=0.2)
    make.body(make.cube("Box", (0.3, 0.3, 1.52), (0.3, 0.3, 0.3), (0, 0, 20)), mass=1)
    return [
        ends_within("Table", (-0.3, -0.3, 0.7), (0.3, 0.3, 1.3)),
        ends_within("Glass", (-1, -0.6, 1.0), (1, 0.6, 1.3)),
        rests_from(90, "Table"),
        stays_below("Glass", 1.8),
    ]


@played()
def deck_slides_off_a_slope():
    """A deck of 24 cards of true size (63 x 88 x 0.6 mm) slides apart down a slope."""
    make.new_file(frames=(1, 120), substeps=10)
    make.passive(make.plane("Slope", (0, 0, 0.2), 1.0, (0, 28, 0)))
    make.passive(make.cube("Table", (0, 0, -0.06), (3, 3, 0.04)), "BOX")
    first = None
    for i in range(24):
        a = math.radians(28)
        up = 0.0025 + 0.0009 * i
        at = (-0.25 * math.cos(a) + up * math.sin(a), 0, 0.2 + 0.25 * math.sin(a) + up * math.cos(a))
        if first is None:
            first = make.cube(f"Card.{i:02}", at, (0.063, 0.088, 0.0006), (0, 28, 0))
            make.body(first, mass=0.002, friction=0.5)
        else:
            make.copy_of(first, f"Card.{i:02}", at)
    return [nothing_below(-0.04, slack=0.03), no_faster_than(5)]


@played()
def shelf_of_bottles_tips():
    """Eight lathed bottles stand on a shelf that keys tip by 40 degrees; they slide and fall on the floor."""
    make.new_file(frames=(1, 130))
    make.floor()
    shelf = make.moved_by_keys(make.cube("Shelf", (0, 0, 1.2), (3, 0.7, 0.08)), "BOX")
    make.key(
        shelf,
        "rotation_euler",
        {1: make.radians(0, 0, 0), 20: make.radians(0, 0, 0), 60: make.radians(40, 0, 0)},
        "BEZIER",
    )
    prof = [(0.0, 0), (0.13, 0), (0.14, 0.05), (0.14, 0.4), (0.05, 0.55), (0.05, 0.7), (0.0, 0.7)]
    first = None
    for i in range(8):
        at = (-1.2 + 0.34 * i, 0.02 * (i % 3), 1.24)
        if first is None:
            first = make.body(make.lathe("Bottle.0", prof, at, 20), mass=0.8)
        else:
            make.copy_of(first, f"Bottle.{i}", at)
    return [
        stays("Bottle", 0.01, until=20),
        moves("Bottle", -0.9, axis=2),
        nothing_below(0, slack=0.03),
        no_faster_than(10),
    ]


@played()
def logs_let_go_on_a_slope():
    """15 logs lie in a pyramid against two stakes on a slope; the stakes are keyed down and the logs roll."""
    make.new_file(frames=(1, 120))
    make.floor(80)
    make.passive(make.plane("Hill", (0, 0, 1.5), 10, (0, 15, 0)))
    a = math.radians(15)
    for s in (-1, 1):
        stake = make.moved_by_keys(make.cube(f"Stake{s}", (-0.4, 0.8 * s, 1.9), (0.12, 0.12, 1.2), (0, 15, 0)), "BOX")
        make.key(stake, "location", {1: (-0.4, 0.8 * s, 1.9), 40: (-0.4, 0.8 * s, 1.9), 46: (-0.4, 0.8 * s, 0.5)})
    for row in range(4):
        for k in range(5 - row):
            u = -0.75 - 0.505 * k - 0.2525 * row
            v = 0.252 + 0.436 * row
            at = (u * math.cos(a) + v * math.sin(a), 0.01 * k, 1.5 - u * math.sin(a) + v * math.cos(a))
            make.body(make.cylinder(f"Log.{row}{k}", at, 0.25, 2.4, (90, 0, 0)), shape="CYLINDER", mass=20)
    return [nothing_below(0, slack=0.03), no_faster_than(12), moves("Log", 2, axis=0)]


@played()
def long_thin_sticks_dropped():
    """24 sticks, a hundred times as long as thick, fall in a heap; the last one slides off another for 170 frames."""
    make.new_file(frames=(1, 250), substeps=10)
    make.floor()
    rng = random.Random(42)
    first = None
    for i in range(24):
        at = (rng.uniform(-0.1, 0.1), rng.uniform(-0.1, 0.1), 0.15 + 0.05 * i)
        turn = (rng.uniform(-20, 20), rng.uniform(-20, 20), rng.uniform(0, 180))
        if first is None:
            first = make.body(make.cylinder("Stick.00", at, 0.005, 1.0, (90, 0, 0), 8), mass=0.02, friction=0.5)
            first.rotation_euler = make.radians(90 + turn[0], turn[1], turn[2])
        else:
            make.copy_of(first, f"Stick.{i:02}", at, (90 + turn[0], turn[1], turn[2]))
    return [nothing_below(0, slack=0.005), no_faster_than(10), rests_from(235, within=0.02), stays_below("Stick", 1.5)]


@played(view=(0.4, -1, 0.6))
def mirrored_and_stretched_letters():
    """Linked duplicates of a letter, mirrored by negative scales or stretched, fall on the child of a scaled empty."""
    make.new_file(frames=(1, 130))
    make.floor()
    bpy.ops.object.empty_add(location=(0, 0, 1.0), rotation=make.radians(0, 0, 20))
    root = bpy.context.object
    root.name, root.scale = "Root", (1.3, 1.3, 1.3)
    ramp = make.cube("Ramp", (0, 0, 0), (3, 2, 0.1), (0, 18, 0))
    ramp.parent = root
    make.passive(ramp, "BOX")
    letter = make.body(make.letter("Letter.0", "R", (-0.9, -0.2, 2.3), 0.12), mass=1)
    for i, scale in enumerate(((-1, 1, 1), (1, -1, 1), (1.5, 0.7, 1), (-0.8, 1.2, -2.0))):
        ob = make.copy_of(
            letter, f"Letter.{i + 1}", (-0.8 + 0.45 * (i % 2), -0.6 + 0.4 * i, 3.1 + 0.8 * i), (90, 10 * i, 30 * i)
        )
        ob.scale = scale
    return [nothing_below(0, slack=0.03), no_faster_than(12), moves("Letter", -1, axis=2)]


def _lifted(height):
    from mathutils import Matrix

    return Matrix.Translation((0, 0, height))
