"""Ready-made scenes in Blender: the same physics as the description, and pictures that show it."""

import dataclasses
import itertools
import json

import bpy
import numpy as np
import pytest
from scene_maker import quaternion_matrix

from cairn.addon import cli, cli_scene, demo, pictures
from cairn.addon.bake import bake_scene
from cairn.addon.bake_report import RATIO_VISIBLE
from cairn.addon.read.frame_samples import sample_frame, simulation_paused
from cairn.addon.read.scene_export import export_scene
from cairn.addon.settings import BakeSettings
from cairn.solver_core import scenes
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.round_shapes import Capsule, Cone, Cylinder
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.scenes.scene import Scene, SceneBody

# Blender's settings and matrices are single precision.
SINGLE = 1e-5


def zoo() -> Scene:
    """Every shape, off its origin, turned, moving."""
    prism = ConvexHull.from_points([(0, 0, 0), (2, 0, 0), (0, 1, 0), (0, 0, 1), (2, 0, 1), (0, 1, 1)])
    turned = tuple(np.array([0.8, 0.2, -0.4, 0.4]) / np.linalg.norm([0.8, 0.2, -0.4, 0.4]))
    bodies = [
        scenes.scene.floor(5.0),
        SceneBody("Box", Box((0.5, 0.2, 0.1), position=(0.1, 0, 0)), mass=3.0, position=(0, 0, 2), orientation=turned),
        SceneBody("Ball", Sphere(0.4, position=(0, 0, 0.2)), position=(2, 0, 2), restitution=0.5, friction=0.3),
        SceneBody("Prism", prism, mass=2.0, position=(-3, 0, 2), orientation=turned),
        SceneBody(
            "Spinner",
            Box((0.5, 0.5, 0.1)),
            position=(0, 3, 2),
            orientation=turned,
            linear_velocity=(1, 2, 3),
            angular_velocity=(0, 0, 6),
        ),
        SceneBody("Can", Cylinder(0.3, 0.5, (0.1, 0, 0)), position=(-3, 3, 2), orientation=turned),
        SceneBody("Cone", Cone(0.4, 0.5, (0, 0.2, 0)), position=(3, 3, 2)),
        SceneBody("Capsule", Capsule(0.3, 0.4), position=(3, -3, 2), orientation=turned),
        SceneBody("Rail", Box((2, 0.1, 0.1)), position=(0, -3, 1), kind=BodyKind.KINEMATIC),
    ]
    return Scene("zoo", "Every shape", bodies, frame_count=12, camera=(5, -8, 4), target=(0, 0, 1), frame_rate=23.976)


@pytest.mark.parametrize("make", [zoo, *scenes.SCENES.values()])
def test_blenders_scene_is_the_described_one(make):
    """Exported from Blender, masses, inertias, places and surfaces are those of the description's own model."""
    cli_scene.ensure_registered()
    description = make()
    if any(body.mesh is not None for body in description.bodies):
        pytest.importorskip("coacd")
    expected = description.build_model()
    export = export_scene(demo.build_scene(description))
    model = export.model
    assert model.names == expected.names
    for field in ("mass", "inertia", "size", "friction", "restitution", "linear_damping", "angular_damping"):
        ours, truth = getattr(model.arrays, field), getattr(expected.arrays, field)
        if field == "inertia":  # principal moments; which axis comes first is nobody's business
            ours, truth = np.sort(ours, axis=1), np.sort(truth, axis=1)
        dynamic = expected.initial_state.kind == BodyKind.DYNAMIC
        assert ours[dynamic] == pytest.approx(truth[dynamic], rel=SINGLE, abs=SINGLE), field
    resting = ~expected.initial_state.velocity.any(axis=1)
    assert model.initial_state.position[resting] == pytest.approx(expected.initial_state.position[resting], abs=SINGLE)
    assert (model.initial_state.kind == expected.initial_state.kind)[resting].all()
    assert model.gravity == pytest.approx(expected.gravity)
    assert export.frame_rate == pytest.approx(description.frame_rate)
    assert [note.text for note in export.notes if note.level == "warning"] == []
    assert_same_joints(export, description)


