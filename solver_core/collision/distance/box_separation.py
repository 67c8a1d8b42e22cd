"""Separating axes of two boxes: 3 + 3 face normals and 9 cross products of edges.

Gottschalk, Lin and Manocha 1996; Ericson 2005, section 4.4. Fills the same fields of the scratch as
``hull_separation``, with face and edge numbers of ``ConvexHull.from_box``.
"""

from ...compiled.kernel import subkernel
from ..data.workspace import (
    INFINITE,
    POSITION,
)
from .hull_separation import SINE_PARALLEL_EDGES


@subkernel
def separate_boxes(half_a, half_b, pose, axes, feature, favoured_a, favoured_b, favour, enough):
    """Largest separations along face normals of a, of b, and along normals of two edges.

    Parameters
    ----------
    half_a, half_b : float64 [3]
        Half extents [m] (read).
    pose, axes, feature : PairPoses, PairAxes, PairFeatures
        Of ``PairScratch``: relative pose (read), separations and their features (written). The features of edges are
        the axes of the two edges here; ``box_edge`` finds the edges.
    favoured_a, favoured_b : int
        Faces that win near ties, -1 for none.
    favour : float
        How near [m].
    enough : float
        Where faces separate by more than this, edges are not tried [m].
    """
    axes.separation_a[0], feature.best_a[0] = separate_box_faces(half_a, half_b, pose.b_in_a, favoured_a, favour)
    axes.separation_b[0], feature.best_b[0] = separate_box_faces(half_b, half_a, pose.a_in_b, favoured_b, favour)
    axes.separation_edges[0] = -INFINITE
    if max(axes.separation_a[0], axes.separation_b[0]) <= enough:
        separate_box_edges(half_a, half_b, pose.b_in_a, axes, feature)


@subkernel
def separate_box_faces(half, other_half, pose, favoured, favour):
    """Best separation and face of one box; ``pose`` is that of the other box in its frame."""
    best = -INFINITE
    best_separation = -INFINITE
    best_face = 0
    for i in range(3):
        radius = half[i]
        for j in range(3):
            radius += other_half[j] * abs(pose[i, j])
        separation = abs(pose[POSITION, i]) - radius
        face = 2 * i + (1 if pose[POSITION, i] < 0.0 else 0)
        favoured_separation = separation + (favour if face == favoured else 0.0)
        if favoured_separation > best:
            best = favoured_separation
            best_separation = separation
            best_face = face
    return best_separation, best_face


@subkernel
def separate_box_edges(half_a, half_b, pose, axes, feature):
    """The nine axes e_i x (R e_j), in the frame of a."""
    best = -INFINITE
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            # e_i x (R e_j) has components (0, -R[i2, j], R[i1, j]) along (i, i1, i2).
            length = (pose[i1, j] * pose[i1, j] + pose[i2, j] * pose[i2, j]) ** 0.5
            if length < SINE_PARALLEL_EDGES:
                continue
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            along = pose[POSITION, i2] * pose[i1, j] - pose[POSITION, i1] * pose[i2, j]
            radius = (
                half_a[i1] * abs(pose[i2, j])
                + half_a[i2] * abs(pose[i1, j])
                + half_b[j1] * abs(pose[i, j2])
                + half_b[j2] * abs(pose[i, j1])
            )
            separation = (abs(along) - radius) / length
            if separation > best:
                best = separation
                scale = (-1.0 if along < 0.0 else 1.0) / length
                feature.edge_of_a[0] = i
                feature.edge_of_b[0] = j
                axes.edge_normal[i] = 0.0
                axes.edge_normal[i1] = -scale * pose[i2, j]
                axes.edge_normal[i2] = scale * pose[i1, j]
    axes.separation_edges[0] = best


@subkernel
def box_edge(half, axis, x, y, z, start, end):
    """Write the ends of the edge along ``axis`` that lies farthest in the direction (x, y, z) of the box's frame."""
    direction = (x, y, z)
    for i in range(3):
        start[i] = half[i] if direction[i] >= 0.0 else -half[i]
        end[i] = start[i]
    start[axis] = -half[axis]
    end[axis] = half[axis]
