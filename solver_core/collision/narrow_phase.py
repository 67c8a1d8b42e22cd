"""Stage ``narrow_phase``: contacts of every pair of shapes.

Reads poses (as ``broad_phase`` placed them), the pairs, and the last step's pairs and contacts; fills ``contacts``
except ``impulse`` and ``age``, and the rest of ``pairs``.

Contacts are recycled (as in Box2D v3): while two shapes have hardly moved against each other since their contacts were
made, the points and the normal stay fixed in the bodies and only gaps are measured anew. Contacts that stay are what
makes a scene still and warm starts exact. A recycled manifold misses nothing: contacts are made up to a gap ``reach``,
and kept only while what the shapes have moved since, and may move in this substep, is less.

Fast pairs get their contacts where they meet on their ways through the substep (``ways``).
"""

import numpy as np

from ..contacts import (
    CONTACT_COUNT,
    CONTACT_START,
    CURVED,
    DRIFT_COLUMNS,
    FEATURE,
    IS_RECYCLED,
    OLD_COUNT,
    OLD_PAIR,
    OLD_START,
    REFERENCE,
    STATUS_CAPACITY,
    STATUS_OK,
)
from ..entries import call_for_count
from ..kernel import kernel, subkernel
from .broad_phase import DYNAMIC
from .growth import drift_with_growth
from .mesh_pairs import (
    append_mesh_contacts,
    exchange_poses,
    hold_normals,
    set_mass_center,
    set_path,
)
from .mesh_tables import NEW_PATH, PATH, SPEED, STIRRED
from .polytope_contacts import polytope_contacts
from .ways import (
    RATIO_FAST,
    closest_approach,
    find_meeting,
    follow_pair,
    hold_centers,
    is_followed,
    measure_from_start,
    place_pair,
    way_change,
    way_lever,
)
from .workspace import (
    A_IN_B,
    B_IN_A,
    BODY_A,
    BODY_B,
    BOUNDING_RADIUS,
    BOX,
    CAPSULE,
    CONE,
    FACE_OF_B,
    GAP,
    GROWN,
    GROWS,
    IS_CURVED,
    LOOK,
    MESH,
    MESHES,
    NO_CONTACT,
    NORMAL,
    ORIGIN,
    ORIGIN_FEATURE,
    POINT_A,
    POINT_B,
    POSITION,
    RATIO_MARGIN,
    ROUND_SHAPES,
    SHAPE_A,
    SHAPE_B,
    SPHERE,
    SPHERES,
    SURPLUS,
)

# Points stay while the shapes have moved against each other by less than this share of the smaller one's size. It is
# also the angle [rad] by which a recycled normal may be off, and must be well below RATIO_MARGIN.
RATIO_RECYCLE = 0.002

# Likewise where a curved surface is touched. A body that rolls over points that stay turns about them as over the
# corners of a polygon and falls onto each next side, as if down a slope. Measured with the tolerance above, bodies of
# 1 m at 0.05 m/s on a level floor: a ball gained 4 mm/s each second, a cylinder 4, a capsule 8; with this one 1e-7.
RATIO_RECYCLE_CURVED = 2e-6

# Values of PairArrays.reach that recycle nothing: of contacts made on the way, and of pairs that pass each other.
NOT_KEPT = -1.0
SET_ASIDE = -2.0


