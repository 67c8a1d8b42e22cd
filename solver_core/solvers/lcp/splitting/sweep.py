"""One sweep over the rows of A in each of its forms: the step that all splitting methods share.

With w = A x + b at the iterate x, and the sum over the rows that the sweep has passed,

    slack_i  = (A x + b)_i
    present  = slack_i + sum_j<i A_ij change_j          (Gauss-Seidel; Jacobi: present = slack_i)
    z_i      = x_i + memory_i negative_i - step_i present
    change_i = max(z_i, 0) - x_i,   negative_i = max(-z_i, 0)

A sweep thus measures the iterate that it starts from while it finds the change that leads to the next one: w needs no
product of its own, only the iterate that is measured last costs a sweep that is not used. ``memory`` is 0 but for
the modulus methods (``amgs``), of which negative_i is the state besides x.

Forms: dense A row by row; compressed rows; and the factors A = J M^-1 J' without A (Miyamoto and Yamashita 2019,
Method 3.1), where ``velocity`` = M^-1 J' x is kept, A_i x = J_i velocity, and change_i adds its multiple of row i of
J M^-1 to ``velocity_change``. Cost: 1 to 1.5 products with A, or 3 passes over the nonzeros of J.
"""

from typing import NamedTuple

import numpy as np

from ....compiled.kernel import subkernel
from ...inner_product import dot

# Sweeps after which the velocities of the factored form are summed anew; each leaves a rounding of some 1e-16 of them.
REFRESH_SWEEPS = 64


class DenseMatrix(NamedTuple):
    """A row by row.

    Attributes
    ----------
    entries : float64 [n, n]
    """

    entries: np.ndarray


class SparseMatrix(NamedTuple):
    """A in compressed rows.

    Attributes
    ----------
    values : float64 [nonzeros]
    columns : int64 [nonzeros]
    first : int64 [n + 1]
    """

    values: np.ndarray
    columns: np.ndarray
    first: np.ndarray


class FactoredMatrix(NamedTuple):
    """A = J M^-1 J', and the velocities that go with the iterate.

    Attributes
    ----------
    values, columns, first
        J in compressed rows.
    response_values, response_columns, response_first
        J M^-1 in compressed rows; row i is what one unit of x_i adds to the velocities.
    velocity : float64 [m]
        M^-1 J' x.
    velocity_change : float64 [m]
        M^-1 J' change, of the sweep under way.
    velocity_direction : float64 [m]
        M^-1 J' direction; nncg only.
    """

    values: np.ndarray
    columns: np.ndarray
    first: np.ndarray
    response_values: np.ndarray
    response_columns: np.ndarray
    response_first: np.ndarray
    velocity: np.ndarray
    velocity_change: np.ndarray
    velocity_direction: np.ndarray


def kernel_matrix(lcp) -> DenseMatrix | SparseMatrix | FactoredMatrix:
    """A of ``lcp`` as the kernels read it, in the form in which it was given."""
    if lcp.form == "dense":
        return DenseMatrix(lcp.A)
    if lcp.form == "sparse":
        return SparseMatrix(*_compressed_rows(lcp.A))
    jacobian, inverse_mass = lcp.factors
    velocities = (np.zeros(jacobian.shape[1]) for _ in range(3))
    return FactoredMatrix(*_compressed_rows(jacobian), *_compressed_rows(jacobian @ inverse_mass), *velocities)


def require_positive_diagonal(lcp) -> str | None:
    """What keeps a sweep from dividing by A_ii; None where nothing does."""
    diagonal = lcp.diagonal
    row = int(np.argmin(diagonal)) if lcp.size else -1
    if row < 0 or diagonal[row] > 0.0:
        return None
    return f"A[{row}, {row}] is {diagonal[row]:g}; a sweep divides by the diagonal, which must be positive"


def _compressed_rows(matrix):
    return (
        np.ascontiguousarray(matrix.data, dtype=np.float64),
        matrix.indices.astype(np.int64),
        matrix.indptr.astype(np.int64),
    )


