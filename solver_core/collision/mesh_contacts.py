"""Contacts of a triangle mesh with a convex shape.

Every triangle that the other shape may reach within the substep gives contacts of its own, of two sorts:

- its face: the part of the other shape that lies over it, clipped along its normal. Of that, what was only cut off at a
  flat edge goes on over the neighbour and is no corner of anything;
- its edges and corners, where the mesh is locally highest (``mesh_features``), at the closest points; where the shapes
  overlap, along the direction of the least way out among those that the triangle may push along.

Where the surface is hollow, corners over one triangle may slide onto the next (``mesh_creases``).

So what is touched is the surface, not the triangles: a seam gives no contact and no direction of its own.

A shape that moves fast is looked for along its whole path, and triangles that the path misses are left out: their
contacts, meant for a way straight at them, would stop what flies by. Each triangle that it meets is touched where it
does (``ways``): at the start the shape may not even lie over it. Paths are straight; what a turn does is in ``slack``.
"""

import numpy as np

from ..entries import call_for_count
from ..kernel import subkernel
from .closest_points import RATIO_TOUCHING, into_frame
from .mesh_creases import hold_over_creases
from .mesh_features import (
    BEHIND,
    FACE,
    can_push,
    choose_sides,
    is_beside,
    set_triangle,
    side_of_point,
    triangle_distance,
    where_it_lies,
)
from .mesh_inside import COSINE_ALIKE, RATIO_DEEP, RATIO_HELD, push_out, reach_lowest, touches_any
from .mesh_manifold import DROPPED, close_up, keep_contact, thin_out
from .mesh_polytopes import touch_polytope
from .mesh_tables import (
    CENTER,
    CONTACT_ROWS,
    FLAGS,
    GROUP,
    LISTED,
    LOWER,
    MASS_CENTER,
    NEW_PATH,
    ON_MESH,
    ON_OTHER,
    OUTWARDS,
    PATH,
    PUSHES_TO,
    SOLID,
    TRIANGLE,
    UPPER,
    WAY,
)
from .mesh_tree import arrays_of_mesh, closest_on_triangle, list_triangles, nearest_triangle
from .ways import MOST_STEPS, NEVER, RATIO_FAST, depth_of_point
from .workspace import (
    A_IN_B,
    B_IN_A,
    BOX,
    CAPSULE,
    CONE,
    DIRECTION,
    GAP,
    HULL,
    POSITION,
    RATIO_MARGIN,
    ROUND_ON_MESH,
    SPHERE,
)

# The point of a deep contact gets out there if the nearest part of the mesh is as far as it is deep, up to this ratio;
# less than 1 for normals that are off.
RATIO_NEAREST_EXIT = 0.9
# It lies in front of the nearest open part, and so in nothing, if the way there leads along the normal of the nearest
# triangle (cosine): beyond a rim there is no inside.
COSINE_IN_FRONT = 0.5

# A shape meets a triangle when it is this close (share of the smaller shape's size): nearer than in ``ways``, so that
# it stands over the triangle whose face it hits, and not yet over the next one.
RATIO_MEETING_TRIANGLE = 1e-6

INFINITE = 1e300


