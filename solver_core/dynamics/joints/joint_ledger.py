"""What joined bodies may have at a substep's end: no more energy than they had and were given.

With w and v the velocities of an island's bodies at the substep's start and end, and d those that move the poses,

    T(v) <= T(w) + h sum of m g . d + W

where W is the work of springs, of motors less what contacts, limits and other motors have taken of it, and of driven
bodies; what contacts and joints hold takes energy or does nothing. All solutions of the joints' equations say so; what
ends elsewhere may not: joints that a contact contradicts, or that are open, get impulses that close them, and that is
the only way in which energy comes in (docs/decisions/42). Where such an island has more than that, its velocities are
scaled, about the motion of its centre of mass where nothing else holds it. So its momentum stays, and its energy never
grows by what was taken out or closed. An island whose joints were solved and that touches nothing is right to the
rule's order, on either side, and may have so much more.

Where even rest would cost energy that is not there, since closing its joints has lifted it, an island that the world
holds stays where the substep began, at rest, and goes on from there: what was closed stays closed, and nothing is
lifted. What is driven, begins open or at rest, or is led out of an overlap, goes on at once.
"""

import math

import numpy as np

from ...compiled.kernel import subkernel
from ...compiled.views import numbers_of
from ...constraints.joints.joint_rows import RATIO_EXACT, measure_end
from ...constraints.joints.row_measures import scale_of
from ...geometry.rotation_kernels import rotate_back
from ...model.joints.joint_arrays import FRICTION, MOTOR, RANGE, SOFT_RANGE, SPRING
from ..islands.islands import has_contacts, has_joints
from ..motion.integration import gain_by_turn, place_at_end, share_kept, work_of_turning
from .joint_corrections import NEWTON, RATIO_OPEN
from .pose_correction import LED_OUT, NOT_LED

# What an island whose joints were solved may gain in a substep, as a share of what it has and falls by: the rule's
# order.
_RATIO_ORDER = 1e-4


@subkernel
def keep_ledgers(members):
    """Bound the energy of all islands with joints that contacts or gaps may have given some.

    Parameters
    ----------
    members : StepMembers
        Written: velocities; and the way and the joints of islands that stay where the substep began.
    """
    rows, islands, solves = members.problem.rows, members.problem.islands, members.solves
    contact_count = members.collision.contacts[members.collision.roles.present[0]].count[0]
    for island in range(islands.count[0]):
        if solves.keeps_standing[island] or not has_joints(rows, islands, island, contact_count):
            continue
        slack = _RATIO_ORDER if _is_right(members, island, contact_count) else 0.0
        _keep_ledger(members, island, contact_count, slack)


@subkernel
def _is_right(members, island, contact_count):
    """Whether an island touches nothing, and its joints were closed and are."""
    joint_state = members.joint_state
    return (
        joint_state.is_led[island] == NOT_LED
        and not has_contacts(members.problem.islands, island, contact_count)
        and joint_state.way[island] == NEWTON
        and not joint_state.starts_open[island]
        and joint_state.off[island] <= RATIO_OPEN / RATIO_EXACT
        and members.solves.missed[island] == 0
    )


