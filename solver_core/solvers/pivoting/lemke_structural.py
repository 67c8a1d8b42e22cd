"""Lemke's method on contacts with polyhedral friction, by the structure of the problem: never larger than 6 m + 1.

    nu    = u_n                  >= 0   complementary to   theta  >= 0
    sigma = D' u_t + E lambda    >= 0   complementary to   phi    >= 0        u = W (theta, phi) + b
    gamma = mu theta - E' phi    >= 0   complementary to   lambda >= 0

1. z0 enters with the covering vector c = 1 in units where every contact has W_nn = 1 (``lemke_path``).
2. The complement of what left enters; its column comes from a matrix K of at most 6 m + 1 rows for m bodies, whose
   inverse follows each pivot (``almost_complementary``), and from one pricing of velocities on all contacts.
3. What falls to zero first leaves; ties are decided by a random perturbation that is infinitely small.
4. z0 left: the last basis is solved anew, corrected by its own residual, and judged by the natural map.

Bilateral rows are eliminated before; motors and limits are pairs of their own (``polyhedral_groups``).

Cost of a pivot: O(n K + s^2), s <= 6 m + 1 rows of K; pivots: some n (2 + K) / 2. Memory: O(6 m (rows + 6 m)).
Statuses: ``ray_termination``: the path ended on a ray, and so did those after it, with other noise and c; for contacts
the problem is then infeasible (bodies squeezed between driven ones) or so near it that doubles cannot tell.
``round_off``: a basis was spoilt, or the last one does not reach the tolerance. ``capacity``: an island that would need
more than ``lemke_island.MOST_DOUBLES``; nothing was done. ``max_iterations``. All but capacity leave the better of the
start and of what was found. An iteration is a pivot; a start that solves the problem is returned, and not used
otherwise.

Source: Lloyd 2004, sections 4, 5.1, 5.2 and appendix A.
"""

from ..registry import Method, register
from .explicit_lemke import solve_explicit_along_path
from .lemke_island import MAX_PIVOTS, allocate_lemke_island, island_solver

solve_lemke_structural = island_solver("solve_lemke_structural", 0)


def _solve_explicit(delassus, start, friction, options):
    return solve_explicit_along_path(delassus, start, friction, options, 0)


register(
    Method(
        name="lemke_structural",
        title="Lemke's method by the structure of contacts",
        kernel=solve_lemke_structural,
        frictions=("polyhedral",),
        max_iterations=MAX_PIVOTS,
        source="Lloyd 2004, section 5.1 and appendix A",
        options={"directions": 8},
        allocate=allocate_lemke_island,
        explicit=_solve_explicit,
    )
)
