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
def remember_pose(pairs, pair_number, reach, pose):
    """Note at which relative pose and up to which gap the pair's contacts are made."""
    pairs.is_recycled[pair_number] = False
    pairs.reach[pair_number] = pairs.cull_distance[pair_number] = reach
    for i in range(4):
        for j in range(3):
            pairs.pose[pair_number, i, j] = pose.b_in_a[i, j]


@subkernel
def start_contacts(pairs, pair_number, first, reference, feature, is_curved):
    """Note where a pair's contacts start and where its normal comes from; there is no contact yet."""
    pairs.contact_start[pair_number] = first
    pairs.contact_count[pair_number] = 0
    pairs.reference[pair_number] = reference
    pairs.feature[pair_number] = feature
    pairs.is_curved[pair_number] = is_curved
    pairs.within[pair_number] = -1.0


@subkernel
def drop_contacts(pairs, pair_number, contacts):
    """Take the contacts of a pair, the last of all, back."""
    count = pairs.contact_count[pair_number]
    pairs.contact_count[pair_number] = 0
    contacts.count[0] -= count
    contacts.needed[0] -= count


@subkernel
def append_contacts(body_of, local_pose, scratch, pairs, pair_number, count, joins, contacts):
    """Append the manifold in the scratch to the contacts; beyond the capacity it is only counted.

    If it ``joins`` the pair's contacts, the pair's reference and feature stay.
    """
    first = contacts.count[0]
    contacts.needed[0] += count
    if not joins:
        reference = scratch.feature.origin[0] if count > 0 else NO_CONTACT
        feature = scratch.feature.origin_feature[0] if count > 0 else -1
        start_contacts(pairs, pair_number, first, reference, feature, count > 0 and scratch.feature.is_curved[0] == 1)
    if contacts.needed[0] > len(contacts.gap) or count == 0:
        return
    pairs.contact_count[pair_number] += count
    contacts.count[0] += count
    a, b = pairs.shape_a[pair_number], pairs.shape_b[pair_number]
    body_a, body_b = body_of[a], body_of[b]
    pose, manifold = scratch.pose.shape_a, scratch.manifold
    point_a, point_b = manifold.point_a, manifold.point_b
    holder = scratch.pose.body_b if pairs.reference[pair_number] == FACE_OF_B else scratch.pose.body_a
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
        contacts.unrelaxed_gap[contact] = contacts.face_length[contact] = 0.0


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
def forget_motion(pairs, pair_number, moved, pose):
    """Let a pair without contacts start from its present pose; its shapes have come nearer by ``moved`` at most [m]."""
    pairs.reach[pair_number] -= moved
    pairs.cull_distance[pair_number] -= moved
    for i in range(4):
        for j in range(3):
            pairs.pose[pair_number, i, j] = pose.b_in_a[i, j]


@subkernel(inline=True)
def take_over_contacts(previous_pass_pairs, previous_pass_number, previous_pass_contacts, pairs, pair_number, contacts):
    """Copy the contacts that the previous detection pass made of a pair; ``reach`` is not written."""
    count = previous_pass_pairs.contact_count[previous_pass_number]
    start = previous_pass_pairs.contact_start[previous_pass_number]
    first = contacts.count[0]
    contacts.needed[0] += count
    start_contacts(
        pairs,
        pair_number,
        first,
        previous_pass_pairs.reference[previous_pass_number],
        previous_pass_pairs.feature[previous_pass_number],
        previous_pass_pairs.is_curved[previous_pass_number],
    )
    pairs.is_recycled[pair_number] = False
    pairs.within[pair_number] = previous_pass_pairs.within[previous_pass_number]
    pairs.cull_distance[pair_number] = previous_pass_pairs.cull_distance[previous_pass_number]
    for i in range(4):
        for j in range(3):
            pairs.pose[pair_number, i, j] = previous_pass_pairs.pose[previous_pass_number, i, j]
    if contacts.needed[0] > len(contacts.gap):
        return
    pairs.contact_count[pair_number] = count
    pairs.previous_pass_start[pair_number], pairs.previous_pass_count[pair_number] = start, count
    contacts.count[0] += count
    for number in range(count):
        copy_contact(previous_pass_contacts, start + number, contacts, first + number)
        contacts.matched[first + number] = -1


@subkernel(inline=True)
def repeat_end_pose_contacts(pairs, pair_number, previous_pass_contacts, contacts):
    """Copy the end-pose contacts that the previous pass made of a pair: the last of its contacts there."""
    count, first = pairs.end_pose_count[pair_number], contacts.count[0]
    start = pairs.previous_pass_start[pair_number] + pairs.previous_pass_count[pair_number] - count
    contacts.needed[0] += count
    if contacts.needed[0] > len(contacts.gap):
        return
    pairs.contact_count[pair_number] += count
    contacts.count[0] += count
    for number in range(count):
        copy_contact(previous_pass_contacts, start + number, contacts, first + number)
        contacts.matched[first + number] = -1


@subkernel(inline=True)
def recycle_contacts(pairs, pair_number, last_substep_pairs, contacts, last_substep_contacts, body_pose):
    """Carry the pair's contacts of the last substep over with new gaps and positions."""
    last_substep_number, count = pairs.last_substep_number[pair_number], pairs.last_substep_count[pair_number]
    first = contacts.count[0]
    contacts.needed[0] += count
    pairs.is_recycled[pair_number] = True
    pairs.is_curved[pair_number] = last_substep_pairs.is_curved[last_substep_number]
    pairs.contact_start[pair_number] = first
    pairs.contact_count[pair_number] = 0
    pairs.reach[pair_number] = last_substep_pairs.reach[last_substep_number]
    pairs.cull_distance[pair_number] = last_substep_pairs.cull_distance[last_substep_number]
    for i in range(4):
        for j in range(3):
            pairs.pose[pair_number, i, j] = last_substep_pairs.pose[last_substep_number, i, j]
    if contacts.needed[0] > len(contacts.gap) or count == 0:
        return
    pairs.contact_count[pair_number] = count
    contacts.count[0] += count
    shape_a, shape_b = pairs.shape_a[pair_number], pairs.shape_b[pair_number]
    start = pairs.last_substep_start[pair_number]
    a, b = last_substep_contacts.body_a[start], last_substep_contacts.body_b[start]
    pose_a, pose_b = body_pose[a], body_pose[b]
    holder = pose_b if pairs.reference[pair_number] == FACE_OF_B else pose_a
    for contact in range(first, first + count):
        source = start + contact - first
        contacts.shape_a[contact] = shape_a
        contacts.shape_b[contact] = shape_b
        contacts.body_a[contact] = a
        contacts.body_b[contact] = b
        contacts.matched[contact] = source
        local_a, local_b = contacts.local_a[contact], contacts.local_b[contact]
        local_normal, normal = contacts.local_normal[contact], contacts.normal[contact]
        for i in range(3):
            local_a[i] = last_substep_contacts.local_a[source, i]
            local_b[i] = last_substep_contacts.local_b[source, i]
            local_normal[i] = last_substep_contacts.local_normal[source, i]
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
