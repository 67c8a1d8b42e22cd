"""Files with animation as people make it: Constant keys, F-modifiers, drivers, paths, bones, growing, speed ramps."""

import math
import random

import bpy
import scene_objects as make
from mathutils import Vector
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


@played(deeper="what is crushed lies in what crushes it; Bullet shoots it out of there")
def hammer_with_constant_keys():
    """A hammer that is up or down, without a way between, above five cans; it comes down on the third."""
    make.new_file(frames=(1, 90))
    make.floor()
    for index in range(5):
        can = make.cylinder(f"Can.{index}", (0.7 * (index - 2), 0, 0.3), 0.2, 0.6)
        make.body(can, shape="CYLINDER" if index % 2 else "CONVEX_HULL", mass=0.3)
    hammer = make.moved_by_keys(make.cube("Hammer", (0, 0, 2.2), (0.6, 0.6, 0.6)), "BOX")
    make.key(hammer, "location", {1: (0, 0, 2.2), 20: (0, 0, 0.6), 30: (0, 0, 2.2), 50: (0.7, 0, 0.6)}, "CONSTANT")
    return [
        no_faster_than(6),
        nothing_below(0, slack=0.05),
        stays("Can.0", 0.02),
        always_within("Can", (-4, -4, 0), (4, 4, 3)),
    ]


@played()
def tower_in_an_earthquake():
    """A tower on a table that shakes by a *Noise* modifier on its F-curve: there is one key and no other."""
    make.new_file(frames=(1, 120))
    make.floor()
    table = make.moved_by_keys(make.cube("Table", (0, 0, 0.25), (3, 3, 0.5)), "BOX")
    table.keyframe_insert("location", frame=1)
    action = table.animation_data.action
    for curve in action.layers[0].strips[0].channelbag(table.animation_data.action_slot).fcurves:
        if curve.array_index < 2:
            noise = curve.modifiers.new("NOISE")
            noise.scale, noise.strength, noise.phase = 6.0, 0.5, 3.0 * curve.array_index
            noise.use_restricted_range, noise.frame_start, noise.frame_end = True, 30, 90
            noise.blend_in = noise.blend_out = 10
    for storey in range(6):
        for x in range(2):
            block = make.cube(f"Block.{storey}{x}", (0.5 * x - 0.25, 0, 0.75 + 0.5 * storey), (0.48, 0.6, 0.5))
            make.body(block, mass=2)
    return [no_faster_than(14), nothing_below(0, slack=0.03), stays("Block", 0.03, until=29)]


@played()
def paddle_turned_by_a_driver():
    """A paddle turned by the driver *frame / 8* in a round pen with twenty balls and boxes."""
    make.new_file(frames=(1, 120))
    make.floor()
    make.passive(make.lathe("Pen", [(2.0, 0), (2.0, 0.8), (2.1, 0.8), (2.1, 0)], (0, 0, 0), 32))
    paddle = make.cube("Paddle", (0, 0, 0.3), (3.4, 0.1, 0.5))
    curve = paddle.driver_add("rotation_euler", 2)
    curve.driver.expression = "frame / 8"
    make.moved_by_keys(paddle, "BOX")
    rng = random.Random(11)
    for index in range(20):
        away, angle = rng.uniform(0.4, 1.6), 2 * math.pi * index / 20 + 0.2
        at = away * math.cos(angle), away * math.sin(angle), 0.3 + 0.5 * (index % 3)
        if index % 2:
            make.body(make.icosphere(f"Ball.{index:02}", at, 0.15, 2), shape="SPHERE")
        else:
            make.body(make.cube(f"Box.{index:02}", at, (0.25, 0.25, 0.25)))
    # the paddle's end goes 5.1 m/s
    return [no_faster_than(12), nothing_below(0, slack=0.05), always_within("", (-4, -4, 0), (4, 4, 3))]


