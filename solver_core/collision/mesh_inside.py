"""Shapes in a closed part of a mesh: whether it is a room for them, and the way out for those whose centre is inside.

A shape that lies wholly within a closed part without touching it when the two first meet is in a room, which pushes
inwards. Any other shape is pushed out, however deep it has come.

Where its centre is inside, the triangles around may push in any direction, even against each other. So one way out is
chosen for all. Let c be the centre, and p the point of a triangle that is nearest to c; where p lies on an edge or a
corner, it must be locally nearest: the triangles around it do not come nearer. Seen from inside those are faces, seams
of flat areas, and hollow edges and corners. The way leads along n = (p - c) / |p - c|, and the depth along it is

    n . p - min over x in the shape of n . x

which for a ball of radius r is |p - c| + r. The nearest point of all the part is among the p, so there always is a way;
the one of the least depth is taken. Contacts that oppose it (n_k . n < 0) are dropped: moving along it closes none of
the gaps of those left.
"""

import numpy as np

from ..entries import call_for_count
from ..kernel import subkernel
from .closest_points import RATIO_TOUCHING
from .mesh_features import (
    BEHIND,
    FACE,
    FIRST_EDGE,
    around_corner,
    can_push,
    height_over,
    is_beside,
    set_triangle,
    side_of_point,
    triangle_distance,
    where_it_lies,
)
from .mesh_manifold import DROPPED, close_up, keep_contact, thin_out
from .mesh_polytopes import face_points, keep_points
from .mesh_round import keep_all, lowest_point
from .mesh_tables import (
    CENTER,
    CONTACT_ROWS,
    FLAGS,
    GROUP,
    LISTED,
    NEIGHBORS,
    ON_MESH,
    OUTWARDS,
    PUSHES_TO,
    SOLID,
    TRIANGLE,
)
from .mesh_tree import closest_on_triangle, nearest_triangle
from .workspace import A_IN_B, B_IN_A, CAPSULE, CONE, GAP, ROUND_ON_FACE, SPHERE

# Two directions are one, for what is pushed out of a mesh in which it lies deeper than its centre (cosine).
COSINE_ALIKE = 0.999

# A contact deeper than this (share of the smaller shape's size) is looked at: whether its point gets out there.
RATIO_DEEP = 0.01
# Where another contact is no farther than this (share of the smaller shape's size), it holds the shapes.
RATIO_HELD = 1e-6

# The way out of what is lowest looks where the mesh pushes beside it, to this cosine; else it is another side's.
COSINE_ABOUT = 0.5

# How often what is lowest is looked for anew; mostly the second is the first.
MOST_STEPS_DOWN = 8

# Another way out is taken if it is shorter by this share of the smaller shape's size than those before it.
RATIO_SHORTER = 1e-9

INFINITE = 1e300


@subkernel
def touches_any(
    vertices, triangles, normals, candidate, listed, polytopes, row, other, kind, parameters, size, probe, scratch
):
    """Whether a shape touches one of the listed triangles; arguments as of ``push_out``."""
    touching = RATIO_TOUCHING * size
    for place in range(listed):
        set_triangle(polytopes, row, vertices, triangles, normals, candidate[LISTED, place], np.int64(1), probe)
        distance = triangle_distance(polytopes, row, other, kind, parameters, touching, size, scratch)
        if distance <= touching:
            return True
    return False


