"""Keys of compiled code: two kernels have the same one only if they compile to the same code.

A kernel's code follows from the functions that it reaches, from the values that they name, and from what the typing and
code generation of these know (``views``, ``simd``). So its key is a hash of

1. the syntax trees of the modules of all functions that it reaches, and of all that they import (``sources``);
2. these functions themselves, and what each name in them means: another function, a number, a tuple, an array. By that
   a copy that is bound to other kernels (``kernel.bind``) has another key, wherever they come from;
3. the types of its arguments: the names of fields, which Numba does not compare, and the modules of types of our own.

What is of none of the known kinds makes the whole core part of the key.
"""

import enum
import functools
import hashlib
import inspect
import types
from pathlib import Path

import numba
import numpy as np
from numba.core import types as numba_types
from numba.core.dispatcher import Dispatcher
from numba.extending import _Intrinsic

from . import sources

_NUMBERS = bool | int | float | complex | str | bytes | None | np.generic | type(Ellipsis)


def key_of(dispatcher, kinds, folder: Path | None) -> str:
    """Key of a kernel for arguments of these types, 32 hexadecimal digits.

    Parameters
    ----------
    dispatcher : kernel or entry
    kinds : tuple of Numba types
    folder : Path, optional
        As of ``sources.closure_digest``.

    Raises
    ------
    sources.ChangedSource
        The code of this process may not be what its sources say.
    """
    reached = _reached(dispatcher)
    seen = _Reached()
    for kind in kinds:
        seen.add_type(kind)
    digest = hashlib.sha256("\n".join([numba.__version__, *reached.lines, *seen.lines]).encode())
    digest.update(sources.closure_digest(reached.sources | seen.sources, folder).encode())
    return digest.hexdigest()[:32]


@functools.cache
def _reached(dispatcher) -> "_Reached":
    found = _Reached()
    found.add_value("", dispatcher)
    found.add_functions()
    return found


class _Reached:
    """What a kernel is made from: lines that describe it, and sources."""

    def __init__(self):
        self.lines: list[str] = []
        self.sources: set[str] = set()
        self._numbers: dict = {}
        self._waiting: list = []

    def add_functions(self) -> None:
        """Describe all functions that were met, and those that they reach."""
        while self._waiting:
            self._add_function(self._waiting.pop(0))

    def _add_function(self, function) -> None:
        self.lines.append(f"function {function.__module__} {function.__qualname__}")
        self._add_source(function.__module__)
        code = function.__code__
        cells = {}
        if function.__closure__ is not None:
            cells = dict(zip(code.co_freevars, (cell.cell_contents for cell in function.__closure__), strict=True))
        self._add_code(code, {**function.__globals__, **cells}, function.__doc__)
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).items()):
            self.add_value("default", value)

    def _add_code(self, code, meanings, docstring=None) -> None:
        """Describe what a code object does, apart from line numbers and the docstring."""
        self.lines.append(f"code {code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_flags}")
        modules = []
        for name in (*code.co_names, *code.co_freevars):
            if name in meanings:
                value = meanings[name]
                self.add_value(name, value)
                modules += [value] if isinstance(value, types.ModuleType) else []
        for module in modules:  # functions of a module that is named, as in ``module.function``
            if sources.source_of(module.__name__):
                for name in code.co_names:
                    if hasattr(module, name):
                        self.add_value(name, getattr(module, name))
        for place, constant in enumerate(code.co_consts):
            if isinstance(constant, types.CodeType):
                self._add_code(constant, meanings)
            elif place or constant != docstring:  # the first one is the docstring, or None
                self.add_value("constant", constant)

    def add_value(self, name: str, value) -> None:
        """Describe what a name means."""
        if isinstance(value, Dispatcher):
            options = {key: option for key, option in value.targetoptions.items() if not inspect.isclass(option)}
            self.lines.append(f"{name}: {sorted(map(repr, options.items()))} {getattr(value, 'is_in_place', False)}")
            self.add_value(name, value.py_func)
        elif isinstance(value, types.FunctionType):
            if value not in self._numbers:
                self._numbers[value] = len(self._numbers)
                self._waiting.append(value)
            self.lines.append(f"{name}: function {self._numbers[value]}")
        elif isinstance(value, enum.Enum):
            self.lines.append(f"{name}: {value!r}")
            self._add_source(type(value).__module__)
        elif isinstance(value, _NUMBERS):
            self.lines.append(f"{name}: {type(value).__name__} {value!r}")
        elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
            self.lines.append(f"{name}: {value.dtype} {value.shape} {np.ascontiguousarray(value).tobytes().hex()}")
        elif isinstance(value, tuple | list | frozenset | range | slice):
            self._add_container(name, value)
        elif isinstance(value, types.ModuleType):
            self.lines.append(f"{name}: module {value.__name__}")
            self._add_source(value.__name__)
        elif isinstance(value, type):
            self._add_class(name, value)
        elif isinstance(value, numba_types.Type):
            self.lines.append(f"{name}: a type")
            self.add_type(value)
        elif isinstance(value, _Intrinsic):
            made = value._defn
            self.lines.append(f"{name}: intrinsic {made.__module__} {made.__qualname__}")
            self._add_source(made.__module__)
            for cell in made.__closure__ or ():
                if isinstance(cell.cell_contents, numba_types.Type):
                    self.add_type(cell.cell_contents)
        elif sources.source_of(getattr(value, "__module__", None) or type(value).__module__) is None:
            called = getattr(value, "__name__", "")
            self.lines.append(f"{name}: {type(value).__module__} {type(value).__qualname__} {called}")
        else:
            self.lines.append(f"{name}: {type(value).__module__} {type(value).__qualname__}")
            self._add_source(type(value).__module__)
            self.sources |= sources.everything()

    def _add_container(self, name, value) -> None:
        self._add_class(name, type(value))
        if isinstance(value, frozenset):
            self.lines.append(f"{name}: {sorted(map(repr, value))}")
        elif isinstance(value, range | slice):
            self.lines.append(f"{name}: {value!r}")
        else:
            for member in value:
                self.add_value(name, member)
            self.lines.append("end")

    def _add_class(self, name, kind) -> None:
        fields = getattr(kind, "_fields", "")
        self.lines.append(f"{name}: class {kind.__module__} {kind.__qualname__} {fields}")
        if fields:
            # Numba knows of a tuple's class its fields alone
            self.add_value(name, tuple(sorted(getattr(kind, "_field_defaults", {}).items())))
        else:
            self._add_source(kind.__module__)

    def add_type(self, kind) -> None:
        """Describe a type of Numba, and those within."""
        lines, found = _of_type(kind)
        self.lines += lines
        self.sources |= found

    def _add_source(self, module: str) -> None:
        source = sources.source_of(module)
        if source is not None:
            self.sources.add(source)


@functools.cache
def _of_type(kind) -> tuple[list[str], frozenset[str]]:
    """Describe a type of Numba: its name, its class, fields of tuples, and the types within; and sources."""
    found = _Reached()
    found.lines.append(f"type {type(kind).__qualname__} {kind}")
    found._add_class("", type(kind))
    if isinstance(kind, numba_types.Array):
        found.add_type(kind.dtype)
        return found.lines, frozenset(found.sources)
    for value in vars(kind).values():
        for member in value if isinstance(value, tuple | list) else (value,):
            if isinstance(member, numba_types.Type):
                found.add_type(member)
            elif isinstance(member, type):
                found._add_class("", member)
    return found.lines, frozenset(found.sources)
