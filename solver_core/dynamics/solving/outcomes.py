"""How the solves of an island ended, for the report."""

from ...compiled.kernel import subkernel
from ...compiled.views import numbers_of
from ...problem.problem import CONVERGED_RELATIVE
from ..islands.memory import note_swept
from .strategies import JOINTS_EXACT


@subkernel(inline=True)
def forget_outcome(solves, island):
    """Begin to solve an island.

    Parameters
    ----------
    solves : IslandSolveArrays
        Written.
    island : int64
    """
    solves.iterations[island] = solves.missed[island] = solves.in_small_steps[island] = 0
    solves.worst_a[island] = solves.worst_b[island] = -1
    solves.residual[island] = 0.0


@subkernel(inline=True)
def note_outcome(solves, island, rows, outcome, least_scale):
    """Add one solver call's outcome to the island's.

    Parameters
    ----------
    solves : IslandSolveArrays
        Written.
    island : int64
    rows : RowArrays
        Read.
    outcome : tuple
        Of ``strategies.pursue``.
    least_scale : float
        What gravity gives in a substep [m/s]: where all separates the problem's own scale is that of rounding.
    """
    status, iterations, residual, scale, worst_block = outcome
    solves.iterations[island] += iterations
    if status > CONVERGED_RELATIVE:
        solves.missed[island] += 1
    scale = max(scale, least_scale)
    relative = residual / scale if scale > 0.0 else residual
    if worst_block >= 0 and not relative <= solves.residual[island]:
        solves.residual[island] = relative
        solves.worst_a[island], solves.worst_b[island] = rows.body_a[worst_block], rows.body_b[worst_block]


@subkernel
def note_jointed(members, rows, islands, island, strategy, outcome):
    """The same for an island with joints.

    Parameters
    ----------
    members : StepMembers
        Written: solves, and what bodies remember.
    rows, islands, island
        Read.
    strategy, outcome
        Of ``verdicts.solve_by_plan``.
    """
    solves, step = members.solves, numbers_of(members.settings.step)
    if strategy == JOINTS_EXACT:
        # sweeps aim at no tolerance, so they miss none
        solves.iterations[island] += outcome[1]
        solves.in_small_steps[island] = 1
        note_swept(islands, island, members.motion.memory)
        return
    note_outcome(solves, island, rows, outcome, step.gravity_norm * step.h)
