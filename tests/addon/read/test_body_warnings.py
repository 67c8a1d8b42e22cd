"""What stands above Bake of bodies is what the bake says: before it, and after it."""

import pytest

import cairn
from cairn.addon.bake import bake_scene
from cairn.addon.read.early_notes import early_notes
from cairn.addon.read.scene_export import export_scene
from cairn.addon.settings import BakeSettings


@pytest.fixture(autouse=True)
def registered(maker):
    cairn.register()
    maker.scene.frame_end = 8
    maker.world.point_cache.frame_end = 8


def keyed_and_held(maker):
    """Keys, a constraint that acts, one that is muted and one without influence."""
    ob = maker.body("Bad")
    maker.key(ob, "location", {1: (0, 0, 0), 5: (1, 0, 0)})
    for kind in ("COPY_LOCATION", "LIMIT_ROTATION", "LIMIT_SCALE"):
        ob.constraints.new(kind)
    ob.constraints[1].mute, ob.constraints[2].influence = True, 0.0


def keyed_settings(maker):
    ob = maker.body("Bad")
    maker.key(ob, "rigid_body.mass", {1: 1.0, 5: 2.0})
    maker.key(ob, "scale", {1: (1, 1, 1), 5: (2, 2, 2)})
    maker.key(maker.body("Floor", type="PASSIVE"), "rigid_body.friction", {1: 1.0, 5: 0.0})


def meeting_nothing(maker):
    for name in ("First", "Second"):
        maker.body(name).rigid_body.collision_collections = [False] * 20


def parents(maker):
    uneven = maker.object("Uneven", scale=(1, 1, 3))
    ob = maker.body("Bad", parent=uneven)
    maker.body("Behind", type="PASSIVE", parent=maker.object("Between", parent=ob))


def a_mesh_that_changes(maker):
    ob = maker.body("Bad")
    ob.shape_key_add(name="Basis")
    ob.shape_key_add(name="High")
    maker.key(ob.data.shape_keys, 'key_blocks["High"].value', {1: 0.0, 5: 1.0})


def locked_without_a_floor(maker):
    maker.body("Bad").lock_location[0] = True
    maker.body("Alone").lock_rotation[2] = True
    maker.body("Fine").lock_location = (True, True, True)


def locked_with_one(maker):
    maker.body("Floor", type="PASSIVE")
    maker.body("Fine").lock_location[0] = True
    let_go = maker.body("Bad")
    let_go.lock_location[1] = True
    maker.key(let_go, "rigid_body.kinematic", {1: True, 4: False})


def thrown_by_a_hand(maker):
    """Held by Child Of and let go with *Animated*: in time, two frames too late, and held on."""
    hand = maker.object("Hand")
    maker.key(hand, "location", {1: (0, 0, 0), 4: (3, 0, 0)})
    for name, end in (("Fine", 5), ("Bad", 7), ("Worse", None)):
        ob = maker.body(name)
        hold = ob.constraints.new("CHILD_OF")
        hold.target = hand
        maker.key(ob, "rigid_body.kinematic", {1: True, 5: False})
        if end is not None:
            maker.key(ob, 'constraints["Child Of"].influence', {1: 1.0, end: 0.0})


SCENES = {
    thrown_by_a_hand: 2,
    keyed_and_held: 2,
    keyed_settings: 3,
    meeting_nothing: 2,
    parents: 2,
    a_mesh_that_changes: 1,
    locked_without_a_floor: 2,
    locked_with_one: 1,
}


def warnings(notes):
    return sorted((note.object_name, note.text) for note in notes if note.level == "warning")


@pytest.mark.parametrize("make", SCENES)
def test_what_is_not_followed_stands_above_bake(maker, make):
    make(maker)
    maker.scene.frame_set(1)
    found = warnings(early_notes(maker.scene))
    assert len(found) == SCENES[make]
    assert found == warnings(export_scene(maker.scene).notes)


@pytest.mark.parametrize("make", [keyed_and_held, keyed_settings, locked_with_one, thrown_by_a_hand])
def test_it_stands_there_after_the_bake_as_before(maker, make):
    """The bake has muted constraints and replaced keys, and the next one would again."""
    make(maker)
    before = warnings(early_notes(maker.scene))
    bake_scene(maker.scene, BakeSettings(start=1, end=8))
    assert warnings(early_notes(maker.scene)) == before
    # the keys that the bake has written are none that would be replaced
    maker.body("New", location=(9, 9, 9))
    bake_scene(maker.scene, BakeSettings(start=1, end=8))
    assert warnings(early_notes(maker.scene)) == before


def test_nothing_is_said_of_a_scene_that_is_followed(maker):
    maker.body("Floor", type="PASSIVE")
    driven = maker.body("Driven", type="PASSIVE", settings={"kinematic": True})
    maker.key(driven, "location", {1: (3, 0, 0), 5: (4, 0, 0)})
    maker.body("Falling", location=(0, 0, 2)).lock_rotation = (True, True, True)
    assert early_notes(maker.scene) == []
    bake_scene(maker.scene, BakeSettings(start=1, end=8))
    assert early_notes(maker.scene) == []
