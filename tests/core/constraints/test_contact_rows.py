"""Rows of contacts: the Jacobian is the derivative of the gap, the response is M^-1 J', biases answer two questions."""

import math

import numpy as np
import pytest

from cairn.solver_core.collision.data.contact_arrays import allocate_contacts
from cairn.solver_core.constraints.contact_rows import Recovery, allocate_contact_rows, build_contact_rows
from cairn.solver_core.dynamics.islands.policy import LEFT_OF_OVERLAP, MOST_TAKEN_OUT, SHARE_TAKEN_OUT
from cairn.solver_core.dynamics.motion.integration import allocate_motion, apply_forces
from cairn.solver_core.geometry import rotations
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.problem.rows import allocate_rows

H = 1e-2
G = 9.81
RECOVERY = Recovery(SHARE_TAKEN_OUT, MOST_TAKEN_OUT, LEFT_OF_OVERLAP)


def scene(seed, gap=0.1, restitution=0.0, friction=0.7, kind_a=BodyKind.DYNAMIC, speed=1.0, shape=None):
    """Two random bodies with one contact that is made up; returns all that the rows are built from."""
    rng = np.random.default_rng(seed)
    builder = ModelBuilder(gravity=(0.0, 0.0, -G))
    for kind in (kind_a, BodyKind.DYNAMIC):
        velocity = rng.normal(size=6) * (speed if kind is not BodyKind.STATIC else 0.0)
        builder.add_body(
            shape=shape or Box(rng.uniform(0.2, 0.6, 3)),
            mass=rng.uniform(0.5, 3.0),
            kind=kind,
            position=rng.normal(size=3),
            orientation=rng.normal(size=4),
            linear_velocity=velocity[:3],
            angular_velocity=velocity[3:],
            friction=friction,
            restitution=restitution,
        )
    model = builder.build()
    state, motion, contacts = model.initial_state, allocate_motion(2), allocate_contacts(1)
    contacts.count[0] = 1
    contacts.body_b[0] = 1
    normal = rng.normal(size=3)
    contacts.normal[0] = normal / np.linalg.norm(normal)
    contacts.position[0] = rng.normal(size=3)
    contacts.gap[0] = gap
    contacts.impulse[0] = rng.normal(size=3)
    apply_forces(model.arrays, state, motion, model.gravity, H)
    rows, extra = allocate_rows(1, 3, 2), allocate_contact_rows(1, 1)
    build_contact_rows(model.arrays, state, motion, contacts, G, H, RECOVERY, rows, extra)
    return model, state, motion, contacts, rows, extra


@pytest.mark.parametrize("seed", range(10))
def test_jacobian_is_the_relative_velocity(seed):
    """J v is the velocity of b's point less a's, along n, t1, t2, which are orthonormal and right-handed.

    Over a gap between a ball and what stands either has its own point, half of the gap from the middle: there they will
    touch. Of others it is the middle.
    """
    is_free, is_ball = seed % 3 == 0, seed % 2 == 0
    shape = Sphere(0.3) if is_ball else None
    _, state, _, contacts, rows, _ = scene(seed, kind_a=BodyKind.DYNAMIC if is_free else BodyKind.STATIC, shape=shape)
    half = 0.5 * contacts.gap[0] * contacts.normal[0] if is_ball and not is_free else np.zeros(3)
    points = contacts.position[0] - half, contacts.position[0] + half
    surface = [
        v[:3] + np.cross(v[3:], point - x) for v, x, point in zip(state.velocity, state.position, points, strict=True)
    ]
    directions = rows.jacobian[:, 6:9]
    assert directions[0] == pytest.approx(contacts.normal[0])
    assert directions @ directions.T == pytest.approx(np.eye(3), abs=1e-12)
    assert np.linalg.det(directions) == pytest.approx(1.0)
    speeds = rows.jacobian @ state.velocity.ravel()
    assert speeds == pytest.approx(directions @ (surface[1] - surface[0]), abs=1e-12)


