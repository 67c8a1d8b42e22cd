"""Erleben 2013, section 7: Tables 1 and 2, Figures 2 to 6 and the study of over-determined systems.

Tolerances are the paper's: eq. 107 at 1e-3 on each method's own merit, eq. 108 at 1e-6, 100 iterations; all methods
start at x = 0, as its published code does. Its "relative convergence" (eq. 108) is ``stagnated`` here.
"""

from collections import Counter

import numpy as np

from cairn.solver_core.problem.problem import STRATEGIES, SolverOptions
from cairn.solver_core.solve import solve_lcp

from ._erleben_problems import CONTACTS, FLUIDS, moving_contacts, poisson
from .problems.synthetic_lcps import positive_definite_lcp, semidefinite_lcp
from .report import Claim, Report

RELATIVE, ABSOLUTE, LIMIT = 1e-6, 1e-3, 100
FLUID_SIZE, CONTACT_SIZE = 1000, 180
RELAXATION = 1.4
# Figure 2 follows the slow methods to the end.
RATE_LIMIT = 300

METHODS = {
    "Fischer": ("fischer_newton", {}),
    "Min. map": ("minmap_newton", {}),
    "PGS": ("pgs", {}),
    "PSOR": ("psor", {"relaxation": RELAXATION}),
}
NEWTON = ("Fischer", "Min. map")

# Table 2: mean, least, largest and standard deviation of the iterations; Table 1: 100 of 100 absolute for all of these.
PAPER = {
    ("fluid", "Fischer"): (5.00, 5, 5, 0.00),
    ("fluid", "Min. map"): (4.07, 3, 5, 0.29),
    ("fluid", "PGS"): (49.38, 9, 83, 17.48),
    ("fluid", "PSOR"): (25.29, 16, 35, 3.77),
    ("contact", "Fischer"): (14.54, 9, 26, 2.79),
}
# The problems that the claims are on; the others are in the table beside them.
CLAIMED = {"fluid": "Poisson, 7 points", "contact": "eq. 27, motion planted"}
BANDS, BLOCKS = "the paper's bands", "the paper's blocks"

LAMBDAS = np.round(np.arange(0.2, 1.9, 0.2), 1)
PAPER_LAMBDA = 1.4

ZERO_SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
NOTES = (
    "Fluid: ours is a 10 x 10 x 10 Poisson problem with a solution planted; the paper's code makes a random matrix of"
    " three bands (`the paper's bands`, rebuilt). Contact: ours is eq. 27 with B = J M^-1 J' of random bodies,"
    " singular, and a motion planted, degenerate where contacts stick; the paper's is a random positive definite B with"
    " mu, e and -e' in every block that is not zero (`the paper's blocks`, rebuilt). `Any pair planted` is harder than"
    " both: b belongs to no motion. Nothing is claimed there; the table shows how often the Newton methods fail.",
    "The paper does not print the start; its published code starts at x = 0. That code counts the test before the first"
    " Newton step as iteration 1, so that its Newton figures may be steps plus one; ours are steps.",
    "Min-map on contact: the paper's has no way out where A_aa is singular and ends as non-descent. Ours scales by the"
    " diagonal and goes on with A + eps I.",
    "Merits are each method's own: 1/2 |F|^2 for the Newton methods, x' |w| for PGS and PSOR (eq. 106).",
    "The study of over-determined systems has no figures in the paper, only words.",
)


def run(quick, plots) -> Report:
    """Run all studies; ``quick`` takes 10 problems where the paper has 100, and smaller sizes for the times."""
    count = 10 if quick else 100
    report = Report("erleben2013", [], [], list(NOTES))
    figures = {}
    for study in (tables, tight_contacts, rates, strategies, relaxations, times, warm_starts, zero_eigenvalues):
        rows, claims, figures[study.__name__] = study(count, quick)
        report.rows.extend(rows)
        report.claims.extend(claims)
    if plots:
        from ._erleben_plots import save_plots  # Matplotlib is in the bench extra only

        save_plots(plots, figures)
    return report


def solve(lcp, method, limit=LIMIT, relative=RELATIVE, absolute=ABSOLUTE, **more):
    """Solve by one of ``METHODS`` with the paper's criteria only."""
    name, own = METHODS[method]
    criteria = {"tolerance": 0.0, "decrease_tolerance": relative, "merit_tolerance": absolute, "max_iterations": limit}
    return solve_lcp(lcp, name, options=SolverOptions(**criteria | own | more))


def statistics(results) -> dict:
    """Final states and iterations of some results, as columns."""
    states = Counter(result.status.word for result in results)
    iterations = [result.iterations for result in results]
    return {
        "absolute": states.pop("converged_absolute", 0),
        "relative": states.pop("stagnated", 0),
        "other": ", ".join(f"{amount} {word}" for word, amount in sorted(states.items())),
        "mean": float(np.mean(iterations)),
        "min": min(iterations),
        "max": max(iterations),
        "std": float(np.std(iterations)),
    }


