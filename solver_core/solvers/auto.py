"""The default method: the cascade of ``cascade.py``, with Newton's method (``alm_newton``) as its exact method.

An explicit W goes to Newton's method at once, which sweeps by itself where it gets no further (``alm_explicit``).
"""

from ..compiled.kernel import subkernel
from .cascade import allocate_cascade, cascade_solver
from .newton.alm_explicit import solve_alm_explicit
from .newton.alm_newton import solve_alm_newton
from .newton.alm_workspace import allocate_alm_workspace
from .policy import MOST_ITERATIONS
from .registry import Method, register

solve_auto = cascade_solver("solve_auto", solve_alm_newton)


@subkernel
def work_of_auto(workspace):
    """Visits of a contact that the factorisations of Newton's method would have paid for."""
    return workspace.exact.progress.work[0]


def _allocate(row_capacity, body_capacity, history=0):
    return allocate_cascade(allocate_alm_workspace, row_capacity, body_capacity, history)


register(
    Method(
        name="auto",
        title="Chosen island by island",
        kernel=solve_auto,
        frictions=("cone", "box", "polyhedral"),
        max_iterations=MOST_ITERATIONS,
        source="docs/solvers/auto.md",
        allocate=_allocate,
        explicit=solve_alm_explicit,
        work=work_of_auto,
        fallbacks=lambda workspace: workspace.fallbacks,
        carried=("memory",),
    )
)
