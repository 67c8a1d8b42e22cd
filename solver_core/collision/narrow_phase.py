"""Stage ``narrow_phase``: contacts of every pair of shapes.

Reads poses (as ``broad_phase`` placed them), the pairs, and the last step's pairs and contacts; fills ``contacts``
except ``impulse`` and ``age``, and the rest of ``pairs``.

Contacts are recycled (as in Box2D v3): while two shapes have hardly moved against each other since their contacts were
made, the points and the normal stay fixed in the bodies and only gaps are measured anew. Contacts that stay are what
makes a scene still and warm starts exact. A recycled manifold misses nothing: contacts are made up to a gap ``reach``,
and kept only while what the shapes have moved since, and may move in this substep, is less.
"""

from ..contacts import STATUS_CAPACITY, STATUS_OK
from ..kernel import kernel
from .broad_phase import RATIO_MARGIN
from .polytope_contacts import polytope_contacts
from .sphere_contacts import sphere_contacts
from .workspace import BOX, FACE_OF_B, NO_CONTACT, SPHERE

# Points stay while the shapes have moved against each other by less than this share of the smaller one's size. It is
# also the angle [rad] by which a recycled normal may be off, and must be well below RATIO_MARGIN.
RATIO_RECYCLE = 0.002


@kernel
def narrow_phase(model, state, step, pairs, previous_pairs, contacts, previous, workspace):
    """Make or recycle the contacts of all pairs.

    Parameters
    ----------
    model : ModelArrays
        (read)
    state : StateArrays
        (read)
    step : NamedTuple with ``h`` [s] and ``maximal_points``
        (read)
    pairs : PairArrays
        ``shape_a``, ``shape_b`` and ``count`` read, the rest written.
    previous_pairs : PairArrays
        Of the last step (read).
    contacts : ContactArrays
        Written, but for ``impulse`` and ``age``.
    previous : ContactArrays
        Of the last step (read).
    workspace : CollisionWorkspace
        Poses of this step (read), scratch (written).

    Returns
    -------
    int
        ``STATUS_OK``, or ``STATUS_CAPACITY`` with ``needed`` set.
    """
    contacts.count[0] = 0
    contacts.needed[0] = 0
    old = 0
    for pair in range(pairs.count[0]):
        old = find_previous(pairs, pair, previous_pairs, old)
        place_pair(pairs.shape_a[pair], pairs.shape_b[pair], workspace)
        motion = workspace.motion[pairs.shape_a[pair]] + workspace.motion[pairs.shape_b[pair]]
        if pairs.previous[pair] >= 0 and may_recycle(pairs, pair, previous_pairs, motion, model, workspace):
            recycle_contacts(pairs, pair, previous_pairs, contacts, previous, workspace)
        else:
            count = generate_manifold(model, step, pairs, pair, previous_pairs, motion, workspace)
            append_contacts(model, pairs, pair, count, contacts, workspace)
    if contacts.needed[0] > contacts.count[0]:
        return STATUS_CAPACITY
    return STATUS_OK


@kernel
def find_previous(pairs, pair, previous_pairs, old):
    """Find the pair in the last step's list, both being sorted; return where to go on for the next pair."""
    a = pairs.shape_a[pair]
    b = pairs.shape_b[pair]
    while old < previous_pairs.count[0] and (
        previous_pairs.shape_a[old] < a or (previous_pairs.shape_a[old] == a and previous_pairs.shape_b[old] < b)
    ):
        old += 1
    is_same = old < previous_pairs.count[0] and previous_pairs.shape_a[old] == a and previous_pairs.shape_b[old] == b
    pairs.previous[pair] = old if is_same else -1
    pairs.old_contact_start[pair] = previous_pairs.contact_start[old] if is_same else 0
    pairs.old_contact_count[pair] = previous_pairs.contact_count[old] if is_same else 0
    return old


@kernel
def place_pair(a, b, workspace):
    """Pose of shape b in the frame of shape a, and the other way round."""
    scratch = workspace.scratch
    ra, rb = workspace.shape_rotation[a], workspace.shape_rotation[b]
    dx = workspace.shape_position[b, 0] - workspace.shape_position[a, 0]
    dy = workspace.shape_position[b, 1] - workspace.shape_position[a, 1]
    dz = workspace.shape_position[b, 2] - workspace.shape_position[a, 2]
    for i in range(3):
        scratch.translation[i] = ra[0, i] * dx + ra[1, i] * dy + ra[2, i] * dz
        scratch.inverse_translation[i] = -(rb[0, i] * dx + rb[1, i] * dy + rb[2, i] * dz)
        for j in range(3):
            element = ra[0, i] * rb[0, j] + ra[1, i] * rb[1, j] + ra[2, i] * rb[2, j]
            scratch.rotation[i, j] = element
            scratch.inverse_rotation[j, i] = element


