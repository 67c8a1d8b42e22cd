"""Contacts of two polytopes (boxes, hulls): which features face each other, and the manifold they give.

Stages, each only where the one before leaves the answer open:

1. separations along face normals (for boxes along all 15 axes);
2. the manifold of the best face: where its smallest gap is the separation itself, that is the exact distance or depth;
3. closest points (GJK) where the shapes are apart, edge normals where they overlap: the exact value, against which the
   face manifold is judged.

Faces are preferred: a manifold of four corners holds a box, an edge contact lets it turn. A face manifold that is
at most ``RATIO_FACE_PREFERRED`` worse than the exact value stands, so edges win only where they really cross.
"""

from ..kernel import kernel
from .box_separation import box_edge, separate_boxes
from .closest_points import RATIO_TOUCHING, closest_points, support_vertex
from .hull_separation import best_face_normal, separate_faces, separate_hull_edges
from .manifold import face_manifold
from .workspace import CLOSEST_POINTS, FACE_OF_A, FACE_OF_B, TWO_EDGES

# A face manifold may be this share deeper (or farther) than the exact way out; its normal is then within 8 degrees
# of it.
RATIO_FACE_PREFERRED = 0.01

# Two separations that differ by less than this share of the smaller shape's size are equal: then a's face goes first.
RATIO_TIE = 1e-6

# The face of the last step is kept until another is better by this share of the smaller shape's size.
RATIO_HYSTERESIS = 1e-4

INFINITE = 1e300


@kernel
def polytope_contacts(workspace, shape_a, shape_b, are_boxes, half_a, half_b, reach, maximal_points, reference, feature):
    """Make the manifold of two polytopes.

    Parameters
    ----------
    workspace : CollisionWorkspace
        Relative pose in ``scratch`` (read); ``manifold`` written.
    shape_a, shape_b : int
    are_boxes : bool
        Both are boxes, of ``half_a`` and ``half_b`` half extents.
    half_a, half_b : float64 [3]
        [m]; not used for hulls.
    reach : float
        Largest gap that makes a contact [m].
    maximal_points : int
    reference, feature : int
        As in ``PairArrays``, of the last step; they decide near ties.

    Returns
    -------
    int
        Contacts.
    """
    polytopes, scratch, manifold = workspace.polytopes, workspace.scratch, workspace.manifold
    a, b = workspace.polytope[shape_a], workspace.polytope[shape_b]
    size = min(workspace.size[shape_a], workspace.size[shape_b])
    favoured_a = feature if reference == FACE_OF_A else -1
    favoured_b = feature if reference == FACE_OF_B else -1
    favour = RATIO_HYSTERESIS * size
    touching = RATIO_TOUCHING * size
    tie = RATIO_TIE * size

    if are_boxes:
        separate_boxes(half_a, half_b, scratch, favoured_a, favoured_b, favour)
    elif not separate_hulls(polytopes, a, b, reach, favoured_a, favoured_b, favour, scratch):
        return 0
    separation = max(scratch.separation[0], scratch.separation[1], scratch.separation[2])
    if separation > reach:
        return 0

    lead = tie
    if reference == FACE_OF_A or reference == FACE_OF_B:
        lead = favour if reference == FACE_OF_A else -favour
        tie = favour
    on_b = scratch.separation[1] > scratch.separation[0] + lead
    count, deepest = face_manifold(
        polytopes,
        b if on_b else a,
        scratch.feature[1] if on_b else scratch.feature[0],
        a if on_b else b,
        on_b,
        reach,
        size,
        maximal_points,
        scratch,
        manifold,
    )
    meets = count > 0 and deepest <= touching
    if not are_boxes and separation <= touching and meets:
        separate_hull_edges(polytopes, a, b, touching, scratch)
        separation = max(separation, scratch.separation[2])
    if count > 0 and (are_boxes or separation > touching or meets) and is_near(deepest, separation, tie):
        return count

    if separation > touching or not meets:
        distance = closest_points(polytopes, a, b, reach, touching, scratch)
        if distance > reach:
            return 0
        if distance > 0.0:
            if count > 0 and is_near(deepest, distance, tie):
                return count
            return closest_points_contact(manifold, scratch, distance)
        if not are_boxes and scratch.separation[2] <= -INFINITE:
            separate_hull_edges(polytopes, a, b, touching, scratch)
    if scratch.separation[2] > max(scratch.separation[0], scratch.separation[1]) or (
        count == 0 and scratch.separation[2] > -INFINITE
    ):
        return edge_contact(polytopes, a, b, are_boxes, half_a, half_b, scratch, manifold)
    if count > 0:
        return count
    return deepest_vertex_contact(polytopes, a, b, scratch, manifold)


@kernel
def separate_hulls(polytopes, a, b, reach, favoured_a, favoured_b, favour, scratch):
    """Fill the face separations of two hulls; False if they are out of reach. Edges are left for later."""
    scratch.separation[1] = -INFINITE
    scratch.separation[2] = -INFINITE
    separation, face = separate_faces(
        polytopes, a, b, scratch.rotation, scratch.translation, reach, favoured_a, favour
    )
    scratch.separation[0] = separation
    scratch.feature[0] = face
    if separation > reach:
        return False
    separation, face = separate_faces(
        polytopes, b, a, scratch.inverse_rotation, scratch.inverse_translation, reach, favoured_b, favour
    )
    scratch.separation[1] = separation
    scratch.feature[1] = face
    return separation <= reach


@kernel
def is_near(gap, exact, tie):
    """Whether a face manifold's smallest gap is as good as the exact distance (or depth)."""
    return abs(gap - exact) <= RATIO_FACE_PREFERRED * abs(exact) + tie