@pytest.mark.parametrize("kind_a", list(BodyKind))
@pytest.mark.parametrize("seed", range(5))
def test_response_is_inverse_mass_times_jacobian(seed, kind_a):
    """Agrees with the explicit 12 x 12 mass matrix; bodies that cannot be pushed do not answer."""
    model, state, _, _, rows, _ = scene(seed, kind_a=kind_a)
    inverse = np.zeros((12, 12))
    for body in range(2):
        if state.kind[body] == BodyKind.DYNAMIC:
            first = 6 * body
            axes = rotations.matrix(state.orientation[body])
            inverse[first : first + 3, first : first + 3] = np.eye(3) / model.arrays.mass[body]
            inertia = axes @ np.diag(1.0 / model.arrays.inertia[body]) @ axes.T
            inverse[first + 3 : first + 6, first + 3 : first + 6] = inertia
    assert rows.response == pytest.approx(rows.jacobian @ inverse, abs=1e-12)
    assert rows.diagonal == pytest.approx(np.diag(rows.jacobian @ inverse @ rows.jacobian.T), rel=1e-12)
    for body in range(2):
        own = slice(6 * body, 6 * body + 6)
        pushed = np.eye(6) if state.kind[body] == BodyKind.DYNAMIC else np.zeros((6, 6))
        assert rows.body_mass[body] @ inverse[own, own] == pytest.approx(pushed, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_first_tangent_follows_the_slip(seed):
    """The free slip has no part along the second tangent, so that box friction brakes it with mu, not sqrt(2) mu."""
    _, _, motion, _, rows, _ = scene(seed)
    slip = rows.jacobian @ motion.free_velocity.ravel()
    assert slip[1] > 0.0
    assert slip[2] == pytest.approx(0.0, abs=1e-12)


def test_tangents_without_slip_hang_on_the_normal_alone():
    """At rest the same normal gives the same frame, whatever the rounding of velocities."""
    frames = []
    for seed in (0, 0):
        _, _, _, _, rows, _ = scene(seed, speed=1e-9 * (1 + len(frames)))
        frames.append(rows.jacobian[:, 6:9].copy())
    assert np.array_equal(frames[0], frames[1])


@pytest.mark.parametrize("seed", range(10))
def test_start_impulse_is_the_last_one_moved_inside_the_bounds(seed):
    """The world vector in the new frame, its normal part not below 0, its friction within the product of both mu."""
    _, _, _, contacts, rows, _ = scene(seed, friction=0.7)
    wanted = rows.jacobian[:, 6:9] @ contacts.impulse[0]
    normal = max(wanted[0], 0.0)
    assert rows.impulse[0] == pytest.approx(normal)
    assert rows.impulse[1:] == pytest.approx(np.clip(wanted[1:], -0.49 * normal, 0.49 * normal))
    assert np.array_equal(rows.friction[1:], [0.7 * 0.7] * 2)
    assert rows.upper[0] == math.inf
    assert list(rows.normal_row) == [-1, 0, 0]


def test_a_gap_may_close_and_no_more():
    """u_n + gap / h >= 0 for both questions."""
    _, _, _, _, rows, extra = scene(1, gap=0.05)
    assert rows.bias[0] == pytest.approx(0.05 / H)
    assert extra.velocity_bias[0] == pytest.approx(0.05 / H)


def test_bodies_nearer_than_rounding_touch():
    """A gap or an overlap below 1e-5 of the size asks for u_n >= 0, so four corners of a face can bear at once."""
    size = scene(1)[0].arrays.size.min()
    for gap in (0.9e-5 * size, 0.0, -0.9e-5 * size):
        _, _, _, _, rows, extra = scene(1, gap=gap)
        assert rows.bias[0] == 0.0
        assert extra.velocity_bias[0] == 0.0
    _, _, _, _, rows, _ = scene(1, gap=1.1e-5 * size)
    assert rows.bias[0] == pytest.approx(1.1e-5 * size / H)


def test_an_overlap_is_taken_out_of_poses_only():
    """Recovery is a fifth of the overlap a substep, at most 1 % of the size, nothing for rounding; none of it stays
    in the velocities. It never asks for next to nothing: it begins at 1e-5 of the size and leads to half of that.
    """
    size = scene(1)[0].arrays.size.min()
    for gap, moves in ((-0.01, True), (-10.0, True), (-1.01e-5 * size, True), (-0.99e-5 * size, False), (-1e-9, False)):
        _, _, _, _, rows, extra = scene(1, gap=gap)
        expected = min(0.2 * (-gap - 5e-6 * size), 0.01 * size) / H if moves else 0.0
        assert rows.bias[0] == pytest.approx(-expected)
        assert extra.velocity_bias[0] == 0.0


def test_bounce_speed_is_that_of_free_flight():
    """A box that falls on a static one bounces with e times the speed it would land with, from energy conservation."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -G))
    builder.add_body(shape=Box((1, 1, 1)), kind=BodyKind.STATIC, restitution=1.0)
    builder.add_body(shape=Box((0.5, 0.5, 0.5)), position=(0, 0, 1.53), restitution=0.6)
    model = builder.build()
    state, motion, contacts = model.initial_state, allocate_motion(2), allocate_contacts(1)
    state.velocity[1, 2] = -4.0
    contacts.count[0], contacts.body_b[0], contacts.normal[0], contacts.gap[0] = 1, 1, (0, 0, 1), 0.03
    contacts.position[0] = (0, 0, 1.015)
    apply_forces(model.arrays, state, motion, model.gravity, H)
    rows, extra = allocate_rows(1, 3, 2), allocate_contact_rows(1, 1)
    build_contact_rows(model.arrays, state, motion, contacts, G, H, RECOVERY, rows, extra)
    assert extra.bounce_speed[0] == pytest.approx(0.6 * math.sqrt(4.0**2 + 2.0 * G * 0.03))
    contacts.gap[0] = 0.0
    state.velocity[1, 2] = 0.0
    apply_forces(model.arrays, state, motion, model.gravity, H)
    build_contact_rows(model.arrays, state, motion, contacts, G, H, RECOVERY, rows, extra)
    assert extra.bounce_speed[0] == 0.0