@kernel
def narrow_phase(model, state, step, pairs, previous_pairs, contacts, previous, workspace, families):
    """Make or recycle the contacts of all pairs.

    Parameters
    ----------
    model : ModelArrays
        (read)
    state : StateArrays
        (read)
    step : NamedTuple with ``h`` [s], ``gravity_norm`` [m/s^2] and ``maximal_points``
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
    families : table of entries
        Of ``pair_families`` (read).

    Returns
    -------
    int
        ``STATUS_OK``, or ``STATUS_CAPACITY`` with ``needed`` set.
    """
    # Tuples are taken apart once: each time costs a count of references to all of their arrays.
    shapes, scratch, polytopes = model.shapes, workspace.scratch, workspace.polytopes
    body_of, kind, form = shapes.body, shapes.kind, workspace.form
    polytope, sizes, pose = workspace.polytope, workspace.size, scratch.pose
    local_pose, body_pose, shape_pose = workspace.local_pose, workspace.body_pose, workspace.shape_pose
    outlook, velocity = workspace.outlook, state.velocity
    meshes, mesh_of = workspace.meshes, shapes.hull
    fall = step.gravity_norm * step.h * step.h
    contacts.count[0] = 0
    contacts.needed[0] = 0
    # Not a plain 0: Numba would compile what it is passed to once more, for the literal.
    old = np.int64(0)
    for pair in range(pairs.count[0]):
        a, b, link = pairs.shape_a[pair], pairs.shape_b[pair], pairs.link[pair]
        size = min(sizes[a], sizes[b])
        # Seen from the larger shape: where its own far parts go does not matter.
        moving, other = (b, a) if sizes[a] >= sizes[b] else (a, b)
        with_mesh = kind[a] == MESH or kind[b] == MESH
        surface_speed = form[a, GROWS] + form[b, GROWS]
        is_stirred = surface_speed > 0.0 or form[a, GROWN] + form[b, GROWN] > 0.0
        if with_mesh:
            moving, other = (a, b) if kind[b] == MESH else (b, a)
            surface_speed = meshes.speed[mesh_of[other], SPEED]
            is_stirred = surface_speed > 0.0 or meshes.speed[mesh_of[other], STIRRED] > 0.0
        radius = form[moving, BOUNDING_RADIUS]
        lever = 0.0 if kind[moving] == SPHERE else radius
        approach = step.h * bound_approach(
            velocity, body_of[moving], body_of[other], body_pose, shape_pose[moving], lever
        )
        moves_a, moves_b = state.kind[body_of[a]] == DYNAMIC, state.kind[body_of[b]] == DYNAMIC
        if moves_a or moves_b:
            # Speeds may grow by g h before the bodies move.
            approach += fall
        approach += outlook[body_of[a], SURPLUS] + outlook[body_of[b], SURPLUS] + step.h * surface_speed
        old = find_previous(previous_pairs.shape_a, previous_pairs.shape_b, previous_pairs.count[0], a, b, old)
        link_previous(link, previous_pairs, a, b, old)
        place_pair(shape_pose[a], shape_pose[b], pose)
        if link[OLD_PAIR] >= 0 and not is_stirred:
            moved = relative_motion(pose, previous_pairs.pose[old], moving == b, radius)
            ratio = RATIO_RECYCLE_CURVED if previous_pairs.link[old, CURVED] == 1 else RATIO_RECYCLE
            # Nothing left out may come near, and what is there must still fit.
            if moved + approach <= previous_pairs.reach[old] and (link[OLD_COUNT] == 0 or moved <= ratio * size):
                recycle_contacts(pairs, pair, previous_pairs, contacts, previous, body_pose)
                continue
        reach = approach + RATIO_MARGIN * size
        if with_mesh:
            # Where the other moves fast, contacts are only looked for along its path.
            mesh_pose, probe = shape_pose[other], meshes.probe
            reach -= set_path(
                velocity,
                body_of[other],
                body_of[moving],
                body_pose,
                mesh_pose,
                shape_pose[moving],
                step.h,
                size,
                probe[PATH],
            )
            probe[NEW_PATH, 0], probe[NEW_PATH, 1], probe[NEW_PATH, 2] = 0.0, 0.0, 0.0
            if outlook[body_of[moving], LOOK] > 0.0:
                set_path(
                    outlook,
                    body_of[other],
                    body_of[moving],
                    body_pose,
                    mesh_pose,
                    shape_pose[moving],
                    step.h,
                    size,
                    probe[NEW_PATH],
                )
            set_mass_center(body_pose[body_of[moving]], mesh_pose, probe)
            remember_pose(pairs, pair, reach, pose)
            if other == b:
                exchange_poses(pose)
            sign = -1.0 if other == b else 1.0
            count = call_for_count(
                families,
                MESHES,
                meshes,
                polytopes,
                mesh_of[other],
                polytope[other],
                polytope[moving],
                kind[moving],
                form[moving],
                radius,
                way_lever(kind[moving], local_pose[moving], radius),
                size,
                step.maximal_points,
                hold_normals(link, previous.local_normal, sign, local_pose[other], probe),
                reach,
                link,
                scratch,
                families,
            )
            append_mesh_contacts(
                meshes,
                mesh_of[other],
                body_of,
                local_pose,
                shape_pose,
                pose,
                pairs,
                pair,
                other == b,
                count,
                contacts,
            )
            is_round = kind[moving] == SPHERE or CAPSULE <= kind[moving] <= CONE
            link[CURVED] = 1 if is_round and count > 0 else 0
            continue
        row_a, row_b, kind_a, kind_b = polytope[a], polytope[b], kind[a], kind[b]
        slack = way_slack(moves_a, moves_b, sizes[a], sizes[b], fall) + step.h * surface_speed
        share, is_new_way = 0.0, False
        lever_a = way_lever(kind_a, local_pose[a], form[a, BOUNDING_RADIUS])
        lever_b = way_lever(kind_b, local_pose[b], form[b, BOUNDING_RADIUS])
        if approach > RATIO_FAST * size and is_followed(kind_a, kind_b):
            share, is_new_way = find_meeting(
                polytopes,
                row_a,
                row_b,
                kind_a,
                kind_b,
                form[a],
                form[b],
                body_of[a],
                body_of[b],
                body_pose,
                local_pose[a],
                local_pose[b],
                velocity,
                outlook,
                lever_a,
                lever_b,
                step.h,
                size,
                slack,
                pose,
                scratch.axes,
                scratch.simplex,
                scratch.closest,
            )
        if share < 0.0:
            remember_pose(pairs, pair, SET_ASIDE, pose)
            link_contacts(link, contacts.count[0], np.int64(NO_CONTACT), np.int64(-1), np.int64(0))
            continue
        if share > 0.0:
            reach = (1.0 - share) * approach + RATIO_MARGIN * size + slack
            remember_pose(pairs, pair, NOT_KEPT, pose)
        else:
            take_poses(body_pose[body_of[a]], body_pose[body_of[b]], shape_pose[a], shape_pose[b], pose)
            remember_pose(pairs, pair, reach, pose)
        if kind_a == SPHERE or kind_b == SPHERE:
            scratch.feature[IS_CURVED] = 1
            count = call_for_count(
                families,
                SPHERES,
                polytopes,
                row_a,
                row_b,
                kind_a,
                kind_b,
                form[a],
                form[b],
                size,
                reach,
                scratch,
            )
        elif CAPSULE <= kind_a <= CONE or CAPSULE <= kind_b <= CONE:
            count = call_for_count(
                families,
                ROUND_SHAPES,
                polytopes,
                row_a,
                row_b,
                kind_a,
                kind_b,
                form[a],
                form[b],
                size,
                reach,
                step.maximal_points,
                link[REFERENCE],
                link[FEATURE],
                scratch,
            )
        else:
            scratch.feature[IS_CURVED] = 0
            count = polytope_contacts(
                polytopes,
                row_a,
                row_b,
                # A sheet asks for the rules of a hull: which side its pushes lead to.
                kind_a == BOX and kind_b == BOX and max(polytopes.flat_face[row_a], polytopes.flat_face[row_b]) < 0,
                form[a],
                form[b],
                size,
                reach,
                step.maximal_points,
                link[REFERENCE],
                link[FEATURE],
                scratch,
            )
        turns_through = step.h * closest_approach(velocity[body_of[a]], velocity[body_of[b]], lever_a, lever_b)
        if count > 0 and turns_through > RATIO_FAST * size:
            count = hold_centers(
                polytopes,
                row_a,
                row_b,
                kind_a,
                kind_b,
                form[a],
                form[b],
                local_pose[a],
                local_pose[b],
                lever_a,
                lever_b,
                moves_a,
                moves_b,
                reach,
                step.maximal_points,
                count,
                scratch,
            )
        append_contacts(body_of, local_pose, scratch, pairs, pair, count, contacts)
        if share > 0.0:
            way = outlook if is_new_way else velocity
            measure_from_start(
                contacts.position,
                contacts.normal,
                contacts.gap,
                contacts.drift,
                link[CONTACT_START],
                contacts.count[0],
                share,
                step.h,
                body_pose[body_of[a]],
                body_pose[body_of[b]],
                way[body_of[a]],
                way[body_of[b]],
                pose,
            )
        if surface_speed > 0.0:
            drift_with_growth(
                form,
                kind_a,
                kind_b,
                local_pose,
                shape_pose,
                a,
                b,
                contacts.local_a,
                contacts.local_b,
                contacts.drift,
                link[CONTACT_START],
                contacts.count[0],
            )
    if contacts.needed[0] > contacts.count[0]:
        return STATUS_CAPACITY
    return STATUS_OK


