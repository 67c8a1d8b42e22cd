"""Contacts of a triangle mesh with a convex shape.

Every triangle that the other shape may reach within the substep gives contacts of its own, of two sorts:

- its face: the part of the other shape that lies over it, clipped along its normal. Of that, what was only cut off at a
  flat edge goes on over the neighbour and is no corner of anything;
- its edges and corners, where the mesh is locally highest (``mesh_features``), at the closest points; where the shapes
  overlap, along the direction of the least way out among those that the triangle may push along.

So what is touched is the surface, not the triangles: a seam gives no contact and no direction of its own.

A shape that moves fast is looked for along its whole path, and triangles that the path misses are left out: their
contacts, meant for a way straight at them, would stop what flies by.
"""

import numpy as np

from ..kernel import subkernel
from .closest_points import RATIO_TOUCHING, closest_points
from .mesh_features import (
    FACE,
    can_push,
    choose_sides,
    lies_before,
)
from .mesh_manifold import DROPPED, close_up, keep_contact, thin_out
from .mesh_polytopes import face_points, keep_points, touch_polytope
from .mesh_round import face_points_of_round, keep_all, touch_round
from .mesh_tables import (
    CENTER,
    CONTACT_ROWS,
    FLAGS,
    GROUP,
    LISTED,
    LOWER,
    NODE_START,
    ON_OTHER,
    PATH,
    PUSHES_TO,
    TRIANGLE_START,
    UPPER,
    VERTEX_START,
)
from .mesh_tree import closest_on_triangle, list_triangles, nearest_triangle
from .workspace import (
    B_IN_A,
    CAPSULE,
    CONE,
    FACES,
    GAP,
    POSITION,
    RATIO_MARGIN,
    SPHERE,
    VERTICES,
)

# A contact deeper than this (share of the smaller shape's size) is looked at: whether its point gets out there. It
# does if the nearest part of the mesh is as far as it is deep, up to this ratio; less than 1 for normals that are off.
RATIO_DEEP = 0.01
RATIO_NEAREST_EXIT = 0.9

# Two directions are one, for what is pushed out of a mesh in which it lies deeper than its centre (cosine).
COSINE_ALIKE = 0.999

INFINITE = 1e300


