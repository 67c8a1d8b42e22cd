"""What a step does for joints, by address: compiled for models that have some."""

import numpy as np

from ..compiled.kernel import entry, subkernel
from ..compiled.views import numbers_of, views_of
from ..constraints.contact_rows import fill_inertia
from ..constraints.joints.joint_motion import (
    add_stiffness,
    clear_stiffness,
    guess_velocity,
    keep_own,
    note_gain,
    place_between,
    restore_own,
    stiffen_body,
)
from ..constraints.joints.joint_rows import (
    KEEP,
    TAKE_KEPT,
    acts,
    build_joint_rows,
    end_error,
    fill_position_row,
    find_due_islands,
    find_held_bodies,
    find_joint_islands,
    note_opening,
    respond_anew,
    store_joint_impulses,
)
from ..constraints.joints.joint_velocity import end_joints, move_joint_rows
from .integration import place_at_end
from .position_update import END, write_position_velocity
from .sleeping import wake_joined


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
    h, gravity, step_rules = numbers_of(settings.step).h, settings.gravity, members.problem.step_rules
    left = numbers_of(settings.step).substeps - members.record.substeps[0]
    joint_state.time_left[0] = h * max(left, 1)
    falls = h * gravity[0], h * gravity[1], h * gravity[2]
    knows_all = find_held_bodies(joints, joint_state, motion.can_be_pushed)
    for body in range(joints.is_jointed.size):
        step_rules.is_held[body], step_rules.ring[body] = joint_state.is_held[body], joint_state.ring[body]
        if not joints.is_jointed[body]:
            continue
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
            add_stiffness(joints, joint_state, joint, joint_state.impulse, joints.row_first[joint])
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
def run_correct_joints(arrays, is_first, ends, is_last):
    """Measure the joints where the position solve leads, and correct their rows.

    Parameters
    ----------
    arrays : StepArrays
        Written: the joints' rows and state; the position velocities of islands that were solved again; what the next
        solve takes bodies for. If there is none, bodies are again what they are.
    is_first, ends, is_last : int64
        1: nothing has been corrected yet; Newton's method has had its corrections; there will be no other solve.

    Returns
    -------
    int64
        Islands that are to be solved again.
    """
    members = views_of(arrays)
    model, state, motion, joint_state = members.model, members.state, members.motion, members.joint_state
    joints, _problem, rows, islands = model.joints, members.problem, members.problem.rows, members.problem.islands
    h, contacts = numbers_of(members.settings.step).h, members.collision.contacts[members.collision.roles.present[0]]
    _move_bodies(members, is_first == 1)
    if is_first == 1:
        find_joint_islands(joint_state, islands, contacts.count[0])
    due = find_due_islands(
        joints,
        joint_state,
        state,
        model.size,
        motion.can_be_pushed,
        islands,
        h,
        rows,
        is_first == 1,
        ends == 1,
        is_last == 1,
    )
    for island in range(islands.count[0]):
        if joint_state.state_kept[island] == KEEP:
            _keep_solution(members, island)
        elif joint_state.state_kept[island] == TAKE_KEPT:
            _take_kept_solution(members, island)
    store_joint_impulses(joints, joint_state, rows)
    if due == 0 or is_last == 1:
        for body in range(joints.is_jointed.size):
            if joint_state.is_held[body]:
                restore_own(joint_state, motion, rows, body)
                for column in range(6):
                    joint_state.guess[body, column] = state.velocity[body, column]
        return np.int64(0)
    for island in range(islands.count[0]):
        if joint_state.is_due[island]:
            if joint_state.is_projected[island]:
                _place_island_at_end(members, island)
            else:
                _stiffen_island(members, island, h)
            respond_anew(islands, island, contacts.count[0], motion, rows)
            for place in range(islands.block_first[island], islands.block_first[island + 1]):
                block = islands.block_order[place]
                if block >= contacts.count[0]:
                    joint, row = joint_state.joint_of_block[block - contacts.count[0]], rows.block_row[block]
                    for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
                        fill_position_row(joints, joint_state, joint, index, motion, h, rows, row, block)
                        row += 1
            if joint_state.is_projected[island]:
                _start_from_solution(members, island)
    return due


@subkernel
def _move_bodies(members, is_first):
    """Where the bodies of joints go by the last solve, and the rules by which they do."""
    model, motion, joint_state = members.model, members.motion, members.joint_state
    islands, step_rule = members.problem.islands, members.problem.step_rules.step_rule
    h = numbers_of(members.settings.step).h
    if not is_first:
        for island in range(islands.count[0]):
            if joint_state.is_due[island]:
                _take_position_velocities(members, island)
    for body in range(model.joints.is_jointed.size):
        if model.joints.is_jointed[body]:
            if joint_state.is_held[body]:
                joint_state.share[body] = 1.0 if step_rule[body] == END else 0.5
            place_at_end(model, members.state, motion, h, body, joint_state.end_position, joint_state.end_orientation)


