"""Vehicles, conveyors, joints of every type, and things that keys or motors drive."""

import itertools
import math
import random

import bpy
import scene_objects as make
from played_scenes import played
from truths import (
    always_within,
    ends_within,
    joints_hold,
    moves,
    no_faster_than,
    nothing_below,
    reaches,
    rests_from,
    stays_below,
    turns,
)


@played()
def crates_on_a_roller_conveyor():
    """Keyed rollers turn and carry crates over their end."""
    make.new_file(frames=(1, 200))
    make.floor()
    for index in range(12):
        roller = make.moved_by_keys(
            make.cylinder(f"Roller.{index:02}", (0.42 * index, 0, 1), 0.18, 1.4, (90, 0, 0)), "CYLINDER"
        )
        roller.rigid_body.friction = 0.8
        make.key(
            roller, "rotation_euler", {1: (math.radians(90), 0, 0), 200: (math.radians(90), math.radians(2000), 0)}
        )
    for index in range(4):
        make.body(make.cube(f"Crate.{index}", (0.4 + 0.9 * index, 0, 1.5), (0.7, 0.8, 0.6)), mass=5, friction=0.8)
    return [
        moves("Crate", 2.0, axis=0),
        nothing_below(0, slack=0.02),
        no_faster_than(8),
        always_within("Crate", (None, -0.4, None), (None, 0.4, None)),
    ]


@played()
def crates_on_a_belt_of_slats():
    """A belt of keyed slats that move on; crates ride on it and fall off its end on each other."""
    make.new_file(frames=(1, 180))
    make.floor()
    for index in range(16):
        x = -4.0 + 0.5 * index
        slat = make.moved_by_keys(make.cube(f"Slat.{index:02}", (x, 0, 1), (0.49, 1.2, 0.1)), "BOX")
        make.key(slat, "location", {1: (x, 0, 1), 180: (x + 6, 0, 1)})
    make.passive(make.cube("Stop", (2.5, 0, 1.4), (0.1, 1.2, 0.6)), "BOX")
    for index in range(4):
        make.body(
            make.cube(f"Crate.{index}", (-3.2 + 1.2 * index, 0, 1.36), (0.6, 0.6, 0.6), (0, 0, 15 * index)), mass=5
        )
    return [
        no_faster_than(6.5),
        nothing_below(0.0, slack=0.02),
        always_within("Crate", (-4, -1.2, 0.2), (2.6, 1.2, 2.5)),
    ]


@played()
def car_down_a_ramp():
    """A body and four wheels on hinges roll down a wedge and over the floor."""
    make.new_file(frames=(1, 120))
    make.floor(80)
    ramp = make.mesh_object(
        "Ramp",
        [(-6, -2, 0), (2, -2, 0), (2, 2, 0), (-6, 2, 0), (-6, -2, 3), (-6, 2, 3)],
        [(0, 3, 2, 1), (0, 1, 4), (3, 5, 2), (1, 2, 5, 4), (0, 4, 5, 3)],
    )
    make.passive(ramp)
    tilt = math.degrees(math.atan2(3, 8))
    chassis = make.body(make.cube("Chassis", (-4.2, 0, 2.9), (2, 0.9, 0.4), (0, tilt, 0)), mass=20)
    make.body(make.cube("Load", (-4.2 + 0.13, 0, 3.25), (0.5, 0.5, 0.3), (0, tilt, 0)), mass=1, friction=0.9)
    _wheels(chassis, tilt)
    return [joints_hold(0.02), moves("Chassis", 6, axis=0), nothing_below(0, slack=0.03), no_faster_than(20, "Chassis")]