@subkernel
def mesh_contacts(
    tables, mesh, polytopes, row, other, kind, parameters, radius, size, slack, maximal_points, held, side, scratch
):
    """Make the contacts of a mesh with another shape, in the mesh's frame; it is shape a of ``scratch.pose``.

    Parameters
    ----------
    tables : MeshTables
        Read, and written: the contacts. ``probe`` holds the other shape's path and the last contacts' normals.
    mesh : int
    polytopes : HullArrays
        Read; the mesh's two rows, ``row`` and the next, are written.
    row, other : int
        Rows among the polytopes.
    kind : int
        ``ShapeKind`` of the other shape.
    parameters : float64 [3]
        Of the other shape (read).
    radius : float
        Of a ball that holds a round shape, else 0 [m].
    size : float
        Of the smaller shape [m].
    slack : float
        Largest gap that makes a contact for a shape that does not move along its path [m].
    maximal_points : int
    held : int
        Normals of the last contacts that are known.
    side : int
        To which side closed parts push: 1 outwards, -1 inwards.
    scratch : PairScratch
        Relative poses (read); memory.

    Returns
    -------
    int
        Rows of ``tables.contact``.
    """
    start, candidate, probe, contact = tables.start, tables.candidate, tables.probe, tables.contact
    first, last = start[mesh, TRIANGLE_START], start[mesh + 1, TRIANGLE_START]
    vertices = tables.vertex[start[mesh, VERTEX_START] : start[mesh + 1, VERTEX_START]]
    triangles, normals = tables.triangle[first:last], tables.normal[first:last]
    first, last = start[mesh, NODE_START], start[mesh + 1, NODE_START]
    nodes, boxes = tables.node[first:last], tables.box[first:last]
    pose = scratch.pose
    travel = (probe[PATH, 0] ** 2 + probe[PATH, 1] ** 2 + probe[PATH, 2] ** 2) ** 0.5
    is_fast = travel > RATIO_MARGIN * size
    reach = slack + travel
    bound_path(polytopes.bounds[other], radius, slack, pose[B_IN_A], probe)
    listed = list_triangles(vertices, triangles, nodes, boxes, probe, candidate)
    if listed == 0:
        return np.int64(0)
    is_inside = choose_sides(vertices, triangles, normals, candidate, listed, probe, held, size, side)
    count = np.int64(0)
    # The triangle through which a shape gets out whose centre lies behind all that it overlaps.
    way_out, least = -1, INFINITE
    for place in range(listed):
        triangle, pushes_to = candidate[LISTED, place], candidate[PUSHES_TO, place]
        set_triangle(polytopes, row, vertices, triangles, normals, triangle, pushes_to, probe)
        if is_fast:
            touching = RATIO_TOUCHING * size
            farthest = slack + radius
            if closest_points(polytopes, row + 1, other, farthest, touching, pose, scratch.simplex, scratch.closest) > (
                farthest
            ):
                continue
        is_before = lies_before(vertices, triangles, normals, triangle, pushes_to, probe, held, size)
        if kind == SPHERE:
            count, depth = touch_sphere(
                vertices, triangles, normals, triangle, pushes_to, is_before, radius, reach, size, probe, contact, count
            )
        elif CAPSULE <= kind <= CONE:
            count, depth = touch_round(
                vertices,
                triangles,
                normals,
                triangle,
                pushes_to,
                is_before,
                polytopes,
                row,
                other,
                kind,
                parameters,
                reach,
                size,
                maximal_points,
                scratch,
                contact,
                count,
            )
        else:
            count, depth = touch_polytope(
                vertices,
                triangles,
                normals,
                triangle,
                pushes_to,
                is_before,
                polytopes,
                row,
                other,
                reach,
                size,
                maximal_points,
                scratch,
                contact,
                count,
            )
        if depth < least:
            way_out, least = place, depth
        if count > CONTACT_ROWS - 3 * maximal_points:
            count = thin_out(contact, count, maximal_points, size)
    count = drop_far_exits(vertices, triangles, nodes, boxes, candidate, contact, count, size)
    if is_inside and way_out >= 0:
        count = push_out(
            vertices,
            triangles,
            normals,
            candidate,
            listed,
            way_out,
            polytopes,
            row,
            other,
            kind,
            parameters,
            radius,
            reach,
            size,
            maximal_points,
            probe,
            scratch,
            contact,
            count,
        )
    return thin_out(contact, count, maximal_points, size)


@subkernel
def bound_path(extent, radius, slack, pose, probe):
    """Write the box that the other shape may reach in this substep, in the mesh's frame."""
    for i in range(3):
        center, half = pose[POSITION, i], radius + slack
        for j in range(3):
            center += pose[i, j] * 0.5 * (extent[0, j] + extent[1, j])
            half += abs(pose[i, j]) * 0.5 * (extent[1, j] - extent[0, j])
        probe[LOWER, i] = center - half + min(probe[PATH, i], 0.0)
        probe[UPPER, i] = center + half + max(probe[PATH, i], 0.0)


@subkernel
def set_triangle(polytopes, row, vertices, triangles, normals, triangle, side, probe):
    """Write a triangle into the mesh's first row among the polytopes, and its way back along the path into the second.

    Its face 0 looks to the side to which it pushes, and its corners run counterclockwise about that.
    """
    vertex, plane = polytopes.vertex, polytopes.plane
    base, face = polytopes.start[row, VERTICES], polytopes.start[row, FACES]
    offset = 0.0
    for i in range(3):
        plane[face, i] = side * normals[triangle, i]
        plane[face + 1, i] = -side * normals[triangle, i]
        for corner in range(3):
            at = vertices[triangles[triangle, corner if side > 0 else 2 - corner], i]
            vertex[base + corner, i] = at
            vertex[base + 3 + corner, i] = at
            vertex[base + 6 + corner, i] = at - probe[PATH, i]
        offset += plane[face, i] * vertex[base, i]
    plane[face, 3] = offset
    plane[face + 1, 3] = -offset


