"""Free motion: what bodies do between contacts.

Poses and velocities belong to the same instant, the end of the last substep. In a substep h a body that nothing pushes
gets all of gravity's kick and moves by the mean of its velocities, which is the exact parabola:

    v <- v + h g,    x <- x + h (v - h g / 2)

Damping comes first, at the substep's start, so it only takes energy.
How far bodies go that contacts push: ``position_update``.

Rotation keeps the angular momentum in world axes exactly, at any spin, and hardly changes its energy
(``free_rotation``).
"""

import math
from typing import NamedTuple

import numpy as np

from ...collision.distance.shape_distance import RATIO_FAST
from ...compiled.kernel import kernel, subkernel
from ...geometry.rotation_kernels import from_rotation_vector, multiply, rotate, rotate_back
from ...model.state import DYNAMIC, KINEMATIC, STATIC
from ..islands.memory import IslandMemory, allocate_island_memory
from .free_rotation import TURN_PER_CYCLE, is_isotropic, turned_freely
from .lost_bodies import hold, is_lost

# A body may gain this share of its size in a substep before contacts are searched for again: half of the margin within
# which they are searched for in any case.
_RATIO_OUT_OF_SIGHT = 0.005
# ... and what moves in small steps this one: half of the margin and of what it may overlap by the substep's end.
_RATIO_COARSE_OUT_OF_SIGHT = 0.009
# Bodies are taken to change by this much more than they have, since what they meet then pushes them again.
_FACTOR_SURPLUS = 1.5
# From the centre of mass to the farthest point, as a share of the size: half the diagonal of a cube.
_FACTOR_LEVER = 0.87


class MotionArrays(NamedTuple):
    """Velocities along one substep, and what they depend on.

    Attributes
    ----------
    inverse_mass : float64 [body_count]
        [1/kg]; 0 for bodies that cannot be pushed.
    inverse_inertia : float64 [body_count, 9]
        In world axes, row by row; zero likewise.
    can_be_pushed : bool [body_count]
    start_velocity : float64 [body_count, 6]
        At the substep's start.
    free_velocity : float64 [body_count, 6]
        At the substep's end, with gravity and damping, without contacts.
    position_velocity : float64 [body_count, 6]
        Moves the poses (``position_update``).
    acceleration : float64 [at least 2 and body_count, 6], or [1, 6]
        By gravity and fields, linear [m/s^2] and angular [rad/s^2]; one for all without fields.
    memory : IslandMemory
    """

    inverse_mass: np.ndarray
    inverse_inertia: np.ndarray
    can_be_pushed: np.ndarray
    start_velocity: np.ndarray
    free_velocity: np.ndarray
    position_velocity: np.ndarray
    acceleration: np.ndarray
    memory: IslandMemory


def allocate_motion(body_count: int, has_fields: bool = False) -> MotionArrays:
    """Motion of bodies that have not moved yet."""
    return MotionArrays(
        inverse_mass=np.zeros(body_count),
        inverse_inertia=np.zeros((body_count, 9)),
        can_be_pushed=np.zeros(body_count, np.bool_),
        start_velocity=np.zeros((body_count, 6)),
        free_velocity=np.zeros((body_count, 6)),
        position_velocity=np.zeros((body_count, 6)),
        # more than one row says that there are fields
        acceleration=np.zeros((max(body_count, 2) if has_fields else 1, 6)),
        memory=allocate_island_memory(body_count),
    )


