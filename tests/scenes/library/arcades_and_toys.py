"""Arcade machines and toys: a coin pusher, keys on a ring, wind chimes, a top, and what people pour into buckets."""

import itertools
import math
import random

import bpy
import scene_objects as make
from played_scenes import played
from truths import (
    always_within,
    falls_over,
    joints_hold,
    moves,
    no_faster_than,
    nothing_below,
    rests_from,
    stays_below,
    turns,
)


@played()
def coin_pusher():
    """A keyed shelf goes to and fro and pushes coins of 24 mm over an edge."""
    make.new_file(frames=(1, 150))
    make.passive(make.cube("Tray", (0.1, 0, -0.1), (0.6, 0.4, 0.02)), "BOX")
    make.passive(make.cube("Bed", (0, 0, -0.02), (0.2, 0.2, 0.04)), "BOX")
    for side in (-1, 1):
        make.passive(make.cube(f"Wall{side}", (0, 0.105 * side, 0.02), (0.2, 0.01, 0.12)), "BOX")
    shelf = make.moved_by_keys(make.cube("Shelf", (-0.13, 0, 0.01), (0.12, 0.198, 0.02)), "BOX")
    ways = {1: -0.13, 25: -0.05, 50: -0.13, 75: -0.05, 100: -0.13, 125: -0.05, 150: -0.13}
    make.key(shelf, "location", {frame: (x, 0, 0.0101) for frame, x in ways.items()}, "SINE")
    coin = make.body(make.cylinder("Coin.00", (-0.04, -0.07, 0.0012), 0.012, 0.0023, vertices=32), mass=0.0075)
    for index in range(1, 30):
        row, column = divmod(index, 6)
        make.copy_of(coin, f"Coin.{index:02}", (-0.04 + 0.0265 * row, -0.07 + 0.028 * column, 0.0012))
    for index in range(6):
        make.copy_of(
            coin, f"Dropped.{index}", (-0.055, -0.06 + 0.024 * index, 0.06 + 0.02 * index), (70, 0, 30 * index)
        )
    return [no_faster_than(4.0), moves("Coin.0", 0.01, axis=0), nothing_below(-0.09, slack=0.03)]


@played()
def keys_on_a_ring():
    """A ring that hangs on a hook; three keys of plates with a hole hang on it, all concave meshes."""
    make.new_file(frames=(1, 100), substeps=20)
    make.passive(make.torus("Hook", (0, 0, 0), 0.3, 0.05, (90, 0, 0), (24, 10)))
    make.body(make.torus("Ring", (0, 0, -0.7), 0.5, 0.03, (90, 0, 90), (32, 8)), "ACTIVE", "MESH", mass=0.2)
    for index in range(3):
        key = make.mesh_object(f"Key.{index}", *_key_plate(), at=(0, (index - 1) * 0.16, -1.2))
        make.body(key, "ACTIVE", "MESH", mass=0.1)
    return [
        no_faster_than(8.0),
        always_within("Key", (-1.5, -1.5, -3), (1.5, 1.5, 0)),
        always_within("Ring", (-1, -1, -1.3), (1, 1, 0.2)),
    ]


@played()
def dominoes_down_stairs():
    """Dominoes on a flight of stairs, each knocks over the one a step lower."""
    make.new_file(frames=(1, 200))
    make.floor()
    for step in range(8):
        make.passive(make.cube(f"Step.{step}", (0.8 * step, 0, 1.0 - 0.125 * step), (0.8, 2, 2 - 0.25 * step)), "BOX")
    for index in range(16):
        step = index // 2
        make.body(
            make.cube(f"Domino.{index:02}", (0.4 * index - 0.2, 0, 2 - 0.25 * step + 0.4), (0.1, 0.4, 0.8)), mass=0.3
        )
    ball = make.body(make.ball("Ball", (-1.0, 0, 2.7), 0.15), shape="SPHERE", mass=2)
    make.shoot(ball, (-1.2, 0, 2.7), (-0.5, 0, 2.7), (1, 8))
    return [falls_over("Domino", 40), no_faster_than(12), nothing_below(0, slack=0.02)]


