"""All arrays of a step under one name, so that a call from Python costs microseconds.

Numba unpacks a NamedTuple array by array at every call from Python, some 0.2 us each: for the two hundred arrays of a
step that would be more than the step of a small scene. A ``StepArrays`` stores once where the arrays are, and is passed
as one pointer; kernels read views of the arrays from there (``views_of``), which count no references.

What ``views_of`` returns, and all tuples within it, are pointers into that list of words: an array is read from there
where it is used. So a tuple is passed from function to function as one word. By value it would be some eight words an
array, which Numba unpacks and packs again at each call: compiling the frame's own kernel took half as long again.

Attributes, items and unboxing of these types are defined with private parts of Numba; ``versions`` says which releases
they were tested with.
"""

import operator
from ctypes import addressof, c_char

import numpy as np
from llvmlite import ir
from numba import config, typeof, types
from numba.core import cgutils
from numba.core.imputils import lower_getattr_generic
from numba.core.pythonapi import NativeValue
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global
from numba.extending import intrinsic, lower_builtin, models, register_model, unbox

# Types by the structure of the members: Numba takes milliseconds to find the type of some two hundred arrays.
_known_types = {}


class StepArrays:
    """The arrays of a step, for kernels.

    Parameters
    ----------
    members : NamedTuple
        Of arrays, and of tuples of arrays, however nested. They are kept alive, and shared: what a kernel writes stands
        in them.
    seen : NamedTuple, optional
        As ``members``, without some of the last ones: what a kernel sees that is compiled for all that they may be.

    Raises
    ------
    TypeError
        An array is not contiguous, or cannot be written.
    """

    def __init__(self, members, seen=None):
        self.members = members
        if config.DISABLE_JIT:
            return
        words, structures = [], {}
        structure = _write_words(members, words, structures)
        self._words = np.array(words, np.int64)
        if seen is not None:
            members, structure = seen, _structure_of(seen, structures)
        # Both are read by Numba at each call.
        self.address = self._words.ctypes.data
        self._numba_type_ = _known_types.get(structure)
        if self._numba_type_ is None:
            self._numba_type_ = _known_types[structure] = StepArraysType(typeof(members))


def _write_words(members, words, structures) -> tuple:
    """Append where the arrays in nested tuples are, in order; returns what their type depends on.

    That of each tuple is written to ``structures``, by the tuple's identity.
    """
    structure = [type(members)]
    for member in members:
        if not isinstance(member, np.ndarray):
            structure.append(_write_words(member, words, structures))
            continue
        if not member.flags.carray:
            raise TypeError(f"an array of a step with the shape {member.shape} is not contiguous or cannot be written")
        # As ``ctypes.data``, which takes a tenth of a millisecond for thirty arrays; an empty one has no buffer.
        words.append(addressof(c_char.from_buffer(member)) if member.size else member.ctypes.data)
        words.extend(member.shape)
        structure.append((member.dtype.char, member.ndim))
    structures[id(members)] = tuple(structure)
    return structures[id(members)]


def _structure_of(members, structures) -> tuple:
    """What ``_write_words`` returns, of tuples that are mostly among those that it has seen."""
    if isinstance(members, np.ndarray):
        return members.dtype.char, members.ndim
    known = structures.get(id(members))
    return known or (type(members), *[_structure_of(member, structures) for member in members])


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


class StepViewsType(types.Type):
    """Numba's type of a tuple among the members, or of all: a pointer to where its words begin.

    It has the tuple's attributes; a tuple of tuples of one type also has items.
    """

    def __init__(self, members):
        self.members = members
        super().__init__(f"StepViews({members})")


class _SeenInStep:
    """Stands for a tuple of which a kernel gets a view; only its type counts."""

    def __init__(self, members):
        self._numba_type_ = StepViewsType(typeof(members))


def seen_in_step(members):
    """A value of the type that a tuple among a step's members has in kernels, for the types alone."""
    return members if config.DISABLE_JIT else _SeenInStep(members)


@register_model(StepViewsType)
class _StepViewsModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, ir.IntType(64).as_pointer())


def _view_type(kind):
    """The type of a member in kernels: an array, or a pointer to a tuple's words; an empty tuple stays itself."""
    return StepViewsType(kind) if _is_tuple(kind) else kind


def _is_tuple(kind) -> bool:
    return isinstance(kind, types.BaseTuple) and len(kind) > 0


def _word_count(kind) -> int:
    """Words of an array, or of all arrays in nested tuples."""
    return 1 + kind.ndim if isinstance(kind, types.Array) else sum(_word_count(member) for member in kind)


def _read_view(context, builder, kind, pointer):
    """The member of this type whose words begin at ``pointer``."""
    return pointer if _is_tuple(kind) else _read_whole(context, builder, kind, pointer)


def _read_whole(context, builder, kind, pointer):
    """The array, or tuple of arrays however nested, whose words begin at ``pointer``."""
    if isinstance(kind, types.Array):
        return _read_array(context, builder, kind, pointer)
    value, place = cgutils.get_null_value(context.get_value_type(kind)), 0
    for index, member in enumerate(kind):
        part = _read_whole(context, builder, member, cgutils.gep(builder, pointer, place))
        value = builder.insert_value(value, part, index)
        place += _word_count(member)
    return value