@pytest.mark.parametrize("name", ["crane", "walker"])
def test_servos_are_keyed(name):
    """In every frame they are aimed at where the description leads them."""
    cli_scene.ensure_registered()
    description = scenes.SCENES[name]()
    scene = demo.build_scene(description)
    export = export_scene(scene)
    rows = [joint.object_name for joint in export.joints]
    order = [[joint.name for joint in description.joints].index(row) for row in rows]
    with simulation_paused(scene):
        for frame in (1, 13, 100, description.frame_count):
            found = sample_frame(scene, export, demo.FRAME_START + frame).joint_values["motor_position"]
            expected = description.servo_targets(frame)[order]
            assert found == pytest.approx(expected, rel=SINGLE, abs=SINGLE, nan_ok=True)


def assert_same_joints(export, description):
    """Joints, their frames and their loads come back from Blender's constraints as they were described."""
    found = {joint.object_name: joint for joint in export.joints}
    assert len(found) == len(description.joints)
    for joint in description.joints:
        ours = found[joint.name]
        assert (ours.first, ours.second) == (joint.first, joint.second)
        assert ours.position == pytest.approx(joint.position, abs=SINGLE)
        truth, turn = quaternion_matrix(joint.orientation), quaternion_matrix(ours.orientation)
        assert turn == pytest.approx(truth, abs=SINGLE)
        assert ours.breaking_load == (None if joint.breaking_load is None else pytest.approx(joint.breaking_load))
        for given, expected in zip(numbers(ours.joint), numbers(joint.joint), strict=True):
            assert given == pytest.approx(expected, rel=SINGLE, abs=SINGLE), joint.name


def numbers(joint):
    """Ranges, springs, motors and friction of all coordinates of a joint."""
    for coordinate in joint.coordinates():
        given = coordinate.range
        yield from (float(coordinate.kind), float(coordinate.axis), given.lower, given.upper, given.friction)
        yield from dataclasses.astuple(given.spring) if given.spring is not None else ()
        if given.motor is not None:
            yield from (given.motor.velocity, given.motor.largest, given.motor.position or 0.0)


def test_concave_demos_need_coacd(tmp_path, monkeypatch, capsys):
    """Without it a line says what to install, and nothing is made."""
    monkeypatch.setattr(demo, "coacd_version", lambda: None)
    assert cli.main(["demo", "chain", "-o", str(tmp_path)]) != 0
    assert "pip install coacd" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_shape_that_is_turned_within_its_body_is_refused():
    """Blender's round shapes stand along Z: a turned one would be another shape."""
    turned = Cylinder(0.3, 0.5, orientation=(0.8, 0.6, 0, 0))
    with pytest.raises(demo.DemoError, match="cylinder is turned within its body"):
        demo.build_scene(dataclasses.replace(zoo(), bodies=[SceneBody("Can", turned)]))


def test_lead_in_gives_the_start_velocity():
    """A body that starts with a velocity is led at that velocity and let go at its start pose."""
    description = zoo()
    spinner = description.bodies[4]
    scene = demo.build_scene(description)
    export = export_scene(scene)
    row = export.model.names.index("Spinner")
    release = demo.FRAME_START + demo.LEAD_IN
    with simulation_paused(scene):
        before, last, free = (sample_frame(scene, export, frame) for frame in (release - 1, release, release + 1))
    assert [sample.kind[row] for sample in (before, last, free)] == [1, 1, 2]
    assert last.position[row] == pytest.approx(spinner.position, abs=SINGLE)
    assert quaternion_matrix(last.orientation[row]) == pytest.approx(quaternion_matrix(spinner.orientation), abs=SINGLE)
    assert (last.position[row] - before.position[row]) / last.duration == pytest.approx([1, 2, 3], rel=1e-4)
    turn = quaternion_matrix(last.orientation[row]) @ quaternion_matrix(before.orientation[row]).T
    assert np.arctan2(turn[1, 0], turn[0, 0]) / last.duration == pytest.approx(6.0, rel=1e-4)


