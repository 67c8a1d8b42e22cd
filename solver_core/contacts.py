"""Contact buffers, and matching a step's contacts with those of the last step.

A contact's identity is geometric. Feature numbers alone fail: clipping may start one vertex on, and a corner that was
a vertex of one box may be an edge crossing a step later, at the same place. So within one pair of shapes the contacts
of two steps are joined one to one, nearest first (as Newton does in ``contact_match.py``).

The stage ``match_contacts`` reads ``pairs``, the buffers of the last step and the positions and normals of ``contacts``;
it fills ``impulse``, ``age`` and ``matched`` of ``contacts``.
"""

from typing import NamedTuple

import numpy as np

from .kernel import kernel

STATUS_OK = 0
# A buffer was full: ``needed`` says how many entries there would have been. Grow it and repeat.
STATUS_CAPACITY = 1

# Two contacts can only be the same if they are closer than this share of the smaller shape's size. Wide: a wrong
# match costs a poor first guess of an impulse, a missed one costs the whole guess.
RATIO_MATCH_DISTANCE = 0.1
# ... and if their normals differ by less than about 25 degrees (cosine).
COSINE_MATCH_NORMAL = 0.9


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
    gap : float64 [C]
        Signed distance of the surface points along the normal [m]; negative: penetration.
    local_a, local_b : float64 [C, 3]
        The surface points in the frames of the two bodies [m].
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
    gap: np.ndarray
    local_a: np.ndarray
    local_b: np.ndarray
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
    contact_start, contact_count : int64 [P]
        The pair's contacts.
    previous : int64 [P]
        The same pair's number in the last step's buffer; -1: new.
    old_contact_start, old_contact_count : int64 [P]
        Its contacts in the last step's contact buffer; none for a new pair.
    is_recycled : int64 [P]
        1: its contacts are those of the last step with new gaps.
    reference : int64 [P]
        Where the normal comes from: 0 a face of a, 1 a face of b, 2 two edges, 3 closest points, -1 no contact.
        The normal turns with body b for 1, else with body a.
    feature : int64 [P]
        The reference face's number within its hull.
    normal : float64 [P, 3]
        In the frame of the body that it turns with.
    reach : float64 [P]
        Gap up to which the contacts were looked for when they were generated [m].
    translation, rotation : float64 [P, 3], [P, 3, 3]
        Pose of shape b in the frame of shape a when the contacts were generated.
    scratch : int64 [2, P]
        For sorting.
    """

    count: np.ndarray
    needed: np.ndarray
    shape_a: np.ndarray
    shape_b: np.ndarray
    contact_start: np.ndarray
    contact_count: np.ndarray
    previous: np.ndarray
    old_contact_start: np.ndarray
    old_contact_count: np.ndarray
    is_recycled: np.ndarray
    reference: np.ndarray
    feature: np.ndarray
    normal: np.ndarray
    reach: np.ndarray
    translation: np.ndarray
    rotation: np.ndarray
    scratch: np.ndarray


def allocate_contacts(capacity: int) -> ContactArrays:
    """Empty contact buffer for ``capacity`` contacts."""
    capacity = max(int(capacity), 1)
    integers = {name: np.zeros(capacity, np.int64) for name in ("shape_a", "shape_b", "body_a", "body_b", "age", "matched")}
    vectors = {name: np.zeros((capacity, 3)) for name in ("position", "normal", "local_a", "local_b", "impulse")}
    return ContactArrays(
        count=np.zeros(1, np.int64), needed=np.zeros(1, np.int64), gap=np.zeros(capacity), **integers, **vectors
    )


def allocate_pairs(capacity: int) -> PairArrays:
    """Empty pair buffer for ``capacity`` pairs."""
    capacity = max(int(capacity), 1)
    names = (
        "shape_a",
        "shape_b",
        "contact_start",
        "contact_count",
        "previous",
        "old_contact_start",
        "old_contact_count",
        "is_recycled",
        "reference",
        "feature",
    )
    return PairArrays(
        count=np.zeros(1, np.int64),
        needed=np.zeros(1, np.int64),
        **{name: np.zeros(capacity, np.int64) for name in names},
        normal=np.zeros((capacity, 3)),
        reach=np.zeros(capacity),
        translation=np.zeros((capacity, 3)),
        rotation=np.zeros((capacity, 3, 3)),
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


@kernel
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
        Bodies' poses of this step (read).

    Returns
    -------
    int
        Matched contacts.
    """
    matched_count = 0
    for pair in range(pairs.count[0]):
        first = pairs.contact_start[pair]
        last = first + pairs.contact_count[pair]
        if not pairs.is_recycled[pair]:
            for contact in range(first, last):
                contacts.matched[contact] = -1
            if pairs.old_contact_count[pair] > 0:
                match_nearest(pairs, pair, contacts, previous, workspace)
        for contact in range(first, last):
            old = contacts.matched[contact]
            if old < 0:
                contacts.age[contact] = 0
                contacts.impulse[contact, :] = 0.0
            else:
                matched_count += 1
                contacts.age[contact] = previous.age[old] + 1
                contacts.impulse[contact, :] = previous.impulse[old, :]
    return matched_count