@subkernel
def meet_on_new_ways(model, state, start_velocity, step, pairs, workspace):
    """Whether shapes that were set aside meet after all, on the ways that contacts lead their bodies, or may.

    Parameters
    ----------
    model, state, step, workspace
        As of ``narrow_phase``; the state's velocity is the one after the contacts (read).
    start_velocity : float64 [B, 6]
        (read)
    pairs : PairArrays
        As ``narrow_phase`` left them (read).

    Returns
    -------
    bool
    """
    shapes, scratch, polytopes = model.shapes, workspace.scratch, workspace.polytopes
    kind, form, sizes, velocity = shapes.kind, workspace.form, workspace.size, state.velocity
    polytope, local_pose, body_pose = workspace.polytope, workspace.local_pose, workspace.body_pose
    for pair in range(pairs.count[0]):
        a, b = pairs.shape_a[pair], pairs.shape_b[pair]
        with_mesh = kind[a] == MESH or kind[b] == MESH
        if pairs.reach[pair] != SET_ASIDE and not with_mesh:
            continue
        body_a, body_b = shapes.body[a], shapes.body[b]
        lever_a = way_lever(kind[a], local_pose[a], form[a, BOUNDING_RADIUS])
        lever_b = way_lever(kind[b], local_pose[b], form[b, BOUNDING_RADIUS])
        moves_a, moves_b = state.kind[body_a] == DYNAMIC, state.kind[body_b] == DYNAMIC
        slack = way_slack(moves_a, moves_b, sizes[a], sizes[b], step.gravity_norm * step.h * step.h)
        slack += step.h * (form[a, GROWS] + form[b, GROWS])
        changed = way_change(start_velocity[body_a], velocity[body_a], lever_a)
        changed += way_change(start_velocity[body_b], velocity[body_b], lever_b)
        if step.h * changed <= slack:
            continue
        if with_mesh:
            # Which triangles it meets then is found out when contacts are made.
            speed = closest_approach(velocity[body_a], velocity[body_b], lever_a, lever_b)
            if step.h * speed > RATIO_FAST * min(sizes[a], sizes[b]):
                return True
            continue
        share = follow_pair(
            polytopes,
            polytope[a],
            polytope[b],
            kind[a],
            kind[b],
            form[a],
            form[b],
            body_pose[body_a],
            body_pose[body_b],
            local_pose[a],
            local_pose[b],
            velocity[body_a],
            velocity[body_b],
            lever_a,
            lever_b,
            step.h,
            min(sizes[a], sizes[b]),
            slack,
            scratch.pose,
            scratch.axes,
            scratch.simplex,
            scratch.closest,
        )
        if share >= 0.0:
            return True
    return False


