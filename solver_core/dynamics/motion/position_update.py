"""How far bodies go in a substep: which velocity moves each, so that contacts are kept and energy never grows.

With w the velocity at the substep's start (after damping), f = w + h g the free one at its end, and v = f + M^-1 J' r
the solution of the position solve, a body moves by one of three step rules:

    FALLS    v - h g / 2      it depends on nothing but what falls like it: without impulses the exact parabola
    MEAN     (w + v) / 2      it slides or rolls: exact under constant forces
    END      v                it lands, is lifted or rests: contacts are kept as they were solved

Let d be that velocity, and p = J' r of a body. Its energy m |v|^2 / 2 - m g . x (and that of its spin) then changes by

    FALLS    p . d - |M^-1 p|^2 / 2        MEAN    p . d        END    p . d - |v - w|^2 / 2      (norms in M)

as M (v - w) = h M g + p shows. The sum of p . d is the sum over contacts of r . J d, their work along the displacement.
So energy does not grow if the contacts of no pair do work: r . J d <= 0. Where both bodies move by END, or both by
FALLS, J d = J v and the solution says so (u_n = -gap / h <= 0 where it pushes, friction against the slip). Else it is
tested, and so is whether d leads the bodies into each other. As many bodies as possible fall, and most of the others
begin with the mean:

- what joints hold does not fall, and bodies that joints connect go by one rule,
- what pushes on something that does not fall does not fall either,
- what the mean leads into others, or along which a contact would do work, goes by END, and so does the other body,
- what sticks to something driven goes by END: that has its new velocity from the substep's start,
- what contacts turn goes by END, unless it rolls, with a round shape on either side of each contact that pushes it: a
  box that rocks from edge to edge loses little by the mean, and is lifted by what overlaps where it lands. On hills
  boxes rocked on for ten seconds so; by END they lie still after two and a half,
- what the mean would turn to where its angular momentum needs more energy goes by END: at constant angular momentum L a
  body turns by h w without a change of energy, by another angle a with one of a . (w x L).

Bodies only go from FALLS to MEAN and from there to END, in rounds. A round tests the contacts of the bodies that the
last one changed, with the velocities that it left, and changes rules at its end. So the result does not depend on the
order of contacts; and as a body changes twice at most, each is tested a few times.

What moves in small steps goes as these say (``take_mean_velocities``), and is not tested.
Where no body of an island changes its velocity, v = w, nothing of it falls: together they would get gravity's momentum.
All go by END then, and no contact is tested. So it is in still scenes.

What sticks to something driven that turns then goes along its path (``driven_motion``).

This is for the motion to v. Overlaps that are taken out lift bodies, and impacts (``restitution``) change v afterwards.
END is implicit Euler: a body that rolls through a bowl loses h |a|^2 / 2 of its energy a second and a kilogram.
"""

from typing import NamedTuple

import numpy as np

from ...collision.data.workspace import is_round
from ...compiled.kernel import borrowed, kernel, subkernel
from ...constraints.contact_rows import RATIO_TOUCHING, normal_speed, size_that_moves
from ...constraints.velocity_rows import touches_driven
from ..islands.memory import moves_in_small_steps

FALLS, MEAN, END = 0, 1, 2

# What a contact takes from an approach, as a share of the speed that gravity gives in a substep, to count as a push:
# less is rounding.
_RATIO_PUSH = 1e-9
# Speed along a push, likewise, to count as work: less is the solver's tolerance.
_RATIO_WORK = 1e-5
# A body whose velocity changes by less, likewise, rests as far as its displacement goes.
_RATIO_REST = 1e-3


class StepRuleArrays(NamedTuple):
    """Which velocity moves each body, and workspace to find that.

    Contacts of the same two bodies that follow each other are a run, named by its first contact. A body's runs are a
    list of links: link 2 c belongs to body a of the run c, 2 c + 1 to its body b.

    Attributes
    ----------
    step_rule : int64 [body_count]
        FALLS, MEAN or END.
    first_link : int64 [body_count]
        -1 where a body has no runs.
    next_link : int64 [2 contact_capacity]
        -1 ends the list.
    queue : int64 [2 body_count]
        Bodies that do not fall, in the order in which that was found; once more where they went on from MEAN to END.
    place : int64 [body_count]
        A body's last place in the queue; -1 where it has none.
    is_held : bool [body_count]
        Bodies that joints hold never fall: they begin with the mean.
    ring : int64 [body_count]
        The next body of those that joints connect, which all go by one rule.
    carrier : int64 [body_count]
        The driven body that turns and that the body sticks to (``driven_motion``); -1: none. Each carries itself.
    """

    step_rule: np.ndarray
    first_link: np.ndarray
    next_link: np.ndarray
    queue: np.ndarray
    place: np.ndarray
    is_held: np.ndarray
    ring: np.ndarray
    carrier: np.ndarray