def tables(count, quick):
    """Tables 1 and 2: robustness and iterations."""
    rows = []
    for kind, problems, size, methods in (
        ("fluid", FLUIDS, FLUID_SIZE, METHODS),
        ("contact", CONTACTS, CONTACT_SIZE, NEWTON),
    ):
        for problem, make in problems.items():
            for method in methods:
                found = statistics([solve(make(size, seed), method) for seed in range(count)])
                paper = PAPER.get((kind, method), ("-",) * 4)
                row = {"table 1, 2": kind, "problem": problem, "method": method, "problems": count} | found
                rows.append(row | {"paper's mean": paper[0], "paper's max": paper[2]})
    claims = []
    for (kind, method), paper in PAPER.items():
        row = _row(rows, CLAIMED[kind], method)
        claims.append(Claim(f"{kind}: {method}, absolute of {count}", count, row["absolute"], row["absolute"] == count))
        claims.append(Claim(f"{kind}: {method}, mean iterations", paper[0], row["mean"], row["mean"] <= paper[0]))
    row = _row(rows, CLAIMED["contact"], "Min. map")
    ours = f"{row['absolute']} absolute" + (f", {row['other']}" if row["other"] else "")
    claims.append(
        Claim("contact: Min. map works (the paper's did not)", "100 non-descent", ours, row["absolute"] >= 0.9 * count)
    )
    for problem, kind, method in (
        (BLOCKS, "contact", "Fischer"),
        (BANDS, "fluid", "Fischer"),
        (BANDS, "fluid", "Min. map"),
    ):
        mean = _row(rows, problem, method)["mean"]
        paper = PAPER[kind, method][0]
        claims.append(Claim(f"{problem}: {method}, mean iterations", paper, mean, mean <= paper))
    for method in ("PGS", "PSOR"):
        mean, (paper, _, _, deviation) = _row(rows, BANDS, method)["mean"], PAPER["fluid", method]
        error = 3.0 * deviation * np.sqrt(1.0 / count + 1.0 / 100)
        name = f"{BANDS}: {method}, mean iterations, within three standard errors"
        claims.append(Claim(name, f"{paper} +- {error:.1f}", mean, abs(mean - paper) <= error))
    return rows, claims, {"fluid": poisson(FLUID_SIZE, 0), "contact": moving_contacts(CONTACT_SIZE, 0)}


