"""Shorter code for what kernels do at every turn, while one of ours is compiled; LLVM makes the same of it.

Numba writes for each ``x[i]`` of an array some thirty instructions, most of which take its header apart twice, for a
loop over a ``range`` sixty, and for a tuple that is passed on one for each word of it, to put it together and to take
it apart again. LLVM leaves two or three of them; but to write, print, read and clear them away takes a quarter of the
time to compile. Here

- an element is found, read or written, and a row is made, from those words of the header that count;
- a ``range`` whose step is known needs no look at the step;
- what was put into a tuple is taken from where it was before;
- a variable that is assigned once is a value and no place in memory, also where other blocks use it;
- a variable at the end of its life is not cleared, and of how a call has ended that alone is worked out which is asked.

All else is left to Numba.
"""

import operator
from collections import Counter

from llvmlite import ir
from numba.core import callconv, types
from numba.core import ir as numba_ir
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs, must_use_alloca
from numba.core.base import BaseContext, _wrap_impl
from numba.core.callconv import CPUCallConv
from numba.core.imputils import impl_ret_borrowed
from numba.core.lowering import Lower
from numba.cpython import slicing

_lookup = BaseContext.get_function
_find_values, _store, _delete = Lower._find_singly_assigned_variable, Lower.storevar, Lower.delvar


def extract_value(self, agg, idx, name=""):
    """A member of an aggregate: what was inserted there, where that is known, else an instruction."""
    indices = list(idx) if isinstance(idx, tuple | list) else [idx]
    while type(agg) is ir.InsertValue:
        inserted = agg.indices
        common = min(len(inserted), len(indices))
        if inserted[:common] != indices[:common]:
            agg = agg.aggregate
        elif len(inserted) > len(indices):
            break  # a part of it
        else:
            agg, indices = agg.value, indices[common:]
            if not indices:
                return agg
    instruction = ir.ExtractValue(self.block, agg, indices, name=name)
    self._insert(instruction)
    return instruction


def get_function(self, fn, sig, _firstcall=True):
    """How a function or operation is translated for arguments of these types: shortly, or by Numba."""
    key = fn.get_impl_key(sig.as_function()) if isinstance(fn, types.Function) else fn
    shorter = _SHORTER.get(key) if isinstance(key, str) or callable(key) else None
    if shorter is not None and shorter.fits(self, sig):
        return _wrap_impl(shorter.write, self, sig)
    return _lookup(self, fn, sig, _firstcall)


def _indices_of(kind) -> tuple:
    """The types of the indices that one value stands for."""
    return kind.types if isinstance(kind, types.BaseTuple) else (kind,)


def _is_plain(context, array, index) -> bool:
    """Whether an array of numbers is indexed by integers alone."""
    kinds = _indices_of(index)
    return (
        type(array) is types.Array
        and array.layout in "CA"
        and array.aligned
        and isinstance(array.dtype, types.Integer | types.Float | types.Boolean)
        and not context.enable_boundscheck
        and 0 < len(kinds) <= array.ndim
        and all(isinstance(kind, types.Integer) for kind in kinds)
    )


class _Header:
    """Words of an array's header."""

    def __init__(self, context, builder, kind, array):
        self._place = context.data_model_manager[kind].get_field_position
        self._builder, self._array = builder, array

    def __call__(self, field, *axis):
        return self._builder.extract_value(self._array, [self._place(field), *axis])


def _find(context, builder, kind, header, index_kind, index):
    """The address of an element, or of the first one of a row."""
    kinds = _indices_of(index_kind)
    indices = [index]
    if isinstance(index_kind, types.BaseTuple):
        indices = [builder.extract_value(index, place) for place in range(len(kinds))]
    offset = None
    for axis, (index_kind, index) in enumerate(zip(kinds, indices, strict=True)):
        if not index_kind.signed:
            index = context.cast(builder, index, index_kind, types.uintp)
        else:
            index = context.cast(builder, index, index_kind, types.intp)
            if not (isinstance(index, ir.Constant) and isinstance(index.constant, int) and index.constant >= 0):
                index = slicing.fix_index(builder, index, header("shape", axis))
        if kind.layout == "C":
            for later in range(axis + 1, kind.ndim):
                index = builder.mul(index, header("shape", later))
        else:
            index = builder.mul(index, header("strides", axis))
        offset = index if offset is None else builder.add(offset, index)
    data = header("data")
    if kind.layout == "C":
        return builder.gep(data, [offset])
    address = builder.gep(builder.bitcast(data, _BYTES), [offset])
    return builder.bitcast(address, data.type)


