"""The panel Wedge: properties by a right click, bakes in child processes, and the variant that is taken."""

import json
from types import SimpleNamespace

import bpy
import pytest
from command_line import run
from wedge_scenes import digests, make_slope

import cairn
from cairn.addon.bake import BakeStopped
from cairn.addon.ui import errors, operators, wedge_panel


@pytest.fixture
def scene(maker, tmp_path):
    cairn.register()
    make_slope(maker, tmp_path / "slope.blend")
    wedge_panel._shown.clear()
    yield maker.scene
    operators.running = None


def vary(scene, **values):
    for path, text in values.items():
        assert bpy.ops.cairn.wedge_add(path=path, values=text) == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    return bpy.context.scene


def test_variants_are_those_of_the_command_line(scene, tmp_path):
    scene = vary(scene, friction="0.2,0.9")
    assert bpy.ops.cairn.wedge() == {"FINISHED"}
    folder = tmp_path / "slope.wedge"
    found = digests(folder)
    assert sorted(found) == [1, 2]
    assert (folder / "table.csv").is_file()
    assert sorted(wedge_panel._shown["icons"]) == [1, 2]
    options = ["--vary", "friction=0.2,0.9", "--trajectories", "--no-pictures"]
    assert run("wedge", tmp_path / "slope.blend", *options, "-o", tmp_path / "line")[0] == 0
    assert digests(tmp_path / "line") == found


def test_use_this_one_gives_the_bits_of_the_variant(scene, tmp_path):
    """Also after another one was taken, whose starts were moved."""
    scene.cairn_wedge.seeds, scene.cairn_wedge.jitter = 2, 0.01
    scene = vary(scene, friction="0.2,0.9")
    assert bpy.ops.cairn.wedge() == {"FINISHED"}
    found = digests(tmp_path / "slope.wedge")
    assert len(set(found.values())) == 4
    for number in (4, 1, 3):
        assert bpy.ops.cairn.wedge_use(number=number) == {"FINISHED"}
        assert json.loads(scene.cairn.report)["totals"]["digest"] == found[number]
    assert scene.objects["Ball"].rigid_body.friction == pytest.approx(0.9)


def test_another_wedge_gets_another_folder(scene, tmp_path):
    scene = vary(scene, friction="0.2")
    assert bpy.ops.cairn.wedge() == {"FINISHED"}
    before = digests(tmp_path / "slope.wedge")
    scene.cairn_wedge.entries[0].values = "0.7"
    bpy.ops.wm.save_mainfile()
    assert bpy.ops.cairn.wedge() == {"FINISHED"}
    assert digests(tmp_path / "slope.wedge") == before
    assert sorted(digests(tmp_path / "slope.wedge.2")) == [1]


def test_escape_ends_the_children(scene, tmp_path):
    scene = vary(scene, friction="0.2,0.5,0.9")
    steps = wedge_panel.bake_variants(scene)
    next(steps)
    next(steps)
    with pytest.raises(StopIteration) as end:
        steps.throw(BakeStopped())
    _, folder, failed, stopped = end.value.value
    assert (failed, stopped) == ([], True)
    assert digests(folder) == {}


def test_what_cannot_be_set_is_found_before_the_first_variant_starts(scene, tmp_path):
    """With the nearest name; nothing is written and nothing changed."""
    scene = vary(scene, fricton="0.2,0.5")
    with pytest.raises(RuntimeError, match="perhaps 'friction'"):
        bpy.ops.cairn.wedge()
    assert not (tmp_path / "slope.wedge").exists()


def test_the_bar_says_what_is_at_work(scene):
    """Not only that none is done."""
    steps = wedge_panel.bake_variants(vary(scene, friction="0.2,0.5"))
    assert next(steps).text.startswith("0 of 2 variants done, ")
    assert " at work, 0 % of all" in next(steps).text.replace("0%", "0 %")
    steps.close()


