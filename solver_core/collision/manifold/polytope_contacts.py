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

from typing import NamedTuple

import numpy as np

from ...compiled.kernel import subkernel
from ..data.workspace import (
    BOX,
    CLOSEST_POINTS,
    EDGES,
    FACE_OF_A,
    FACE_OF_B,
    FACES,
    INFINITE,
    POSITION,
    TWO_EDGES,
    VERTICES,
)
from ..distance.box_separation import box_edge, separate_boxes
from ..distance.closest_points import RATIO_TOUCHING, closest_points, into_frame
from ..distance.hull_separation import best_face_normal, separate_faces, separate_hull_edges
from ..distance.sheet_sides import find_side
from .cap_manifold import hull_manifold
from .face_manifold import face_manifold, move_point

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


class BestFace(NamedTuple):
    """The face that separates two polytopes best, and what its manifold says.

    Attributes
    ----------
    is_of_b : bool
        Whose it is.
    face : int
        Its number.
    normal : tuple of three float
        From a to b, frame of a.
    count : int
        Contacts of its manifold.
    deepest : float
        Smallest gap among them [m].
    separation : float
        Of the other polytope from its plane [m].
    near : float
        How far these may be off the exact depth [m].
    farther : float
        By which share the manifold may be farther than the exact distance; 0 if the face held before: then ``near``.
    """

    is_of_b: bool
    face: int
    normal: tuple
    count: int
    deepest: float
    separation: float
    near: float
    farther: float


@subkernel
def polytope_contacts(polytopes, a, b, size, reach, enough, maximal_points, reference, feature, scratch):
    """Make the manifold of two polytopes.

    Parameters
    ----------
    polytopes : HullArrays
        (read)
    a, b : PairShape
        (read)
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
        Relative pose (read); the manifold, and ``cull_distance`` (written).

    Returns
    -------
    int
        Contacts.
    """
    axes, touching = scratch.axes, RATIO_TOUCHING * size
    # A sheet asks for the rules of a hull: which side its pushes lead to.
    is_sheet = max(polytopes.flat_face[a.polytope], polytopes.flat_face[b.polytope]) >= 0
    are_boxes = a.kind == BOX and b.kind == BOX and not is_sheet
    stays_on_sheet, enough = separate_polytopes(
        polytopes, a, b, are_boxes, size, reach, enough, reference, feature, scratch
    )
    faces = max(axes.separation_a[0], axes.separation_b[0])
    separation = max(faces, axes.separation_edges[0])
    if separation > reach or faces > enough:
        scratch.cull_distance[0] = separation
        return 0

    best = manifold_of_best_face(polytopes, a, b, are_boxes, size, reach, maximal_points, reference, scratch)
    if stays_on_sheet and best.count > 0 and best.deepest <= touching:
        # What is nearest may lie on the sheet's other side.
        return best.count
    if separation > touching:
        if is_as_near(best, separation, touching):
            return best.count
    elif are_boxes and stands(best, separation):
        return best.count

    # Apart, or not yet known to overlap: a face may find nothing deep below it although edges cross beside it, and of a
    # sheet only the axes to one side have been tried.
    if separation > touching or best.count == 0 or best.deepest > touching or is_sheet:
        distance = closest_points(polytopes, a.polytope, b.polytope, *best.normal, reach, touching, scratch)
        if distance > reach:
            scratch.cull_distance[0] = distance
            return 0
        if distance > 0.0:
            if is_as_near(best, distance, touching):
                return best.count
            set_aside(scratch.manifold, best.count)
            closest_points_contact(distance, scratch.closest, axes, scratch.feature, scratch.manifold)
            return join_face(best, size, maximal_points, scratch)
    return contacts_of_overlap(polytopes, a, b, are_boxes, best, size, maximal_points, scratch)


