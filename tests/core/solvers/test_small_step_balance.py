"""What small steps owe to momenta and energy of what flies, and to energy where something driven squeezes bodies."""

import numpy as np
import pytest

from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.problem.rows import allocate_islands, allocate_rows
from cairn.solver_core.solvers.small_step_balance import (
    RATIO_FASTEST,
    keep_angular_momentum,
    keep_energy,
    limit_speeds,
)
from cairn.solver_core.solvers.small_steps import SmallStepInput

BODIES = 6


@kernel
def limit(rows, islands, given, velocity, mean_velocity, speeds):
    limit_speeds(rows, islands, np.int64(0), given, velocity, mean_velocity, speeds)


@kernel
def turn(rows, islands, given, velocity, mean_velocity, h):
    keep_angular_momentum(rows, islands, np.int64(0), given, velocity, mean_velocity, h)


@kernel
def slow(rows, islands, given, velocity, mean_velocity, h):
    keep_energy(rows, islands, np.int64(0), given, velocity, mean_velocity, h)


def energies(masses, velocity):
    return 0.5 * np.einsum("bi,bij,bj->b", velocity, masses, velocity)


def island_of(random):
    """An island of bodies with random masses; only what the limit reads."""
    rows, islands = allocate_rows(0, 0, BODIES), allocate_islands(0, BODIES)
    for body in range(BODIES):
        root = random.normal(size=(3, 3))
        rows.body_mass[body, :3, :3] = np.exp(random.normal()) * np.eye(3)
        rows.body_mass[body, 3:, 3:] = 0.1 * root @ root.T
    islands.count[0] = 1
    islands.body_order[:] = random.permutation(BODIES)
    islands.body_first[:2] = 0, BODIES
    return rows, islands


def given_with(free_velocity):
    none = np.zeros(1)
    nowhere = np.zeros((BODIES, 3))
    return SmallStepInput(np.zeros(1, np.int64), none, none, none, none, free_velocity, free_velocity, nowhere)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_squeezed_gets_no_more_energy_than_it_had_or_than_what_drives_it(seed):
    """Speeds to three times the fastest there was, then energy, by one factor for all velocities of the island."""
    random = np.random.default_rng(seed)
    rows, islands = island_of(random)
    free = random.normal(size=(BODIES, 6)) * random.choice([0.1, 3.0])
    fastest = np.linalg.norm(free[:, :3], axis=1).max() + 0.1
    driven = random.choice([0.0, 0.1, 1.0])
    velocity = random.normal(size=(BODIES, 6)) * 10.0 ** random.uniform(-2, 4)
    mean, before = velocity.copy(), velocity.copy()
    limit(rows, islands, given_with(free), velocity, mean, (fastest, driven))

    share = np.minimum(1.0, RATIO_FASTEST * fastest / np.linalg.norm(before[:, :3], axis=1))
    slowed = share[:, None] * before
    masses = rows.body_mass[:, 0, 0]
    allowed = max(0.5 * masses.sum() * (RATIO_FASTEST * driven) ** 2, energies(rows.body_mass, free).sum())
    factor = min(1.0, np.sqrt(allowed / energies(rows.body_mass, slowed).sum()))
    assert velocity == pytest.approx(factor * slowed, rel=1e-12)
    assert mean == pytest.approx(velocity, rel=1e-12)


def momenta(masses, place, velocity):
    """Linear momentum, and angular momentum about the origin."""
    linear = masses[:, 0, 0, None] * velocity[:, :3]
    spin = np.einsum("bij,bj->bi", masses[:, 3:, 3:], velocity[:, 3:])
    return linear.sum(axis=0), (np.cross(place, linear) + spin).sum(axis=0)


@pytest.mark.parametrize("seed", range(20))
def test_what_flies_has_the_momenta_and_no_more_energy_than_it_would_have_alone(seed):
    """Impulses at the start's contacts, which turn what has moved on, and sweeps that have added energy or not."""
    random, h = np.random.default_rng(seed), 0.01
    rows, islands = island_of(random)
    masses, place = rows.body_mass, random.normal(size=(BODIES, 3))
    free = random.normal(size=(BODIES, 6)) * (1.0, 1.0, 1.0, 2.0, 2.0, 2.0) + random.normal(size=6)
    given = given_with(free)._replace(position=place)
    velocity = free + random.choice([-0.3, 0.3]) * (free - free.mean(axis=0)) + 0.02 * random.normal(size=(BODIES, 6))
    velocity[:, :3] -= (masses[:, 0, 0] @ (velocity - free)[:, :3]) / masses[:, 0, 0].sum()
    mean = 0.5 * (free + velocity)
    turn(rows, islands, given, velocity, mean, h)
    turned = velocity.copy()
    slow(rows, islands, given, velocity, mean, h)

    moved, total = place + h * mean[:, :3], masses[:, 0, 0].sum()
    has, before, alone = (energies(masses, motion).sum() for motion in (velocity, turned, free))
    assert has == pytest.approx(min(before, alone), rel=1e-12)
    for now, then in zip(momenta(masses, moved, velocity), momenta(masses, moved, turned), strict=True):
        assert now == pytest.approx(then, abs=1e-12 * np.abs(then).max() * total)
    # seen from the centre of mass, which moves on without a push
    ways = h * masses[:, 0, 0] @ free[:, :3] / total
    wanted = momenta(masses, place, free)[1] + np.cross(ways, momenta(masses, place, free)[0])
    got = momenta(masses, place + ways + (moved - place - h * masses[:, 0, 0] @ mean[:, :3] / total), velocity)[1]
    assert got == pytest.approx(wanted, abs=1e-11 * np.abs(wanted).max() * total)


def test_bounces_may_give_more_each_time():
    """Then the speed that drives is infinite, and only speeds are bounded."""
    random = np.random.default_rng(0)
    rows, islands = island_of(random)
    velocity = np.full((BODIES, 6), 100.0)
    limit(rows, islands, given_with(np.zeros((BODIES, 6))), velocity, velocity.copy(), (2.0, np.inf))
    assert np.linalg.norm(velocity[:, :3], axis=1) == pytest.approx(np.full(BODIES, 2.0 * RATIO_FASTEST))
