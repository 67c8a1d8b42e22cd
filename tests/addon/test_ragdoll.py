"""*Make Ragdoll*: bodies of an armature's bones follow its motion, go limp and come back; undo gives all back."""

import math

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

import cairn
from cairn.addon import ragdoll
from cairn.addon.bake import bake_scene
from cairn.addon.read.faults import SceneError
from cairn.addon.read.frame_samples import simulation_paused
from cairn.addon.read.scene_export import export_scene
from cairn.addon.settings import BakeSettings
from cairn.addon.write import attach
from cairn.solver_core import ConeTwist, Generic

LAST = 48
# Head, tail, parent; the arm is in front of the body, and a nail is too short for a body of its own.
BONES = {
    "Hips": ((0, 0, 1.0), (0, 0, 1.3), None),
    "Chest": ((0, 0, 1.3), (0, 0, 1.7), "Hips"),
    "Arm": ((0.25, 0, 1.65), (0.6, 0, 1.65), "Chest"),
    "Forearm": ((0.6, 0, 1.65), (0.95, 0, 1.65), "Arm"),
    "Nail": ((0.95, 0, 1.65), (0.96, 0, 1.65), "Forearm"),
}


@pytest.fixture
def rig():
    """An armature with a mesh weighted to it, and a motion of its bones."""
    cairn.register()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    cairn.register()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    data = bpy.data.armatures.new("Rig")
    ob = bpy.data.objects.new("Rig", data)
    scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for name, (head, tail, parent) in BONES.items():
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        if parent is not None:
            bone.parent = data.edit_bones[parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    skin(scene, ob)
    limits = ob.pose.bones["Forearm"]
    limits.use_ik_limit_x, limits.ik_min_x, limits.ik_max_x = True, 0.0, 2.4
    limits.lock_ik_y = limits.lock_ik_z = True
    move(ob)
    bpy.context.view_layer.update()
    return ob


def skin(scene, rig):
    """A box a bone, 0.2 by 0.1 across, in one mesh."""
    points, faces, owners = [], [], []
    for name in BONES:
        bone = rig.data.bones[name]
        for x in (-0.1, 0.1):
            for y in (0.0, bone.length):
                for z in (-0.05, 0.05):
                    points.append(bone.matrix_local @ Vector((x, y, z)))
                    owners.append(name)
        first = len(points) - 8
        faces += [[first + corner for corner in face] for face in ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1))]
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata(points, [], faces)
    ob = bpy.data.objects.new("Skin", mesh)
    scene.collection.objects.link(ob)
    for name in BONES:
        group = ob.vertex_groups.new(name=name)
        group.add([index for index, owner in enumerate(owners) if owner == name], 1.0, "REPLACE")
    ob.modifiers.new("Armature", "ARMATURE").object = rig


def move(rig):
    for frame in range(1, LAST + 5):
        wave = math.sin(2.0 * math.pi * (frame - 1) / 24.0)
        rig.location = 0.3 * wave, 0.02 * frame, 0.0
        rig.keyframe_insert("location", frame=frame)
        for name, angles in (
            ("Chest", (0.2 * wave, 0.0, 0.0)),
            ("Arm", (0.5 * wave, 0.3 * wave, 0.4 * wave)),
            ("Forearm", (0.8 - 0.6 * wave, 0.0, 0.0)),
        ):
            bone = rig.pose.bones[name]
            bone.rotation_mode = "XYZ"
            bone.rotation_euler = angles
            bone.keyframe_insert("rotation_euler", frame=frame)


def bones_at(scene, rig, frames=range(1, LAST + 1)):
    """Matrices of the bones in the world [frames, bones, 4, 4], without Blender's own simulation."""
    found, shown = [], scene.frame_current
    for frame in frames:
        scene.frame_set(frame)
        shown_rig = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(shown_rig.matrix_world @ shown_rig.pose.bones[name].matrix) for name in BONES])
    scene.frame_set(shown)
    return np.array(found)


def skin_at(scene, frame):
    scene.frame_set(frame)
    mesh = scene.objects["Skin"].evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    return np.array([vertex.co for vertex in mesh.vertices])