@subkernel
def mesh_contacts(
    tables,
    mesh,
    polytopes,
    row,
    other,
    kind,
    parameters,
    radius,
    lever,
    size,
    slack,
    maximal_points,
    held,
    side,
    scratch,
    families,
):
    """Make the contacts of a mesh with another shape, in the mesh's frame; it is shape a of ``scratch.pose``.

    Parameters
    ----------
    tables : MeshTables
        Read, and written: the contacts. ``probe`` holds the other shape's paths, its centres and the last contacts'
        normals.
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
    lever : float
        From the centre of mass of the other shape's body to the shape's farthest point [m].
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
    families : table of entries
        Of ``pair_families`` (read).

    Returns
    -------
    int
        Rows of ``tables.contact``.
    """
    candidate, probe, contact = tables.candidate, tables.probe, tables.contact
    vertices, triangles, normals, nodes, boxes = arrays_of_mesh(tables, mesh)
    pose = scratch.pose
    travel, new_travel = path_length(probe[PATH]), path_length(probe[NEW_PATH])
    is_fast, is_followed = travel > RATIO_MARGIN * size, max(travel, new_travel) > RATIO_FAST * size
    reach, path = slack + travel, PATH
    bound_path(polytopes.bounds[other], radius, slack, pose[B_IN_A], probe)
    listed = list_triangles(vertices, triangles, nodes, boxes, probe, candidate)
    # A shape that touched the mesh may have sunk in until it touches it no more.
    may_be_inside = listed == 0 and held > 0 and side > 0
    if listed == 0 and not may_be_inside:
        return np.int64(0)
    choose_sides(vertices, triangles, normals, candidate, listed, probe, held, size, side)
    count = np.int64(0)
    has_path = travel + new_travel > 0.0
    for place in range(listed):
        triangle, pushes_to = candidate[LISTED, place], candidate[PUSHES_TO, place]
        where = where_it_lies(vertices, triangles, normals, triangle, pushes_to, probe, pose[B_IN_A], held, size)
        is_solid = (triangles[triangle, FLAGS] >> SOLID) & 1
        if not has_path and is_beside(
            vertices, triangles, triangle, polytopes.bounds[other], kind, parameters, slack, pose[A_IN_B]
        ):
            may_be_inside = may_be_inside or (where == BEHIND and is_solid)
            continue
        set_triangle(polytopes, row, vertices, triangles, normals, triangle, pushes_to, probe)
        if is_followed:
            place_on_path(probe, probe[PATH], 0.0, pose)
        if is_fast and new_travel == 0.0 and misses(polytopes, row, other, kind, parameters, slack, size, scratch):
            continue
        share, first = 0.0, count
        if is_followed:
            path = PATH
            share = meet_triangle(polytopes, row, other, kind, parameters, slack, size, probe, probe[PATH], scratch)
            if share < 0.0 and new_travel > 0.0:
                path = NEW_PATH
                share = meet_triangle(
                    polytopes, row, other, kind, parameters, slack, size, probe, probe[NEW_PATH], scratch
                )
            if share < 0.0:
                continue
            place_on_path(probe, probe[path], share, pose)
            reach = slack + (1.0 - share) * (travel if path == PATH else new_travel)
        may_be_inside = may_be_inside or (where == BEHIND and is_solid and share == 0.0)
        if kind == SPHERE:
            count = touch_sphere(
                vertices, triangles, normals, triangle, pushes_to, where, radius, reach, size, pose, contact, count
            )
        elif CAPSULE <= kind <= CONE:
            count = call_for_count(
                families,
                ROUND_ON_MESH,
                vertices,
                triangles,
                normals,
                triangle,
                pushes_to,
                where,
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
            count = touch_polytope(
                vertices,
                triangles,
                normals,
                triangle,
                pushes_to,
                where,
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
        if share > 0.0:
            measure_on_path(contact, first, count, share, probe[path])
        if count > CONTACT_ROWS - 3 * maximal_points:
            count = thin_out(contact, count, maximal_points, size)
    if is_followed:
        place_on_path(probe, probe[PATH], 0.0, pose)
    reach = slack + travel
    count = drop_far_exits(
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
        scratch,
        contact,
        count,
    )
    if kind != SPHERE:
        count = reach_lowest(
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
        )
    if may_be_inside:
        count = push_out(
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
        )
    count = thin_out(contact, count, maximal_points, size)
    if kind in (BOX, HULL) and not is_followed:
        fresh = hold_over_creases(
            vertices, triangles, normals, candidate, listed, held, size, slack, probe, scratch, contact, count
        )
        if fresh > count:
            count = thin_out(contact, fresh, maximal_points, size)
    if is_followed and kind != SPHERE:
        count = hold_center(
            vertices, triangles, normals, polytopes, other, kind, parameters, lever, reach, pose, probe, contact, count
        )
    return count


# ---- along a path


@subkernel
def path_length(path):
    """[m]"""
    return (path[0] ** 2 + path[1] ** 2 + path[2] ** 2) ** 0.5


@subkernel
def misses(polytopes, row, other, kind, parameters, slack, size, scratch):
    """Whether the triangle, swept back along the path, stays farther from the other shape than ``slack``."""
    return triangle_distance(polytopes, row + 1, other, kind, parameters, slack, size, scratch) > slack


@subkernel
def meet_triangle(polytopes, row, other, kind, parameters, slack, size, probe, path, scratch):
    """Follow the other shape along a path until it meets the triangle in the mesh's first row.

    Returns
    -------
    float
        Share of the path as of ``follow_pair``: where they meet, or are closest; 0 also if they touch; NEVER.
    """
    pose, closest = scratch.pose, scratch.closest
    travel = path_length(path)
    share, least, least_share = 0.0, INFINITE, 0.0
    for _ in range(MOST_STEPS):
        place_on_path(probe, path, share, pose)
        reach = slack + (1.0 - share) * travel
        distance = triangle_distance(polytopes, row, other, kind, parameters, reach, size, scratch)
        if distance <= RATIO_MEETING_TRIANGLE * size:
            return share
        if distance > reach:
            break
        if distance < least:
            least, least_share = distance, share
        closing = 0.0
        for i in range(3):
            closing -= closest[DIRECTION, i] * path[i]
        if share == 1.0 or closing <= 0.0:
            break
        share = min(share + distance / closing, 1.0)
    else:
        return share
    return least_share if least <= slack else NEVER


@subkernel
def place_on_path(probe, path, share, pose):
    """Write the relative poses where the other shape is after a share of its path."""
    x = probe[CENTER, 0] + share * path[0]
    y = probe[CENTER, 1] + share * path[1]
    z = probe[CENTER, 2] + share * path[2]
    pose[B_IN_A, POSITION, 0], pose[B_IN_A, POSITION, 1], pose[B_IN_A, POSITION, 2] = x, y, z
    for i in range(3):
        pose[A_IN_B, POSITION, i] = -(pose[B_IN_A, 0, i] * x + pose[B_IN_A, 1, i] * y + pose[B_IN_A, 2, i] * z)


@subkernel
def measure_on_path(contact, first, last, share, path):
    """Turn contacts that were made after a share of the path into those of the substep's start, as ``ways`` does."""
    for row in range(first, last):
        approach = 0.0
        for i in range(3):
            approach -= contact[row, OUTWARDS + i] * path[i]
            contact[row, WAY + i] = share * path[i]
            contact[row, ON_OTHER + i] -= share * path[i]
        contact[row, GAP] += share * max(approach, 0.0)


@subkernel
def hold_center(
    vertices, triangles, normals, polytopes, other, kind, parameters, lever, reach, pose, probe, contact, count
):
    """Add contacts of the centre of mass of a fast body, one for each direction: as ``ways.hold_centers``."""
    x, y, z = probe[MASS_CENTER, 0], probe[MASS_CENTER, 1], probe[MASS_CENTER, 2]
    r = pose[B_IN_A]
    p, q, s = into_frame(r, x - r[POSITION, 0], y - r[POSITION, 1], z - r[POSITION, 2])
    inner = depth_of_point(polytopes, other, kind, parameters, p, q, s)
    if inner <= 0.0:
        return count
    fresh = count
    for row in range(count):
        nx, ny, nz = contact[row, OUTWARDS], contact[row, OUTWARDS + 1], contact[row, OUTWARDS + 2]
        is_known = False
        for other_row in range(count, fresh):
            cosine = 0.0
            for i in range(3):
                cosine += contact[row, OUTWARDS + i] * contact[other_row, OUTWARDS + i]
            is_known = is_known or cosine > COSINE_ALIKE
        if is_known or fresh == CONTACT_ROWS:
            continue
        triangle = int(contact[row, TRIANGLE])
        cosine = nx * normals[triangle, 0] + ny * normals[triangle, 1] + nz * normals[triangle, 2]
        depth, allowed = (inner, 0.0) if abs(cosine) > COSINE_ALIKE else (0.0, lever)
        gap = allowed - depth
        gap += nx * (x - contact[row, ON_MESH]) + ny * (y - contact[row, ON_MESH + 1])
        gap += nz * (z - contact[row, ON_MESH + 2])
        if gap > reach:
            continue
        bx, by, bz = x - depth * nx, y - depth * ny, z - depth * nz
        fresh = keep_contact(
            contact, fresh, triangle, bx - gap * nx, by - gap * ny, bz - gap * nz, bx, by, bz, gap, nx, ny, nz
        )
    return fresh


@subkernel
def bound_path(extent, radius, slack, pose, probe):
    """Write the box that the other shape may reach in this substep, in the mesh's frame."""
    for i in range(3):
        center, half = pose[POSITION, i], radius + slack
        for j in range(3):
            center += pose[i, j] * 0.5 * (extent[0, j] + extent[1, j])
            half += abs(pose[i, j]) * 0.5 * (extent[1, j] - extent[0, j])
        probe[LOWER, i] = center - half + min(probe[PATH, i], probe[NEW_PATH, i], 0.0)
        probe[UPPER, i] = center + half + max(probe[PATH, i], probe[NEW_PATH, i], 0.0)


@subkernel
def touch_sphere(vertices, triangles, normals, row, side, where, radius, reach, size, pose, contact, count):
    """Add the contact of a sphere with a triangle, if there is one; returns the contacts so far.

    A ball that counts as before the triangle though its centre is behind is pushed back by what is nearest to it there:
    a seam between flat triangles, too.
    """
    x, y, z = pose[B_IN_A, POSITION, 0], pose[B_IN_A, POSITION, 1], pose[B_IN_A, POSITION, 2]
    p, q, r, feature = closest_on_triangle(vertices, triangles[row, 0], triangles[row, 1], triangles[row, 2], x, y, z)
    dx, dy, dz = x - p, y - q, z - r
    distance = (dx * dx + dy * dy + dz * dz) ** 0.5
    if distance - radius > reach:
        return count
    nx, ny, nz = side * normals[row, 0], side * normals[row, 1], side * normals[row, 2]
    if feature == FACE or distance <= RATIO_TOUCHING * size:
        if where == BEHIND:
            return count
        height = nx * dx + ny * dy + nz * dz
    else:
        nx, ny, nz, height = dx / distance, dy / distance, dz / distance, distance
        if not can_push(vertices, triangles, normals, row, feature, nx, ny, nz, side):
            if where == BEHIND or not can_push(vertices, triangles, normals, row, feature, nx, ny, nz, -side):
                return count
            nx, ny, nz, height = -nx, -ny, -nz, -distance
    return keep_contact(
        contact, count, row, p, q, r, x - radius * nx, y - radius * ny, z - radius * nz, height - radius, nx, ny, nz
    )


# ---- deep overlaps


@subkernel
def drop_far_exits(
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
    scratch,
    contact,
    count,
):
    """Drop deep contacts whose points are nearer to another part of the mesh: that is where they get out.

    A box that has sunk into a table's top lies deep behind the planes of its sides too. A point outside of the nearest
    closed part, or in front of the nearest open one, is in nothing at all. The least deep stays if nothing else
    touches, of points that are in nothing only where the shapes do overlap: a ball on the tip of a thin mesh reaches
    out behind it. Returns how many are left.
    """
    shallowest, least = -1, -INFINITE
    outmost, least_out = -1, -INFINITE
    overlapping = 0
    for place in range(count):
        contact[place, GROUP] = 0.0
        gap = contact[place, GAP]
        if gap >= -RATIO_DEEP * size:
            overlapping += gap <= RATIO_HELD * size
            continue
        x, y, z = contact[place, ON_OTHER], contact[place, ON_OTHER + 1], contact[place, ON_OTHER + 2]
        nearest, distance = nearest_triangle(vertices, triangles, nodes, boxes, x, y, z, candidate)
        triangle, base = int(contact[place, TRIANGLE]), triangles[nearest, 0]
        if (triangles[nearest, FLAGS] >> SOLID) & 1:
            is_outside = side * side_of_point(vertices, triangles, normals, nearest, x, y, z) > 0.0
        else:
            along, height = 0.0, 0.0
            for i in range(3):
                along += contact[place, OUTWARDS + i] * normals[triangle, i]
                height += (contact[place, ON_OTHER + i] - vertices[base, i]) * normals[nearest, i]
            is_outside = (height if along > 0.0 else -height) > COSINE_IN_FRONT * distance
        if not is_outside and RATIO_NEAREST_EXIT * -gap <= distance <= -gap / RATIO_NEAREST_EXIT:
            overlapping += 1
            continue
        contact[place, GROUP] = DROPPED
        if is_outside and gap > least_out:
            outmost, least_out = place, gap
        if not is_outside and gap > least:
            shallowest, least = place, gap
    if overlapping == 0 and shallowest < 0 and outmost >= 0:
        overlaps = touches_any(
            vertices,
            triangles,
            normals,
            candidate,
            listed,
            polytopes,
            row,
            other,
            kind,
            parameters,
            size,
            probe,
            scratch,
        )
        shallowest = outmost if overlaps else -1
    if overlapping == 0 and shallowest >= 0:
        contact[shallowest, GROUP] = 0.0
    return close_up(contact, count)
