"""Circles in a plane between straight walls: the small world of the papers' experiments in two dimensions.

A body's generalised velocity is (v_x, v_y, omega), its inertia diag(m, m, m r^2 / 2); a wall is a half plane that
cannot be pushed. A contact has the normal n from body a to body b, the tangent t = (-n_y, n_x) and

    u_n = n (v_b - v_a),        u_t = t (v_b - v_a) - r_a omega_a - r_b omega_b,

and a step of length h (semi-implicit Euler, impulses)

    v_free = v + h g;   solve for the impulses r;   v+ = v_free + M^-1 J' r;   x+ = x + h v+.

The bias of a normal row is one of three; the row asks for u_n + bias >= 0:

    gap > 0    gap / h      the gap may be closed, not more (speculative)
    gap <= 0   0            an overlap grows no further; nothing takes it out
    bounce     -e s         where the surfaces meet in this step, at a speed s that gravity alone does not bring about

Three things follow. Where nothing bounces no step adds energy: the change is r' J v+ - |v+ - v|_M^2 / 2, and
r' J v+ = -r' bias <= 0 at a solution. A circle passes no wall, since walls are straight and the gap's bound is exact.
And two circles come no closer than the bound says, since the gap along the old normal is never more than the true one.

Sources: Nielsen 2009 (balls in a box); Miyamoto and Yamashita 2019, section 5 (pools and stacks).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse
from scipy.spatial import cKDTree

from cairn.solver_core.problem.problem import LCP, ContactProblem
from cairn.solver_core.problem.rows import allocate_rows

# A contact bounces where it approaches faster than this multiple of the speed that gravity gives in a step.
_FACTOR_BOUNCE = 2.0

# Where (v_x, v_y, omega) are among the six velocities of a body in space.
PLANE_COLUMNS = (0, 1, 5)


@dataclass(frozen=True, kw_only=True)
class CircleWorld:
    """What does not change: circles, walls, and the laws of a step.

    Attributes
    ----------
    radius : float64 [circle_count]
        [m].
    mass : float64 [circle_count]
        [kg].
    wall_normal : float64 [wall_count, 2]
        Unit vectors into the room.
    wall_offset : float64 [wall_count]
        The room is where wall_normal x >= wall_offset [m].
    gravity : float64 [2]
        [m/s^2].
    time_step : float
        h [s].
    friction, restitution : float
        mu and e of every pair.
    """

    radius: np.ndarray
    mass: np.ndarray
    wall_normal: np.ndarray
    wall_offset: np.ndarray
    gravity: np.ndarray
    time_step: float
    friction: float = 0.0
    restitution: float = 0.0

    @property
    def circle_count(self) -> int:
        """Number of circles; they are the bodies from 0 on."""
        return len(self.radius)

    @property
    def body_count(self) -> int:
        """Number of bodies, circles first, then walls."""
        return self.circle_count + len(self.wall_offset)

    @property
    def body_mass(self) -> np.ndarray:
        """Diagonals of M [circle_count, 3]."""
        return np.column_stack([self.mass, self.mass, 0.5 * self.mass * self.radius**2])

    @property
    def inverse_mass(self) -> np.ndarray:
        """Diagonals of M^-1 [body_count, 3]; zero for walls."""
        inverse = np.zeros((self.body_count, 3))
        inverse[: self.circle_count] = 1.0 / self.body_mass
        return inverse


class CircleState(NamedTuple):
    """What changes.

    Attributes
    ----------
    position : float64 [circle_count, 2]
        [m].
    angle : float64 [circle_count]
        [rad].
    velocity : float64 [circle_count, 3]
        (v_x, v_y, omega) [m/s, rad/s].
    """

    position: np.ndarray
    angle: np.ndarray
    velocity: np.ndarray


class CircleContacts(NamedTuple):
    """Contacts, sorted by their keys.

    Attributes
    ----------
    body_a, body_b : int64 [contact_count]
        Two circles a < b, or a wall a and a circle b.
    normal : float64 [contact_count, 2]
        Unit vectors from a to b.
    gap : float64 [contact_count]
        [m]; negative where they overlap.
    key : int64 [contact_count]
        Alike for the same pair in every step.
    """

    body_a: np.ndarray
    body_b: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    key: np.ndarray


def at_rest(position) -> CircleState:
    """Circles at these places [circle_count, 2] that do not move."""
    position = np.array(position, float)
    return CircleState(position, np.zeros(len(position)), np.zeros((len(position), 3)))


def find_contacts(world: CircleWorld, state: CircleState, margin: float) -> CircleContacts:
    """All pairs whose gap is at most ``margin`` [m]."""
    position, radius = state.position, world.radius
    pairs = np.zeros((0, 2), np.int64)
    if world.circle_count > 1:
        reach = 2.0 * radius.max() + margin
        pairs = cKDTree(position).query_pairs(reach, output_type="ndarray").astype(np.int64)
    between = position[pairs[:, 1]] - position[pairs[:, 0]]
    distance = np.hypot(between[:, 0], between[:, 1])
    # Two circles in one place have no direction to part in; any serves.
    apart = distance > 0.0
    normal = np.where(apart[:, None], between / np.where(apart, distance, 1.0)[:, None], (1.0, 0.0))
    gap = distance - radius[pairs].sum(axis=1)

    wall_gap = world.wall_normal @ position.T - world.wall_offset[:, None] - radius
    wall, circle = np.nonzero(wall_gap <= margin)
    near = gap <= margin
    body_a = np.concatenate([pairs[near, 0], world.circle_count + wall])
    body_b = np.concatenate([pairs[near, 1], circle])
    key = body_a * world.body_count + body_b
    order = np.argsort(key)
    return CircleContacts(
        body_a[order],
        body_b[order],
        np.concatenate([normal[near], world.wall_normal[wall]])[order],
        np.concatenate([gap[near], wall_gap[wall, circle]])[order],
        key[order],
    )


def motion_margin(world: CircleWorld, state: CircleState) -> float:
    """A gap that no pair can close in a step, if nothing becomes faster than the fastest circle in free flight [m]."""
    speed = np.hypot(*_free_velocity(world, state)[:, :2].T)
    return 2.0 * world.time_step * float(speed.max(initial=0.0))


def frictionless_lcp(world: CircleWorld, state: CircleState, contacts: CircleContacts) -> LCP:
    """u_n = J M^-1 J' r + b >= 0, r >= 0, r' u_n = 0, with A kept as its factors.

    J has three columns a body, walls included; ``LCP.explicit`` and ``LCP.dense`` give A itself.
    """
    count = len(contacts.gap)
    first, last = 3 * contacts.body_a[:, None], 3 * contacts.body_b[:, None]
    columns = np.hstack([first, first + 1, last, last + 1])
    values = np.hstack([-contacts.normal, contacts.normal])
    jacobian = scipy.sparse.csr_array(
        (values.ravel(), columns.ravel(), 4 * np.arange(count + 1)), shape=(count, 3 * world.body_count)
    )
    inverse_mass = scipy.sparse.dia_array(
        (world.inverse_mass.reshape(1, -1), [0]), shape=(3 * world.body_count,) * 2
    ).tocsr()
    b = jacobian @ _free_velocity(world, state).ravel() + _normal_bias(world, state, contacts)
    return LCP.from_factors(jacobian, inverse_mass, b)


def frictionless_velocity(world: CircleWorld, state: CircleState, lcp: LCP, impulse) -> np.ndarray:
    """v+ = v_free + M^-1 J' r of the circles [circle_count, 3], for the impulses r of a ``frictionless_lcp``."""
    jacobian, inverse_mass = lcp.factors
    velocity = _free_velocity(world, state) + (inverse_mass @ (jacobian.T @ impulse)).reshape(-1, 3)
    return velocity[: world.circle_count]