def made(rig, **options):
    bodies, joints = ragdoll.make_ragdoll(bpy.context.scene, rig, **options)
    bpy.context.scene.rigidbody_world.point_cache.frame_end = LAST
    return {body.name: body for body in bodies}, {joint.name: joint for joint in joints}


def test_bodies_have_the_size_of_what_is_weighted_to_them_and_joints_the_bones_limits(rig):
    bodies, joints = made(rig)
    assert list(bodies) == ["Hips", "Chest", "Arm", "Forearm"]
    assert list(joints) == ["Chest Joint", "Arm Joint", "Forearm Joint"]
    size = bodies["Arm"].dimensions
    assert np.array(size) == pytest.approx([0.2, 0.35, 0.1], abs=1e-5)
    assert bodies["Arm"].rigid_body.mass == pytest.approx(0.2 * 0.35 * 0.1 * 1000.0, rel=1e-4)
    export = export_scene(bpy.context.scene)
    found = {joint.object_name: joint.joint for joint in export.joints}
    assert isinstance(found["Arm Joint"], ConeTwist)
    elbow = found["Forearm Joint"]
    assert isinstance(elbow, Generic)
    # from 0 to 2.4 rad from its rest, of which it starts 0.8 away
    bend = elbow.angular[0]
    assert (bend.lower, bend.upper) == pytest.approx((-0.8, 1.6), abs=1e-4)
    assert elbow.angular[1].is_locked
    assert elbow.angular[2].is_locked
    assert all(axis.is_locked for axis in elbow.linear)


def test_a_round_limb_gets_a_round_body():
    part = ragdoll._Part(np.array([0.05, 0.2, 0.05]), np.zeros(3), None)
    points, _, faces = ragdoll._round_mesh(part)
    assert part.is_round
    mesh = bpy.data.meshes.new("Round")
    mesh.from_pydata(points, [], faces)
    assert not mesh.validate()
    assert np.abs(np.array(points)).max(axis=0) == pytest.approx([0.05, 0.2, 0.05])
    # closed, and turned outwards: its volume is near that of the capsule
    mesh.calc_loop_triangles()
    corners = np.array([[points[index] for index in triangle.vertices] for triangle in mesh.loop_triangles])
    volume = np.einsum("ni,ni->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
    assert 0.8 * part.volume <= volume <= part.volume


def test_before_a_bake_nothing_looks_different(rig):
    scene = bpy.context.scene
    before = bones_at(scene, rig)
    made(rig)
    with simulation_paused(scene):
        assert np.abs(bones_at(scene, rig) - before).max() <= 1e-5


def test_it_follows_the_motion_goes_limp_and_comes_back(rig):
    scene = bpy.context.scene
    wanted = bones_at(scene, rig)
    bodies, _ = made(rig)
    for body in bodies.values():
        for frame, value in ((1, 1.0), (13, 0.0), (21, 1.0)):
            body.cairn.follow = value
            body.keyframe_insert("cairn.follow", frame=frame)
        for layer in body.animation_data.action.layers:
            for point in layer.strips[0].channelbags[0].fcurves[0].keyframe_points:
                point.interpolation = "CONSTANT"
    result = bake_scene(scene, BakeSettings())
    assert result.error is None
    off = np.linalg.norm((bones_at(scene, rig) - wanted)[:, :4, :3, 3], axis=2)
    # 2 % of the smallest body's size of 0.35 m, and the joints' play of single precision
    assert off[:13].max() <= 0.007
    assert off[20].min() > 0.2
    assert off[-6:].max() <= 0.007
    on_top = bake_scene(scene, BakeSettings())
    assert on_top.report["totals"]["digest"] == result.report["totals"]["digest"]
    # the mesh goes with the bones
    skin = skin_at(scene, 21)
    attach.delete_bake(scene)
    with simulation_paused(scene):
        assert np.abs(skin - skin_at(scene, 21)).max() > 0.2
        assert np.abs(bones_at(scene, rig) - wanted).max() <= 1e-5
    again = bake_scene(scene, BakeSettings())
    assert again.report["totals"]["digest"] == result.report["totals"]["digest"]


def test_undo_gives_all_back(rig):
    scene = bpy.context.scene
    bpy.ops.object.select_all(action="DESELECT")
    rig.select_set(True)
    bpy.context.view_layer.objects.active = rig
    names = sorted(ob.name for ob in bpy.data.objects)
    before = bones_at(scene, rig)
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.cairn.make_ragdoll() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="made")
    assert len(bpy.data.objects) == len(names) + 4 + 3 + 1
    bpy.ops.ed.undo()
    assert sorted(ob.name for ob in bpy.data.objects) == names
    rig = bpy.data.objects["Rig"]
    assert not any(bone.constraints for bone in rig.pose.bones)
    assert bpy.context.scene.rigidbody_world is None
    assert np.array_equal(bones_at(bpy.context.scene, rig), before)


