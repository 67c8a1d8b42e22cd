"""Ready-made scenes start as they are meant to: bodies touch and do not overlap, and every one is held by others."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from cairn.solver_core.scenes import SCENES, arch, card_house, pile
from cairn.solver_core.simulation import Simulation, SimulationOptions

STANDING = [name for name in SCENES if name not in ("wall", "pile")]


@pytest.mark.parametrize("name", STANDING)
def test_bodies_touch_and_do_not_overlap(name):
    """At the start all gaps are zero to rounding, and no body is without a contact."""
    model = SCENES[name]().build_model()
    rows = Simulation(model, SimulationOptions()).contact_problem().rows
    contacts = int(rows.count[0])
    touched = np.union1d(rows.body_a[:contacts], rows.body_b[:contacts])
    assert np.array_equal(touched, np.arange(model.body_count))
    # a normal row's bias is gap / h; gaps between neighbours that stand apart are no overlaps
    assert rows.bias[: 3 * contacts : 3].min() >= -1e-9


@pytest.mark.parametrize("count", [1, 100, 1000])
def test_a_pile_starts_in_the_air(count):
    """So many boxes, none of which touches another."""
    model = pile(count).build_model()
    assert model.body_count == count + 1
    distance, _ = cKDTree(model.initial_state.position[1:]).query(model.initial_state.position[1:], k=[2])
    assert distance.min() > 3.0**0.5
    assert model.initial_state.position[1:, 2].min() > 0.5 * 3.0**0.5


@pytest.mark.parametrize("stones", [5, 25, 101])
def test_neighbouring_stones_share_a_joint(stones):
    """Four contacts a joint and a foot: stones meet face to face along the whole arch."""
    model = arch(stones).build_model()
    rows = Simulation(model, SimulationOptions()).contact_problem().rows
    contacts = int(rows.count[0])
    pairs = {(int(a), int(b)) for a, b in zip(rows.body_a[:contacts], rows.body_b[:contacts], strict=True)}
    neighbours = {(stone, stone + 1) for stone in range(1, stones)}
    assert neighbours <= {tuple(sorted(pair)) for pair in pairs}
    assert sum(rows.bias[: 3 * contacts : 3] < 1e-9) == 4 * (stones + 1)


@pytest.mark.parametrize("levels", [1, 3, 5])
def test_a_house_has_its_cards(levels):
    """n storeys take n (n + 1) leaning cards and n (n - 1) / 2 level ones."""
    bodies = card_house(levels).bodies
    assert len(bodies) - 1 == levels * (levels + 1) + levels * (levels - 1) // 2
    assert len({body.name for body in bodies}) == len(bodies)
