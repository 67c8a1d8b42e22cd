"""Nielsen 2009: 150 balls fall in a box in the plane, frictionless, by the splitting method.

The splitting A = M - N with M = D + L (diagonal and lower part) turns the LCP into one a step of the iteration,

    x_new >= 0,   M x_new - N x + b >= 0,   complementary,

and as M is lower triangular that one is solved by forward substitution, each unknown cut at zero in its turn: projected
Gauss-Seidel, our ``pgs``. The paper prints max(0, M^-1 N x - b) instead. That leaves M^-1 off b; and also with it,
max(0, M^-1 (N x - b)) solves the triangular system first and cuts afterwards, which is not the same where an unknown
that is cut feeds a later one. The benchmark runs all three on the step with the most contacts.

Error measure: r'r with r = min(A x + b, x), stop at 1e-5. Our solvers stop at a largest entry: sqrt(1e-5 / n) does it.
"""

from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from scipy.linalg import solve_triangular

from cairn.solver_core.problem.problem import SolverOptions
from cairn.solver_core.solve import solve_lcp

from .problems.circles import (
    advance,
    balls_in_box,
    carry_impulses,
    deepest_overlap,
    find_contacts,
    frictionless_lcp,
    frictionless_velocity,
    motion_margin,
    total_energy,
)
from .report import Claim, Report

# The paper's stop, on r'r, and its limit.
_STOP = 1e-5
_MOST_ITERATIONS = 20_000
# Energies are sums of some hundred terms; this share of the first is what rounding may change.
_ROUNDING = 1e-12
# Iterations after which a reading of the printed update has shown where it goes.
_ITERATIONS_OF_READINGS = 2000
# Every this many steps a moment is kept for the pictures.
_STEPS_A_MOMENT = 8


@dataclass(frozen=True)
class Setting:
    """Size of a run."""

    ball_count: int = 150
    steps: int = 1000


FULL = Setting()
QUICK = Setting(steps=400)


@dataclass
class Run:
    """What a simulation showed, one entry a step.

    Attributes
    ----------
    contacts, iterations : list of int
    errors : list of float
        r'r at the end of the step's solve.
    products : list of float
        x'|w| there [J].
    energies : list of float
        One more than steps [J].
    outside : int
        Balls whose centre was beyond a wall, summed over the steps.
    overlap : float
        Largest overlap of two balls, or of a ball and a wall [m].
    moments : list of CircleState
    largest : LCP or None
        The problem of the step with the most contacts.
    seconds : float
    """

    contacts: list = field(default_factory=list)
    iterations: list = field(default_factory=list)
    errors: list = field(default_factory=list)
    products: list = field(default_factory=list)
    energies: list = field(default_factory=list)
    outside: int = 0
    overlap: float = 0.0
    moments: list = field(default_factory=list)
    largest: object = None
    seconds: float = 0.0


def run(quick, plots):
    """The paper's simulation, from zero impulses and from the last step's; and three readings of its update."""
    return measure(QUICK if quick else FULL, plots)


def measure(setting, plots=None) -> Report:
    """Run the benchmark at some size."""
    world, start = balls_in_box(setting.ball_count)
    cold, warm = (_simulate(world, start, setting.steps, warm_start) for warm_start in (False, True))
    readings = _try_readings(cold.largest)
    if plots:
        _save_pictures(plots, world, cold)
    rows = [_run_row("zero", cold), _run_row("last step's impulses", warm)]
    at_zero = float(np.sum(np.minimum(cold.largest.b, 0.0) ** 2))
    rows += [
        {"update": name, "contacts": cold.largest.size, "r'r at zero": at_zero, "least r'r": error}
        for name, error in readings.items()
    ]
    return Report("nielsen2009", rows, _judge(world, setting, cold, warm, readings), _NOTES)


def _simulate(world, state, steps, warm_start) -> Run:
    record = Run(energies=[total_energy(world, state)], moments=[state])
    earlier, impulse = None, None
    started = perf_counter()
    for step in range(1, steps + 1):
        contacts = find_contacts(world, state, motion_margin(world, state))
        lcp = frictionless_lcp(world, state, contacts)
        x0 = carry_impulses(contacts, earlier, impulse) if warm_start and earlier is not None else None
        result = solve_lcp(lcp, "pgs", x0, _options(lcp.size))
        earlier, impulse = contacts, result.x
        state = advance(world, state, frictionless_velocity(world, state, lcp, impulse))

        record.contacts.append(lcp.size)
        record.iterations.append(result.iterations)
        record.errors.append(result.measures.natural_map_norm**2)
        record.products.append(result.measures.product)
        record.energies.append(total_energy(world, state))
        record.outside += int(np.sum(world.wall_normal @ state.position.T < world.wall_offset[:, None]))
        record.overlap = max(record.overlap, deepest_overlap(world, state))
        if record.largest is None or lcp.size > record.largest.size:
            record.largest = lcp
        if step % _STEPS_A_MOMENT == 0:
            record.moments.append(state)
    record.seconds = perf_counter() - started
    return record


