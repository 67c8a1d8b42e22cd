"""Rigid-body constraints as joints: types, axes and limits in the core's sense, frames, loads, what is animated."""

import math

import bpy
import numpy as np
import pytest
from joint_scenes import add_constraint, cube, joint
from scene_maker import quaternion_matrix

from cairn.addon import cli_scene
from cairn.addon.read.frame_samples import sample_frame, simulation_paused
from cairn.addon.read.scene_export import export_scene
from cairn.solver_core import (
    Axis,
    ConeTwist,
    Fixed,
    Gear,
    Generic,
    Hinge,
    Motor,
    MotorJoint,
    Piston,
    Point,
    RackAndPinion,
    Rope,
    Slider,
    Spring,
)

# Blender's settings are single precision.
SINGLE = 1e-6
FREE = Axis()


@pytest.fixture(autouse=True)
def registered():
    cli_scene.ensure_registered()


@pytest.fixture
def pair(maker):
    """A floor that does not move, and a body above it."""
    return cube(maker, "Floor", type="PASSIVE"), cube(maker, "Body", location=(0, 0, 3))


def read(maker):
    return export_scene(maker.scene)


def only(maker):
    (found,) = read(maker).joints
    return found


def rounded(value):
    """A description with its numbers rounded to single precision, to compare."""
    if isinstance(value, float):
        return value if math.isinf(value) else round(value, 5)
    if isinstance(value, tuple):
        return tuple(map(rounded, value))
    if hasattr(value, "__dataclass_fields__"):
        return type(value).__name__, tuple((name, rounded(getattr(value, name))) for name in value.__dataclass_fields__)
    return value


def limits(name, lower=-0.2, upper=0.7):
    return {f"use_limit_{name}": True, f"limit_{name}_lower": lower, f"limit_{name}_upper": upper}


AHEAD, BEHIND = Axis(lower=-0.2, upper=0.7), Axis(lower=-0.7, upper=0.2)
TYPES = [
    ("FIXED", {}, Fixed()),
    ("POINT", limits("ang_z"), Point()),
    ("HINGE", {}, Hinge()),
    ("HINGE", limits("ang_z") | limits("lin_x"), Hinge(BEHIND)),
    ("SLIDER", limits("lin_x") | limits("ang_x"), Slider(AHEAD)),
    ("PISTON", limits("lin_x") | limits("ang_x"), Piston(linear=AHEAD, angular=AHEAD)),
    ("HINGE", limits("ang_z", -1.5, 2.0 * math.pi - 1.5), Hinge()),
    ("PISTON", limits("lin_x", -9.0, 9.0) | limits("ang_x", -math.pi, math.pi), Piston(linear=Axis(lower=-9, upper=9))),
    ("GENERIC", limits("lin_z") | limits("ang_y"), Generic(linear=(FREE, FREE, AHEAD), angular=(FREE, BEHIND, FREE))),
    (
        "GENERIC_SPRING",
        limits("lin_y") | {"use_spring_y": True, "spring_stiffness_y": 40.0, "spring_damping_y": 3.0},
        Generic(linear=(FREE, Axis(lower=-0.2, upper=0.7, spring=Spring(stiffness=40.0, damping=3.0)), FREE)),
    ),
    (
        "GENERIC_SPRING",
        {
            "use_spring_ang_x": True,
            "spring_stiffness_ang_x": 40.0,
            "spring_damping_ang_x": 0.5,
            "spring_type": "SPRING1",
        },
        Generic(angular=(Axis(spring=Spring(stiffness=40.0)), FREE, FREE)),
    ),
    (
        "MOTOR",
        {"use_motor_lin": True, "motor_lin_target_velocity": 2.0, "motor_lin_max_impulse": 5.0},
        MotorJoint(linear=Axis(motor=Motor(velocity=-2.0, largest=5.0))),
    ),
    (
        "MOTOR",
        {"use_motor_ang": True, "motor_ang_target_velocity": 2.0, "motor_ang_max_impulse": 0.5},
        MotorJoint(angular=Axis(motor=Motor(velocity=-2.0, largest=0.5))),
    ),
]


