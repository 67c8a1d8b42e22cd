"""The contacts that a mesh's triangles give, gathered and thinned out: doubles dropped, and few in every direction.

Of the contacts whose normals are about the same, the deepest is taken, and after it always the one that would land
first if the shape turned about one that was taken: of which the distance from all that were taken, over its height
above the deepest, is largest. Of contacts at one height that is the farthest one (Gonzalez 1985), which keeps the ends,
and so the area. A corner that is about to land goes before one that is farther, but much higher, and before what is
level with the deepest at the same place. What differs in its normal is at a distance, too: that by which the shape's
ends part when it is turned from one normal to the other.
"""

from ..kernel import subkernel
from .mesh_tables import CONTACT_COLUMNS, CONTACT_ROWS, GROUP, ON_MESH, ON_OTHER, OUTWARDS, TRIANGLE, WAY
from .workspace import ANGLE, GAP

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

DROPPED = -1.0
INFINITE = 1e300


@subkernel
def keep_contact(contact, count, triangle, ax, ay, az, bx, by, bz, gap, nx, ny, nz):
    """Write a contact behind those there are; return how many they are then."""
    row = contact[count]
    row[ON_MESH], row[ON_MESH + 1], row[ON_MESH + 2] = ax, ay, az
    row[ON_OTHER], row[ON_OTHER + 1], row[ON_OTHER + 2] = bx, by, bz
    row[GAP] = gap
    row[OUTWARDS], row[OUTWARDS + 1], row[OUTWARDS + 2] = nx, ny, nz
    row[TRIANGLE] = triangle
    row[WAY], row[WAY + 1], row[WAY + 2] = 0.0, 0.0, 0.0
    return count + 1


@subkernel
def least_gap(contact, first, last):
    """The least gap of some of the contacts."""
    least = INFINITE
    for row in range(first, last):
        least = min(least, contact[row, GAP])
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
            if contact[seed, GROUP] == seed:
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
        contact[one, GROUP] = 0.0
        for two in range(one):
            if contact[two, GROUP] == DROPPED or between(contact, one, two) > limit:
                continue
            cosine = 0.0
            for i in range(3):
                cosine += contact[one, OUTWARDS + i] * contact[two, OUTWARDS + i]
            if cosine > 1.0 - COSINE_SAME_CONTACT:
                contact[one if contact[one, GAP] >= contact[two, GAP] else two, GROUP] = DROPPED
                break


@subkernel
def close_up(contact, count):
    """Close the gaps that dropped contacts leave; return how many are left."""
    kept = 0
    for row in range(count):
        if contact[row, GROUP] != DROPPED:
            if kept < row:
                for i in range(CONTACT_COLUMNS):
                    contact[kept, i] = contact[row, i]
            kept += 1
    return kept


@subkernel
def group_directions(contact, count, least_cosine):
    """Number the contacts of one direction alike: by the first of them."""
    for row in range(count):
        contact[row, GROUP] = -2.0
    for seed in range(count):
        if contact[seed, GROUP] >= 0.0:
            continue
        for row in range(seed, count):
            cosine = 0.0
            for i in range(3):
                cosine += contact[seed, OUTWARDS + i] * contact[row, OUTWARDS + i]
            if contact[row, GROUP] < 0.0 and (row == seed or cosine > least_cosine):
                contact[row, GROUP] = seed


@subkernel
def choose_points(contact, count, group, maximal_points, size):
    """Mark all but the best ``maximal_points`` contacts of a group as dropped."""
    members, deepest = 0, group
    for row in range(count):
        if contact[row, GROUP] == group:
            members += 1
            if contact[row, GAP] < contact[deepest, GAP]:
                deepest = row
    if members <= maximal_points:
        return
    base = contact[deepest, GAP] - RATIO_LEVEL * size
    for row in range(count):
        if contact[row, GROUP] == group:
            contact[row, ANGLE] = between(contact, row, deepest) + parting(contact, row, deepest, size)
    # Taken ones have no distance from those taken.
    contact[deepest, ANGLE] = DROPPED
    for _ in range(maximal_points - 1):
        best = first_to_land(contact, count, group, base)
        contact[best, ANGLE] = DROPPED
        for row in range(count):
            if contact[row, GROUP] == group and contact[row, ANGLE] != DROPPED:
                away = between(contact, row, best) + parting(contact, row, best, size)
                contact[row, ANGLE] = min(contact[row, ANGLE], away)
    for row in range(count):
        if contact[row, GROUP] == group and contact[row, ANGLE] != DROPPED:
            contact[row, GROUP] = DROPPED


@subkernel
def first_to_land(contact, count, group, base):
    """The contact of a group whose distance from those taken is largest, measured by its height above ``base``."""
    best, most = -1, 0.0
    for row in range(count):
        if contact[row, GROUP] != group or contact[row, ANGLE] == DROPPED:
            continue
        slope = contact[row, ANGLE] / (contact[row, GAP] - base) ** 2
        if best < 0 or slope > most:
            best, most = row, slope
    return best


@subkernel
def between(contact, one, two):
    """Squared distance of two contacts on the other shape."""
    square = 0.0
    for i in range(3):
        square += (contact[one, ON_OTHER + i] - contact[two, ON_OTHER + i]) ** 2
    return square


@subkernel
def parting(contact, one, two, size):
    """Squared distance by which a shape's ends, half its size away, part between two contacts' normals."""
    square = 0.0
    for i in range(3):
        square += (contact[one, OUTWARDS + i] - contact[two, OUTWARDS + i]) ** 2
    return 0.25 * size * size * square