@subkernel
def _keep_ledger(members, island, contact_count, slack):
    model, motion, islands, velocity = members.model, members.motion, members.problem.islands, members.state.velocity
    acceleration, h = motion.acceleration, numbers_of(members.settings.step).h
    allowed = has = mass = fallen = 0.0
    p0 = p1 = p2 = 0.0
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        way, orientation, own = motion.position_velocity[body], members.state.orientation[body], velocity[body]
        keep = share_kept(model.linear_damping[body], h), share_kept(model.angular_damping[body], h)
        allowed += _energy(model, body, orientation, motion.start_velocity[body], keep)
        gravity = acceleration[min(body, acceleration.shape[0] - 1)]
        fallen += h * model.mass[body] * (gravity[0] * way[0] + gravity[1] * way[1] + gravity[2] * way[2])
        if acceleration.shape[0] > 1:
            fallen += work_of_turning(model.inertia[body], orientation, gravity, way, h)
        has += _energy(model, body, orientation, own, (1.0, 1.0))
        has += gain_by_turn(orientation, own, way, model.inertia[body], h)
        mass += model.mass[body]
        p0, p1, p2 = p0 + model.mass[body] * own[0], p1 + model.mass[body] * own[1], p2 + model.mass[body] * own[2]
    allowed += fallen + slack * (allowed + abs(fallen))
    if has <= allowed:
        return
    given, fastest = _given(members, island, contact_count)
    if allowed + given < 0.0 and fastest == 0.0 and _may_stay(members, island):
        _stay(members, island, contact_count)
        return
    allowed = max(allowed + given, 0.5 * mass * fastest * fastest)
    if has <= allowed:
        return
    p0, p1, p2 = p0 / mass, p1 / mass, p2 / mass
    whole = 0.5 * mass * (p0 * p0 + p1 * p1 + p2 * p2)
    if _is_held_by_world(members, island):
        p0 = p1 = p2 = whole = 0.0
    share = math.sqrt(max(0.0, allowed - whole) / (has - whole)) if has > whole else 0.0
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        own = velocity[body]
        own[0] = p0 + share * (own[0] - p0)
        own[1] = p1 + share * (own[1] - p1)
        own[2] = p2 + share * (own[2] - p2)
        own[3], own[4], own[5] = share * own[3], share * own[4], share * own[5]


@subkernel
def _may_stay(members, island):
    """Whether an island may be left where the substep began: in motion, closed, held by what stands, not led out."""
    joint_state, rows, islands = members.joint_state, members.problem.rows, members.problem.islands
    if joint_state.starts_open[island] or joint_state.is_led[island] == LED_OUT:
        return False
    if not _is_held_by_world(members, island):
        return False
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        for body in (rows.body_a[block], rows.body_b[block]):
            if not members.motion.can_be_pushed[body] and _moves(members.state.velocity, body):
                return False
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        if _moves(members.motion.start_velocity, islands.body_order[place]):
            return True
    # what stayed before goes on, or it would for ever
    return False


@subkernel
def _moves(velocity, body):
    is_moving = False
    for column in range(6):
        is_moving = is_moving or velocity[body, column] != 0.0
    return is_moving


@subkernel
def _stay(members, island, contact_count):
    """Leave an island where the substep began, at rest."""
    model, motion, joint_state, islands = members.model, members.motion, members.joint_state, members.problem.islands
    joints, h, state = model.joints, numbers_of(members.settings.step).h, members.state
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        for column in range(6):
            motion.position_velocity[body, column] = state.velocity[body, column] = 0.0
        if joint_state.is_held[body]:
            place_at_end(model, state, motion, h, body, joint_state.end_position, joint_state.end_orientation)
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block < contact_count:
            continue
        measure_end(joints, joint_state, joint_state.joint_of_block[block - contact_count])


@subkernel
def _energy(model, body, orientation, velocity, keep):
    """Kinetic energy of a body with its velocity and its spin times two factors [J]."""
    spin = rotate_back(
        orientation[0], orientation[1], orientation[2], orientation[3], velocity[3], velocity[4], velocity[5]
    )
    linear = turning = 0.0
    for axis in range(3):
        linear += velocity[axis] ** 2
        turning += model.inertia[body, axis] * spin[axis] ** 2
    return 0.5 * (keep[0] ** 2 * model.mass[body] * linear + keep[1] ** 2 * turning)


@subkernel
def _is_held_by_world(members, island):
    """Whether anything that cannot be pushed touches an island or is joined to it."""
    islands, rows, can_be_pushed = members.problem.islands, members.problem.rows, members.motion.can_be_pushed
    contact_count = members.collision.contacts[members.collision.roles.present[0]].count[0]
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        a, b = rows.body_a[block], rows.body_b[block]
        # the world as an end names body a twice
        if not (can_be_pushed[a] and can_be_pushed[b]) or (block >= contact_count and a == b):
            return True
    return False


