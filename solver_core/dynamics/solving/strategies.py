"""The ways to solve an island, how one of them is chosen, and how it is pursued.

| strategy      | which islands get it                                        | ends                                 |
|---------------|-------------------------------------------------------------|--------------------------------------|
| NOTHING       | solved before, in a pass that asks others again             |                                      |
| KEEP          | stood still in this frame, and nothing that moves has come  |                                      |
| SMALL_STEPS   | in motion                                                   | sweeps change no gap by much         |
| EXACT         | at rest, or cheap: by the method, or joints without contacts | tolerance, or what it may cost       |
| JOINTS_EXACT  | joints in motion, with contacts                             | joints as in EXACT; contacts swept   |
| FEW_SWEEPS    | without small steps: unsolved in the last substep           | a few sweeps, until contacts are known |
| SWEEPS        | without small steps: unsolved in the last pass              | tolerance, or no more hits           |

"Without small steps" are the quality "exact" and methods called by name. Each plan names a second strategy, which is
pursued if the first one's outcome is not good enough (``verdicts``), and no third.

In the middle of impacts a large island has no solution to the tolerance that the method could find in time. That is why
what moves takes small steps and, without them, what was left unsolved is swept. What the default method tries is in
``solvers/cascade``.
"""

import math
from typing import NamedTuple

import numpy as np

from ...compiled.function_tables import caller
from ...compiled.kernel import subkernel
from ...compiled.views import arrays_at, numbers_of
from ...constraints.velocity_rows import overgrowth, scale_impulses, touches_kinematic
from ...problem.problem import CONVERGED_ABSOLUTE, FAILED
from ...solvers.joint_factor import only_holds
from ...solvers.joint_tree import is_tree_of_joints
from ...solvers.shared.directions import copy_impulses
from ...solvers.shared.status import start_from_impulses
from ..islands.islands import has_contacts, has_joints
from ..islands.memory import earn_credit, recall
from ..islands.policy import (
    BUDGET_AGAIN,
    BUDGET_OF_REST,
    CONTACTS_TO_SWEEP,
    CREDIT_MOST,
    CREDIT_OF_REST,
    CREDIT_START,
    CREDIT_TO_TRY,
    FACTOR_EXACT,
    FEW_CONTACTS,
    PRICE_OF_FAILURE,
    RATIO_CALM_SIZE,
    RATIO_DEEP,
    RATIO_DEEP_IN_MOTION,
    RATIO_ROUGHLY_SETTLED,
    RATIO_SETTLED,
    SHARE_OF_OVERGROWN,
    SUBSTEPS_OF_FALL,
    SWEEPS_AFTER_FAILURE,
    SWEEPS_AROUND_JOINTS,
    SWEEPS_BEFORE_CONTACTS,
    SWEEPS_MOST,
)
from ..joints.joint_corrections import START, may_break
from ..schedule.pass_kinds import FIRST_PASS, SAME_CONTACTS, SAME_IMPULSES, SAME_PAIRS, SAME_ROWS
from ..schedule.stage_table import FALLBACK_SWEEPS, SOLVE_ISLAND, SOLVE_JOINTED, SOLVER_OUTCOME
from ..schedule.stage_table import SMALL_STEPS as STAGE_OF_SMALL_STEPS
from .facts import has_deep_contacts, look_at, moves_fast

NOTHING, KEEP, SMALL_STEPS, EXACT, JOINTS_EXACT, FEW_SWEEPS, SWEEPS = map(np.int64, range(7))
# In place of sweeps around joints: there are only joints, along no loop.
TREE = np.int64(-1)
# ... and: nothing is solved, but what joints bear against each other is taken out.
LEAST = np.int64(-2)
# ... and contacts keep their impulses, while joints ask for what errors at the substep's end change by.
AT_END = np.int64(-3)

# call_solver(stages, place, *arguments): what solves an island, by its place in the table.
call_solver = caller(SOLVER_OUTCOME)


class Plan(NamedTuple):
    """How to solve an island.

    Attributes
    ----------
    strategy, second : int
        The second one is NOTHING where an outcome stays, however it is.
    has_joints : bool
    budget : float
        What the method may cost, in sweeps over the island.
    comes_to_rest : bool
        Nothing moves against each other or falls together, so the answer stays: the next substep is the same problem,
        and starts from its solution.
    keeps_overlaps : bool
        Overlaps are asked that they do not grow, which is always possible, and not that they are taken out.
    may_gain : bool
        The solution may have more energy than free motion.
    """

    strategy: int
    second: int
    has_joints: bool
    budget: float
    comes_to_rest: bool
    keeps_overlaps: bool
    may_gain: bool