@pytest.mark.parametrize(("kind", "values", "expected"), TYPES)
def test_every_type_is_read_in_the_cores_sense(maker, pair, kind, values, expected):
    """Limits, springs and motors of the axes that the type has; others are not looked at."""
    joint(maker, "Joint", *pair, kind=kind, **values)
    found = only(maker)
    assert rounded(found.joint) == rounded(expected)
    assert (found.kind, found.first, found.second, found.enabled) == (kind, "Floor", "Body", True)


def test_equal_limits_lock_an_axis(maker, pair):
    """As fixed as Blender has it."""
    joint(maker, "Joint", *pair, kind="GENERIC", **limits("lin_x", 0.0, 0.0), **limits("ang_z", 0.25, 0.25))
    found = only(maker).joint
    assert found.linear[0].is_locked
    assert (found.angular[2].lower, found.angular[2].upper) == (-0.25, -0.25)


def test_constraints_made_by_connect(maker):
    """Blender's own Connect: a hinge between the selected and the active body, half-way."""
    floor, body = cube(maker, "Floor", type="PASSIVE"), cube(maker, "Body", location=(0, 0, 3))
    floor.select_set(True)
    body.select_set(True)
    bpy.context.view_layer.objects.active = floor
    bpy.ops.rigidbody.connect(con_type="HINGE", pivot_type="CENTER", connection_pattern="SELECTED_TO_ACTIVE")
    found = only(maker)
    assert (found.kind, {found.first, found.second}) == ("HINGE", {"Floor", "Body"})
    assert found.position == pytest.approx((0, 0, 1.5))


def placed_alone(maker, body):
    return {"location": (1, 2, 3), "rotation_euler": (0.3, -0.5, 1.1), "scale": (2, 0.5, 3)}


def placed_mirrored(maker, body):
    return {"location": (1, 2, 3), "rotation_euler": (0.3, -0.5, 1.1), "scale": (-2, 0.5, 3)}


def placed_on_a_body(maker, body):
    body.rotation_euler = (0.2, 0.4, -0.3)
    return {"location": (1, 2, 3), "rotation_euler": (0.3, -0.5, 1.1), "parent": body}