@played()
def character_in_a_ball_pit():
    """A keyed figure of capsules wades through balls in a box."""
    make.new_file(frames=(1, 90))
    make.floor()
    for at, size in (((-2, 0), (0.1, 2.2)), ((2, 0), (0.1, 2.2)), ((0, -1.1), (4.1, 0.1)), ((0, 1.1), (4.1, 0.1))):
        make.passive(make.cube(f"Wall{at}", (*at, 0.6), (*size, 1.2)), "BOX")
    one = make.body(make.ball("Ball.000", (-1.6, -0.8, 0.17), 0.15), shape="SPHERE", mass=0.1, restitution=0.5)
    spots = [spot for spot in itertools.product(range(2), range(11), range(6)) if spot[1] > 2 or spot[2] in (0, 5)][1:]
    for index, (layer, x, y) in enumerate(spots, 1):
        make.copy_of(one, f"Ball.{index:03}", (-1.6 + 0.32 * x, -0.8 + 0.32 * y, 0.17 + 0.33 * layer))
    torso = make.moved_by_keys(make.ball("Torso", (-1.3, 0, 0.9), 0.35), "CONVEX_HULL")
    torso.scale = (0.8, 1, 1.6)
    make.key(torso, "location", {1: (-1.3, 0, 0.9), 20: (-1.3, 0, 0.9), 80: (1.2, 0, 0.9)})
    for side in (-1, 1):
        leg = make.moved_by_keys(make.cylinder(f"Leg{side}", (-1.3, 0.2 * side, 0.45), 0.12, 0.8), "CAPSULE")
        make.key(leg, "location", {frame: (x, 0.2 * side, 0.45) for frame, x in ((1, -1.3), (20, -1.3), (80, 1.2))})
    return [
        nothing_below(0, slack=0.03),
        always_within("Ball", (-2, -1.1, None), (2, 1.1, 1.6)),
    ]


@played()
def boxes_sorted_on_a_conveyor():
    """Boxes ride on keyed slats; a keyed arm swings and pushes them off to the side."""
    make.new_file(frames=(1, 160))
    make.floor()
    for index in range(14):
        x = -5.0 + 0.5 * index
        slat = make.moved_by_keys(make.cube(f"Slat.{index:02}", (x, 0, 1), (0.49, 1.2, 0.1)), "BOX")
        make.key(slat, "location", {1: (x, 0, 1), 160: (x + 6, 0, 1)})
    arm = make.cube("Arm", (1.0, 1.0, 1.4), (0.1, 1.6, 0.3))
    make.moved_by_keys(arm, "BOX")
    turn = {1: 0, 60: 0, 75: 60, 90: 0, 105: 60, 120: 0, 135: 60, 150: 0}
    make.key(arm, "rotation_euler", {frame: make.radians(0, 0, angle) for frame, angle in turn.items()})
    for index in range(6):
        size = 0.3 + 0.05 * (index % 3)
        make.body(make.cube(f"Box.{index}", (-4.5 + 0.7 * index, 0.1, 1.06 + size / 2), (size, size, size)), mass=1)
    return [no_faster_than(9), nothing_below(0, slack=0.02), moves("Box", 0.5, axis=0)]


@played()
def words_with_bevel_fall():
    """Letters with a bevel, converted and separated, hulls; they fall on a slope and slide off."""
    make.new_file(frames=(1, 140))
    make.floor()
    make.passive(make.cube("Slope", (0, 0, 0.6), (6, 2, 0.1), (25, 0, 0)), "BOX", friction=0.2)
    for index, text in enumerate("BLENDS"):
        bpy.ops.object.text_add(location=(-2.5 + 0.9 * index, 0.2, 1.8), rotation=make.radians(90, 0, 0))
        curve = bpy.context.object.data
        curve.body, curve.extrude, curve.bevel_depth, curve.bevel_resolution = text, 0.1, 0.03, 2
        ob = make.as_mesh(bpy.context.object)
        ob.name = f"Letter.{index}"
        bpy.ops.object.origin_set(type="ORIGIN_GEOMETRY", center="BOUNDS")
        make.body(ob, mass=1, friction=0.2)
    return [
        no_faster_than(9),
        nothing_below(0, slack=0.02),
        moves("Letter", -0.8, axis=1),
        rests_from(130, "Letter"),
    ]


