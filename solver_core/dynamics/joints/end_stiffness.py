"""What a correction of a substep's velocities does to the forces of joints: the other half of Newton's method.

Forces act at the poses of the middle, which go with the velocities. At impulses r that stay, body by body,

    d(J' r) = -K P D dv

D dv is what the turn at the end changes by (``joint_ends``), P D dv what that of the middle does. With S the turn from
the start to the middle, S S that to the end: turns y and x go by y + S y = x, so P = (1 + S)^-1 = (1 - [c]) / 2 with c
the tangent of a quarter of the turn to the end, along its axis; P = 1 where forces act at the end. And K is

    (r . f) 1 - r f'                            of a force f at an arm r
    -k (T x k)', and its opposite on a          of the torque T on b across the axis k that two bodies have in common
    -dT, and its opposite on a                  of the torque T of angles that are free, by the turns of both bodies

A force, or torque, that all three rows hold has any direction, whatever frame they are given in, so it stays; one that
two rows hold has any across k, and what is left is its part along k. The first is what ``joint_motion`` has, but for
half of the product with the torque r x f, which is not symmetric. The last ties the two bodies to each other. DISTANCE,
RACK and GEAR, and sliders' forces, are taken to keep their directions: corrections of those come nearer by a factor.
"""

import math

from ...compiled.kernel import subkernel
from ...constraints.joints.coordinate_geometry import axis_of, is_angle
from ...constraints.joints.row_measures import frames_of_joint, is_on_sphere
from ...geometry.rotation_kernels import multiply
from ...geometry.vectors import cross, dot
from ...model.joints.coordinates import ALIGN, EULER, SWING
from ...model.joints.joint_arrays import WORLD

# Closer to a right angle than this (of a cosine) EULER's second angle has no rates (``coordinate_geometry``).
_LEAST_COSINE = 0.05
_NOWHERE = 1e-12


@subkernel
def find_end_stiffness(members, island, contact_count, h):
    """Write K P D of an island's bodies, and between the two of a joint, by their velocities at the end [kg m^2].

    Parameters
    ----------
    members : StepMembers
        Read: stiffness, the joints' rows at the middle, with the impulses of the last solve; D. Written:
        ``turn_stiffness``, ``turn_coupling``.
    island, contact_count : int64
    h : float
        [s].
    """
    islands, rows, jointed = members.problem.islands, members.problem.rows, members.problem.jointed
    joint_state = members.joint_state
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        if joint_state.is_held[body]:
            a, b, c, d, e, f = joint_state.stiffness[body]
            k = jointed.turn_stiffness[body]
            k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7], k[8] = a, f, e, f, b, d, e, d, c
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block >= contact_count:
            _add_joint(members, block, joint_state.joint_of_block[block - contact_count])
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        if joint_state.is_held[body]:
            _find_turn_share(members, body, h)
            _multiply(jointed.turn_stiffness[body], 0, jointed.turn_share[body])
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block >= contact_count:
            a, b = rows.body_a[block], rows.body_b[block]
            if joint_state.is_held[a]:
                _multiply(jointed.turn_coupling[block], 9, jointed.turn_share[a])
            if joint_state.is_held[b]:
                _multiply(jointed.turn_coupling[block], 0, jointed.turn_share[b])


@subkernel
def _find_turn_share(members, body, h):
    """Write P D of a body, times what its velocity at the end has in the substep's way [s]."""
    joint_state, rate = members.joint_state, members.problem.jointed.turn_rate[body]
    share, turn = joint_state.share[body], members.problem.jointed.turn_share[body]
    c0, c1, c2, factor = 0.0, 0.0, 0.0, h
    if share != 1.0:
        w, x, y, z = members.state.orientation[body]
        p, i, j, k = joint_state.pose_orientation[body]
        q0, q1, q2, q3 = multiply(p, i, j, k, w, -x, -y, -z)
        c0, c1, c2 = q1 / q0, q2 / q0, q3 / q0
        factor = 0.5 * share * h
    for column in range(3):
        x, y, z = rate[3 * column], rate[3 * column + 1], rate[3 * column + 2]
        turn[column] = factor * (x - (c1 * z - c2 * y))
        turn[3 + column] = factor * (y - (c2 * x - c0 * z))
        turn[6 + column] = factor * (z - (c0 * y - c1 * x))


