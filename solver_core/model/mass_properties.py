"""Centre of mass, principal axes and principal moments of bodies; mass properties of joined and of moved shapes."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..geometry import rotations
from ..geometry.small_matrices import product, symmetric_eigen
from ..geometry.volume_integrals import MassProperties

# An inertia whose off-diagonal part is below this share of its trace counts as diagonal already: a turn of the axes
# would be rounding noise and would cost an axis-aligned box its exact axes.
_RATIO_DIAGONAL = 1e-12


def principal_frames(
    properties: Sequence[MassProperties], mass: np.ndarray, own_center: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where body frames lie in the user frames, and the inertia about their axes.

    Parameters
    ----------
    properties : sequence of MassProperties
        Of the bodies' shapes, with a volume.
    mass : float64 [body_count]
        [kg]
    own_center : float64 [body_count, 3]
        Where the centre of mass is instead of where the shape has it, in the user frame [m]; NaN: where that is. The
        inertia about it is the shape's (Steiner).

    Returns
    -------
    center : float64 [body_count, 3]
        Centre of mass [m].
    axes : float64 [body_count, 4]
        The principal axes as unit quaternions (w, x, y, z).
    moments : float64 [body_count, 3]
        Principal moments of inertia [kg m^2]; all above 0 if the shape's inertia can be that of a body.
    """
    center = np.array([of_shape.center for of_shape in properties], float).reshape(-1, 3)
    density = mass / np.array([of_shape.volume for of_shape in properties])
    tensor = np.array([of_shape.inertia for of_shape in properties], float).reshape(-1, 3, 3) * density[:, None, None]
    has_own = np.isfinite(own_center).all(axis=1)
    moved_by = np.where(has_own[:, None], center - own_center, 0.0)
    tensor = np.where(has_own[:, None, None], tensor + mass[:, None, None] * _parallel_axis(moved_by), tensor)
    center = np.where(has_own[:, None], own_center, center)
    moments = np.diagonal(tensor, axis1=1, axis2=2).copy()
    axes = np.tile(rotations.IDENTITY, (len(center), 1))
    off_diagonal = np.abs(tensor * (1.0 - np.eye(3))).max(axis=(1, 2))
    turned = off_diagonal > _RATIO_DIAGONAL * moments.sum(axis=1)
    if turned.any():
        moments[turned], vectors = symmetric_eigen(tensor[turned])
        axes[turned] = rotations.from_matrix(vectors)
    return center, axes, moments


def sum_of_parts(parts: list[MassProperties]) -> MassProperties:
    """Of several rigidly joined shapes at one density; ``parts`` are their ``MassProperties``, at least one."""
    # not ``sum``, which rounds otherwise from Python 3.12 on
    volume = math.fsum(part.volume for part in parts)
    center: np.ndarray = sum((part.volume * part.center for part in parts), np.zeros(3)) / volume
    inertia = np.zeros((3, 3))
    for part in parts:
        inertia += part.inertia + part.volume * _parallel_axis(part.center - center)
    return MassProperties(volume, center, inertia)


def moved(properties: MassProperties, position: ArrayLike, orientation: ArrayLike) -> MassProperties:
    """Of a shape that a pose (float64 [3], [4]) moves rigidly."""
    axes = np.array([rotations.rotate(np.asarray(orientation, float), axis) for axis in np.eye(3)]).T
    center = np.asarray(position) + product(axes, properties.center[:, None])[:, 0]
    return MassProperties(properties.volume, center, product(product(axes, properties.inertia), axes.T))


def _parallel_axis(arm):
    """What inertias gain about points that are ``arm`` [..., 3] away from the centre, for the mass 1 (Steiner)."""
    square = np.sum(arm * arm, axis=-1)[..., None, None]
    return square * np.eye(3) - arm[..., :, None] * arm[..., None, :]
