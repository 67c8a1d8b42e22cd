"""Stage ``match_contacts``: carry impulses and ages over from the last substep's contacts.

A contact's identity is geometric. Feature numbers alone fail: clipping may start one vertex on, and a corner that was
a vertex of one box may be an edge crossing a substep later, at the same place. So within a pair of shapes the contacts
of two substeps are matched one to one, nearest first (as Newton does in ``contact_match.py``). The distance is that of
the new point from where either body, or both halfway, have carried the earlier point: a corner that slides stays where
its own body has it, an edge that something slides over stays where the other body has it, and the point where a wheel
touches the ground stays between both.

"Earlier" is always of the last substep. Reads ``pairs``, the last substep's contacts, and positions and normals of
``contacts``; writes ``impulse``, ``age`` and ``matched`` of ``contacts``.
"""

from ...compiled.kernel import kernel, subkernel
from .workspace import INFINITE

# Two contacts can only be the same if they are closer than this fraction of the smaller shape's size. Wide: a wrong
# match costs a poor first guess of an impulse, a missed one costs the whole guess.
RATIO_MATCH_DISTANCE = 0.25
# ... and if their normals differ by less than about 25 degrees (cosine).
COSINE_MATCH_NORMAL = 0.9


@kernel(inline=True)
def match_contacts(pairs, contacts, last_substep_contacts, workspace):
    """Carry impulses and ages of the last substep's contacts over to the same contacts of this substep.

    Parameters
    ----------
    pairs : PairArrays
        Of this substep, as ``narrow_phase`` left them (read).
    contacts : ContactArrays
        Of this substep (``impulse``, ``age``, ``matched`` written).
    last_substep_contacts : ContactArrays
        Of the last substep (read).
    workspace : CollisionWorkspace
        Poses of the bodies in this substep (read), scratch (written).

    Returns
    -------
    int
        Matched contacts.
    """
    matched_count = 0
    for pair_number in range(pairs.count[0]):
        first = pairs.contact_start[pair_number]
        end = first + pairs.contact_count[pair_number]
        if not pairs.is_recycled[pair_number]:
            for contact in range(first, end):
                contacts.matched[contact] = -1
            size = min(workspace.size[pairs.shape_a[pair_number]], workspace.size[pairs.shape_b[pair_number]])
            match_nearest(
                contacts,
                first,
                end,
                last_substep_contacts,
                pairs.last_substep_start[pair_number],
                pairs.last_substep_count[pair_number],
                size,
                workspace.body_pose,
                workspace.scratch.carried,
            )
        for contact in range(first, end):
            earlier = contacts.matched[contact]
            matched_count += earlier >= 0
            contacts.age[contact] = last_substep_contacts.age[earlier] + 1 if earlier >= 0 else 0
            for i in range(3):
                contacts.impulse[contact, i] = last_substep_contacts.impulse[earlier, i] if earlier >= 0 else 0.0
    return matched_count


@subkernel
def match_nearest(contacts, first, end, last_substep_contacts, earlier_first, earlier_count, size, body_pose, carried):
    """Match the contacts of one pair with those of the last substep, one to one, the nearest two first.

    Until they are carried over, ``age`` of a contact is the earlier one that is nearest to it of those not taken, and
    ``impulse[0]`` its squared distance.
    """
    matched, nearest, distance = contacts.matched, contacts.age, contacts.impulse
    earlier_end, limit = earlier_first + earlier_count, (RATIO_MATCH_DISTANCE * size) ** 2
    for contact in range(first, end):
        nearest[contact], distance[contact, 0] = -1, limit
    for earlier in range(earlier_first, earlier_end):
        offer(contacts, first, end, last_substep_contacts, earlier, body_pose, carried)
    for _ in range(min(end - first, earlier_count)):
        best = -1
        for contact in range(first, end):
            if matched[contact] >= 0 or nearest[contact] < 0:
                continue
            if best < 0 or distance[contact, 0] < distance[best, 0]:
                best = contact
        if best < 0:
            break
        taken = nearest[best]
        matched[best] = taken
        for contact in range(first, end):
            if matched[contact] >= 0 or nearest[contact] != taken:
                continue
            nearest[contact], distance[contact, 0] = -1, limit
            for earlier in range(earlier_first, earlier_end):
                if not is_taken(matched, first, end, earlier):
                    offer(contacts, contact, contact + 1, last_substep_contacts, earlier, body_pose, carried)


@subkernel
def offer(contacts, first, end, last_substep_contacts, earlier, body_pose, carried):
    """Note an earlier contact with those of contacts ``first`` to ``end`` that it is nearer to than what they have."""
    position, normal, nearest, distance = contacts.position, contacts.normal, contacts.age, contacts.impulse
    carry_points(
        body_pose[last_substep_contacts.body_a[earlier]],
        body_pose[last_substep_contacts.body_b[earlier]],
        last_substep_contacts.local_a[earlier],
        last_substep_contacts.local_b[earlier],
        carried,
    )
    for contact in range(first, end):
        cosine = 0.0
        for i in range(3):
            cosine += normal[contact, i] * last_substep_contacts.normal[earlier, i]
        square = distance_to_carried(carried, position[contact])
        if square < distance[contact, 0] and cosine > COSINE_MATCH_NORMAL:
            nearest[contact], distance[contact, 0] = earlier, square


@subkernel
def is_taken(matched, first, end, earlier):
    """Whether an earlier contact is matched already."""
    for contact in range(first, end):  # noqa: SIM110 (Numba would compile a generator for any())
        if matched[contact] == earlier:
            return True
    return False


@subkernel
def carry_points(pose_a, pose_b, local_a, local_b, carried):
    """Write where the bodies have carried an earlier contact's two surface points, and their middle; world.

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
    """Least squared distance of a point from the three carried points."""
    least = INFINITE
    for row in range(3):
        square = 0.0
        for i in range(3):
            square += (carried[row, i] - point[i]) ** 2
        least = min(least, square)
    return least


@subkernel
def take_previous_pass_impulses(pairs, contacts, rows):
    """Start from the impulses of the previous detection pass at the same poses, for the contacts that it had too.

    Parameters
    ----------
    pairs : PairArrays
        Read: a pair's contacts now and in the previous pass, of which the first are the same.
    contacts : ContactArrays
        Written: impulse.
    rows : RowArrays
        Of the previous pass, a block of three per contact (read).
    """
    block_row, impulse, jacobian = rows.block_row, rows.impulse, rows.jacobian
    for pair_number in range(pairs.count[0]):
        for place in range(min(pairs.contact_count[pair_number], pairs.previous_pass_count[pair_number])):
            contact = pairs.contact_start[pair_number] + place
            row = block_row[pairs.previous_pass_start[pair_number] + place]
            for axis in range(3):
                total = 0.0
                for direction in range(3):
                    total += impulse[row + direction] * jacobian[row + direction, 6 + axis]
                contacts.impulse[contact, axis] = total
