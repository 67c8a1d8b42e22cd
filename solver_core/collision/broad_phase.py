"""Stage ``broad_phase``: pairs of shapes that may touch within the substep.

Reads poses and velocities; fills the workspace's poses and bounds and ``shape_a``, ``shape_b`` of the pairs, sorted.

The pairs are found in a tree of bounding boxes (``aabb_tree``), kept from substep to substep. The list is sorted at the
end and does not depend on the tree's shape: a repeated frame gives the same bits.
"""

import numpy as np

from ..compiled.kernel import kernel, subkernel
from ..model.state import DYNAMIC
from .data.contact_arrays import STATUS_CAPACITY, STATUS_OK
from .data.workspace import CONE, CYLINDER, POSITION, SPHERE, is_round
from .distance.aabb_tree import VISITS, find_overlapping_leaves, refit_tree, update_tree


@kernel(inline=True)
def broad_phase(model, state, step, pairs, workspace):
    """Find the pairs of shapes whose bounds, grown by this substep's motion, overlap.

    Parameters
    ----------
    model : ModelArrays
        (read)
    state : StateArrays
        (read)
    step : NamedTuple with ``h`` [s] and ``gravity_norm`` [m/s^2]
        (read)
    pairs : PairArrays
        ``count``, ``needed``, ``shape_a`` and ``shape_b`` written, in the order of ``(shape_a, shape_b)``.
    workspace : CollisionWorkspace
        Poses and bounds written.

    Returns
    -------
    int
        ``STATUS_OK``, or ``STATUS_CAPACITY`` with ``needed`` set and no pair.
    """
    shapes = model.shapes
    tree = workspace.tree
    place_bodies(state.position, state.orientation, workspace.body_pose)
    place_shapes(shapes.body, workspace.body_pose, workspace.local_pose, workspace.shape_pose)
    # Not a plain number: Numba would compile what it is passed to once for each literal.
    all_slack = np.float64(1.0)
    bound_shapes(shapes, state.kind, state.velocity, step.h, step.gravity_norm * step.h * step.h, all_slack, workspace)
    mark_active(shapes.body, state.kind, tree.is_active)
    update_tree(tree)
    found = find_overlapping_leaves(tree, pairs.scratch)
    pairs.needed[0] = found
    if found > len(pairs.shape_a):
        pairs.count[0] = 0
        return STATUS_CAPACITY
    found = keep_colliding(model, shapes.body, tree.bounds, tree.margin, all_slack, pairs.scratch, found)
    pairs.count[0] = found
    sort_pairs(pairs.scratch, found, pairs.shape_a, pairs.shape_b, tree.bucket)
    return STATUS_OK


@subkernel(inline=True)
def find_unseen_pair(model, body_kind, velocity, h, pairs, workspace):
    """Whether a solution leads shapes towards each other that are no pair yet.

    Their bounds along the motion that it gives overlap: as in ``broad_phase``, but without slack for what is not known
    there. One of them belongs to a body that goes elsewhere than it was looked for (``is_diverted``): what the others
    may meet of each other has been found.

    Parameters
    ----------
    model : ModelArrays
        (read)
    body_kind : int64 [B]
        (read)
    velocity : float64 [B, 6]
        That moves the bodies through the substep (read).
    h : float
        [s].
    pairs : PairArrays
        As ``broad_phase`` found them (read); scratch written.
    workspace : CollisionWorkspace
        Poses read, tree written.

    Returns
    -------
    bool
    """
    shapes, tree = model.shapes, workspace.tree
    no_slack = np.float64(0.0)
    bound_shapes(shapes, body_kind, velocity, h, no_slack, no_slack, workspace)
    is_diverted = workspace.predicted.is_diverted
    for shape in range(len(tree.is_active)):
        tree.is_active[shape] = 1 if is_diverted[shapes.body[shape]] else 0
    refit_tree(tree.bounds, tree.margin, tree.is_active, tree.node, tree.box)
    # how worn the tree is, a search for all pairs tells
    visits = tree.record[VISITS]
    found = find_overlapping_leaves(tree, pairs.scratch)
    tree.record[VISITS] = visits
    if found > len(pairs.shape_a):
        return True
    found = keep_colliding(model, shapes.body, tree.bounds, tree.margin, no_slack, pairs.scratch, found)
    for pair_number in range(found):
        one, two = pairs.scratch[0, pair_number], pairs.scratch[1, pair_number]
        if not is_pair(pairs, one, two) and not _stay_apart(shapes, velocity, h, one, two, workspace):
            return True
    return False


