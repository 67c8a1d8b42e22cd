"""Lemke's method on contacts that begins without friction: the fewest pivots of the three.

    nu = u_n = W_nn theta + b_n >= 0,   theta >= 0,   nu' theta = 0        to begin with

As ``lemke_structural``, with one change: sigma, gamma, phi and lambda of a contact are not there until its theta is
about to enter. A contact that bears nothing has no friction, whatever its slip, so the solution is one of the whole
problem; of the lambda of such contacts, one for each that slips, none has to enter.

When friction joins, z0 > 0 and phi = lambda = 0. c_sigma = max(1, -2 min_j d_j' u_t / z0) and c_gamma = 1 make the new
sigma and gamma positive, so the basis goes on to be feasible (appendix D), and every later pivot is one of Lemke's
method on the enlarged problem with this c. Friction joins at most once a contact, so the path stays finite.

Lloyd lets friction join after the pivot at which theta entered. Here it joins before, because that pivot may be the one
at which z0 leaves: then the path would end with a contact that bears weight without friction.

Cost of a pivot: as ``lemke_structural``; pivots: some multiple of the active contacts, O(m), so O(n m + m^3) in all.
Statuses: as ``lemke_structural``. The enlarged path may end on a ray where the whole problem has a solution; then the
whole problem is solved with all friction from the start.

Source: Lloyd 2004, section 5.3 and appendix D.
"""

from ..registry import Method, register
from .explicit_lemke import solve_explicit_along_path
from .lemke_island import MAX_PIVOTS, allocate_lemke_island, island_solver

solve_lemke_reduced = island_solver("solve_lemke_reduced", 1)


def _solve_explicit(delassus, start, friction, options):
    return solve_explicit_along_path(delassus, start, friction, options, 1)


register(
    Method(
        name="lemke_reduced",
        title="Lemke's method, friction as contacts become active",
        kernel=solve_lemke_reduced,
        frictions=("polyhedral",),
        max_iterations=MAX_PIVOTS,
        source="Lloyd 2004, section 5.3 and appendix D",
        options={"directions": 8},
        allocate=allocate_lemke_island,
        explicit=_solve_explicit,
    )
)
