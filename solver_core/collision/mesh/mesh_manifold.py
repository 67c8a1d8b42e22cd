"""The contacts that a mesh's triangles give, gathered and thinned out: doubles dropped, and few in every direction.

Of the contacts whose normals are about the same, the deepest is taken, and after it always the one that would land
first if the shape turned about one that was taken: of which the distance from all that were taken, over its height
above the deepest, is largest. Of contacts at one height that is the farthest one (Gonzalez 1985), which keeps the ends,
and so the area. A corner that is about to land goes before one that is farther, but much higher, and before what is
level with the deepest at the same place. What differs in its normal is at a distance, too: that by which the shape's
ends part when it is turned from one normal to the other.
"""

from ...compiled.kernel import subkernel
from ..data.mesh_tables import CONTACT_ROWS
from ..data.workspace import INFINITE

# Two contacts are one if their points are this close (share of the smaller shape's size) and their normals this alike
# (one less the cosine): triangles that share an edge give the same one.
RATIO_SAME_CONTACT = 1e-4
COSINE_SAME_CONTACT = 1e-6

# Normals count as one direction up to about 8 degrees (cosine). Where even so there are too many contacts, up to more.
COSINE_DIRECTION = 0.99
COSINE_WIDER = 0.9
COSINE_ALL = -2.0

# Heights above the deepest contact of a direction count from this share of the smaller shape's size below it: contacts
# that lie less above it can act before contacts are made anew, and differ in their distances alone.
RATIO_LEVEL = 0.002

DROPPED = -1


@subkernel
def keep_contact(contact, count, triangle, on_mesh, on_other, gap, normal):
    """Write a contact behind those there are; return how many they are then.

    Parameters
    ----------
    contact : MeshContacts
        Of ``MeshTables`` (written).
    count, triangle : int
    on_mesh, on_other, normal : tuple of 3 float
        Points of the two surfaces [m], and the normal out of the mesh.
    gap : float
        [m]

    Returns
    -------
    int
    """
    for i in range(3):
        contact.on_mesh[count, i], contact.on_other[count, i] = on_mesh[i], on_other[i]
        contact.normal[count, i], contact.toi_offset[count, i] = normal[i], 0.0
    contact.gap[count] = gap
    contact.triangle[count] = triangle
    return count + 1


@subkernel
def keep_points(contact, count, triangle, points, lowest, highest, scratch):
    """Add those of the ``points`` contacts in the scratch whose gaps lie between two to the mesh's contacts."""
    normal = scratch.axes.normal[0], scratch.axes.normal[1], scratch.axes.normal[2]
    point_a, point_b, gap = scratch.manifold.point_a, scratch.manifold.point_b, scratch.manifold.gap
    for point in range(points):
        if lowest <= gap[point] <= highest:
            on_mesh = point_a[point, 0], point_a[point, 1], point_a[point, 2]
            on_other = point_b[point, 0], point_b[point, 1], point_b[point, 2]
            count = keep_contact(contact, count, triangle, on_mesh, on_other, gap[point], normal)
    return count


@subkernel
def least_gap(gap, first, last):
    """The least of some of the contacts' gaps."""
    least = INFINITE
    for row in range(first, last):
        least = min(least, gap[row])
    return least


@subkernel
def thin_out(contact, count, maximal_points, size):
    """Drop doubles, and of each direction all but ``maximal_points``, in place; return how many are left.

    Leaves room for more: where there are very many directions, they are joined.
    """
    mark_doubles(contact, count, size)
    count = close_up(contact, count)
    for wider in range(3):
        cosine = COSINE_DIRECTION
        if wider > 0:
            cosine = COSINE_WIDER if wider == 1 else COSINE_ALL
        group_directions(contact, count, cosine)
        for seed in range(count):
            if contact.group[seed] == seed:
                choose_points(contact, count, seed, maximal_points, size)
        count = close_up(contact, count)
        if 2 * count < CONTACT_ROWS:
            break
    return count


