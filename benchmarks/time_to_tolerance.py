"""Every contact method on frozen steps of the ready-made scenes: time until the tolerance is met.

The one measure that decides which method `auto` takes. Each step is solved cold (from zero, as after a cut) or warm
(from the last step's impulses, as in a bake), to 1e-6 of its scale, the default.
"""

from cairn.solver_core import scenes
from cairn.solver_core.problem import SolverOptions
from cairn.solver_core.solvers.registry import METHODS, find_method

from ._frozen import freeze, time_kernel
from .report import Claim, Report

TOLERANCE = 1e-6
# A method that needs longer for one solve is timed once only [s].
_LONG_SOLVE = 0.5
_REPETITIONS = 7

# name, scene, frames before the step, warm
STEPS = (
    ("stack of 10, cold", lambda: scenes.stack(10), 0, False),
    ("stack of 10, warm", lambda: scenes.stack(10), 4, True),
    ("heavy 100 on 9, cold", scenes.heavy_stack, 0, False),
    ("heavy 1000 on 9, cold", lambda: scenes.heavy_stack(1000.0), 0, False),
    ("stack of 30, cold", lambda: scenes.stack(30), 0, False),
    ("pyramid of 120, cold", scenes.pyramid, 0, False),
    ("wall of 174, cold", scenes.standing_wall, 0, False),
    ("wall of 174, warm", scenes.standing_wall, 4, True),
    ("arch of 25, cold", scenes.arch, 0, False),
    ("cards, 3 storeys, cold", scenes.card_house, 0, False),
    ("wall of 114, hit, warm", scenes.wall, 11, True),
    ("heap of 100, falling, warm", lambda: scenes.pile(100), 18, True),
    ("heap of 100, settling, warm", lambda: scenes.pile(100), 60, True),
)
QUICK_STEPS = (0, 1, 4, 8, 9)
# Direct methods hold a dense basis; on hundreds of contacts they would take hours.
_LARGEST_FOR_DIRECT = 48
_DIRECT = ("lemke", "lemke_structural", "lemke_reduced")


def run(quick, plots) -> Report:
    """Time every method with every model of friction that it knows."""
    rows = []
    for index in QUICK_STEPS if quick else range(len(STEPS)):
        name, make, frames, warm = STEPS[index]
        step = freeze(name, make(), frames, warm)
        contacts = int(step.problem.rows.count[0])
        for method in METHODS:
            for friction in find_method(method).frictions:
                if method in _DIRECT and contacts > _LARGEST_FOR_DIRECT:
                    continue
                rows.append(_row(step, contacts, method, friction))
    return Report(
        name="time_to_tolerance",
        rows=rows,
        claims=list(_claims(rows)),
        notes=[
            f"Relative tolerance {TOLERANCE:g}; times of the kernel alone, medians of {_REPETITIONS}, compiled before.",
            f"Direct methods are left out above {_LARGEST_FOR_DIRECT} contacts.",
        ],
    )


def _row(step, contacts, method, friction):
    options = SolverOptions(tolerance=TOLERANCE)
    timing = time_kernel(step, method, friction, options, 1)
    if timing.seconds < _LONG_SOLVE:
        timing = time_kernel(step, method, friction, options, _REPETITIONS)
    return {
        "step": step.name,
        "contacts": contacts,
        "method": method,
        "friction": friction,
        "status": timing.status.word,
        "iterations": timing.iterations,
        "residual": timing.residual,
        "ms": 1e3 * timing.seconds,
    }


def _claims(rows):
    """`auto` solves what any method solves, and is never far behind the fastest that does."""
    for step in dict.fromkeys(row["step"] for row in rows):
        for friction in ("box", "cone", "polyhedral"):
            rivals = [row for row in rows if row["step"] == step and row["friction"] == friction]
            solved = [row for row in rivals if row["status"].startswith("converged")]
            chosen = [row for row in rivals if row["method"] == "auto"]
            if not chosen or not solved:
                continue
            best = min(solved, key=lambda row: row["ms"])
            yield Claim(
                f"{step}, {friction}: auto reaches the tolerance", "yes", chosen[0]["status"], chosen[0] in solved
            )
            yield Claim(
                f"{step}, {friction}: auto takes at most twice the time of the fastest",
                f"{best['method']} {best['ms']:.3g} ms",
                f"{chosen[0]['ms']:.3g} ms",
                chosen[0]["ms"] <= 2.0 * best["ms"],
                timed=True,
            )
