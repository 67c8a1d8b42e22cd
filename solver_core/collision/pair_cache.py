"""The pair cache: earlier contacts of a pair of shapes, and when they serve again.

Contacts are recycled (as in Box2D v3): while two shapes have hardly moved against each other since their contacts were
made, the points and the normal stay fixed in the bodies and only the gaps are measured anew. Contacts that stay are
what makes a scene still and warm starts exact. A recycled manifold misses nothing: contacts are made up to a gap
``reach``, and kept only while what the shapes have moved since, and may move in this substep, is less.

A later detection pass of a substep has the same poses: it takes over what the pass before it made if the present reach
would change nothing (``cull_distance``).
"""

import numpy as np

from ..compiled.kernel import subkernel
from .data.contact_buffers import forget_motion, recycle_contacts, take_over_contacts
from .data.workspace import NO_CONTACT, POSITION, RATIO_MARGIN
from .distance.shape_distance import RATIO_FAST
from .swept_motion import place_pair

# Points stay while the shapes have moved against each other by less than this fraction of the smaller one's size. It is
# also the angle [rad] by which a recycled normal may be off, and must be well below RATIO_MARGIN.
RATIO_RECYCLE = 0.002

# Likewise if a curved surface is touched. A body that rolls over points that stay turns about them as over the
# corners of a polygon and falls onto each next side, as if down a slope: a ball of 1 m at 0.05 m/s on a level floor
# gained 4 mm/s each second with the tolerance above. At rest it is a pendulum upside down on its point: rounding grows
# like exp(t sqrt(5 g / 7 r)) until the point is taken anew, d from where it was, and leaves it d sqrt(5 g / 7 r). With
# d = 2e-6 of the size a ball of 1 cm rolled 9e-4 of its size in 10 s; with this one a hundredth.
RATIO_RECYCLE_CURVED = 2e-8


@subkernel(inline=True)
def reuse_contacts(arrays, pair, approach, last_substep_number, previous_pass_number):
    """Give a pair its contacts of the previous detection pass or of the last substep, if new ones would be no better.

    Parameters
    ----------
    arrays, pair : NarrowPhaseArrays, Pair
        The pair's entry in the cache is written, and its contacts; the relative poses in the scratch, if they are not
        those of the previous pass.
    approach : float
        How much nearer points of the two shapes may come in the substep [m].
    last_substep_number, previous_pass_number : int
        Where the pair is, if it is there, in ``last_substep_pairs`` and in ``previous_pass_pairs``.

    Returns
    -------
    bool
        Whether it has them.
    """
    pairs, previous_pass_pairs, last_substep_pairs = arrays.pairs, arrays.previous_pass_pairs, arrays.last_substep_pairs
    pair_number, workspace = pair.number, arrays.workspace
    is_plain = not (pair.with_mesh or pair.is_moving_surface)
    link_to_last_substep(pairs, pair_number, last_substep_pairs, last_substep_number)
    if is_plain and workspace.predicted.detection_pass[0] > 0 and approach <= RATIO_FAST * pair.size:
        reach = approach + RATIO_MARGIN * pair.size
        if would_be_same(previous_pass_pairs, pair.a, pair.b, previous_pass_number, reach):
            take_over_contacts(
                previous_pass_pairs,
                previous_pass_number,
                arrays.previous_pass_contacts,
                pairs,
                pair_number,
                arrays.contacts,
            )
            pairs.reach[pair_number] = reach
            return True
    pose = workspace.scratch.pose
    place_pair(workspace.shape_pose[pair.a], workspace.shape_pose[pair.b], pose)
    if pairs.last_substep_number[pair_number] < 0 or pair.is_moving_surface:
        return False
    is_b = pair.moving == pair.b
    radius = pair.shape_b.bounding_radius if is_b else pair.shape_a.bounding_radius
    moved = relative_motion(pose, last_substep_pairs.pose[last_substep_number], is_b, radius)
    ratio = RATIO_RECYCLE_CURVED if last_substep_pairs.is_curved[last_substep_number] else RATIO_RECYCLE
    # Nothing that was culled may come near, and the contacts must still fit.
    nearest = last_substep_pairs.reach[last_substep_number]
    if pairs.last_substep_count[pair_number] == 0 and approach <= RATIO_FAST * pair.size:
        nearest = max(nearest, last_substep_pairs.cull_distance[last_substep_number] - RATIO_MARGIN * pair.size)
    still_fits = pairs.last_substep_count[pair_number] == 0 or moved <= ratio * pair.size
    if not (moved + approach <= nearest and still_fits):
        return False
    recycle_contacts(
        pairs, pair_number, last_substep_pairs, arrays.contacts, arrays.last_substep_contacts, workspace.body_pose
    )
    if is_plain and pairs.last_substep_count[pair_number] == 0:
        forget_motion(pairs, pair_number, moved, pose)
    return True


