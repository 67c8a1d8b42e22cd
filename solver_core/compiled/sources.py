"""What compiled code was made from: hashes of sources, and of syntax trees with all that they import.

``core_fingerprint`` is of all bytes of the core: for what must come from these very files. ``closure_digest`` is of the
syntax trees of some modules and of all that they import, directly or not: what a kernel of theirs is made from.
Comments, docstrings and line numbers are no part of it.

A module's imports are read from its text, and not from what a process has loaded: they are then the same in each. An
import within a function counts; one for type checkers alone does not. The packages around a module count too. Modules
that are named only when the program runs (``importlib``) do not: what a kernel takes from those is found among the
values that it uses (``kernel_keys``).
"""

import ast
import contextlib
import functools
import gc
import hashlib
import json
import os
import sys
import tempfile
import time
from os.path import dirname, isfile, join
from pathlib import Path
from typing import NamedTuple

CORE_FOLDER = Path(__file__).resolve().parents[1]

# The package of the whole, by the name that it has here, and its folder. Paths are texts here: there are thousands.
_ROOT_PACKAGE = __package__.removesuffix(".solver_core.compiled")
_ROOT_FOLDER = str(CORE_FOLDER.parent)

# Folders in which packages are installed; the second is Debian's, of whose Python its Blender is built.
_INSTALLED = frozenset({"site-packages", "dist-packages"})

# Files that were written after this may not be what this process has loaded.
_START = time.time()

# Digests of so many contents of files are kept on disk; to parse all of the core takes three seconds.
_MOST_KEPT = 4000
_KEPT_IN = "syntax_trees.json"


@functools.cache
def core_fingerprint() -> str:
    """Hash of the core's sources, 12 hexadecimal digits."""
    digest = hashlib.sha256()
    for path, content in _core_files().items():
        digest.update(Path(path).relative_to(CORE_FOLDER).as_posix().encode())
        digest.update(content)
    return digest.hexdigest()[:12]


@functools.cache
def _core_files() -> dict[str, bytes]:
    """The sources of the core as they were when the first kernel was defined, by path."""
    return {str(path): path.read_bytes() for path in sorted(CORE_FOLDER.rglob("*.py"))}


def remember() -> None:
    """Read the sources of the core, before more of them are loaded."""
    _core_files()


class _Module(NamedTuple):
    """What of a source can matter to a kernel.

    Attributes
    ----------
    digest : str
        Hash of the syntax tree.
    imports : list of (int, str, list of str)
        Level, module and names of each import; no names: the module itself.
    """

    digest: str
    imports: list


class ChangedSource(Exception):
    """A source may have changed since this process loaded it."""


def source_of(module: str) -> str | None:
    """Path of a module of this package, of its tests or benchmarks; None for Python's and other packages' own."""
    if module == _ROOT_PACKAGE or module.startswith(_ROOT_PACKAGE + "."):
        return _file_at(join(_ROOT_FOLDER, *module.removeprefix(_ROOT_PACKAGE).split(".")[1:]))
    # a module within another package is where that is
    if _is_others(module.partition(".")[0]):
        return None
    file = getattr(sys.modules.get(module), "__file__", None)
    return os.path.realpath(file) if file and file.endswith(".py") else None


@functools.cache
def _is_others(package: str) -> bool:
    """Whether a package is Python's own, or was installed."""
    if package in sys.builtin_module_names or package in sys.stdlib_module_names:
        return package != "__main__"
    file = getattr(sys.modules.get(package), "__file__", None)
    return file is not None and not _INSTALLED.isdisjoint(Path(file).parts)


@functools.cache
def _file_at(path: str) -> str | None:
    """The source of the module or package at this path without its ending."""
    known = _core_files()
    return next((file for file in (path + ".py", join(path, "__init__.py")) if file in known or isfile(file)), None)


def closure_digest(sources, folder: Path | None = None) -> str:
    """Hash of the syntax trees of modules and of all of these packages that they import, directly or not.

    Parameters
    ----------
    sources : iterable of str
        Paths.
    folder : Path, optional
        Where digests of files are kept from process to process.

    Raises
    ------
    ChangedSource
        What is on the disk may not be what this process has loaded.
    """
    digest = hashlib.sha256()
    for source in sorted(frozenset().union(*(_closure(source, folder) for source in sources))):
        digest.update(f"{source.removeprefix(_ROOT_FOLDER)} {_module(source, folder).digest}\n".encode())
    _write_kept(folder)
    return digest.hexdigest()