def tight_contacts(count, quick):
    """Contacts again, to a natural map of 1e-9 |b|, and why the paper's min-map method ends: A_aa is singular."""
    rows, some = [], max(2, count // 5)
    for problem, make in CONTACTS.items():
        lcps = [make(CONTACT_SIZE, seed) for seed in range(some)]
        singular = sum(_starts_singular(lcp) for lcp in lcps)
        for method in NEWTON:
            results = [solve_lcp(lcp, METHODS[method][0], options=SolverOptions(tolerance=1e-9)) for lcp in lcps]
            states = Counter(result.status.word for result in results)
            row = {"contact, to 1e-9": problem, "method": method, "problems": some}
            row |= {"solved": states.pop("converged_relative", 0) + states.pop("converged_absolute", 0)}
            row |= {"other": ", ".join(f"{amount} {word}" for word, amount in sorted(states.items()))}
            row |= {"mean iterations": float(np.mean([result.iterations for result in results]))}
            row |= {"worst residual": max(result.residual for result in results), "first A_aa singular": singular}
            rows.append(row)
    return rows, [], None


def rates(count, quick):
    """Figure 2: how fast the merit falls, on 1,000 pressures and on 300 contact variables."""
    rows, curves = [], {"fluid": {}, "contact": {}}
    for kind, lcp, methods in (
        ("fluid", poisson(FLUID_SIZE, 0), METHODS),
        ("contact", moving_contacts(300, 0), NEWTON),
    ):
        for method in methods:
            name, own = METHODS[method]
            result = solve_lcp(lcp, name, options=SolverOptions(tolerance=1e-13, max_iterations=RATE_LIMIT, **own))
            merits = curves[kind][method] = result.merit_history
            gains = merits[:-1] / np.maximum(merits[1:], np.finfo(float).tiny)
            below = [_first_below(merits, level) for level in (1e-3, 1e-6, 1e-12)]
            rows.append(
                {"figure 2": kind, "method": method, "iterations": result.iterations, "state": result.status.word}
                | dict(zip(("to 1e-3", "to 1e-6", "to 1e-12"), below, strict=True))
                | {"residual": result.residual, "last gain": gains[-1], "median gain": float(np.median(gains[1:]))}
            )
    fluid = curves["fluid"]
    claims = []
    for method in NEWTON:
        gain = fluid[method][-3] / max(fluid[method][-1], np.finfo(float).tiny)
        claims.append(Claim(f"fluid: {method}, gain of the last two steps", ">= 1e8 (quadratic)", gain, gain >= 1e8))
    for method in ("PGS", "PSOR"):
        merits = np.log(fluid[method][5:])
        straight = float(np.corrcoef(np.arange(len(merits)), merits)[0, 1] ** 2)
        claims.append(Claim(f"fluid: {method}, R^2 of log merit over iterations", "linear", straight, straight > 0.99))
    needed = {row["method"]: row["to 1e-12"] for row in rows if row["figure 2"] == "fluid"}
    for method, slower, paper in (("PSOR", "PGS", "faster"), ("Min. map", "Fischer", "fewer iterations")):
        ours = f"{needed[method]} against {needed[slower]}"
        claims.append(
            Claim(f"fluid: {method} against {slower}, to 1e-12", paper, ours, needed[method] < needed[slower])
        )
    return rows, claims, curves


def strategies(count, quick):
    """Figure 3: the four elements of the generalised Jacobian."""
    rows, curves, needed = [], {"fluid": {}, "contact": {}}, {}
    for kind, make, size in (("fluid", poisson, FLUID_SIZE), ("contact", moving_contacts, CONTACT_SIZE)):
        for strategy in STRATEGIES:
            # GMRES on singular systems takes a second a problem
            seeds = range(count if strategy != "approximation" or kind == "fluid" else max(1, count // 10))
            found = [solve(make(size, seed), "Fischer", strategy=strategy) for seed in seeds]
            options = SolverOptions(tolerance=1e-13, max_iterations=30, strategy=strategy)
            curve = solve_lcp(make(size, 0), "fischer_newton", options=options)
            curves[kind][strategy] = curve.merit_history
            needed[kind, strategy] = np.array([result.iterations for result in found])
            row = {"figure 3": kind, "strategy": strategy, "problems": len(found)} | statistics(found)
            rows.append(row | {"residual after 30": curve.residual})
    claims = []
    spread = float(np.ptp([needed["fluid", strategy].mean() for strategy in STRATEGIES]))
    claims.append(Claim("fluid: strategies need alike iterations, spread of the means", "alike", spread, spread <= 0.5))
    other = np.minimum(needed["contact", "zero"], needed["contact", "random"])
    fewest = int(np.sum(needed["contact", "perturbation"] < other))
    name = f"contact: problems of {count} where perturbation needs fewest"
    claims.append(Claim(name, "at times", fewest, fewest > 0))
    left = max(
        row["residual after 30"] for row in rows if row["strategy"] == "approximation" and row["figure 3"] == "fluid"
    )
    claims.append(
        Claim("fluid: approximation is as accurate as the others, residual", "less accurate", left, left <= 1e-12)
    )
    return rows, claims, curves


def relaxations(count, quick):
    """Figure 4: PSOR's relaxation."""
    rows, curves = [], {}
    for problem, make in FLUIDS.items():
        for value in LAMBDAS:
            found = [
                solve(make(FLUID_SIZE, seed), "PSOR", limit=1000, relaxation=float(value)) for seed in range(count // 5)
            ]
            rows.append({"figure 4": problem, "lambda": value} | statistics(found))
            if make is poisson:
                options = SolverOptions(tolerance=0.0, max_iterations=50, relaxation=float(value))
                curves[value] = solve_lcp(make(FLUID_SIZE, 0), "psor", options=options).merit_history
    claims = []
    for problem in FLUIDS:
        best = min((row for row in rows if row["figure 4"] == problem), key=lambda row: row["mean"])["lambda"]
        claims.append(Claim(f"{problem}: best lambda", PAPER_LAMBDA, best, abs(best - PAPER_LAMBDA) <= 0.2 + 1e-9))
    return rows, claims, curves


def times(count, quick):
    """Figure 5: time of an iteration against size (the paper's: of ten), and of Lemke's whole solution."""
    repeats = 3 if quick else 5
    fluids = [side**3 for side in ((4, 6, 8, 10) if quick else (4, 6, 8, 10, 12, 14))]
    contacts = [60, 120, 240, 360, 480] if quick else [60, 120, 240, 360, 480, 720, 960]
    rows, curves = [], {"fluid": (fluids, {}), "contact": (contacts, {})}
    for kind, sizes, make, methods in (
        ("fluid", fluids, poisson, METHODS),
        ("contact", contacts, moving_contacts, (*NEWTON, "Lemke")),
    ):
        for method in methods:
            curves[kind][1][method] = []
        for size in sizes:
            lcp = make(size, 0)
            taken = {method: [] for method in methods}
            for _ in range(repeats + 1):  # the first round compiles, and is dropped
                for method in methods:
                    result = _within_ten_iterations(lcp, method)
                    if method == "Lemke":
                        pivots = result.iterations
                    taken[method].append(result.seconds if method == "Lemke" else result.seconds / result.iterations)
            for method in methods:
                curves[kind][1][method].append(float(np.median(taken[method][1:])))
            row = {"figure 5": kind, "n": size} | {
                f"{method} [ms]": 1e3 * curves[kind][1][method][-1] for method in methods
            }
            rows.append(row | ({"Lemke's pivots": pivots} if kind == "contact" else {}))
    larger = [row for row in rows if row["figure 5"] == "contact" and row["n"] >= 240]
    sizes = np.log([row["n"] for row in larger])
    time = np.polyfit(sizes, np.log([row["Lemke [ms]"] for row in larger]), 1)[0]
    work = 2.0 + np.polyfit(sizes, np.log([row["Lemke's pivots"] for row in larger]), 1)[0]
    claims = [
        Claim("contact: Lemke's exponent of time", "3 (cubic)", time, 2.0 <= time <= 3.5, timed=True),
        Claim("contact: Lemke's exponent of work, pivots times n^2", "3 (cubic)", work, 2.6 <= work <= 3.4),
    ]
    slowest = {method: curves["fluid"][1][method] for method in METHODS}
    for method in METHODS:
        exponent = np.polyfit(np.log(fluids[-3:]), np.log(slowest[method][-3:]), 1)[0]
        paper = "worse than linear" if method == "Fischer" else "-"
        claims.append(Claim(f"fluid: {method}'s exponent of time", paper, exponent, exponent < 3.0, timed=True))
    return rows, claims, curves


def warm_starts(count, quick):
    """Figure 6: ten sweeps of PGS before Newton, on dense positive definite problems of 100 variables."""
    rows, claims, bars = [], [], {}
    for absolute, paper in ((1e-2, True), (1e-8, False)):
        for method in NEWTON:
            for sweeps in (0, 10):
                results = [
                    solve(
                        positive_definite_lcp(100, seed).lcp, method, 30, RELATIVE, absolute, warm_start_sweeps=sweeps
                    )
                    for seed in range(count)
                ]
                bars[absolute, method, sweeps] = [result.iterations for result in results]
                rows.append(
                    {"figure 6": method, "absolute tolerance": absolute, "sweeps": sweeps} | statistics(results)
                )
            cold, warm = (np.mean(bars[absolute, method, sweeps]) for sweeps in (0, 10))
            if paper:
                claims.append(
                    Claim(
                        f"{method}: iterations with over without warm start", "<= 0.5", warm / cold, warm <= 0.5 * cold
                    )
                )
    return rows, claims, bars


def zero_eigenvalues(count, quick):
    """Over-determined systems: dense semidefinite problems of 100 variables with more and more zero eigenvalues."""
    rows, shares = [], {}
    for zero_share in ZERO_SHARES[:: 3 if quick else 1]:
        for method in METHODS:
            results = [
                solve(semidefinite_lcp(100, zero_share, seed).lcp, method, LIMIT, 1e-4, 1e-2) for seed in range(count)
            ]
            rows.append({"over-determined": method, "zero eigenvalues": zero_share} | statistics(results))
            shares.setdefault(method, []).append((zero_share, rows[-1]["absolute"] / count))
        few = max(1, count // 10)
        results = [
            solve(semidefinite_lcp(100, zero_share, seed).lcp, "Fischer", LIMIT, 1e-4, 1e-2, strategy="approximation")
            for seed in range(few)
        ]
        rows.append(
            {"over-determined": f"Fischer, approximation ({few})", "zero eigenvalues": zero_share} | statistics(results)
        )
    claims = []
    for method in NEWTON:
        least = min(share for _, share in shares[method])
        words = "trouble at large shares"
        claims.append(Claim(f"over-determined: {method}, least share of absolute", words, least, least == 1.0))
    return rows, claims, shares


def _within_ten_iterations(lcp, method):
    if method == "Lemke":
        return solve_lcp(lcp, "lemke")
    name, own = METHODS[method]
    return solve_lcp(lcp, name, options=SolverOptions(tolerance=1e-10, max_iterations=10, **own))


def _first_below(merits, level):
    """The first iteration whose merit is below ``level``; at the start x = 0 the merit x' |w| says nothing."""
    return 1 + int(np.argmax(merits[1:] < level)) if merits[1:].min() < level else len(merits)


def _starts_singular(lcp) -> bool:
    """Whether the first system of the min-map method is singular, at x = 0."""
    active = np.flatnonzero(lcp.b < 0.0)
    return np.linalg.matrix_rank(lcp.dense[np.ix_(active, active)]) < len(active)


def _row(rows, problem, method):
    return next(row for row in rows if (row["problem"], row["method"]) == (problem, method))
