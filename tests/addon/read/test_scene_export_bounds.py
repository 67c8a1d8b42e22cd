"""Scenes at the border of what Cairn takes: errors name the object and the remedy, notes say what is otherwise, and
nothing in the file changes.
"""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from cairn.addon.read.faults import SceneError
from cairn.addon.read.frame_samples import sample_frame, simulation_paused
from cairn.addon.read.notes import grouped_notes
from cairn.addon.read.scene_export import export_scene


def texts(export, name=None, level=None):
    return [note.text for note in export.notes if note.object_name == name and level in (None, note.level)]


# Errors: each names the object, the value, and what to do


def break_mass_nan(maker):
    maker.body("Bad", settings={"mass": float("nan")})
    return "mass", "nan"


def break_mass_infinite(maker):
    maker.body("Bad", settings={"mass": float("inf")})
    return "mass", "inf"


def break_mass_zero(maker):
    maker.body("Bad", settings={"mass": 0.0})
    return "mass", "0"


def break_passive_mass(maker):
    maker.body("Bad", type="PASSIVE", settings={"mass": float("nan")})
    return "mass", "nan"


def break_friction(maker):
    maker.body("Bad", settings={"friction": float("nan")})
    return "friction", "nan"


def break_point_without_margin(maker):
    settings = {"use_margin": True, "collision_margin": 0.0}
    maker.body("Bad", data=maker.mesh([(1, 1, 1)] * 3, [(0, 1, 2)]), shape="SPHERE", settings=settings)
    return "one point", "Margin is 0"


def break_vertex(maker):
    maker.body("Bad", data=maker.mesh([(0, 0, 0), (1, 0, 0), (0, float("nan"), 0)], [(0, 1, 2)]))
    return "vertex 2", "nan"


def break_zero_scale(maker):
    maker.body("Bad", scale=(1, 0, 1))
    return "scale along Y", "0"


def break_all_scale(maker):
    maker.body("Bad", scale=(0, 0, 0))
    return ("scale",)


def break_shear(maker):
    parent = maker.object("Parent", scale=(1, 3, 1))
    maker.body("Bad", rotation_euler=(0, 0, 0.7), parent=parent)
    return ("sheared",)


def break_shear_static(maker):
    parent = maker.object("Parent", scale=(1, 3, 1))
    maker.body("Bad", rotation_euler=(0, 0, 0.7), parent=parent, type="PASSIVE")
    return ("sheared",)


def break_location(maker):
    maker.body("Bad", location=(0, float("nan"), 0))
    return "location", "nan"


def break_rotation(maker):
    maker.body("Bad", rotation_euler=(0, float("nan"), 0))
    return "rotation", "nan"


def break_parent(maker):
    maker.body("Bad", parent=maker.object("Parent", location=(0, float("nan"), 0)))
    return ("parents",)


BREAKS = [value for name, value in list(globals().items()) if name.startswith("break_")]


@pytest.mark.parametrize("damage", BREAKS, ids=lambda damage: damage.__name__.removeprefix("break_"))
def test_bad_body_is_named(maker, damage):
    """One line: the object first, then what is wrong with it."""
    maker.body("Good")
    words = damage(maker)
    with pytest.raises(SceneError) as caught:
        export_scene(maker.scene)
    line = str(caught.value)
    assert caught.value.object_name == "Bad"
    assert line.startswith("Bad: ")
    assert "\n" not in line
    for word in words:
        assert word in line, line


def test_nan_of_a_later_frame_is_named(maker):
    """An animation that breaks later names object and frame."""
    ob = maker.body("Bad", type="PASSIVE")
    maker.key(ob, "location", {1: (0, 0, 0), 5: (0, 0, float("nan"))})
    export = export_scene(maker.scene)
    with simulation_paused(maker.scene), pytest.raises(SceneError, match=r"Bad: .*location.*nan.*frame 5"):
        sample_frame(maker.scene, export, 5)