@subkernel
def touch_sphere(vertices, triangles, normals, row, side, is_before, radius, reach, size, probe, contact, count):
    """Add the contact of a sphere with a triangle, if there is one.

    Returns
    -------
    count : int
        Contacts so far.
    depth : float
        How deep the centre lies behind the triangle that it is right behind [m]; else very large.
    """
    x, y, z = probe[CENTER, 0], probe[CENTER, 1], probe[CENTER, 2]
    p, q, r, feature = closest_on_triangle(vertices, triangles[row, 0], triangles[row, 1], triangles[row, 2], x, y, z)
    dx, dy, dz = x - p, y - q, z - r
    distance = (dx * dx + dy * dy + dz * dz) ** 0.5
    if distance - radius > reach:
        return count, INFINITE
    nx, ny, nz = side * normals[row, 0], side * normals[row, 1], side * normals[row, 2]
    if feature == FACE or distance <= RATIO_TOUCHING * size:
        height = nx * dx + ny * dy + nz * dz
        if not is_before:
            return count, -height
        return keep_contact(
            contact, count, row, p, q, r, x - radius * nx, y - radius * ny, z - radius * nz, height - radius, nx, ny, nz
        ), INFINITE
    dx, dy, dz = dx / distance, dy / distance, dz / distance
    if not can_push(vertices, triangles, normals, row, feature, dx, dy, dz, side):
        return count, INFINITE
    return keep_contact(
        contact, count, row, p, q, r, x - radius * dx, y - radius * dy, z - radius * dz, distance - radius, dx, dy, dz
    ), INFINITE


# ---- deep overlaps


@subkernel
def drop_far_exits(vertices, triangles, nodes, boxes, candidate, contact, count, size):
    """Drop deep contacts whose points are nearer to another part of the mesh: that is where they get out.

    A box that has sunk into a table's top lies deep behind the planes of its sides too. The least deep stays if
    nothing else does. Returns how many are left.
    """
    shallowest, least = -1, -INFINITE
    overlapping = 0
    for row in range(count):
        contact[row, GROUP] = 0.0
        gap = contact[row, GAP]
        if gap >= -RATIO_DEEP * size:
            overlapping += gap < 0.0
            continue
        x, y, z = contact[row, ON_OTHER], contact[row, ON_OTHER + 1], contact[row, ON_OTHER + 2]
        _, distance = nearest_triangle(vertices, triangles, nodes, boxes, x, y, z, candidate)
        if RATIO_NEAREST_EXIT * -gap <= distance <= -gap / RATIO_NEAREST_EXIT:
            overlapping += 1
            continue
        contact[row, GROUP] = DROPPED
        if gap > least:
            shallowest, least = row, gap
    if overlapping == 0 and shallowest >= 0:
        contact[shallowest, GROUP] = 0.0
    return close_up(contact, count)


@subkernel
def push_out(
    vertices,
    triangles,
    normals,
    candidate,
    listed,
    way_out,
    polytopes,
    row,
    other,
    kind,
    parameters,
    radius,
    reach,
    size,
    maximal_points,
    probe,
    scratch,
    contact,
    count,
):
    """Add contacts that push a shape out whose centre lies inside: with the face of the least depth and those alike."""
    best = candidate[LISTED, way_out]
    side = candidate[PUSHES_TO, way_out]
    for place in range(listed):
        triangle = candidate[LISTED, place]
        cosine = 0.0
        for i in range(3):
            cosine += normals[triangle, i] * normals[best, i]
        if cosine < COSINE_ALIKE or candidate[PUSHES_TO, place] != side:
            continue
        if count > CONTACT_ROWS - 3 * maximal_points:
            count = thin_out(contact, count, maximal_points, size)
        if kind == SPHERE:
            if triangle == best:
                count, _ = touch_sphere(
                    vertices,
                    triangles,
                    normals,
                    triangle,
                    side,
                    np.bool_(True),
                    radius,
                    reach,
                    size,
                    probe,
                    contact,
                    count,
                )
            continue
        set_triangle(polytopes, row, vertices, triangles, normals, triangle, side, probe)
        if CAPSULE <= kind <= CONE:
            points = face_points_of_round(polytopes, row, other, kind, parameters, reach, size, maximal_points, scratch)
            count = keep_all(contact, count, triangle, points, -INFINITE, scratch)
            continue
        points = face_points(
            polytopes, row, other, triangles[triangle, FLAGS], side, reach, size, maximal_points, scratch
        )
        count = keep_points(contact, count, triangle, points, -INFINITE, reach, scratch)
    return count
