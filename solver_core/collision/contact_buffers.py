"""How a pair's contacts come into the buffers: a new manifold behind the others, or earlier contacts once more.

Those of the last substep with new gaps, or those of the last look at this substep, which had the same poses.
"""

import numpy as np

from ..contacts import (
    CONTACT_COUNT,
    CONTACT_START,
    CURVED,
    DRIFT_COLUMNS,
    FEATURE,
    IS_RECYCLED,
    LOOKED_COUNT,
    LOOKED_START,
    MET_AT_END,
    OLD_COUNT,
    OLD_PAIR,
    OLD_START,
    REFERENCE,
    copy_contact,
)
from ..kernel import subkernel
from .workspace import (
    A_IN_B,
    B_IN_A,
    BODY_A,
    BODY_B,
    FACE_OF_B,
    GAP,
    IS_CURVED,
    NO_CONTACT,
    NORMAL,
    ORIGIN,
    ORIGIN_FEATURE,
    POINT_A,
    POINT_B,
    POSITION,
    SHAPE_A,
)


@subkernel(inline=True)
def remember_pose(pairs, pair, reach, pose):
    """Note from where and how far out the pair's contacts are made."""
    pairs.link[pair, IS_RECYCLED] = 0
    pairs.reach[pair] = pairs.left_out[pair] = reach
    for i in range(4):
        for j in range(3):
            pairs.pose[pair, i, j] = pose[B_IN_A, i, j]


@subkernel
def link_contacts(link, first, reference, feature, is_curved):
    """Note where a pair's contacts start, and no contact yet."""
    link[CONTACT_START] = first
    link[CONTACT_COUNT] = 0
    link[REFERENCE] = reference
    link[FEATURE] = feature
    link[CURVED] = is_curved


@subkernel
def append_contacts(body_of, local_pose, scratch, pairs, pair, count, joins, contacts):
    """Write the manifold in the scratch behind the contacts there are; beyond the capacity it is only counted.

    One that joins the pair's contacts does not say where these come from.
    """
    link = pairs.link[pair]
    first = contacts.count[0]
    contacts.needed[0] += count
    if count > 0 and not joins:
        link_contacts(link, first, scratch.feature[ORIGIN], scratch.feature[ORIGIN_FEATURE], scratch.feature[IS_CURVED])
    elif not joins:
        link_contacts(link, first, np.int64(NO_CONTACT), np.int64(-1), np.int64(0))
    if contacts.needed[0] > len(contacts.gap) or count == 0:
        return
    link[CONTACT_COUNT] += count
    contacts.count[0] += count
    a, b = pairs.shape_a[pair], pairs.shape_b[pair]
    body_a, body_b = body_of[a], body_of[b]
    pose = scratch.pose[SHAPE_A]
    holder = scratch.pose[BODY_B if link[REFERENCE] == FACE_OF_B else BODY_A]
    for contact in range(first, first + count):
        row = scratch.contact[contact - first]
        contacts.shape_a[contact] = a
        contacts.shape_b[contact] = b
        contacts.body_a[contact] = body_a
        contacts.body_b[contact] = body_b
        contacts.gap[contact] = row[GAP]
        contacts.matched[contact] = -1
        local_a, local_b = contacts.local_a[contact], contacts.local_b[contact]
        place_point(local_pose[a], row[POINT_A], row[POINT_A + 1], row[POINT_A + 2], local_a)
        place_point(scratch.pose[A_IN_B], row[POINT_B], row[POINT_B + 1], row[POINT_B + 2], local_b)
        place_point(local_pose[b], local_b[0], local_b[1], local_b[2], local_b)
        x = 0.5 * (row[POINT_A] + row[POINT_B])
        y = 0.5 * (row[POINT_A + 1] + row[POINT_B + 1])
        z = 0.5 * (row[POINT_A + 2] + row[POINT_B + 2])
        place_point(pose, x, y, z, contacts.position[contact])
        world = contacts.normal[contact]
        turn_vector(pose, scratch.axes[NORMAL], world)
        for i in range(3):
            along = holder[0, i] * world[0] + holder[1, i] * world[1] + holder[2, i] * world[2]
            contacts.local_normal[contact, i] = along
        for column in range(DRIFT_COLUMNS):
            contacts.drift[contact, column] = 0.0


@subkernel
def place_point(pose, x, y, z, result):
    """The point (x, y, z) of the frame that ``pose`` places, in the outer frame."""
    for i in range(3):
        result[i] = pose[POSITION, i] + pose[i, 0] * x + pose[i, 1] * y + pose[i, 2] * z


@subkernel
def turn_vector(pose, vector, result):
    """A direction of the frame that ``pose`` places, in the outer frame."""
    for i in range(3):
        result[i] = pose[i, 0] * vector[0] + pose[i, 1] * vector[1] + pose[i, 2] * vector[2]


