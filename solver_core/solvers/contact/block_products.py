"""Products of 6 x 6 blocks in vector registers: the inner loops of a sparse factorisation over rigid bodies.

LLVM's loop vectoriser leaves loops of six alone, and C -= A B' costs some 210 ns then. Here each column of a block is
one vector of six numbers, which LLVM splits into what the processor has, and the same product costs some 20 ns.
Multiplications and additions stay apart, so processors with and without a fused one give the same bits.

A block lies column by column: block[6 * m + r] is the entry of row r and column m. Arguments come in pairs, an array
and the place in it where the block begins, counted in numbers. Rows of Jacobians are 12 numbers apart (``RowArrays``).

Without compilation (``NUMBA_DISABLE_JIT``) plain loops do the same.
"""

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from ...kernel import subkernel

_SIZE = 6
_ROW_STRIDE = 12
_ROWS_PER_CONTACT = 3

# Rounding couples unknowns that have nothing to do with each other by 1e-16, what they couple by 1e-32, and so on down
# to numbers below 1e-308, with which processors calculate a hundred times slower. Numbers below this count as zero.
_TINY = 1e-120

_FLOAT, _INT32, _INT64 = ir.DoubleType(), ir.IntType(32), ir.IntType(64)
_VECTOR = ir.VectorType(_FLOAT, _SIZE)


class _Place:
    """A place in an array, as code for it is generated; offsets are in numbers."""

    def __init__(self, context, builder, array_type, array, place):
        self._builder = builder
        data = cgutils.create_struct_proxy(array_type)(context, builder, array).data
        self._pointer = builder.gep(data, [place])

    def number(self, offset):
        return self._builder.load(self._at(offset))

    def vector(self, offset):
        return self._builder.load(self._vector_at(offset), align=8)

    def store(self, vector, offset):
        self._builder.store(vector, self._vector_at(offset), align=8)

    def store_number(self, number, offset):
        self._builder.store(number, self._at(offset))

    def _at(self, offset):
        return self._builder.gep(self._pointer, [ir.Constant(_INT64, offset)])

    def _vector_at(self, offset):
        return self._builder.bitcast(self._at(offset), _VECTOR.as_pointer())


def _times(builder, vector, number):
    """Code for a vector times a number."""
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(undefined, number, _INT32(0))
    spread = builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_INT32, _SIZE), [0] * _SIZE))
    return builder.fmul(vector, spread)


def _without_tiny(builder, vector):
    """Code for a vector in which tiny numbers are zero."""
    magnitude = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(_VECTOR, [_VECTOR]), f"llvm.fabs.v{_SIZE}f64"
    )
    is_tiny = builder.fcmp_ordered("<", builder.call(magnitude, [vector]), ir.Constant(_VECTOR, [_TINY] * _SIZE))
    return builder.select(is_tiny, ir.Constant(_VECTOR, [0.0] * _SIZE), vector)


def _typed(generate, *argument_types):
    """What an intrinsic returns to Numba: its signature, and the code that ``generate`` makes for its places."""

    def code_generator(context, builder, signature, arguments):
        places = [
            _Place(context, builder, signature.args[i], arguments[i], arguments[i + 1])
            for i in range(0, len(arguments), 2)
        ]
        generate(builder, *places)
        return context.get_dummy_value()

    return types.void(*argument_types), code_generator


@intrinsic
def _subtract_product(typing_context, target, t, left, a, right, b):
    def generate(builder, target, left, right):
        columns = [left.vector(_SIZE * m) for m in range(_SIZE)]
        for column in range(_SIZE):
            total = target.vector(_SIZE * column)
            for m in range(_SIZE):
                total = builder.fsub(total, _times(builder, columns[m], right.number(_SIZE * m + column)))
            target.store(total, _SIZE * column)

    return _typed(generate, target, t, left, a, right, b)


