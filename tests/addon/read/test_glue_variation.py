"""How the strength of glue varies: by paint, along an object, by size of noise, and within clusters."""

import re

import bpy
import numpy as np
import pytest

import cairn
from cairn.addon.bake import bake_scene
from cairn.addon.read.glue_noise import noise_at, random_of
from cairn.addon.read.scene_digest import changes, scene_digest
from cairn.addon.read.scene_export import export_scene
from cairn.addon.settings import BakeSettings
from cairn.addon.wedge.targets import set_property

COUNT = 8


@pytest.fixture
def row(maker):
    """Eight cubes of 1 m on end, from x = 0 on, each glued to the next; bonds are at 0.5, 1.5 and so on."""
    cairn.register()
    maker.world.point_cache.frame_end = maker.scene.frame_end = 3
    for place in range(COUNT):
        maker.body(f"Cube.{place}", shape="BOX", location=(place, 0, 0), type="ACTIVE")
    bpy.context.view_layer.update()
    for ob in maker.scene.objects:
        ob.select_set(True)
    assert bpy.ops.cairn.glue_neighbours(material="AREA") == {"FINISHED"}
    glue = bpy.context.object
    glue.cairn.glue.tension = 100.0
    return glue


def tensions():
    """What each bond bears in tension, in the order of its place."""
    joints = export_scene(bpy.context.scene).joints
    return np.array([joint.joint.tension for joint in sorted(joints, key=lambda joint: min(joint.first, joint.second))])


def factors():
    return tensions() / 100.0


def texts():
    return [note.text for note in export_scene(bpy.context.scene).notes if note.object_name == "Glue"]


def cube(place):
    return bpy.data.objects[f"Cube.{place}"]


def paint_group(place, low, high):
    """Weights from the left side of a cube to the right one."""
    ob = cube(place)
    ob.data = ob.data.copy()
    group = ob.vertex_groups.new(name="Strong")
    for vertex in ob.data.vertices:
        group.add([vertex.index], low if vertex.co.x < 0.0 else high, "REPLACE")


def add_attribute(place, kind, domain, value, name="Strong"):
    ob = cube(place)
    ob.data = ob.data.copy()
    attribute = ob.data.attributes.new(name, kind, domain)
    for entry in attribute.data:
        if kind.endswith("COLOR"):
            entry.color = value
        else:
            entry.value = value(entry) if callable(value) else value
    return attribute


def test_a_vertex_group_counts_where_the_bond_is(row):
    """Between 0.8 on one cube's side and 0.4 on the other's it is the mean; what is not painted is 1."""
    paint_group(2, 0.2, 0.8)
    paint_group(3, 0.4, 0.6)
    row.cairn.glue.paint = "Strong"
    assert factors() == pytest.approx([1, 0.2, 0.6, 0.6, 1, 1, 1], abs=1e-6)
    row.cairn.glue.paint_low, row.cairn.glue.paint_high = 3.0, 1.0
    assert factors() == pytest.approx([1, 2.6, 1.8, 1.8, 1, 1, 1], abs=1e-6)


def test_paint_is_read_between_vertices(row):
    """A slope along y, and a cube whose neighbour is moved along it: the bond is where they face each other."""
    ob = cube(1)
    ob.data = ob.data.copy()
    group = ob.vertex_groups.new(name="Strong")
    for vertex in ob.data.vertices:
        group.add([vertex.index], vertex.co.y + 0.5, "REPLACE")
    cube(0).location.y = 0.5
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = row
    assert bpy.ops.cairn.glue_again() == {"FINISHED"}
    row.cairn.glue.paint = "Strong"
    # half of the first one's area is left
    assert factors()[:2] == pytest.approx([0.5 * 0.75, 0.5], abs=1e-6)


@pytest.mark.parametrize(
    ("kind", "domain", "value", "factor"),
    [
        ("FLOAT", "POINT", 0.3, 0.3),
        ("FLOAT", "FACE", 2.5, 2.5),
        ("INT", "POINT", 2, 2.0),
        ("BOOLEAN", "FACE", True, 1.0),
        ("FLOAT_COLOR", "CORNER", (1.0, 0.0, 0.0, 1.0), 0.2126),
        ("FLOAT_COLOR", "POINT", (0.5, 0.5, 0.5, 0.0), 0.5),
        ("BYTE_COLOR", "CORNER", (0.0, 1.0, 0.0, 1.0), 0.7152),
    ],
)
def test_attributes_of_numbers_and_colors(row, kind, domain, value, factor):
    add_attribute(0, kind, domain, value)
    row.cairn.glue.paint = "Strong"
    assert factors() == pytest.approx([factor, *[1.0] * (COUNT - 2)], abs=1e-5)


