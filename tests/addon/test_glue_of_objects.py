"""Glue: the operators, what of a glue object reaches the model, what is said, and what a bake shows."""

import bpy
import numpy as np
import pytest

import cairn
from cairn.addon.bake import bake_scene
from cairn.addon.glue_materials import STRENGTHS
from cairn.addon.read.glue_bonds import read_bonds
from cairn.addon.read.scene_digest import changes, scene_digest
from cairn.addon.read.scene_export import export_scene
from cairn.addon.settings import BakeSettings
from cairn.addon.ui import glue_operators
from cairn.addon.wedge.targets import set_property

FRAMES = 12


@pytest.fixture
def wall(maker):
    """A floor, and six bricks of 0.4 x 0.2 x 0.2 m on it in two rows, the second one half a brick aside."""
    cairn.register()
    maker.world.point_cache.frame_end = maker.scene.frame_end = FRAMES
    maker.body("Floor", type="PASSIVE", shape="BOX", location=(0, 0, -0.5), scale=(10, 10, 1))
    for row in range(2):
        for column in range(3):
            at = 0.4 * column + 0.2 * row, 0.0, 0.1 + 0.2 * row
            maker.body(f"Brick.{row}{column}", shape="BOX", location=at, scale=(0.4, 0.2, 0.2), settings={"mass": 20.0})
    bpy.context.view_layer.update()
    return maker


def select(*names):
    for ob in bpy.context.scene.objects:
        ob.select_set(not names or ob.name in names)
    bpy.context.view_layer.objects.active = bpy.context.scene.objects[names[0] if names else "Floor"]


def glue(**options):
    select()
    assert bpy.ops.cairn.glue_neighbours(**options) == {"FINISHED"}
    return bpy.context.object


def pairs_of(export):
    return {tuple(sorted((joint.first, joint.second))) for joint in export.joints}


def texts_of(export, name):
    return [note.text for note in export.notes if note.object_name == name]


def test_neighbours_are_bonded_where_they_touch(wall):
    """Three on the floor, two beside each other in each row, five half on each other; mortar by area."""
    ob = glue()
    export = export_scene(wall.scene)
    floor = {tuple(sorted(("Floor", f"Brick.0{column}"))) for column in range(3)}
    beside = {(f"Brick.{row}{column}", f"Brick.{row}{column + 1}") for row in range(2) for column in range(2)}
    above = {(f"Brick.0{a}", f"Brick.1{b}") for a, b in ((0, 0), (1, 0), (1, 1), (2, 1), (2, 2))}
    assert pairs_of(export) == floor | beside | above
    assert len(ob.data.edges) == 12
    areas = {tuple(sorted((joint.first, joint.second))): joint.joint for joint in export.joints}
    tension, shear, torsion = STRENGTHS["MORTAR"]
    for pair in floor:
        assert areas[pair].tension == pytest.approx(tension * 0.08)
        assert sorted((areas[pair].bending_y, areas[pair].bending_z)) == pytest.approx(
            [tension * 0.4 * 0.2**2 / 6.0, tension * 0.2 * 0.4**2 / 6.0]
        )
    for pair in beside | above:
        assert areas[pair].shear == pytest.approx(shear * 0.04)
        assert areas[pair].torsion == pytest.approx(torsion * (0.2**4 / 6.0) / (0.1 * np.sqrt(2.0)))


def test_the_normal_leads_from_the_first_piece_to_the_second(wall):
    glue()
    export = export_scene(wall.scene)
    from cairn.solver_core.geometry import rotations

    for joint in export.joints:
        normal = rotations.rotate(np.array(joint.orientation), np.array([1.0, 0.0, 0.0]))
        first, second = (np.array(wall.scene.objects[name].location) for name in (joint.first, joint.second))
        assert normal @ (second - first) > 0.0
        assert np.abs(normal).max() == pytest.approx(1.0)


def test_who_uses_no_glue_reads_and_sees_nothing_of_it(wall):
    export = export_scene(wall.scene)
    assert export.joints == []
    assert export.model.arrays.joints.bond.size == 0
    assert "glue" not in scene_digest(wall.scene)["scene"]


def test_a_gap_is_bridged(wall):
    """Bricks with joints of 1 cm: nothing within 2 mm, all within 12."""
    for row in range(2):
        for column in range(3):
            brick = wall.scene.objects[f"Brick.{row}{column}"]
            brick.location = 0.41 * column + 0.2 * row, 0.0, 0.11 + 0.21 * row
    bpy.context.view_layer.update()
    select()
    assert bpy.ops.cairn.glue_neighbours(gap=0.002) == {"CANCELLED"}
    assert not [ob for ob in wall.scene.objects if ob.name.startswith("Glue")]
    ob = glue(gap=0.012)
    assert len(ob.data.edges) == 12


def test_a_collection_is_glued_in_place_of_the_selection(wall):
    collection = bpy.data.collections.new("Row")
    wall.scene.collection.children.link(collection)
    for column in range(3):
        collection.objects.link(wall.scene.objects[f"Brick.0{column}"])
    for ob in wall.scene.objects:
        ob.select_set(False)
    assert bpy.ops.cairn.glue_neighbours(collection="Row") == {"FINISHED"}
    assert len(bpy.context.object.data.edges) == 2


