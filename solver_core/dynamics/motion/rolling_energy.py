"""What rolls or slides along smooth surfaces keeps its energy, less what friction and edges take.

A substep keeps contacts at its end (``position_update``, END): along a curve, and round a rim, it takes the part of the
velocity that points into the surface there, as if the track had an edge in each substep. Of a ball on a track of radius
R that is v^2 (v h / R)^2 / 2 a kilogram, and E falls by exp(-v h / R) a radian. Nothing takes that energy in nature: a
normal force along a smooth surface does no work. Let w and v be a body's velocities at the start and the end, d the one
that moves it, M its mass matrix. What is missing at the end is

    E = w' M w / 2 - v' M v / 2 + h m g . d - L,        L >= 0: what contacts took in truth

and v and the spin are scaled so that it is not: by sqrt(1 + E / (v' M v / 2)). As both are, what rolls without slip
still does. E is at most |v - w|^2 in M: END takes half of that, and a contact along a gap that it closes as much
again, and what the turn itself takes, which keeps the angular momentum. What the turn gives is taken off. So energy
never grows: the sum of kinetic and potential energy is at most that of the start.

That is only for a body whose pushes all come from what stands still, through contacts of round shapes, and go on: the
same two shapes have pushed each other in the last substep, with nearly this normal. With u the speed along a contact's
normal n at the substep's start, and W = J M^-1 J', L is the sum of

- the hits: a^2 / (2 W), where a is the part of -u that the last substep has left; far from where the shapes pushed
  each other the part along the normal there: what lands, or falls flat, loses that;
- the edges: of a surface of flat faces, c^2 / (2 W k), where c is the rest of -u and k how many faces the contact has
  passed. In truth each of k edges of the angle t / k takes (v t / k)^2 / 2; one hit at the whole angle t takes
  (v t)^2 / 2, which is k times as much as all of them. Contacts of a mesh that lie at one place, as of a ball on two of
  its faces, say that of the same edges: the largest counts;
- the slip: the impulses of friction times its mean.

How fast the contact goes round the body is remembered, since it tells how many substeps the next frame needs
(``substeps_needed``).
"""

import math
from typing import NamedTuple

import numpy as np

from ...collision.data.contact_matching import COSINE_MATCH_NORMAL, RATIO_MATCH_DISTANCE
from ...collision.data.workspace import CONE, is_round
from ...compiled.kernel import borrowed, kernel, subkernel
from ...constraints.contact_rows import RATIO_TOUCHING, normal_speed, size_that_moves
from ...constraints.velocity_rows import touches_driven
from ...geometry.rotation_kernels import rotate_back
from .integration import gain_by_turn, share_kept, work_of_turning

# Normals that differ by less (squared) are those of one face.
_SAME_NORMAL = 1e-12
# A slip below this share of the speed that gravity gives in a substep is none.
_RATIO_STICKS = 1e-3
# How long it is remembered how fast a contact went round its body [s].
_SECONDS_OF_TURN = 0.1


class RollingArrays(NamedTuple):
    """Workspace: what the contacts of a substep, and of the last one, say of each body.

    Attributes
    ----------
    rolls : bool [body_count]
        Some contact goes on.
    stops : bool [body_count]
        Some push on the body is none of a contact that goes on.
    loss : float64 [body_count]
        L [J].
    turn : float64 [body_count]
        How fast the contact that goes on goes round the body [rad/s].
    is_crowded : bool [body_count]
        The body touches another one that moves.
    pressed : float64 [body_count, 4]
        What contacts have pressed on the body in the last substep (``rolling_friction``): the sum of the sizes, and
        that of the vectors [N s].
    braked : float64 [body_count]
        What rolling friction takes from the body in this substep [J].
    system : float64 [6, 7]
        Of two bodies that roll on each other.
    """

    rolls: np.ndarray
    stops: np.ndarray
    loss: np.ndarray
    turn: np.ndarray
    is_crowded: np.ndarray
    pressed: np.ndarray
    braked: np.ndarray
    system: np.ndarray


def allocate_rolling(body_count: int) -> RollingArrays:
    """For this many bodies."""
    no = np.zeros(body_count, np.bool_)
    loss, turn, braked = np.zeros((3, body_count))
    pressed = np.zeros((body_count, 4))
    return RollingArrays(no, no.copy(), loss, turn, no.copy(), pressed, braked, np.zeros((6, 7)))