@subkernel
def first_candidate(shape_a, count, a):
    """First place in a sorted list whose shape is not before ``a``, by bisection."""
    low, high = np.int64(0), count
    while low < high:
        middle = (low + high) // 2
        if shape_a[middle] < a:
            low = middle + 1
        else:
            high = middle
    return low


@subkernel
def find_same_pair(pairs, a, b, place):
    """Go on in an earlier list, sorted like the present one, to the first pair that is not before (a, b)."""
    shape_a, shape_b, count = pairs.shape_a, pairs.shape_b, pairs.count[0]
    while place < count and (shape_a[place] < a or (shape_a[place] == a and shape_b[place] < b)):
        place += 1
    return place


@subkernel(inline=True)
def link_to_last_substep(pairs, pair_number, last_substep_pairs, last_substep_number):
    """Note the same pair of the last substep, if there is one; ``reference`` and ``feature`` start as they were."""
    a, b = pairs.shape_a[pair_number], pairs.shape_b[pair_number]
    is_same = (
        last_substep_number < last_substep_pairs.count[0]
        and last_substep_pairs.shape_a[last_substep_number] == a
        and last_substep_pairs.shape_b[last_substep_number] == b
    )
    pairs.last_substep_number[pair_number] = last_substep_number if is_same else -1
    pairs.last_substep_start[pair_number] = last_substep_pairs.contact_start[last_substep_number] if is_same else 0
    pairs.last_substep_count[pair_number] = last_substep_pairs.contact_count[last_substep_number] if is_same else 0
    pairs.reference[pair_number] = last_substep_pairs.reference[last_substep_number] if is_same else NO_CONTACT
    pairs.feature[pair_number] = last_substep_pairs.feature[last_substep_number] if is_same else -1


@subkernel(inline=True)
def would_be_same(previous_pass_pairs, a, b, previous_pass_number, reach):
    """Whether the previous pass made new contacts of a pair, and contacts up to ``reach`` would be the same."""
    is_there = (
        previous_pass_number < previous_pass_pairs.count[0]
        and previous_pass_pairs.shape_a[previous_pass_number] == a
        and previous_pass_pairs.shape_b[previous_pass_number] == b
    )
    is_made = is_there and not previous_pass_pairs.is_recycled[previous_pass_number]
    return (
        is_made
        and previous_pass_pairs.reach[previous_pass_number] <= reach
        and reach <= previous_pass_pairs.cull_distance[previous_pass_number]
    )


@subkernel
def relative_motion(pose, before, is_b, radius):
    """How far any point of shape b (else a) may have moved in the frame of the other since the pose ``before``."""
    # |R - R0| = 2 sqrt(2) sin(angle / 2) in the Frobenius norm
    square, shift = 0.0, 0.0
    for i in range(3):
        for j in range(3):
            square += (pose.b_in_a[i, j] - before[i, j]) ** 2
        if is_b:
            shift += (pose.b_in_a[POSITION, i] - before[POSITION, i]) ** 2
        else:
            x = before[0, i] * before[POSITION, 0] + before[1, i] * before[POSITION, 1]
            x += before[2, i] * before[POSITION, 2]
            shift += (pose.a_in_b[POSITION, i] + x) ** 2
    return shift**0.5 + (0.5 * square) ** 0.5 * radius
