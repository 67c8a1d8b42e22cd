"""Which contacts of two bodies an island gets, where they touch at more points than anything can need.

Two bodies of many parts touch at hundreds of points. All that a contact at r with the normal n can do is to stop the
relative motion (t, w) of the bodies along its row x = (n, r x n), and six rows bear whatever force and torque many of
them bear. So of two bodies whose parts have more than MOST_CONTACTS contacts only so many are solved: those that are
met first,

    min over contacts of   gap + h u + x . d,     u: speed of the contact by the motion that is predicted

for small motions d beside the predicted one. These are a fan: along and about each of three axes and between each two
of the six, each way, by two lengths (a fan of tilts does the same for two faces, ``cap_manifold``). The contact that is
missed most comes first, until all that are kept stop each motion within a share of d of where all contacts would.
Contacts that bear most of the last load stay, so that what rests keeps its forces.

A contact that is left out has no rows that hold it. So gaps are looked at where the solution leads
(``has_missed_contact``): if bodies come deeper into each other there, they get all contacts in another pass. So do
bodies that are to be led into each other farther than the fan reaches, which hit each other.
"""

import math
from typing import NamedTuple

import numpy as np

from ...collision.data.workspace import INFINITE, POSITION
from ...compiled.kernel import borrowed, kernel, subkernel
from ...constraints.contact_rows import normal_speed
from .policy import (
    LENGTHS_OF_FAN,
    MOST_BEARING,
    MOST_CONTACTS,
    RATIO_MISSED,
    RATIO_MISSED_COARSELY,
    RATIO_OF_HIT,
    SHARE_MISSED,
)

# The fan: six axes each way, and between each two of them each way; lengths.
_WAYS = 2 * 6 * 6
_LENGTHS = 2
_DIAGONAL = math.sqrt(0.5)


class ContactSelection(NamedTuple):
    """Contacts that are left out, and memory to choose them.

    Attributes
    ----------
    count : int64 [1]
        Contacts that are left out.
    of_body : int64 [body_count]
        Workspace: contacts of a first body with each second one; 0 between calls.
    member : int64 [contact_capacity]
        Workspace: the contacts of two bodies.
    row : float64 [contact_capacity, 6]
        Workspace: x of each member.
    end : float64 [contact_capacity]
        Workspace: the gap of each member at the predicted end [m].
    bears : float64 [contact_capacity]
        Workspace: the normal impulse of each member [N s].
    least, kept : float64 [2, 72]
        Workspace: by length and way, how far the motion goes until all contacts, and those kept, are met [m].
    first : int64 [2, 72]
        Workspace: which member is met first.
    along : float64 [72]
        Workspace.
    length : float64 [2]
        Workspace: of the motions [m].
    is_missed : bool [body_count]
        Whether a solution of this substep has led the body into another one at a contact that was left out.
    """

    count: np.ndarray
    of_body: np.ndarray
    member: np.ndarray
    row: np.ndarray
    end: np.ndarray
    bears: np.ndarray
    least: np.ndarray
    kept: np.ndarray
    first: np.ndarray
    along: np.ndarray
    length: np.ndarray
    is_missed: np.ndarray


def allocate_selection(contact_capacity: int, body_count: int) -> ContactSelection:
    """Room for this many contacts and bodies."""
    shape = _LENGTHS, _WAYS
    return ContactSelection(
        count=np.zeros(1, np.int64),
        of_body=np.zeros(body_count, np.int64),
        member=np.zeros(contact_capacity, np.int64),
        row=np.zeros((contact_capacity, 6)),
        end=np.zeros(contact_capacity),
        bears=np.zeros(contact_capacity),
        least=np.zeros(shape),
        kept=np.zeros(shape),
        first=np.zeros(shape, np.int64),
        along=np.zeros(_WAYS),
        length=np.zeros(_LENGTHS),
        is_missed=np.zeros(body_count, np.bool_),
    )


