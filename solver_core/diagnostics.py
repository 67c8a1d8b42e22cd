"""Energy, momentum and overlaps of a state: what conservation laws are checked with and reports show."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .geometry import rotations
from .geometry.shapes import ShapeKind
from .model.joints.joint_arrays import WORLD
from .model.model import BodyKind, Model
from .model.state import StateArrays

if TYPE_CHECKING:  # it loads Numba
    from .collision.data.contact_arrays import ContactArrays

# Boxes that share less than this share of the smaller body's size touch.
_RATIO_TOUCHING = 1e-4
# Pairs of boxes that are compared together: some megabytes.
_PAIRS_AT_ONCE = 1 << 17


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


def joint_between(model: Model, body_a: int, body_b: int) -> int | None:
    """A joint of ``body_a`` that connects it with another body at the start, through whatever others.

    What joints connect is not led out of each other (docs/decisions/42). Two bodies that move are also connected by one
    that stands.

    Parameters
    ----------
    model : Model
    body_a, body_b : int

    Returns
    -------
    int or None
        The first joint on a shortest way from ``body_a``.
    """
    joints, moves = model.arrays.joints, model.initial_state.kind == BodyKind.DYNAMIC
    neighbours: dict[int, list[tuple[int, int]]] = {}
    ends = zip(joints.body_a.tolist(), joints.body_b.tolist(), joints.enabled.tolist(), strict=True)
    for joint, (one, other, is_enabled) in enumerate(ends):
        if is_enabled and other != WORLD:
            neighbours.setdefault(one, []).append((other, joint))
            neighbours.setdefault(other, []).append((one, joint))
    # places: a body, and whether the way there has led through one that stands
    begun = body_a, False
    first: dict[tuple[int, bool], int | None] = {begun: None}
    due = [begun]
    for body, has_stood in due:
        stands = not moves[body] and body != body_a
        for other, joint in neighbours.get(body, []):
            place = other, has_stood or stands
            is_second = place[1] and ((has_stood and stands) or not moves[other])
            if place in first or is_second:
                continue
            first[place] = joint if first[body, has_stood] is None else first[body, has_stood]
            if other == body_b:
                return first[place]
            due.append(place)
    return None


def overlaps_at_start(model: Model) -> list[Overlap]:
    """``overlaps`` of the bodies as a model places them."""
    from .dynamics.frame.next_substep import contacts_at

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
    from .dynamics.frame.next_substep import contacts_at

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
    for first, second in _boxes_that_meet(lower, upper):
        for low, high in zip(lower.T.copy(), upper.T.copy(), strict=True):  # most are apart along one of the three
            meet = np.minimum(high[first], high[second]) > np.maximum(low[first], low[second])
            first, second = first[meet], second[meet]
        may_collide = (dynamic[first] | dynamic[second]) & (mask[first] & mask[second] != 0)
        first, second = first[may_collide], second[may_collide]
        shared = np.minimum(upper[first], upper[second]) - np.maximum(lower[first], lower[second])
        size = np.minimum(model.arrays.size[first], model.arrays.size[second])
        # A body that stands on another touches it, to rounding.
        deep = (shared > _RATIO_TOUCHING * size[:, None]).all(axis=1)
        keys = np.minimum(first, second)[deep] * model.body_count + np.maximum(first, second)[deep]
        if not np.isin(keys, model.arrays.excluded_pairs).all():
            return True
    return False


def _boxes_that_meet(lower, upper):
    """Pairs of boxes that overlap along the axis with the fewest such pairs (sweep and prune), some at a time."""
    sweeps = []
    for axis in range(3):
        order = np.argsort(lower[:, axis], kind="stable")
        ends = np.searchsorted(lower[order, axis], upper[order, axis], side="left")
        counts = np.maximum(ends - np.arange(1, len(order) + 1), 0)
        sweeps.append((counts.sum(), order, counts))
    _, order, counts = min(sweeps, key=lambda sweep: sweep[0])
    done = np.concatenate([[0], np.cumsum(counts)])
    place = 0
    while place < len(order):
        end = max(int(np.searchsorted(done, done[place] + _PAIRS_AT_ONCE, side="right")) - 1, place + 1)
        rows = np.repeat(np.arange(place, end), counts[place:end])
        after = np.arange(len(rows)) - (done[rows] - done[place])  # the how manieth neighbour of its row
        yield order[rows], order[rows + 1 + after]
        place = end


def _body_boxes(model: Model):
    """Lower and upper corners of the bodies' bounding boxes in the world at the start [m]."""
    shapes, state = model.arrays.shapes, model.initial_state
    orientation = state.orientation[shapes.body]
    axes = rotations.matrix(rotations.multiply(orientation, shapes.orientation))
    center = state.position[shapes.body] + rotations.rotate(orientation, shapes.position)
    low, high = center - shapes.bounding_radius[:, None], center + shapes.bounding_radius[:, None]
    boxes = shapes.kind == ShapeKind.BOX
    reach = (np.abs(axes[boxes]) * shapes.parameters[boxes][:, None, :]).sum(axis=2)
    low[boxes], high[boxes] = center[boxes] - reach, center[boxes] + reach
    hulls = np.flatnonzero(shapes.kind == ShapeKind.HULL)
    if len(hulls):
        first = model.hulls.start[shapes.hull[hulls], 0]
        counts = model.hulls.start[shapes.hull[hulls] + 1, 0] - first
        begin = np.cumsum(counts) - counts
        of_vertex = np.repeat(np.arange(len(hulls)), counts)
        vertex = model.hulls.vertex[np.arange(counts.sum()) - begin[of_vertex] + first[of_vertex]]
        points = (axes[hulls][of_vertex] * vertex[:, None, :]).sum(axis=2)
        low[hulls] = center[hulls] + np.minimum.reduceat(points, begin)
        high[hulls] = center[hulls] + np.maximum.reduceat(points, begin)
    lower, upper = np.full((model.body_count, 3), np.inf), np.full((model.body_count, 3), -np.inf)
    np.minimum.at(lower, shapes.body, low)
    np.maximum.at(upper, shapes.body, high)
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
