"""Stage ``narrow_phase``: contacts of every pair of shapes.

Reads poses (as ``broad_phase`` placed them), the pairs, and the last step's pairs and contacts; fills ``contacts``
except ``impulse`` and ``age``, and the rest of ``pairs``.

Contacts are recycled (as in Box2D v3): while two shapes have hardly moved against each other since their contacts were
made, the points and the normal stay fixed in the bodies and only gaps are measured anew. Contacts that stay are what
makes a scene still and warm starts exact. A recycled manifold misses nothing: contacts are made up to a gap ``reach``,
and kept only while what the shapes have moved since, and may move in this substep, is less.

A later look at a substep has the same poses: what the look before it made is taken over where the reach that is asked
for now would change nothing (``left_out``).

Fast pairs get their contacts where they meet on their ways through the substep (``ways``).

Rows are linear, but bodies turn, and where an edge was nearest a corner may hit. So where a solution leads two shapes
into each other though its rows forbid no such thing, contacts of the poses at its end are added to those of the start
(LOOK_AT_ENDS): a step of Newton's method for the gaps as they are. Of meshes only those that turn are looked at.
"""

import numpy as np

from ..contacts import (
    CONTACT_COUNT,
    CONTACT_START,
    CURVED,
    FEATURE,
    MET_AT_END,
    OLD_COUNT,
    OLD_PAIR,
    OLD_START,
    REFERENCE,
    STATUS_CAPACITY,
    STATUS_OK,
    STATUS_TURNED,
)
from ..entries import call_for_count
from ..kernel import borrowed, kernel, subkernel
from .broad_phase import DYNAMIC
from .contact_buffers import (
    append_contacts,
    forget_motion,
    link_contacts,
    recycle_contacts,
    remember_pose,
    repeat_contacts_of_end,
    take_over_contacts,
)
from .growth import drift_with_growth
from .looks import RATIO_TURNED_INTO
from .mesh_pairs import (
    append_mesh_contacts,
    exchange_poses,
    hold_normals,
    set_centers,
    set_path,
)
from .mesh_round import least_gap
from .mesh_tables import NEW_PATH, PATH, SPEED, STIRRED
from .new_ways import SET_ASIDE, way_slack
from .polytope_contacts import polytope_contacts
from .previous_pairs import find_previous, first_candidate, link_previous, relative_motion, would_be_same
from .ways import (
    INFINITE,
    RATIO_APART,
    RATIO_FAST,
    closest_approach,
    find_meeting,
    hold_centers,
    is_followed,
    keep_apart_at_end,
    measure_from_start,
    overlap_at_start,
    place_pair,
    predicted_gap,
    way_lever,
)
from .workspace import (
    BODY_A,
    BODY_B,
    BOUNDING_RADIUS,
    BOX,
    CAPSULE,
    CONE,
    DEEP,
    GAP,
    GROWN,
    GROWS,
    IS_CURVED,
    LOOK,
    MESH,
    MESHES,
    NO_CONTACT,
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
# corners of a polygon and falls onto each next side, as if down a slope: a ball of 1 m at 0.05 m/s on a level floor
# gained 4 mm/s each second with the tolerance above. At rest it is a pendulum upside down on its point: rounding grows
# like exp(t sqrt(5 g / 7 r)) until the point is taken anew, d from where it was, and leaves it d sqrt(5 g / 7 r). With
# d = 2e-6 of the size a ball of 1 cm rolled 9e-4 of its size in 10 s; with this one a hundredth.
RATIO_RECYCLE_CURVED = 2e-8

# Where a solution leads shapes into each other (RATIO_TURNED_INTO), all contacts are taken that are near at its end and
# of which the rows of the start are wrong by this share of the smaller one's size.
RATIO_TOLD = 2e-4

# Values of ``part``.
MAKE_CONTACTS = 0
LOOK_AT_ENDS = 1
# As ``end_pair``: all pairs.
ALL_PAIRS = np.iinfo(np.int64).max

# A value of PairArrays.reach that recycles nothing, like SET_ASIDE: of contacts made on the way.
NOT_KEPT = -1.0


@kernel(inline=True)
def narrow_phase(
    model,
    state,
    step,
    pairs,
    previous_pairs,
    looked_pairs,
    contacts,
    previous,
    looked,
    workspace,
    families,
    part,
    first_pair,
    end_pair,
):
    """Make or recycle the contacts of all pairs; or say whether a solution leads shapes into each other unseen.

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
    looked_pairs : PairArrays
        Of the last look at this substep (read, but in the first look).
    contacts : ContactArrays
        Written, but for ``impulse`` and ``age``.
    previous, looked : ContactArrays
        Of the last step, and of the last look (read).
    workspace : CollisionWorkspace
        Poses of this step (read), scratch (written).
    families : table of entries
        Of ``pair_families`` (read).
    part : int64
        MAKE_CONTACTS; or LOOK_AT_ENDS: the state's velocity is the one after the contacts that there are, of which
        ``remember_look`` was told. Then only scratch is written. One kernel for both, so that the contacts of all kinds
        of shapes are compiled once.
    first_pair, end_pair : int64
        Only these pairs are looked at; an end beyond the last one is the last one's. Their contacts come behind those
        that there are.

    Returns
    -------
    int
        ``STATUS_OK``; ``STATUS_CAPACITY`` with ``needed`` set; STATUS_TURNED where shapes are led into each other that
        the rows do not keep apart.
    """
    # Borrowed, and taken apart once: each time costs a count of references to all of their arrays.
    model, state, workspace = borrowed(model), borrowed(state), borrowed(workspace)
    pairs, previous_pairs = borrowed(pairs), borrowed(previous_pairs)
    contacts, previous = borrowed(contacts), borrowed(previous)
    looked_pairs, looked = borrowed(looked_pairs), borrowed(looked)
    shapes, scratch, polytopes = model.shapes, workspace.scratch, workspace.polytopes
    body_of, kind, form = shapes.body, shapes.kind, workspace.form
    point, normal, gap, drift = contacts.position, contacts.normal, contacts.gap, contacts.drift
    polytope, sizes, pose = workspace.polytope, workspace.size, scratch.pose
    local_pose, body_pose, shape_pose = workspace.local_pose, workspace.body_pose, workspace.shape_pose
    body_end, shape_end = workspace.body_end, workspace.shape_end
    outlook, velocity = workspace.outlook, state.velocity
    meshes, mesh_of = workspace.meshes, shapes.hull
    fall = step.gravity_norm * step.h * step.h
    only_ends = part == LOOK_AT_ENDS
    # Where the last solution leads.
    led = velocity if only_ends else outlook
    # Not a plain 0: Numba would compile what it is passed to once more, for the literal.
    old, seen = np.int64(0), np.int64(0)
    if not only_ends and first_pair > 0:
        old = first_candidate(previous_pairs.shape_a, previous_pairs.count[0], pairs.shape_a[first_pair])
        seen = first_candidate(looked_pairs.shape_a, looked_pairs.count[0], pairs.shape_a[first_pair])
    for pair in range(first_pair, min(end_pair, pairs.count[0])):
        a, b, link = pairs.shape_a[pair], pairs.shape_b[pair], pairs.link[pair]
        body_a, body_b = body_of[a], body_of[b]
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
        row_a, row_b, kind_a, kind_b = polytope[a], polytope[b], kind[a], kind[b]
        radius = form[moving, BOUNDING_RADIUS]
        lever = 0.0 if kind[moving] == SPHERE else radius
        looks_at_end = only_ends or outlook[body_a, LOOK] > 0.0
        if with_mesh:
            # Only where the mesh turns: its contacts cost more than those of others, and their rows seldom tell less.
            is_turning = step.h * spin_of(led[body_of[other]]) > RATIO_TURNED_INTO
            looks_at_end = looks_at_end and is_turning and not is_stirred
        looks_at_end = looks_at_end and outlook[body_a, DEEP] + outlook[body_b, DEEP] == 0.0
        # Held by contacts of the end, a pair is led elsewhere; without them it would be led there again.
        is_held = looks_at_end and not only_ends and link[MET_AT_END] > 0
        way = 0.0
        if looks_at_end and not is_held:
            way = bound_approach(led, body_of[moving], body_of[other], body_pose, shape_pose[moving], lever)
            looks_at_end = step.h * way > (RATIO_TURNED_INTO if only_ends else RATIO_TOLD) * size
        if only_ends and not looks_at_end:
            continue
        is_plain, reach_at_end = not (with_mesh or is_stirred), 0.0 if only_ends else RATIO_MARGIN * size
        lever_a = way_lever(kind_a, local_pose[a], form[a, BOUNDING_RADIUS])
        lever_b = way_lever(kind_b, local_pose[b], form[b, BOUNDING_RADIUS])
        # What two points can come nearer at the most, however their bodies turn.
        nearer = 0.0
        if is_held:
            nearer = INFINITE
        elif looks_at_end:
            nearer = step.h * closest_approach(led[body_a], led[body_b], lever_a, lever_b) + reach_at_end
        if only_ends and is_plain and stays_apart(link, pairs.left_out[pair], nearer):
            continue
        moves_a, moves_b = state.kind[body_a] == DYNAMIC, state.kind[body_b] == DYNAMIC
        is_at_end, share, is_new_way, reach = only_ends, 0.0, False, 0.0
        if not only_ends:
            approach = step.h * bound_approach(
                velocity, body_of[moving], body_of[other], body_pose, shape_pose[moving], lever
            )
            if moves_a or moves_b:
                # Speeds may grow by g h before the bodies move.
                approach += fall
            approach += outlook[body_a, SURPLUS] + outlook[body_b, SURPLUS] + step.h * surface_speed
            old = find_previous(previous_pairs.shape_a, previous_pairs.shape_b, previous_pairs.count[0], a, b, old)
            link_previous(link, previous_pairs, a, b, old)
            is_there = False
            if is_plain and outlook[body_a, LOOK] > 0.0:
                seen = find_previous(looked_pairs.shape_a, looked_pairs.shape_b, looked_pairs.count[0], a, b, seen)
                reach = approach + RATIO_MARGIN * size
                is_there = approach <= RATIO_FAST * size and would_be_same(looked_pairs, a, b, seen, reach)
            if is_there:
                take_over_contacts(looked_pairs, seen, looked, pairs, pair, contacts)
                pairs.reach[pair] = reach
            else:
                place_pair(shape_pose[a], shape_pose[b], pose)
            if not is_there and link[OLD_PAIR] >= 0 and not is_stirred:
                moved = relative_motion(pose, previous_pairs.pose[old], moving == b, radius)
                ratio = RATIO_RECYCLE_CURVED if previous_pairs.link[old, CURVED] == 1 else RATIO_RECYCLE
                # Nothing left out may come near, and what is there must still fit.
                nearest = previous_pairs.reach[old]
                if link[OLD_COUNT] == 0 and approach <= RATIO_FAST * size:
                    nearest = max(nearest, previous_pairs.left_out[old] - RATIO_MARGIN * size)
                if moved + approach <= nearest and (link[OLD_COUNT] == 0 or moved <= ratio * size):
                    recycle_contacts(pairs, pair, previous_pairs, contacts, previous, body_pose)
                    if is_plain and link[OLD_COUNT] == 0:
                        forget_motion(pairs, pair, moved, pose)
                    is_there = True
            if is_there:
                if not looks_at_end:
                    continue
                if is_plain and stays_apart(link, pairs.left_out[pair], nearer):
                    continue
                is_at_end = True
            reach = approach + RATIO_MARGIN * size
        while with_mesh:
            mesh_pose, probe = shape_pose[other], meshes.probe
            set_centers(shape_pose[moving], body_pose[body_of[moving]], mesh_pose, probe)
            first, held, normals = link[OLD_START], link[OLD_COUNT], previous.local_normal
            if is_at_end:
                # What has gone through a sheet is looked for as far behind it as it may have come.
                reach = RATIO_MARGIN * size + min(step.h * way, 0.5 * size)
                take_poses(body_end[body_a], body_end[body_b], shape_end[a], shape_end[b], pose)
                mesh_pose = pose[SHAPE_B] if other == b else pose[SHAPE_A]
                if link[CONTACT_COUNT] > 0:
                    # What is led through a sheet belongs on the side on which it has been.
                    first, held, normals = link[CONTACT_START], link[CONTACT_COUNT], contacts.local_normal
            for i in range(3):
                probe[PATH, i], probe[NEW_PATH, i] = 0.0, 0.0
            if not is_at_end:
                # Where the other moves fast, contacts are only looked for along its path.
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
                hold_normals(first, held, normals, sign, local_pose[other], probe),
                reach,
                link,
                scratch,
                families,
            )
            if is_at_end:
                told = predicted_gap(point, normal, gap, drift, link, step.h, body_a, body_b, body_pose, led)
                deepest = least_gap(meshes.contact, np.int64(0), count)
                if told - deepest <= RATIO_TOLD * size or (only_ends and deepest > -RATIO_TURNED_INTO * size):
                    break
                if only_ends:
                    return STATUS_TURNED
                pairs.reach[pair] = pairs.left_out[pair] = NOT_KEPT
            first = contacts.count[0]
            append_mesh_contacts(
                meshes,
                mesh_of[other],
                body_of,
                local_pose,
                mesh_pose,
                pose,
                pairs,
                pair,
                other == b,
                count,
                is_at_end,
                contacts,
            )
            if is_at_end:
                measure_from_start(
                    point,
                    normal,
                    gap,
                    drift,
                    first,
                    contacts.count[0],
                    1.0,
                    step.h,
                    body_pose[body_a],
                    body_pose[body_b],
                    led[body_a],
                    led[body_b],
                    RATIO_FAST * size if moves_a and moves_b else 0.0,
                    0.0,
                    pose,
                )
            else:
                is_round = kind[moving] == SPHERE or CAPSULE <= kind[moving] <= CONE
                link[CURVED] = 1 if is_round and count > 0 else 0
            if is_at_end or not looks_at_end:
                break
            is_at_end = True
        if with_mesh:
            continue
        if not is_at_end:
            slack = way_slack(moves_a, moves_b, sizes[a], sizes[b], fall) + step.h * surface_speed
            if approach > RATIO_FAST * size and is_followed(kind_a, kind_b):
                share, is_new_way = find_meeting(
                    polytopes,
                    row_a,
                    row_b,
                    kind_a,
                    kind_b,
                    form[a],
                    form[b],
                    body_a,
                    body_b,
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
                take_poses(body_pose[body_a], body_pose[body_b], shape_pose[a], shape_pose[b], pose)
                remember_pose(pairs, pair, reach, pose)
        told, enough = INFINITE, INFINITE
        while True:
            if is_at_end:
                share, is_new_way, reach = 1.0, True, reach_at_end
                place_pair(shape_end[a], shape_end[b], pose)
                told = predicted_gap(point, normal, gap, drift, link, step.h, body_a, body_b, body_pose, led)
                # What is not deeper needs no contacts of the end, or no others than it has.
                enough = told - RATIO_TOLD * size
                if only_ends or is_held:
                    enough = min(enough, -RATIO_TURNED_INTO * size)
            left_out = reach
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
                    enough,
                    step.maximal_points,
                    link[REFERENCE],
                    link[FEATURE],
                    scratch,
                )
                left_out = scratch.left_out[0]
            turns_through = step.h * closest_approach(velocity[body_a], velocity[body_b], lever_a, lever_b)
            if share == 0.0 and turns_through <= RATIO_FAST * size:
                pairs.left_out[pair] = left_out
            if count > 0 and turns_through > RATIO_FAST * size and not is_at_end:
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
            if is_at_end:
                deepest = reach
                for contact in range(count):
                    deepest = min(deepest, scratch.contact[contact, GAP])
                is_clear = told - deepest <= RATIO_TOLD * size or count == 0
                if only_ends or is_held:
                    is_clear = is_clear or deepest > -RATIO_TURNED_INTO * size
                if is_clear and not is_held:
                    break
                if only_ends:
                    return STATUS_TURNED
                # Made at the end, they hold in this substep only.
                pairs.reach[pair], pairs.left_out[pair] = NOT_KEPT, NOT_KEPT
                if is_clear:
                    repeat_contacts_of_end(link, looked, contacts)
                    break
                link[MET_AT_END] = count
                take_poses(body_end[body_a], body_end[body_b], shape_end[a], shape_end[b], pose)
            first = contacts.count[0]
            depth = overlap_at_start(gap, link[CONTACT_START], first) if is_at_end else 0.0
            append_contacts(body_of, local_pose, scratch, pairs, pair, count, is_at_end, contacts)
            if share > 0.0:
                way_to = outlook if is_new_way else velocity
                measure_from_start(
                    point,
                    normal,
                    gap,
                    drift,
                    first,
                    contacts.count[0],
                    share,
                    step.h,
                    body_pose[body_a],
                    body_pose[body_b],
                    way_to[body_a],
                    way_to[body_b],
                    RATIO_FAST * size if moves_a and moves_b else 0.0,
                    -INFINITE if is_at_end and depth <= RATIO_APART * size else 0.0,
                    pose,
                )
            if is_at_end:
                keep_apart_at_end(gap, drift, depth, first, contacts.count[0], size)
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
                    drift,
                    first,
                    contacts.count[0],
                )
            if is_at_end or not looks_at_end:
                break
            if is_plain and stays_apart(link, pairs.left_out[pair], nearer):
                break
            is_at_end = True
    if contacts.needed[0] > contacts.count[0]:
        return STATUS_CAPACITY
    return STATUS_OK


@subkernel
def stays_apart(link, distance, nearer):
    """Whether a pair has no contacts and is too far apart for any."""
    return link[CONTACT_COUNT] == 0 and nearer <= distance


@subkernel
def take_poses(body_a, body_b, shape_a, shape_b, pose):
    """Contacts are made from these poses."""
    for i in range(4):
        for j in range(3):
            pose[BODY_A, i, j] = body_a[i, j]
            pose[BODY_B, i, j] = body_b[i, j]
            pose[SHAPE_A, i, j] = shape_a[i, j]
            pose[SHAPE_B, i, j] = shape_b[i, j]
    place_pair(shape_a, shape_b, pose)


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
def spin_of(velocity):
    """Angular speed [rad/s]."""
    return (velocity[3] ** 2 + velocity[4] ** 2 + velocity[5] ** 2) ** 0.5
