"""Scenes as people make them, baked as ``cairn bake`` does it: what each must show."""

import numpy as np
import pytest
from all_scenes import SCENES
from playing import joint_gap, opened_again, overlaps, play_bullet, play_cairn

import cairn


@pytest.fixture(autouse=True)
def _registered():
    cairn.register()


def _parameters():
    for scene in SCENES.values():
        marks = [pytest.mark.nightly] if scene.nightly else []
        marks += [pytest.mark.xfail(strict=True, reason=scene.fails)] if scene.fails else []
        yield pytest.param(scene, id=scene.name, marks=marks)


@pytest.mark.parametrize("scene", list(_parameters()))
def test_what_must_be_true(scene):
    truths = scene.make()
    play = play_cairn(opened_again())
    assert np.isfinite(play.matrices).all()
    assert {truth.words: fault for truth in truths if (fault := truth.fault(play))} == {}


def _compared():
    for scene in SCENES.values():
        marks = [pytest.mark.xfail(strict=True, reason=scene.deeper)] if scene.deeper else []
        yield pytest.param(scene, id=scene.name, marks=marks)


@pytest.mark.nightly
@pytest.mark.parametrize("scene", list(_compared()))
def test_overlaps_and_joints_are_no_worse_than_bullets(scene):
    plays = []
    for play_by in (play_cairn, play_bullet):
        scene.make()
        plays.append(play_by(opened_again()))
    scene.make()
    unplayed = opened_again()
    depths = [overlaps(unplayed, play).max() for play in plays]
    # overlaps at the start are in both; what is within a hundredth of the smallest body is no fault
    smallest = min(plays[0].size(name) for name in plays[0].active)
    assert depths[0] <= depths[1] + 0.01 * smallest
    if plays[0].anchors and "break" not in scene.name:
        assert joint_gap(plays[0]) <= joint_gap(plays[1]) + 1e-4
