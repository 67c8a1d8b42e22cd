"""Matrices of evaluated objects: checked, and split into the rigid pose that is simulated and the rest.

A world matrix is ``translation @ rotation @ stretch``. Where the object is mirrored, all three axes are turned round,
as Blender does, so that a proper rotation remains and the stretch is negative.
"""

import numpy as np
from mathutils import Matrix

from ...solver_core.geometry import rotations

# Cosine between two axes of matrix_world above which an object counts as sheared. A float32 matrix below a chain of
# parents shows 1e-6; 1e-4 is a shear of 0.006 degrees, which nobody sees. Dimensionless.
TOLERANCE_SHEAR = 1e-4
# Scale of an axis, as a share of the largest, that counts as zero. Dimensionless.
RATIO_ZERO_SCALE = 1e-7


class SceneError(ValueError):
    """A scene that cannot be simulated. ``str()`` is one line: object, value and what to do.

    Attributes
    ----------
    object_name : str or None
    message : str
        Without the object's name.
    """

    def __init__(self, object_name, message):
        self.object_name = object_name
        self.message = message
        super().__init__(message if object_name is None else f"{object_name}: {message}")


def finite_matrix(evaluated, when) -> np.ndarray:
    matrix = np.array(evaluated.matrix_world, float)
    if np.all(np.isfinite(matrix)):
        return matrix
    for channel in ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale"):
        values = tuple(getattr(evaluated, channel))
        if not np.all(np.isfinite(values)):
            bad = ", ".join(f"{value:g}" for value in values)
            raise SceneError(
                evaluated.name,
                f"its {channel} is ({bad}) {when}; correct it, or the driver that sets it".replace("  ", " "),
            )
    raise SceneError(
        evaluated.name, f"its world matrix is not finite {when}; look at its parents, constraints and delta transforms"
    )


def rotation_and_stretch(matrix, name):
    """Split the 3 x 3 part into a proper rotation and the scale along its axes, negative if mirrored."""
    axes = matrix[:3, :3]
    scale = np.linalg.norm(axes, axis=0)
    if scale.max() == 0.0 or scale.min() <= RATIO_ZERO_SCALE * scale.max():
        axis = "XYZ"[int(np.argmin(scale))]
        raise SceneError(name, f"its scale along {axis} is {scale.min():g}; set a scale other than 0")
    directions = axes / scale
    products = directions.T @ directions
    cosine = np.abs(products - np.diag(np.diag(products))).max()
    if cosine > TOLERANCE_SHEAR:
        angle = np.degrees(np.arccos(min(cosine, 1.0)))
        raise SceneError(
            name,
            f"it is sheared: two of its axes meet at {angle:.2f} degrees instead of 90; "
            "apply the scale of its parent, or clear the parent and keep the transform",
        )
    if np.linalg.det(directions) < 0.0:
        directions, scale = -directions, -scale
    return _nearest_rotation(directions), scale


def rigid_pose(matrix):
    """Position and orientation of a pose that may have scale, mirror and (at later frames) a little shear."""
    axes = matrix[:3, :3]
    scale = np.linalg.norm(axes, axis=0)
    directions = axes / np.where(scale > 0.0, scale, 1.0)
    if np.linalg.det(directions) < 0.0:
        directions = -directions
    return matrix[:3, 3], rotations.from_matrix(_nearest_rotation(directions))


def _nearest_rotation(directions) -> np.ndarray:
    """The rotation nearest to a float32 matrix: exact axes stay exact."""
    if np.array_equal(np.abs(directions).sum(axis=0), np.ones(3)) and set(np.unique(np.abs(directions))) <= {0.0, 1.0}:
        return directions + 0.0
    left, _, right = np.linalg.svd(directions)
    rotation = left @ right
    return rotation if np.linalg.det(rotation) > 0.0 else left @ np.diag([1.0, 1.0, -1.0]) @ right


def rigid_matrix(rotation, position) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rotation, position
    return matrix


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


def _bone_matrix(bone) -> Matrix:
    """The point of a bone to which its children are attached: its tail, unless the bone has Relative Parenting."""
    if bone.bone.use_relative_parent:
        return bone.matrix_channel
    return bone.matrix @ Matrix.Translation((0.0, bone.bone.length, 0.0))
