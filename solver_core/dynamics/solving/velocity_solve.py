"""Stage ``solve_velocities``: how fast are the bodies at the substep's end, where that is not how they moved.

Velocities differ from the motion of the poses in two cases: overlaps that were taken out, which must add no kinetic
energy, and bounces, which start at the surface. Such islands are solved once more, with the rows where the bodies will
be; where something bounces, a sequence of impacts comes first (``constraints.restitution``). Of all other islands the
motion is the answer.
"""

import math

import numpy as np

from ...compiled.kernel import entry, subkernel
from ...compiled.views import arrays_at, numbers_of, views_of, whole
from ...constraints import restitution
from ...constraints.joints.joint_velocity import bear_as_before, keep_joint_impulses
from ...constraints.velocity_rows import (
    BOUNCES,
    RECOVERS,
    SAME,
    kinetic_energy,
    move_contact_rows,
    move_rows_along,
    push_by_contacts,
    set_velocity_bias,
)
from ...parallel.workers import take_next
from ...problem.problem import CONVERGED_RELATIVE
from ...problem.substep_impulses import take_as_given
from ...solvers.shared.sweep import apply_impulses
from ..islands.islands import has_joints, rests_on_something
from ..islands.memory import moves_in_small_steps, spend_credit
from ..joints.pose_correction import correct_poses
from ..motion.frame_impulses import note_joints_of_velocities
from ..motion.free_energy import bound_free_energy
from ..motion.integration import take_turn_energy, turn_ahead, turn_back
from ..schedule.sharing import begin_islands, call_stage, help_others
from ..schedule.stage_table import MOVE_JOINT_ROWS, SOLVE_ISLAND, SOLVE_JOINTED_VELOCITIES
from .outcomes import forget_outcome, note_jointed, note_outcome
from .strategies import JOINTS_EXACT, call_solver, plan_for_velocities, plan_with_joints
from .verdicts import price_of, solve_by_plan


@entry
def solve_velocities(arrays, worker):
    """Task: solve the islands for velocities, where these are not those that move the poses.

    Parameters
    ----------
    arrays : StepArrays
        Written: rows, impulses and velocities of such islands, and of ``solves`` how that ended.
    worker : int64
    """
    members = views_of(arrays)
    problem, sharing, solves = members.problem, members.sharing, members.solves
    rows, islands = whole(problem.rows), whole(problem.islands)
    begin_islands(sharing, solves, islands)
    worked = False
    while True:
        island = take_next(sharing.next)
        if island >= islands.count[0]:
            break
        worked = True
        forget_outcome(solves, island)
        if not solves.keeps_standing[island]:
            _solve_island(arrays, members, rows, islands, island)
        else:
            contacts = members.collision.contacts[members.collision.roles.present[0]]
            bear_as_before(members.model.joints, members.joint_state, islands, island, contacts.count[0], rows)
    help_others(arrays, members, worker, worked)


