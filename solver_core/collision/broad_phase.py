"""Stage ``broad_phase``: pairs of shapes that may touch within the substep.

Reads poses and velocities; fills the workspace's poses and bounds and ``shape_a``, ``shape_b`` of the pairs, sorted.

Sweep and prune (Baraff 1992; Ericson 2005, section 7.5) along the axis on which the shapes are spread most. The order
is kept from step to step, where insertion sort has almost nothing to do. The list of pairs is sorted at the end and
hangs neither on the axis nor on the order kept: a repeated frame gives the same bits.
"""

from ..contacts import STATUS_CAPACITY, STATUS_OK
from ..kernel import kernel
from .workspace import SPHERE

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
    place_shapes(model, state, workspace)
    bound_shapes(model, state, step, workspace)
    sort_along_sweep_axis(workspace)
    found = sweep(model, state, pairs, workspace)
    pairs.needed[0] = found
    if found > len(pairs.shape_a):
        pairs.count[0] = 0
        return STATUS_CAPACITY
    pairs.count[0] = found
    sort_pairs(pairs, workspace)
    return STATUS_OK


@kernel
def place_shapes(model, state, workspace):
    """World poses of bodies and shapes as rotation matrices."""
    for body in range(len(workspace.body_position)):
        w, x, y, z = state.orientation[body]
        rotation = workspace.body_rotation[body]
        rotation[0, 0] = 1.0 - 2.0 * (y * y + z * z)
        rotation[0, 1] = 2.0 * (x * y - w * z)
        rotation[0, 2] = 2.0 * (x * z + w * y)
        rotation[1, 0] = 2.0 * (x * y + w * z)
        rotation[1, 1] = 1.0 - 2.0 * (x * x + z * z)
        rotation[1, 2] = 2.0 * (y * z - w * x)
        rotation[2, 0] = 2.0 * (x * z - w * y)
        rotation[2, 1] = 2.0 * (y * z + w * x)
        rotation[2, 2] = 1.0 - 2.0 * (x * x + y * y)
        workspace.body_position[body, :] = state.position[body, :]
    shapes = model.shapes
    for shape in range(len(shapes.body)):
        body = shapes.body[shape]
        rotation = workspace.body_rotation[body]
        local = workspace.local_rotation[shape]
        for i in range(3):
            at = workspace.body_position[body, i]
            for j in range(3):
                at += rotation[i, j] * shapes.position[shape, j]
                workspace.shape_rotation[shape, i, j] = (
                    rotation[i, 0] * local[0, j] + rotation[i, 1] * local[1, j] + rotation[i, 2] * local[2, j]
                )
            workspace.shape_position[shape, i] = at


@kernel
def bound_shapes(model, state, step, workspace):
    """Bounds of every shape along the substep, and how far its points may move.

    A dynamic body's speed may grow by g h before it moves; that is in the bounds even of a body at rest.
    """
    shapes = model.shapes
    for shape in range(len(shapes.body)):
        body = shapes.body[shape]
        # Of the shape's farthest point from the centre of mass, about which the body turns.
        lever = shapes.bounding_radius[shape]
        offset = 0.0
        speed = 0.0
        spin = 0.0
        for axis in range(3):
            offset += shapes.position[shape, axis] ** 2
            speed += state.velocity[body, axis] ** 2
            spin += state.velocity[body, 3 + axis] ** 2
        lever += offset**0.5
        if shapes.kind[shape] == SPHERE:
            # A ball that turns about its centre sweeps nothing.
            lever = offset**0.5
        turn = spin**0.5 * lever * step.h
        if state.kind[body] == DYNAMIC:
            turn += step.gravity_norm * step.h * step.h
        workspace.motion[shape] = speed**0.5 * step.h + turn
        rotation = workspace.shape_rotation[shape]
        polytope = workspace.polytope[shape]
        for axis in range(3):
            center = workspace.shape_position[shape, axis]
            half = shapes.parameters[shape, 0]
            if shapes.kind[shape] != SPHERE:
                half = 0.0
                for j in range(3):
                    low = workspace.polytopes.lower[polytope, j]
                    high = workspace.polytopes.upper[polytope, j]
                    center += rotation[axis, j] * 0.5 * (low + high)
                    half += abs(rotation[axis, j]) * 0.5 * (high - low)
            travel = state.velocity[body, axis] * step.h
            workspace.lower[shape, axis] = center - half - turn + min(travel, 0.0)
            workspace.upper[shape, axis] = center + half + turn + max(travel, 0.0)


