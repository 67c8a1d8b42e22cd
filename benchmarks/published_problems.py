"""Problems that others have published, by every method: residual in the measure of the collection, iterations, time.

The collection is a folder of NumPy archives with a README that tells its format and where the problems come from. It
is looked for beside the repository, in ``shared/problems``, or where CAIRN_PROBLEMS says.
"""

import os
from pathlib import Path
from time import perf_counter

import numpy as np
import scipy.sparse

from cairn.solver_core.problem.problem import LCP, ContactProblem, ProblemError, SolverOptions
from cairn.solver_core.problem.residuals import cone_natural_map
from cairn.solver_core.solve import solve_contacts, solve_lcp
from cairn.solver_core.solvers.registry import LCP_METHODS, METHODS, find_method

from .report import Claim, Report

FOLDER = Path(os.environ.get("CAIRN_PROBLEMS", Path(__file__).resolve().parents[2] / "shared" / "problems"))
# Tight, so that the residual of the collection, which is measured otherwise, has room.
_TOLERANCE = 1e-13
_MOST_SWEEPS, _MOST_SWEEPS_QUICK = 20_000, 2_000
_SWEEPING = ("jacobi", "pgs", "psor", "nncg", "amgs", "amsor")
# Methods that hold a dense basis: on the two largest problems, 276 and 356 contacts, ``lemke`` takes some 1,030 pivots
# of 10 ms each on matrices of up to 0.4 GB, so the quick run leaves them out.
_DIRECT = ("lemke", "lemke_structural", "lemke_reduced")
_MOST_CONTACTS_DIRECT_QUICK = 100

# what is asked: (claim, kind, methods of which one suffices on each problem, residual)
CLAIMS = (
    ("Coulomb friction by nncg or pgs, cone residual", "cone", ("nncg", "pgs"), 1e-6),
    ("Coulomb friction by nncg alone, cone residual", "cone", ("nncg",), 1e-6),
    ("Coulomb friction by alm_newton, cone residual", "cone", ("alm_newton",), 1e-10),
    *(
        (f"polyhedral friction by {method}, its own residual", "polyhedral", (method,), 1e-8)
        for method in (*_DIRECT, "fischer_newton")
    ),
    ("LCPs by lemke, natural map", "lcp", ("lemke",), 1e-9),
)


def run(quick, plots) -> Report:
    """Solve every problem by every method that takes it; ``quick`` allows fewer sweeps."""
    most_sweeps = _MOST_SWEEPS_QUICK if quick else _MOST_SWEEPS
    problems = []
    for path in sorted(FOLDER.glob("*.npz")):
        with np.load(path, allow_pickle=False) as archive:
            data = dict(archive)
        problems.append((_lcp_rows if str(data["kind"]) == "lcp" else _contact_rows, path.stem, data))
    started = perf_counter()
    for solve_all in (_lcp_rows, _contact_rows):
        mine = [(len(data["q"]), name, data) for kind, name, data in problems if kind is solve_all]
        for _, name, data in sorted(mine, key=lambda problem: problem[0])[:1]:
            list(solve_all(name, data, most_sweeps))
    compiling = perf_counter() - started
    rows = []
    for solve_all, name, data in problems:
        without = _DIRECT if quick and len(data.get("mu", ())) > _MOST_CONTACTS_DIRECT_QUICK else ()
        rows.extend(solve_all(name, data, most_sweeps, without))
    notes = [
        "Iterations are sweeps, pivots or Newton steps.",
        f"Compiling, or loading from the cache, took {compiling:.1f} s and is in no row.",
    ]
    if quick:
        notes.append(f"Methods with a dense basis are left out above {_MOST_CONTACTS_DIRECT_QUICK} contacts.")
    if not rows:
        notes = [f"There are no problems in {FOLDER.name!r}; CAIRN_PROBLEMS names the folder."]
    return Report(name="published_problems", rows=rows, claims=list(_claims(rows)), notes=notes)


def _contact_rows(name, data, most_sweeps, without=()):
    """Rows of a contact problem, one a method and model of friction; not of the methods ``without``."""
    shape = tuple(data["shape"])
    W = scipy.sparse.csr_array((data["W_data"], data["W_indices"], data["W_indptr"]), shape=shape)
    problem = ContactProblem.from_delassus(W, data["q"], data["mu"])
    for method in METHODS:
        solver = find_method(method)
        if solver.explicit is None or method in without:
            continue
        options = SolverOptions(tolerance=_TOLERANCE, max_iterations=most_sweeps if method in _SWEEPING else None)
        for friction in solver.frictions:
            if friction == "box":
                continue  # its solutions depend on the directions of the tangents
            result = solve_contacts(problem, method, friction, options=options)
            residual = cone_natural_map(problem.delassus, result.r) if friction == "cone" else result.residual
            yield _row(name, friction, shape[0], method, result, residual)


def _lcp_rows(name, data, most_sweeps, without=()):
    """Rows of a plain LCP, one a method; not of the methods ``without``."""
    matrix, q = data["M"], data["q"]
    problem = LCP(matrix, q)
    for method in LCP_METHODS:
        if method in without:
            continue
        limit = most_sweeps if method in _SWEEPING else None
        try:
            result = solve_lcp(problem, method, options=SolverOptions(tolerance=_TOLERANCE, max_iterations=limit))
        except ProblemError:
            continue  # not of a class that this method solves
        residual = np.max(np.abs(np.minimum(result.x, matrix @ result.x + q))) / max(1.0, np.max(np.abs(q)))
        yield _row(name, "lcp", len(q), method, result, residual)


def _row(name, kind, size, method, result, residual):
    return {
        "problem": name,
        "kind": kind,
        "rows": size,
        "method": method,
        "status": result.status.word,
        "iterations": result.iterations,
        "residual": float(residual),
        "ms": 1e3 * result.seconds,
    }


def _claims(rows):
    for claim, kind, methods, allowed in CLAIMS:
        best = {}
        for row in rows:
            if row["kind"] == kind and row["method"] in methods:
                best[row["problem"]] = min(best.get(row["problem"], np.inf), row["residual"])
        if best:
            worst = max(best, key=best.get)
            reference = f"{allowed:g} on all {len(best)}"
            yield Claim(claim, reference, f"{best[worst]:.1e} at worst ({worst})", best[worst] <= allowed)
