"""Contacts of a triangle mesh with a convex shape.

Every triangle that the other shape may reach within the substep gives contacts of its own, of two sorts:

- its face: the part of the other shape that lies over it, clipped along its normal. Of that, what was only cut off at a
  flat edge goes on over the neighbour and is no corner of anything;
- its edges and corners, where the mesh is locally highest (``mesh_features``), at the closest points; where the shapes
  overlap, along the direction of least depth among those that the triangle may push along.

Where the surface is hollow, corners over one triangle may slide onto the next (``mesh_creases``).

So what is touched is the surface, not the triangles: a seam gives no contact and no direction of its own.

A shape that moves fast is searched for along its whole path, and triangles that the path misses get no contacts: meant
for a path straight at them, these would stop what flies by. Each triangle that it meets is touched where it does
(``swept_motion``): at the start the shape may not even lie over it. Paths are straight; what a turn does is in the
slack.
"""

import numpy as np

from ...compiled.function_tables import call_for_count
from ...compiled.kernel import subkernel
from ..data.mesh_tables import (
    CONTACT_ROWS,
    FLAGS,
    SOLID,
)
from ..data.workspace import INFINITE, POSITION, RATIO_MARGIN, ROUND_ON_MESH, SPHERE, has_axis, is_round
from ..distance.closest_points import RATIO_TOUCHING, into_frame
from ..distance.shape_distance import (
    MOST_STEPS,
    NO_IMPACT,
    RATIO_FAST,
    RATIO_SAME_NORMAL,
    RATIO_STOPS,
    depth_of_point,
    horizon_of,
    restore_shapes,
    wear,
)
from .mesh_creases import hold_over_creases
from .mesh_deep import drop_far_exits, reach_lowest
from .mesh_features import (
    BEHIND,
    FACE,
    can_push,
    choose_sides,
    is_beside,
    set_triangle,
    triangle_distance,
    where_it_lies,
)
from .mesh_inside import COSINE_ALIKE, push_out
from .mesh_manifold import keep_contact, move_contact, thin_out
from .mesh_polytopes import touch_polytope
from .mesh_query import ball_radius, view_of_mesh
from .mesh_tree import closest_on_triangle, list_triangles

# A shape meets a triangle when it is this close (share of the smaller shape's size): nearer than in ``swept_motion``,
# so that it stands over the triangle whose face it hits, and not yet over the next one.
RATIO_IMPACT_TRIANGLE = 1e-6

# Steps in search of where a shape is closest to a triangle that it passes.
_MOST_SECANTS = 16


@subkernel
def mesh_contacts(tables, number, polytopes, pair, scratch, pair_kernels):
    """Make the contacts of a mesh with another shape, in the mesh's frame; it is shape a of ``scratch.pose``.

    Parameters
    ----------
    tables : MeshTables
        Read, and written: the contacts. ``probe`` holds the other shape's paths, its centres and the last contacts'
        normals.
    number : int
        The mesh's.
    polytopes : HullArrays
        Read; the mesh's two rows are written.
    pair : MeshPair
        (read)
    scratch : PairScratch
        Relative poses (read); memory.
    pair_kernels : table of ``pair_dispatch``
        (read)

    Returns
    -------
    int
        Rows of ``tables.contact``.
    """
    mesh, probe, contact = view_of_mesh(tables, number), tables.probe, tables.contact
    size, other = pair.size, pair.other
    is_swept = max(path_length(probe.path), path_length(probe.new_path)) > RATIO_FAST * size
    bound_path(polytopes.bounds[other.polytope], ball_radius(other), pair.slack, scratch.pose.b_in_a, probe)
    listed = list_triangles(mesh.vertices, mesh.triangles, mesh.nodes, mesh.boxes, probe, tables.candidate)
    # A shape that touched the mesh may have sunk in until it touches it no more.
    may_be_inside = listed == 0 and probe.held_count[0] > 0 and pair.side > 0
    if listed == 0 and not may_be_inside:
        return np.int64(0)
    choose_sides(mesh, tables, polytopes, pair, scratch.pose.b_in_a, listed)
    count = np.int64(0)
    for place in range(listed):
        count, is_behind = touch_listed(mesh, tables, polytopes, pair, place, scratch, pair_kernels, count)
        may_be_inside = may_be_inside or is_behind
        if count > CONTACT_ROWS - 3 * pair.maximal_points:
            count = thin_out(contact, count, pair.maximal_points, size)
    if is_swept:
        place_on_path(probe, probe.path, 0.0, scratch.pose)
    reach = pair.slack + path_length(probe.path)
    count = drop_far_exits(mesh, tables, polytopes, pair, listed, scratch, count)
    if other.kind != SPHERE:
        count = reach_lowest(mesh, tables, polytopes, pair, listed, scratch, count)
    if may_be_inside:
        count = push_out(mesh, tables, polytopes, pair, listed, reach, scratch, pair_kernels, count)
    count = thin_out(contact, count, pair.maximal_points, size)
    if is_round(other.kind) or not is_swept:
        fresh = hold_over_creases(mesh, tables, pair, listed, scratch, count)
        if fresh > count:
            count = thin_out(contact, fresh, pair.maximal_points, size)
    if is_swept and other.kind != SPHERE:
        count = add_anti_tunnelling_contact(mesh.normals, polytopes, other, reach, scratch.pose, probe, contact, count)
    return count