@subkernel
def _multiply(matrix, first, other):
    """A <- A B of 3 x 3 matrices, row by row; A from the place ``first`` on."""
    for row in range(first, first + 9, 3):
        x, y, z = matrix[row], matrix[row + 1], matrix[row + 2]
        for column in range(3):
            matrix[row + column] = x * other[column] + y * other[3 + column] + z * other[6 + column]


@subkernel
def _add_joint(members, block, joint):
    """Add what turns of a joint's bodies do to its torques on them."""
    joints, joint_state, rows = members.model.joints, members.joint_state, members.problem.rows
    jointed, a, b = members.problem.jointed, joints.body_a[joint], joints.body_b[joint]
    coupling = jointed.turn_coupling[block]
    for entry in range(18):
        coupling[entry] = 0.0
    frames = frames_of_joint(joints, joint, joint_state.pose_position, joint_state.pose_orientation)
    frame_a, frame_b, _, _ = frames
    arm_a, arm_b, across, about, is_tied = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), -1, False
    row = rows.block_row[block]
    for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
        impulse, jacobian, kind = rows.impulse[row], rows.jacobian[row], joints.kind[index]
        row += 1
        if impulse == 0.0:
            continue
        on_a = impulse * jacobian[3], impulse * jacobian[4], impulse * jacobian[5]
        if not is_angle(kind):
            arm_a = _sum(arm_a, on_a)
            arm_b = _sum(arm_b, (impulse * jacobian[9], impulse * jacobian[10], impulse * jacobian[11]))
        elif kind == ALIGN:
            across, about = _sum(across, (-on_a[0], -on_a[1], -on_a[2])), joints.about[index]
        elif kind in (EULER, SWING):
            is_tied = True
            torque = -on_a[0], -on_a[1], -on_a[2]
            add_angle(coupling, kind, joints.axis[index], is_on_sphere(joints, index), torque, frame_a, frame_b)
    _add_half_product(jointed.turn_stiffness[a], arm_a)
    if b != WORLD:
        _add_half_product(jointed.turn_stiffness[b], arm_b)
    if about >= 0:
        axis = axis_of(frame_a, about)
        _add_outer(jointed.turn_stiffness[a], 0, 1.0, axis, cross(across, axis))
        if b != WORLD:
            _add_outer(jointed.turn_stiffness[b], 0, -1.0, axis, cross(across, axis))
    if is_tied:
        # so far it has what the torque on b changes by, by turns of a and by those of b
        for entry in range(9):
            by_a, by_b = coupling[entry], coupling[9 + entry]
            jointed.turn_stiffness[a, entry] += by_a
            if b != WORLD:
                jointed.turn_stiffness[b, entry] -= by_b
            coupling[entry], coupling[9 + entry] = by_b, -by_a