def test_faces_have_numbers_of_their_own(row):
    """Only that of the side at which the bond is counts."""
    ob = cube(3)
    attribute = add_attribute(3, "FLOAT", "FACE", 0.0)
    for polygon in ob.data.polygons:
        attribute.data[polygon.index].value = 0.7 if polygon.normal.x > 0.5 else 0.1 if polygon.normal.x < -0.5 else 9.0
    row.cairn.glue.paint = "Strong"
    assert factors()[2:4] == pytest.approx([0.1, 0.7], abs=1e-6)


@pytest.mark.parametrize(("kind", "domain"), [("FLOAT_VECTOR", "POINT"), ("FLOAT", "EDGE"), (None, None)])
def test_what_no_piece_has_is_said_and_changes_nothing(row, kind, domain):
    if kind is not None:
        cube(0).data.attributes.new("Strong", kind, domain)
    row.cairn.glue.paint = "Strong"
    assert factors() == pytest.approx(np.ones(COUNT - 1))
    assert any("has no effect: none of its pieces has a vertex group" in text for text in texts())


def test_a_modifier_s_attribute_counts(row):
    """The mesh after all modifiers is read: of a mirrored half that is painted, the other half is painted, too."""
    ob = cube(4)
    ob.data = ob.data.copy()
    group = ob.vertex_groups.new(name="Strong")
    group.add([vertex.index for vertex in ob.data.vertices if vertex.co.x > 0.0], 0.5, "REPLACE")
    ob.modifiers.new("Mirror", "MIRROR")
    ob.modifiers["Mirror"].use_bisect_axis[0] = True
    row.cairn.glue.paint = "Strong"
    assert factors()[3:5] == pytest.approx([0.5, 0.5], abs=1e-6)


def test_an_object_is_painted_in_place_of_the_pieces(row):
    """A bar over all of them whose weights go from 0 to 1: it is no rigid body, and may be scaled and hidden."""
    bar = bpy.data.objects.new("Bar", cube(0).data.copy())
    bpy.context.scene.collection.objects.link(bar)
    bar.location, bar.scale = (3.5, 0, 0), (8, 2, 2)
    group = bar.vertex_groups.new(name="Strong")
    for vertex in bar.data.vertices:
        group.add([vertex.index], vertex.co.x + 0.5, "REPLACE")
    bpy.context.view_layer.update()
    paint_group(2, 9.0, 9.0)  # counts no more
    row.cairn.glue.paint, row.cairn.glue.paint_object = "Strong", bar
    assert factors() == pytest.approx(np.arange(1, 8) / 8.0, abs=1e-5)
    bar.hide_viewport = bar.hide_render = True
    result = bake_scene(bpy.context.scene, BakeSettings())
    baked = sorted(result.export.joints, key=lambda joint: min(joint.first, joint.second))
    assert [joint.joint.tension / 100.0 for joint in baked] == pytest.approx(np.arange(1, 8) / 8.0, abs=1e-5)
    assert bpy.ops.cairn.delete_bake() == {"FINISHED"}
    before = scene_digest(bpy.context.scene)
    group.add([0], 0.7, "REPLACE")
    assert changes(before, scene_digest(bpy.context.scene)) == ["glue"]
    bar.vertex_groups.clear()
    assert factors() == pytest.approx(np.ones(COUNT - 1))
    assert "its Painted has no effect: Bar has no vertex group, or attribute of numbers, Strong" in texts()


def gradient(row, **settings):
    """Along an empty at the first bond, six metres long: to the last one."""
    ob = bpy.data.objects.new("Slope", None)
    bpy.context.scene.collection.objects.link(ob)
    ob.location, ob.empty_display_size, ob.scale = (0.5, 0, 0), 2.0, (3, 3, 3)
    row.cairn.glue.gradient_object, row.cairn.glue.gradient_axis = ob, "X"
    row.cairn.glue.gradient_low, row.cairn.glue.gradient_high = 2.0, 0.5
    for name, value in settings.items():
        setattr(row.cairn.glue, name, value)
    bpy.context.view_layer.update()
    return ob


