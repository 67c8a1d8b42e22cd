"""What small steps owe to momenta and energy of what flies, and to energy where something driven squeezes bodies."""

import numpy as np
import pytest

from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.problem.rows import allocate_islands, allocate_rows
from cairn.solver_core.solvers.shared.small_step_input import SmallStepInput
from cairn.solver_core.solvers.small_step_balance import (
    RATIO_FASTEST,
    keep_angular_momentum,
    keep_energy,
    limit_speeds,
    most_that_drives,
)
from cairn.solver_core.solvers.small_steps import allocate_small_steps

BODIES = 6


@kernel
def limit(rows, islands, velocity, mean_velocity, most, recovery):
    limit_speeds(rows, islands, np.int64(0), velocity, mean_velocity, most, recovery)


@kernel
def drives(rows, islands, given, velocity, workspace, found):
    found[0], found[1], found[2] = most_that_drives(rows, islands, np.int64(0), given, velocity, workspace)


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
    return SmallStepInput(
        np.zeros(1, np.int64), none, none, none, none, none, free_velocity, free_velocity, nowhere, 0.0
    )


@pytest.mark.parametrize("seed", range(20))
def test_what_is_squeezed_gets_no_faster_than_what_drives_it_or_had_more(seed):
    """Body by body: all of its velocity by one factor, to the energy of the speed that drives and what bodies had."""
    random = np.random.default_rng(seed)
    rows, islands = island_of(random)
    masses = rows.body_mass[:, 0, 0]
    driven, energy = random.choice([0.0, 0.1, 1.0]), random.choice([0.0, 0.5, 20.0])
    bounce, recovery = random.choice([0.0, 2.0]), random.choice([0.0, 0.3])
    velocity = random.normal(size=(BODIES, 6)) * 10.0 ** random.uniform(-2, 4)
    mean, before = 0.5 * velocity, velocity.copy()
    limit(rows, islands, velocity, mean, (driven, energy, bounce), recovery)

    fastest = np.sqrt(driven**2 + 2.0 * energy / masses) + bounce
    for found, given, most in ((velocity, before, fastest), (mean, 0.5 * before, fastest + recovery)):
        share = np.minimum(1.0, np.sqrt(0.5 * masses * most**2 / energies(rows.body_mass, given)))
        assert found == pytest.approx(share[:, None] * given, rel=1e-12)


@pytest.mark.parametrize("bounces", [0.0, 3.0])
def test_what_drives_is_the_fastest_surface_that_bodies_touch(bounces):
    """A plate that moves at V along the normal touches one body; another one had more energy than at twice V."""
    rows, islands = allocate_rows(1, 1, BODIES + 1), allocate_islands(1, BODIES + 1)
    rows.body_mass[:BODIES] = 2.0 * np.eye(6)
    rows.body_a[0], rows.body_b[0] = BODIES, 0
    rows.block_row[:2] = 0, 1
    rows.jacobian[0, 2], rows.jacobian[0, 8] = -1.0, 1.0
    islands.count[0] = 1
    islands.body_order[:BODIES] = np.arange(BODIES)
    islands.body_first[:2], islands.block_first[:2] = (0, BODIES), (0, 1)
    free, velocity = np.zeros((BODIES + 1, 6)), np.zeros((BODIES + 1, 6))
    velocity[BODIES, 2], free[3, 0] = 1.5, 5.0
    given = given_with(free)._replace(contact_count=np.ones(1, np.int64), bounce_speed=np.array([bounces]))
    found = np.zeros(3)
    drives(rows, islands, given, velocity, allocate_small_steps(1, BODIES + 1, False), found)
    assert found == pytest.approx([RATIO_FASTEST * 1.5, 25.0 - (RATIO_FASTEST * 1.5) ** 2, bounces], rel=1e-12)


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
