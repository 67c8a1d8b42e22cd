"""The broad phase finds the pairs that a plain loop over all pairs finds, in order, whatever the tree looks like."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_collision import SUBSTEP, Collider

from cairn.solver_core.collision.data.workspace import RATIO_MARGIN
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.model import BodyKind

TETRAHEDRON = ConvexHull.from_points([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])


def random_bodies(seed, count, spread=3.0, static_share=0.2):
    """Boxes, spheres and hulls of many sizes, some fixed, some huge, with random velocities and masks."""
    rng = np.random.default_rng(seed)
    bodies = []
    for _ in range(count):
        scale = 10.0 ** rng.uniform(-1.5, 0.0) * (10.0 if rng.random() < 0.05 else 1.0)
        shape = (Box(scale * rng.uniform(0.2, 1, 3)), Sphere(scale * 0.5), TETRAHEDRON)[rng.integers(3)]
        is_static = rng.random() < static_share
        bodies.append(
            {
                "shape": shape,
                "position": rng.uniform(-spread, spread, 3),
                "orientation": rng.normal(size=4),
                "kind": BodyKind.STATIC if is_static else BodyKind.DYNAMIC,
                "linear_velocity": np.zeros(3) if is_static else rng.normal(size=3) * 5,
                "angular_velocity": np.zeros(3) if is_static else rng.normal(size=3) * 5,
                "collision_mask": int(rng.choice([1, 2, 3])),
            }
        )
    return bodies


def surface_points(collider, shape):
    """Vertices of a shape in the world; a sphere's centre."""
    workspace = collider.workspace
    row = workspace.polytope[shape]
    tables = workspace.polytopes
    pose = workspace.shape_pose[shape]
    return tables.vertex[tables.start[row, 0] : tables.start[row + 1, 0]] @ pose[:3].T + pose[3]


def pairs_by_plain_loop(collider):
    """Pairs whose exact boxes, grown by straight motion, come within the margin; those the broad phase may not miss."""
    model, state = collider.model.arrays, collider.state
    count = len(model.shapes.body)
    boxes = []
    for shape in range(count):
        radius = model.shapes.parameters[shape, 0] if model.shapes.kind[shape] == 1 else 0.0
        points = surface_points(collider, shape)
        travel = state.velocity[model.shapes.body[shape], :3] * SUBSTEP
        boxes.append(
            (points.min(axis=0) - radius + np.minimum(travel, 0), points.max(axis=0) + radius + np.maximum(travel, 0))
        )
    found = []
    for a, b in itertools.combinations(range(count), 2):
        margin = RATIO_MARGIN * min(collider.workspace.size[[a, b]])
        is_near = np.all(boxes[a][0] <= boxes[b][1] + margin) and np.all(boxes[b][0] <= boxes[a][1] + margin)
        moves = BodyKind.DYNAMIC in (state.kind[a], state.kind[b])
        if is_near and moves and model.collision_mask[a] & model.collision_mask[b]:
            found.append((a, b))
    return found


@given(st.integers(0, 100_000), st.integers(2, 40), st.floats(0.3, 5.0))
@settings(max_examples=60)
def test_no_pair_is_missed_and_the_list_is_sorted(seed, count, spread):
    """Everything the plain loop finds is there, once, in order."""
    collider = Collider(random_bodies(seed, count, spread), pair_capacity=2000, contact_capacity=8000).step()
    pairs = collider.pair_list()
    assert pairs == sorted(set(pairs))
    assert set(pairs_by_plain_loop(collider)) <= set(pairs)


@given(st.integers(0, 100_000))
@settings(max_examples=20)
def test_the_pairs_do_not_hang_on_the_past(seed):
    """A tree refitted over many wild steps and a fresh one give the same list."""
    rng = np.random.default_rng(seed)
    bodies = random_bodies(seed, 30)
    old = Collider(bodies, pair_capacity=2000, contact_capacity=8000)
    for _ in range(10):
        old.state.position[:] += rng.normal(size=old.state.position.shape)
        old.step()
    fresh = Collider(bodies, pair_capacity=2000, contact_capacity=8000)
    fresh.state.position[:] = old.state.position
    assert fresh.step().pair_list() == old.pair_list()


