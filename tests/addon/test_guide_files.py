"""The files of docs/guide/how-do-i.md do what the page says of them."""

import math
import random
import re
from pathlib import Path

import bpy
import numpy as np
import pytest

import cairn
from cairn.addon.bake import bake_scene
from cairn.addon.read.scene_export import export_scene
from cairn.addon.settings import BakeSettings

ROOT = Path(__file__).resolve().parents[2]
FILES = ROOT / "docs" / "files"
PAGE = (ROOT / "docs" / "guide" / "how-do-i.md").read_text(encoding="utf-8")
LARGEST_PICTURE, LARGEST_FILE = 150_000, 300_000  # [bytes]
FRAME_RATE = 24.0


@pytest.fixture
def baked():
    """Bake a file; returns its result and the paths of its bodies [frames, 3], from frame 1 on."""
    cairn.register()

    def bake(name, end):
        bpy.ops.wm.open_mainfile(filepath=str(FILES / f"{name}.blend"))
        scene = bpy.context.scene
        result = bake_scene(scene, BakeSettings(start=1, end=end))
        names = result.export.model.names
        return result, {name: result.trajectory.position[:, index] for index, name in enumerate(names)}

    return bake


def test_what_begins_with_a_velocity_flies_on_with_it(baked):
    """The ball in an arc whose first frame is as its panel says; bricks up, each by up to 30 % differently."""
    _, paths = baked("begin", 8)
    ball, seconds = paths["Ball"], 1 / FRAME_RATE
    damping = 0.96  # Blender's default damping takes 4 % a second
    assert (ball[1] - ball[0])[[0, 1]] / seconds == pytest.approx([5.0, 0.0], rel=1.0 - damping, abs=1e-9)
    # over six frames it has fallen by half of g times their time squared, from a line
    assert ball[6, 2] - ball[0, 2] == pytest.approx(4.0 * 0.25 - 0.5 * 9.81 * 0.25**2, abs=0.04)
    first = np.array([(path[1] - path[0]) / seconds for name, path in paths.items() if name.startswith("Brick")])
    assert len(first) == 6
    assert np.all(np.linalg.norm(first - [0.0, 0.0, 5.0], axis=1) < 0.3 * 5.0 + 0.5)
    assert np.ptp(first, axis=0).min() > 0.1  # they differ along all axes


def test_a_belt_carries_what_lies_on_it_and_what_is_heavy_below_stands_up(baked):
    """Boxes of all three materials leave the belt at 1 m/s; balls are upright in the end."""
    result, paths = baked("matter", 96)
    for name in ("Box.Wood", "Box.Stone", "Box.Ice"):
        path = paths[name]
        on_belt = path[(path[:, 2] > 0.64) & (np.arange(len(path)) > 24), 0]
        assert np.diff(on_belt)[:6] * FRAME_RATE == pytest.approx([1.0] * 6, rel=0.01), name
        assert path[-1, 0] > 2.15, name  # beyond its end
    model = result.export.model
    for name in ("Ball.0", "Ball.1", "Ball.2"):
        index = model.names.index(name)
        turn = result.trajectory.orientation[:, index]
        up = 1.0 - 2.0 * (turn[:, 1] ** 2 + turn[:, 2] ** 2)
        assert up[-1] > 0.97, name
    weights = model.arrays.mass[[model.names.index(f"Box.{name}") for name in ("Wood", "Stone", "Ice")]]
    assert weights == pytest.approx(np.array([700.0, 2600.0, 917.0]) * 0.027, rel=1e-5)


def test_sheets_drift_where_a_ball_drops_and_a_gust_takes_them_along(baked):
    """The ball lies on the floor as they are still in the air; then they go along the gust, and the ball does not."""
    _, paths = baked("wind", 60)
    sheets = np.array([path for name, path in paths.items() if name.startswith("Box")])
    assert len(sheets) == 6
    assert paths["Ball"][20, 2] < 0.2
    assert sheets[:, 20, 2].min() > 0.3
    carried = sheets[:, 45, 0] - sheets[:, 14, 0]
    assert np.median(carried) > 0.5
    assert abs(paths["Ball"][45, 0] - paths["Ball"][0, 0]) < 0.3