def allocate_step_rules(contact_capacity: int, body_count: int) -> StepRuleArrays:
    """Room for this many contacts and bodies."""
    return StepRuleArrays(
        step_rule=np.zeros(body_count, np.int64),
        first_link=np.zeros(body_count, np.int64),
        next_link=np.zeros(2 * contact_capacity, np.int64),
        queue=np.zeros(2 * body_count, np.int64),
        place=np.zeros(body_count, np.int64),
        is_held=np.zeros(body_count, np.bool_),
        ring=np.arange(body_count),
        carrier=np.full(body_count, -1),
    )


@kernel(inline=True)
def choose_position_velocities(
    rows, islands, contacts, motion, step_rules, size, shape_kind, velocity, gravity_speed, h
):
    """Find the velocity that moves each body.

    Parameters
    ----------
    rows : RowArrays
        Of the position solve (read).
    islands : IslandArrays
        Read.
    contacts : ContactArrays
        Read.
    motion : MotionArrays
        Read: can_be_pushed, free_velocity, acceleration, memory. Written: position_velocity.
    step_rules : StepRuleArrays
        Written.
    size : float64 [body_count]
        [m] (read).
    shape_kind : int64 [shape_count]
        (read)
    velocity : float64 [body_count, 6]
        The solution (read).
    gravity_speed, h : float
        [m/s], [s].
    """
    rows, islands, contacts = borrowed(rows), borrowed(islands), borrowed(contacts)
    motion, step_rules = borrowed(motion), borrowed(step_rules)
    step_rule, place, queue = step_rules.step_rule, step_rules.place, step_rules.queue
    first_link, next_link, body_a, body_b = step_rules.first_link, step_rules.next_link, rows.body_a, rows.body_b
    free_velocity, position_velocity = motion.free_velocity, motion.position_velocity
    if _begin(islands, motion, step_rules, size, velocity, gravity_speed, h):
        return
    # The first ones go by END or, held by joints, by the mean; those of later rounds are to go by END.
    found = _add_held(step_rules, _link_runs(body_a, body_b, contacts.count[0], step_rules))
    done = 0
    while done < found:
        if done > 0:
            for index in range(done, found):
                _move_to_end(step_rule, position_velocity, velocity, queue[index])
        # What pushes on something that does not fall does not fall either.
        spread = done
        while spread < found:
            body = queue[spread]
            spread += 1
            link = first_link[body]
            while link >= 0:
                run = link // 2
                other = body_b[run] if link % 2 == 0 else body_a[run]
                if step_rule[other] == FALLS and _pushes(rows, contacts.count[0], run, gravity_speed):
                    step_rule[other] = _rule_of_pushed(
                        rows,
                        contacts,
                        step_rules,
                        shape_kind,
                        size,
                        free_velocity,
                        velocity,
                        other,
                        motion.acceleration,
                        gravity_speed,
                        h,
                    )
                    write_position_velocity(
                        step_rule, free_velocity, velocity, motion.acceleration, h, other, position_velocity
                    )
                    queue[found], place[other] = other, found
                    found += 1
                link = next_link[link]
        end = found
        found = _find_astray(rows, contacts, motion, step_rules, size, velocity, gravity_speed, h, done, end)
        done = end


@subkernel
def _find_astray(rows, contacts, motion, step_rules, size, velocity, gravity_speed, h, done, end):
    """Put bodies into the queue that must go by END: of contacts of the bodies in its places ``done`` to ``end - 1``.

    Returns
    -------
    int
        Where the queue ends then.
    """
    step_rule, place, queue = step_rules.step_rule, step_rules.place, step_rules.queue
    found = end
    for index in range(done, end):
        link = step_rules.first_link[queue[index]]
        while link >= 0:
            run = link // 2
            a, b = rows.body_a[run], rows.body_b[run]
            # In the first round all bodies that do not fall are tested: of two the one that comes first will do.
            is_twice = done == 0 and link % 2 == 1 and step_rule[a] != FALLS
            if not is_twice and _leads_astray(rows, contacts, motion, step_rule, size, velocity, run, gravity_speed, h):
                for body in (a, b):
                    if step_rule[body] != END and place[body] < end:
                        queue[found], place[body] = body, found
                        found += 1
                        found = _add_ring(step_rules, body, end, found)
            link = step_rules.next_link[link]
    return found


