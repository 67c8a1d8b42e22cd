"""Friction that brakes rolling and spinning: a torque at a contact, bounded by what presses there.

At a contact with the normal impulse P the surfaces roll on each other with the relative spin w. Beside friction, which
acts on the slip of the point, a torque acts on w: across the normal at most c P r against rolling, along it at most
s P r against spinning, where r is how far the surface is from the body's centre along the normal. So c is the slope on
which a ball begins to roll, and a ball that rolls on a plane loses 5/7 c g.

A contact's rows have no place for it (docs/decisions/45-matter.md), so it acts on the free velocities, before contacts
are solved, with P of the last substep. What must not creep there is what rests: so the torque is the one with which
the *solution* has no spin, if that is within the bounds. Let p and L be the impulse and the angular impulse at the
contact, u and f the velocities at the start and free, J those of the point, K the relative spin, and

    [ J (f - u) ]   [ A   B ] [ p ]   [ 0 ]
    [   K f     ] + [ B'  D ] [ L ] = [ w ],       A = J M^-1 J',  B = J M^-1 K',  D = K M^-1 K':

friction keeps the point's slip as it is, none where it sticks. Without p that is S L = w - w0, S = D - B' A^-1 B and
w0 = K f - B' A^-1 J (f - u), the spin to come. L = -S^-1 w0 stops it, and is shortened to the bounds. A ball on a slope
below c stands to rounding, since its only contact is the one that was counted with. Of all contacts of two shapes the
one in the middle of what they bear counts, so what lies flat asks for no torque; and where several pairs hold a body,
each takes its share of this by what it bears.

A contact that opens, or that would have to pull to hold its point under L, does not hold it: then p = 0, D is in the
place of S, and L is what stops the spin of a body in flight. With S, which is smaller, it would turn it the other way,
(1 + m r^2 / I)^2 times as fast and more. Nor does L give energy if the contact holds after all.

What is held from several sides, as in a pile, would not go where one pair alone would let it: to stop that would drive
it the other way. There w0 is the spin that is there, K u, so L can but take energy, as S of one contact is larger than
that of all of them. What stands on such torques alone creeps. What L takes is told to ``rolling_energy``.
"""

import math

import numpy as np

from ...collision.data.workspace import POSITION, SPHERE, has_axis
from ...compiled.kernel import entry, subkernel
from ...compiled.views import views_of
from ...geometry.rotation_kernels import rotate
from ...geometry.vectors import cross, dot

# A body that is pressed less than this in the middle of what bears it has nothing that brakes it [N s].
_TINY = 1e-300
# What stands on a flat end, to this square of the sine, touches anywhere on it.
_RATIO_UPRIGHT = 1e-6
# All that presses on a body does so along one line, to this share of it.
_COSINE_ALONE = 0.999


@entry
def run_brake_rolling(arrays):
    """What resists rolling and spinning, on the free velocities.

    Parameters
    ----------
    arrays : StepArrays
        Written: motion.free_velocity, problem.rolling.
    """
    members = views_of(arrays)
    model, motion, rolling = members.model, members.motion, members.problem.rolling
    contacts = members.collision.contacts[members.collision.roles.last_substep[0]]
    rolling.pressed[:] = 0.0
    rolling.braked[:] = 0.0
    first = 0
    while first < contacts.count[0]:
        end = _end_of_pair(contacts, first)
        pressed, _, normal = _middle(contacts, first, end)
        for body, sign in ((contacts.body_a[first], -1.0), (contacts.body_b[first], 1.0)):
            rolling.pressed[body, 0] += pressed
            for axis in range(3):
                rolling.pressed[body, 1 + axis] += sign * pressed * normal[axis]
        first = end
    first = 0
    while first < contacts.count[0]:
        end = _end_of_pair(contacts, first)
        a, b = contacts.body_a[first], contacts.body_b[first]
        rolls = max(model.matter.rolling_friction[a, 0], model.matter.rolling_friction[b, 0])
        spins = max(model.matter.rolling_friction[a, 1], model.matter.rolling_friction[b, 1])
        if max(rolls, spins) > 0.0 and (motion.can_be_pushed[a] or motion.can_be_pushed[b]):
            pressed, point, normal = _middle(contacts, first, end)
            if pressed > _TINY:
                shapes = contacts.shape_a[first], contacts.shape_b[first]
                _brake(members, rolling, (a, b), shapes, pressed, point, normal, rolls, spins)
        first = end


@subkernel
def _end_of_pair(contacts, first):
    """Behind the contacts of the pair of shapes whose first one this is."""
    end = first + 1
    while (
        end < contacts.count[0]
        and contacts.shape_a[end] == contacts.shape_a[first]
        and contacts.shape_b[end] == contacts.shape_b[first]
    ):
        end += 1
    return end


