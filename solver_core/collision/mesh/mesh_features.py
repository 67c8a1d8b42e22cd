"""What a triangle may push along: the range of normals of its face, edges and corners, and the side it pushes to.

A mesh touches another shape along a direction d where it is locally highest: all that meets there lies below. Of a
flat or hollow edge that holds for no direction but the faces' own normals, so such edges are not felt; at a convex
edge or corner it holds for the directions between the normals of the faces around it (the normal cone; its Voronoi
region is where they lead).
"""

import math

import numpy as np

from ...compiled.kernel import subkernel
from ..data.mesh_tables import (
    CLOSED,
    CONCAVE,
    CONVEX,
    FLAGS,
    MOST_HELD,
    NEIGHBORS,
    RIM,
    SOLID,
    UNLISTED,
)
from ..data.workspace import CAPSULE, FACES, INFINITE, POSITION, SPHERE, VERTICES, is_round
from ..distance.closest_points import RATIO_TOUCHING
from ..distance.shape_distance import shape_distance
from ..distance.sheet_sides import is_astride, is_steep, thickness_along
from .mesh_query import triangle_shape
from .mesh_tree import closest_on_triangle, nearest_triangle

# A corner this far below another one along a direction (share of its distance) still counts as level with it: the
# rounding of directions between points that nearly touch.
RATIO_LEVEL = 1e-6

# A body that touched a face stays on its side while its centre is not farther beyond than this share of its size.
RATIO_BEYOND = 0.5
# ... the face being one whose normal has at least this cosine with that of a last contact.
COSINE_HELD = 0.5

# In ``MeshCandidates.held``: the bits of all last contacts, as those of closed parts are not told apart; and the bit of
# a part that the other shape is astride, and that takes it out against gravity though its centre is behind.
_ALL_HELD = (1 << MOST_HELD) - 1
_ASTRIDE = 1 << MOST_HELD

# Where a shape counts as being, seen from a triangle: behind it; before it; and behind it, though before it where the
# substep started (contacts of the end pose).
BEHIND = 0
BEFORE = 1
GONE_THROUGH = 2

# Where a point of a triangle lies: 0 to 2 a corner, 3 to 5 the edge behind corner 0 to 2, 6 the face.
FIRST_EDGE = 3
FACE = 6

# At most this many triangles around a corner are visited.
MOST_AROUND = 1000


@subkernel
def has_edges_that_push(flags, side):
    """Whether one of a triangle's edges can be touched, seen from the side (1: its normal's, -1: the other)."""
    return edge_pushes(flags, 0, side) or edge_pushes(flags, 1, side) or edge_pushes(flags, 2, side)


@subkernel
def edge_pushes(flags, edge, side):
    """Whether an edge of a triangle can be touched, seen from a side."""
    kind = (flags >> (2 * edge)) & 3
    return kind == RIM or kind == (CONVEX if side > 0 else CONCAVE)


@subkernel
def highest_feature(vertices, triangles, row, x, y, z):
    """The corner, edge or face of a triangle that is highest along a direction."""
    a, b, c = triangles[row, 0], triangles[row, 1], triangles[row, 2]
    length = 0.0
    for i in range(3):
        length += abs(vertices[b, i] - vertices[a, i]) + abs(vertices[c, i] - vertices[a, i])
    level = RATIO_LEVEL * length
    p = x * vertices[a, 0] + y * vertices[a, 1] + z * vertices[a, 2]
    q = x * vertices[b, 0] + y * vertices[b, 1] + z * vertices[b, 2]
    r = x * vertices[c, 0] + y * vertices[c, 1] + z * vertices[c, 2]
    top = max(p, q, r) - level
    if p >= top and q >= top:
        return FACE if r >= top else FIRST_EDGE
    if q >= top and r >= top:
        return FIRST_EDGE + 1
    if r >= top and p >= top:
        return FIRST_EDGE + 2
    if p >= top:
        return 0
    return 1 if q >= top else 2