def test_few_pairs_are_found_in_vain():
    """A grid of 512 boxes with gaps of a fifth of their size has no pair but those with the floor."""
    places = list(itertools.product(range(8), range(8), range(8)))
    bodies = [{"shape": Box((50, 50, 1)), "position": (0, 0, -1.6), "kind": BodyKind.STATIC}]
    bodies += [{"shape": Box((0.5, 0.5, 0.5)), "position": 1.2 * np.array(place, float)} for place in places]
    collider = Collider(bodies, pair_capacity=2000, contact_capacity=100).step()
    assert collider.pair_list() == []
    collider.state.position[1:, 2] -= 0.1
    assert collider.step().pair_list() == [(0, 1 + index) for index, place in enumerate(places) if place[2] == 0]


def test_a_large_floor_reaches_no_farther_than_the_small_body_asks():
    """A body above the floor by more than its own margin makes no pair, however large the floor."""
    floor = {"shape": Box((1000, 1000, 1)), "position": (0, 0, -1), "kind": BodyKind.STATIC}
    for height, pairs in ((0.5 + 0.011, []), (0.5 + 0.009, [(0, 1)])):
        collider = Collider([floor, {"shape": Box((0.5, 0.5, 0.5)), "position": (0, 0, height)}]).step()
        assert collider.pair_list() == pairs


@pytest.mark.parametrize(
    ("kinds", "masks", "count"),
    [
        ((BodyKind.DYNAMIC, BodyKind.DYNAMIC), (1, 1), 1),
        ((BodyKind.STATIC, BodyKind.DYNAMIC), (1, 3), 1),
        ((BodyKind.KINEMATIC, BodyKind.DYNAMIC), (1, 1), 1),
        ((BodyKind.STATIC, BodyKind.KINEMATIC), (1, 1), 0),
        ((BodyKind.STATIC, BodyKind.STATIC), (1, 1), 0),
        ((BodyKind.DYNAMIC, BodyKind.DYNAMIC), (1, 2), 0),
    ],
)
def test_bodies_collide_if_one_is_dynamic_and_they_share_a_mask_bit(kinds, masks, count):
    """Filters: kinds and masks."""
    bodies = [
        {"shape": Sphere(1.0), "kind": kind, "collision_mask": mask} for kind, mask in zip(kinds, masks, strict=True)
    ]
    collider = Collider(bodies).step()
    assert len(collider.pair_list()) == count
    # Kinds may change from frame to frame.
    collider.state.kind[:] = BodyKind.STATIC
    assert collider.step().pair_list() == []


def test_motion_of_the_substep_makes_pairs():
    """A fast body meets what lies in its way, not what lies behind it; a spinning one what its corners may reach."""
    ball = {"shape": Sphere(0.1), "linear_velocity": (96.0, 0, 0)}
    targets = [{"shape": Sphere(0.1), "position": (x, 0, 0), "kind": BodyKind.STATIC} for x in (0.9, -0.9)]
    assert Collider([ball, *targets]).step().pair_list() == [(0, 1)]
    stick = {"shape": Box((1, 0.05, 0.05)), "angular_velocity": (0, 0, 96.0)}
    target = {"shape": Sphere(0.1), "position": (0, 0.9, 0), "kind": BodyKind.STATIC}
    assert Collider([stick, target]).step().pair_list() == [(0, 1)]


def test_gravity_is_counted_on_before_it_acts():
    """A body at rest whose fall within the substep exceeds the margin."""
    floor = {"shape": Box((5, 5, 0.5)), "position": (0, 0, -0.5), "kind": BodyKind.STATIC}
    small = {"shape": Sphere(0.005), "position": (0, 0, 0.0055)}
    assert Collider([floor, small]).step().pair_list() == []
    assert Collider([floor, small], gravity_norm=9.81).step().pair_list() == [(0, 1)]
