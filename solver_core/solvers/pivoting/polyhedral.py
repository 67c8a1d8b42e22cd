"""The linear complementarity problem of contacts with polyhedral friction, with all its variables.

With u = W r + q on the rows n, t1, t2 of each contact, and K directions d_k = (cos, sin)(2 pi k / K) in its tangent
plane:

    r_n = theta,   r_t = sum_k phi_k d_k                                 impulses from the variables
    0 <= theta   complementary to   nu      = u_n                 >= 0
    0 <= phi_k   complementary to   sigma_k = d_k' u_t + lambda   >= 0
    0 <= lambda  complementary to   gamma   = mu theta - sum phi  >= 0

so that with T, which turns (theta, phi) into r, and E, which gives each direction its contact's lambda,

    A = [ T' W T   [0; E] ]      b = [ T' q ]      x = (theta [n], phi [n K], lambda [n])
        [ mu  -E'    0    ]          [  0   ]

Variables are grouped: first all theta, then the K phi of contact 0, of contact 1, and so on, at last all lambda; w has
the same order. A is copositive for W positive semi-definite; it is never symmetric, and singular from K = 4 on.

Source: Lloyd 2004, eq. 8; Erleben 2013, eq. 27.
"""

import numpy as np
import scipy  # its parts are loaded where they are first used

from ...problem.problem import LCP


def friction_directions(directions: int) -> np.ndarray:
    """Corners of the friction polygon: (cos, sin)(2 pi k / K).

    The second half is the first one negated, to the bit, so that opposite impulses cancel exactly.

    Parameters
    ----------
    directions : int
        K, even.

    Returns
    -------
    float64 [K, 2]
    """
    angle = 2.0 * np.pi * np.arange(directions // 2) / directions
    half = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.vstack([half, -half])


def polyhedral_lcp(W, q, mu, directions: int = 8) -> LCP:
    """The problem of contacts with an explicit W.

    Parameters
    ----------
    W : float64 or sparse [3 n, 3 n]
        Rows normal, tangent 1, tangent 2 of each contact in turn.
    q : float64 [3 n]
        u = W r + q.
    mu : float64 [n]
        Coefficients of friction.
    directions : int
        K, even, from 4 on.

    Returns
    -------
    LCP
        Of (2 + K) n variables; dense where W is an ndarray, else sparse.
    """
    mu = np.asarray(mu, float)
    contacts = len(mu)
    impulse_map = _impulse_map(contacts, directions)
    top = impulse_map.T @ W @ impulse_map
    share = _lambda_columns(contacts, directions)
    cone = scipy.sparse.csr_array(np.hstack([np.diag(mu), np.zeros((contacts, contacts * directions))])) - share.T
    # the corner of theta's rows in ``share`` is empty, so subtracting it leaves mu alone
    b = np.concatenate([impulse_map.T @ np.asarray(q, float), np.zeros(contacts)])
    if scipy.sparse.issparse(W):
        return LCP(scipy.sparse.block_array([[top, share], [cone, None]], format="csr"), b)
    return LCP(np.block([[top, share.toarray()], [cone.toarray(), np.zeros((contacts, contacts))]]), b)


def impulses_from_lcp(x, contacts: int, directions: int = 8) -> np.ndarray:
    """Impulses of the contacts' rows from the variables of ``polyhedral_lcp``.

    Parameters
    ----------
    x : float64 [(2 + K) n]
    contacts : int
        n.
    directions : int
        K.

    Returns
    -------
    float64 [3 n]
        [N s]; rows normal, tangent 1, tangent 2.
    """
    return _impulse_map(contacts, directions) @ np.asarray(x)[: contacts * (1 + directions)]


def delassus_of(problem):
    """W, q and mu of a contact problem on rows, all of whose blocks are contacts.

    Parameters
    ----------
    problem : ContactProblem

    Returns
    -------
    W : float64 [3 n, 3 n]
        [1/kg]
    q : float64 [3 n]
        [m/s]
    mu : float64 [n]
    """
    rows = problem.rows
    blocks, count = int(rows.count[0]), int(rows.count[1])
    block = np.repeat(np.arange(blocks), np.diff(rows.block_row[: blocks + 1]))
    columns = np.hstack(
        [6 * body[block][:, None] + np.arange(6) for body in (rows.body_a, rows.body_b)],
    ).ravel()
    place = (np.repeat(np.arange(count), 12), columns)
    shape = (count, problem.free_velocity.size)
    jacobian = scipy.sparse.csr_array((rows.jacobian[:count].ravel(), place), shape=shape)
    response = scipy.sparse.csr_array((rows.response[:count].ravel(), place), shape=shape)
    q = jacobian @ np.ravel(problem.free_velocity) + rows.bias[:count]
    return (jacobian @ response.T).toarray(), q, rows.friction[1:count:3].copy()


def _impulse_map(contacts, directions) -> "scipy.sparse.csr_array":
    """T: (theta, phi) -> r."""
    contact = np.arange(contacts)
    normal = scipy.sparse.csr_array((np.ones(contacts), (3 * contact, contact)), shape=(3 * contacts, contacts))
    corner = np.vstack([np.zeros((1, directions)), friction_directions(directions).T])
    tangential = scipy.sparse.kron(scipy.sparse.eye_array(contacts), corner)
    return scipy.sparse.csr_array(scipy.sparse.hstack([normal, tangential]))


def _lambda_columns(contacts, directions) -> "scipy.sparse.csr_array":
    """Columns of lambda in the rows of nu and sigma: no rows of nu, and E."""
    share = scipy.sparse.kron(scipy.sparse.eye_array(contacts), np.ones((directions, 1)))
    return scipy.sparse.csr_array(scipy.sparse.vstack([scipy.sparse.csr_array((contacts, contacts)), share]))
