"""Slow, plain references for the collision kernels, and a small harness that runs the two stages on a few bodies.

Two convex shapes overlap where their Minkowski difference {x - y} holds the origin. Its hull is taken by Qhull from all
differences of vertices: the nearest facet gives the depth. The distance of separated shapes is that of the hull from
the origin, a non-negative least-squares problem. Nothing here shares code with Cairn.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls
from scipy.spatial import ConvexHull as Qhull

from cairn.solver_core.collision.allocation import allocate_collision_workspace
from cairn.solver_core.collision.broad_phase import broad_phase
from cairn.solver_core.collision.data.contact_arrays import allocate_contacts, allocate_pairs
from cairn.solver_core.collision.data.contact_matching import match_contacts
from cairn.solver_core.collision.narrow_phase import ALL_PAIRS, narrow_phase
from cairn.solver_core.collision.pair_context import NarrowPhaseArrays
from cairn.solver_core.collision.pair_dispatch import compile_pair_kernels, needed_pair_kernels
from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.compiled.views import StepArrays, views_of
from cairn.solver_core.dynamics.step_data import StepSettings
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind

SUBSTEP = 1.0 / 96.0
# Tables of kernels by the families in them: to look up a kernel by its types takes longer than to run it.
_FAMILIES = {}


class NarrowPhaseMembers(NamedTuple):
    """What a kernel gets as views for ``NarrowPhaseArrays``, under the same names."""

    model: tuple
    state: tuple
    workspace: tuple
    pairs: tuple
    contacts: tuple
    last_substep_pairs: tuple
    last_substep_contacts: tuple
    previous_pass_pairs: tuple
    previous_pass_contacts: tuple


@kernel
def _run_narrow_phase(arrays, pair_kernels, step, end_pair):
    members = views_of(arrays)
    narrow_phase_arrays = NarrowPhaseArrays(
        members.model,
        members.state,
        members.workspace,
        members.pairs,
        members.contacts,
        members.last_substep_pairs,
        members.last_substep_contacts,
        members.previous_pass_pairs,
        members.previous_pass_contacts,
        pair_kernels,
        step,
        False,
        False,
        members.workspace.predicted.velocity,
    )
    return narrow_phase(narrow_phase_arrays, np.int64(0), end_pair)


def run_narrow_phase(collider, pairs, contacts, previous, previous_pass):
    """The stage as a step runs it, on views; ``previous`` and ``previous_pass`` are pairs and contacts."""
    model, state = collider.model.arrays, collider.state
    members = NarrowPhaseMembers(model, state, collider.workspace, pairs, contacts, *previous, *previous_pass)
    return _run_narrow_phase(StepArrays(members), collider.pair_kernels, collider.step_scalars, ALL_PAIRS)


class Manifold(NamedTuple):
    """Contacts of one pair of bodies, copied out of the buffers."""

    position: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    local_a: np.ndarray
    local_b: np.ndarray
    impulse: np.ndarray
    age: np.ndarray
    matched: np.ndarray
    reference: int
    is_recycled: bool


class Collider:
    """Bodies with poses that a test moves by hand, and the collision stages of a step after each move."""

    def __init__(self, bodies, *, gravity_norm=0.0, maximal_points=8, pair_capacity=64, contact_capacity=256):
        builder = ModelBuilder()
        for body in bodies:
            builder.add_body(**body)
        self.model = builder.build()
        self.state = self.model.initial_state
        model = self.model
        self.workspace = allocate_collision_workspace(model.arrays.shapes, model.hulls, model.meshes, model.body_count)
        self.step_scalars = StepSettings(1, SUBSTEP, gravity_norm, maximal_points)
        self.pairs = [allocate_pairs(pair_capacity) for _ in range(2)]
        self.contacts = [allocate_contacts(contact_capacity) for _ in range(2)]
        key = tuple(needed_pair_kernels(model.arrays.shapes.kind))
        if key not in _FAMILIES:
            _FAMILIES[key] = compile_pair_kernels(model.arrays.shapes.kind, self.workspace)
        self.pair_kernels = _FAMILIES[key]
        self.status = 0, 0

    def place(self, body, position, orientation=(1.0, 0.0, 0.0, 0.0)):
        """Put a body's user frame somewhere."""
        placed, turned = self.state.position.copy(), self.state.orientation.copy()
        users = self.model.user_poses(placed, turned)
        users[0][body], users[1][body] = position, np.asarray(orientation) / np.linalg.norm(orientation)
        self.state.position[:], self.state.orientation[:] = self.model.body_poses(*users)

    def forget(self):
        """Drop the contacts there are: the next step has no past."""
        self.pairs[0].count[0] = self.contacts[0].count[0] = 0

    def step(self):
        """One step's collision stages; returns itself."""
        self.pairs.reverse()
        self.contacts.reverse()
        arrays, (pairs, old_pairs), (contacts, old) = self.model.arrays, self.pairs, self.contacts
        step, workspace = self.step_scalars, self.workspace
        contacts.count[0] = contacts.needed[0] = 0
        self.status = (
            broad_phase(arrays, self.state, step, pairs, workspace),
            run_narrow_phase(self, pairs, contacts, (old_pairs, old), (old_pairs, old)),
        )
        match_contacts(pairs, contacts, old, workspace)
        return self

    def pair_list(self):
        """Pairs of the broad phase as a list of tuples."""
        pairs = self.pairs[0]
        count = pairs.count[0]
        return list(zip(pairs.shape_a[:count].tolist(), pairs.shape_b[:count].tolist(), strict=True))

    def manifold(self, a=0, b=1) -> Manifold:
        """Contacts of two bodies (with one shape each)."""
        pairs, contacts = self.pairs[0], self.contacts[0]
        fields = Manifold._fields[:8]
        if (a, b) not in self.pair_list():
            return Manifold(*(getattr(contacts, name)[:0].copy() for name in fields), -1, False)
        pair = self.pair_list().index((a, b))
        rows = slice(pairs.contact_start[pair], pairs.contact_start[pair] + pairs.contact_count[pair])
        values = (getattr(contacts, name)[rows].copy() for name in fields)
        return Manifold(*values, int(pairs.reference[pair]), bool(pairs.is_recycled[pair]))


