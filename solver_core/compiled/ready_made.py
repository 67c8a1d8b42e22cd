"""Kernels that travel with Cairn, compiled when it was packaged, so that a first bake compiles nothing.

Numba's own cache holds pickled types, whose names differ from one Blender to another (``bl_ext.<repository>.cairn``),
and time stamps. Here a kernel is a file of machine code, as Numba's compiler has put it out, and an entry in
``record.json``: the file's hash, the names of the functions in it, and what the kernel returns. That is enough to make
Numba's compile result anew; nothing is unpickled.

The code is for a base processor that nearly all machines have. It is used only if it was made from these sources, by
this Numba, LLVM and Python, for this system, and if this processor has all that the code needs; else
``why_unused`` says in a line what differs, and kernels are compiled as without it.
"""

import functools
import hashlib
import json
import logging
import sys
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm
import numba
from numba.core import compiler, config, itanium_mangler, types, typing
from numba.core.environment import Environment
from numba.core.funcdesc import PythonFunctionDescriptor
from numba.core.runtime.nrt import rtsys
from numba.core.typed_passes import _reload_parfors

from .sources import CORE_FOLDER, core_fingerprint

FOLDER = CORE_FOLDER.parent / "kernels"
RECORD = "record.json"

_CORE = __package__.rpartition(".")[0]
_SCALARS = {str(kind): kind for kind in (types.none, types.boolean, types.int64, types.float64)}

log = logging.getLogger(__name__)
# Lines about files that turned out to be damaged.
_damaged: dict[str, str] = {}


def made_by() -> dict[str, str]:
    """What has to be the same where kernels are made and where they are used."""
    return {
        "sources": core_fingerprint(),
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "python": "{}.{}".format(*sys.version_info),
        "system": llvm.get_process_triple(),
    }


def why_unused() -> str:
    """One line if there are ready-made kernels and some or all of them cannot be used, else an empty text."""
    _, reason = _entries()
    return reason or next(iter(_damaged.values()), "")


def forget() -> None:
    """Read the record again at the next use."""
    _entries.cache_clear()
    _damaged.clear()


@functools.cache
def _entries() -> tuple[dict, str]:
    """The entries of the kernels that can be used, by key, and why there are none."""
    path = FOLDER / RECORD
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        reason = _why_unfit(record)
        entries = {} if reason else dict(record["kernels"])
    except FileNotFoundError:
        return {}, ""  # a copy of Cairn without them
    except (OSError, ValueError, KeyError, TypeError) as error:
        entries, reason = {}, f"{path} cannot be read ({' '.join(str(error).split())}); reinstall Cairn"
    if reason:
        reason = f"Cairn's ready-made kernels cannot be used, so the solver is compiled once: {reason}"
        log.warning("%s", reason)
    return entries, reason


def _why_unfit(record) -> str:
    """What of this machine is not as where the kernels were made; empty if they fit."""
    for name, here in made_by().items():
        if record[name] != here:
            return f"they were made with {name} {record[name]}, and this is {here}"
    if config.CPU_NAME is not None or config.CPU_FEATURES is not None:
        return "NUMBA_CPU_NAME or NUMBA_CPU_FEATURES asks for code for another processor"
    features = llvm.get_host_cpu_features() if record["features"] else {}
    missing = [name for name in record["features"] if not features.get(name)]
    if missing:
        return f"this processor has no {', '.join(missing)}"
    return ""


def key_of(function, kinds) -> str:
    """Name of a kernel for arguments of these types, the same under any name of the package."""
    module = function.__module__.removeprefix(_CORE)
    text = f"{module}:{function.__qualname__}:{function.__code__.co_firstlineno}:{kinds}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def is_ready_made(function, kinds) -> bool:
    """Whether ``load`` will find the kernel."""
    return _find(function, kinds) is not None


