"""Atomic operations on entries of int64 arrays that several workers read and write.

Each is a single instruction of the processor. Where kernels run as plain Python there is one worker, and plain
operations do the same.

    load_shared         an entry, and all that was written before whoever stored it stored it (acquire)
    store_shared        write an entry, after all that was written before (release)
    add_shared          add to an entry
    replace_shared      make an entry new if it is still the old (compare and exchange)
    fetch_and_increment the first entry, which grows by one; no two workers get the same
"""

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

_ALIGNMENT = 8


def _entry(context, builder, array_type, array, index):
    """Code for the address of an entry."""
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [index])


def _instructions():
    """The operations as intrinsics, which take literal numbers as they take variables, without another compilation."""

    @intrinsic
    def load_shared(typing_context, array, index):
        def codegen(context, builder, signature, values):
            pointer = _entry(context, builder, signature.args[0], *values)
            return builder.load_atomic(pointer, "acquire", _ALIGNMENT)

        return types.int64(array, types.int64), codegen

    @intrinsic
    def store_shared(typing_context, array, index, value):
        def codegen(context, builder, signature, values):
            pointer = _entry(context, builder, signature.args[0], *values[:2])
            builder.store_atomic(values[2], pointer, "release", _ALIGNMENT)
            return context.get_dummy_value()

        return types.none(array, types.int64, types.int64), codegen

    @intrinsic
    def add_shared(typing_context, array, index, value):
        def codegen(context, builder, signature, values):
            pointer = _entry(context, builder, signature.args[0], *values[:2])
            builder.atomic_rmw("add", pointer, values[2], "acq_rel")
            return context.get_dummy_value()

        return types.none(array, types.int64, types.int64), codegen

    @intrinsic
    def replace_shared(typing_context, array, index, old, new):
        def codegen(context, builder, signature, values):
            pointer = _entry(context, builder, signature.args[0], *values[:2])
            return builder.extract_value(builder.cmpxchg(pointer, values[2], values[3], "acq_rel", "acquire"), 1)

        return types.boolean(array, types.int64, types.int64, types.int64), codegen

    @intrinsic
    def fetch_and_increment(typing_context, counter):
        def codegen(context, builder, signature, values):
            data = context.make_array(signature.args[0])(context, builder, values[0]).data
            return builder.atomic_rmw("add", data, ir.Constant(ir.IntType(64), 1), "monotonic")

        return types.int64(counter), codegen

    return load_shared, store_shared, add_shared, replace_shared, fetch_and_increment


if config.DISABLE_JIT:

    def load_shared(array, index):
        """Read ``array[index]``."""
        return array[index]

    def store_shared(array, index, value):
        """Write ``array[index] = value``."""
        array[index] = value

    def add_shared(array, index, value):
        """Add: ``array[index] += value``."""
        array[index] += value

    def replace_shared(array, index, old, new):
        """Make ``array[index]`` new if it is still the old; returns whether it was."""
        if array[index] != old:
            return False
        array[index] = new
        return True

    def fetch_and_increment(counter):
        """Return ``counter[0]``, which grows by one."""
        counter[0] += 1
        return counter[0] - 1

else:
    load_shared, store_shared, add_shared, replace_shared, fetch_and_increment = _instructions()
