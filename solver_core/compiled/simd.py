"""SIMD vectors of eight numbers for kernels.

LLVM vectorises a loop by itself only if it can prove that no array overlaps another, which it cannot for what a sweep
reads and writes. So kernels use vectors explicitly: ``load`` returns a vector of ``WIDTH`` numbers, on which + - * /
and comparisons work lane by lane. Compiled code has vectors of eight whatever the width of the processor's registers;
LLVM splits an operation into as many instructions as needed. Each lane has the result of the scalar operation, to the
bit.

Where kernels run as plain Python the vectors are arrays.

    load, store             WIDTH adjacent numbers of an array, from an index on (arrays of any shape count as flat)
    fetch                   prefetch numbers; the index may lie beyond the array's end
    gather_rows             ROW adjacent numbers at each of WIDTH indices, as ROW vectors
    scatter_rows            puts them back; of equal indices the first lane's numbers are stored
    spread                  the same number in every lane
    select                  lane by lane: the second where the first is true, else the third
    root, size              square root; absolute value
    any_of, number_at       whether any flag is set; the number in one lane
"""

import operator

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

# Lanes of a vector; numbers that ``gather_rows`` reads in a row, which are those of a velocity.
WIDTH, ROW = 8, 6

_NUMBERS = ir.VectorType(ir.DoubleType(), WIDTH)
_FLAGS = ir.VectorType(ir.IntType(1), WIDTH)
_INT32 = ir.IntType(32)
_BYTES = ir.IntType(8).as_pointer()


class _Vector(types.Type):
    """Numba's type of a vector."""


_vector, _mask = _Vector("numbers"), _Vector("flags")


@register_model(_Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _NUMBERS if kind is _vector else _FLAGS)


def _define_operator(function, name, result, compares=None):
    @type_callable(function)
    def type_operator(context):
        def typer(first, second):
            if first is _vector and second is _vector:
                return result
            return None

        return typer

    @lower_builtin(function, _vector, _vector)
    def lower_operator(context, builder, signature, values):
        if compares:
            return builder.fcmp_ordered(compares, *values)
        return getattr(builder, name)(*values)


for _function, _name in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _define_operator(_function, _name, _vector)
for _function, _sign in ((operator.lt, "<"), (operator.le, "<="), (operator.gt, ">"), (operator.ge, ">=")):
    _define_operator(_function, None, _mask, _sign)


def _define_on_flags(function, name):
    @type_callable(function)
    def type_operator(context):
        def typer(first, second):
            return _mask if first is _mask and second is _mask else None

        return typer

    @lower_builtin(function, _mask, _mask)
    def lower_operator(context, builder, signature, values):
        return getattr(builder, name)(*values)


_define_on_flags(operator.and_, "and_")
_define_on_flags(operator.or_, "or_")


def _place_of(context, builder, kind, array, place):
    pointer = builder.gep(context.make_array(kind)(context, builder, array).data, [place])
    return builder.bitcast(pointer, _NUMBERS.as_pointer())


def _constant(number):
    return ir.Constant(_NUMBERS, [number] * WIDTH)


def _call(builder, name, values):
    """An intrinsic function of LLVM on vectors of numbers."""
    name = f"llvm.{name}.v{WIDTH}f64"
    kind = ir.FunctionType(_NUMBERS, [_NUMBERS] * len(values))
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), values)


@intrinsic
def _load(typing_context, array, place):
    def codegen(context, builder, signature, values):
        return builder.load(_place_of(context, builder, signature.args[0], *values), align=8)

    return _vector(array, types.int64), codegen


@intrinsic
def _store(typing_context, array, place, value):
    def codegen(context, builder, signature, values):
        builder.store(values[2], _place_of(context, builder, signature.args[0], *values[:2]), align=8)
        return context.get_dummy_value()

    return types.none(array, types.int64, _vector), codegen


@intrinsic
def _fetch(typing_context, array, place):
    def codegen(context, builder, signature, values):
        address = context.make_array(signature.args[0])(context, builder, values[0]).data
        address = builder.bitcast(builder.gep(address, [values[1]]), _BYTES)
        kind = ir.FunctionType(ir.VoidType(), [_BYTES] + 3 * [_INT32])
        fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        # to read, soon and often, as data
        builder.call(fetch, [address, _INT32(0), _INT32(3), _INT32(1)])
        return context.get_dummy_value()

    return types.none(array, types.int64), codegen


def _parts(builder, context, kind, array, place, first, count):
    """Pointer to ``count`` numbers of the row at ``place``, from its entry ``first`` on."""
    data = context.make_array(kind)(context, builder, array).data
    pointer = builder.gep(builder.gep(data, [place]), [_INT32(first)])
    return builder.bitcast(pointer, ir.VectorType(ir.DoubleType(), count).as_pointer())


def _shuffle(builder, one, two, lanes):
    """A vector of these lanes of two vectors; those of the second are counted on."""
    return builder.shuffle_vector(one, two, ir.Constant(ir.VectorType(_INT32, len(lanes)), [_INT32(i) for i in lanes]))