@kernel(inline=True)
def keep_rolling_energy(
    rows, pairs, contacts, last_contacts, contact_rows, model, state, motion, is_held, rolling, gravity, h
):
    """Give what rolls or slides along smooth surfaces back what the substep has taken.

    Parameters
    ----------
    rows, pairs, contact_rows, model
        Read.
    contacts : ContactArrays
        ``leftover`` written.
    last_contacts : ContactArrays
        Of the last substep (read).
    state : StateArrays
        Written: velocity.
    motion : MotionArrays
        Read.
    is_held : bool [body_count]
        By joints; such bodies are left alone (read).
    rolling : RollingArrays
        Written.
    gravity : float64 [3]
        [m/s^2] (read).
    h : float
        [s].
    """
    rows, pairs, contacts, last_contacts = borrowed(rows), borrowed(pairs), borrowed(contacts), borrowed(last_contacts)
    contact_rows, model, state, motion = borrowed(contact_rows), borrowed(model), borrowed(state), borrowed(motion)
    rolls, stops, loss, turn = rolling.rolls, rolling.stops, rolling.loss, rolling.turn
    rolling.is_crowded[:] = False
    for body in range(rolls.size):
        rolls[body], stops[body], loss[body], turn[body] = False, is_held[body], rolling.braked[body], 0.0
    slow = _RATIO_STICKS * h * math.sqrt(gravity[0] ** 2 + gravity[1] ** 2 + gravity[2] ** 2)
    kind = model.shapes.kind
    for pair in range(pairs.count[0]):
        first, end = pairs.contact_start[pair], pairs.contact_start[pair] + pairs.contact_count[pair]
        is_smooth = is_round(kind[pairs.shape_a[pair]]) or is_round(kind[pairs.shape_b[pair]])
        has_impulses = False
        for contact in range(first, end):
            has_impulses = has_impulses or rows.impulse[rows.block_row[contact]] > 0.0
        for contact in range(first, end):
            a, b, row = rows.body_a[contact], rows.body_b[contact], rows.block_row[contact]
            contacts.leftover[contact] = 0.0
            if motion.can_be_pushed[a] and motion.can_be_pushed[b]:
                rolling.is_crowded[a] = rolling.is_crowded[b] = True
            if _along(contacts.impulse[contact], contacts.normal[contact]) > 0.0:
                # in the position solve; where an overlap is taken out the velocity may need no push
                contacts.leftover[contact, 2] = 1.0
            if has_impulses:
                has_pushed = rows.impulse[row] > 0.0
            else:
                has_pushed = _has_slowed(rows, contacts.gap[contact], contact, state, motion, slow, h)
            if not has_pushed:
                continue
            hit = -1.0
            if is_smooth and _may_go_on(rows, contacts, contact_rows, kind, motion, contact):
                size = size_that_moves(model.size, motion.can_be_pushed, a, b)
                near, touching = RATIO_MATCH_DISTANCE * size, RATIO_TOUCHING * size
                earlier = _earlier_contact(pairs, pair, contacts.position[contact], last_contacts)
                if earlier >= 0:
                    left = last_contacts.leftover[earlier, 0], last_contacts.leftover[earlier, 1]
                    hit = _note_contact(
                        rows, contacts, last_contacts, earlier, left, state, motion, rolling, contact, near, slow, h
                    )
                    if hit >= 0.0:
                        place = contacts.position[contact]
                        _note_turn(place, last_contacts.position[earlier], state, motion, turn, h, a, b)
                else:
                    earlier = _touching_contact(contacts, first, end, contact, touching)
                    if earlier >= 0:
                        left = _speeds(rows, earlier, motion.start_velocity)
                        hit = _note_contact(
                            rows, contacts, contacts, earlier, left, state, motion, rolling, contact, near, slow, h
                        )
            left, contacts.leftover[contact, 1] = _speeds(rows, contact, state.velocity)
            left += contact_rows.surface_speed[contact]
            if hit < 0.0:
                stops[a] = stops[b] = True
            else:
                # of what is left besides, the surface's turn is the cause
                taken = max(0.0, left - normal_speed(rows.jacobian, row, motion.start_velocity, a, b))
                left = -max(0.0, hit - taken)
            contacts.leftover[contact, 0], contacts.leftover[contact, 2] = left, 1.0
        if is_smooth:
            _add_losses(contacts, first, end, model, motion, loss)
    for body in range(rolls.size):
        if rolls[body] and not stops[body] and motion.can_be_pushed[body]:
            _give_back(model, state, motion, loss[body], h, body)
        if not rolls[body] or stops[body] or rolling.is_crowded[body]:
            turn[body] = 0.0
        _remember_turn(motion.memory.contact_turn, turn, h, body)