@kernel
def sort_along_sweep_axis(workspace):
    """Choose the axis on which the shapes' middles vary most, and sort the shapes by where their bounds start."""
    shape_count = len(workspace.order)
    widest = -1.0
    sweep_axis = 0
    for axis in range(3):
        mean = 0.0
        for shape in range(shape_count):
            mean += workspace.shape_position[shape, axis] / shape_count
        variance = 0.0
        for shape in range(shape_count):
            variance += (workspace.shape_position[shape, axis] - mean) ** 2
        if variance > widest:
            widest = variance
            sweep_axis = axis
    for shape in range(shape_count):
        margin = 0.5 * RATIO_MARGIN * workspace.size[shape]
        workspace.key[shape] = workspace.lower[shape, sweep_axis] - margin
    if not sort_by_insertion(workspace.order, workspace.key, INSERTIONS_PER_SHAPE * shape_count):
        sort_by_merging(workspace.order, workspace.order_scratch, workspace.key)
    for place in range(shape_count):
        shape = workspace.order[place]
        # The sweep axis goes first, whichever it is.
        for column in range(3):
            axis = (sweep_axis + column) % 3
            workspace.swept[place, column] = workspace.lower[shape, axis]
            workspace.swept[place, 3 + column] = workspace.upper[shape, axis]


@kernel
def sort_by_insertion(order, key, most_moves):
    """Sort ``order`` by ``key``; False where that takes more than ``most_moves`` moves (the order is then partial)."""
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


@kernel
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
        order[:] = scratch[:]
        run *= 2


@kernel
def sweep(model, state, pairs, workspace):
    """Write all overlapping pairs that may collide into ``pairs.scratch``, unsorted; return how many there are."""
    capacity = len(pairs.shape_a)
    shape_count = len(workspace.order)
    swept = workspace.swept
    found = 0
    for place in range(shape_count):
        shape = workspace.order[place]
        margin = RATIO_MARGIN * workspace.size[shape]
        end = swept[place, 3] + 0.5 * margin
        for other_place in range(place + 1, shape_count):
            other = workspace.order[other_place]
            if workspace.key[other] > end:
                break
            # The pair's margin is that of the smaller shape: a large floor does not reach for what flies above it.
            allowed = min(margin, RATIO_MARGIN * workspace.size[other])
            if (
                swept[other_place, 1] - swept[place, 4] > allowed
                or swept[place, 1] - swept[other_place, 4] > allowed
                or swept[other_place, 2] - swept[place, 5] > allowed
                or swept[place, 2] - swept[other_place, 5] > allowed
                or swept[other_place, 0] - swept[place, 3] > allowed
            ):
                continue
            if may_collide(model, state, shape, other):
                if found < capacity:
                    pairs.scratch[0, found] = min(shape, other)
                    pairs.scratch[1, found] = max(shape, other)
                found += 1
    return found


@kernel
def may_collide(model, state, shape, other):
    """Whether two shapes belong to two bodies that share a mask bit and of which one is dynamic."""
    a = model.shapes.body[shape]
    b = model.shapes.body[other]
    return (
        a != b
        and (state.kind[a] == DYNAMIC or state.kind[b] == DYNAMIC)
        and (model.collision_mask[a] & model.collision_mask[b]) != 0
    )


@kernel
def sort_pairs(pairs, workspace):
    """Sort the pairs by ``(shape_a, shape_b)``: counting sort by the second, then, stable, by the first."""
    count = pairs.count[0]
    counting_sort(pairs.scratch[1], pairs.scratch[0], count, pairs.shape_b, pairs.shape_a, workspace.bucket)
    pairs.scratch[0, :count] = pairs.shape_a[:count]
    pairs.scratch[1, :count] = pairs.shape_b[:count]
    counting_sort(pairs.scratch[0], pairs.scratch[1], count, pairs.shape_a, pairs.shape_b, workspace.bucket)


@kernel
def counting_sort(key, value, count, sorted_key, sorted_value, bucket):
    """Stable sort of ``count`` keys in ``0 .. len(bucket) - 2``, each with a value."""
    bucket[:] = 0
    for item in range(count):
        bucket[key[item] + 1] += 1
    for item in range(1, len(bucket)):
        bucket[item] += bucket[item - 1]
    for item in range(count):
        place = bucket[key[item]]
        bucket[key[item]] += 1
        sorted_key[place] = key[item]
        sorted_value[place] = value[item]