@pytest.mark.parametrize(
    ("curve", "shape"),
    [
        ("LINEAR", lambda t: t),
        ("SMOOTH", lambda t: 3 * t**2 - 2 * t**3),
        ("ROOT", np.sqrt),
        ("SHARP", np.square),
        ("STEP", lambda t: np.where(t < 0.5, 0, 1)),
    ],
)
def test_strength_along_an_empty(row, curve, shape):
    gradient(row, gradient_curve=curve)
    # float32 of 0.5 on the axis may fall on either side of the step
    bpy.data.objects["Slope"].location.x -= 1e-3
    bpy.context.view_layer.update()
    share = np.clip((np.arange(7) + 1e-3) / 6.0, 0, 1)
    assert factors() == pytest.approx(2.0 - 1.5 * shape(share), abs=1e-5)


def test_a_gradient_goes_with_its_object_s_turn_parent_and_shear(row):
    """Z turned to x, and a parent that is stretched: half as steep; behind the origin it stays as at the start."""
    ob = gradient(row, gradient_axis="Z")
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.scale = 2.0, 1.0, 1.0
    ob.parent, ob.location, ob.rotation_euler = parent, (0.75, 0, 0), (0, np.pi / 2, 0)
    bpy.context.view_layer.update()
    share = np.clip((np.arange(7) - 1.0) / 12.0, 0, 1)
    assert factors() == pytest.approx(2.0 - 1.5 * share, abs=1e-5)


def test_a_gradient_by_distance(row):
    ob = gradient(row, gradient_axis="DISTANCE")
    ob.location.x = 3.5
    ob.scale = 1.5, 1.5, 1.5
    bpy.context.view_layer.update()
    assert factors() == pytest.approx(2.0 - 1.5 * np.abs(np.arange(7) - 3.0) / 3.0, abs=1e-5)


def test_a_gradient_along_a_mesh_takes_its_own_coordinates(row):
    ob = gradient(row)
    row.cairn.glue.gradient_object = cube(0)
    assert ob.name == "Slope"
    assert factors()[:2] == pytest.approx([2.0 - 1.5 * 0.5, 0.5])


def test_a_gradient_without_size_is_said(row):
    ob = gradient(row)
    ob.scale.z = 0.0
    bpy.context.view_layer.update()
    assert factors() == pytest.approx(np.ones(COUNT - 1))
    assert "its Gradient has no effect: Slope has a scale of 0" in texts()


def test_a_keyed_gradient_counts_as_it_is_at_the_start(row):
    """Whatever frame is shown; a bake reads it too, and its model is that of the export."""
    ob = gradient(row)
    for frame, place in ((1, 0.5), (3, 9.0)):
        ob.location.x = place
        ob.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(3)
    expected = 2.0 - 1.5 * np.arange(7) / 6.0
    assert factors() == pytest.approx(expected, abs=1e-5)
    result = bake_scene(bpy.context.scene, BakeSettings())
    baked = sorted(result.export.joints, key=lambda joint: min(joint.first, joint.second))
    assert [joint.joint.tension / 100.0 for joint in baked] == pytest.approx(expected, abs=1e-5)


def test_noise_of_a_size_is_smooth_and_stays_with_the_wall(row):
    """Neighbours are alike, far ones are not; moved as a whole and with a bond less, all others stay as they are."""
    settings = row.cairn.glue
    settings.noise, settings.noise_size, settings.seed = 0.8, 50.0, 3
    fine = factors()
    assert np.all((fine >= 0.2) & (fine <= 1.0))
    assert np.abs(np.diff(fine)).max() < 0.05
    settings.noise_size = 1.0
    rough = factors()
    assert np.ptp(rough) > 0.2
    for place in range(COUNT):
        cube(place).location.x += 12.3
    bpy.context.view_layer.update()
    assert np.array_equal(factors(), rough)
    settings.seed = 4
    assert not np.allclose(factors(), rough)


def test_noise_is_random_at_the_corners_and_goes_through_them_smoothly():
    """No step at cells' borders, equal seeds give equal numbers, and their mean is a half."""
    random = np.random.default_rng(0)
    points = random.uniform(-50.0, 50.0, (20000, 3))
    values = noise_at(points, 1.7, 5)
    assert values.min() >= 0.0
    assert values.max() <= 1.0
    assert values.mean() == pytest.approx(0.5, abs=0.01)
    moved = points + 1e-6 * random.normal(size=points.shape)
    assert np.abs(noise_at(moved, 1.7, 5) - values).max() < 1e-5
    corners = random.integers(-1000, 1000, (5000, 3))
    at_corners = noise_at(1.7 * corners.astype(float) + 1e-9, 1.7, 5)
    # of uniform numbers a twelfth is the variance; neighbours know nothing of each other
    assert at_corners.var() == pytest.approx(1.0 / 12.0, rel=0.05)
    beside = noise_at(1.7 * (corners + [1, 0, 0]).astype(float) + 1e-9, 1.7, 5)
    assert abs(np.corrcoef(at_corners, beside)[0, 1]) < 0.05


