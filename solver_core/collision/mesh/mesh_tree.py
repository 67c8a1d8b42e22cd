"""A tree of bounding boxes over each mesh's triangles: built once, refitted where the mesh deforms, and its queries.

The nodes are made as those of the broad phase (``aabb_tree``). The triangles are put into the tree's order, so that a
leaf's lie side by side.
"""

import numpy as np

from ...compiled.kernel import kernel, subkernel
from ..data.mesh_tables import (
    AMID_FLAT,
    CONCAVE,
    CONVEX,
    CORNERS,
    FLAGS,
    FLAT,
    NEIGHBORS,
    RIM,
    SOLID,
    MeshCandidates,
    MeshTables,
    allocate_mesh_contacts,
    allocate_mesh_probe,
)
from ..data.workspace import INFINITE
from ..distance.aabb_tree import build_nodes

LEAF_TRIANGLES = 4
# A split leaves at least this share on either side, so that the tree is at most some 140 nodes deep.
SMALLEST_SHARE = 0.125
# Nodes that a walk down a tree can leave waiting.
STACK_LENGTH = 256

# An edge is flat, and not felt, if the neighbour's far corner lies off the triangle's plane by at most this angle
# [rad], or by this share of the mesh's size, which is the rounding of single precision.
ANGLE_FLAT = 1e-5
RATIO_FLAT_HEIGHT = 4e-7


def allocate_mesh_tables(meshes) -> MeshTables:
    """Tables of ``MeshArrays``, with trees."""
    mesh_count, triangle_count = len(meshes.start) - 1, len(meshes.triangle)
    triangle = np.zeros((triangle_count, FLAGS + 1), np.int64)
    triangle[:, CORNERS:NEIGHBORS] = meshes.triangle
    triangle[:, NEIGHBORS:FLAGS] = meshes.neighbor
    triangle[:, FLAGS] = meshes.is_solid << SOLID
    triangle_start = meshes.start[:, 1]
    longest = max(int(np.diff(triangle_start).max(initial=1)), STACK_LENGTH)
    tables = MeshTables(
        vertex_start=meshes.start[:, 0].copy(),
        triangle_start=triangle_start.copy(),
        node_start=np.zeros(mesh_count + 1, np.int64),
        vertex=meshes.vertex.copy(),
        is_sharp=np.zeros(len(meshes.vertex), np.bool_),
        vertex_velocity=np.zeros((len(meshes.vertex), 3)),
        triangle=triangle,
        normal=np.zeros((triangle_count, 3)),
        # A tree of n leaves has 2 n - 1 nodes, and each leaf has a triangle at least.
        node=np.zeros((2 * triangle_count, 2), np.int64),
        box=np.zeros((2 * triangle_count, 6)),
        speed=np.zeros(mesh_count),
        has_deformed=np.zeros(mesh_count, bool),
        candidate=MeshCandidates(*(np.zeros(longest, np.int64) for _ in MeshCandidates._fields)),
        probe=allocate_mesh_probe(),
        contact=allocate_mesh_contacts(),
    )
    if mesh_count == 0:
        return tables
    node_count = build_trees(tables)
    tables = tables._replace(node=tables.node[:node_count].copy(), box=tables.box[:node_count].copy())
    refit_trees(tables)
    return tables


@kernel(allocates=True)
def build_trees(tables):
    """Put every mesh's triangles into the order of its tree, and write the nodes; returns how many there are."""
    node_count = 0
    for mesh in range(len(tables.speed)):
        tables.node_start[mesh] = node_count
        vertices = tables.vertex[tables.vertex_start[mesh] :]
        first, last = tables.triangle_start[mesh], tables.triangle_start[mesh + 1]
        triangles = tables.triangle[first:last]
        count = last - first
        center = np.zeros((count, 3))
        for row in range(count):
            for corner in range(3):
                for i in range(3):
                    center[row, i] += vertices[triangles[row, corner], i]
        order = np.arange(count)
        node, stack = tables.node[node_count:], np.zeros((STACK_LENGTH, 3), np.int64)
        node_count += build_nodes(center, order, np.int64(LEAF_TRIANGLES), SMALLEST_SHARE, node, stack)
        reorder_triangles(triangles, order)
    tables.node_start[-1] = node_count
    return node_count


