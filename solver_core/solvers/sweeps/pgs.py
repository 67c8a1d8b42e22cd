"""Projected Gauss-Seidel and successive over-relaxation on contact problems, matrix-free.

Repeats one sweep over the rows until the natural map is below the tolerance. Over-relaxation takes every step of
Gauss-Seidel times a factor between 0 and 2 and projects then:

    r_i <- clip(r_i - relaxation u_i / W_ii, bounds).

Cost of an iteration: one sweep. Converges linearly, and slowly where long chains of bodies lean on each other (the
error travels one body a sweep). Ends with ``max_iterations`` then; ``failed`` only where the problem holds NaN or
infinity.

Source: Erleben 2013, sections 5.2 and 5.3; Silcowitz-Hansen et al. 2010, section 3.
"""

import functools

from ...compiled.kernel import kernel
from ..batches.sweep_workspace import allocate_sweep_workspace
from ..linear_algebra.explicit import solve_explicit
from ..registry import Method, register
from .iteration import sweep_until_solved

# Between Gauss-Seidel and where friction begins to cycle; see docs/solvers/psor.md.
_RELAXATION = 1.3


@kernel
def solve_pgs(rows, islands, island, free_velocity, velocity, workspace, settings):
    """Solve one island; ``settings.relaxation`` 1 is Gauss-Seidel.

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
    return sweep_until_solved(
        rows, islands, island, free_velocity, velocity, workspace, settings, settings.relaxation, 0.0
    )


register(
    Method(
        name="pgs",
        title="Projected Gauss-Seidel",
        kernel=solve_pgs,
        frictions=("box", "cone", "polyhedral"),
        max_iterations=1000,
        source="Erleben 2013, section 5.2",
        allocate=allocate_sweep_workspace,
        explicit=functools.partial(solve_explicit, conjugate=False),
        options={"directions": 8},
    )
)
register(
    Method(
        name="psor",
        title="Projected successive over-relaxation",
        kernel=solve_pgs,
        frictions=("box", "cone", "polyhedral"),
        max_iterations=1000,
        source="Erleben 2013, section 5.3",
        allocate=allocate_sweep_workspace,
        explicit=functools.partial(solve_explicit, conjugate=False),
        options={"relaxation": _RELAXATION, "directions": 8},
    )
)
