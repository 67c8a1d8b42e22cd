"""How the contacts of a pair get into the buffers: as a new manifold, or copied from earlier contacts.

Earlier contacts are those of the last substep, with new gaps, or those of the previous detection pass, which had the
same poses.
"""

from ...compiled.kernel import subkernel
from .contact_arrays import copy_contact
from .workspace import (
    FACE_OF_B,
    NO_CONTACT,
    POSITION,
)


@subkernel(inline=True)
def remember_pose(pairs, pair, reach, pose):
    """Note at which relative pose and up to which gap the pair's contacts are made."""
    pairs.is_recycled[pair] = False
    pairs.reach[pair] = pairs.cull_distance[pair] = reach
    for i in range(4):
        for j in range(3):
            pairs.pose[pair, i, j] = pose.b_in_a[i, j]


@subkernel
def start_contacts(pairs, pair, first, reference, feature, is_curved):
    """Note where a pair's contacts start and where its normal comes from; there is no contact yet."""
    pairs.contact_start[pair] = first
    pairs.contact_count[pair] = 0
    pairs.reference[pair] = reference
    pairs.feature[pair] = feature
    pairs.is_curved[pair] = is_curved


@subkernel
def append_contacts(body_of, local_pose, scratch, pairs, pair, count, joins, contacts):
    """Append the manifold in the scratch to the contacts; beyond the capacity it is only counted.

    If it ``joins`` the pair's contacts, the pair's reference and feature stay.
    """
    first = contacts.count[0]
    contacts.needed[0] += count
    if not joins:
        reference = scratch.feature.origin[0] if count > 0 else NO_CONTACT
        feature = scratch.feature.origin_feature[0] if count > 0 else -1
        start_contacts(pairs, pair, first, reference, feature, count > 0 and scratch.feature.is_curved[0] == 1)
    if contacts.needed[0] > len(contacts.gap) or count == 0:
        return
    pairs.contact_count[pair] += count
    contacts.count[0] += count
    a, b = pairs.shape_a[pair], pairs.shape_b[pair]
    body_a, body_b = body_of[a], body_of[b]
    pose, manifold = scratch.pose.shape_a, scratch.manifold
    point_a, point_b = manifold.point_a, manifold.point_b
    holder = scratch.pose.body_b if pairs.reference[pair] == FACE_OF_B else scratch.pose.body_a
    for contact in range(first, first + count):
        row = contact - first
        contacts.shape_a[contact] = a
        contacts.shape_b[contact] = b
        contacts.body_a[contact] = body_a
        contacts.body_b[contact] = body_b
        contacts.gap[contact] = manifold.gap[row]
        contacts.matched[contact] = -1
        local_a, local_b = contacts.local_a[contact], contacts.local_b[contact]
        place_point(local_pose[a], point_a[row, 0], point_a[row, 1], point_a[row, 2], local_a)
        place_point(scratch.pose.a_in_b, point_b[row, 0], point_b[row, 1], point_b[row, 2], local_b)
        place_point(local_pose[b], local_b[0], local_b[1], local_b[2], local_b)
        x = 0.5 * (point_a[row, 0] + point_b[row, 0])
        y = 0.5 * (point_a[row, 1] + point_b[row, 1])
        z = 0.5 * (point_a[row, 2] + point_b[row, 2])
        place_point(pose, x, y, z, contacts.position[contact])
        world = contacts.normal[contact]
        turn_vector(pose, scratch.axes.normal, world)
        for i in range(3):
            along = holder[0, i] * world[0] + holder[1, i] * world[1] + holder[2, i] * world[2]
            contacts.local_normal[contact, i] = along
            contacts.surface_velocity[contact, i] = contacts.toi_offset[contact, i] = 0.0
        contacts.unrelaxed_gap[contact] = 0.0


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
    """Let a pair without contacts start from its present pose; its shapes have come nearer by ``moved`` at most [m]."""
    pairs.reach[pair] -= moved
    pairs.cull_distance[pair] -= moved
    for i in range(4):
        for j in range(3):
            pairs.pose[pair, i, j] = pose.b_in_a[i, j]


