"""Energy, momentum and overlaps of a state: what conservation laws are checked with and reports show."""

from typing import NamedTuple

import numpy as np

from . import rotations
from .model import BodyKind, Model
from .state import StateArrays


class Overlap(NamedTuple):
    """Two bodies that share space.

    Attributes
    ----------
    body_a, body_b : int
        ``body_a < body_b``.
    depth : float
        Largest over their contacts [m]: how far one must move for that contact to end.
    share : float
        The depth as a share of the size of the smaller of those that are dynamic.
    """

    body_a: int
    body_b: int
    depth: float
    share: float


def overlaps(model: Model, contacts) -> list[Overlap]:
    """The bodies that overlap in a set of contacts, the largest share first, else in the order of the bodies.

    Parameters
    ----------
    model : Model
        Of which the kinds at the start count.
    contacts : ContactArrays

    Returns
    -------
    list of Overlap
    """
    count = contacts.count[0]
    deep = np.flatnonzero(contacts.gap[:count] < 0.0)
    pairs, first = np.unique(
        contacts.body_a[deep] * model.body_count + contacts.body_b[deep], return_inverse=True
    )  # ascending
    depth = np.zeros(len(pairs))
    np.maximum.at(depth, first, -contacts.gap[deep])
    a, b = np.divmod(pairs, model.body_count)
    size = np.where(model.initial_state.kind == BodyKind.DYNAMIC, model.arrays.size, np.inf)
    share = depth / np.minimum(size[a], size[b])
    order = np.argsort(-share, kind="stable")
    return [Overlap(int(a[i]), int(b[i]), float(depth[i]), float(share[i])) for i in order]


def angular_momentum_about_centers(model: Model, state: StateArrays) -> np.ndarray:
    """R I R' omega of each body [kg m^2/s], float64 [body_count, 3]."""
    spin = rotations.rotate(rotations.conjugate(state.orientation), state.velocity[:, 3:])
    return rotations.rotate(state.orientation, model.arrays.inertia * spin)


def kinetic_energy(model: Model, state: StateArrays) -> float:
    """Of the dynamic bodies [J]."""
    dynamic = state.kind == BodyKind.DYNAMIC
    linear = model.arrays.mass * np.sum(state.velocity[:, :3] ** 2, axis=1)
    spin = rotations.rotate(rotations.conjugate(state.orientation), state.velocity[:, 3:])
    angular = np.sum(model.arrays.inertia * spin**2, axis=1)
    return float(0.5 * np.sum((linear + angular)[dynamic]))


def potential_energy(model: Model, state: StateArrays, gravity) -> float:
    """Of the dynamic bodies in the gravity field [J]; zero at the world's origin."""
    dynamic = state.kind == BodyKind.DYNAMIC
    return float(-np.sum(model.arrays.mass[dynamic] * (state.position[dynamic] @ np.asarray(gravity, float))))


def linear_momentum(model: Model, state: StateArrays) -> np.ndarray:
    """Of the dynamic bodies [kg m/s], float64 [3]."""
    dynamic = state.kind == BodyKind.DYNAMIC
    return model.arrays.mass[dynamic] @ state.velocity[dynamic, :3]


def angular_momentum(model: Model, state: StateArrays) -> np.ndarray:
    """Of the dynamic bodies about the world's origin [kg m^2/s], float64 [3]."""
    dynamic = state.kind == BodyKind.DYNAMIC
    momentum = model.arrays.mass[:, None] * state.velocity[:, :3]
    orbital = np.cross(state.position, momentum)
    return (angular_momentum_about_centers(model, state) + orbital)[dynamic].sum(axis=0)
