"""All arrays of a step under one name, so that a call from Python costs microseconds.

Numba takes a NamedTuple apart array by array at every call from Python, some 0.2 us each: for the two hundred arrays of
a step that would be more than the step of a small scene. A ``StepArrays`` writes down once where the arrays are, and
is passed as one pointer; kernels read views of the arrays from there (``views_of``), which count no references.
"""

from ctypes import addressof, c_char
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import config, typeof, types
from numba.core import cgutils
from numba.core.pythonapi import NativeValue
from numba.extending import intrinsic, models, register_model, unbox
from numba.np.arrayobj import populate_array


class StepMembers(NamedTuple):
    """Of a step: Model-, State-, Motion-, Sleep-, Collision-, Shared- and ProblemArrays.

    The memory of the method comes last, so what does not read it is the same code for all methods (``without_solver``).
    """

    model: tuple
    state: tuple
    motion: tuple
    sleep: tuple
    collision: tuple
    shared: tuple
    problem: tuple


def without_solver(members: StepMembers) -> StepMembers:
    """The members that stages read, before those of the method: their words are the first of all."""
    return members._replace(problem=members.problem._replace(solver=()))


# Types by the structure of the members: Numba takes milliseconds to find the type of some two hundred arrays.
_known_types = {}


class StepArrays:
    """The arrays of a step, for kernels.

    Parameters
    ----------
    members : StepMembers
        They are kept alive, and shared: what a kernel writes stands in them.

    Raises
    ------
    TypeError
        One of the arrays is not contiguous, or cannot be written.
    """

    def __init__(self, members: StepMembers):
        self.members = members
        if config.DISABLE_JIT:
            return
        words = []
        structure = _write_words(members, words)
        self._words = np.array(words, np.int64)
        # Both are read by Numba at each call.
        self.address = self._words.ctypes.data
        self._numba_type_ = _known_types.get(structure)
        if self._numba_type_ is None:
            self._numba_type_ = _known_types[structure] = StepArraysType(typeof(members))


def _write_words(members, words) -> tuple:
    """Append where the arrays in nested tuples are, in order; returns what their type hangs on."""
    if not isinstance(members, np.ndarray):
        return type(members), *[_write_words(member, words) for member in members]
    if not members.flags.carray:
        raise TypeError(f"an array of a step with the shape {members.shape} is not contiguous or cannot be written")
    # As ``ctypes.data``, which takes a tenth of a millisecond for thirty arrays; an empty one has no buffer.
    words.append(addressof(c_char.from_buffer(members)) if members.size else members.ctypes.data)
    words.extend(members.shape)
    return members.dtype.char, members.ndim


class StepArraysType(types.Type):
    """Numba's type of ``StepArrays``: a pointer to one word for the data and one for each side of each array."""

    as_passed = types.CPointer(types.int64)

    def __init__(self, members):
        self.members = members
        super().__init__(f"StepArrays({members})")


@register_model(StepArraysType)
class _StepArraysModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, ir.IntType(64).as_pointer())


@unbox(StepArraysType)
def _unbox_step_arrays(kind, value, context):
    address = context.pyapi.object_getattr_string(value, "address")
    word = context.pyapi.long_as_longlong(address)
    context.pyapi.decref(address)
    return NativeValue(context.builder.inttoptr(word, ir.IntType(64).as_pointer()))


def _read_views(context, builder, kind, pointer, place):
    """The array, or tuple of arrays, whose words begin at ``place``, and the place behind them."""
    if not isinstance(kind, types.Array):
        value = cgutils.get_null_value(context.get_value_type(kind))
        for index, member in enumerate(kind):
            part, place = _read_views(context, builder, member, pointer, place)
            value = builder.insert_value(value, part, index)
        return value, place
    words = [
        builder.load(cgutils.gep(builder, pointer, place + number), name=f"word.{place + number}")
        for number in range(1 + kind.ndim)
    ]
    itemsize = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    shape, strides, stride = words[1:], [], itemsize
    for length in reversed(shape):
        strides.insert(0, stride)
        stride = builder.mul(stride, length)
    array = context.make_array(kind)(context, builder)
    pointer = builder.inttoptr(words[0], context.get_data_type(kind.dtype).as_pointer())
    populate_array(array, data=pointer, shape=shape, strides=strides, itemsize=itemsize, meminfo=None)
    return array._getvalue(), place + len(words)


@intrinsic
def _views_of(typing_context, arrays):
    def codegen(context, builder, signature, values):
        return _read_views(context, builder, signature.return_type, values[0], 0)[0]

    return arrays.members(arrays), codegen


def _members_of(arrays):
    """What ``views_of`` is where kernels run as plain Python."""
    return arrays.members


# views_of(step_arrays): its StepMembers, as views that count no references.
views_of = _members_of if config.DISABLE_JIT else _views_of
