"""Contacts of two polytopes (boxes, hulls): which features face each other, and the manifold they give.

Stages, each only where the one before leaves the answer open:

1. separations along face normals (for boxes along all 15 axes);
2. the manifold of the best face: where its smallest gap is the separation itself, that is the exact distance or depth;
3. closest points (GJK) where the shapes are apart, edge normals where they overlap: the exact value, against which the
   face manifold is judged.

Faces are preferred: a manifold of four corners holds a box, an edge contact lets it turn. Where shapes overlap, a face
manifold stands unless it is worse than the exact value by more than ``RATIO_FACE_PREFERRED`` of the size. Apart there
is no such doubt, and closest points win where a face is not as near.

Where edges or closest points win by little, the face's contacts stay beside theirs, measured along the exact normal n.
They are pairs of points p - q = g n of the two shapes, and no such g is less than the exact gap, so the least gap stays
exact. Without them boxes that tumble over each other sank in at all other corners: a heap of a hundred overlapped by a
fifth of a box where it now does by a sixtieth.
"""

import numpy as np

from ..kernel import subkernel
from .box_separation import box_edge, separate_boxes
from .closest_points import RATIO_TOUCHING, closest_points, into_frame
from .hull_separation import best_face_normal, find_side, separate_faces, separate_hull_edges
from .manifold import face_manifold
from .workspace import (
    A_IN_B,
    B_IN_A,
    BEST_A,
    BEST_B,
    BEST_EDGES,
    CLOSEST_POINTS,
    DIRECTION,
    EDGE_NORMAL,
    EDGE_OF_A,
    EDGE_OF_B,
    EDGES,
    FACE_OF_A,
    FACE_OF_B,
    FACES,
    GAP,
    NORMAL,
    ON_A,
    ON_B,
    ORIGIN,
    ORIGIN_FEATURE,
    POINT_A,
    POINT_B,
    POSITION,
    SEPARATION,
    SIDE,
    TWO_EDGES,
    VERTICES,
)

# Where shapes overlap, a face manifold may be deeper than the exact way out by this share of the smaller one's size.
RATIO_FACE_PREFERRED = 5e-5
# Apart, it may be farther than the exact distance by this share of it, unless it held before: its normal is then within
# 0.1 degree of that of the closest points (the cosine is 1 less this).
RATIO_FACE_FARTHER = 1.5e-6

# A face's contacts stay beside a better one whose normal is within 8 degrees of the face's (cosine).
COSINE_SAME_FACE = 0.99
# ... but for the one within this share of the smaller shape's size of it, which says the same.
RATIO_SAME_CONTACT = 0.01

# Two separations that differ by less than this share of the smaller shape's size are equal: then a's face goes first.
RATIO_TIE = 1e-6

# The face of the last step is kept until another is better by this share of the smaller shape's size.
RATIO_HYSTERESIS = 1e-4

INFINITE = 1e300