@subkernel(allocates=True)
def reorder_triangles(triangles, order):
    """Put a mesh's triangles into the given order; the neighbours are named anew."""
    place = np.empty(len(order), np.int64)
    for row in range(len(order)):
        place[order[row]] = row
    old = triangles.copy()
    for row in range(len(order)):
        triangles[row, :] = old[order[row], :]
        for edge in range(3):
            other = old[order[row], NEIGHBORS + edge]
            if other >= 0:
                triangles[row, NEIGHBORS + edge] = 3 * place[other // 3] + other % 3


@kernel
def refit_trees(tables):
    """Normals, classes of edges and boxes of all meshes, from the positions of their vertices."""
    for mesh in range(len(tables.speed)):
        refit_tree(tables, mesh)


@subkernel
def refit_tree(tables, mesh):
    """Normals, classes of edges and boxes of one mesh."""
    first_vertex, end_vertex = tables.vertex_start[mesh], tables.vertex_start[mesh + 1]
    first_triangle, end_triangle = tables.triangle_start[mesh], tables.triangle_start[mesh + 1]
    first_node, end_node = tables.node_start[mesh], tables.node_start[mesh + 1]
    vertices, is_sharp = tables.vertex[first_vertex:end_vertex], tables.is_sharp[first_vertex:end_vertex]
    triangles, normals = tables.triangle[first_triangle:end_triangle], tables.normal[first_triangle:end_triangle]
    nodes, boxes = tables.node[first_node:end_node], tables.box[first_node:end_node]
    fit_boxes(vertices, triangles, nodes, boxes)
    for row in range(len(triangles)):
        set_normal(vertices, triangles, row, normals[row])
    size = 0.0
    for i in range(3):
        size = max(size, boxes[0, 3 + i] - boxes[0, i])
    for row in range(len(vertices)):
        is_sharp[row] = False
    for row in range(len(triangles)):
        flags = triangles[row, FLAGS] & (1 << SOLID)
        for edge in range(3):
            kind = edge_class(vertices, triangles, normals, row, edge, size)
            flags |= kind << (2 * edge)
            if kind != FLAT:
                is_sharp[triangles[row, edge]] = True
                is_sharp[triangles[row, (edge + 1) % 3]] = True
        triangles[row, FLAGS] = flags
    for row in range(len(triangles)):
        for corner in range(3):
            if not is_sharp[triangles[row, corner]]:
                triangles[row, FLAGS] |= 1 << (AMID_FLAT + corner)


@subkernel
def fit_boxes(vertices, triangles, nodes, boxes):
    """Boxes of a mesh's nodes, children first."""
    for here in range(len(nodes) - 1, -1, -1):
        first, count = nodes[here, 0], nodes[here, 1]
        for i in range(3):
            if count == 0:
                boxes[here, i] = min(boxes[first, i], boxes[first + 1, i])
                boxes[here, 3 + i] = max(boxes[first, 3 + i], boxes[first + 1, 3 + i])
                continue
            lowest, highest = INFINITE, -INFINITE
            for row in range(first, first + count):
                for corner in range(3):
                    value = vertices[triangles[row, corner], i]
                    lowest = min(lowest, value)
                    highest = max(highest, value)
            boxes[here, i] = lowest
            boxes[here, 3 + i] = highest


@subkernel
def set_normal(vertices, triangles, row, normal):
    """Write a triangle's unit normal; a triangle that has lost its area in a deformation keeps the one it had."""
    a, b, c = triangles[row, 0], triangles[row, 1], triangles[row, 2]
    ux, uy, uz = vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1], vertices[b, 2] - vertices[a, 2]
    vx, vy, vz = vertices[c, 0] - vertices[a, 0], vertices[c, 1] - vertices[a, 1], vertices[c, 2] - vertices[a, 2]
    x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    length = (x * x + y * y + z * z) ** 0.5
    if length > 0.0:
        normal[0], normal[1], normal[2] = x / length, y / length, z / length


