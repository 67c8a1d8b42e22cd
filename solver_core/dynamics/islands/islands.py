"""Stage ``find_islands``: bodies that are connected by rows, found with union-find.

Bodies that cannot be pushed (static, kinematic) do not join islands: two stacks on one floor are two problems.
Islands are numbered by their first block and keep the blocks' order, so the result does not depend on the order of
unions.
"""

from ...compiled.kernel import kernel, subkernel


@subkernel
def rests_on_something(rows, islands, island, can_be_pushed):
    """Whether an island touches a body that cannot be pushed.

    Parameters
    ----------
    rows, islands, island
        Read.
    can_be_pushed : bool [body_count]
        Read.
    """
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if not (can_be_pushed[rows.body_a[block]] and can_be_pushed[rows.body_b[block]]):
            return True
    return False


@subkernel
def has_joints(rows, islands, island, contact_count):
    """Whether an island has blocks that are no contacts.

    Parameters
    ----------
    rows, islands, island
        Read.
    contact_count : int64
        Blocks from this one on are joints.
    """
    if rows.count[0] == contact_count:
        return False
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        if islands.block_order[index] >= contact_count:
            return True
    return False


@subkernel
def has_contacts(islands, island, contact_count):
    """Whether an island has contacts: its blocks may be in any order (``domain_partition``).

    Parameters
    ----------
    islands, island
        Read.
    contact_count : int64
        Blocks before this one are contacts.
    """
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        if islands.block_order[index] < contact_count:
            return True
    return False


@kernel(inline=True)
def find_islands(rows, can_be_pushed, islands, parent, label):
    """Sort blocks and bodies into islands.

    Parameters
    ----------
    rows : RowArrays
        Read: blocks and their bodies.
    can_be_pushed : bool [body_count]
        Read.
    islands : IslandArrays
        Written; no island gets blocks that are left out.
    parent, label : int64 [body_count]
        Workspace: the union-find forest; the island of each root, or -1.
    """
    for body in range(parent.size):
        parent[body] = body
        label[body] = -1
    for block in range(rows.count[0]):
        a, b = rows.body_a[block], rows.body_b[block]
        if can_be_pushed[a] and can_be_pushed[b]:
            root_a, root_b = _root(parent, a), _root(parent, b)
            parent[max(root_a, root_b)] = min(root_a, root_b)
    _count_members(rows.count[0], rows.body_a, rows.body_b, can_be_pushed, islands, parent, label)
    _sort_members(rows.count[0], rows.body_a, rows.body_b, can_be_pushed, islands, parent, label)


@subkernel
def _root(parent, body):
    """Root of a body's tree; halves the path on the way."""
    while parent[body] != body:
        parent[body] = parent[parent[body]]
        body = parent[body]
    return body


@subkernel
def _block_root(body_a, body_b, can_be_pushed, parent, block):
    """Root of the body that decides a block's island."""
    a = body_a[block]
    return _root(parent, a if can_be_pushed[a] else body_b[block])


@subkernel
def _count_members(block_count, body_a, body_b, can_be_pushed, islands, parent, label):
    """Number the islands by their first block; ``first[i + 1]`` becomes the number of members of island i."""
    count = 0
    islands.block_first[0] = 0
    islands.body_first[0] = 0
    for block in range(block_count):
        if islands.is_left_out[block]:
            continue
        root = _block_root(body_a, body_b, can_be_pushed, parent, block)
        if label[root] < 0:
            label[root] = count
            count += 1
            islands.block_first[count] = 0
            islands.body_first[count] = 0
        islands.block_first[label[root] + 1] += 1
    islands.count[0] = count
    for body in range(parent.size):
        island = label[_root(parent, body)]
        if island >= 0:
            islands.body_first[island + 1] += 1


@subkernel
def _sort_members(block_count, body_a, body_b, can_be_pushed, islands, parent, label):
    """Counting sort that keeps the order of blocks and bodies."""
    _counts_to_starts(islands.block_first, islands.count[0])
    _counts_to_starts(islands.body_first, islands.count[0])
    # first[i + 1] is island i's next free place: at the end it is island i's end, which is island i + 1's start
    for block in range(block_count):
        if islands.is_left_out[block]:
            continue
        island = label[_block_root(body_a, body_b, can_be_pushed, parent, block)]
        islands.block_order[islands.block_first[island + 1]] = block
        islands.block_first[island + 1] += 1
    for body in range(parent.size):
        island = label[_root(parent, body)]
        if island >= 0:
            islands.body_order[islands.body_first[island + 1]] = body
            islands.body_first[island + 1] += 1


@subkernel
def _counts_to_starts(first, count):
    """``first[i + 1]``: from the number of members of island i to the place of its first member."""
    start = 0
    for island in range(count):
        members = first[island + 1]
        first[island + 1] = start
        start += members