@subkernel
def polytope_contacts(
    polytopes, a, b, are_boxes, half_a, half_b, size, reach, enough, maximal_points, reference, feature, scratch
):
    """Make the manifold of two polytopes.

    Parameters
    ----------
    polytopes : HullArrays
        (read)
    a, b : int
        Their rows.
    are_boxes : bool
        Both are boxes, of ``half_a`` and ``half_b`` half extents.
    half_a, half_b : float64 [3]
        [m]; not used for hulls.
    size : float
        Of the smaller shape [m].
    reach : float
        Largest gap that makes a contact [m].
    enough : float
        Boxes get no contact where faces show that none is deeper than this [m].
    maximal_points : int
    reference, feature : int
        As in ``PairArrays``, of the last step; they decide near ties.
    scratch : PairScratch
        Relative pose (read); the manifold, and ``left_out`` (written).

    Returns
    -------
    int
        Contacts.
    """
    axes, best = scratch.axes, scratch.feature
    favoured_a = feature if reference == FACE_OF_A else -1
    favoured_b = feature if reference == FACE_OF_B else -1
    touching, tie, favour = RATIO_TOUCHING * size, RATIO_TIE * size, RATIO_HYSTERESIS * size
    stays_on_sheet = False
    if are_boxes:
        # A manifold may be that of a face that the last step favours.
        enough = min(reach, enough + favour)
        separate_boxes(half_a, half_b, scratch.pose, axes, best, favoured_a, favoured_b, favour, enough)
    else:
        stays_on_sheet = separate_hulls(
            polytopes, a, b, size, reach, favoured_a, favoured_b, favour, scratch.pose, axes, best
        )
    faces = max(axes[SEPARATION, BEST_A], axes[SEPARATION, BEST_B])
    separation = max(faces, axes[SEPARATION, BEST_EDGES])
    if separation > reach or (are_boxes and faces > enough):
        scratch.left_out[0] = separation
        return 0

    is_face_of_b = axes[SEPARATION, BEST_B] > axes[SEPARATION, BEST_A] + tie
    if FACE_OF_A <= reference <= FACE_OF_B:
        tie = favour
        is_face_of_b = axes[SEPARATION, BEST_B] > axes[SEPARATION, BEST_A] + (tie if reference == FACE_OF_A else -tie)
    near = RATIO_FACE_PREFERRED * size + tie
    farther = 0.0 if FACE_OF_A <= reference <= FACE_OF_B else RATIO_FACE_FARTHER
    face_separation = axes[SEPARATION, BEST_B if is_face_of_b else BEST_A]
    holder, face, other = (b, best[BEST_B], a) if is_face_of_b else (a, best[BEST_A], b)
    count, deepest = face_manifold(
        polytopes, holder, face, other, is_face_of_b, reach, size, maximal_points, not are_boxes, scratch
    )
    if not are_boxes:
        scratch.left_out[0] = reach

    face_x, face_y, face_z = axes[NORMAL, 0], axes[NORMAL, 1], axes[NORMAL, 2]

    if stays_on_sheet and count > 0 and deepest <= touching:
        # What is nearest may lie on the sheet's other side.
        return count
    if separation > touching:
        if count > 0 and is_near(deepest, separation, touching + farther * separation if farther > 0.0 else near):
            return count
    elif are_boxes and stands(count, deepest, face_separation, separation, near):
        return count
    # Apart, or not yet known to overlap: a face may find nothing deep below it although edges cross beside it, and of a
    # sheet only the axes to one side have been tried.
    is_sheet = not are_boxes and (polytopes.flat_face[a] >= 0 or polytopes.flat_face[b] >= 0)
    if separation > touching or count == 0 or deepest > touching or is_sheet:
        distance = closest_points(polytopes, a, b, reach, touching, scratch.pose, scratch.simplex, scratch.closest)
        if distance > reach:
            scratch.left_out[0] = distance
            return 0
        if distance > 0.0:
            if count > 0 and is_near(deepest, distance, touching + farther * distance if farther > 0.0 else near):
                return count
            set_aside(scratch.contact, count)
            closest_points_contact(distance, scratch.closest, axes, best, scratch.contact)
            return join_face(face_x, face_y, face_z, is_face_of_b, face, count, size, maximal_points, scratch)
    if not are_boxes:
        separate_hull_edges(polytopes, a, b, touching, scratch)
        if stands(count, deepest, face_separation, max(faces, axes[SEPARATION, BEST_EDGES]), near):
            return count
    edges = axes[SEPARATION, BEST_EDGES]
    if edges > faces:
        set_aside(scratch.contact, count)
        edge_contact(polytopes, a, b, are_boxes, half_a, half_b, scratch)
        return join_face(face_x, face_y, face_z, is_face_of_b, face, count, size, maximal_points, scratch)
    if count > 0 and deepest <= touching:
        return count
    return deepest_vertex_contact(polytopes, a, b, scratch)


@subkernel
def separate_hulls(polytopes, a, b, size, reach, favoured_a, favoured_b, favour, pose, axes, feature):
    """Separations along the face normals of two hulls; returns whether one stays on its side of a sheet.

    Edges are left for where they are needed.
    """
    axes[SEPARATION, BEST_B] = -INFINITE
    axes[SEPARATION, BEST_EDGES] = -INFINITE
    stays_on_sheet = find_side(polytopes, a, b, size, favoured_a, favoured_b, pose, axes[SIDE])
    x, y, z = axes[SIDE, 0], axes[SIDE, 1], axes[SIDE, 2]
    axes[SEPARATION, BEST_A], feature[BEST_A] = separate_faces(
        polytopes, a, b, pose[B_IN_A], x, y, z, reach, favoured_a, favour
    )
    if axes[SEPARATION, BEST_A] <= reach:
        x, y, z = into_frame(pose[B_IN_A], -x, -y, -z)
        axes[SEPARATION, BEST_B], feature[BEST_B] = separate_faces(
            polytopes, b, a, pose[A_IN_B], x, y, z, reach, favoured_b, favour
        )
    return stays_on_sheet


