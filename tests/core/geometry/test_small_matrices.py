"""Products and eigenvalues of small matrices, against NumPy's; and sums that are correctly rounded."""

import math
from fractions import Fraction

import numpy as np
import pytest

from cairn.solver_core.geometry.small_matrices import product, symmetric_eigen
from cairn.solver_core.geometry.volume_integrals import enclosed_volume
from cairn.solver_core.model.mass_properties import MassProperties, sum_of_parts


def test_products_are_those_of_numpy():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(7, 3, 4)), rng.normal(size=(7, 4, 2))
    assert product(a, b) == pytest.approx(a @ b, abs=1e-14)


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_eigenvalues_are_those_of_numpy(scale):
    """Also of matrices with two or three equal eigenvalues, and of one that is all but diagonal."""
    rng = np.random.default_rng(2)
    turns = np.linalg.qr(rng.normal(size=(50, 3, 3)))[0]
    values = np.abs(rng.normal(size=(50, 3))) + 0.1
    values[10:20, 1] = values[10:20, 0]
    values[20:25] = values[20:25, :1]
    matrices = scale * (turns * values[:, None, :]) @ np.swapaxes(turns, 1, 2)
    matrices[30] = scale * np.array([[1.0, 1e-9, 0.0], [1e-9, 2.0, 0.0], [0.0, 0.0, 3.0]])
    found, vectors = symmetric_eigen(matrices)
    assert found / scale == pytest.approx(np.linalg.eigvalsh(matrices) / scale, rel=1e-13)
    assert (matrices @ vectors) / scale == pytest.approx(vectors * found[:, None, :] / scale, abs=1e-14)
    assert np.linalg.det(vectors) == pytest.approx(1.0, abs=1e-14)
    assert np.swapaxes(vectors, 1, 2) @ vectors == pytest.approx(np.tile(np.eye(3), (50, 1, 1)), abs=1e-14)


def test_axes_of_a_diagonal_matrix_are_exact():
    values, vectors = symmetric_eigen(np.diag([3.0, 1.0, 2.0])[None])
    assert values.tolist() == [[1.0, 2.0, 3.0]]
    assert np.abs(vectors).tolist() == [[[0, 0, 1], [1, 0, 0], [0, 1, 0]]]


def test_volumes_do_not_depend_on_the_order_of_triangles():
    """To the bit: the sums are correctly rounded."""
    rng = np.random.default_rng(3)
    corners = rng.normal(size=(1000, 3, 3))
    one, other = (enclosed_volume(part, np.zeros(3)) for part in (corners, corners[rng.permutation(1000)]))
    assert one.volume == other.volume
    assert np.array_equal(one.inertia, other.inertia)


def test_volumes_of_parts_add_up_exactly():
    """As a plain sum does from Python 3.12 on, and does not before."""
    volumes = [0.1] * 10 + [1e-17] * 100
    parts = [MassProperties(volume, np.zeros(3), np.eye(3)) for volume in volumes]
    assert sum_of_parts(parts).volume == float(sum(map(Fraction, volumes))) == math.fsum(volumes)
