"""Products and eigenvalues of 3 x 3 matrices that have the same bits with any NumPy.

``@``, ``einsum`` and ``numpy.linalg`` round as the BLAS, the LAPACK and the vector instructions behind them do, which
differ from release to release. Models are made of these numbers, and a scene is to move the same on all Pythons. Here
are only additions, multiplications, divisions and square roots, one after the other, which IEEE 754 rounds in one way.
"""

import numpy as np

# Cyclic Jacobi sweeps: convergence is quadratic, and five make a 3 x 3 matrix diagonal to the last bit.
_SWEEPS = 8
_PAIRS = ((0, 1), (0, 2), (1, 2))


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The matrix product a b of [..., n, k] and [..., k, m]."""
    columns = [a[..., :, inner, None] * b[..., None, inner, :] for inner in range(a.shape[-1])]
    total = columns[0]
    for column in columns[1:]:
        total = total + column
    return total


def symmetric_eigen(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and eigenvectors of symmetric matrices, by Jacobi's rotations (Golub and Van Loan, 8.5).

    Parameters
    ----------
    matrices : float64 [n, 3, 3]

    Returns
    -------
    values : float64 [n, 3]
        Ascending.
    vectors : float64 [n, 3, 3]
        In columns, as a proper rotation; the largest part of each of the last two is positive.
    """
    matrix, count = np.array(matrices, float), len(matrices)
    vectors = np.tile(np.eye(3), (count, 1, 1))
    for p, q in _SWEEPS * _PAIRS:
        cosine, sine = _rotation(matrix[:, p, p], matrix[:, q, q], matrix[:, p, q])
        for array in (matrix, vectors):
            array[:, :, p], array[:, :, q] = _turned(array[:, :, p], array[:, :, q], cosine[:, None], sine[:, None])
        matrix[:, p], matrix[:, q] = _turned(matrix[:, p], matrix[:, q], cosine[:, None], sine[:, None])
        matrix[:, p, q] = matrix[:, q, p] = 0.0
    values = np.diagonal(matrix, axis1=1, axis2=2)
    order = np.argsort(values, axis=1, kind="stable")
    values = np.take_along_axis(values, order, axis=1)
    vectors = np.take_along_axis(vectors, order[:, None, :], axis=2)
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=1)[:, None, :], axis=1)
    vectors = vectors * np.where(largest < 0.0, -1.0, 1.0)
    second, third = vectors[:, :, 1], vectors[:, :, 2]
    vectors[:, :, 0] = np.cross(second, third)
    return values, vectors


def _rotation(first, second, off):
    """Cosine and sine of the rotations that make ``off`` 0."""
    is_zero = off == 0.0
    with np.errstate(over="ignore"):
        ratio = (second - first) / np.where(is_zero, 1.0, 2.0 * off)
        tangent = np.where(ratio < 0.0, -1.0, 1.0) / (np.abs(ratio) + np.sqrt(1.0 + ratio * ratio))
    tangent = np.where(is_zero, 0.0, tangent)
    cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
    return cosine, tangent * cosine


def _turned(first, second, cosine, sine):
    return cosine * first - sine * second, sine * first + cosine * second