@subkernel
def is_near(gap, exact, allowed):
    """Whether a face manifold's smallest gap is as good as the exact distance (or depth)."""
    return abs(gap - exact) <= allowed


@subkernel
def stands(count, deepest, face_separation, exact, allowed):
    """Whether a face manifold of overlapping shapes stands: its lowest point is as deep as the exact way out is long,
    and so is all that lies below the face's plane, also beside the face.
    """
    return count > 0 and is_near(deepest, exact, allowed) and is_near(face_separation, exact, allowed)


@subkernel
def set_aside(contact, count):
    """Move the first of a manifold's contacts behind the others, to make room for a better one."""
    for column in range(GAP + 1):
        contact[count, column] = contact[0, column]


@subkernel
def join_face(face_x, face_y, face_z, is_face_of_b, face, count, size, maximal_points, scratch):
    """Keep the contacts of a face behind the exact one in row 0, if it leads nearly the same way; return how many.

    Parameters
    ----------
    face_x, face_y, face_z : float
        The face's normal from a to b.
    is_face_of_b, face
        Whose face it is, and its number.
    count : int
        Its contacts, in the rows from 1 on.
    size : float
        Of the smaller shape [m].
    maximal_points : int
    scratch : PairScratch
        ``contact`` and ``feature`` written.
    """
    axes, contact, feature = scratch.axes, scratch.contact, scratch.feature
    nx, ny, nz = axes[NORMAL, 0], axes[NORMAL, 1], axes[NORMAL, 2]
    cosine = face_x * nx + face_y * ny + face_z * nz
    if count == 0 or cosine < COSINE_SAME_FACE:
        return np.int64(1)
    # The points of the other shape stay; their feet on the face's plane are looked for along the exact normal.
    stays = POINT_A if is_face_of_b else POINT_B
    moves = POINT_B if is_face_of_b else POINT_A
    sign = 1.0 if is_face_of_b else -1.0
    nearest, square = 1, INFINITE
    for row in range(1, count + 1):
        gap = max(contact[row, GAP] / cosine, contact[0, GAP])
        contact[row, GAP] = gap
        distance = 0.0
        for i in range(3):
            contact[row, moves + i] = contact[row, stays + i] + sign * gap * axes[NORMAL, i]
            distance += (contact[row, stays + i] - contact[0, stays + i]) ** 2
        if distance < square:
            nearest, square = row, distance
    last = count
    if count + 1 > maximal_points or square < (RATIO_SAME_CONTACT * size) ** 2:
        for column in range(GAP + 1):
            contact[nearest, column] = contact[count, column]
        last -= 1
    feature[ORIGIN] = FACE_OF_B if is_face_of_b else FACE_OF_A
    feature[ORIGIN_FEATURE] = face
    return last + 1


@subkernel
def closest_points_contact(distance, closest, axes, feature, contact):
    """One contact at the closest points."""
    for i in range(3):
        contact[0, POINT_A + i] = closest[ON_A, i]
        contact[0, POINT_B + i] = closest[ON_B, i]
        axes[NORMAL, i] = closest[DIRECTION, i]
    contact[0, GAP] = distance
    feature[ORIGIN] = CLOSEST_POINTS
    feature[ORIGIN_FEATURE] = -1
    return 1