@subkernel
def forget_motion(pairs, pair, moved, pose):
    """Go on from the pose as it is with a pair without contacts, whose shapes have come nearer by ``moved`` at most."""
    pairs.reach[pair] -= moved
    pairs.left_out[pair] -= moved
    for i in range(4):
        for j in range(3):
            pairs.pose[pair, i, j] = pose[B_IN_A, i, j]


@subkernel(inline=True)
def take_over_contacts(looked_pairs, looked_pair, looked, pairs, pair, contacts):
    """Copy the contacts that the last look made of a pair; ``reach`` is not written."""
    link, looked_link = pairs.link[pair], looked_pairs.link[looked_pair]
    count, first, start = looked_link[CONTACT_COUNT], contacts.count[0], looked_link[CONTACT_START]
    contacts.needed[0] += count
    link_contacts(link, first, looked_link[REFERENCE], looked_link[FEATURE], looked_link[CURVED])
    link[IS_RECYCLED] = 0
    pairs.left_out[pair] = looked_pairs.left_out[looked_pair]
    for i in range(4):
        for j in range(3):
            pairs.pose[pair, i, j] = looked_pairs.pose[looked_pair, i, j]
    if contacts.needed[0] > len(contacts.gap):
        return
    link[CONTACT_COUNT] = count
    link[LOOKED_START], link[LOOKED_COUNT] = start, count
    contacts.count[0] += count
    for number in range(count):
        copy_contact(looked, start + number, contacts, first + number)
        contacts.matched[first + number] = -1


@subkernel(inline=True)
def repeat_contacts_of_end(link, looked, contacts):
    """Copy the contacts that the last look made of a pair at the substep's end: the last of its contacts there."""
    count, first = link[MET_AT_END], contacts.count[0]
    start = link[LOOKED_START] + link[LOOKED_COUNT] - count
    contacts.needed[0] += count
    if contacts.needed[0] > len(contacts.gap):
        return
    link[CONTACT_COUNT] += count
    contacts.count[0] += count
    for number in range(count):
        copy_contact(looked, start + number, contacts, first + number)
        contacts.matched[first + number] = -1


@subkernel(inline=True)
def recycle_contacts(pairs, pair, previous_pairs, contacts, previous, body_pose):
    """Carry the pair's contacts over with new gaps and positions."""
    link = pairs.link[pair]
    old_pair, count, first = link[OLD_PAIR], link[OLD_COUNT], contacts.count[0]
    contacts.needed[0] += count
    link[IS_RECYCLED] = 1
    link[CURVED] = previous_pairs.link[old_pair, CURVED]
    link[CONTACT_START] = first
    link[CONTACT_COUNT] = 0
    pairs.reach[pair] = previous_pairs.reach[old_pair]
    pairs.left_out[pair] = previous_pairs.left_out[old_pair]
    for i in range(4):
        for j in range(3):
            pairs.pose[pair, i, j] = previous_pairs.pose[old_pair, i, j]
    if contacts.needed[0] > len(contacts.gap) or count == 0:
        return
    link[CONTACT_COUNT] = count
    contacts.count[0] += count
    shape_a, shape_b, start = pairs.shape_a[pair], pairs.shape_b[pair], link[OLD_START]
    a, b = previous.body_a[start], previous.body_b[start]
    pose_a, pose_b = body_pose[a], body_pose[b]
    holder = pose_b if link[REFERENCE] == FACE_OF_B else pose_a
    for contact in range(first, first + count):
        old = start + contact - first
        contacts.shape_a[contact] = shape_a
        contacts.shape_b[contact] = shape_b
        contacts.body_a[contact] = a
        contacts.body_b[contact] = b
        contacts.matched[contact] = old
        local_a, local_b = contacts.local_a[contact], contacts.local_b[contact]
        local_normal, normal, drift = contacts.local_normal[contact], contacts.normal[contact], contacts.drift[contact]
        for i in range(3):
            local_a[i] = previous.local_a[old, i]
            local_b[i] = previous.local_b[old, i]
            local_normal[i] = previous.local_normal[old, i]
        for column in range(DRIFT_COLUMNS):
            drift[column] = 0.0
        turn_vector(holder, local_normal, normal)
        contacts.gap[contact] = measure_gap(pose_a, pose_b, local_a, local_b, normal, contacts.position[contact])


@subkernel
def measure_gap(pose_a, pose_b, local_a, local_b, normal, position):
    """Gap of two points of two bodies along the normal; writes the middle of the points, world, to ``position``."""
    gap = 0.0
    for i in range(3):
        lever_a = pose_a[i, 0] * local_a[0] + pose_a[i, 1] * local_a[1] + pose_a[i, 2] * local_a[2]
        lever_b = pose_b[i, 0] * local_b[0] + pose_b[i, 1] * local_b[1] + pose_b[i, 2] * local_b[2]
        # Positions first: their difference is small, and exact far from the origin too.
        apart = pose_b[POSITION, i] - pose_a[POSITION, i] + lever_b - lever_a
        position[i] = pose_a[POSITION, i] + lever_a + 0.5 * apart
        gap += normal[i] * apart
    return gap