@played()
def train_on_a_path_through_boxes():
    """An engine on a *Follow Path* constraint, keyed by the path's evaluation, drives through piles of boxes."""
    make.new_file(frames=(1, 110))
    make.floor()
    bpy.ops.curve.primitive_bezier_circle_add(radius=3.0)
    path = bpy.context.object
    path.data.use_path, path.data.path_duration = True, 100
    engine = make.cube("Engine", (0, 0, 0), (1.2, 0.6, 0.6))
    follow = engine.constraints.new("FOLLOW_PATH")
    follow.target, follow.use_curve_follow = path, True
    engine.location = (0, 0, 0.35)
    path.data.eval_time = 0
    path.data.keyframe_insert("eval_time", frame=1)
    path.data.eval_time = 60
    path.data.keyframe_insert("eval_time", frame=100)
    bpy.context.view_layer.update()
    make.moved_by_keys(engine, "BOX")
    for pile in range(3):
        angle = math.radians(60 + 70 * pile)
        for index in range(5):
            at = -3 * math.cos(angle), 3 * math.sin(angle), 0.2 + 0.41 * index
            make.body(make.cube(f"Box.{pile}{index}", at, (0.4, 0.4, 0.4)), mass=0.5)
            at = 3 * math.cos(angle), -3 * math.sin(angle), 0.2 + 0.41 * index
            make.body(make.cube(f"Far.{pile}{index}", at, (0.4, 0.4, 0.4)), mass=0.5)
    return [no_faster_than(12), nothing_below(0, slack=0.05)]


@played()
def arm_of_bones_sweeps_bottles():
    """A forearm parented to a bone sweeps eight bottles off a bar; the pose is keyed."""
    make.new_file(frames=(1, 90))
    make.floor()
    make.passive(make.cube("Bar", (0, 0, 0.5), (4, 0.8, 1.0)), "BOX")
    profile = [(0.001, 0), (0.1, 0), (0.1, 0.35), (0.04, 0.5), (0.04, 0.62), (0.001, 0.62)]
    first = make.body(make.lathe("Bottle.0", profile, (-0.9, 0.1, 1.0), 12), mass=0.6)
    for index in range(1, 8):
        make.copy_of(first, f"Bottle.{index}", (-0.9 + 0.3 * index, 0.1 * (-1) ** index, 1.0))
    bpy.ops.object.armature_add(location=(-1.6, 0.9, 1.3))
    rig = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones[0]
    bone.head, bone.tail = (0, 0, 0), (0, 0.9, 0)
    bpy.ops.object.mode_set(mode="POSE")
    pose = rig.pose.bones[0]
    pose.rotation_mode = "XYZ"
    for frame, angle in ((1, 60), (20, 60), (50, -200)):
        pose.rotation_euler = (0, 0, math.radians(angle))
        pose.keyframe_insert("rotation_euler", frame=frame)
    bpy.ops.object.mode_set(mode="OBJECT")
    for frame, x in ((1, -1.6), (20, -1.6), (60, 1.6)):
        rig.location.x = x
        rig.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    arm = make.cylinder("Arm", (0, 0, 0), 0.1, 1.3, (90, 0, 0))
    arm.parent, arm.parent_type, arm.parent_bone = rig, "BONE", rig.data.bones[0].name
    make.moved_by_keys(arm, "CAPSULE")
    return [no_faster_than(16), nothing_below(0, slack=0.05), stays("Bottle", 0.03, until=20)]


@played()
def cubes_that_pop_in():
    """Thirty cubes over a bowl whose scale is keyed from 0 to 1 in turn, with Back, as motion graphics have it."""
    make.new_file(frames=(1, 100))
    make.floor()
    make.passive(make.lathe("Bowl", [(0.01, 0.05), (0.8, 0.1), (1.5, 0.6), (1.8, 1.4)]), friction=0.5)
    rng = random.Random(3)
    for index in range(30):
        at = rng.uniform(-0.7, 0.7), rng.uniform(-0.7, 0.7), 1.2 + 0.14 * index
        box = make.body(make.cube(f"Cube.{index:02}", at, (1, 1, 1)), mass=0.5)
        start = 2 + index
        make.key(box, "scale", {start: (0, 0, 0), start + 10: (0.3, 0.3, 0.3)}, "BACK")
    return [no_faster_than(14), nothing_below(0, slack=0.05), ends_within("Cube", (-4, -4, 0), (4, 4, 3))]


