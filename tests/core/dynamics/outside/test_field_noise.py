"""Noise of force fields: the same bits everywhere, nothing at the lattice, smooth between, and no side preferred."""

import numpy as np

from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.dynamics.outside.field_noise import change_at_random, gradient_noise, hashed, turbulence


@kernel
def noise_at(x, y, z):
    return gradient_noise(x, y, z)


@kernel
def three(place, size):
    return turbulence((place[0], place[1], place[2]), size)


@kernel
def bits(a, b, c):
    return hashed(a, b, c)


@kernel
def change(noise, seed, frame, number):
    return change_at_random(noise, seed, frame, number)


def test_a_hash_is_that_of_whole_numbers_without_an_end():
    """Python's own arithmetic knows no overflow."""

    def mixed(x):
        x = ((x >> 16) ^ x) * 0x45D9F3B % 2**32
        x = ((x >> 16) ^ x) * 0x45D9F3B % 2**32
        return (x >> 16) ^ x

    for a, b, c in ((0, 0, 0), (1, 2, 3), (-5, 7, -100000), (2**31, 2**33 + 1, -1)):
        expected = mixed((mixed((mixed(a % 2**32) + b) % 2**32) + c) % 2**32)
        assert bits(a, b, c) == expected


def test_noise_is_nothing_at_the_lattice_and_smooth_across_it():
    for place in ((0.0, 0.0, 0.0), (3.0, -2.0, 7.0)):
        assert noise_at(*place) == 0.0
    step, rng = 1e-6, np.random.default_rng(1)
    for _ in range(50):
        x, y = rng.uniform(-9.0, 9.0, 2)
        left = noise_at(4.0, x, y) - noise_at(4.0 - step, x, y)
        right = noise_at(4.0 + step, x, y) - noise_at(4.0, x, y)
        assert abs(right - left) < 1e-4 * step


def test_turbulence_prefers_no_side_and_stays_within_bounds():
    rng = np.random.default_rng(2)
    found = np.array([three(rng.uniform(-50.0, 50.0, 3), 0.7) for _ in range(4000)])
    assert np.abs(found).max() <= 1.0
    spread = found.std(axis=0)
    assert np.all(np.abs(found.mean(axis=0)) < 4.0 * spread / np.sqrt(len(found)))
    assert spread.max() < 1.1 * spread.min()
    assert np.abs(np.corrcoef(found.T) - np.eye(3)).max() < 0.07


def test_changes_at_random_have_the_distribution_that_is_told():
    """+-(1..128) / (1..2) / 128, below one half with the other sign."""
    found = np.array([change(1.0, 5, frame, 3) for frame in range(4000)])
    assert np.all((found >= -0.5) & (found <= 1.0))
    # means of a whole number of each half and of 1 / u with u from 1 to 2
    mean = np.log(2.0) / 128.0 * 0.5 * (96.5 - 32.5)
    assert abs(found.mean() - mean) < 4.0 * found.std() / np.sqrt(len(found))
