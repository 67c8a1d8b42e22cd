"""Stage ``broad_phase``: pairs of shapes that may touch within the substep.

Reads poses and velocities; fills the workspace's poses and bounds and ``shape_a``, ``shape_b`` of the pairs, sorted.

Sweep and prune (Baraff 1992; Ericson 2005, section 7.5) along the axis on which the shapes are spread most. The order
is kept from step to step, where insertion sort has almost nothing to do. The list of pairs is sorted at the end and
hangs neither on the axis nor on the order kept: a repeated frame gives the same bits.
"""

from ..contacts import STATUS_CAPACITY, STATUS_OK
from ..kernel import kernel, subkernel
from .workspace import POSITION, SPHERE

# Shapes get contacts at rest up to a gap of this share of the smaller one's size: what is about to touch is in the
# manifold before it does. Must exceed narrow_phase.RATIO_RECYCLE; larger means more rows that never act.
RATIO_MARGIN = 0.01

DYNAMIC = 2

# An order that needs more moves a shape than this is sorted anew by merging.
INSERTIONS_PER_SHAPE = 16


@kernel
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
    sweep = workspace.sweep
    place_bodies(state.position, state.orientation, workspace.body_pose)
    place_shapes(shapes.body, workspace.body_pose, workspace.local_pose, workspace.shape_pose)
    bound_motion(
        shapes.body,
        shapes.kind,
        shapes.bounding_radius,
        workspace.local_pose,
        state.kind,
        state.velocity,
        step.h,
        step.gravity_norm,
        workspace.motion,
    )
    bound_shapes(
        shapes.body,
        shapes.kind,
        shapes.parameters,
        workspace.polytope,
        workspace.polytopes.bounds,
        workspace.shape_pose,
        state.velocity,
        step.h,
        workspace.motion,
        sweep.bounds,
    )
    sort_along_sweep_axis(workspace.shape_pose, workspace.size, sweep)
    found = find_overlaps(shapes.body, state.kind, model.collision_mask, workspace.size, sweep, pairs.scratch)
    pairs.needed[0] = found
    if found > len(pairs.shape_a):
        pairs.count[0] = 0
        return STATUS_CAPACITY
    pairs.count[0] = found
    sort_pairs(pairs.scratch, found, pairs.shape_a, pairs.shape_b, sweep.bucket)
    return STATUS_OK


@subkernel
def place_bodies(position, orientation, body_pose):
    """World poses of the bodies as rotation matrix and position."""
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
    """World poses of the shapes: their bodies' poses times their own."""
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


@subkernel
def bound_motion(body_of, shape_kind, bounding_radius, local_pose, body_kind, velocity, h, gravity_norm, motion):
    """How far any point of each shape may come within the substep.

    A dynamic body's speed may grow by g h before it moves; that is in the bound even of a body at rest.
    """
    for shape in range(len(motion)):
        body = body_of[shape]
        speed, spin, offset = 0.0, 0.0, 0.0
        for i in range(3):
            speed += velocity[body, i] ** 2
            spin += velocity[body, 3 + i] ** 2
            offset += local_pose[shape, POSITION, i] ** 2
        # Bodies turn about their centre of mass. A ball that turns about its own centre sweeps nothing.
        lever = offset**0.5
        if shape_kind[shape] != SPHERE:
            lever += bounding_radius[shape]
        motion[shape] = (speed**0.5 + spin**0.5 * lever) * h
        if body_kind[body] == DYNAMIC:
            motion[shape] += gravity_norm * h * h


@subkernel
def bound_shapes(body_of, shape_kind, parameters, polytope, extent, shape_pose, velocity, h, motion, bounds):
    """Bounds of every shape along the substep: of its box at the start, longer by the motion."""
    for shape in range(len(motion)):
        body = body_of[shape]
        speed = (velocity[body, 0] ** 2 + velocity[body, 1] ** 2 + velocity[body, 2] ** 2) ** 0.5
        # What is not straight motion may go any way.
        slack = max(motion[shape] - speed * h, 0.0)
        for i in range(3):
            center = shape_pose[shape, POSITION, i]
            half = parameters[shape, 0]
            if shape_kind[shape] != SPHERE:
                half = 0.0
                for j in range(3):
                    low = extent[polytope[shape], 0, j]
                    high = extent[polytope[shape], 1, j]
                    center += shape_pose[shape, i, j] * 0.5 * (low + high)
                    half += abs(shape_pose[shape, i, j]) * 0.5 * (high - low)
            travel = velocity[body, i] * h
            bounds[shape, 0, i] = center - half - slack + min(travel, 0.0)
            bounds[shape, 1, i] = center + half + slack + max(travel, 0.0)


