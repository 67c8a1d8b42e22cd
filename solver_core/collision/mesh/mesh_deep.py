"""Deep overlaps of a mesh and a shape: contacts that lead elsewhere, and the shape's lowest point.

A box that has sunk into a table's top lies deep behind the planes of its sides too; and a shape's lowest point may lie
below a triangle that is outside of the shape's box, so that none of those tested has it.
"""

import numpy as np

from ...compiled.kernel import subkernel
from ..data.mesh_tables import (
    FLAGS,
    NEIGHBORS,
    SOLID,
)
from ..data.workspace import INFINITE
from ..distance.closest_points import RATIO_TOUCHING
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
from .mesh_manifold import DROPPED, close_up, keep_contact
from .mesh_round import lowest_point
from .mesh_tree import closest_on_triangle, nearest_triangle

# A contact deeper than this (share of the smaller shape's size) is tested: whether its point gets out there.
RATIO_DEEP = 0.01
# Where another contact is no farther than this (share of the smaller shape's size), it holds the shapes.
RATIO_HELD = 1e-6

# The point of a deep contact gets out there if the nearest part of the mesh is as far as it is deep, up to this ratio;
# less than 1 for normals that are off.
RATIO_NEAREST_EXIT = 0.9
# It lies in front of the nearest open part, and so in nothing, if the nearest triangle's normal leads about to it
# (cosine): beyond a rim there is no inside.
COSINE_IN_FRONT = 0.5

# The way out of what is lowest looks where the mesh pushes beside it, to this cosine; else it is another side's.
COSINE_ABOUT = 0.5

# How often what is lowest is searched for anew; mostly the second is the first.
MOST_STEPS_DOWN = 8


@subkernel
def drop_far_exits(mesh, tables, polytopes, pair, listed, scratch, count):
    """Drop deep contacts whose points are nearer to another part of the mesh: that is where they get out.

    A point outside of the nearest closed part, or in front of the nearest open one, is in nothing at all. The least
    deep stays if nothing else touches, of points that are in nothing only where the shapes do overlap: a ball on the
    tip of a thin mesh reaches out behind it.

    Parameters
    ----------
    mesh, tables, polytopes, pair, listed, scratch, count
        As of ``push_out``.

    Returns
    -------
    int
        Contacts that are left.
    """
    triangles, contact = mesh.triangles, tables.contact
    shallowest, least = -1, -INFINITE
    outmost, least_out = -1, -INFINITE
    overlapping = 0
    for place in range(count):
        contact.group[place] = 0
        gap = contact.gap[place]
        if gap >= -RATIO_DEEP * pair.size:
            overlapping += gap <= RATIO_HELD * pair.size
            continue
        x, y, z = contact.on_other[place, 0], contact.on_other[place, 1], contact.on_other[place, 2]
        nearest, distance = nearest_triangle(
            mesh.vertices, triangles, mesh.nodes, mesh.boxes, x, y, z, tables.candidate.stack
        )
        is_outside = lies_outside(mesh, pair.side, contact, place, nearest, distance)
        if not is_outside and RATIO_NEAREST_EXIT * -gap <= distance <= -gap / RATIO_NEAREST_EXIT:
            overlapping += 1
            continue
        contact.group[place] = DROPPED
        if is_outside and gap > least_out:
            outmost, least_out = place, gap
        if not is_outside and gap > least:
            shallowest, least = place, gap
    if overlapping == 0 and shallowest < 0 and outmost >= 0:
        shallowest = outmost if touches_any(mesh, tables, polytopes, pair, listed, scratch) else -1
    if overlapping == 0 and shallowest >= 0:
        contact.group[shallowest] = 0
    return close_up(contact, count)


@subkernel
def lies_outside(mesh, side, contact, row, nearest, distance):
    """Whether a contact's point on the other shape is outside of the mesh, whose ``nearest`` triangle is so far off."""
    vertices, triangles, normals = mesh.vertices, mesh.triangles, mesh.normals
    x, y, z = contact.on_other[row, 0], contact.on_other[row, 1], contact.on_other[row, 2]
    if (triangles[nearest, FLAGS] >> SOLID) & 1:
        return side * side_of_point(vertices, triangles, normals, nearest, x, y, z) > 0.0
    triangle, base = contact.triangle[row], triangles[nearest, 0]
    along, height = 0.0, 0.0
    for i in range(3):
        along += contact.normal[row, i] * normals[triangle, i]
        height += (contact.on_other[row, i] - vertices[base, i]) * normals[nearest, i]
    return (height if along > 0.0 else -height) > COSINE_IN_FRONT * distance


@subkernel
def touches_any(mesh, tables, polytopes, pair, listed, scratch):
    """Whether the other shape touches one of the listed triangles; arguments as of ``push_out``."""
    touching = RATIO_TOUCHING * pair.size
    for place in range(listed):
        set_triangle(mesh, polytopes, pair.row, tables.candidate.listed[place], np.int64(1), tables.probe)
        if triangle_distance(polytopes, pair.row, pair, touching, scratch) <= touching:
            return True
    return False