@subkernel
def _given(members, island, contact_count):
    """Work that springs, motors and driven ends of joints have done [J], and the speed of driven surfaces [m/s]."""
    joints, joint_state, rows = members.model.joints, members.joint_state, members.problem.rows
    islands, motion, state = members.problem.islands, members.motion, members.state
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    taken = members.problem.contact_rows.joint_impulse
    pulled = held = sprung = fastest = driven = 0.0
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block < contact_count:
            fastest = max(fastest, _surface_speed(members, contacts, block))
            held += _taken_by_contact(members, block)
            continue
        a, b, row = rows.body_a[block], rows.body_b[block], rows.block_row[block]
        joint = joint_state.joint_of_block[block - contact_count]
        for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
            impulse = rows.impulse[row] + joint_state.given[index] + taken[row - np.int64(3) * contact_count]
            along = end = begin = by_driven = 0.0
            for body, column in ((a, 0), (b, 6)):
                for axis in range(6):
                    if motion.can_be_pushed[body]:
                        along += rows.jacobian[row, column + axis] * motion.position_velocity[body, axis]
                        end += rows.jacobian[row, column + axis] * state.velocity[body, axis]
                        begin += rows.jacobian[row, column + axis] * motion.start_velocity[body, axis]
                    else:
                        by_driven += rows.jacobian[row, column + axis] * state.velocity[body, axis]
            if joints.role[index] in (MOTOR, FRICTION, RANGE):
                held += max(0.0, -impulse * (0.5 * (begin + end) + by_driven))
            if joints.role[index] == MOTOR:
                # what is faster than it drives has that from elsewhere
                most = scale_of(joints, joint, index) * abs(joint_state.target_speed[index])
                pulled += max(0.0, impulse * 0.5 * (min(max(begin, -most), most) + min(max(end, -most), most)))
            elif joints.role[index] in (SPRING, SOFT_RANGE):
                sprung += max(0.0, impulse * along, impulse * end)
            else:
                driven -= impulse * by_driven
            row += 1
    # what a motor does against friction, a limit or another motor is lost there
    return sprung + max(0.0, pulled - held) + max(0.0, driven), fastest


@subkernel
def _taken_by_contact(members, block):
    """Energy that a contact has taken out [J]: its impulse times the mean of both velocities, which is exact."""
    rows, velocity, start = members.problem.rows, members.state.velocity, members.motion.start_velocity
    a, b, work = rows.body_a[block], rows.body_b[block], 0.0
    for row in range(rows.block_row[block], rows.block_row[block] + 3):
        speed = 0.0
        for body, column in ((a, 0), (b, 6)):
            begins = start if members.motion.can_be_pushed[body] else velocity
            for axis in range(6):
                speed += rows.jacobian[row, column + axis] * 0.5 * (begins[body, axis] + velocity[body, axis])
        work += rows.impulse[row] * speed
    return max(0.0, -work)


@subkernel
def _surface_speed(members, contacts, block):
    """Twice the speed of the driven surface at a contact, as what bounces off it may have [m/s]; 0 without one."""
    rows, state = members.problem.rows, members.state
    fastest = 0.0
    at = contacts.position[block]
    for body in (rows.body_a[block], rows.body_b[block]):
        if members.motion.can_be_pushed[body]:
            continue
        square, velocity, center = 0.0, state.velocity[body], state.position[body]
        for axis in range(3):
            one, two = (axis + 1) % 3, (axis + 2) % 3
            speed = velocity[axis] + velocity[3 + one] * (at[two] - center[two])
            speed -= velocity[3 + two] * (at[one] - center[one])
            square += (abs(speed) + abs(contacts.surface_velocity[block, axis])) ** 2
        fastest = max(fastest, 2.0 * math.sqrt(square))
    return fastest
