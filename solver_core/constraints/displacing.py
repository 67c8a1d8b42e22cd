"""How far bodies go in a substep: by which velocity, so that contacts are kept and energy never grows.

With w the velocity at the substep's start (after damping), f = w + h g the free one at its end, and v = f + M^-1 J' r
the answer to the question of poses, a body moves by one of

    FALLS    v - h g / 2      it hangs on nothing but what falls like it: without impulses the exact parabola
    MEAN     (w + v) / 2      it slides or rolls: exact under constant forces
    END      v                it lands, is lifted or rests: contacts are kept as they were asked for

Let d be that velocity, and p = J' r of a body. Its energy m |v|^2 / 2 - m g . x (and that of its spin) then changes by

    FALLS    p . d - |M^-1 p|^2 / 2        MEAN    p . d        END    p . d - |v - w|^2 / 2      (norms in M)

as M (v - w) = h M g + p shows. The sum of p . d is the sum over contacts of r . J d, their work along the displacement.
So energy does not grow if the contacts of no pair do work: r . J d <= 0. Where both bodies move by END, or both by
FALLS, J d = J v and the solution says so (u_n = -gap / h <= 0 where it pushes, friction against the slip). Else it is
looked at, and so is whether d leads the bodies into each other. As many bodies as possible fall, of the others as many
as possible move by the mean:

- what pushes on something that does not fall does not fall either,
- what the mean leads into others, or along which a contact would do work, goes by END, and so does the other body,
- what sticks to something driven goes by END: that has its new velocity from the substep's start,
- what contacts turn goes by END, unless a round shape rolls: a box that rocks from edge to edge loses little by the
  mean, and is lifted by what overlaps where it lands. On hills boxes rocked on for ten seconds so; by END they lie
  still after two and a half,
- what the mean would turn to where its angular momentum needs more energy goes by END: at constant angular momentum L a
  body turns by h w without a change of energy, by another angle a with one of a . (w x L).

This is for the motion to v. Overlaps that are taken out lift bodies, and impacts (``impacts``) change v afterwards.
END is implicit Euler: a body that rolls through a bowl loses h |a|^2 / 2 of its energy a second and a kilogram.
"""

import math

from ..collision.workspace import CAPSULE, CONE, SPHERE
from ..kernel import borrowed, subkernel
from .contact_rows import RATIO_TOUCHING, normal_speed, size_that_moves, touches_driven

FALLS, MEAN, END = 0, 1, 2

# What a contact takes from an approach, as a share of the speed that gravity gives in a substep, to count as a push:
# less is rounding.
_RATIO_PUSH = 1e-9
# Speed along a push, likewise, to count as work: less is the solver's tolerance.
_RATIO_WORK = 1e-5
# A body whose velocity changes by less, likewise, rests as far as its displacement goes.
_RATIO_REST = 1e-3


@subkernel(inline=True)
def choose_displacing(rows, contacts, motion, size, shape_kind, velocity, gravity, gravity_speed, h):
    """Find the velocity that moves each body.

    Parameters
    ----------
    rows : RowArrays
        As the question of poses was answered (read).
    contacts : ContactArrays
        Read.
    motion : MotionArrays
        Read: can_be_pushed, free_velocity. Written: pace, displacing_velocity.
    size : float64 [body_count]
        [m] (read).
    shape_kind : int64 [shape_count]
        (read)
    velocity : float64 [body_count, 6]
        The answer (read).
    gravity : float64 [3]
        [m/s^2] (read).
    gravity_speed, h : float
        [m/s], [s].
    """
    rows, contacts, motion = borrowed(rows), borrowed(contacts), borrowed(motion)
    pace, can_be_pushed, free_velocity = motion.pace, motion.can_be_pushed, motion.free_velocity
    displacing = motion.displacing_velocity
    body_a, body_b, impulse, diagonal = rows.body_a, rows.body_b, rows.impulse, rows.diagonal
    jacobian, bias, count = rows.jacobian, rows.bias, contacts.count[0]
    for body in range(pace.size):
        pace[body] = FALLS if can_be_pushed[body] else END
        for column in range(6):
            displacing[body, column] = velocity[body, column]
        if can_be_pushed[body]:
            for axis in range(3):
                displacing[body, axis] -= 0.5 * h * gravity[axis]
    # Paces only grow, so this ends. What rests on each other is mostly listed from below or from above.
    step, changed = 1, True
    while changed:
        changed = False
        following = 0 if step > 0 else count - 1
        work = pushes = 0.0
        for _ in range(count):
            contact, following = following, following + step
            a, b = body_a[contact], body_b[contact]
            is_last = (
                following < 0 or following == count or body_a[following] != a or body_b[following] != b
            )  # of the pair of bodies
            lower, higher = min(pace[a], pace[b]), max(pace[a], pace[b])
            if lower == higher and lower != MEAN:
                continue
            row = rows.block_row[contact]
            ends = False
            if lower == FALLS and impulse[row] * diagonal[row] > _RATIO_PUSH * gravity_speed:
                body = a if pace[a] == FALLS else b
                free, now, mass = free_velocity[body], velocity[body], rows.body_mass[body]
                may_roll = _is_round(shape_kind[contacts.shape_a[contact]])
                may_roll = may_roll or _is_round(shape_kind[contacts.shape_b[contact]])
                pace[body] = _pace_of_pushed(
                    size[body], mass, free, now, may_roll, gravity, gravity_speed, h, displacing[body]
                )
                # The pair's other contacts are to be looked at together, in the next turn.
                work, changed = -math.inf, True
            else:
                speed = normal_speed(jacobian, row, displacing, a, b)
                allowed = RATIO_TOUCHING * size_that_moves(size, can_be_pushed, a, b)
                ends = h * (bias[row] + speed) < -allowed
                if lower == MEAN and impulse[row] > 0.0:
                    ends = ends or _is_dragged(rows, contacts, velocity, contact, _RATIO_REST * gravity_speed)
                    for axis in range(3):
                        speed += jacobian[row, 6 + axis] * contacts.drift[contact, axis]
                    work += impulse[row] * speed
                    pushes += impulse[row]
                    for tangent in range(row + 1, row + 3):
                        work += impulse[tangent] * (normal_speed(jacobian, tangent, displacing, a, b) + bias[tangent])
                ends = ends or (is_last and work > _RATIO_WORK * gravity_speed * pushes)
            if ends:
                _move_to_end(pace, displacing, velocity, a)
                _move_to_end(pace, displacing, velocity, b)
                changed = True
            if is_last:
                work = pushes = 0.0
        step = -step


