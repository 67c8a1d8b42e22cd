"""Poses between a step and its caller, against the same by NumPy."""

import numpy as np
import pytest

from cairn.solver_core.dynamics.outside.frame_poses import aim_driven, find_driven_poses, place_driven, write_user_poses
from cairn.solver_core.geometry import rotations
from cairn.solver_core.model.model import body_poses
from cairn.solver_core.model.state import DYNAMIC, KINEMATIC, STATIC

KINDS = np.array([KINEMATIC, DYNAMIC, STATIC, KINEMATIC])


def random_poses(rng):
    orientation = rng.normal(size=(len(KINDS), 4))
    return rng.normal(size=(len(KINDS), 3)), orientation / np.linalg.norm(orientation, axis=1, keepdims=True)


def test_driven_poses_go_to_the_body_frames_and_back():
    rng = np.random.default_rng(1)
    frames, (position, orientation) = random_poses(rng), random_poses(rng)
    found = position.copy(), 3.0 * orientation
    assert find_driven_poses(KINDS, *frames, *found) == -1
    driven = KINDS == KINEMATIC
    for mine, wanted, given in zip(
        found, body_poses(position, orientation, *frames), (position, 3.0 * orientation), strict=True
    ):
        assert mine[driven] == pytest.approx(wanted[driven], abs=1e-14)
        assert np.array_equal(mine[~driven], given[~driven])
    back = np.empty((4, 3)), np.empty((4, 4))
    write_user_poses(*frames, *found, *back)
    assert back[0][driven] == pytest.approx(position[driven], abs=1e-14)
    assert back[1][driven] == pytest.approx(orientation[driven], abs=1e-14)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_pose_that_is_not_finite_is_named(bad):
    """Only where the body is driven."""
    for body, wanted in ((1, -1), (3, 3)):
        position, orientation = random_poses(np.random.default_rng(2))
        frames = random_poses(np.random.default_rng(3))
        position[body, 1] = bad
        assert find_driven_poses(KINDS, *frames, position, orientation) == wanted


def test_velocities_lead_to_the_target_by_the_shorter_turn():
    rng = np.random.default_rng(4)
    (position, orientation), target = random_poses(rng), random_poses(rng)
    velocity, duration = np.full((4, 6), 7.0), 0.125
    aim_driven(KINDS, position, orientation, velocity, *target, duration)
    driven = KINDS == KINEMATIC
    assert np.all(velocity[~driven] == 7.0)
    assert position[driven] + duration * velocity[driven, :3] == pytest.approx(target[0][driven], abs=1e-14)
    turn = rotations.from_rotation_vector(duration * velocity[driven, 3:])
    reached = rotations.multiply(turn, orientation[driven])
    assert np.abs(np.sum(reached * target[1][driven], axis=1)) == pytest.approx(1.0, abs=1e-14)
    assert np.linalg.norm(velocity[driven, 3:], axis=1).max() * duration <= np.pi


def test_placed_bodies_are_there_to_the_bit():
    rng = np.random.default_rng(5)
    present, target = random_poses(rng), random_poses(rng)
    before = [array.copy() for array in present]
    place_driven(KINDS, *present, *target)
    driven = KINDS == KINEMATIC
    for array, wanted, was in zip(present, target, before, strict=True):
        assert np.array_equal(array[driven], wanted[driven])
        assert np.array_equal(array[~driven], was[~driven])
