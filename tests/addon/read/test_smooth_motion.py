"""Velocities at frames from places at frames: smooth motion is joined smoothly, kinks, holds and jumps stay."""

import numpy as np
import pytest

from cairn.addon.read.frame_samples import sample_frame, simulation_paused
from cairn.addon.read.scene_export import export_scene
from cairn.addon.read.smooth_motion import MotionWindow, node_velocities


def ends(places, known=None):
    """Velocities just before and just after each frame of places [m], by frame: float64 [m, 2]."""
    steps = np.diff(np.asarray(places, float))
    known = np.ones(len(steps), bool) if known is None else known
    padded, there = np.zeros(len(steps) + 6), np.zeros(len(steps) + 6, bool)
    padded[3:-3], there[3:-3] = steps, known
    found = []
    for frame in range(len(places)):
        before, after = node_velocities(padded[frame : frame + 6, None, None], there[frame : frame + 6, None])
        found.append((before[0, 0], after[0, 0]))
    return np.array(found)


def overshoot(places):
    """How far the cubics between frames leave the range of the two places that each of them joins."""
    tangents, worst, share = ends(places), 0.0, np.linspace(0.0, 1.0, 101)
    for frame in range(len(places) - 1):
        way, first, last = places[frame + 1] - places[frame], tangents[frame, 1], tangents[frame + 1, 0]
        path = (share - 2 * share**2 + share**3) * first + (3 * share**2 - 2 * share**3) * way
        path += (share**3 - share**2) * last
        worst = max(worst, (path - max(way, 0.0)).max(), (min(way, 0.0) - path).max())
    return worst


FRAMES = np.arange(40.0)


@pytest.mark.parametrize("period", [12.0, 24.0, 72.0])
def test_of_a_sine_both_sides_agree_to_the_third_order(period):
    rate = 2.0 * np.pi / period
    tangents, wanted = ends(np.sin(rate * FRAMES)), rate * np.cos(rate * FRAMES)
    inner = slice(3, -3)
    assert np.array_equal(tangents[inner, 0], tangents[inner, 1])
    # the term that the central estimate leaves out: f'''''/30
    assert np.abs(tangents[inner, 0] - wanted[inner]).max() <= 1.01 * rate**5 / 30.0
    # the first frame has only what comes after it
    assert tangents[0, 1] == pytest.approx(wanted[0], abs=rate**4 / 4.0)


def test_a_crest_between_two_frames_is_no_hold():
    rate = 2.0 * np.pi / 40.0
    tangents = ends(np.sin(rate * (FRAMES + 0.5)))
    crest = 9  # this frame and the next are at the same height
    assert tangents[crest, 1] == pytest.approx(rate * np.cos(rate * 9.5), rel=1e-3)
    assert tangents[crest + 1, 0] == pytest.approx(-tangents[crest, 1])


@pytest.mark.parametrize(
    "places",
    [
        np.minimum(FRAMES, 20.0),
        np.abs(FRAMES - 20.0),
        np.maximum(FRAMES - 20.0, 0.0),
        np.where(FRAMES < 20.0, 0.0, 1.0),
        np.clip(FRAMES - 20.0, 0.0, 2.0),
        np.where(FRAMES % 2 == 0, 0.0, 1.0),
        np.minimum(2.0 * FRAMES, FRAMES + 20.0),
    ],
    ids=["stops", "turns", "starts", "steps", "moves for two frames", "shakes", "brakes"],
)
def test_linear_keys_keep_their_kinks(places):
    """Each piece is at the constant velocity that it was keyed with, so nothing overshoots."""
    tangents, steps = ends(places), np.diff(places)
    assert tangents[:-1, 1] == pytest.approx(steps, abs=1e-12)
    assert tangents[1:, 0] == pytest.approx(steps, abs=1e-12)
    assert overshoot(places) < 1e-12


