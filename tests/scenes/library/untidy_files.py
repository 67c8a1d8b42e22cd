"""Files of people in a hurry: copies in one place, origins elsewhere, wrong shapes, scales and margins."""

import math
import random

import bpy
import scene_objects as make
from played_scenes import played
from truths import (
    always_within,
    ends_within,
    falls_over,
    moves,
    no_faster_than,
    nothing_below,
    rests_from,
    stays,
    stays_below,
)


@played()
def crates_duplicated_in_place():
    """Shift D and Esc leave a copy where the original is: of six crates in a row three are two, to the last bit."""
    make.new_file(frames=(1, 90))
    make.floor()
    for index in range(6):
        crate = make.body(make.cube(f"Crate.{index}", (1.2 * index, 0, 0.5)))
        if index % 2:
            make.copy_of(crate, f"Twin.{index}", crate.location.copy())
    return [
        no_faster_than(5),
        nothing_below(0, slack=0.02),
        stays_below("", 2.2),
        rests_from(80),
        always_within("", (-2, -2, 0), (8.5, 2, 3)),
    ]


@played()
def toy_bricks_of_true_size():
    """Bricks of 32 x 16 x 9.6 mm, scaled and not applied, in a wall of twelve courses; a marble is shot at it."""
    make.new_file(frames=(1, 72), substeps=10)
    make.floor(2.0)
    for course in range(12):
        for column in range(4):
            x = 0.032 * (column - 1.5) + (0.016 if course % 2 else 0)
            make.body(make.cube(f"Brick.{course:02}{column}", (x, 0, 0.0048 + 0.0096 * course), (0.032, 0.016, 0.0096)))
    marble = make.body(make.ball("Marble", (0, -0.3, 0.05), 0.015), shape="SPHERE", mass=20)
    make.shoot(marble, (0, -0.3, 0.05), (0, -0.1, 0.05), (20, 26))
    return [stays("Brick", 0.02, until=26), no_faster_than(4), nothing_below(0, slack=0.05)]


@played()
def bricks_with_origins_at_the_middle_of_the_world():
    """As CAD files come: the vertices are where they are and each origin is at (0, 0, 0); default shape, then a hit."""
    make.new_file(frames=(1, 100))
    make.floor()
    for course in range(6):
        for column in range(4):
            at = (0.62 * (column - 1.5) + (0.3 if course % 2 else 0), 3.0, 0.15 + 0.3 * course)
            brick = make.cube(f"Brick.{course}{column}", at, (0.6, 0.3, 0.3))
            bpy.context.view_layer.update()
            brick.data.transform(brick.matrix_world)
            brick.matrix_world.identity()
            make.body(brick)
    ball = make.body(make.ball("Ball", (0, -2, 1.0), 0.3), shape="SPHERE", mass=8)
    make.shoot(ball, (0, -2, 1.0), (0, 2, 1.0), (40, 52))
    return [stays("Brick", 0.02, until=50), moves("Ball", 3.0, axis=1), nothing_below(0, slack=0.02)]


@played()
def cubes_that_start_half_in_the_floor():
    """Default cubes on the grid, whose lower half is below a plane at 0, and ten more that fall on them."""
    make.new_file(frames=(1, 100))
    make.floor()
    for x in range(3):
        for y in range(2):
            make.body(make.cube(f"Sunk.{x}{y}", (1.5 * x, 1.5 * y, 0)))
    rng = random.Random(7)
    for index in range(10):
        at = rng.uniform(0, 3), rng.uniform(0, 1.5), 2 + 1.2 * index
        make.body(make.cube(f"Falls.{index}", at, (0.6, 0.6, 0.6), [rng.uniform(0, 90) for _ in range(3)]))
    return [
        no_faster_than(16),
        nothing_below(0, "Falls", slack=0.05),
        ends_within("Sunk", (None, None, 0.2), (None, None, 3.0)),
        ends_within("Falls", (None, None, 0.1), (None, None, 3.0)),
    ]