_BYTES = ir.IntType(8).as_pointer()


class _GetItem:
    @staticmethod
    def fits(context, signature):
        return _is_plain(context, *signature.args)

    @staticmethod
    def write(context, builder, signature, arguments):
        (kind, index_kind), (array, index) = signature.args, arguments
        header, given = _Header(context, builder, kind, array), len(_indices_of(index_kind))
        address = _find(context, builder, kind, header, index_kind, index)
        if given == kind.ndim:
            return context.unpack_value(builder, kind.dtype, address)
        items = context.get_constant(types.intp, 1)
        axes = range(given, kind.ndim)
        for axis in axes:
            items = builder.mul(items, header("shape", axis), flags=["nsw"])
        row = ir.Constant(context.get_value_type(signature.return_type), ir.Undefined)
        place = context.data_model_manager[signature.return_type].get_field_position
        for field in ("meminfo", "parent", "itemsize"):
            row = builder.insert_value(row, header(field), place(field))
        row = builder.insert_value(row, items, place("nitems"))
        row = builder.insert_value(row, address, place("data"))
        for field in ("shape", "strides"):
            for axis in axes:
                row = builder.insert_value(row, header(field, axis), [place(field), axis - given])
        return impl_ret_borrowed(context, builder, signature.return_type, row)


class _SetItem:
    @staticmethod
    def fits(context, signature):
        array, index, value = signature.args
        is_number = isinstance(value, types.Number | types.Boolean)
        return is_number and _is_plain(context, array, index) and len(_indices_of(index)) == array.ndim

    @staticmethod
    def write(context, builder, signature, arguments):
        (kind, index_kind, value_kind), (array, index, value) = signature.args, arguments
        header = _Header(context, builder, kind, array)
        address = _find(context, builder, kind, header, index_kind, index)
        value = context.cast(builder, value, value_kind, kind.dtype)
        context.pack_value(builder, kind.dtype, value, address)


class _Length:
    @staticmethod
    def fits(context, signature):
        return len(signature.args) == 1 and type(signature.args[0]) is types.Array

    @staticmethod
    def write(context, builder, signature, arguments):
        return _Header(context, builder, signature.args[0], arguments[0])("shape", 0)


class _Range:
    @staticmethod
    def fits(context, signature):
        kind = signature.return_type
        return type(kind) is types.RangeType and all(given == kind.dtype for given in signature.args)

    @staticmethod
    def write(context, builder, signature, arguments):
        kind = signature.return_type
        zero, one = (context.get_constant(kind.dtype, number) for number in (0, 1))
        start, stop, step = {1: (zero, *arguments, one), 2: (*arguments, one)}.get(len(arguments), arguments)
        return _together(context, builder, kind, (start, stop, step))


class _BeginLoop:
    @staticmethod
    def fits(context, signature):
        return type(signature.args[0]) is types.RangeType

    @staticmethod
    def write(context, builder, signature, arguments):
        (state,) = arguments
        start, stop, step = (builder.extract_value(state, place) for place in range(3))
        if not (isinstance(step, ir.Constant) and step.constant == 1):
            return _lookup(context, "getiter", signature)(builder, arguments)
        with builder.goto_entry_block():
            counter, left = builder.alloca(start.type), builder.alloca(start.type)
        difference, zero = builder.sub(stop, start), start.type(0)
        builder.store(start, counter)
        builder.store(builder.select(builder.icmp_signed(">", difference, zero), difference, zero), left)
        return _together(context, builder, signature.return_type, (counter, stop, step, left))


