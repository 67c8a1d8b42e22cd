"""What lies under the mouse: against closed forms of boxes and balls, in poses that are not those of the start."""

import numpy as np
import pytest

from cairn.addon.sight.picking import picked
from cairn.addon.sight.shape_surfaces import surface_of
from cairn.solver_core import Box, ModelBuilder, Sphere


@pytest.fixture(scope="module")
def model():
    """A floor, and a box before a ball, whose origins are not at their centres."""
    builder = ModelBuilder()
    builder.add_body(shape=Box((10.0, 10.0, 0.5)), kind=0, position=(0.0, 0.0, -0.5), name="Floor")
    builder.add_body(shape=Box((0.5, 0.5, 0.5)), mass=1.0, position=(0.0, 0.0, 2.0), name="Box")
    builder.add_body(shape=Sphere(0.5), mass=1.0, position=(3.0, 0.0, 2.0), name="Ball")
    return builder.build()


def poses(model):
    """The start, but the box is turned by 45 degrees about z."""
    position, orientation = model.user_poses(model.initial_state.position, model.initial_state.orientation)
    turn = 0.125 * np.pi
    orientation[1] = np.cos(turn), 0.0, 0.0, np.sin(turn)
    return position, orientation


def test_the_nearest_one_is_picked_where_its_surface_is(model):
    """From the left the box's edge is met at sqrt(2) / 2 before its centre."""
    found = picked(model, surface_of(model), poses(model), (-5.0, 0.0, 2.1), (2.0, 0.0, 0.0))
    assert found.body == 1
    assert found.place == pytest.approx((-np.sqrt(0.5), 0.0, 2.1), abs=1e-6)
    # in the turned frame that edge is at (-1/2, 1/2)
    assert found.point == pytest.approx((-0.5, 0.5, 0.1), abs=1e-6)


def test_behind_it_from_the_other_side_is_the_ball(model):
    found = picked(model, surface_of(model), poses(model), (9.0, 0.05, 2.03), (-1.0, 0.0, 0.0))
    assert found.body == 2
    # the ball is drawn with some sides, within it
    assert 0.45 < np.linalg.norm(found.point) <= 0.5 + 1e-6


@pytest.mark.parametrize(
    ("origin", "direction"),
    [
        ((-5.0, 0.0, 3.0), (1.0, 0.0, 0.0)),  # over both
        ((0.0, 0.0, 8.0), (0.0, 1.0, -0.1)),  # past them
        ((5.0, 5.0, 8.0), (0.0, 0.0, -1.0)),  # only the floor, through which one sees
        ((-5.0, 0.0, 2.1), (-1.0, 0.0, 0.0)),  # behind the eye
    ],
)
def test_where_there_is_nothing_nothing_is_picked(model, origin, direction):
    assert picked(model, surface_of(model), poses(model), origin, direction) is None


def test_through_the_floor_what_lies_behind_it_is_picked(model):
    assert picked(model, surface_of(model), poses(model), (0.1, 0.1, -9.0), (0.0, 0.0, 1.0)).body == 1


def test_a_model_of_a_floor_alone(model):
    builder = ModelBuilder()
    builder.add_body(shape=Box((1.0, 1.0, 1.0)), kind=0)
    only = builder.build()
    start = only.user_poses(only.initial_state.position, only.initial_state.orientation)
    assert picked(only, surface_of(only), start, (0.0, 0.0, 5.0), (0.0, 0.0, -1.0)) is None
