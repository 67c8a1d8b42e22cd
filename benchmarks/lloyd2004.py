"""Lloyd 2004, section 5.4: his three ways of Lemke's method on contacts, and QuantEcon's ``lcp_lemke``.

Friction with eight directions, coefficients from 0.2 to 0.3, twenty random wrenches a case.
"""

from statistics import mean, median
from time import perf_counter

import numpy as np
from quantecon.optimize import lcp_lemke

from cairn.solver_core.problem.problem import SolverOptions
from cairn.solver_core.problem.residuals import measure_lcp
from cairn.solver_core.problem.rows import RowArrays, single_island
from cairn.solver_core.solvers.pivoting.polyhedral import delassus_of, polyhedral_lcp
from cairn.solver_core.solvers.registry import find_method, kernel_settings_of

from .problems.lloyd_cases import SINGLE_BODY_CASES, STACKS, block_stack, single_body_case
from .problems.peg_in_hole import peg_in_hole
from .report import Claim, Report

METHODS = {"standard": "lemke", "structural": "lemke_structural", "reduced": "lemke_reduced"}
WRENCHES = 20
DIRECTIONS = 8
# The paper's times [ms] at 8 and 32 contacts of the peg, and at the largest stack.
PEG = {"standard": (6.18, 400.75), "structural": (2.55, 26.63), "reduced": (1.08, 4.58)}
LARGEST_STACK = {"standard": 2136.0, "structural": 224.0, "reduced": 96.0}
# A problem is solved where its natural map relative to |b| is at most this.
_SOLVED = 1e-9
# Asked of QuantEcon at 32 contacts of the peg: its time over that of reduced.
_FASTER_THAN_QUANTECON = 50.0


def run(quick, plots) -> Report:
    """Solve everything with the three methods in turn; ``quick`` leaves out repeats and the peg of 64 contacts."""
    started = perf_counter()
    for who in METHODS:
        _solver(peg_in_hole(2, 0), who)()
    _quantecon(peg_in_hole(2, 0))()
    compiling = perf_counter() - started
    repeats = 3 if quick else 9
    rows = []
    for contacts in (8, 16, 24, 32) if quick else (8, 16, 24, 32, 64):
        rows.append(_row("peg in hole", 1, contacts, lambda seed, n=contacts: peg_in_hole(n, seed), repeats, True))
    for name, contacts in SINGLE_BODY_CASES.items():
        rows.append(_row(name, 1, contacts, lambda seed, n=name: single_body_case(n, seed), repeats, False))
    for levels in STACKS:
        bodies, contacts = len(levels), sum(levels)
        rows.append(_row("stack", bodies, contacts, lambda seed, n=levels: block_stack(n, seed), repeats, False))
    notes = [
        f"Compiling the four, or loading them from the cache, took {compiling:.1f} s.",
        "Times are calls of the compiled solvers, in turn: of a problem the median of its repeats, of a row the mean "
        "over the wrenches, as in the paper. Ours begin with rows, so 'standard' forms its matrix within that time; "
        "QuantEcon gets its matrix ready made.",
        "'standard' is the plain method on the full matrix, as fast as we can make it: with k of N variables basic, a "
        "pivot costs 2 N k where that of a full tableau costs 2 N^2. The paper does not say what his costs.",
        "The paper leaves sizes, masses and most of the single-body cases open; they are ours.",
    ]
    if plots:
        _plot(rows, plots)
    return Report(name="lloyd2004", rows=rows, claims=list(_claims(rows)), notes=notes)


def _solver(problem, who):
    """A call that solves ``problem`` from scratch and returns (relative residual, pivots)."""
    method = find_method(METHODS[who], "polyhedral")
    settings = kernel_settings_of(method, SolverOptions(tolerance=1e-10, directions=DIRECTIONS), "polyhedral")
    rows = RowArrays(*problem.rows[:-1], impulse=np.zeros(len(problem.rows.impulse)))
    islands = single_island(rows, len(problem.free_velocity))
    velocity = problem.free_velocity.copy()
    workspace = method.allocate(len(rows.impulse), len(velocity), 0)

    def solve():
        rows.impulse[:] = 0.0
        velocity[:] = problem.free_velocity
        _, pivots, residual, scale, _ = method.solve_island(
            rows, islands, 0, problem.free_velocity, velocity, workspace, settings
        )
        return (residual / scale if scale > 0.0 else residual), pivots

    return solve


def _quantecon(problem):
    """A call that solves the problem's LCP by QuantEcon."""
    lcp = polyhedral_lcp(*delassus_of(problem), DIRECTIONS)

    def solve():
        result = lcp_lemke(lcp.A, lcp.b)
        return measure_lcp(lcp, np.maximum(result.z, 0.0)).relative_residual, result.num_iter

    def solve_only():
        lcp_lemke(lcp.A, lcp.b)

    solve.timed = solve_only
    return solve