@played()
def motor_drives_two_gears():
    """Two toothed wheels of true shape on hinges; a motor turns one of them, the other one turns back."""
    make.new_file(frames=(1, 120), gravity=0.0)
    left = make.body(_gear("Left", (0, 0, 0), 12, 0.0), shape="MESH", mass=1, friction=0.1)
    right = make.body(_gear("Right", (2.06, 0, 0), 12, 15.0), shape="MESH", mass=1, friction=0.1)
    base = make.passive(make.cube("Base", (1, 0, -2), (1, 1, 0.2)), "BOX")
    for wheel in (left, right):
        make.joint("HINGE", base, wheel, wheel.location, name=f"Axle.{wheel.name}")
    motor = make.joint("MOTOR", base, left, left.location, (0, 90, 0), name="Motor")
    motor.rigid_body_constraint.use_motor_ang = True
    motor.rigid_body_constraint.motor_ang_target_velocity = 2.0
    motor.rigid_body_constraint.motor_ang_max_impulse = 20.0
    return [joints_hold(0.02), _turn_back("Left", "Right"), no_faster_than(6)]


@played()
def chain_of_torus_links():
    """Six interlocked rings of true shape; the first is fixed, the last one carries a weight."""
    make.new_file(frames=(1, 60), substeps=20)
    first = None
    for index in range(5):
        at, turn = (0.62 * index, 0, 3), (90 * (index % 2), 0, 0)
        if first is None:
            first = make.passive(make.torus("Anchor", at, 0.4, 0.07, turn))
        else:
            make.body(make.torus(f"Link.{index}", at, 0.4, 0.07, turn), shape="MESH", mass=1)
    return [no_faster_than(12), _links_hold(["Anchor"] + [f"Link.{index}" for index in range(1, 5)], 0.82)]


@played()
def rope_bridge_and_a_crate():
    """20 planks joined by points between two posts; a crate of 50 kg falls on them."""
    make.new_file(frames=(1, 120))
    make.floor(z=-4)
    ends = [make.passive(make.cube(f"Post{side}", (5.25 * side, 0, 0), (0.5, 1.2, 0.1)), "BOX") for side in (-1, 1)]
    chain = [ends[0]]
    for index in range(20):
        chain.append(make.body(make.cube(f"Plank.{index:02}", (-4.75 + 0.5 * index, 0, 0), (0.46, 1, 0.08)), mass=3))
    chain.append(ends[1])
    for index, (one, two) in enumerate(itertools.pairwise(chain)):
        for side in (-0.5, 0.5):
            make.joint("POINT", one, two, (-5 + 0.5 * index, side, 0), name=f"Joint.{index}{side}")
    make.body(make.cube("Crate", (0, 0, 2), (0.8, 0.8, 0.8)), mass=50)
    return [joints_hold(0.02), always_within("Crate", (-1.5, -1, -1.5), (1.5, 1, 2.1)), no_faster_than(9)]


@played()
def turnstile_pushes_balls():
    """A keyed cross turns among balls on a round table with a rim."""
    make.new_file(frames=(1, 160))
    profile = [(0.0, 0), (2.4, 0), (2.4, 0.6)]
    make.passive(make.lathe("Tray", profile, segments=40))
    cross = make.cube("Blade.0", (0, 0, 0.25), (4, 0.12, 0.4))
    other = make.cube("Blade.1", (0, 0, 0.25), (0.12, 4, 0.4))
    for blade in (cross, other):
        make.moved_by_keys(blade, "BOX")
        make.key(blade, "rotation_euler", {1: (0, 0, 0), 160: (0, 0, math.radians(500))})
    rng = random.Random(10)
    for index in range(16):
        angle, radius = math.radians(12 + 22.5 * index), rng.uniform(0.8, 1.9)
        make.body(
            make.ball(f"Ball.{index:02}", (radius * math.cos(angle), radius * math.sin(angle), 0.19), 0.18),
            shape="SPHERE",
            mass=0.3,
        )
    return [always_within("Ball", (-2.5, -2.5, 0), (2.5, 2.5, 1.2)), no_faster_than(8), moves("Ball.0", 0.1)]


