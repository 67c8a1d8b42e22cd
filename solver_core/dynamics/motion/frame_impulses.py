"""The contacts of a frame and what they have given: impulses of all of its substeps, which are the change of momentum.

A frame has several substeps, and each solves the contacts anew. A contact that goes on from one substep to the next
(``ContactArrays.matched``) is one contact of the frame: its impulses are added up, and its place, normal and slip are
means of the substeps, weighted by how hard it pushed there. The slip of a substep is the mean of those at its start and
at its end, so that friction takes the energy r . slip, to the order of the step.

With P of a contact, Q of a joint on one of its bodies, F = m ((k - 1) v_start + h g) of gravity and fields, and of
damping, which leaves the share k of a velocity,

    m (v_end - v_start) = F + sum of P + sum of Q + rest

for each body that can be pushed, in each substep and so in each frame. Nothing in it is what is left over: ``rest`` is
measured where a velocity is changed by what is no impulse of a contact or joint,

- what small steps owe to conservation laws (``solvers.small_step_balance``), and bounds of what something driven pushes
  (``pinches``, ``motion_bounds``),
- the energy of rolling that is given back (``rolling_energy``), and that of joints that is taken (``joint_ledger``),
- largest speeds of bodies,
- what stands still has no velocity, and keeps its impulses until the frame ends (``standstill``): these balance gravity
  to the solver's tolerance, and the difference is noted here; so is the velocity of what falls asleep.

What joints bear is the solution of two solves, at other poses each: rows of the first one have pushed as these poses
say (``note_joints_of_positions``), and are taken off and given anew as rows of the second one say.

Arrays are empty where nothing is kept, and all that is left then is to ask whether it is.
"""

from typing import NamedTuple

import numpy as np

from ...compiled.kernel import entry, subkernel
from ...compiled.views import numbers_of, views_of
from ...constraints.contact_rows import ROWS_PER_CONTACT, normal_speed
from ...problem.substep_impulses import SubstepImpulses, allocate_substep_impulses
from .integration import share_kept

# What a frame tells ``run_keep_impulses``: the velocities of a substep are solved; its bodies have moved; bodies have
# fallen asleep; the rest of the frame repeats the last substep so many times.
SOLVED, MOVED, SLEPT, REPEATED = (np.int64(number) for number in range(4))


class FrameImpulses(NamedTuple):
    """The contacts of a frame, R at most, and what they and joints have given.

    Attributes
    ----------
    substep : SubstepImpulses
    count, needed : int64 [1]
        Contacts so far; the room that the next substep needs.
    turn : int64 [1]
        Which half of ``place`` is that of the last substep.
    place : int64 [2, contact_capacity]
        Where the contacts of a substep and of the one before it are among those of the frame; -1: nowhere.
    body_a, body_b : int64 [R]
    impulse, position, normal, slip : float64 [R, 3]
        On body b [N s]; the others times ``weight``: [m], unit, velocity of b's surface along a's [m/s].
    weight : float64 [R]
        Sum of the substeps' impulses, each by its size [N s].
    solved : float64 [body_count, 6]
        Velocities that the substep's solves, and then its other stages, have led to.
    forces, rest : float64 [body_count, 3]
        Impulses of gravity, fields and damping, and of what is no force [N s].
    joint_solution, joint_kept : float64 [joint_count, 6]
        What joints gave in the present position solve, on body a and on body b [N s], and in the one that is kept.
    joint_substep : float64 [joint_count, 6]
        What they gave in the substep, likewise.
    joint : float64 [joint_count, 9]
        In the frame: impulse on body a, on body b [N s], and moment on body b about the joint [N m s].
    """

    substep: SubstepImpulses
    count: np.ndarray
    needed: np.ndarray
    turn: np.ndarray
    place: np.ndarray
    body_a: np.ndarray
    body_b: np.ndarray
    impulse: np.ndarray
    position: np.ndarray
    normal: np.ndarray
    slip: np.ndarray
    weight: np.ndarray
    solved: np.ndarray
    forces: np.ndarray
    rest: np.ndarray
    joint_solution: np.ndarray
    joint_kept: np.ndarray
    joint_substep: np.ndarray
    joint: np.ndarray