@subkernel
def _add_held(step_rules, found):
    """Add the bodies that joints hold to the queue, as they do not fall; returns where it ends then."""
    for body in range(step_rules.is_held.size):
        if step_rules.is_held[body] and step_rules.step_rule[body] == MEAN and step_rules.place[body] < 0:
            step_rules.queue[found], step_rules.place[body] = body, found
            found += 1
    return found


@subkernel
def _add_ring(step_rules, body, end, found):
    """Add those to the queue that joints connect with a body that is to go by END; returns where it ends then."""
    other = step_rules.ring[body]
    while other != body:
        if step_rules.step_rule[other] != END and step_rules.place[other] < end:
            step_rules.queue[found], step_rules.place[other] = other, found
            found += 1
        other = step_rules.ring[other]
    return found


@subkernel
def _begin(islands, motion, step_rules, size, velocity, gravity_speed, h):
    """Let all fall but what rests or moves in small steps; returns whether nothing is left to test."""
    step_rule, can_be_pushed, free_velocity = step_rules.step_rule, motion.can_be_pushed, motion.free_velocity
    body_first, body_order, position_velocity = islands.body_first, islands.body_order, motion.position_velocity
    acceleration = motion.acceleration
    for body in range(step_rule.size):
        step_rule[body] = END
        if can_be_pushed[body] and not motion.memory.in_small_steps[body]:
            step_rule[body] = MEAN if step_rules.is_held[body] else FALLS
    is_done = True
    for island in range(islands.count[0]):
        if moves_in_small_steps(islands, island, motion.memory):
            continue
        rests = True
        for index in range(body_first[island], body_first[island + 1]):
            body = body_order[index]
            gravity = acceleration[min(body, acceleration.shape[0] - 1)]
            if not _rests(size[body], free_velocity[body], velocity[body], gravity, gravity_speed, h):
                rests = is_done = False
                break
        if rests:
            for index in range(body_first[island], body_first[island + 1]):
                step_rule[body_order[index]] = END
    for body in range(step_rule.size):
        write_position_velocity(step_rule, free_velocity, velocity, acceleration, h, body, position_velocity)
    return is_done


@subkernel
def _link_runs(body_a, body_b, count, step_rules):
    """Give every body that may fall, and what touches one, its runs; the latter are the first ones in the queue.

    Returns
    -------
    int
        How many these are.
    """
    step_rule, place, queue, first_link, next_link = (
        step_rules.step_rule,
        step_rules.place,
        step_rules.queue,
        step_rules.first_link,
        step_rules.next_link,
    )
    for body in range(step_rule.size):
        first_link[body] = place[body] = -1
    found = 0
    for contact in range(count - 1, -1, -1):
        a, b = body_a[contact], body_b[contact]
        is_run = contact == 0 or body_a[contact - 1] != a or body_b[contact - 1] != b
        if not is_run or (step_rule[a] == END and step_rule[b] == END):
            continue
        next_link[2 * contact], next_link[2 * contact + 1] = first_link[a], first_link[b]
        first_link[a], first_link[b] = 2 * contact, 2 * contact + 1
        for body in (a, b):
            if step_rule[body] == END and place[body] < 0:
                queue[found], place[body] = body, found
                found += 1
    return found


@subkernel
def _rests(size, free_velocity, velocity, gravity, gravity_speed, h):
    """Whether a body has the velocity from the substep's start again."""
    least = _RATIO_REST * gravity_speed
    for axis in range(6):
        lever = 1.0 if axis < 3 else size
        if not lever * abs(velocity[axis] - free_velocity[axis] + h * gravity[axis]) <= least:
            return False
    return True


@subkernel
def _is_turned(size, free_velocity, velocity, gravity_speed):
    """Whether contacts turn a body."""
    for axis in range(3, 6):
        if not size * abs(velocity[axis] - free_velocity[axis]) <= _RATIO_REST * gravity_speed:
            return True
    return False


@subkernel
def _is_push(rows, contact, gravity_speed):
    row = rows.block_row[contact]
    return rows.impulse[row] * rows.diagonal[row] > _RATIO_PUSH * gravity_speed


@subkernel
def _pushes(rows, count, run, gravity_speed):
    """Whether a contact of a run pushes."""
    contact = run
    while contact < count and rows.body_a[contact] == rows.body_a[run] and rows.body_b[contact] == rows.body_b[run]:
        if _is_push(rows, contact, gravity_speed):
            return True
        contact += 1
    return False


