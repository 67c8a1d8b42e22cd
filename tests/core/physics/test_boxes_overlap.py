"""The first look for overlaps, by bounding boxes: what each pair of boxes says, found without looking at each pair."""

import time

import numpy as np
import pytest
from nightly import seeds

from cairn.solver_core import diagnostics
from cairn.solver_core.geometry import rotations
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind


def some_bodies(seed, count=40, spread=8.0):
    """Boxes, balls and hulls, a third of which never move, in some collections."""
    random, builder = np.random.default_rng(seed), ModelBuilder()
    hull = ConvexHull.from_points(random.normal(size=(12, 3)))
    for index in range(count):
        builder.add_body(
            name=str(index),
            shape=(Box(random.uniform(0.1, 1.0, 3)), Sphere(0.4), hull)[index % 3],
            mass=1.0,
            kind=BodyKind.STATIC if index % 3 == 1 else BodyKind.DYNAMIC,
            position=random.uniform(-spread, spread, 3),
            orientation=rotations.from_rotation_vector(random.normal(size=3)),
            collision_mask=int(random.choice([1, 2, 3])),
        )
    for _ in range(count):
        pair = random.choice(count, 2, replace=False)
        builder.exclude_pair(*map(int, pair))
    return builder.build()


def corners(model, body):
    """Lower and upper corner of a body's box, from the points of its shapes."""
    shapes, state = model.arrays.shapes, model.initial_state
    points = []
    for shape in np.flatnonzero(shapes.body == body):
        if shapes.kind[shape] == 0:
            local = shapes.parameters[shape] * np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T
        elif shapes.kind[shape] == 1:
            center = state.position[body] + rotations.rotate(state.orientation[body], shapes.position[shape])
            radius = shapes.bounding_radius[shape]
            points += [center - radius, center + radius]
            continue
        else:
            first, last = model.hulls.start[shapes.hull[shape] : shapes.hull[shape] + 2, 0]
            local = model.hulls.vertex[first:last]
        local = rotations.rotate(shapes.orientation[shape], local) + shapes.position[shape]
        points += list(rotations.rotate(state.orientation[body], local) + state.position[body])
    return np.min(points, axis=0), np.max(points, axis=0)


def by_all_pairs(model):
    """Pairs that may collide and whose boxes share space."""
    boxes = [corners(model, body) for body in range(model.body_count)]
    kind, mask = model.initial_state.kind, model.arrays.collision_mask
    found = []
    for first in range(model.body_count):
        for second in range(first + 1, model.body_count):
            shared = np.minimum(boxes[first][1], boxes[second][1]) - np.maximum(boxes[first][0], boxes[second][0])
            may = BodyKind.DYNAMIC in (kind[first], kind[second]) and mask[first] & mask[second]
            excluded = first * model.body_count + second in model.arrays.excluded_pairs
            size = min(model.arrays.size[first], model.arrays.size[second])
            if may and not excluded and (shared > 1e-4 * size).all():
                found.append((first, second))
    return found


@pytest.mark.parametrize("at_once", [3, 1 << 17])
@pytest.mark.parametrize("seed", seeds(12, 100))
def test_boxes_overlap_where_those_of_a_pair_do(seed, at_once, monkeypatch):
    monkeypatch.setattr(diagnostics, "_PAIRS_AT_ONCE", at_once)
    model = some_bodies(seed, spread=(9.0, 14.0, 22.0)[seed % 3])
    assert diagnostics.boxes_overlap(model) == bool(by_all_pairs(model))


def test_both_answers_are_tried():
    answers = [bool(by_all_pairs(some_bodies(seed, spread=(9.0, 14.0, 22.0)[seed % 3]))) for seed in range(12)]
    assert 3 <= sum(answers) <= 9


def test_of_5000_boxes_that_touch_it_takes_a_blink(record_property):
    """A block of 17 x 17 x 17 on a floor: it took 1 s, in which a window stands still."""
    builder = ModelBuilder()
    builder.add_body(name="Floor", shape=Box((50, 50, 0.5)), mass=1.0, kind=BodyKind.STATIC, position=(0, 0, -0.5))
    shape = Box((0.5, 0.5, 0.5))
    for place in np.ndindex(17, 17, 17):
        builder.add_body(
            name=str(place), shape=shape, mass=1.0, kind=BodyKind.DYNAMIC, position=np.array(place) + (0, 0, 0.5)
        )
    model, seconds = builder.build(), []
    for _ in range(3):
        start = time.process_time()
        assert not diagnostics.boxes_overlap(model)
        seconds.append(time.process_time() - start)
    record_property("seconds", min(seconds))
    print(f"4,914 boxes that touch: {min(seconds):.3f} s")
    assert min(seconds) < 0.2
