"""Kinds of drivers, NLA, constraints and other animation, and of transforms."""

import math

import bpy
from mathutils import Matrix, Vector

from .kinds import KINDS, LAST, ROCK, Kind, kind, refused
from .time_and_files import curves

# Drivers, NLA, constraints and other animation


@kind(reopen=True)
def driven_pusher(m):
    pusher = m.scene.objects["Pusher"]
    pusher.animation_data_clear()
    pusher.location = (0, 0, 0.6)
    driver = pusher.driver_add("location", 0).driver
    driver.expression = f"-1.2 + 0.6 * (frame - 1) / {LAST - 1}"


@kind("Rock: its drivers of location", reopen=True)
def driven_rock(m):
    """A driver that changes nothing before the bake's keys take its place."""
    driver = m.scene.objects["Rock"].driver_add("location", 0).driver
    driver.expression = "3.0"


@kind(reopen=True)
def driven_by_a_property(m):
    pusher = m.scene.objects["Pusher"]
    pusher.animation_data_clear()
    control = m.object("Control")
    control["slide"] = 0.0
    m.key(control, '["slide"]', {1: 0.0})
    control.animation_data_clear()
    for frame in (1, LAST):
        control["slide"] = float(frame == LAST)
        control.keyframe_insert('["slide"]', frame=frame)
    for point in curves(control)[0].keyframe_points:
        point.interpolation = "LINEAR"
    pusher.location = (0, 0, 0.6)
    driver = pusher.driver_add("location", 0).driver
    variable = driver.variables.new()
    variable.name = "s"
    variable.targets[0].id, variable.targets[0].data_path = control, '["slide"]'
    driver.expression = "-1.2 + 0.6 * s"


@kind(reopen=True)
def broken_driver_of_a_custom_property(m):
    rock = m.scene.objects["Rock"]
    rock["x"] = 1.0
    rock.driver_add('["x"]').driver.expression = "no_such_name + 1"


@kind(reopen=True)
def pusher_in_the_nla(m):
    data = m.scene.objects["Pusher"].animation_data
    action, slot = data.action, data.action_slot
    data.action = None
    strip = data.nla_tracks.new().strips.new("slide", 1, action)
    strip.action_slot = slot


@kind(reopen=True)
def pusher_in_a_scaled_strip(m):
    data = m.scene.objects["Pusher"].animation_data
    action, slot = data.action, data.action_slot
    for curve in curves(m.scene.objects["Pusher"]):
        for point in curve.keyframe_points:
            point.co.x = 1 + (point.co.x - 1) * 2
    data.action = None
    strip = data.nla_tracks.new().strips.new("slide", 1, action)
    strip.action_slot, strip.scale = slot, 0.5


@kind("Rock", reopen=True)
def rock_in_the_nla(m):
    """A strip that says what is there in any case."""
    rock = m.scene.objects["Rock"]
    m.key(rock, "location", {1: (3, 0, 0.9)})
    data = rock.animation_data
    action, slot = data.action, data.action_slot
    data.action = None
    data.nla_tracks.new().strips.new("rest", 1, action).action_slot = slot


@kind(reopen=True)
def cyclic_pusher(m):
    """Keys of two frames that go on by a modifier."""
    pusher = m.scene.objects["Pusher"]
    step = 0.6 / (LAST - 1)
    pusher.animation_data_clear()
    m.key(pusher, "location", {1: (-1.2, 0, 0.6), 2: (-1.2 + step, 0, 0.6)})
    for curve in curves(pusher):
        cycles = curve.modifiers.new("CYCLES")
        cycles.mode_before = cycles.mode_after = "REPEAT_OFFSET"


@kind(reopen=True)
def extrapolated_pusher(m):
    pusher = m.scene.objects["Pusher"]
    step = 0.6 / (LAST - 1)
    pusher.animation_data_clear()
    m.key(pusher, "location", {1: (-1.2, 0, 0.6), 2: (-1.2 + step, 0, 0.6)})
    for curve in curves(pusher):
        curve.extrapolation = "LINEAR"


@kind("Rock", reopen=True)
def keyed_rock(m):
    """Keys that the bake replaces."""
    m.key(m.scene.objects["Rock"], "location", {1: (3, 0, 0.9), 30: (9, 9, 9)})