@played()
def wind_chimes():
    """Six tubes and a clapper hang from a disc on points; a ball hits the clapper."""
    make.new_file(frames=(1, 120), substeps=20)
    make.floor()
    disc = make.passive(make.cylinder("Disc", (0, 0, 3), 0.6, 0.1), "CYLINDER")
    for index in range(6):
        angle = math.radians(60 * index)
        x, y = 0.45 * math.cos(angle), 0.45 * math.sin(angle)
        length = 1.0 + 0.1 * index
        tube = make.body(
            make.cylinder(f"Tube.{index}", (x, y, 2.8 - length / 2), 0.06, length, vertices=12),
            shape="CYLINDER",
            mass=0.3,
        )
        make.joint("POINT", disc, tube, (x, y, 2.9), name=f"String.{index}", disable_collisions=True)
    clapper = make.body(make.cylinder("Clapper", (0, 0, 2.2), 0.2, 0.1), shape="CYLINDER", mass=0.2)
    make.joint("POINT", disc, clapper, (0, 0, 2.95), name="String.C", disable_collisions=True)
    ball = make.body(make.ball("Ball", (-3, 0.1, 2.2), 0.12), shape="SPHERE", mass=0.5)
    make.shoot(ball, (-2.5, 0.1, 2.2), (-1.2, 0.1, 2.2), (1, 10))
    return [joints_hold(1e-4), no_faster_than(8), moves("Clapper", 0.02)]


@played()
def tyres_stacked_and_hit():
    """Tyres of concave meshes in stacks of four; a crate is thrown into them."""
    make.new_file(frames=(1, 110))
    make.floor()
    one = make.body(make.torus("Tyre.0", (0, 0, 0.18), 0.5, 0.18, (0, 0, 0), (24, 12)), "ACTIVE", "MESH", mass=8)
    for index in range(1, 8):
        stack, storey = divmod(index, 4)
        make.copy_of(one, f"Tyre.{index}", (0, 1.5 * stack, 0.18 + 0.36 * storey))
    crate = make.body(make.cube("Crate", (-4, 0.6, 1), (0.8, 0.8, 0.8)), mass=20)
    make.shoot(crate, (-4, 0.6, 1.1), (-2, 0.6, 1.1), (25, 33))
    return [no_faster_than(10), nothing_below(0, slack=0.02), always_within("Tyre", (-8, -8, 0), (12, 8, 3))]


@played()
def popcorn_into_a_bucket():
    """Fifty hulls of little lumps fall into a tapered bucket, an open mesh without thickness, and some beside it."""
    make.new_file(frames=(1, 100))
    make.floor()
    make.passive(make.lathe("Bucket", [(0.01, 0.02), (0.45, 0.02), (0.7, 1.2)]), friction=0.5)
    rng = random.Random(8)
    lump = make.body(make.icosphere("Corn.00", (0, 0, 1.0), 0.12, 1, (1, 0.8, 0.7)), mass=0.02, restitution=0.2)
    for index in range(1, 50):
        angle, away = rng.uniform(0, 2 * math.pi), rng.uniform(0, 0.4)
        at = (away * math.cos(angle), away * math.sin(angle), 1.0 + 0.25 * index)
        make.copy_of(lump, f"Corn.{index:02}", at, [rng.uniform(0, 360) for _ in range(3)])
    return [no_faster_than(17), nothing_below(0, slack=0.03)]


