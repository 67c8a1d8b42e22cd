"""LU factorisation of a sparse matrix of 6 x 6 blocks whose structure is symmetric, though its numbers are not.

    H = L U,      H_ik and H_ki are both there, or neither

The structure comes from ``elimination``, and the work goes column by column as in ``block_cholesky``. Of a block column
k, with D_k = H_kk - (what columns to its left contribute) and its own factors P D_k = L_k U_k, rows exchanged within
the block,

    L_ik = H_ik U_k^-1,      U_ki = L_k^-1 P H_ki,      i > k.

The blocks of U are kept transposed, so that both take the same products and divisions. Rows are not exchanged between
blocks: a matrix M + J' K J with K' + K positive semidefinite needs none.

Cost: twice that of the Cholesky factorisation.

A pivot that is zero is replaced by a huge one, which keeps its unknown where it is.
"""

from typing import NamedTuple

import numpy as np

from ...kernel import subkernel
from .block_cholesky import await_row
from .block_products import add_products, divide, subtract_image, subtract_product
from .elimination import factor_capacity

_PIVOT_HUGE = 1e100
_BLOCK, _SIZE = 36, 6


class BlockLu(NamedTuple):
    """The matrix, and its factors in the same place; blocks as in ``block_products``.

    Attributes
    ----------
    diagonal : float64 [36 body_capacity]
        Blocks of the diagonal by position; then L_k below their diagonals.
    corner : float64 [36 body_capacity]
        U_k', with its diagonal.
    inverse : float64 [6 body_capacity]
        Inverses of the diagonal of U_k.
    pivot : int64 [6 body_capacity]
        Row of its block that P puts at each place.
    lower, upper : float64 [36 factor_capacity]
        Blocks below the diagonal in the order of ``Elimination.row``: H_ik and H_ki', then L_ik and U_ki'.
    lists : int64 [4, body_capacity]
        Workspace, as in ``block_cholesky``.
    sums : float64 [42]
        Workspace: a block, and six ones, the diagonal of L_k.
    """

    diagonal: np.ndarray
    corner: np.ndarray
    inverse: np.ndarray
    pivot: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    lists: np.ndarray
    sums: np.ndarray


def allocate_block_lu(body_capacity: int) -> BlockLu:
    """Room for so many bodies and the blocks that they may have."""
    return BlockLu(
        diagonal=np.zeros(_BLOCK * body_capacity),
        corner=np.zeros(_BLOCK * body_capacity),
        inverse=np.zeros(_SIZE * body_capacity),
        pivot=np.zeros(_SIZE * body_capacity, np.int64),
        lower=np.zeros(_BLOCK * factor_capacity(body_capacity)),
        upper=np.zeros(_BLOCK * factor_capacity(body_capacity)),
        lists=np.zeros((4, body_capacity), np.int64),
        sums=np.ones(_BLOCK + _SIZE),
    )


@subkernel
def factorize_lu(count, column_start, row, factor):
    """Replace the matrix by its factors.

    Parameters
    ----------
    count : int
        Bodies.
    column_start, row : int64
        Of ``Elimination``; read.
    factor : BlockLu
        The matrix; written.
    """
    diagonal, lower, upper, sums = factor.diagonal, factor.lower, factor.upper, factor.sums
    place, first, following, next_block = factor.lists[0], factor.lists[1], factor.lists[2], factor.lists[3]
    for column in range(count):
        first[column] = -1
    for column in range(count):
        begin, end = column_start[column], column_start[column + 1]
        for block in range(begin, end):
            place[row[block]] = block
        left = first[column]
        while left >= 0:
            after = following[left]
            crossing, left_end = next_block[left], column_start[left + 1]
            subtract_product(diagonal, _BLOCK * column, lower, _BLOCK * crossing, upper, _BLOCK * crossing)
            for block in range(crossing + 1, left_end):
                target = _BLOCK * place[row[block]]
                subtract_product(lower, target, lower, _BLOCK * block, upper, _BLOCK * crossing)
                subtract_product(upper, target, upper, _BLOCK * block, lower, _BLOCK * crossing)
            await_row(left, crossing + 1, left_end, row, first, following, next_block)
            left = after
        _factorize_diagonal(diagonal, factor.corner, factor.inverse, factor.pivot, column)
        for block in range(begin, end):
            divide(lower, _BLOCK * block, factor.corner, _BLOCK * column, factor.inverse, _SIZE * column)
            _exchange_columns(upper, _BLOCK * block, factor.pivot, _SIZE * column, sums)
            divide(upper, _BLOCK * block, diagonal, _BLOCK * column, sums, _BLOCK)
        await_row(column, begin, end, row, first, following, next_block)


