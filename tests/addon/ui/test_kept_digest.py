"""A digest that is kept from look to look is the one that reading all anew gives, and reads what has changed alone."""

import bpy
import pytest

import cairn
from cairn.addon.read.scene_digest import changes, scene_digest
from cairn.addon.ui import kept_digest
from cairn.addon.ui.kept_digest import KeptDigest
from cairn.addon.write import since_bake


@pytest.fixture
def kept():
    """What listens to Blender as the window does."""
    digest = KeptDigest()

    def listen(_, depsgraph):
        digest.note(depsgraph)

    bpy.app.handlers.depsgraph_update_post.append(listen)
    yield digest
    bpy.app.handlers.depsgraph_update_post.remove(listen)


@pytest.fixture
def scene(maker):
    """A body on an arm, one that a rig deforms, one below a body, and a hinge."""
    cairn.register()
    maker.body("Floor", shape="BOX", type="PASSIVE")
    arm = maker.object("Arm")
    maker.key(arm, "location", {1: (0, 0, 0), 5: (1, 0, 0)})
    maker.body("Held", shape="BOX").parent = arm
    maker.body("Child", shape="BOX").parent = maker.scene.objects["Floor"]
    rig = maker.object("Rig", bpy.data.armatures.new("Rig"))
    maker.scene.objects["Floor"].modifiers.new("Rig", "ARMATURE").object = rig
    maker.object("Target")
    empty = maker.object("Hinge")
    bpy.context.view_layer.objects.active = empty
    bpy.ops.rigidbody.constraint_add(type="HINGE")
    empty.rigid_body_constraint.object1 = maker.scene.objects["Held"]
    for number in range(20):
        maker.body(f"Other {number}", shape="BOX")
    return maker.scene


def key_of_arm(scene):
    scene.objects["Arm"].keyframe_insert("location", frame=9)


def key_that_is_moved(scene):
    curve = scene.objects["Arm"].animation_data.action.layers[0].strips[0].channelbags[0].fcurves[0]
    curve.keyframe_points[1].co.y = 7.0
    curve.update()


def mesh(scene):
    scene.objects["Held"].data.vertices[0].co.x = 5.0
    scene.objects["Held"].data.update()


def new_target(scene):
    constraint = scene.objects["Arm"].constraints.new("COPY_LOCATION")
    constraint.target = scene.objects["Target"]


def removed(scene):
    bpy.data.objects.remove(scene.objects["Other 3"])


def new_name_of_a_parent(scene):
    scene.objects["Floor"].name = "Ground"


def new_name_of_a_joints_end(scene):
    scene.objects["Held"].name = "Carried"


def added(scene):
    copy = scene.objects["Other 4"].copy()
    scene.collection.objects.link(copy)


# What Blender tells of objects that are known, and what it does not, or of others.
TOLD = [
    lambda scene: setattr(scene.objects["Held"].rigid_body, "friction", 0.1),
    lambda scene: setattr(scene.objects["Held"].rigid_body, "kinematic", True),
    lambda scene: setattr(scene.objects["Other 5"].location, "y", 2.0),
    lambda scene: setattr(scene.objects["Child"], "parent", None),
    lambda scene: setattr(scene.gravity, "z", -1.0),
    lambda scene: setattr(scene.cairn, "substeps", 9),
    key_of_arm,
    key_that_is_moved,
    mesh,
]
CHANGES = [
    *TOLD,
    lambda scene: setattr(scene.objects["Arm"].location, "y", 2.0),
    lambda scene: setattr(scene.objects["Held"].cairn, "concavity", 0.5),
    lambda scene: setattr(scene.objects["Hinge"].cairn.joint, "friction_torque", 2.0),
    lambda scene: setattr(scene.objects["Hinge"].rigid_body_constraint, "object1", scene.objects["Held"]),
    lambda scene: setattr(scene.objects["Held"], "name", "Renamed"),
    new_target,
    removed,
    added,
    new_name_of_a_parent,
    new_name_of_a_joints_end,
]


def last(kept, scene):
    return list(kept.steps(scene.name))[-1]


def first(kept, scene):
    """The last of the steps that read what Blender has told of; None if there were none."""
    return [None, *kept.first_steps(scene.name)][-1]


@pytest.mark.parametrize("change", CHANGES)
def test_it_is_what_reading_all_gives(scene, kept, change):
    bpy.context.view_layer.update()
    assert last(kept, scene) == scene_digest(scene)
    change(scene)
    bpy.context.view_layer.update()
    assert last(kept, scene) == scene_digest(scene)
    scene.frame_set(4)
    assert last(kept, scene) == scene_digest(scene)


