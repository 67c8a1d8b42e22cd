"""Calls of kernels by their address, so that the caller is compiled without them.

A kernel that calls another one by name takes over all of its code, and compiles it once more. Here the caller gets a
table of addresses as an argument. So each stage of a step is compiled once and cached on its own, the kernel that calls
the stages in turn is small, and a stage that nothing asks for is not compiled at all.

Beside each address stands a checksum of the types that the kernel takes and returns. A call compares it with its own
and raises where they differ. Addresses hold within a process: a table is made anew wherever it is needed, and never
stored.
"""

import zlib
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from .kernel import is_cached, kinds_of

# Columns of a table of entries.
_ADDRESS, _CHECKSUM = 0, 1


def empty_entries(count: int):
    """A table of so many entries, none of which can be called.

    Returns
    -------
    int64 [count, 2]
        Where kernels run as plain Python: a list of functions.
    """
    return [None] * count if config.DISABLE_JIT else np.zeros((count, 2), np.int64)


def enter(entries, place: int, kernel, result, *arguments) -> None:
    """Compile ``kernel``, or load it from the cache, and put it into a table.

    Parameters
    ----------
    entries : table of ``empty_entries``
        Written.
    place : int
    kernel : kernel
    result : Numba type
        What it returns.
    *arguments
        Values of the types that it will be called with; only their types count.

    Raises
    ------
    TypeError
        It returns something else.
    """
    if config.DISABLE_JIT:
        entries[place] = kernel
        return
    kinds = kinds_of(arguments)
    kernel.compile(kinds)
    compiled = kernel.overloads[kinds]
    if compiled.signature.return_type != result:
        raise TypeError(f"{kernel.__name__} returns {compiled.signature.return_type}, not {result}")
    entries[place, _ADDRESS] = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    entries[place, _CHECKSUM] = _checksum(result, kinds)


class Compilation(NamedTuple):
    """One kernel that a simulation calls, and what for: what can be compiled on its own.

    Attributes
    ----------
    name : str
        For reports of progress; no two of a simulation have the same.
    kernel : kernel or entry
    arguments : tuple
        Values of the types that it will be called with; only their types count.
    result : Numba type, optional
        What it returns, if it is called by its address.
    entries : table of ``empty_entries``, optional
        Then its address is written there, ...
    place : int
        ... in this place.
    """

    name: str
    kernel: object
    arguments: tuple
    result: object = None
    entries: object = None
    place: int = 0

    def is_cached(self) -> bool:
        """Whether it can be loaded."""
        return is_cached(self.kernel, kinds_of(self.arguments))

    def compile(self) -> None:
        """Compile it, or load it from the cache, and enter it."""
        if self.entries is not None:
            enter(self.entries, self.place, self.kernel, self.result, *self.arguments)
        elif not config.DISABLE_JIT:
            self.kernel.compile(kinds_of(self.arguments))


def _checksum(result, kinds) -> int:
    return zlib.crc32(", ".join(str(_as_passed(kind)) for kind in (result, *kinds)).encode())


def _as_passed(kind):
    """The type as which an argument arrives: of ``StepArrays``, a pointer."""
    return getattr(kind, "as_passed", kind)


def caller(result):
    """Function for kernels, ``call(entries, place, *arguments)``, that calls an entry which returns ``result``."""
    if config.DISABLE_JIT:
        return lambda entries, place, *arguments: entries[place](*arguments)

    @intrinsic
    def call(typing_context, entries, place, *arguments):
        kinds = tuple(types.unliteral(kind) for kind in arguments)

        def codegen(context, builder, signature, values):
            table, place, packed = values
            data = context.make_array(signature.args[0])(context, builder, table).data
            return _emit_call(context, builder, data, place, result, kinds, cgutils.unpack_tuple(builder, packed))

        return result(entries, types.int64, types.StarArgTuple.from_types(kinds)), codegen

    return call


def task_caller():
    """Function for kernels, ``call(entries, place, context, lane)``, that calls a task (``lanes``).

    The entry is a kernel (arrays, lane) that returns nothing; ``context`` is the address of its ``StepArrays``.
    """
    if config.DISABLE_JIT:
        return lambda entries, place, context, lane: entries[place](context, lane)

    @intrinsic
    def call(typing_context, entries, place, address, lane):
        kinds = types.CPointer(types.int64), types.int64

        def codegen(context, builder, signature, values):
            table, place, address, lane = values
            data = context.make_array(signature.args[0])(context, builder, table).data
            pointer = builder.inttoptr(address, context.get_value_type(kinds[0]))
            return _emit_call(context, builder, data, place, types.none, kinds, (pointer, lane))

        return types.none(entries, types.int64, types.int64, types.int64), codegen

    return call


def _emit_call(context, builder, entries, place, result, kinds, arguments):
    """Write the call of an entry, which raises where that takes or returns something else, or raises itself."""
    entry = builder.gep(entries, [builder.mul(place, place.type(2))])
    found = builder.load(builder.gep(entry, [ir.IntType(64)(_CHECKSUM)]))
    with cgutils.if_unlikely(builder, builder.icmp_unsigned("!=", found, found.type(_checksum(result, kinds)))):
        context.call_conv.return_user_exc(builder, TypeError, ("a kernel was called by a wrong address",))
    function = context.call_conv.get_function_type(result, kinds).as_pointer()
    callee = builder.inttoptr(builder.load(entry), function)
    status, answer = context.call_conv.call_function(builder, callee, result, kinds, arguments)
    with cgutils.if_unlikely(builder, status.is_error):
        context.call_conv.return_status_propagate(builder, status)
    return answer


# Calls that return a number of things, and those that return also a length [m].
call_for_count = caller(types.int64)
call_for_depth = caller(types.Tuple((types.int64, types.float64)))
