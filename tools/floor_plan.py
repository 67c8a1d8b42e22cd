"""What the core's floor plan comes to: its lines, its thresholds, its folders, and the way from a frame to a solver.

    python tools/floor_plan.py

Thresholds are names of modules in capitals that stand for a number with a point, outside of the ready-made scenes, the
plain LCP solvers and what compiles.
"""

import ast
import re
from pathlib import Path

CORE = Path(__file__).resolve().parents[1] / "solver_core"
# The functions from a frame in Python to Newton's method, each with the name by which the one before calls it: kernels
# of a table are called by their stage, and what is bound by its stand-in.
WAY = (
    ("simulation.py", "advance_frame", ""),
    ("simulation.py", "_step", "_step"),
    ("dynamics/frame/step.py", "advance_frame", "_advance"),
    ("dynamics/frame/detection.py", "detect_and_solve_positions", "detect_and_solve_positions"),
    ("dynamics/frame/detection.py", "_solve_positions", "_solve_positions"),
    ("dynamics/frame/detection.py", "solve_islands", "solve_islands"),
    ("dynamics/schedule/sharing.py", "run_task", "run_task"),
    ("dynamics/solving/advance.py", "solve_positions", "_call_task"),
    ("dynamics/solving/advance.py", "_advance", "_advance"),
    ("dynamics/solving/verdicts.py", "solve_by_plan", "solve_by_plan"),
    ("dynamics/solving/strategies.py", "pursue", "pursue"),
    ("solvers/registry.py", "_solve_island", "SOLVE_ISLAND"),
    ("solvers/cascade.py", "_solve_cascade", "solve_rows"),
    ("solvers/newton/alm_newton.py", "solve_alm_newton", "solve_exactly"),
)


def sources() -> list[Path]:
    """All files of the core."""
    return sorted(CORE.rglob("*.py"))


def thresholds(path: Path) -> int:
    """Named thresholds of a file."""
    count = 0
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign):
            names = [part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)]
            values = [part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant)]
            if all(re.fullmatch(r"_?[A-Z][A-Z0-9_]*", name) for name in names) and float in map(type, values):
                count += len(names)
    return count


def names_called(file: str, function: str) -> set[str]:
    """Names and attributes in a function, those it calls among them."""
    for node in ast.walk(ast.parse((CORE / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name == function:
            inner = [part for statement in node.body for part in ast.walk(statement)]
            names = {part.id for part in inner if isinstance(part, ast.Name)}
            return names | {part.attr for part in inner if isinstance(part, ast.Attribute)}
    raise LookupError(f"{file} has no {function}")


def main() -> None:
    """Print the plan."""
    counts = {path: thresholds(path) for path in sources() if not {"scenes", "lcp", "compiled"} & set(path.parts)}
    folders = {folder: len([*folder.glob("*.py")]) for folder in {path.parent for path in sources()}}
    fullest = max((folder for folder in folders if folder.name != "scenes"), key=lambda folder: folders[folder])
    print("lines:", sum(len(path.read_text(encoding="utf-8").splitlines()) for path in sources()))
    print("thresholds:", sum(counts.values()), "in", sum(count > 0 for count in counts.values()), "files")
    print("fullest folder:", folders[fullest], "files")
    print("functions from a frame to Newton's method:", len(WAY))
    for file, function, _ in WAY:
        print(f"  {function} ({file})")


if __name__ == "__main__":
    main()