@kernel(inline=True)
def apply_forces(model, state, motion, gravity, h):
    """Free velocities at the end of the substep, and the inertia in world axes.

    Damping as Blender's Bullet does it: what a body had is multiplied by (1 - damping)^h, then gravity is added.

    Parameters
    ----------
    model : ModelArrays
        Read.
    state : StateArrays
        Read.
    motion : MotionArrays
        Written: inverse_mass, inverse_inertia, can_be_pushed, start_velocity, free_velocity, the first acceleration.
    gravity : float64 [3]
        [m/s^2].
    h : float
        [s].
    """
    for axis in range(3):
        motion.acceleration[0, axis] = gravity[axis]
    for body in range(state.kind.size):
        pushed = state.kind[body] == DYNAMIC
        motion.can_be_pushed[body] = pushed
        for column in range(6):
            motion.start_velocity[body, column] = state.velocity[body, column]
        if pushed:
            motion.inverse_mass[body] = model.inverse_mass[body]
            _rotate_inertia(model.inverse_inertia[body], state.orientation[body], motion.inverse_inertia[body])
            keep_linear = share_kept(model.linear_damping[body], h)
            keep_angular = share_kept(model.angular_damping[body], h)
            for axis in range(3):
                motion.free_velocity[body, axis] = keep_linear * state.velocity[body, axis] + h * gravity[axis]
                motion.free_velocity[body, 3 + axis] = keep_angular * state.velocity[body, 3 + axis]
        else:
            motion.inverse_mass[body] = 0.0
            for entry in range(9):
                motion.inverse_inertia[body, entry] = 0.0
            for column in range(6):
                motion.free_velocity[body, column] = state.velocity[body, column]


@subkernel
def share_kept(damping, h):
    """Share of a velocity that damping leaves in h; a power costs as much as the rest of a body without it."""
    return 1.0 if damping == 0.0 else (1.0 - damping) ** h


@subkernel
def _rotate_inertia(inverse_moments, orientation, inverse):
    """R diag(1/I) R' into ``inverse``, row by row."""
    w, x, y, z = orientation
    x0, x1, x2 = rotate(w, x, y, z, 1.0, 0.0, 0.0)
    y0, y1, y2 = rotate(w, x, y, z, 0.0, 1.0, 0.0)
    z0, z1, z2 = rotate(w, x, y, z, 0.0, 0.0, 1.0)
    a, b, c = inverse_moments
    inverse[0] = a * x0 * x0 + b * y0 * y0 + c * z0 * z0
    inverse[1] = a * x0 * x1 + b * y0 * y1 + c * z0 * z1
    inverse[2] = a * x0 * x2 + b * y0 * y2 + c * z0 * z2
    inverse[4] = a * x1 * x1 + b * y1 * y1 + c * z1 * z1
    inverse[5] = a * x1 * x2 + b * y1 * y2 + c * z1 * z2
    inverse[8] = a * x2 * x2 + b * y2 * y2 + c * z2 * z2
    inverse[3], inverse[6], inverse[7] = inverse[1], inverse[2], inverse[5]


@subkernel(inline=True)
def reach_farther(size, motion, velocity, gravity_norm, h, predicted):
    """Note how much farther bodies go than their velocities at the start could tell, because others have pushed them.

    Contacts are searched for as far as bodies may come by the velocities that they start with. One that is hit goes
    farther, perhaps through a floor that it was not near.

    Parameters
    ----------
    size : float64 [body_count]
        (read)
    motion : MotionArrays
        Read: can_be_pushed, start_velocity.
    velocity : float64 [body_count, 6]
        After the contacts (read).
    gravity_norm, h : float
        [m/s^2], [s].
    predicted : PredictedMotion
        ``surplus`` read and written; ``is_diverted`` written where a body goes out of sight.

    Returns
    -------
    out_of_sight : bool
        Whether a body goes farther than contacts were looked for.
    is_fast : bool
        Whether one goes so much farther that it may pass what it meets.
    """
    out_of_sight, is_fast = False, False
    # Not plain numbers: Numba would compile what they are passed to once for each literal.
    linear, angular = np.int64(0), np.int64(3)
    surplus = predicted.surplus
    for body in range(size.size):
        if not motion.can_be_pushed[body]:
            continue
        start, now = motion.start_velocity[body], velocity[body]
        lever = _FACTOR_LEVER * size[body]
        gained = h * (
            _speed(now, linear) - _speed(start, linear) + lever * (_speed(now, angular) - _speed(start, angular))
        )
        out_of_sight = out_of_sight or gained > surplus[body] + _slack(size, motion, body, gravity_norm, h)
        is_fast = is_fast or gained > surplus[body] + RATIO_FAST * size[body]
    if out_of_sight:
        for body in range(size.size):
            predicted.is_diverted[body] = False
            if motion.can_be_pushed[body]:
                start, now = motion.start_velocity[body], velocity[body]
                lever = _FACTOR_LEVER * size[body]
                changed = h * (_speed_between(start, now, linear) + lever * _speed_between(start, now, angular))
                predicted.is_diverted[body] = changed > surplus[body] + _slack(size, motion, body, gravity_norm, h)
                surplus[body] = max(surplus[body], _FACTOR_SURPLUS * changed)
    return out_of_sight, is_fast


