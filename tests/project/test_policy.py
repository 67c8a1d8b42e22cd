"""Numbers of choice are in two files, each with its dimension and where it was decided, and nowhere else."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORE, DOCS = ROOT / "solver_core", ROOT / "docs"
POLICIES = [CORE / "dynamics" / "islands" / "policy.py", CORE / "solvers" / "policy.py"]
# The files that choose: which solver an island gets, which attempt is made on it, and when that is given up.
OF_CHOICE = [
    *sorted(path for room in ("islands", "solving") for path in (CORE / "dynamics" / room).glob("*.py")),
    *(
        CORE / "solvers" / f"{name}.py"
        for name in ("active_subdomain", "auto", "auto_polyhedral", "cascade", "fallback_sweeps", "solve_memory")
    ),
]
# Counts, signs, halves and powers of formulas are no choice.
PLAIN = {0, 1, 2, 3, 6, 0.5}
# What numbers something, or says how much room there is.
NO_CHOICE = {"_TREE", "_ROWS_PER_BLOCK", "_DIRECTIONS", "_HIGHEST_POWER"}


def choices(path):
    """Names of the module's assignments with a number that is not plain, and lines of others in its functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = []
    for node in tree.body:
        names = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
        if isinstance(node, ast.Assign) and names & (NO_CHOICE | {"range"}):
            continue
        for part in ast.walk(node):
            if isinstance(part, ast.Constant) and type(part.value) in (int, float) and part.value not in PLAIN:
                found.append((part.lineno, part.value))
    return found


@pytest.mark.parametrize("path", OF_CHOICE, ids=lambda path: str(path.relative_to(CORE)))
def test_files_that_choose_have_no_numbers_of_their_own(path):
    if path not in POLICIES:
        assert choices(path) == []


def test_the_search_finds_numbers(tmp_path):
    sample = tmp_path / "sample.py"
    sample.write_text("KINDS = range(6)\n_LIMIT = 0.3\n\n\ndef f(x):\n    return 2.0 * x > 1e-4\n", encoding="utf-8")
    assert choices(sample) == [(2, 0.3), (6, 1e-4)]


def entries(path):
    """Each assignment of a policy: its names, and the comment above it."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for node in ast.parse("\n".join(lines)).body:
        if isinstance(node, ast.Assign):
            first = node.lineno - 1
            above = first
            while lines[above - 1].startswith("#"):
                above -= 1
            yield ast.unparse(node.targets[0]), " ".join(line.lstrip("# ") for line in lines[above:first])


def page_of(name):
    """The pages that a policy may mean: one of decisions by its number, or that of the default method."""
    return [DOCS / "solvers" / "auto.md"] if name == "auto" else [*(DOCS / "decisions").glob(f"{name}-*.md")]


def decided():
    """Of each page: the names of the numbers that name it in a policy."""
    found = {}
    for path in POLICIES:
        for names, comment in entries(path):
            for page in re.search(r"\(([^)]+)\)$", comment)[1].split(", "):
                found.setdefault(page, set()).update(re.findall(r"\w+", names))
    return found


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: str(path.relative_to(CORE)))
def test_each_number_has_its_dimension_and_its_decision(path):
    """As in "... [sweeps] (27, auto)": a page of decisions, or of solvers, that is there."""
    found = list(entries(path))
    assert found
    for names, comment in found:
        told = re.search(r"\[[^\]]+\] \(([^)]+)\)$", comment)
        assert told, names
        for page in told[1].split(", "):
            assert len(page_of(page)) == 1, (names, page)
            assert page_of(page)[0].is_file(), (names, page)


@pytest.mark.parametrize(
    "page", ["auto", *sorted(path.name.partition("-")[0] for path in (DOCS / "decisions").glob("[0-9]*.md"))]
)
def test_each_page_names_the_numbers_that_it_decides(page):
    """And no others, so that who changes a number finds what was measured, and who changes a page the number."""
    by_page = decided()
    named = set(re.findall(r"`([A-Z][A-Z0-9_]+)`", page_of(page)[0].read_text(encoding="utf-8")))
    assert named & set().union(*by_page.values()) == by_page.get(page, set())


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: str(path.relative_to(CORE)))
def test_each_number_is_used(path):
    sources = "\n".join(other.read_text(encoding="utf-8") for other in CORE.rglob("*.py") if other not in POLICIES)
    for names, _ in entries(path):
        for name in re.findall(r"\w+", names):
            assert re.search(rf"\b{name}\b", sources), name
