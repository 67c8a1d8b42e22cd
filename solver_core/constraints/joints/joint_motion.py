"""The motion of bodies that joints hold, as the position solve takes it: where forces act, and how stiff they are.

The forces of joints act where the bodies are at the middle of the substep (of those that go by END: at its end), and
these poses depend on the solution. Under a force f at the arm r of a body a turn by e changes the torque r x f by -K e,

    K = (r . f) 1 - (r f' + f r') / 2

In a chain that bears a heavy load K is large: its links would swing sideways many times in a substep. Newton's method
for the substep's equations takes that in: with s = 1/2 (END: 1), impulses r and the velocity v_k where K was measured,

    (M + s^2 h K) v = M v_free + s^2 h K v_k + J' r

So in the solve bodies have this inertia and this free velocity. Where v = v_k the equations are those of the bodies
themselves: K only leads there, and may be made positive semidefinite. (Tournier et al. 2015 add it for good.)
"""

import math

from ...compiled.kernel import subkernel
from ...model.joints.coordinates import DISTANCE, LINEAR, RACK
from ...model.joints.joint_arrays import RANGE, SOFT_RANGE, WORLD
from ..contact_rows import fill_inertia
from .coordinate_geometry import axis_of
from .row_measures import frames_of_joint, measure_row

# Sweeps of Jacobi's method for the eigenvalues of a 3 x 3 matrix; it converges quadratically.
_SWEEPS_JACOBI = 6
# A velocity goes on to change as it did where two changes differ by less than the root of this share.
_RATIO_STEADY = 0.1
# Entries off the diagonal below this share of those on it are none.
_RATIO_DIAGONAL = 1e-30
# ... and where all are below this share of the largest on it, the matrix is diagonal.
_RATIO_DONE = 1e-20


@subkernel
def share_of_step(joints, joint_state, joint, can_be_pushed):
    """Share s of a joint: of a substep until where its forces act, and of its bodies' velocities at the end."""
    a = joints.body_a[joint]
    return joint_state.share[a if can_be_pushed[a] else joints.body_b[joint]]


@subkernel
def place_between(state, joint_state, body):
    """The pose at which forces act, from those of the substep's start and end.

    Parameters
    ----------
    state : StateArrays
        Read.
    joint_state : JointStateArrays
        Read: end poses, share. Written: pose_position, pose_orientation of the body.
    body : int64
    """
    share = joint_state.share[body]
    start, end, between = state.orientation[body], joint_state.end_orientation[body], joint_state.pose_orientation[body]
    for axis in range(3):
        way = joint_state.end_position[body, axis] - state.position[body, axis]
        joint_state.pose_position[body, axis] = state.position[body, axis] + share * way
    product, square = 0.0, 0.0
    for entry in range(4):
        product += start[entry] * end[entry]
    # of two quaternions of one turn the nearer one; their mean is half way along the turn
    sign = 1.0 if product >= 0.0 else -1.0
    for entry in range(4):
        between[entry] = sign * end[entry] if share == 1.0 else start[entry] + sign * end[entry]
        square += between[entry] * between[entry]
    for entry in range(4):
        between[entry] /= math.sqrt(square)


@subkernel
def guess_velocity(joint_state, motion, body, falls):
    """Guess the velocity of a body at the substep's end: the forces of the last substep act on.

    Parameters
    ----------
    joint_state : JointStateArrays
        Read: is_held, gain. Written: guess.
    motion : MotionArrays
        Read: free_velocity.
    body : int64
    falls : tuple of 3 floats
        What gravity gives in the substep [m/s].
    """
    free, guess = motion.free_velocity[body], joint_state.guess[body]
    for column in range(6):
        guess[column] = free[column]
        if joint_state.is_held[body]:
            guess[column] += joint_state.gain[body, column] - (falls[column] if column < 3 else 0.0)


@subkernel
def note_gain(joint_state, body, falls):
    """Note by how much a body's velocity has changed in a substep, and whether that tells of the next one.

    Parameters
    ----------
    joint_state : JointStateArrays
        Read: is_held, guess, which is the solution now, own_velocity. Written: gain, last_gain.
    body : int64
    falls : tuple of 3 floats
        As of ``guess_velocity``.
    """
    gain, last = joint_state.gain[body], joint_state.last_gain[body]
    for first in range(0, 6, 3):
        change, square = 0.0, 0.0
        for axis in range(3):
            column = first + axis
            gain[column] = joint_state.guess[body, column] - joint_state.own_velocity[body, column]
            gain[column] += falls[axis] if first == 0 else 0.0
            change += (gain[column] - last[column]) ** 2
            square += gain[column] ** 2
            last[column] = gain[column]
        if not (joint_state.is_held[body] and change <= _RATIO_STEADY * square):
            for axis in range(3):
                gain[first + axis] = 0.0


@subkernel
def clear_stiffness(joint_state, body):
    """Begin to add the stiffness of a body's joints."""
    for entry in range(6):
        joint_state.stiffness[body, entry] = 0.0