@played()
def cradle_of_five_balls():
    """Newton's cradle: balls on pairs of points, restitution 1, no damping."""
    make.new_file(fps=60, frames=(1, 120))
    frame = make.passive(make.cube("Frame", (0, 0, 3), (4, 1.4, 0.1)), "BOX")
    for index in range(5):
        x = 0.5 * (index - 2)
        angle = math.radians(40) if index == 0 else 0.0
        at = (x - 2 * math.sin(angle), 0, 3 - 2 * math.cos(angle))
        ball = make.body(make.ball(f"Ball.{index}", at, 0.2495), shape="SPHERE", mass=1, restitution=1.0, friction=0)
        ball.rigid_body.linear_damping = ball.rigid_body.angular_damping = 0.0
        ball.rotation_euler[1] = angle
        make.joint("POINT", frame, ball, (x, 0, 3), name=f"String.{index}")
    return [joints_hold(0.02), stays_below("Ball", 1.55), reaches("Ball.4", 1.3), no_faster_than(4)]


@played()
def trebuchet():
    """A beam on a hinge, a heavy counterweight on a hinge of its own, a stone in a spoon."""
    make.new_file(frames=(1, 100))
    make.floor(120)
    stand = make.passive(make.cube("Stand", (0, 0, 1.4), (0.2, 2.0, 2.6)), "BOX")
    beam = make.body(make.cube("Beam", (-1.0, 0, 3.2), (6, 0.2, 0.2)), mass=5)
    weight = make.body(make.cube("Weight", (1.8, 0, 2.6), (0.9, 0.9, 0.9)), mass=200)
    spoon = make.body(make.cube("Spoon", (-3.95, 0, 3.1), (0.6, 0.4, 0.05)), mass=0.2)
    make.joint("HINGE", stand, beam, (0, 0, 3.2), (90, 0, 0), name="Axle", disable_collisions=True)
    make.joint("HINGE", beam, weight, (1.8, 0, 3.2), (90, 0, 0), name="Hanger", disable_collisions=True)
    make.joint("FIXED", beam, spoon, (-3.95, 0, 3.1), name="Glue")
    make.body(make.ball("Stone", (-4.05, 0, 3.28), 0.15), shape="SPHERE", mass=1)
    return [joints_hold(0.02), reaches("Stone", 4.5), nothing_below(0, slack=0.05), no_faster_than(45)]


@played()
def seesaw_throws_a_cube():
    """A board on a lying cylinder; a weight falls on one end, the cube on the other flies."""
    make.new_file(frames=(1, 90))
    make.floor()
    make.passive(make.cylinder("Log", (0, 0, 0.3), 0.3, 1.2, (90, 0, 0)), "CYLINDER")
    make.body(make.cube("Board", (0, 0, 0.65), (4, 0.8, 0.1)), mass=5, friction=0.8)
    make.body(make.cube("Cube", (-1.7, 0, 0.85), (0.3, 0.3, 0.3)), mass=1, friction=0.8)
    make.body(make.cube("Weight", (1.6, 0, 4), (0.7, 0.7, 0.7)), mass=40)
    return [reaches("Cube", 1.5), nothing_below(0, slack=0.02), no_faster_than(22)]


@played()
def platform_on_springs():
    """A plate on four generic springs takes a falling crate and comes to rest."""
    make.new_file(frames=(1, 200))
    base = make.passive(make.cube("Base", (0, 0, 0), (3, 3, 0.2)), "BOX")
    plate = make.body(make.cube("Plate", (0, 0, 1.5), (2.4, 2.4, 0.2)), mass=10)
    for x in (-1, 1):
        for y in (-1, 1):
            spring = make.joint("GENERIC_SPRING", base, plate, (x, y, 1.5), name=f"Spring{x}{y}")
            constraint = spring.rigid_body_constraint
            for axis in "xyz":
                setattr(constraint, f"use_limit_ang_{axis}", False)
                setattr(constraint, f"use_limit_lin_{axis}", False)
                setattr(constraint, f"use_spring_{axis}", True)
                setattr(constraint, f"spring_stiffness_{axis}", 300.0)
                setattr(constraint, f"spring_damping_{axis}", 8.0)
    make.body(make.cube("Crate", (0.3, 0, 2.6), (0.6, 0.6, 0.6)), mass=10)
    return [
        ends_within("Plate", (-0.4, -0.4, 0.9), (0.4, 0.4, 1.5)),
        ends_within("Crate", (-0.6, -0.6, 1.1), (0.9, 0.6, 2)),
        no_faster_than(7),
        rests_from(190, "Plate", within=0.01),
    ]