def collide(shape_a, shape_b, pose_a=None, pose_b=None, reach=0.0, **options) -> Manifold:
    """Manifold of two shapes at two poses (position, orientation), without a past.

    Contacts are made up to a gap of ``reach`` [m] and a margin: as if gravity could close it within the substep.
    """
    bodies = []
    for shape, pose in ((shape_a, pose_a), (shape_b, pose_b)):
        position, orientation = pose if pose is not None else ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
        kind = BodyKind.STATIC if shape.is_flat else BodyKind.DYNAMIC
        bodies.append({"shape": shape, "position": position, "orientation": orientation, "kind": kind})
    return Collider(bodies, gravity_norm=reach / SUBSTEP**2, **options).step().manifold()


def rotation(orientation) -> np.ndarray:
    """Rotation matrix of a quaternion (w, x, y, z), normalised first."""
    w, x, y, z = np.asarray(orientation, float) / np.linalg.norm(orientation)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def about(axis, angle) -> np.ndarray:
    """Quaternion of a turn by ``angle`` about ``axis``."""
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis])


def signed_distance(points_a, points_b):
    """Signed distance of two convex hulls of points, and a unit normal from a to b that attains it.

    Positive: distance. Negative: the least translation that separates them.
    """
    differences = (points_b[None, :, :] - points_a[:, None, :]).reshape(-1, 3)
    hull = Qhull(differences)
    inside = np.argmax(hull.equations[:, 3])
    if hull.equations[inside, 3] < 0.0:
        # b - a holds the origin: the nearest facet is the way out, moving b along its normal ... from a to b: -normal.
        return hull.equations[inside, 3], -hull.equations[inside, :3]
    corners = differences[hull.vertices]
    scale = np.abs(corners).max()
    # The nearest point of a hull to the origin: minimise |P' x|^2 + (1 - sum x)^2, x >= 0, then scale to sum x = 1.
    system = np.vstack([corners.T / scale, np.ones(len(corners))])
    weights, _ = nnls(system, np.array([0.0, 0.0, 0.0, 1.0]), maxiter=30 * len(corners))
    nearest = corners.T @ (weights / weights.sum())
    distance = np.linalg.norm(nearest)
    return distance, nearest / distance


def separation_along(points_a, points_b, normal):
    """How far b lies beyond a along the normal: the gap between the two slabs."""
    return (points_b @ normal).min() - (points_a @ normal).max()
