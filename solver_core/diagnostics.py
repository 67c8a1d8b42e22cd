"""Energy and momentum of a state: what conservation laws are checked with and reports show."""

import numpy as np

from . import rotations
from .model import BodyKind, Model
from .state import StateArrays


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
