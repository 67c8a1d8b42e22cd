"""Joints of the same two bodies have one axis where theirs are nearly the same."""

import numpy as np
import pytest

from cairn.solver_core import Axis, BodyKind, Box, Fixed, Hinge, ModelBuilder, Piston, Point, Slider
from cairn.solver_core.geometry import rotations

Z = np.array([0.0, 0.0, 1.0])


def turned(axis, angle):
    axis = np.asarray(axis, float)
    return rotations.from_rotation_vector(axis / np.linalg.norm(axis) * angle)


def built(joints, second=None):
    """A model of a door of 2 m, with joints given as (joint, position, orientation) at the world or another body."""
    builder = ModelBuilder()
    door = builder.add_body(shape=Box((0.5, 0.05, 1.0)), mass=20.0, position=(0.5, 0.0, 0.0))
    other = None if second is None else builder.add_body(shape=Box((0.1, 0.1, 1.0)), kind=second, position=(-0.2, 0, 0))
    for joint, position, orientation in joints:
        builder.add_joint(
            joint, *([door] if other is None else [other, door]), position=position, orientation=orientation
        )
    return builder.build()


def frames(model):
    """Origins and z axes of the joints in the world, as body a carries them."""
    joints, state = model.arrays.joints, model.initial_state
    turn = state.orientation[joints.body_a]
    origins = state.position[joints.body_a] + rotations.rotate(turn, joints.position_a)
    return origins, rotations.multiply(turn, joints.orientation_a)


@pytest.mark.parametrize("second", [None, BodyKind.STATIC, BodyKind.DYNAMIC, BodyKind.KINEMATIC])
@pytest.mark.parametrize("seed", range(4))
def test_hinges_of_one_door_are_on_one_line(seed, second):
    """Also where they look the other way, and only by as much as they are off."""
    random = np.random.default_rng(seed)
    given = [
        (Hinge(), z * Z + random.uniform(-3e-3, 3e-3, 3), rotations.multiply(turned(random.normal(size=3), 3e-3), base))
        for z, base in ((-0.8, np.array([1.0, 0, 0, 0])), (0.0, turned((1, 0, 0), np.pi)), (0.8, turned((0, 1, 0), 0)))
    ]
    origins, turns = frames(built(given, second))
    axes = rotations.rotate(turns, np.tile(Z, (3, 1)))
    line = origins[2] - origins[0]
    line /= np.linalg.norm(line)
    assert np.abs(np.cross(axes, line)).max() < 1e-14
    assert np.abs(np.cross(origins - origins[1], line)).max() < 1e-14
    assert axes @ line == pytest.approx([1.0, -1.0, 1.0])
    for origin, turn, (_, position, orientation) in zip(origins, turns, given, strict=True):
        assert np.linalg.norm(origin - position) < 1e-2
        assert (
            np.linalg.norm(rotations.to_rotation_vector(rotations.multiply(turn, rotations.conjugate(orientation))))
            < 1e-2
        )


def test_a_point_on_a_hinges_axis_comes_onto_it():
    """As a bearing at the other end of a shaft; a fixed joint and a point far off are as they were."""
    plain = np.array([1.0, 0, 0, 0])
    given = [
        (Hinge(), -0.8 * Z, plain),
        (Point(), 0.8 * Z + (3e-3, 0, 0), plain),
        (Fixed(), np.array([1.0, 0, 0]), plain),
    ]
    origins, _ = frames(built(given))
    assert abs(origins[0, 0] - origins[1, 0]) < 1e-2
    assert np.array_equal(origins[2], [1.0, 0, 0])
    far = [(Hinge(), -0.8 * Z, plain), (Point(), 0.8 * Z + (0.1, 0, 0), plain)]
    origins, _ = frames(built(far))
    assert origins == pytest.approx(np.array([far[0][1], far[1][1]]), abs=1e-15)


def test_what_is_meant_to_be_off_stays():
    """Hinges with axes 2 degrees apart are a lock that somebody wants."""
    given = [(Hinge(), -0.8 * Z, np.array([1.0, 0, 0, 0])), (Hinge(), 0.8 * Z, turned((1, 0, 0), np.radians(2)))]
    _, turns = frames(built(given))
    assert rotations.to_rotation_vector(turns[1])[0] == pytest.approx(np.radians(2), abs=1e-14)


@pytest.mark.parametrize("joint", [Slider(), Piston()])
def test_sliders_and_pistons_run_along_one_direction(joint):
    """Of sliders the places do not matter: they hold every turn."""
    random = np.random.default_rng(5)
    given = [(joint, (0.3 * place, 0.0, 0.0), turned(random.normal(size=3), 3e-3)) for place in (-1, 1)]
    origins, turns = frames(built(given))
    axes = rotations.rotate(turns, np.tile([1.0, 0, 0], (2, 1)))
    assert np.abs(np.cross(*axes)).max() < 1e-15
    assert np.linalg.norm(origins - [position for _, position, _ in given], axis=1).max() < 3e-3
    if isinstance(joint, Slider):
        assert origins == pytest.approx(np.array([position for _, position, _ in given]), abs=1e-15)


def test_joints_of_other_bodies_are_left_alone():
    """A chain's hinges are not one door's."""
    builder = ModelBuilder()
    bodies = [builder.add_body(shape=Box((0.5, 0.05, 0.05)), position=(place, 0, 0)) for place in range(3)]
    tilts = [turned((1, 0, 0), 1e-3 * place) for place in range(2)]
    for place in range(2):
        builder.add_joint(
            Hinge(Axis()), bodies[place], bodies[place + 1], position=(place + 0.5, 0, 0), orientation=tilts[place]
        )
    _, turns = frames(builder.build())
    assert turns == pytest.approx(np.array(tilts), abs=1e-15)
