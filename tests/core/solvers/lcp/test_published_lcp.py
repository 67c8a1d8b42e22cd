"""LCPs that others have published, by the pivoting methods: residuals of direct methods, and Murty's count of pivots.

The collection lies beside the repository, in ``shared/problems``, or where CAIRN_PROBLEMS says; without it these tests
are skipped.
"""

import os
from pathlib import Path

import numpy as np
import pytest

from cairn.solver_core.problem.problem import LCP, SolverOptions
from cairn.solver_core.solve import solve_lcp

FOLDER = Path(os.environ.get("CAIRN_PROBLEMS", Path(__file__).resolve().parents[5] / "shared" / "problems"))
SYMMETRIC = [
    "bowl.12.dynamics",
    "bowl.2.correction",
    "bowl.20.dynamics",
    "bowl.6.dynamics",
    "bowl.7.dynamics",
    "bowl.9.dynamics",
    "lcp_deudeu",
    "lcp_mmc",
    "lcp_trivial",
]
NAMES = [*SYMMETRIC, "lcp_exp_murty2", "lcp_ortiz"]

pytestmark = [
    pytest.mark.one_python,
    pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no published problems in {FOLDER.name}; see CAIRN_PROBLEMS"),
]


def load(name):
    with np.load(FOLDER / f"{name}.npz", allow_pickle=False) as data:
        return data["M"], data["q"]


def residual(M, q, z):
    """The collection's: |min(z, M z + q)| over max(1, |q|), infinity norms."""
    return np.max(np.abs(np.minimum(z, M @ z + q))) / max(1.0, np.max(np.abs(q)))


@pytest.mark.parametrize("name", NAMES)
def test_lemke_solves_all(name):
    """Ask for 1e-9 in the measure of the collection, and for the default tolerance of the method relative to |q|."""
    M, q = load(name)
    result = solve_lcp(LCP(M, q), "lemke")
    assert residual(M, q, result.x) <= 1e-9
    assert result.status.converged
    assert np.min(result.x) >= 0.0


@pytest.mark.parametrize("name", SYMMETRIC)
def test_dantzig_solves_the_symmetric_ones(name):
    """Ask for the same of Dantzig's method, and for the w that Lemke's found: it is unique, z is not."""
    M, q = load(name)
    result = solve_lcp(LCP(M, q), "dantzig")
    assert residual(M, q, result.x) <= 1e-9
    assert result.status.converged
    other = solve_lcp(LCP(M, q), "lemke").x
    # w = M z is unique for semi-definite M; its error grows with the square root of the error of complementarity
    np.testing.assert_allclose(M @ result.x, M @ other, atol=1e-5 * max(1.0, np.max(np.abs(q))))


def test_murty_takes_all_64_bases():
    """Count 2^6 pivots with the covering vector of ones that the example is made for."""
    M, q = load("lcp_exp_murty2")
    result = solve_lcp(LCP(M, q), "lemke", options=SolverOptions(covering_vector=np.ones(6)))
    assert result.iterations == 64
    assert residual(M, q, result.x) == 0.0