@played()
def plank_mat_over_a_beam():
    """A mat of planks joined by hinges falls over a beam and drapes; its ends whip, faster than in free fall."""
    make.new_file(frames=(1, 110), substeps=20)
    make.floor()
    make.passive(make.cylinder("Beam", (0, 0, 1.5), 0.2, 4, (90, 0, 0)), "CYLINDER")
    planks = []
    for index in range(12):
        at = (-1.65 + 0.3 * index, 0, 2.0)
        planks.append(make.body(make.cube(f"Plank.{index:02}", at, (0.28, 2, 0.06)), "ACTIVE", "BOX", mass=0.5))
    for index, (one, two) in enumerate(itertools.pairwise(planks)):
        at = (-1.5 + 0.3 * index, 0, 2.0)
        make.joint("HINGE", one, two, at, (90, 0, 0), name=f"Hinge.{index:02}", disable_collisions=True)
    return [joints_hold(1e-4), no_faster_than(15), nothing_below(0, slack=0.02), stays_below("Plank", 2.4)]


@played()
def marble_lift():
    """Keyed shelves of a paternoster lift marbles, which roll off on a gutter of boxes."""
    make.new_file(frames=(1, 150))
    make.floor()
    make.passive(make.cube("Back", (0.32, 0, 1), (0.1, 1, 2)), "BOX")
    make.passive(make.cube("Left", (0, -0.3, 1.2), (0.7, 0.1, 2.4)), "BOX")
    make.passive(make.cube("Right", (0, 0.3, 1.2), (0.7, 0.1, 2.4)), "BOX")
    for index in range(3):
        shelf = make.moved_by_keys(make.cube(f"Shelf.{index}", (0, 0, 0.1), (0.5, 0.48, 0.08), (0, 8, 0)), "BOX")
        low = -0.4 - 0.6 * index
        make.key(shelf, "location", {1: (0, 0, low), 150: (0, 0, low + 3.4)})
    for index in range(3):
        make.body(make.ball(f"Marble.{index}", (0, 0, 0.6 + 0.5 * index), 0.12), shape="SPHERE", mass=0.1)
    make.passive(make.cube("Chute", (1.4, 0, 1.75), (2.0, 0.6, 0.1), (0, 10, 0)), "BOX")
    return [no_faster_than(10), nothing_below(-0.5, slack=0.05), moves("Marble.0", 0.5, axis=0)]


@played()
def gyroscope_top_spins():
    """A top of a cone and a disc, keyed to spin, is let go on its tip."""
    make.new_file(frames=(1, 72))
    make.floor()
    top = make.body(
        make.lathe("Top", [(0.001, 0), (0.5, 0.5), (0.5, 0.6), (0.05, 0.62), (0.001, 0.9)], (0, 0, 0.01)), mass=1
    )
    spins = {1: (0, 0, 0), 12: make.radians(4, 0, 1800)}
    make.key(top, "rotation_euler", spins)
    make.key(top, "rigid_body.kinematic", {1: True, 13: False}, "CONSTANT")
    top.rigid_body.angular_damping = 0.0
    return [no_faster_than(60), stays_below("Top", 1.0), turns("Top", 3000), nothing_below(0, slack=0.02)]


def _key_plate():
    """Points and faces of a plate with a square hole, a quad ring with a blade."""
    outer, inner, thick = 0.3, 0.16, 0.03
    ring = [(-outer, outer), (-outer, -outer), (outer, -outer), (outer, outer)]
    hole = [(x * inner / outer, z * inner / outer) for x, z in ring]
    points = [(x, y * thick, z) for y in (-1, 1) for x, z in ring + hole]
    faces = []
    for k in range(4):
        n = (k + 1) % 4
        faces += [
            (k, n, 4 + n, 4 + k),
            (8 + n, 8 + k, 12 + k, 12 + n),
            (n, k, 8 + k, 8 + n),
            (4 + k, 4 + n, 12 + n, 12 + k),
        ]
    return points, faces
