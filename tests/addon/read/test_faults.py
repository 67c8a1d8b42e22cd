"""All that is wrong with a scene is named at once, by a bake, by *Check* and on the command line: who mends what is
named bakes at the next press.
"""

import json
import math
import re
from types import SimpleNamespace

import bpy
import pytest
from joint_scenes import joint

import cairn
from cairn.addon import cli_scene
from cairn.addon.read.faults import Faults, SceneError
from cairn.addon.read.scene_export import export_scene
from cairn.addon.ui import operators, panels, watch

NAN = float("nan")


@pytest.fixture
def damaged(maker):
    """A body for each kind of fault, one with two of them, and three of one kind."""
    cairn.register()
    maker.world.point_cache.frame_end = 5
    maker.body("Good", shape="BOX")
    for i in range(3):
        maker.body(f"Light{i}", shape="BOX", location=(3 * i, 0, 5), settings={"mass": 0})
    maker.body("Nowhere", shape="BOX", location=(NAN, 0, 0))
    maker.body("Turned", shape="BOX", rotation_euler=(0, NAN, 0))
    maker.body("Flat", shape="BOX", scale=(1, 0, 1), settings={"mass": 0})
    parent = maker.object("Parent", scale=(1, 3, 1), rotation_euler=(0.5, 0, 0))
    maker.body("Sheared", shape="BOX", parent=parent, rotation_euler=(0.7, 0.4, 0))
    torn = maker.body("Torn", shape="CONVEX_HULL")
    torn.data.vertices[1].co.x = NAN
    thrown = maker.body("Thrown", shape="BOX")
    maker.key(thrown, "rigid_body.kinematic", {1: True, 2: False})
    maker.key(thrown, "location", {1: (0, 0, NAN), 2: (0, 0, 5)})
    played = maker.body("Played", shape="BOX")
    track = played.animation_data_create().nla_tracks.new()
    track.strips.new("strip", 1, bpy.data.actions.new("Played"))
    track.is_solo = True
    yield maker
    operators.running = None


FAULTS = {
    ("Light0", "mass"),
    ("Light1", "mass"),
    ("Light2", "mass"),
    ("Nowhere", "location"),
    ("Turned", "rotation_euler"),
    ("Thrown", "location"),
    ("Flat", "scale along Y"),
    ("Flat", "mass"),
    ("Sheared", "sheared"),
    ("Torn", "vertex 1"),
    ("Played", "solo"),
}


def are_all(faults):
    """Whether these are the faults, and each once."""
    found = [(name, word) for name, word in FAULTS for fault in faults if fault[0] == name and word in fault[1]]
    return sorted(found) == sorted(FAULTS) and len(faults) == len(FAULTS)


def mend(maker):
    objects = maker.scene.objects
    for name in ("Light0", "Light1", "Light2", "Flat"):
        objects[name].rigid_body.mass = 1
    objects["Nowhere"].location.x = 20
    objects["Thrown"].animation_data_clear()
    objects["Thrown"].location.z = 50
    objects["Turned"].rotation_euler.y = 0
    objects["Turned"].location.x = 30
    objects["Flat"].scale.y = 1
    objects["Flat"].location.x = 40
    objects["Sheared"].parent = None
    objects["Torn"].data.vertices[1].co.x = 1
    objects["Played"].animation_data.nla_tracks[0].is_solo = False


def test_a_bake_names_all_faults_at_once(damaged):
    with pytest.raises(SceneError) as caught:
        export_scene(damaged.scene, for_bake=True)
    assert are_all([(fault.object_name, fault.message) for fault in caught.value.faults])
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(" (and 10 more faults)")


def test_what_is_named_is_all_that_is_wrong(damaged):
    mend(damaged)
    export_scene(damaged.scene, for_bake=True)


@pytest.mark.parametrize("press", ["bake", "check_scene"])
def test_the_panel_lists_them_by_kind(damaged, press):
    """In the report one line; in the panel a line per kind with what to do and a button, gone when all is mended."""
    with pytest.raises(RuntimeError) as refused:
        getattr(bpy.ops.cairn, press)()
    assert len(str(refused.value).strip().splitlines()) == 1
    session = bpy.context.window_manager.cairn
    kinds = json.loads(session.faults)
    named = [(name, text) for _, text, names in kinds for name in names]
    assert are_all(named)
    place, masses = next((place, kind) for place, kind in enumerate(kinds) if "mass" in kind[1])
    assert masses[1] == "its mass is 0 kg; set a number above 0 in Physics > Rigid Body > Settings"
    assert masses[2] == ["Light0", "Light1", "Light2", "Flat"]
    texts = drawn_error()
    assert texts[0] == "All of this has to be corrected first:"
    assert f"Each of 4 objects: {masses[1]}" in texts
    assert sum("cairn.select_noted" in text for text in texts) == len(kinds)
    assert bpy.ops.cairn.select_noted(source="faults", place=place) == {"FINISHED"}
    assert {ob.name for ob in bpy.context.selected_objects} == set(masses[2])

    damaged.scene.objects["Torn"].data.vertices[1].co.x = 1
    watch.look_at(damaged.scene, session)
    assert "vertex" not in session.faults
    assert "solo" in session.faults
    mend(damaged)
    watch.look_at(damaged.scene, session)
    assert session.error == session.faults == ""
    assert drawn_error() == []