@kernel
def may_recycle(pairs, pair, previous_pairs, motion, model, workspace):
    """Whether the pair's contacts still hold, and no feature may come near that they leave out."""
    a, b = pairs.shape_a[pair], pairs.shape_b[pair]
    old = pairs.previous[pair]
    moved = relative_motion(a, b, previous_pairs.translation[old], previous_pairs.rotation[old], model, workspace)
    if moved + motion > previous_pairs.reach[old]:
        return False
    return previous_pairs.contact_count[old] == 0 or moved <= RATIO_RECYCLE * min(workspace.size[a], workspace.size[b])


@kernel
def relative_motion(a, b, translation, rotation, model, workspace):
    """How far any point of the smaller shape has moved in the frame of the larger one since (translation, rotation)."""
    r, t = workspace.scratch.rotation, workspace.scratch.translation
    # |R - R0| = 2 sqrt(2) sin(angle / 2) in the Frobenius norm
    square = 0.0
    for i in range(3):
        for j in range(3):
            square += (r[i, j] - rotation[i, j]) ** 2
    turn = (0.5 * square) ** 0.5
    shift = 0.0
    if workspace.size[a] >= workspace.size[b]:
        for i in range(3):
            shift += (t[i] - translation[i]) ** 2
        return shift**0.5 + turn * model.shapes.bounding_radius[b]
    for i in range(3):
        before = 0.0
        for j in range(3):
            before -= rotation[j, i] * translation[j]
        shift += (workspace.scratch.inverse_translation[i] - before) ** 2
    return shift**0.5 + turn * model.shapes.bounding_radius[a]


@kernel
def generate_manifold(model, step, pairs, pair, previous_pairs, motion, workspace):
    """Make the pair's manifold in the workspace, note from which pose; return the number of contacts."""
    a, b = pairs.shape_a[pair], pairs.shape_b[pair]
    shapes = model.shapes
    reach = motion + RATIO_MARGIN * min(workspace.size[a], workspace.size[b])
    pairs.is_recycled[pair] = 0
    pairs.reach[pair] = reach
    pairs.translation[pair, :] = workspace.scratch.translation[:]
    pairs.rotation[pair, :, :] = workspace.scratch.rotation[:, :]
    reference, feature = NO_CONTACT, -1
    if pairs.previous[pair] >= 0:
        reference = previous_pairs.reference[pairs.previous[pair]]
        feature = previous_pairs.feature[pairs.previous[pair]]
    if shapes.kind[a] == SPHERE or shapes.kind[b] == SPHERE:
        count = sphere_contacts(workspace, a, b, shapes, reach)
    else:
        are_boxes = shapes.kind[a] == BOX and shapes.kind[b] == BOX
        count = polytope_contacts(
            workspace,
            a,
            b,
            are_boxes,
            shapes.parameters[a],
            shapes.parameters[b],
            reach,
            step.maximal_points,
            reference,
            feature,
        )
    pairs.reference[pair] = workspace.manifold.origin[0] if count > 0 else NO_CONTACT
    pairs.feature[pair] = workspace.manifold.origin[1] if count > 0 else -1
    return count


