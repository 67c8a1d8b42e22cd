"""From a Blender scene to baked keyframes: what the saved animation shows obeys mechanics, however the scene is built.

Positions are read from the vertices that Blender shows after the bake, so export, simulation and keyframes are judged
together.
"""

import bpy
import numpy as np
import pytest
from placements import PLACEMENTS
from scene_maker import world_vertices

from cairn.addon.bake import bake_scene
from cairn.addon.settings import BakeSettings

G = 9.81
FRAMES = 12


@pytest.fixture
def maker(maker):
    """A scene of half a second, with Cairn's properties."""
    import cairn

    cairn.register()
    maker.world.point_cache.frame_end = 1 + FRAMES
    return maker


def free(maker, *names):
    """Switch off the damping that Blender gives every body."""
    for name in names:
        settings = bpy.data.objects[name].rigid_body
        settings.linear_damping = settings.angular_damping = 0.0


def bake(maker, **options):
    result = bake_scene(maker.scene, BakeSettings(**options))
    assert result.error is None
    return result


def shown(maker, name, frame):
    maker.scene.frame_set(frame)
    return world_vertices(name)


def center(maker, name, frame):
    return shown(maker, name, frame).mean(axis=0)


def distances(points):
    return np.linalg.norm(points[:, None] - points[None], axis=2)


@pytest.mark.parametrize("place", PLACEMENTS, ids=lambda place: place.__name__.removeprefix("place_"))
def test_mesh_falls_as_one(maker, place):
    """Every vertex goes down by g t^2 / 2, whatever holds, turns, scales or mirrors the object."""
    place(maker)
    free(maker, "Body")
    before = shown(maker, "Body", 1)
    bake(maker)
    assert shown(maker, "Body", 1) == pytest.approx(before, abs=1e-5)
    for frame in (4, 1 + FRAMES):
        time = (frame - 1) / 24
        fallen = shown(maker, "Body", frame) - before
        assert fallen == pytest.approx(np.tile([0, 0, -0.5 * G * time**2], (len(before), 1)), abs=2e-5), frame


@pytest.mark.parametrize("place", PLACEMENTS, ids=lambda place: place.__name__.removeprefix("place_"))
def test_mesh_stays_rigid_when_it_tumbles(maker, place):
    """A body that falls on an edge turns, without any two of its vertices changing their distance."""
    place(maker)
    before = shown(maker, "Body", 1)
    edge = before.min(axis=0) + 0.2 * np.ptp(before, axis=0)
    maker.body(
        "Edge",
        type="PASSIVE",
        shape="BOX",
        location=(edge[0] - 2.0, edge[1], before[:, 2].min() - 0.55),
        scale=(4, 9, 1),
    )
    bake(maker)
    after = shown(maker, "Body", 1 + FRAMES)
    assert distances(after) == pytest.approx(distances(before), abs=1e-5 * (1 + np.abs(before).max()))
    assert np.abs((after - after.mean(axis=0)) - (before - before.mean(axis=0))).max() > 0.05


def test_body_keyed_loose_keeps_its_velocity(maker):
    """Animated until frame 5 at a metre a frame, free after it: 24 m/s on, and falling from there."""
    ob = maker.body(location=(0, 0, 0))
    maker.key(ob, "location", {1: (0, 0, 0), 11: (10, 0, 0)})
    maker.key(ob, "rigid_body.kinematic", {1: True, 6: False})
    free(maker, "Body")
    bake(maker)
    for frame in range(1, 2 + FRAMES):
        time = max(frame - 5, 0) / 24
        place = center(maker, "Body", frame)
        assert place[:2] == pytest.approx([frame - 1, 0], abs=2e-5), frame
        assert place[2] == pytest.approx(-0.5 * G * time**2, abs=2e-5), frame


def test_body_keyed_dynamic_waits(maker):
    """Dynamic keyed on at frame 6: the step 5 -> 6 is the first in which it falls."""
    ob = maker.body()
    maker.key(ob, "rigid_body.enabled", {1: False, 6: True})
    free(maker, "Body")
    bake(maker)
    for frame in range(1, 2 + FRAMES):
        time = max(frame - 5, 0) / 24
        assert center(maker, "Body", frame)[2] == pytest.approx(-0.5 * G * time**2, abs=2e-5), frame