@played()
def slow_motion_by_a_keyed_speed():
    """A ball hits a wall of cubes; the speed of the rigid body world is keyed from 1 to 0.1 just before, and back."""
    make.new_file(frames=(1, 110))
    make.floor()
    for x in range(4):
        for z in range(4):
            make.body(make.cube(f"Cube.{x}{z}", (0.51 * x - 0.75, 0, 0.25 + 0.5 * z), (0.5, 0.5, 0.5)), mass=0.5)
    ball = make.body(make.ball("Ball", (0, -5, 1), 0.4), shape="SPHERE", mass=5)
    make.shoot(ball, (0, -5, 1), (0, -3, 1.1), (10, 16))
    world = bpy.context.scene.rigidbody_world
    for frame, speed in ((1, 1.0), (20, 1.0), (24, 0.1), (70, 0.1), (80, 1.0)):
        world.time_scale = speed
        bpy.context.scene.keyframe_insert("rigidbody_world.time_scale", frame=frame)
    bpy.context.scene.frame_set(1)
    return [stays("Cube", 0.02, until=15), nothing_below(0, slack=0.05), moves("Cube.11", 0.3)]


@played()
def box_caught_and_thrown_again():
    """*Animated* is keyed off, on and off again: a box falls, is taken through an arc by keys, and flies off."""
    make.new_file(frames=(1, 100))
    make.floor()
    box = make.body(make.cube("Box", (0, 0, 3), (0.5, 0.5, 0.5)), mass=1)
    make.key(box, "location", {1: (0, 0, 3), 24: (0, 0, 1.2), 36: (1, 0, 2.5), 42: (2.2, 0, 3.0)})
    make.key(box, "rigid_body.kinematic", {1: False, 24: True, 42: False}, "CONSTANT")
    for index in range(6):
        make.body(make.cube(f"Target.{index}", (5.2, 0, 0.25 + 0.5 * index), (0.5, 0.5, 0.5)), mass=0.3)
    return [no_faster_than(24), nothing_below(0, slack=0.03), moves("Box", 3.0, axis=0)]


@played()
def wall_with_dynamic_keyed_on():
    """*Dynamic* off and keyed on at frame 40, brick after brick from the top: a wall that is undone by hand."""
    make.new_file(frames=(1, 110))
    make.passive(make.plane("Ramp", (0, 0, 0), 20, (0, 8, 0)))
    for storey in range(5):
        for column in range(5):
            at = (0.2, 0.62 * (column - 2), 0.2 + 0.31 * storey)
            brick = make.body(make.cube(f"Brick.{storey}{column}", at, (0.3, 0.6, 0.3)), mass=1, friction=0.1)
            begins = 40 + 8 * (4 - storey) + column
            make.key(brick, "rigid_body.enabled", {1: False, begins: True}, "CONSTANT")
    return [stays("Brick", 0.001, until=39), no_faster_than(9), moves("Brick.4", 0.1, axis=0)]


@played()
def snowman_of_a_compound_is_hit():
    """A parent with the shape Compound Parent and five children of other shapes, mass 1; a keyed bat hits it."""
    make.new_file(frames=(1, 90))
    make.floor()
    low = make.ball("Snowman", (0, 0, 0.58), 0.6)
    parts = [
        (make.ball("Base", (0, 0, 0.58), 0.6), "CONVEX_HULL"),
        (make.ball("Belly", (0, 0, 1.4), 0.45), "SPHERE"),
        (make.ball("Head", (0, 0, 2.05), 0.3), "SPHERE"),
        (make.cone("Nose", (0, -0.4, 2.05), 0.06, 0.0, 0.3, (90, 0, 0)), "CONE"),
        (make.cylinder("Hat", (0, 0, 2.45), 0.22, 0.3), "CYLINDER"),
    ]
    for part, shape in parts:
        make.child_of(part, low)
        make.body(part, shape=shape)
    make.body(low, shape="COMPOUND")
    bat = make.moved_by_keys(make.cylinder("Bat", (-2.5, -0.1, 1.6), 0.1, 1.6, (90, 0, 0)), "CYLINDER")
    make.key(bat, "location", {1: (-2.5, -0.1, 1.6), 30: (-2.5, -0.1, 1.6), 42: (1.5, -0.1, 1.6)})
    return [falls_over("Snowman", 40), no_faster_than(20), nothing_below(0, "Snowman", slack=0.05)]


