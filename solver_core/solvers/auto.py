"""The default method: the cascade of ``cascade.py``, with Newton's method (``alm_newton``) as its exact method."""

from .cascade import allocate_cascade, cascade_solver
from .newton.alm_newton import solve_alm_newton
from .newton.alm_workspace import allocate_alm_workspace
from .registry import Method, register

solve_auto = cascade_solver("solve_auto", solve_alm_newton)


def _allocate(row_capacity, body_capacity, history=0):
    return allocate_cascade(allocate_alm_workspace, row_capacity, body_capacity, history)


register(
    Method(
        name="auto",
        title="Chosen island by island",
        kernel=solve_auto,
        frictions=("cone", "box", "polyhedral"),
        max_iterations=500,
        source="docs/solvers/auto.md",
        allocate=_allocate,
        fallbacks=lambda workspace: workspace.fallbacks,
        carried=("memory",),
    )
)
