"""Contact buffers, and matching a step's contacts with those of the last step.

A contact's identity is geometric. Feature numbers alone fail: clipping may start one vertex on, and a corner that was
a vertex of one box may be an edge crossing a step later, at the same place. So within one pair of shapes the contacts
of two steps are joined one to one, nearest first (as Newton does in ``contact_match.py``). Nearest to where either
body, or both at half, have carried the old point: a corner that slides stays where its own body has it, an edge that is
slid over where the other has it, and where a wheel touches the ground stays between both.

The stage ``match_contacts`` reads ``pairs``, the last step's contacts, and positions and normals of ``contacts``; it
fills ``impulse``, ``age`` and ``matched`` of ``contacts``.
"""

from typing import NamedTuple

import numpy as np

from .kernel import kernel, subkernel

STATUS_OK = 0
# A buffer was full: ``needed`` says how many entries there would have been. Grow it and repeat.
STATUS_CAPACITY = 1
# A solution leads shapes into each other that its rows do not keep apart.
STATUS_TURNED = 2

# Two contacts can only be the same if they are closer than this share of the smaller shape's size. Wide: a wrong
# match costs a poor first guess of an impulse, a missed one costs the whole guess.
RATIO_MATCH_DISTANCE = 0.25
# ... and if their normals differ by less than about 25 degrees (cosine).
COSINE_MATCH_NORMAL = 0.9

# Columns of PairArrays.link.
CONTACT_START = 0
CONTACT_COUNT = 1
# The same pair's number in the last step's buffer, -1: new; and its contacts in the last step's contact buffer.
OLD_PAIR = 2
OLD_START = 3
OLD_COUNT = 4
# 1: the contacts are those of the last step with new gaps.
IS_RECYCLED = 5
# Where the normal comes from: 0 a face of a, 1 a face of b, 2 two edges, 3 closest points, -1 no contact; and the
# face's number within its hull.
REFERENCE = 6
FEATURE = 7
# 1: the contacts touch a curved surface, over which they wander as the body rolls.
CURVED = 8
# The pair's contacts in the earlier look of a substep (``stepper``).
LOOKED_START = 9
LOOKED_COUNT = 10
# Of the pair's contacts, the last: how many were made at the poses of the substep's end.
MET_AT_END = 11
LINK_COLUMNS = 12

# Columns of ContactArrays.drift: a velocity; from here on a way.
PARTED = 3
AT_ONCE = 6
DRIFT_COLUMNS = 7

# Entries of CollisionArrays.current: which buffers the present look writes, the last substep has left, and the look
# before this one has left at the same poses.
PRESENT = 0
LAST = 1
LOOKED = 2

INFINITE = 1e300


class ContactArrays(NamedTuple):
    """Contacts of one step; capacity C.

    Ordered by ``(shape_a, shape_b)``, then by a stable order within the pair.

    Attributes
    ----------
    count, needed : int64 [1]
        Contacts in use; contacts that the step would have needed.
    shape_a, shape_b, body_a, body_b : int64 [C]
        ``body_a < body_b``.
    position : float64 [C, 3]
        Middle of the two surface points, world [m].
    normal : float64 [C, 3]
        Unit, world, from a to b.
    local_normal : float64 [C, 3]
        The normal in the frame of the body that it turns with: b if REFERENCE of the pair is a face of b, else a.
    gap : float64 [C]
        Signed distance of the surface points along the normal [m]; negative: penetration.
    local_a, local_b : float64 [C, 3]
        The surface points in the frames of the two bodies [m].
    drift : float64 [C, 7]
        Velocity of b's surface less a's beyond the bodies' own motion, of a mesh that deforms; world [m/s]. From column
        PARTED on, of contacts that are made where fast bodies meet on their ways: the way from where a's surface is now
        to where b's is, less the gap [m]; ``position`` is the middle of both. AT_ONCE: of a negative gap, what the
        shapes do not overlap by now and the substep may not lead them into: it is taken out at once [m].
    impulse : float64 [C, 3]
        On body b, world axes [N s]. ``match_contacts`` puts in the matched contact's of the last step, else 0.
    age : int64 [C]
        Steps since the contact was first seen; 0: new.
    matched : int64 [C]
        The same contact's number in the last step's buffer; -1: new.
    """

    count: np.ndarray
    needed: np.ndarray
    shape_a: np.ndarray
    shape_b: np.ndarray
    body_a: np.ndarray
    body_b: np.ndarray
    position: np.ndarray
    normal: np.ndarray
    local_normal: np.ndarray
    gap: np.ndarray
    local_a: np.ndarray
    local_b: np.ndarray
    drift: np.ndarray
    impulse: np.ndarray
    age: np.ndarray
    matched: np.ndarray