def friction_problem(world: CircleWorld, state: CircleState, contacts: CircleContacts) -> ContactProblem:
    """The contacts as rows in space: a block of a normal row and one friction row each."""
    count = len(contacts.gap)
    rows = allocate_rows(count, 2 * count, world.body_count)
    rows.count[:] = count, 2 * count
    rows.block_row[:] = 2 * np.arange(count + 1)
    rows.body_a[:], rows.body_b[:] = contacts.body_a, contacts.body_b
    # Walls have no radius: what cannot be pushed does not turn either.
    radius = np.concatenate([world.radius, np.zeros(len(world.wall_offset))])
    tangent = np.column_stack([-contacts.normal[:, 1], contacts.normal[:, 0]])
    for offset, direction in ((0, contacts.normal), (1, tangent)):
        rows.jacobian[offset::2, 0:2] = -direction
        rows.jacobian[offset::2, 6:8] = direction
    rows.jacobian[1::2, 5] = -radius[contacts.body_a]
    rows.jacobian[1::2, 11] = -radius[contacts.body_b]

    inverse = np.zeros((world.body_count, 6))
    inverse[:, PLANE_COLUMNS] = world.inverse_mass
    rows.response[:, :6] = rows.jacobian[:, :6] * np.repeat(inverse[contacts.body_a], 2, axis=0)
    rows.response[:, 6:] = rows.jacobian[:, 6:] * np.repeat(inverse[contacts.body_b], 2, axis=0)
    rows.diagonal[:] = np.sum(rows.jacobian * rows.response, axis=1)
    rows.bias[::2] = _normal_bias(world, state, contacts)
    rows.upper[::2] = np.inf
    rows.normal_row[1::2] = 2 * np.arange(count)
    rows.friction[1::2] = world.friction
    _fill_mass_matrices(world, rows.body_mass)

    free = np.zeros((world.body_count, 6))
    free[:, PLANE_COLUMNS] = _free_velocity(world, state)
    return ContactProblem(rows, free)