@subkernel
def _stay_apart(shapes, velocity, h, one, two, workspace):
    """Whether two shapes stay apart all through the substep, as seen along some axis of either.

    Of turned boxes half of those whose bounds overlap do.
    """
    slack = 0.0
    for shape in (one, two):
        slack += _turning(shapes.body[shape], velocity, h, shape, shapes.kind[shape], workspace)
        slack += h * workspace.shape_parameters.surface_speed[shape]
    a, b = shapes.body[one], shapes.body[two]
    for shape in (one, two):
        for axis in range(3):
            pose = workspace.shape_pose[shape]
            x, y, z = pose[0, axis], pose[1, axis], pose[2, axis]
            lower_1, upper_1 = _extent_along(shapes.kind[one], one, (x, y, z), workspace)
            lower_2, upper_2 = _extent_along(shapes.kind[two], two, (x, y, z), workspace)
            way = x * (velocity[b, 0] - velocity[a, 0]) + y * (velocity[b, 1] - velocity[a, 1])
            way = h * (way + z * (velocity[b, 2] - velocity[a, 2]))
            if max(lower_2 + min(way, 0.0) - upper_1, lower_1 - upper_2 - max(way, 0.0)) > slack:
                return True
    return False


@subkernel
def _extent_along(kind, shape, direction, workspace):
    """Least and largest coordinate of a shape, or of what bounds it, along a direction."""
    pose = workspace.shape_pose[shape]
    x, y, z = direction
    center = x * pose[POSITION, 0] + y * pose[POSITION, 1] + z * pose[POSITION, 2]
    if is_round(kind):
        cosine = x * pose[0, 2] + y * pose[1, 2] + z * pose[2, 2]
        lower, upper = round_extent(kind, workspace.shape_parameters.parameters[shape], cosine)
        return center + lower, center + upper
    half, extent = 0.0, workspace.polytopes.bounds[workspace.polytope[shape]]
    for axis in range(3):
        share = x * pose[0, axis] + y * pose[1, axis] + z * pose[2, axis]
        center += share * 0.5 * (extent[0, axis] + extent[1, axis])
        half += abs(share) * 0.5 * (extent[1, axis] - extent[0, axis])
    return center - half, center + half


@subkernel
def is_pair(pairs, a, b):
    """Whether two shapes are in a list of pairs, by bisection."""
    low, high = np.int64(0), pairs.count[0]
    while low < high:
        middle = (low + high) // 2
        if pairs.shape_a[middle] < a or (pairs.shape_a[middle] == a and pairs.shape_b[middle] < b):
            low = middle + 1
        else:
            high = middle
    return low < pairs.count[0] and pairs.shape_a[low] == a and pairs.shape_b[low] == b


@subkernel
def place_bodies(position, orientation, body_pose):
    """Write the world poses of the bodies as rotation matrix and position."""
    for body in range(len(body_pose)):
        w, x, y, z = orientation[body]
        pose = body_pose[body]
        pose[0, 0] = 1.0 - 2.0 * (y * y + z * z)
        pose[0, 1] = 2.0 * (x * y - w * z)
        pose[0, 2] = 2.0 * (x * z + w * y)
        pose[1, 0] = 2.0 * (x * y + w * z)
        pose[1, 1] = 1.0 - 2.0 * (x * x + z * z)
        pose[1, 2] = 2.0 * (y * z - w * x)
        pose[2, 0] = 2.0 * (x * z - w * y)
        pose[2, 1] = 2.0 * (y * z + w * x)
        pose[2, 2] = 1.0 - 2.0 * (x * x + y * y)
        for i in range(3):
            pose[POSITION, i] = position[body, i]


@subkernel
def place_shapes(body_of, body_pose, local_pose, shape_pose):
    """Write the world poses of the shapes: their bodies' poses times their own."""
    for shape in range(len(shape_pose)):
        pose = body_pose[body_of[shape]]
        for i in range(3):
            at = pose[POSITION, i]
            for j in range(3):
                at += pose[i, j] * local_pose[shape, POSITION, j]
                shape_pose[shape, i, j] = (
                    pose[i, 0] * local_pose[shape, 0, j]
                    + pose[i, 1] * local_pose[shape, 1, j]
                    + pose[i, 2] * local_pose[shape, 2, j]
                )
            shape_pose[shape, POSITION, i] = at


@subkernel(inline=True)
def bound_shapes(shapes, body_kind, velocity, h, fall, slack_share, workspace):
    """Write the bounds of every shape along the substep.

    That is the box of the shape at the start, moved along by the velocity, and larger all around by what spin, growth,
    gravity and other bodies may add: a dynamic body's speed may grow by g h before it moves, even from rest.

    Parameters
    ----------
    shapes : ShapeArrays
        Of the model (read).
    body_kind : int64 [B]
        (read)
    velocity : float64 [B, 6]
        (read)
    h : float
        [s].
    fall : float
        How far a body may go by gravity alone [m].
    slack_share : float
        Share of the surplus that counts: 1, or 0 where the velocities are those after the contacts.
    workspace : CollisionWorkspace
        Poses read, ``tree.bounds`` written.
    """
    bounds, shape_pose = workspace.tree.bounds, workspace.shape_pose
    shape_parameters, surplus = workspace.shape_parameters, workspace.predicted.surplus
    parameters, surface_speed = shape_parameters.parameters, shape_parameters.surface_speed
    extent, polytope = workspace.polytopes.bounds, workspace.polytope
    for shape in range(len(bounds)):
        body = shapes.body[shape]
        kind = shapes.kind[shape]
        slack = _turning(body, velocity, h, shape, kind, workspace) + (fall if body_kind[body] == DYNAMIC else 0.0)
        slack += slack_share * surplus[body]
        slack += h * surface_speed[shape]
        for i in range(3):
            center = shape_pose[shape, POSITION, i]
            half = 0.0
            if is_round(kind):
                lower, upper = round_extent(kind, parameters[shape], shape_pose[shape, i, 2])
                center += 0.5 * (lower + upper)
                half = 0.5 * (upper - lower)
            else:
                for j in range(3):
                    low = extent[polytope[shape], 0, j]
                    high = extent[polytope[shape], 1, j]
                    center += shape_pose[shape, i, j] * 0.5 * (low + high)
                    half += abs(shape_pose[shape, i, j]) * 0.5 * (high - low)
            travel = velocity[body, i] * h
            bounds[shape, 0, i] = center - half - slack + min(travel, 0.0)
            bounds[shape, 1, i] = center + half + slack + max(travel, 0.0)


