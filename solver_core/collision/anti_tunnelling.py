"""Contacts of the centres of mass of two fast bodies, so that neither turns its way through the other."""

from ..compiled.kernel import subkernel
from .data.workspace import FACE_OF_A, FACE_OF_B, POSITION, SPHERE
from .distance.closest_points import into_frame
from .distance.shape_distance import depth_of_point


@subkernel
def add_anti_tunnelling_contacts(workspace, pair, reach, maximal_points, count):
    """Add contacts of the centres of mass of two fast bodies to their manifold.

    A hit beside its centre spins a small fast body by many turns a substep. To the linear rows the centre then goes on
    through what was hit, about the point that was stopped. But as long as the body is on its side of a face, its
    centre is farther off by the depth at which it lies within the body. Where the plane is no face of what was hit,
    the centre may swing round it, as far as its distance from the body's farthest point leads.

    Parameters
    ----------
    workspace, pair : CollisionWorkspace, Pair
        ``manifold`` of the scratch is written.
    reach : float
        Largest gap that makes a contact [m].
    maximal_points : int
        If the manifold has as many, the farthest contact gives way.
    count : int
        Contacts of the manifold in the scratch, above 0.

    Returns
    -------
    int
        Contacts.
    """
    polytopes, local_pose, scratch = workspace.polytopes, workspace.local_pose, workspace.scratch
    a, b = pair.shape_a, pair.shape_b
    manifold, normal, origin, pose = scratch.manifold, scratch.axes.normal, scratch.feature.origin[0], scratch.pose
    deepest = 0
    for row in range(1, count):
        if manifold.gap[row] < manifold.gap[deepest]:
            deepest = row
    for is_b in range(2):
        kind, moves = (b.kind, pair.moves_b) if is_b == 1 else (a.kind, pair.moves_a)
        if kind == SPHERE or not moves:
            continue
        radius = b.swept_radius if is_b == 1 else a.swept_radius
        x, y, z = center_in_shape(local_pose[pair.b if is_b == 1 else pair.a])
        if is_b == 1:
            depth = depth_of_point(polytopes, b, x, y, z)
            r = pose.b_in_a
            x, y, z = (
                r[POSITION, 0] + r[0, 0] * x + r[0, 1] * y + r[0, 2] * z,
                r[POSITION, 1] + r[1, 0] * x + r[1, 1] * y + r[1, 2] * z,
                r[POSITION, 2] + r[2, 0] * x + r[2, 1] * y + r[2, 2] * z,
            )
        else:
            depth = depth_of_point(polytopes, a, x, y, z)
        if depth <= 0.0:
            # A part of a body whose centre lies outside of it.
            continue
        allowed = 0.0
        if origin != (FACE_OF_A if is_b == 1 else FACE_OF_B):
            depth, allowed = 0.0, radius
        points, sign = (manifold.point_a, 1.0) if is_b == 1 else (manifold.point_b, -1.0)
        gap = allowed - depth
        gap += sign * normal[0] * (x - points[deepest, 0])
        gap += sign * normal[1] * (y - points[deepest, 1])
        gap += sign * normal[2] * (z - points[deepest, 2])
        if gap > reach:
            continue
        place = count
        if count >= maximal_points:
            place = 0
            for row in range(1, count):
                if manifold.gap[row] > manifold.gap[place]:
                    place = row
        own = manifold.point_b if is_b == 1 else manifold.point_a
        for i in range(3):
            at = x if i == 0 else y if i == 1 else z
            own[place, i] = at - sign * depth * normal[i]
            points[place, i] = at - sign * (depth + gap) * normal[i]
        manifold.gap[place] = gap
        count = max(count, place + 1)
    return count


@subkernel
def center_in_shape(local_pose):
    """A body's centre of mass, its frame's origin, in the frame of one of its shapes."""
    x, y, z = local_pose[POSITION, 0], local_pose[POSITION, 1], local_pose[POSITION, 2]
    return into_frame(local_pose, -x, -y, -z)
