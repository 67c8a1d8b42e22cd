"""``auto`` for polyhedral friction: the cascade with two exact methods, one for small islands, one for large ones.

Lemke's reduced method (``lemke_reduced``) ends at an exact solution after some pivots a contact, but its cost grows
with the cube of the active ones; Fischer-Newton's (``fischer_newton``) grows in proportion to the contacts, and gets an
explicit W at once.
"""

from typing import NamedTuple

from ..compiled.kernel import kernel
from .cascade import allocate_cascade, cascade_solver
from .fischer_newton.fischer_newton import solve_explicit, solve_fischer_newton
from .fischer_newton.fischer_state import allocate_fischer_workspace
from .pivoting.lemke_island import MAX_PIVOTS, LemkeIslandWorkspace, allocate_lemke_island
from .pivoting.lemke_reduced import solve_lemke_reduced
from .policy import MOST_BLOCKS_FOR_PIVOTS, MOST_ITERATIONS
from .registry import Method, register
from .shared.limits import with_limit

# Of the polygon.
_DIRECTIONS = 8


class PolyhedralWorkspace(NamedTuple):
    """Room for both methods.

    Attributes
    ----------
    pivots : LemkeIslandWorkspace
    newton : workspace of ``solve_fischer_newton``
    """

    pivots: LemkeIslandWorkspace
    newton: tuple


@kernel
def solve_by_size(rows, islands, island, free_velocity, velocity, workspace, settings):
    """Solve one island by pivots or, if it is larger, by Newton's method.

    Parameters
    ----------
    rows, islands, island, free_velocity, velocity, settings
        As of every contact solver.
    workspace : PolyhedralWorkspace

    Returns
    -------
    tuple
        (status, pivots or steps, residual [m/s], scale [m/s], worst block).
    """
    if islands.block_first[island + 1] - islands.block_first[island] <= MOST_BLOCKS_FOR_PIVOTS:
        return solve_lemke_reduced(
            rows, islands, island, free_velocity, velocity, workspace.pivots, with_limit(settings, MAX_PIVOTS)
        )
    return solve_fischer_newton(rows, islands, island, free_velocity, velocity, workspace.newton, settings)


solve_auto_polyhedral = cascade_solver("solve_auto_polyhedral", solve_by_size)


def _allocate_both(row_capacity, body_capacity, history):
    return PolyhedralWorkspace(
        allocate_lemke_island(row_capacity, body_capacity, history),
        allocate_fischer_workspace(row_capacity, body_capacity, history),
    )


def _allocate(row_capacity, body_capacity, history=0):
    return allocate_cascade(_allocate_both, row_capacity, body_capacity, history)


register(
    Method(
        name="auto",
        title="Chosen island by island",
        kernel=solve_auto_polyhedral,
        frictions=("polyhedral",),
        max_iterations=MOST_ITERATIONS,
        source="docs/solvers/auto.md",
        options={"directions": _DIRECTIONS},
        allocate=_allocate,
        explicit=solve_explicit,
        fallbacks=lambda workspace: workspace.fallbacks,
        carried=("memory",),
    ),
    variant="polyhedral",
)
