"""What a bake depends on is read as its keys, whatever frame is shown: no change where nothing has changed, and each
change of what moves bodies is told, also of what is behind parents, constraints, drivers and modifiers.
"""

import bpy
import pytest

import cairn
from cairn.addon.demo import build_scene, demo_names, description_of
from cairn.addon.read import scene_digest as digest
from cairn.addon.read.scene_digest import changes, packed, scene_digest, unpacked
from cairn.addon.write import attach

# Scenes with motors, servos, throws and what is keyed otherwise; all of them at night.
DAILY = ("crane", "walker", "wrecking_ball", "stack")
EVERY = [pytest.param(name, marks=() if name in DAILY else pytest.mark.nightly) for name in sorted(demo_names())]


def told(before, scene):
    """Changes as the panel finds them: the digest was stored as text."""
    return changes(unpacked(packed(before)), scene_digest(scene))


@pytest.mark.parametrize("name", EVERY)
def test_no_frame_of_a_ready_made_scene_is_a_change(name):
    """At ten frames, after edits that change nothing; and a mass is a change at each."""
    cairn.register()
    scene = build_scene(description_of(name))
    scene.rigidbody_world.enabled = False
    before = scene_digest(scene)
    step = max(1, (scene.frame_end - scene.frame_start) // 9)
    moving = next(ob for ob in scene.rigidbody_world.collection.objects if ob.rigid_body.type == "ACTIVE")
    mass = moving.rigid_body.mass
    for frame in list(range(scene.frame_start, scene.frame_end, step))[:10]:
        scene.frame_set(frame)
        scene.camera.location.x += 1.0
        moving.color[0] = 0.01 * frame
        assert told(before, scene) == [], frame
        moving.rigid_body.mass = 2.0 * mass
        assert told(before, scene) == [f"mass of {moving.name}"]
        moving.rigid_body.mass = mass


@pytest.fixture
def scene(maker):
    """A ball that is carried by an arm, guided, driven and let go; a plate that a rig deforms; a joint with a motor."""
    cairn.register()
    maker.world.point_cache.frame_end = maker.scene.frame_end = 8
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5), scale=(10, 10, 1))
    arm = maker.object("Arm", location=(0, 0, 3))
    maker.key(arm, "rotation_euler", {1: (0, 0, 0), 8: (0, 0, 1)})
    maker.object("Hand", location=(1, 0, 0)).parent = arm
    ball = maker.body("Ball", shape="SPHERE", location=(0.5, 0, 0))
    ball.parent = bpy.data.objects["Hand"]
    maker.key(ball, "rigid_body.kinematic", {1: True, 4: False})
    guide = maker.object("Guide", location=(4, 0, 2))
    track = maker.object("Track", location=(4, 1, 2))
    guide.constraints.new("COPY_LOCATION").target = track
    box = maker.body("Box", shape="BOX", location=(0, 0, 5))
    box.constraints.new("COPY_ROTATION").target = guide
    driver = box.driver_add("location", 0).driver
    variable = driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = maker.object("Dial", location=(2, 0, 0)), "location.x"
    driver.expression = variable.name
    armature = bpy.data.armatures.new("Bones")
    rig = maker.object("Rig", armature)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    armature.edit_bones.new("Bone").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    plate = maker.body("Plate", shape="MESH", type="PASSIVE", location=(6, 0, 0))
    plate.rigid_body.mesh_source = "FINAL"
    plate.modifiers.new("Rig", "ARMATURE").object = rig
    plate.shape_key_add(name="Basis")
    plate.shape_key_add(name="Wide")
    empty = maker.object("Motor", location=(0, 0, 4))
    bpy.context.view_layer.objects.active = empty
    bpy.ops.rigidbody.constraint_add(type="MOTOR")
    empty.rigid_body_constraint.object1, empty.rigid_body_constraint.object2 = box, ball
    maker.key(empty, "rigid_body_constraint.motor_ang_target_velocity", {1: 0.0, 8: 3.0})
    maker.key(maker.scene, "gravity", {1: (0, 0, -9.81), 8: (0, 0, -5)})
    maker.scene.frame_set(1)
    return maker.scene


def key_of_arm(scene):
    curve = scene.objects["Arm"].animation_data.action.layers[0].strips[0].channelbags[0].fcurves[2]
    curve.keyframe_points[1].co.y = 2.0
    curve.update()


def key_of_rig(scene):
    scene.objects["Rig"].keyframe_insert('pose.bones["Bone"].location', frame=1)


def key_of_shape(scene):
    scene.objects["Plate"].data.shape_keys.key_blocks["Wide"].keyframe_insert("value", frame=3)


def value_of_shape(scene):
    scene.objects["Plate"].data.shape_keys.key_blocks["Wide"].value = 0.5