def _turn_quarters(builder, rows):
    """Four vectors [row i | row i + 4], of four numbers each, to the four columns; or back again."""
    low, high = [0, 8, 2, 10, 4, 12, 6, 14], [1, 9, 3, 11, 5, 13, 7, 15]
    pairs = [_shuffle(builder, rows[i], rows[i + 1], which) for i in (0, 2) for which in (low, high)]
    low, high = [0, 1, 8, 9, 4, 5, 12, 13], [2, 3, 10, 11, 6, 7, 14, 15]
    return [_shuffle(builder, pairs[i], pairs[i + 2], which) for which in (low, high) for i in (0, 1)]


def _turn_pairs(builder, one, two):
    """The even lanes of two vectors in turn, and the odd ones; or back again."""
    low, high = [0, 8, 2, 10, 4, 12, 6, 14], [1, 9, 3, 11, 5, 13, 7, 15]
    return _shuffle(builder, one, two, low), _shuffle(builder, one, two, high)


@intrinsic
def _gather_rows(typing_context, array, places):
    def codegen(context, builder, signature, values):
        def part(lane, first, count):
            place = builder.extract_value(values[1], lane)
            return builder.load(_parts(builder, context, signature.args[0], values[0], place, first, count), align=8)

        quarters = [_shuffle(builder, part(i, 0, 4), part(i + 4, 0, 4), range(8)) for i in range(4)]
        ends = []
        for first in (0, 1):
            halves = [_shuffle(builder, part(i, 4, 2), part(i + 2, 4, 2), range(4)) for i in (first, first + 4)]
            ends.append(_shuffle(builder, *halves, range(8)))
        columns = *_turn_quarters(builder, quarters), *_turn_pairs(builder, *ends)
        return cgutils.pack_array(builder, columns)

    return types.UniTuple(_vector, ROW)(array, places), codegen


@intrinsic
def _scatter_rows(typing_context, array, places, rows):
    def codegen(context, builder, signature, values):
        columns = [builder.extract_value(values[2], i) for i in range(ROW)]
        quarters = _turn_quarters(builder, columns[:4])
        ends = _turn_pairs(builder, *columns[4:])
        for lane in reversed(range(WIDTH)):
            place, half = builder.extract_value(values[1], lane), 4 * (lane // 4)
            quarter = _shuffle(builder, quarters[lane % 4], quarters[lane % 4], range(half, half + 4))
            pair = _shuffle(builder, ends[lane % 2], ends[lane % 2], range(lane // 2 * 2, lane // 2 * 2 + 2))
            for part, first in ((quarter, 0), (pair, 4)):
                pointer = _parts(builder, context, signature.args[0], values[0], place, first, part.type.count)
                builder.store(part, pointer, align=8)
        return context.get_dummy_value()

    return types.none(array, places, rows), codegen


@intrinsic
def _spread(typing_context, number):
    def codegen(context, builder, signature, values):
        result = ir.Constant(_NUMBERS, ir.Undefined)
        for lane in range(WIDTH):
            result = builder.insert_element(result, values[0], _INT32(lane))
        return result

    return _vector(types.float64), codegen


@intrinsic
def _select(typing_context, condition, first, second):
    def codegen(context, builder, signature, values):
        return builder.select(*values)

    return _vector(_mask, _vector, _vector), codegen


@intrinsic
def _root(typing_context, value):
    def codegen(context, builder, signature, values):
        return _call(builder, "sqrt", values)

    return _vector(_vector), codegen


@intrinsic
def _size(typing_context, value):
    def codegen(context, builder, signature, values):
        return _call(builder, "fabs", values)

    return _vector(_vector), codegen


@intrinsic
def _any_of(typing_context, flags):
    def codegen(context, builder, signature, values):
        word = builder.bitcast(values[0], ir.IntType(WIDTH))
        return builder.icmp_unsigned("!=", word, ir.Constant(word.type, 0))

    return types.boolean(_mask), codegen


@intrinsic
def _number_at(typing_context, value, lane):
    def codegen(context, builder, signature, values):
        return builder.extract_element(*values)

    return types.float64(_vector, types.int64), codegen


class _Plain:
    """The same for arrays, where kernels run as plain Python."""

    def load(array, place):
        return array.reshape(-1)[place : place + WIDTH].copy()

    def store(array, place, value):
        array.reshape(-1)[place : place + WIDTH] = value

    def fetch(array, place):
        pass

    def gather_rows(array, places):
        return tuple(array.reshape(-1)[np.add(places, offset)] for offset in range(ROW))

    def scatter_rows(array, places, rows):
        for place, row in reversed(list(zip(places, zip(*rows, strict=True), strict=True))):
            array.reshape(-1)[place : place + ROW] = row

    def spread(number):
        return np.full(WIDTH, number)

    def number_at(value, lane):
        return value[lane]


if config.DISABLE_JIT:
    load, store, gather_rows, scatter_rows = _Plain.load, _Plain.store, _Plain.gather_rows, _Plain.scatter_rows
    spread, number_at, fetch = _Plain.spread, _Plain.number_at, _Plain.fetch
    select, root, size, any_of = np.where, np.sqrt, np.abs, np.any
else:
    load, store, spread, fetch = _load, _store, _spread, _fetch
    gather_rows, scatter_rows = _gather_rows, _scatter_rows
    select, root, size, any_of, number_at = _select, _root, _size, _any_of, _number_at
