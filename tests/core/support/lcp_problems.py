"""Random convex LCPs in all forms, and slow plain references of the sweeping methods on a dense A."""

import numpy as np
import scipy.sparse
from scipy.linalg import block_diag

from cairn.solver_core.problem.problem import LCP


def random_factors(rows, columns, seed, redundant=0):
    """J, M^-1 and b of a convex problem that has a solution.

    Half of the variables of a solution are zero, some of them with w = 0 too (degenerate). Where the last
    ``redundant`` rows repeat the first ones, b = J v, which has a solution whatever the rank.
    """
    rng = np.random.default_rng(seed)
    jacobian = rng.normal(size=(rows, columns)) * (rng.uniform(size=(rows, columns)) < 0.4)
    jacobian[np.arange(rows), np.arange(rows) % columns] += 2.0
    blocks = [rng.normal(size=(3, 3)) for _ in range((columns + 2) // 3)]
    inverse_mass = block_diag(*(block @ block.T + 0.5 * np.eye(3) for block in blocks))
    inverse_mass = inverse_mass[:columns, :columns]
    x = rng.uniform(0.5, 2.0, rows) * (rng.uniform(size=rows) < 0.5)
    w = rng.uniform(0.5, 2.0, rows) * (x == 0.0) * (rng.uniform(size=rows) < 0.8)
    if redundant:
        jacobian[-redundant:] = jacobian[:redundant]
        return jacobian, inverse_mass, jacobian @ rng.normal(size=columns)
    return jacobian, inverse_mass, w - jacobian @ inverse_mass @ jacobian.T @ x


def in_all_forms(jacobian, inverse_mass, b):
    """One problem as dense, as sparse and by its factors."""
    A = jacobian @ inverse_mass @ jacobian.T
    A = 0.5 * (A + A.T)
    return [LCP(A, b), LCP(scipy.sparse.csr_array(A), b), LCP.from_factors(jacobian, inverse_mass, b)]


def natural_map(A, b, x):
    """max |min(x, A x + b)|."""
    return np.max(np.abs(np.minimum(x, A @ x + b)))


def sweep_reference(A, b, x, relaxation=1.0):
    """One sweep of projected successive over-relaxation (Erleben 2013, eq. 59)."""
    x = x.copy()
    for row in range(len(b)):
        x[row] = max(0.0, x[row] - relaxation * (A[row] @ x + b[row]) / A[row, row])
    return x


def modulus_reference(A, b, x0, omega, gamma, relaxation, sweeps):
    """So many steps of the accelerated modulus-based iteration as Miyamoto and Yamashita write it (eq. 17).

    (M1 + gamma Omega) s' = N1 s + (gamma Omega - M2) |s| + N2 |s'| - gamma b, solved row by row, with
    M1 = D / relaxation - L, N1 = M1 - A, M2 = D - U, N2 = L and A = D - L - U.
    """
    D, L, U = np.diag(np.diag(A)), -np.tril(A, -1), -np.triu(A, 1)
    M1 = D / relaxation - L
    N1, M2 = M1 - A, D - U
    scaled = gamma * np.diag(omega)
    s = 0.5 * gamma * x0
    for _ in range(sweeps):
        right = N1 @ s + (scaled - M2) @ np.abs(s) - gamma * b
        left = M1 + scaled
        after = np.zeros_like(s)
        for row in range(len(b)):
            total = right[row] + L[row, :row] @ np.abs(after[:row]) - left[row, :row] @ after[:row]
            after[row] = total / left[row, row]
        s = after
    return (np.abs(s) + s) / gamma


def nncg_reference(A, b, x0, iterations, polak_ribiere=False):
    """The listing of Silcowitz-Hansen et al. 2010, section 4, with norms in diag(A)."""
    weights = np.diag(A)
    x, direction, last_merit, last_gradient = x0.copy(), np.zeros(len(b)), None, None
    for _ in range(iterations):
        swept = sweep_reference(A, b, x)
        gradient = x - swept
        merit = gradient @ (weights * gradient)
        if last_merit is None:
            x, direction = swept, -gradient
        elif merit > last_merit:
            x, direction = swept, np.zeros(len(b))
        else:
            beta = merit / last_merit
            if polak_ribiere:
                beta = max(0.0, gradient @ (weights * (gradient - last_gradient)) / last_merit)
            x = swept + beta * direction
            direction = beta * direction - gradient
        last_merit, last_gradient = merit, gradient
    return x
