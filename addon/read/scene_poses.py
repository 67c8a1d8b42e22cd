"""Matrices of evaluated objects: checked, and split into the rigid pose that is simulated and the rest.

A world matrix is ``translation @ rotation @ stretch``. Where the object is mirrored, all three axes are turned round,
as Blender does, so that a proper rotation remains and the stretch is negative.
"""

import numpy as np
from mathutils import Matrix

from ...solver_core.geometry import rotations
from .faults import SceneError, gathered

# Cosine between two axes of matrix_world above which an object counts as sheared. A float32 matrix below a chain of
# parents shows 1e-6; 1e-4 is a shear of 0.006 degrees, which nobody sees. Dimensionless.
TOLERANCE_SHEAR = 1e-4
# Scale of an axis, as a share of the largest, that counts as zero. Dimensionless.
RATIO_ZERO_SCALE = 1e-7


# Blender keeps the largest number of single precision where infinity was given; nothing that large is a place [m].
INFINITE = 1e30
# Numbers of single precision above this lie more than a degree apart: they say no angle [rad].
LARGEST_ANGLE = 2.0**18
_ROTATIONS = {
    "QUATERNION": ("rotation_quaternion", "delta_rotation_quaternion"),
    "AXIS_ANGLE": ("rotation_axis_angle",),
}
_EULERS = ("rotation_euler", "delta_rotation_euler")


def finite_matrices(evaluated, when, faults=None) -> np.ndarray:
    """World matrices of evaluated objects [n, 4, 4]; a SceneError names those that are not finite.

    With ``faults`` it is kept there, and such objects stand at the origin.
    """
    numbers = (value for ob in evaluated for row in ob.matrix_world for value in row)
    matrices = np.fromiter(numbers, float, 16 * len(evaluated)).reshape(-1, 4, 4)
    finite = (np.abs(matrices) < INFINITE).all(axis=(1, 2))  # NaN is not
    with gathered(faults) as found:
        for row in np.flatnonzero(~finite):
            found.add(_not_finite(evaluated[row], when))
    matrices[~finite] = np.eye(4)
    return matrices


def finite_matrix(evaluated, when) -> np.ndarray:
    """The same of one object [4, 4]."""
    return finite_matrices([evaluated], when)[0]


def check_rotations(evaluated, when, faults=None) -> None:
    """Raise a SceneError, or keep it, for objects whose rotation is no rotation, though their matrix is finite."""
    with gathered(faults) as found:
        for ob in evaluated:
            for channel in _ROTATIONS.get(ob.rotation_mode, _EULERS):
                angles = getattr(ob, channel)[: 1 if ob.rotation_mode == "AXIS_ANGLE" else None]
                largest = INFINITE if ob.rotation_mode == "QUATERNION" else LARGEST_ANGLE
                if not max(abs(value) for value in angles) < largest:
                    found.add(_bad_channel(ob, channel, when))


def _not_finite(evaluated, when) -> SceneError:
    for channel in ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale"):
        if not all(abs(value) < INFINITE for value in getattr(evaluated, channel)):
            return _bad_channel(evaluated, channel, when)
    return SceneError(
        evaluated.name, f"its world matrix is not finite {when}; look at its parents, constraints and delta transforms"
    )


def _bad_channel(ob, channel, when) -> SceneError:
    text = f"its {channel} is {vector_text(getattr(ob, channel))} {when}; correct it, or the driver that sets it"
    return SceneError(ob.name, text.replace("  ", " "))


def vector_text(values) -> str:
    """Numbers as an error names them, "(0, 1.5, inf)"."""
    return "(" + ", ".join(_number_text(float(value)) for value in values) + ")"


def _number_text(value):
    if abs(value) > INFINITE:
        return "inf" if value > 0 else "-inf"
    return f"{value:g}"


def rotations_and_stretches(matrices, names, faults=None):
    """Split 3 x 3 parts into proper rotations and the scales along their axes, negative if mirrored.

    Parameters
    ----------
    matrices : float64 [n, 3 or 4, 3 or 4]
        Finite.
    names : sequence of str
        Of the objects.
    faults : Faults, optional
        Keeps what would be raised; such objects are not turned and as large as their mesh.

    Returns
    -------
    rotation, stretch : float64 [n, 3, 3], [n, 3]

    Raises
    ------
    SceneError
        Names the objects with an axis of no length, or with shear.
    """
    axes = np.asarray(matrices)[:, :3, :3]
    scale = np.linalg.norm(axes, axis=1)
    largest = scale.max(axis=1)
    flat = scale.min(axis=1) <= RATIO_ZERO_SCALE * largest
    directions = axes / np.where(flat[:, None], 1.0, scale)[:, None, :]
    products = np.abs(np.swapaxes(directions, 1, 2) @ directions)
    cosine = products[:, (0, 0, 1), (1, 2, 2)].max(axis=1)
    bad = flat | (cosine > TOLERANCE_SHEAR)
    with gathered(faults) as found:
        for row in np.flatnonzero(bad):
            found.add(_not_rigid(names[row], scale[row], flat[row], cosine[row]))
    directions[bad], scale[bad] = np.eye(3), 1.0
    mirror = np.where(np.linalg.det(directions) < 0.0, -1.0, 1.0)[:, None]
    return _nearest_rotations(directions * mirror[..., None]), scale * mirror


