"""What a substep may do to a body at most, whatever the solves gave. Applied before the poses move, in every quality.

Some problems have no solution: overlaps that contradict each other (a pin too thick for its hole), or a body between
something driven and something fixed, both infinitely strong. Solvers return their best iterate then, by which bodies
would be thrown. Five bounds hold always; with s, f and e a body's velocities at the substep's start, at its end
without contacts, and at its end, and d the one that moves it:

- *Energy.* Contacts take energy, and what is driven gives its own speed. An island that was left unsolved gets no more
  kinetic energy than it had at the start, or would have without contacts, and would have at the speed of the fastest
  driven point that it touches.
- *Way.* The step rules, a hit within the substep, and the path of what turns make d differ from e by no more than
  velocities change in the island; the rest is recovery. So

      |d - e| <= max over the island of (|s - e|, |f - e|)  +  recovery

  where recovery is what the island's overlaps may ask for: the sum of their depths, as pairs may stand one behind the
  other, but no more than one pair alone may ask, ``RATIO_RECOVERY`` of the size, nor faster than a fall through half
  of it; and in full what the substep itself would lead into. An island that is beyond gets d = e + share (d - e). As
  both e and d keep contacts apart, so does what is between.
- *What never moves.* What is driven gives way to it (``pinches``).
- *Sight.* No body goes farther than contacts were looked for (``stay_in_sight``).
- *What was passed.* Nor into what it would have passed by the motions along which they were (``ccd_recheck``, before
  all others).

What joints hold is not bounded here: their corrections are positions.
"""

import math

from ...collision.distance.shape_distance import RATIO_FAST
from ...compiled.kernel import borrowed, kernel, subkernel
from ...constraints.contact_rows import size_that_moves
from ...constraints.velocity_rows import kinetic_energy, touches_driven
from ..islands.memory import has_unsolved_body
from .free_energy import bound_free_energy, energy_at_end
from .pinches import stay_out_of_what_stands

# Most of an overlap that a substep takes out, as a share of the size: as small steps do; the method takes half of it.
RATIO_RECOVERY = 0.02
# A difference below this share of the size is not looked at.
_RATIO_NOTHING = 1e-3
# Turns count at this share of the size.
_FACTOR_LEVER = 0.5


@kernel(inline=True)
def bound_motion(rows, islands, contacts, model, state, motion, step_rules, gravity_norm, h):
    """Bound velocities, and the ways of the bodies.

    Parameters
    ----------
    rows, islands, contacts
        Of the substep (read).
    model : ModelArrays
        Read.
    state : StateArrays
        Written: velocity.
    motion : MotionArrays
        Read: start_velocity, free_velocity, memory. Written: position_velocity.
    step_rules : StepRuleArrays
        Read: is_held.
    gravity_norm, h : float
        [m/s^2], [s].
    """
    rows, islands, contacts = borrowed(rows), borrowed(islands), borrowed(contacts)
    state, motion, step_rules = borrowed(state), borrowed(motion), borrowed(step_rules)
    velocity, is_held, size = state.velocity, step_rules.is_held, model.size
    for island in range(islands.count[0]):
        first, end = islands.body_first[island], islands.body_first[island + 1]
        if islands.block_first[island] == islands.block_first[island + 1] or first == end:
            continue
        if is_held[islands.body_order[first]]:
            continue
        if has_unsolved_body(islands, island, motion.memory):
            _bound_energy(rows, islands, island, contacts, motion, state)
        _bound_ways(islands, island, contacts, model, state, motion, gravity_norm, h)
        moving = velocity, motion.position_velocity
        stay_out_of_what_stands(rows, islands, island, contacts, state.kind, moving, size, h)


@subkernel(inline=True)
def stay_in_sight(size, motion, is_held, h, predicted):
    """Let no body go farther than contacts were looked for, where a substep has no pass left to look farther.

    What is struck so hard in the last pass goes on in the next substep, which looks along its velocity. It turns as it
    does, which stays within its size; bodies that joints hold go where their corrections lead.

    Parameters
    ----------
    size : float64 [body_count]
        [m] (read).
    motion : MotionArrays
        Read: can_be_pushed, start_velocity, free_velocity. Written: position_velocity.
    is_held : bool [body_count]
        Of ``StepRuleArrays`` (read).
    h : float
        [s].
    predicted : PredictedMotion
        Read: surplus.
    """
    for body in range(size.size):
        if not motion.can_be_pushed[body] or is_held[body]:
            continue
        way = motion.position_velocity[body]
        expected = max(_linear_speed(motion.start_velocity[body]), _linear_speed(motion.free_velocity[body]))
        goes, seen = h * _linear_speed(way), h * expected + predicted.surplus[body] + RATIO_FAST * size[body]
        if goes > seen:
            for axis in range(3):
                way[axis] *= seen / goes