@subkernel
def _finish_row(row, slack, present, x, step, memory, negative, change):
    """Move one variable; whether its z moved."""
    earlier = x[row] - negative[row]
    z = x[row] + memory[row] * negative[row] - step[row] * present
    change[row] = max(z, 0.0) - x[row]
    negative[row] = max(-z, 0.0)
    return z != earlier


@subkernel
def sweep_dense(matrix, b, x, step, memory, negative, coupled, slack, change):
    """Sweep once over a dense A.

    Parameters
    ----------
    matrix : DenseMatrix
    b, x, step, memory : float64 [n]
        Read.
    negative : float64 [n]
        Written.
    coupled : bool
        Gauss-Seidel; else Jacobi.
    slack, change : float64 [n]
        Written: A x + b, and what to add to x.

    Returns
    -------
    moved : bool
        Whether a z differs from before; if none does the iteration stands still.
    """
    moved = False
    for row in range(b.size):
        entries = matrix.entries[row]
        slack[row] = dot(entries, x, b.size) + b[row]
        present = slack[row]
        if coupled:
            present += dot(entries, change, row)
        if _finish_row(row, slack, present, x, step, memory, negative, change):
            moved = True
    return moved


@subkernel
def sweep_sparse(matrix, b, x, step, memory, negative, coupled, slack, change):
    """Sweep once over compressed rows; arguments as in ``sweep_dense``."""
    moved = False
    change[:] = 0.0
    for row in range(b.size):
        total = passed = 0.0
        for index in range(matrix.first[row], matrix.first[row + 1]):
            column = matrix.columns[index]
            total += matrix.values[index] * x[column]
            passed += matrix.values[index] * change[column]
        slack[row] = total + b[row]
        present = slack[row]
        if coupled:
            present += passed
        if _finish_row(row, slack, present, x, step, memory, negative, change):
            moved = True
    return moved


@subkernel
def sweep_factored(matrix, b, x, step, memory, negative, coupled, slack, change):
    """Sweep once over the factors; arguments as in ``sweep_dense``. Writes ``velocity_change``."""
    moved = False
    matrix.velocity_change[:] = 0.0
    for row in range(b.size):
        total = passed = 0.0
        for index in range(matrix.first[row], matrix.first[row + 1]):
            column = matrix.columns[index]
            total += matrix.values[index] * matrix.velocity[column]
            passed += matrix.values[index] * matrix.velocity_change[column]
        slack[row] = total + b[row]
        present = slack[row]
        if coupled:
            present += passed
        if _finish_row(row, slack, present, x, step, memory, negative, change):
            moved = True
        if change[row] != 0.0:
            for index in range(matrix.response_first[row], matrix.response_first[row + 1]):
                matrix.velocity_change[matrix.response_columns[index]] += matrix.response_values[index] * change[row]
    return moved


@subkernel
def keep_nothing(matrix, argument):
    """Forms that hold A have no velocities to keep up."""


@subkernel
def refresh_velocity(matrix, x):
    """velocity = M^-1 J' x anew, free of the rounding that additions have left."""
    matrix.velocity[:] = 0.0
    for row in range(x.size):
        for index in range(matrix.response_first[row], matrix.response_first[row + 1]):
            matrix.velocity[matrix.response_columns[index]] += matrix.response_values[index] * x[row]


@subkernel
def advance_velocity(matrix, x):
    """velocity += velocity_change, after x += change."""
    for column in range(matrix.velocity.size):
        matrix.velocity[column] += matrix.velocity_change[column]


@subkernel
def turn_velocity(matrix, beta):
    """velocity_direction = beta velocity_direction + velocity_change."""
    for column in range(matrix.velocity.size):
        matrix.velocity_direction[column] = beta * matrix.velocity_direction[column] + matrix.velocity_change[column]


@subkernel
def move_velocity(matrix, length):
    """velocity += length velocity_direction."""
    for column in range(matrix.velocity.size):
        matrix.velocity[column] += length * matrix.velocity_direction[column]
