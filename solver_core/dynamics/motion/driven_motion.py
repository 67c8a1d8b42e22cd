"""What sticks to a body that is driven goes along its path: by the chord of a turn, where solves know its tangent.

In a substep a driven body goes to X + h V and turns by R = exp(h W) about X. What sticks to it, r away from X, has the
solved velocity V + W x r, of the substep's start. By that it would go along the tangent, and so drift outwards by
r w^2 h / 2 a second: by 0.019 m/s at 1.5 m on a disc of 45 degrees a second, in one substep a frame. It goes as the
driven body does where it is:

    h d = h V + (R - 1) r        d = v + ((R - 1) r / h - W x r)

Whatever is stacked on it, or clamped by it, and moves as one with it, goes along too.
"""

import math

from ...compiled.kernel import borrowed, kernel, subkernel
from ...geometry.rotation_kernels import from_rotation_vector, rotate

# A body moves as one with a driven one where it deviates from its motion by less than this share of it.
_RATIO_STICKS = 0.01


@kernel(inline=True)
def follow_driven(rows, contacts, state, motion, step_rules, size, h):
    """Let what sticks to driven bodies that turn go along their paths.

    Parameters
    ----------
    rows : RowArrays
        Of the position solve (read).
    contacts : ContactArrays
        Read.
    state : StateArrays
        At the substep's start, with the solved velocities (read).
    motion : MotionArrays
        Read: can_be_pushed, memory. Written: position_velocity of such bodies.
    step_rules : StepRuleArrays
        Read: is_held. Written: carrier.
    size : float64 [body_count]
        [m] (read).
    h : float
        [s].
    """
    rows, contacts, state, motion = borrowed(rows), borrowed(contacts), borrowed(state), borrowed(motion)
    step_rules = borrowed(step_rules)
    if not _find_turning(state, motion, step_rules.carrier):
        return
    _spread(rows, contacts.count[0], state, step_rules, size)
    for body in range(state.kind.size):
        carrier = step_rules.carrier[body]
        if carrier >= 0 and carrier != body:
            _take_chord(state, motion, body, carrier, h)


@subkernel
def _find_turning(state, motion, carrier):
    """Let driven bodies that turn carry themselves, and nothing else; returns whether there are any."""
    found = False
    for body in range(carrier.size):
        carrier[body] = -1
        x, y, z = state.velocity[body, 3], state.velocity[body, 4], state.velocity[body, 5]
        if not motion.can_be_pushed[body] and (x != 0.0 or y != 0.0 or z != 0.0):
            carrier[body] = body
            found = True
    return found


@subkernel
def _spread(rows, contact_count, state, step_rules, size):
    """Find what each of them carries, from contact to contact that pushes."""
    carrier, changed = step_rules.carrier, True
    while changed:
        changed = False
        for contact in range(contact_count):
            a, b = rows.body_a[contact], rows.body_b[contact]
            if (carrier[a] >= 0) == (carrier[b] >= 0) or rows.impulse[rows.block_row[contact]] <= 0.0:
                continue
            carried, by = (a, b) if carrier[a] < 0 else (b, a)
            # What joints hold goes as they ask, and what cannot be pushed goes nowhere.
            is_free = rows.body_mass[carried, 0, 0] > 0.0 and not step_rules.is_held[carried]
            if is_free and _moves_along(state, size, carried, carrier[by]):
                carrier[carried] = carrier[by]
                changed = True


@subkernel
def _moves_along(state, size, body, carrier):
    """Whether a body moves as a point of the carrier does where it is."""
    x, y, z = _arm(state, body, carrier)
    own, driven = state.velocity[body], state.velocity[carrier]
    f0, f1, f2 = driven[4] * z - driven[5] * y, driven[5] * x - driven[3] * z, driven[3] * y - driven[4] * x
    speed = math.sqrt(f0 * f0 + f1 * f1 + f2 * f2)
    apart = math.sqrt((own[0] - driven[0] - f0) ** 2 + (own[1] - driven[1] - f1) ** 2 + (own[2] - driven[2] - f2) ** 2)
    spin = math.sqrt(driven[3] ** 2 + driven[4] ** 2 + driven[5] ** 2)
    turning = math.sqrt((own[3] - driven[3]) ** 2 + (own[4] - driven[4]) ** 2 + (own[5] - driven[5]) ** 2)
    return apart + size[body] * turning <= _RATIO_STICKS * (speed + size[body] * spin)


@subkernel
def _arm(state, body, carrier):
    """From the carrier's centre to the body's [m]."""
    own, driven = state.position[body], state.position[carrier]
    return own[0] - driven[0], own[1] - driven[1], own[2] - driven[2]


@subkernel
def _take_chord(state, motion, body, carrier, h):
    """Write a body's position-update velocity: that of the solve, and what the chord has beyond the tangent."""
    x, y, z = _arm(state, body, carrier)
    driven, own, velocity = state.velocity[carrier], motion.position_velocity[body], state.velocity[body]
    wx, wy, wz = driven[3], driven[4], driven[5]
    q0, q1, q2, q3 = from_rotation_vector(h * wx, h * wy, h * wz)
    cx, cy, cz = rotate(q0, q1, q2, q3, x, y, z)
    if not motion.memory.in_small_steps[body]:
        for column in range(6):
            own[column] = velocity[column]
    t0, t1, t2 = wy * z - wz * y, wz * x - wx * z, wx * y - wy * x
    d0, d1, d2 = (cx - x) / h - t0, (cy - y) / h - t1, (cz - z) / h - t2
    square = d0 * d0 + d1 * d1 + d2 * d2
    if square == 0.0:
        return
    # as far as contacts have led it along the chord already (``contact_rows.bend_of_turning``)
    led = d0 * (own[0] - driven[0] - t0) + d1 * (own[1] - driven[1] - t1) + d2 * (own[2] - driven[2] - t2)
    share = 1.0 - min(max(led / square, 0.0), 1.0)
    own[0], own[1], own[2] = own[0] + share * d0, own[1] + share * d1, own[2] + share * d2