def test_what_has_not_changed_is_not_read_again(scene, kept, monkeypatch):
    """Of 23 bodies the one that was changed; while Blender's own simulation is on, it tells of all of them."""
    scene.rigidbody_world.enabled = False
    scene.rigidbody_world.collection = None
    scene.cairn.world_collection = bpy.data.collections["RigidBodyWorld"]
    bpy.context.view_layer.update()
    last(kept, scene)
    read = []
    own = kept_digest._read
    monkeypatch.setattr(kept_digest, "_read", lambda group, ob, known: read.append(ob.name) or own(group, ob, known))
    last(kept, scene)
    assert read == []
    scene.objects["Other 7"].rigid_body.mass = 3.0
    bpy.context.view_layer.update()
    assert last(kept, scene) == scene_digest(scene)
    assert read == ["Other 7"]


def test_a_look_that_begins_again_goes_on_from_what_was_read(scene, kept, monkeypatch):
    """While somebody works, each change ends a look."""
    bpy.context.view_layer.update()
    reads = []
    read = kept_digest._read
    monkeypatch.setattr(kept_digest, "_read", lambda group, ob, known: reads.append(ob.name) or read(group, ob, known))
    steps = kept.steps(scene.name)
    while len(reads) < 10:
        next(steps)
    *_, digest = kept.steps(scene.name)
    assert digest == scene_digest(scene)
    assert len(reads) == len(set(reads)) > 20


@pytest.mark.parametrize("change", TOLD)
def test_what_blender_tells_of_is_known_first(scene, kept, change):
    """Whoever looks for the first time knows nothing yet."""
    bpy.context.view_layer.update()
    assert first(kept, scene) is None
    before = last(kept, scene)
    change(scene)
    bpy.context.view_layer.update()
    assert first(kept, scene) == scene_digest(scene) != before


@pytest.mark.parametrize("change", [removed, added, new_name_of_a_joints_end])
def test_what_is_known_first_invents_no_change(scene, kept, change):
    """Bodies that are new, gone or renamed are found where all is gone through, and no other change is told before."""
    bpy.context.view_layer.update()
    before = last(kept, scene)
    change(scene)
    bpy.context.view_layer.update()
    found = first(kept, scene)
    assert found is None or changes(before, found) == []


def _moved_by_hand(ob):
    for other in bpy.context.scene.objects:
        other.select_set(other == ob)
    bpy.context.view_layer.objects.active = ob
    assert bpy.ops.transform.translate(value=(0, 0, 1)) == {"FINISHED"}


def _moved_key(ob):
    curve = ob.animation_data.action.layers[0].strips[0].channelbags[0].fcurves[0]
    curve.keyframe_points[0].co.y += 1.0
    curve.update()


@pytest.mark.parametrize(
    ("change", "read_alone"),
    [
        (lambda ob: setattr(ob.rigid_body, "mass", 3.0), True),
        (lambda ob: setattr(ob, "lock_location", (True, False, False)), True),
        (lambda ob: setattr(ob, "rotation_mode", "QUATERNION"), True),
        (lambda ob: setattr(ob.scale, "z", 2.0), True),
        (_moved_by_hand, True),
        (_moved_key, True),
        # after these Blender finds out anew what depends on what, and tells of all as if they were edited
        (lambda ob: setattr(ob, "parent", bpy.context.scene.objects["Floor"]), False),
        (lambda ob: ob.constraints.new("LIMIT_LOCATION"), False),
        (lambda ob: ob.modifiers.new("Subdivision", "SUBSURF"), False),
        (lambda ob: ob.keyframe_insert("rigid_body.kinematic", frame=3), False),
    ],
)
def test_of_baked_bodies_those_that_were_edited_are_read_alone(maker, kept, monkeypatch, change, read_alone):
    """Blender tells of all of them, since the Rigid Body World evaluates them, though it is switched off."""
    cairn.register()
    maker.world.point_cache.frame_end = maker.scene.frame_end = 3
    maker.body("Floor", shape="BOX", type="PASSIVE")
    names = [f"Body {number}" for number in range(20)]
    for number, name in enumerate(names):
        maker.body(name, shape="BOX", location=(3.0 * number, 0.0, 5.0))
    scene = maker.scene
    assert bpy.ops.cairn.bake() == {"FINISHED"}
    bpy.context.view_layer.update()
    before = last(kept, scene)
    told, read, own = [], [], kept_digest._read
    monkeypatch.setattr(kept_digest, "_read", lambda group, ob, known: read.append(ob.name) or own(group, ob, known))

    def listen(_, depsgraph):
        told.extend(update.id.name for update in depsgraph.updates)

    bpy.app.handlers.depsgraph_update_post.append(listen)
    try:
        change(scene.objects["Body 7"])
        bpy.context.view_layer.update()
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(listen)
    assert {*names} <= {*told}
    changed = kept.changed()
    for _ in since_bake.catch_up_steps(scene.name, changed):
        pass
    found = first(kept, scene)
    assert found == scene_digest(scene) != before
    assert "Body 7" in read
    if read_alone:
        assert changed == read == ["Body 7"]