@subkernel
def add_stiffness(joints, joint_state, joint, impulse, first, position, orientation):
    """Add what a joint's forces do to the stiffness of its bodies, at the poses where they act.

    Parameters
    ----------
    joints : JointArrays
        Read.
    joint_state : JointStateArrays
        Written: stiffness [N m s, as forces are impulses here].
    joint : int64
    impulse : float64 [any]
        Of the joint's rows, from the place ``first`` on (read).
    first : int64
    position, orientation : float64 [body_count, 3], [body_count, 4]
        The poses of the bodies (read).
    """
    a, b = joints.body_a[joint], joints.body_b[joint]
    frames = frames_of_joint(joints, joint, position, orientation)
    frame_a, frame_b, _, _ = frames
    for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
        kind = joints.kind[index]
        if kind != LINEAR and kind != DISTANCE and kind != RACK:
            continue
        if kind == LINEAR:
            push, share = axis_of(frame_a, joints.axis[index]), 1.0
        else:
            _, _, _, _, push, share, _, _ = measure_row(joints, joint_state, joint, index, frames)
        size = impulse[first + index - joints.row_first[joint]]
        if joints.role[index] in (RANGE, SOFT_RANGE):
            size *= joint_state.side[index]
        f0, f1, f2 = size * push[0], size * push[1], size * push[2]
        p0, p1, p2, _, _, _, _ = frame_b
        if b != WORLD:
            arm = p0 - position[b, 0], p1 - position[b, 1], p2 - position[b, 2]
            _add(joint_state.stiffness[b], arm, f0, f1, f2)
        if kind == DISTANCE:
            p0, p1, p2, _, _, _, _ = frame_a
        arm = p0 - position[a, 0], p1 - position[a, 1], p2 - position[a, 2]
        _add(joint_state.stiffness[a], arm, -share * f0, -share * f1, -share * f2)


@subkernel
def _add(stiffness, arm, f0, f1, f2):
    """Add (r . f) 1 - (r f' + f r') / 2, as xx, yy, zz, yz, xz, xy."""
    r0, r1, r2 = arm
    along = r0 * f0 + r1 * f1 + r2 * f2
    stiffness[0] += along - r0 * f0
    stiffness[1] += along - r1 * f1
    stiffness[2] += along - r2 * f2
    stiffness[3] -= 0.5 * (r1 * f2 + r2 * f1)
    stiffness[4] -= 0.5 * (r0 * f2 + r2 * f0)
    stiffness[5] -= 0.5 * (r0 * f1 + r1 * f0)


@subkernel
def stiffen_body(joint_state, motion, body, h):
    """Inertia and free velocity of a body in the next solve, from its stiffness and the velocity where that was taken.

    Parameters
    ----------
    joint_state : JointStateArrays
        Read: stiffness, share, own_velocity, own_inertia, guess. The stiffness is made positive semidefinite.
    motion : MotionArrays
        Written: inverse_inertia, free_velocity of the body.
    body : int64
    h : float
        [s]
    """
    factor = joint_state.share[body] ** 2 * h
    k, (a, b, c, d, e, f) = stiffen_inertia(joint_state, motion, body, factor, math.inf)
    free, guess = joint_state.own_velocity[body], joint_state.guess[body]
    x, y, z = guess[3] - free[3], guess[4] - free[4], guess[5] - free[5]
    t0 = factor * (k[0] * x + k[5] * y + k[4] * z)
    t1 = factor * (k[5] * x + k[1] * y + k[3] * z)
    t2 = factor * (k[4] * x + k[3] * y + k[2] * z)
    motion.free_velocity[body, 3] = free[3] + a * t0 + f * t1 + e * t2
    motion.free_velocity[body, 4] = free[4] + f * t0 + b * t1 + d * t2
    motion.free_velocity[body, 5] = free[5] + e * t0 + d * t1 + c * t2


@subkernel
def stiffen_inertia(joint_state, motion, body, factor, most):
    """Add the positive part of a body's stiffness to its inertia.

    Parameters
    ----------
    joint_state : JointStateArrays
        Read: stiffness, own_inertia.
    motion : MotionArrays
        Written: inverse_inertia of the body.
    body : int64
    factor : float
        Of the stiffness [s].
    most : float
        What is added is at most this multiple of the inertia.

    Returns
    -------
    stiffness, inverse : tuple of six float
        The positive part, and the inverse of the sum, as xx, yy, zz, yz, xz, xy.
    """
    own, inverse = joint_state.own_inertia[body], motion.inverse_inertia[body]
    k = _positive_part(joint_state.stiffness[body])
    if most < math.inf:
        largest = max(own[0], own[4], own[8]) * factor * (k[0] + k[1] + k[2])
        if largest > most:
            factor *= most / largest
    a, b, c, d, e, f = inverse_of(own[0], own[4], own[8], own[5], own[2], own[1])
    a, b, c, d, e, f = inverse_of(
        a + factor * k[0],
        b + factor * k[1],
        c + factor * k[2],
        d + factor * k[3],
        e + factor * k[4],
        f + factor * k[5],
    )
    inverse[0], inverse[4], inverse[8] = a, b, c
    inverse[5] = inverse[7] = d
    inverse[2] = inverse[6] = e
    inverse[1] = inverse[3] = f
    return k, (a, b, c, d, e, f)