def test_what_is_glued_already_is_not_glued_twice(wall):
    glue()
    select()
    assert bpy.ops.cairn.glue_neighbours() == {"CANCELLED"}
    assert len(export_scene(wall.scene).joints) == 12


def test_a_renamed_piece_is_found_and_a_deleted_one_left_out_with_one_note(wall):
    ob = glue()
    wall.scene.objects["Brick.11"].name = "Keystone"
    assert len(export_scene(wall.scene).joints) == 12
    assert changes(scene_digest(wall.scene), scene_digest(wall.scene)) == []
    with bpy.context.temp_override(selected_objects=[wall.scene.objects["Keystone"]]):
        bpy.ops.object.delete()
    export = export_scene(wall.scene)
    assert len(export.joints) == 8
    (text,) = texts_of(export, ob.name)
    assert text.startswith("4 of its bonds are left out: ")


def test_a_wall_moves_as_a_whole_and_pieces_that_were_moved_are_left_out(wall):
    ob = glue()
    before = export_scene(wall.scene)
    for brick in wall.scene.objects:
        if brick != ob:
            brick.location.x += 3.0
    bpy.context.view_layer.update()
    moved = export_scene(wall.scene)
    assert texts_of(moved, ob.name) == []
    for one, other in zip(before.joints, moved.joints, strict=True):
        assert np.array(other.position) - one.position == pytest.approx((3.0, 0.0, 0.0), abs=1e-6)
    wall.scene.objects["Brick.12"].location.z += 1.0
    bpy.context.view_layer.update()
    export = export_scene(wall.scene)
    assert len(export.joints) == 10
    assert texts_of(export, ob.name) == [
        "2 of its bonds are left out, as their pieces were moved since; press Glue Again"
    ]
    with bpy.context.temp_override(object=ob):
        assert bpy.ops.cairn.glue_again() == {"FINISHED"}
    assert texts_of(export_scene(wall.scene), ob.name) == []
    assert len(ob.data.edges) == 10


def test_an_edge_that_is_deleted_is_a_bond_less(wall):
    ob = glue()
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    ob.data.edges[4].select = True
    gone = read_bonds(ob).piece_a[4], read_bonds(ob).piece_b[4]
    bpy.ops.object.mode_set(mode="EDIT")
    # what looks for changes looks here, too
    assert read_bonds(ob) is None
    assert "glue" in scene_digest(wall.scene)["scene"]
    bpy.ops.mesh.select_mode(type="EDGE")
    bpy.ops.mesh.delete(type="EDGE")
    bpy.ops.object.mode_set(mode="OBJECT")
    names = tuple(sorted(ob.cairn.glue.pieces[piece].object.name for piece in gone))
    export = export_scene(wall.scene)
    assert len(export.joints) == 11
    assert names not in pairs_of(export)


def test_strength_of_the_whole_network(wall):
    """A factor, noise that only weakens and is the same each time, own strengths by area and by bond."""
    ob = glue(material="CONCRETE")
    settings = ob.cairn.glue

    def tensions():
        return np.array([joint.joint.tension for joint in export_scene(wall.scene).joints])

    whole = tensions()
    assert whole.max() == pytest.approx(2.6e6 * 0.08)
    settings.strength = 2.0
    assert tensions() == pytest.approx(2.0 * whole)
    settings.strength, settings.noise = 1.0, 0.5
    shares = tensions() / whole
    assert np.all((shares > 0.5) & (shares <= 1.0))
    assert len(np.unique(shares)) == 12
    assert np.array_equal(tensions() / whole, shares)
    settings.seed = 1
    assert not np.array_equal(tensions() / whole, shares)
    settings.noise, settings.material, settings.tension = 0.0, "AREA", 1000.0
    assert tensions() == pytest.approx(whole * 1000.0 / 2.6e6)
    settings.material, settings.tension_force = "BOND", 70.0
    assert tensions() == pytest.approx(np.full(12, 70.0))
    ob.data.attributes["strength"].data[3].value = 0.25
    assert sorted(tensions()) == pytest.approx([17.5] + [70.0] * 11)


def test_the_strength_is_varied_by_a_wedge_and_makes_a_bake_out_of_date(wall):
    ob = glue()
    before = scene_digest(wall.scene)
    set_property(wall.scene, f"object:{ob.name}.strength", 3.0)
    assert ob.cairn.glue.strength == 3.0
    assert changes(before, scene_digest(wall.scene)) == ["glue"]
    set_property(wall.scene, f"object:{ob.name}.material", "GLASS")
    assert ob.cairn.glue.material == "GLASS"


def test_undo_takes_the_glue_away(wall):
    bpy.context.preferences.edit.use_global_undo = True
    bpy.ops.ed.undo_push(message="before")
    glue()
    bpy.ops.ed.undo_push(message="glued")
    assert [ob.name for ob in bpy.context.scene.objects if ob.name.startswith("Glue")] == ["Glue"]
    bpy.ops.ed.undo()
    assert not [ob.name for ob in bpy.context.scene.objects if ob.name.startswith("Glue")]
    bpy.ops.ed.redo()
    assert len(export_scene(bpy.context.scene).joints) == 12