@subkernel
def _take_position_velocities(members, island):
    motion, joint_state, islands = members.motion, members.joint_state, members.problem.islands
    gravity, h = members.settings.gravity, numbers_of(members.settings.step).h
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body, own_velocity = islands.body_order[place], motion.free_velocity
        if joint_state.is_held[body]:
            own_velocity = joint_state.own_velocity
        write_position_velocity(
            members.problem.step_rules.step_rule,
            own_velocity,
            members.state.velocity,
            gravity,
            h,
            body,
            motion.position_velocity,
        )


@subkernel
def _keep_solution(members, island):
    """Keep velocities and impulses of an island."""
    islands, rows, kept = members.problem.islands, members.problem.rows, members.problem.jointed
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        for column in range(6):
            kept.kept_velocity[body, column] = members.state.velocity[body, column]
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            kept.kept_impulse[row] = rows.impulse[row]


@subkernel
def _take_kept_solution(members, island):
    """Take the velocities and impulses that were kept, and where they lead."""
    islands, rows, kept = members.problem.islands, members.problem.rows, members.problem.jointed
    joints, joint_state, h = members.model.joints, members.joint_state, numbers_of(members.settings.step).h
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        for column in range(6):
            members.state.velocity[body, column] = kept.kept_velocity[body, column]
    _take_position_velocities(members, island)
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        if joint_state.is_held[body]:
            end = joint_state.end_position, joint_state.end_orientation
            place_at_end(members.model, members.state, members.motion, h, body, end[0], end[1])
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            rows.impulse[row] = kept.kept_impulse[row]
        if block >= contacts.count[0]:
            joint = joint_state.joint_of_block[block - contacts.count[0]]
            for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
                joint_state.end_error[index] = end_error(joints, joint_state, joint, index)
            note_opening(joints, joint_state, joint)


@subkernel
def _stiffen_island(members, island, h):
    """What the next solve of an island takes its bodies for, at the velocities of the last one."""
    joints, motion, joint_state = members.model.joints, members.motion, members.joint_state
    islands, rows, velocity = members.problem.islands, members.problem.rows, members.state.velocity
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        if joint_state.is_held[body]:
            for column in range(6):
                joint_state.guess[body, column] = velocity[body, column]
            place_between(members.state, joint_state, body)
            clear_stiffness(joint_state, body)
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block >= contacts.count[0]:
            joint = joint_state.joint_of_block[block - contacts.count[0]]
            add_stiffness(joints, joint_state, joint, rows.impulse, rows.block_row[block])
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        if joint_state.is_held[body]:
            stiffen_body(joint_state, motion, body, h)
            fill_inertia(motion.inverse_inertia[body], rows.body_mass[body])


@subkernel
def _place_island_at_end(members, island):
    """Let the forces of joints act at the end poses of the last solve, on bodies as they are.

    Newton's method may miss the substep's equations where a hit changes velocities by much. What joints promise are
    poses at which they close. Forces that act there find some that are near, as masses weigh it, and where the error is
    small each correction squares it.
    """
    motion, joint_state = members.motion, members.joint_state
    islands, velocity = members.problem.islands, members.state.velocity
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        if not joint_state.is_held[body]:
            continue
        restore_own(joint_state, motion, members.problem.rows, body)
        for column in range(6):
            joint_state.guess[body, column] = velocity[body, column]
        for axis in range(3):
            joint_state.pose_position[body, axis] = joint_state.end_position[body, axis]
        for part in range(4):
            joint_state.pose_orientation[body, part] = joint_state.end_orientation[body, part]


@subkernel
def _start_from_solution(members, island):
    """Let the impulses of an island lead to the velocities of the last solve, whatever their rows are now."""
    islands, rows, is_held = members.problem.islands, members.problem.rows, members.joint_state.is_held
    free_velocity, velocity = members.motion.free_velocity, members.state.velocity
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        if is_held[body]:
            for column in range(6):
                free_velocity[body, column] = velocity[body, column]
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        a, b = rows.body_a[block], rows.body_b[block]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            for column in range(6):
                if is_held[a]:
                    free_velocity[a, column] -= rows.response[row, column] * rows.impulse[row]
                if is_held[b]:
                    free_velocity[b, column] -= rows.response[row, 6 + column] * rows.impulse[row]


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
def run_end_joints(arrays):
    """Note what the joints have borne, and break those that bore too much."""
    members = views_of(arrays)
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    end_joints(
        members.model.joints,
        members.joint_state,
        numbers_of(members.settings.step).h,
        members.problem.rows,
        members.problem.contact_rows.joint_impulse,
        np.int64(3) * contacts.count[0],
    )
    h, gravity = numbers_of(members.settings.step).h, members.settings.gravity
    for body in range(members.model.joints.is_jointed.size):
        note_gain(members.joint_state, body, (h * gravity[0], h * gravity[1], h * gravity[2]))


@entry
def run_wake_joined(arrays):
    """Wake what joints tie to bodies that are awake or driven; returns 1 if any island has woken."""
    members = views_of(arrays)
    h = numbers_of(members.settings.step).h
    return np.int64(1 if wake_joined(members.model, members.joint_state, members.state, members.sleep, h) else 0)