@subkernel
def separate_polytopes(polytopes, a, b, are_boxes, size, reach, enough, reference, feature, scratch):
    """Separations along the axes that are tried first; arguments as of ``polytope_contacts``.

    Returns
    -------
    stays_on_sheet : bool
        Whether one stays on its side of a sheet.
    enough : float
        From which separation of faces on there are no contacts [m].
    """
    favoured_a = feature if reference == FACE_OF_A else -1
    favoured_b = feature if reference == FACE_OF_B else -1
    favour, axes, best, pose = RATIO_HYSTERESIS * size, scratch.axes, scratch.feature, scratch.pose
    if not are_boxes:
        return separate_hulls(polytopes, a, b, size, reach, favoured_a, favoured_b, favour, pose, axes, best), reach
    # A manifold may be that of a face that the last step favours.
    enough = min(reach, enough + favour)
    separate_boxes(a.parameters, b.parameters, pose, axes, best, favoured_a, favoured_b, favour, enough)
    return False, enough


@subkernel
def manifold_of_best_face(polytopes, a, b, are_boxes, size, reach, maximal_points, reference, scratch):
    """Make the manifold of the face that separates best; arguments as of ``polytope_contacts``.

    Returns
    -------
    BestFace
    """
    axes, feature, tie = scratch.axes, scratch.feature, RATIO_TIE * size
    is_of_b = axes.separation_b[0] > axes.separation_a[0] + tie
    farther = RATIO_FACE_FARTHER
    if FACE_OF_A <= reference <= FACE_OF_B:
        tie, farther = RATIO_HYSTERESIS * size, 0.0
        is_of_b = axes.separation_b[0] > axes.separation_a[0] + (tie if reference == FACE_OF_A else -tie)
    separation = axes.separation_b[0] if is_of_b else axes.separation_a[0]
    holder, face, other = a.polytope, feature.best_a[0], b.polytope
    if is_of_b:
        holder, face, other = b.polytope, feature.best_b[0], a.polytope
    if are_boxes:
        count, deepest = face_manifold(polytopes, holder, face, other, is_of_b, reach, size, maximal_points, scratch)
    else:
        count, deepest = hull_manifold(polytopes, holder, face, other, is_of_b, reach, size, maximal_points, scratch)
        scratch.cull_distance[0] = reach
    normal = axes.normal[0], axes.normal[1], axes.normal[2]
    return BestFace(is_of_b, face, normal, count, deepest, separation, RATIO_FACE_PREFERRED * size + tie, farther)


@subkernel
def contacts_of_overlap(polytopes, a, b, are_boxes, best, size, maximal_points, scratch):
    """Contacts of polytopes that overlap or touch: of the best face, or else of two edges or a vertex.

    Parameters
    ----------
    best : BestFace
        (read)
    polytopes, a, b, are_boxes, size, maximal_points, scratch
        As of ``polytope_contacts``.

    Returns
    -------
    int
        Contacts.
    """
    axes, touching = scratch.axes, RATIO_TOUCHING * size
    faces = max(axes.separation_a[0], axes.separation_b[0])
    has_low_points = best.count > 0 and best.deepest <= touching
    if not are_boxes:
        if has_low_points and touching - min(faces, best.separation) <= best.near:
            # The overlap is less than what a face may be off by: it stands, whatever edges say.
            return best.count
        separate_hull_edges(polytopes, a.polytope, b.polytope, touching, scratch)
        if stands(best, max(faces, axes.separation_edges[0])):
            return best.count
    if axes.separation_edges[0] > faces:
        set_aside(scratch.manifold, best.count)
        edge_contact(polytopes, a, b, are_boxes, scratch)
        return join_face(best, size, maximal_points, scratch)
    if has_low_points:
        return best.count
    return deepest_vertex_contact(polytopes, a.polytope, b.polytope, scratch)


