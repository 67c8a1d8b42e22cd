"""What an outcome is worth, and what follows from it: the plan's second strategy, or nothing.

| verdict                           | what follows                                                              |
|-----------------------------------|---------------------------------------------------------------------------|
| FINE: the tolerance is reached    |                                                                           |
| ROUGH: none was aimed at          |                                                                           |
| MISSED: it is not reached         | the second strategy if it is SMALL_STEPS; another solve is no better      |
| WORSE than no impulses: far more  | the second strategy; or EXACT once more, from nothing: where a body is    |
| speed, or energy, or no numbers   | pinched by what is driven there is no solution, and impulses grow         |
"""

import math

import numpy as np

from ...compiled.kernel import subkernel
from ...constraints.velocity_rows import forget_impulses, gains_energy
from ...problem.problem import CONVERGED_RELATIVE, FAILED
from ...solvers.shared.status import are_finite, start_from_impulses
from ..islands.policy import RATIO_WORSE, SHARE_OF_SUCCESS
from .strategies import EXACT, FEW_SWEEPS, JOINTS_EXACT, NOTHING, SMALL_STEPS, pursue

FINE, ROUGH, MISSED, WORSE = map(np.int64, range(4))


@subkernel
def solve_by_plan(arrays, members, rows, islands, island, plan):
    """Solve an island from its present impulses, and again, by the plan's second strategy or from nothing, if due.

    Parameters
    ----------
    arrays : StepArrays
        Impulses and velocities written.
    members : StepMembers
        Its views.
    rows, islands, island
        Read.
    plan : Plan

    Returns
    -------
    outcome : tuple
        The last one, as of a solver, with the iterations of all.
    strategy : int64
        Whose outcome that is.
    verdict : int64
        What it is worth.
    wasted : float
        What the method has cost whose outcome was thrown away, in sweeps over the island.
    """
    if plan.has_joints:
        start_from_impulses(rows, islands, island, members.motion.free_velocity, members.state.velocity)
    strategy, second, wasted, iterations, from_nothing = plan.strategy, plan.second, 0.0, np.int64(0), False
    while True:
        outcome = pursue(arrays, members, rows, islands, island, strategy, plan)
        outcome, verdict = _judge(members, rows, islands, island, strategy, plan, outcome)
        is_next = second != NOTHING and (verdict == WORSE or (verdict == MISSED and second == SMALL_STEPS))
        if not is_next and (from_nothing or verdict != WORSE or strategy != EXACT):
            return _with_more_iterations(outcome, iterations), strategy, verdict, wasted
        iterations, wasted = iterations + outcome[1], wasted + price_of(members, outcome)
        if is_next and strategy == JOINTS_EXACT:
            # no solution, but a start
            start_from_impulses(rows, islands, island, members.motion.free_velocity, members.state.velocity)
        elif verdict == WORSE:
            forget_impulses(islands, island, rows, members.motion.free_velocity, members.state.velocity)
        if is_next:
            strategy, second = second, NOTHING
        else:
            from_nothing = True


@subkernel(inline=True)
def _with_more_iterations(outcome, more):
    status, iterations, residual, scale, worst_block = outcome
    return status, iterations + more, residual, scale, worst_block


@subkernel(inline=True)
def price_of(members, outcome):
    """What a solve by the method is charged [sweeps]: all of its cost if it has missed, else a share."""
    share = 1.0 if outcome[0] > CONVERGED_RELATIVE else SHARE_OF_SUCCESS
    return share * members.solver_input.work[0]


@subkernel
def _judge(members, rows, islands, island, strategy, plan, outcome):
    """An outcome, FAILED and without impulses where some are no numbers, and what it is worth."""
    if not (are_finite(rows, islands, island) and outcome[2] < math.inf):
        start_from_impulses(rows, islands, island, members.motion.free_velocity, members.state.velocity)
        if strategy == SMALL_STEPS:
            _move_freely(members, islands, island)
        worst_block = islands.block_order[islands.block_first[island]]
        outcome = FAILED, outcome[1], math.inf, outcome[3], worst_block
    return outcome, _verdict(members, rows, islands, island, strategy, plan, outcome)


@subkernel
def _move_freely(members, islands, island):
    """Let small steps without an outcome have led nowhere else than free motion does."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        for column in range(6):
            members.motion.memory.mean_velocity[body, column] = members.state.velocity[body, column]


@subkernel
def _verdict(members, rows, islands, island, strategy, plan, outcome):
    status, _, residual, scale, _ = outcome
    if status != FAILED and strategy in (SMALL_STEPS, FEW_SWEEPS):
        return ROUGH
    if not plan.may_gain:
        contacts = members.collision.contacts[members.collision.roles.present[0]]
        free_velocity, velocity = members.motion.free_velocity, members.state.velocity
        if gains_energy(islands, island, rows, contacts, free_velocity, velocity):
            return WORSE
    if status <= CONVERGED_RELATIVE:
        return FINE
    if status == FAILED or not residual <= RATIO_WORSE * scale:
        return WORSE
    return ROUGH if strategy == JOINTS_EXACT else MISSED