@subkernel(inline=True)
def _plan(strategy, second, budget):
    no, yes = np.bool_(False), np.bool_(True)
    return Plan(strategy, second, no, budget, no, no, yes)


@subkernel
def plan_for_positions(members, rows, islands, island):
    """Choose how to solve an island for positions.

    Parameters
    ----------
    members : StepMembers
        Read; the credit that a substep earns is written.
    rows, islands, island
        Read.

    Returns
    -------
    Plan
    """
    solves, motion, contacts = members.solves, members.motion, members.collision.contacts
    present, pass_kind = contacts[members.collision.roles.present[0]], solves.pass_kind[0]
    recalled = recall(islands, island, motion.memory)
    jointed = np.bool_(has_joints(rows, islands, island, present.count[0]))
    if pass_kind >= SAME_CONTACTS and not members.joint_state.is_due[island]:
        return _plan(NOTHING, NOTHING, 0.0)
    step = numbers_of(members.settings.step)
    # keyed motors may begin to move within a frame
    may_stand = recalled.stand and not (jointed and step.ends_at_rest == 0)
    if may_stand and not touches_kinematic(islands, island, rows, present, motion.free_velocity):
        return _plan(KEEP, NOTHING, 0.0)
    if jointed:
        if pass_kind == SAME_ROWS:
            return _plan(NOTHING, NOTHING, 0.0)
        return plan_with_joints(members, rows, islands, island)
    if step.small_steps == 0:
        return _plan_without_small_steps(pass_kind, recalled)
    if pass_kind == FIRST_PASS:
        # once a substep
        earn_credit(islands, island, motion.memory)
        recalled = recall(islands, island, motion.memory)
    return _plan_by_credit(members, look_at(members, rows, islands, island), recalled)


@subkernel
def _plan_by_credit(members, facts, recalled):
    """What comes to rest is solved, with all the credit that its bodies have; what moves, with what is beyond that."""
    step = numbers_of(members.settings.step)
    # what the method has solved is mostly solved by the same impulses
    again = BUDGET_AGAIN if recalled.were_solved else 0.0
    in_motion, comes_to_rest = 0.0, np.bool_(False)
    deepest = max(facts.rolling, facts.overlap if recalled.keep_overlaps else 0.0)
    if facts.contacts <= FEW_CONTACTS and deepest <= RATIO_DEEP_IN_MOTION:
        may_cost = (recalled.credit - CREDIT_OF_REST) / PRICE_OF_FAILURE
        in_motion = may_cost if may_cost >= CREDIT_TO_TRY else again
    has_to_move = facts.overlap > RATIO_DEEP or facts.rolling > RATIO_DEEP_IN_MOTION
    budget = in_motion
    if not has_to_move and facts.is_supported and facts.is_calm:
        comes_to_rest = np.bool_(True)
        still = step.gravity_norm * step.h + RATIO_CALM_SIZE * facts.smallest / step.h
        if not recalled.were_solved and recalled.unsettled > RATIO_SETTLED * still:
            roughly = recalled.credit >= CREDIT_MOST and recalled.unsettled <= RATIO_ROUGHLY_SETTLED * still
            budget = CREDIT_MOST if roughly else in_motion
        else:
            # A series: small steps in between would set in motion again what one solve has stopped.
            begins = recalled.credit >= (CREDIT_TO_TRY if recalled.were_solved else CREDIT_OF_REST)
            budget = max(recalled.credit, BUDGET_OF_REST) if begins else again
    if budget == 0.0:
        return _plan(SMALL_STEPS, NOTHING, 0.0)
    yes = np.bool_(True)
    return Plan(EXACT, SMALL_STEPS, np.bool_(False), budget, comes_to_rest, recalled.keep_overlaps, yes)


