"""Unit quaternions (w, x, y, z) inside kernels: scalars in, tuples out, nothing allocated."""

import math

from ..compiled.kernel import subkernel


@subkernel
def rotate(w, x, y, z, a, b, c):
    """Rotate the vector (a, b, c): v + 2 w (u x v) + 2 u x (u x v)."""
    s = 2.0 * (y * c - z * b)
    t = 2.0 * (z * a - x * c)
    r = 2.0 * (x * b - y * a)
    return a + w * s + (y * r - z * t), b + w * t + (z * s - x * r), c + w * r + (x * t - y * s)


@subkernel
def rotate_back(w, x, y, z, a, b, c):
    """Rotate the vector (a, b, c) by the inverse."""
    return rotate(w, -x, -y, -z, a, b, c)


@subkernel
def multiply(w, x, y, z, p, a, b, c):
    """Quaternion product (w, x, y, z) (p, a, b, c): first the second rotation, then the first."""
    return (
        w * p - x * a - y * b - z * c,
        w * a + p * x + y * c - z * b,
        w * b + p * y + z * a - x * c,
        w * c + p * z + x * b - y * a,
    )


@subkernel
def from_rotation_vector(x, y, z):
    """Quaternion of a turn by |(x, y, z)| [rad] about that axis."""
    angle_squared = x * x + y * y + z * z
    if angle_squared < 1e-8:
        # sin(a/2)/a to the order that doubles can tell here: 1/2 - a^2/48
        factor = 0.5 - angle_squared / 48.0
        scalar = 1.0 - angle_squared / 8.0
    else:
        angle = math.sqrt(angle_squared)
        factor = math.sin(0.5 * angle) / angle
        scalar = math.cos(0.5 * angle)
    return scalar, factor * x, factor * y, factor * z