class PairArrays(NamedTuple):
    """Pairs of shapes that may touch in one step, sorted by ``(shape_a, shape_b)``; capacity P.

    Attributes
    ----------
    count, needed : int64 [1]
        As in ``ContactArrays``.
    shape_a, shape_b : int64 [P]
    link : int64 [P, 12]
        Columns CONTACT_START to MET_AT_END, above.
    reach : float64 [P]
        Gap up to which the contacts were looked for when they were generated [m]. Below 0: they hold in this look only.
    left_out : float64 [P]
        Looked for up to any gap between ``reach`` and this one they would have been the same [m]; without contacts the
        pair's distance is not below it.
    pose : float64 [P, 4, 3]
        Rotation and position of shape b in the frame of shape a when the contacts were generated.
    scratch : int64 [2, P]
        For sorting.
    """

    count: np.ndarray
    needed: np.ndarray
    shape_a: np.ndarray
    shape_b: np.ndarray
    link: np.ndarray
    reach: np.ndarray
    left_out: np.ndarray
    pose: np.ndarray
    scratch: np.ndarray


def allocate_contacts(capacity: int) -> ContactArrays:
    """Empty contact buffer for ``capacity`` contacts."""
    capacity = max(int(capacity), 1)
    integer_names = ("shape_a", "shape_b", "body_a", "body_b", "age", "matched")
    vector_names = ("position", "normal", "local_normal", "local_a", "local_b", "impulse")
    integers = {name: np.zeros(capacity, np.int64) for name in integer_names}
    vectors = {name: np.zeros((capacity, 3)) for name in vector_names}
    return ContactArrays(
        count=np.zeros(1, np.int64),
        needed=np.zeros(1, np.int64),
        gap=np.zeros(capacity),
        drift=np.zeros((capacity, DRIFT_COLUMNS)),
        **integers,
        **vectors,
    )


def allocate_pairs(capacity: int) -> PairArrays:
    """Empty pair buffer for ``capacity`` pairs."""
    capacity = max(int(capacity), 1)
    return PairArrays(
        count=np.zeros(1, np.int64),
        needed=np.zeros(1, np.int64),
        shape_a=np.zeros(capacity, np.int64),
        shape_b=np.zeros(capacity, np.int64),
        link=np.zeros((capacity, LINK_COLUMNS), np.int64),
        reach=np.zeros(capacity),
        left_out=np.zeros(capacity),
        pose=np.zeros((capacity, 4, 3)),
        scratch=np.zeros((2, capacity), np.int64),
    )


def grown(buffer, capacity: int):
    """A larger buffer with the same contents.

    Parameters
    ----------
    buffer : ContactArrays or PairArrays
    capacity : int
        At least the buffer's own.

    Returns
    -------
    ContactArrays or PairArrays
    """
    larger = allocate_contacts(capacity) if isinstance(buffer, ContactArrays) else allocate_pairs(capacity)
    copy_buffer(buffer, larger)
    return larger


def copy_buffer(source, target) -> None:
    """Copy all of ``source`` into ``target``, whose capacity is at least as large."""
    for old, new in zip(source, target, strict=True):
        new[tuple(slice(length) for length in old.shape)] = old


@subkernel
def clear_contacts(contacts):
    """Begin anew."""
    contacts.count[0] = 0
    contacts.needed[0] = 0


@subkernel
def join_contacts(pairs, first_pair, end_pair, made, first, count, contacts, place):
    """Move the contacts of a run of pairs from the buffer of the lane that made them to their place among all.

    Parameters
    ----------
    pairs : PairArrays
        Column CONTACT_START of ``link`` written.
    first_pair, end_pair : int64
    made : ContactArrays
        Read: ``count`` contacts from ``first`` on.
    contacts : ContactArrays
        Written, from ``place`` on.
    """
    for pair in range(first_pair, end_pair):
        pairs.link[pair, CONTACT_START] += place - first
    for number in range(count):
        source, target = first + number, place + number
        copy_contact(made, source, contacts, target)


@subkernel(inline=True)
def copy_contact(made, source, contacts, target):
    """Copy what the narrow phase writes of a contact."""
    contacts.shape_a[target] = made.shape_a[source]
    contacts.shape_b[target] = made.shape_b[source]
    contacts.body_a[target] = made.body_a[source]
    contacts.body_b[target] = made.body_b[source]
    contacts.gap[target] = made.gap[source]
    contacts.matched[target] = made.matched[source]
    for axis in range(3):
        contacts.position[target, axis] = made.position[source, axis]
        contacts.normal[target, axis] = made.normal[source, axis]
        contacts.local_normal[target, axis] = made.local_normal[source, axis]
        contacts.local_a[target, axis] = made.local_a[source, axis]
        contacts.local_b[target, axis] = made.local_b[source, axis]
    for column in range(DRIFT_COLUMNS):
        contacts.drift[target, column] = made.drift[source, column]


