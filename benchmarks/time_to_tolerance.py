"""Every contact method on frozen steps of the ready-made scenes: time until the tolerance is met.

The one measure that decides which method `auto` takes. Each step is solved cold (from zero, as after a cut) or warm
(from the last step's impulses, as in a bake), to 1e-6 of its scale, the default. With ``--markdown`` the first three
tables, one for each model of friction, are those of docs/solvers/which-method-when.md.
"""

from cairn.solver_core import scenes
from cairn.solver_core.problem.problem import SolverOptions, Status
from cairn.solver_core.problem.rows import FRICTION_MODELS
from cairn.solver_core.solve import solve_contacts
from cairn.solver_core.solvers.registry import METHODS, find_method

from ._frozen import Timing, freeze, time_kernel
from .report import Claim, Report

TOLERANCE = 1e-6
# A method that needs longer for one solve is timed once only [s].
_LONG_SOLVE = 0.5
_REPETITIONS = 7
# Methods get four times the iterations until one solve takes a quarter of this; so none takes much longer [s].
_TIME_LIMIT, _TIME_LIMIT_QUICK = 3.0, 0.4
_FIRST_ITERATIONS = 8

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
    ("dominoes, falling, warm", scenes.dominoes, 72, True),
    ("ball pool, settling, warm", scenes.ball_pool, 72, True),
    ("boulders, sliding, warm", scenes.boulders, 60, True),
    ("chain of 9, swinging, warm", scenes.chain, 48, True),
    ("cradle, hit, warm", scenes.cradle, 12, True),
    ("tops, spinning, warm", scenes.tops, 24, True),
    ("gear train, turning, warm", scenes.gears, 48, True),
)
QUICK_STEPS = (0, 1, 4, 8, 9)


def run(quick, plots) -> Report:
    """Time every method with every model of friction that it knows."""
    time_limit = _TIME_LIMIT_QUICK if quick else _TIME_LIMIT
    rows = []
    for index in QUICK_STEPS if quick else range(len(STEPS)):
        name, make, frames, warm = STEPS[index]
        step = freeze(name, make(), frames, warm)
        for method in METHODS:
            for friction in find_method(method).frictions:
                rows.append(_row(step, method, friction, time_limit))
    return Report(
        name="time_to_tolerance",
        rows=[*(row for friction in FRICTION_MODELS for row in _side_by_side(rows, friction)), *rows],
        claims=list(_claims(rows)),
        notes=[
            f"Relative tolerance {TOLERANCE:g}; times of the kernel alone, medians of {_REPETITIONS}, compiled before.",
            "First the milliseconds of each method, with one table a model of friction; where the tolerance was not "
            "reached, a dash and the residual that was left. `no room`: the matrix would need more than 512 MB.",
            f"A method whose next try would take longer than {time_limit:g} s is cut off; the status says time_limit.",
        ],
    )


def _row(step, method, friction, time_limit):
    timing, cut = _time(step, method, friction, time_limit)
    return {
        "step": step.name,
        "contacts": int(step.problem.rows.count[0]),
        "method": method,
        "friction": friction,
        "status": "time_limit" if cut else timing.status.word,
        "iterations": timing.iterations,
        "residual": timing.residual,
        "ms": 1e3 * timing.seconds,
    }


def _time(step, method, friction, time_limit):
    """How the method did, and whether the time limit ended it.

    Iterations are cheaper or dearer by a factor of 10,000 from method to method, and kernels read no clock: so a solve
    begins anew with four times the iterations while it ends at the limit of iterations that it got. ``auto`` shares its
    limit out among its turns, and is not cut.
    """
    own_limit = find_method(method, friction).max_iterations
    solve_contacts(step.problem, method, friction, step.start, SolverOptions(max_iterations=1))  # compiles
    allowed = own_limit if method == "auto" else min(_FIRST_ITERATIONS, own_limit)
    while True:
        options = SolverOptions(tolerance=TOLERANCE, max_iterations=allowed)
        result = solve_contacts(step.problem, method, friction, step.start, options)
        if result.status is not Status.MAX_ITERATIONS or allowed == own_limit:
            break
        if result.seconds > 0.25 * time_limit:
            return Timing(result.status, result.iterations, result.residual, result.seconds), True
        allowed = min(4 * allowed, own_limit)
    timing = Timing(result.status, result.iterations, result.residual, result.seconds)
    if result.seconds < _LONG_SOLVE:
        timing = time_kernel(step, method, friction, options, _REPETITIONS)
    return timing, False


def _side_by_side(rows, friction):
    """One row a step, with a column for each method that knows this friction."""
    for step in dict.fromkeys(row["step"] for row in rows):
        mine = [row for row in rows if row["step"] == step and row["friction"] == friction]
        table = {f"{friction} friction: step": step, "contacts": mine[0]["contacts"]}
        for row in mine:
            if row["status"].startswith("converged"):
                two_digits = float(f"{row['ms']:.2g}")
                table[row["method"]] = f"{two_digits:g}"
            elif row["status"] == "capacity":
                table[row["method"]] = "no room"
            else:
                table[row["method"]] = f"- ({row['residual']:.0e})"
        yield table


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