@subkernel
def touch_listed(mesh, tables, polytopes, pair, place, scratch, pair_kernels, count):
    """Add the contacts of one of the listed triangles, where the other shape meets it on its path.

    Parameters
    ----------
    mesh : MeshView
        (read)
    tables, polytopes, pair, scratch, pair_kernels
        As of ``mesh_contacts``.
    place : int
        In ``tables.candidate``.
    count : int
        Contacts so far.

    Returns
    -------
    count : int
    is_behind : bool
        Whether the other shape is behind the triangle of a closed part: it may be inside.
    """
    probe, pose, contact, slack = tables.probe, scratch.pose, tables.contact, pair.slack
    travel, new_travel = path_length(probe.path), path_length(probe.new_path)
    is_fast, is_swept = travel > RATIO_MARGIN * pair.size, max(travel, new_travel) > RATIO_FAST * pair.size
    triangle, side = tables.candidate.listed[place], tables.candidate.pushes_to[place]
    where = where_it_lies(mesh, tables, triangle, side, pose.b_in_a, pair.size)
    is_behind = where == BEHIND and (mesh.triangles[triangle, FLAGS] >> SOLID) & 1 == 1
    if travel + new_travel <= 0.0 and is_beside(mesh, polytopes, pair.other, triangle, slack, pose.a_in_b):
        return count, is_behind
    set_triangle(mesh, polytopes, pair.row, triangle, side, probe)
    if is_swept:
        place_on_path(probe, probe.path, 0.0, pose)
    if is_fast and new_travel == 0.0 and misses(polytopes, pair, scratch):
        return count, False
    share, path, length, reach, first = 0.0, probe.path, travel, slack + travel, count
    if is_swept:
        share = meet_triangle(polytopes, pair, probe, probe.path, slack, scratch)
        if share < 0.0 and new_travel > 0.0:
            path, length = probe.new_path, new_travel
            share = meet_triangle(polytopes, pair, probe, probe.new_path, slack, scratch)
        if share < 0.0:
            return count, False
        place_on_path(probe, path, share, pose)
        reach = slack + (1.0 - share) * length
    count = touch_triangle(mesh, polytopes, pair, triangle, side, where, reach, scratch, contact, count, pair_kernels)
    if share > 0.0:
        measure_on_path(contact, first, count, share, path)
    if not is_swept and stops_motion(contact, first, count, probe, pair.size):
        # Contacts of the start are planes for the whole substep: is this the one that it meets?
        set_triangle(mesh, polytopes, pair.row, triangle, side, probe)
        motion = path_length(probe.motion)
        slack += travel - motion
        share = meet_triangle(polytopes, pair, probe, probe.motion, slack, scratch)
        if share < 0.0:
            count = first
        elif share > 0.0 and not has_normal(contact, first, count, probe, pair.size, scratch.closest):
            reach = slack + max(1.0 - share, 0.0) * motion
            place_on_path(probe, probe.motion, share, pose)
            fresh = touch_triangle(
                mesh, polytopes, pair, triangle, side, where, reach, scratch, contact, first, pair_kernels
            )
            fresh = drop_deep(contact, first, fresh, 2.0 * probe.loss[0])
            if fresh > first or not probe.meets[0]:
                measure_on_path(contact, first, fresh, share, probe.motion)
                count = fresh
            # Else it meets a flat neighbour, which had no contact of it: that of this one's plane stays.
            probe.is_ahead[0] = True
        place_on_path(probe, probe.motion, 0.0, pose)
        probe.is_ahead[0] = probe.is_ahead[0] or share < 0.0
        share = 0.0
    return count, is_behind and share == 0.0