@subkernel
def edge_contact(polytopes, a, b, are_boxes, half_a, half_b, scratch):
    """One contact where the two edges that separate best come closest."""
    axes, feature, pose = scratch.axes, scratch.feature, scratch.pose[B_IN_A]
    # The simplex is free here: its corners hold the ends of the edges, of a and then of b.
    ends = scratch.simplex
    if are_boxes:
        x, y, z = axes[EDGE_NORMAL, 0], axes[EDGE_NORMAL, 1], axes[EDGE_NORMAL, 2]
        box_edge(half_a, feature[EDGE_OF_A], x, y, z, ends[0], ends[1])
        x, y, z = into_frame(pose, -x, -y, -z)
        box_edge(half_b, feature[EDGE_OF_B], x, y, z, ends[2], ends[3])
    else:
        start = polytopes.start
        for end in range(2):
            vertex_a = start[a, VERTICES] + polytopes.edge[start[a, EDGES] + feature[EDGE_OF_A], end]
            vertex_b = start[b, VERTICES] + polytopes.edge[start[b, EDGES] + feature[EDGE_OF_B], end]
            for i in range(3):
                ends[end, i] = polytopes.vertex[vertex_a, i]
                ends[2 + end, i] = polytopes.vertex[vertex_b, i]
    for end in range(2, 4):
        x, y, z = ends[end, 0], ends[end, 1], ends[end, 2]
        for i in range(3):
            ends[end, i] = pose[POSITION, i] + pose[i, 0] * x + pose[i, 1] * y + pose[i, 2] * z
    closest_of_edges(ends, scratch.contact)
    scratch.contact[0, GAP] = axes[SEPARATION, BEST_EDGES]
    for i in range(3):
        axes[NORMAL, i] = axes[EDGE_NORMAL, i]
    feature[ORIGIN] = TWO_EDGES
    feature[ORIGIN_FEATURE] = -1
    return 1


@subkernel
def closest_of_edges(ends, contact):
    """Closest points of the lines through ends 0, 1 and ends 2, 3, held to the edges (Ericson 2005, section 5.1.9)."""
    aa, ab, bb, ac, bc = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(3):
        along_a = ends[1, i] - ends[0, i]
        along_b = ends[3, i] - ends[2, i]
        between = ends[0, i] - ends[2, i]
        aa += along_a * along_a
        ab += along_a * along_b
        bb += along_b * along_b
        ac += along_a * between
        bc += along_b * between
    # The edges are not parallel, so the determinant is above 0.
    share_a = min(max((ab * bc - bb * ac) / (aa * bb - ab * ab), 0.0), 1.0)
    share_b = min(max((ab * share_a + bc) / bb, 0.0), 1.0)
    for i in range(3):
        contact[0, POINT_A + i] = ends[0, i] + share_a * (ends[1, i] - ends[0, i])
        contact[0, POINT_B + i] = ends[2, i] + share_b * (ends[3, i] - ends[2, i])


@subkernel
def deepest_vertex_contact(polytopes, a, b, scratch):
    """One contact at the vertex deepest below the best face: for what no rule above caught."""
    axes, feature, pose, contact = scratch.axes, scratch.feature, scratch.pose[B_IN_A], scratch.contact
    start, vertex = polytopes.start, polytopes.vertex
    is_face_of_b = axes[SEPARATION, BEST_B] > axes[SEPARATION, BEST_A]
    nx, ny, nz = best_face_normal(polytopes.plane, start[a, FACES], start[b, FACES], axes, feature, pose)
    # The vertex is looked for in the frame of its own hull.
    hull, x, y, z = a, nx, ny, nz
    if not is_face_of_b:
        hull = b
        x, y, z = into_frame(pose, -nx, -ny, -nz)
    base = start[hull, VERTICES]
    best = base
    for row in range(base, start[hull + 1, VERTICES]):
        height = vertex[row, 0] * x + vertex[row, 1] * y + vertex[row, 2] * z
        if height > vertex[best, 0] * x + vertex[best, 1] * y + vertex[best, 2] * z:
            best = row
    gap = axes[SEPARATION, BEST_B] if is_face_of_b else axes[SEPARATION, BEST_A]
    axes[NORMAL, 0], axes[NORMAL, 1], axes[NORMAL, 2] = nx, ny, nz
    for i in range(3):
        if is_face_of_b:
            contact[0, POINT_A + i] = vertex[best, i]
            contact[0, POINT_B + i] = vertex[best, i] + gap * axes[NORMAL, i]
        else:
            at = pose[POSITION, i] + pose[i, 0] * vertex[best, 0] + pose[i, 1] * vertex[best, 1]
            contact[0, POINT_B + i] = at + pose[i, 2] * vertex[best, 2]
            contact[0, POINT_A + i] = contact[0, POINT_B + i] - gap * axes[NORMAL, i]
    contact[0, GAP] = gap
    feature[ORIGIN] = FACE_OF_B if is_face_of_b else FACE_OF_A
    feature[ORIGIN_FEATURE] = feature[BEST_B] if is_face_of_b else feature[BEST_A]
    return 1