@kernel(inline=True)
def match_contacts(pairs, contacts, previous, workspace):
    """Carry impulses and ages of the last step's contacts over to the same contacts of this step.

    Parameters
    ----------
    pairs : PairArrays
        Of this step, as ``narrow_phase`` left them (read).
    contacts : ContactArrays
        Of this step (``impulse``, ``age``, ``matched`` written).
    previous : ContactArrays
        Of the last step (read).
    workspace : CollisionWorkspace
        Bodies' poses of this step (read), scratch (written).

    Returns
    -------
    int
        Matched contacts.
    """
    matched_count = 0
    for pair in range(pairs.count[0]):
        first = pairs.link[pair, CONTACT_START]
        last = first + pairs.link[pair, CONTACT_COUNT]
        if not pairs.link[pair, IS_RECYCLED]:
            for contact in range(first, last):
                contacts.matched[contact] = -1
            size = min(workspace.size[pairs.shape_a[pair]], workspace.size[pairs.shape_b[pair]])
            match_nearest(
                contacts.position,
                contacts.normal,
                contacts.matched,
                first,
                last,
                previous,
                pairs.link[pair, OLD_START],
                pairs.link[pair, OLD_COUNT],
                size,
                workspace.body_pose,
                workspace.scratch.closest,
            )
        for contact in range(first, last):
            old = contacts.matched[contact]
            matched_count += old >= 0
            contacts.age[contact] = previous.age[old] + 1 if old >= 0 else 0
            for i in range(3):
                contacts.impulse[contact, i] = previous.impulse[old, i] if old >= 0 else 0.0
    return matched_count


@subkernel
def match_nearest(position, normal, matched, first, last, previous, old_first, old_count, size, body_pose, carried):
    """Join the contacts of one pair with those of the last step, one to one, the nearest two first."""
    old_last = old_first + old_count
    for _ in range(min(last - first, old_count)):
        nearest = (RATIO_MATCH_DISTANCE * size) ** 2
        best_new = -1
        best_old = -1
        for old in range(old_first, old_last):
            if is_taken(matched, first, last, old):
                continue
            carry_points(
                body_pose[previous.body_a[old]],
                body_pose[previous.body_b[old]],
                previous.local_a[old],
                previous.local_b[old],
                carried,
            )
            for contact in range(first, last):
                if matched[contact] >= 0:
                    continue
                cosine = 0.0
                for i in range(3):
                    cosine += normal[contact, i] * previous.normal[old, i]
                distance = distance_to_carried(carried, position[contact])
                if distance < nearest and cosine > COSINE_MATCH_NORMAL:
                    nearest = distance
                    best_new = contact
                    best_old = old
        if best_new < 0:
            break
        matched[best_new] = best_old


@subkernel
def is_taken(matched, first, last, old):
    """Whether an old contact is matched already."""
    for contact in range(first, last):  # noqa: SIM110 (Numba would compile a generator for any())
        if matched[contact] == old:
            return True
    return False


@subkernel
def carry_points(pose_a, pose_b, local_a, local_b, carried):
    """Where an old contact's two surface points, and their middle, are now, carried along by the bodies, world.

    So a stack on a lift or a turntable matches as well as one at rest.
    """
    for i in range(3):
        carried[0, i], carried[1, i] = pose_a[3, i], pose_b[3, i]
        for j in range(3):
            carried[0, i] += pose_a[i, j] * local_a[j]
            carried[1, i] += pose_b[i, j] * local_b[j]
        carried[2, i] = 0.5 * (carried[0, i] + carried[1, i])


@subkernel
def distance_to_carried(carried, point):
    """Least squared distance of a point from the three."""
    least = INFINITE
    for row in range(3):
        square = 0.0
        for i in range(3):
            square += (carried[row, i] - point[i]) ** 2
        least = min(least, square)
    return least


@subkernel
def take_looked_impulses(pairs, contacts, rows):
    """Start from what the last look at the same poses found, where the same contacts are met again.

    Parameters
    ----------
    pairs : PairArrays
        Read: a pair's contacts now and in the last look, of which the first are the same.
    contacts : ContactArrays
        Written: impulse.
    rows : RowArrays
        Of the last look, a block of three a contact (read).
    """
    block_row, impulse, jacobian = rows.block_row, rows.impulse, rows.jacobian
    for pair in range(pairs.count[0]):
        link = pairs.link[pair]
        for place in range(min(link[CONTACT_COUNT], link[LOOKED_COUNT])):
            contact, row = link[CONTACT_START] + place, block_row[link[LOOKED_START] + place]
            for axis in range(3):
                total = 0.0
                for direction in range(3):
                    total += impulse[row + direction] * jacobian[row + direction, 6 + axis]
                contacts.impulse[contact, axis] = total