@subkernel
def drop_deep(contact, first, last, most):
    """Drop of some contacts those deeper than the shapes are where one has been followed; return how many are left.

    At a triangle's edge they may be those of its face, which lead elsewhere.
    """
    kept = first
    for row in range(first, last):
        if contact.gap[row] >= -most:
            if kept < row:
                move_contact(contact, row, kept)
            kept += 1
    return kept


@subkernel
def touch_triangle(mesh, polytopes, pair, triangle, side, where, reach, scratch, contact, count, pair_kernels):
    """Add the contacts of a triangle at the poses in the scratch; arguments and returns as of ``touch_sphere``."""
    if pair.other.kind == SPHERE:
        return touch_sphere(mesh, pair, triangle, side, where, reach, scratch.pose, contact, count)
    if has_axis(pair.other.kind):
        return call_for_count(
            pair_kernels, ROUND_ON_MESH, mesh, polytopes, pair, triangle, side, where, reach, scratch, contact, count
        )
    return touch_polytope(mesh, polytopes, pair, triangle, side, where, reach, scratch, contact, count)


@subkernel
def stops_motion(contact, first, last, probe, size):
    """Whether one of some contacts stops what the other shape is about to do, gravity considered."""
    found = False
    for row in range(first, last):
        found = found or stops(contact, row, probe, size)
    return found


@subkernel
def stops(contact, row, probe, size):
    """As ``stops_motion``, of one contact."""
    closing = 0.0
    for i in range(3):
        closing -= contact.normal[row, i] * probe.motion[i]
    return closing > RATIO_STOPS * size and closing + probe.fall[0] > contact.gap[row]


@subkernel
def has_normal(contact, first, last, probe, size, closest):
    """Whether all contacts that stop the other shape have the normal with which it meets the triangle."""
    for row in range(first, last):
        cosine = 0.0
        for i in range(3):
            cosine += contact.normal[row, i] * closest.direction[i]
        if stops(contact, row, probe, size) and cosine <= 1.0 - RATIO_SAME_NORMAL:
            return False
    return True


# ---- along a path


@subkernel
def path_length(path):
    """[m]"""
    return (path[0] ** 2 + path[1] ** 2 + path[2] ** 2) ** 0.5


@subkernel
def misses(polytopes, pair, scratch):
    """Whether the triangle, swept back along the path, stays farther from the other shape than the slack."""
    return triangle_distance(polytopes, pair.row + 1, pair, pair.slack, scratch) > pair.slack


@subkernel
def meet_triangle(polytopes, pair, probe, path, slack, scratch):
    """Follow the other shape, smaller by what counts as touching, until it meets the triangle in the mesh's first row.

    Parameters
    ----------
    polytopes, pair, probe
        (read)
    path : float64 [3]
        (read)
    slack : float
        Distance at which what passes still counts [m].
    scratch : PairScratch
        Poses there, and the direction to the other shape, are written.

    Returns
    -------
    float
        Share of the path as of ``advance_to_impact``: where they meet, or are closest; 0 also if they overlap;
        NO_IMPACT.
    """
    # The triangle has nothing to lose, so the other loses for both.
    scratch.worn[0] = wear(polytopes, pair.other, probe.loss[0], scratch.scale_b)
    share = follow_to_triangle(polytopes, pair, probe, path, slack, scratch)
    restore_shapes(scratch)
    return share