@subkernel
def can_push(vertices, triangles, normals, row, feature, x, y, z, side):
    """Whether a triangle's edge or corner is locally highest along a direction, which leads to the mesh's right side.

    Parameters
    ----------
    vertices, triangles, normals : arrays of one mesh
        (read)
    row : int
        Triangle.
    feature : int
        0 to 5; see above.
    x, y, z : float
        Unit direction out of the mesh.
    side : int
        1 or -1: whether the mesh pushes along its normals or against them.

    Returns
    -------
    bool
    """
    if feature >= FIRST_EDGE:
        edge = feature - FIRST_EDGE
        tail = triangles[row, edge]
        if not is_below(vertices, triangles[row, (edge + 2) % 3], tail, x, y, z):
            return False
        other = triangles[row, NEIGHBORS + edge]
        if other < 0:
            return True
        if not is_below(vertices, triangles[other // 3, (other % 3 + 2) % 3], tail, x, y, z):
            return False
        along = 0.0
        along += x * (normals[row, 0] + normals[other // 3, 0])
        along += y * (normals[row, 1] + normals[other // 3, 1])
        along += z * (normals[row, 2] + normals[other // 3, 2])
        return along * side > 0.0
    nx, ny, nz, at_rim, is_highest = around_corner(vertices, triangles, normals, row, feature, x, y, z)
    return is_highest and (at_rim or (nx * x + ny * y + nz * z) * side > 0.0)


@subkernel
def is_below(vertices, corner, base, x, y, z):
    """Whether a vertex lies no higher than another along a direction."""
    dx = vertices[corner, 0] - vertices[base, 0]
    dy = vertices[corner, 1] - vertices[base, 1]
    dz = vertices[corner, 2] - vertices[base, 2]
    return dx * x + dy * y + dz * z <= RATIO_LEVEL * (abs(dx) + abs(dy) + abs(dz))


@subkernel
def around_corner(vertices, triangles, normals, row, corner, x, y, z):
    """Go around a corner from triangle to triangle, one way and, where a rim ends that, the other way.

    Returns
    -------
    nx, ny, nz : float
        Sum of the triangles' normals, each weighed with its angle at the corner.
    at_rim : bool
    is_highest : bool
        Whether all corners around lie no higher along (x, y, z).
    """
    base = triangles[row, corner]
    nx, ny, nz = 0.0, 0.0, 0.0
    is_highest = True
    for way in range(2):
        here, place = row, corner
        for _ in range(MOST_AROUND):
            following, before = triangles[here, (place + 1) % 3], triangles[here, (place + 2) % 3]
            if way == 0 or here != row:
                is_highest = is_highest and is_below(vertices, following, base, x, y, z)
                is_highest = is_highest and is_below(vertices, before, base, x, y, z)
                weight = angle_at(vertices, base, following, before)
                nx += weight * normals[here, 0]
                ny += weight * normals[here, 1]
                nz += weight * normals[here, 2]
            other = triangles[here, NEIGHBORS + (place if way == 0 else (place + 2) % 3)]
            if other < 0:
                break
            here = other // 3
            place = (other % 3 + 1) % 3 if way == 0 else other % 3
            if here == row:
                return nx, ny, nz, False, is_highest
    return nx, ny, nz, True, is_highest


@subkernel
def angle_at(vertices, base, one, two):
    """Angle between the directions from a vertex to two others [rad]."""
    uu, uv, vv = 0.0, 0.0, 0.0
    for i in range(3):
        u, v = vertices[one, i] - vertices[base, i], vertices[two, i] - vertices[base, i]
        uu += u * u
        uv += u * v
        vv += v * v
    return math.acos(min(max(uv / (uu * vv) ** 0.5, -1.0), 1.0))


@subkernel
def side_of_point(vertices, triangles, normals, row, x, y, z):
    """On which side of a mesh a point is, seen from the triangle that is nearest to it: the sign of what is returned.

    At an edge or corner the mean of the normals around decides (Baerentzen and Aanaes 2005).
    """
    p, q, r, feature = closest_on_triangle(vertices, triangles[row, 0], triangles[row, 1], triangles[row, 2], x, y, z)
    dx, dy, dz = x - p, y - q, z - r
    nx, ny, nz = normals[row, 0], normals[row, 1], normals[row, 2]
    if feature < FIRST_EDGE:
        nx, ny, nz, _, _ = around_corner(vertices, triangles, normals, row, feature, nx, ny, nz)
    elif feature < FACE:
        other = triangles[row, NEIGHBORS + feature - FIRST_EDGE]
        if other >= 0:
            nx += normals[other // 3, 0]
            ny += normals[other // 3, 1]
            nz += normals[other // 3, 2]
    return nx * dx + ny * dy + nz * dz


@subkernel
def height_over(vertices, triangles, normals, row, x, y, z):
    """Height of a point over a triangle's plane."""
    base = triangles[row, 0]
    height = normals[row, 0] * (x - vertices[base, 0])
    height += normals[row, 1] * (y - vertices[base, 1])
    return height + normals[row, 2] * (z - vertices[base, 2])


@subkernel
def where_it_lies(mesh, tables, row, side, pose, size):
    """BEFORE a triangle that pushes to ``side`` if the other shape's centre was there, or hardly behind it; or another.

    Parameters
    ----------
    mesh : MeshView
        (read)
    tables : MeshTables
        ``probe`` holds the centre at the substep's start, and the last contacts' normals (read).
    row, side : int
        The triangle, and the side to which it pushes.
    pose : float64 [4, 3]
        The other shape in the mesh's frame, where it may have come since (read).
    size : float
        Of the smaller shape [m].

    Returns
    -------
    int
        BEHIND, BEFORE or GONE_THROUGH.
    """
    vertices, triangles, normals, probe = mesh.vertices, mesh.triangles, mesh.normals, tables.probe
    x, y, z = probe.center[0], probe.center[1], probe.center[2]
    height = side * height_over(vertices, triangles, normals, row, x, y, z)
    if height >= -RATIO_TOUCHING * size:
        x, y, z = pose[POSITION, 0], pose[POSITION, 1], pose[POSITION, 2]
        now = side * height_over(vertices, triangles, normals, row, x, y, z)
        return np.int64(GONE_THROUGH if now < -RATIO_TOUCHING * size else BEFORE)
    is_held = height >= -RATIO_BEYOND * size and side * held_side(mesh, row, tables) > 0
    is_held = is_held or tables.candidate.held[row] & _ASTRIDE != 0
    return np.int64(BEFORE if is_held else BEHIND)


@subkernel
def held_side(mesh, row, tables):
    """To which side of a triangle (1, -1) the last contacts with its part of the mesh pushed; 0 if they do not say.

    A part has one side all over. So a contact that pushed to the one side of the triangle it lay on does not speak for
    one that it would push to the other side of: that is a wall across from it, as in a pipe or an hourglass.
    """
    normals, probe, held = mesh.normals, tables.probe, tables.candidate.held[row]
    is_open = not (mesh.triangles[row, FLAGS] >> SOLID) & 1
    best = COSINE_HELD
    side = 0
    for place in range(probe.held_count[0]):
        if not (held >> place) & 1:
            continue
        cosine, own = 0.0, 0.0
        touched = probe.held_triangle[place] if is_open else np.int64(UNLISTED)
        for i in range(3):
            cosine += normals[row, i] * probe.held[place, i]
            own += (normals[touched, i] if touched >= 0 else normals[row, i]) * probe.held[place, i]
        if abs(cosine) > best and cosine * own > 0.0:
            best = abs(cosine)
            side = 1 if cosine > 0.0 else -1
    return side


@subkernel
def held_side_of_part(mesh, row, tables):
    """To which side of its own triangle the clearest of the last contacts with a triangle's open part pushed, or 0."""
    normals, probe, held = mesh.normals, tables.probe, tables.candidate.held[row]
    best = COSINE_HELD
    side = 0
    for place in range(probe.held_count[0]):
        touched = probe.held_triangle[place]
        if touched < 0 or not (held >> place) & 1:
            continue
        cosine = 0.0
        for i in range(3):
            cosine += normals[touched, i] * probe.held[place, i]
        if abs(cosine) > best:
            best = abs(cosine)
            side = 1 if cosine > 0.0 else -1
    return side


@subkernel
def choose_sides(mesh, tables, polytopes, pair, pose, count):
    """Write to which side each of ``count`` listed triangles pushes; ``pose`` is the other shape's in the mesh's frame.

    Closed parts push to the pair's side. Connected listed triangles of open parts push to the side on which the other's
    centre is, seen from the nearest of them; or on which it was, where it is hardly beyond, as their own last contacts
    say, and not those with another part near by.
    """
    triangles, candidate = mesh.triangles, tables.candidate
    has_open = False
    for place in range(count):
        row = candidate.listed[place]
        candidate.held[row] = _ALL_HELD
        if not (triangles[row, FLAGS] >> SOLID) & 1:
            candidate.pushes_to[place] = 0
            candidate.place[row] = place + 1
            has_open = True
            continue
        candidate.pushes_to[place] = pair.side
    if not has_open:
        return
    find_held_triangles(mesh, tables)
    for place in range(count):
        if candidate.pushes_to[place] == 0:
            together = gather_neighbors(triangles, candidate, place)
            hold_group(tables, together)
            side = side_of_group(mesh, tables, polytopes, pair, pose, together)
            for member in range(together):
                candidate.pushes_to[candidate.stack[member]] = side
    for place in range(count):
        candidate.place[candidate.listed[place]] = 0


@subkernel
def find_held_triangles(mesh, tables):
    """Write on which of the listed triangles of open parts the pair's last contacts lay."""
    candidate, probe = tables.candidate, tables.probe
    for contact in range(probe.held_count[0]):
        x, y, z = probe.held_point[contact, 0], probe.held_point[contact, 1], probe.held_point[contact, 2]
        row, _ = nearest_triangle(mesh.vertices, mesh.triangles, mesh.nodes, mesh.boxes, x, y, z, candidate.stack)
        if candidate.place[row] == 0:
            row = np.int64(CLOSED if (mesh.triangles[row, FLAGS] >> SOLID) & 1 else UNLISTED)
        probe.held_triangle[contact] = row


@subkernel
def hold_group(tables, together):
    """Note which of the last contacts lay on the first ``together`` triangles in the stack, or on none listed."""
    candidate, probe = tables.candidate, tables.probe
    held = 0
    for contact in range(probe.held_count[0]):
        row = probe.held_triangle[contact]
        is_here = row == UNLISTED
        for member in range(together if row >= 0 else 0):
            is_here = is_here or candidate.listed[candidate.stack[member]] == row
        held |= (1 if is_here else 0) << contact
    for member in range(together):
        candidate.held[candidate.listed[candidate.stack[member]]] = held


@subkernel
def gather_neighbors(triangles, candidate, first):
    """Put the places of the listed triangles that are connected with one into the stack; return how many they are."""
    stack = candidate.stack
    stack[0] = first
    candidate.place[candidate.listed[first]] = 0
    count, looked_at = 1, 0
    while looked_at < count:
        row = candidate.listed[stack[looked_at]]
        looked_at += 1
        for edge in range(3):
            other = triangles[row, NEIGHBORS + edge]
            if other >= 0 and candidate.place[other // 3] > 0:
                stack[count] = candidate.place[other // 3] - 1
                candidate.place[other // 3] = 0
                count += 1
    return count


@subkernel
def side_of_group(mesh, tables, polytopes, pair, pose, together):
    """The side to which the first ``together`` triangles in the stack push."""
    size = pair.size
    vertices, triangles, normals = mesh.vertices, mesh.triangles, mesh.normals
    candidate, probe = tables.candidate, tables.probe
    x, y, z = probe.center[0], probe.center[1], probe.center[2]
    least, nearest = INFINITE, 0
    for member in range(together):
        row = candidate.listed[candidate.stack[member]]
        p, q, r, _ = closest_on_triangle(vertices, triangles[row, 0], triangles[row, 1], triangles[row, 2], x, y, z)
        square = (x - p) ** 2 + (y - q) ** 2 + (z - r) ** 2
        if square < least:
            least, nearest = square, row
    last = held_side(mesh, nearest, tables)
    if last == 0:
        last = held_side_of_part(mesh, nearest, tables)
    height = height_over(vertices, triangles, normals, nearest, x, y, z)
    if last != 0 and last * height >= -RATIO_BEYOND * size:
        return last
    nx, ny, nz = normals[nearest, 0], normals[nearest, 1], normals[nearest, 2]
    rises = nx * probe.up[0] + ny * probe.up[1] + nz * probe.up[2]
    thickness = thickness_along(polytopes, pair.other, pose, nx, ny, nz)
    # by how far it is from the sheet itself: beside an edge the nearest triangle's plane may be nearer
    if last == 0 and not is_steep(rises) and is_astride(least**0.5, thickness):
        for member in range(together):
            candidate.held[candidate.listed[candidate.stack[member]]] |= _ASTRIDE
        return 1 if rises > 0.0 else -1
    return 1 if side_of_point(vertices, triangles, normals, nearest, x, y, z) >= 0.0 else -1


@subkernel
def is_beside(mesh, polytopes, other, row, slack, pose):
    """Whether a triangle stays out of the other shape's own bounding box, which is tighter than the one in the mesh.

    Parameters
    ----------
    mesh : MeshView
        (read)
    polytopes : HullArrays
        (read)
    other : PairShape
        (read)
    row : int
        Triangle.
    slack : float
        Added all around [m].
    pose : float64 [4, 3]
        The mesh in the other's frame (read).
    """
    vertices, triangles = mesh.vertices, mesh.triangles
    a, b, c = triangles[row, 0], triangles[row, 1], triangles[row, 2]
    kind, parameters, bounds = other.kind, other.parameters, polytopes.bounds[other.polytope]
    for i in range(3):
        lower, upper = bounds[0, i] - slack, bounds[1, i] + slack
        if is_round(kind):
            upper = parameters[0] + slack
            if i == 2 and kind != SPHERE:
                upper = parameters[1] + slack + (parameters[0] if kind == CAPSULE else 0.0)
            lower = -upper
        x, y, z, at = pose[i, 0], pose[i, 1], pose[i, 2], pose[POSITION, i]
        p = at + x * vertices[a, 0] + y * vertices[a, 1] + z * vertices[a, 2]
        q = at + x * vertices[b, 0] + y * vertices[b, 1] + z * vertices[b, 2]
        r = at + x * vertices[c, 0] + y * vertices[c, 1] + z * vertices[c, 2]
        if min(p, q, r) > upper or max(p, q, r) < lower:
            return True
    return False


@subkernel
def set_triangle(mesh, polytopes, row, triangle, side, probe):
    """Write a triangle into the mesh's first row among the polytopes; swept back along the path, into the second.

    Its face 0 is on the side to which it pushes, and its corners run counterclockwise about that.
    """
    vertex, plane, normals = polytopes.vertex, polytopes.plane, mesh.normals
    base, face = polytopes.start[row, VERTICES], polytopes.start[row, FACES]
    place_corners(mesh, polytopes, row, triangle, side)
    offset = 0.0
    for i in range(3):
        plane[face, i] = side * normals[triangle, i]
        plane[face + 1, i] = -side * normals[triangle, i]
        for corner in range(3):
            at = vertex[base + corner, i]
            vertex[base + 3 + corner, i] = at
            vertex[base + 6 + corner, i] = at - probe.path[i]
        offset += plane[face, i] * vertex[base, i]
    plane[face, 3] = offset
    plane[face + 1, 3] = -offset


@subkernel
def place_corners(mesh, polytopes, row, triangle, side):
    """Write a triangle's corners into the mesh's first row among the polytopes."""
    base = polytopes.start[row, VERTICES]
    for corner in range(3):
        at = mesh.triangles[triangle, corner if side > 0 else 2 - corner]
        for i in range(3):
            polytopes.vertex[base + corner, i] = mesh.vertices[at, i]


@subkernel
def from_triangle(polytopes, row, pose):
    """Direction from a corner of a mesh's row among the polytopes to the middle of the other shape."""
    corner = polytopes.vertex[polytopes.start[row, VERTICES]]
    return pose[POSITION, 0] - corner[0], pose[POSITION, 1] - corner[1], pose[POSITION, 2] - corner[2]


@subkernel
def triangle_distance(polytopes, row, pair, reach, scratch):
    """Distance of one of a mesh's rows among the polytopes from the other shape, as of ``shape_distance``."""
    sheet = triangle_shape(row, pair.other)
    x, y, z = from_triangle(polytopes, row, scratch.pose.b_in_a)
    return shape_distance(polytopes, sheet, pair.other, x, y, z, reach, RATIO_TOUCHING * pair.size, scratch)
