"""Products of 6 x 6 blocks in vector registers: the inner loops of a sparse factorisation over rigid bodies.

A block lies column by column: block[6 * m + r] is the entry of row r and column m. Arguments come in pairs, an array
and the index in it where the block begins, counted in numbers. Rows of Jacobians are 12 numbers apart (``RowArrays``).
``compiled/block_intrinsics.py`` has the code, some 20 ns a product.
"""

from ...compiled import block_intrinsics
from ...compiled.kernel import subkernel

# Numbers of a body's velocity, and of a block.
SIZE, BLOCK = 6, 36
_ROW_STRIDE = 12
_ROWS_PER_CONTACT = 3

# Rounding couples unknowns that have nothing to do with each other by 1e-16, what they couple by 1e-32, and so on down
# to numbers below 1e-308, with which processors calculate a hundred times slower. Numbers below this count as zero.
_TINY = 1e-120

_subtract_product, _subtract_image = block_intrinsics.subtract_product, block_intrinsics.subtract_image
_add_products, _add_outer_product = block_intrinsics.add_products, block_intrinsics.add_outer_product
_divide = block_intrinsics.division(_TINY)
_add_weighted, _add_combination, _add_dot_products = block_intrinsics.row_products(_ROWS_PER_CONTACT, _ROW_STRIDE)


@subkernel
def subtract_product(target, t, left, a, right, b):
    """C -= A B'.

    Parameters
    ----------
    target, left, right : float64
        C (written), A and B (read); 6 x 6 blocks as the head of this file says.
    t, a, b : int
        Where they begin.
    """
    _subtract_product(target, t, left, a, right, b)


@subkernel
def divide(block, x, factor, f, inverse, i):
    """X <- X L^-T for a lower triangle L, of whose diagonal the six inverses are given; tiny entries become zero.

    Parameters
    ----------
    block, factor, inverse : float64
        X (written), L and the inverses of its diagonal (read).
    x, f, i : int
        Where they begin.
    """
    _divide(block, x, factor, f, inverse, i)


@subkernel
def subtract_image(target, t, block, a, vector, x):
    """y -= A x for six numbers each.

    Parameters
    ----------
    target, block, vector : float64
        y (written), A and x (read).
    t, a, x : int
        Where they begin.
    """
    _subtract_image(target, t, block, a, vector, x)


@subkernel
def add_products(target, t, block, a, vector, x):
    """C_rm += A_rm x_r; summed over r, the columns of C hold A' x.

    Parameters
    ----------
    target, block, vector : float64
        C (written), A and x (read).
    t, a, x : int
        Where they begin.
    """
    _add_products(target, t, block, a, vector, x)


@subkernel
def add_contact(target, t, rows, r, columns, c, stiffness, s):
    """C += J_r' D J_c for three rows of Jacobians [3, 6] and a symmetric D [3, 3].

    Parameters
    ----------
    target, rows, columns, stiffness : float64
        C (written), J_r, J_c and D (read).
    t, r, c, s : int
        Where they begin.
    """
    _add_weighted(target, t, rows, r, columns, c, stiffness, s)


@subkernel
def add_row(target, t, row, r, columns, c, stiffness, s):
    """C += d j_r' j_c for one row of Jacobians [6] and a number d.

    Parameters
    ----------
    target, row, columns, stiffness : float64
        C (written), j_r, j_c and d (read).
    t, r, c, s : int
        Where they begin.
    """
    _add_outer_product(target, t, row, r, columns, c, stiffness, s)


@subkernel
def push(target, t, rows, r, impulses, i):
    """v += R' p for three rows [3, 6] of one body and three impulses.

    Parameters
    ----------
    target, rows, impulses : float64
        v (written), R and p (read).
    t, r, i : int
        Where they begin.
    """
    _add_combination(target, t, rows, r, impulses, i)


@subkernel
def add_speeds(target, t, rows, r, one, a, other, b):
    """u += J_a v_a + J_b v_b for three rows [3, 12] and the six numbers of two bodies.

    Parameters
    ----------
    target, rows, one, other : float64
        u (written), J, v_a and v_b (read).
    t, r, a, b : int
        Where they begin.
    """
    _add_dot_products(target, t, rows, r, one, a, other, b)