def test_numbers_of_bonds_are_those_of_splitmix64():
    """The first output of the generator with the state (1 << 32) ^ 2, which is then taken as a state again."""
    mask = 2**64 - 1

    def step(state):
        state = (state + 0x9E3779B97F4A7C15) & mask
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & mask
        return state ^ (state >> 31)

    expected = step(step(((1 << 32) ^ 2) ^ 7)) >> 11
    assert random_of(np.array([1]), np.array([2]), 7)[0] == expected / 2.0**53


def test_clusters_by_number(row):
    """So many groups of neighbours; bonds inside are stronger, the others as they are; the note counts them."""
    settings = row.cairn.glue
    settings.cluster_by, settings.cluster_count, settings.cluster_factor = "NUMBER", 3, 5.0
    found = factors()
    assert sorted(set(found)) == pytest.approx([1.0, 5.0])
    assert np.count_nonzero(found < 2.0) == 2  # in a row, three clusters meet twice
    (text,) = texts()
    # a cluster of one piece has no bond inside
    assert re.fullmatch("its clusters: 5 bonds inside [123] of them, 2 between", text)
    cuts = set()
    for seed in range(6):
        settings.cluster_seed = seed
        assert np.count_nonzero(factors() < 2.0) == 2
        cuts.add(tuple(factors()))
    assert len(cuts) > 2
    settings.cluster_count = 1
    assert factors() == pytest.approx(np.full(COUNT - 1, 5.0))
    settings.cluster_count = 1000
    assert factors() == pytest.approx(np.ones(COUNT - 1))
    assert any("no two pieces that it glues are in one" in text for text in texts())


def test_clusters_are_by_where_pieces_are_not_their_origins(row):
    """All origins are in one place, as after a fracture that leaves them."""
    for place in range(COUNT):
        ob = cube(place)
        ob.data = ob.data.copy()
        ob.data.transform(ob.matrix_world)
        ob.location = 0, 0, 0
        ob.rigid_body.collision_shape = "CONVEX_HULL"
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = row
    assert bpy.ops.cairn.glue_again() == {"FINISHED"}
    row.cairn.glue.cluster_by, row.cairn.glue.cluster_count = "NUMBER", 2
    assert np.count_nonzero(factors() < 2.0) == 1


def test_clusters_by_collection(row):
    """Pieces in no collection but the scene's and that of all bodies are in no cluster."""
    for name, places in (("Left", (0, 1, 2)), ("Right", (3, 4))):
        collection = bpy.data.collections.new(name)
        bpy.context.scene.collection.children.link(collection)
        for place in places:
            collection.objects.link(cube(place))
    row.cairn.glue.cluster_by = "COLLECTION"
    assert factors() == pytest.approx([10, 10, 1, 10, 1, 1, 1])


@pytest.mark.parametrize("where", ["object", "data", "attribute"])
def test_clusters_by_attribute(row, where):
    for place in range(COUNT - 1):  # the last one has none
        number = 2 if place in (0, 1, 4, 5) else 7
        ob = cube(place)
        ob.data = ob.data.copy()
        if where == "object":
            ob["chunk"] = number
        elif where == "data":
            ob.data["chunk"] = f"chunk {number}"
        else:
            add_attribute(place, "INT", "FACE", number, "chunk")
    row.cairn.glue.cluster_by, row.cairn.glue.cluster_attribute = "ATTRIBUTE", "chunk"
    assert factors() == pytest.approx([10, 1, 10, 1, 10, 1, 1])


def test_passive_pieces_are_in_no_cluster(row):
    cube(0).rigid_body.type = "PASSIVE"
    row.cairn.glue.cluster_by, row.cairn.glue.cluster_count = "NUMBER", 1
    assert factors() == pytest.approx([1, *[10.0] * (COUNT - 2)])