def _not_rigid(name, scale, is_flat, cosine) -> SceneError:
    if is_flat:
        axis = int(np.argmin(scale))
        return SceneError(name, f"its scale along {'XYZ'[axis]} is {scale[axis]:g}; set a scale other than 0")
    angle = np.degrees(np.arccos(min(cosine, 1.0)))
    return SceneError(
        name,
        f"it is sheared: two of its axes meet at {angle:.2f} degrees instead of 90; "
        "apply the scale of its parent, or clear the parent and keep the transform",
    )


def rotation_and_stretch(matrix, name):
    """The same of one object: rotation [3, 3] and stretch [3]."""
    rotation, stretch = rotations_and_stretches(matrix[None], [name])
    return rotation[0], stretch[0]


def rigid_poses(matrices):
    """Positions and orientations of poses [..., 4, 4] that may have scale, mirror and (at later frames) a little shear.

    Returns
    -------
    position, orientation : float64 [..., 3], [..., 4]
    """
    axes = matrices[..., :3, :3]
    scale = np.linalg.norm(axes, axis=-2, keepdims=True)
    directions = axes / np.where(scale > 0.0, scale, 1.0)
    mirror = np.where(np.linalg.det(directions) < 0.0, -1.0, 1.0)[..., None, None]
    return matrices[..., :3, 3], rotations.from_matrix(_nearest_rotations(directions * mirror))


def _nearest_rotations(directions) -> np.ndarray:
    """The rotations nearest to float32 matrices [..., 3, 3]: exact axes stay exact."""
    size = np.abs(directions)
    exact = (size.sum(axis=-2) == 1.0).all(axis=-1) & ((size == 0.0) | (size == 1.0)).all(axis=(-2, -1))
    left, _, right = np.linalg.svd(directions)
    left[..., 2] *= np.where(np.linalg.det(left @ right) > 0.0, 1.0, -1.0)[..., None]
    return np.where(exact[..., None, None], directions, left @ right) + 0.0


def rigid_matrices(rotation, position) -> np.ndarray:
    """Matrices [..., 4, 4] of rotations [..., 3, 3] and positions [..., 3]."""
    matrices = np.zeros((*rotation.shape[:-2], 4, 4))
    matrices[..., :3, :3], matrices[..., :3, 3], matrices[..., 3, 3] = rotation, position, 1.0
    return matrices


def parents_part(evaluated) -> np.ndarray:
    """P of ``matrix_world = P @ basis``, with no constraint of the object's own."""
    parent = evaluated.parent
    if parent is None:
        return np.eye(4)
    if evaluated.parent_type == "OBJECT":
        return np.array(parent.matrix_world @ evaluated.matrix_parent_inverse, float)
    bone = parent.pose.bones.get(evaluated.parent_bone) if evaluated.parent_type == "BONE" and parent.pose else None
    if bone is not None:
        return np.array(parent.matrix_world @ _bone_matrix(bone) @ evaluated.matrix_parent_inverse, float)
    # Vertices and lattices: only what Blender has made of them is known.
    return np.array(evaluated.matrix_world, float) @ np.linalg.pinv(np.array(evaluated.matrix_basis, float))


def matrix_with_scale(evaluated, scale) -> np.ndarray:
    """World matrix [4, 4] of an evaluated object without constraints of its own, had it this scale.

    Where its scale is 0 the matrix does not tell how the object is turned, and its channels do.
    """
    own = evaluated.scale.copy()
    evaluated.scale = scale
    basis = np.array(evaluated.matrix_basis, float)
    evaluated.scale = own
    return parents_part(evaluated) @ basis


def _bone_matrix(bone) -> Matrix:
    """The point of a bone to which its children are attached: its tail, unless the bone has Relative Parenting."""
    if bone.bone.use_relative_parent:
        return bone.matrix_channel
    return bone.matrix @ Matrix.Translation((0.0, bone.bone.length, 0.0))
