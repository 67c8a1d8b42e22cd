"""Matrices of many objects are split as those of one: to the same bits, with errors that name the object."""

import numpy as np
import pytest
from scipy.linalg import polar
from scipy.spatial.transform import Rotation

from cairn.addon.read.faults import SceneError
from cairn.addon.read.scene_poses import (
    rigid_matrices,
    rigid_poses,
    rotation_and_stretch,
    rotations_and_stretches,
)
from cairn.solver_core.geometry import rotations


def random_matrices(count, seed=0):
    """World matrices as Blender has them, in single precision: turned, scaled, every third one mirrored; axes exact."""
    rng = np.random.default_rng(seed)
    matrices = np.tile(np.eye(4), (count, 1, 1))
    turns = Rotation.random(count, rng).as_matrix()
    right_angles = 90 * rng.integers(0, 4, (len(turns[::5]), 3))
    turns[::5] = Rotation.from_euler("xyz", right_angles, degrees=True).as_matrix().round()
    scale = rng.uniform(0.1, 10.0, (count, 3))
    scale[::3, 0] *= -1.0
    matrices[:, :3, :3] = turns * scale[:, None, :]
    matrices[:, :3, 3] = rng.normal(size=(count, 3))
    return matrices.astype(np.float32).astype(float)


def test_many_matrices_are_split_as_one():
    matrices = random_matrices(200)
    rotation, stretch = rotations_and_stretches(matrices, ["Cube"] * 200)
    for matrix, *together in zip(matrices, rotation, stretch, strict=True):
        assert all(map(np.array_equal, together, rotation_and_stretch(matrix, "Cube")))
    position, orientation = rigid_poses(matrices)
    for matrix, *together in zip(matrices, position, orientation, strict=True):
        assert all(map(np.array_equal, together, rigid_poses(matrix)))


def test_the_parts_of_a_matrix_are_those_of_its_polar_decomposition():
    """SciPy's, of the axes without their lengths; a mirrored one is turned round first."""
    matrices = random_matrices(200, seed=1)
    rotation, stretch = rotations_and_stretches(matrices, ["Cube"] * 200)
    assert np.allclose(rotation * stretch[:, None, :], matrices[:, :3, :3], rtol=0.0, atol=2e-6)
    assert np.array_equal(np.all(stretch < 0.0, axis=1), np.linalg.det(matrices[:, :3, :3]) < 0.0)
    for turn, lengths, matrix in zip(rotation, stretch, matrices, strict=True):
        nearest, _ = polar(matrix[:3, :3] / lengths)
        assert np.allclose(turn, nearest, rtol=0.0, atol=1e-14)
    _, orientation = rigid_poses(matrices)
    expected = Rotation.from_matrix(rotation).as_quat(canonical=True, scalar_first=True)
    assert np.allclose(orientation, expected, rtol=0.0, atol=1e-14)
    assert np.array_equal(rigid_matrices(rotation, matrices[:, :3, 3])[:, :3, 3], matrices[:, :3, 3])


def test_exact_axes_stay_exact():
    matrices = random_matrices(200, seed=2)[::5]
    rotation, _ = rotations_and_stretches(matrices, ["Cube"] * len(matrices))
    assert set(np.unique(rotation)) == {-1.0, 0.0, 1.0}
    assert not np.signbit(rotation[rotation == 0.0]).any()


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        (np.diag([1.0, 0.0, 2.0]), "Bad: its scale along Y is 0; set a scale other than 0"),
        (np.zeros((3, 3)), "Bad: its scale along X is 0; set a scale other than 0"),
        (np.diag([1.0, 1.0, 1e-8]), "Bad: its scale along Z is 1e-08; set a scale other than 0"),
        (np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), "Bad: it is sheared: .* 63.43 degrees"),
    ],
)
def test_the_first_bad_matrix_is_named(axes, message):
    matrices, names = random_matrices(6), ["A", "B", "Bad", "C", "D", "Also bad"]
    matrices[[2, 5], :3, :3] = axes
    with pytest.raises(SceneError, match=message):
        rotations_and_stretches(matrices, names)
    with pytest.raises(SceneError, match=message):
        rotation_and_stretch(matrices[2], "Bad")


def test_poses_of_later_frames_may_have_shear_or_no_scale():
    """They are rotations all the same, and those of the matrices beside them are what they were."""
    matrices = random_matrices(6, seed=3)
    _, orientation = rigid_poses(matrices)
    matrices[1, :3, :3] @= [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    matrices[4, :3, 1] = 0.0
    _, changed = rigid_poses(matrices)
    assert np.allclose(np.linalg.norm(changed, axis=1), 1.0, atol=1e-14)
    assert np.array_equal(np.delete(changed, [1, 4], axis=0), np.delete(orientation, [1, 4], axis=0))


@pytest.mark.parametrize("turn", [np.pi, np.pi - 1e-9, 3.0, 1e-9, 0.0])
def test_quaternions_of_matrices(turn):
    """Also where w is nearly 0 or 1."""
    axes = Rotation.random(30, 4).as_matrix()[:, 0]
    expected = rotations.from_rotation_vector(turn * axes)
    found = rotations.from_matrix(rotations.matrix(expected))
    assert (found[:, 0] >= 0.0).all()
    assert np.allclose(np.abs(np.sum(found * expected, axis=1)), 1.0, rtol=0.0, atol=1e-15 * 4)
    assert np.array_equal(found, [rotations.from_matrix(rotations.matrix(one)) for one in expected])
