"""Signed distance of a point from a capsule, cylinder or cone: in the plane through its axis and the point."""

from ..kernel import subkernel
from .workspace import CAPSULE, CYLINDER, DIRECTION, ON_A, ON_B, POSITION


@subkernel
def round_and_point(kind, parameters, pose, touching, closest):
    """Signed distance of a point from a round shape, in the shape's frame; the shape is a, the point b.

    Parameters
    ----------
    kind : int
        CAPSULE, CYLINDER or CONE.
    parameters : float64 [3]
        (read)
    pose : float64 [4, 3]
        Its row POSITION is the point (read).
    touching : float
        Distances below it count as none, and the way out of the shape is taken [m].
    closest : float64 [3, 3]
        Closest points and the direction from the shape to the point (written).

    Returns
    -------
    float
        [m]
    """
    x, y, z = pose[POSITION, 0], pose[POSITION, 1], pose[POSITION, 2]
    across = (x * x + y * y) ** 0.5
    # The direction off the axis; on it any will do.
    u, v = 1.0, 0.0
    if across > 0.0:
        u, v = x / across, y / across
    if kind == CAPSULE:
        held = min(max(z, -parameters[1]), parameters[1])
        distance, p, q = from_corner(across, z, 0.0, held, touching, 1.0, 0.0)
        distance -= parameters[0]
    elif kind == CYLINDER:
        distance, p, q = from_rectangle(across, z, parameters[0], parameters[1], touching)
    else:
        distance, p, q = from_triangle(across, z, parameters[0], parameters[1], touching)
    closest[DIRECTION, 0], closest[DIRECTION, 1], closest[DIRECTION, 2] = u * p, v * p, q
    closest[ON_B, 0], closest[ON_B, 1], closest[ON_B, 2] = x, y, z
    for i in range(3):
        closest[ON_A, i] = closest[ON_B, i] - distance * closest[DIRECTION, i]
    return distance


@subkernel
def from_corner(across, z, corner_across, corner_z, touching, p, q):
    """Distance and direction of (across, z) from a point; the direction (p, q) where they meet."""
    dp, dq = across - corner_across, z - corner_z
    distance = (dp * dp + dq * dq) ** 0.5
    if distance <= touching:
        return distance, p, q
    return distance, dp / distance, dq / distance


@subkernel
def from_rectangle(across, z, radius, half, touching):
    """Signed distance and direction from the half section of a cylinder."""
    beyond, above = across - radius, abs(z) - half
    up = 1.0 if z >= 0.0 else -1.0
    if beyond > 0.0 and above > 0.0:
        distance, p, q = from_corner(beyond, above, 0.0, 0.0, touching, 1.0, 0.0)
        return distance, p, q * up
    if above > beyond:
        return above, 0.0, up
    return beyond, 1.0, 0.0


@subkernel
def from_triangle(across, z, radius, half, touching):
    """Signed distance and direction from the half section of a cone.

    Its slanted side, from the rim to the apex, has the outward normal (H, r) / sqrt(H^2 + r^2) with H = 2 half.
    """
    height = 2.0 * half
    slope = (height * height + radius * radius) ** 0.5
    side_p, side_q = height / slope, radius / slope
    below = -z - half
    side = side_p * across + side_q * (z - half)
    if below <= 0.0 and side <= 0.0:
        if below > side:
            return below, 0.0, -1.0
        return side, side_p, side_q
    # How far along the side, from the apex down to the rim.
    along = side_q * across - side_p * (z - half)
    if side > 0.0 and 0.0 <= along <= slope:
        return side, side_p, side_q
    if side > 0.0 and along < 0.0:
        return from_corner(across, z, 0.0, half, touching, side_p, side_q)
    if across <= radius:
        return below, 0.0, -1.0
    return from_corner(across, z, radius, -half, touching, side_p, side_q)