@subkernel
def _middle(contacts, first, end):
    """What contacts bear [N s], where the middle of that is, and along which direction."""
    pressed = x = y = z = 0.0
    push = 0.0, 0.0, 0.0
    for contact in range(first, end):
        normal, place, impulse = contacts.normal[contact], contacts.position[contact], contacts.impulse[contact]
        share = max(0.0, normal[0] * impulse[0] + normal[1] * impulse[1] + normal[2] * impulse[2])
        pressed += share
        x, y, z = x + share * place[0], y + share * place[1], z + share * place[2]
        push = push[0] + share * normal[0], push[1] + share * normal[1], push[2] + share * normal[2]
    length = math.sqrt(push[0] ** 2 + push[1] ** 2 + push[2] ** 2)
    if length <= _TINY:
        return 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    # along other directions than the mean one they bear against each other
    return length, (x / pressed, y / pressed, z / pressed), (push[0] / length, push[1] / length, push[2] / length)


@subkernel
def _brake(members, rolling, bodies, shapes, pressed, point, normal, rolls, spins):
    """Take spin from two bodies, as much as their share of what they bear and the bounds allow."""
    model, state, motion = members.model, members.state, members.motion
    (a, b), share, moves, shape, is_held_alone = bodies, 1.0, np.int64(-1), np.int64(-1), True
    for side in range(2):
        body = bodies[side]
        if motion.can_be_pushed[body]:
            bears = rolling.pressed[body]
            share = min(share, pressed / bears[0])
            square = bears[1] ** 2 + bears[2] ** 2 + bears[3] ** 2
            is_held_alone = is_held_alone and square >= (_COSINE_ALONE * bears[0]) ** 2
            if moves < 0 or model.size[body] < model.size[moves]:
                moves, shape = body, shapes[side]
    lever = abs(dot(normal, _arm(point, state, moves)))
    local_pose = members.collision.workspace.local_pose[shape]
    point = _below(model.shapes.kind[shape], local_pose, state, moves, point, normal)
    velocity = motion.free_velocity if is_held_alone else motion.start_velocity
    most = share, rolls * pressed * lever, spins * pressed * lever
    _fill(state, motion, velocity, rolling.system, a, b, point)
    opens = _opening_speed(state, velocity, a, b, point, normal) > 0.0
    if not opens:
        _eliminate(rolling.system)
    turn = _stopping_torque(rolling.system, normal, most)
    if not opens and is_held_alone and _pull(rolling.system, turn, normal) > 0.0:
        _fill(state, motion, velocity, rolling.system, a, b, point)
        turn = _stopping_torque(rolling.system, normal, most)
    _turn(motion, a, turn, -1.0)
    _turn(motion, b, turn, 1.0)
    if motion.can_be_pushed[a] != motion.can_be_pushed[b]:
        spin, response = rolling.system[3:, 6], rolling.system[3:, 3:6]
        taken = -dot(turn, spin) - 0.5 * _product(response, turn, turn)
        rolling.braked[a if motion.can_be_pushed[a] else b] += max(0.0, taken)


@subkernel
def _stopping_torque(system, normal, most):
    """The angular impulse after which there is no spin; its share, and of that no more than the bounds allow."""
    share, most_across, most_along = most
    spin, response = system[3:, 6], system[3:, 3:6]
    one, two = _across(normal)
    p, q = _product(response, one, one), _product(response, one, two)
    r, v, w = _product(response, two, two), dot(one, spin), dot(two, spin)
    determinant = p * r - q * q
    if not (determinant > 0.0 and _product(response, normal, normal) > 0.0):
        return 0.0, 0.0, 0.0
    x, y = share * (q * w - r * v) / determinant, share * (q * v - p * w) / determinant
    z = -share * dot(normal, spin) / _product(response, normal, normal)
    length = math.hypot(x, y)
    if length > most_across:
        x, y = x * most_across / length, y * most_across / length
    z = min(max(z, -most_along), most_along)
    return (
        x * one[0] + y * two[0] + z * normal[0],
        x * one[1] + y * two[1] + z * normal[1],
        x * one[2] + y * two[2] + z * normal[2],
    )


@subkernel
def _opening_speed(state, velocity, a, b, point, normal):
    """How fast two bodies part at a point along the normal [m/s]."""
    speed = 0.0
    for body in (a, b):
        sign, own = 1.0 if body == b else -1.0, velocity[body]
        swept = cross((own[3], own[4], own[5]), _arm(point, state, body))
        speed += sign * dot(normal, (own[0] + swept[0], own[1] + swept[1], own[2] + swept[2]))
    return speed


@subkernel
def _pull(system, turn, normal):
    """How much a contact would have to pull to hold its point under a torque, of the system with its rows apart."""
    x = _asked(system, 0, turn)
    y = _asked(system, 1, turn)
    z = _asked(system, 2, turn) / system[2, 2]
    y = (y - system[1, 2] * z) / system[1, 1]
    x = (x - system[0, 1] * y - system[0, 2] * z) / system[0, 0]
    return dot(normal, (x, y, z))