def test_its_bodies_are_selected(rig):
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.cairn.make_ragdoll() == {"FINISHED"}
    assert sorted(ob.name for ob in bpy.context.selected_objects) == ["Arm", "Chest", "Forearm", "Hips"]
    assert bpy.context.object.name == "Hips"


def test_a_short_bone_counts_where_longer_ones_hang_on_it_and_it_turns_or_has_skin(rig):
    """Without it the arm would be off by what its shoulder turns."""
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    short = bones.new("Shoulder")
    short.head, short.tail, short.parent = (0.23, 0, 1.65), (0.25, 0, 1.65), bones["Chest"]
    bones["Arm"].parent = short
    bpy.ops.object.mode_set(mode="OBJECT")
    parts = ragdoll._parts_of(rig, [ragdoll._pose_of(rig, list(rig.data.bones.keys()))])
    assert parts["Arm"].parent == "Chest"
    bone = rig.pose.bones["Shoulder"]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (24, 0.3)):
        bone.rotation_euler.z = angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    wanted = bones_at(bpy.context.scene, rig)
    bodies, joints = made(rig)
    assert "Shoulder Joint" in joints
    assert "Nail" not in bodies
    assert bodies["Shoulder"].rigid_body.mass > 0.0
    result = bake_scene(bpy.context.scene, BakeSettings())
    assert result.error is None
    off = np.linalg.norm((bones_at(bpy.context.scene, rig) - wanted)[:, :4, :3, 3], axis=2)
    assert off.max() <= 0.007


@pytest.mark.parametrize(
    ("shift", "overlap"),
    [((0.9, 0, 0), True), ((1.0, 0, 0), True), ((1.1, 0, 0), False), ((0, 0, 0), True), ((0.8, 0.8, 0.8), True)],
)
def test_whether_hulls_overlap(shift, overlap):
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    turn = np.array(Matrix.Rotation(math.radians(45.0), 3, "Z")) if shift[1] else np.eye(3)
    assert ragdoll._overlap(corners, corners @ turn + shift, 0.01) == overlap
    assert ragdoll._overlap(corners @ turn + shift, corners, 0.01) == overlap


def test_what_cannot_be_is_one_line(rig):
    scene = bpy.context.scene
    made(rig)
    with pytest.raises(SceneError, match="Rig: it has a ragdoll"):
        ragdoll.make_ragdoll(scene, rig)
    for bone in rig.pose.bones:
        for constraint in list(bone.constraints):
            bone.constraints.remove(constraint)
    count = len(bpy.data.objects)
    rig.scale.x = 2.0
    bpy.context.view_layer.update()
    with pytest.raises(SceneError, match="its scale differs"):
        ragdoll.make_ragdoll(scene, rig)
    rig.scale.x = 1.0
    bpy.context.view_layer.update()
    for bone in rig.data.bones:
        bone.use_deform = False
    with pytest.raises(SceneError, match="none of its bones deforms"):
        ragdoll.make_ragdoll(scene, rig)
    assert len(bpy.data.objects) == count


def test_the_operator_is_for_armatures_in_object_mode(rig):
    bpy.context.view_layer.objects.active = bpy.data.objects["Skin"]
    assert not bpy.ops.cairn.make_ragdoll.poll()
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.cairn.make_ragdoll.poll()
