"""Ways to put one rigid body, "Body", somewhere: turned, scaled, mirrored, parented, constrained, driven, keyed."""

import bpy
import numpy as np
from scene_maker import CUBE_CORNERS


def place_plain(maker):
    maker.body(location=(1, -2, 3))


def place_turned(maker):
    maker.body(location=(1, -2, 3), rotation_euler=(0.4, -0.9, 2.0))


def place_scaled(maker):
    maker.body(location=(1, -2, 3), rotation_euler=(0.4, -0.9, 2.0), scale=(0.3, 2.0, 1.1))


def place_mirrored(maker):
    maker.body(rotation_euler=(0.4, -0.9, 2.0), scale=(0.3, -2.0, 1.1))


def place_mirrored_thrice(maker):
    maker.body(rotation_euler=(0.4, -0.9, 2.0), scale=(-0.3, -2.0, -1.1))


def place_quaternion(maker):
    maker.body(rotation_mode="QUATERNION", rotation_quaternion=(0.5, 0.1, -0.7, 0.2))


def place_axis_angle(maker):
    maker.body(rotation_mode="AXIS_ANGLE", rotation_axis_angle=(1.2, 0.3, 0.5, -0.9))


def place_delta(maker):
    maker.body(
        rotation_euler=(0.4, 0, 0),
        delta_location=(1, 2, 3),
        delta_rotation_euler=(0.2, 0.5, -1),
        delta_scale=(2, 1, 0.5),
    )


def place_off_center(maker):
    maker.body(
        data=maker.mesh(np.add(CUBE_CORNERS, (2.0, 0.3, -1.0))), rotation_euler=(0.4, -0.9, 2.0), scale=(2, 1, 1)
    )


def place_child(maker):
    parent = maker.object("Parent", location=(3, 1, 2), rotation_euler=(0.5, 0.2, 1.0), scale=(2, 2, 2))
    maker.body(location=(1, 0, 0), rotation_euler=(0, 0.7, 0), parent=parent)


def place_on_bone(maker):
    armature = bpy.data.armatures.new("Armature")
    rig = maker.object("Rig", armature, location=(0, 0, 1))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.edit_bones.new("Bone")
    bone.head, bone.tail = (0, 0, 0), (0, 0.5, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.pose.bones["Bone"].rotation_mode = "XYZ"
    rig.pose.bones["Bone"].rotation_euler = (0.3, 0.6, 0.1)
    maker.body(location=(1, 0, 0), parent=rig, parent_type="BONE", parent_bone="Bone")


def place_constrained(maker):
    target = maker.object("Target", location=(4, 5, 6), rotation_euler=(0.1, 0.2, 0.3))
    ob = maker.body()
    ob.constraints.new("COPY_TRANSFORMS").target = target


def place_driven(maker):
    ob = maker.body()
    curve = ob.driver_add("location", 2)
    curve.driver.type = "SCRIPTED"
    curve.driver.expression = "3 + 4"


def place_keyed(maker):
    ob = maker.body()
    maker.key(ob, "location", {1: (0, 0, 5), 20: (9, 9, 9)})


PLACEMENTS = [value for name, value in list(globals().items()) if name.startswith("place_")]