@played()
def container_of_mass_one_on_pebbles():
    """Everything has the mass 1, as it comes: a container of 6 m lies on 24 pebbles, and another falls on it."""
    make.new_file(frames=(1, 100))
    make.floor()
    rng = random.Random(4)
    for index in range(24):
        at = 0.9 * (index % 6) - 2.2 + rng.uniform(-0.1, 0.1), 0.6 * (index // 6) - 0.9, 0.1
        make.body(make.icosphere(f"Pebble.{index:02}", at, 0.1, 2, (1, 1, rng.uniform(0.7, 1))))
    make.body(make.cube("Container.0", (0, 0, 1.5), (6, 2.4, 2.6)))
    make.body(make.cube("Container.1", (0.3, 0.1, 5.0), (6, 2.4, 2.6), (2, 1, 4)))
    return [
        no_faster_than(10),
        nothing_below(0, slack=0.05),
        ends_within("Pebble", (None, None, 0.02), (None, None, 0.4)),
        ends_within("Container.0", (-4, -3, 1.2), (4, 3, 1.8)),
    ]


@played()
def half_a_bowl_mirrored():
    """Half of a bowl with the modifier *Mirror*, its scale negative along X, and marbles of unapplied, uneven scale."""
    make.new_file(frames=(1, 90))
    points, faces = [], []
    rings, steps = 8, 12
    for ring in range(rings + 1):
        angle = 0.02 + (0.5 * math.pi - 0.02) * ring / rings
        for step in range(steps + 1):
            turn = math.pi * (step / steps - 0.5)
            out = math.sin(angle)
            points.append((out * math.cos(turn), out * math.sin(turn), 1 - math.cos(angle)))
    for ring in range(rings):
        for step in range(steps):
            low, high = ring * (steps + 1) + step, (ring + 1) * (steps + 1) + step
            faces.append((low, low + 1, high + 1, high))
    bowl = make.mesh_object("Bowl", points, faces, (0, 0, 0.2))
    bowl.scale = (-1.5, 1.5, 1.5)
    make.modifier(bowl, "MIRROR", use_clip=True)
    make.modifier(bowl, "SOLIDIFY", thickness=0.05)
    make.passive(bowl, mesh_source="FINAL")
    rng = random.Random(6)
    for index in range(16):
        at = rng.uniform(-0.5, 0.5), rng.uniform(-0.5, 0.5), 1.4 + 0.25 * index
        marble = make.icosphere(f"Marble.{index:02}", at, 0.12, 2, (1, 1.1, 0.9))
        make.body(marble, shape="SPHERE" if index % 2 else "CONVEX_HULL", mass=0.2)
    return [no_faster_than(11), ends_within("Marble", (-1.6, -1.6, 0.1), (1.6, 1.6, 1.8), all_but=2)]


@played()
def picket_fence_by_an_array():
    """A fence, one picket with an *Array* modifier, and things of all sizes that roll against it down a slope."""
    make.new_file(frames=(1, 120))
    make.passive(make.plane("Slope", (0, 0, 0), 12, (12, 0, 0)))
    picket = make.cube("Fence", (-2.4, -3, -0.3), (0.08, 0.06, 1.2))
    make.modifier(picket, "ARRAY", count=12, use_relative_offset=False, use_constant_offset=True)
    picket.modifiers[-1].constant_offset_displace = (5.0, 0, 0)
    make.passive(picket, mesh_source="FINAL")
    rng = random.Random(5)
    for index in range(8):
        at = (-2 + 0.5 * index, 3, 1.3)
        if index % 2:
            make.body(make.ball(f"Large.{index}", at, 0.25), shape="SPHERE", friction=0.5)
        else:
            log = make.cylinder(f"Large.{index}", at, 0.2, 0.4, (0, 90, 0))
            make.body(log, shape="CYLINDER" if index % 4 else "CONVEX_HULL")
    for index in range(6):
        make.body(make.icosphere(f"Small.{index}", (rng.uniform(-2, 2), 2, 0.8), 0.08, 2), friction=0.5)
    return [no_faster_than(9), ends_within("Large", (None, -3.2, None), (None, None, None), all_but=1)]


@played()
def shapes_that_fit_nothing():
    """Cubes with the shape Sphere, a ball as a Box, a monkey as a Cone, a bottle as a Capsule: on one another."""
    make.new_file(frames=(1, 100))
    make.floor()
    rng = random.Random(8)
    kinds = ("SPHERE", "BOX", "CONE", "CAPSULE", "CYLINDER", "CONVEX_HULL")
    for index in range(18):
        at = rng.uniform(-0.6, 0.6), rng.uniform(-0.6, 0.6), 0.8 + 0.8 * index
        turn = [rng.uniform(0, 360) for _ in range(3)]
        if index % 3 == 0:
            ob = make.cube(f"Thing.{index:02}", at, (0.5, 0.8, 0.3), turn)
        elif index % 3 == 1:
            ob = make.ball(f"Thing.{index:02}", at, 0.35)
        else:
            ob = make.monkey(f"Thing.{index:02}", at, 0.7)
            ob.rotation_euler = [math.radians(angle) for angle in turn]
        make.body(ob, shape=kinds[index % 6], mass=rng.uniform(0.5, 2))
    return [no_faster_than(18), ends_within("Thing", (None, None, -0.2), (None, None, 3))]


@played()
def margins_of_a_tenth_of_a_metre():
    """Collision Margin ticked and 0.1 m on boxes, hulls and the floor, after a forum's advice against jitter."""
    make.new_file(frames=(1, 90))
    make.floor(use_margin=True, collision_margin=0.1)
    for storey in range(5):
        for column in range(5 - storey):
            at = (1.25 * (column - 0.5 * (4 - storey)), 0, 0.6 + 1.05 * storey)
            kind = "BOX" if (storey + column) % 2 else "CONVEX_HULL"
            make.body(make.cube(f"Box.{storey}{column}", at), shape=kind, use_margin=True, collision_margin=0.1)
    return [no_faster_than(4), nothing_below(0, slack=0.02), rests_from(70), moves("Box.40", 0.0)]


@played()
def everything_bounces_and_nothing_rubs():
    """Bounciness 1, friction 0, no damping: twelve balls and six boxes in a closed room of one mesh."""
    make.new_file(frames=(1, 120))
    room = make.passive(make.cube("Room", (0, 0, 1.5), (4, 4, 3)), friction=0, restitution=1)
    room.display_type, room.hide_render = "WIRE", True
    rng = random.Random(9)
    for index in range(18):
        at = rng.uniform(-1.5, 1.5), rng.uniform(-1.5, 1.5), 0.5 + 0.12 * index
        if index % 3:
            ob = make.body(make.ball(f"Ball.{index:02}", at, 0.15), shape="SPHERE")
        else:
            ob = make.body(make.cube(f"Box.{index:02}", at, (0.25, 0.25, 0.25), (20, 30, 40)), shape="BOX")
        ob.rigid_body.friction, ob.rigid_body.restitution = 0, 1
        ob.rigid_body.linear_damping = ob.rigid_body.angular_damping = 0
    # all fall together, so one may get what several have: 2 g H of some
    return [no_faster_than(18), always_within("", (-2, -2, 0), (2, 2, 3))]


@played()
def set_parented_to_a_scaled_empty():
    """A tower made too large and scaled to a fifth by the empty that all is parented to; the empty is turned, too."""
    make.new_file(frames=(1, 80))
    bpy.ops.object.empty_add(location=(1, 2, 0))
    empty = bpy.context.object
    ground = make.plane("Ground", (0, 0, 0), 20)
    make.child_of(ground, empty)
    pieces = []
    for storey in range(6):
        for column in range(2):
            turn = 90 * (storey % 2)
            along = 1.6 * (column - 0.5)
            at = (along, 0, 0.5 + storey) if turn else (0, along, 0.5 + storey)
            pieces.append(make.cube(f"Piece.{storey}{column}", at, (2.6, 0.8, 1), (0, 0, turn)))
            make.child_of(pieces[-1], empty)
    empty.scale, empty.rotation_euler = (0.2, 0.2, 0.2), (0, 0, 0.7)
    bpy.context.view_layer.update()
    make.passive(ground)
    for piece in pieces:
        make.body(piece)
    ball = make.body(make.ball("Ball", (1, -1, 0.9), 0.2), shape="SPHERE", mass=3)
    make.shoot(ball, (1, -1, 0.9), (1, 1, 0.9), (40, 50))
    return [stays("Piece", 0.02, until=48), falls_over("Piece.51", 30), nothing_below(0, slack=0.03), no_faster_than(9)]


@played()
def bowls_nested_as_hulls():
    """Six bowls in one another, with the default shape: hulls that are six sevenths in each other. They part gently."""
    make.new_file(frames=(1, 100))
    make.floor()
    profile = [(0.001, 0), (0.3, 0), (0.6, 0.25), (0.7, 0.5), (0.67, 0.5), (0.57, 0.27), (0.28, 0.04), (0.001, 0.04)]
    one = make.body(make.lathe("Bowl.0", profile, (0, 0, 0.01)), mass=0.5)
    for index in range(1, 6):
        make.copy_of(one, f"Bowl.{index}", (0, 0, 0.01 + 0.07 * index))
    # what one pair may ask for, a fall through half of its size, and a fall from the top
    return [no_faster_than(8), nothing_below(0, slack=0.05), ends_within("Bowl", (-4, -4, 0), (4, 4, 1))]
