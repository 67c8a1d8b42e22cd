"""Function tables: kernels are called by their address, so that the caller is compiled without them.

A kernel that calls another one by name takes over all of its code and compiles it once more. Here the caller gets a
table of addresses as an argument. So each stage of a step is compiled once and cached on its own, the kernel that calls
the stages in turn is small, and a stage that nothing asks for is not compiled at all.

A checksum of the types that the kernel takes and returns is stored beside each address. A call compares it with its own
and raises a TypeError if they differ. Addresses are valid within a process: each process makes its own tables.
"""

import zlib
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from .kernel import is_cached, kinds_of

# Columns of a function table.
_ADDRESS, _CHECKSUM = 0, 1


def empty_table(count: int):
    """A table with room for ``count`` kernels, none of which can be called yet.

    Returns
    -------
    int64 [count, 2]
        Address and checksum; where kernels run as plain Python, a list of functions.
    """
    return [None] * count if config.DISABLE_JIT else np.zeros((count, 2), np.int64)


def enter(table, index: int, kernel, result, *arguments) -> None:
    """Compile ``kernel``, or load it from the cache, and write its address into a table.

    Parameters
    ----------
    table : function table of ``empty_table``
        Written.
    index : int
    kernel : kernel or entry
    result : Numba type
        What it returns.
    *arguments
        Values of the types that it will be called with; only their types count.

    Raises
    ------
    TypeError
        The kernel returns another type.
    """
    if config.DISABLE_JIT:
        table[index] = kernel
        return
    kinds = kinds_of(arguments)
    kernel.compile(kinds)
    compiled = kernel.overloads[kinds]
    if compiled.signature.return_type != result:
        raise TypeError(f"{kernel.__name__} returns {compiled.signature.return_type}, not {result}")
    table[index, _ADDRESS] = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    table[index, _CHECKSUM] = _checksum(result, kinds)


class Compilation(NamedTuple):
    """One kernel that a simulation calls, with the types of its arguments: what can be compiled on its own.

    Attributes
    ----------
    name : str
        For reports of progress; no two of a simulation have the same.
    kernel : kernel or entry
    arguments : tuple
        Values of the types that it will be called with; only their types count.
    result : Numba type, optional
        What it returns, if it is called by its address.
    table : function table of ``empty_table``, optional
        Where its address is written, if it is called by its address, ...
    index : int
        ... and at which index.
    """

    name: str
    kernel: object
    arguments: tuple
    result: object = None
    table: object = None
    index: int = 0

    def is_cached(self) -> bool:
        """Whether it can be loaded from the cache."""
        return is_cached(self.kernel, kinds_of(self.arguments))

    def identity(self) -> tuple:
        """What is compiled: the same for compilations that give the same code."""
        return self.kernel, kinds_of(self.arguments)

    def compile(self) -> None:
        """Compile it, or load it from the cache, and write its address into its table if it has one."""
        if self.table is not None:
            enter(self.table, self.index, self.kernel, self.result, *self.arguments)
        elif not config.DISABLE_JIT:
            self.kernel.compile(kinds_of(self.arguments))


def _checksum(result, kinds) -> int:
    return zlib.crc32(", ".join(str(_as_passed(kind)) for kind in (result, *kinds)).encode())


def _as_passed(kind):
    """The type that an argument has in the callee: for ``StepArrays``, a pointer."""
    return getattr(kind, "as_passed", kind)


def caller(result):
    """Make ``call(table, index, *arguments)`` for kernels: it calls a kernel of a table that returns ``result``."""
    if config.DISABLE_JIT:
        return lambda table, index, *arguments: table[index](*arguments)

    @intrinsic
    def call(typing_context, table, index, *arguments):
        kinds = tuple(types.unliteral(kind) for kind in arguments)

        def codegen(context, builder, signature, values):
            table, index, packed = values
            data = context.make_array(signature.args[0])(context, builder, table).data
            return _emit_call(context, builder, data, index, result, kinds, cgutils.unpack_tuple(builder, packed))

        return result(table, types.int64, types.StarArgTuple.from_types(kinds)), codegen

    return call


def task_caller():
    """Make ``call(table, index, context, worker)`` for kernels: it calls a task (``workers``).

    A task is a kernel (arrays, worker) that returns nothing; ``context`` is the address of its ``StepArrays``.
    """
    if config.DISABLE_JIT:
        return lambda table, index, context, worker: table[index](context, worker)

    @intrinsic
    def call(typing_context, table, index, address, worker):
        kinds = types.CPointer(types.int64), types.int64

        def codegen(context, builder, signature, values):
            table, index, address, worker = values
            data = context.make_array(signature.args[0])(context, builder, table).data
            pointer = builder.inttoptr(address, context.get_value_type(kinds[0]))
            return _emit_call(context, builder, data, index, types.none, kinds, (pointer, worker))

        return types.none(table, types.int64, types.int64, types.int64), codegen

    return call


def _emit_call(context, builder, table, index, result, kinds, arguments):
    """Write the call of a kernel in a table; it raises if the kernel has other types, and what the kernel raises."""
    row = builder.gep(table, [builder.mul(index, index.type(2))])
    found = builder.load(builder.gep(row, [ir.IntType(64)(_CHECKSUM)]))
    with cgutils.if_unlikely(builder, builder.icmp_unsigned("!=", found, found.type(_checksum(result, kinds)))):
        context.call_conv.return_user_exc(builder, TypeError, ("a kernel was called by a wrong address",))
    function = context.call_conv.get_function_type(result, kinds).as_pointer()
    callee = builder.inttoptr(builder.load(row), function)
    status, answer = context.call_conv.call_function(builder, callee, result, kinds, arguments)
    with cgutils.if_unlikely(builder, status.is_error):
        context.call_conv.return_status_propagate(builder, status)
    return answer


# Calls of kernels that return a count, and of those that return a count and a length [m].
call_for_count = caller(types.int64)
call_for_depth = caller(types.Tuple((types.int64, types.float64)))