@kernel
def match_nearest(pairs, pair, contacts, previous, workspace):
    """Join the contacts of one pair with those of the last step, one to one, the nearest two first.

    Old surface points are carried along by their bodies before distances are taken, so that a stack on a lift or a
    turntable matches as well as one at rest.
    """
    first = pairs.contact_start[pair]
    last = first + pairs.contact_count[pair]
    old_first = pairs.old_contact_start[pair]
    old_last = old_first + pairs.old_contact_count[pair]
    size = min(workspace.size[pairs.shape_a[pair]], workspace.size[pairs.shape_b[pair]])
    threshold = (RATIO_MATCH_DISTANCE * size) ** 2
    for _ in range(min(last - first, old_last - old_first)):
        nearest = threshold
        best_new = -1
        best_old = -1
        for old in range(old_first, old_last):
            taken = False
            for contact in range(first, last):
                taken = taken or contacts.matched[contact] == old
            if taken:
                continue
            x, y, z = carried_position(previous, old, workspace)
            for contact in range(first, last):
                if contacts.matched[contact] >= 0:
                    continue
                cosine = 0.0
                for axis in range(3):
                    cosine += contacts.normal[contact, axis] * previous.normal[old, axis]
                distance = (
                    (contacts.position[contact, 0] - x) ** 2
                    + (contacts.position[contact, 1] - y) ** 2
                    + (contacts.position[contact, 2] - z) ** 2
                )
                if distance < nearest and cosine > COSINE_MATCH_NORMAL:
                    nearest = distance
                    best_new = contact
                    best_old = old
        if best_new < 0:
            break
        contacts.matched[best_new] = best_old


@kernel
def carried_position(previous, old, workspace):
    """Where the middle of an old contact's two surface points is now, world."""
    a = previous.body_a[old]
    b = previous.body_b[old]
    x = 0.5 * (workspace.body_position[a, 0] + workspace.body_position[b, 0])
    y = 0.5 * (workspace.body_position[a, 1] + workspace.body_position[b, 1])
    z = 0.5 * (workspace.body_position[a, 2] + workspace.body_position[b, 2])
    for axis in range(3):
        half_a = 0.5 * previous.local_a[old, axis]
        half_b = 0.5 * previous.local_b[old, axis]
        x += workspace.body_rotation[a, 0, axis] * half_a + workspace.body_rotation[b, 0, axis] * half_b
        y += workspace.body_rotation[a, 1, axis] * half_a + workspace.body_rotation[b, 1, axis] * half_b
        z += workspace.body_rotation[a, 2, axis] * half_a + workspace.body_rotation[b, 2, axis] * half_b
    return x, y, z