def placed_on_a_bone(maker, body):
    armature = maker.object("Rig", bpy.data.armatures.new("Rig"), location=(0, 0, 1), rotation_euler=(0, 0.4, 0))
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.data.edit_bones.new("Bone")
    bone.head, bone.tail = (0, 0, 0), (0, 1, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    armature.pose.bones["Bone"].rotation_mode = "XYZ"
    armature.pose.bones["Bone"].rotation_euler = (0.5, 0.2, 0)
    return {"location": (1, 2, 3), "parent": armature, "parent_type": "BONE", "parent_bone": "Bone"}


@pytest.mark.parametrize("place", [placed_alone, placed_mirrored, placed_on_a_body, placed_on_a_bone])
def test_the_frame_is_the_objects_pose_without_its_scale(maker, pair, place, tmp_path):
    """As the file is opened, with stale matrices; a mirrored frame is turned round on all axes, as Blender does."""
    joint(maker, "Joint", *pair, kind="HINGE", **place(maker, pair[1]))
    maker.reopen(tmp_path / "file.blend")
    found = only(maker)
    graph = bpy.context.evaluated_depsgraph_get()
    matrix = np.array(maker.scene.objects["Joint"].evaluated_get(graph).matrix_world)
    axes = matrix[:3, :3] / np.linalg.norm(matrix[:3, :3], axis=0)
    axes *= np.sign(np.linalg.det(axes))
    assert found.position == pytest.approx(matrix[:3, 3], abs=SINGLE)
    assert quaternion_matrix(found.orientation) == pytest.approx(axes, abs=SINGLE)


def test_a_body_may_be_the_constraint_object_itself(maker, pair):
    """The hinge stands where that body stands."""
    body = pair[1]
    add_constraint(body, "HINGE")
    body.rigid_body_constraint.object1, body.rigid_body_constraint.object2 = pair
    found = only(maker)
    assert (found.object_name, found.position) == ("Body", pytest.approx((0, 0, 3)))


def test_the_frame_is_read_at_the_start_of_the_bake(maker, pair):
    """A constraint object that is animated joins the bodies where it is at the first frame."""
    ob = joint(maker, "Joint", *pair, kind="HINGE")
    maker.key(ob, "location", {1: (0, 0, 0), 11: (0, 0, 10)})
    (found,) = export_scene(maker.scene, frame_start=6).joints
    assert found.position == pytest.approx((0, 0, 5), abs=SINGLE)


@pytest.mark.parametrize(
    ("fps", "base", "substeps", "speed"), [(24, 1.0, 10, 1.0), (60, 1.0, 4, 1.0), (24, 1.001, 7, 3.0)]
)
def test_a_breaking_threshold_is_a_load(maker, pair, fps, base, substeps, speed):
    """An impulse within Blender's own substep, over its length: force in N, torque in N m."""
    maker.scene.render.fps, maker.scene.render.fps_base = fps, base
    maker.world.substeps_per_frame, maker.world.time_scale = substeps, speed
    joint(maker, "Joint", *pair, kind="FIXED", use_breaking=True, breaking_threshold=0.25)
    joint(maker, "Whole", *pair, kind="FIXED", breaking_threshold=0.25)
    breaks, holds = read(maker).joints
    assert breaks.breaking_load == pytest.approx(0.25 / (speed * base / fps / substeps), rel=SINGLE)
    assert holds.breaking_load is None


@pytest.mark.parametrize("first", [True, False])
def test_an_empty_end_is_the_world(maker, pair, first):
    """Limits keep their sense, whichever end is the world; a note says that Blender does otherwise."""
    ends = (pair[1], None) if first else (None, pair[1])
    joint(maker, "Joint", *ends, kind="SLIDER", **limits("lin_x"))
    export = read(maker)
    (found,) = export.joints
    # to the core the world is the second end
    assert rounded(found.joint) == rounded(Slider(AHEAD if first else BEHIND))
    assert export.model.arrays.joints.body_b.tolist() == [-1]
    (note,) = [note for note in export.notes if note.object_name == "Joint"]
    assert note.level == "warning"
    assert "Blender ignores such a constraint" in note.text


def test_several_constraints_on_one_pair(maker, pair):
    """Each is a joint of its own."""
    for kind in ("POINT", "GENERIC_SPRING", "MOTOR"):
        joint(maker, kind, *pair, kind=kind)
    assert {found.kind for found in read(maker).joints} == {"GENERIC_SPRING", "MOTOR", "POINT"}


def test_constraints_outside_the_worlds_collection_take_no_part(maker, pair):
    """As in Blender; a note says so."""
    ob = joint(maker, "Joint", *pair)
    maker.world.constraints.objects.unlink(ob)
    export = read(maker)
    assert export.joints == []
    assert [note.level for note in export.notes if note.object_name == "Joint"] == ["info"]


def test_a_constraint_that_is_always_off_is_none(maker, pair):
    """And nothing is said of it."""
    joint(maker, "Joint", *pair, enabled=False)
    export = read(maker)
    assert export.joints == []
    assert [note for note in export.notes if note.object_name == "Joint"] == []


# What is wrong with a constraint, and how its note begins; whether a joint is left all the same.
def both_ends_alike(maker, floor, body):
    joint(maker, "Joint", body, body)


def no_ends(maker, floor, body):
    joint(maker, "Joint", None, None)


def an_end_without_body(maker, floor, body):
    joint(maker, "Joint", body, maker.object("Empty"))


def an_end_outside_the_world(maker, floor, body):
    joint(maker, "Joint", body, floor)
    maker.world.collection.objects.unlink(floor)


def a_part_as_an_end(maker, floor, body):
    parent = cube(maker, "Whole", location=(5, 0, 5), collision_shape="COMPOUND")
    part = cube(maker, "Part", location=(0, 0, 0), parent=parent)
    joint(maker, "Joint", body, part)


def ends_that_never_move(maker, floor, body):
    joint(maker, "Joint", floor, cube(maker, "Wall", type="PASSIVE", location=(4, 0, 0)))


def crossed_limits(maker, floor, body):
    joint(maker, "Joint", floor, body, kind="HINGE", **limits("ang_z", 1.0, -1.0))


def negative_stiffness(maker, floor, body):
    joint(maker, "Joint", floor, body, kind="GENERIC_SPRING", use_spring_x=True, spring_stiffness_x=-5.0)


def a_stiffness_that_is_no_number(maker, floor, body):
    joint(maker, "Joint", floor, body, kind="GENERIC_SPRING", use_spring_ang_y=True, spring_stiffness_ang_y=math.nan)


def negative_damping(maker, floor, body):
    joint(maker, "Joint", floor, body, kind="GENERIC_SPRING", use_spring_x=True, spring_damping_x=-5.0)


def a_braking_spring(maker, floor, body):
    spring = {"use_spring_x": True, "spring_damping_x": 1.5, "spring_type": "SPRING1"}
    joint(maker, "Joint", floor, body, kind="GENERIC_SPRING", **spring)


def a_motor_without_numbers(maker, floor, body):
    joint(maker, "Joint", floor, body, kind="MOTOR", use_motor_lin=True, motor_lin_target_velocity=math.inf)


def a_negative_threshold(maker, floor, body):
    joint(maker, "Joint", floor, body, use_breaking=True, breaking_threshold=-1.0)


def a_sheared_frame(maker, floor, body):
    parent = maker.object("Uneven", scale=(1, 3, 1))
    joint(maker, "Joint", floor, body, kind="HINGE", parent=parent, rotation_euler=(0, 0, 0.6))


def a_flat_frame(maker, floor, body):
    joint(maker, "Joint", floor, body, kind="HINGE", scale=(1, 0, 1))


def a_frame_that_is_nowhere(maker, floor, body):
    joint(maker, "Joint", floor, body, location=(math.nan, 0, 0))


def own_iterations(maker, floor, body):
    joint(maker, "Joint", floor, body, use_override_solver_iterations=True)


def a_gear_on_the_world(maker, floor, body):
    joint(maker, "Joint", None, body, extras={"kind": "GEAR"})


def a_rope_without_length(maker, floor, body):
    joint(maker, "Joint", floor, body, location=(0, 0, 3), extras={"kind": "ROPE"})


BAD_INPUT = [
    (both_ends_alike, "warning", "joins Body with itself", 0),
    (no_ends, "info", "joins nothing", 0),
    (an_end_without_body, "warning", "has no effect: its object Empty is not a rigid body", 0),
    (an_end_outside_the_world, "warning", "has no effect: its object Floor is not in the Rigid Body World's", 0),
    (a_part_as_an_end, "warning", "has no effect: its object Part is a shape of its compound parent; choose Whole", 0),
    (ends_that_never_move, "warning", "has no effect: Floor and Wall never move by simulation", 0),
    (crossed_limits, "warning", "its lower Z angle limit is above the upper one: the axis is free, as in Blender", 1),
    (negative_stiffness, "warning", "its X stiffness is -5", 1),
    (a_stiffness_that_is_no_number, "warning", "its Y angle stiffness is nan", 1),
    (negative_damping, "warning", "its X damping is -5", 1),
    (a_braking_spring, "warning", "its X damping of 1.5 turns Blender's older spring into a brake", 1),
    (a_motor_without_numbers, "warning", "its linear motor has a speed of inf", 1),
    (a_negative_threshold, "warning", "its Breaking Threshold is -1", 1),
    (a_sheared_frame, "warning", "it is sheared by its parent's scale", 1),
    (a_flat_frame, "warning", "its scale along Y is 0", 1),
    (a_frame_that_is_nowhere, "warning", "its location is (nan, 0, 0)", 0),
    (own_iterations, "info", "its own Solver Iterations are not used", 1),
    (a_gear_on_the_world, "warning", "one end is the world", 0),
    (a_rope_without_length, "warning", "", 0),
]


@pytest.mark.parametrize(("make", "level", "text", "count"), BAD_INPUT)
def test_bad_input_is_one_note_that_names_the_constraint(maker, pair, make, level, text, count):
    """And the scene can be baked: the joint is left out, or what is wrong with it."""
    make(maker, *pair)
    export = read(maker)
    notes = [note for note in export.notes if note.object_name == "Joint"]
    assert [(note.level, note.text.startswith(text)) for note in notes if "Blender ignores such" not in note.text] == [
        (level, True)
    ]
    assert len(export.joints) == export.model.joint_count == count


def test_a_sheared_frame_is_the_nearest_one(maker, pair):
    """The axes stay at right angles, and within the shear of those that are seen."""
    a_sheared_frame(maker, *pair)
    found = only(maker)
    turn = quaternion_matrix(found.orientation)
    matrix = np.array(maker.scene.objects["Joint"].matrix_world)[:3, :3]
    axes = matrix / np.linalg.norm(matrix, axis=0)
    left, _, right = np.linalg.svd(axes)
    assert turn == pytest.approx(left @ right, abs=SINGLE)


KINDS = [
    ({"kind": "CONE_TWIST", "cone_angle": 0.5, "twist_angle": 0.25}, ConeTwist(swing=0.5, twist=0.25)),
    ({"kind": "CONE_TWIST", "cone_angle": 3.1, "twist_angle": math.pi}, ConeTwist(swing=3.1)),
    ({"kind": "GEAR", "gear_ratio": -2.5}, Gear(-2.5)),
    ({"kind": "RACK_AND_PINION", "rack_radius": 0.25}, RackAndPinion(0.25)),
    ({"kind": "ROPE", "use_rope_length": True, "rope_length": 4.0}, Rope(4.0)),
    ({"kind": "ROPE"}, Rope(3.0)),
]


@pytest.mark.parametrize(("extras", "expected"), KINDS)
def test_kinds_that_blender_lacks(maker, pair, extras, expected):
    """They take the place of the constraint's type; a rope is as long as the way to the second body's origin."""
    joint(maker, "Joint", *pair, kind="HINGE", extras=extras)
    found = only(maker)
    assert rounded(found.joint) == rounded(expected)
    assert found.kind == extras["kind"]


def test_a_rope_may_end_at_another_object(maker, pair):
    """Its length is the distance from the constraint to that object."""
    end = maker.object("End", location=(0, 4, 3))
    joint(maker, "Joint", *pair, location=(0, 0, 0), extras={"kind": "ROPE", "rope_end": end})
    assert only(maker).joint.length == pytest.approx(5.0)


@pytest.mark.parametrize(
    ("kind", "extras", "expected"),
    [
        ("HINGE", {"friction_torque": 2.0, "friction_force": 9.0}, Hinge(Axis(friction=2.0))),
        ("SLIDER", {"friction_torque": 9.0, "friction_force": 2.0}, Slider(Axis(friction=2.0))),
        (
            "HINGE",
            {"use_servo_ang": True, "servo_angle": 0.5, "servo_torque": 8.0},
            Hinge(Axis(motor=Motor(position=-0.5, largest=8.0))),
        ),
        (
            "PISTON",
            {"use_servo_lin": True, "servo_position": 0.5, "servo_force": 8.0},
            Piston(linear=Axis(motor=Motor(position=0.5, largest=8.0))),
        ),
        (
            "MOTOR",
            {"use_servo_lin": True, "servo_position": 0.5, "servo_force": 8.0},
            MotorJoint(linear=Axis(motor=Motor(position=-0.5, largest=8.0))),
        ),
        ("POINT", {"friction_torque": 9.0, "use_servo_ang": True}, Point(friction=9.0)),
        (
            "SLIDER",
            {"use_soft_limits": True, "limit_stiffness_lin": 50.0, "limit_damping_lin": 2.0},
            Slider(Axis(limit_spring=Spring(stiffness=50.0, damping=2.0))),
        ),
        (
            "HINGE",
            {"use_soft_limits": True, "limit_stiffness_ang": 50.0, "limit_damping_ang": 2.0},
            Hinge(Axis(limit_spring=Spring(stiffness=50.0, damping=2.0))),
        ),
    ],
)
def test_friction_and_servos(maker, pair, kind, extras, expected):
    """They act on the axes that the type leaves open, counted as Blender counts its limits."""
    joint(maker, "Joint", *pair, kind=kind, extras=extras)
    assert rounded(only(maker).joint) == rounded(expected)


def sampled(maker, frames):
    export = read(maker)
    with simulation_paused(maker.scene):
        return export, [sample_frame(maker.scene, export, frame) for frame in frames]


def test_enabled_is_followed_in_every_frame(maker, pair):
    """The step that ends at a frame has that frame's flag, as Blender has it."""
    ob = joint(maker, "Joint", *pair)
    joint(maker, "Other", *pair)
    maker.key(ob, "rigid_body_constraint.enabled", {1: False, 4: True, 8: False})
    export, samples = sampled(maker, (3, 4, 7, 8))
    assert export.samples_needed
    row = [found.object_name for found in export.joints].index("Joint")
    assert [bool(sample.joint_enabled[row]) for sample in samples] == [False, True, True, False]
    assert all(sample.joint_enabled[1 - row] for sample in samples)
    assert samples[0].frame_input.joint_enabled is samples[0].joint_enabled


def test_keyed_speeds_and_targets_are_followed(maker, pair):
    """In the core's sense, and NaN where nothing is animated."""
    motor = joint(maker, "Motor", *pair, kind="MOTOR", use_motor_ang=True, use_motor_lin=True)
    servo = joint(maker, "Servo", *pair, kind="HINGE", extras={"use_servo_ang": True})
    maker.key(motor, "rigid_body_constraint.motor_ang_target_velocity", {1: 1.0, 5: 3.0})
    for frame, angle in ((1, 0.25), (5, 0.5)):
        servo.cairn.joint.servo_angle = angle
        servo.keyframe_insert("cairn.joint.servo_angle", frame=frame)
    export, (sample,) = sampled(maker, (5,))
    rows = {found.object_name: found.index for found in export.joints}
    expected = np.full((2, 6), np.nan)
    expected[rows["Motor"], 3] = -3.0
    assert sample.joint_values["motor_velocity"] == pytest.approx(expected, nan_ok=True)
    expected = np.full((2, 6), np.nan)
    expected[rows["Servo"], 5] = -0.5
    assert sample.joint_values["motor_position"] == pytest.approx(expected, nan_ok=True)


# Path of what is keyed to 2 and 3, what else the constraint has, and axes and values of the core at frame 5.
FOLLOWED = [
    ("rigid_body_constraint.spring_stiffness_x", {"kind": "GENERIC_SPRING", "use_spring_x": True},
     "spring_stiffness", [0], 3.0),
    ("rigid_body_constraint.spring_damping_ang_z", {"kind": "GENERIC_SPRING", "use_spring_ang_z": True},
     "spring_damping", [5], 3.0),
    ("rigid_body_constraint.motor_ang_max_impulse", {"kind": "MOTOR", "use_motor_ang": True},
     "motor_largest", [3], 3.0),
    ("cairn.joint.servo_force", {"kind": "SLIDER", "extras": {"use_servo_lin": True}}, "motor_largest", [0], 3.0),
    ("cairn.joint.friction_torque", {"kind": "POINT"}, "joint_friction", [3, 4, 5], 3.0),
    ("cairn.joint.friction_torque", {"kind": "POINT", "extras": {"kind": "CONE_TWIST"}},
     "joint_friction", [3, 4, 5], 3.0),
    ("cairn.joint.friction_force", {"kind": "PISTON"}, "joint_friction", [0], 3.0),
    ("rigid_body_constraint.breaking_threshold", {"kind": "POINT", "use_breaking": True}, "joint_breaking", [0, 1],
     3.0 * 24.0 * 10.0),
]  # fmt: skip


@pytest.mark.parametrize(("path", "settings", "name", "axes", "value"), FOLLOWED)
def test_keyed_numbers_are_followed(maker, pair, path, settings, name, axes, value):
    """Springs, largest forces, friction and thresholds, with no note; they have rows from the start on."""
    ob = joint(maker, "Joint", *pair, **settings)
    owner, setting = (ob.cairn.joint if path.startswith("cairn") else ob.rigid_body_constraint), path.split(".")[-1]
    for frame, number in ((1, 0.0), (4, 2.0), (5, 3.0)):
        setattr(owner, setting, number)
        ob.keyframe_insert(path, frame=frame)
    export, (sample,) = sampled(maker, (5,))
    expected = np.full((1, 2 if name == "joint_breaking" else 6), np.nan)
    expected[0, axes] = value
    assert sample.joint_values[name] == pytest.approx(expected, nan_ok=True)
    assert [note.text for note in export.notes if note.object_name == "Joint"] == []
    arrays = export.model.arrays.joints
    roles = {"spring_stiffness": 2, "spring_damping": 2, "motor_largest": 3, "joint_friction": 4}
    rows = arrays.number[arrays.role == roles.get(name)].tolist()
    assert rows == ([] if name == "joint_breaking" else axes)


def test_switches_of_motors_and_breaking_are_followed(maker, pair):
    """Off: no force, and no load that breaks; also where they are off at the start."""
    ob = joint(maker, "Joint", *pair, kind="MOTOR", motor_ang_max_impulse=2.0, breaking_threshold=0.5)
    for name in ("use_motor_ang", "use_breaking"):
        maker.key(ob, f"rigid_body_constraint.{name}", {1: False, 4: True, 6: False})
    export, samples = sampled(maker, (2, 4, 6))
    assert [sample.joint_values["motor_largest"][0, 3] for sample in samples] == [0.0, 2.0, 0.0]
    assert [sample.joint_values["joint_breaking"][0, 0] for sample in samples] == pytest.approx([np.inf, 120.0, np.inf])
    assert export.joints[0].joint.angular.motor.largest == 0.0


def test_keys_that_are_no_numbers_leave_a_value_as_it_was(maker, pair):
    """A driver may give what a slider would not."""
    ob = joint(maker, "Joint", *pair, kind="GENERIC_SPRING", use_spring_x=True)
    driver = ob.driver_add("rigid_body_constraint.spring_stiffness_x").driver
    driver.expression = "-1.0 if frame > 3 else 5.0"
    _, samples = sampled(maker, (2, 5))
    stiffness = [sample.joint_values["spring_stiffness"][0, 0] for sample in samples]
    assert stiffness[0] == 5.0
    assert np.isnan(stiffness[1]) or stiffness[1] >= 0.0


# Settings that are those of the start, as they are called in the panel.
READ_ONCE = [
    ("rigid_body_constraint.limit_lin_x_upper", "Upper X Limit"),
    ("rigid_body_constraint.use_spring_x", "X Spring"),
    ("cairn.joint.limit_stiffness_lin", "Stiffness"),
]


@pytest.mark.parametrize(("path", "label"), READ_ONCE)
def test_other_animated_settings_are_those_of_the_start(maker, pair, path, label):
    """A note says so; Blender reads its limits and switches of springs once, too."""
    ob = joint(maker, "Joint", *pair, kind="GENERIC_SPRING")
    owner, setting = (ob.cairn.joint if path.startswith("cairn") else ob.rigid_body_constraint), path.split(".")[-1]
    for frame in (1, 5):
        setattr(owner, setting, bool(frame == 5) if setting.startswith("use_") else float(frame))
        ob.keyframe_insert(path, frame=frame)
    notes = [note.text for note in read(maker).notes if note.object_name == "Joint"]
    found = (ob.cairn.joint if path.startswith("cairn") else ob.rigid_body_constraint).bl_rna.properties[setting].name
    assert notes == [f"{found} is animated: the start frame's value is used throughout"]
    assert label.split()[0] in found


def test_joints_belong_to_the_fingerprint(maker, pair):
    """Every change of a joint, and of its keys, is a change of the scene."""
    ob = joint(maker, "Joint", *pair, kind="HINGE", extras={"use_servo_ang": True})
    seen = {read(maker).fingerprint}
    changes = [
        lambda: setattr(ob.rigid_body_constraint, "use_limit_ang_z", True),
        lambda: setattr(ob.rigid_body_constraint, "limit_ang_z_upper", 0.3),
        lambda: setattr(ob, "location", (0, 0, 1)),
        lambda: setattr(ob.rigid_body_constraint, "use_breaking", True),
        lambda: setattr(ob.cairn.joint, "friction_torque", 2.0),
        lambda: maker.key(ob, "rigid_body_constraint.enabled", {1: True, 4: False}),
        lambda: maker.key(ob, "rigid_body_constraint.enabled", {1: True, 5: False}),
    ]
    for number, change in enumerate(changes):
        change()
        seen.add(read(maker).fingerprint)
        assert len(seen) == number + 2
