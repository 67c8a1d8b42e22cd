"""The broad phase's tree: it finds what overlaps, wherever the shapes lie."""

import itertools

import numpy as np
import pytest
from reference_collision import Collider

from cairn.solver_core.geometry.shapes import Sphere


def overlapping(positions):
    """Pairs of unit balls at these positions that the broad phase finds."""
    return Collider([{"shape": Sphere(1.0), "position": position} for position in positions]).step().pair_list()


@pytest.mark.parametrize("count", [2, 3, 5, 7])
@pytest.mark.parametrize("place", [0.0, 0.05, 0.1, 0.3])
def test_shapes_in_one_place_are_told_apart(place, count):
    """A mean is rounded: it may lie above, or below, all of the centres that it is taken of."""
    assert overlapping([(place, place, place)] * count) == list(itertools.combinations(range(count), 2))


def test_overlaps_are_those_of_all_pairs():
    """Of balls in a heap, and far from each other, the tree finds the pairs whose bounds overlap."""
    random = np.random.default_rng(0)
    positions = random.normal(size=(30, 3)) * [6.0, 3.0, 1.0]
    expected = [
        (one, two)
        for one, two in itertools.combinations(range(30), 2)
        if np.abs(positions[one] - positions[two]).max() <= 2.0
    ]
    assert overlapping(positions) == expected
