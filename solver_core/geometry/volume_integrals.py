"""Mass, centre and inertia of what triangles enclose, or of the triangles themselves.

Sums over triangles are correctly rounded (``math.fsum``), so they do not depend on an order, nor on NumPy's release.
"""

import math
from typing import NamedTuple

import numpy as np


class MassProperties(NamedTuple):
    """Mass properties for density 1 [kg/m^3]; of a flat shape for 1 [kg/m^2].

    Attributes
    ----------
    volume : float
        [m^3]; the area [m^2] of a flat shape.
    center : float64 [3]
        Centre of mass [m].
    inertia : float64 [3, 3]
        About the centre, in user-frame axes; [m^5] or, flat, [m^4]. Times mass/volume: [kg m^2].
    """

    volume: float
    center: np.ndarray
    inertia: np.ndarray


def enclosed_volume(corners: np.ndarray, apex: np.ndarray) -> MassProperties:
    """Integrals over the solid that a closed surface bounds.

    The sum over the tetrahedra of ``apex`` and a triangle, each with the sign of its volume.

    Parameters
    ----------
    corners : float64 [triangle_count, 3, 3]
        Of each triangle, counterclockwise seen from outside [m].
    apex : float64 [3]
        Any point; one inside, or close to the surface, so that large terms do not cancel.

    Returns
    -------
    MassProperties
        With an inertia of zero where the surface encloses nothing.
    """
    corners = corners - apex
    return _sum_of_simplices(signed_volumes(corners), corners, apex, 3)


def surface_area(corners: np.ndarray, apex: np.ndarray) -> MassProperties:
    """Integrals over the area of triangles; parameters as in ``enclosed_volume``."""
    corners = corners - apex
    return _sum_of_simplices(triangle_areas(corners), corners, apex, 2)


def signed_volumes(corners: np.ndarray) -> np.ndarray:
    """Volumes [triangle_count] of tetrahedra with one corner at the origin, below 0 where that sees the front."""
    first, across = corners[:, 0], np.cross(corners[:, 1], corners[:, 2])
    return (first[:, 0] * across[:, 0] + first[:, 1] * across[:, 1] + first[:, 2] * across[:, 2]) / 6.0


def triangle_areas(corners: np.ndarray) -> np.ndarray:
    """Areas [triangle_count] of triangles [triangle_count, 3, 3]."""
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return 0.5 * np.linalg.norm(across, axis=1)


def _sum_of_simplices(measures, corners, apex, dimension) -> MassProperties:
    """Of simplices of this dimension.

    One with corners p_i and the measure m (volume or area) has second moments about the origin of
    ``m / ((d + 1) (d + 2)) (sum p_i p_i' + s s')`` with s = sum p_i (Tonon 2004; Eberly, Polyhedral Mass Properties).
    A corner of a tetrahedron is the origin, which adds nothing.
    """
    sums = corners.sum(axis=1)
    measure = math.fsum(measures)
    if measure == 0.0:
        return MassProperties(0.0, apex, np.zeros((3, 3)))
    mean = np.array([math.fsum(measures * sums[:, axis]) for axis in range(3)]) / ((dimension + 1) * measure)
    second = np.empty((3, 3))
    for i in range(3):
        for j in range(i, 3):
            products = sums[:, i] * sums[:, j]
            for corner in range(3):
                products = products + corners[:, corner, i] * corners[:, corner, j]
            second[i, j] = second[j, i] = math.fsum(measures * products)
    covariance = second / ((dimension + 1) * (dimension + 2)) - measure * np.outer(mean, mean)
    return MassProperties(measure, apex + mean, np.trace(covariance) * np.eye(3) - covariance)
