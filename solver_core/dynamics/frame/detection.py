"""The detection loop: contacts are found and the islands solved for positions until the solution has all contacts.

Contacts are searched for as far as bodies may come by the velocities that they start a substep with. Where the solution
leads a body farther or elsewhere, it may meet what it was not near. So there are several passes a substep:

1. The first pass takes the pairs of the broad phase, and contacts along the motion that the start predicts.
2. If the solution takes a body farther than that (``reach_farther``), towards what is no pair yet
   (``find_unseen_pair``), or together with what it would have passed (``recheck_swept_pairs``), the next pass takes
   new pairs.
3. Else, if it drives shapes into each other by the substep's end, the next pass takes the same pairs, and makes
   contacts also at these end poses.

The loop ends with a solution that asks for no pass, or after MAX_END_POSE_PASSES; from MAX_PASSES on no new pairs are
taken. If a pass wakes bodies, that pass is repeated.
"""

import numpy as np

from ...collision.ccd_recheck import recheck_swept_pairs
from ...collision.data.contact_arrays import STATUS_OK
from ...collision.data.contact_matching import take_previous_pass_impulses
from ...collision.data.workspace import MAX_END_POSE_PASSES, MAX_PASSES
from ...collision.detection_passes import (
    clear_pass_history,
    motion_is_negligible,
    note_pass_contacts,
    place_end_poses,
    repeat_pairs,
    start_pass,
    swap_pass_buffers,
)
from ...compiled.function_tables import call_for_count
from ...compiled.kernel import subkernel
from ...compiled.views import numbers_of, views_of
from ...problem.substep_impulses import forget_substep_impulses
from ..islands.contact_selection import has_missed_contact
from ..islands.memory import begin_pass, begin_substep, end_substep, take_mean_velocities
from ..joints.joint_corrections import MOST_CORRECTIONS
from ..motion.driven_motion import follow_driven
from ..motion.integration import reach_farther
from ..motion.lost_bodies import hold_what_is_lost
from ..motion.position_update import choose_position_velocities
from ..rest.activation import NEAR
from ..rest.sleeping import wake_near_driven, wake_touched
from ..schedule.frame_record import end_stage, record_solves, restore_solve_quality, solve_quality
from ..schedule.pass_kinds import FIRST_PASS, NEW_PAIRS, SAME_CONTACTS, SAME_IMPULSES, SAME_PAIRS, SAME_ROWS
from ..schedule.sharing import call_stage, run_task, share_islands
from ..schedule.stage_table import (
    ACTIVATE,
    APPLY_FIELDS,
    APPLY_FORCES,
    BRAKE_ROLLING,
    BROAD_PHASE,
    BUILD_JOINT_ROWS,
    BUILD_ROWS,
    CORRECT_JOINTS,
    FIND_ISLANDS,
    GUIDE_BODIES,
    MATCH_CONTACTS,
    NARROW_PHASE,
    PREPARE_JOINTS,
    PULL_BODY,
    SOLVE_POSITIONS,
    WAKE_JOINED,
)
from .contact_generation import are_end_poses_clear, make_contacts

# How ``find_contacts`` ends: with contacts; with bodies that have woken, so that forces and contacts are to be found
# anew; with a buffer that is full.
FOUND, WOKEN, FULL = range(3)


@subkernel(inline=True)
def apply_all_forces(arrays):
    """Stage ``apply_forces``: free velocities, by gravity and what else pushes, also after bodies have woken.

    Parameters
    ----------
    arrays : StepArrays
        Written: motion; bodies that it drives beyond all numbers are held.
    """
    members = views_of(arrays)
    call_stage(members.kernels.stages, APPLY_FORCES, arrays)
    if members.fields.responds.size > 0:
        call_stage(members.kernels.stages, APPLY_FIELDS, arrays)
    if members.guides.follow.size > 0:
        call_stage(members.kernels.stages, GUIDE_BODIES, arrays)
    if members.pull.body.size > 0:
        call_stage(members.kernels.stages, PULL_BODY, arrays)
    if members.model.matter.rolling_friction.shape[0] > 0:
        call_stage(members.kernels.stages, BRAKE_ROLLING, arrays)
    hold_what_is_lost(members.state, members.motion)


