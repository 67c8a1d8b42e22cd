"""Cholesky factorisation of a sparse symmetric matrix of 6 x 6 blocks: H = L L'.

The structure comes from ``elimination``. Left-looking by block columns (George and Liu 1981): column k takes what the
columns to its left with a block in row k contribute, which a linked list names, then

    L_kk L_kk' = H_kk,      L_ik = H_ik L_kk^-T.

Cost: 432 floating-point operations a product of blocks, of which a column with c blocks causes c (c + 1) / 2; a solve
costs two products of a block with six numbers for every block of L.

A pivot that is not positive (H is singular to rounding, or holds NaN) is replaced by a huge one, which keeps its
unknown where it is.
"""

import math
from typing import NamedTuple

import numpy as np

from ...compiled.kernel import subkernel
from .block_products import BLOCK, SIZE, add_products, divide, subtract_image, subtract_product
from .elimination import factor_capacity

# Replaces a pivot that is zero, or not positive.
PIVOT_HUGE = 1e100


class ColumnLists(NamedTuple):
    """Which columns contribute to the present one: a linked list per row, of columns whose next block is in it.

    Attributes
    ----------
    block : int64 [body_capacity]
        Block of the present column in each row.
    first : int64 [body_capacity]
        First column of each row's list; -1 for none.
    following : int64 [body_capacity]
        The next column after each in the same list.
    crossing : int64 [body_capacity]
        Block of each column in the row in whose list it is.
    """

    block: np.ndarray
    first: np.ndarray
    following: np.ndarray
    crossing: np.ndarray


def allocate_column_lists(body_capacity: int) -> ColumnLists:
    """Empty lists for this many bodies."""
    return ColumnLists(*(np.zeros(body_capacity, np.int64) for _ in ColumnLists._fields))


class BlockFactor(NamedTuple):
    """The matrix, and its factor in the same place; blocks as in ``block_products``.

    Attributes
    ----------
    diagonal : float64 [36 body_capacity]
        Blocks of the diagonal by position.
    inverse : float64 [6 body_capacity]
        Inverses of the diagonal of L.
    blocks : float64 [36 factor_capacity]
        Blocks below the diagonal, in the order of ``Elimination.row``; rows belong to the body eliminated later.
    lists : ColumnLists
        Workspace.
    sums : float64 [36]
        Workspace.
    """

    diagonal: np.ndarray
    inverse: np.ndarray
    blocks: np.ndarray
    lists: ColumnLists
    sums: np.ndarray


def allocate_block_factor(body_capacity: int) -> BlockFactor:
    """Room for this many bodies and the blocks that they may have."""
    return BlockFactor(
        diagonal=np.zeros(BLOCK * body_capacity),
        inverse=np.zeros(6 * body_capacity),
        blocks=np.zeros(BLOCK * factor_capacity(body_capacity)),
        lists=allocate_column_lists(body_capacity),
        sums=np.zeros(BLOCK),
    )


@subkernel
def factorize(count, column_start, row, factor):
    """Replace the matrix by its factor.

    Parameters
    ----------
    count : int
        Bodies.
    column_start, row : int64
        Of ``Elimination``; read.
    factor : BlockFactor
        The matrix, of whose diagonal blocks only the lower triangle is read; written.
    """
    diagonal, inverse, blocks = factor.diagonal, factor.inverse, factor.blocks
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
            subtract_product(diagonal, BLOCK * column, blocks, BLOCK * crossing, blocks, BLOCK * crossing)
            for block in range(crossing + 1, left_end):
                subtract_product(
                    blocks, BLOCK * lists.block[row[block]], blocks, BLOCK * block, blocks, BLOCK * crossing
                )
            await_row(left, crossing + 1, left_end, row, lists)
            left = after
        _factorize_diagonal(diagonal, BLOCK * column, inverse, 6 * column)
        for block in range(begin, end):
            divide(blocks, BLOCK * block, diagonal, BLOCK * column, inverse, 6 * column)
        await_row(column, begin, end, row, lists)


@subkernel
def await_row(column, block, end, row, lists):
    """Put a column into the list of the row of its next block, if it has one before ``end``.

    Parameters
    ----------
    column, block, end : int
    row : int64
        Of ``Elimination``; read.
    lists : ColumnLists
        Written.
    """
    if block < end:
        lists.crossing[column] = block
        lists.following[column] = lists.first[row[block]]
        lists.first[row[block]] = column


@subkernel
def _factorize_diagonal(diagonal, start, inverse, inverse_start):
    """Cholesky factor of one block, in its lower triangle."""
    for column in range(6):
        at = start + 6 * column
        pivot = diagonal[at + column]
        root = math.sqrt(pivot if pivot > 0.0 else PIVOT_HUGE)
        factor = 1.0 / root
        diagonal[at + column] = root
        inverse[inverse_start + column] = factor
        for row in range(column + 1, 6):
            diagonal[at + row] *= factor
        for other in range(column + 1, 6):
            share = diagonal[at + other]
            for row in range(other, 6):
                diagonal[start + 6 * other + row] -= diagonal[at + row] * share


@subkernel
def solve_lower(count, column_start, row, factor, x):
    """Replace x by the solution of L y = x.

    Parameters
    ----------
    count, column_start, row
        As in ``factorize``.
    factor : BlockFactor
        Read.
    x : float64 [6 body_capacity]
        By position; written.
    """
    diagonal, inverse, blocks = factor.diagonal, factor.inverse, factor.blocks
    for column in range(count):
        at, start = 6 * column, BLOCK * column
        for m in range(6):
            value = x[at + m] * inverse[at + m]
            x[at + m] = value
            for r in range(m + 1, 6):
                x[at + r] -= diagonal[start + 6 * m + r] * value
        for block in range(column_start[column], column_start[column + 1]):
            subtract_image(x, 6 * row[block], blocks, BLOCK * block, x, at)


@subkernel
def solve_upper(count, column_start, row, factor, x):
    """Replace x by the solution of L' y = x; arguments as in ``solve_lower``."""
    substitute_backwards(count, column_start, row, factor.diagonal, factor.inverse, factor.blocks, factor.sums, x)


@subkernel
def substitute_backwards(count, column_start, row, diagonal, inverse, blocks, sums, x):
    """Replace x by the solution of U y = x; the blocks of U are stored transposed, column by column.

    Parameters
    ----------
    count, column_start, row
        As in ``factorize``.
    diagonal, inverse, blocks : float64
        Blocks of U' on the diagonal, inverses of its diagonal, and its other blocks (read).
    sums : float64 [36 or more]
        Workspace.
    x : float64 [6 body_capacity]
        By position; written.
    """
    for column in range(count - 1, -1, -1):
        at, start = SIZE * column, BLOCK * column
        begin, end = column_start[column], column_start[column + 1]
        if begin < end:
            for m in range(BLOCK):
                sums[m] = 0.0
            for block in range(begin, end):
                add_products(sums, 0, blocks, BLOCK * block, x, SIZE * row[block])
            for m in range(SIZE):
                s = SIZE * m
                x[at + m] -= (sums[s] + sums[s + 1]) + (sums[s + 2] + sums[s + 3]) + (sums[s + 4] + sums[s + 5])
        for m in range(SIZE - 1, -1, -1):
            value = x[at + m]
            for r in range(m + 1, SIZE):
                value -= diagonal[start + SIZE * m + r] * x[at + r]
            x[at + m] = value * inverse[at + m]