@subkernel
def mark_doubles(contact, count, size):
    """Mark contacts that are there twice as dropped; the deeper one stays."""
    limit = (RATIO_SAME_CONTACT * size) ** 2
    for one in range(count):
        contact.group[one] = 0
        for two in range(one):
            if contact.group[two] == DROPPED or between(contact, one, two) > limit:
                continue
            cosine = 0.0
            for i in range(3):
                cosine += contact.normal[one, i] * contact.normal[two, i]
            if cosine > 1.0 - COSINE_SAME_CONTACT:
                contact.group[one if contact.gap[one] >= contact.gap[two] else two] = DROPPED
                break


@subkernel
def move_contact(contact, source, target):
    """Copy all of a contact to another row."""
    for i in range(3):
        contact.on_mesh[target, i] = contact.on_mesh[source, i]
        contact.on_other[target, i] = contact.on_other[source, i]
        contact.normal[target, i] = contact.normal[source, i]
        contact.toi_offset[target, i] = contact.toi_offset[source, i]
    contact.gap[target] = contact.gap[source]
    contact.apart[target] = contact.apart[source]
    contact.triangle[target] = contact.triangle[source]
    contact.group[target] = contact.group[source]


@subkernel
def close_up(contact, count):
    """Close the gaps that dropped contacts leave; return how many are left."""
    kept = 0
    for row in range(count):
        if contact.group[row] != DROPPED:
            if kept < row:
                move_contact(contact, row, kept)
            kept += 1
    return kept


@subkernel
def group_directions(contact, count, least_cosine):
    """Number the contacts of one direction alike: by the first of them."""
    for row in range(count):
        contact.group[row] = -2
    for seed in range(count):
        if contact.group[seed] >= 0:
            continue
        for row in range(seed, count):
            cosine = 0.0
            for i in range(3):
                cosine += contact.normal[seed, i] * contact.normal[row, i]
            if contact.group[row] < 0 and (row == seed or cosine > least_cosine):
                contact.group[row] = seed


@subkernel
def choose_points(contact, count, group, maximal_points, size):
    """Mark all but the best ``maximal_points`` contacts of a group as dropped."""
    members, deepest = 0, group
    for row in range(count):
        if contact.group[row] == group:
            members += 1
            if contact.gap[row] < contact.gap[deepest]:
                deepest = row
    if members <= maximal_points:
        return
    base = contact.gap[deepest] - RATIO_LEVEL * size
    for row in range(count):
        if contact.group[row] == group:
            contact.apart[row] = between(contact, row, deepest) + parting(contact, row, deepest, size)
    # Taken ones have no distance from those taken.
    contact.apart[deepest] = DROPPED
    for _ in range(maximal_points - 1):
        best = first_to_land(contact, count, group, base)
        contact.apart[best] = DROPPED
        for row in range(count):
            if contact.group[row] == group and contact.apart[row] != DROPPED:
                away = between(contact, row, best) + parting(contact, row, best, size)
                contact.apart[row] = min(contact.apart[row], away)
    for row in range(count):
        if contact.group[row] == group and contact.apart[row] != DROPPED:
            contact.group[row] = DROPPED


@subkernel
def first_to_land(contact, count, group, base):
    """The contact of a group whose distance from those taken is largest, measured by its height above ``base``."""
    best, most = -1, 0.0
    for row in range(count):
        if contact.group[row] != group or contact.apart[row] == DROPPED:
            continue
        slope = contact.apart[row] / (contact.gap[row] - base) ** 2
        if best < 0 or slope > most:
            best, most = row, slope
    return best


@subkernel
def between(contact, one, two):
    """Squared distance of two contacts on the other shape."""
    square = 0.0
    for i in range(3):
        square += (contact.on_other[one, i] - contact.on_other[two, i]) ** 2
    return square


@subkernel
def parting(contact, one, two, size):
    """Squared distance by which a shape's ends, half its size away, part between two contacts' normals."""
    square = 0.0
    for i in range(3):
        square += (contact.normal[one, i] - contact.normal[two, i]) ** 2
    return 0.25 * size * size * square