@pytest.mark.parametrize(("speed", "fps", "base"), [(2.0, 24, 1.0), (0.5, 60, 1.0), (1.0, 30, 1.001)])
def test_world_speed_and_frame_rate(maker, speed, fps, base):
    """Time runs World speed times as fast."""
    maker.body()
    free(maker, "Body")
    maker.world.time_scale, maker.scene.render.fps, maker.scene.render.fps_base = speed, fps, base
    bake(maker)
    time = FRAMES * speed * base / fps
    assert center(maker, "Body", 1 + FRAMES)[2] == pytest.approx(-0.5 * G * time**2, rel=1e-4)


def test_keyed_gravity(maker):
    """Gravity that is keyed off at frame 7: uniform motion from then on."""
    maker.body()
    free(maker, "Body")
    maker.key(maker.scene, "gravity", {1: (0, 0, -G), 7: (0, 0, 0)})
    bake(maker)
    time = 5 / 24  # the steps that end at frames 2 to 6
    rest = (FRAMES - 5) / 24
    expected = -0.5 * G * time**2 - G * time * rest
    assert center(maker, "Body", 1 + FRAMES)[2] == pytest.approx(expected, abs=1e-4)


def test_ball_rests_on_a_plane(maker):
    """A plane without thickness carries, from above and hidden in the viewport."""
    points = [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]
    floor = maker.body("Floor", data=maker.mesh(points, [(0, 1, 2, 3)]), type="PASSIVE", shape="MESH", scale=(9, 9, 1))
    floor.hide_viewport = True
    maker.body("Ball", shape="SPHERE", location=(0.3, 0.2, 0.52))
    bake(maker)
    assert center(maker, "Ball", 1 + FRAMES)[2] == pytest.approx(0.5, abs=2e-3)


def test_plane_as_a_card_comes_to_rest(maker):
    """An active plane lands flat, half its plate's thickness above the floor."""
    points = [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]
    maker.body("Card", data=maker.mesh(points, [(0, 1, 2, 3)]), location=(0, 0, 0.05))
    maker.body("Floor", type="PASSIVE", shape="BOX", location=(0, 0, -0.5), scale=(9, 9, 1))
    bake(maker)
    assert shown(maker, "Card", 1 + FRAMES)[:, 2] == pytest.approx(0.5 * 2.0 / 200.0, abs=2e-3)


def test_bodies_of_other_collections_pass(maker):
    """No common collision collection, no contact."""
    ob = maker.body(location=(0, 0, 0.6))
    free(maker, "Body")
    floor = maker.body("Floor", type="PASSIVE", shape="BOX", location=(0, 0, -0.5), scale=(9, 9, 1))
    ob.rigid_body.collision_collections = [bit == 1 for bit in range(20)]
    floor.rigid_body.collision_collections = [bit == 2 for bit in range(20)]
    bake(maker)
    time = FRAMES / 24
    assert center(maker, "Body", 1 + FRAMES)[2] == pytest.approx(0.6 - 0.5 * G * time**2, abs=1e-4)


@pytest.mark.parametrize("animated", ["keys", "parent"])
def test_animated_passive_body_pushes(maker, animated):
    """A wall that moves at 6 m/s keeps a box before it, on ice."""
    wall = maker.body("Wall", type="PASSIVE", shape="BOX", settings={"friction": 0.0})
    mover = wall
    if animated == "parent":
        mover = maker.object("Mover")
        wall.parent = mover
    maker.key(mover, "location", {1: (0, 0, 0), 13: (3, 0, 0)})
    maker.body("Box", shape="BOX", location=(1.2, 0, 0), settings={"friction": 0.0})
    free(maker, "Box")
    maker.scene.gravity = (0, 0, 0)
    bake(maker)
    wall_x, box_x = (center(maker, name, 1 + FRAMES)[0] for name in ("Wall", "Box"))
    assert wall_x == pytest.approx(3.0, abs=1e-5)
    assert box_x - wall_x >= 1.0 - 1e-3
    assert box_x > 3.9


def test_child_of_a_moving_body_falls_beside_it(maker):
    """Parent and child are both simulated: the child's keys undo the parent's motion."""
    parent = maker.body("Parent", location=(0, 0, 10), rotation_euler=(0.3, 0.2, 0.1))
    maker.body("Body", location=(3, 0, 0), parent=parent)
    free(maker, "Parent", "Body")
    maker.body("Step", type="PASSIVE", shape="BOX", location=(-0.3, 0, 8.9), rotation_euler=(0.2, 0.1, 0))
    before = shown(maker, "Body", 1)
    bake(maker)
    time = FRAMES / 24
    assert center(maker, "Parent", 1 + FRAMES)[2] > 9.0
    fallen = shown(maker, "Body", 1 + FRAMES) - before
    assert fallen == pytest.approx(np.tile([0, 0, -0.5 * G * time**2], (8, 1)), abs=5e-5)