def test_a_bounce_keeps_its_kink_and_its_parabolas():
    time = (FRAMES % 10.0) - 5.0
    places = 25.0 - time**2
    tangents = ends(places)
    for frame in range(40):
        if 0 < frame < 39 and frame % 10:
            assert tangents[frame] == pytest.approx([-2.0 * time[frame]] * 2, abs=1e-9), frame
    assert tangents[10] == pytest.approx([-10.0, 10.0], abs=1e-9)


def test_what_starts_from_a_hold_or_ends_in_one_does_not_overshoot():
    """A parabola from rest, an eased move (Bezier), and a ramp between holds."""
    parabola = np.maximum(FRAMES - 10.0, 0.0) ** 2
    assert ends(parabola)[10] == pytest.approx([0.0, 0.0], abs=1e-9)
    share = np.clip((FRAMES - 10.0) / 12.0, 0.0, 1.0)
    eased = 3.0 * share**2 - 2.0 * share**3
    assert ends(eased)[[10, 22]] == pytest.approx(np.zeros((2, 2)), abs=1e-9)
    assert max(overshoot(parabola), overshoot(eased), overshoot(share)) < 1e-9
    mirrored = ends(-parabola[::-1])[::-1, ::-1]
    assert np.nan_to_num(mirrored) == pytest.approx(np.nan_to_num(ends(parabola)), abs=1e-9)


def test_nothing_is_said_across_a_jump():
    known = np.ones(39, bool)
    known[20] = False  # from frame 20 to 21
    places = FRAMES**2 + np.where(FRAMES > 20.0, 1000.0, 0.0)
    tangents = ends(places, known)
    assert tangents[20, 0] == pytest.approx(40.0)
    assert tangents[21, 1] == pytest.approx(42.0)
    assert np.isnan(tangents[20, 1])
    assert np.isnan(tangents[21, 0])


def test_kinks_do_not_depend_on_axes():
    """Of vectors: the velocity of a turned motion is the turned velocity."""
    rng = np.random.default_rng(1)
    path = np.stack([np.abs(FRAMES - 20.0), np.sin(0.3 * FRAMES), rng.normal(size=40)], axis=1)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    for frame in range(3, 36):
        steps = np.diff(path, axis=0)[frame - 3 : frame + 3, None]
        known = np.ones((6, 1), bool)
        for plain, turned in zip(node_velocities(steps, known), node_velocities(steps @ turn, known), strict=True):
            assert turned == pytest.approx(plain @ turn, abs=1e-12)


def test_a_body_that_stands_still_is_led_at_constant_velocity(maker):
    """And one that moves, or whose mesh does, gets velocities from the first frame on; what holds still gets none."""
    moves = maker.body("Moves", type="PASSIVE", settings={"kinematic": True})
    maker.key(moves, "location", {frame: (0.01 * (frame - 1) ** 2, 0, 0) for frame in range(1, 12)})
    rests = maker.body("Rests", type="PASSIVE", settings={"kinematic": True})
    maker.key(rests, "location", {1: (0, 0, 5), 9: (0, 0, 5)})
    wave = maker.body("Wave", shape="MESH", type="PASSIVE")
    wave.shape_key_add(name="Basis")
    key = wave.shape_key_add(name="Up", from_mix=False)
    for point in key.data:
        point.co[2] += 1.0
    for frame in range(1, 12):
        key.value = 0.01 * (frame - 1) ** 2
        key.keyframe_insert("value", frame=frame)
    export = export_scene(maker.scene)
    window, rate = MotionWindow(export), 24.0
    assert window.needs_start
    with simulation_paused(maker.scene):
        for frame in range(1, 7):
            sample = sample_frame(maker.scene, export, frame)
            window.add(sample)
            if frame == 2:
                second = sample
    window.give_velocities(2)
    rows = [export.model.names.index(name) for name in ("Moves", "Rests", "Wave")]
    assert second.velocity[:, rows[0], 0] == pytest.approx([0.0, 0.02 * rate], abs=1e-4)
    assert np.isnan(second.velocity[:, rows[1]]).all()
    assert second.vertex_velocities[rows[2]][:, :, 2] == pytest.approx(
        np.repeat([[0.0], [0.02 * rate]], 8, axis=1), abs=1e-4
    )
