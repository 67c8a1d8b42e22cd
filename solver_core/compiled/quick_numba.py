"""Numba's own steps in quicker words, while a kernel of ours is compiled; the code that comes out is the same.

Each of these does again what has been done, or works out what nobody asks for:

- after each of some ten passes over a function Numba finds out which variables live where, for generators, blocks of
  ``with`` and code that calls Python. Kernels have none of them, so it is found out when it is asked for;
- it lists the variables of an instruction by asking each of its parts for its class, four times over;
- where it looks up how to translate an operation it reads all lists of what it can translate once more;
- it goes through all candidates for an operator again where it is translated;
- it orders the candidates for each call by the processor that they are for, though all are for one;
- to learn how large a number is it has LLVM read a file that holds one;
- and in each file that calls a function it gives a name to each word of each of the function's arguments.

``short_code`` has more of them, by which the code that LLVM gets is another one. ``linking`` puts all in force for as
long as it compiles, so other packages' functions are compiled by Numba as it is.
"""

import contextlib
import functools
import inspect

from numba.core import base, ir, transforms, utils
from numba.core.base import BaseContext
from numba.core.datamodel.packer import ArgPacker
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.types import functions

from . import short_code

_post_process = PostProcessor.run
_list_parts = ir.Inst._rec_list_vars
_refresh = BaseContext.refresh
_order = utils.order_by_target_specificity
_takes_location = base._has_loc
_resolve = functions.BaseFunction.get_call_type
_size = BaseContext.get_abi_sizeof
_name = ArgPacker.assign_names


def _post_process_when_needed(self, emit_dels=False, extend_lifetimes=False):
    if self.func_ir.is_generator:
        _post_process(self, emit_dels, extend_lifetimes)
        return
    self.func_ir.blocks = transforms.canonicalize_cfg(self.func_ir.blocks)
    self.func_ir.variable_lifetime = VariableLifetime(self.func_ir.blocks)
    self.func_ir.generator_info = None
    if emit_dels:
        self._insert_var_dels(extend_lifetimes=extend_lifetimes)


def _list_parts_quickly(self, parts):
    """Variables in a part of an instruction, or in a list or table of parts."""
    found = []
    for part in parts.values() if isinstance(parts, dict) else parts if isinstance(parts, list | tuple) else (parts,):
        kind = type(part)
        if kind is ir.Var:
            found.append(part)
        elif kind is ir.Expr:
            found += _list_parts_quickly(part, part._kws)
        elif kind not in _WITHOUT_VARIABLES:
            found += _list_parts(self, part)
    return found


_WITHOUT_VARIABLES = {
    *(ir.Loc, ir.Const, ir.Global, ir.FreeVar, ir.Arg, type(ir.UNDEFINED)),
    *(str, int, float, bool, type(None), type(len)),
}


# Lists that contexts have read, by identity, and their length then; copies of a context share them.
_read = {}


def _refresh_where_changed(self):
    """Read the lists of what can be compiled; from the second time on those alone that have grown."""
    if id(self._registries) not in _read:
        _refresh(self)
        _read[id(self._registries)] = self._registries, {}
    _, lengths = _read[id(self._registries)]
    for context in (self, self.typing_context):
        for registry in list(context._registries):
            length = sum(len(items) for items in vars(registry).values() if isinstance(items, list))
            if lengths.get((id(context._registries), registry)) != length:
                context.install_registry(registry)
                lengths[id(context._registries), registry] = length


@functools.cache
def _order_once(target, templates):
    return _order(target, list(templates))


def _order_by_target(target, templates, fnkey=""):
    return list(_order_once(target, tuple(templates))) if templates else []


_signatures = {}


def _resolve_once(self, context, arguments, keywords):
    """The signature of one of Numba's own functions, such as an operator, for arguments of these types."""
    if keywords or type(self) is not functions.Function:
        return _resolve(self, context, arguments, keywords)
    key = self, tuple(arguments)
    if key not in _signatures:
        found = _resolve(self, context, arguments, keywords)
        if found is None:
            return None
        _signatures[key] = found
    return _signatures[key]


def _takes_location_quickly(function):
    code = getattr(function, "__code__", None)
    if code is None or hasattr(function, "__wrapped__") or hasattr(function, "__signature__"):
        return _takes_location(function)
    count = code.co_argcount + code.co_kwonlyargcount
    has_keywords = bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return "loc" in code.co_varnames[: count + has_keywords + bool(code.co_flags & inspect.CO_VARARGS)]


_sizes = {}


def _size_once(self, kind):
    """Bytes of a value of an LLVM type."""
    if kind not in _sizes:
        _sizes[kind] = _size(self, kind)
    return _sizes[kind]


def _leave_unnamed(self, args, names):
    """Let LLVM number the words of arguments."""


_WORDS = (
    (PostProcessor, "run", _post_process_when_needed),
    (ir.Inst, "_rec_list_vars", _list_parts_quickly),
    (BaseContext, "refresh", _refresh_where_changed),
    (utils, "order_by_target_specificity", _order_by_target),
    (base, "_has_loc", _takes_location_quickly),
    (functions.BaseFunction, "get_call_type", _resolve_once),
    (BaseContext, "get_abi_sizeof", _size_once),
    (ArgPacker, "assign_names", _leave_unnamed),
)


@contextlib.contextmanager
def quick_numba():
    """Numba with these words; within another one, nothing changes."""
    words = *_WORDS, *short_code.WORDS
    earlier = [(place, name, vars(place)[name]) for place, name, _ in words]
    for place, name, word in words:
        setattr(place, name, word)
    try:
        yield
    finally:
        for place, name, word in earlier:
            setattr(place, name, word)