def test_saved_and_opened_again(wall, tmp_path):
    ob = glue(material="WOOD")
    ob.cairn.glue.strength = 0.7
    before, digest = export_scene(wall.scene), scene_digest(wall.scene)
    path = str(tmp_path / "glued.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    after = export_scene(bpy.context.scene)
    assert after.fingerprint == before.fingerprint
    assert after.joints == before.joints
    assert scene_digest(bpy.context.scene) == digest


def test_fixed_constraints_are_read_as_before_and_turned_into_bonds(wall):
    """What is far apart stays; the load at which a constraint breaks is that of its bond."""
    floating = wall.body("Far", shape="BOX", location=(9, 0, 5))
    pairs = [("Brick.00", "Brick.01"), ("Brick.01", "Brick.02"), ("Brick.02", "Far")]
    for number, (first, second) in enumerate(pairs):
        empty = wall.object(f"Fixed.{number}", location=wall.scene.objects[first].location)
        bpy.context.view_layer.objects.active = empty
        bpy.ops.rigidbody.constraint_add(type="FIXED")
        constraint = empty.rigid_body_constraint
        constraint.object1, constraint.object2 = wall.scene.objects[first], wall.scene.objects[second]
        constraint.use_breaking, constraint.breaking_threshold = True, 2.0 + number
    bpy.context.view_layer.update()
    before = export_scene(wall.scene)
    assert [joint.kind for joint in before.joints] == ["FIXED"] * 3
    loads = {tuple(sorted((joint.first, joint.second))): joint.breaking_load for joint in before.joints}
    select("Fixed.0", "Fixed.1", "Fixed.2")
    assert bpy.ops.cairn.constraints_into_glue() == {"FINISHED"}
    after = export_scene(wall.scene)
    bonds = {tuple(sorted((j.first, j.second))): j.joint for j in after.joints if j.kind == "BOND"}
    assert bonds.keys() == {("Brick.00", "Brick.01"), ("Brick.01", "Brick.02")}
    for pair, bond in bonds.items():
        assert (bond.tension, bond.shear, bond.torsion) == pytest.approx((loads[pair],) * 3)
    assert [joint.second for joint in after.joints if joint.kind == "FIXED"] == [floating.name]
    assert "Fixed.0" not in bpy.data.objects


def test_a_bake_tells_which_bonds_broke_when_and_where(wall):
    """Bricks that hang from a passive one by glue that bears two and a half: the highest bond breaks, alone."""
    for ob in list(wall.scene.objects):
        bpy.data.objects.remove(ob)
    wall.body("Hook", type="PASSIVE", shape="BOX", location=(0, 0, 3))
    for place in range(3):
        wall.body(f"Link.{place}", shape="BOX", location=(0, 0, 2 - place), settings={"mass": 10.0})
    bpy.context.view_layer.update()
    for ob in wall.scene.objects:
        ob.select_set(True)
    assert bpy.ops.cairn.glue_neighbours(material="AREA") == {"FINISHED"}
    name = bpy.context.object.name
    bpy.context.object.cairn.glue.tension = 25.0 * 9.81
    result = bake_scene(wall.scene, BakeSettings(substeps=4, max_substeps=4))
    (entry,) = result.report["breaks"]
    assert entry["joint"] == f"{name}: Hook - Link.0"
    assert (entry["glue"], entry["pieces"], entry["frame"]) == (name, ("Hook", "Link.0"), 2)
    assert entry["place"] == pytest.approx((0.0, 0.0, 2.5), abs=1e-6)
    peaks = result.report["peaks"]
    # as it breaks, it holds the first of three that fall by what it bears, and the others hang on that one
    assert peaks[f"{name}: Link.0 - Link.1"]["stress"] == pytest.approx(2.0 / 3.0, rel=1e-3)
    assert peaks[f"{name}: Link.0 - Link.1"]["glue"] == name
    glue_object = bpy.data.objects[name]
    assert glue_operators._facts(wall.scene, glue_object) == [
        "3 bonds of 4 bodies",
        "1 bond broke in the last bake",
        "The others bore up to 67% of their strength",
    ]
    texts = [text for text in (note["text"] for note in result.report["notes"]) if "bond" in text]
    assert texts[0].startswith("its bond of Hook and Link.0 broke at frame 2, under 294 N and ")
    assert bpy.ops.cairn.delete_bake() == {"FINISHED"}
    assert glue_operators._facts(wall.scene, glue_object) == ["3 bonds of 4 bodies"]
    glue_object.cairn.glue.tension *= 2.0
    bake_scene(wall.scene, BakeSettings(substeps=4, max_substeps=4))
    assert glue_operators._facts(wall.scene, glue_object) == [
        "3 bonds of 4 bodies",
        "Bore up to 60% of their strength in the last bake",
    ]
