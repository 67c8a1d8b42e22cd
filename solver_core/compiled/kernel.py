"""The one way to compile: ``@kernel`` and ``@subkernel`` hold the Numba options of the whole core.

A kernel is called from Python, a subkernel from kernels only. Numba passes a NamedTuple of arrays by value, some eight
machine words an array: compile time and call time grow with the number of arrays that an inner function takes. So
stages take the large tuples as views (``views``), and what they call takes views or the few arrays it needs.

Numba counts references to every array, with two atomic operations wherever a variable is assigned or goes out of scope.
Python allocates and keeps all arrays of a step, so kernels count no references, unless they are declared with
``allocates=True``. That saves a fifth of the time to compile a step, and in small hot loops more than the work.

What is compiled is kept on disk, in files that are named by what it was made from (``cache_files``). They lie:

1. where ``set_cache_folder`` said (Blender: the extension's own user folder);
2. else in ``NUMBA_CACHE_DIR``, where that is set;
3. else in ``__pycache__`` beside this file, where that can be written;
4. else where Numba keeps the user's caches.

``cache_folder`` and the options of kernels are all that the rest of the core sees of Numba's compiler; ``versions``
says which Numbas that was tested with.
"""

import contextlib
import functools
import os
import types
from pathlib import Path

from numba import config, njit, typeof
from numba.core import cgutils
from numba.core import types as numba_types
from numba.extending import intrinsic

from . import checked_numba  # noqa: F401 - refuses a Numba that this package was not tested with
from .cache_files import is_in_cache, share_cache
from .linking import KernelPipeline, PartPipeline, insert_call_in_place
from .sources import CORE_FOLDER

_chosen_folder: Path | None = None


def set_cache_folder(folder) -> None:
    """Choose where kernels that are defined from now on keep their compiled code.

    Parameters
    ----------
    folder : path-like or None
        None goes back to the default places.
    """
    global _chosen_folder
    _chosen_folder = None if folder is None else Path(folder)
    cache_folder.cache_clear()


def chosen_folder() -> Path | None:
    """What ``set_cache_folder`` was given."""
    return _chosen_folder


@functools.cache
def cache_folder() -> Path | None:
    """Folder of compiled code; None: Numba chooses."""
    base = _chosen_folder
    if base is None and os.environ.get("NUMBA_CACHE_DIR"):
        base = Path(os.environ["NUMBA_CACHE_DIR"])
    if base is None and os.access(CORE_FOLDER, os.W_OK):
        base = CORE_FOLDER / "__pycache__"
    return None if base is None else base / "cairn-kernels"


@contextlib.contextmanager
def _numba_cache_in(folder: Path | None):
    """Set Numba's cache folder, which it reads when a function is decorated, and restore it for other packages."""
    earlier = config.CACHE_DIR
    if folder is not None:
        config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = earlier


# Of all kernels and subkernels. Division by zero gives inf or NaN as in NumPy; the interpreter's lock is released.
_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def _cached(function, **options):
    """Numba's dispatcher of a function, with a cache on disk."""
    folder = cache_folder()
    with _numba_cache_in(folder):
        return share_cache(njit(cache=True, **_OPTIONS, **options)(function), folder)


def kernel(function=None, *, allocates=False, inline=False):
    """Compile ``function`` to machine code at its first call.

    No fast-math and no parallel reductions: results are the same to the bit from run to run. A kernel that calls
    another one compiles its code as that of a subkernel.

    Parameters
    ----------
    function : function
    allocates : bool
        It makes arrays (``np.zeros``, sums of arrays, an array copied into a slice of another). A kernel that allocates
        and one that does not cannot return arrays to each other.
    inline : bool
        As of a ``subkernel``, where another kernel calls it.
    """
    if function is None:
        return functools.partial(kernel, allocates=allocates, inline=inline)
    compiled = _cached(function, pipeline_class=KernelPipeline, _nrt=allocates)
    if not config.DISABLE_JIT:
        part = subkernel(function, allocates=allocates, inline=inline)
        compiled.get_call_template, compiled.get_overload = part.get_call_template, part.get_overload
        compiled.part = part
    return compiled


def entry(function):
    """Compile ``function``, or that of a subkernel, as a kernel that is called by its address (``function_tables``)."""
    function = getattr(function, "py_func", function)
    return _cached(function, no_cpython_wrapper=True, pipeline_class=KernelPipeline, _nrt=False)


