"""What a step does for joints, by address: compiled for models that have some."""

import numpy as np

from ...compiled.kernel import entry, subkernel
from ...compiled.views import numbers_of, views_of
from ...constraints.joints.breaking import (
    break_first,
    find_hit_places,
    find_hits,
    is_bond,
    keep_loads,
    let_collide,
    measure_loads,
    take_back,
)
from ...constraints.joints.coordinate_geometry import is_angle
from ...constraints.joints.glue import find_glued
from ...constraints.joints.joint_motion import (
    add_stiffness,
    clear_stiffness,
    guess_velocity,
    keep_own,
    note_gain,
    place_between,
    stiffen_body,
)
from ...constraints.joints.joint_rows import acts, build_joint_rows, find_held_bodies
from ...constraints.joints.joint_velocity import measure_joints, move_joint_rows
from ...solvers.redundant_joints import find_least_impulses, may_be_redundant
from ..islands.islands import has_joints
from ..motion.integration import place_at_end
from ..rest.sleeping import wake_joined
from .joint_corrections import correct_joints, may_break
from .joint_ledger import keep_ledgers


@entry
def run_prepare_joints(arrays, passes_before):
    """Guess how the bodies of joints will move: by the forces of the last substep, or as the last pass has found.

    Parameters
    ----------
    arrays : StepArrays
        Written: joint_state; the inertia that the solve takes these bodies to have.
    passes_before : int64
        Detection passes of this substep before this one.
    """
    members = views_of(arrays)
    model, motion, joint_state = members.model, members.motion, members.joint_state
    joints, settings = model.joints, members.settings
    h, acceleration, step_rules = numbers_of(settings.step).h, motion.acceleration, members.problem.step_rules
    left = numbers_of(settings.step).substeps - members.record.substeps[0]
    joint_state.fall[0] = numbers_of(settings.step).gravity_norm * h
    joint_state.time_left[0] = h * max(left, 1)
    knows_all = find_held_bodies(joints, joint_state, motion.can_be_pushed)
    for body in range(joints.is_jointed.size):
        step_rules.is_held[body], step_rules.ring[body] = joint_state.is_held[body], joint_state.ring[body]
        if not joints.is_jointed[body]:
            continue
        falls = _falls(acceleration, body, h)
        if passes_before == 0 or not knows_all:
            guess_velocity(joint_state, motion, body, falls)
        share = joint_state.share[body] if joint_state.is_held[body] else 1.0
        for column in range(6):
            start = motion.free_velocity[body, column] - (falls[column] if column < 3 else 0.0)
            guess = joint_state.guess[body, column]
            motion.position_velocity[body, column] = guess if share == 1.0 else 0.5 * (start + guess)
        place_at_end(model, members.state, motion, h, body, joint_state.end_position, joint_state.end_orientation)
        place_between(members.state, joint_state, body)
        clear_stiffness(joint_state, body)
    for joint in range(joints.body_a.size):
        if acts(joints, joint_state, joint, motion.can_be_pushed):
            first, poses = joints.row_first[joint], (joint_state.pose_position, joint_state.pose_orientation)
            add_stiffness(joints, joint_state, joint, joint_state.impulse, first, poses[0], poses[1])
    for body in range(joints.is_jointed.size):
        if joint_state.is_held[body]:
            keep_own(joint_state, motion, body)
            stiffen_body(joint_state, motion, body, h)


@entry
def run_build_joint_rows(arrays):
    """Add the joints' rows behind those of the contacts."""
    members = views_of(arrays)
    joint_state, problem, h = members.joint_state, members.problem, numbers_of(members.settings.step).h
    build_joint_rows(members.model.joints, joint_state, members.state, members.motion, h, problem.rows)
    for row in range(joint_state.impulse.size):
        problem.contact_rows.joint_impulse[row] = 0.0


@entry
def run_correct_joints(arrays, correction):
    """Measure the joints where the position solve leads, and correct their rows (``joint_corrections``).

    Parameters
    ----------
    arrays : StepArrays
        Written: the joints' rows and state; the position velocities of islands that were solved again; what the next
        solve takes bodies for. If there is none, bodies are again what they are.
    correction : int64
        How many there have been in this pass.

    Returns
    -------
    int64
        Islands that are to be solved again.
    """
    return correct_joints(views_of(arrays), correction)


@entry
def run_move_joint_rows(arrays, island, bounces):
    """Make the rows of an island's joints those of the velocity solve, and take their impulses off the velocities.

    Parameters
    ----------
    arrays : StepArrays
        Written: rows, velocities.
    island, bounces : int64
    """
    members = views_of(arrays)
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    move_joint_rows(
        members.model.joints,
        members.joint_state,
        members.motion,
        members.problem.islands,
        island,
        contacts.count[0],
        numbers_of(members.settings.step).h,
        members.problem.rows,
        members.state.velocity,
        bounces == 1,
    )