@subkernel
def separate_hulls(polytopes, a, b, size, reach, favoured_a, favoured_b, favour, pose, axes, feature):
    """Separations along the face normals of two hulls; returns whether one stays on its side of a sheet.

    Edges are left for where they are needed.
    """
    axes.separation_b[0] = -INFINITE
    axes.separation_edges[0] = -INFINITE
    stays_on_sheet = find_side(polytopes, a, b, size, favoured_a, favoured_b, pose, axes.side)
    x, y, z = axes.side[0], axes.side[1], axes.side[2]
    axes.separation_a[0], feature.best_a[0] = separate_faces(
        polytopes, a.polytope, b.polytope, pose.b_in_a, x, y, z, reach, favoured_a, favour
    )
    if axes.separation_a[0] <= reach:
        x, y, z = into_frame(pose.b_in_a, -x, -y, -z)
        axes.separation_b[0], feature.best_b[0] = separate_faces(
            polytopes, b.polytope, a.polytope, pose.a_in_b, x, y, z, reach, favoured_b, favour
        )
    return stays_on_sheet


@subkernel
def is_near(gap, exact, allowed):
    """Whether a face manifold's smallest gap is as good as the exact distance (or depth)."""
    return abs(gap - exact) <= allowed


@subkernel
def is_as_near(best, exact, touching):
    """Whether the best face's manifold is as near as polytopes are that are this far apart [m]."""
    allowed = touching + best.farther * exact if best.farther > 0.0 else best.near
    return best.count > 0 and is_near(best.deepest, exact, allowed)


@subkernel
def stands(best, exact):
    """Whether a face manifold of overlapping shapes stands: its lowest point is as deep as the exact way out is long,
    and so is all that lies below the face's plane, also beside the face.
    """
    is_exact = is_near(best.deepest, exact, best.near) and is_near(best.separation, exact, best.near)
    return best.count > 0 and is_exact


@subkernel
def set_aside(manifold, count):
    """Move the first of a manifold's contacts behind the others, to make room for a better one."""
    move_point(manifold, np.int64(0), count)


@subkernel
def join_face(best, size, maximal_points, scratch):
    """Keep the contacts of a face behind the exact one in row 0, if it leads nearly the same way; return how many.

    Parameters
    ----------
    best : BestFace
        Its contacts are in the rows from 1 on.
    size : float
        Of the smaller shape [m].
    maximal_points : int
    scratch : PairScratch
        ``manifold`` and ``feature`` written.
    """
    axes, manifold, feature, count = scratch.axes, scratch.manifold, scratch.feature, best.count
    nx, ny, nz = axes.normal[0], axes.normal[1], axes.normal[2]
    cosine = best.normal[0] * nx + best.normal[1] * ny + best.normal[2] * nz
    if count == 0 or cosine < COSINE_SAME_FACE:
        return np.int64(1)
    # The points of the other shape stay; their feet on the face's plane are found along the exact normal.
    stays = manifold.point_a if best.is_of_b else manifold.point_b
    moves = manifold.point_b if best.is_of_b else manifold.point_a
    sign = 1.0 if best.is_of_b else -1.0
    nearest, square = 1, INFINITE
    for row in range(1, count + 1):
        gap = max(manifold.gap[row] / cosine, manifold.gap[0])
        manifold.gap[row] = gap
        distance = 0.0
        for i in range(3):
            moves[row, i] = stays[row, i] + sign * gap * axes.normal[i]
            distance += (stays[row, i] - stays[0, i]) ** 2
        if distance < square:
            nearest, square = row, distance
    last = count
    if count + 1 > maximal_points or square < (RATIO_SAME_CONTACT * size) ** 2:
        move_point(manifold, count, nearest)
        last -= 1
    feature.origin[0] = FACE_OF_B if best.is_of_b else FACE_OF_A
    feature.origin_feature[0] = best.face
    return last + 1


