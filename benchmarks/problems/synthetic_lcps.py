"""Synthetic linear complementarity problems, seeded, with a known solution (Erleben 2013, sections 4 and 7).

Every problem is planted: complementary x >= 0 and s >= 0 are chosen, then

    b = s - A x,    so that    w = A x + b = s,    x' s = 0,

whatever A is. Where A is positive definite, x is the only solution; else it is one of perhaps many.

    fluid                A = negated Laplacian on a grid, 7 points, zero pressure outside       (section 4.2)
    contact              A = [ B_nn  B_nt  0 ]    a block of 6 rows for each contact             (eq. 27)
                             [ B_tn  B_tt  e ]
                             [ mu   -e'    0 ]
    positive definite    A = Q diag(d) Q', d from 1/n to 1
    semidefinite         the same, the smallest d replaced by zeros
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse

from cairn.solver_core.problem.problem import LCP

# Rows of a contact in the contact matrix: the normal, four tangents (t1, t2, -t1, -t2), and the slip speed beta.
CONTACT_ROWS = 6
_TANGENTS = slice(1, 5)
_SLIP = 5


class SyntheticLcp(NamedTuple):
    """A problem and the solution that was planted in it.

    Attributes
    ----------
    lcp : LCP
    solution : float64 [n]
        x.
    slack : float64 [n]
        w at x.
    """

    lcp: LCP
    solution: np.ndarray
    slack: np.ndarray


def plant_solution(A, rng, zero_share=0.25, degenerate_share=0.0) -> SyntheticLcp:
    """Give A the vector b that makes a random complementary pair a solution.

    Parameters
    ----------
    A : ndarray or sparse [n, n]
    rng : numpy.random.Generator
    zero_share : float
        Part of the variables that are zero with a positive slack; both uniform in (0, 1).
    degenerate_share : float
        Part of them that are zero with zero slack.
    """
    n = A.shape[0]
    drawn = rng.random(n)
    solution, slack = 1.0 - rng.random(n), 1.0 - rng.random(n)
    solution[drawn < zero_share + degenerate_share] = 0.0
    slack[drawn >= zero_share] = 0.0
    return SyntheticLcp(LCP(A, slack - A @ solution), solution, slack)


def fluid_lcp(grid=(10, 10, 10), seed=0, zero_share=0.25) -> SyntheticLcp:
    """Pressures of a fluid that may leave its walls: a Poisson problem with p >= 0.

    Parameters
    ----------
    grid : tuple of int
        Cells along x, y and z; n is their product.
    seed : int
    zero_share : float
        See ``plant_solution``.
    """
    return plant_solution(fluid_matrix(grid), np.random.default_rng(seed), zero_share)


def fluid_matrix(grid) -> scipy.sparse.csr_array:
    """-h^2 Laplacian on cells with zero pressure outside: 6 on the diagonal, -1 for each neighbour (eq. 32)."""
    sizes = [scipy.sparse.eye_array(cells) for cells in grid]
    total = None
    for axis, cells in enumerate(grid):
        line = scipy.sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(cells, cells))
        term = scipy.sparse.eye_array(1)
        for other, unit in enumerate(sizes):
            term = scipy.sparse.kron(term, line if other == axis else unit)
        total = term if total is None else total + term
    return scipy.sparse.csr_array(total)


def positive_definite_lcp(n=100, seed=0, zero_share=0.25) -> SyntheticLcp:
    """A dense problem whose eigenvalues are 1/n, 2/n, ..., 1 (condition n)."""
    return semidefinite_lcp(n, 0.0, seed, zero_share)


def semidefinite_lcp(n=100, zero_eigenvalues=0.5, seed=0, zero_share=0.25) -> SyntheticLcp:
    """A dense problem with eigenvalues k/n, the smallest ``zero_eigenvalues`` (a share) of them set to zero."""
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.standard_normal((n, n)))
    eigenvalues = np.arange(1, n + 1) / n
    eigenvalues[: int(n * zero_eigenvalues)] = 0.0
    A = (basis * eigenvalues) @ basis.T
    return plant_solution(0.5 * (A + A.T), rng, zero_share)


def contact_lcp(contacts=30, seed=0, friction=0.5, open_share=0.25, stick_share=0.25) -> SyntheticLcp:
    """Contacts of random bodies of which some open, some stick and the others slip.

    The planted pair is a motion: b is opposite for opposite tangents and zero for the slip rows. As in true contact
    problems the solution is not unique, and degenerate where a contact sticks. ``plant_solution`` on
    ``contact_matrix`` gives problems without these, and without a meaning.

    Parameters
    ----------
    contacts : int
        n is six times as many.
    seed : int
    friction : float
        mu.
    open_share, stick_share : float
        Parts of the contacts; the others slip.
    """
    rng = np.random.default_rng(seed)
    A = contact_matrix(contacts, rng, friction)
    impulse, slack = np.zeros((contacts, CONTACT_ROWS)), np.zeros((contacts, CONTACT_ROWS))
    drawn = rng.random(contacts)
    for contact in range(contacts):
        if drawn[contact] < open_share:
            _plant_open(impulse[contact], slack[contact], rng)
        elif drawn[contact] < open_share + stick_share:
            _plant_sticking(impulse[contact], slack[contact], friction, rng)
        else:
            _plant_slipping(impulse[contact], slack[contact], friction, rng)
    b = (slack.ravel() - A @ impulse.ravel()).reshape(contacts, CONTACT_ROWS)
    b[:, _SLIP] = 0.0
    return SyntheticLcp(LCP(A, b.ravel()), impulse.ravel(), slack.ravel())


def contact_matrix(contacts, rng, friction=0.5) -> scipy.sparse.csr_array:
    """The matrix of eq. 27 for random contacts between random bodies, and with the ground, contact by contact.

    B = J M^-1 J' has two opposite rows for each tangent and more rows than the bodies have freedoms, so that it is
    semidefinite only.
    """
    bodies = max(1, contacts // 3)
    row, column, value = [], [], []
    for contact in range(contacts):
        frame, _ = np.linalg.qr(rng.standard_normal((3, 3)))
        directions = np.vstack([frame[0], frame[1], frame[2], -frame[1], -frame[2]])
        pair = rng.choice(bodies, size=min(2, bodies), replace=False)
        if rng.random() < _GROUND_SHARE:
            pair = pair[:1]
        for sign, body in zip((1.0, -1.0), pair, strict=False):
            arm = rng.uniform(-0.5, 0.5, 3)
            block = sign * np.hstack([directions, np.cross(arm, directions)])
            rows, columns = np.indices(block.shape)
            row.append((rows + CONTACT_ROWS * contact).ravel())
            column.append((columns + 6 * body).ravel())
            value.append(block.ravel())
    n = CONTACT_ROWS * contacts
    entries = (np.concatenate(value), (np.concatenate(row), np.concatenate(column)))
    jacobian = scipy.sparse.csr_array(entries, shape=(n, 6 * bodies))
    inverse_mass = scipy.sparse.diags_array(np.tile([1.0] * 3 + [_INVERSE_INERTIA] * 3, bodies))
    coupling = np.zeros((CONTACT_ROWS, CONTACT_ROWS))
    coupling[_TANGENTS, _SLIP] = 1.0
    coupling[_SLIP, 0], coupling[_SLIP, _TANGENTS] = friction, -1.0
    return scipy.sparse.csr_array(
        jacobian @ inverse_mass @ jacobian.T + scipy.sparse.kron(scipy.sparse.eye_array(contacts), coupling)
    )


# Bodies of the contact problems are cubes of mass 1 and side 1; this share of the contacts is with the ground.
_INVERSE_INERTIA = 6.0
_GROUND_SHARE = 0.3


def _plant_open(impulse, slack, rng):
    """No impulse; beta above every tangential speed."""
    normal_speed, slip = 1.0 - rng.random(2)
    tangential = rng.uniform(-slip, slip, 2)
    impulse[_SLIP] = slip
    slack[0] = normal_speed
    slack[_TANGENTS] = slip + np.concatenate([tangential, -tangential])


def _plant_sticking(impulse, slack, friction, rng):
    """No velocity; friction inside the polygon, along two neighbouring tangents."""
    impulse[0] = 1.0 - rng.random()
    first = rng.integers(4)
    along = 1 + np.array([first, (first + 1) % 4])
    impulse[along] = 0.5 * friction * impulse[0] * rng.random(2)
    slack[_SLIP] = friction * impulse[0] - impulse[along].sum()


def _plant_slipping(impulse, slack, friction, rng):
    """Friction at its bound along the one tangent that opposes the slip most; beta is the speed along it."""
    impulse[0], impulse[_SLIP] = 1.0 - rng.random(2)
    along = rng.integers(4)
    impulse[1 + along] = friction * impulse[0]
    across = impulse[_SLIP] * rng.uniform(-1.0, 1.0)
    slip = np.zeros(4)
    slip[along], slip[(along + 2) % 4] = -impulse[_SLIP], impulse[_SLIP]
    slip[(along + 1) % 4], slip[(along + 3) % 4] = across, -across
    slack[_TANGENTS] = impulse[_SLIP] + slip
    slack[1 + along] = 0.0
