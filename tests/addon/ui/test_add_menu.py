"""*Add > Cairn*: every ready-made scene is there, comes as a scene of its own, and leaves the user's scene alone."""

from types import SimpleNamespace

import bpy
import pytest

import cairn
from cairn.addon import demo, runtime
from cairn.addon.demo_list import DEMO_GROUPS, DEMOS
from cairn.addon.read.early_notes import nothing_to_bake
from cairn.addon.ui import add_menu, operators
from cairn.solver_core.scenes import SCENES


@pytest.fixture
def users_scene(maker):
    """A scene of the user's, with a body in it whose name a ready-made scene has too."""
    cairn.register()
    maker.body("Floor", shape="BOX", type="PASSIVE", location=(0, 0, -0.5))
    maker.scene.render.fps = 30
    yield maker.scene
    operators.running = None


def add(name):
    """Add a scene; it and the objects that it has."""
    before = set(bpy.data.scenes)
    assert bpy.ops.cairn.add_demo(demo=name) == {"FINISHED"}
    (scene,) = set(bpy.data.scenes) - before
    return scene


def facts(scene):
    world = scene.rigidbody_world
    return (
        scene.name,
        [ob.name for ob in scene.objects],
        [ob.name for ob in world.collection.objects],
        scene.render.fps,
        scene.render.engine,
        tuple(scene.gravity),
        scene.camera,
        scene.world,
        (scene.frame_start, scene.frame_end, scene.frame_current),
    )


def test_the_menu_has_every_scene_once():
    assert sorted(name for name, _, _ in DEMOS) == sorted(SCENES)
    titles = [title for _, title, _ in DEMOS]
    assert len(set(titles)) == len(titles)
    for _, _, what in DEMOS:
        assert not what.endswith(".")  # as all of Blender's tooltips


@pytest.mark.parametrize("name", SCENES)
def test_every_scene_opens_beside_the_users(users_scene, name):
    before = facts(users_scene)
    scene = add(name)
    assert facts(users_scene) == before
    assert set(scene.objects).isdisjoint(users_scene.objects)
    assert set(scene.rigidbody_world.collection.objects).isdisjoint(users_scene.objects)
    assert scene.camera is not None
    assert nothing_to_bake(scene) == ""
    description = SCENES[name]()
    assert scene.name == description.title
    bodies = {ob.name.split(".")[0] for ob in scene.rigidbody_world.collection.objects}
    assert bodies >= {body.name.split(".")[0] for body in description.bodies}
    if description.joints:
        assert len(scene.rigidbody_world.constraints.objects) == len(description.joints)


def test_a_scene_bakes_at_once_and_twice_is_two(users_scene):
    first, second = add("stack"), add("stack")
    assert (second.name, first.name) == ("A stack of 10 boxes.001", "A stack of 10 boxes")
    second.rigidbody_world.point_cache.frame_end = 4
    with bpy.context.temp_override(scene=second):
        assert bpy.ops.cairn.bake() == {"FINISHED"}
    assert second.cairn.is_baked
    assert not first.cairn.is_baked
    assert not users_scene.cairn.is_baked
    assert second.cairn.summary.startswith("Good: all contacts within tolerance. ")


def test_a_scene_is_one_undo_step(users_scene):
    before, name = facts(users_scene), users_scene.name
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.cairn.add_demo("EXEC_DEFAULT", True, demo="arch")
    assert len(bpy.data.scenes) == 2
    bpy.ops.ed.undo()
    (left,) = bpy.data.scenes
    assert left.name == name
    assert facts(left) == before
    assert {"UNDO"} == add_menu.CAIRN_OT_add_demo.bl_options


def test_why_not_now(users_scene):
    operators.running = {"task": "A bake", "can_stop": True, "timer": None, "steps": iter(())}
    assert not bpy.ops.cairn.add_demo.poll()
    operators.running = None
    assert bpy.ops.cairn.add_demo.poll()
    bpy.context.view_layer.objects.active = bpy.data.objects["Floor"]
    bpy.ops.object.mode_set(mode="EDIT")
    assert not bpy.ops.cairn.add_demo.poll()
    bpy.ops.object.mode_set(mode="OBJECT")


def test_numba_missing_is_said_and_nothing_added(users_scene, monkeypatch):
    def without_numba():
        raise runtime.RuntimeUnavailable("numba cannot be loaded (broken); reinstall Cairn")

    monkeypatch.setattr(runtime, "prepare", without_numba)
    with pytest.raises(RuntimeError, match="numba cannot be loaded"):
        bpy.ops.cairn.add_demo(demo="stack")
    assert list(bpy.data.scenes) == [users_scene]


def test_without_coacd_concave_scenes_come_with_a_remedy(monkeypatch):
    monkeypatch.setattr(demo, "coacd_version", lambda: None)
    assert "install it with" in demo.missing_for(SCENES["chain"]())
    assert demo.missing_for(SCENES["stack"]()) == ""


def test_the_menu_draws_groups_and_tooltips():
    drawn, menus = [], []

    def operator(name, text):
        drawn.append(SimpleNamespace(text=text, demo=None))
        return drawn[-1]

    layout = SimpleNamespace(
        operator=operator, separator=lambda: drawn.append(None), menu=lambda name, **more: menus.append(name)
    )
    add_menu.VIEW3D_MT_cairn_add.draw(SimpleNamespace(layout=layout), None)
    entries = [entry for entry in drawn if entry is not None]
    assert [(entry.demo, entry.text) for entry in entries] == [(name, title) for name, title, _ in DEMOS]
    assert drawn.count(None) == len(DEMO_GROUPS) - 1
    add_menu.draw_in_add(SimpleNamespace(layout=layout), None)
    assert menus == ["VIEW3D_MT_cairn_add"]
    tooltip = add_menu.CAIRN_OT_add_demo.description(None, SimpleNamespace(demo="cards"))
    assert tooltip.startswith("Three storeys of thin cards")
    assert "your scene stays as it is" in tooltip