@subkernel
def way_slack(moves_a, moves_b, size_a, size_b, fall):
    """How far two bodies may be off their ways without contacts being looked for once more [m]."""
    slack = fall
    if moves_a:
        slack += RATIO_MARGIN * size_a
    if moves_b:
        slack += RATIO_MARGIN * size_b
    return slack


@subkernel
def take_poses(body_a, body_b, shape_a, shape_b, pose):
    """Contacts are made from the poses at the start."""
    for i in range(4):
        for j in range(3):
            pose[BODY_A, i, j] = body_a[i, j]
            pose[BODY_B, i, j] = body_b[i, j]
            pose[SHAPE_A, i, j] = shape_a[i, j]
            pose[SHAPE_B, i, j] = shape_b[i, j]
    place_pair(shape_a, shape_b, pose)


@subkernel
def find_previous(shape_a, shape_b, count, a, b, old):
    """Go on in the last step's list, sorted like this one, to the first pair that is not before (a, b)."""
    while old < count and (shape_a[old] < a or (shape_a[old] == a and shape_b[old] < b)):
        old += 1
    return old


@subkernel
def link_previous(link, previous_pairs, a, b, old):
    """Note the same pair of the last step, if there is one; REFERENCE and FEATURE start as they were."""
    is_same = old < previous_pairs.count[0] and previous_pairs.shape_a[old] == a and previous_pairs.shape_b[old] == b
    link[OLD_PAIR] = old if is_same else -1
    link[OLD_START] = previous_pairs.link[old, CONTACT_START] if is_same else 0
    link[OLD_COUNT] = previous_pairs.link[old, CONTACT_COUNT] if is_same else 0
    link[REFERENCE] = previous_pairs.link[old, REFERENCE] if is_same else NO_CONTACT
    link[FEATURE] = previous_pairs.link[old, FEATURE] if is_same else -1