def _row(name, bodies, contacts, make, repeats, against_quantecon):
    outcomes = [_measure(make(seed), repeats, against_quantecon) for seed in range(WRENCHES)]
    row = {"case": name, "bodies": bodies, "contacts": contacts}
    for who in METHODS:
        mine = [outcome[who] for outcome in outcomes]
        row[f"{who} us"] = 1e6 * mean(entry["seconds"] for entry in mine)
        row[f"{who} pivots"] = mean(entry["pivots"] for entry in mine)
    row["solved"] = min(sum(outcome[who]["residual"] <= _SOLVED for outcome in outcomes) for who in METHODS)
    row["worst residual"] = max(outcome[who]["residual"] for outcome in outcomes for who in METHODS)
    if against_quantecon:
        theirs = [outcome["QuantEcon"] for outcome in outcomes]
        row["QuantEcon us"] = 1e6 * mean(entry["seconds"] for entry in theirs)
        row["QuantEcon solved"] = sum(entry["residual"] <= _SOLVED for entry in theirs)
        row["QuantEcon over reduced"] = median(
            outcome["QuantEcon"]["seconds"] / outcome["reduced"]["seconds"] for outcome in outcomes
        )
    return row


def _measure(problem, repeats, against_quantecon):
    solvers = {who: _solver(problem, who) for who in METHODS}
    timed = dict(solvers)
    if against_quantecon:
        solvers["QuantEcon"] = _quantecon(problem)
        timed["QuantEcon"] = solvers["QuantEcon"].timed
    seconds = {who: [] for who in solvers}
    for _ in range(repeats):
        for who, solve in timed.items():
            started = perf_counter()
            solve()
            seconds[who].append(perf_counter() - started)
    outcome = {}
    for who, solve in solvers.items():
        residual, pivots = solve()
        outcome[who] = {"residual": residual, "pivots": pivots, "seconds": median(seconds[who])}
    return outcome


def _claims(rows):
    unsolved = [f"{row['case']} {row['contacts']}" for row in rows if row["solved"] < WRENCHES]
    yield Claim(
        f"problems not solved to {_SOLVED:g} by one of the three, of {WRENCHES * len(rows)}",
        0,
        sum(WRENCHES - row["solved"] for row in rows),
        not unsolved,
    )
    pegs = {row["contacts"]: row for row in rows if row["case"] == "peg in hole"}
    pivots = pegs[32]["reduced pivots"] / pegs[32]["structural pivots"]
    yield Claim("peg, 32 contacts: pivots of reduced over structural", "below 1", f"{pivots:.2f}", pivots < 1.0)
    for slow, fast in (("standard", "reduced"), ("standard", "structural")):
        yield _ratio_claim("peg, 32 contacts", slow, fast, PEG[slow][1] / PEG[fast][1], pegs[32])
    yield _growth_claim(pegs)
    largest = max((row for row in rows if row["case"] == "stack"), key=lambda row: (row["bodies"], row["contacts"]))
    for slow, fast in (("standard", "reduced"), ("standard", "structural")):
        yield _ratio_claim("largest stack", slow, fast, LARGEST_STACK[slow] / LARGEST_STACK[fast], largest)
    ratio = pegs[32]["QuantEcon over reduced"]
    yield Claim(
        "peg, 32 contacts: QuantEcon's time over that of reduced",
        f"at least {_FASTER_THAN_QUANTECON:.0f}",
        f"{ratio:.0f}",
        ratio >= _FASTER_THAN_QUANTECON,
        timed=True,
    )


def _ratio_claim(where, slow, fast, reference, row):
    ratio = row[f"{slow} us"] / row[f"{fast} us"]
    text = f"{where}: time of {slow} over {fast}"
    return Claim(text, f"{reference:.1f}", f"{ratio:.1f}", ratio >= reference, timed=True)


def _growth_claim(pegs):
    reference = PEG["reduced"][1] / PEG["reduced"][0]
    growth = pegs[32]["reduced us"] / pegs[8]["reduced us"]
    text = "peg: time of reduced at 32 contacts over that at 8"
    return Claim(text, f"{reference:.1f}", f"{growth:.1f}", growth <= reference, timed=True)


def _plot(rows, folder):
    """Time against contacts, the paper's Figures 5 to 8 and 10 in one."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(13, 4), sharey=True)
    groups = {
        "peg in hole": [row for row in rows if row["case"] == "peg in hole"],
        "single bodies": [row for row in rows if row["case"] in SINGLE_BODY_CASES],
        "stacks": [row for row in rows if row["case"] == "stack"],
    }
    for axis, (title, group) in zip(axes, groups.items(), strict=True):
        for who in METHODS:
            axis.loglog([row["contacts"] for row in group], [row[f"{who} us"] for row in group], "o", label=who)
        axis.set_title(title)
        axis.set_xlabel("contacts")
    axes[0].set_ylabel("time of a solve [us]")
    axes[0].legend()
    figure.tight_layout()
    figure.savefig(folder / "lloyd2004.png", dpi=120)
    pyplot.close(figure)
