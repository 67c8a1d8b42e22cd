"""What one sweep costs a contact, on one core: nanoseconds for three rows between two bodies, at rising sizes.

The time of k sweeps less that of k / 3, so that what a call costs once is left out. And the same for one large island
of a simulation, on one core and on all: boxes wedged into each other, whose contacts are swept part by part.
"""

from statistics import median
from time import thread_time

import numpy as np

from cairn.solver_core.geometry.shapes import Box
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.problem.problem import SolverOptions
from cairn.solver_core.problem.rows import RowArrays, single_island
from cairn.solver_core.simulation import Simulation
from cairn.solver_core.solvers.registry import find_method, kernel_settings_of

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
# Boxes along each side of the large island, and its sweeps.
_WEDGED, _ISLAND_SWEEPS = (8, 8, 10), 150


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
    rows += _time_island()
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
        notes=[
            "Time of the thread's own work. Box friction slides in part; no row is skipped as converged. "
            "The rows with workers are wall time, of iterations of nncg."
        ],
    )


def _seconds(problem, method, friction, sweeps):
    """Thread time of this many sweeps from zero."""
    solver = find_method(method, friction)
    options = SolverOptions(tolerance=0.0, max_iterations=sweeps)
    rows = RowArrays(*problem.rows[:-1], impulse=np.zeros(len(problem.rows.impulse)))
    velocity = problem.free_velocity.copy()
    islands = single_island(rows, len(velocity))
    workspace = solver.allocate(len(rows.impulse), len(velocity), 0)
    settings = kernel_settings_of(solver, options, friction)
    started = thread_time()
    solver.solve_island(rows, islands, 0, problem.free_velocity, velocity, workspace, settings)
    return thread_time() - started


def _time_island():
    """Wall time of an iteration of nncg on one large island, with one worker and with one per core, interleaved."""
    model = _wedged_boxes()
    samples, contacts, digests = {1: [], 0: []}, 0, set()
    for repetition in range(_REPETITIONS + 1):
        for threads in samples:
            long, short = (_second_frame(model, threads, sweeps) for sweeps in (_ISLAND_SWEEPS, _ISLAND_SWEEPS // 3))
            contacts = long[0].contacts
            digests.add(long[1])
            if repetition > 0:
                seconds = _solving(long[0]) - _solving(short[0])
                samples[threads].append(1e9 * seconds / (long[0].iterations - short[0].iterations) / contacts)
    if len(digests) > 1:
        raise RuntimeError("the large island moves otherwise on several cores")
    return [
        {
            "method": "nncg",
            "friction": "cone",
            "contacts": contacts,
            "workers": "one" if threads == 1 else "one per core",
            "ns": median(values),
            "least ns": min(values),
        }
        for threads, values in samples.items()
    ]


def _wedged_boxes():
    builder = ModelBuilder()
    builder.add_body(shape=Box((20.0, 20.0, 0.5)), position=(0, 0, -0.5), kind=BodyKind.STATIC)
    for place in np.ndindex(*_WEDGED):
        position = np.array(place) * (0.998, 0.998, 0.999) + (0, 0, 0.4995)
        builder.add_body(shape=Box((0.5, 0.5, 0.5)), position=position, friction=0.8)
    return builder.build()


def _second_frame(model, threads, sweeps):
    options = SimulationOptions(
        method="nncg", friction="cone", substeps=1, tolerance=1e-12, max_iterations=sweeps, threads=threads
    )
    simulation = Simulation(model, options)
    # islands are divided from the second frame on
    simulation.advance_frame()
    return simulation.advance_frame(), simulation.digest()


def _solving(report):
    return report.seconds["solve_positions"] + report.seconds["solve_velocities"]