@subkernel(inline=True)
def take_over_contacts(previous_pass_pairs, previous_pass_pair, previous_pass, pairs, pair, contacts):
    """Copy the contacts that the previous detection pass made of a pair; ``reach`` is not written."""
    count, start = (
        previous_pass_pairs.contact_count[previous_pass_pair],
        previous_pass_pairs.contact_start[previous_pass_pair],
    )
    first = contacts.count[0]
    contacts.needed[0] += count
    start_contacts(
        pairs,
        pair,
        first,
        previous_pass_pairs.reference[previous_pass_pair],
        previous_pass_pairs.feature[previous_pass_pair],
        previous_pass_pairs.is_curved[previous_pass_pair],
    )
    pairs.is_recycled[pair] = False
    pairs.cull_distance[pair] = previous_pass_pairs.cull_distance[previous_pass_pair]
    for i in range(4):
        for j in range(3):
            pairs.pose[pair, i, j] = previous_pass_pairs.pose[previous_pass_pair, i, j]
    if contacts.needed[0] > len(contacts.gap):
        return
    pairs.contact_count[pair] = count
    pairs.pass_start[pair], pairs.pass_count[pair] = start, count
    contacts.count[0] += count
    for number in range(count):
        copy_contact(previous_pass, start + number, contacts, first + number)
        contacts.matched[first + number] = -1


@subkernel(inline=True)
def repeat_end_pose_contacts(pairs, pair, previous_pass, contacts):
    """Copy the end-pose contacts that the previous pass made of a pair: the last of its contacts there."""
    count, first = pairs.end_pose_count[pair], contacts.count[0]
    start = pairs.pass_start[pair] + pairs.pass_count[pair] - count
    contacts.needed[0] += count
    if contacts.needed[0] > len(contacts.gap):
        return
    pairs.contact_count[pair] += count
    contacts.count[0] += count
    for number in range(count):
        copy_contact(previous_pass, start + number, contacts, first + number)
        contacts.matched[first + number] = -1


@subkernel(inline=True)
def recycle_contacts(pairs, pair, previous_pairs, contacts, previous, body_pose):
    """Carry the pair's contacts over with new gaps and positions."""
    old_pair, count, first = pairs.previous_pair[pair], pairs.previous_count[pair], contacts.count[0]
    contacts.needed[0] += count
    pairs.is_recycled[pair] = True
    pairs.is_curved[pair] = previous_pairs.is_curved[old_pair]
    pairs.contact_start[pair] = first
    pairs.contact_count[pair] = 0
    pairs.reach[pair] = previous_pairs.reach[old_pair]
    pairs.cull_distance[pair] = previous_pairs.cull_distance[old_pair]
    for i in range(4):
        for j in range(3):
            pairs.pose[pair, i, j] = previous_pairs.pose[old_pair, i, j]
    if contacts.needed[0] > len(contacts.gap) or count == 0:
        return
    pairs.contact_count[pair] = count
    contacts.count[0] += count
    shape_a, shape_b, start = pairs.shape_a[pair], pairs.shape_b[pair], pairs.previous_start[pair]
    a, b = previous.body_a[start], previous.body_b[start]
    pose_a, pose_b = body_pose[a], body_pose[b]
    holder = pose_b if pairs.reference[pair] == FACE_OF_B else pose_a
    for contact in range(first, first + count):
        old = start + contact - first
        contacts.shape_a[contact] = shape_a
        contacts.shape_b[contact] = shape_b
        contacts.body_a[contact] = a
        contacts.body_b[contact] = b
        contacts.matched[contact] = old
        local_a, local_b = contacts.local_a[contact], contacts.local_b[contact]
        local_normal, normal = contacts.local_normal[contact], contacts.normal[contact]
        for i in range(3):
            local_a[i] = previous.local_a[old, i]
            local_b[i] = previous.local_b[old, i]
            local_normal[i] = previous.local_normal[old, i]
            contacts.surface_velocity[contact, i] = contacts.toi_offset[contact, i] = 0.0
        contacts.unrelaxed_gap[contact] = 0.0
        turn_vector(holder, local_normal, normal)
        contacts.gap[contact] = measure_gap(pose_a, pose_b, local_a, local_b, normal, contacts.position[contact])


@subkernel
def measure_gap(pose_a, pose_b, local_a, local_b, normal, position):
    """Gap of two points of two bodies along the normal; writes the middle of the points, world, to ``position``."""
    gap = 0.0
    for i in range(3):
        radius_a = pose_a[i, 0] * local_a[0] + pose_a[i, 1] * local_a[1] + pose_a[i, 2] * local_a[2]
        radius_b = pose_b[i, 0] * local_b[0] + pose_b[i, 1] * local_b[1] + pose_b[i, 2] * local_b[2]
        # Positions first: their difference is small, and exact far from the origin too.
        apart = pose_b[POSITION, i] - pose_a[POSITION, i] + radius_b - radius_a
        position[i] = pose_a[POSITION, i] + radius_a + 0.5 * apart
        gap += normal[i] * apart
    return gap