@kind(reopen=True)
def muted_keys(m):
    rock = m.scene.objects["Rock"]
    m.key(rock, "location", {1: (3, 0, 0.9), 30: (9, 9, 9)})
    rock.location = (3, 0, 0.9)
    for curve in curves(rock):
        curve.mute = True


@kind(reopen=True)
def other_channels_keyed(m):
    rock = m.scene.objects["Rock"]
    rock["glow"] = 1.0
    rock.keyframe_insert('["glow"]', frame=3)
    rock.keyframe_insert("hide_render", frame=2)
    rock.keyframe_insert("color", frame=2)
    for curve in curves(rock):
        curve.modifiers.new("NOISE")


@kind(reopen=True)
def one_action_of_two(m):
    """Both are keyed by one slot of one action."""
    rock, ball = m.scene.objects["Rock"], m.scene.objects["Ball"]
    rock["glow"] = ball["glow"] = 1.0
    rock.keyframe_insert('["glow"]', frame=3)
    data = ball.animation_data_create()
    data.action = rock.animation_data.action
    data.action_slot = rock.animation_data.action_slot


@kind(reopen=True)
def one_action_with_two_slots(m):
    pusher, rock = m.scene.objects["Pusher"], m.scene.objects["Rock"]
    action = pusher.animation_data.action
    data = rock.animation_data_create()
    data.action = action
    data.action_slot = action.slots.new("OBJECT", "Rock")
    rock["glow"] = 1.0
    rock.keyframe_insert('["glow"]', frame=3)


@kind("Rock", reopen=True)
def constraint_on_rock(m):
    rock = m.scene.objects["Rock"]
    target = m.object("Target", location=rock.location)
    rock.constraints.new("COPY_LOCATION").target = target


@kind(reopen=True)
def muted_and_broken_constraints(m):
    rock = m.scene.objects["Rock"]
    rock.constraints.new("COPY_LOCATION")
    rock.constraints.new("DAMPED_TRACK").mute = True
    rock.constraints.new("LIMIT_SCALE").influence = 0.0


@kind(reopen=True)
def pusher_on_a_path(m):
    curve = bpy.data.curves.new("Path", "CURVE")
    curve.dimensions = "3D"
    spline = curve.splines.new("POLY")
    spline.points.add(1)
    spline.points[0].co, spline.points[1].co = (-1.2, 0, 0.6, 1), (-0.6, 0, 0.6, 1)
    path = m.object("Path", curve)
    curve.use_path = True
    pusher = m.scene.objects["Pusher"]
    pusher.animation_data_clear()
    pusher.location = (0, 0, 0)
    follow = pusher.constraints.new("FOLLOW_PATH")
    follow.target, follow.use_fixed_location = path, True
    follow.offset_factor = 0.0
    follow.keyframe_insert("offset_factor", frame=1)
    follow.offset_factor = 1.0
    follow.keyframe_insert("offset_factor", frame=LAST)
    for point in (p for c in curves(pusher) for p in c.keyframe_points):
        point.interpolation = "LINEAR"


# Transforms


def _mode(mode):
    def make(m):
        rock = m.scene.objects["Rock"]
        turn = ROCK.to_quaternion()
        rock.rotation_mode = mode
        if mode == "QUATERNION":
            rock.rotation_quaternion = -turn
        elif mode == "AXIS_ANGLE":
            axis, angle = turn.to_axis_angle()
            rock.rotation_axis_angle = (angle, *(3.0 * axis))
        else:
            rock.rotation_euler = turn.to_euler(mode)

    KINDS[f"rotation_mode_{mode.lower()}"] = Kind(make, True)


for _name in ("QUATERNION", "AXIS_ANGLE", "XZY", "YXZ", "YZX", "ZXY", "ZYX"):
    _mode(_name)


@kind()
def long_quaternion(m):
    rock = m.scene.objects["Rock"]
    rock.rotation_mode = "QUATERNION"
    rock.rotation_quaternion = 100.0 * ROCK.to_quaternion()


@kind(same=False)
def quaternion_of_nothing(m):
    rock = m.scene.objects["Rock"]
    rock.rotation_mode = "QUATERNION"
    rock.rotation_quaternion = (0, 0, 0, 0)


@kind()
def many_turns(m):
    m.scene.objects["Rock"].rotation_euler.z += 6 * math.tau