# Arrays with an entry a contact of the frame.
_OF_CONTACTS = ("body_a", "body_b", "impulse", "position", "normal", "slip", "weight")


def allocate_frame_impulses(contact_capacity: int, body_count: int, joint_count: int, is_kept: bool) -> FrameImpulses:
    """Memory for the frames of so many bodies and joints; none if nothing is kept."""
    contacts, bodies, joints = (contact_capacity, body_count, joint_count) if is_kept else (0, 0, 0)
    vectors = {name: np.zeros((contacts, 3)) for name in ("impulse", "position", "normal", "slip")}
    return FrameImpulses(
        substep=allocate_substep_impulses(contact_capacity, body_count, is_kept),
        count=np.zeros(1, np.int64),
        needed=np.zeros(1, np.int64),
        turn=np.zeros(1, np.int64),
        place=np.full((2, contacts), -1),
        body_a=np.zeros(contacts, np.int64),
        body_b=np.zeros(contacts, np.int64),
        weight=np.zeros(contacts),
        solved=np.zeros((bodies, 6)),
        forces=np.zeros((bodies, 3)),
        rest=np.zeros((bodies, 3)),
        joint_solution=np.zeros((joints, 6)),
        joint_kept=np.zeros((joints, 6)),
        joint_substep=np.zeros((joints, 6)),
        joint=np.zeros((joints, 9)),
        **vectors,
    )


def grown_frame_impulses(impulses: FrameImpulses, contact_capacity: int) -> FrameImpulses:
    """The same with room for contact buffers of that capacity, and for twice what the next substep needs.

    Parameters
    ----------
    impulses : FrameImpulses
        Of a step that keeps them.
    contact_capacity : int
        At least what there has been room for.
    """
    room = len(impulses.weight)
    if impulses.needed[0] > room:
        room = 2 * int(impulses.needed[0])
    of_contacts = {name: _grown(getattr(impulses, name), room) for name in _OF_CONTACTS}
    place = np.full((2, contact_capacity), -1)
    place[:, : impulses.place.shape[1]] = impulses.place
    beside = _grown(impulses.substep.beside, contact_capacity)
    return impulses._replace(substep=impulses.substep._replace(beside=beside), place=place, **of_contacts)


