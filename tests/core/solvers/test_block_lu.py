"""The unsymmetric sparse factorisation over bodies: L U = H by its solutions, against dense algebra."""

import numpy as np
import pytest

from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.solvers.linear_algebra.block_lu import allocate_block_lu, factorize_lu, solve_lu


@kernel
def factorize_and_solve_lu(count, column_start, row, factor, x):
    factorize_lu(count, column_start, row, factor)
    solve_lu(count, column_start, row, factor, x)


def filled_columns(count, density, rng):
    """Rows below the diagonal of each block column, with the fill that eliminating in this order makes."""
    columns = [{row for row in range(column + 1, count) if rng.random() < density} for column in range(count)]
    for column in columns:
        if column:
            columns[min(column)] |= column - {min(column)}
    return [sorted(column) for column in columns]


def solve(matrix, columns, right):
    """H^-1 right by the factorisation."""
    count = len(columns)
    factor = allocate_block_lu(count)
    block = lambda i, j: matrix[6 * i : 6 * i + 6, 6 * j : 6 * j + 6]  # noqa: E731
    starts = np.concatenate([[0], np.cumsum([len(column) for column in columns])]).astype(np.int64)
    rows = np.array([row for column in columns for row in column] or [0], np.int64)
    for k, column in enumerate(columns):
        factor.diagonal[36 * k : 36 * k + 36] = block(k, k).T.ravel()
        for place, i in enumerate(column, start=starts[k]):
            factor.lower[36 * place : 36 * place + 36] = block(i, k).T.ravel()
            factor.upper[36 * place : 36 * place + 36] = block(k, i).ravel()
    x = right.copy()
    factorize_and_solve_lu(count, starts, rows, factor, x)
    return x


def random_matrix(columns, rng):
    """Unsymmetric, zero where no block is, and far enough from singular to need no exchange between blocks."""
    matrix = np.kron(np.diag(rng.uniform(1.0, 3.0, len(columns))), np.eye(6) + 0.1 * rng.normal(size=(6, 6)))
    for k, column in enumerate(columns):
        for i in column:
            matrix[6 * i : 6 * i + 6, 6 * k : 6 * k + 6] = 0.1 * rng.normal(size=(6, 6))
            matrix[6 * k : 6 * k + 6, 6 * i : 6 * i + 6] = 0.1 * rng.normal(size=(6, 6))
    return matrix


@pytest.mark.parametrize(("count", "density"), [(1, 0.0), (2, 1.0), (7, 0.3), (12, 0.5), (20, 0.1)])
@pytest.mark.parametrize("seed", range(3))
def test_solution_is_that_of_the_dense_matrix(count, density, seed):
    """Random structures with fill, from one body to twenty."""
    rng = np.random.default_rng(seed)
    columns = filled_columns(count, density, rng)
    matrix, right = random_matrix(columns, rng), rng.normal(size=6 * count)
    assert solve(matrix, columns, right) == pytest.approx(np.linalg.solve(matrix, right), rel=1e-9, abs=1e-10)


def test_rows_are_exchanged_within_a_block():
    """A diagonal block with zeros on its diagonal, which no factorisation without exchange could take."""
    rng = np.random.default_rng(5)
    columns = filled_columns(4, 1.0, rng)
    matrix = random_matrix(columns, rng)
    matrix[:6, :6] = np.eye(6)[[1, 2, 3, 4, 5, 0]]
    right = rng.normal(size=24)
    assert solve(matrix, columns, right) == pytest.approx(np.linalg.solve(matrix, right), rel=1e-9, abs=1e-10)


def test_stiffness_far_above_the_masses_is_backward_stable():
    """M + J' K J with K of 1e10 M and friction that follows the normal row: the residual is rounding of 1e10."""
    rng = np.random.default_rng(6)
    columns = [[1], [2], [3], []]
    matrix = np.eye(24)
    for k in range(3):
        jacobian = np.zeros((3, 24))
        jacobian[:, 6 * k : 6 * k + 12] = rng.normal(size=(3, 12))
        law = np.eye(3)
        law[1:, 0] = rng.uniform(-0.5, 0.5, 2)
        matrix += 1e10 * jacobian.T @ law @ jacobian
    right = rng.normal(size=24)
    x = solve(matrix, columns, right)
    assert np.abs(matrix @ x - right).max() <= 1e-13 * np.abs(matrix).max() * np.abs(x).max()


def test_an_unknown_without_a_pivot_stays_where_it_is():
    """A row and column of zeros: its unknown is 0, the others are solved, nothing is NaN."""
    matrix = np.diag([1.0, 2.0, 0.0, 4.0, 5.0, 6.0])
    x = solve(matrix, [[]], np.ones(6))
    assert x == pytest.approx([1.0, 0.5, 0.0, 0.25, 0.2, 1.0 / 6.0], abs=1e-90)