@subkernel
def bound_approach(velocity, moving, other, body_pose, shape_pose, radius):
    """Speed at which points within ``radius`` of the moving body's shape may come nearer to the other body.

    The relative velocity at the shape's position, and what the relative spin adds around it. That of a ball adds
    nothing: a turn about its centre changes no distance from it.

    Parameters
    ----------
    velocity : float64 [B, 6]
        (read)
    moving, other : int
        Bodies.
    body_pose, shape_pose : float64 [B, 4, 3], [4, 3]
        World poses; of the moving body's shape (read).
    radius : float
        [m]

    Returns
    -------
    float
        [m/s]
    """
    speed, spin = 0.0, 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        along = velocity[moving, i] - velocity[other, i]
        # omega x arm, of either body about its centre of mass
        along += velocity[moving, 3 + j] * (shape_pose[POSITION, k] - body_pose[moving, POSITION, k])
        along -= velocity[moving, 3 + k] * (shape_pose[POSITION, j] - body_pose[moving, POSITION, j])
        along -= velocity[other, 3 + j] * (shape_pose[POSITION, k] - body_pose[other, POSITION, k])
        along += velocity[other, 3 + k] * (shape_pose[POSITION, j] - body_pose[other, POSITION, j])
        speed += along * along
        spin += (velocity[moving, 3 + i] - velocity[other, 3 + i]) ** 2
    return speed**0.5 + spin**0.5 * radius


@subkernel
def relative_motion(pose, before, is_b, radius):
    """How far any point of shape b (else a) may have moved in the frame of the other since the pose ``before``."""
    # |R - R0| = 2 sqrt(2) sin(angle / 2) in the Frobenius norm
    square, shift = 0.0, 0.0
    for i in range(3):
        for j in range(3):
            square += (pose[B_IN_A, i, j] - before[i, j]) ** 2
        if is_b:
            shift += (pose[B_IN_A, POSITION, i] - before[POSITION, i]) ** 2
        else:
            x = before[0, i] * before[POSITION, 0] + before[1, i] * before[POSITION, 1]
            x += before[2, i] * before[POSITION, 2]
            shift += (pose[A_IN_B, POSITION, i] + x) ** 2
    return shift**0.5 + (0.5 * square) ** 0.5 * radius


@subkernel
def remember_pose(pairs, pair, reach, pose):
    """Note from where and how far out the pair's contacts are made."""
    pairs.link[pair, IS_RECYCLED] = 0
    pairs.reach[pair] = reach
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
def append_contacts(body_of, local_pose, scratch, pairs, pair, count, contacts):
    """Write the manifold in the scratch behind the contacts there are; beyond the capacity it is only counted."""
    link = pairs.link[pair]
    first = contacts.count[0]
    contacts.needed[0] += count
    if count > 0:
        link_contacts(link, first, scratch.feature[ORIGIN], scratch.feature[ORIGIN_FEATURE], scratch.feature[IS_CURVED])
    else:
        link_contacts(link, first, np.int64(NO_CONTACT), np.int64(-1), np.int64(0))
    if contacts.needed[0] > len(contacts.gap) or count == 0:
        return
    link[CONTACT_COUNT] = count
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
    for i in range(4):
        for j in range(3):
            pairs.pose[pair, i, j] = previous_pairs.pose[old_pair, i, j]
    if contacts.needed[0] > len(contacts.gap):
        return
    link[CONTACT_COUNT] = count
    contacts.count[0] += count
    for contact in range(first, first + count):
        old = link[OLD_START] + contact - first
        a, b = previous.body_a[old], previous.body_b[old]
        contacts.shape_a[contact] = pairs.shape_a[pair]
        contacts.shape_b[contact] = pairs.shape_b[pair]
        contacts.body_a[contact] = a
        contacts.body_b[contact] = b
        contacts.matched[contact] = old
        for i in range(3):
            contacts.local_a[contact, i] = previous.local_a[old, i]
            contacts.local_b[contact, i] = previous.local_b[old, i]
            contacts.local_normal[contact, i] = previous.local_normal[old, i]
        for column in range(DRIFT_COLUMNS):
            contacts.drift[contact, column] = 0.0
        holder = body_pose[b if link[REFERENCE] == FACE_OF_B else a]
        turn_vector(holder, contacts.local_normal[contact], contacts.normal[contact])
        contacts.gap[contact] = measure_gap(
            body_pose[a],
            body_pose[b],
            contacts.local_a[contact],
            contacts.local_b[contact],
            contacts.normal[contact],
            contacts.position[contact],
        )


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