def carry_impulses(contacts: CircleContacts, earlier: CircleContacts, impulse) -> np.ndarray:
    """Impulses to start from: those of the same pairs in an earlier step, zero for new pairs.

    Parameters
    ----------
    contacts, earlier : CircleContacts
    impulse : float64 [earlier contact_count] or [earlier contact_count, rows a contact]
        [N s].
    """
    start = np.zeros((len(contacts.key), *impulse.shape[1:]))
    _, here, there = np.intersect1d(contacts.key, earlier.key, assume_unique=True, return_indices=True)
    start[here] = impulse[there]
    return start


def advance(world: CircleWorld, state: CircleState, velocity) -> CircleState:
    """The state after a step that ends with these velocities [circle_count, 3]."""
    h = world.time_step
    return CircleState(state.position + h * velocity[:, :2], state.angle + h * velocity[:, 2], np.array(velocity))


def total_energy(world: CircleWorld, state: CircleState) -> float:
    """Kinetic energy and potential energy in gravity [J]."""
    kinetic = 0.5 * np.sum(world.body_mass * state.velocity**2)
    return float(kinetic - world.mass @ (state.position @ world.gravity))


def deepest_overlap(world: CircleWorld, state: CircleState) -> float:
    """Largest overlap of two circles, or of a circle and a wall [m]; 0 where nothing overlaps."""
    return float(-find_contacts(world, state, 0.0).gap.min(initial=0.0))


def _free_velocity(world, state) -> np.ndarray:
    """v + h g of all bodies [body_count, 3]."""
    velocity = np.zeros((world.body_count, 3))
    velocity[: world.circle_count] = state.velocity
    velocity[: world.circle_count, :2] += world.time_step * world.gravity
    return velocity


def _normal_bias(world, state, contacts) -> np.ndarray:
    """Bias of the normal rows [m/s]."""
    h = world.time_step
    bias = np.maximum(contacts.gap, 0.0) / h
    if world.restitution == 0.0:
        return bias
    velocity = np.zeros((world.body_count, 2))
    velocity[: world.circle_count] = state.velocity[:, :2]
    speed = np.sum(contacts.normal * (velocity[contacts.body_b] - velocity[contacts.body_a]), axis=1)
    slowest = _FACTOR_BOUNCE * h * float(np.hypot(*world.gravity))
    bounces = (speed < -slowest) & (contacts.gap + h * speed < 0.0)
    return np.where(bounces, np.minimum(bias, world.restitution * speed), bias)


def _fill_mass_matrices(world, body_mass) -> None:
    """M of each body in space [body_count, 6, 6]; only its plane part is ever moved, the rest makes M invertible."""
    circles = np.arange(world.circle_count)
    mass, inertia = world.body_mass[:, 0], world.body_mass[:, 2]
    for column in range(6):
        body_mass[circles, column, column] = mass if column < 3 else inertia


# ------------------------------------------------------------------------------------------------ the papers' scenes


