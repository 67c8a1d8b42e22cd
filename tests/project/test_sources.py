"""Rules that Blender's reviewers, its oldest Python or the design set for all sources, and that no tool checks."""

import ast
import functools
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = [
    ROOT / "__init__.py",
    ROOT / "__main__.py",
    *sorted((ROOT / "addon").rglob("*.py")),
    *sorted((ROOT / "presets").rglob("*.py")),
    *sorted((ROOT / "solver_core").rglob("*.py")),
]
CORE = [path for path in SHIPPED if path.is_relative_to(ROOT / "solver_core")]
ALL = SHIPPED + [path for folder in ("benchmarks", "tests", "tools") for path in sorted((ROOT / folder).rglob("*.py"))]


@functools.cache
def parse(path: Path) -> ast.Module:
    """Parse with the grammar of Python 3.11, which is Blender 4.5's."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path), feature_version=(3, 11))


def each(paths: list[Path]):
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.relative_to(ROOT).as_posix())


def imported_modules(tree: ast.Module) -> set[str]:
    """Collect absolute imports; those inside the package are relative."""
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            modules.add(node.module)
    return modules


def first_names(modules: set[str]) -> set[str]:
    return {module.split(".")[0] for module in modules}


def names_used(tree: ast.Module) -> set[str]:
    """Collect names as they are written: ``eval``, ``sys.path``, ``numba.njit``."""
    return {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, (ast.Name, ast.Attribute))}


@each(ALL)
def test_parses_with_the_oldest_python(path):
    parse(path)


@each(SHIPPED)
def test_does_nothing_that_the_extension_platform_refuses(path):
    tree = parse(path)
    assert not first_names(imported_modules(tree)) & {"threading", "_thread", "concurrent", "pickle", "marshal"}
    assert not names_used(tree) & {"bl_info", "eval", "exec", "bpy.app.driver_namespace"}


@each([path for path in SHIPPED if path != ROOT / "solver_core" / "compiled" / "child_process.py"])
def test_leaves_the_folders_of_modules_alone(path):
    """Only what starts a Python of its own reads them, to pass them on."""
    assert "sys.path" not in names_used(parse(path))


@each(SHIPPED)
def test_imports_its_own_package_relatively(path):
    """Blender loads the package as ``bl_ext.<repository>.cairn``, and the user names the repository."""
    tree = parse(path)
    assert not first_names(imported_modules(tree)) & {"bl_ext", "cairn", "addon", "solver_core"}
    literals = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert not [text for text in literals if re.match(r"bl_ext\.\w", text)]


@each(CORE)
def test_core_knows_nothing_of_blender(path):
    assert not first_names(imported_modules(parse(path))) & {"bpy", "bpy_extras", "mathutils", "bmesh"}


@each([path for path in SHIPPED if path != ROOT / "solver_core" / "compiled" / "kernel.py"])
def test_compiles_only_with_the_one_kernel_decorator(path):
    used = {name.split(".")[-1] for name in names_used(parse(path))}
    assert not used & {"njit", "jit", "vectorize", "guvectorize", "cfunc", "jitclass"}


COMPILED = ROOT / "solver_core" / "compiled"


def builds_on_private_parts(tree: ast.Module) -> set[str]:
    """Imports of llvmlite, and of what Numba does not document for others to build on."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        public = r"numba(\.(config|types|typeof|prange|njit|core\.errors\.\w+|core\.types(\.\w+)?))?"
        found |= {
            name for name in names if first_names({name}) & {"numba", "llvmlite"} and not re.fullmatch(public, name)
        }
    return found


@each([path for path in SHIPPED if path.parent != COMPILED])
def test_numbas_private_parts_are_used_in_one_room(path):
    assert builds_on_private_parts(parse(path)) == set()


def test_the_search_for_private_parts_finds_some():
    found = set().union(*(builds_on_private_parts(parse(path)) for path in COMPILED.glob("*.py")))
    assert {"llvmlite.ir", "numba.core.cgutils", "numba.extending.intrinsic", "numba._dynfunc"} <= found


MOST_LINES = 600


@each(SHIPPED)
def test_files_are_readable_in_one_sitting(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


MOST_FILES = 20


def test_folders_of_the_core_are_rooms_and_no_drawers():
    """Ready-made scenes are data, a file each."""
    folders = Counter(path.parent for path in SHIPPED if path.is_relative_to(ROOT / "solver_core"))
    full = {str(folder.relative_to(ROOT)) for folder, count in folders.items() if count > MOST_FILES}
    assert full == {str(Path("solver_core", "scenes"))}


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules_known_to(path: Path, modules) -> set[str]:
    """What a file imports relatively, or names in a text: the public names' homes and the solvers' modules."""
    package = path.relative_to(ROOT).parent.parts
    found = set()
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = [*package[: len(package) - node.level + 1], *filter(None, [node.module])]
            found |= {".".join([*base, alias.name]) for alias in node.names} | {".".join(base)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(".".join([*package, node.value]))
            # a function of a file beside the package
            found.add(".".join([*package[:-1], node.value.rpartition(".")[0]]))
    return found & modules


def test_ships_nothing_that_only_benchmarks_and_tests_use():
    """From the add-on, the command line and the core's public names every module of the core can be reached."""
    files = {module_of(path): path for path in SHIPPED}
    reached, waiting = set(), [name for name in files if not name.startswith("solver_core.")]
    waiting.append("solver_core.diagnostics")  # energies, for who uses the core as a library
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += modules_known_to(files[name], files.keys())
    assert not {name for name in files.keys() - reached if files[name].name != "__init__.py"}


def parameters(function) -> int:
    arguments = function.args
    return len(arguments.posonlyargs + arguments.args + arguments.kwonlyargs)


def test_exceptions_from_the_limit_of_parameters_are_needed():
    """What pyproject.toml excepts from ruff's PLR0913 still has a function with more parameters than are allowed."""
    ruff = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]["lint"]
    for name, rules in ruff["per-file-ignores"].items():
        if "PLR0913" in rules:
            functions = [node for node in ast.walk(parse(ROOT / name)) if isinstance(node, ast.FunctionDef)]
            assert max(map(parameters, functions)) > ruff["pylint"]["max-args"], name


def test_test_files_have_names_of_their_own():
    """Below tests there is no ``__init__.py``, so pytest imports them by name, and stops at two of one name."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(set(names)) == sorted(names)