def test_lead_in_moves_the_centre_of_mass():
    """A T-handle whose origin is not its centre is let go at the spin and with the centre at rest, as described."""
    description = scenes.SCENES["tumbling"]()
    handle = description.bodies[1]
    scene = demo.build_scene(description)
    export = export_scene(scene)
    row = export.model.names.index("Handle")
    release = demo.FRAME_START + demo.LEAD_IN
    with simulation_paused(scene):
        samples = [sample_frame(scene, export, frame) for frame in (release - 1, release)]
    centers = [export.model.body_poses(sample.position, sample.orientation)[0][row] for sample in samples]
    assert centers[0] == pytest.approx(centers[1], abs=SINGLE)
    assert np.linalg.norm(samples[0].position[row] - samples[1].position[row]) > 10 * SINGLE
    turn = quaternion_matrix(samples[1].orientation[row]) @ quaternion_matrix(samples[0].orientation[row]).T
    angle = np.arccos(0.5 * (np.trace(turn) - 1.0))
    assert angle / samples[1].duration == pytest.approx(np.linalg.norm(handle.angular_velocity), rel=1e-4)


def drive(description):
    """The row of the gear that is turned, and what the scene is sampled as at every frame."""
    scene = demo.build_scene(description)
    export = export_scene(scene)
    row = export.model.names.index("Gear.1")
    with simulation_paused(scene):
        frames = range(scene.frame_start, scene.frame_end + 1)
        return row, [sample_frame(scene, export, frame) for frame in frames]


def test_a_kinematic_body_is_led_along():
    """The first gear stays kinematic and is turned at its constant speed by keys, to the last frame."""
    description = dataclasses.replace(scenes.SCENES["gears"](), frame_count=90)
    gear = next(body for body in description.bodies if body.name == "Gear.1")
    row, samples = drive(description)
    assert len(samples) == description.frame_count + 1
    assert quaternion_matrix(samples[0].orientation[row]) == pytest.approx(
        quaternion_matrix(gear.orientation), abs=SINGLE
    )
    for before, after in itertools.pairwise(samples):
        assert before.kind[row] == after.kind[row] == BodyKind.KINEMATIC
        assert after.position[row] == pytest.approx(gear.position, abs=SINGLE)
        turn = quaternion_matrix(after.orientation[row]) @ quaternion_matrix(before.orientation[row]).T
        spin = 0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
        angle = np.linalg.norm(gear.angular_velocity) / description.frame_rate
        assert spin == pytest.approx(np.sin(angle) / angle * np.divide(gear.angular_velocity, 24.0), abs=SINGLE)


def test_parts_have_their_own_colors():
    """A gear has one tooth marked, and a body without such colors is of one."""
    description = scenes.SCENES["gears"]()
    gear = next(body for body in description.bodies if body.name == "Gear.2")
    demo.build_scene(description)
    for number, color in enumerate(gear.part_colors):
        shown = bpy.data.objects[f"Gear.2.{number + 1}"].active_material.diffuse_color
        assert tuple(shown)[:3] == pytest.approx(color, abs=SINGLE)
    assert len(set(gear.part_colors)) == 2
    axle = [bpy.data.objects[f"Axle.2.{number}"].active_material for number in (1, 2, 3)]
    assert axle[0] == axle[1] == axle[2]


def test_a_kinematic_body_is_in_its_start_pose_when_others_are_let_go():
    """With a lead-in in the scene, what is led along is where it is described at its end."""
    description = scenes.SCENES["gears"]()
    ball = SceneBody("Ball", Sphere(0.2), position=(0, -3, 3), linear_velocity=(1, 0, 0))
    description = dataclasses.replace(description, bodies=[*description.bodies, ball], frame_count=6)
    gear = next(body for body in description.bodies if body.name == "Gear.1")
    row, samples = drive(description)
    described = quaternion_matrix(gear.orientation)
    assert quaternion_matrix(samples[demo.LEAD_IN].orientation[row]) == pytest.approx(described, abs=SINGLE)
    assert np.abs(quaternion_matrix(samples[0].orientation[row]) - described).max() > 0.1