@subkernel
def _slack(size, motion, body, gravity_norm, h):
    """How much farther a body may go before contacts are searched for again [m]."""
    ratio = _RATIO_COARSE_OUT_OF_SIGHT if motion.memory.in_small_steps[body] else _RATIO_OUT_OF_SIGHT
    return gravity_norm * h * h + ratio * size[body]


@subkernel
def _speed(velocity, first):
    """Norm of the linear (first = 0) or angular (first = 3) part of a velocity."""
    return math.sqrt(velocity[first] ** 2 + velocity[first + 1] ** 2 + velocity[first + 2] ** 2)


@subkernel
def _speed_between(one, two, first):
    """Norm of the difference of two velocities' linear or angular parts."""
    a, b, c = two[first] - one[first], two[first + 1] - one[first + 1], two[first + 2] - one[first + 2]
    return math.sqrt(a * a + b * b + c * c)


@kernel(inline=True)
def integrate_poses(model, state, motion, h):
    """Move every body by its position-update velocity over h; keep the angular momentum of the state's velocity.

    A body whose motion is no number any more stays where it was, from then on.

    Parameters
    ----------
    model : ModelArrays
        Read.
    state : StateArrays
        Read and written: poses; angular velocities, which turn with the body at constant angular momentum.
    motion : MotionArrays
        Read: position_velocity. Written, of bodies that are lost: ``memory.is_lost``, and that they do not move.
    h : float
        [s].
    """
    for body in range(state.kind.size):
        kind = state.kind[body]
        if kind == STATIC:
            continue
        before = state.position[body, 0], state.position[body, 1], state.position[body, 2]
        for axis in range(3):
            state.position[body, axis] += h * motion.position_velocity[body, axis]
        if kind == KINEMATIC:
            _turn(state.orientation[body], motion.position_velocity[body], h)
        else:
            w, x, y, z = state.orientation[body]
            _turn_freely(
                state.orientation[body], state.velocity[body], motion.position_velocity[body], model.inertia[body], h
            )
            if is_lost(state, motion.position_velocity, body):
                _store(state.orientation[body], (w, x, y, z))
                for axis in range(3):
                    state.position[body, axis] = before[axis]
                hold(state, motion, body)


@subkernel
def _turn(orientation, velocity, h):
    """Turn a body by a constant angular velocity in world axes."""
    w, x, y, z = orientation
    p, a, b, c = from_rotation_vector(h * velocity[3], h * velocity[4], h * velocity[5])
    _store(orientation, _normalized(*multiply(p, a, b, c, w, x, y, z)))


@subkernel
def _store(orientation, quaternion):
    orientation[0], orientation[1], orientation[2], orientation[3] = quaternion


@subkernel
def _normalized(w, x, y, z):
    factor = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    return w * factor, x * factor, y * factor, z * factor


@subkernel
def free_orientations(orientation, turning, inertia, h):
    """Orientations (w, x, y, z) of a dynamic body before and after a substep that it turns through by ``turning``."""
    w, x, y, z = orientation
    return (w, x, y, z), turned_freely(orientation, turning, inertia, h, TURN_PER_CYCLE)