@subkernel
def closest_points_contact(distance, closest, axes, feature, manifold):
    """One contact at the closest points."""
    for i in range(3):
        manifold.point_a[0, i] = closest.on_a[i]
        manifold.point_b[0, i] = closest.on_b[i]
        axes.normal[i] = closest.direction[i]
    manifold.gap[0] = distance
    feature.origin[0] = CLOSEST_POINTS
    feature.origin_feature[0] = -1
    return 1


@subkernel
def edge_contact(polytopes, a, b, are_boxes, scratch):
    """One contact where the two edges that separate best come closest."""
    axes, feature, pose = scratch.axes, scratch.feature, scratch.pose.b_in_a
    ends = scratch.ends
    if are_boxes:
        x, y, z = axes.edge_normal[0], axes.edge_normal[1], axes.edge_normal[2]
        box_edge(a.parameters, feature.edge_of_a[0], x, y, z, ends[0], ends[1])
        x, y, z = into_frame(pose, -x, -y, -z)
        box_edge(b.parameters, feature.edge_of_b[0], x, y, z, ends[2], ends[3])
    else:
        start, row_a, row_b = polytopes.start, a.polytope, b.polytope
        for end in range(2):
            vertex_a = start[row_a, VERTICES] + polytopes.edge[start[row_a, EDGES] + feature.edge_of_a[0], end]
            vertex_b = start[row_b, VERTICES] + polytopes.edge[start[row_b, EDGES] + feature.edge_of_b[0], end]
            for i in range(3):
                ends[end, i] = polytopes.vertex[vertex_a, i]
                ends[2 + end, i] = polytopes.vertex[vertex_b, i]
    for end in range(2, 4):
        x, y, z = ends[end, 0], ends[end, 1], ends[end, 2]
        for i in range(3):
            ends[end, i] = pose[POSITION, i] + pose[i, 0] * x + pose[i, 1] * y + pose[i, 2] * z
    closest_of_edges(ends, scratch.manifold)
    scratch.manifold.gap[0] = axes.separation_edges[0]
    for i in range(3):
        axes.normal[i] = axes.edge_normal[i]
    feature.origin[0] = TWO_EDGES
    feature.origin_feature[0] = -1
    return 1


@subkernel
def closest_of_edges(ends, manifold):
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
        manifold.point_a[0, i] = ends[0, i] + share_a * (ends[1, i] - ends[0, i])
        manifold.point_b[0, i] = ends[2, i] + share_b * (ends[3, i] - ends[2, i])


@subkernel
def deepest_vertex_contact(polytopes, a, b, scratch):
    """One contact at the vertex deepest below the best face: for what no rule above caught."""
    axes, feature, pose, manifold = scratch.axes, scratch.feature, scratch.pose.b_in_a, scratch.manifold
    start, vertex = polytopes.start, polytopes.vertex
    is_face_of_b = axes.separation_b[0] > axes.separation_a[0]
    nx, ny, nz = best_face_normal(polytopes.plane, start[a, FACES], start[b, FACES], axes, feature, pose)
    # The vertex is searched in the frame of its own hull.
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
    gap = axes.separation_b[0] if is_face_of_b else axes.separation_a[0]
    axes.normal[0], axes.normal[1], axes.normal[2] = nx, ny, nz
    for i in range(3):
        if is_face_of_b:
            manifold.point_a[0, i] = vertex[best, i]
            manifold.point_b[0, i] = vertex[best, i] + gap * axes.normal[i]
        else:
            at = pose[POSITION, i] + pose[i, 0] * vertex[best, 0] + pose[i, 1] * vertex[best, 1]
            manifold.point_b[0, i] = at + pose[i, 2] * vertex[best, 2]
            manifold.point_a[0, i] = manifold.point_b[0, i] - gap * axes.normal[i]
    manifold.gap[0] = gap
    feature.origin[0] = FACE_OF_B if is_face_of_b else FACE_OF_A
    feature.origin_feature[0] = feature.best_b[0] if is_face_of_b else feature.best_a[0]
    return 1