def parallel_kernel(function):
    """Compile ``function``, whose ``prange`` loops run in several threads, for calls by its address (``workers``)."""
    return _cached(function, no_cpython_wrapper=True, parallel=True)


def subkernel(function=None, *, allocates=False, inline=False):
    """Compile ``function`` for calls from other kernels only.

    It has no wrapper for calls from Python and no cache of its own (its callers' caches hold its code). For arguments
    of many arrays that is some 40 % of the time to compile it. What Python calls, tests included, is a ``kernel``.

    Parameters
    ----------
    function : function
    allocates : bool
        As of a ``kernel``.
    inline : bool
        Its code replaces each call. For what is called in one place with large tuples: a call passes every word of
        every array, some ten an array, whether it is read or not.
    """
    if function is None:
        return functools.partial(subkernel, allocates=allocates, inline=inline)
    options = {"no_cpython_wrapper": True, "pipeline_class": PartPipeline, "forceinline": inline, **_OPTIONS}
    return njit(**options, _nrt=allocates)(function)


def kinds_of(arguments) -> tuple:
    """Numba's types of values."""
    return tuple(typeof(argument) for argument in arguments)


def inlined(part):
    """Return a variant of a kernel or subkernel whose code replaces each call of it.

    Both share one typing and lowering (``inline`` is for functions that are always inlined).
    """
    if config.DISABLE_JIT:
        return part
    part = getattr(part, "part", part)
    in_place = subkernel(part.py_func)

    @functools.cache
    def key(kinds):
        return insert_call_in_place(part.targetctx, part.overloads[kinds])

    in_place.get_call_template, in_place.get_overload = part.get_call_template, key
    in_place.is_in_place = True  # part of the keys of its callers
    return in_place


def direct_call(kernel, *arguments):
    """Return a function that calls the code of a ``kernel`` for the types of these arguments and does not check them.

    Numba checks the types at each call, which for arguments of our own types takes longer than the call.
    """
    if config.DISABLE_JIT:
        return kernel
    kinds = kinds_of(arguments)
    if kinds not in kernel.overloads:
        kernel.compile(kinds)
    return kernel.overloads[kinds].entry_point


def is_cached(kernel, kinds) -> bool:
    """Whether the code of a ``kernel`` or ``entry`` for these types can be loaded, ready-made or from the cache."""
    # what this process has loaded already is not looked for on the disk again
    return bool(config.DISABLE_JIT) or kinds in kernel.overloads or is_in_cache(kernel, kinds)


def _without_owner(context, builder, kind, value):
    """The same array, or tuple of arrays, without the owner whose references are counted."""
    if isinstance(kind, numba_types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()
    if not isinstance(kind, numba_types.BaseTuple):
        return value  # a pointer to a step's arrays (``StepArrays``), which have none
    for place, member in enumerate(kind):
        part = builder.extract_value(value, place)
        value = builder.insert_value(value, _without_owner(context, builder, member, part), place)
    return value


@intrinsic
def _borrowed(typing_context, arrays):
    def codegen(context, builder, signature, arguments):
        return _without_owner(context, builder, signature.args[0], arguments[0])

    return arrays(arrays), codegen


def _same(arrays):
    """What ``borrowed`` is where kernels run as plain Python."""
    return arrays


# borrowed(arrays): an array, or a NamedTuple of arrays, as views that count no references, for a kernel that allocates.
# Views must not outlive the originals: a kernel may borrow its own arguments, and of the arrays that it has made those
# that it uses again after the call that gets the views, because Numba frees an array after its last use.
borrowed = _same if config.DISABLE_JIT else _borrowed


def bind(function, name: str, allocates=False, inline=False, **bindings):
    """Compile a copy of ``function``, called ``name``, in which some global names mean other kernels.

    A kernel cannot take another kernel as an argument and still be cached, and a kernel that names all solvers would
    compile all of them. So the step is written once with a free name (``solve``) and bound to one solver here.

    Parameters
    ----------
    function : function
        Plain Python function, not yet a kernel.
    name : str
        Name of the copy; the cache on disk tells the copies apart by it.
    allocates, inline : bool
        As of a ``kernel``.
    **bindings
        Global name -> kernel that it means in the copy.
    """
    return kernel(_bound(function, name, bindings), allocates=allocates, inline=inline)


def _bound(function, name, bindings):
    code = function.__code__.replace(co_name=name, co_qualname=name)
    return types.FunctionType(code, {**function.__globals__, **bindings}, name)
