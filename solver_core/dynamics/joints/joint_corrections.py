"""How the joints of an island are corrected where the position solve leads: in two ways, one after the other.

NEWTON: Newton's method for the substep's equations (``constraints.joints``). Mostly that is all. Where a hit changes
velocities by much it may miss them; what it leaves open by little is closed by poses (``pose_correction``).

START: where no poses close the joints, the equations have no solution, and what Newton's method ends at is one of
nothing; and poses that close them may be others than those that the bodies come to. What always has a solution, by
least squares, and makes no energy where it is solved, are the rows at the poses where the substep starts, with bodies
that move by END. Joints open by what such a step misses of their curves. It is taken where the former is not finite,
makes energy (``joint_energy``), or leaves joints open by much.
"""

import math

import numpy as np

from ...compiled.kernel import subkernel
from ...compiled.views import numbers_of
from ...constraints.contact_rows import fill_inertia
from ...constraints.joints.breaking import is_bond
from ...constraints.joints.joint_motion import add_stiffness, clear_stiffness, place_between, restore_own, stiffen_body
from ...constraints.joints.joint_rows import (
    RATIO_EXACT,
    fill_position_row,
    find_joint_islands,
    measure_end,
    measure_errors,
    respond_anew,
    store_joint_impulses,
)
from ...constraints.joints.row_measures import frames_of_joint
from ...solvers.joint_factor import only_holds
from ...solvers.shared.sweep import apply_impulses
from ..islands.islands import has_joints
from ..islands.policy import CORRECTIONS_PER_END, MOVED_NEAR
from ..motion.frame_impulses import keep_joints_of_positions, note_joints_of_positions
from ..motion.integration import place_at_end
from ..motion.position_update import END, write_position_velocity
from .end_stiffness import find_end_stiffness
from .joint_ends import ask_at_end, copy_contact_rows, find_turn_rates, keep_end_row, turns_far
from .joint_energy import is_finite, makes_energy

NEWTON, START = map(np.int64, range(2))

# Most corrections by Newton's method; and two from the start.
_MOST_BY_NEWTON = 12
MOST_CORRECTIONS = _MOST_BY_NEWTON + 2
# Velocities are those at which the joints' forces were taken where the difference moves a body by less than this share
# of its size.
_RATIO_MOVED = 1e-6
# If so many corrections in turn do not bring the least error so far down by this factor, there are no more. Newton's
# method begins with larger ones where a chain is nearly straight between two fixed points.
_PATIENCE, _RATIO_GAIN = 3, 0.9
# So stale is an island in which limits that push and joints hold against each other: its correction had no solution.
GIVEN_UP = np.int64(1 << 20)
# Joints that are open by more than the second share of their size when Newton's method ends are solved from the start;
# what is open by more than the first is closed after the solve (``pose_correction``).
RATIO_OPEN, _RATIO_FAR = 1e-7, 1e-2


@subkernel
def correct_joints(members, correction):
    """Measure the joints where the position solve leads, and correct their rows.

    Parameters
    ----------
    members : StepMembers
        Written: as of ``joint_stages.run_correct_joints``.
    correction : int64
        How many there have been in this pass.

    Returns
    -------
    int64
        Islands that are to be solved again.
    """
    joints, joint_state, islands = members.model.joints, members.joint_state, members.problem.islands
    can_be_pushed, rows, h = members.motion.can_be_pushed, members.problem.rows, numbers_of(members.settings.step).h
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    _move_bodies(members, correction == 0)
    if correction == 0:
        find_joint_islands(joint_state, islands, contacts.count[0])
    measure_errors(joints, joint_state, can_be_pushed, islands, h, rows, np.bool_(correction == 0))
    due = np.int64(0)
    for island in range(islands.count[0]):
        if correction == 0:
            joint_state.way[island] = NEWTON
            jointed = has_joints(rows, islands, island, contacts.count[0])
            joint_state.is_due[island] = jointed and not members.solves.keeps_standing[island]
        if joint_state.is_due[island]:
            if members.impulses.substep.is_kept[0] == 1:
                note_joints_of_positions(members, island)
            joint_state.is_due[island] = _is_to_go_on(members, island, correction)
        due += 1 if joint_state.is_due[island] else 0
    store_joint_impulses(joints, joint_state, rows)
    if due == 0:
        _end_corrections(members)
        return due
    for island in range(islands.count[0]):
        if joint_state.is_due[island]:
            _fill_rows(members, island, correction)
    return due