@subkernel
def _factorize_diagonal(diagonal, corner, inverse, pivot, place):
    """P D = L U of one block, with the largest pivot of each column: L stays below the diagonal, U' goes to corner."""
    start, six = _BLOCK * place, _SIZE * place
    for row in range(_SIZE):
        pivot[six + row] = row
    for column in range(_SIZE):
        at = start + _SIZE * column
        best = column
        for row in range(column + 1, _SIZE):
            if abs(diagonal[at + row]) > abs(diagonal[at + best]):
                best = row
        if best != column:
            for other in range(_SIZE):
                here = start + _SIZE * other
                diagonal[here + column], diagonal[here + best] = diagonal[here + best], diagonal[here + column]
            pivot[six + column], pivot[six + best] = pivot[six + best], pivot[six + column]
        if not abs(diagonal[at + column]) > 0.0:
            diagonal[at + column] = _PIVOT_HUGE
        reciprocal = 1.0 / diagonal[at + column]
        inverse[six + column] = reciprocal
        for row in range(column + 1, _SIZE):
            diagonal[at + row] *= reciprocal
        for other in range(column + 1, _SIZE):
            share = diagonal[start + _SIZE * other + column]
            for row in range(column + 1, _SIZE):
                diagonal[start + _SIZE * other + row] -= diagonal[at + row] * share
    for column in range(_SIZE):
        for row in range(column + 1):
            corner[start + _SIZE * row + column] = diagonal[start + _SIZE * column + row]


@subkernel
def _exchange_columns(block, start, pivot, six, sums):
    """Put the columns of a block in the order of a pivot."""
    for entry in range(_BLOCK):
        sums[entry] = block[start + entry]
    for column in range(_SIZE):
        for row in range(_SIZE):
            block[start + _SIZE * column + row] = sums[_SIZE * pivot[six + column] + row]


@subkernel
def solve_lu(count, column_start, row, factor, x):
    """Replace x by the solution of L U y = x.

    Parameters
    ----------
    count, column_start, row
        As in ``factorize_lu``.
    factor : BlockLu
        Read, but for ``sums``.
    x : float64 [6 body_capacity]
        By position; written.
    """
    diagonal, corner, inverse, sums = factor.diagonal, factor.corner, factor.inverse, factor.sums
    for column in range(count):
        at, start = _SIZE * column, _BLOCK * column
        for m in range(_SIZE):
            sums[m] = x[at + factor.pivot[at + m]]
        for m in range(_SIZE):
            value = sums[m]
            x[at + m] = value
            for r in range(m + 1, _SIZE):
                sums[r] -= diagonal[start + _SIZE * m + r] * value
        for block in range(column_start[column], column_start[column + 1]):
            subtract_image(x, _SIZE * row[block], factor.lower, _BLOCK * block, x, at)
    for column in range(count - 1, -1, -1):
        at, start = _SIZE * column, _BLOCK * column
        begin, end = column_start[column], column_start[column + 1]
        if begin < end:
            for m in range(_BLOCK):
                sums[m] = 0.0
            for block in range(begin, end):
                add_products(sums, 0, factor.upper, _BLOCK * block, x, _SIZE * row[block])
            for m in range(_SIZE):
                s = _SIZE * m
                x[at + m] -= (sums[s] + sums[s + 1]) + (sums[s + 2] + sums[s + 3]) + (sums[s + 4] + sums[s + 5])
        for m in range(_SIZE - 1, -1, -1):
            value = x[at + m]
            for r in range(m + 1, _SIZE):
                value -= corner[start + _SIZE * m + r] * x[at + r]
            x[at + m] = value * inverse[at + m]