@subkernel
def _turning(body, velocity, h, shape, kind, workspace):
    """How far a point of a shape goes at most because its body turns [m].

    Bodies turn about their centre of mass. A ball that turns about its own centre sweeps nothing.
    """
    spin, offset = 0.0, 0.0
    for i in range(3):
        spin += velocity[body, 3 + i] ** 2
        offset += workspace.local_pose[shape, POSITION, i] ** 2
    radius = offset**0.5 + (0.0 if kind == SPHERE else workspace.shape_parameters.bounding_radius[shape])
    return spin**0.5 * radius * h


@subkernel
def round_extent(kind, parameters, cosine):
    """Least and largest coordinate of a round shape, from its position, on a line at ``cosine`` to its axis."""
    radius, half = parameters[0], parameters[1]
    rise = cosine * half
    if kind not in (CYLINDER, CONE):
        # A sphere's half length is 0.
        return -abs(rise) - radius, abs(rise) + radius
    disc = radius * max(1.0 - cosine * cosine, 0.0) ** 0.5
    if kind == CYLINDER:
        return -abs(rise) - disc, abs(rise) + disc
    return min(rise, -rise - disc), max(rise, -rise + disc)


@subkernel
def mark_active(body_of, body_kind, is_active):
    """Mark the shapes of dynamic bodies: of two shapes that collide one is active."""
    for shape in range(len(is_active)):
        is_active[shape] = 1 if body_kind[body_of[shape]] == DYNAMIC else 0


@subkernel
def keep_colliding(model, body_of, bounds, margin, margin_share, found_pairs, found):
    """Drop pairs that may not touch, and those beyond the margin of the pair; return how many are left.

    Shapes of one body may not touch, nor those of bodies that are glued to one piece, nor those of bodies that share no
    mask bit, nor those of excluded pairs of bodies.

    In the tree every shape has its own margin around it. The margin of a pair is that of the smaller shape: a large
    floor does not collect what flies above it. Of that a share counts.
    """
    collision_mask, excluded_pairs, glued = model.collision_mask, model.excluded_pairs, model.glued
    kept = 0
    for pair_number in range(found):
        one, two = found_pairs[0, pair_number], found_pairs[1, pair_number]
        a, b = body_of[one], body_of[two]
        allowed = 2.0 * margin_share * min(margin[one], margin[two])
        is_near = glued[a] != glued[b] and (collision_mask[a] & collision_mask[b]) != 0
        for i in range(3):
            is_near = is_near and bounds[one, 0, i] - bounds[two, 1, i] <= allowed
            is_near = is_near and bounds[two, 0, i] - bounds[one, 1, i] <= allowed
        if is_near and not contains(excluded_pairs, min(a, b) * len(collision_mask) + max(a, b)):
            found_pairs[0, kept] = one
            found_pairs[1, kept] = two
            kept += 1
    return kept


@subkernel
def contains(ascending, value):
    """Whether an ascending array holds ``value``, by bisection."""
    low, high = 0, len(ascending)
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low < len(ascending) and ascending[low] == value


@subkernel
def sort_pairs(found_pairs, count, shape_a, shape_b, bucket):
    """Sort the pairs by ``(shape_a, shape_b)``: counting sort by the second, then, stable, by the first."""
    counting_sort(found_pairs[1], found_pairs[0], count, shape_b, shape_a, bucket)
    for pair_number in range(count):
        found_pairs[0, pair_number] = shape_a[pair_number]
        found_pairs[1, pair_number] = shape_b[pair_number]
    counting_sort(found_pairs[0], found_pairs[1], count, shape_a, shape_b, bucket)


@subkernel
def counting_sort(key, value, count, sorted_key, sorted_value, bucket):
    """Stable sort of ``count`` keys in ``0 .. len(bucket) - 2``, each with a value."""
    for item in range(len(bucket)):
        bucket[item] = 0
    for item in range(count):
        bucket[key[item] + 1] += 1
    for item in range(1, len(bucket)):
        bucket[item] += bucket[item - 1]
    for item in range(count):
        place = bucket[key[item]]
        bucket[key[item]] += 1
        sorted_key[place] = key[item]
        sorted_value[place] = value[item]
