"""Bodies that move straight and turn at constant spin through a substep: their poses, and bounds on their approach."""

import math

from ..compiled.kernel import subkernel
from .data.workspace import POSITION, SPHERE, has_axis

# The square of the sine at which a centre of mass lies on a shape's axis but for rounding.
RATIO_ON_AXIS = 1e-20


@subkernel
def place_at_time(body_pose, local_pose, velocity, time, body_placed, shape_placed):
    """Poses of a body and its shape after ``time`` at constant velocity and spin."""
    x, y, z = velocity[3], velocity[4], velocity[5]
    speed = math.sqrt(x * x + y * y + z * z)
    angle = speed * time
    sine, cosine = 0.0, 0.0
    if angle > 0.0:
        # (1 - cos) as twice the sine of the half squared: exact for small angles too.
        sine, cosine = math.sin(angle), 2.0 * math.sin(0.5 * angle) ** 2
        x, y, z = x / speed, y / speed, z / speed
    for i in range(3):
        body_placed[POSITION, i] = body_pose[POSITION, i] + time * velocity[i]
    for j in range(3):
        # Rodrigues: v + sin k x v + (1 - cos) k x (k x v), column by column.
        a, b, c = body_pose[0, j], body_pose[1, j], body_pose[2, j]
        p, q, r = y * c - z * b, z * a - x * c, x * b - y * a
        body_placed[0, j] = a + sine * p + cosine * (y * r - z * q)
        body_placed[1, j] = b + sine * q + cosine * (z * p - x * r)
        body_placed[2, j] = c + sine * r + cosine * (x * q - y * p)
    for i in range(3):
        at = body_placed[POSITION, i]
        for j in range(3):
            at += body_placed[i, j] * local_pose[POSITION, j]
            shape_placed[i, j] = (
                body_placed[i, 0] * local_pose[0, j]
                + body_placed[i, 1] * local_pose[1, j]
                + body_placed[i, 2] * local_pose[2, j]
            )
        shape_placed[POSITION, i] = at


@subkernel
def place_pair(pose_a, pose_b, pose):
    """Pose of shape b in the frame of shape a, and the other way round; and what is up there."""
    dx = pose_b[POSITION, 0] - pose_a[POSITION, 0]
    dy = pose_b[POSITION, 1] - pose_a[POSITION, 1]
    dz = pose_b[POSITION, 2] - pose_a[POSITION, 2]
    u0, u1, u2 = pose.up[0], pose.up[1], pose.up[2]
    for i in range(3):
        pose.up_in_a[i] = pose_a[0, i] * u0 + pose_a[1, i] * u1 + pose_a[2, i] * u2
        pose.b_in_a[POSITION, i] = pose_a[0, i] * dx + pose_a[1, i] * dy + pose_a[2, i] * dz
        pose.a_in_b[POSITION, i] = -(pose_b[0, i] * dx + pose_b[1, i] * dy + pose_b[2, i] * dz)
        for j in range(3):
            element = pose_a[0, i] * pose_b[0, j] + pose_a[1, i] * pose_b[1, j] + pose_a[2, i] * pose_b[2, j]
            pose.b_in_a[i, j] = element
            pose.a_in_b[j, i] = element


@subkernel
def set_up(pose, gravity):
    """Write the direction against gravity [m/s^2] for ``place_pair``; 0 without gravity."""
    size = math.sqrt(gravity[0] ** 2 + gravity[1] ** 2 + gravity[2] ** 2)
    for i in range(3):
        pose.up[i] = -gravity[i] / size if size > 0.0 else 0.0


@subkernel
def take_poses(body_a, body_b, shape_a, shape_b, pose):
    """Write the poses of bodies and shapes, and the relative ones, for contacts that are made there."""
    for i in range(4):
        for j in range(3):
            pose.body_a[i, j] = body_a[i, j]
            pose.body_b[i, j] = body_b[i, j]
            pose.shape_a[i, j] = shape_a[i, j]
            pose.shape_b[i, j] = shape_b[i, j]
    place_pair(shape_a, shape_b, pose)


@subkernel
def swept_radius(kind, local_pose, radius):
    """Distance of a shape's farthest point from its body's centre of mass; a ball that turns there sweeps nothing."""
    offset = 0.0
    for i in range(3):
        offset += local_pose[POSITION, i] ** 2
    return math.sqrt(offset) + (0.0 if kind == SPHERE else radius)


@subkernel
def closest_approach(velocity_a, velocity_b, radius_a, radius_b):
    """Bound on the speed at which points of two bodies come closer in any direction [m/s]."""
    along, spin_a, spin_b = 0.0, 0.0, 0.0
    for i in range(3):
        along += (velocity_b[i] - velocity_a[i]) ** 2
        spin_a += velocity_a[3 + i] ** 2
        spin_b += velocity_b[3 + i] ** 2
    return math.sqrt(along) + math.sqrt(spin_a) * radius_a + math.sqrt(spin_b) * radius_b