@kernel(inline=True)
def select_contacts(rows, contacts, velocity, is_later_pass, body_pose, h, selection, islands):
    """Leave out contacts of bodies that have too many with each other.

    Parameters
    ----------
    rows : RowArrays
        Of the contacts (read); impulses of those that are left out written, to 0.
    contacts : ContactArrays
        Read; ordered by their first body.
    velocity : float64 [body_count, 6]
        That is predicted (read).
    is_later_pass : bool
        Whether it is the solution of the last detection pass.
    body_pose : float64 [body_count, 4, 3]
        At the substep's start (read).
    h : float
        [s].
    selection : ContactSelection
        Written.
    islands : IslandArrays
        Written: is_left_out.
    """
    rows, contacts, selection = borrowed(rows), borrowed(contacts), borrowed(selection)
    count, of_body = contacts.count[0], selection.of_body
    if selection.count[0] > 0:
        for contact in range(len(islands.is_left_out)):
            islands.is_left_out[contact] = False
    selection.count[0] = 0
    for body in range(len(selection.is_missed)):
        selection.is_missed[body] = selection.is_missed[body] and is_later_pass
    first = np.int64(0)
    while first < count:
        a, end, most = contacts.body_a[first], first, np.int64(0)
        while end < count and contacts.body_a[end] == a:
            of_body[contacts.body_b[end]] += 1
            most = max(most, of_body[contacts.body_b[end]])
            end += 1
        for contact in range(first, end):
            b = contacts.body_b[contact]
            if most > MOST_CONTACTS and of_body[b] > MOST_CONTACTS:
                _select_of_bodies(rows, contacts, velocity, body_pose, h, selection, islands, contact, end)
            of_body[b] = 0
        first = end


@subkernel
def has_missed_contact(rows, contacts, velocity, sizes, memory, h, selection, islands):
    """Whether a solution leads bodies deeper into each other at a contact that is left out.

    Parameters
    ----------
    rows, contacts
        Read.
    velocity : float64 [body_count, 6]
        That moves the bodies (read).
    sizes : float64 [shape_count]
        [m] (read).
    memory : IslandMemory
        Read: which bodies are not solved for exactly.
    h : float
        [s].
    selection : ContactSelection
        Written: is_missed.
    islands : IslandArrays
        Read.
    """
    found = False
    if selection.count[0] == 0:
        return found
    for contact in range(contacts.count[0]):
        if not islands.is_left_out[contact]:
            continue
        a, b, gap = contacts.body_a[contact], contacts.body_b[contact], contacts.gap[contact]
        end = gap + h * normal_speed(rows.jacobian, rows.block_row[contact], velocity, a, b)
        size = min(sizes[contacts.shape_a[contact]], sizes[contacts.shape_b[contact]])
        is_coarse = memory.in_small_steps[a] or memory.in_small_steps[b] or memory.is_swept[a] or memory.is_swept[b]
        if end < min(gap, 0.0) - (RATIO_MISSED_COARSELY if is_coarse else RATIO_MISSED) * size:
            found = True
            selection.is_missed[a] = selection.is_missed[b] = True
    return found


@subkernel
def _select_of_bodies(rows, contacts, velocity, body_pose, h, selection, islands, first, end):
    """Leave out contacts of the two bodies of contact ``first``; all that they have are before ``end``."""
    is_left_out, least, kept = islands.is_left_out, selection.least, selection.kept
    count, reach = _gather(rows, contacts, velocity, body_pose, h, selection, first, end)
    deepest, led = np.int64(0), 0.0
    for member in range(count):
        if selection.end[member] < selection.end[deepest]:
            deepest = member
        led = max(led, min(contacts.gap[selection.member[member]], 0.0) - selection.end[member])
    is_missed = selection.is_missed[contacts.body_a[first]] and selection.is_missed[contacts.body_b[first]]
    if reach == 0.0 or is_missed or led > RATIO_OF_HIT * reach or not _have_parts(contacts, selection.member, count):
        return
    selection.length[0], selection.length[1] = LENGTHS_OF_FAN[0] * reach, LENGTHS_OF_FAN[1] * reach
    for length in range(_LENGTHS):
        for way in range(_WAYS):
            least[length, way] = kept[length, way] = INFINITE
    for member in range(count):
        _meet(selection, member, least, True)
        is_left_out[selection.member[member]] = True
    _keep(selection, islands, deepest)
    chosen = 1
    while chosen < 1 + MOST_BEARING:
        strongest = np.int64(-1)
        for member in range(count):
            bears = selection.bears[member] > 0.0 and is_left_out[selection.member[member]]
            if bears and (strongest < 0 or selection.bears[member] > selection.bears[strongest]):
                strongest = member
        if strongest < 0:
            break
        _keep(selection, islands, strongest)
        chosen += 1
    while chosen < MOST_CONTACTS:
        missed, best = SHARE_MISSED, np.int64(-1)
        for length in range(_LENGTHS):
            for way in range(_WAYS):
                share = (kept[length, way] - least[length, way]) / selection.length[length]
                if share > missed:
                    missed, best = share, selection.first[length, way]
        if best < 0:
            break
        _keep(selection, islands, best)
        chosen += 1
    for member in range(count):
        contact = selection.member[member]
        if is_left_out[contact]:
            for place in range(rows.block_row[contact], rows.block_row[contact + 1]):
                rows.impulse[place] = 0.0
    selection.count[0] += count - chosen