def key_of_motor(scene):
    scene.objects["Motor"].keyframe_insert("rigid_body_constraint.motor_ang_target_velocity", frame=4)


def set_on(name, path, value):
    def change(scene):
        owner, _, last = path.rpartition(".")
        owner = scene.objects[name].path_resolve(owner) if owner else scene.objects[name]
        setattr(owner, last, value)

    return change


CHANGES = [
    (key_of_arm, "animation of Arm"),
    (set_on("Hand", "location.x", 2.0), "start pose of Hand"),
    (set_on("Track", "location.x", 5.0), "start pose of Track"),
    (set_on("Guide", 'constraints["Copy Location"].influence', 0.5), "start pose of Guide"),
    (set_on("Box", 'constraints["Copy Rotation"].invert_x', True), "start pose of Box"),
    (set_on("Dial", "location.x", 3.0), "start pose of Dial"),
    (key_of_rig, "animation of Rig"),
    (set_on("Rig", 'pose.bones["Bone"].scale', (2, 2, 2)), "start pose of Rig"),
    (key_of_shape, "animation of Plate"),
    (value_of_shape, "animation of Plate"),
    (set_on("Plate", 'modifiers["Rig"].use_deform_preserve_volume', True), "shape of Plate"),
    (key_of_motor, "settings of Motor"),
    (lambda scene: setattr(scene.animation_data, "action", None), "gravity"),
]


@pytest.mark.parametrize(("change", "words"), CHANGES)
def test_what_moves_bodies_is_noticed_at_any_frame(scene, change, words):
    before = scene_digest(scene)
    for frame in (3, 8):
        scene.frame_set(frame)
        assert told(before, scene) == [], frame
    change(scene)
    for frame in (8, 1):
        scene.frame_set(frame)
        assert words in told(before, scene), told(before, scene)


def test_a_bake_changes_nothing_of_it(scene):
    """Muted constraints and drivers, keys and copies of keys are the bake's; edits of the copies are the user's."""
    scene.objects["Ball"].keyframe_insert("rigid_body.kinematic", frame=6)
    before = scene_digest(scene)
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    for frame in (1, 5, 8):
        scene.frame_set(frame)
        assert told(before, scene) == []
    bag = scene.objects["Ball"].animation_data.action.layers[0].strips[0].channelbags[0]
    curve = bag.fcurves.find("rigid_body.kinematic")
    curve.keyframe_points[1].co.x = 3
    curve.update()
    assert told(before, scene) == ["animation of Ball"]
    curve.keyframe_points[1].co.x = 4
    curve.update()
    assert told(before, scene) == []
    attach.delete_bake(scene)
    assert told(before, scene) == []


def test_strips_are_their_keys(scene):
    arm = scene.objects["Arm"]
    action, slot = arm.animation_data.action, arm.animation_data.action_slot
    strip = arm.animation_data.nla_tracks.new().strips.new("Turn", 1, action)
    strip.action_slot = slot
    arm.animation_data.action = None
    before = scene_digest(scene)
    for frame in (1, 5, 8):
        scene.frame_set(frame)
        assert told(before, scene) == []
    strip.frame_start += 1
    assert told(before, scene) == ["animation of Arm"]


def test_a_new_name_of_what_moves_a_body_is_no_change(scene):
    before = scene_digest(scene)
    for name in ("Arm", "Hand", "Track", "Rig", "Ball", "Motor"):
        scene.objects[name].name = f"{name} renamed"
    assert told(before, scene) == []
    scene.objects["Track renamed"].location.x += 1.0
    assert "start pose of Guide" in told(before, scene)


@pytest.mark.parametrize("names", [("Ball", "Box"), ("Box", "Ball")])
def test_new_names_of_a_body_and_of_one_below_it_are_no_change(scene, names):
    """Whichever of the two comes first in the alphabet."""
    parent, child = (scene.objects[name] for name in names)
    parent.parent, child.parent = None, parent
    before = scene_digest(scene)
    parent.name, child.name = "One", "Other"
    assert told(before, scene) == []
    child.location.y += 1.0
    assert told(before, scene) != []


def test_what_blender_lists_twice_counts_once(scene, monkeypatch):
    """Blender 5.3 lists the name of a group of properties twice: a bake by another version was out of date for it."""
    counted = []
    monkeypatch.setattr(digest, "number_of", lambda values: counted.append(values) or 0)
    joint = next(ob for ob in scene.rigidbody_world.constraints.objects if ob.rigid_body_constraint is not None)
    digest.joint_numbers(joint, {})
    values = next(entry[0] for entry in counted if isinstance(entry, tuple) and isinstance(entry[0], list))
    owners = joint.rigid_body_constraint, joint.cairn.joint
    known = [{prop.identifier for prop in owner.bl_rna.properties if prop.type != "POINTER"} for owner in owners]
    assert len(values) == sum(map(len, known))
