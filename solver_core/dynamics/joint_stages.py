"""What a step does for joints, by address: compiled for models that have some."""

import numpy as np

from ..compiled.kernel import entry
from ..compiled.views import numbers_of, views_of, whole
from ..constraints.joints.joint_rows import (
    build_joint_rows,
    correct_joint_rows,
    find_joint_islands,
    store_joint_impulses,
)
from ..constraints.joints.joint_velocity import end_joints, move_joint_rows
from .integration import place_at_end
from .position_update import FALLS, write_position_velocity
from .sleeping import wake_joined


@entry
def run_build_joint_rows(arrays):
    """Add the joints' rows behind those of the contacts."""
    members = views_of(arrays)
    joints, joint_state, problem = members.model.joints, members.joint_state, members.problem
    settings, never_means = members.settings, members.problem.step_rules.never_means
    build_joint_rows(
        whole(joints),
        whole(joint_state),
        whole(members.state),
        members.motion,
        settings.gravity,
        numbers_of(settings.step).h,
        whole(problem.rows),
    )
    for row in range(joint_state.impulse.size):
        problem.contact_rows.joint_impulse[row] = 0.0
    for body in range(never_means.size):
        never_means[body] = False
    for joint in range(joints.body_a.size):
        if joint_state.block[joint] >= 0:
            for body in (joints.body_a[joint], joints.body_b[joint]):
                if body >= 0:
                    never_means[body] = True


@entry
def run_correct_joints(arrays, is_first):
    """Measure the joints where the position solve leads, and correct their rows.

    Parameters
    ----------
    arrays : StepArrays
        Written: the joints' rows and state; the position velocities of islands that were solved again.
    is_first : int64
        1: nothing has been corrected yet.

    Returns
    -------
    int64
        Islands that are to be solved again.
    """
    members = views_of(arrays)
    model, state, motion, joint_state = members.model, members.state, members.motion, members.joint_state
    joints, problem, settings = model.joints, members.problem, members.settings
    h, islands, step_rule = numbers_of(settings.step).h, problem.islands, problem.step_rules.step_rule
    if is_first == 1:
        contacts = members.collision.contacts[members.collision.roles.present[0]]
        find_joint_islands(joint_state, islands, contacts.count[0])
        for body in range(step_rule.size):
            joint_state.falls[body] = step_rule[body] == FALLS
    else:
        for island in range(islands.count[0]):
            if joint_state.is_due[island]:
                for place in range(islands.body_first[island], islands.body_first[island + 1]):
                    write_position_velocity(
                        step_rule,
                        motion.free_velocity,
                        state.velocity,
                        settings.gravity,
                        h,
                        islands.body_order[place],
                        motion.position_velocity,
                    )
    for body in range(joints.is_jointed.size):
        if joints.is_jointed[body]:
            place_at_end(model, state, motion, h, body, joint_state.end_position, joint_state.end_orientation)
    due = correct_joint_rows(
        whole(joints),
        whole(joint_state),
        whole(state),
        motion,
        islands,
        settings.gravity,
        h,
        whole(problem.rows),
        is_first == 1,
    )
    store_joint_impulses(joints, joint_state, problem.rows)
    return due


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
        whole(members.model.joints),
        whole(members.joint_state),
        members.motion,
        members.problem.islands,
        island,
        contacts.count[0],
        numbers_of(members.settings.step).h,
        whole(members.problem.rows),
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


@entry
def run_wake_joined(arrays):
    """Wake what joints tie to bodies that are awake or driven; returns 1 if any island has woken."""
    members = views_of(arrays)
    h = numbers_of(members.settings.step).h
    return np.int64(1 if wake_joined(members.model, members.joint_state, members.state, members.sleep, h) else 0)