@entry
def run_end_joints(arrays, is_last):
    """Note what the joints have borne, and break those that bore too much (``constraints.joints.breaking``).

    Parameters
    ----------
    arrays : StepArrays
        Written: impulses and state of the joints.
    is_last : int64
        1 in the frame's last substep: what the joints bear there is reported.

    Returns
    -------
    int64
        1 if joints have broken: then the substep is to be solved again.
    """
    members = views_of(arrays)
    model, joint_state, problem, step = (
        members.model,
        members.joint_state,
        members.problem,
        numbers_of(members.settings.step),
    )
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    rows, islands, contact_count = problem.rows, problem.islands, contacts.count[0]
    _share_among_redundant(members, contact_count, is_last == 1)
    measure_joints(
        model.joints, joint_state, step.h, rows, problem.contact_rows.joint_impulse, np.int64(3) * contact_count
    )
    # what falls for as long as a hit takes rests
    least = step.gravity_norm * step.impact_time
    find_hits(
        rows, islands, contact_count, contacts.gap, members.motion.start_velocity, step.h, least, joint_state.is_hit
    )
    if joint_state.spread.size > 0:
        start = members.motion.start_velocity
        find_hit_places(rows, islands, contact_count, contacts, start, step.h, least, model.joints, joint_state)
    if measure_loads(model.joints, joint_state, step.h, step.impact_time) > 1.0:
        break_first(model.joints, joint_state, members.motion, step.h, members.impulses.joint)
        find_glued(model.joints, joint_state.enabled, joint_state.broken, model.glued)
        return np.int64(1)
    let_collide(model.joints, joint_state, model.excluded_pairs)
    keep_loads(model.joints, joint_state, step.h, step.impact_time)
    keep_ledgers(members)
    impulses = members.impulses
    take_back(model.joints, joint_state, members.motion, members.state.velocity, impulses.solved, impulses.joint)
    for body in range(model.joints.is_jointed.size):
        note_gain(joint_state, body, _falls(members.motion.acceleration, body, step.h))
    return np.int64(0)


@subkernel
def _falls(acceleration, body, h):
    """What gravity and fields give a body's linear velocity in a substep [m/s]."""
    gravity = acceleration[min(body, acceleration.shape[0] - 1)]
    return h * gravity[0], h * gravity[1], h * gravity[2]


@subkernel
def _share_among_redundant(members, first_block, is_reported):
    """Let joints that could bear what others bear share it in the one way that is unique (``redundant_joints``).

    In substeps that somebody asks for it: those that are reported, all where joints may break, and that from which on
    an island stands. The next one begins with these impulses, so what rows bear against each other gathers nowhere.
    """
    problem, rows, islands = members.problem, members.problem.rows, members.problem.islands
    for island in range(islands.count[0]):
        # what stands still bears what it bore
        if members.solves.keeps_standing[island] or not has_joints(rows, islands, island, first_block):
            continue
        # what has just come to stand is kept as it is now
        stands = members.motion.memory.stands[islands.body_order[islands.body_first[island]]]
        if not (is_reported or stands or may_break(members, island, first_block)):
            continue
        if may_be_redundant(rows, islands, island, problem.parent):
            _gather_totals(members, island, first_block)
            kept, stiffness, first_row = (
                problem.jointed.kept_impulse,
                members.joint_state.bond_stiffness,
                3 * first_block,
            )
            if stiffness.shape[0] > 0:
                _gather_stiffness(members, island, first_block, stiffness)
            if find_least_impulses(rows, islands, island, problem.jointed, kept, stiffness, np.int64(first_row)):
                _take_least_impulses(members, first_block)


@subkernel
def _gather_totals(members, island, first_block):
    """Gather the impulses of an island's joints in the whole substep."""
    rows, islands, joint_state = members.problem.rows, members.problem.islands, members.joint_state
    joints, total, taken = members.model.joints, members.problem.jointed.kept_impulse, members.problem.contact_rows
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block < first_block:
            continue
        joint, row = joint_state.joint_of_block[block - first_block], rows.block_row[block]
        for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
            impact = taken.joint_impulse[row - np.int64(3) * first_block]
            total[row] = rows.impulse[row] + joint_state.given[index] + impact
            row += 1


@subkernel
def _gather_stiffness(members, island, first_block, stiffness):
    """Write how stiff the rows of an island's joints are: a layer of glue by its area, and by its second moments."""
    rows, islands, joint_state = members.problem.rows, members.problem.islands, members.joint_state
    joints = members.model.joints
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block < first_block:
            continue
        joint, row = joint_state.joint_of_block[block - first_block], rows.block_row[block] - np.int64(3) * first_block
        square = joints.size[joint] ** 2
        for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
            stiffness[row] = 1.0
            if is_bond(joints, joint) and joints.bond[joint, 5] > 0.0:
                bond = joints.bond[joint]
                stiffness[row] = bond[5] / square
                # rows of angles are those of lengths at the body's size
                if is_angle(joints.kind[index]):
                    axis = joints.axis[index]
                    about = bond[6] + bond[7] if axis == 0 else (bond[6] if axis == 1 else bond[7])
                    stiffness[row] *= about / square
            row += 1


@subkernel
def _take_least_impulses(members, first_block):
    """Add what least impulses differ by to those of the substep, and to those that the next one begins with."""
    rows, joints, joint_state = members.problem.rows, members.model.joints, members.joint_state
    shared, by_row = members.problem.jointed.islands, members.problem.jointed.alm.by_row
    for place in range(shared.block_first[1]):
        block = shared.block_order[place]
        joint, row = joint_state.joint_of_block[block - first_block], rows.block_row[block]
        for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
            if by_row.weight[row] < 0.0:
                rows.impulse[row] += by_row.shift[row]
                joint_state.impulse[index] += by_row.shift[row]
            row += 1


@entry
def run_wake_joined(arrays):
    """Wake what joints tie to bodies that are awake or driven; returns 1 if any island has woken."""
    members = views_of(arrays)
    h = numbers_of(members.settings.step).h
    return np.int64(1 if wake_joined(members.model, members.joint_state, members.state, members.sleep, h) else 0)