@kernel
def closest_points_contact(manifold, scratch, distance):
    """One contact at the closest points."""
    manifold.point_a[0, :] = scratch.closest_a[:]
    manifold.point_b[0, :] = scratch.closest_b[:]
    manifold.normal[:] = scratch.closest_normal[:]
    manifold.gap[0] = distance
    manifold.origin[0] = CLOSEST_POINTS
    manifold.origin[1] = -1
    return 1


@kernel
def edge_contact(polytopes, a, b, are_boxes, half_a, half_b, scratch, manifold):
    """One contact where the two edges that separate best come closest."""
    # The ends of the edges go where the closest points are wanted: scratch.simplex is free here.
    ends = scratch.simplex
    n = scratch.edge_normal
    r, t = scratch.rotation, scratch.translation
    if are_boxes:
        box_edge(half_a, scratch.feature[2], n[0], n[1], n[2], ends[0], ends[1])
        x = -(r[0, 0] * n[0] + r[1, 0] * n[1] + r[2, 0] * n[2])
        y = -(r[0, 1] * n[0] + r[1, 1] * n[1] + r[2, 1] * n[2])
        z = -(r[0, 2] * n[0] + r[1, 2] * n[1] + r[2, 2] * n[2])
        box_edge(half_b, scratch.feature[3], x, y, z, ends[2], ends[3])
    else:
        row_a = polytopes.edge_start[a] + scratch.feature[2]
        row_b = polytopes.edge_start[b] + scratch.feature[3]
        for end in range(2):
            ends[end, :] = polytopes.vertex[polytopes.vertex_start[a] + polytopes.edge_vertex[row_a, end]]
            ends[2 + end, :] = polytopes.vertex[polytopes.vertex_start[b] + polytopes.edge_vertex[row_b, end]]
    for end in range(2, 4):
        x, y, z = ends[end]
        for axis in range(3):
            ends[end, axis] = t[axis] + r[axis, 0] * x + r[axis, 1] * y + r[axis, 2] * z
    closest_of_edges(ends, manifold.point_a[0], manifold.point_b[0])
    manifold.normal[:] = n[:]
    manifold.gap[0] = scratch.separation[2]
    manifold.origin[0] = TWO_EDGES
    manifold.origin[1] = -1
    return 1


@kernel
def closest_of_edges(ends, point_a, point_b):
    """Closest points of the lines through ends 0, 1 and ends 2, 3, held to the edges (Ericson 2005, section 5.1.9)."""
    aa, ab, bb, ac, bc = 0.0, 0.0, 0.0, 0.0, 0.0
    for axis in range(3):
        along_a = ends[1, axis] - ends[0, axis]
        along_b = ends[3, axis] - ends[2, axis]
        between = ends[0, axis] - ends[2, axis]
        aa += along_a * along_a
        ab += along_a * along_b
        bb += along_b * along_b
        ac += along_a * between
        bc += along_b * between
    # The edges are not parallel, so the determinant is above 0.
    share_a = min(max((ab * bc - bb * ac) / (aa * bb - ab * ab), 0.0), 1.0)
    share_b = min(max((ab * share_a + bc) / bb, 0.0), 1.0)
    for axis in range(3):
        point_a[axis] = ends[0, axis] + share_a * (ends[1, axis] - ends[0, axis])
        point_b[axis] = ends[2, axis] + share_b * (ends[3, axis] - ends[2, axis])


@kernel
def deepest_vertex_contact(polytopes, a, b, scratch, manifold):
    """One contact at the vertex deepest below the best face: for what no rule above caught."""
    on_b = scratch.separation[1] > scratch.separation[0]
    nx, ny, nz = best_face_normal(polytopes, a, b, scratch)
    gap = scratch.separation[1] if on_b else scratch.separation[0]
    r, t = scratch.rotation, scratch.translation
    if on_b:
        vertex = polytopes.vertex[polytopes.vertex_start[a] + support_vertex(polytopes, a, nx, ny, nz, 0)]
        manifold.point_a[0, :] = vertex[:]
        manifold.point_b[0, 0] = vertex[0] + gap * nx
        manifold.point_b[0, 1] = vertex[1] + gap * ny
        manifold.point_b[0, 2] = vertex[2] + gap * nz
    else:
        x = -(r[0, 0] * nx + r[1, 0] * ny + r[2, 0] * nz)
        y = -(r[0, 1] * nx + r[1, 1] * ny + r[2, 1] * nz)
        z = -(r[0, 2] * nx + r[1, 2] * ny + r[2, 2] * nz)
        vertex = polytopes.vertex[polytopes.vertex_start[b] + support_vertex(polytopes, b, x, y, z, 0)]
        for axis in range(3):
            placed = t[axis] + r[axis, 0] * vertex[0] + r[axis, 1] * vertex[1] + r[axis, 2] * vertex[2]
            manifold.point_b[0, axis] = placed
        manifold.point_a[0, 0] = manifold.point_b[0, 0] - gap * nx
        manifold.point_a[0, 1] = manifold.point_b[0, 1] - gap * ny
        manifold.point_a[0, 2] = manifold.point_b[0, 2] - gap * nz
    manifold.normal[0] = nx
    manifold.normal[1] = ny
    manifold.normal[2] = nz
    manifold.gap[0] = gap
    manifold.origin[0] = FACE_OF_B if on_b else FACE_OF_A
    manifold.origin[1] = scratch.feature[1] if on_b else scratch.feature[0]
    return 1