def _read_array(context, builder, kind, pointer):
    words = []
    for number in range(_word_count(kind)):
        word = builder.load(cgutils.gep(builder, pointer, number))
        # No kernel writes them, so a loop need not read them again.
        word.set_metadata("invariant.load", builder.module.add_metadata([]))
        words.append(word)
    itemsize = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    shape, strides, stride = words[1:], [], itemsize
    for length in reversed(shape):
        strides.insert(0, stride)
        stride = builder.mul(stride, length)
    data = builder.inttoptr(words[0], context.get_data_type(kind.dtype).as_pointer())
    items = context.get_constant(types.intp, 1)
    for length in shape:
        items = builder.mul(items, length, flags=["nsw"])
    # without an owner
    array = cgutils.get_null_value(context.get_value_type(kind))
    place = context.data_model_manager[kind].get_field_position
    for field, value in (("nitems", items), ("itemsize", itemsize), ("data", data)):
        array = builder.insert_value(array, value, place(field))
    for field, values in (("shape", shape), ("strides", strides)):
        for axis, value in enumerate(values):
            array = builder.insert_value(array, value, [place(field), axis])
    return array


@infer_getattr
class _StepViewsAttributes(AttributeTemplate):
    key = StepViewsType

    def generic_resolve(self, views, name):
        fields = getattr(views.members, "fields", ())
        return _view_type(views.members[fields.index(name)]) if name in fields else None


@lower_getattr_generic(StepViewsType)
def _read_attribute(context, builder, kind, pointer, name):
    index = kind.members.fields.index(name)
    place = sum(_word_count(member) for member in list(kind.members)[:index])
    return _read_view(context, builder, kind.members[index], cgutils.gep(builder, pointer, place))


@infer_global(operator.getitem)
class _StepViewsItem(AbstractTemplate):
    def generic(self, arguments, keywords):
        views = arguments[0]
        if isinstance(views, StepViewsType) and isinstance(views.members, types.UniTuple):
            return signature(_view_type(views.members.dtype), views, types.intp)
        return None


@lower_builtin(operator.getitem, StepViewsType, types.intp)
def _read_item(context, builder, signature, values):
    """One of several tuples of the same type; the index is not checked."""
    member = signature.args[0].members.dtype
    pointer, index = values
    place = builder.mul(index, index.type(_word_count(member)))
    return _read_view(context, builder, member, builder.gep(pointer, [place]))


@intrinsic
def _views_of(typing_context, arrays):
    def codegen(context, builder, signature, values):
        return values[0]

    return StepViewsType(arrays.members)(arrays), codegen


@intrinsic
def _whole(typing_context, views):
    def codegen(context, builder, signature, values):
        if isinstance(views, StepViewsType):
            return _read_whole(context, builder, views.members, values[0])
        return values[0]

    return (views.members if isinstance(views, StepViewsType) else views)(views), codegen


def _as_it_is(views):
    """What ``whole`` is where kernels run as plain Python."""
    return views


@intrinsic
def _arrays_at(typing_context, views):
    def codegen(context, builder, signature, values):
        return values[0]

    return StepArraysType(views.members)(views), codegen


# arrays_at(views): a tuple among the members as the StepArrays of its own, for a kernel that is called by its address.
arrays_at = StepArrays if config.DISABLE_JIT else _arrays_at


# whole(views): the tuples themselves, by value, for solvers. Where a solve does little more than compute the residual,
# reading each array through the pointer costs more than that.
whole = _as_it_is if config.DISABLE_JIT else _whole


def _members_of(arrays):
    """What ``views_of`` is where kernels run as plain Python."""
    return arrays.members


# views_of(step_arrays): its members, of which a kernel reads what it uses, as views that count no references.
views_of = _members_of if config.DISABLE_JIT else _views_of


def arrays_of(numbers):
    """A NamedTuple of numbers as one of arrays of one entry each, which kernels read by ``numbers_of``.

    Parameters
    ----------
    numbers : NamedTuple
        Of fields that are declared as int or float.
    """
    kinds = type(numbers).__annotations__.values()
    arrays = (np.array([n], float if kind is float else np.int64) for n, kind in zip(numbers, kinds, strict=True))
    return type(numbers)(*arrays)


def write_numbers(arrays, numbers) -> None:
    """Put other numbers into ``arrays_of``."""
    for array, number in zip(arrays, numbers, strict=True):
        array[0] = number


@intrinsic
def _numbers_of(typing_context, views):
    kind = views.members

    def codegen(context, builder, signature, values):
        numbers, place = cgutils.get_null_value(context.get_value_type(signature.return_type)), 0
        for index, member in enumerate(kind):
            word = builder.load(cgutils.gep(builder, values[0], place))
            word.set_metadata("invariant.load", builder.module.add_metadata([]))
            number = builder.load(builder.inttoptr(word, context.get_data_type(member.dtype).as_pointer()))
            numbers = builder.insert_value(numbers, number, index)
            place += _word_count(member)
        return numbers

    return types.BaseTuple.from_types([member.dtype for member in kind], kind.instance_class)(views), codegen


def _first_entries(arrays):
    """What ``numbers_of`` is where kernels run as plain Python."""
    return type(arrays)(*(array[0] for array in arrays))


# numbers_of(views): the NamedTuple of numbers that ``arrays_of`` made arrays of.
numbers_of = _first_entries if config.DISABLE_JIT else _numbers_of