@subkernel
def closing_speed(pose, direction, velocity_a, velocity_b, radius_a, radius_b, rolls_a, rolls_b):
    """Bound on the speed at which points of two bodies come closer along a direction of the frame of a [m/s].

    The part of a spin along the direction moves no point along it, and that about the axis of a shape which is round
    about it (``turns_about_axis``) moves no surface.
    """
    r = pose.shape_a
    x = r[0, 0] * direction[0] + r[0, 1] * direction[1] + r[0, 2] * direction[2]
    y = r[1, 0] * direction[0] + r[1, 1] * direction[1] + r[1, 2] * direction[2]
    z = r[2, 0] * direction[0] + r[2, 1] * direction[1] + r[2, 2] * direction[2]
    closing = x * (velocity_a[0] - velocity_b[0])
    closing += y * (velocity_a[1] - velocity_b[1]) + z * (velocity_a[2] - velocity_b[2])
    turning = radius_a * turning_speed(velocity_a, pose.shape_a, rolls_a, x, y, z)
    return closing + turning + radius_b * turning_speed(velocity_b, pose.shape_b, rolls_b, x, y, z)


@subkernel
def turning_speed(velocity, shape_pose, rolls, x, y, z):
    """Speed |omega x n| at unit distance from the axis along which n lies, for what ``rolls`` less what rolls."""
    p, q, r = velocity[3], velocity[4], velocity[5]
    if rolls:
        along = p * shape_pose[0, 2] + q * shape_pose[1, 2] + r * shape_pose[2, 2]
        p, q, r = p - along * shape_pose[0, 2], q - along * shape_pose[1, 2], r - along * shape_pose[2, 2]
    return math.sqrt((q * z - r * y) ** 2 + (r * x - p * z) ** 2 + (p * y - q * x) ** 2)


@subkernel
def turns_about_axis(kind, local_pose):
    """Whether a shape is round about its axis, and its body's centre of mass lies on that."""
    x, y, z = local_pose[POSITION, 0], local_pose[POSITION, 1], local_pose[POSITION, 2]
    along = x * local_pose[0, 2] + y * local_pose[1, 2] + z * local_pose[2, 2]
    return has_axis(kind) and x * x + y * y + z * z - along * along <= RATIO_ON_AXIS * along * along


@subkernel
def bound_approach(velocity, moving, other, body_pose, shape_pose, radius):
    """Bound on the speed at which points within ``radius`` of the moving shape come nearer to the other body.

    The relative velocity at the shape's position, and what the relative spin adds around it. That of a ball adds
    nothing: a turn about its centre changes no distance from it.

    Parameters
    ----------
    velocity : float64 [B, 6]
        (read)
    moving, other : int
        Bodies.
    body_pose, shape_pose : float64 [B, 4, 3], [4, 3]
        World poses; of the moving body's shape (read).
    radius : float
        [m]

    Returns
    -------
    float
        [m/s]
    """
    speed, spin = 0.0, 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        along = velocity[moving, i] - velocity[other, i]
        # omega x arm, of either body about its centre of mass
        along += velocity[moving, 3 + j] * (shape_pose[POSITION, k] - body_pose[moving, POSITION, k])
        along -= velocity[moving, 3 + k] * (shape_pose[POSITION, j] - body_pose[moving, POSITION, j])
        along -= velocity[other, 3 + j] * (shape_pose[POSITION, k] - body_pose[other, POSITION, k])
        along += velocity[other, 3 + k] * (shape_pose[POSITION, j] - body_pose[other, POSITION, j])
        speed += along * along
        spin += (velocity[moving, 3 + i] - velocity[other, 3 + i]) ** 2
    return speed**0.5 + spin**0.5 * radius


@subkernel
def spin_of(velocity):
    """Angular speed [rad/s]."""
    return (velocity[3] ** 2 + velocity[4] ** 2 + velocity[5] ** 2) ** 0.5


@subkernel
def felt_spin(velocity, kind, local_pose, shape_pose):
    """Angular speed at which a turn of its body changes where a shape is [rad/s].

    None of a ball about its body's centre of mass; of what is round about an axis through that, the part across it.
    """
    if kind == SPHERE and swept_radius(kind, local_pose, 0.0) == 0.0:
        return 0.0
    if not turns_about_axis(kind, local_pose):
        return spin_of(velocity)
    return turning_speed(velocity, shape_pose, False, shape_pose[0, 2], shape_pose[1, 2], shape_pose[2, 2])


@subkernel
def velocity_change_bound(velocity, other, radius):
    """Bound on how much the velocities of a body's points differ between two velocities of the body [m/s]."""
    along, spin = 0.0, 0.0
    for i in range(3):
        along += (other[i] - velocity[i]) ** 2
        spin += (other[3 + i] - velocity[3 + i]) ** 2
    return math.sqrt(along) + math.sqrt(spin) * radius