@played()
def boxes_of_two_worlds():
    """Collision collections: red boxes meet red ones, blue ones blue ones, in one place; all on a keyed lift."""
    make.new_file(frames=(1, 110))
    both = [index in (0, 1) for index in range(20)]
    lift = make.moved_by_keys(make.cube("Lift", (0, 0, 0.1), (3, 3, 0.2)), "BOX")
    lift.rigid_body.collision_collections = both
    make.key(lift, "location", {1: (0, 0, 0.1), 20: (0, 0, 0.1), 60: (0, 0, 1.6), 90: (0.3, 0, 1.6)}, "BEZIER")
    for kind in range(2):
        only = [index == kind for index in range(20)]
        for index in range(6):
            at = (0.05 * kind, 0.03 * kind, 0.4 + 0.5 * index)
            box = make.body(make.cube(f"{('Red', 'Blue')[kind]}.{index}", at, (0.5, 0.5, 0.5)), mass=1)
            box.rigid_body.collision_collections = only
    return [no_faster_than(4), nothing_below(0.1, slack=0.02), reaches("Red", 3.5), rests_from(100)]


@played()
def jack_in_the_box_by_shape_keys():
    """A passive lid of a box deforms by a shape key, *Deform* ticked: it flips up and throws the toys on it."""
    make.new_file(frames=(1, 80))
    make.floor()
    make.passive(make.cube("Box", (0, 0, 0.4), (1.6, 1.6, 0.8)), "BOX")
    lid = make.mesh_object(
        "Lid",
        [(0.8 * x, 0.8 * y, 0) for y in (-1, -0.5, 0, 0.5, 1) for x in (-1, -0.5, 0, 0.5, 1)],
        [(5 * r + c, 5 * r + c + 1, 5 * r + c + 6, 5 * r + c + 5) for r in range(4) for c in range(4)],
        (0, 0, 0.83),
    )
    lid.shape_key_add(name="Basis")
    up = lid.shape_key_add(name="Up")
    for point in up.data:
        far = point.co.x + 0.8
        point.co = Vector((-0.8 + far * math.cos(0.9), point.co.y, far * math.sin(0.9)))
    keys = lid.data.shape_keys
    for frame, value in ((1, 0.0), (30, 0.0), (36, 1.0)):
        up.value = value
        keys.key_blocks["Up"].keyframe_insert("value", frame=frame)
    bpy.context.scene.frame_set(1)
    make.passive(lid, use_deform=True, kinematic=True)
    rng = random.Random(2)
    for index in range(6):
        at = -0.4 + 0.4 * (index % 3), 0.4 * (index // 3) - 0.2, 1.0
        if index % 2:
            make.body(make.icosphere(f"Toy.{index}", at, 0.13, 2), friction=0.5)
        else:
            make.body(make.cube(f"Toy.{index}", at, (0.24, 0.24, 0.24), (0, 0, rng.uniform(0, 90))), friction=0.5)
    return [no_faster_than(12), nothing_below(0, slack=0.05), moves("Toy", 0.5)]


@played(deeper="what is crushed lies in what crushes it; Bullet shoots it out of there")
def press_crushes_boxes():
    """A press goes down to half of the height of eight boxes, and up again: they are on the floor, and none is shot."""
    make.new_file(frames=(1, 100))
    make.floor()
    press = make.moved_by_keys(make.cube("Press", (0, 0, 2), (1.5, 1.5, 0.3)), "BOX")
    make.key(press, "location", {1: (0, 0, 2), 20: (0, 0, 2), 60: (0, 0, 0.4), 80: (0, 0, 2)}, "BEZIER")
    for index in range(8):
        at = -0.45 + 0.3 * (index % 4), -0.2 + 0.4 * (index // 4), 0.25
        make.body(make.cube(f"Box.{index}", at, (0.28, 0.38, 0.5)))
    return [no_faster_than(6), nothing_below(0, slack=0.02), ends_within("Box", (-3, -3, 0.1), (3, 3, 0.4))]


@played()
def blades_in_a_jug_of_fruit():
    """Blades of 0.85 m make three turns a second below fourteen fruits, in a jug that is an open mesh."""
    make.new_file(frames=(1, 90))
    profile = [(0.001, 0), (0.5, 0), (0.65, 1.4), (0.65, 2.6), (0.7, 2.6), (0.7, 1.4), (0.55, -0.05), (0.001, -0.05)]
    make.passive(make.lathe("Jug", profile)).hide_render = True
    blade = make.moved_by_keys(make.cube("Blade", (0, 0, 0.12), (0.85, 0.12, 0.04)), "BOX")
    make.key(blade, "rotation_euler", {20: (0, 0, 0), 90: (0, 0, 2 * math.pi * 3 * 70 / 24)})
    rng = random.Random(4)
    for index in range(14):
        at = rng.uniform(-0.2, 0.2), rng.uniform(-0.2, 0.2), 0.35 + 0.12 * index
        make.body(make.icosphere(f"Fruit.{index:02}", at, rng.uniform(0.08, 0.12), 2), mass=0.2)
    # the blades' ends go 8 m/s
    return [
        no_faster_than(16),
        nothing_below(-0.06, slack=0.05),
        always_within("Fruit", (-0.8, -0.8, -0.1), (0.8, 0.8, 3.5)),
    ]


@played()
def ball_in_cells_let_go_by_keys():
    """A ball in thirteen cells, each held by *Animated* until frame 40, as what is to break later is made."""
    make.new_file(frames=(1, 90))
    make.floor()
    rng = random.Random(2)
    ball = make.icosphere("Ball", (0, 0, 1.2), 0.8, 3)
    sites = [Vector([rng.uniform(-0.8, 0.8) for _ in range(3)]) for _ in range(26)]
    for shard in make.voronoi_shards(ball, "Cell", [site + Vector((0, 0, 1.2)) for site in sites if site.length < 0.8]):
        make.body(shard)
        make.key(shard, "rigid_body.kinematic", {1: True, 40: False}, "CONSTANT")
    return [stays("Cell", 0.001, until=39), no_faster_than(7), nothing_below(0, slack=0.02)]


@played()
def slats_carry_crates_to_a_gate():
    """A belt of twelve slats whose places are keyed once, crates that sink into it, and a gate across it."""
    make.new_file(frames=(1, 120))
    make.floor()
    for index in range(12):
        slat = make.moved_by_keys(make.cube(f"Slat.{index:02}", (-3 + 0.5 * index, 0, 1), (0.48, 1, 0.1)), "BOX")
        make.key(slat, "location", {1: (-3 + 0.5 * index, 0, 1), 120: (0.5 * index, 0, 1)})
    rng = random.Random(3)
    for index in range(5):
        crate = make.cube(f"Crate.{index}", (-2.5 + 0.6 * index, 0, 1.24), (0.4, 0.4, 0.4), (0, 0, rng.uniform(0, 90)))
        make.body(crate, mass=10)
    make.passive(make.cube("Gate", (1.2, 0.3, 1.4), (0.1, 1.4, 0.5), (0, 0, 30)), "BOX")
    return [no_faster_than(7), nothing_below(0, slack=0.02), moves("Crate", 0.5)]
