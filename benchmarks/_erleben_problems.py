"""Random LCPs as Erleben 2013's published code (num4lcp, 2011) describes them, beside our own synthetic ones.

They differ from ``synthetic_lcps`` in three ways:

- b = -A x where the drawn x is positive and 0 elsewhere. There w = A x is mostly negative on fluid matrices, so that
  x is mostly not a solution; what the solution is, nobody knows beforehand.
- "Fluid": not a Laplacian but a matrix with three random negative bands beside the diagonal, shifted until its least
  eigenvalue is 1/2 where it was not positive.
- "Contact": B is any symmetric positive definite matrix of random blocks; mu, e and -e' stand in every block that is
  not zero, also beside the diagonal.
"""

import numpy as np
import scipy.linalg
import scipy.sparse

from cairn.solver_core.problem.problem import LCP

from .problems.synthetic_lcps import CONTACT_ROWS, contact_lcp, contact_matrix, fluid_lcp, plant_solution

BANDS = 3
LEAST_EIGENVALUE = 0.5
BLOCK_FILL = 0.5
ZERO_SHARE = 0.25
FRICTION = 0.5


def paper_fluid(n, seed) -> LCP:
    """The paper's fluid problem of n variables."""
    rng = np.random.default_rng(seed)
    bands = -rng.random(BANDS)
    upper = np.zeros((BANDS + 1, n))
    upper[-1] = 1.0
    for band in range(BANDS):
        upper[BANDS - 1 - band, band + 1 :] = bands[band]
    least = scipy.linalg.eigvals_banded(upper, select="i", select_range=(0, 0))[0]
    diagonal = 1.0 if least > 0.0 else 1.0 + LEAST_EIGENVALUE - least
    offsets = np.arange(1, BANDS + 1)
    A = scipy.sparse.diags_array(
        [diagonal, *bands, *bands], offsets=[0, *offsets, *-offsets], shape=(n, n), dtype=float
    )
    return paper_lcp(scipy.sparse.csr_array(A), rng)


def paper_contact(contacts, seed) -> LCP:
    """The paper's contact problem of six variables a contact."""
    rng = np.random.default_rng(seed)
    n = CONTACT_ROWS * contacts
    A = rng.random((n, n))
    A = 0.5 * (A + A.T)
    centre = CONTACT_ROWS * np.arange(contacts) + CONTACT_ROWS // 2
    kept = A[np.ix_(centre, centre)] <= BLOCK_FILL
    A *= np.kron(kept, np.ones((CONTACT_ROWS, CONTACT_ROWS)))
    least = np.linalg.eigvalsh(A)[0]
    if least <= 0.0:
        A += (LEAST_EIGENVALUE - least) * np.eye(n)
    blocks = A.reshape(contacts, CONTACT_ROWS, contacts, CONTACT_ROWS)
    for row, column in zip(*np.nonzero(blocks[:, 0, :, 0]), strict=True):
        blocks[row, 5, column, :] = [FRICTION, -1.0, -1.0, -1.0, -1.0, 0.0]
        blocks[row, :, column, 5] = [0.0, 1.0, 1.0, 1.0, 1.0, 0.0]
    return paper_lcp(A, rng)


def paper_lcp(A, rng) -> LCP:
    """b = -A x where x > 0, else 0; x uniform, zero below ``ZERO_SHARE``."""
    x = rng.random(A.shape[0])
    x[x < ZERO_SHARE] = 0.0
    return LCP(A, np.where(x > 0.0, -(A @ x), 0.0))


def poisson(n, seed) -> LCP:
    """Our fluid problem, on a cube of n cells."""
    side = round(n ** (1.0 / 3.0))
    return fluid_lcp((side, side, side), seed, ZERO_SHARE).lcp


def moving_contacts(n, seed) -> LCP:
    """Our contact problem: eq. 27 of random bodies with a motion planted."""
    return contact_lcp(n // CONTACT_ROWS, seed, FRICTION).lcp


def arbitrary_contacts(n, seed) -> LCP:
    """The same matrix with any complementary pair planted."""
    rng = np.random.default_rng(seed)
    return plant_solution(contact_matrix(n // CONTACT_ROWS, rng, FRICTION), rng, ZERO_SHARE).lcp


# name in the tables -> (n, seed) -> LCP
FLUIDS = {"Poisson, 7 points": poisson, "the paper's bands": paper_fluid}
CONTACTS = {
    "eq. 27, motion planted": moving_contacts,
    "eq. 27, any pair planted": arbitrary_contacts,
    "the paper's blocks": lambda n, seed: paper_contact(n // CONTACT_ROWS, seed),
}
