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

from ...kernel import subkernel
from .block_products import add_products, divide, subtract_image, subtract_product
from .elimination import factor_capacity

_PIVOT_HUGE = 1e100
_BLOCK = 36


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
    lists : int64 [4, body_capacity]
        Workspace: block of the present column in a row; first and next entries of the lists of columns by the row that
        they meet next, and the block that they meet it with.
    sums : float64 [36]
        Workspace.
    """

    diagonal: np.ndarray
    inverse: np.ndarray
    blocks: np.ndarray
    lists: np.ndarray
    sums: np.ndarray


def allocate_block_factor(body_capacity: int) -> BlockFactor:
    """Room for so many bodies and the blocks that they may have."""
    return BlockFactor(
        diagonal=np.zeros(_BLOCK * body_capacity),
        inverse=np.zeros(6 * body_capacity),
        blocks=np.zeros(_BLOCK * factor_capacity(body_capacity)),
        lists=np.zeros((4, body_capacity), np.int64),
        sums=np.zeros(_BLOCK),
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
            subtract_product(diagonal, _BLOCK * column, blocks, _BLOCK * crossing, blocks, _BLOCK * crossing)
            for block in range(crossing + 1, left_end):
                subtract_product(blocks, _BLOCK * place[row[block]], blocks, _BLOCK * block, blocks, _BLOCK * crossing)
            await_row(left, crossing + 1, left_end, row, first, following, next_block)
            left = after
        _factorize_diagonal(diagonal, _BLOCK * column, inverse, 6 * column)
        for block in range(begin, end):
            divide(blocks, _BLOCK * block, diagonal, _BLOCK * column, inverse, 6 * column)
        await_row(column, begin, end, row, first, following, next_block)


@subkernel
def await_row(column, block, end, row, first, following, next_block):
    """List a column under the row of its next block."""
    if block < end:
        next_block[column] = block
        following[column] = first[row[block]]
        first[row[block]] = column


@subkernel
def _factorize_diagonal(diagonal, start, inverse, inverse_start):
    """Cholesky factor of one block, in its lower triangle."""
    for column in range(6):
        at = start + 6 * column
        pivot = diagonal[at + column]
        root = math.sqrt(pivot if pivot > 0.0 else _PIVOT_HUGE)
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
        at, start = 6 * column, _BLOCK * column
        for m in range(6):
            value = x[at + m] * inverse[at + m]
            x[at + m] = value
            for r in range(m + 1, 6):
                x[at + r] -= diagonal[start + 6 * m + r] * value
        for block in range(column_start[column], column_start[column + 1]):
            subtract_image(x, 6 * row[block], blocks, _BLOCK * block, x, at)


@subkernel
def solve_upper(count, column_start, row, factor, x):
    """Replace x by the solution of L' y = x; arguments as in ``solve_lower``."""
    diagonal, inverse, blocks, sums = factor.diagonal, factor.inverse, factor.blocks, factor.sums
    for column in range(count - 1, -1, -1):
        at, start = 6 * column, _BLOCK * column
        begin, end = column_start[column], column_start[column + 1]
        if begin < end:
            for m in range(_BLOCK):
                sums[m] = 0.0
            for block in range(begin, end):
                add_products(sums, 0, blocks, _BLOCK * block, x, 6 * row[block])
            for m in range(6):
                s = 6 * m
                x[at + m] -= (sums[s] + sums[s + 1]) + (sums[s + 2] + sums[s + 3]) + (sums[s + 4] + sums[s + 5])
        for m in range(5, -1, -1):
            value = x[at + m]
            for r in range(m + 1, 6):
                value -= diagonal[start + 6 * m + r] * x[at + r]
            x[at + m] = value * inverse[at + m]