def test_what_is_thrown_leaves_with_the_speed_of_its_keys(baked):
    """1 m in four frames are 6 m/s; then it flies on, and falls freely from frame 5."""
    _, paths = baked("throw", 16)
    ball, seconds = paths["Ball"], 4 / FRAME_RATE
    assert ball[4] == pytest.approx([0, 0, 1], abs=1e-6)
    damping = 0.96  # Blender's default damping takes 4 % a second
    assert (ball[8, 0] - ball[4, 0]) / seconds == pytest.approx(6.0, rel=1.0 - damping)
    assert ball[8, 2] == pytest.approx(1.0 - 0.5 * 9.81 * seconds**2, abs=0.02)


def test_slow_motion_shows_the_same_motion_in_four_times_as_many_frames(baked):
    _, fast = baked("throw", 12)
    _, slow = baked("slow", 45)
    assert slow["Ball"][::4] == pytest.approx(fast["Ball"], abs=0.05)


def test_what_is_held_waits_until_it_is_touched(baked):
    """The ball hits the first of three boxes, which falls; those that nothing touches hang in the air."""
    _, paths = baked("hold", 40)
    assert np.abs(paths["Box.0"][:6] - paths["Box.0"][0]).max() < 1e-6
    assert paths["Box.0"][-1, 2] < 1.0
    assert np.abs(paths["Box.2"] - paths["Box.2"][0]).max() < 1e-6


def test_what_waits_wakes_by_what_it_waits_for(baked):
    """The wall by the ball, planks as the volume comes over their middles, the shelf under the heavy ball."""
    result, paths = baked("wait", 84)
    woken = {name: frame["frame"] for frame in result.report["frames"] for name in frame["activated"]}
    # its front is 0.15 m ahead of it, and begins at -0.6; 4.8 m in 95 frames
    for number in range(8):
        way = 0.3 + 0.42 * number - (0.15 - 0.6)
        assert woken[f"Plank.{number}"] == math.floor(1 + way / 4.8 * 95) + 1
    assert "Wall.Shelf.Heavy" in woken
    assert "Wall.Shelf.Light" not in woken
    bricks = [frame for name, frame in woken.items() if name.startswith("Brick")]
    assert len(bricks) > 6
    for name, path in paths.items():
        if not name.startswith("Ball"):
            still = path[: woken.get(name, 84) - 1]
            assert np.abs(still - still[0]).max() <= 1e-6, name


def test_a_figure_follows_its_keys_falls_and_stands_again(baked):
    """Its head is where the keys have it, until the ball has hit it; it lies; and it is there again."""
    result, paths = baked("follow", 96)
    head = paths["head"]
    assert np.abs(head[:16, 2] - head[0, 2]).max() < 0.02
    assert paths["Ball"][18, 1] > -1.0  # from 6 m away
    assert head[54, 2] < 0.5
    assert np.abs(head[-4:, 2] - head[0, 2]).max() < 0.02
    assert result.report["totals"]["missed"] == 0


def test_the_lines_that_scatter_rocks_let_them_lie_on_the_terrain():
    """Wherever chance has put them; without a key. Whoever has left the terrain lies on the floor."""
    cairn.register()
    bpy.ops.wm.open_mainfile(filepath=str(FILES / "settle.blend"))
    random.seed(5)
    scope = {}
    exec(snippet("Let things lie before the shot begins"), scope)
    assert len(scope["result"].at_rest) == len(scope["rocks"]) == 50
    assert all(-0.1 < rock.location.z < 2.0 for rock in scope["rocks"])
    assert len(bpy.data.actions) == 0


def test_a_glued_wall_stands_and_breaks_where_it_is_hit(baked):
    result, paths = baked("glued", 30)
    standing = np.abs(paths["Brick.12"][:6] - paths["Brick.12"][0]).max()
    assert standing < 1e-3
    assert np.abs(paths["Brick.12"][-1] - paths["Brick.12"][0]).max() > 0.5
    broken = result.report["breaks"]
    assert 0 < len(broken) < len(result.report["joints"])
    assert min(entry["frame"] for entry in broken) > 5


