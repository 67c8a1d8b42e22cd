"""Vectors of six numbers in registers: the code of products of 6 x 6 blocks, for kernels.

LLVM's loop vectoriser leaves loops of six alone, and C -= A B' costs some 210 ns then. Here each column of a block is
one vector of six numbers, which LLVM splits into what the processor has, and the same product costs some 20 ns.
Multiplications and additions stay apart, so processors with and without a fused one give the same bits.

A block lies column by column: block[6 * m + r] is the entry of row r and column m. Arguments come in pairs, an array
and the index in it where the block begins, counted in numbers.

Without compilation (``NUMBA_DISABLE_JIT``) NumPy does the same.
"""

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

SIZE = 6

_INT32, _INT64 = ir.IntType(32), ir.IntType(64)
_VECTOR = ir.VectorType(ir.DoubleType(), SIZE)


class _Block:
    """Where a block or vector begins in an array, as code for it is generated; offsets are in numbers."""

    def __init__(self, context, builder, array_type, array, index):
        self._builder = builder
        data = cgutils.create_struct_proxy(array_type)(context, builder, array).data
        self._pointer = builder.gep(data, [index])

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
    spread = builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_INT32, SIZE), [0] * SIZE))
    return builder.fmul(vector, spread)


def _without_tiny(builder, vector, tiny):
    """Code for a vector in which numbers smaller than ``tiny`` are zero."""
    magnitude = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(_VECTOR, [_VECTOR]), f"llvm.fabs.v{SIZE}f64"
    )
    is_tiny = builder.fcmp_ordered("<", builder.call(magnitude, [vector]), ir.Constant(_VECTOR, [tiny] * SIZE))
    return builder.select(is_tiny, ir.Constant(_VECTOR, [0.0] * SIZE), vector)


def _typed(generate, *argument_types):
    """What an intrinsic returns to Numba: its signature, and the code that ``generate`` makes for its blocks."""

    def code_generator(context, builder, signature, arguments):
        blocks = [
            _Block(context, builder, signature.args[i], arguments[i], arguments[i + 1])
            for i in range(0, len(arguments), 2)
        ]
        generate(builder, *blocks)
        return context.get_dummy_value()

    return types.void(*argument_types), code_generator


def _vectors(array, index, count, stride=SIZE):
    """As many vectors of six numbers [count, 6]; a block is seen transposed."""
    flat = array.reshape(-1)
    return np.stack([flat[index + stride * k : index + stride * k + SIZE] for k in range(count)])


def _intrinsics():
    """The products of blocks as intrinsics."""

    @intrinsic
    def subtract_product(typing_context, target, t, left, a, right, b):
        def generate(builder, target, left, right):
            columns = [left.vector(SIZE * m) for m in range(SIZE)]
            for column in range(SIZE):
                total = target.vector(SIZE * column)
                for m in range(SIZE):
                    total = builder.fsub(total, _times(builder, columns[m], right.number(SIZE * m + column)))
                target.store(total, SIZE * column)

        return _typed(generate, target, t, left, a, right, b)

    @intrinsic
    def subtract_image(typing_context, target, t, block, a, vector, x):
        def generate(builder, target, block, vector):
            total = target.vector(0)
            for m in range(SIZE):
                total = builder.fsub(total, _times(builder, block.vector(SIZE * m), vector.number(m)))
            target.store(total, 0)

        return _typed(generate, target, t, block, a, vector, x)

    @intrinsic
    def add_products(typing_context, target, t, block, a, vector, x):
        def generate(builder, target, block, vector):
            factor = vector.vector(0)
            for m in range(0, SIZE * SIZE, SIZE):
                target.store(builder.fadd(target.vector(m), builder.fmul(block.vector(m), factor)), m)

        return _typed(generate, target, t, block, a, vector, x)

    @intrinsic
    def add_outer_product(typing_context, target, t, row, r, columns, c, weights, w):
        def generate(builder, target, row, columns, weights):
            weighted = _times(builder, row.vector(0), weights.number(0))
            for column in range(SIZE):
                added = _times(builder, weighted, columns.number(column))
                target.store(builder.fadd(target.vector(SIZE * column), added), SIZE * column)

        return _typed(generate, target, t, row, r, columns, c, weights, w)

    return subtract_product, subtract_image, add_products, add_outer_product


if config.DISABLE_JIT:

    def subtract_product(target, t, left, a, right, b):
        """C -= A B'."""
        change = _vectors(right, b, SIZE).T @ _vectors(left, a, SIZE)
        target.reshape(-1)[t : t + 36] -= change.ravel()

    def subtract_image(target, t, block, a, vector, x):
        """y -= A x."""
        target.reshape(-1)[t : t + SIZE] -= vector.reshape(-1)[x : x + SIZE] @ _vectors(block, a, SIZE)

    def add_products(target, t, block, a, vector, x):
        """C_rm += A_rm x_r."""
        target.reshape(-1)[t : t + 36] += (_vectors(block, a, SIZE) * vector.reshape(-1)[x : x + SIZE]).ravel()

    def add_outer_product(target, t, row, r, columns, c, weights, w):
        """C += d j_r' j_c for one row each and a number d."""
        left, right = row.reshape(-1)[r : r + SIZE], columns.reshape(-1)[c : c + SIZE]
        target.reshape(-1)[t : t + 36] += weights.reshape(-1)[w] * np.outer(right, left).ravel()