@subkernel
def edge_class(vertices, triangles, normals, row, edge, size):
    """FLAT, CONVEX, CONCAVE or RIM, seen from the side to which the normals point."""
    other = triangles[row, NEIGHBORS + edge]
    if other < 0:
        return RIM
    tail, head = triangles[row, edge], triangles[row, (edge + 1) % 3]
    far = triangles[other // 3, (other % 3 + 2) % 3]
    height, along, length, reach, alike = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(3):
        side = vertices[head, i] - vertices[tail, i]
        arm = vertices[far, i] - vertices[tail, i]
        height += normals[row, i] * arm
        along += side * arm
        length += side * side
        reach += arm * arm
        alike += normals[row, i] * normals[other // 3, i]
    distance = max(reach - along * along / length, 0.0) ** 0.5
    if alike > 0.0 and abs(height) <= max(ANGLE_FLAT * distance, RATIO_FLAT_HEIGHT * size):
        return FLAT
    return CONVEX if height <= 0.0 else CONCAVE


@subkernel
def list_triangles(vertices, triangles, nodes, boxes, probe, candidate):
    """List the triangles whose bounding boxes overlap the one in ``probe``; return how many they are."""
    stack, listed = candidate.stack, candidate.listed
    count = np.int64(0)
    stack[0] = 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        here = stack[waiting]
        if is_apart(boxes[here], probe):
            continue
        first, triangle_count = nodes[here, 0], nodes[here, 1]
        if triangle_count == 0:
            # The left child is on top: triangles are listed in the tree's order.
            stack[waiting] = first + 1
            stack[waiting + 1] = first
            waiting += 2
            continue
        for row in range(first, first + triangle_count):
            a, b, c = triangles[row, 0], triangles[row, 1], triangles[row, 2]
            overlaps = True
            for i in range(3):
                p, q, r = vertices[a, i], vertices[b, i], vertices[c, i]
                overlaps = overlaps and min(p, q, r) <= probe.upper[i] and max(p, q, r) >= probe.lower[i]
            if overlaps:
                listed[count] = row
                count += 1
    return count


@subkernel
def is_apart(box, probe):
    """Whether a node's box and the one in ``probe`` do not overlap."""
    for i in range(3):  # noqa: SIM110 (Numba would compile a generator for any())
        if box[i] > probe.upper[i] or box[3 + i] < probe.lower[i]:
            return True
    return False


@subkernel
def nearest_triangle(vertices, triangles, nodes, boxes, x, y, z, stack):
    """The triangle nearest to a point, and its distance."""
    least, nearest = INFINITE, np.int64(0)
    stack[0] = 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        here = stack[waiting]
        if square_to_box(boxes[here], x, y, z) >= least:
            continue
        first, triangle_count = nodes[here, 0], nodes[here, 1]
        if triangle_count == 0:
            left_is_nearer = square_to_box(boxes[first], x, y, z) <= square_to_box(boxes[first + 1], x, y, z)
            stack[waiting] = first + 1 if left_is_nearer else first
            stack[waiting + 1] = first if left_is_nearer else first + 1
            waiting += 2
            continue
        for row in range(first, first + triangle_count):
            p, q, r, _ = closest_on_triangle(vertices, triangles[row, 0], triangles[row, 1], triangles[row, 2], x, y, z)
            square = (x - p) ** 2 + (y - q) ** 2 + (z - r) ** 2
            if square < least:
                least = square
                nearest = row
    return nearest, least**0.5


@subkernel
def square_to_box(box, x, y, z):
    """Squared distance of a point from a box."""
    dx = max(box[0] - x, 0.0, x - box[3])
    dy = max(box[1] - y, 0.0, y - box[4])
    dz = max(box[2] - z, 0.0, z - box[5])
    return dx * dx + dy * dy + dz * dz


@subkernel
def closest_on_triangle(vertices, a, b, c, x, y, z):
    """The point of a triangle nearest to a point, and where it lies (Ericson 2005, section 5.1.5).

    Returns
    -------
    x, y, z : float
    feature : int
        0 to 2 a corner, 3 to 5 the edge from corner 0 to 2, 6 the face.
    """
    ax, ay, az = vertices[a, 0], vertices[a, 1], vertices[a, 2]
    ux, uy, uz = vertices[b, 0] - ax, vertices[b, 1] - ay, vertices[b, 2] - az
    vx, vy, vz = vertices[c, 0] - ax, vertices[c, 1] - ay, vertices[c, 2] - az
    px, py, pz = x - ax, y - ay, z - az
    uu, uv, vv = ux * ux + uy * uy + uz * uz, ux * vx + uy * vy + uz * vz, vx * vx + vy * vy + vz * vz
    up, vp = ux * px + uy * py + uz * pz, vx * px + vy * py + vz * pz
    # Weights of the corners b and c (and of a) times the square of twice the area, of the point's foot on the plane.
    of_b, of_c = vv * up - uv * vp, uu * vp - uv * up
    of_a = uu * vv - uv * uv - of_b - of_c
    if up <= 0.0 and vp <= 0.0:
        return ax, ay, az, 0
    if up >= uu and vp - uv <= up - uu:
        return vertices[b, 0], vertices[b, 1], vertices[b, 2], 1
    if vp >= vv and up - uv <= vp - vv:
        return vertices[c, 0], vertices[c, 1], vertices[c, 2], 2
    if of_c <= 0.0 and 0.0 <= up <= uu:
        share = up / uu
        return ax + share * ux, ay + share * uy, az + share * uz, 3
    if of_b <= 0.0 and 0.0 <= vp <= vv:
        share = vp / vv
        return ax + share * vx, ay + share * vy, az + share * vz, 5
    if of_a <= 0.0:
        share = (vp - uv - up + uu) / (uu - 2.0 * uv + vv)
        return (
            ax + (1.0 - share) * ux + share * vx,
            ay + (1.0 - share) * uy + share * vy,
            az + (1.0 - share) * uz + share * vz,
            4,
        )
    whole = of_a + of_b + of_c
    s, t = of_b / whole, of_c / whole
    return ax + s * ux + t * vx, ay + s * uy + t * vy, az + s * uz + t * vz, 6