@subkernel
def add_angle(change, kind, axis, on_sphere, torque, frame_a, frame_b):
    """Add what the torque on b of one free angle changes by, with turns of a, and of b (9 numbers each)."""
    x, y, z = axis_of(frame_a, 0), axis_of(frame_a, 1), axis_of(frame_a, 2)
    if kind == SWING:
        other = axis_of(frame_b, 2)
        normal = cross(z, other)
        size, cosine = math.sqrt(dot(normal, normal)), dot(z, other)
        if size > _NOWHERE:
            e = _times(1.0 / size, normal)
            factor = dot(torque, e) / size
            # of the normal: (t x z) x other, and z x (t x other), without their parts along e
            _add_outer(change, 0, factor, z, other)
            _add_outer(change, 9, -factor, other, z)
            _add_outer(change, 0, factor * cosine, e, e)
            _add_outer(change, 9, -factor * cosine, e, e)
            for entry in range(0, 9, 4):
                change[entry] -= factor * cosine
                change[9 + entry] += factor * cosine
        return
    x_of_b = axis_of(frame_b, 0)
    if on_sphere:
        # at its limit it is the product of two axes that are across each other, one of b and one of a
        of_b = x_of_b if axis == 2 else cross(z, torque)
        of_a = cross(torque, x_of_b) if axis == 2 else z
        _add_outer(change, 0, -1.0, of_a, of_b)
        _add_outer(change, 9, 1.0, of_b, of_a)
        return
    third = math.atan2(dot(y, x_of_b), dot(x, x_of_b))
    second = -math.asin(min(1.0, max(-1.0, dot(z, x_of_b))))
    cosine, sine = max(math.cos(second), _LEAST_COSINE), math.sin(second)
    h = _sum(_times(math.cos(third), x), _times(math.sin(third), y))
    # what the two angles are per turn of b as seen from a
    side = cross(z, h)
    of_third, of_second = _sum(z, _times(sine / cosine, h)), side
    if axis == 1:
        factor = dot(torque, side)
        _add_relative(change, -factor, h, of_third)
    elif axis == 2:
        factor = dot(torque, of_third) / dot(of_third, of_third)
        _add_relative(change, factor / cosine**2, h, of_second)
        _add_relative(change, factor * sine / cosine, side, of_third)
    else:
        factor = dot(torque, h) * cosine
        _add_relative(change, factor / cosine, side, of_third)
        _add_relative(change, factor * sine / cosine**2, h, of_second)
    # all of it turns with a
    t0, t1, t2 = torque
    change[1], change[2] = change[1] + t2, change[2] - t1
    change[3], change[5] = change[3] - t2, change[5] + t0
    change[6], change[7] = change[6] + t1, change[7] - t0


@subkernel
def _add_relative(change, factor, direction, rate):
    """Add a change along a direction, by the turn of b as seen from a."""
    _add_outer(change, 0, -factor, direction, rate)
    _add_outer(change, 9, factor, direction, rate)


@subkernel
def _add_outer(matrix, first, factor, column, row):
    """A += factor u v' of a 3 x 3 matrix, row by row, from the place ``first`` on."""
    u0, u1, u2 = column
    v0, v1, v2 = row
    u0, u1, u2 = factor * u0, factor * u1, factor * u2
    matrix[first], matrix[first + 1], matrix[first + 2] = (
        matrix[first] + u0 * v0,
        matrix[first + 1] + u0 * v1,
        matrix[first + 2] + u0 * v2,
    )
    matrix[first + 3], matrix[first + 4], matrix[first + 5] = (
        matrix[first + 3] + u1 * v0,
        matrix[first + 4] + u1 * v1,
        matrix[first + 5] + u1 * v2,
    )
    matrix[first + 6], matrix[first + 7], matrix[first + 8] = (
        matrix[first + 6] + u2 * v0,
        matrix[first + 7] + u2 * v1,
        matrix[first + 8] + u2 * v2,
    )


@subkernel
def _add_half_product(matrix, vector):
    """A += [t] / 2, row by row, with [t] x = t x x."""
    t0, t1, t2 = _times(0.5, vector)
    matrix[1], matrix[2] = matrix[1] - t2, matrix[2] + t1
    matrix[3], matrix[5] = matrix[3] + t2, matrix[5] - t0
    matrix[6], matrix[7] = matrix[6] - t1, matrix[7] + t0


@subkernel
def _sum(one, other):
    a0, a1, a2 = one
    b0, b1, b2 = other
    return a0 + b0, a1 + b1, a2 + b2


@subkernel
def _times(factor, vector):
    x, y, z = vector
    return factor * x, factor * y, factor * z