def test_scene_without_world():
    """A scene that was never given rigid bodies."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with pytest.raises(SceneError, match="no Rigid Body World"):
        export_scene(bpy.context.scene)


def test_world_without_collection(maker):
    """A world that has lost its collection."""
    maker.world.collection = None
    with pytest.raises(SceneError, match="no collection"):
        export_scene(maker.scene)


def test_world_without_bodies(maker):
    """An empty collection."""
    with pytest.raises(SceneError, match="no rigid bodies"):
        export_scene(maker.scene)


@pytest.mark.parametrize(("start", "end"), [(10, 5), (10, 10)])
def test_range_must_rise(maker, start, end):
    """Start after end, or nothing between them."""
    maker.body()
    with pytest.raises(SceneError, match=f"{start}.*{end}"):
        export_scene(maker.scene, frame_start=start, frame_end=end)


def test_linked_body_that_moves(maker, tmp_path):
    """An object of a library cannot be keyed; as scenery it can be simulated."""
    maker.body("Linked")
    library = maker.save(tmp_path / "library.blend")
    again = type(maker)()
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.objects = ["Linked"]
    linked = bpy.data.objects["Linked"]
    again.scene.collection.objects.link(linked)
    again.world.collection.objects.link(linked)
    with pytest.raises(SceneError, match=r"Linked: .*linked from"):
        export_scene(again.scene)


# Nothing changes


def state_of(scene):
    world = scene.rigidbody_world
    return {
        "frame": (scene.frame_current, scene.frame_subframe),
        "enabled": world.enabled,
        "range": (world.point_cache.frame_start, world.point_cache.frame_end),
        "active": bpy.context.view_layer.objects.active,
        "selected": [ob.name for ob in bpy.context.selected_objects],
        "data": {kind: len(getattr(bpy.data, kind)) for kind in ("objects", "meshes", "actions", "collections")},
        "modifiers": [[modifier.show_viewport for modifier in ob.modifiers] for ob in scene.objects],
    }


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("broken", [True, False])
def test_export_changes_nothing(maker, enabled, broken):
    """Frame, subframe, switch, selection and data are as before, also after an error."""
    ob = maker.body(shape="CONVEX_HULL")
    ob.modifiers.new("Smooth", "SMOOTH")
    ob.modifiers.new("Array", "ARRAY")
    ob.select_set(True)
    bpy.context.view_layer.objects.active = ob
    maker.key(ob, "location", {1: (0, 0, 0), 50: (10, 0, 0)})
    if broken:
        maker.body("Bad", settings={"mass": float("nan")})
    maker.world.enabled = enabled
    maker.scene.frame_set(7, subframe=0.25)
    before = state_of(maker.scene)
    if broken:
        with pytest.raises(SceneError):
            export_scene(maker.scene)
    else:
        export_scene(maker.scene)
    assert state_of(maker.scene) == before


def test_paused_simulation_shows_the_animation(maker):
    """Within the pause no body falls, whatever frame is looked at; afterwards Blender's simulation runs again."""
    ob = maker.body(location=(0, 0, 5))
    with simulation_paused(maker.scene):
        for frame in range(1, 11):
            maker.scene.frame_set(frame)
        assert ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation.z == 5.0
    for frame in range(1, 11):
        maker.scene.frame_set(frame)
    assert ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation.z < 4.9


@pytest.mark.parametrize("shown", [20, 12, 1])
def test_blenders_own_simulation_stays_as_it_was_played(maker, shown):
    """After an export the viewport shows what Blender had simulated, and playing on continues it."""
    ob = maker.body(location=(0, 0, 50))

    def height(frame):
        maker.scene.frame_set(frame)
        return ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation.z

    played = [height(frame) for frame in range(1, 21)]
    assert played[-1] < 49.0
    maker.scene.frame_set(shown)
    export_scene(maker.scene)
    current = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation.z
    assert current == played[shown - 1]
    assert [height(frame) for frame in range(1, 21)] == played


def test_scene_out_of_view(maker):
    """Another scene than the window's can be exported."""
    maker.body(location=(1, 2, 3))
    bpy.context.window.scene = bpy.data.scenes.new("Other")
    assert bpy.context.scene != maker.scene
    export = export_scene(maker.scene)
    assert export.bodies[0].matrix_world_start[:3, 3] == pytest.approx([1, 2, 3])


# Notes