@intrinsic
def _divide(typing_context, block, x, factor, f, inverse, i):
    def generate(builder, block, factor, inverse):
        columns = []
        for column in range(_SIZE):
            total = block.vector(_SIZE * column)
            for m in range(column):
                total = builder.fsub(total, _times(builder, columns[m], factor.number(_SIZE * m + column)))
            columns.append(_without_tiny(builder, _times(builder, total, inverse.number(column))))
            block.store(columns[column], _SIZE * column)

    return _typed(generate, block, x, factor, f, inverse, i)


@intrinsic
def _subtract_image(typing_context, target, t, block, a, vector, x):
    def generate(builder, target, block, vector):
        total = target.vector(0)
        for m in range(_SIZE):
            total = builder.fsub(total, _times(builder, block.vector(_SIZE * m), vector.number(m)))
        target.store(total, 0)

    return _typed(generate, target, t, block, a, vector, x)


@intrinsic
def _add_products(typing_context, target, t, block, a, vector, x):
    def generate(builder, target, block, vector):
        factor = vector.vector(0)
        for m in range(0, _SIZE * _SIZE, _SIZE):
            target.store(builder.fadd(target.vector(m), builder.fmul(block.vector(m), factor)), m)

    return _typed(generate, target, t, block, a, vector, x)


@intrinsic
def _add_contact(typing_context, target, t, rows, r, columns, c, stiffness, s):
    def generate(builder, target, rows, columns, stiffness):
        jacobian = [rows.vector(_ROW_STRIDE * k) for k in range(_ROWS_PER_CONTACT)]
        weighted = []
        for k in range(_ROWS_PER_CONTACT):
            total = _times(builder, jacobian[0], stiffness.number(_ROWS_PER_CONTACT * k))
            for m in range(1, _ROWS_PER_CONTACT):
                weight = stiffness.number(_ROWS_PER_CONTACT * k + m)
                total = builder.fadd(total, _times(builder, jacobian[m], weight))
            weighted.append(total)
        for column in range(_SIZE):
            total = target.vector(_SIZE * column)
            for k in range(_ROWS_PER_CONTACT):
                total = builder.fadd(total, _times(builder, weighted[k], columns.number(_ROW_STRIDE * k + column)))
            target.store(total, _SIZE * column)

    return _typed(generate, target, t, rows, r, columns, c, stiffness, s)


@intrinsic
def _add_row(typing_context, target, t, row, r, columns, c, stiffness, s):
    def generate(builder, target, row, columns, stiffness):
        weighted = _times(builder, row.vector(0), stiffness.number(0))
        for column in range(_SIZE):
            added = _times(builder, weighted, columns.number(column))
            target.store(builder.fadd(target.vector(_SIZE * column), added), _SIZE * column)

    return _typed(generate, target, t, row, r, columns, c, stiffness, s)


@intrinsic
def _push(typing_context, target, t, rows, r, impulses, i):
    def generate(builder, target, rows, impulses):
        total = target.vector(0)
        for k in range(_ROWS_PER_CONTACT):
            total = builder.fadd(total, _times(builder, rows.vector(_ROW_STRIDE * k), impulses.number(k)))
        target.store(total, 0)

    return _typed(generate, target, t, rows, r, impulses, i)


@intrinsic
def _add_speeds(typing_context, target, t, rows, r, one, a, other, b):
    def generate(builder, target, rows, one, other):
        first, second = one.vector(0), other.vector(0)
        for k in range(_ROWS_PER_CONTACT):
            products = builder.fadd(
                builder.fmul(rows.vector(_ROW_STRIDE * k), first),
                builder.fmul(rows.vector(_ROW_STRIDE * k + _SIZE), second),
            )
            numbers = [builder.extract_element(products, _INT32(m)) for m in range(_SIZE)]
            pairs = [builder.fadd(numbers[m], numbers[m + 1]) for m in (0, 2, 4)]
            total = builder.fadd(builder.fadd(pairs[0], pairs[1]), pairs[2])
            target.store_number(builder.fadd(target.number(k), total), k)

    return _typed(generate, target, t, rows, r, one, a, other, b)


