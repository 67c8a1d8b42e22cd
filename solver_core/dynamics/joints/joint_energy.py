"""Whether joints make energy: what a solution gives an island's bodies, against what may have given it to them.

With w the velocity at the substep's start, v that at its end and d the one that moves a body, its energy rises by
(|v|^2 - |w|^2) / 2 - h g . d (norms in M). What holds does no work along d, by the rules of the position solve. So this
is what motors, springs and driven bodies give, and what takes openings and overlaps out. Newton's method may end at
other poses that close the joints, or at none, and then impulses are anything.
"""

import math

from ...compiled.kernel import subkernel
from ...compiled.views import numbers_of
from ...constraints.joints.joint_motion import inverse_of
from ...model.joints.joint_arrays import HOLD, RANGE

# Joints make energy where bodies have more than this share of what they had and were given on top of it.
_SHARE_OF_ERROR = 1.0


@subkernel
def makes_energy(members, island, is_open):
    """Whether an island's bodies have far more energy than anything has given them, or none that is a number.

    Parameters
    ----------
    members : StepMembers
        Read.
    island : int64
    is_open : bool
        Joints are open before or after. Then impulses are anything, and so is what they say of the work that was done:
        all may move at twice the speed that joints ask for.
    """
    h = numbers_of(members.settings.step).h
    motion, islands, velocity = members.motion, members.problem.islands, members.state.velocity
    acceleration = motion.acceleration
    before = after = fall = total = 0.0
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        mass, inertia = 1.0 / motion.inverse_mass[body], _inertia(members, body)
        gravity = acceleration[min(body, acceleration.shape[0] - 1)]
        falls = h * gravity[0], h * gravity[1], h * gravity[2]
        before += _energy(mass, inertia, _start_velocity(members, body, falls))
        after += _energy(mass, inertia, velocity[body])
        way = motion.position_velocity[body]
        total += mass
        fall += mass * (falls[0] * way[0] + falls[1] * way[1] + falls[2] * way[2])
    allowed = (1.0 + _SHARE_OF_ERROR) * (before + abs(fall))
    if after <= allowed:
        return False
    given = 2.0 * total * _speed_asked(members, island, h) ** 2 if is_open else _given(members, island, h)
    return not after <= allowed + (1.0 + _SHARE_OF_ERROR) * given


@subkernel
def is_finite(members, island):
    """Whether the velocities of an island are numbers."""
    islands, velocity = members.problem.islands, members.state.velocity
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        for column in range(6):
            if not abs(velocity[body, column]) < math.inf:
                return False
    return True


@subkernel
def _start_velocity(members, body, falls):
    """A body's velocity at the substep's start, without what gravity gives: the solves take held ones for others."""
    own, held = members.motion.free_velocity, members.joint_state.own_velocity
    if members.joint_state.is_held[body]:
        own = held
    return (
        own[body, 0] - falls[0],
        own[body, 1] - falls[1],
        own[body, 2] - falls[2],
        own[body, 3],
        own[body, 4],
        own[body, 5],
    )


@subkernel
def _inertia(members, body):
    """A body's own inertia, as xx, yy, zz, yz, xz, xy."""
    inverse = members.motion.inverse_inertia[body]
    if members.joint_state.is_held[body]:
        inverse = members.joint_state.own_inertia[body]
    return inverse_of(inverse[0], inverse[4], inverse[8], inverse[5], inverse[2], inverse[1])


@subkernel
def _energy(mass, inertia, velocity):
    a, b, c, d, e, f = inertia
    x, y, z = velocity[3], velocity[4], velocity[5]
    turning = a * x * x + b * y * y + c * z * z + 2.0 * (d * y * z + e * x * z + f * x * y)
    return 0.5 * (mass * (velocity[0] ** 2 + velocity[1] ** 2 + velocity[2] ** 2) + turning)


@subkernel
def _given(members, island, h):
    """What rows may have given an island's bodies: their work, of what holds that of driven bodies and of closing."""
    joints, joint_state, rows = members.model.joints, members.joint_state, members.problem.rows
    islands, can_be_pushed = members.problem.islands, members.motion.can_be_pushed
    contact_count = members.collision.contacts[members.collision.roles.present[0]].count[0]
    total = 0.0
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        a, b = rows.body_a[block], rows.body_b[block]
        first = rows.block_row[block]
        for row in range(first, rows.block_row[block + 1]):
            impulse = rows.impulse[row]
            pushed, driven = 0.0, 0.0
            for body, column in ((a, 0), (b, 6)):
                speed = _speed(members, rows.jacobian[row], body, column)
                if can_be_pushed[body]:
                    pushed += speed
                else:
                    driven += speed
            if block >= contact_count:
                joint = joint_state.joint_of_block[block - contact_count]
                index = joints.row_first[joint] + row - first
                if joints.role[index] in (HOLD, RANGE):
                    pushed = -driven
                    closed = impulse * (joint_state.aim[index] - joint_state.start[index]) / h
                    # what goes as far as its limit gets nothing from that
                    total += max(0.0, closed) if joints.role[index] == RANGE else abs(closed)
            total += max(0.0, impulse * pushed)
    return total


@subkernel
def _speed_asked(members, island, h):
    """The largest speed that joints of an island ask for: of driven bodies, and to close [m/s]."""
    joints, joint_state, rows = members.model.joints, members.joint_state, members.problem.rows
    islands, can_be_pushed = members.problem.islands, members.motion.can_be_pushed
    contact_count = members.collision.contacts[members.collision.roles.present[0]].count[0]
    largest = 0.0
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block < contact_count:
            continue
        a, b, row = rows.body_a[block], rows.body_b[block], rows.block_row[block]
        joint = joint_state.joint_of_block[block - contact_count]
        for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
            asked = 0.0
            for body, column in ((a, 0), (b, 6)):
                if not can_be_pushed[body]:
                    asked += abs(_speed(members, rows.jacobian[row], body, column))
            way = joint_state.aim[index] - joint_state.start[index]
            if joints.role[index] == HOLD or (joints.role[index] == RANGE and way > 0.0):
                asked += abs(way) / h
            largest = max(largest, asked)
            row += 1
    return largest


@subkernel
def _speed(members, jacobian, body, column):
    total, velocity = 0.0, members.state.velocity
    if members.motion.can_be_pushed[body]:
        velocity = members.motion.position_velocity
    for axis in range(6):
        total += jacobian[column + axis] * velocity[body, axis]
    return total