def test_a_wall_comes_apart_between_its_clusters(baked):
    """Those inside are 50 times as strong: most of them hold, while most of the others break."""
    result, _ = baked("clusters", 40)
    scene = bpy.context.scene
    broken = {frozenset(entry["pieces"]) for entry in result.report["breaks"]}
    stronger = {frozenset((joint.first, joint.second)): joint.joint.tension for joint in result.export.joints}
    scene.objects["Glue"].cairn.glue.cluster_by = "NONE"
    plain = {frozenset((joint.first, joint.second)): joint.joint.tension for joint in export_scene(scene).joints}
    ratios = {pair: stronger[pair] / plain[pair] for pair in plain}
    assert set(np.round(list(ratios.values()), 6)) == {1.0, 50.0}
    inside = {pair for pair in plain if ratios[pair] > 2.0}
    between = plain.keys() - inside
    assert min(len(inside), len(between)) > 40
    shares = [len(broken & pairs) / len(pairs) for pairs in (inside, between)]
    assert shares[0] < 0.5 < shares[1]


def entries():
    """The page's answers, {title: text}."""
    parts = re.split(r"^## (.+)$", PAGE, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def snippet(title):
    """The lines of Python in an answer."""
    (lines,) = re.findall(r"```python\n(.*?)```", entries()[title], flags=re.DOTALL)
    return compile(re.sub("^   ", "", lines, flags=re.MULTILINE), title, "exec")


@pytest.mark.parametrize("title", entries())
def test_each_answer_has_a_picture_and_a_file(title):
    """Small ones, and no file is left that no answer names."""
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", entries()[title])
    files = re.findall(r"\]\((\.\./files/[^)]+\.blend)\)", entries()[title])
    assert pictures
    assert files
    for path, largest in [*((path, LARGEST_PICTURE) for path in pictures), *((path, LARGEST_FILE) for path in files)]:
        assert (ROOT / "docs" / "guide" / path).stat().st_size < largest, path


def test_every_file_is_named():
    named = re.findall(r"\.\./files/([^)]+\.blend)", PAGE)
    assert {path.name for path in FILES.glob("*.blend")} == set(named)


def test_one_press_glues_a_wall_as_the_file_is():
    """15 bricks on others and 16 beside others; none that touch at an edge."""
    cairn.register()
    bpy.ops.wm.open_mainfile(filepath=str(FILES / "glued.blend"))

    def joined():
        return {frozenset((joint.first, joint.second)) for joint in export_scene(bpy.context.scene).joints}

    expected = joined()
    assert len(expected) == 31
    bpy.data.objects.remove(bpy.context.scene.objects["Glue"])
    assert not joined()
    for ob in bpy.context.scene.objects:
        ob.select_set(ob.name.startswith("Brick"))
    assert bpy.ops.cairn.glue_neighbours() == {"FINISHED"}
    assert joined() == expected


def test_the_lines_that_let_a_figure_fall_key_all_bodies(baked):
    """The file has the same keys."""
    bpy.ops.wm.open_mainfile(filepath=str(FILES / "figure.blend"))

    def keys(ob):
        data = ob.animation_data
        curves = data.action.layers[0].strips[0].channelbag(data.action_slot).fcurves
        return [tuple(point.co) for point in curves.find("rigid_body.kinematic").keyframe_points]

    bodies = [ob for ob in bpy.context.scene.objects if ob.name.startswith("Body ")]
    before = [keys(ob) for ob in bodies]
    for ob in bpy.context.scene.objects:
        ob.select_set(ob in bodies)
    for ob in bodies:
        ob.animation_data_clear()
    exec(snippet("Let a figure fall"), {})
    assert [keys(ob) for ob in bodies] == before == [[(1.0, 1.0), (21.0, 0.0)]] * 11


def test_a_figure_is_led_by_its_rig_and_then_leads_the_other(baked):
    """Both rigs agree until it is let go; then the bones of the second stay at the bodies, which fall."""
    baked("figure", 60)
    scene = bpy.context.scene
    lead, follow = scene.objects["Lead"], scene.objects["Figure"]

    def middles(rig):
        bones = [rig.pose.bones[bone.name] for bone in follow.pose.bones]
        places = [rig.matrix_world @ (0.5 * (bone.head + bone.tail)) for bone in bones]
        return np.array([place[:] for place in places])

    def bodies():
        return np.array([scene.objects[f"Body {bone.name}"].matrix_world.translation[:] for bone in follow.pose.bones])

    for frame in (1, 10, 20, 40, 60):
        scene.frame_set(frame)
        assert middles(follow) == pytest.approx(bodies(), abs=1e-4), frame
        if frame <= 20:
            assert middles(lead) == pytest.approx(bodies(), abs=1e-4), frame
    assert bodies()[:, 2].min() > 0.0
    assert middles(lead)[:, 2].max() - bodies()[:, 2].max() > 0.5


def test_a_fast_bar_turns_the_way_it_does():
    """Three quarters of a turn a frame, also by its keys."""
    cairn.register()
    bpy.ops.wm.open_mainfile(filepath=str(FILES / "blur.blend"))
    scene = bpy.context.scene
    bake_scene(scene, BakeSettings(start=1, end=12))
    data = scene.objects["Bar"].animation_data
    curve = data.action.layers[0].strips[0].channelbag(data.action_slot).fcurves.find("rotation_euler", index=1)
    turned = [curve.evaluate(frame + 1) - curve.evaluate(frame) for frame in range(1, 12)]
    assert np.degrees(turned) == pytest.approx([270.0] * 11, abs=1.0)


def test_centimetres_move_as_metres_to_the_bit():
    """All lengths, gravity and speeds by one factor, a power of two that rounding does not touch."""
    cairn.register()
    paths = []
    for factor in (1.0, 1.0 / 128.0):
        bpy.ops.wm.open_mainfile(filepath=str(FILES / "centimetres.blend"))
        scene = bpy.context.scene
        scene.gravity.z = -1024.0 * factor
        for ob in scene.objects:
            ob.location = [round(value) * factor for value in ob.location]
            ob.scale = [value * factor for value in ob.scale]
            ob.cairn.start_velocity = [value * factor for value in ob.cairn.start_velocity]
        result = bake_scene(scene, BakeSettings(start=1, end=20))
        paths.append(result.trajectory.position / factor)
    assert np.array_equal(*paths)
    assert np.abs(paths[0][-1] - paths[0][0]).max() > 10.0


@pytest.mark.one_python
def test_a_thousand_bodies_stay_in_their_bin(baked):
    result, paths = baked("large", 72)
    ends = np.array([path[-1] for name, path in paths.items() if name.startswith(("Box", "Ball"))])
    assert len(ends) == 1000
    # The heap is higher than the bin at first: some may roll over its rim, and then lie on the floor.
    outside = np.abs(ends[:, :2]).max(axis=1) > 3.2
    assert np.sum(outside) <= 5
    assert ends[:, 2].min() > 0.1
    assert not [note.text for note in result.export.notes if note.level == "warning"]


@pytest.mark.parametrize("kind", ["Alembic", "USD"])
def test_a_bake_is_read_again_by_others(baked, tmp_path, kind):
    """Each domino in the frame that the picture shows, to a hundredth of a millimetre."""
    baked("export", 40)
    scene = bpy.context.scene
    scene.frame_end = 40
    path = str(tmp_path / ("ring.abc" if kind == "Alembic" else "ring.usdc"))
    scene.frame_set(30)
    expected = {ob.name: np.array(ob.matrix_world) for ob in scene.objects if ob.name.startswith("Domino")}
    assert len(expected) == 36
    if kind == "Alembic":
        bpy.ops.wm.alembic_export(filepath=path, as_background_job=False)
    else:
        bpy.ops.wm.usd_export(filepath=path, export_animation=True)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    if kind == "Alembic":
        bpy.ops.wm.alembic_import(filepath=path, as_background_job=False)
    else:
        bpy.ops.wm.usd_import(filepath=path)
    bpy.context.scene.frame_set(30)
    # USD has names of its own
    found = [np.array(ob.matrix_world) for ob in bpy.context.scene.objects if ob.type == "MESH"]
    for name, matrix in expected.items():
        assert min(np.abs(other - matrix).max() for other in found) < 1e-5, name


def test_cans_are_knocked_off(baked):
    _, paths = baked("shot", 40)
    fallen = [name for name, path in paths.items() if name.startswith("Can") and path[-1, 2] < 0.8]
    assert len(fallen) >= 2