@subkernel
def keep_own(joint_state, motion, body):
    """Note a body's own inertia and free velocity."""
    for entry in range(9):
        joint_state.own_inertia[body, entry] = motion.inverse_inertia[body, entry]
    for column in range(6):
        joint_state.own_velocity[body, column] = motion.free_velocity[body, column]


@subkernel
def restore_own(joint_state, motion, rows, body):
    """Give a body its own inertia and free velocity back."""
    for entry in range(9):
        motion.inverse_inertia[body, entry] = joint_state.own_inertia[body, entry]
    for column in range(6):
        motion.free_velocity[body, column] = joint_state.own_velocity[body, column]
    fill_inertia(motion.inverse_inertia[body], rows.body_mass[body])


@subkernel
def inverse_of(a, b, c, d, e, f):
    """Inverse of a symmetric matrix given as xx, yy, zz, yz, xz, xy, likewise."""
    c0, c1, c2 = b * c - d * d, d * e - c * f, d * f - b * e
    factor = 1.0 / (a * c0 + f * c1 + e * c2)
    return (
        factor * c0,
        factor * (a * c - e * e),
        factor * (a * b - f * f),
        factor * (e * f - a * d),
        factor * c2,
        factor * c1,
    )


@subkernel
def _positive_part(given):
    """A symmetric matrix without its negative eigenvalues, as xx, yy, zz, yz, xz, xy (Jacobi's method)."""
    # columns: eigenvectors
    a, b, c, d, e, f = given
    u0, u1, u2 = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    for _ in range(_SWEEPS_JACOBI):
        if max(abs(d), abs(e), abs(f)) <= _RATIO_DONE * max(abs(a), abs(b), abs(c)):
            break
        cosine, sine = _rotation(a, b, f)
        a, b = (
            a * cosine**2 + b * sine**2 - 2.0 * f * cosine * sine,
            (a * sine**2 + b * cosine**2 + 2.0 * f * cosine * sine),
        )
        f, e, d = 0.0, cosine * e - sine * d, sine * e + cosine * d
        u0, u1 = _mix(u0, u1, cosine, -sine), _mix(u0, u1, sine, cosine)
        cosine, sine = _rotation(a, c, e)
        a, c = (
            a * cosine**2 + c * sine**2 - 2.0 * e * cosine * sine,
            (a * sine**2 + c * cosine**2 + 2.0 * e * cosine * sine),
        )
        e, f, d = 0.0, cosine * f - sine * d, sine * f + cosine * d
        u0, u2 = _mix(u0, u2, cosine, -sine), _mix(u0, u2, sine, cosine)
        cosine, sine = _rotation(b, c, d)
        b, c = (
            b * cosine**2 + c * sine**2 - 2.0 * d * cosine * sine,
            (b * sine**2 + c * cosine**2 + 2.0 * d * cosine * sine),
        )
        d, f, e = 0.0, cosine * f - sine * e, sine * f + cosine * e
        u1, u2 = _mix(u1, u2, cosine, -sine), _mix(u1, u2, sine, cosine)
    a, b, c = max(a, 0.0), max(b, 0.0), max(c, 0.0)
    return (
        a * u0[0] * u0[0] + b * u1[0] * u1[0] + c * u2[0] * u2[0],
        a * u0[1] * u0[1] + b * u1[1] * u1[1] + c * u2[1] * u2[1],
        a * u0[2] * u0[2] + b * u1[2] * u1[2] + c * u2[2] * u2[2],
        a * u0[1] * u0[2] + b * u1[1] * u1[2] + c * u2[1] * u2[2],
        a * u0[0] * u0[2] + b * u1[0] * u1[2] + c * u2[0] * u2[2],
        a * u0[0] * u0[1] + b * u1[0] * u1[1] + c * u2[0] * u2[1],
    )


@subkernel
def _rotation(first, second, off):
    """Cosine and sine of Jacobi's rotation that takes the entry off the diagonal away."""
    if abs(off) <= _RATIO_DIAGONAL * (abs(first) + abs(second)):
        return 1.0, 0.0
    theta = 0.5 * (second - first) / off
    tangent = math.copysign(1.0, theta) / (abs(theta) + math.sqrt(theta * theta + 1.0))
    cosine = 1.0 / math.sqrt(tangent * tangent + 1.0)
    return cosine, tangent * cosine


@subkernel
def _mix(one, other, p, q):
    a0, a1, a2 = one
    b0, b1, b2 = other
    return p * a0 + q * b0, p * a1 + q * b1, p * a2 + q * b2