@subkernel
def follow_to_triangle(polytopes, pair, probe, path, slack, scratch):
    """As ``meet_triangle``, for the shape with the scale in the scratch."""
    pose, closest, size = scratch.pose, scratch.closest, pair.size
    travel, meeting = path_length(path), RATIO_IMPACT_TRIANGLE * size
    horizon = horizon_of(probe.fall[0], travel)
    share, least, least_share, is_bracketed = 0.0, INFINITE, 0.0, False
    x, y, z = 0.0, 0.0, 0.0
    probe.meets[0] = True
    for _ in range(MOST_STEPS):
        place_on_path(probe, path, share, pose)
        reach = slack + (horizon - share) * travel
        distance = triangle_distance(polytopes, pair.row, pair, reach, scratch)
        if distance <= meeting:
            if distance <= RATIO_TOUCHING * size:
                # Where they overlap there is no direction but the last one.
                closest.direction[0], closest.direction[1], closest.direction[2] = x, y, z
            return share
        is_bracketed = distance > least
        if distance > reach:
            break
        if distance < least:
            least, least_share = distance, share
            x, y, z = closest.direction[0], closest.direction[1], closest.direction[2]
        closing = closing_along(closest.direction, path)
        if share == horizon or closing <= 0.0:
            break
        share = min(share + distance / closing, horizon)
    else:
        return share
    if is_bracketed:
        return closest_on_path(polytopes, pair, probe, path, least_share, share, slack, scratch)
    probe.meets[0] = False
    if least > slack:
        return NO_IMPACT
    if least_share < horizon:
        # What slides along is as near at the end: there it lies on all that it comes to lie on.
        place_on_path(probe, path, horizon, pose)
        distance = triangle_distance(polytopes, pair.row, pair, slack, scratch)
        if meeting < distance <= least + meeting:
            return horizon
        place_on_path(probe, path, least_share, pose)
        closest.direction[0], closest.direction[1], closest.direction[2] = x, y, z
    return least_share


@subkernel
def closest_on_path(polytopes, pair, probe, path, before, after, slack, scratch):
    """Where the other shape is closest to the triangle between two shares of a path; as ``closest_on_the_way``."""
    closest, meeting = scratch.closest, RATIO_IMPACT_TRIANGLE * pair.size
    x, y, z = closest.direction[0], closest.direction[1], closest.direction[2]
    share, speed_before, speed_after, side, distance = before, 0.0, 0.0, 0, INFINITE
    for step in range(_MOST_SECANTS):
        place_on_path(probe, path, share, scratch.pose)
        distance = triangle_distance(polytopes, pair.row, pair, INFINITE, scratch)
        if distance <= meeting:
            if distance <= RATIO_TOUCHING * pair.size:
                closest.direction[0], closest.direction[1], closest.direction[2] = x, y, z
            return share
        x, y, z = closest.direction[0], closest.direction[1], closest.direction[2]
        speed = closing_along(closest.direction, path)
        if step > 0 and abs(speed) <= RATIO_STOPS * pair.size:
            break
        if step == 0:
            speed_before, share = speed, after
            continue
        if step == 1:
            speed_after = min(speed, 0.0)
        elif speed > 0.0:
            speed_after *= 0.5 if side > 0 else 1.0
            before, speed_before, side = share, speed, 1
        else:
            speed_before *= 0.5 if side < 0 else 1.0
            after, speed_after, side = share, speed, -1
        if speed_before <= speed_after:
            break
        share = before + (after - before) * speed_before / (speed_before - speed_after)
    probe.meets[0] = False
    return share if distance <= slack else NO_IMPACT


@subkernel
def closing_along(direction, path):
    """How much nearer a path leads against a direction [m]."""
    return -(direction[0] * path[0] + direction[1] * path[1] + direction[2] * path[2])


@subkernel
def place_on_path(probe, path, share, pose):
    """Write the relative poses where the other shape is after a share of its path."""
    x = probe.center[0] + share * path[0]
    y = probe.center[1] + share * path[1]
    z = probe.center[2] + share * path[2]
    pose.b_in_a[POSITION, 0], pose.b_in_a[POSITION, 1], pose.b_in_a[POSITION, 2] = x, y, z
    for i in range(3):
        pose.a_in_b[POSITION, i] = -(pose.b_in_a[0, i] * x + pose.b_in_a[1, i] * y + pose.b_in_a[2, i] * z)


@subkernel
def measure_on_path(contact, first, last, share, path):
    """Turn contacts that were made after a share of the path into those of the substep's start."""
    for row in range(first, last):
        approach = 0.0
        for i in range(3):
            approach -= contact.normal[row, i] * path[i]
            contact.toi_offset[row, i] = share * path[i]
            contact.on_other[row, i] -= share * path[i]
        contact.gap[row] += share * max(approach, 0.0)


