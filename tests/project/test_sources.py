"""Rules that Blender's reviewers, its oldest Python or the design set for all sources, and that no tool checks."""

import ast
import re
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


@each([path for path in SHIPPED if path != ROOT / "solver_core" / "child_python.py"])
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


@each([path for path in SHIPPED if path != ROOT / "solver_core" / "kernel.py"])
def test_compiles_only_with_the_one_kernel_decorator(path):
    used = {name.split(".")[-1] for name in names_used(parse(path))}
    assert not used & {"njit", "jit", "vectorize", "guvectorize", "cfunc", "jitclass"}


@each(SHIPPED)
def test_stays_readable_in_one_sitting(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 700