@subkernel(inline=True)
def _solve_island(arrays, members, rows, islands, island):
    motion, state, model = members.motion, members.state, members.model
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    h = numbers_of(members.settings.step).h
    if moves_in_small_steps(islands, island, motion.memory):
        if rests_on_something(rows, islands, island, motion.can_be_pushed):
            take_turn_energy(islands, island, model, state, motion, h)
        else:
            may_have = restitution.allowed_energy(islands, island, rows, contacts, motion, state.velocity, h)
            bound_free_energy(model, state, motion, islands, island, h, may_have)
        return
    least_scale = h * numbers_of(members.settings.step).gravity_norm
    last = islands.block_first[island + 1]
    contact_rows = members.problem.contact_rows
    change = set_velocity_bias(islands, island, rows, contacts, model, state, motion, h, contact_rows)
    if has_joints(rows, islands, island, contacts.count[0]):
        call_stage(members.kernels.stages, SOLVE_JOINTED_VELOCITIES, arrays, island, change)
        return
    if change == SAME:
        return
    # All of it is spent: an island that is dear moves in small steps from then on.
    bounces, spent, allowed_energy, lost_by_turn = change != RECOVERS, 0.0, math.inf, 0.0
    plan = plan_for_velocities(members, islands, island, np.bool_(bounces))
    is_free = not rests_on_something(rows, islands, island, motion.can_be_pushed)
    if bounces or is_free:
        allowed_energy = restitution.allowed_energy(islands, island, rows, contacts, motion, state.velocity, h)
    if bounces:
        lost_by_turn = kinetic_energy(islands, island, rows, motion.free_velocity)
        turn_ahead(islands, island, model, state, state.velocity if is_free else motion.free_velocity, motion, h)
    move_rows_along(islands, island, rows, contacts, model, state, motion, h, bounces, bounces and is_free)
    if bounces:
        lost_by_turn -= kinetic_energy(islands, island, rows, motion.free_velocity)
        spent = _solve_impacts(members, rows, islands, island, allowed_energy, lost_by_turn, is_free, plan)
    is_solved = islands.block_first[island + 1] > islands.block_first[island]
    if is_solved:
        # the velocities with which contacts no longer approach
        outcome, _, _, wasted = solve_by_plan(arrays, members, rows, islands, island, plan)
        spent += wasted + price_of(members, outcome)
        note_outcome(members.solves, island, rows, outcome, least_scale)
    if bounces:
        restitution.take_all_blocks(islands, island, last, contact_rows)
    if plan.budget < math.inf:
        spend_credit(islands, island, motion.memory, spent)
    if bounces:
        turn_back(islands, island, model, state, motion, h)
    if is_free:
        bound_free_energy(model, state, motion, islands, island, h, allowed_energy)
    elif not bounces:
        take_turn_energy(islands, island, model, state, motion, h)


@entry
def solve_jointed_velocities(arrays, island, change):
    """Solve an island with joints for velocities, whether they differ from the motion elsewhere or not (RATTLE).

    Impulses are those of the whole substep. What those of the position solve have given the bodies stays; but of
    contacts that have taken overlaps out they are taken anew (``move_rows_along``).

    Parameters
    ----------
    arrays : StepArrays
        Written as by ``solve_velocities``, and the poses of the joints' bodies.
    island : int64
    change : int64
        Of ``set_velocity_bias``.
    """
    members = views_of(arrays)
    rows, islands = whole(members.problem.rows), whole(members.problem.islands)
    motion, state, model = members.motion, members.state, members.model
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    step, stages = numbers_of(members.settings.step), members.kernels.stages
    free_velocity, velocity = motion.free_velocity, state.velocity
    bounces, allowed_energy = change == BOUNCES or change == BOUNCES + RECOVERS, math.inf
    energy = kinetic_energy(islands, island, rows, velocity)
    if bounces:
        allowed_energy = restitution.allowed_energy(islands, island, rows, contacts, motion, velocity, step.h)
        energy = max(energy, allowed_energy)
    before, plan = members.problem.jointed.kept_velocity, plan_with_joints(members, rows, islands, island)
    _copy_velocities(islands, island, velocity, before)
    is_free = not rests_on_something(rows, islands, island, motion.can_be_pushed)
    if bounces and not is_free:
        # bounces start from no impulses of contacts
        push_by_contacts(islands, island, rows, contacts, velocity, -1.0)
    lost_by_turn = -turn_ahead(islands, island, model, state, velocity, motion, step.h)
    move_contact_rows(islands, island, rows, contacts, model, state, motion, step.h, change)
    if is_free or not bounces:
        # at the poses of the end, as they are put back there: what turns meanwhile would else be pushed elsewhere
        push_by_contacts(islands, island, rows, contacts, velocity, -1.0)
    call_stage(stages, MOVE_JOINT_ROWS, arrays, island, np.int64(1 if bounces else 0))
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        for column in range(6):
            free_velocity[body, column] = velocity[body, column]
    last = islands.block_first[island + 1]
    if bounces:
        apply_impulses(rows, islands, island, free_velocity, velocity)
        _solve_impacts(members, rows, islands, island, allowed_energy, lost_by_turn, is_free, plan)
    outcome, strategy, _, _ = solve_by_plan(arrays, members, rows, islands, island, plan)
    if bounces:
        # what is still open bounces in the next substep, with the whole of its speed
        restitution.take_all_blocks(islands, island, last, members.problem.contact_rows)
    is_unsolved = outcome[0] > CONVERGED_RELATIVE and strategy != JOINTS_EXACT
    is_put_back = is_unsolved and not kinetic_energy(islands, island, rows, velocity) <= energy
    if is_put_back:
        # no solution is better than one that makes energy
        _copy_velocities(islands, island, before, velocity)
        keep_joint_impulses(members.model.joints, members.joint_state, islands, island, contacts.count[0], rows)
    if members.impulses.substep.is_kept[0] == 1:
        if is_put_back:
            take_as_given(rows, islands, island, contacts.count[0], contacts.impulse, members.impulses.substep)
        note_joints_of_velocities(members, rows, islands, island, contacts.count[0], not is_put_back)
    turn_back(islands, island, model, state, motion, step.h)
    note_jointed(members, rows, islands, island, strategy, outcome)
    correct_poses(arrays, members, rows, islands, island)