@subkernel
def reach_lowest(mesh, tables, polytopes, pair, listed, scratch, count):
    """Add a shape's lowest point where it is deep below the mesh, beside the triangles that the shape meets.

    The triangle above the point may lie outside of the shape's box. The others have what lies over them, less deep, or
    nothing at all: what is cut off at a flat edge goes on over the neighbour. So the point is searched for from the
    deepest contact, and where nothing touches, from the triangles that the shape goes through.
    Arguments and returns as of ``push_out``.
    """
    contact, pose = tables.contact, scratch.pose.b_in_a
    touching = RATIO_TOUCHING * pair.size
    deepest = 0
    for place in range(1, count):
        if contact.gap[place] < contact.gap[deepest]:
            deepest = place
    if count > 0 and contact.gap[deepest] <= RATIO_HELD * pair.size:
        nx, ny, nz = contact.normal[deepest, 0], contact.normal[deepest, 1], contact.normal[deepest, 2]
        x, y, z = lowest_point(polytopes, pair.other, pose, nx, ny, nz)
        gap = nx * (x - contact.on_mesh[deepest, 0]) + ny * (y - contact.on_mesh[deepest, 1])
        gap += nz * (z - contact.on_mesh[deepest, 2])
        if gap >= min(contact.gap[deepest] - touching, -RATIO_DEEP * pair.size):
            return count
        known, triangle = -contact.gap[deepest] + touching, contact.triangle[deepest]
        return follow_down(mesh, tables, polytopes, pair, pair.side, triangle, known, (nx, ny, nz), scratch, count)
    # Where nothing else holds it, what came out behind a thin plate is led back, too.
    either = np.int64(0)
    for place in range(listed):
        triangle, sign = tables.candidate.listed[place], tables.candidate.pushes_to[place]
        if not goes_through(mesh, tables, polytopes, pair, triangle, sign, scratch):
            continue
        normal = mesh.normals[triangle]
        down = sign * normal[0], sign * normal[1], sign * normal[2]
        fresh = follow_down(mesh, tables, polytopes, pair, either, triangle, touching, down, scratch, count)
        if fresh > count:
            return fresh
    return count


@subkernel
def goes_through(mesh, tables, polytopes, pair, triangle, sign, scratch):
    """Whether the other shape, whose centre is before a triangle that pushes to ``sign``, goes deep through it."""
    vertices, triangles, normals, pose = mesh.vertices, mesh.triangles, mesh.normals, scratch.pose.b_in_a
    touching = RATIO_TOUCHING * pair.size
    nx, ny, nz = sign * normals[triangle, 0], sign * normals[triangle, 1], sign * normals[triangle, 2]
    x, y, z = lowest_point(polytopes, pair.other, pose, nx, ny, nz)
    if sign * height_over(vertices, triangles, normals, triangle, x, y, z) >= -RATIO_DEEP * pair.size:
        return False
    # Mostly so, over hills that it does not touch.
    if is_beside(mesh, polytopes, pair.other, triangle, touching, scratch.pose.a_in_b):
        return False
    if where_it_lies(mesh, tables, triangle, sign, pose, pair.size) == BEHIND:
        return False
    set_triangle(mesh, polytopes, pair.row, triangle, sign, tables.probe)
    return triangle_distance(polytopes, pair.row, pair, touching, scratch) <= touching


@subkernel
def follow_down(mesh, tables, polytopes, pair, side, triangle, known, start, scratch, count):
    """Add the point of a shape that is deepest below the mesh, if it is deeper than what is known.

    From the lowest point along a direction to the nearest place of the mesh, its way out; then to the lowest point
    along that; and so on as long as that is deeper. Each step climbs the tangent of the depth, so on a surface that
    bends little beside the shape the deepest is found.

    Parameters
    ----------
    mesh, tables, polytopes, pair, scratch, count
        As of ``push_out``.
    side : int
        To which side closed parts push; 0 if to either.
    triangle : int
        One that the shape goes through.
    known : float
        Depth that is known [m].
    start : tuple of 3 float
        Where to start: a direction in which that triangle pushes.

    Returns
    -------
    int
        Contacts.
    """
    triangles, pose = mesh.triangles, scratch.pose.b_in_a
    nx, ny, nz = start
    x, y, z = lowest_point(polytopes, pair.other, pose, nx, ny, nz)
    fresh = count
    for _ in range(MOST_STEPS_DOWN):
        nearest, depth = nearest_triangle(
            mesh.vertices, triangles, mesh.nodes, mesh.boxes, x, y, z, tables.candidate.stack
        )
        if (triangles[nearest, FLAGS] >> SOLID) & 1 != (triangles[triangle, FLAGS] >> SOLID) & 1 or depth <= known:
            break
        ux, uy, uz, is_below = way_up(mesh, nearest, side, x, y, z, nx, ny, nz, pair.size)
        if not is_below:
            break
        known = depth
        on_mesh = x + depth * ux, y + depth * uy, z + depth * uz
        fresh = keep_contact(tables.contact, count, nearest, on_mesh, (x, y, z), -depth, (ux, uy, uz))
        x, y, z = lowest_point(polytopes, pair.other, pose, ux, uy, uz)
    return fresh


@subkernel
def way_up(mesh, row, side, x, y, z, nx, ny, nz, size):
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
    vertices, triangles, normals = mesh.vertices, mesh.triangles, mesh.normals
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