def everything() -> frozenset[str]:
    """All sources of the core."""
    return frozenset(_core_files())


@functools.cache
def _closure(source: str, folder: Path | None) -> frozenset[str]:
    found, waiting = {source}, [source]
    while waiting:
        more = _imported_by(waiting.pop(), folder) - found
        found |= more
        waiting += more
    return frozenset(found)


@functools.cache
def _imported_by(source: str, folder: Path | None) -> frozenset[str]:
    """Sources that a module imports, and the packages around it in the core."""
    found = {_package_around(source)}
    for level, module, names in _module(source, folder).imports:
        if level:
            place = source
            for _ in range(level):
                place = dirname(place)
            place = join(place, *module.split(".")) if module else place
            found |= {_file_at(place), *(_file_at(join(place, name)) for name in names)}
        else:
            found |= {source_of(module), *(source_of(f"{module}.{name}") for name in names)}
    return frozenset(found - {None, source})


def _package_around(source: str) -> str | None:
    """The package of a module, or that around a package; none around the core."""
    folder = dirname(source)
    if source == join(folder, "__init__.py"):
        folder = dirname(folder)
    return join(folder, "__init__.py") if join(folder, "__init__.py") in _core_files() else None


@functools.cache
def _module(source: str, folder: Path | None) -> _Module:
    content = Path(source).read_bytes()
    earlier = _core_files().get(source)
    if content != earlier if earlier is not None else os.stat(source).st_mtime >= _START:
        raise ChangedSource(source)
    key = hashlib.sha256(content).hexdigest()
    kept = _kept(folder)
    if key not in kept:
        kept[key] = [*_parse(content)]
        _unwritten.add(folder)
    return _Module(*kept[key])


def _parse(content: bytes) -> _Module:
    collects = gc.isenabled()
    gc.disable()  # a tree has no cycles, and to look for them takes as long as to make it
    try:
        tree = ast.parse(content)
        imports = [found for statement in _statements(tree) for found in _imports(statement)]
        for node in (tree, *_statements(tree, all_of_them=True)):
            if isinstance(node, _WITH_DOCSTRING) and ast.get_docstring(node, clean=False) is not None:
                del node.body[0]
        return _Module(hashlib.sha256(ast.dump(tree).encode()).hexdigest(), imports)
    finally:
        if collects:
            gc.enable()


_WITH_DOCSTRING = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def _statements(tree, all_of_them=False):
    """Yield all statements, those within others too, but for what only type checkers read."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        is_for_checkers = isinstance(node, ast.If) and _is_for_checkers(node.test)
        for name in ("body", "orelse", "handlers", "finalbody", "cases"):
            if all_of_them or name != "body" or not is_for_checkers:
                waiting += [child for child in _list(node, name) if isinstance(child, _WITH_STATEMENTS)]
        if isinstance(node, ast.stmt):
            yield node


def _is_for_checkers(test) -> bool:
    return "TYPE_CHECKING" in (getattr(test, "id", ""), getattr(test, "attr", ""))


_WITH_STATEMENTS = ast.stmt | ast.ExceptHandler | ast.match_case


def _list(node, name) -> list:
    value = getattr(node, name, ())  # a lambda's body is an expression
    return value if isinstance(value, list) else []


def _imports(statement):
    """Yield level, module and names of what a statement imports."""
    if isinstance(statement, ast.ImportFrom):
        yield statement.level, statement.module or "", [alias.name for alias in statement.names]
    elif isinstance(statement, ast.Import):
        yield from ((0, alias.name, []) for alias in statement.names)


# Folders to which not all is written that this process has parsed.
_unwritten: set[Path | None] = set()


def _kept_in(folder: Path) -> Path:
    return folder / f"py{sys.version_info[0]}{sys.version_info[1]}-{_KEPT_IN}"


@functools.cache
def _kept(folder: Path | None) -> dict[str, list]:
    """Digest and imports of sources that were parsed before, by the hash of their content."""
    if folder is not None:
        with contextlib.suppress(OSError, ValueError):
            return dict(json.loads(_kept_in(folder).read_text(encoding="utf-8")))
    return {}


def _write_kept(folder: Path | None) -> None:
    """Keep what was parsed; of two processes that write at once one is lost, and parses again."""
    if folder is None or folder not in _unwritten:
        return
    _unwritten.discard(folder)
    newest = dict(list(_kept(folder).items())[-_MOST_KEPT:])
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".tmp", delete=False, encoding="utf-8") as file:
            file.write(json.dumps(newest))
        os.replace(file.name, _kept_in(folder))