@subkernel
def reach_lowest(
    vertices,
    triangles,
    normals,
    nodes,
    boxes,
    candidate,
    listed,
    side,
    polytopes,
    row,
    other,
    kind,
    parameters,
    size,
    probe,
    held,
    scratch,
    contact,
    count,
):
    """Add a shape's lowest point where it is deep below the mesh, beside the triangles that the shape meets.

    The triangle above the point may lie outside of the shape's box. The others have what lies over them, less deep, or
    nothing at all: what is cut off at a flat edge goes on over the neighbour. So the point is looked for from the
    deepest contact, and where nothing touches, from the triangles that the shape goes through.
    Arguments and returns as of ``push_out``.
    """
    pose, deep = scratch.pose[B_IN_A], RATIO_DEEP * size
    touching = RATIO_TOUCHING * size
    deepest = 0
    for place in range(1, count):
        if contact[place, GAP] < contact[deepest, GAP]:
            deepest = place
    if count > 0 and contact[deepest, GAP] <= RATIO_HELD * size:
        nx, ny, nz = contact[deepest, OUTWARDS], contact[deepest, OUTWARDS + 1], contact[deepest, OUTWARDS + 2]
        x, y, z = lowest_point(polytopes, other, kind, parameters, pose, nx, ny, nz)
        gap = nx * (x - contact[deepest, ON_MESH]) + ny * (y - contact[deepest, ON_MESH + 1])
        gap += nz * (z - contact[deepest, ON_MESH + 2])
        if gap >= min(contact[deepest, GAP] - touching, -deep):
            return count
        known, triangle = -contact[deepest, GAP] + touching, int(contact[deepest, TRIANGLE])
        return follow_down(
            vertices,
            triangles,
            normals,
            nodes,
            boxes,
            candidate,
            side,
            triangle,
            polytopes,
            other,
            kind,
            parameters,
            known,
            size,
            nx,
            ny,
            nz,
            scratch,
            contact,
            count,
        )
    # Where nothing else holds it, what came out behind a thin plate is led back, too.
    either = np.int64(0)
    for place in range(listed):
        triangle, sign = candidate[LISTED, place], candidate[PUSHES_TO, place]
        nx, ny, nz = sign * normals[triangle, 0], sign * normals[triangle, 1], sign * normals[triangle, 2]
        x, y, z = lowest_point(polytopes, other, kind, parameters, pose, nx, ny, nz)
        if sign * height_over(vertices, triangles, normals, triangle, x, y, z) >= -deep:
            continue
        # Mostly so, over hills that it does not touch.
        if is_beside(
            vertices, triangles, triangle, polytopes.bounds[other], kind, parameters, touching, scratch.pose[A_IN_B]
        ):
            continue
        if where_it_lies(vertices, triangles, normals, triangle, sign, probe, pose, held, size) == BEHIND:
            continue
        set_triangle(polytopes, row, vertices, triangles, normals, triangle, sign, probe)
        if triangle_distance(polytopes, row, other, kind, parameters, touching, size, scratch) > touching:
            continue
        fresh = follow_down(
            vertices,
            triangles,
            normals,
            nodes,
            boxes,
            candidate,
            either,
            triangle,
            polytopes,
            other,
            kind,
            parameters,
            touching,
            size,
            nx,
            ny,
            nz,
            scratch,
            contact,
            count,
        )
        if fresh > count:
            return fresh
    return count


@subkernel
def follow_down(
    vertices,
    triangles,
    normals,
    nodes,
    boxes,
    candidate,
    side,
    triangle,
    polytopes,
    other,
    kind,
    parameters,
    known,
    size,
    nx,
    ny,
    nz,
    scratch,
    contact,
    count,
):
    """Add the point of a shape that is deepest below the mesh, if it is deeper than what is known.

    From the lowest point along a direction to the nearest place of the mesh, its way out; then to the lowest point
    along that; and so on as long as that is deeper. Each step climbs the tangent of the depth, so on a surface that
    bends little beside the shape the deepest is found.

    Parameters
    ----------
    side : int
        To which side closed parts push; 0 if to either.
    triangle : int
        One that the shape goes through.
    known : float
        Depth that is known [m].
    nx, ny, nz : float
        Where to start: a direction in which that triangle pushes.

    Returns
    -------
    int
        Contacts.
    """
    pose = scratch.pose[B_IN_A]
    x, y, z = lowest_point(polytopes, other, kind, parameters, pose, nx, ny, nz)
    fresh = count
    for _ in range(MOST_STEPS_DOWN):
        nearest, depth = nearest_triangle(vertices, triangles, nodes, boxes, x, y, z, candidate)
        if (triangles[nearest, FLAGS] >> SOLID) & 1 != (triangles[triangle, FLAGS] >> SOLID) & 1 or depth <= known:
            break
        ux, uy, uz, is_below = way_up(vertices, triangles, normals, nearest, side, x, y, z, nx, ny, nz, size)
        if not is_below:
            break
        known = depth
        fresh = keep_contact(
            contact, count, nearest, x + depth * ux, y + depth * uy, z + depth * uz, x, y, z, -depth, ux, uy, uz
        )
        x, y, z = lowest_point(polytopes, other, kind, parameters, pose, ux, uy, uz)
    return fresh


