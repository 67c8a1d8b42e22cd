"""Centre of mass, principal axes and principal moments of bodies; mass properties of joined and of moved shapes."""

import numpy as np
from numpy.typing import ArrayLike

from ..geometry import rotations
from ..geometry.volume_integrals import MassProperties

# An inertia whose off-diagonal part is below this share of its trace counts as diagonal already: a turn of the axes
# would be rounding noise and would cost an axis-aligned box its exact axes.
_RATIO_DIAGONAL = 1e-12


def principal_frame(
    properties: MassProperties, mass: float, *, about_origin: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the body frame lies in the user frame, and the inertia about its axes.

    Parameters
    ----------
    properties : MassProperties
        Of the body's shape, with a volume.
    mass : float
        [kg]
    about_origin : bool
        The centre of mass is the user frame's origin, whatever the shape says.

    Returns
    -------
    center : float64 [3]
        Centre of mass [m].
    axes : float64 [4]
        The principal axes as a unit quaternion (w, x, y, z).
    moments : float64 [3]
        Principal moments of inertia [kg m^2]; all above 0 if the shape's inertia can be that of a body.
    """
    center = np.asarray(properties.center, float)
    tensor = np.asarray(properties.inertia, float) * (mass / properties.volume)
    if about_origin:
        tensor = tensor + mass * _parallel_axis(center)
        center = np.zeros(3)
    off_diagonal = np.abs(tensor - np.diag(np.diag(tensor))).max()
    if off_diagonal <= _RATIO_DIAGONAL * np.trace(tensor):
        return center, rotations.IDENTITY.copy(), np.diag(tensor).copy()
    moments, axes = np.linalg.eigh(tensor)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] = -axes[:, 0]
    return center, rotations.from_matrix(axes), moments


def sum_of_parts(parts: list[MassProperties]) -> MassProperties:
    """Of several rigidly joined shapes at one density; ``parts`` are their ``MassProperties``, at least one."""
    volume = sum(part.volume for part in parts)
    center: np.ndarray = sum((part.volume * part.center for part in parts), np.zeros(3)) / volume
    inertia = np.zeros((3, 3))
    for part in parts:
        inertia += part.inertia + part.volume * _parallel_axis(part.center - center)
    return MassProperties(float(volume), center, inertia)


def moved(properties: MassProperties, position: ArrayLike, orientation: ArrayLike) -> MassProperties:
    """Of a shape that a pose (float64 [3], [4]) moves rigidly."""
    axes = np.array([rotations.rotate(np.asarray(orientation, float), axis) for axis in np.eye(3)]).T
    return MassProperties(
        properties.volume, np.asarray(position) + axes @ properties.center, axes @ properties.inertia @ axes.T
    )


def _parallel_axis(arm):
    """What an inertia gains about a point that is ``arm`` [3] away from the centre, for the mass 1 (Steiner)."""
    return arm @ arm * np.eye(3) - np.outer(arm, arm)