@subkernel
def place_at_end(model, state, motion, h, body, position, orientation):
    """Where ``integrate_poses`` will move a body.

    Parameters
    ----------
    model, state
        Read.
    motion : MotionArrays
        Read: position_velocity.
    h : float
        [s].
    body : int64
    position, orientation : float64 [body_count, 3], [body_count, 4]
        The body's is written.
    """
    own, velocity = orientation[body], motion.position_velocity[body]
    for entry in range(4):
        own[entry] = state.orientation[body, entry]
    moves = state.kind[body] != STATIC
    for axis in range(3):
        position[body, axis] = state.position[body, axis] + (h * velocity[axis] if moves else 0.0)
    if state.kind[body] == KINEMATIC:
        _turn(own, velocity, h)
    elif moves:
        _, after = free_orientations(own, velocity, model.inertia[body], h)
        _store(own, after)


@subkernel
def _keep_momentum(velocity, inertia, before, after):
    """Change an angular velocity so that the angular momentum stays the same from one orientation to another."""
    i0, i1, i2 = inertia
    w, x, y, z = before
    s0, s1, s2 = rotate_back(w, x, y, z, velocity[3], velocity[4], velocity[5])
    momentum0, momentum1, momentum2 = rotate(w, x, y, z, i0 * s0, i1 * s1, i2 * s2)
    w, x, y, z = after
    b0, b1, b2 = rotate_back(w, x, y, z, momentum0, momentum1, momentum2)
    velocity[3], velocity[4], velocity[5] = rotate(w, x, y, z, b0 / i0, b1 / i1, b2 / i2)


@subkernel
def _turn_freely(orientation, velocity, turning, inertia, h):
    """Turn a dynamic body by ``turning``; the angular momentum of ``velocity`` stays the same in world axes."""
    before, after = free_orientations(orientation, turning, inertia, h)
    _store(orientation, after)
    if not is_isotropic(inertia):
        _keep_momentum(velocity, inertia, before, after)


@subkernel
def turn_ahead(islands, island, model, state, velocity, motion, h):
    """Give the bodies of an island the inertia and angular velocities that they have at the substep's end.

    Impacts act there. With the inertia of the start they would keep an energy that the turned body has not.

    Parameters
    ----------
    islands, island, model, state
        Read.
    velocity : float64 [body_count, 6]
        Angular velocities written.
    motion : MotionArrays
        Read: position_velocity. Written: inverse_inertia.
    h : float
        [s].

    Returns
    -------
    float
        Energy that the spins gain so [J]: the bodies turn as contacts let them, and not as they would in free motion,
        which keeps it.
    """
    gained = 0.0
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        inertia = model.inertia[body]
        if not is_isotropic(inertia):
            before, after = free_orientations(state.orientation[body], motion.position_velocity[body], inertia, h)
            has = _spin_energy(velocity[body], inertia, before)
            _keep_momentum(velocity[body], inertia, before, after)
            gained += 0.5 * (_spin_energy(velocity[body], inertia, after) - has)
            _rotate_inertia(model.inverse_inertia[body], after, motion.inverse_inertia[body])
    return gained


@subkernel
def turn_back(islands, island, model, state, motion, h):
    """Give the bodies of an island the angular velocities of the start that lead to their present ones (``integrate``).

    Parameters
    ----------
    islands, island, model
        Read.
    state : StateArrays
        Read; angular velocities written.
    motion, h
        As of ``turn_ahead``.
    """
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        inertia = model.inertia[body]
        if not is_isotropic(inertia):
            before, after = free_orientations(state.orientation[body], motion.position_velocity[body], inertia, h)
            _keep_momentum(state.velocity[body], inertia, after, before)


@subkernel
def gain_by_turn(orientation, velocity, turning, inertia, h):
    """Energy that a body's spin gains as ``integrate_poses`` turns it, at constant angular momentum [J].

    Parameters
    ----------
    orientation : float64 [4]
        Read.
    velocity, turning : float64 [6]
        The body's, and that by which it turns (read).
    inertia : float64 [3]
        [kg m^2] (read).
    h : float
        [s].
    """
    if is_isotropic(inertia):
        return 0.0
    before, after = free_orientations(orientation, turning, inertia, h)
    i0, i1, i2 = inertia
    w, x, y, z = before
    s0, s1, s2 = rotate_back(w, x, y, z, velocity[3], velocity[4], velocity[5])
    l0, l1, l2 = rotate(w, x, y, z, i0 * s0, i1 * s1, i2 * s2)
    w, x, y, z = after
    l0, l1, l2 = rotate_back(w, x, y, z, l0, l1, l2)
    return 0.5 * (l0 * l0 / i0 + l1 * l1 / i1 + l2 * l2 / i2 - i0 * s0 * s0 - i1 * s1 * s1 - i2 * s2 * s2)