@subkernel
def way_up(vertices, triangles, normals, row, side, x, y, z, nx, ny, nz, size):
    """The way from a point to the nearest place of a mesh, which is on a triangle, out of the mesh.

    Parameters
    ----------
    row : int
        Triangle.
    side : int
        To which side closed parts push. If 0 they push to that of the direction n, as open ones do.
    x, y, z : float
        The point.
    nx, ny, nz : float
        Unit direction in which the mesh pushes elsewhere.

    Returns
    -------
    x, y, z : float
        Unit direction.
    is_below : bool
        Whether it leads out, about along n. Beyond a rim nothing is below.
    """
    cosine = nx * normals[row, 0] + ny * normals[row, 1] + nz * normals[row, 2]
    sign = 1 if cosine > 0.0 else -1
    if (triangles[row, FLAGS] >> SOLID) & 1 and side != 0 and sign != side:
        return nx, ny, nz, False
    ux, uy, uz = sign * normals[row, 0], sign * normals[row, 1], sign * normals[row, 2]
    depth = -sign * height_over(vertices, triangles, normals, row, x, y, z)
    p, q, r, feature = closest_on_triangle(vertices, triangles[row, 0], triangles[row, 1], triangles[row, 2], x, y, z)
    dx, dy, dz = p - x, q - y, r - z
    distance = (dx * dx + dy * dy + dz * dz) ** 0.5
    if depth < distance - RATIO_TOUCHING * size:
        if feature == FACE or depth <= 0.0 or lies_on_rim(vertices, triangles, normals, row, feature):
            return nx, ny, nz, False
        ux, uy, uz = dx / distance, dy / distance, dz / distance
        if not can_push(vertices, triangles, normals, row, feature, -ux, -uy, -uz, -sign):
            return nx, ny, nz, False
    return ux, uy, uz, ux * nx + uy * ny + uz * nz >= COSINE_ABOUT


@subkernel
def lies_on_rim(vertices, triangles, normals, row, feature):
    """Whether an edge or corner of a triangle belongs to the mesh's rim."""
    if feature >= FIRST_EDGE:
        return triangles[row, NEIGHBORS + feature - FIRST_EDGE] < 0
    _, _, _, at_rim, _ = around_corner(vertices, triangles, normals, row, feature, 0.0, 0.0, 1.0)
    return at_rim


@subkernel
def is_behind(vertices, triangles, normals, nodes, boxes, candidate, probe, side, size):
    """Whether the other's centre lies on the wrong side of a closed part, which pushes to ``side``, or on its surface.

    Returns
    -------
    is_behind : bool
    row : int
        The triangle nearest to the centre.
    distance : float
        From it [m].
    """
    x, y, z = probe[CENTER, 0], probe[CENTER, 1], probe[CENTER, 2]
    row, distance = nearest_triangle(vertices, triangles, nodes, boxes, x, y, z, candidate)
    if not (triangles[row, FLAGS] >> SOLID) & 1:
        return False, row, distance
    height = side_of_point(vertices, triangles, normals, row, x, y, z)
    return height * side < 0.0 or distance <= RATIO_TOUCHING * size, row, distance


@subkernel
def push_out(
    vertices,
    triangles,
    normals,
    nodes,
    boxes,
    candidate,
    listed,
    side,
    polytopes,
    row,
    other,
    kind,
    parameters,
    reach,
    size,
    maximal_points,
    probe,
    scratch,
    families,
    contact,
    count,
):
    """Where the other's centre lies inside of a closed part, drop what opposes the way out, and add its contacts.

    Parameters
    ----------
    vertices, triangles, normals, nodes, boxes : arrays of one mesh
        (read)
    candidate : int64 [4, n]
        ``listed`` triangles (read).
    listed : int
    side : int
        To which side closed parts push.
    polytopes, row, other, kind, parameters, reach, size, maximal_points, probe, scratch, families
        As of ``mesh_contacts``.
    contact, count : float64 [CONTACT_ROWS, 16], int
        The mesh's contacts so far (written).

    Returns
    -------
    int
        Contacts.
    """
    behind, best, _ = is_behind(vertices, triangles, normals, nodes, boxes, candidate, probe, side, size)
    if not behind:
        return count
    depth, nx, ny, nz, _ = way_through(
        vertices, triangles, normals, best, side, polytopes, other, kind, parameters, size, probe, scratch
    )
    for place in range(listed):
        triangle = candidate[LISTED, place]
        if not (triangles[triangle, FLAGS] >> SOLID) & 1 or triangle == best:
            continue
        deep, x, y, z, is_way = way_through(
            vertices, triangles, normals, triangle, side, polytopes, other, kind, parameters, size, probe, scratch
        )
        if is_way and deep < depth - RATIO_SHORTER * size:
            depth, nx, ny, nz, best = deep, x, y, z, triangle
    count = drop_opposing(triangles, contact, count, nx, ny, nz)
    first = count
    if kind != SPHERE:
        for place in range(listed):
            triangle = candidate[LISTED, place]
            cosine = side * (normals[triangle, 0] * nx + normals[triangle, 1] * ny + normals[triangle, 2] * nz)
            if cosine < COSINE_ALIKE or not (triangles[triangle, FLAGS] >> SOLID) & 1:
                continue
            if count > CONTACT_ROWS - 3 * maximal_points:
                count = thin_out(contact, count, maximal_points, size)
                first = 0
            count = add_face(
                vertices,
                triangles,
                normals,
                triangle,
                side,
                polytopes,
                row,
                other,
                kind,
                parameters,
                reach,
                size,
                maximal_points,
                probe,
                scratch,
                families,
                contact,
                count,
            )
    for known in range(first, count):
        if contact[known, GAP] <= RATIO_SHORTER * size - depth:
            return count
    x, y, z = lowest_point(polytopes, other, kind, parameters, scratch.pose[B_IN_A], nx, ny, nz)
    return keep_contact(
        contact, count, best, x + depth * nx, y + depth * ny, z + depth * nz, x, y, z, -depth, nx, ny, nz
    )