@subkernel
def _plan_without_small_steps(pass_kind, recalled):
    """Where the last substep was not solved, in the middle of impacts, contacts are mostly missing in the first pass.

    Such islands get some sweeps then. Where none are missing, they are solved from there (SAME_ROWS).
    """
    strategy = EXACT
    if pass_kind == SAME_ROWS and not recalled.were_unsolved:
        strategy = NOTHING
    elif pass_kind == FIRST_PASS and recalled.were_unsolved:
        strategy = FEW_SWEEPS
    elif pass_kind == SAME_PAIRS and recalled.are_unsolved:
        strategy = SWEEPS
    second = EXACT if strategy == SWEEPS else NOTHING
    return _plan(strategy, second, math.inf)


@subkernel
def plan_for_velocities(members, islands, island, may_gain):
    """Choose how to solve an island without joints for velocities.

    Each is a cold start, whatever the attempt at the poses was allowed to cost. Where the positions were left unsolved,
    the velocities get some sweeps from their impulses. Not where deep overlaps have been pushed apart, by impulses from
    which sweeps are slow to come back; and in small islands it costs little to solve to the end.

    Parameters
    ----------
    members : StepMembers
        Read.
    islands, island
        Read.
    may_gain : bool
        Something bounces, whose energy is kept elsewhere.

    Returns
    -------
    Plan
    """
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    budget, strategy = max(members.solves.budget[island], CREDIT_START), EXACT
    is_large = islands.block_first[island + 1] - islands.block_first[island] >= CONTACTS_TO_SWEEP
    if (
        is_large
        and recall(islands, island, members.motion.memory).are_unsolved
        and not has_deep_contacts(islands, island, contacts, members.collision.workspace.size)
    ):
        strategy = SWEEPS
    no = np.bool_(False)
    second = EXACT if strategy == SWEEPS else NOTHING
    return Plan(strategy, second, no, budget, no, no, may_gain)


@subkernel
def plan_with_joints(members, rows, islands, island):
    """Choose how to solve an island with joints: exactly where it rests, by sweeps around exact joints where it moves.

    What moves is another problem in the next substep, so its contacts need no more than the motion needs; its joints
    are exact all the same (``solvers.joint_elimination``).

    Parameters
    ----------
    members : StepMembers
        Read.
    rows, islands, island
        Read.

    Returns
    -------
    Plan
    """
    step, strategy, second = numbers_of(members.settings.step), EXACT, NOTHING
    no, yes = np.bool_(False), np.bool_(True)
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    if keeps_contact_impulses(members, island) and members.joint_state.was_swept[island]:
        return Plan(JOINTS_EXACT, NOTHING, yes, math.inf, no, yes, yes)
    if (
        step.small_steps > 0
        and has_contacts(islands, island, contacts.count[0])
        and moves_fast(members, islands, island, SUBSTEPS_OF_FALL * step.gravity_norm * step.h)
    ):
        strategy = JOINTS_EXACT
        # what Newton's corrections have found before is better than what another method would
        second = NOTHING if keeps_contact_impulses(members, island) else EXACT
    return Plan(strategy, second, yes, math.inf, no, yes, yes)


@subkernel
def keeps_contact_impulses(members, island):
    """Whether an island's joints are corrected by Newton's method, once more: its contacts keep their impulses then."""
    return members.solves.pass_kind[0] == SAME_IMPULSES and members.joint_state.way[island] != START


@subkernel
def asks_at_end(members, rows, islands, island, strategy):
    """Whether joints are corrected by what errors at the end change by: contacts keep impulses, or there are none.

    Motors and friction of joints are solved with them, so what has such, and no contacts, is not.
    """
    is_correction = members.solves.pass_kind[0] >= SAME_CONTACTS and members.joint_state.asks_at_end[island]
    if not is_correction:
        return False
    keeps = strategy == JOINTS_EXACT and keeps_contact_impulses(members, island)
    return keeps or only_holds(rows, islands, island)


