"""Binary trees of axis-aligned bounding boxes: how all are built, and that of the broad phase over the shapes.

Ericson 2005, sections 6.2 (construction) and 6.3 (simultaneous traversal). Each node splits what is in it at the mean
of the centres along the axis on which these reach farthest. The trees over meshes' triangles are built by the same
functions (``mesh_tree``), but have several triangles a leaf, boxes of what a leaf holds then, and other queries.

The tree of the shapes is refitted every substep, which keeps its shape and so costs a pass over the nodes; when shapes
have wandered so far that the traversal visits too many nodes, the next substep builds it anew. What the traversal finds
does not depend on the tree's shape; how fast it is does.
"""

import numpy as np

from ...compiled.kernel import subkernel
from ..data.workspace import INFINITE

# A tree is built anew once the traversal visits this many times the nodes that it visited just after it was built.
RATIO_WORN = 1.5

# Columns of a tree's nodes. An inner node has the number of its left child, which the right one follows, and 0. A leaf
# has the place in the order of the first of what it holds, and how many that are.
FIRST = 0
COUNT = 1
# TreeArrays.node has two more.
# A leaf's one shape; other nodes have -1.
SHAPE = 2
# Whether a shape below belongs to a dynamic body.
IS_ACTIVE = 3

# Entries of TreeArrays.record: whether there is a tree; pairs of nodes visited just after it was built; and last.
IS_BUILT = 0
FRESH_VISITS = 1
VISITS = 2


@subkernel(inline=True)
def update_tree(tree):
    """Fit the tree to the shapes' bounds, building it first if there is none or it is worn.

    Parameters
    ----------
    tree : TreeArrays
        ``bounds``, ``margin`` and ``is_active`` read; the rest, but for ``bucket``, written.
    """
    if not tree.record[IS_BUILT] or tree.record[VISITS] > RATIO_WORN * tree.record[FRESH_VISITS]:
        build_tree(tree.bounds, tree.node, tree.box, tree.order, tree.stack)
        tree.record[IS_BUILT] = 1
        tree.record[FRESH_VISITS] = -1
    refit_tree(tree.bounds, tree.margin, tree.is_active, tree.node, tree.box)


@subkernel
def build_tree(bounds, node, box, order, stack):
    """Make the nodes; ``box`` is memory for the shapes' centres."""
    for shape in range(len(order)):
        order[shape] = shape
        for i in range(3):
            # Twice the centre.
            box[shape, i] = bounds[shape, 0, i] + bounds[shape, 1, i]
    for here in range(build_nodes(box, order, np.int64(1), 0.0, node, stack)):
        node[here, SHAPE] = order[node[here, FIRST]] if node[here, COUNT] > 0 else -1


@subkernel
def build_nodes(center, order, leaf_size, smallest_share, node, stack):
    """Write a tree's nodes: each one's children lie behind it, so that a pass from the end meets children first.

    Parameters
    ----------
    center : float64 [n, >= 3]
        Of each thing in the tree, times any factor (read).
    order : int64 [n]
        The things, in any order (read); in that of the leaves (written).
    leaf_size : int
        A leaf holds at most as many.
    smallest_share : float
        A split leaves at least this share on either side.
    node : int64 [2 n - 1, >= 2]
        Columns FIRST and COUNT written.
    stack : int64 [any, 3]
        Memory, as long as the tree is deep.

    Returns
    -------
    int
        Nodes.
    """
    node_count = 1
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, 0, len(order)
    waiting = 1
    while waiting > 0:
        waiting -= 1
        here, first, last = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
        if last - first <= leaf_size:
            node[here, FIRST], node[here, COUNT] = first, last - first
            continue
        middle = split_at_mean(center, order, first, last, smallest_share)
        node[here, FIRST], node[here, COUNT] = node_count, 0
        stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = node_count, first, middle
        stack[waiting + 1, 0], stack[waiting + 1, 1], stack[waiting + 1, 2] = node_count + 1, middle, last
        waiting += 2
        node_count += 2
    return node_count