@subkernel
def _has_slowed(rows, gap, contact, state, motion, slow, h):
    """Whether a contact has pushed what moves in small steps, of which the last one need not have pushed."""
    a, b, row = rows.body_a[contact], rows.body_b[contact], rows.block_row[contact]
    if not (motion.memory.in_small_steps[a] or motion.memory.in_small_steps[b]):
        return False
    before = normal_speed(rows.jacobian, row, motion.start_velocity, a, b)
    is_reached = before < -slow and gap + h * before < 0.0
    return is_reached and normal_speed(rows.jacobian, row, state.velocity, a, b) > before + slow


@subkernel
def _may_go_on(rows, contacts, contact_rows, kind, motion, contact):
    """Whether a contact that pushes has one side that stands still, and does not bounce.

    In small steps hits of what could bounce do not tell, and cones would sink that keep their spin.
    """
    a, b = rows.body_a[contact], rows.body_b[contact]
    if motion.memory.in_small_steps[a] or motion.memory.in_small_steps[b]:
        is_cone = kind[contacts.shape_a[contact]] == CONE or kind[contacts.shape_b[contact]] == CONE
        if is_cone or contact_rows.restitution[contact] > 0.0:
            return False
    if motion.can_be_pushed[a] == motion.can_be_pushed[b] or contact_rows.bounce_speed[contact] > 0.0:
        return False
    return not touches_driven(rows, contacts, motion.start_velocity, contact)


@subkernel
def _earlier_contact(pairs, pair, position, last_contacts):
    """The pair's contact that has pushed in the last substep, the nearest one; -1: none."""
    found, least = np.int64(-1), math.inf
    for earlier in range(
        pairs.last_substep_start[pair], pairs.last_substep_start[pair] + pairs.last_substep_count[pair]
    ):
        square = _distance_squared(position, last_contacts.position[earlier])
        if last_contacts.leftover[earlier, 2] > 0.0 and square < least:
            found, least = np.int64(earlier), square
    return found


@subkernel
def _speeds(rows, contact, velocity):
    """Speed along a contact's normal, and across it."""
    a, b, row = rows.body_a[contact], rows.body_b[contact], rows.block_row[contact]
    one, two = (
        normal_speed(rows.jacobian, row + 1, velocity, a, b),
        normal_speed(rows.jacobian, row + 2, velocity, a, b),
    )
    return normal_speed(rows.jacobian, row, velocity, a, b), math.sqrt(one * one + two * two)


@subkernel
def _touching_contact(contacts, first, end, contact, touching):
    """Where a pair has not pushed before: the contact that touches at the substep's start, the nearest; -1: none."""
    found, least = np.int64(-1), math.inf
    for other in range(first, end):
        square = _distance_squared(contacts.position[contact], contacts.position[other])
        if abs(contacts.gap[other]) <= touching and square < least:
            found, least = np.int64(other), square
    return found


@subkernel
def _along(vector, direction):
    return vector[0] * direction[0] + vector[1] * direction[1] + vector[2] * direction[2]


@subkernel
def _distance_squared(one, two):
    return (one[0] - two[0]) ** 2 + (one[1] - two[1]) ** 2 + (one[2] - two[2]) ** 2


@subkernel
def _note_contact(rows, contacts, before, earlier, left, state, motion, rolling, contact, near, slow, h):
    """Note of a contact that pushes what it has taken in truth, as it goes on from an ``earlier`` one, ``before``.

    ``left`` is the speed that the earlier one had left along its normal, and its slip.

    Returns
    -------
    float
        Speed of the hit, a [m/s]; below 0 for a contact that does not go on.
    """
    a, b, row = rows.body_a[contact], rows.body_b[contact], rows.block_row[contact]
    start, end = motion.start_velocity, state.velocity
    normal, usual = contacts.normal[contact], before.normal[earlier]
    if normal[0] * usual[0] + normal[1] * usual[1] + normal[2] * usual[2] < COSINE_MATCH_NORMAL:
        return -1.0
    approach = max(0.0, -normal_speed(rows.jacobian, row, start, a, b))
    if _distance_squared(contacts.position[contact], before.position[earlier]) <= near * near:
        # the surface slides or rolls on: what is lowest at the end comes down to there
        hit = min(approach, max(0.0, -left[0]))
    else:
        along = 0.0
        for direction in range(row, row + 3):
            speed = normal_speed(rows.jacobian, direction, start, a, b)
            for axis in range(3):
                along += speed * rows.jacobian[direction, 6 + axis] * usual[axis]
        hit = min(approach, max(0.0, -along))
    body = a if motion.can_be_pushed[a] else b
    _, slip = _speeds(rows, contact, end)
    friction = passed = 0.0
    for tangent in range(row + 1, row + 3):
        friction += rows.impulse[tangent] ** 2
        along = 0.0
        for axis in range(3):
            along += rows.jacobian[tangent, 6 + axis] * end[body, axis]
        passed += along * along
    lost = hit * hit
    if _distance_squared(normal, usual) > _SAME_NORMAL and contacts.face_length[contact] > 0.0:
        faces = max(1.0, h * math.sqrt(passed) / contacts.face_length[contact])
        lost += (approach - hit) ** 2 / faces
    lost *= 0.5 / rows.diagonal[row]
    friction = math.sqrt(friction)
    if motion.memory.in_small_steps[body]:
        # These impulses are those of the last small step. What presses is what forces give, without the approach.
        pressed = normal_speed(rows.jacobian, row, end, a, b) - approach
        pressed -= normal_speed(rows.jacobian, row, motion.free_velocity, a, b)
        friction = rows.friction[row + 1] * max(0.0, pressed) / rows.diagonal[row]
    if max(slip, left[1]) > slow:
        lost += friction * (min(left[1], slip) if motion.memory.in_small_steps[body] else 0.5 * (left[1] + slip))
    contacts.leftover[contact, 3] = lost
    rolling.rolls[body] = True
    return hit