def test_the_bar_is_not_full_while_a_variant_is_at_work(scene, monkeypatch):
    """All frames are there before the picture is drawn."""
    monkeypatch.setattr(wedge_panel.LocalTasks, "under_way", property(lambda tasks: float(tasks.running)))
    steps = wedge_panel.bake_variants(vary(scene, friction="0.2"))
    progress = next(steps)
    assert progress.text.endswith(", 99% of all")
    assert progress.factor < 1.0
    steps.close()


def test_an_error_about_a_path_begins_as_that_is_spelt():
    assert errors.sentence("object:Ball.mas: there is no property 'mas'").startswith("object:")
    assert errors.sentence("its scale is 0").startswith("Its ")
    assert errors.sentence("cannot write it").startswith("Cannot ")


def test_what_must_be_said(scene):
    with pytest.raises(RuntimeError, match="Nothing varies"):
        bpy.ops.cairn.wedge()
    bpy.ops.cairn.wedge_add(path="friction", values="x:y:z")
    bpy.ops.wm.save_mainfile()
    with pytest.raises(RuntimeError, match="is no range"):
        bpy.ops.cairn.wedge()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.rigidbody.world_add()
    bpy.ops.cairn.wedge_add()
    with pytest.raises(RuntimeError, match=r"[Ss]ave the file first"):
        bpy.ops.cairn.wedge()


TARGETS = [
    ("Ball", "rigid_body.friction", -1, ("object:Ball.friction", "0.25:0.75:3")),
    ("Ball", "location", 2, ("object:Ball.location[2]", "0.6:1.8:3")),
    ("Ball", '["glow"]', -1, ('object:Ball["glow"]', "0.5:1.5:3")),
    ("Ball", "rigid_body.use_deactivation", -1, ("object:Ball.use_deactivation", "off,on")),
    ("Ball", "rigid_body.collision_shape", -1, None),
    (None, "cairn.substeps", -1, ("substeps", "4,8")),
    (None, "cairn.quality", -1, ("quality", "preview,production,exact")),
    (None, "rigidbody_world.time_scale", -1, ("world:time_scale", "0.5:1.5:3")),
    (None, "gravity", 2, ("scene:gravity[2]", "-4.905:-14.715:3")),
    ("Ball", "name", -1, None),
    ("Ball", "nothing", -1, None),
]


@pytest.mark.parametrize(("name", "path", "index", "expected"), TARGETS, ids=[path for _, path, _, _ in TARGETS])
def test_what_a_right_click_varies(scene, name, path, index, expected):
    """What the menu writes into the panel can be set."""
    block = scene if name is None else scene.objects[name]
    found = wedge_panel.target_of(block, path, index)
    if path == "rigid_body.collision_shape":
        assert found is not None
        assert found[0] == "object:Ball.collision_shape"
        assert "SPHERE" in found[1].split(",")
        return
    assert found == expected
    if expected is not None:
        from cairn.addon.wedge.targets import set_property
        from cairn.addon.wedge.variants import parse_vary

        for value in parse_vary(f"{found[0]}={found[1]}")[1]:
            set_property(scene, found[0], value)


def test_the_menu_of_a_right_click(scene):
    """An entry where something can be varied, and nothing elsewhere."""
    drawn = []

    class Layout:
        def separator(self):
            drawn.append(None)

        def operator(self, name, **words):
            drawn.append(SimpleNamespace(name=name))
            return drawn[-1]

    menu = SimpleNamespace(layout=Layout())
    ball = scene.objects["Ball"]
    wedge_panel.draw_context_menu(menu, SimpleNamespace(scene=scene, property=(ball, "rigid_body.mass", -1)))
    assert drawn[-1].path == "object:Ball.mass"
    count = len(drawn)
    for found in (None, (ball, "name", -1)):
        wedge_panel.draw_context_menu(menu, SimpleNamespace(scene=scene, property=found))
    assert len(drawn) == count