@subkernel
def pursue(arrays, members, rows, islands, island, strategy, plan):
    """Solve an island from its present impulses.

    Parameters
    ----------
    arrays : StepArrays
        Impulses and velocities written.
    members : StepMembers
        Its views.
    rows, islands, island
        Read.
    strategy : int64
        That of the plan, or its second one.
    plan : Plan

    Returns
    -------
    tuple
        (status, iterations, residual [m/s], scale [m/s], worst block).
    """
    stages = members.kernels.stages
    if strategy == SMALL_STEPS:
        _calm_impulses(members, rows, islands, island)
        return call_solver(stages, STAGE_OF_SMALL_STEPS, arrays, island)
    if plan.has_joints:
        return _solve_jointed(arrays, members, rows, islands, island, strategy)
    if strategy == EXACT:
        return call_solver(stages, SOLVE_ISLAND, arrays_at(members.solver_input), island, plan.budget, 0.0)
    most = SWEEPS_BEFORE_CONTACTS if strategy == FEW_SWEEPS else SWEEPS_MOST
    least = SWEEPS_BEFORE_CONTACTS if strategy == FEW_SWEEPS else SWEEPS_AFTER_FAILURE
    return call_solver(stages, FALLBACK_SWEEPS, arrays, island, least, most)


@subkernel
def _calm_impulses(members, rows, islands, island):
    """Reduce overgrown impulses, not forget them: jaws that have closed on something hold it by what they press."""
    grown = overgrowth(rows, islands, island, members.motion.start_velocity, members.motion.free_velocity)
    if grown > 1.0:
        scale_impulses(islands, island, rows, SHARE_OF_OVERGROWN / grown)


@subkernel
def _solve_jointed(arrays, members, rows, islands, island, strategy):
    """Solve an island with joints, and where these may break leave no impulses that only balance each other.

    Where bonds in loops contradict each other they grow without end. They balance at these poses, and not quite where
    they are looked at next: there 1e11 N s are velocities of 1e5 m/s and loads of 1e9 N.
    """
    outcome = _solve_with_joints(arrays, members, rows, islands, island, strategy)
    contacts, motion = members.collision.contacts[members.collision.roles.present[0]], members.motion
    if (
        may_break(members, island, contacts.count[0])
        and overgrowth(rows, islands, island, motion.start_velocity, motion.free_velocity) > 0.0
    ):
        call_solver(members.kernels.stages, SOLVE_JOINTED, arrays, island, LEAST, 0.0, 0.0)
    return outcome


@subkernel
def _solve_with_joints(arrays, members, rows, islands, island, strategy):
    """Joints along no loop, and with no contacts, in closed form; what moves by sweeps around exact joints.

    What rests, and where the closed form fails: by the method, to far below its tolerance, which Newton's last steps
    reach.
    """
    stages, step = members.kernels.stages, numbers_of(members.settings.step)
    if asks_at_end(members, rows, islands, island, strategy):
        before = members.problem.jointed.impulse_before
        copy_impulses(rows.block_row, islands, island, rows.impulse, before)
        outcome = call_solver(stages, SOLVE_JOINTED, arrays, island, AT_END, FACTOR_EXACT, 0.0)
        if outcome[0] != FAILED:
            return outcome
        # Rows that close a loop contradict each other at the end, by the square of the step. What the last correction
        # has found stays.
        members.joint_state.has_no_end[island] = True
        copy_impulses(rows.block_row, islands, island, before, rows.impulse)
        _take_last_velocities(members, rows, islands, island)
        _, iterations, _, scale, worst_block = outcome
        return CONVERGED_ABSOLUTE, iterations, 0.0, scale, worst_block
    if strategy == JOINTS_EXACT:
        sweeps = np.int64(0) if keeps_contact_impulses(members, island) else SWEEPS_AROUND_JOINTS
        least = step.gravity_norm * step.h
        return call_solver(stages, SOLVE_JOINTED, arrays, island, sweeps, FACTOR_EXACT, least)
    if step.small_steps > 0 and is_tree_of_joints(rows, islands, island, members.motion.can_be_pushed):
        outcome = call_solver(stages, SOLVE_JOINTED, arrays, island, TREE, FACTOR_EXACT, 0.0)
        if outcome[0] != FAILED:
            return outcome
        start_from_impulses(rows, islands, island, members.motion.free_velocity, members.state.velocity)
    return call_solver(stages, SOLVE_ISLAND, arrays_at(members.solver_input), island, math.inf, FACTOR_EXACT)


@subkernel
def _take_last_velocities(members, rows, islands, island):
    """Give an island the velocities back at which its rows were made, so that it is corrected by other ones."""
    joint_state, velocity = members.joint_state, members.state.velocity
    start_from_impulses(rows, islands, island, members.motion.free_velocity, velocity)
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        if joint_state.is_held[body]:
            for column in range(6):
                velocity[body, column] = joint_state.guess[body, column]