@kind()
def delta_transforms(m):
    rock = m.scene.objects["Rock"]
    rock.delta_location, rock.location = (1, 2, 3), Vector(rock.location) - Vector((1, 2, 3))
    rock.delta_rotation_euler, rock.rotation_euler = ROCK, (0, 0, 0)
    rock.delta_scale, rock.scale = (2, 2, 2), (0.5, 0.5, 0.5)


@kind()
def negative_scale(m):
    m.scene.objects["Rock"].scale = (-1, -1, -1)


@kind()
def mirrored_about_one_axis(m):
    m.scene.objects["Rock"].scale.x = -1


@kind()
def parent_with_scale(m):
    rock = m.scene.objects["Rock"]
    parent = m.object("Parent", scale=(2, 2, 2), location=(1, 1, 1), rotation_euler=(1, 2, 3))
    keep_place(rock, parent)


@kind()
def mirrored_parent(m):
    keep_place(m.scene.objects["Rock"], m.object("Parent", scale=(-1, 1, 1), rotation_euler=(1, 2, 3)))


def keep_place(ob, parent):
    bpy.context.view_layer.update()
    ob.parent = parent
    ob.matrix_parent_inverse = parent.matrix_world.inverted()


@refused("Rock", "sheared")
def parent_that_shears(m):
    rock = m.scene.objects["Rock"]
    rock.parent = m.object("Parent", scale=(3, 1, 1))


@refused("Rock", "zero scale")
def parent_of_no_size(m):
    m.scene.objects["Rock"].parent = m.object("Parent", scale=(0, 0, 0))


@refused("Rock", "its scale along X is 0")
def flat_scale(m):
    m.scene.objects["Rock"].scale.x = 0


@refused("Rock", "scale")
def no_scale(m):
    m.scene.objects["Rock"].scale = (0, 0, 0)


@refused("Rock", "location")
def location_of_no_number(m):
    m.scene.objects["Rock"].location.x = math.nan


@refused("Floor", "location")
def floor_at_infinity(m):
    m.scene.objects["Floor"].location.z = math.inf


@refused("Rock", "rotation_euler")
def rotation_of_no_number(m):
    m.scene.objects["Rock"].rotation_euler.x = math.nan


@refused("Rock", "scale")
def scale_of_no_number(m):
    m.scene.objects["Rock"].scale.x = math.nan


@kind(same=False)
def locked_channels(m):
    """Axes that are locked hold the body."""
    rock = m.scene.objects["Rock"]
    rock.lock_rotation = rock.lock_scale = (True, True, True)
    rock.lock_rotation_w = True


@kind(reopen=True)
def parent_by_a_bone(m):
    armature = bpy.data.armatures.new("Rig")
    rig = m.object("Rig", armature)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.edit_bones.new('Бone "1"')
    bone.tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="POSE")
    pusher = m.scene.objects["Pusher"]
    pusher.animation_data_clear()
    pusher.parent, pusher.parent_type, pusher.parent_bone = rig, "BONE", 'Бone "1"'
    pusher.matrix_parent_inverse = Matrix.Translation((0, 0, 0))
    pusher.location = (-1.2, 0.6, 0)
    rig.rotation_euler = (0, 0, 0)
    # bones point along their Y: the child's axes are turned, which a box of equal sides does not show
    for frame, x in ((1, 0.0), (LAST, 0.6)):
        rig.location = (x, 0.0, -1.0 + 0.6 - 0.6)
        rig.keyframe_insert("location", frame=frame)
    for point in (p for c in curves(rig) for p in c.keyframe_points):
        point.interpolation = "LINEAR"
    bpy.context.view_layer.update()
    there = Matrix.Translation((-1.2, 0, 0.6))
    rig.location = (0, 0, -1.2)
    bpy.context.view_layer.update()
    m.scene.frame_set(1)
    pusher.location = (0, 0, 0)
    bpy.context.view_layer.update()
    pusher.matrix_world = there


@kind(reopen=True)
def parent_by_a_vertex(m):
    parent = m.object("Parent", m.mesh())
    pusher = m.scene.objects["Pusher"]
    pusher.parent, pusher.parent_type = parent, "VERTEX"
    bpy.context.view_layer.update()
    corner = Vector(parent.data.vertices[0].co)
    pusher.matrix_parent_inverse = Matrix.Translation(-corner)