if config.DISABLE_JIT:

    def _plain(array, place, rows, stride=_SIZE):
        """``rows`` runs of six numbers as a view [rows, 6]; a block is seen transposed."""
        flat = array.reshape(-1)
        return np.stack([flat[place + stride * k : place + stride * k + _SIZE] for k in range(rows)])

    def _subtract_product(target, t, left, a, right, b):
        change = _plain(right, b, _SIZE).T @ _plain(left, a, _SIZE)
        target.reshape(-1)[t : t + 36] -= change.ravel()

    def _divide(block, x, factor, f, inverse, i):
        lower = np.tril(_plain(factor, f, _SIZE).T, -1) + np.diag(1.0 / inverse.reshape(-1)[i : i + _SIZE])
        result = np.linalg.solve(lower, _plain(block, x, _SIZE)).ravel()
        block.reshape(-1)[x : x + 36] = np.where(np.abs(result) < _TINY, 0.0, result)

    def _subtract_image(target, t, block, a, vector, x):
        target.reshape(-1)[t : t + _SIZE] -= vector.reshape(-1)[x : x + _SIZE] @ _plain(block, a, _SIZE)

    def _add_products(target, t, block, a, vector, x):
        target.reshape(-1)[t : t + 36] += (_plain(block, a, _SIZE) * vector.reshape(-1)[x : x + _SIZE]).ravel()

    def _add_contact(target, t, rows, r, columns, c, stiffness, s):
        left, right = (_plain(array, place, 3, _ROW_STRIDE) for array, place in ((rows, r), (columns, c)))
        weighted = stiffness.reshape(-1)[s : s + 9].reshape(3, 3) @ left
        target.reshape(-1)[t : t + 36] += (right.T @ weighted).ravel()

    def _add_row(target, t, row, r, columns, c, stiffness, s):
        left, right = row.reshape(-1)[r : r + _SIZE], columns.reshape(-1)[c : c + _SIZE]
        target.reshape(-1)[t : t + 36] += stiffness.reshape(-1)[s] * np.outer(right, left).ravel()

    def _push(target, t, rows, r, impulses, i):
        target.reshape(-1)[t : t + _SIZE] += impulses[i : i + 3] @ _plain(rows, r, 3, _ROW_STRIDE)

    def _add_speeds(target, t, rows, r, one, a, other, b):
        first, second = one.reshape(-1)[a : a + _SIZE], other.reshape(-1)[b : b + _SIZE]
        target[t : t + 3] += _plain(rows, r, 3, _ROW_STRIDE) @ first + _plain(rows, r + _SIZE, 3, _ROW_STRIDE) @ second


@subkernel
def subtract_product(target, t, left, a, right, b):
    """C -= A B'."""
    _subtract_product(target, t, left, a, right, b)


@subkernel
def divide(block, x, factor, f, inverse, i):
    """X <- X L^-T for a lower triangle L, of whose diagonal the six inverses are given; tiny entries become zero."""
    _divide(block, x, factor, f, inverse, i)


@subkernel
def subtract_image(target, t, block, a, vector, x):
    """y -= A x for six numbers each."""
    _subtract_image(target, t, block, a, vector, x)


@subkernel
def add_products(target, t, block, a, vector, x):
    """C_rm += A_rm x_r; summed over r, the columns of C hold A' x."""
    _add_products(target, t, block, a, vector, x)


@subkernel
def add_contact(target, t, rows, r, columns, c, stiffness, s):
    """C += J_r' D J_c for three rows of Jacobians [3, 6] and a symmetric D [3, 3]."""
    _add_contact(target, t, rows, r, columns, c, stiffness, s)


@subkernel
def add_row(target, t, row, r, columns, c, stiffness, s):
    """C += d j_r' j_c for one row of Jacobians [6] and a number d."""
    _add_row(target, t, row, r, columns, c, stiffness, s)


@subkernel
def push(target, t, rows, r, impulses, i):
    """v += R' p for three rows [3, 6] of one body and three impulses."""
    _push(target, t, rows, r, impulses, i)


@subkernel
def add_speeds(target, t, rows, r, one, a, other, b):
    """u += J_a v_a + J_b v_b for three rows [3, 12] and the six numbers of two bodies."""
    _add_speeds(target, t, rows, r, one, a, other, b)