def test_all_factors_are_multiplied(row):
    row.cairn.glue.strength = 3.0
    gradient(row, gradient_low=2.0, gradient_high=2.0, cluster_by="NUMBER", cluster_count=1, cluster_factor=4.0)
    add_attribute(0, "FLOAT", "POINT", 0.5)
    row.cairn.glue.paint = "Strong"
    assert factors() == pytest.approx([12.0, *[24.0] * (COUNT - 2)], rel=1e-6)


def test_paint_that_is_no_number_leaves_bonds_out_with_a_note(row):
    add_attribute(0, "FLOAT", "POINT", float("nan"))
    row.cairn.glue.paint = "Strong"
    assert len(tensions()) == COUNT - 2
    assert "1 of its bonds are left out: their strength is no number of at least 0" in texts()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("noise_size", 2.0),
        ("paint", "Strong"),
        ("paint_low", 0.25),
        ("paint_high", 2.0),
        ("gradient_axis", "Y"),
        ("gradient_curve", "ROOT"),
        ("gradient_low", 3.0),
        ("gradient_high", 3.0),
        ("cluster_by", "NUMBER"),
        ("cluster_count", 3),
        ("cluster_seed", 3),
        ("cluster_factor", 3.0),
    ],
)
def test_each_setting_is_varied_by_a_wedge_and_makes_a_bake_out_of_date(row, name, value):
    gradient(row, noise=0.5, noise_size=1.0, paint="Other", cluster_by="NUMBER", cluster_count=2)
    if name == "cluster_by":
        row.cairn.glue.cluster_by = "NONE"
    before = scene_digest(bpy.context.scene)
    assert changes(before, scene_digest(bpy.context.scene)) == []
    set_property(bpy.context.scene, f"object:Glue.{name}", value)
    assert getattr(row.cairn.glue, name) == value
    assert changes(before, scene_digest(bpy.context.scene)) == ["glue"]


def test_paint_the_gradient_s_object_and_groups_make_a_bake_out_of_date(row):
    ob = gradient(row, paint="Strong", cluster_by="ATTRIBUTE", cluster_attribute="chunk")
    paint_group(2, 0.1, 0.2)
    before = scene_digest(bpy.context.scene)
    cube(2).vertex_groups["Strong"].add([0], 0.9, "REPLACE")
    assert changes(before, scene_digest(bpy.context.scene)) == ["glue"]
    before = scene_digest(bpy.context.scene)
    cube(5)["chunk"] = 4
    assert changes(before, scene_digest(bpy.context.scene)) == ["glue"]
    before = scene_digest(bpy.context.scene)
    ob.location.x = 2.0
    assert changes(before, scene_digest(bpy.context.scene)) == ["start pose of Slope"]


def test_glue_that_does_not_vary_depends_on_no_more_than_before(row):
    """Neither paint, nor another object, nor a group of pieces is read."""
    before = scene_digest(bpy.context.scene)
    row.cairn.glue.paint_low, row.cairn.glue.gradient_high, row.cairn.glue.cluster_count = 0.5, 0.5, 4
    paint_group(2, 0.1, 0.2)
    assert scene_digest(bpy.context.scene)["scene"] == before["scene"]


def test_a_chain_breaks_between_its_clusters(maker):
    """Four links hang by glue that bears one and a half; within two clusters it bears fifteen, so the middle goes."""
    cairn.register()
    maker.world.point_cache.frame_end = maker.scene.frame_end = 6
    maker.body("Hook", type="PASSIVE", shape="BOX", location=(0, 0, 5))
    for place in range(4):
        link = maker.body(f"Link.{place}", shape="BOX", location=(0, 0, 4 - place), settings={"mass": 10.0})
        link["chunk"] = place // 2
    maker.scene.objects["Hook"]["chunk"] = 0
    bpy.context.view_layer.update()
    for ob in maker.scene.objects:
        ob.select_set(True)
    assert bpy.ops.cairn.glue_neighbours(material="AREA") == {"FINISHED"}
    glue = bpy.context.object
    settings = glue.cairn.glue
    settings.tension, settings.cluster_factor = 15.0 * 9.81, 10.0
    # the bond of the hook, which is passive and in no cluster, is to hold
    settings.cluster_by, settings.cluster_attribute = "ATTRIBUTE", "chunk"
    hook = [piece.object.name for piece in settings.pieces].index("Hook")
    for row, edge in enumerate(glue.data.edges):
        if hook in (glue.data.attributes["piece_a"].data[row].value, glue.data.attributes["piece_b"].data[row].value):
            glue.data.attributes["strength"].data[edge.index].value = 100.0
    result = bake_scene(maker.scene, BakeSettings(substeps=4, max_substeps=4))
    assert [entry["pieces"] for entry in result.report["breaks"]] == [("Link.1", "Link.2")]
    settings.cluster_by = "NONE"
    assert bpy.ops.cairn.delete_bake() == {"FINISHED"}
    result = bake_scene(maker.scene, BakeSettings(substeps=4, max_substeps=4))
    assert ("Link.0", "Link.1") in [entry["pieces"] for entry in result.report["breaks"]]


