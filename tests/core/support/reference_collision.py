"""Slow, plain references for the collision kernels, and a small harness that runs the two stages on a few bodies.

Two convex shapes overlap where their Minkowski difference {x - y} holds the origin. Its hull is taken by Qhull from all
differences of vertices: the nearest facet gives the depth. The distance of separated shapes is that of the hull from
the origin, a non-negative least-squares problem. Nothing here shares code with Cairn.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls
from scipy.spatial import ConvexHull as Qhull

from cairn.solver_core.collision.data.contact_arrays import STATUS_OK, allocate_contacts, allocate_pairs
from cairn.solver_core.collision.pair_dispatch import needed_pair_kernels
from cairn.solver_core.compiled.function_tables import call_for_count
from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.compiled.views import views_of, write_numbers
from cairn.solver_core.dynamics.frame.allocation import allocate_collision, allocate_members, gather_arrays
from cairn.solver_core.dynamics.frame.compilation import empty_tables, first_stages_to_compile
from cairn.solver_core.dynamics.frame.step_data import KernelTables, StepSettings
from cairn.solver_core.dynamics.schedule.sharing import call_stage, run_task
from cairn.solver_core.dynamics.schedule.stage_table import BROAD_PHASE, MATCH_CONTACTS, NARROW_PHASE
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind

SUBSTEP = 1.0 / 96.0
_STAGES = BROAD_PHASE, NARROW_PHASE, MATCH_CONTACTS
# Tables of kernels by the families in them: to look up a kernel by its types takes longer than to run it.
_FAMILIES = {}


@kernel
def _run_stage(arrays, stage):
    """A stage of collision, by its address in the table, as the frame calls it; returns its status."""
    members = views_of(arrays)
    stages, runs = members.kernels.stages, members.pair_runs
    if stage == BROAD_PHASE:
        return call_for_count(stages, BROAD_PHASE, arrays)
    if stage == NARROW_PHASE:
        runs.only_checks[0], runs.status[0] = False, STATUS_OK
        run_task(members, NARROW_PHASE)
        return runs.status[0]
    call_stage(stages, MATCH_CONTACTS, arrays)
    return STATUS_OK


def run_stage(collider, stage, pairs, contacts, previous, previous_pass):
    """A stage of collision on these buffers; ``previous`` and ``previous_pass`` are pairs and contacts.

    The kernels are those of a step, so tests compile nothing that bakes do not.
    """
    buffers = (pairs, contacts), previous, previous_pass
    collision = collider.members.collision._replace(
        pairs=tuple(pairs for pairs, _ in buffers), contacts=tuple(contacts for _, contacts in buffers)
    )
    members = collider.members._replace(collision=collision)
    write_numbers(members.settings.step, collider.step_scalars)
    (arrays,) = gather_arrays(members)
    return int(_run_stage(arrays, np.int64(stage)))


def _tables_of(members) -> KernelTables:
    """Tables with the kernels of these stages and shapes, those of before where the same are needed."""
    shapes = members.model.shapes.kind
    key = tuple(needed_pair_kernels(shapes))
    if key not in _FAMILIES:
        for compilation in first_stages_to_compile(members, shapes):
            if compilation.table is not members.kernels.stages or compilation.index in _STAGES:
                compilation.compile()
        _FAMILIES[key] = members.kernels
    return _FAMILIES[key]


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
    """Bodies with poses that a test moves by hand, and the collision stages of a step after each move.

    ``bodies`` are arguments of ``add_body``, or a builder that has them.
    """

    def __init__(self, bodies, *, gravity_norm=0.0, maximal_points=8, pair_capacity=64, contact_capacity=256):
        builder = bodies if isinstance(bodies, ModelBuilder) else ModelBuilder()
        for body in () if builder is bodies else bodies:
            builder.add_body(**body)
        self.model = builder.build()
        self.state = self.model.initial_state
        collision = allocate_collision(self.model)
        members = allocate_members(self.model.arrays, self.state, collision, empty_tables())
        self.members = members._replace(kernels=_tables_of(members))
        self.workspace = collision.workspace
        self.step_scalars = StepSettings(1, SUBSTEP, gravity_norm, maximal_points)
        self.pairs = [allocate_pairs(pair_capacity) for _ in range(2)]
        self.contacts = [allocate_contacts(contact_capacity) for _ in range(2)]
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
        (pairs, old_pairs), (contacts, old) = self.pairs, self.contacts
        buffers = pairs, contacts, (old_pairs, old), (old_pairs, old)
        self.status = run_stage(self, BROAD_PHASE, *buffers), run_stage(self, NARROW_PHASE, *buffers)
        run_stage(self, MATCH_CONTACTS, *buffers)
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