def test_notes_name_what_is_not_followed(maker):
    """Every setting without effect is said, with its object."""
    sleeper = maker.body("Sleeper")
    sleeper.lock_rotation[2] = True
    maker.body("Held").constraints.new("LIMIT_LOCATION").name = "Fence"
    growing = maker.body("Growing")
    maker.key(growing, "scale", {1: (1, 1, 1), 20: (2, 2, 2)})
    heavier = maker.body("Heavier")
    maker.key(heavier, "rigid_body.mass", {1: 1.0, 20: 2.0})
    lonely = maker.body("Lonely")
    lonely.rigid_body.collision_collections = [False] * 20
    maker.body("Rider", type="PASSIVE", parent=lonely)
    maker.body("Skewed", parent=maker.object("Uneven", scale=(1, 2, 1)))
    moved = maker.body("Moved", type="PASSIVE")
    maker.key(moved, "location", {1: (0, 0, 0), 20: (1, 0, 0)})
    export = export_scene(maker.scene)
    for name, word in {
        "Sleeper": "locked rotation axis alone",
        "Held": "Fence",
        "Growing": "scale is animated",
        "Heavier": "Mass is animated",
        "Lonely": "collides with nothing",
        "Rider": "Lonely is simulated",
        "Skewed": "Uneven is scaled unevenly",
    }.items():
        assert any(word in text for text in texts(export, name, "warning")), (name, texts(export, name))
    assert any("Animated off" in text for text in texts(export, "Moved", "info"))


def test_fields_and_outsiders_are_listed(maker):
    """Force fields without effect, bodies and objects that take no part."""
    maker.body()
    bpy.ops.object.effector_add(type="LENNARDJ")
    bpy.context.object.name = "Molecule"
    outsider = maker.body("Outsider")
    maker.world.collection.objects.unlink(outsider)
    maker.world.collection.objects.link(maker.object("Empty"))
    export = export_scene(maker.scene)
    assert export.model.names == ("Body",)
    assert any("kind Lennard-Jones" in text for text in texts(export, "Molecule", "warning"))
    assert any("no rigid body" in text for text in texts(export, "Empty"))
    if outsider.rigid_body is not None:
        assert any("not in the Rigid Body World's collection" in text for text in texts(export, "Outsider"))


def test_nothing_moves_is_said(maker):
    """A scene of passive bodies can be exported, with a warning."""
    maker.body(type="PASSIVE")
    assert any("no body moves" in text for text in texts(export_scene(maker.scene), None, "warning"))


def test_plain_scene_has_no_warning(maker):
    """A box on a floor is nothing to warn of."""
    maker.body(shape="BOX", location=(0, 0, 2))
    maker.body("Floor", type="PASSIVE", shape="BOX")
    assert [note for note in export_scene(maker.scene).notes if note.level == "warning"] == []


@pytest.mark.parametrize(
    ("flag", "keys", "frames"),
    [
        ("kinematic", {1: True, 11: False}, "11 to 250"),
        ("enabled", {1: True, 11: False, 31: True}, "2 to 10, 31 to 250"),
        ("kinematic", {1: True, 2: False}, None),
        ("kinematic", {1: True, 251: False}, None),
    ],
)
def test_frames_in_which_a_body_is_simulated_are_noted(maker, flag, keys, frames):
    """A step's flags are those of its last frame; nothing is said where it is all of them, or none."""
    maker.key(maker.body("Body"), f"rigid_body.{flag}", keys)
    found = [text for text in texts(export_scene(maker.scene), "Body", "info") if "simulated" in text]
    expected = [f"is simulated in frames {frames} only, as Animated or Dynamic is keyed"] if frames else []
    if frames and "," in frames:  # a list stands at the end of its sentence
        expected = [f"is simulated in these frames only, as Animated or Dynamic is keyed: {frames}"]
    assert found == expected


def test_driven_flags_are_noted(maker):
    """Only evaluating could tell the frames."""
    maker.body("Body").driver_add("rigid_body.kinematic").driver.expression = "frame < 5"
    assert any("depends on a driver" in text for text in texts(export_scene(maker.scene), "Body", "info"))


@pytest.mark.parametrize(
    ("path", "keys", "flags", "noted"),
    [
        ("location", {1: (0, 0, 0), 20: (1, 0, 0)}, {}, True),
        ("rotation_euler", {20: (1, 0, 0)}, {}, True),
        ("rotation_quaternion", {20: (1, 0, 0, 0)}, {}, False),
        ("scale", {20: (1, 1, 1)}, {}, False),
        ("location", {-9: (1, 0, 0), 1: (0, 0, 0)}, {}, False),
        ("location", {1: (0, 0, 0), 20: (1, 0, 0)}, {1: True, 20: False}, False),
    ],
)
def test_keys_that_a_bake_replaces_are_noted(maker, path, keys, flags, noted):
    """Of the channels that it writes, after the start frame; a body whose Animated is keyed off is led by its keys."""
    body = maker.body("Body")
    maker.key(body, path, keys)
    if flags:
        maker.key(body, "rigid_body.kinematic", flags)
    found = texts(export_scene(maker.scene), "Body", "warning")
    assert any("the bake replaces them" in text for text in found) == noted


