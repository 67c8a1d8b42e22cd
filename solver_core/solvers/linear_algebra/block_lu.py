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

from ...compiled.kernel import subkernel
from .block_cholesky import PIVOT_HUGE, ColumnLists, allocate_column_lists, await_row, substitute_backwards
from .block_products import BLOCK, SIZE, divide, subtract_image, subtract_product
from .elimination import factor_capacity


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
    lists : ColumnLists
        Workspace.
    sums : float64 [42]
        Workspace: a block, and six ones, the diagonal of L_k.
    """

    diagonal: np.ndarray
    corner: np.ndarray
    inverse: np.ndarray
    pivot: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    lists: ColumnLists
    sums: np.ndarray


def allocate_block_lu(body_capacity: int) -> BlockLu:
    """Room for this many bodies and the blocks that they may have."""
    return BlockLu(
        diagonal=np.zeros(BLOCK * body_capacity),
        corner=np.zeros(BLOCK * body_capacity),
        inverse=np.zeros(SIZE * body_capacity),
        pivot=np.zeros(SIZE * body_capacity, np.int64),
        lower=np.zeros(BLOCK * factor_capacity(body_capacity)),
        upper=np.zeros(BLOCK * factor_capacity(body_capacity)),
        lists=allocate_column_lists(body_capacity),
        sums=np.ones(BLOCK + SIZE),
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
    lists = factor.lists
    for column in range(count):
        lists.first[column] = -1
    for column in range(count):
        begin, end = column_start[column], column_start[column + 1]
        for block in range(begin, end):
            lists.block[row[block]] = block
        left = lists.first[column]
        while left >= 0:
            after = lists.following[left]
            crossing, left_end = lists.crossing[left], column_start[left + 1]
            subtract_product(diagonal, BLOCK * column, lower, BLOCK * crossing, upper, BLOCK * crossing)
            for block in range(crossing + 1, left_end):
                target = BLOCK * lists.block[row[block]]
                subtract_product(lower, target, lower, BLOCK * block, upper, BLOCK * crossing)
                subtract_product(upper, target, upper, BLOCK * block, lower, BLOCK * crossing)
            await_row(left, crossing + 1, left_end, row, lists)
            left = after
        _factorize_diagonal(diagonal, factor.corner, factor.inverse, factor.pivot, column)
        for block in range(begin, end):
            divide(lower, BLOCK * block, factor.corner, BLOCK * column, factor.inverse, SIZE * column)
            _exchange_columns(upper, BLOCK * block, factor.pivot, SIZE * column, sums)
            divide(upper, BLOCK * block, diagonal, BLOCK * column, sums, BLOCK)
        await_row(column, begin, end, row, lists)


@subkernel
def _factorize_diagonal(diagonal, corner, inverse, pivot, place):
    """P D = L U of one block, with the largest pivot of each column: L stays below the diagonal, U' goes to corner."""
    start, six = BLOCK * place, SIZE * place
    for row in range(SIZE):
        pivot[six + row] = row
    for column in range(SIZE):
        at = start + SIZE * column
        best = column
        for row in range(column + 1, SIZE):
            if abs(diagonal[at + row]) > abs(diagonal[at + best]):
                best = row
        if best != column:
            for other in range(SIZE):
                here = start + SIZE * other
                diagonal[here + column], diagonal[here + best] = diagonal[here + best], diagonal[here + column]
            pivot[six + column], pivot[six + best] = pivot[six + best], pivot[six + column]
        if not abs(diagonal[at + column]) > 0.0:
            diagonal[at + column] = PIVOT_HUGE
        reciprocal = 1.0 / diagonal[at + column]
        inverse[six + column] = reciprocal
        for row in range(column + 1, SIZE):
            diagonal[at + row] *= reciprocal
        for other in range(column + 1, SIZE):
            share = diagonal[start + SIZE * other + column]
            for row in range(column + 1, SIZE):
                diagonal[start + SIZE * other + row] -= diagonal[at + row] * share
    for column in range(SIZE):
        for row in range(column + 1):
            corner[start + SIZE * row + column] = diagonal[start + SIZE * column + row]


@subkernel
def _exchange_columns(block, start, pivot, six, sums):
    """Put the columns of a block in the order of a pivot."""
    for entry in range(BLOCK):
        sums[entry] = block[start + entry]
    for column in range(SIZE):
        for row in range(SIZE):
            block[start + SIZE * column + row] = sums[SIZE * pivot[six + column] + row]


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
        at, start = SIZE * column, BLOCK * column
        for m in range(SIZE):
            sums[m] = x[at + factor.pivot[at + m]]
        for m in range(SIZE):
            value = sums[m]
            x[at + m] = value
            for r in range(m + 1, SIZE):
                sums[r] -= diagonal[start + SIZE * m + r] * value
        for block in range(column_start[column], column_start[column + 1]):
            subtract_image(x, SIZE * row[block], factor.lower, BLOCK * block, x, at)
    substitute_backwards(count, column_start, row, corner, inverse, factor.upper, sums, x)