@subkernel
def sort_along_sweep_axis(shape_pose, size, sweep):
    """Choose the axis on which the shapes' positions vary most, and sort the shapes by where their bounds start."""
    axis = widest_axis(shape_pose)
    shape_count = len(size)
    order = sweep.order[0]
    for shape in range(shape_count):
        sweep.key[shape] = sweep.bounds[shape, 0, axis] - 0.5 * RATIO_MARGIN * size[shape]
    if not sort_by_insertion(order, sweep.key):
        sort_by_merging(order, sweep.order[1], sweep.key)
    for place in range(shape_count):
        for column in range(3):
            # The sweep axis goes first, whichever it is.
            i = (axis + column) % 3
            sweep.swept[place, column] = sweep.bounds[order[place], 0, i]
            sweep.swept[place, 3 + column] = sweep.bounds[order[place], 1, i]


@subkernel
def widest_axis(shape_pose):
    """The axis along which positions have the largest variance."""
    shape_count = len(shape_pose)
    widest = -1.0
    chosen = 0
    for axis in range(3):
        mean = 0.0
        for shape in range(shape_count):
            mean += shape_pose[shape, POSITION, axis] / shape_count
        variance = 0.0
        for shape in range(shape_count):
            variance += (shape_pose[shape, POSITION, axis] - mean) ** 2
        if variance > widest:
            widest = variance
            chosen = axis
    return chosen


@subkernel
def sort_by_insertion(order, key):
    """Sort ``order`` by ``key``; False where that takes too many moves (the order is then partial)."""
    most_moves = INSERTIONS_PER_SHAPE * len(order)
    moves = 0
    for place in range(1, len(order)):
        shape = order[place]
        hole = place
        while hole > 0 and key[order[hole - 1]] > key[shape]:
            order[hole] = order[hole - 1]
            hole -= 1
        order[hole] = shape
        moves += place - hole
        if moves > most_moves:
            return False
    return True


@subkernel
def sort_by_merging(order, scratch, key):
    """Sort ``order`` by ``key``, merging runs of doubling length."""
    count = len(order)
    run = 1
    while run < count:
        for start in range(0, count, 2 * run):
            middle = min(start + run, count)
            end = min(start + 2 * run, count)
            left = start
            right = middle
            for place in range(start, end):
                if left < middle and (right >= end or key[order[left]] <= key[order[right]]):
                    scratch[place] = order[left]
                    left += 1
                else:
                    scratch[place] = order[right]
                    right += 1
        for place in range(count):
            order[place] = scratch[place]
        run *= 2


@subkernel
def find_overlaps(body_of, body_kind, collision_mask, size, sweep, found_pairs):
    """Write all overlapping pairs that may collide into ``found_pairs`` [2, P], unsorted; return how many there are."""
    capacity = found_pairs.shape[1]
    order, swept, key = sweep.order[0], sweep.swept, sweep.key
    found = 0
    for place in range(len(size)):
        shape = order[place]
        margin = RATIO_MARGIN * size[shape]
        end = swept[place, 3] + 0.5 * margin
        for other_place in range(place + 1, len(size)):
            other = order[other_place]
            if key[other] > end:
                break
            # The pair's margin is that of the smaller shape: a large floor does not reach for what flies above it.
            allowed = min(margin, RATIO_MARGIN * size[other])
            if (
                swept[other_place, 1] - swept[place, 4] > allowed
                or swept[place, 1] - swept[other_place, 4] > allowed
                or swept[other_place, 2] - swept[place, 5] > allowed
                or swept[place, 2] - swept[other_place, 5] > allowed
                or swept[other_place, 0] - swept[place, 3] > allowed
            ):
                continue
            a, b = body_of[shape], body_of[other]
            is_moved = body_kind[a] == DYNAMIC or body_kind[b] == DYNAMIC
            if a != b and is_moved and (collision_mask[a] & collision_mask[b]) != 0:
                if found < capacity:
                    found_pairs[0, found] = min(shape, other)
                    found_pairs[1, found] = max(shape, other)
                found += 1
    return found


@subkernel
def sort_pairs(found_pairs, count, shape_a, shape_b, bucket):
    """Sort the pairs by ``(shape_a, shape_b)``: counting sort by the second, then, stable, by the first."""
    counting_sort(found_pairs[1], found_pairs[0], count, shape_b, shape_a, bucket)
    for pair in range(count):
        found_pairs[0, pair] = shape_a[pair]
        found_pairs[1, pair] = shape_b[pair]
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
