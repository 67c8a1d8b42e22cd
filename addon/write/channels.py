"""World matrices -> values of an object's location and rotation channels, without Blender.

An object's world matrix is ``W = P B`` with the parents' part ``P`` and the basis ``B = T(location + delta) D R S``
(D: delta rotation, R: rotation channels, S: scale). Only location and R are free to a bake, so

    location = (P^-1 W)_translation - delta,      R = D^-1 (P^-1 W)_3x3 S^-1 .

One rotation has many values in channels: q and -q, angles plus full turns, two Euler triples. Of these the one nearest
to the frame before is taken, so that what is seen between two frames (motion blur, slow motion) turns the short way.
"""

import numpy as np

from ...solver_core.geometry import rotations

# Below this cosine of the middle angle the outer two Euler angles turn about one axis; only their sum is known.
GIMBAL_COSINE = 1e-6
# Shear above which columns are brought back to a rotation [1]; single precision leaves some 1e-7 in matrices.
SHEAR_TOLERANCE = 1e-5
# Half-angle sines below this say nothing of the axis.
AXIS_SINE = 1e-9

EULER_ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")


def quaternion_matrices(quaternion):
    """Rotation matrices [..., 3, 3] of unit quaternions (w, x, y, z) [..., 4]."""
    w, x, y, z = np.moveaxis(np.asarray(quaternion, float), -1, 0)
    matrices = np.empty((*w.shape, 3, 3))
    matrices[..., 0, 0] = 1 - 2 * (y * y + z * z)
    matrices[..., 0, 1] = 2 * (x * y - w * z)
    matrices[..., 0, 2] = 2 * (x * z + w * y)
    matrices[..., 1, 0] = 2 * (x * y + w * z)
    matrices[..., 1, 1] = 1 - 2 * (x * x + z * z)
    matrices[..., 1, 2] = 2 * (y * z - w * x)
    matrices[..., 2, 0] = 2 * (x * z - w * y)
    matrices[..., 2, 1] = 2 * (y * z + w * x)
    matrices[..., 2, 2] = 1 - 2 * (x * x + y * y)
    return matrices


def nearest_rotations(matrices):
    """Turn matrices [..., 3, 3] that may hold some shear into rotations (polar decomposition)."""
    shear = np.abs(np.swapaxes(matrices, -1, -2) @ matrices - np.eye(3)).max(axis=(-2, -1))
    skewed = shear > SHEAR_TOLERANCE
    if not skewed.any():
        return matrices
    left, _, right = np.linalg.svd(matrices[skewed])
    left[..., :, 2] *= np.linalg.det(left @ right)[..., None]  # a rotation, not a mirror
    nearest = matrices.copy()
    nearest[skewed] = left @ right
    return nearest


def split_scale(basis, signs):
    """Scale [..., 3] of basis matrices [..., 3, 3]: lengths of the columns, with the object's own signs [..., 3].

    Where a mirrored world does not fit these signs (a constraint mirrored it), the first axis is flipped.
    """
    scale = np.linalg.norm(basis, axis=-2) * np.where(np.asarray(signs) < 0, -1.0, 1.0)
    mirrored = np.linalg.det(basis) * np.prod(scale, axis=-1) < 0
    scale[..., 0] = np.where(mirrored, -scale[..., 0], scale[..., 0])
    return scale


def continuous_quaternions(rotation, hint, first):
    """Quaternion channels [n, F, 4] of rotations [n, F, 3, 3] without jumps of sign.

    Parameters
    ----------
    rotation : array [n, F, 3, 3]
    hint : array [n, 4]
        Value that the channels had before; the value at frame ``first`` gets the sign nearest to it.
    first : array [n] of int
        First frame that is used, as an index.
    """
    q = rotations.from_matrix(rotation)
    steps = np.where(np.sum(q[:, 1:] * q[:, :-1], axis=-1) < 0, -1.0, 1.0)
    signs = np.concatenate([np.ones((len(q), 1)), np.cumprod(steps, axis=1)], axis=1)
    q *= signs[..., None]
    at_first = q[np.arange(len(q)), first]
    q *= np.where(np.sum(at_first * hint, axis=-1) < 0, -1.0, 1.0)[:, None, None]
    return q