@subkernel
def _is_dragged(rows, contacts, velocity, contact, slow):
    """Whether a contact sticks to something driven, with a slip below ``slow`` [m/s]."""
    if rows.friction[rows.block_row[contact] + 1] == 0.0 or not touches_driven(rows, contacts, velocity, contact):
        return False
    a, b, square = rows.body_a[contact], rows.body_b[contact], 0.0
    for row in range(rows.block_row[contact] + 1, rows.block_row[contact + 1]):
        square += (normal_speed(rows.jacobian, row, velocity, a, b) + rows.bias[row]) ** 2
    return square <= slow * slow


@subkernel
def _move_to_end(pace, displacing, velocity, body):
    """Let a body go by END."""
    if pace[body] != END:
        pace[body] = END
        for column in range(6):
            displacing[body, column] = velocity[body, column]


@subkernel
def _is_round(kind):
    return kind == SPHERE or CAPSULE <= kind <= CONE


@subkernel
def _pace_of_pushed(size, mass, free_velocity, velocity, may_roll, gravity, gravity_speed, h, displacing):
    """Pace with which a body begins that does not fall; its displacing velocity is written."""
    change, turn = 0.0, 0.0
    for axis in range(3):
        change = max(change, abs(velocity[axis] - free_velocity[axis] + h * gravity[axis]))
        turn = max(turn, size * abs(velocity[3 + axis] - free_velocity[3 + axis]))
    least = _RATIO_REST * gravity_speed
    gain = _gain_by_turn(mass, free_velocity, velocity, h)
    is_tipped = turn > least and not may_roll
    if is_tipped or max(change, turn) <= least or gain > _RATIO_WORK * mass[0, 0] * gravity_speed**2:
        for column in range(6):
            displacing[column] = velocity[column]
        return END
    for axis in range(3):
        displacing[axis] = 0.5 * (velocity[axis] + free_velocity[axis] - h * gravity[axis])
        displacing[3 + axis] = 0.5 * (velocity[3 + axis] + free_velocity[3 + axis])
    return MEAN


@subkernel
def _gain_by_turn(mass, free_velocity, velocity, h):
    """Energy that a body gains where it turns by the mean of two angular velocities and not by its own [J]."""
    wx, wy, wz = velocity[3], velocity[4], velocity[5]
    lx = mass[3, 3] * wx + mass[3, 4] * wy + mass[3, 5] * wz
    ly = mass[4, 3] * wx + mass[4, 4] * wy + mass[4, 5] * wz
    lz = mass[5, 3] * wx + mass[5, 4] * wy + mass[5, 5] * wz
    gain = (free_velocity[3] - wx) * (wy * lz - wz * ly)
    gain += (free_velocity[4] - wy) * (wz * lx - wx * lz)
    gain += (free_velocity[5] - wz) * (wx * ly - wy * lx)
    return 0.5 * h * gain