def test_saved_and_opened_again_all_stays(row, tmp_path):
    gradient(row, noise=0.5, noise_size=1.0, paint="Strong", cluster_by="NUMBER", cluster_count=2)
    paint_group(2, 0.1, 0.2)
    before, digest = tensions(), scene_digest(bpy.context.scene)
    path = str(tmp_path / "varied.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert np.array_equal(tensions(), before)
    assert scene_digest(bpy.context.scene) == digest


def drawn(row, *points):
    """The curve that is drawn by hand, through these points in straight lines."""
    row.cairn.glue.gradient_curve = "CUSTOM"
    mapping = row.cairn.glue.gradient_profile.nodes[0].mapping
    curve = mapping.curves[0]
    for place, height in points[1:-1]:
        curve.points.new(place, height)
    for point, location in zip(sorted(curve.points, key=lambda point: point.location.x), points, strict=True):
        point.location, point.handle_type = location, "VECTOR"
    mapping.update()
    return mapping


def test_a_curve_that_is_drawn_by_hand(row):
    """It begins as a straight line, is read wherever its points lie, and puts a bake out of date."""
    gradient(row, gradient_curve="CUSTOM")
    straight = np.linspace(0.0, 1.0, 7)
    assert factors() == pytest.approx(2.0 - 1.5 * straight, abs=1e-5)
    before = scene_digest(bpy.context.scene)
    drawn(row, (0.0, 1.0), (0.5, 0.0), (1.0, 0.5))
    heights = np.interp(straight, [0.0, 0.5, 1.0], [1.0, 0.0, 0.5])
    # Blender has a table of 256 places
    assert factors() == pytest.approx(2.0 - 1.5 * heights, abs=0.02)
    assert changes(before, scene_digest(bpy.context.scene)) == ["glue"]
    row.cairn.glue.gradient_curve = "LINEAR"
    assert factors() == pytest.approx(2.0 - 1.5 * straight, abs=1e-5)
    row.cairn.glue.gradient_curve = "CUSTOM"
    assert factors() == pytest.approx(2.0 - 1.5 * heights, abs=0.02)


def test_a_drawn_curve_is_saved_undone_and_copied(row, tmp_path):
    gradient(row)
    bpy.ops.ed.undo_push(message="before")
    drawn(row, (0.0, 1.0), (0.5, 0.0), (1.0, 1.0))
    found = factors()
    bpy.ops.ed.undo_push(message="drawn")
    bpy.ops.ed.undo()
    assert bpy.data.objects["Glue"].cairn.glue.gradient_curve == "LINEAR"
    assert not bpy.data.node_groups
    bpy.ops.ed.redo()
    assert factors() == pytest.approx(found)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "drawn.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "drawn.blend"))
    assert factors() == pytest.approx(found)
    glue = bpy.data.objects["Glue"]
    copy = glue.copy()
    bpy.context.scene.collection.objects.link(copy)
    group = glue.cairn.glue.gradient_profile
    assert copy.cairn.glue.gradient_profile == group
    assert group.users == 2
    bpy.context.view_layer.objects.active = copy
    assert bpy.ops.cairn.own_gradient_curve() == {"FINISHED"}
    assert copy.cairn.glue.gradient_profile != group
    assert group.users == copy.cairn.glue.gradient_profile.users == 1


def test_a_drawn_curve_that_is_gone_is_said(row):
    gradient(row, gradient_curve="CUSTOM")
    bpy.data.node_groups.remove(row.cairn.glue.gradient_profile)
    assert factors() == pytest.approx(np.ones(COUNT - 1))
    assert any("its curve is gone" in text for text in texts())
    row.cairn.glue.gradient_curve = "LINEAR"
    row.cairn.glue.gradient_curve = "CUSTOM"
    assert factors() == pytest.approx(2.0 - 1.5 * np.linspace(0.0, 1.0, 7), abs=1e-5)