@subkernel(inline=True)
def detect_and_solve_positions(arrays):
    """Find the contacts of a substep, and solve for positions.

    Parameters
    ----------
    arrays : StepArrays
        Written: pairs, contacts, rows and islands; the state's velocity, to the solution for positions; and
        ``motion.position_velocity``, to what moves the poses. In the loop the state's velocity is that of the substep's
        start while contacts are found, and the solution from the solve on.

    Returns
    -------
    bool
        False if a buffer of pairs or contacts was full.
    """
    members = views_of(arrays)
    collision, record, motion = members.collision, members.record, members.motion
    velocity = members.state.velocity
    passes, kind = 0, FIRST_PASS
    earlier = solve_quality(record)
    while True:
        found = find_contacts(arrays, passes, kind)
        if found == FULL:
            restore_solve_quality(record, earlier)
            return False
        if found == WOKEN:
            apply_all_forces(arrays)
            kind = FIRST_PASS if passes == 0 else NEW_PAIRS
            continue
        if passes > 0 and _touches_nothing(members):
            _take_solution_again(members)
            record.detection_passes[0] += passes + 1
            return True
        build_rows(arrays, passes)
        call_stage(members.kernels.stages, FIND_ISLANDS, arrays)
        end_stage(record, FIND_ISLANDS)
        passes += 1
        # Each pass solves the same substep anew, so only the residual of the final one is reported.
        restore_solve_quality(record, earlier)
        may_keep_pairs = _solve_positions(arrays, members, passes, kind)
        has_joint_rows = members.problem.rows.count[0] > collision.contacts[collision.roles.present[0]].count[0]
        if has_joint_rows:
            _take_own_velocities(members)
        _choose_position_velocities(members)
        take_mean_velocities(motion.memory, motion.position_velocity)
        _follow_driven(members)
        if has_joint_rows:
            _correct_joints(arrays, members, earlier)
        end_stage(record, SOLVE_POSITIONS)
        if _is_last_pass(members, passes, may_keep_pairs):
            end_stage(record, NARROW_PHASE)
            record.detection_passes[0] += passes
            return True
        _copy_velocities(motion.position_velocity, collision.workspace.predicted.velocity)
        _copy_velocities(motion.start_velocity, velocity)
        swap_pass_buffers(collision.roles)
        kind = SAME_PAIRS if may_keep_pairs else NEW_PAIRS
        end_stage(record, NARROW_PHASE)


@subkernel
def _touches_nothing(members):
    """Whether there is no contact, nor was in the last pass, but joints: then the solution stands."""
    contacts, roles = members.collision.contacts, members.collision.roles
    if contacts[roles.present[0]].count[0] > 0 or contacts[roles.previous_pass[0]].count[0] > 0:
        return False
    return members.problem.rows.count[0] > 0


@subkernel
def _take_solution_again(members):
    """Set the velocities to those that the last pass has found, where only joints act."""
    velocity, guess, is_held = members.state.velocity, members.joint_state.guess, members.joint_state.is_held
    _copy_velocities(members.motion.free_velocity, velocity)
    for body in range(is_held.size):
        if is_held[body]:
            for column in range(6):
                velocity[body, column] = guess[body, column]


@subkernel(inline=True)
def finish_detection(members):
    """The present buffers become those of the last substep, and likewise the flags of unsolved bodies."""
    roles = members.collision.roles
    end_substep(members.motion.memory)
    roles.present[0], roles.last_substep[0] = roles.last_substep[0], roles.present[0]


@subkernel(inline=True)
def find_contacts(arrays, passes_before, kind):
    """One detection pass: stages ``broad_phase`` and ``narrow_phase``.

    Parameters
    ----------
    arrays : StepArrays
        Written: pairs and contacts; bodies that they wake.
    passes_before : int64
        Passes of this substep before this one.
    kind : int64
        FIRST_PASS, NEW_PAIRS or SAME_PAIRS.

    Returns
    -------
    int64
        FOUND, WOKEN or FULL.
    """
    members = views_of(arrays)
    model, state, sleep, collision = members.model, members.state, members.sleep, members.collision
    workspace, record, h = collision.workspace, members.record, numbers_of(members.settings.step).h
    pairs, contacts = collision.pairs[collision.roles.present[0]], collision.contacts[collision.roles.present[0]]
    start_pass(workspace.predicted, passes_before)
    if passes_before == 0:
        begin_substep(members.motion.memory)
    if kind == SAME_PAIRS:
        repeat_pairs(collision.pairs[collision.roles.previous_pass[0]], pairs)
    else:
        if call_for_count(members.kernels.stages, BROAD_PHASE, arrays) != STATUS_OK:
            return FULL
        if wake_near_driven(model, state, sleep, workspace.tree, h):
            return WOKEN
        if members.waiting.count[0] > 0 and call_for_count(members.kernels.stages, ACTIVATE, arrays, NEAR) > 0:
            return WOKEN
        clear_pass_history(pairs)
    end_stage(record, BROAD_PHASE)
    if passes_before > 0:
        place_end_poses(model.shapes.body, workspace.predicted.velocity, h, workspace)
    if not make_contacts(members, pairs, contacts):
        return FULL
    if wake_touched(contacts, state.kind, sleep):
        return WOKEN
    if (
        sleep.sleeping_count[0] > 0
        and model.joints.body_a.size > 0
        and call_for_count(members.kernels.stages, WAKE_JOINED, arrays) > 0
    ):
        return WOKEN
    end_stage(record, NARROW_PHASE)
    return FOUND


