"""Corrections of joints are Newton's: what turns do to torques against differences, and how few steps they need."""

import numpy as np
import pytest

from cairn.solver_core import Axis, BodyKind, Box, Generic, Hinge, ModelBuilder, Point, Simulation, SimulationOptions
from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.constraints.joints.coordinate_geometry import measure_coordinate, measure_side
from cairn.solver_core.dynamics.joints.end_stiffness import add_angle
from cairn.solver_core.geometry import rotations
from cairn.solver_core.model.joints.coordinates import EULER, SWING

STEP = 1e-6
AT = np.array([0.3, -0.2, 0.5])


@kernel
def rate_of(kind, axis, frame_a, frame_b, start, center):
    """What an angle is per turn of b."""
    return measure_coordinate(kind, axis, 0, 0.0, frame_a, frame_b, start, center, center)[4]


@kernel
def side_of(axis, limit, frame_a, frame_b):
    return measure_side(axis, limit, frame_a, frame_b)


@kernel
def change_of(change, kind, axis, on_sphere, torque, frame_a, frame_b):
    add_angle(change, kind, axis, on_sphere, torque, frame_a, frame_b)


def frame(turn):
    return (*AT, *turn)


def turned(turn, way):
    """Turned on by a small rotation vector of the world."""
    return rotations.multiply(rotations.from_rotation_vector(way), turn)


def by_differences(torque_of, turn_a, turn_b):
    """Two matrices: what a torque changes by with turns of a, and of b."""
    matrices = []
    for moves_a in (True, False):
        columns = []
        for axis in np.eye(3):
            ends = []
            for sign in (1.0, -1.0):
                a = turned(turn_a, sign * STEP * axis) if moves_a else turn_a
                b = turn_b if moves_a else turned(turn_b, sign * STEP * axis)
                ends.append(np.array(torque_of(a, b)))
            columns.append((ends[0] - ends[1]) / (2.0 * STEP))
        matrices.append(np.transpose(columns))
    return np.array(matrices)


def drawn(seed, angle):
    rng = np.random.default_rng(seed)
    turn_a = rotations.from_rotation_vector(rng.normal(size=3))
    way = rng.normal(size=3)
    turn_b = rotations.multiply(turn_a, rotations.from_rotation_vector(angle * way / np.linalg.norm(way)))
    return turn_a, turn_b


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("kind", "axis"), [(EULER, 0), (EULER, 1), (EULER, 2), (SWING, 2)])
def test_torque_of_a_free_angle_turns_with_both_bodies(kind, axis, seed):
    """To 1e-7 of differences."""
    turn_a, turn_b = drawn(seed, 0.9)

    def torque_of(a, b):
        return -1.7 * np.array(rate_of(kind, axis, frame(a), frame(b), frame(turn_a), tuple(AT)))

    change = np.zeros(18)
    change_of(change, kind, axis, False, tuple(torque_of(turn_a, turn_b)), frame(turn_a), frame(turn_b))
    assert np.abs(change.reshape(2, 3, 3) - by_differences(torque_of, turn_a, turn_b)).max() < 1e-7


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("axis", [0, 2])
def test_torque_of_a_limit_on_the_sphere_turns_with_both_bodies(axis, seed):
    """At the limit, where it pushes."""
    turn_a, turn_b = drawn(seed, 0.9)

    def beyond(limit):
        return side_of(axis, limit, frame(turn_a), frame(turn_b))[0]

    low, high = -1.5, 1.5
    assert beyond(low) * beyond(high) < 0.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if beyond(low) * beyond(middle) > 0.0 else (low, middle)

    def torque_of(a, b):
        return 0.6 * np.array(side_of(axis, low, frame(a), frame(b))[1])

    change = np.zeros(18)
    change_of(change, EULER, axis, True, tuple(torque_of(turn_a, turn_b)), frame(turn_a), frame(turn_b))
    assert np.abs(change.reshape(2, 3, 3) - by_differences(torque_of, turn_a, turn_b)).max() < 1e-7


def limited(largest):
    """A shoulder: three angles, each within limits."""
    return Generic(linear=(Axis(lower=0.0, upper=0.0),) * 3, angular=(Axis(lower=-largest, upper=largest),) * 3)


@pytest.mark.parametrize("joint", [Point(), Hinge(), limited(0.4)], ids=["point", "hinge", "generic"])
def test_corrections_end_where_forces_and_poses_agree(joint):
    """Eight bars let go level, with a load of fifty bars; substeps end within tolerance, of forces as of openings."""
    builder = ModelBuilder()
    last = builder.add_body(kind=BodyKind.STATIC, shape=Box((0.02, 0.02, 0.02)), position=(0, 0, 0), collision_mask=2)
    lean = rotations.from_rotation_vector(np.array([0.5, 0.2, 0.1]))
    for number in range(8):
        settings = {"mass": 50.0 if number == 7 else 1.0, "collision_mask": 0}
        bar = builder.add_body(shape=Box((0.1, 0.02, 0.03)), position=(0.2 * number + 0.1, 0, 0), **settings)
        builder.add_joint(joint, last, bar, position=(0.2 * number, 0, 0), orientation=lean)
        last = bar
    simulation = Simulation(builder.build(), SimulationOptions(frame_rate=24, sleeping=False))
    errors = []
    for _ in range(30):
        simulation.advance_frame()
        errors.append(simulation._joint_state.error[0])
    assert max(errors) <= 1.0