@pytest.mark.parametrize(
    ("scene", "cache", "level"),
    [
        ((1, 250), (1, 250), None),
        ((1, 500), (1, 250), "warning"),
        ((1, 120), (1, 250), "info"),
        ((1, 9), (3, 9), "info"),
    ],
)
def test_ranges_that_differ_are_noted(maker, scene, cache, level):
    """A scene that goes on after its cache has bodies that stand still then; who gives a range knows."""
    maker.body("Body")
    maker.scene.frame_start, maker.scene.frame_end = scene
    maker.world.point_cache.frame_start, maker.world.point_cache.frame_end = cache
    found = [note for note in export_scene(maker.scene).notes if "the scene plays" in note.text]
    assert [note.level for note in found] == ([level] if level else [])
    if level:
        assert f"frames {cache[0]} to {cache[1]} are simulated" in found[0].text
        assert f"the scene plays {scene[0]} to {scene[1]}" in found[0].text
        assert (f"stand still after frame {cache[1]}" in found[0].text) == (level == "warning")
    chosen = export_scene(maker.scene, frame_end=cache[1]).notes
    assert not [note for note in chosen if "the scene plays" in note.text]


def test_equal_notes_are_grouped(maker):
    """A hundred compound parents without children give one line."""
    for place in range(30):
        maker.body(f"B{place}", shape="COMPOUND")
    (level, _, names), *_ = grouped_notes(export_scene(maker.scene).notes)
    assert (level, len(names)) == ("warning", 30)


# Fingerprint


def test_fingerprint_tells_scenes_apart(maker):
    """Equal twice; another one when anything physical changes, keys included, but not the current frame or the end."""
    ob = maker.body()
    mover = maker.body("Mover", type="PASSIVE")
    maker.key(mover, "location", {1: (0, 0, 0), 50: (1, 0, 0)})
    seen = {export_scene(maker.scene).fingerprint}
    maker.scene.frame_set(9)
    seen.add(export_scene(maker.scene).fingerprint)
    # a bake of a longer range goes on where the shorter one ended
    maker.world.point_cache.frame_end = 99
    seen.add(export_scene(maker.scene).fingerprint)
    assert len(seen) == 1

    def shift_key():
        curve = mover.animation_data.action.layers[0].strips[0].channelbags[0].fcurves[0]
        curve.keyframe_points[1].co.y += 0.1

    changes = [
        lambda: setattr(ob.rigid_body, "friction", 0.3),
        lambda: setattr(ob.rigid_body, "mass", 3.0),
        lambda: setattr(ob, "location", (0, 0, 1)),
        lambda: setattr(ob, "scale", (1, 1, 1.1)),
        lambda: setattr(maker.scene, "gravity", (0, 0, -5)),
        lambda: setattr(maker.world, "time_scale", 2.0),
        lambda: setattr(maker.scene.render, "fps", 25),
        lambda: setattr(maker.world.point_cache, "frame_start", 3),
        shift_key,
    ]
    for count, change in enumerate(changes, 2):
        change()
        seen.add(export_scene(maker.scene).fingerprint)
        assert len(seen) == count


def test_export_is_quick(maker):
    """A thousand copies: a second or two, not a minute."""
    import time

    mesh = maker.mesh()
    for place in range(1000):
        maker.body(f"B{place}", data=mesh, location=(2 * place, 0, 0), rotation_euler=(place, 0, 0))
    began = time.perf_counter()
    export = export_scene(maker.scene)
    assert time.perf_counter() - began < 10.0
    assert len(export.bodies) == 1000
    assert np.isfinite(export.model.initial_state.position).all()


def test_the_fingerprint_knows_where_an_object_s_origin_lies_in_its_body(maker):
    """The simulation is the same to the bit, but what a checkpoint has recorded are poses of objects."""
    maker.body("Box", shape="CONVEX_HULL", location=(0, 0, 3))
    ob = bpy.data.objects["Box"]
    before = export_scene(maker.scene)
    ob.data = ob.data.copy()
    ob.data.transform(Matrix.Translation((0.25, 0.0, 0.0)))
    ob.location.x = -0.25
    after = export_scene(maker.scene)
    assert np.array_equal(after.model.initial_state.position, before.model.initial_state.position)
    assert not np.array_equal(after.model.frame_position, before.model.frame_position)
    assert after.fingerprint != before.fingerprint