@subkernel
def _end_corrections(members):
    """Let bodies be what they are again."""
    joint_state, motion = members.joint_state, members.motion
    for body in range(members.model.joints.is_jointed.size):
        if joint_state.is_held[body]:
            restore_own(joint_state, motion, members.problem.rows, body)
            for column in range(6):
                joint_state.guess[body, column] = members.state.velocity[body, column]


@subkernel
def _is_to_go_on(members, island, correction):
    """Choose the way in which an island's joints are corrected next; returns whether they are."""
    joint_state = members.joint_state
    if correction == 0:
        joint_state.error[island] = joint_state.least[island] = joint_state.least_off[island] = math.inf
        joint_state.stale[island] = 0
        joint_state.is_slow[island] = joint_state.has_no_end[island] = False
    if joint_state.way[island] == NEWTON:
        return _is_to_go_on_by_newton(members, island, correction)
    off = joint_state.off[island] if is_finite(members, island) else math.inf
    if joint_state.stale[island] == 0 and off < math.inf:
        joint_state.stale[island] = 1
        return True
    if off == math.inf or makes_energy(members, island, True):
        _let_go(members, island)
    return False


@subkernel
def _is_to_go_on_by_newton(members, island, correction):
    joint_state, h = members.joint_state, numbers_of(members.settings.step).h
    worst, has_solution = math.inf, joint_state.stale[island] < GIVEN_UP
    if has_solution and is_finite(members, island):
        moved = _motion_off(joint_state, members.state.velocity, members.model.size, members.problem.islands, island, h)
        worst = max(joint_state.off[island], moved)
        is_slow = joint_state.is_slow[island] or _needs_more(worst, joint_state.error[island])
        joint_state.is_slow[island] = moved * _RATIO_MOVED <= MOVED_NEAR and is_slow
    goes_on = _gains(joint_state, island, worst) and correction < _MOST_BY_NEWTON
    is_least = worst < joint_state.least[island]
    if is_least:
        joint_state.least[island], joint_state.least_off[island] = worst, joint_state.off[island]
    if goes_on:
        if is_least:
            _keep_solution(members, island)
        return True
    is_open = joint_state.least_off[island] > RATIO_OPEN / RATIO_EXACT
    if (is_open or not has_solution) and joint_state.least[island] < math.inf:
        if is_least:
            _keep_solution(members, island)
        else:
            _take_kept_solution(members, island)
    was_open = is_open or joint_state.starts_open[island]
    is_near = joint_state.least_off[island] <= _RATIO_FAR / RATIO_EXACT
    if joint_state.least[island] < math.inf and is_near and not makes_energy(members, island, was_open):
        joint_state.off[island] = joint_state.least_off[island]
        return False
    joint_state.way[island], joint_state.stale[island] = START, 0
    return True


@subkernel
def may_break(members, island, first_block):
    """Whether some joint of an island breaks under some load.

    Parameters
    ----------
    members : StepMembers
        Read.
    island, first_block : int64
        Blocks from this one on are joints.

    Returns
    -------
    bool
    """
    islands, joint_state = members.problem.islands, members.joint_state
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block >= first_block:
            joint = joint_state.joint_of_block[block - first_block]
            breaking = joint_state.breaking[joint]
            if min(breaking[0], breaking[1]) < math.inf or is_bond(members.model.joints, joint):
                return True
    return False


@subkernel
def _needs_more(worst, least):
    """Whether more than a few corrections that come nearer as the last one did are to come."""
    return least < math.inf and worst * (worst / least) ** CORRECTIONS_PER_END > 1.0


@subkernel
def _gains(joint_state, island, worst):
    """Note an error; returns whether it is too large, and corrections still make it smaller."""
    if worst <= _RATIO_GAIN * joint_state.error[island]:
        joint_state.error[island], joint_state.stale[island] = worst, 0
    else:
        joint_state.stale[island] += 1
    return worst > 1.0 and joint_state.stale[island] < _PATIENCE