@kernel
def append_contacts(model, pairs, pair, count, contacts, workspace):
    """Write the workspace's manifold behind the contacts there are; beyond the capacity it is only counted."""
    first = contacts.count[0]
    contacts.needed[0] += count
    pairs.contact_start[pair] = first
    pairs.contact_count[pair] = 0
    if contacts.needed[0] > len(contacts.gap):
        return
    pairs.contact_count[pair] = count
    contacts.count[0] += count
    a, b = pairs.shape_a[pair], pairs.shape_b[pair]
    manifold = workspace.manifold
    shapes = model.shapes
    rotation = workspace.shape_rotation[a]
    n = manifold.normal
    body_a, body_b = shapes.body[a], shapes.body[b]
    holder = workspace.body_rotation[body_b if pairs.reference[pair] == FACE_OF_B else body_a]
    for point in range(count):
        contact = first + point
        contacts.shape_a[contact] = a
        contacts.shape_b[contact] = b
        contacts.body_a[contact] = body_a
        contacts.body_b[contact] = body_b
        contacts.gap[contact] = manifold.gap[point]
        contacts.matched[contact] = -1
        to_body(manifold.point_a[point], workspace.local_rotation[a], shapes.position[a], contacts.local_a[contact])
        to_shape_b(manifold.point_b[point], workspace.scratch, contacts.local_b[contact])
        to_body(contacts.local_b[contact], workspace.local_rotation[b], shapes.position[b], contacts.local_b[contact])
        for i in range(3):
            middle = workspace.shape_position[a, i]
            for j in range(3):
                middle += 0.5 * rotation[i, j] * (manifold.point_a[point, j] + manifold.point_b[point, j])
            contacts.position[contact, i] = middle
            contacts.normal[contact, i] = rotation[i, 0] * n[0] + rotation[i, 1] * n[1] + rotation[i, 2] * n[2]
    if count > 0:
        world = contacts.normal[first]
        for i in range(3):
            pairs.normal[pair, i] = holder[0, i] * world[0] + holder[1, i] * world[1] + holder[2, i] * world[2]


@kernel
def to_body(point, rotation, position, result):
    """A point of a shape's frame in the frame of its body; ``result`` may be ``point``."""
    x, y, z = point
    for i in range(3):
        result[i] = position[i] + rotation[i, 0] * x + rotation[i, 1] * y + rotation[i, 2] * z


@kernel
def to_shape_b(point, scratch, result):
    """A point of the frame of shape a in that of shape b."""
    x, y, z = point
    r, t = scratch.inverse_rotation, scratch.inverse_translation
    for i in range(3):
        result[i] = t[i] + r[i, 0] * x + r[i, 1] * y + r[i, 2] * z


@kernel
def recycle_contacts(pairs, pair, previous_pairs, contacts, previous, workspace):
    """Carry the pair's contacts over with new gaps and positions."""
    old_pair = pairs.previous[pair]
    count = previous_pairs.contact_count[old_pair]
    first = contacts.count[0]
    contacts.needed[0] += count
    pairs.is_recycled[pair] = 1
    pairs.contact_start[pair] = first
    pairs.contact_count[pair] = 0
    pairs.reference[pair] = previous_pairs.reference[old_pair]
    pairs.feature[pair] = previous_pairs.feature[old_pair]
    pairs.reach[pair] = previous_pairs.reach[old_pair]
    pairs.normal[pair, :] = previous_pairs.normal[old_pair, :]
    pairs.translation[pair, :] = previous_pairs.translation[old_pair, :]
    pairs.rotation[pair, :, :] = previous_pairs.rotation[old_pair, :, :]
    if contacts.needed[0] > len(contacts.gap):
        return
    pairs.contact_count[pair] = count
    contacts.count[0] += count
    for point in range(count):
        recycle_contact(
            pairs, pair, first + point, previous_pairs.contact_start[old_pair] + point, contacts, previous, workspace
        )


@kernel
def recycle_contact(pairs, pair, contact, old, contacts, previous, workspace):
    """One contact: the same points of the bodies, their gap along the same normal."""
    a, b = previous.body_a[old], previous.body_b[old]
    contacts.shape_a[contact] = previous.shape_a[old]
    contacts.shape_b[contact] = previous.shape_b[old]
    contacts.body_a[contact] = a
    contacts.body_b[contact] = b
    contacts.matched[contact] = old
    contacts.local_a[contact, :] = previous.local_a[old, :]
    contacts.local_b[contact, :] = previous.local_b[old, :]
    holder = workspace.body_rotation[b if pairs.reference[pair] == FACE_OF_B else a]
    local_normal = pairs.normal[pair]
    gap = 0.0
    for i in range(3):
        lever_a, lever_b, normal = 0.0, 0.0, 0.0
        for j in range(3):
            lever_a += workspace.body_rotation[a, i, j] * previous.local_a[old, j]
            lever_b += workspace.body_rotation[b, i, j] * previous.local_b[old, j]
            normal += holder[i, j] * local_normal[j]
        apart = workspace.body_position[b, i] - workspace.body_position[a, i] + lever_b - lever_a
        contacts.normal[contact, i] = normal
        contacts.position[contact, i] = workspace.body_position[a, i] + lever_a + 0.5 * apart
        gap += normal * apart
    contacts.gap[contact] = gap
