"""Bodies that something driven presses against what never moves: they stay out of what never moves.

What is driven is as strong as it needs to be, and so is a floor. If both press on a body there may be no motion that
keeps it out of either, and solvers share the overlap out in any way: a press led a can through the floor, which
it had not come back from once the press was up again. What is driven goes on and mostly comes back, so the body is to
lie in that. Seen from outside it is crushed.

Of an island that is led into something static, the velocities are therefore changed until the contacts hold that
nothing driven has a part in, one at a time and one after the other:

    u_n >= -max(gap, 0) / h,     v <- v + M^-1 J' r   where it is not, with the r >= 0 that makes both sides equal

Standing still fulfils all of these. Each such change brings the velocities nearer to that, measured by the kinetic
energy; so they come to an end, and never gain any.
"""

import math

from ...compiled.kernel import subkernel
from ...constraints.contact_rows import normal_speed
from ...model.state import KINEMATIC, STATIC

# Bodies that are led into something static by less than this share of their size are left.
_RATIO_ENTERED = 1e-3
# The changes end where the next ones would be smaller than this share of the size a substep, or after so many sweeps.
_RATIO_ENOUGH, _MOST_SWEEPS = 1e-4, 100


@subkernel
def stay_out_of_what_stands(rows, islands, island, contacts, kind, velocities, size, h):
    """Change the velocities of an island that is pressed into something static by something driven.

    Parameters
    ----------
    rows, islands, island, contacts
        Of the substep (read).
    kind : int64 [body_count]
        ``BodyKind`` (read).
    velocities : two of float64 [body_count, 6]
        Each written.
    size : float64 [body_count]
        [m] (read).
    h : float
        [s].
    """
    if not _has_two_sides(islands, island, contacts, kind):
        return
    smallest = math.inf
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        smallest = min(smallest, size[islands.body_order[index]])
    for velocity in velocities:
        if _enters(rows, islands, island, contacts, kind, velocity, _RATIO_ENTERED * smallest / h, h):
            _leave(rows, islands, island, contacts, kind, velocity, smallest, h)


@subkernel
def _leave(rows, islands, island, contacts, kind, velocity, smallest, h):
    for _ in range(_MOST_SWEEPS):
        largest = 0.0
        for index in range(islands.block_first[island], islands.block_first[island + 1]):
            contact = islands.block_order[index]
            if not is_driven(contacts, kind, contact):
                missing = _missing_speed(rows, contacts, contact, velocity, h)
                if missing > 0.0:
                    largest = max(largest, missing)
                    _push(rows, contact, missing, velocity)
        if largest <= _RATIO_ENOUGH * smallest / h:
            break


@subkernel
def is_driven(contacts, kind, contact):
    """Whether a side of a contact is moved by hand, or deforms."""
    if kind[contacts.body_a[contact]] == KINEMATIC or kind[contacts.body_b[contact]] == KINEMATIC:
        return True
    own = contacts.surface_velocity[contact]
    return own[0] != 0.0 or own[1] != 0.0 or own[2] != 0.0


@subkernel
def _has_two_sides(islands, island, contacts, kind):
    """Whether an island touches something driven and something static, and has no joints, which hold it."""
    driven = static = False
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        contact = islands.block_order[index]
        if contact >= contacts.count[0]:
            return False
        if is_driven(contacts, kind, contact):
            driven = True
        elif kind[contacts.body_a[contact]] == STATIC or kind[contacts.body_b[contact]] == STATIC:
            static = True
    return driven and static


@subkernel
def _enters(rows, islands, island, contacts, kind, velocity, speed, h):
    """Whether an island is led into something static faster than that [m/s]."""
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        contact = islands.block_order[index]
        if kind[contacts.body_a[contact]] != STATIC and kind[contacts.body_b[contact]] != STATIC:
            continue
        if not is_driven(contacts, kind, contact) and _missing_speed(rows, contacts, contact, velocity, h) > speed:
            return True
    return False


@subkernel
def _missing_speed(rows, contacts, contact, velocity, h):
    """How much faster a contact would have to part than it does, so that no overlap grows [m/s]."""
    gap = contacts.gap[contact] + contacts.unrelaxed_gap[contact]
    row, a, b = rows.block_row[contact], contacts.body_a[contact], contacts.body_b[contact]
    return -max(gap, 0.0) / h - normal_speed(rows.jacobian, row, velocity, a, b)


@subkernel
def _push(rows, contact, speed, velocity):
    """Let a contact part faster by so much [m/s]."""
    row, a, b = rows.block_row[contact], rows.body_a[contact], rows.body_b[contact]
    impulse = speed / rows.diagonal[row]
    for column in range(6):
        velocity[a, column] += rows.response[row, column] * impulse
        velocity[b, column] += rows.response[row, 6 + column] * impulse