@subkernel
def add_anti_tunnelling_contact(normals, polytopes, other, reach, pose, probe, contact, count):
    """Add contacts of the centre of mass of a fast body, one for each direction.

    As ``swept_motion.add_anti_tunnelling_contacts``.
    """
    x, y, z = probe.mass_center[0], probe.mass_center[1], probe.mass_center[2]
    r = pose.b_in_a
    p, q, s = into_frame(r, x - r[POSITION, 0], y - r[POSITION, 1], z - r[POSITION, 2])
    inner = depth_of_point(polytopes, other, p, q, s)
    if inner <= 0.0:
        return count
    fresh = count
    for row in range(count):
        nx, ny, nz = contact.normal[row, 0], contact.normal[row, 1], contact.normal[row, 2]
        is_known = False
        for other_row in range(count, fresh):
            cosine = 0.0
            for i in range(3):
                cosine += contact.normal[row, i] * contact.normal[other_row, i]
            is_known = is_known or cosine > COSINE_ALIKE
        if is_known or fresh == CONTACT_ROWS:
            continue
        triangle = contact.triangle[row]
        cosine = nx * normals[triangle, 0] + ny * normals[triangle, 1] + nz * normals[triangle, 2]
        depth, allowed = (inner, 0.0) if abs(cosine) > COSINE_ALIKE else (0.0, other.swept_radius)
        gap = allowed - depth
        gap += nx * (x - contact.on_mesh[row, 0]) + ny * (y - contact.on_mesh[row, 1])
        gap += nz * (z - contact.on_mesh[row, 2])
        if gap > reach:
            continue
        bx, by, bz = x - depth * nx, y - depth * ny, z - depth * nz
        on_mesh = bx - gap * nx, by - gap * ny, bz - gap * nz
        fresh = keep_contact(contact, fresh, triangle, on_mesh, (bx, by, bz), gap, (nx, ny, nz))
    return fresh


@subkernel
def bound_path(extent, radius, slack, pose, probe):
    """Write the box that the other shape may reach in this substep, in the mesh's frame."""
    for i in range(3):
        center, half = pose[POSITION, i], radius + slack
        for j in range(3):
            center += pose[i, j] * 0.5 * (extent[0, j] + extent[1, j])
            half += abs(pose[i, j]) * 0.5 * (extent[1, j] - extent[0, j])
        probe.lower[i] = center - half + min(probe.path[i], probe.new_path[i], 0.0)
        probe.upper[i] = center + half + max(probe.path[i], probe.new_path[i], 0.0)


@subkernel
def touch_sphere(mesh, pair, row, side, where, reach, pose, contact, count):
    """Add the contact of a sphere with a triangle, if there is one; returns the contacts so far.

    A ball that counts as before the triangle though its centre is behind is pushed back by what is nearest to it there:
    a seam between flat triangles, too.

    Parameters
    ----------
    mesh : MeshView
        (read)
    pair : MeshPair
        (read)
    row, side : int
        The triangle, and the side to which it pushes.
    where : int
        BEHIND, BEFORE or GONE_THROUGH.
    reach : float
        Largest gap that makes a contact [m].
    pose : PairPoses
        Relative poses (read).
    contact, count : MeshContacts, int
        The mesh's contacts so far (written).

    Returns
    -------
    int
        Contacts.
    """
    vertices, triangles, normals, radius = mesh.vertices, mesh.triangles, mesh.normals, pair.other.parameters[0]
    x, y, z = pose.b_in_a[POSITION, 0], pose.b_in_a[POSITION, 1], pose.b_in_a[POSITION, 2]
    p, q, r, feature = closest_on_triangle(vertices, triangles[row, 0], triangles[row, 1], triangles[row, 2], x, y, z)
    dx, dy, dz = x - p, y - q, z - r
    distance = (dx * dx + dy * dy + dz * dz) ** 0.5
    if distance - radius > reach:
        return count
    nx, ny, nz = side * normals[row, 0], side * normals[row, 1], side * normals[row, 2]
    if feature == FACE or distance <= RATIO_TOUCHING * pair.size:
        if where == BEHIND:
            return count
        height = nx * dx + ny * dy + nz * dz
    else:
        nx, ny, nz, height = dx / distance, dy / distance, dz / distance, distance
        if not can_push(vertices, triangles, normals, row, feature, nx, ny, nz, side):
            if where == BEHIND or not can_push(vertices, triangles, normals, row, feature, nx, ny, nz, -side):
                return count
            nx, ny, nz, height = -nx, -ny, -nz, -distance
    on_other = x - radius * nx, y - radius * ny, z - radius * nz
    return keep_contact(contact, count, row, (p, q, r), on_other, height - radius, (nx, ny, nz))
