"""Unit quaternions (w, x, y, z) on NumPy arrays; the last axis holds the four components.

Used where models are built and results are read. Kernels have their own scalar forms in ``rotation_kernels``.
"""

import numpy as np

IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


def cross(a, b):
    """Cross product along the last axis; a quarter of the time of ``numpy.cross``, which moves axes about."""
    a0, a1, a2 = a[..., 0], a[..., 1], a[..., 2]
    b0, b1, b2 = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axis=-1)


def multiply(a, b):
    """Quaternion product ``a b``: first the rotation ``b``, then ``a``."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    scalar_a, vector_a = a[..., :1], a[..., 1:]
    scalar_b, vector_b = b[..., :1], b[..., 1:]
    scalar = scalar_a * scalar_b - np.sum(vector_a * vector_b, axis=-1, keepdims=True)
    vector = scalar_a * vector_b + scalar_b * vector_a + cross(vector_a, vector_b)
    return np.concatenate([scalar, vector], axis=-1)


def conjugate(q):
    """The inverse rotation."""
    return np.asarray(q, float) * np.array([1.0, -1.0, -1.0, -1.0])


def rotate(q, vector):
    """Rotate ``vector`` by ``q``: v + 2 w (u x v) + 2 u x (u x v) with q = (w, u)."""
    q, vector = np.asarray(q, float), np.asarray(vector, float)
    twice = 2.0 * cross(q[..., 1:], vector)
    return vector + q[..., :1] * twice + cross(q[..., 1:], twice)


def matrix(q):
    """Rotation matrices [..., 3, 3]."""
    w, x, y, z = np.moveaxis(np.asarray(q, float), -1, 0)
    entries = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.ascontiguousarray(np.moveaxis(np.array(entries), (0, 1), (-2, -1)))


def from_matrix(rotation):
    """Quaternions with w >= 0 [..., 4] of proper rotation matrices [..., 3, 3].

    Of the four components the largest is found first, so that nothing small is divided by (Shepperd 1978).
    """
    m = np.asarray(rotation, float).reshape(-1, 3, 3)
    trace = m[:, 0, 0] + m[:, 1, 1] + m[:, 2, 2]
    # products[:, i, j] = 4 q_i q_j
    products = np.empty((len(m), 4, 4))
    products[:, 0, 0] = 1.0 + trace
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        products[:, 1 + i, 1 + i] = 1.0 - trace + 2.0 * m[:, i, i]
        products[:, 0, 1 + i] = products[:, 1 + i, 0] = m[:, k, j] - m[:, j, k]
        products[:, 1 + i, 1 + j] = products[:, 1 + j, 1 + i] = m[:, j, i] + m[:, i, j]
    largest = products.diagonal(axis1=1, axis2=2).argmax(axis=1)
    q = products[np.arange(len(m)), largest]
    q *= np.where(q[:, 0] < 0.0, -1.0, 1.0)[:, None] / np.sqrt(np.sum(q * q, axis=1))[:, None]
    return q.reshape(*np.shape(rotation)[:-2], 4)


def from_rotation_vector(vector):
    """Quaternion of a turn by ``|vector|`` [rad] about ``vector``."""
    vector = np.asarray(vector, float)
    angle = np.linalg.norm(vector, axis=-1, keepdims=True)
    # sin(a/2)/a -> 1/2 for a -> 0; numpy's sinc is sin(pi x)/(pi x)
    return np.concatenate([np.cos(0.5 * angle), 0.5 * np.sinc(0.5 * angle / np.pi) * vector], axis=-1)


def to_rotation_vector(q):
    """Turn by at most pi as a vector, angle [rad] times axis."""
    q = np.asarray(q, float)
    q = np.where(q[..., :1] < 0.0, -q, q)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    half_angle = np.arctan2(sine, q[..., :1])
    # a / sin(a/2) -> 2 for a -> 0
    small = sine < 1e-150
    return np.where(small, 2.0, 2.0 * half_angle / np.where(small, 1.0, sine)) * q[..., 1:]