@subkernel
def _linear_speed(velocity):
    return math.sqrt(velocity[0] ** 2 + velocity[1] ** 2 + velocity[2] ** 2)


@subkernel
def _bound_energy(rows, islands, island, contacts, motion, state):
    velocity = state.velocity
    allowed = max(
        kinetic_energy(islands, island, rows, motion.start_velocity),
        kinetic_energy(islands, island, rows, motion.free_velocity),
    )
    allowed += 0.5 * _mass(islands, island, rows) * _driven_speed(islands, island, rows, contacts, state) ** 2
    now = kinetic_energy(islands, island, rows, velocity)
    if now > allowed:
        share = math.sqrt(allowed / now)
        for index in range(islands.body_first[island], islands.body_first[island + 1]):
            for column in range(6):
                velocity[islands.body_order[index], column] *= share


@subkernel
def _mass(islands, island, rows):
    mass = 0.0
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        mass += rows.body_mass[islands.body_order[index], 0, 0]
    return mass


@subkernel
def _driven_speed(islands, island, rows, contacts, state):
    """Speed of the fastest point of a driven surface that an island touches [m/s]; infinite where a joint drives it."""
    fastest = 0.0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if not touches_driven(rows, contacts, state.velocity, block):
            continue
        if block >= contacts.count[0]:
            return math.inf
        at = contacts.position[block]
        for body in (rows.body_a[block], rows.body_b[block]):
            if rows.body_mass[body, 0, 0] > 0.0:
                continue
            square, velocity, center = 0.0, state.velocity[body], state.position[body]
            for axis in range(3):
                one, two = (axis + 1) % 3, (axis + 2) % 3
                speed = velocity[axis] + velocity[3 + one] * (at[two] - center[two])
                speed -= velocity[3 + two] * (at[one] - center[one])
                square += (abs(speed) + abs(contacts.surface_velocity[block, axis])) ** 2
            fastest = max(fastest, math.sqrt(square))
    return fastest


@subkernel
def _bound_ways(islands, island, contacts, model, state, motion, gravity_norm, h):
    velocity, size = state.velocity, model.size
    first, end = islands.body_first[island], islands.body_first[island + 1]
    changed = largest = 0.0
    for index in range(first, end):
        body = islands.body_order[index]
        lever, now = _FACTOR_LEVER * size[body], velocity[body]
        changed = max(changed, _apart(motion.start_velocity[body], now, lever))
        changed = max(changed, _apart(motion.free_velocity[body], now, lever))
        apart = _apart(motion.position_velocity[body], now, lever)
        largest = max(largest, apart - _RATIO_NOTHING * size[body] / h)
    if largest <= changed:
        return
    allowed = changed + _recovery(islands, island, contacts, motion, size, gravity_norm, h) / h
    if largest <= allowed:
        return
    share, energy = allowed / largest, energy_at_end(model, state, motion, islands, island, h)
    for index in range(first, end):
        body = islands.body_order[index]
        for column in range(6):
            now = velocity[body, column]
            motion.position_velocity[body, column] = now + share * (motion.position_velocity[body, column] - now)
    # they turn otherwise then, which is to give their spins nothing
    bound_free_energy(model, state, motion, islands, island, h, energy)


@subkernel
def _apart(one, other, lever):
    """Norm of the difference of two velocities [m/s]."""
    square = 0.0
    for axis in range(3):
        square += (one[axis] - other[axis]) ** 2 + (lever * (one[3 + axis] - other[3 + axis])) ** 2
    return math.sqrt(square)


@subkernel
def _recovery(islands, island, contacts, motion, size, gravity_norm, h):
    """How far the overlaps of an island may lead a body in a substep [m]."""
    total = deepest = most = unavoidable = led = 0.0
    pair_a = pair_b = -1
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        contact = islands.block_order[index]
        if contact >= contacts.count[0]:
            continue
        a, b = contacts.body_a[contact], contacts.body_b[contact]
        if a != pair_a or b != pair_b:
            total, unavoidable = total + deepest, unavoidable + led
            deepest, led, pair_a, pair_b = 0.0, 0.0, a, b
        unrelaxed = contacts.unrelaxed_gap[contact]
        moves = size_that_moves(size, motion.can_be_pushed, a, b)
        alone = RATIO_RECOVERY * moves
        if gravity_norm > 0.0:
            alone = min(alone, math.sqrt(gravity_norm * moves) * h)
        deepest = max(deepest, min(max(-contacts.gap[contact] - unrelaxed, 0.0), alone))
        led, most = max(led, max(unrelaxed, 0.0)), max(most, alone)
    return min(total + deepest, most) + unavoidable + led
