"""Bakes with things that are animated: what lies on them goes with them, what they let go flies on, and spins count."""

import math

import bpy
import numpy as np
import pytest

import cairn
from cairn.addon.bake import bake_scene
from cairn.addon.settings import BakeSettings

RATE, GRAVITY = 24, 9.81
FREE = {"linear_damping": 0.0, "angular_damping": 0.0, "friction": 0.8}


@pytest.fixture
def scene_of(maker):
    cairn.register()
    return maker


def played(maker, last, *names):
    """Places [frame, body, 3] of bodies from frame 1 on."""
    result = bake_scene(maker.scene, BakeSettings(start=1, end=last))
    rows = [result.export.model.names.index(name) for name in names]
    return np.array(result.trajectory.position)[:, rows]


def sine(frame):
    """The elevator that its load can just follow."""
    angle = 2.0 * math.pi / 3.0 * (frame - 1) / RATE
    return 0.4 * (1.0 - math.cos(angle)), 0.0, 1.08 * (math.cos(angle) - 1.0)


def test_a_platform_that_moves_like_a_sine_keeps_its_load(scene_of):
    platform = scene_of.body("Platform", shape="BOX", type="PASSIVE", scale=(6, 6, 1), settings={**FREE})
    platform.rigid_body.kinematic = True
    scene_of.key(platform, "location", {frame: sine(frame) for frame in range(1, 80)})
    scene_of.body("Load", shape="BOX", location=(0.5, 0, 1.0), settings=FREE)
    places = played(scene_of, 73, "Platform", "Load")
    on_it = places[:, 1] - places[:, 0]
    assert np.abs(on_it - on_it[0]).max() < 1e-3


def test_a_plate_that_shape_keys_move_takes_its_load_along(scene_of):
    corners = [(x, y, z) for x in (-2, 2) for y in (-2, 2) for z in (-0.2, 0.2)]
    plate = scene_of.body("Plate", shape="MESH", type="PASSIVE", data=scene_of.mesh(corners), settings={**FREE})
    plate.rigid_body.mesh_source, plate.rigid_body.use_deform = "DEFORM", True
    plate.shape_key_add(name="Basis")
    aside = plate.shape_key_add(name="Aside", from_mix=False)
    for point in aside.data:
        point.co[0] += 1.0
        point.co[2] += 0.2
    for frame in range(1, 40):
        aside.value = sine(frame)[0]
        aside.keyframe_insert("value", frame=frame)
    scene_of.body("Load", shape="BOX", location=(0.2, 0, 0.7), settings=FREE)
    places = played(scene_of, 36, "Load")[:, 0]
    ways = np.array([(sine(frame)[0], 0.0, 0.2 * sine(frame)[0]) for frame in range(1, 37)])
    assert ways[-1, 0] > 0.7
    assert np.abs(places - places[0] - ways).max() < 2e-3


def test_what_is_let_go_flies_by_the_parabola_of_its_animation(scene_of):
    """Keyed at each frame along an arc that speeds up, and let go after frame 13."""

    def arc(time):
        return 2.0 * math.sin(3.0 * time**2), 0.5 * time, 5.0 - 2.0 * math.cos(3.0 * time**2)

    ball = scene_of.body("Ball", shape="SPHERE", settings=FREE)
    scene_of.key(ball, "location", {frame: arc((frame - 1) / RATE) for frame in range(1, 14)})
    scene_of.key(ball, "rigid_body.kinematic", {1: True, 13: True, 14: False})
    flight = played(scene_of, 25, "Ball")[12:, 0]
    time, angle = np.arange(13) / RATE, 3.0 * 0.5**2
    velocity = np.array([6.0 * math.cos(angle), 0.5, 6.0 * math.sin(angle)])
    fall = 0.5 * GRAVITY * time**2
    wanted = flight[0] + time[:, None] * velocity - np.outer(fall, (0, 0, 1))
    assert np.abs(flight - wanted).max() < 1e-3 * np.linalg.norm(velocity) * time[-1]


def test_a_disc_that_turns_by_one_and_a_half_turns_a_frame_drives_the_right_way_round(scene_of):
    disc = scene_of.body("Disc", shape="CYLINDER", type="PASSIVE", scale=(4, 4, 0.2), settings={"kinematic": True})
    disc.rigid_body.friction = 1.0
    scene_of.key(disc, "rotation_euler", {1: (0, 0, 0), 25: (0, 0, 24 * 3.0 * math.pi)})
    scene_of.body("Block", shape="BOX", location=(1, 0, 0.2), scale=(0.2, 0.2, 0.2), settings={**FREE, "friction": 1.0})
    places = played(scene_of, 4, "Block")[:, 0]
    drive = 0.5 * GRAVITY * (2.0 / RATE) ** 2
    assert places[2, 1] == pytest.approx(drive, rel=0.2)
    assert abs(places[2, 0] - 1.0) < 0.2 * drive
    assert not bpy.data.scenes.get("Cairn reads animation")