def continuous_axis_angles(rotation, hint, first):
    """Axis-angle channels [n, F, 4] (angle [rad], axis) of rotations [n, F, 3, 3] without jumps.

    The axis goes on where the rotation passes through none, and the angle counts full turns.
    """
    quaternion = rotations.from_matrix(rotation)
    sine = np.linalg.norm(quaternion[..., 1:], axis=-1)
    angle = 2 * np.arctan2(sine, quaternion[..., 0])
    channels = np.empty((*angle.shape, 4))
    before = np.array(hint, float)
    length = np.linalg.norm(before[:, 1:], axis=-1, keepdims=True)
    before[:, 1:] = np.where(length > AXIS_SINE, before[:, 1:] / np.maximum(length, AXIS_SINE), [0.0, 1.0, 0.0])
    for frame in range(angle.shape[1]):
        known = sine[:, frame] > AXIS_SINE
        axis = np.where(
            known[:, None], quaternion[:, frame, 1:] / np.maximum(sine[:, frame], AXIS_SINE)[:, None], before[:, 1:]
        )
        turned = np.sum(axis * before[:, 1:], axis=-1) < 0
        axis = np.where(turned[:, None], -axis, axis)
        value = np.where(turned, -angle[:, frame], angle[:, frame])
        value += 2 * np.pi * np.round((before[:, 0] - value) / (2 * np.pi))
        channels[:, frame] = np.concatenate([value[:, None], axis], axis=-1)
        before = np.where((frame >= first)[:, None], channels[:, frame], before)
    return channels


def continuous_eulers(rotation, order, hint, first):
    """Euler channels [n, F, 3] [rad] of rotations [n, F, 3, 3]: of all triples the nearest to the frame before.

    ``order`` is Blender's: in "XYZ" the turn about X comes first, R = Rz Ry Rx. Blender's channels keep their places
    (x, y, z) whatever the order.
    """
    i, j, k = ("XYZ".index(axis) for axis in order)
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    channels = np.empty((*rotation.shape[:2], 3))
    before = np.array(hint, float)
    for frame in range(rotation.shape[1]):
        triple = _nearest_triple(rotation[:, frame], (i, j, k), sign, before)
        channels[:, frame] = triple
        before = np.where((frame >= first)[:, None], triple, before)
    return channels


def _nearest_triple(m, axes, sign, before):
    """Euler triples [n, 3] of rotations [n, 3, 3] that lie nearest to the triples ``before``."""
    i, j, k = axes
    cosine = np.hypot(m[:, i, i], m[:, j, i])
    first = np.empty((len(m), 3))
    first[:, i] = np.arctan2(sign * m[:, k, j], m[:, k, k])
    first[:, j] = np.arctan2(-sign * m[:, k, i], cosine)
    first[:, k] = np.arctan2(sign * m[:, j, i], m[:, i, i])
    second = first + np.pi
    second[:, j] = np.arctan2(-sign * m[:, k, i], -cosine)

    # Gimbal lock: the last turn keeps its angle and the first takes the rest, R_i = R_j^-1 R_k^-1 R.
    locked = cosine < GIMBAL_COSINE
    if locked.any():
        c, s = np.cos(before[:, k]), np.sin(before[:, k])
        row = -sign * s[:, None] * m[:, i, :] + c[:, None] * m[:, j, :]
        first[locked, i] = np.arctan2(-sign * row[:, k], row[:, j])[locked]
        first[locked, k] = before[locked, k]
        second[locked] = first[locked]

    candidates = [value + 2 * np.pi * np.round((before - value) / (2 * np.pi)) for value in (first, second)]
    distances = [np.abs(value - before).sum(axis=-1) for value in candidates]
    return np.where((distances[0] <= distances[1])[:, None], *candidates)


def rotation_path(mode):
    """Name of the rotation property that an object's rotation mode uses."""
    return {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")


def rotation_channels(rotation, mode, hint, first):
    """Channels of ``rotation_path(mode)`` [n, F, 3 or 4] for rotations [n, F, 3, 3]; see the functions above."""
    if mode == "QUATERNION":
        return continuous_quaternions(rotation, hint, first)
    if mode == "AXIS_ANGLE":
        return continuous_axis_angles(rotation, hint, first)
    return continuous_eulers(rotation, mode, hint, first)