@subkernel
def _asked(system, row, turn):
    """How far a point's velocity goes from where it was in a row, under a torque and without a push."""
    return system[row, 6] + system[row, 3] * turn[0] + system[row, 4] * turn[1] + system[row, 5] * turn[2]


@subkernel
def _below(kind, local_pose, state, body, point, normal):
    """Where a round shape touches a plane along a normal: a contact lies where the last substep had it, behind that."""
    if not (kind == SPHERE or has_axis(kind)):
        return point
    w, x, y, z = state.orientation[body]
    center = rotate(w, x, y, z, local_pose[POSITION, 0], local_pose[POSITION, 1], local_pose[POSITION, 2])
    arm = _arm(point, state, body)
    arm = arm[0] - center[0], arm[1] - center[1], arm[2] - center[2]
    one, two = _across(normal)
    off_one, off_two = dot(arm, one), dot(arm, two)
    if kind != SPHERE:
        # along its axis it may touch anywhere
        axis = rotate(w, x, y, z, local_pose[0, 2], local_pose[1, 2], local_pose[2, 2])
        p, q = dot(axis, one), dot(axis, two)
        square = p * p + q * q
        if square <= _RATIO_UPRIGHT:
            return point
        beside = (q * off_one - p * off_two) / square
        off_one, off_two = q * beside, -p * beside
    return (
        point[0] - off_one * one[0] - off_two * two[0],
        point[1] - off_one * one[1] - off_two * two[1],
        point[2] - off_one * one[2] - off_two * two[2],
    )


@subkernel
def _fill(state, motion, velocity, system, a, b, point):
    """The system of six rows, how far the point's velocity is from that at the substep's start, and the spin."""
    for row in range(6):
        for column in range(7):
            system[row, column] = 0.0
    for body in (a, b):
        sign = 1.0 if body == b else -1.0
        x, y, z = _arm(point, state, body)
        start, free = motion.start_velocity[body], velocity[body]
        change = free[3] - start[3], free[4] - start[4], free[5] - start[5]
        moved = cross(change, (x, y, z))
        for axis in range(3):
            system[axis, 6] += sign * (free[axis] - start[axis] + moved[axis])
            system[3 + axis, 6] += sign * free[3 + axis]
        if not motion.can_be_pushed[body]:
            continue
        inertia, inverse_mass = motion.inverse_inertia[body], motion.inverse_mass[body]
        for column in range(6):
            # an impulse along an axis at the point, or an angular one about it
            torque = (1.0 if column == 3 else 0.0, 1.0 if column == 4 else 0.0, 1.0 if column == 5 else 0.0)
            if column == 0:
                torque = 0.0, z, -y
            elif column == 1:
                torque = -z, 0.0, x
            elif column == 2:
                torque = y, -x, 0.0
            p, q, r = (
                inertia[0] * torque[0] + inertia[1] * torque[1] + inertia[2] * torque[2],
                inertia[3] * torque[0] + inertia[4] * torque[1] + inertia[5] * torque[2],
                inertia[6] * torque[0] + inertia[7] * torque[1] + inertia[8] * torque[2],
            )
            system[0, column] += q * z - r * y
            system[1, column] += r * x - p * z
            system[2, column] += p * y - q * x
            system[3, column] += p
            system[4, column] += q
            system[5, column] += r
            if column < 3:
                system[column, column] += inverse_mass


@subkernel
def _eliminate(system):
    """Take the impulse at the point out of the rows of the spin; A has full rank, since a body moves."""
    for pivot in range(3):
        for row in range(pivot + 1, 6):
            factor = system[row, pivot] / system[pivot, pivot]
            for column in range(pivot, 7):
                system[row, column] -= factor * system[pivot, column]


@subkernel
def _arm(point, state, body):
    return (
        point[0] - state.position[body, 0],
        point[1] - state.position[body, 1],
        point[2] - state.position[body, 2],
    )


@subkernel
def _product(matrix, one, two):
    total = 0.0
    for row in range(3):
        total += one[row] * (matrix[row, 0] * two[0] + matrix[row, 1] * two[1] + matrix[row, 2] * two[2])
    return total


@subkernel
def _across(normal):
    """Two directions that are perpendicular to a normal and to each other."""
    x, y, z = normal
    if abs(z) < 0.7:
        length = math.hypot(x, y)
        one = (-y / length, x / length, 0.0)
    else:
        length = math.hypot(y, z)
        one = (0.0, -z / length, y / length)
    return one, cross(normal, one)


@subkernel
def _turn(motion, body, turn, sign):
    if not motion.can_be_pushed[body]:
        return
    inertia = motion.inverse_inertia[body]
    for row in range(3):
        motion.free_velocity[body, 3 + row] += sign * (
            inertia[3 * row] * turn[0] + inertia[3 * row + 1] * turn[1] + inertia[3 * row + 2] * turn[2]
        )