@subkernel
def _motion_off(joint_state, velocity, size, islands, island, h):
    """How much farther bodies of joints move than was taken for granted, over what is allowed."""
    largest = 0.0
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        if joint_state.is_held[body]:
            linear, angular = 0.0, 0.0
            for axis in range(3):
                linear += (velocity[body, axis] - joint_state.guess[body, axis]) ** 2
                angular += (velocity[body, 3 + axis] - joint_state.guess[body, 3 + axis]) ** 2
            moved = h * (math.sqrt(linear) / size[body] + math.sqrt(angular))
            largest = max(largest, moved / _RATIO_MOVED)
    return largest


@subkernel
def _move_bodies(members, is_first):
    """Where the bodies of joints go by the last solve, and the rules by which they do."""
    islands, joint_state = members.problem.islands, members.joint_state
    if is_first:
        for body in range(members.model.joints.is_jointed.size):
            if members.model.joints.is_jointed[body]:
                _move_body(members, body)
        return
    for island in range(islands.count[0]):
        if joint_state.is_due[island]:
            _move_island(members, island)


@subkernel
def _move_island(members, island):
    """Where the bodies of an island go by its velocities."""
    islands = members.problem.islands
    _take_position_velocities(members, island)
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        if members.model.joints.is_jointed[islands.body_order[place]]:
            _move_body(members, islands.body_order[place])


@subkernel
def _move_body(members, body):
    joint_state = members.joint_state
    if joint_state.is_held[body]:
        joint_state.share[body] = 1.0 if members.problem.step_rules.step_rule[body] == END else 0.5
    h = numbers_of(members.settings.step).h
    place_at_end(
        members.model, members.state, members.motion, h, body, joint_state.end_position, joint_state.end_orientation
    )


