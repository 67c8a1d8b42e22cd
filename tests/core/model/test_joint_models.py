"""Joints as the caller describes them: what is refused, and what they become."""

import math

import numpy as np
import pytest

from cairn.solver_core import ModelBuilder, ModelError
from cairn.solver_core.geometry.shapes import Box
from cairn.solver_core.model.joints.axis import FREE, LOCKED, Axis, Motor, Spring
from cairn.solver_core.model.joints.cone_twist import ConeTwist
from cairn.solver_core.model.joints.coordinates import ALIGN, EULER, TURN, TWIST
from cairn.solver_core.model.joints.gear import Gear
from cairn.solver_core.model.joints.generic import Generic
from cairn.solver_core.model.joints.hinge import Hinge
from cairn.solver_core.model.joints.point import Point
from cairn.solver_core.model.joints.rope import Rope
from cairn.solver_core.options import FrameInput
from cairn.solver_core.simulation import Simulation

HERE = (0.0, 0.0, 0.0)


def two_boxes():
    """Two boxes side by side."""
    builder = ModelBuilder()
    for place in range(2):
        builder.add_body(shape=Box((0.1, 0.1, 0.1)), position=(place, 0.0, 0.0), name=f"box {place}")
    return builder


@pytest.mark.parametrize(
    ("joint", "ends", "options", "message"),
    [
        (Point(), (0, 0), {}, "hook: both ends are box 0; they must be different bodies"),
        (Point(), (0, 7), {}, "hook: there is no body 7; there are 2"),
        (Point(), (-1, 0), {}, "hook: there is no body -1; there are 2"),
        (Gear(2.0), (0,), {}, "hook: one end is the world; a Gear joins two bodies"),
        ("hinge", (0, 1), {}, "hook: the joint is 'hinge'; it must be a joint's type"),
        (Point(), (0, 1), {"position": (0.0, math.nan, 0.0)}, "hook: position is"),
        (Point(), (0, 1), {"orientation": (0.0, 0.0, 0.0, 0.0)}, "hook: orientation is zero"),
        (Point(), (0, 1), {"anchor_b": (0.0, 1.0)}, "hook: anchor_b is"),
        (Point(), (0, 1), {"breaking_force": -1.0}, "hook: breaking force is -1; it must be finite and at least 0"),
    ],
)
def test_a_joint_that_cannot_be_is_refused_by_name(joint, ends, options, message):
    """The message names the joint, the value and what it may be."""
    with pytest.raises(ModelError) as error:
        two_boxes().add_joint(joint, *ends, **{"position": HERE, "name": "hook", **options})
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Spring(stiffness=-1.0), "spring stiffness is -1; it must be finite and at least 0"),
        (lambda: Spring(stiffness=1.0, damping=math.inf), "spring damping is inf"),
        (lambda: Motor(velocity=math.nan), "motor velocity is nan"),
        (lambda: Motor(largest=-2.0), "largest force of the motor is -2"),
        (lambda: Axis(lower=math.nan), "lower limit is nan"),
        (lambda: Axis(friction=-1.0), "friction is -1"),
        (lambda: Axis(lower=math.inf, upper=math.inf), "both limits are inf"),
        (lambda: Hinge("free"), "axis is 'free'; it must be an Axis"),
        (lambda: Generic(linear=(FREE, FREE)), "linear has 2 axes; it must have three"),
        (lambda: Rope(0.0), "length is 0; it must be finite and above 0"),
        (lambda: ConeTwist(swing=-0.1), "swing is -0.1; it must be at least 0"),
        (lambda: Gear(math.inf), "ratio is inf"),
    ],
)
def test_an_axis_that_cannot_be_is_refused(make, message):
    """The message names the value and what it may be."""
    with pytest.raises(ModelError) as error:
        make()
    assert str(error.value).startswith(message)


def test_turns_get_coordinates_without_a_singularity_where_there_are_some():
    """Three locked turns are a rotation vector, two and a free one a hinge; else they are Euler's angles."""
    for angular, kinds in (
        ((LOCKED, LOCKED, LOCKED), [TURN, TURN, TURN]),
        ((LOCKED, FREE, LOCKED), [ALIGN, ALIGN, TWIST]),
        ((LOCKED, FREE, FREE), [EULER, EULER, EULER]),
        ((LOCKED, Axis(lower=0.3, upper=0.3), LOCKED), [ALIGN, ALIGN, TWIST]),
    ):
        coordinates = Generic(angular=angular).coordinates()[3:]
        assert [coordinate.kind for coordinate in coordinates] == kinds


def test_a_range_with_its_lower_limit_above_its_upper_one_is_free():
    """As Blender has it."""
    builder = two_boxes()
    builder.add_joint(Hinge(Axis(lower=1.0, upper=-1.0)), 0, 1, position=HERE)
    assert builder.build().arrays.joints.row_count == 5


def test_joined_bodies_do_not_collide_unless_they_are_to():
    """The pair is excluded as long as the joint holds; a pair that is excluded anyway stays so."""
    for collide, expected in ((False, [1]), (True, [])):
        builder = two_boxes()
        builder.add_joint(Point(), 1, 0, position=HERE, collide=collide)
        assert builder.build().arrays.excluded_pairs.tolist() == expected
    builder.exclude_pair(0, 1)
    builder.add_joint(Point(), 0, 1, position=HERE)
    model = builder.build()
    assert model.arrays.excluded_pairs.tolist() == [1]
    assert model.arrays.joints.excluded_key.tolist() == [-1, -1]
    assert model.joint_names == ("joint 0", "joint 1")


@pytest.mark.parametrize(
    ("frame_input", "message"),
    [
        (FrameInput(joint_enabled=np.array([True, False])), "joint_enabled has the shape"),
        (FrameInput(motor_velocity=np.zeros((1, 3))), "motor_velocity has the shape"),
        (FrameInput(motor_position=np.full((1, 6), np.inf)), "motor_position holds infinity"),
    ],
)
def test_inputs_for_joints_are_checked(frame_input, message):
    """A wrong shape or infinity is refused before anything is done."""
    builder = two_boxes()
    builder.add_joint(Point(), 0, 1, position=HERE)
    with pytest.raises(ValueError, match=message):
        Simulation(builder.build()).advance_frame(frame_input)