def _options(size):
    return SolverOptions(
        tolerance=0.0, absolute_tolerance=np.sqrt(_STOP / max(size, 1)), max_iterations=_MOST_ITERATIONS
    )


def _try_readings(lcp) -> dict:
    """Least r'r that each reading of the update comes to on one problem."""
    A, b = lcp.dense, lcp.b
    lower, upper = np.tril(A), -np.triu(A, 1)

    def triangular(right):
        return solve_triangular(lower, right, lower=True, check_finite=False)

    solved = solve_lcp(lcp, "pgs", options=_options(lcp.size))
    return {
        "max(0, M^-1 N x - b), as printed": _least_error(A, b, lambda x: np.maximum(0.0, triangular(upper @ x) - b)),
        "max(0, M^-1 (N x - b))": _least_error(A, b, lambda x: np.maximum(0.0, triangular(upper @ x - b))),
        "forward substitution (ours)": solved.measures.natural_map_norm**2,
    }


def _least_error(A, b, update) -> float:
    x = np.zeros(len(b))
    least = np.inf
    for _ in range(_ITERATIONS_OF_READINGS):
        residual = np.minimum(A @ x + b, x)
        error = float(residual @ residual)
        # one that grows without end ends here, before it overflows
        if not error < 1e100:
            break
        least = min(least, error)
        x = update(x)
    return least


def _run_row(start, record):
    return {
        "start": start,
        "steps": len(record.contacts),
        "contacts": np.mean(record.contacts),
        "iterations": np.mean(record.iterations),
        "most": max(record.iterations),
        "largest r'r": max(record.errors),
        "energy at first [J]": record.energies[0],
        "at last": record.energies[-1],
        "largest change": np.diff(record.energies).max(),
        "overlap [m]": record.overlap,
        "seconds": record.seconds,
    }


def _judge(world, setting, cold, warm, readings) -> list[Claim]:
    worst = max(cold.errors + warm.errors)
    cold_change, warm_change = np.diff(cold.energies), np.diff(warm.energies)
    rounding = _ROUNDING * cold.energies[0]
    excess = float(np.max(warm_change - warm.products))
    # an approach that a solve leaves over is at most the root of the stop, and a step carries it on for h
    drift = setting.steps * world.time_step * np.sqrt(_STOP)
    *printed, ours = readings.values()
    return [
        Claim("r'r in every step", "below 1e-5", worst, worst <= _STOP),
        Claim(
            "steps in which energy grows, from zero impulses",
            0,
            int(np.sum(cold_change > rounding)),
            bool(np.all(cold_change <= rounding)),
        ),
        Claim("warm: growth of energy in a step beyond x'|w| [J]", "none", excess, excess <= rounding),
        Claim("balls that leave the box", 0, cold.outside + warm.outside, cold.outside + warm.outside == 0),
        Claim(
            "largest overlap of a ball with another or a wall [m]",
            f"below {drift:.2g}, what the stop allows",
            max(cold.overlap, warm.overlap),
            max(cold.overlap, warm.overlap) <= drift,
        ),
        Claim("r'r by the corrected update", "below 1e-5", ours, ours <= _STOP),
        Claim("r'r by the printed update, and with M^-1 on b", "above 1e-5", min(printed), min(printed) > _STOP),
    ]


def _save_pictures(folder, world, record):
    from ._circle_pictures import save_animation, save_strip

    room = (0.0, -world.wall_offset[1], 0.0, -world.wall_offset[3])
    last = len(record.moments) - 1
    chosen = [round(share * last) for share in (0.0, 0.05, 0.1, 0.15, 1.0)]
    seconds = [index * _STEPS_A_MOMENT * world.time_step for index in chosen]
    captions = [f"{second:.1f} s" for second in seconds]
    save_strip(folder / "nielsen2009_balls.png", world, room, [record.moments[index] for index in chosen], captions)
    save_animation(folder / "nielsen2009_balls.gif", world, room, record.moments)


_NOTES = [
    "The paper shows no figures; it gives the number of balls, the steps, the stop and the code. Its room is ours in"
    " decimetres; places, speeds and radii of 0.5 to 1 m are ours (seed 0), and so is gravity, 9.81 m/s^2.",
    "The paper takes what is nearer than 0.01 for a contact, gap or not, and lets a fast ball sink in. Here every pair"
    " that a step can bring together is a contact, and its gap may be closed, not more.",
    "From zero the impulses grow from below, so what a solve leaves over is approach, and costs energy. A warm start"
    " errs to both sides: x'|w| bounds what a step may gain. The paper's code starts from the last step's impulses too,"
    " but by place in the list, so that they mostly belong to other pairs.",
]
