"""A pair in an earlier list: where it is there, and how far its shapes have moved against each other since."""

import numpy as np

from ..contacts import CONTACT_COUNT, CONTACT_START, FEATURE, IS_RECYCLED, OLD_COUNT, OLD_PAIR, OLD_START, REFERENCE
from ..kernel import subkernel
from .workspace import A_IN_B, B_IN_A, NO_CONTACT, POSITION


@subkernel
def first_candidate(shape_a, count, a):
    """First place in a sorted list whose shape is not before a, by bisection."""
    low, high = np.int64(0), count
    while low < high:
        middle = (low + high) // 2
        if shape_a[middle] < a:
            low = middle + 1
        else:
            high = middle
    return low


@subkernel
def find_previous(shape_a, shape_b, count, a, b, old):
    """Go on in an earlier list, sorted like this one, to the first pair that is not before (a, b)."""
    while old < count and (shape_a[old] < a or (shape_a[old] == a and shape_b[old] < b)):
        old += 1
    return old


@subkernel(inline=True)
def link_previous(link, previous_pairs, a, b, old):
    """Note the same pair of the last step, if there is one; REFERENCE and FEATURE start as they were."""
    is_same = old < previous_pairs.count[0] and previous_pairs.shape_a[old] == a and previous_pairs.shape_b[old] == b
    link[OLD_PAIR] = old if is_same else -1
    link[OLD_START] = previous_pairs.link[old, CONTACT_START] if is_same else 0
    link[OLD_COUNT] = previous_pairs.link[old, CONTACT_COUNT] if is_same else 0
    link[REFERENCE] = previous_pairs.link[old, REFERENCE] if is_same else NO_CONTACT
    link[FEATURE] = previous_pairs.link[old, FEATURE] if is_same else -1


@subkernel(inline=True)
def would_be_same(looked_pairs, a, b, seen, reach):
    """Whether the last look has made contacts of a pair anew, and contacts up to ``reach`` would be those."""
    is_there = seen < looked_pairs.count[0] and looked_pairs.shape_a[seen] == a and looked_pairs.shape_b[seen] == b
    is_made = is_there and looked_pairs.link[seen, IS_RECYCLED] == 0
    return is_made and looked_pairs.reach[seen] <= reach and reach <= looked_pairs.left_out[seen]


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
