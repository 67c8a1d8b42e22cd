"""Buffers of pairs and contacts: what they hold, and how they are allocated, grown and joined.

There are three of each. Everywhere ``pairs`` and ``contacts`` are those of this detection pass, ``last_substep_...``
those that the last substep ended with, and ``previous_pass_...`` those of the pass before this one in this substep. A
``pair_number`` is a place in ``PairArrays``; a ``pair`` is the description of one (``pair_context.Pair``).
"""

from typing import NamedTuple

import numpy as np

from ...compiled.kernel import subkernel

STATUS_OK = 0
# A buffer was full: ``needed`` says how many entries there would have been. Grow it and repeat.
STATUS_CAPACITY = 1
# The solution of the last detection pass leads shapes into each other that its rows do not keep apart.
STATUS_UNFORESEEN_OVERLAP = 2
# Shapes may meet that are no pair.
STATUS_UNSEEN_PAIR = 3


class ContactArrays(NamedTuple):
    """Contacts of one detection pass; capacity C.

    Ordered by ``(shape_a, shape_b)``, then by a stable order within the pair.

    Attributes
    ----------
    count, needed : int64 [1]
        Contacts in use; contacts that the pass would have needed.
    shape_a, shape_b, body_a, body_b : int64 [C]
        ``body_a < body_b``.
    position : float64 [C, 3]
        Middle of the two surface points, world [m].
    normal : float64 [C, 3]
        Unit, world, from a to b.
    local_normal : float64 [C, 3]
        The normal in the frame of the body that it turns with: b if the pair's ``reference`` is a face of b, else a.
    gap : float64 [C]
        Signed distance of the surface points along the normal [m]; negative: penetration.
    local_a, local_b : float64 [C, 3]
        The surface points in the frames of the two bodies [m].
    surface_velocity : float64 [C, 3]
        Of b's surface less a's, beyond the motion of the bodies, if meshes deform or shapes grow; world [m/s].
    toi_offset : float64 [C, 3]
        Of contacts made at a time of impact: from where a's surface point is at the start of the substep to where b's
        is, less the gap; ``position`` is the middle of both. Else 0 [m].
    unrelaxed_gap : float64 [C]
        The part of a negative gap that the shapes do not yet overlap by at the start of the substep. The position solve
        corrects it in full, unrelaxed, within the substep [m].
    face_length : float64 [C]
        Of a contact with a mesh the height of its triangle over the longest side, else 0 [m].
    leftover : float64 [C, 4]
        Of contacts that push (``rolling_energy``): after the substep the speed along the normal, below 0 for an
        approach that the next one takes, and the slip [m/s]; 1; and what the contact took in truth, if it goes on [J].
        Else 0.
    impulse : float64 [C, 3]
        On body b, world axes [N s]. ``match_contacts`` writes the matched contact's of the last substep, else 0.
    age : int64 [C]
        Substeps since the contact was first seen; 0: new.
    matched : int64 [C]
        The same contact's number in the last substep's buffer; -1: new.
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
    surface_velocity: np.ndarray
    toi_offset: np.ndarray
    unrelaxed_gap: np.ndarray
    face_length: np.ndarray
    leftover: np.ndarray
    impulse: np.ndarray
    age: np.ndarray
    matched: np.ndarray


class PairArrays(NamedTuple):
    """Pairs of shapes that may touch, sorted by ``(shape_a, shape_b)``, and the pair cache; capacity P.

    Attributes
    ----------
    count, needed : int64 [1]
        As in ``ContactArrays``.
    shape_a, shape_b : int64 [P]
    contact_start, contact_count : int64 [P]
        The pair's contacts in the contact buffer.
    last_substep_number : int64 [P]
        The same pair's number in the last substep's buffer; -1: new.
    last_substep_start, last_substep_count : int64 [P]
        Its contacts in the last substep's contact buffer.
    previous_pass_start, previous_pass_count : int64 [P]
        Its contacts in the contact buffer of the previous detection pass of this substep.
    end_pose_count : int64 [P]
        How many of the pair's contacts, the last ones, were made at the poses of the substep's end.
    is_recycled : bool [P]
        Whether the contacts are those of the last substep with new gaps.
    is_curved : bool [P]
        Whether the contacts touch a curved surface, over which they wander as the body rolls.
    reference : int64 [P]
        Where the normal comes from: FACE_OF_A, FACE_OF_B, TWO_EDGES, CLOSEST_POINTS or NO_CONTACT.
    feature : int64 [P]
        The number of that face within its hull; of pairs with a mesh, on which side of it the other shape is.
    reach : float64 [P]
        Gap up to which contacts were searched for when they were made [m]. Below 0: they hold in this pass only.
    cull_distance : float64 [P]
        Any ``reach`` between ``reach`` and this one would have made the same contacts [m]; without contacts the pair's
        distance is not below it.
    meeting, last_meeting : float64 [P]
        Fractions of the substep after which the bodies, by their velocities at its start, come to the first and to the
        last contact that stops them; INFINITE and 0 if none does.
    closing : float64 [P]
        How far such contacts close in a substep at most [m].
    within : float64 [P]
        By how much more than it has to be the middle of its contacts is over the face that they are of, all through the
        substep [m]; below 0 also where that is not known.
    pose : float64 [P, 4, 3]
        Rotation and position of shape b in the frame of shape a when the contacts were made.
    scratch : int64 [2, P]
        For sorting.
    """

    count: np.ndarray
    needed: np.ndarray
    shape_a: np.ndarray
    shape_b: np.ndarray
    contact_start: np.ndarray
    contact_count: np.ndarray
    last_substep_number: np.ndarray
    last_substep_start: np.ndarray
    last_substep_count: np.ndarray
    previous_pass_start: np.ndarray
    previous_pass_count: np.ndarray
    end_pose_count: np.ndarray
    is_recycled: np.ndarray
    is_curved: np.ndarray
    reference: np.ndarray
    feature: np.ndarray
    reach: np.ndarray
    cull_distance: np.ndarray
    meeting: np.ndarray
    last_meeting: np.ndarray
    closing: np.ndarray
    within: np.ndarray
    pose: np.ndarray
    scratch: np.ndarray


def allocate_contacts(capacity: int) -> ContactArrays:
    """Empty contact buffer for ``capacity`` contacts."""
    capacity = max(int(capacity), 1)
    integer_names = ("shape_a", "shape_b", "body_a", "body_b", "age", "matched")
    vector_names = (
        "position",
        "normal",
        "local_normal",
        "local_a",
        "local_b",
        "surface_velocity",
        "toi_offset",
        "impulse",
    )
    integers = {name: np.zeros(capacity, np.int64) for name in integer_names}
    vectors = {name: np.zeros((capacity, 3)) for name in vector_names}
    return ContactArrays(
        count=np.zeros(1, np.int64),
        needed=np.zeros(1, np.int64),
        gap=np.zeros(capacity),
        unrelaxed_gap=np.zeros(capacity),
        face_length=np.zeros(capacity),
        leftover=np.zeros((capacity, 4)),
        **integers,
        **vectors,
    )


def allocate_pairs(capacity: int) -> PairArrays:
    """Empty pair buffer for ``capacity`` pairs."""
    capacity = max(int(capacity), 1)
    integer_names = (
        "shape_a",
        "shape_b",
        "contact_start",
        "contact_count",
        "last_substep_number",
        "last_substep_start",
        "last_substep_count",
        "previous_pass_start",
        "previous_pass_count",
        "end_pose_count",
        "reference",
        "feature",
    )
    return PairArrays(
        count=np.zeros(1, np.int64),
        needed=np.zeros(1, np.int64),
        is_recycled=np.zeros(capacity, np.bool_),
        is_curved=np.zeros(capacity, np.bool_),
        reach=np.zeros(capacity),
        cull_distance=np.zeros(capacity),
        meeting=np.zeros(capacity),
        last_meeting=np.zeros(capacity),
        closing=np.zeros(capacity),
        within=np.zeros(capacity),
        pose=np.zeros((capacity, 4, 3)),
        scratch=np.zeros((2, capacity), np.int64),
        **{name: np.zeros(capacity, np.int64) for name in integer_names},
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
    """Empty a contact buffer."""
    contacts.count[0] = 0
    contacts.needed[0] = 0


@subkernel
def join_contacts(pairs, first_pair, end_pair, made, first, count, contacts, place):
    """Move the contacts of a run of pairs from the buffer of the worker that made them to their place among all.

    Parameters
    ----------
    pairs : PairArrays
        ``contact_start`` written.
    first_pair, end_pair : int64
    made : ContactArrays
        Read: ``count`` contacts from ``first`` on.
    contacts : ContactArrays
        Written, from ``place`` on.
    """
    for pair_number in range(first_pair, end_pair):
        pairs.contact_start[pair_number] += place - first
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
    contacts.unrelaxed_gap[target] = made.unrelaxed_gap[source]
    contacts.face_length[target] = made.face_length[source]
    for axis in range(3):
        contacts.position[target, axis] = made.position[source, axis]
        contacts.normal[target, axis] = made.normal[source, axis]
        contacts.local_normal[target, axis] = made.local_normal[source, axis]
        contacts.local_a[target, axis] = made.local_a[source, axis]
        contacts.local_b[target, axis] = made.local_b[source, axis]
        contacts.surface_velocity[target, axis] = made.surface_velocity[source, axis]
        contacts.toi_offset[target, axis] = made.toi_offset[source, axis]