@subkernel
def _copy_velocities(islands, island, source, target):
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        for column in range(6):
            target[body, column] = source[body, column]


@subkernel(inline=True)
def _solve_impacts(members, rows, islands, island, allowed_energy, lost_by_turn, is_free, plan):
    """Solve the impacts of an island one after the other (``constraints.restitution``); returns the price [sweeps].

    What turning has cost the spins (``turn_ahead``) [J] the first impacts give back.
    """
    contact_rows, step = members.problem.contact_rows, numbers_of(members.settings.step)
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    free_velocity, velocity, contact_count = members.motion.free_velocity, members.state.velocity, contacts.count[0]
    solves, last = members.solves, islands.block_first[island + 1]
    stages, given = members.kernels.stages, arrays_at(members.solver_input)
    impulses = members.impulses.substep
    if is_free and impulses.is_kept[0] == 1:
        # what was taken off is what the turned rows say, and not what the position solve has given
        take_as_given(rows, islands, island, contact_count, contacts.impulse, impulses)

    least_scale = step.h * step.gravity_norm
    restitution.measure_bounces(islands, island, rows, contacts, contact_rows, members.motion, step.h)
    fastest = restitution.begin_impacts(islands, island, rows, contact_rows, velocity, free_velocity)
    threshold = restitution.impact_threshold(fastest, step.h * step.gravity_norm)
    restitution.set_approach_bias(islands, island, rows, contact_count, contact_rows)
    spent = 0.0
    if islands.block_first[island + 1] > islands.block_first[island]:  # else all contacts are open
        outcome = call_solver(stages, SOLVE_ISLAND, given, island, plan.budget, 0.0)
        note_outcome(solves, island, rows, outcome, least_scale)
        spent = price_of(members, outcome)
    restitution.restart_from_velocities(
        islands, island, rows, contact_count, contact_rows, velocity, free_velocity, 1.0, impulses
    )
    surplus = kinetic_energy(islands, island, rows, velocity) - allowed_energy
    if lost_by_turn > 0.0 and surplus <= 0.0:
        surplus = max(surplus, -lost_by_turn)
    else:
        surplus = max(surplus, 0.0)
    for impact in range(restitution.MAX_IMPACTS):
        if not restitution.select_impacts(
            islands, island, last, rows, contact_count, contact_rows, velocity, threshold, impact == 0
        ):
            break
        outcome = call_solver(stages, SOLVE_ISLAND, given, island, plan.budget, 0.0)
        note_outcome(solves, island, rows, outcome, least_scale)
        spent += price_of(members, outcome)
        surplus = restitution.end_impact(
            islands, island, rows, contact_count, contact_rows, velocity, free_velocity, surplus, impulses
        )
    # of what was there before the turn nothing is to be taken: sliding contacts may have had it
    if not is_free:
        # else the angular momentum stays what it is
        restitution.take_from_spins(islands, island, rows, velocity, free_velocity, min(surplus, -lost_by_turn))
    restitution.end_impacts(islands, island, last, rows, contact_count, contact_rows)
    return spent