@subkernel
def work_of_turning(inertia, orientation, acceleration, turning, h):
    """Work of the torque that turns a body faster, as it turns by ``turning`` [J]."""
    w, x, y, z = orientation
    faster = rotate_back(w, x, y, z, acceleration[3], acceleration[4], acceleration[5])
    turned = rotate_back(w, x, y, z, turning[3], turning[4], turning[5])
    return h * (
        inertia[0] * faster[0] * turned[0] + inertia[1] * faster[1] * turned[1] + inertia[2] * faster[2] * turned[2]
    )


@subkernel
def take_turn_energy(islands, island, model, state, motion, h):
    """Slow the spins that the displacements of an island would give energy by turning the bodies (``integrate_poses``).

    Free motion keeps angular momentum and energy. Where an overlap is taken out a body does not turn as it spins; its
    momentum, kept, may be about an axis of a smaller moment then, and that spin has more energy.

    Parameters
    ----------
    islands, island, model, motion, h
        Read.
    state : StateArrays
        Read; angular velocities written.
    """
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        inertia, velocity, turning = model.inertia[body], state.velocity[body], motion.position_velocity[body]
        if is_isotropic(inertia) or (
            velocity[3] == turning[3] and velocity[4] == turning[4] and velocity[5] == turning[5]
        ):
            continue
        before, after = free_orientations(state.orientation[body], turning, inertia, h)
        has, spin = _spin_energy(velocity, inertia, before), (velocity[3], velocity[4], velocity[5])
        _keep_momentum(velocity, inertia, before, after)
        gets = _spin_energy(velocity, inertia, after)
        share = math.sqrt(has / gets) if gets > has else 1.0
        for axis in range(3):
            velocity[3 + axis] = share * spin[axis]


@subkernel
def _spin_energy(velocity, inertia, orientation):
    """Twice the energy of an angular velocity [J]."""
    w, x, y, z = orientation
    s0, s1, s2 = rotate_back(w, x, y, z, velocity[3], velocity[4], velocity[5])
    i0, i1, i2 = inertia
    return i0 * s0 * s0 + i1 * s1 * s1 + i2 * s2 * s2


@kernel(inline=True)
def measure_motion(mass, inertia, gravity, kind, group, position, orientation, velocity, energy):
    """Energy of the dynamic bodies, asleep or awake, and whether all motion is finite.

    Parameters
    ----------
    mass, inertia : float64 [B], [B, 3]
        [kg], [kg m^2] (read).
    gravity : float64 [3]
        [m/s^2] (read).
    kind, position, orientation, velocity : arrays of StateArrays
        As the step sees them: a sleeping body is static (read).
    group : int64 [B]
        Of ``SleepArrays``: -1 for a body that is awake (read).
    energy : float64 [2]
        Kinetic, and potential with its zero at the world's origin [J] (written).

    Returns
    -------
    int
        The first body whose position or velocity is not finite; -1 without one.
    """
    kinetic, potential = 0.0, 0.0
    lost = -1
    for body in range(len(mass)):
        total = 0.0
        for i in range(3):
            total += position[body, i] + velocity[body, i] + velocity[body, 3 + i]
        if lost < 0 and not math.isfinite(total):
            lost = body
        if kind[body] != DYNAMIC and group[body] < 0:
            continue
        w, x, y, z = orientation[body]
        spin = rotate_back(w, x, y, z, velocity[body, 3], velocity[body, 4], velocity[body, 5])
        for i in range(3):
            along = velocity[body, i]
            kinetic += 0.5 * (mass[body] * along * along + inertia[body, i] * spin[i] * spin[i])
            potential -= mass[body] * position[body, i] * gravity[i]
    energy[0] = kinetic
    energy[1] = potential
    return lost