def _grown(array, room):
    larger = np.zeros((room, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


def begin_frame_impulses(impulses: FrameImpulses, velocity) -> None:
    """Begin a frame in which nothing has pushed yet.

    Parameters
    ----------
    impulses : FrameImpulses
        Written.
    velocity : float64 [body_count, 6]
        Read.
    """
    impulses.count[0] = 0
    impulses.solved[:] = velocity
    for array in (impulses.forces, impulses.rest, impulses.joint_substep, impulses.joint):
        array.fill(0.0)


@subkernel
def has_room_for_contacts(impulses):
    """Whether a substep finds room for its contacts, however many its buffer holds; ``needed`` says for how many."""
    impulses.needed[0] = impulses.count[0] + impulses.place.shape[1]
    return impulses.needed[0] <= impulses.weight.shape[0]


@entry
def run_keep_impulses(arrays, moment, times):
    """Note what a stage of the step has done to momentum.

    Parameters
    ----------
    arrays : StepArrays
        Written: impulses.
    moment : int64
        SOLVED, MOVED, SLEPT or REPEATED.
    times : int64
        Of REPEATED.
    """
    members = views_of(arrays)
    impulses, velocity = members.impulses, members.state.velocity
    if moment in (SLEPT, MOVED):
        _add_changes(members)
    if moment == MOVED:
        _add_substep(members)
    if moment == REPEATED:
        # one by one, so that sums are the same to the bit whether a frame is simulated in one go or in steps
        for _ in range(times):
            _repeat_substep(members)
    else:
        for body in range(velocity.shape[0]):
            for column in range(6):
                impulses.solved[body, column] = velocity[body, column]


@subkernel
def _add_changes(members):
    """Count what has changed velocities since they were last noted as no impulse."""
    impulses, velocity = members.impulses, members.state.velocity
    for body in range(velocity.shape[0]):
        if members.motion.can_be_pushed[body]:
            for axis in range(3):
                change = velocity[body, axis] - impulses.solved[body, axis]
                impulses.rest[body, axis] += members.model.mass[body] * change


@subkernel
def _add_substep(members):
    """Add what acted in a substep, before its contacts become those of the last one."""
    impulses, motion, step = members.impulses, members.motion, numbers_of(members.settings.step)
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    now, is_first = 1 - impulses.turn[0], members.record.substeps[0] == 0
    impulses.turn[0] = now
    for contact in range(contacts.count[0]):
        earlier, place = contacts.matched[contact], np.int64(-1)
        if earlier >= 0 and not is_first:
            place = impulses.place[1 - now, earlier]
        impulses.place[now, contact] = _add_contact(members, contacts, contact, place)
    for body in range(motion.can_be_pushed.size):
        if motion.can_be_pushed[body]:
            for axis in range(3):
                force = _force(members, body, axis, motion.start_velocity[body, axis], step.h)
                impulses.forces[body, axis] += force
                impulses.rest[body, axis] += impulses.substep.balance[body, axis]
    if members.model.matter.largest_speed.size > 0:
        _add_limits(members, step.h)
    _add_standing(members, contacts, step.h)
    _add_joints(members, step.h)


@subkernel
def _force(members, body, axis, velocity, h):
    """What gravity, fields and damping give a body in a substep that it begins with a ``velocity`` [N s]."""
    kept = share_kept(members.model.linear_damping[body], h)
    acceleration = members.motion.acceleration
    pull = acceleration[min(body, acceleration.shape[0] - 1), axis]
    return members.model.mass[body] * ((kept - 1.0) * velocity + h * pull)


@subkernel
def _add_limits(members, h):
    """Count as no impulse what bodies lose that may not fall faster than they do (``constraints.matter``)."""
    impulses, motion, largest = members.impulses, members.motion, members.model.matter.largest_speed
    for body in range(largest.size):
        if not motion.can_be_pushed[body]:
            continue
        square = 0.0
        for axis in range(3):
            start = motion.start_velocity[body, axis]
            square += (start + _force(members, body, axis, start, h) / members.model.mass[body]) ** 2
        if square > largest[body] ** 2:
            lost = largest[body] / np.sqrt(square) - 1.0
            for axis in range(3):
                start = motion.start_velocity[body, axis]
                momentum = members.model.mass[body] * start + _force(members, body, axis, start, h)
                impulses.rest[body, axis] += lost * momentum


@subkernel
def impulse_of(members, contact):
    """What a contact has given body b in the last substep, world axes [N s]."""
    rows, beside = members.problem.rows, members.impulses.substep.beside[contact]
    p0, p1, p2 = beside[0], beside[1], beside[2]
    for row in range(rows.block_row[contact], rows.block_row[contact + 1]):
        size, direction = rows.impulse[row], rows.jacobian[row]
        p0, p1, p2 = p0 + size * direction[6], p1 + size * direction[7], p2 + size * direction[8]
    return p0, p1, p2


@subkernel
def _add_contact(members, contacts, contact, place):
    """Add a contact of a substep to its ``place`` in the frame; returns that, and a new one if it was nowhere."""
    impulses = members.impulses
    impulse = impulse_of(members, contact)
    weight = np.sqrt(impulse[0] ** 2 + impulse[1] ** 2 + impulse[2] ** 2)
    if weight == 0.0:
        return place
    if place < 0:
        place = impulses.count[0]
        impulses.count[0] += 1
        impulses.body_a[place], impulses.body_b[place] = contacts.body_a[contact], contacts.body_b[contact]
        impulses.weight[place] = 0.0
        for axis in range(3):
            impulses.impulse[place, axis] = impulses.position[place, axis] = 0.0
            impulses.normal[place, axis] = impulses.slip[place, axis] = 0.0
    slip = _slip(members, contacts, contact)
    impulses.weight[place] += weight
    for axis in range(3):
        impulses.impulse[place, axis] += impulse[axis]
        impulses.position[place, axis] += weight * contacts.position[contact, axis]
        impulses.normal[place, axis] += weight * contacts.normal[contact, axis]
        impulses.slip[place, axis] += weight * slip[axis]
    return place


@subkernel
def _slip(members, contacts, contact):
    """Velocity of b's surface along a's, the mean of a substep's start and end [m/s]."""
    rows, motion, solved = members.problem.rows, members.motion, members.impulses.solved
    a, b, first = rows.body_a[contact], rows.body_b[contact], rows.block_row[contact]
    drags = (motion.can_be_pushed[a] or members.model.surface_drags[a]) and (
        motion.can_be_pushed[b] or members.model.surface_drags[b]
    )
    s0 = s1 = s2 = 0.0
    for row in range(first + 1, first + ROWS_PER_CONTACT):
        direction = rows.jacobian[row]
        d0, d1, d2 = direction[6], direction[7], direction[8]
        speed = 0.5 * normal_speed(rows.jacobian, row, motion.start_velocity, a, b)
        speed += 0.5 * normal_speed(rows.jacobian, row, solved, a, b)
        if drags:
            own = contacts.surface_velocity[contact]
            speed += d0 * own[0] + d1 * own[1] + d2 * own[2]
        s0, s1, s2 = s0 + speed * d0, s1 + speed * d1, s2 + speed * d2
    return s0, s1, s2


@subkernel
def _add_standing(members, contacts, h):
    """Count as no impulse what keeps velocities of islands that stand still, where their impulses would change them."""
    impulses, islands, motion = members.impulses, members.problem.islands, members.motion
    for island in range(islands.count[0]):
        if not members.solves.keeps_standing[island]:
            continue
        for index in range(islands.body_first[island], islands.body_first[island + 1]):
            body = islands.body_order[index]
            for axis in range(3):
                start = motion.start_velocity[body, axis]
                impulses.rest[body, axis] -= _force(members, body, axis, start, h)
        for index in range(islands.block_first[island], islands.block_first[island + 1]):
            block = islands.block_order[index]
            if block < contacts.count[0]:
                _count_as_rest(members, block)
            else:
                _count_joint_as_rest(members, members.joint_state.joint_of_block[block - contacts.count[0]])


@subkernel
def _count_as_rest(members, contact):
    """Take what a contact has given its bodies off them again, as no impulse."""
    rest, can_be_pushed, rows = members.impulses.rest, members.motion.can_be_pushed, members.problem.rows
    a, b, impulse = rows.body_a[contact], rows.body_b[contact], impulse_of(members, contact)
    for axis in range(3):
        if can_be_pushed[a]:
            rest[a, axis] += impulse[axis]
        if can_be_pushed[b]:
            rest[b, axis] -= impulse[axis]


@subkernel
def _add_joints(members, h):
    """Add what joints have given in a substep."""
    joint_state, impulses = members.joint_state, members.impulses
    for joint in range(members.model.joints.body_a.size):
        if joint_state.broken[joint] or joint_state.block[joint] < 0:
            continue
        for column in range(6):
            impulses.joint[joint, column] += impulses.joint_substep[joint, column]
        for axis in range(3):
            impulses.joint[joint, 6 + axis] += h * joint_state.force[joint, 3 + axis]


@subkernel
def _repeat_substep(members):
    """Add the last substep's impulses once more, since nothing moves any more until the frame ends."""
    impulses, motion, h = members.impulses, members.motion, numbers_of(members.settings.step).h
    joints, joint_state = members.model.joints, members.joint_state
    contacts = members.collision.contacts[members.collision.roles.last_substep[0]]
    now = impulses.turn[0]
    for contact in range(contacts.count[0]):
        if impulses.place[now, contact] >= 0:
            _add_contact(members, contacts, contact, impulses.place[now, contact])
            _count_as_rest(members, contact)
    for body in range(motion.can_be_pushed.size):
        if motion.can_be_pushed[body]:
            for axis in range(3):
                force = _force(members, body, axis, members.state.velocity[body, axis], h)
                impulses.forces[body, axis] += force
                impulses.rest[body, axis] -= force
    _add_joints(members, h)
    for joint in range(joints.body_a.size):
        if not joint_state.broken[joint] and joint_state.block[joint] >= 0:
            _count_joint_as_rest(members, joint)


@subkernel
def _count_joint_as_rest(members, joint):
    """Take what a joint has given its bodies off them again, as no impulse."""
    joints, impulses, motion = members.model.joints, members.impulses, members.motion
    for column in range(6):
        body = joints.body_a[joint] if column < 3 else joints.body_b[joint]
        if body >= 0 and motion.can_be_pushed[body]:
            impulses.rest[body, column % 3] -= impulses.joint_substep[joint, column]


@subkernel
def note_joints_of_positions(members, island):
    """Note what the joints of an island have given in the position solve that has just ended, by the rows that it had.

    Parameters
    ----------
    members : StepMembers
        Written: ``impulses.joint_solution``.
    island : int64
    """
    islands, rows, joint_state = members.problem.islands, members.problem.rows, members.joint_state
    contact_count = members.collision.contacts[members.collision.roles.present[0]].count[0]
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block < contact_count:
            continue
        solution = members.impulses.joint_solution[joint_state.joint_of_block[block - contact_count]]
        for column in range(6):
            solution[column] = 0.0
        for row in range(rows.block_row[block], rows.block_row[block + 1]):
            _add_row(rows, row, rows.impulse[row], solution)


@subkernel
def _add_row(rows, row, impulse, total):
    """Add what an impulse of a row gives bodies a and b."""
    for axis in range(3):
        total[axis] += rows.jacobian[row, axis] * impulse
        total[3 + axis] += rows.jacobian[row, 6 + axis] * impulse


@subkernel
def keep_joints_of_positions(members, island, is_kept):
    """Keep an island's ``joint_solution``, or take the one that ``is_kept``, as its velocities are."""
    islands, joint_state, impulses = members.problem.islands, members.joint_state, members.impulses
    contact_count = members.collision.contacts[members.collision.roles.present[0]].count[0]
    source = impulses.joint_kept if is_kept else impulses.joint_solution
    target = impulses.joint_solution if is_kept else impulses.joint_kept
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block >= contact_count:
            joint = joint_state.joint_of_block[block - contact_count]
            for column in range(6):
                target[joint, column] = source[joint, column]


@subkernel
def note_joints_of_velocities(members, rows, islands, island, contact_count, is_added):
    """Note what the joints of an island have given in a substep, by the rows of the velocity solve that has just ended.

    What the rows now hold, and impacts had, comes on top of what the position solve gave, from which what they begin
    with has been taken off (``joint_velocity.move_joint_rows``).

    Parameters
    ----------
    members : StepMembers
        Written: ``impulses.joint_substep``.
    rows, islands, island
        Read.
    contact_count : int64
        Blocks from this one on are joints.
    is_added : bool
        Whether the velocity solve has any part in it.
    """
    joints, joint_state, impulses = members.model.joints, members.joint_state, members.impulses
    of_impacts = members.problem.contact_rows.joint_impulse
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block < contact_count:
            continue
        joint, row = joint_state.joint_of_block[block - contact_count], rows.block_row[block]
        total = impulses.joint_substep[joint]
        for column in range(6):
            total[column] = impulses.joint_solution[joint, column]
        for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
            if is_added:
                taken = joint_state.impulse[index] - joint_state.given[index]
                impact = of_impacts[row - ROWS_PER_CONTACT * contact_count]
                _add_row(rows, row, rows.impulse[row] + impact - taken, total)
            row += 1
