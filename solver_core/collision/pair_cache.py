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
def reuse_contacts(arrays, pair, approach, old, seen):
    """Give a pair its contacts of the previous detection pass or of the last substep, if new ones would be no better.

    Parameters
    ----------
    arrays, pair : NarrowPhaseArrays, Pair
        The pair's entry in the cache is written, and its contacts; the relative poses in the scratch, if they are not
        those of the previous pass.
    approach : float
        How much nearer points of the two shapes may come in the substep [m].
    old, seen : int
        Where the pair is, if it is there, in ``previous_pairs`` and in ``pass_pairs``.

    Returns
    -------
    bool
        Whether it has them.
    """
    pairs, pass_pairs, previous_pairs = arrays.pairs, arrays.pass_pairs, arrays.previous_pairs
    number, workspace = pair.number, arrays.workspace
    is_plain = not (pair.with_mesh or pair.is_moving_surface)
    link_previous(pairs, number, previous_pairs, old)
    if is_plain and workspace.predicted.detection_pass[0] > 0 and approach <= RATIO_FAST * pair.size:
        reach = approach + RATIO_MARGIN * pair.size
        if would_be_same(pass_pairs, pair.a, pair.b, seen, reach):
            take_over_contacts(pass_pairs, seen, arrays.pass_contacts, pairs, number, arrays.contacts)
            pairs.reach[number] = reach
            return True
    pose = workspace.scratch.pose
    place_pair(workspace.shape_pose[pair.a], workspace.shape_pose[pair.b], pose)
    if pairs.previous_pair[number] < 0 or pair.is_moving_surface:
        return False
    is_b = pair.moving == pair.b
    radius = pair.shape_b.bounding_radius if is_b else pair.shape_a.bounding_radius
    moved = relative_motion(pose, previous_pairs.pose[old], is_b, radius)
    ratio = RATIO_RECYCLE_CURVED if previous_pairs.is_curved[old] else RATIO_RECYCLE
    # Nothing that was culled may come near, and the contacts must still fit.
    nearest = previous_pairs.reach[old]
    if pairs.previous_count[number] == 0 and approach <= RATIO_FAST * pair.size:
        nearest = max(nearest, previous_pairs.cull_distance[old] - RATIO_MARGIN * pair.size)
    still_fits = pairs.previous_count[number] == 0 or moved <= ratio * pair.size
    if not (moved + approach <= nearest and still_fits):
        return False
    recycle_contacts(pairs, number, previous_pairs, arrays.contacts, arrays.previous_contacts, workspace.body_pose)
    if is_plain and pairs.previous_count[number] == 0:
        forget_motion(pairs, number, moved, pose)
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
def find_previous(pairs, a, b, place):
    """Go on in an earlier list, sorted like the present one, to the first pair that is not before (a, b)."""
    shape_a, shape_b, count = pairs.shape_a, pairs.shape_b, pairs.count[0]
    while place < count and (shape_a[place] < a or (shape_a[place] == a and shape_b[place] < b)):
        place += 1
    return place


@subkernel(inline=True)
def link_previous(pairs, pair, previous_pairs, old):
    """Note the same pair of the last substep, if there is one; ``reference`` and ``feature`` start as they were."""
    a, b = pairs.shape_a[pair], pairs.shape_b[pair]
    is_same = old < previous_pairs.count[0] and previous_pairs.shape_a[old] == a and previous_pairs.shape_b[old] == b
    pairs.previous_pair[pair] = old if is_same else -1
    pairs.previous_start[pair] = previous_pairs.contact_start[old] if is_same else 0
    pairs.previous_count[pair] = previous_pairs.contact_count[old] if is_same else 0
    pairs.reference[pair] = previous_pairs.reference[old] if is_same else NO_CONTACT
    pairs.feature[pair] = previous_pairs.feature[old] if is_same else -1


@subkernel(inline=True)
def would_be_same(previous_pass_pairs, a, b, seen, reach):
    """Whether the previous pass made new contacts of a pair, and contacts up to ``reach`` would be the same."""
    is_there = (
        seen < previous_pass_pairs.count[0]
        and previous_pass_pairs.shape_a[seen] == a
        and previous_pass_pairs.shape_b[seen] == b
    )
    is_made = is_there and not previous_pass_pairs.is_recycled[seen]
    return is_made and previous_pass_pairs.reach[seen] <= reach and reach <= previous_pass_pairs.cull_distance[seen]


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
