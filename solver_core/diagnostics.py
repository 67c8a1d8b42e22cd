"""Energy, momentum and overlaps of a state: what conservation laws are checked with and reports show."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .geometry import rotations
from .geometry.shapes import ShapeKind
from .model.model import BodyKind, Model
from .model.state import StateArrays

if TYPE_CHECKING:  # it loads Numba
    from .collision.data.contact_arrays import ContactArrays

# Boxes that share less than this share of the smaller body's size touch.
_RATIO_TOUCHING = 1e-4


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


def overlaps(model: Model, contacts: "ContactArrays") -> list[Overlap]:
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


def overlaps_at_start(model: Model) -> list[Overlap]:
    """``overlaps`` of the bodies as a model places them."""
    from .dynamics.next_substep import contacts_at

    return overlaps(model, contacts_at(model, model.initial_state))


def deepest_overlap(model: Model, position, orientation) -> float:
    """Depth of the deepest overlap of all pairs of bodies of which one is dynamic [m]; 0 without one.

    Parameters
    ----------
    model : Model
    position, orientation : float64 [body_count, 3], [body_count, 4]
        Poses of the user frames, of any origin: so another engine's motion is measured alike.
    """
    contacts = _contacts_of_poses(model, position, orientation)
    return float(max(0.0, -contacts.gap[: contacts.count[0]].min(initial=0.0)))


def overlaps_of_poses(model: Model, position, orientation) -> list[Overlap]:
    """``overlaps`` of the bodies at other poses, given as for ``deepest_overlap``."""
    return overlaps(model, _contacts_of_poses(model, position, orientation))


def _contacts_of_poses(model, position, orientation):
    from .dynamics.next_substep import contacts_at

    centers, axes = model.body_poses(np.asarray(position, float), np.asarray(orientation, float))
    state = StateArrays(
        position=np.ascontiguousarray(centers),
        orientation=np.ascontiguousarray(axes / np.linalg.norm(axes, axis=1, keepdims=True)),
        velocity=np.zeros((model.body_count, 6)),
        kind=model.initial_state.kind.copy(),
    )
    return contacts_at(model, state)


def boxes_overlap(model: Model) -> bool:
    """Whether the bounding boxes of two bodies that may collide share space at the start; a cheap first test.

    Without it no two bodies overlap, and nobody needs to load the collision kernels to know.
    """
    lower, upper = _body_boxes(model)
    dynamic, mask = model.initial_state.kind == BodyKind.DYNAMIC, model.arrays.collision_mask
    order = np.argsort(lower[:, 0], kind="stable")
    starts = lower[order, 0]
    for place, body in enumerate(order):
        others = order[place + 1 : np.searchsorted(starts, upper[body, 0], side="left")]
        others = others[(dynamic[others] | dynamic[body]) & (mask[others] & mask[body] != 0)]
        shared = np.minimum(upper[others], upper[body]) - np.maximum(lower[others], lower[body])
        size = np.minimum(model.arrays.size[others], model.arrays.size[body])
        # A body that stands on another touches it, to rounding.
        others = others[(shared > _RATIO_TOUCHING * size[:, None]).all(axis=1)]
        keys = np.minimum(others, body) * model.body_count + np.maximum(others, body)
        if not np.isin(keys, model.arrays.excluded_pairs).all():
            return True
    return False


def _body_boxes(model: Model):
    """Lower and upper corners of the bodies' bounding boxes in the world at the start [m]."""
    shapes, state = model.arrays.shapes, model.initial_state
    lower, upper = np.full((model.body_count, 3), np.inf), np.full((model.body_count, 3), -np.inf)
    for shape, body in enumerate(shapes.body):
        turn = rotations.multiply(state.orientation[body], shapes.orientation[shape])
        center = state.position[body] + rotations.rotate(state.orientation[body], shapes.position[shape])
        if shapes.kind[shape] == ShapeKind.BOX:
            reach = np.abs(rotations.matrix(turn)) @ shapes.parameters[shape]
            low, high = center - reach, center + reach
        elif shapes.kind[shape] == ShapeKind.HULL:
            first, last = model.hulls.start[shapes.hull[shape] : shapes.hull[shape] + 2, 0]
            points = center + model.hulls.vertex[first:last] @ rotations.matrix(turn).T
            low, high = points.min(axis=0), points.max(axis=0)
        else:
            low, high = center - shapes.bounding_radius[shape], center + shapes.bounding_radius[shape]
        lower[body], upper[body] = np.minimum(lower[body], low), np.maximum(upper[body], high)
    return lower, upper


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


def potential_energy(model: Model, state: StateArrays, gravity: np.ndarray) -> float:
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