@subkernel
def _add_losses(contacts, first, end, model, motion, loss):
    """Add what contacts have taken; of those of a mesh that lie at one place the largest counts."""
    for contact in range(first, end):
        lost = contacts.leftover[contact, 3]
        if lost == 0.0:
            continue
        a, b = contacts.body_a[contact], contacts.body_b[contact]
        near = RATIO_MATCH_DISTANCE * size_that_moves(model.size, motion.can_be_pushed, a, b)
        is_largest = True
        for other in range(first, end if contacts.face_length[contact] > 0.0 else first):
            more = contacts.leftover[other, 3]
            if more > lost or (more == lost and other < contact):
                is_near = _distance_squared(contacts.position[contact], contacts.position[other]) <= near * near
                is_largest = is_largest and not is_near
        if is_largest:
            loss[a if motion.can_be_pushed[a] else b] += lost


@subkernel
def _note_turn(place, earlier, state, motion, turn, h, a, b):
    """Note how fast a contact goes round the body that moves: on a rim, or round a curve."""
    body = a if motion.can_be_pushed[a] else b
    way = arm = 0.0
    for axis in range(3):
        start, travelled = state.position[body, axis], h * motion.position_velocity[body, axis]
        way += (place[axis] - earlier[axis] - travelled) ** 2
        arm += (place[axis] - start - travelled) ** 2
    if way < arm:
        turn[body] = max(turn[body], math.sqrt(way / arm) / h)


@subkernel
def _remember_turn(remembered, turn, h, body):
    """A rim pushes in some substeps only, and goes on by more or less: what is fast is remembered for a while."""
    known = remembered[body] * (1.0 - min(h / _SECONDS_OF_TURN, 1.0))
    remembered[body] = max(known, 0.5 * (known + turn[body]))


@subkernel
def _give_back(model, state, motion, loss, h, body):
    """Scale a body's velocity so that it has the energy that is missing once it has turned."""
    start, end, mass = motion.start_velocity[body], state.velocity[body], model.mass[body]
    keep_linear, keep_angular = share_kept(model.linear_damping[body], h), share_kept(model.angular_damping[body], h)
    had = has = most = 0.0
    for axis in range(3):
        had += 0.5 * mass * (keep_linear * start[axis]) ** 2
        has += 0.5 * mass * end[axis] ** 2
        most += mass * (end[axis] - start[axis]) ** 2
    # of the spins about the principal axes: rows may have the inertia of where the body will be
    w, x, y, z = state.orientation[body]
    before, after = (
        rotate_back(w, x, y, z, start[3], start[4], start[5]),
        rotate_back(w, x, y, z, end[3], end[4], end[5]),
    )
    for axis in range(3):
        moment = model.inertia[body, axis]
        had += 0.5 * moment * (keep_angular * before[axis]) ** 2
        has += 0.5 * moment * after[axis] ** 2
        most += moment * (after[axis] - before[axis]) ** 2
    gravity, fallen = motion.acceleration[min(body, motion.acceleration.shape[0] - 1)], 0.0
    for axis in range(3):
        fallen += h * gravity[axis] * motion.position_velocity[body, axis]
    worked = mass * fallen
    if motion.acceleration.shape[0] > 1:
        worked += work_of_turning(
            model.inertia[body], state.orientation[body], gravity, motion.position_velocity[body], h
        )
    turn = gain_by_turn(state.orientation[body], end, motion.position_velocity[body], model.inertia[body], h)
    has += turn
    missing = min(had - has + worked - loss, most + max(0.0, -turn))
    if missing < 0.0:
        missing = max(missing, min(0.0, -turn))
    if has > 0.0:
        factor = math.sqrt(1.0 + missing / has)
        for i in range(6):
            end[i] *= factor