def balls_in_box(ball_count: int = 150, seed: int = 0) -> tuple[CircleWorld, CircleState]:
    """Balls of 0.5 to 1 m that fly in a square box and fall (Nielsen 2009, "falling balls").

    The paper has 150 balls in a room of 300 x 300 with radii up to 10; ours is that room in decimetres, and smaller for
    fewer balls. Masses go with the area, 1 kg for the largest. No friction and no bounce, as in its code; walls on all
    four sides.
    """
    rng = np.random.default_rng(seed)
    radius = rng.uniform(0.5, 1.0, ball_count)
    # A ball a cell, somewhere in it, so that none overlap.
    columns = int(np.ceil(np.sqrt(ball_count)))
    width = 30.0 * columns / 13.0
    cell = width / columns
    row, column = np.divmod(rng.permutation(columns**2)[:ball_count], columns)
    position = (np.column_stack([column, row]) + 0.5) * cell
    position += (0.5 * cell - radius)[:, None] * rng.uniform(-1.0, 1.0, (ball_count, 2))
    velocity = np.zeros((ball_count, 3))
    velocity[:, :2] = rng.normal(0.0, 5.0, (ball_count, 2))
    world = CircleWorld(
        radius=radius,
        mass=radius**2,
        wall_normal=np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]),
        wall_offset=np.array([0.0, -width, 0.0, -width]),
        gravity=np.array([0.0, -9.81]),
        time_step=0.015,
    )
    return world, CircleState(position, np.zeros(ball_count), velocity)


# Miyamoto and Yamashita 2019, section 5. They name no length of a step; ours is that of a screen.
_MIYAMOTO = {"gravity": np.array([0.0, -9.80665]), "time_step": 1.0 / 60.0, "restitution": 0.2}
# Where the circles of a pool start: so far above those that they will rest on [m].
_COURSE_GAP = 0.02
# ... and so far from the regular pattern, as a share of the radius, that one seed is not like another.
_RATIO_DISORDER = 1e-3


def pool(
    columns: int = 13,
    courses: int = 17,
    lightest: float = 2.0,
    heaviest: float = 2.0,
    friction: float = 0.1,
    seed: int = 0,
) -> tuple[CircleWorld, CircleState]:
    """Circles of 0.21 m that settle in a pool 6 m wide (Miyamoto and Yamashita 2019: Pool 1; Pool 2 has 1 to 3 kg).

    Their 221 circles are 17 courses of 13; each rests on two of the course below.

    Parameters
    ----------
    columns, courses : int
        A pool of other columns is so much wider or narrower.
    lightest, heaviest : float
        Masses of the lowest and of the highest course [kg]; linear in the height.
    friction : float
    seed : int
    """
    radius, width = 0.21, 6.0 * columns / 13.0
    course, column = np.divmod(np.arange(columns * courses), columns)
    pitch = width / (columns + 0.5)
    rise = np.sqrt((2.0 * radius) ** 2 - (0.5 * pitch) ** 2) + _COURSE_GAP
    position = np.column_stack([(column + 0.5 + 0.5 * (course % 2)) * pitch, radius + _COURSE_GAP + course * rise])
    position += _RATIO_DISORDER * radius * np.random.default_rng(seed).uniform(-1.0, 1.0, position.shape)
    world = CircleWorld(
        radius=np.full(len(position), radius),
        mass=lightest + (heaviest - lightest) * course / max(courses - 1, 1),
        wall_normal=np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]),
        wall_offset=np.array([0.0, -width, 0.0]),
        friction=friction,
        **_MIYAMOTO,
    )
    return world, at_rest(position)


def circle_stack(count: int = 30, friction: float = 0.1) -> tuple[CircleWorld, CircleState]:
    """Circles of 0.18 m and 1 kg exactly on top of each other (Miyamoto and Yamashita 2019: Stacking)."""
    radius = 0.18
    world = CircleWorld(
        radius=np.full(count, radius),
        mass=np.ones(count),
        wall_normal=np.array([[0.0, 1.0]]),
        wall_offset=np.array([0.0]),
        friction=friction,
        **_MIYAMOTO,
    )
    return world, at_rest(np.column_stack([np.zeros(count), (2 * np.arange(count) + 1) * radius]))
