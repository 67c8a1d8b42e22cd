"""Accelerated modulus-based Gauss-Seidel and SOR on the boxed complementarity problem, matrix-free.

A modulus-based method writes impulse and speed of a row as the two parts of one free variable x: what lies within the
bounds is the impulse, what they cut off is the excess e, and stands for the speed,

    r = clip(x, bounds),   e = x - r,   u = -2 Omega e      at a solution.

Solving the splitting of W row by row with the newest values gives, with Omega = alpha diag(W) and the relaxation
lambda of amsor (1 in amgs),

    x <- r - step u / W_ii + memory e,      step = 2 / (1 / lambda + 2 alpha),
                                            memory = (1 / lambda - 2 alpha) / (1 / lambda + 2 alpha).

u comes from the bodies' velocities, which are kept up to date, so W is never formed: O(rows) a sweep, as pgs.
Every row has its own bounds, and a friction row's follow the normal impulse of the moment; as x is not cut, a friction
row whose bound grows again continues where it was. Start: e = 0.

With 2 alpha lambda = 1 the memory is 0 and the method is psor; amgs with alpha 1/2 (the paper's Omega = D/gamma) is
Gauss-Seidel itself. What is faster is alpha below 1/2, and without friction it converges there for a positive definite
W (docs/solvers/amgs.md; the proof of the paper's corollary 4.3 has a hole). With friction and a low alpha it may cycle.
Ends with ``max_iterations`` then; ``failed`` only where the problem holds NaN or infinity.

| paper | here | unit |
|---|---|---|
| lambda | ``rows.impulse`` | N s |
| x, with gamma = 2 | impulse + ``workspace.excess`` | N s |
| Omega | alpha diag(W) | 1/kg |
| A, q, v | W = J M^-1 J', never formed; u = J v + bias | m/s |

Source: Miyamoto and Yamashita 2019, methods 3.1 and 3.2. Method 3.2 is derived anew here: as printed it remembers what
the lower bound cuts off only, at 0, so x drifts without end at an upper bound.
"""

from ...compiled.kernel import kernel
from ..batches.sweep_workspace import allocate_sweep_workspace
from ..registry import Method, register
from .iteration import sweep_until_solved

# Steps of 1.25: see docs/solvers/amgs.md.
_ALPHA = 0.3
# amsor: the same step with less memory.
_ALPHA_OF_AMSOR = 0.35
_RELAXATION_OF_AMSOR = 1.1


@kernel
def solve_amgs(rows, islands, island, free_velocity, velocity, workspace, settings):
    """Solve one island; ``settings.relaxation`` 1 is amgs, another amsor.

    Parameters
    ----------
    rows, islands, island, free_velocity, velocity, settings
        As of every contact solver (``registry.Method``).
    workspace : SweepWorkspace

    Returns
    -------
    tuple
        (status, iterations, residual [m/s], scale [m/s], worst block).
    """
    inverse = 1.0 / settings.relaxation
    step = 2.0 / (inverse + 2.0 * settings.alpha)
    memory = (inverse - 2.0 * settings.alpha) / (inverse + 2.0 * settings.alpha)
    return sweep_until_solved(rows, islands, island, free_velocity, velocity, workspace, settings, step, memory)


register(
    Method(
        name="amgs",
        title="Accelerated modulus-based Gauss-Seidel",
        kernel=solve_amgs,
        frictions=("box",),
        max_iterations=1000,
        source="Miyamoto and Yamashita 2019, methods 3.1 and 3.2",
        allocate=allocate_sweep_workspace,
        options={"alpha": _ALPHA},
    )
)
register(
    Method(
        name="amsor",
        title="Accelerated modulus-based successive over-relaxation",
        kernel=solve_amgs,
        frictions=("box",),
        max_iterations=1000,
        source="Miyamoto and Yamashita 2019, section 2.3 and method 3.2",
        allocate=allocate_sweep_workspace,
        options={"alpha": _ALPHA_OF_AMSOR, "relaxation": _RELAXATION_OF_AMSOR},
    )
)