else:
    subtract_product, subtract_image, add_products, add_outer_product = _intrinsics()


def division(tiny):
    """Make ``divide(block, x, factor, f, inverse, i)``: X <- X L^-T for a lower triangle L.

    The six inverses of L's diagonal are given; entries of X smaller than ``tiny`` become zero.
    """
    if config.DISABLE_JIT:

        def divide(block, x, factor, f, inverse, i):
            lower = np.tril(_vectors(factor, f, SIZE).T, -1) + np.diag(1.0 / inverse.reshape(-1)[i : i + SIZE])
            result = np.linalg.solve(lower, _vectors(block, x, SIZE)).ravel()
            block.reshape(-1)[x : x + 36] = np.where(np.abs(result) < tiny, 0.0, result)

        return divide

    @intrinsic
    def divide(typing_context, block, x, factor, f, inverse, i):
        def generate(builder, block, factor, inverse):
            columns = []
            for column in range(SIZE):
                total = block.vector(SIZE * column)
                for m in range(column):
                    total = builder.fsub(total, _times(builder, columns[m], factor.number(SIZE * m + column)))
                columns.append(_without_tiny(builder, _times(builder, total, inverse.number(column)), tiny))
                block.store(columns[column], SIZE * column)

        return _typed(generate, block, x, factor, f, inverse, i)

    return divide


def row_products(count, stride):
    """Make the products with the rows of ``count`` vectors of six numbers that begin ``stride`` numbers apart.

    Returns
    -------
    tuple of three functions for kernels
        ``add_weighted(target, t, rows, r, columns, c, weights, w)``: C += R' D Q for a symmetric D [count, count];
        ``add_combination(target, t, rows, r, factors, f)``: v += R' p;
        ``add_dot_products(target, t, rows, r, one, a, other, b)``: u += R v + S w, where each row of S begins six
        numbers after that of R.
    """
    if config.DISABLE_JIT:

        def add_weighted(target, t, rows, r, columns, c, weights, w):
            left, right = (_vectors(array, place, count, stride) for array, place in ((rows, r), (columns, c)))
            weighted = weights.reshape(-1)[w : w + count * count].reshape(count, count) @ left
            target.reshape(-1)[t : t + 36] += (right.T @ weighted).ravel()

        def add_combination(target, t, rows, r, factors, f):
            target.reshape(-1)[t : t + SIZE] += factors[f : f + count] @ _vectors(rows, r, count, stride)

        def add_dot_products(target, t, rows, r, one, a, other, b):
            first, second = one.reshape(-1)[a : a + SIZE], other.reshape(-1)[b : b + SIZE]
            target[t : t + count] += (
                _vectors(rows, r, count, stride) @ first + _vectors(rows, r + SIZE, count, stride) @ second
            )

        return add_weighted, add_combination, add_dot_products

    @intrinsic
    def add_weighted(typing_context, target, t, rows, r, columns, c, weights, w):
        def generate(builder, target, rows, columns, weights):
            vectors = [rows.vector(stride * k) for k in range(count)]
            weighted = []
            for k in range(count):
                total = _times(builder, vectors[0], weights.number(count * k))
                for m in range(1, count):
                    weight = weights.number(count * k + m)
                    total = builder.fadd(total, _times(builder, vectors[m], weight))
                weighted.append(total)
            for column in range(SIZE):
                total = target.vector(SIZE * column)
                for k in range(count):
                    total = builder.fadd(total, _times(builder, weighted[k], columns.number(stride * k + column)))
                target.store(total, SIZE * column)

        return _typed(generate, target, t, rows, r, columns, c, weights, w)

    @intrinsic
    def add_combination(typing_context, target, t, rows, r, factors, f):
        def generate(builder, target, rows, factors):
            total = target.vector(0)
            for k in range(count):
                total = builder.fadd(total, _times(builder, rows.vector(stride * k), factors.number(k)))
            target.store(total, 0)

        return _typed(generate, target, t, rows, r, factors, f)

    @intrinsic
    def add_dot_products(typing_context, target, t, rows, r, one, a, other, b):
        def generate(builder, target, rows, one, other):
            first, second = one.vector(0), other.vector(0)
            for k in range(count):
                products = builder.fadd(
                    builder.fmul(rows.vector(stride * k), first),
                    builder.fmul(rows.vector(stride * k + SIZE), second),
                )
                numbers = [builder.extract_element(products, _INT32(m)) for m in range(SIZE)]
                pairs = [builder.fadd(numbers[m], numbers[m + 1]) for m in (0, 2, 4)]
                total = builder.fadd(builder.fadd(pairs[0], pairs[1]), pairs[2])
                target.store_number(builder.fadd(target.number(k), total), k)

        return _typed(generate, target, t, rows, r, one, a, other, b)

    return add_weighted, add_combination, add_dot_products