@subkernel
def _rolls(rows, contacts, step_rules, shape_kind, body, gravity_speed):
    """Whether each contact that pushes a body is one of a round shape."""
    count, shape_a, shape_b = contacts.count[0], contacts.shape_a, contacts.shape_b
    link = step_rules.first_link[body]
    while link >= 0:
        run = contact = link // 2
        while contact < count and rows.body_a[contact] == rows.body_a[run] and rows.body_b[contact] == rows.body_b[run]:
            is_rolling = is_round(shape_kind[shape_a[contact]]) or is_round(shape_kind[shape_b[contact]])
            if not is_rolling and _is_push(rows, contact, gravity_speed):
                return False
            contact += 1
        link = step_rules.next_link[link]
    return True


@subkernel
def _rule_of_pushed(
    rows, contacts, step_rules, shape_kind, size, free_velocity, velocity, body, acceleration, gravity_speed, h
):
    """Step rule with which a body begins that does not fall."""
    free, now, mass = free_velocity[body], velocity[body], rows.body_mass[body]
    if _rests(size[body], free, now, acceleration[min(body, acceleration.shape[0] - 1)], gravity_speed, h):
        return END
    if _gain_by_turn(mass, free, now, h) > _RATIO_WORK * mass[0, 0] * gravity_speed**2:
        return END
    if _is_turned(size[body], free, now, gravity_speed) and not _rolls(
        rows, contacts, step_rules, shape_kind, body, gravity_speed
    ):
        return END
    return MEAN


@subkernel
def write_position_velocity(step_rule, free_velocity, velocity, acceleration, h, body, position_velocity):
    """Write the velocity that moves a body, by its step rule.

    Parameters
    ----------
    step_rule : int64 [body_count]
        Read.
    free_velocity, velocity : float64 [body_count, 6]
        Read.
    acceleration : float64 [body_count or 1, 6]
        Of ``MotionArrays`` (read).
    h : float
        [s].
    body : int64
    position_velocity : float64 [body_count, 6]
        Written.
    """
    free, now, own = free_velocity[body], velocity[body], position_velocity[body]
    gravity = acceleration[min(body, acceleration.shape[0] - 1)]
    for axis in range(3):
        own[axis], own[3 + axis] = now[axis], now[3 + axis]
        if step_rule[body] == FALLS:
            own[axis] = now[axis] - 0.5 * h * gravity[axis]
        elif step_rule[body] == MEAN:
            own[axis] = 0.5 * (now[axis] + free[axis] - h * gravity[axis])
            own[3 + axis] = 0.5 * (now[3 + axis] + free[3 + axis])
    if acceleration.shape[0] > 1 and step_rule[body] != END:
        # fields turn bodies, too
        for axis in range(3, 6):
            own[axis] -= 0.5 * h * gravity[axis]


@subkernel
def _move_to_end(step_rule, position_velocity, velocity, body):
    """Let a body go by END."""
    if step_rule[body] != END:
        step_rule[body] = END
        for column in range(6):
            position_velocity[body, column] = velocity[body, column]


@subkernel
def _leads_astray(rows, contacts, motion, step_rule, size, velocity, run, gravity_speed, h):
    """Whether two bodies go into each other, or their contacts do work, or one sticks to something driven."""
    body_a, body_b, bias, impulse, count = rows.body_a, rows.body_b, rows.bias, rows.impulse, contacts.count[0]
    jacobian, position_velocity = rows.jacobian, motion.position_velocity
    a, b = body_a[run], body_b[run]
    lower, higher = min(step_rule[a], step_rule[b]), max(step_rule[a], step_rule[b])
    if lower == higher and lower != MEAN:
        return False
    allowed = RATIO_TOUCHING * size_that_moves(size, motion.can_be_pushed, a, b)
    work = pushes = 0.0
    contact = run
    while contact < count and body_a[contact] == a and body_b[contact] == b:
        row = rows.block_row[contact]
        speed = normal_speed(jacobian, row, position_velocity, a, b)
        if h * (bias[row] + speed) < -allowed:
            return True
        if lower == MEAN and impulse[row] > 0.0:
            if _is_dragged(rows, contacts, velocity, contact, _RATIO_REST * gravity_speed):
                return True
            for axis in range(3):
                speed += jacobian[row, 6 + axis] * contacts.surface_velocity[contact, axis]
            work += impulse[row] * speed
            pushes += impulse[row]
            for tangent in range(row + 1, row + 3):
                work += impulse[tangent] * (normal_speed(jacobian, tangent, position_velocity, a, b) + bias[tangent])
        contact += 1
    return work > _RATIO_WORK * gravity_speed * pushes


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