def test_demo_leaves_scene_report_and_pictures(tmp_path, monkeypatch, capsys):
    """``cairn demo``: a small wall is built, hit, saved and shown."""

    def small_wall():
        return dataclasses.replace(scenes.wall(columns=3, courses=8, ball_speed=20.0), name="small", frame_count=10)

    monkeypatch.setitem(scenes.SCENES, "small", small_wall)
    monkeypatch.setattr(demo, "RESOLUTION", (160, 120))
    assert cli.main(["demo", "small", "-o", str(tmp_path / "new" / "demo")]) == 0
    folder = tmp_path / "new" / "demo"
    assert sorted(path.name for path in folder.iterdir()) == ["small.blend", "small.json", "small.png"]
    frames = 10 + demo.LEAD_IN
    assert len(json.loads((folder / "small.json").read_text())["frames"]) == frames
    assert "Rendering frame" in capsys.readouterr().err
    image = bpy.data.images.load(str(folder / "small.png"))
    width, height = image.size
    assert (width, height) == (160 * demo.PICTURE_COUNT + pictures.GAP * (demo.PICTURE_COUNT - 1), 120)
    pixels = np.array(image.pixels[:]).reshape(height, width, 4)
    shown = [pixels[:, place * (160 + pictures.GAP) :][:, :160, :3] for place in range(demo.PICTURE_COUNT)]
    for picture in shown:
        assert picture.std() > 0.05  # something is seen
    for first, second in itertools.pairwise(shown):
        assert np.abs(first - second).mean() > 1e-4  # and it moves
    bpy.ops.wm.open_mainfile(filepath=str(folder / "small.blend"), load_ui=False)
    scene = bpy.context.scene
    bricks = [ob for ob in scene.objects if ob.name.startswith("Brick")]
    scene.frame_set(demo.FRAME_START)
    before = np.array([ob.matrix_world.translation for ob in bricks])
    scene.frame_set(scene.frame_end)
    after = np.array([ob.matrix_world.translation for ob in bricks])
    assert np.linalg.norm(after - before, axis=1).max() > 0.1


def test_the_hit_of_the_first_demo_is_solved_so_that_nothing_can_be_seen():
    """No contact is off by as much of the hit's speed as the summary would warn of, and nothing overlaps by much."""
    cli_scene.ensure_registered()
    scene = demo.build_scene(scenes.wall())
    end = demo.FRAME_START + demo.LEAD_IN + 12
    result = bake_scene(scene, BakeSettings(end=end, quality="exact"))
    hit = max(result.reports, key=lambda report: report.residual)
    assert 1e-3 < hit.residual < RATIO_VISIBLE
    assert "too little to see. Baked" in result.summary
    bpy.ops.cairn.delete_bake()
    result = bake_scene(scene, BakeSettings(end=end))
    assert sum(report.in_small_steps for report in result.reports) > 0
    assert sum(report.missed for report in result.reports) == 0
    assert max(report.max_penetration for report in result.reports) < 0.025


def test_cycles_steps_in_where_workbench_cannot_draw(tmp_path, monkeypatch, capsys):
    """Without OpenGL the pictures come all the same, and the scene keeps its engine."""
    monkeypatch.setattr(pictures, "workbench_works", lambda: False)
    scene = demo.build_scene(zoo())
    scene.rigidbody_world.enabled = False
    scene.render.resolution_x, scene.render.resolution_y = 64, 48
    pictures.render_strip(scene, [1, 2], tmp_path / "strip.png", cli.Progress())
    assert "Cycles" in capsys.readouterr().err
    assert scene.render.engine == "BLENDER_WORKBENCH"
    image = bpy.data.images.load(str(tmp_path / "strip.png"))
    pixels = np.array(image.pixels[:]).reshape(48, 128 + pictures.GAP, 4)
    assert pixels[:, :64, :3].std() > 0.02


def test_telling_frames_follow_the_motion():
    """Evenly spread where all moves alike or nothing does; crowded where the fastest body is."""
    still = np.zeros((101, 2, 3))
    assert pictures.telling_frames(still, 4) == [13, 42, 71, 100]
    steady = still.copy()
    steady[:, 0, 0] = np.arange(101)
    assert pictures.telling_frames(steady, 4) == [13, 42, 71, 100]
    burst = still.copy()
    burst[50:60, 1, 2] = np.arange(10)
    burst[60:, 1, 2] = 10
    frames = pictures.telling_frames(burst, 6)
    assert sum(50 <= frame <= 60 for frame in frames) >= 3
    assert frames[-1] == 100
    assert pictures.telling_frames(still[:3], 6) == [1, 2]