def test_one_fault_stands_as_it_did(damaged):
    mend(damaged)
    damaged.scene.objects["Light1"].rigid_body.mass = 0
    with pytest.raises(RuntimeError, match="Light1: its mass"):
        bpy.ops.cairn.bake()
    assert bpy.context.window_manager.cairn.faults == ""
    assert drawn_error()[-1] == "Select Light1"


def test_the_command_line_has_a_line_for_each(damaged, capsys):
    with pytest.raises(SceneError) as caught:
        export_scene(damaged.scene, for_bake=True)
    assert cli_scene.complain(caught.value, 3) == 3
    lines = capsys.readouterr().err.splitlines()
    assert are_all([tuple(line.removeprefix("cairn: ").split(": ", 1)) for line in lines])


def test_settings_and_world_are_named_with_the_bodies(damaged):
    scene = damaged.scene
    scene.cairn.method = "amgs"  # does not know Cone friction
    scene.gravity.z = NAN
    scene.cairn.use_custom_range, scene.cairn.frame_start, scene.cairn.frame_end = True, 9, 3
    with pytest.raises(RuntimeError):
        bpy.ops.cairn.bake()
    texts = [text for _, text, names in json.loads(bpy.context.window_manager.cairn.faults) if not names]
    assert len(texts) == 3
    for word in ("Cone", "gravity", "start frame, 9"):
        assert any(word in text for text in texts), word


def test_a_check_of_what_does_not_move_yet_is_no_error(maker):
    """Bake says so itself; what else is known of the scene is listed."""
    cairn.register()
    maker.body("Floor", shape="BOX", type="PASSIVE")
    assert bpy.ops.cairn.check_scene() == {"FINISHED"}


def test_the_same_fault_twice_is_one():
    faults = Faults()
    for name in ("A", "A", "B"):
        with faults.caught():
            raise SceneError(name, "is wrong")
    with pytest.raises(SceneError, match=r"^A: is wrong \(and 1 more fault\)$"):
        faults.raise_any()
    Faults().raise_any()


def drawn_error():
    texts = []
    context = SimpleNamespace(
        region=SimpleNamespace(width=2000),
        window_manager=bpy.context.window_manager,
        preferences=bpy.context.preferences,
    )
    panels.draw_error(Drawing(texts), context)
    return texts


class Drawing:
    """Keeps the texts of labels and buttons."""

    def __init__(self, texts):
        self.texts = texts

    def _part(self, **_):
        return Drawing(self.texts)

    row = column = box = _part

    def label(self, text, **_):
        self.texts.append(text)

    def operator(self, name, text, **_):
        self.texts.append(text or name)
        return SimpleNamespace()


def numeric_settings(ob):
    """(owner, name, length) of all numbers that a rigid body, or a constraint and Cairn's part of it, has."""
    owners = [ob.rigid_body, ob.cairn] if ob.rigid_body else [ob.rigid_body_constraint, ob.cairn.joint]
    for owner in owners:
        for name, prop in owner.bl_rna.properties.items():
            if prop.type == "FLOAT" and not prop.is_readonly:
                yield owner, name, prop.array_length


@pytest.mark.parametrize("number", [NAN, float("inf"), -float("inf")])
def test_numbers_in_errors_and_notes_are_written_as_people_write_them(maker, number):
    """No "np.float64(nan)" and no "array(...)", whatever setting is no number; and nothing else than a SceneError."""
    cairn.register()
    body, other = maker.body("Body", shape="BOX"), maker.body("Other", shape="BOX", location=(3, 0, 0))
    tie = joint(maker, "Tie", body, other, kind="GENERIC_SPRING")
    tie.rigid_body_constraint.use_breaking = True
    tie.cairn.joint.use_soft_limits = True
    said = []
    for ob in (body, tie):
        for owner, name, length in list(numeric_settings(ob)):
            before = tuple(getattr(owner, name)) if length else getattr(owner, name)
            setattr(owner, name, (number,) * length if length else number)
            try:
                export = export_scene(maker.scene, for_bake=True)
            except SceneError as error:
                said += [(name, fault.message) for fault in error.faults]
            else:
                said += [(name, note.text) for note in export.notes]
            setattr(owner, name, before)
    if math.isnan(number):  # of infinity Blender makes its largest number
        assert {"mass", "friction"} <= {name for name, text in said if "nan" in text}
    for name, text in said:
        assert not re.search(r"\bnp\.|float64|array\(", text), (name, text)
