"""Contacts of two substeps are matched nearest first, beside a search of all pairs of them in each round."""

from typing import NamedTuple

import numpy as np
import pytest

from cairn.solver_core.collision.data.contact_matching import match_nearest
from cairn.solver_core.compiled.kernel import kernel


class Now(NamedTuple):
    position: np.ndarray
    normal: np.ndarray
    matched: np.ndarray
    age: np.ndarray
    impulse: np.ndarray


class Earlier(NamedTuple):
    body_a: np.ndarray
    body_b: np.ndarray
    local_a: np.ndarray
    local_b: np.ndarray
    normal: np.ndarray


@kernel
def match(now, earlier, first, size, body_pose, carried):
    match_nearest(now, first, len(now.matched), earlier, 0, len(earlier.body_a), size, body_pose, carried)


def nearest_first(now, earlier, first, size, body_pose):
    """The same by NumPy: in each round the nearest two that are left."""
    middles = []
    for local, body in ((earlier.local_a, 0), (earlier.local_b, 1)):
        middles.append(body_pose[body, 3] + local @ body_pose[body, :3].T)
    places = np.array([*middles, 0.5 * (middles[0] + middles[1])])
    square = ((places[:, :, None] - now.position[None, None, first:]) ** 2).sum(axis=3).min(axis=0)
    square[(earlier.normal @ now.normal[first:].T) <= 0.9] = np.inf
    matched = np.full(len(now.matched), -1)
    while square.size and square.min() < (0.25 * size) ** 2:
        old, new = np.unravel_index(square.argmin(), square.shape)
        matched[first + new] = old
        square[old], square[:, new] = np.inf, np.inf
    return matched


@pytest.mark.parametrize("seed", range(40))
def test_the_nearest_two_are_matched_first(seed):
    """Also where many want the same one, where normals differ, and where either substep has none."""
    rng = np.random.default_rng(seed)
    count, before, first, size = rng.integers(0, 9), rng.integers(0, 9), int(rng.integers(0, 3)), 1.0
    turns = np.linalg.qr(rng.normal(size=(2, 3, 3)))[0]
    body_pose = np.concatenate([turns, rng.normal(size=(2, 1, 3))], axis=1)
    spread = rng.choice([0.05, 0.3])
    normal = np.array([0.0, 0.0, 1.0]) + rng.choice([0.0, 0.3]) * rng.normal(size=(before + first + count, 3))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    places = spread * rng.normal(size=(before, 3))
    local = [(places - body_pose[body, 3]) @ body_pose[body, :3] for body in range(2)]
    local[1] += 0.02 * rng.normal(size=(before, 3))
    earlier = Earlier(np.zeros(before, int), np.ones(before, int), *local, normal[:before])
    now = Now(
        spread * rng.normal(size=(first + count, 3)),
        normal[before:],
        np.full(first + count, -1),
        np.full(first + count, 7),
        np.full((first + count, 3), 7.0),
    )
    match(now, earlier, first, size, body_pose, np.zeros((3, 3)))
    np.testing.assert_array_equal(now.matched, nearest_first(now, earlier, first, size, body_pose))
    assert np.all(now.age[:first] == 7)