@played()
def turntable_throws_boxes_off():
    """A motor turns a disc up; boxes near its middle stay longer than those at its rim."""
    make.new_file(frames=(1, 120))
    make.floor()
    base = make.passive(make.cube("Base", (0, 0, 0.4), (0.4, 0.4, 0.8)), "BOX")
    disc = make.body(make.cylinder("Disc", (0, 0, 1), 2, 0.2), shape="CYLINDER", mass=20)
    make.joint("HINGE", base, disc, (0, 0, 1), name="Axle", disable_collisions=True)
    motor = make.joint("MOTOR", base, disc, (0, 0, 1), (0, 90, 0), name="Motor", disable_collisions=True)
    constraint = motor.rigid_body_constraint
    constraint.use_motor_ang, constraint.motor_ang_target_velocity = True, -6.0
    constraint.motor_ang_max_impulse = 60.0
    for index in range(6):
        angle = math.radians(60 * index)
        at = (1.5 * math.cos(angle), 1.5 * math.sin(angle), 1.25)
        make.body(make.cube(f"Box.{index}", at, (0.3, 0.3, 0.3), (0, 0, 60 * index)), mass=1)
    return [joints_hold(0.01), moves("Box", 1.0), nothing_below(0, "Box", slack=0.02), no_faster_than(14)]