@subkernel
def split_at_mean(center, order, first, last, smallest_share):
    """Put those of places ``first`` to ``last`` in front that lie below the mean; return where the others start."""
    widest, mean = -1.0, 0.0
    axis = 0
    for i in range(3):
        lowest, highest, total = INFINITE, -INFINITE, 0.0
        for place in range(first, last):
            value = center[order[place], i]
            lowest = min(lowest, value)
            highest = max(highest, value)
            total += value
        if highest - lowest > widest:
            widest = highest - lowest
            axis = i
            mean = total / (last - first)
    middle = first
    for place in range(first, last):
        here = order[place]
        if center[here, axis] < mean:
            order[place] = order[middle]
            order[middle] = here
            middle += 1
    # What lies in one place may all lie below its mean, as that is rounded, or none of it.
    smallest = max(smallest_share * (last - first), 1.0)
    if middle - first < smallest or last - middle < smallest:
        return (first + last) // 2
    return middle


@subkernel
def refit_tree(bounds, margin, is_active, node, box):
    """Boxes and activity of all nodes, children first."""
    for here in range(len(node) - 1, -1, -1):
        shape = node[here, SHAPE]
        if shape >= 0:
            node[here, IS_ACTIVE] = is_active[shape]
            for i in range(3):
                box[here, i] = bounds[shape, 0, i] - margin[shape]
                box[here, 3 + i] = bounds[shape, 1, i] + margin[shape]
            continue
        left, right = node[here, FIRST], node[here, FIRST] + 1
        node[here, IS_ACTIVE] = node[left, IS_ACTIVE] | node[right, IS_ACTIVE]
        for i in range(3):
            box[here, i] = min(box[left, i], box[right, i])
            box[here, 3 + i] = max(box[left, 3 + i], box[right, 3 + i])


@subkernel(inline=True)
def find_overlapping_leaves(tree, found):
    """Write pairs of shapes whose leaves overlap, one of them active, into ``found`` [2, P]; return how many there are.

    More than P are counted but not written.
    """
    node, box, stack = tree.node, tree.box, tree.stack
    capacity = found.shape[1]
    count = 0
    visits = 0
    stack[0, 0], stack[0, 1] = 0, 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        one, two = stack[waiting, 0], stack[waiting, 1]
        visits += 1
        if not (node[one, IS_ACTIVE] | node[two, IS_ACTIVE]):
            continue
        if one == two:
            if node[one, SHAPE] < 0:
                left, right = node[one, FIRST], node[one, FIRST] + 1
                stack[waiting, 0], stack[waiting, 1] = left, left
                stack[waiting + 1, 0], stack[waiting + 1, 1] = right, right
                stack[waiting + 2, 0], stack[waiting + 2, 1] = left, right
                waiting += 3
            continue
        # Asked so that NaN overlaps nothing.
        if not (
            box[one, 0] <= box[two, 3]
            and box[two, 0] <= box[one, 3]
            and box[one, 1] <= box[two, 4]
            and box[two, 1] <= box[one, 4]
            and box[one, 2] <= box[two, 5]
            and box[two, 2] <= box[one, 5]
        ):
            continue
        if node[one, SHAPE] >= 0 and node[two, SHAPE] >= 0:
            if count < capacity:
                found[0, count] = min(node[one, SHAPE], node[two, SHAPE])
                found[1, count] = max(node[one, SHAPE], node[two, SHAPE])
            count += 1
            continue
        # Go down on the larger side.
        if node[one, SHAPE] >= 0 or (node[two, SHAPE] < 0 and girth(box, two) > girth(box, one)):
            one, two = two, one
        stack[waiting, 0], stack[waiting, 1] = node[one, FIRST], two
        stack[waiting + 1, 0], stack[waiting + 1, 1] = node[one, FIRST] + 1, two
        waiting += 2
    tree.record[VISITS] = visits
    if tree.record[FRESH_VISITS] < 0:
        tree.record[FRESH_VISITS] = visits
    return count


@subkernel
def girth(box, node):
    """Sum of a box's sides."""
    return box[node, 3] - box[node, 0] + box[node, 4] - box[node, 1] + box[node, 5] - box[node, 2]
