"""Who does not collide with whom, and who overlaps at the start."""

import itertools

import numpy as np
import pytest
from reference_collision import Collider

from cairn.solver_core.collision.data.contact_arrays import STATUS_OK
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder, ModelError
from cairn.solver_core.model.compound import Compound
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation

UNIT = Box((0.5, 0.5, 0.5))


def colliding_bodies(builder):
    """Pairs of bodies of which the broad phase keeps a pair of shapes."""
    collider = Collider(builder, gravity_norm=9.81, pair_capacity=256, contact_capacity=2048).step()
    assert collider.status == (STATUS_OK, STATUS_OK)
    body = collider.model.arrays.shapes.body
    return {(int(min(body[a], body[b])), int(max(body[a], body[b]))) for a, b in collider.pair_list()}


def heap(count, **values):
    """Boxes that all overlap each other."""
    builder = ModelBuilder()
    for number in range(count):
        builder.add_body(shape=UNIT, position=(0.01 * number, 0.0, 0.0), **{k: v[number] for k, v in values.items()})
    return builder


def test_masks_decide_by_common_bits():
    """Bodies of two of the 20 collections collide with those that are in one of them, also the last."""
    masks = [1, 1 << 19, (1 << 19) | 1, 2, 0]
    expected = {(a, b) for a, b in itertools.combinations(range(5), 2) if masks[a] & masks[b]}
    assert colliding_bodies(heap(5, collision_mask=masks)) == expected == {(0, 2), (1, 2)}


@pytest.mark.parametrize("seed", range(4))
def test_excluded_pairs_are_left_out_and_no_others(seed):
    """Of all pairs of ten boxes a random half is excluded, in either order of the bodies, some twice."""
    rng = np.random.default_rng(seed)
    everything = list(itertools.combinations(range(10), 2))
    excluded = {pair for pair in everything if rng.random() < 0.5}
    builder = heap(10)
    for a, b in sorted(excluded, key=lambda _: rng.random()):
        builder.exclude_pair(*((a, b) if rng.random() < 0.5 else (b, a)))
        if rng.random() < 0.2:
            builder.exclude_pair(b, a)
    assert colliding_bodies(builder) == set(everything) - excluded


def test_excluded_pairs_hold_for_every_part_and_no_other_body():
    """Of two compounds that pass each other no parts touch; a third body touches both."""
    builder = ModelBuilder()
    for _ in range(2):
        builder.add_body(shape=Compound([UNIT, Box((0.5, 0.5, 0.5), (0.5, 0.0, 0.0))]))
    builder.add_body(shape=UNIT)
    builder.exclude_pair(0, 1)
    assert colliding_bodies(builder) == {(0, 2), (1, 2)}


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ((BodyKind.STATIC, BodyKind.KINEMATIC), set()),
        ((BodyKind.STATIC, BodyKind.STATIC), set()),
        ((BodyKind.KINEMATIC, BodyKind.DYNAMIC), {(0, 1)}),
    ],
)
def test_a_pair_needs_a_dynamic_body(kinds, expected):
    """What nothing can push need not be looked at."""
    assert colliding_bodies(heap(2, kind=kinds)) == expected


def test_excluding_what_is_not_there_is_refused():
    """A body that does not exist, and a body with itself."""
    builder = heap(2)
    with pytest.raises(ModelError, match="no body 2"):
        builder.exclude_pair(0, 2)
    with pytest.raises(ModelError, match="body 1"):
        builder.exclude_pair(1, 1)


def test_a_box_falls_through_an_excluded_floor():
    """It falls freely through the floor that it does not collide with, and its neighbour rests."""
    builder = ModelBuilder()
    builder.add_body(shape=Box((5.0, 5.0, 0.0)), kind=BodyKind.STATIC)
    builder.add_body(shape=UNIT, position=(-2.0, 0.0, 0.5))
    builder.add_body(shape=UNIT, position=(2.0, 0.0, 0.5))
    builder.exclude_pair(1, 0)
    simulation = Simulation(builder.build(), SimulationOptions(method="nncg"))
    for _ in range(24):
        simulation.advance_frame()
    position, _ = simulation.poses()
    assert position[1, 2] == pytest.approx(0.5 - 0.5 * 9.81, abs=1e-9)
    assert position[2, 2] == pytest.approx(0.5, abs=1e-6)


def test_overlaps_are_listed_with_their_depth():
    """Depths of closed form, the largest share of the smaller moving body first; what only touches is not listed."""
    builder = ModelBuilder()
    builder.add_body(shape=Box((5.0, 5.0, 1.0)), kind=BodyKind.STATIC, position=(0, 0, -1.0), name="Floor")
    builder.add_body(shape=UNIT, position=(0.0, 0.0, 0.4), name="Sunk")
    builder.add_body(shape=Sphere(0.25), position=(2.0, 0.0, 0.15), name="Ball")
    builder.add_body(shape=Sphere(0.25), position=(2.3, 0.0, 0.35), name="Other")
    builder.add_body(shape=UNIT, position=(-3.0, 0.0, 0.5), name="Standing")
    builder.add_body(shape=UNIT, position=(-3.0, 3.0, 0.8), name="Flying")
    found = Simulation(builder.build(), SimulationOptions(method="nncg")).overlaps()
    assert [(overlap.body_a, overlap.body_b) for overlap in found] == [(2, 3), (0, 2), (0, 1)]
    assert [overlap.depth for overlap in found] == pytest.approx([0.5 - 0.13**0.5, 0.1, 0.1], abs=1e-9)
    assert [overlap.share for overlap in found] == pytest.approx([1.0 - 2 * 0.13**0.5, 0.2, 0.1], abs=1e-9)


def test_overlaps_know_the_filters():
    """Bodies that do not collide do not overlap, nor do the parts of one compound."""
    builder = heap(3, collision_mask=[1, 2, 3])
    builder.add_body(shape=Compound([UNIT, UNIT]), position=(9.0, 0.0, 0.0))
    builder.exclude_pair(0, 2)
    found = Simulation(builder.build(), SimulationOptions(method="nncg")).overlaps()
    assert [(overlap.body_a, overlap.body_b) for overlap in found] == [(1, 2)]