@played()
def lift_carries_crates():
    """A keyed platform goes up 3 m in a second and stops; crates stand on it. 60 frames a second."""
    make.new_file(fps=60, frames=(1, 150))
    make.floor()
    lift = make.moved_by_keys(make.cube("Lift", (0, 0, 0.1), (3, 3, 0.2)), "BOX")
    make.key(lift, "location", {1: (0, 0, 0.1), 30: (0, 0, 0.1), 90: (0, 0, 3.1)}, "BEZIER")
    for index in range(4):
        x, y = 0.6 * (index % 2), 0.8 * (index // 2 % 2)
        make.body(make.cube(f"Crate.{index}", (x, y, 0.45 + 0.01 * index), (0.5, 0.5, 0.5)), mass=4)
    return [ends_within("Crate", (-1, -1, 3.2), (1.4, 1.4, 3.6)), no_faster_than(7), rests_from(140)]


@played()
def truck_bed_as_a_child():
    """A bed of planes as one mesh, child of a keyed empty with a scale of its own; boxes ride in it."""
    make.new_file(frames=(1, 120))
    make.floor(60)
    bpy.ops.object.empty_add(location=(0, 0, 0))
    truck = bpy.context.object
    truck.name, truck.scale = "Truck", (0.5, 0.5, 0.5)
    points = [(x, y, z) for z in (0, 1) for y in (-2, 2) for x in (-3, 3)]
    bed = make.mesh_object(
        "Bed", points, [(0, 1, 3, 2), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)], (0, 0, 1)
    )
    make.moved_by_keys(bed, "MESH")
    make.child_of(bed, truck, keep=False)
    make.key(truck, "location", {1: (0, 0, 0), 20: (0, 0, 0), 90: (10, 0, 0)}, "BEZIER")
    for index in range(5):
        x, y = 0.5 * (index % 3 - 1), 0.5 * (index // 3) - 0.3
        make.body(make.cube(f"Box.{index}", (x, y, 0.78), (0.4, 0.4, 0.4), (0, 0, 20 * index)), mass=2)
    return [ends_within("Box", (8.4, -1.1, 0.5), (11.6, 1.1, 1.6)), no_faster_than(9)]


@played()
def slider_drawers():
    """Three drawers on sliders with limits are on a tilted chest; they slide out as far as the limits let them."""
    make.new_file(frames=(1, 90))
    chest = make.passive(make.cube("Chest", (0, 0, 1.5), (1.2, 1.2, 3), (0, 20, 0)), "BOX")
    for index in range(3):
        lift = 0.9 * (index - 1)
        angle = math.radians(20)
        at = (math.sin(angle) * lift, 0, 1.5 + math.cos(angle) * lift)
        drawer = make.body(make.cube(f"Drawer.{index}", at, (1.1, 1.0, 0.6), (0, 20, 0)), mass=3)
        rail = make.joint("SLIDER", chest, drawer, at, (0, 20, 0), name=f"Rail.{index}", disable_collisions=True)
        constraint = rail.rigid_body_constraint
        constraint.use_limit_lin_x = True
        constraint.limit_lin_x_lower, constraint.limit_lin_x_upper = 0.0, 0.7
    return [ends_within("Drawer", (0.3, -0.02, None), (1.1, 0.02, None)), no_faster_than(4), rests_from(85)]


@played()
def piston_pump():
    """A keyed crank moves a rod, the rod a piston in its guide: three joints and a driven body."""
    make.new_file(fps=30, frames=(1, 120))
    crank = make.moved_by_keys(make.cylinder("Crank", (0, 0, 0), 0.8, 0.2, (90, 0, 0)), "CYLINDER")
    make.key(crank, "rotation_euler", {1: (math.radians(90), 0, 0), 120: (math.radians(90), math.radians(720), 0)})
    guide = make.passive(make.cube("Guide", (4.2, 0, -1), (1.5, 0.6, 0.2)), "BOX")
    rod = make.body(make.cube("Rod", (1.6, -0.3, 0), (2.0, 0.1, 0.1)), mass=1)
    head = make.body(make.cube("Head", (2.9, -0.3, 0), (0.6, 0.5, 0.5)), mass=2)
    make.joint("POINT", crank, rod, (0.6, -0.3, 0), name="Pin", disable_collisions=True)
    make.joint("POINT", rod, head, (2.6, -0.3, 0), name="Wrist", disable_collisions=True)
    make.joint("SLIDER", guide, head, (2.9, -0.3, 0), name="Rail")
    return [joints_hold(0.02), always_within("Head", (1.4, -0.32, -0.02), (3.2, -0.28, 0.02)), no_faster_than(8)]


@played()
def jointed_figure_on_stairs():
    """A puppet of nine boxes on limited generic joints falls on stairs made by an Array modifier."""
    make.new_file(frames=(1, 120))
    make.floor()
    step = make.cube("Stairs", (0, 0, 1.9), (0.4, 2, 0.2))
    make.modifier(step, "ARRAY", count=8, use_relative_offset=True, relative_offset_displace=(1, 0, -1))
    make.passive(step, mesh_source="FINAL")
    hips = make.body(make.cube("Hips", (0.1, 0, 3.2), (0.25, 0.4, 0.2)), mass=12)
    chest = make.body(make.cube("Chest", (0.1, 0, 3.65), (0.25, 0.45, 0.5)), mass=20)
    _limited(hips, chest, (0.1, 0, 3.35), 30)
    head = make.body(make.ball("Head", (0.1, 0, 4.15), 0.17), shape="SPHERE", mass=5)
    _limited(chest, head, (0.1, 0, 3.95), 40)
    for side in (-1, 1):
        arm = make.body(make.cube(f"Arm{side}", (0.1, 0.55 * side, 3.6), (0.12, 0.12, 0.6)), mass=4)
        _limited(chest, arm, (0.1, 0.5 * side, 3.88), 80)
        leg = make.body(make.cube(f"Leg{side}", (0.1, 0.13 * side, 2.75), (0.16, 0.16, 0.6)), mass=8)
        _limited(hips, leg, (0.1, 0.13 * side, 3.08), 50)
    return [no_faster_than(18), nothing_below(0, slack=0.05), moves("Hips", -0.8, axis=2)]


@played(view=(0.2, -0.6, 1))
def cloth_like_net_of_links():
    """A net of small balls joined by points, hung from one side, catches a ball."""
    make.new_file(frames=(1, 100))
    side, spacing = 6, 0.4
    knots = {}
    for row in range(side):
        for column in range(side):
            at = (spacing * column, spacing * row, 2)
            knot = make.icosphere(f"Knot.{row}{column}", at, 0.12, 1)
            held = row in (0, side - 1) and column in (0, side - 1)
            knots[row, column] = make.passive(knot, "SPHERE") if held else make.body(knot, shape="SPHERE", mass=0.2)
    for (row, column), knot in knots.items():
        for other in ((row + 1, column), (row, column + 1)):
            if other in knots:
                at = [0.5 * (a + b) for a, b in zip(knot.location, knots[other].location, strict=True)]
                make.joint("POINT", knot, knots[other], at, name=f"Tie.{row}{column}", disable_collisions=True)
    make.body(make.ball("Ball", (1, 1, 2.8), 0.35), shape="SPHERE", mass=2)
    return [joints_hold(0.02), always_within("Ball", (0, 0, 0.5), (2, 2, 3)), no_faster_than(10)]


@played()
def broom_sweeps_a_floor():
    """A keyed broom, a thin plate turned to the way it goes, sweeps 40 scraps of odd hulls together."""
    make.new_file(frames=(1, 120))
    make.floor()
    broom = make.moved_by_keys(make.cube("Broom", (-2, 0, 0.25), (0.04, 2.2, 0.5), (0, 12, 0)), "BOX", friction=0.6)
    make.key(broom, "location", {1: (-2, 0, 0.25), 10: (-2, 0, 0.25), 90: (1.55, 0, 0.25)}, "BEZIER")
    for side in (-1, 1):
        make.passive(make.cube(f"Skirting{side}", (0, 1.15 * side, 0.2), (6, 0.06, 0.4)), "BOX")
    rng = random.Random(41)
    for i in range(40):
        scrap = make.icosphere(
            f"Scrap.{i:02}", (rng.uniform(-1.7, 1.0), rng.uniform(-0.95, 0.95), 0.1 + 0.002 * i), 0.08, 1
        )
        for vertex in scrap.data.vertices:
            vertex.co *= rng.uniform(0.6, 1.2)
        make.body(scrap, mass=0.02, friction=0.5)
    return [
        nothing_below(0, slack=0.04),
        no_faster_than(7),
        ends_within("Scrap", (1.4, -1.15, 0), (None, 1.15, 0.6), all_but=1),
    ]


@played(view=(0.3, -1, 0.8))
def gears_of_concave_meshes():
    """Three gears with eight teeth, concave active meshes on hinges; keys turn the first one, and the others follow."""
    make.new_file(frames=(1, 120))
    teeth = 8

    def gear(name, at, phase):
        profile = []
        for tooth in range(teeth):
            for share, radius in ((0.0, 0.75), (0.2, 1.0), (0.42, 1.0), (0.62, 0.75)):
                angle = 2 * math.pi * (tooth + share - 0.31) / teeth + phase
                profile.append((radius * math.cos(angle), radius * math.sin(angle)))
        count = len(profile)
        points = [(x, y, z) for z in (-0.15, 0.15) for x, y in profile]
        caps = [tuple(range(count - 1, -1, -1)), tuple(range(count, 2 * count))]
        sides = [(i, (i + 1) % count, count + (i + 1) % count, count + i) for i in range(count)]
        return make.mesh_object(name, points, caps + sides, at)

    base = make.passive(make.cube("Base", (0, 0, -0.5), (6, 2, 0.2)), "BOX")
    driver = make.moved_by_keys(gear("Driver", (0, 0, 0), 0), "MESH")
    make.key(driver, "rotation_euler", {1: make.radians(0, 0, 0), 120: make.radians(0, 0, 360)})
    for k in (1, 2):
        wheel = make.body(
            gear(f"Gear.{k}", (1.8 * k, 0, 0), math.pi / teeth if k % 2 else 0), shape="MESH", mass=2, friction=0.1
        )
        make.joint("HINGE", base, wheel, (1.8 * k, 0, 0), name=f"Axle.{k}")
    return [joints_hold(0.01), turns("Gear.1", -300), turns("Gear.2", 300), no_faster_than(4)]


def _wheels(chassis, tilt):
    """Four wheels on hinges along the chassis' y."""
    angle = math.radians(tilt)
    for x in (-0.7, 0.7):
        for side in (-1, 1):
            at = (
                chassis.location.x + x * math.cos(angle) - 0.2 * math.sin(angle),
                0.6 * side,
                chassis.location.z - x * math.sin(angle) - 0.2 * math.cos(angle),
            )
            wheel = make.body(make.cylinder(f"Wheel{x}{side}", at, 0.35, 0.2, (90, 0, 0)), shape="CYLINDER", mass=2)
            wheel.rigid_body.friction = 1.0
            make.joint("HINGE", chassis, wheel, at, (90, 0, 0), name=f"Axle{x}{side}", disable_collisions=True)


def _gear(name, at, teeth, turn):
    """A spur gear of pitch radius 1 with straight flanks, 0.3 thick, about z."""
    ring = []
    for tooth in range(teeth):
        for share, radius in ((-0.38, 0.86), (-0.2, 1.12), (0.2, 1.12), (0.38, 0.86)):
            angle = 2 * math.pi * (tooth + 0.62 * share) / teeth + math.radians(turn)
            ring.append((radius * math.cos(angle), radius * math.sin(angle)))
    count = len(ring)
    points = [(x, y, z) for z in (-0.15, 0.15) for x, y in ring]
    faces = [tuple(reversed(range(count))), tuple(range(count, 2 * count))]
    faces += [(step, (step + 1) % count, count + (step + 1) % count, count + step) for step in range(count)]
    return make.mesh_object(name, points, faces, at)


def _turn_back(first, second):
    """The one turns by a whole turn at least, the other one by as much the other way round (within a tooth)."""
    from truths import Truth

    def fault(play):
        import numpy as np

        turned = []
        for name in (first, second):
            axis = play.matrix(name)[:, :2, 0]
            step = axis[:-1, 0] * axis[1:, 1] - axis[:-1, 1] * axis[1:, 0]
            turned.append(np.degrees(np.arcsin(np.clip(step, -1, 1))).sum())
        whole = abs(turned[0]) >= 300 and abs(turned[0] + turned[1]) <= 15
        return "" if whole else f"{first} turns by {turned[0]:.4g}, {second} by {turned[1]:.4g} degrees"

    return Truth(f"{second} turns back as far as {first} turns", fault)


def _links_hold(names, distance):
    """Neighbours' middles are never farther apart."""
    from truths import Truth

    def fault(play):
        import numpy as np

        for one, two in itertools.pairwise(names):
            far = np.linalg.norm(play.middle(one) - play.middle(two), axis=1)
            if far.max() > distance:
                return f"{two} is {far.max():.3g} m from {one} at frame {play.first_frame + int(far.argmax())}"
        return ""

    return Truth("links stay in each other", fault)


def _limited(first, second, at, degrees):
    """A generic joint whose place is fixed and whose turns have limits."""
    empty = make.joint("GENERIC", first, second, at, name=f"{second.name} joint", disable_collisions=True)
    constraint = empty.rigid_body_constraint
    for axis in "xyz":
        setattr(constraint, f"use_limit_lin_{axis}", True)
        setattr(constraint, f"limit_lin_{axis}_lower", 0.0)
        setattr(constraint, f"limit_lin_{axis}_upper", 0.0)
        setattr(constraint, f"use_limit_ang_{axis}", True)
        setattr(constraint, f"limit_ang_{axis}_lower", -math.radians(degrees))
        setattr(constraint, f"limit_ang_{axis}_upper", math.radians(degrees))
