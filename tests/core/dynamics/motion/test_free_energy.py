"""What nothing holds has the energy that it may have, and keeps its momenta to rounding (``free_energy``)."""

import numpy as np
import pytest

from cairn.solver_core import diagnostics
from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.dynamics.motion.free_energy import bound_free_energy
from cairn.solver_core.dynamics.motion.integration import allocate_motion, integrate_poses
from cairn.solver_core.geometry.round_shapes import Capsule
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.state import copy_state
from cairn.solver_core.problem.rows import allocate_islands

H = 1.0 / 96.0


@kernel
def run_bound(model, state, motion, islands, h, allowed):
    bound_free_energy(model, state, motion, islands, np.int64(0), h, allowed)


def bodies_in_flight(seed):
    """A box, a needle and a ball that fly, spin and turn otherwise than they spin; one island."""
    random = np.random.default_rng(seed)
    builder = ModelBuilder((0.0, 0.0, 0.0))
    for shape in (Box((0.3, 0.2, 0.1)), Capsule(1e-3, 0.2), Sphere(0.2)):
        builder.add_body(
            shape=shape,
            mass=random.uniform(0.5, 3.0),
            position=random.normal(size=3),
            orientation=random.normal(size=4),
            linear_velocity=3.0 * random.normal(size=3),
            angular_velocity=20.0 * random.normal(size=3),
        )
    model = builder.build()
    state, motion, islands = copy_state(model.initial_state), allocate_motion(3), allocate_islands(1, 3)
    motion.position_velocity[:] = state.velocity + random.normal(size=(3, 6)) * np.repeat([1.0, 10.0], 3)
    islands.count[0], islands.body_first[1], islands.body_order[:] = 1, 3, np.arange(3)
    return model, state, motion, islands


def moved(model, state, motion):
    """The state at the substep's end."""
    end = copy_state(state)
    integrate_poses(model.arrays, end, motion, H)
    return end


def momenta(model, state):
    return np.concatenate([diagnostics.linear_momentum(model, state), diagnostics.angular_momentum(model, state)])


@pytest.mark.parametrize("share", [0.999, 0.8, 0.6])
@pytest.mark.parametrize("seed", range(4))
def test_energy_is_what_is_allowed_and_momenta_stay(seed, share):
    """Between the energy of the motion as one rigid body and what there is."""
    model, state, motion, islands = bodies_in_flight(seed)
    before = moved(model, state, motion)
    least, most = least_energy(model, before), diagnostics.kinetic_energy(model, before)
    allowed = least + share * (most - least)
    run_bound(model.arrays, state, motion, islands, H, allowed)
    after = moved(model, state, motion)
    assert diagnostics.kinetic_energy(model, after) == pytest.approx(allowed, rel=1e-9)
    assert momenta(model, after) == pytest.approx(momenta(model, before), rel=1e-9, abs=1e-9)


def least_energy(model, state):
    """Energy of the bodies as one rigid body with the same momenta, by NumPy."""
    mass, position = model.arrays.mass, state.position
    center, total = mass @ position / mass.sum(), mass.sum()
    momentum = diagnostics.linear_momentum(model, state)
    turning = diagnostics.angular_momentum(model, state) - np.cross(center, momentum)
    inertia = np.zeros((3, 3))
    for body in range(len(mass)):
        axes, arm = rotation_matrix(state.orientation[body]), position[body] - center
        inertia += axes @ np.diag(model.arrays.inertia[body]) @ axes.T
        inertia += mass[body] * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return 0.5 * momentum @ momentum / total + 0.5 * turning @ np.linalg.solve(inertia, turning)


def rotation_matrix(quaternion):
    w, x, y, z = quaternion
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross


def test_what_may_have_that_much_is_left_alone():
    model, state, motion, islands = bodies_in_flight(0)
    velocity = state.velocity.copy()
    run_bound(
        model.arrays, state, motion, islands, H, 1.0001 * diagnostics.kinetic_energy(model, moved(model, state, motion))
    )
    assert np.array_equal(state.velocity, velocity)


def test_less_than_the_least_slows_the_whole():
    """Bodies pulled together may have too much even as one: momentum stays, angular momentum goes with the energy."""
    model, state, motion, islands = bodies_in_flight(1)
    before = moved(model, state, motion)
    momentum = diagnostics.linear_momentum(model, before)
    drift = 0.5 * momentum @ momentum / model.arrays.mass.sum()
    allowed = 0.5 * (drift + least_energy(model, before))
    run_bound(model.arrays, state, motion, islands, H, allowed)
    after = moved(model, state, motion)
    assert diagnostics.kinetic_energy(model, after) == pytest.approx(allowed, rel=1e-9)
    assert diagnostics.linear_momentum(model, after) == pytest.approx(momentum, rel=1e-9)
