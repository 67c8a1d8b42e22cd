"""What one sweep costs a contact, on one core: nanoseconds for three rows between two bodies, at rising sizes.

The time of k sweeps less that of k / 3, so that what a call costs once is left out.
"""

from statistics import median
from time import thread_time

import numpy as np

from cairn.solver_core.problem import SolverOptions, kernel_settings
from cairn.solver_core.rows import RowArrays, single_island
from cairn.solver_core.solvers.registry import find_method, resolve_options

from ._columns import columns
from .report import Claim, Report

# columns of five boxes: 20 contacts each
SIZES = {1_500: 75, 15_000: 750, 150_000: 7_500}
PAIRS = (
    ("pgs", "box"),
    ("pgs", "cone"),
    ("pgs", "polyhedral"),
    ("psor", "box"),
    ("amgs", "box"),
    ("nncg", "box"),
    ("nncg", "cone"),
)
# Sweeps times contacts of the longer run.
_WORK = 900_000
_REPETITIONS = 7


def run(quick, plots) -> Report:
    """Time every method at every size, interleaved; ``quick`` takes pgs and nncg with the box only."""
    pairs = tuple(pair for pair in PAIRS if pair[1] == "box" and pair[0] in ("pgs", "nncg")) if quick else PAIRS
    problems = {size: columns(count, 5) for size, count in SIZES.items()}
    samples = {(pair, size): [] for pair in pairs for size in SIZES}
    for repetition in range(_REPETITIONS + 1):
        for pair, size in samples:
            sweeps = max(6, _WORK // size)
            cost = _seconds(problems[size], *pair, sweeps) - _seconds(problems[size], *pair, sweeps // 3)
            if repetition > 0:  # the first compiles and warms up
                samples[pair, size].append(1e9 * cost / (sweeps - sweeps // 3) / size)
    rows = [
        {"method": pair[0], "friction": pair[1], "contacts": size, "ns": median(values), "least ns": min(values)}
        for (pair, size), values in samples.items()
    ]
    small, _, large = SIZES
    cost = {size: median(samples[("pgs", "box"), size]) for size in SIZES}
    ratio = median(np.divide(samples[("pgs", "box"), large], samples[("pgs", "box"), small]))
    return Report(
        name="sweep_cost",
        rows=rows,
        claims=[
            Claim(f"pgs, ns a contact at {small:,}", "100 or less", cost[small], cost[small] <= 100.0, timed=True),
            Claim(f"pgs, at {large:,} over at {small:,}", "2.5 or less", ratio, ratio <= 2.5, timed=True),
        ],
        notes=["Time of the thread's own work. Box friction slides in part; no row is skipped as converged."],
    )


def _seconds(problem, method, friction, sweeps):
    """Thread time of so many sweeps from zero."""
    solver = find_method(method, friction)
    options = resolve_options(solver, SolverOptions(tolerance=0.0, max_iterations=sweeps), sweeps)
    rows = RowArrays(*problem.rows[:-1], impulse=np.zeros(len(problem.rows.impulse)))
    velocity = problem.free_velocity.copy()
    islands = single_island(rows, len(velocity))
    workspace = solver.allocate(len(rows.impulse), len(velocity), 0)
    settings = kernel_settings(options, friction)
    started = thread_time()
    solver.kernel(rows, islands, 0, problem.free_velocity, velocity, workspace, settings)
    return thread_time() - started
