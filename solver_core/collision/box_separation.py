"""Separating axes of two boxes: 3 + 3 face normals and 9 cross products of edges.

Gottschalk, Lin and Manocha 1996; Ericson 2005, section 4.4. Fills the same fields of the scratch as
``hull_separation``, with face and edge numbers of ``ConvexHull.from_box``.
"""

from ..kernel import kernel

# Sine of the angle between two edges below which their cross product is no axis of its own: face normals separate
# as well.
SINE_PARALLEL_EDGES = 1e-6

INFINITE = 1e300


@kernel
def separate_boxes(half_a, half_b, scratch, favoured_a, favoured_b, favour):
    """Largest separations along face normals of a, of b, and along normals of two edges.

    Parameters
    ----------
    half_a, half_b : float64 [3]
        Half extents [m] (read).
    scratch : PairScratch
        Relative pose (read); ``separation``, ``feature``, ``edge_normal`` written. ``feature[2]`` and ``feature[3]``
        are the axes of the two edges here; ``box_edge`` finds the edges.
    favoured_a, favoured_b : int
        Faces that win near ties, -1 for none.
    favour : float
        How near [m].
    """
    r = scratch.rotation
    t = scratch.translation
    best = -INFINITE
    for i in range(3):
        radius = half_a[i]
        for j in range(3):
            radius += half_b[j] * abs(r[i, j])
        separation = abs(t[i]) - radius
        face = 2 * i + (1 if t[i] < 0.0 else 0)
        if separation + (favour if face == favoured_a else 0.0) > best:
            best = separation + (favour if face == favoured_a else 0.0)
            scratch.separation[0] = separation
            scratch.feature[0] = face
    best = -INFINITE
    for j in range(3):
        along = t[0] * r[0, j] + t[1] * r[1, j] + t[2] * r[2, j]
        radius = half_b[j]
        for i in range(3):
            radius += half_a[i] * abs(r[i, j])
        separation = abs(along) - radius
        # The face of b that looks back at a.
        face = 2 * j + (0 if along < 0.0 else 1)
        if separation + (favour if face == favoured_b else 0.0) > best:
            best = separation + (favour if face == favoured_b else 0.0)
            scratch.separation[1] = separation
            scratch.feature[1] = face
    separate_edges(half_a, half_b, scratch)


@kernel
def separate_edges(half_a, half_b, scratch):
    """The nine axes e_i x (R e_j), in the frame of a."""
    r = scratch.rotation
    t = scratch.translation
    scratch.separation[2] = -INFINITE
    for i in range(3):
        i1 = (i + 1) % 3
        i2 = (i + 2) % 3
        for j in range(3):
            # e_i x (R e_j) has components (0, -r[i2, j], r[i1, j]) along (i, i1, i2).
            length = (r[i1, j] * r[i1, j] + r[i2, j] * r[i2, j]) ** 0.5
            if length < SINE_PARALLEL_EDGES:
                continue
            j1 = (j + 1) % 3
            j2 = (j + 2) % 3
            along = t[i2] * r[i1, j] - t[i1] * r[i2, j]
            radius = (
                half_a[i1] * abs(r[i2, j])
                + half_a[i2] * abs(r[i1, j])
                + half_b[j1] * abs(r[i, j2])
                + half_b[j2] * abs(r[i, j1])
            )
            separation = (abs(along) - radius) / length
            if separation > scratch.separation[2]:
                sign = -1.0 if along < 0.0 else 1.0
                scratch.separation[2] = separation
                scratch.feature[2] = i
                scratch.feature[3] = j
                scratch.edge_normal[i] = 0.0
                scratch.edge_normal[i1] = -sign * r[i2, j] / length
                scratch.edge_normal[i2] = sign * r[i1, j] / length


@kernel
def box_edge(half, axis, x, y, z, start, end):
    """Write the ends of the edge along ``axis`` that lies farthest in the direction (x, y, z) of the box's frame."""
    direction = (x, y, z)
    for i in range(3):
        start[i] = half[i] if direction[i] >= 0.0 else -half[i]
        end[i] = start[i]
    start[axis] = -half[axis]
    end[axis] = half[axis]