@subkernel
def way_through(vertices, triangles, normals, row, side, polytopes, other, kind, parameters, size, probe, scratch):
    """The way out through the point of a triangle that is nearest to the other's centre.

    Returns
    -------
    depth : float
        [m]
    x, y, z : float
        Unit direction.
    is_way : bool
        Whether the point is locally nearest, and the triangle seen from behind.
    """
    x, y, z = probe[CENTER, 0], probe[CENTER, 1], probe[CENTER, 2]
    p, q, r, feature = closest_on_triangle(vertices, triangles[row, 0], triangles[row, 1], triangles[row, 2], x, y, z)
    dx, dy, dz = p - x, q - y, r - z
    distance = (dx * dx + dy * dy + dz * dz) ** 0.5
    nx, ny, nz = side * normals[row, 0], side * normals[row, 1], side * normals[row, 2]
    is_way = nx * dx + ny * dy + nz * dz > 0.0
    if feature != FACE and distance > RATIO_TOUCHING * size:
        nx, ny, nz = dx / distance, dy / distance, dz / distance
        # Seen from inside it is the highest point of a mesh that pushes to the other side.
        is_way = is_way and can_push(vertices, triangles, normals, row, feature, -nx, -ny, -nz, -side)
    x, y, z = lowest_point(polytopes, other, kind, parameters, scratch.pose[B_IN_A], nx, ny, nz)
    return nx * (p - x) + ny * (q - y) + nz * (r - z), nx, ny, nz, is_way


@subkernel
def drop_opposing(triangles, contact, count, nx, ny, nz):
    """Drop the contacts of closed parts that oppose a way out; return how many are left."""
    for row in range(count):
        along = contact[row, OUTWARDS] * nx + contact[row, OUTWARDS + 1] * ny + contact[row, OUTWARDS + 2] * nz
        is_solid = (triangles[int(contact[row, TRIANGLE]), FLAGS] >> SOLID) & 1
        contact[row, GROUP] = DROPPED if along < 0.0 and is_solid else 0.0
    return close_up(contact, count)


@subkernel
def add_face(
    vertices,
    triangles,
    normals,
    triangle,
    side,
    polytopes,
    row,
    other,
    kind,
    parameters,
    reach,
    size,
    maximal_points,
    probe,
    scratch,
    families,
    contact,
    count,
):
    """Add the points of a shape over a triangle's face; return how many contacts there are."""
    set_triangle(polytopes, row, vertices, triangles, normals, triangle, side, probe)
    if CAPSULE <= kind <= CONE:
        points = call_for_count(
            families, ROUND_ON_FACE, polytopes, row, other, kind, parameters, reach, size, maximal_points, scratch
        )
        return keep_all(contact, count, triangle, points, -INFINITE, scratch)
    points = face_points(polytopes, row, other, triangles[triangle, FLAGS], side, reach, size, maximal_points, scratch)
    return keep_points(contact, count, triangle, points, -INFINITE, reach, scratch)