class _NextOfLoop:
    @staticmethod
    def fits(context, signature):
        return type(signature.args[0]) is types.RangeIteratorType

    @staticmethod
    def write(context, builder, signature, arguments):
        (loop,) = arguments
        counter, step, left = (builder.extract_value(loop, place) for place in (0, 2, 3))
        count, value = builder.load(left), builder.load(counter)
        goes_on = builder.icmp_signed(">", count, count.type(0))
        with builder.if_then(goes_on):
            builder.store(builder.sub(count, count.type(1), flags=["nsw"]), left)
            builder.store(builder.add(value, step), counter)
        return _together(context, builder, signature.return_type, (value, goes_on))


def _together(context, builder, kind, members):
    """A structure of these members."""
    made = ir.Constant(context.get_value_type(kind), ir.Undefined)
    for place, member in enumerate(members):
        made = builder.insert_value(made, member, place)
    return made


_SHORTER = {
    operator.getitem: _GetItem,
    operator.setitem: _SetItem,
    len: _Length,
    range: _Range,
    "getiter": _BeginLoop,
    "iternext": _NextOfLoop,
}


def _counts_references(lower) -> bool:
    return lower.context.enable_nrt or lower._disable_sroa_like_opt


def find_values(self):
    """Find the variables that are values: assigned once, and that before each use, wherever the program goes."""
    if _counts_references(self) or self.func_ir.func_id.is_generator:
        _find_values(self)
        return
    blocks = self.func_ir.blocks
    found, in_memory = compute_use_defs(blocks), must_use_alloca(blocks)
    dominators = compute_cfg_from_blocks(blocks).dominators()
    assigned, users = {}, {}
    for label, block in blocks.items():
        for name, times in Counter(assign.target.name for assign in block.find_insts(numba_ir.Assign)).items():
            assigned.setdefault(name, []).extend([label] * times)
        for name in found.usemap[label]:
            users.setdefault(name, []).append(label)
    self._singly_assigned_vars = {
        name
        for name, labels in assigned.items()
        if len(labels) == 1
        and name not in in_memory
        # blocks are translated in the order of their labels
        and all(label > labels[0] and labels[0] in dominators[label] for label in users.get(name, ()))
    }
    self._blk_local_varmap = {}


def store(self, value, name, argidx=None):
    """Write a variable, without a look at what it was."""
    if _counts_references(self):
        _store(self, value, name, argidx)
    elif name in self._singly_assigned_vars:
        self._blk_local_varmap[name] = value
    else:
        self._alloca_var(name, self.typeof(name))
        self.builder.store(value, self.getvar(name))


def delete(self, name):
    """End the life of a variable."""
    if _counts_references(self):
        _delete(self, name)


class _Status:
    """How a call has ended; each answer is worked out where it is asked."""

    def __init__(self, builder, code, exception):
        self._builder, self.code, self._exception = builder, code, exception

    def _is(self, code, sign="=="):
        return self._builder.icmp_signed(sign, self.code, code)

    is_none = property(lambda self: self._is(callconv.RETCODE_NONE))
    is_ok = property(lambda self: self._builder.or_(self._is(callconv.RETCODE_OK), self.is_none))
    is_error = property(lambda self: self._builder.not_(self.is_ok))
    is_python_exc = property(lambda self: self._is(callconv.RETCODE_EXC))
    is_user_exc = property(lambda self: self._is(callconv.RETCODE_USEREXC, ">="))
    is_stop_iteration = property(lambda self: self._is(callconv.RETCODE_STOPIT))

    @property
    def excinfoptr(self):
        nothing = ir.Constant(self._exception.type, ir.Undefined)
        return self._builder.select(self.is_user_exc, self._exception, nothing)


def status_of(self, builder, code, excinfoptr):
    """How a call has ended."""
    return _Status(builder, code, excinfoptr)


WORDS = (
    (BaseContext, "get_function", get_function),
    (Lower, "_find_singly_assigned_variable", find_values),
    (Lower, "storevar", store),
    (Lower, "delvar", delete),
    (CPUCallConv, "_get_return_status", status_of),
    (ir.IRBuilder, "extract_value", extract_value),
)
