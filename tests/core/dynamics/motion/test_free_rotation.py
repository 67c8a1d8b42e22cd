"""Free rotation against Euler's equations solved to rounding, and what it keeps exactly."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.dynamics.motion.free_rotation import TURN_PER_CYCLE, turned_freely
from cairn.solver_core.geometry import rotations

STEP = 1.0 / 96.0


@kernel
def turned(orientation, turning, inertia, h, turn_per_cycle):
    return turned_freely(orientation, turning, inertia, h, turn_per_cycle)


def after(orientation, spin, inertia):
    return np.array(turned(orientation, np.concatenate([np.zeros(3), spin]), inertia, STEP, TURN_PER_CYCLE))


def momentum_of(orientation, spin, inertia):
    return rotations.rotate(orientation, inertia * rotations.rotate(rotations.conjugate(orientation), spin))


def exactly(orientation, spin, inertia):
    """The orientation after a step by an integrator of order 8."""
    momentum = momentum_of(orientation, spin, inertia)

    def rate(_, q):
        q = q / np.linalg.norm(q)
        body_spin = rotations.rotate(rotations.conjugate(q), momentum) / inertia
        return 0.5 * rotations.multiply(q, np.concatenate([[0.0], body_spin]))

    end = solve_ivp(rate, (0.0, STEP), orientation, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    return end / np.linalg.norm(end)


def angle_between(one, other):
    return 2.0 * min(np.linalg.norm(one - other), np.linalg.norm(one + other))


def drawn(seed):
    """A body of random halves of sides over two decades, an orientation, and a spin of 0.1 to 300 rad/s."""
    rng = np.random.default_rng(seed)
    squares = 10.0 ** rng.uniform(-1.0, 1.0, 3)
    orientation = rng.normal(size=4)
    spin = rng.normal(size=3)
    spin *= 10.0 ** rng.uniform(-1.0, 2.5) / np.linalg.norm(spin)
    return squares.sum() - squares, orientation / np.linalg.norm(orientation), spin


@pytest.mark.parametrize("seed", range(40))
def test_a_body_turns_as_eulers_equations_say(seed):
    inertia, orientation, spin = drawn(seed)
    end = after(orientation, spin, inertia)
    angle = STEP * np.linalg.norm(spin)
    assert angle_between(end, exactly(orientation, spin, inertia)) < 2e-4 * angle
    momentum = momentum_of(orientation, spin, inertia)
    body = [rotations.rotate(rotations.conjugate(q), momentum) for q in (orientation, end)]
    energies = [np.sum(each * each / inertia) for each in body]
    assert energies[1] == pytest.approx(energies[0], rel=1e-4)


@pytest.mark.parametrize("odd", range(3))
@pytest.mark.parametrize("ratio", [0.01, 0.5, 1.9])
def test_a_body_with_two_equal_moments_is_exact_at_any_spin(odd, ratio):
    """A rod, a bar and a wheel, whichever of the axes is the odd one."""
    _, orientation, spin = drawn(100 + odd)
    inertia = np.ones(3)
    inertia[odd] = ratio
    spin *= 300.0 / np.linalg.norm(spin)
    end = after(orientation, spin, inertia)
    assert angle_between(end, exactly(orientation, spin, inertia)) < 1e-9


@pytest.mark.parametrize("moments", [(1.0, 2.0, 2.5), (2.0, 1.0, 2.5), (2.5, 2.0, 1.0)])
def test_the_middle_moment_may_be_of_any_axis(moments):
    inertia, (_, orientation, spin) = np.array(moments), drawn(7)
    spin *= 20.0 / np.linalg.norm(spin)
    assert angle_between(after(orientation, spin, inertia), exactly(orientation, spin, inertia)) < 1e-5


def test_errors_fall_by_the_square_of_the_cycle():
    inertia, orientation, spin = drawn(11)
    spin *= 200.0 / np.linalg.norm(spin)
    wanted, errors = exactly(orientation, spin, inertia), []
    for cycle in (0.2, 0.1, 0.05):
        end = np.array(turned(orientation, np.concatenate([np.zeros(3), spin]), inertia, STEP, cycle))
        errors.append(angle_between(end, wanted))
    assert [math.log2(errors[i] / errors[i + 1]) for i in range(2)] == pytest.approx([2.0, 2.0], abs=0.3)