@subkernel(inline=True)
def build_rows(arrays, passes_before):
    """Stages ``match_contacts`` and ``build_rows``: what the contacts of a pass ask of the bodies.

    Parameters
    ----------
    arrays : StepArrays
        Written: the contacts' impulses, and rows.
    passes_before : int64
        Passes of this substep before this one, from the last of which impulses are taken.
    """
    members = views_of(arrays)
    collision, stages, record = members.collision, members.kernels.stages, members.record
    present = collision.roles.present[0]
    call_stage(stages, MATCH_CONTACTS, arrays)
    if passes_before > 0:
        take_previous_pass_impulses(collision.pairs[present], collision.contacts[present], members.problem.rows)
    end_stage(record, MATCH_CONTACTS)
    if members.model.joints.body_a.size > 0:
        call_stage(stages, PREPARE_JOINTS, arrays, np.int64(passes_before))
    call_stage(stages, BUILD_ROWS, arrays)
    if members.model.joints.body_a.size > 0:
        call_stage(stages, BUILD_JOINT_ROWS, arrays)
    end_stage(record, BUILD_ROWS)


@subkernel(inline=True)
def solve_islands(members, stage):
    """Solve all islands, and add to the record how that ended.

    Parameters
    ----------
    members : StepMembers
    stage : int64
        SOLVE_POSITIONS or SOLVE_VELOCITIES.
    """
    share_islands(members.sharing, members.solves, members.problem.islands)
    run_task(members, stage)
    record_solves(members.record, members.solves, members.problem.islands)
    end_stage(members.record, stage)


@subkernel(inline=True)
def _solve_positions(arrays, members, passes_done, kind):
    """Solve for positions; returns whether the next pass may keep the pairs: none are missing, or no more are sought.

    Where some islands have only been swept, they are solved from there if no pairs are missing.
    """
    motion, solves = members.motion, members.solves
    _copy_velocities(motion.free_velocity, members.state.velocity)
    if members.impulses.substep.is_kept[0] == 1:
        contacts = members.collision.contacts[members.collision.roles.present[0]]
        forget_substep_impulses(members.impulses.substep, contacts.count[0])
    solves.pass_kind[0] = kind
    while True:
        solves.swept_only[0] = 0
        if solves.pass_kind[0] != SAME_ROWS:
            begin_pass(motion.memory)
        solve_islands(members, SOLVE_POSITIONS)
        # A body that is hit goes farther than its first velocity could tell, or another way.
        may_keep_pairs = passes_done >= MAX_PASSES or not _miss_something(arrays, members)
        end_stage(members.record, NARROW_PHASE)
        if not may_keep_pairs or solves.swept_only[0] == 0:
            return may_keep_pairs
        solves.pass_kind[0] = SAME_ROWS


@subkernel(inline=True)
def _miss_something(arrays, members):
    """Whether the solution leads bodies to what the pairs and contacts of the pass say nothing of."""
    motion, workspace = members.motion, members.collision.workspace
    velocity, step, predicted = members.state.velocity, numbers_of(members.settings.step), workspace.predicted
    pairs = members.collision.pairs[members.collision.roles.present[0]]
    is_farther, is_fast = reach_farther(members.model.size, motion, velocity, step.gravity_norm, step.h, predicted)
    if is_fast or (is_farther and members.model.joints.body_a.size > 0):
        # What is fast meets contacts elsewhere than where they were made; and the corrections of joints are still to
        # come, and lead bodies elsewhere.
        return True
    if is_farther:
        _copy_velocities(velocity, predicted.velocity)
        take_mean_velocities(motion.memory, predicted.velocity)
        predicted.is_looked_along[0] = True
        status = call_for_count(members.kernels.stages, BROAD_PHASE, arrays)
        predicted.is_looked_along[0] = False
        if status != STATUS_OK:
            return True
    return recheck_swept_pairs(members.model, members.state, motion.start_velocity, step, pairs, workspace, is_farther)