@subkernel
def _have_parts(contacts, member, count):
    """Whether contacts are of several pairs of shapes: those of one pair are few, or need all, where they are made."""
    first, shape_a, shape_b = member[0], contacts.shape_a, contacts.shape_b
    for place in range(1, count):
        if shape_a[member[place]] != shape_a[first] or shape_b[member[place]] != shape_b[first]:
            return True
    return False


@subkernel
def _gather(rows, contacts, velocity, body_pose, h, selection, first, end):
    """List the contacts of two bodies, with their rows in the frame of the first one, about their middle.

    Returns
    -------
    count : int64
    reach : float
        How far the farthest contact is from the middle [m]; turns are measured there.
    """
    a, b, row = contacts.body_a[first], contacts.body_b[first], selection.row
    pose, count, x, y, z = body_pose[a], np.int64(0), 0.0, 0.0, 0.0
    for contact in range(first, end):
        if contacts.body_b[contact] == b:
            selection.member[count] = contact
            count += 1
            x += contacts.position[contact, 0] - pose[POSITION, 0]
            y += contacts.position[contact, 1] - pose[POSITION, 1]
            z += contacts.position[contact, 2] - pose[POSITION, 2]
    x, y, z, square = x / count + pose[POSITION, 0], y / count + pose[POSITION, 1], z / count + pose[POSITION, 2], 0.0
    for member in range(count):
        at = contacts.position[selection.member[member]]
        square = max(square, (at[0] - x) ** 2 + (at[1] - y) ** 2 + (at[2] - z) ** 2)
    reach = math.sqrt(square)
    scale = 1.0 / reach if reach > 0.0 else 0.0
    for member in range(count):
        contact = selection.member[member]
        at, normal, normal_row = contacts.position[contact], contacts.normal[contact], rows.block_row[contact]
        r0, r1, r2 = scale * (at[0] - x), scale * (at[1] - y), scale * (at[2] - z)
        n0, n1, n2 = normal[0], normal[1], normal[2]
        t0, t1, t2 = r1 * n2 - r2 * n1, r2 * n0 - r0 * n2, r0 * n1 - r1 * n0
        for axis in range(3):
            row[member, axis] = pose[0, axis] * n0 + pose[1, axis] * n1 + pose[2, axis] * n2
            row[member, 3 + axis] = pose[0, axis] * t0 + pose[1, axis] * t1 + pose[2, axis] * t2
        selection.end[member] = contacts.gap[contact] + h * normal_speed(rows.jacobian, normal_row, velocity, a, b)
        selection.bears[member] = rows.impulse[normal_row]
    return count, reach


@subkernel
def _keep(selection, islands, member):
    """Keep a member."""
    islands.is_left_out[selection.member[member]] = False
    _meet(selection, member, selection.kept, False)


@subkernel
def _meet(selection, member, least, notes):
    """Lower ``least`` to where a member is met by each motion; note there what is met first."""
    x, along, first, place = selection.row[member], selection.along, selection.first, np.int64(0)
    for axis in range(6):
        along[place], along[place + 1] = x[axis], -x[axis]
        place += 2
        for other in range(axis):
            for sign in (-1.0, 1.0):
                between = _DIAGONAL * (x[axis] + sign * x[other])
                along[place], along[place + 1] = between, -between
                place += 2
    for length in range(_LENGTHS):
        for way in range(_WAYS):
            gap = selection.end[member] + selection.length[length] * along[way]
            if gap < least[length, way]:
                least[length, way] = gap
                if notes:
                    first[length, way] = member