@subkernel
def _take_position_velocities(members, island):
    motion, joint_state, islands = members.motion, members.joint_state, members.problem.islands
    h = numbers_of(members.settings.step).h
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body, own_velocity = islands.body_order[place], motion.free_velocity
        if joint_state.is_held[body]:
            own_velocity = joint_state.own_velocity
        write_position_velocity(
            members.problem.step_rules.step_rule,
            own_velocity,
            members.state.velocity,
            motion.acceleration,
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
        kept.kept_rule[body] = members.problem.step_rules.step_rule[body]
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            kept.kept_impulse[row] = rows.impulse[row]
    if members.impulses.substep.is_kept[0] == 1:
        keep_joints_of_positions(members, island, False)


@subkernel
def _take_kept_solution(members, island):
    """Take the velocities and impulses that were kept, and where they lead."""
    islands, rows, kept = members.problem.islands, members.problem.rows, members.problem.jointed
    joints, joint_state = members.model.joints, members.joint_state
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    if members.impulses.substep.is_kept[0] == 1:
        keep_joints_of_positions(members, island, True)
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        for column in range(6):
            members.state.velocity[body, column] = kept.kept_velocity[body, column]
        members.problem.step_rules.step_rule[body] = kept.kept_rule[body]
    _move_island(members, island)
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            rows.impulse[row] = kept.kept_impulse[row]
        if block >= contacts.count[0]:
            measure_end(joints, joint_state, joint_state.joint_of_block[block - contacts.count[0]])


@subkernel
def _stiffen_island(members, island, h, at_end):
    """What the next solve of an island takes its bodies for, at the velocities of the last one."""
    joint_state, islands, velocity = members.joint_state, members.problem.islands, members.state.velocity
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        if joint_state.is_held[body]:
            for column in range(6):
                joint_state.guess[body, column] = velocity[body, column]
            place_between(members.state, joint_state, body)
    _stiffen_bodies(members, island, h, at_end)


@subkernel
def _stiffen_bodies(members, island, h, at_end):
    """Let bodies be as stiff as impulses at the present poses make them."""
    joints, motion, joint_state = members.model.joints, members.motion, members.joint_state
    islands, rows = members.problem.islands, members.problem.rows
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        if joint_state.is_held[body]:
            clear_stiffness(joint_state, body)
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block >= contacts.count[0]:
            joint = joint_state.joint_of_block[block - contacts.count[0]]
            first, poses = rows.block_row[block], (joint_state.pose_position, joint_state.pose_orientation)
            add_stiffness(joints, joint_state, joint, rows.impulse, first, poses[0], poses[1])
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        if joint_state.is_held[body] and at_end:
            restore_own(joint_state, motion, rows, body)
        elif joint_state.is_held[body]:
            stiffen_body(joint_state, motion, body, h)
            fill_inertia(motion.inverse_inertia[body], rows.body_mass[body])


@subkernel
def _place_island_at_start(members, island, h):
    """Let forces act where the substep starts, on bodies that move by END: on what they are, with no impulses, then
    on bodies as stiff as the impulses of that solve make them.

    The stiffness is that of implicit Euler (Tournier et al. 2015): it takes from what swings across heavy loads many
    times in a substep, and gives nothing.
    """
    motion, joint_state, state = members.motion, members.joint_state, members.state
    islands, rows = members.problem.islands, members.problem.rows
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        members.problem.step_rules.step_rule[body] = END
        if not joint_state.is_held[body]:
            continue
        restore_own(joint_state, motion, rows, body)
        joint_state.share[body] = 1.0
        for axis in range(3):
            joint_state.pose_position[body, axis] = state.position[body, axis]
        for part in range(4):
            joint_state.pose_orientation[body, part] = state.orientation[body, part]
        for column in range(6):
            joint_state.guess[body, column] = 0.0
    if joint_state.stale[island] == 0:
        _forget_impulses(members, island)
    else:
        _stiffen_bodies(members, island, h, np.bool_(False))


@subkernel
def _let_go(members, island):
    """Let an island's bodies fall: there was no solution that is a number, or does not make energy."""
    _forget_impulses(members, island)
    apply_impulses(
        members.problem.rows, members.problem.islands, island, members.motion.free_velocity, members.state.velocity
    )
    _move_island(members, island)
    if members.impulses.substep.is_kept[0] == 1:
        note_joints_of_positions(members, island)


@subkernel
def _forget_impulses(members, island):
    islands, rows = members.problem.islands, members.problem.rows
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            rows.impulse[row] = 0.0


@subkernel
def _may_ask_at_end(members, island, correction):
    """Whether an island's next correction asks for what errors at the end change by, at the price of a factor L U.

    Contacts keep their impulses then, or there are none: motors and friction are solved with what they act on. Without
    that, corrections of what turns far lead away, and others come nearer by a factor each only.
    """
    joint_state, settings = members.joint_state, numbers_of(members.settings.step)
    if settings.small_steps == 0 or joint_state.has_no_end[island]:
        return np.bool_(False)
    if not (joint_state.is_slow[island] or turns_far(members, island)):
        return np.bool_(False)
    if correction > 0 and joint_state.was_swept[island]:
        return np.bool_(True)
    return np.bool_(only_holds(members.problem.rows, members.problem.islands, island))


@subkernel
def _fill_rows(members, island, correction):
    """The rows of an island's next solve, by the way in which its joints are corrected."""
    joints, joint_state, motion = members.model.joints, members.joint_state, members.motion
    islands, rows, h = members.problem.islands, members.problem.rows, numbers_of(members.settings.step).h
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    way = joint_state.way[island]
    if way == NEWTON:
        at_end = _may_ask_at_end(members, island, correction)
        _stiffen_island(members, island, h, at_end)
    else:
        at_end = np.bool_(False)
        _place_island_at_start(members, island, h)
    joint_state.asks_at_end[island] = at_end
    respond_anew(islands, island, contacts.count[0], motion, rows)
    if at_end:
        find_turn_rates(members, island)
        copy_contact_rows(members, island, contacts.count[0])
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block >= contacts.count[0]:
            joint, row = joint_state.joint_of_block[block - contacts.count[0]], rows.block_row[block]
            frames = frames_of_joint(joints, joint, joint_state.pose_position, joint_state.pose_orientation)
            for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
                if at_end:
                    keep_end_row(members, joint, index, row)
                fill_position_row(joints, joint_state, joint, index, frames, motion, h, rows, row, block, way == START)
                if at_end:
                    ask_at_end(members, joint, index, row, block)
                row += 1
    if at_end:
        find_end_stiffness(members, island, contacts.count[0], h)
