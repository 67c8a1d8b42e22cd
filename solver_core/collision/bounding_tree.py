"""A binary tree of bounding boxes over the shapes: built top-down, refitted every step, traversed against itself.

Ericson 2005, sections 6.2 (construction) and 6.3 (simultaneous traversal). Each node splits its shapes at the mean of
their centres along the axis on which the centres reach farthest. A refit keeps the tree's shape and so costs a pass
over the nodes; when shapes have wandered so far that the traversal visits too many nodes, the next step builds anew.
What the traversal finds does not hang on the tree's shape, only how fast.
"""

from ..kernel import subkernel

# A tree is built anew once the traversal visits this many times the nodes that it visited just after it was built.
RATIO_WORN = 1.5

# Columns of TreeArrays.node.
LEFT = 0
RIGHT = 1
# A leaf has no children and one shape; other nodes have -1.
SHAPE = 2
# Whether a shape below belongs to a dynamic body.
IS_ACTIVE = 3

# Entries of TreeArrays.record: whether there is a tree; pairs of nodes visited just after it was built; and last.
IS_BUILT = 0
FRESH_VISITS = 1
VISITS = 2

INFINITE = 1e300


@subkernel(inline=True)
def update_tree(tree):
    """Fit the tree to the shapes' bounds, building it first if there is none or it is worn.

    Parameters
    ----------
    tree : TreeArrays
        ``bounds``, ``margin`` and ``is_active`` read; the rest, but for ``bucket``, written.
    """
    if not tree.record[IS_BUILT] or tree.record[VISITS] > RATIO_WORN * tree.record[FRESH_VISITS]:
        build_tree(tree.bounds, tree.node, tree.order, tree.stack)
        tree.record[IS_BUILT] = 1
        tree.record[FRESH_VISITS] = -1
    refit_tree(tree.bounds, tree.margin, tree.is_active, tree.node, tree.box)


@subkernel
def build_tree(bounds, node, order, stack):
    """Make the nodes: each one's children lie behind it, so that a pass from the end meets children first."""
    for shape in range(len(order)):
        order[shape] = shape
    node_count = 1
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, 0, len(order)
    waiting = 1
    while waiting > 0:
        waiting -= 1
        here, first, last = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
        node[here, SHAPE] = -1
        if last - first == 1:
            node[here, SHAPE] = order[first]
            continue
        middle = split_shapes(bounds, order, first, last)
        node[here, LEFT] = node_count
        node[here, RIGHT] = node_count + 1
        stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = node_count, first, middle
        stack[waiting + 1, 0], stack[waiting + 1, 1], stack[waiting + 1, 2] = node_count + 1, middle, last
        waiting += 2
        node_count += 2


@subkernel
def split_shapes(bounds, order, first, last):
    """Put those of the shapes ``first`` to ``last`` in front that lie below the mean; return where others start."""
    widest = -1.0
    split_axis = 0
    mean = 0.0
    for axis in range(3):
        lowest, highest, total = INFINITE, -INFINITE, 0.0
        for place in range(first, last):
            # Twice the centre.
            center = bounds[order[place], 0, axis] + bounds[order[place], 1, axis]
            lowest = min(lowest, center)
            highest = max(highest, center)
            total += center
        if highest - lowest > widest:
            widest = highest - lowest
            split_axis = axis
            mean = total / (last - first)
    middle = first
    for place in range(first, last):
        shape = order[place]
        if bounds[shape, 0, split_axis] + bounds[shape, 1, split_axis] < mean:
            order[place] = order[middle]
            order[middle] = shape
            middle += 1
    if middle == first:
        # All in one place (what lies below a mean is never all).
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
        left, right = node[here, LEFT], node[here, RIGHT]
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
                left, right = node[one, LEFT], node[one, RIGHT]
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
        stack[waiting, 0], stack[waiting, 1] = node[one, LEFT], two
        stack[waiting + 1, 0], stack[waiting + 1, 1] = node[one, RIGHT], two
        waiting += 2
    tree.record[VISITS] = visits
    if tree.record[FRESH_VISITS] < 0:
        tree.record[FRESH_VISITS] = visits
    return count


@subkernel
def girth(box, node):
    """Sum of a box's sides."""
    return box[node, 3] - box[node, 0] + box[node, 4] - box[node, 1] + box[node, 5] - box[node, 2]