def load(function, kinds, context):
    """Load a kernel for arguments of these types.

    Parameters
    ----------
    function : function
        Plain Python function of the kernel.
    kinds : tuple of Numba types
    context : Numba's target context

    Returns
    -------
    Numba's compile result, or None if there is no such kernel ready-made.
    """
    found = _find(function, kinds)
    if found is None:
        return None
    entry, code = found
    rtsys.initialize(context)  # of memory, for kernels that make arrays
    if entry["threads"]:
        _reload_parfors()  # its code calls Numba's threads, which must be there before it is linked
    names = [entry["symbol"]]
    if entry["from_python"]:
        names.append(itanium_mangler.prepend_namespace(entry["symbol"], ns="cpython"))
    # Numba asks this module which functions there are; their code is what counts.
    defined = llvm.parse_assembly("".join(f'define void @"{name}"() {{\n ret void\n}}\n' for name in names))
    library = context.codegen().unserialize_library((function.__qualname__, "object", (code, defined.as_bitcode())))
    result = _decoded(entry["result"])
    described = PythonFunctionDescriptor(
        native=True,
        modname=function.__module__,
        qualname=function.__qualname__,
        unique_name=function.__name__,
        doc="",
        typemap=None,
        restype=result,
        calltypes=None,
        args=(),
        kws=(),
        mangler=lambda *_, **__: entry["symbol"],
        argtypes=tuple(kinds),
        env_name=entry["environment"],
    )
    environment = Environment.from_fndesc(described)
    return compiler.compile_result(
        typing_context=context.typing_context,
        target_context=context,
        entry_point=context.get_executable(library, described, environment),
        typing_error=None,
        type_annotation=None,
        signature=typing.signature(result, *kinds),
        objectmode=False,
        lifted=(),
        fndesc=described,
        library=library,
        call_helper=None,
        environment=environment,
        metadata=None,
        reload_init=(),
        referenced_envs=(),
    )


def _find(function, kinds) -> tuple[dict, bytes] | None:
    """A kernel's entry and its machine code, if it is what the record says."""
    entries, _ = _entries()
    entry = entries.get(key_of(function, kinds)) if entries else None
    if entry is None or entry["file"] in _damaged:
        return None
    path = FOLDER / entry["file"]
    try:
        code = path.read_bytes()
    except OSError as error:
        return _report_damage(entry, f"{path} cannot be read ({error.strerror})")
    if hashlib.sha256(code).hexdigest() != entry["sha256"]:
        return _report_damage(entry, f"{path} is damaged")
    return entry, code


def _report_damage(entry, reason) -> None:
    line = f"{reason}, so a part of the solver is compiled once; reinstall Cairn"
    _damaged[entry["file"]] = line
    log.warning("%s", line)


def write(folder: Path, compilations, processor: str, features) -> None:
    """Keep compiled kernels for other machines; run when Cairn is packaged.

    Parameters
    ----------
    folder : Path
        Where the files and the record are written.
    compilations : iterable of (function, kinds, compile result, machine code)
    processor : str
        What they were compiled for, ...
    features : sequence of str
        ... and what a machine must have to run them, in LLVM's names.

    Raises
    ------
    ValueError
        A kernel needs more than its code.
    """
    folder.mkdir(parents=True, exist_ok=True)
    entries: dict[str, dict] = {}
    for function, kinds, compiled, code in compilations:
        key = key_of(function, kinds)
        if key in entries:
            raise ValueError(f"two kernels have the key of {function.__qualname__}")
        if compiled.environment.consts or compiled.lifted or set(compiled.reload_init) - {_reload_parfors}:
            raise ValueError(f"{function.__qualname__} uses objects of Python, which cannot be kept ready-made")
        file = f"{key}.o"
        (folder / file).write_bytes(code)
        entries[key] = {
            "kernel": f"{function.__module__.removeprefix(_CORE + '.')}.{function.__qualname__}",
            "file": file,
            "sha256": hashlib.sha256(code).hexdigest(),
            "symbol": compiled.fndesc.mangled_name,
            "environment": compiled.fndesc.env_name,
            "result": _encoded(compiled.signature.return_type),
            "from_python": bool(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cpython_wrapper_name)),
            "threads": bool(compiled.reload_init),
        }
    record = {**made_by(), "processor": processor, "features": list(features), "kernels": entries}
    (folder / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _encoded(kind):
    """A type of a kernel's result, for JSON: a number's name, or a list of them."""
    if isinstance(kind, types.BaseTuple) and not isinstance(kind, types.BaseNamedTuple):
        return [_encoded(member) for member in kind]
    if str(kind) not in _SCALARS:
        raise ValueError(f"a kernel that returns {kind} cannot be kept ready-made")
    return str(kind)


def _decoded(text):
    """The type that ``_encoded`` wrote."""
    if isinstance(text, list):
        return types.BaseTuple.from_types([_decoded(member) for member in text])
    return _SCALARS[text]