@subkernel(inline=True)
def _correct_joints(arrays, members, earlier):
    """Correct the joints where the solution leads (``joint_corrections``).

    Parameters
    ----------
    arrays : StepArrays
    members : StepMembers
    earlier : tuple
        Of ``solve_quality``: only the last solves count.
    """
    solves, stages = members.solves, members.kernels.stages
    for correction in range(MOST_CORRECTIONS + 1):
        if call_for_count(stages, CORRECT_JOINTS, arrays, np.int64(correction)) == 0:
            return
        restore_solve_quality(members.record, earlier)
        kind = solves.pass_kind[0]
        solves.pass_kind[0] = SAME_CONTACTS if correction == 0 else SAME_IMPULSES
        solve_islands(members, SOLVE_POSITIONS)
        solves.pass_kind[0] = kind


@subkernel
def _take_own_velocities(members):
    """Give the bodies of joints the free velocities back that are their own: solves take them for stiffer."""
    joint_state, free_velocity = members.joint_state, members.motion.free_velocity
    for body in range(joint_state.is_held.size):
        if joint_state.is_held[body]:
            for column in range(6):
                free_velocity[body, column] = joint_state.own_velocity[body, column]


@subkernel(inline=True)
def _choose_position_velocities(members):
    problem, model, step = members.problem, members.model, numbers_of(members.settings.step)
    choose_position_velocities(
        problem.rows,
        problem.islands,
        members.collision.contacts[members.collision.roles.present[0]],
        members.motion,
        problem.step_rules,
        model.size,
        model.shapes.kind,
        members.state.velocity,
        step.h * step.gravity_norm,
        step.h,
    )


@subkernel(inline=True)
def _follow_driven(members):
    follow_driven(
        members.problem.rows,
        members.collision.contacts[members.collision.roles.present[0]],
        members.state,
        members.motion,
        members.problem.step_rules,
        members.model.size,
        numbers_of(members.settings.step).h,
    )


@subkernel(inline=True)
def _is_last_pass(members, passes_done, may_keep_pairs):
    """The stopping rule: the solution asks for no new pairs, and leads no shapes into each other unseen."""
    collision, state, position_velocity = members.collision, members.state, members.motion.position_velocity
    shape_body, workspace, h = members.model.shapes.body, collision.workspace, numbers_of(members.settings.step).h
    pairs, contacts = collision.pairs[collision.roles.present[0]], collision.contacts[collision.roles.present[0]]
    bounding_radius = workspace.shape_parameters.bounding_radius
    if passes_done == MAX_END_POSE_PASSES or (
        may_keep_pairs
        and motion_is_negligible(
            shape_body, bounding_radius, workspace.local_pose, workspace.size, position_velocity, h
        )
    ):
        return True
    note_pass_contacts(pairs, contacts, workspace.size, state.kind, workspace.predicted.is_deep)
    is_missed = _is_contact_missed(members)
    if is_missed or not may_keep_pairs:
        return False
    # What moves in small steps may overlap more, which the next substep takes out.
    memory, is_coarse = members.motion.memory, workspace.predicted.is_coarse
    for body in range(len(memory.in_small_steps)):
        is_coarse[body] = memory.in_small_steps[body] or memory.is_swept[body]
    place_end_poses(shape_body, position_velocity, h, workspace)
    return are_end_poses_clear(members, pairs)


@subkernel(inline=True)
def _is_contact_missed(members):
    """Whether the solution leads bodies into each other at a contact that is left out."""
    return has_missed_contact(
        members.problem.rows,
        members.collision.contacts[members.collision.roles.present[0]],
        members.motion.position_velocity,
        members.collision.workspace.size,
        members.motion.memory,
        numbers_of(members.settings.step).h,
        members.problem.selection,
        members.problem.islands,
    )


@subkernel
def _copy_velocities(source, target):
    for body in range(source.shape[0]):
        for column in range(6):
            target[body, column] = source[body, column]
