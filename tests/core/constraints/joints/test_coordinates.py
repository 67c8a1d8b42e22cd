"""The coordinates of joints: the Jacobian is the derivative, and impulses keep momentum."""

import numpy as np
import pytest

from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.constraints.joints.coordinate_geometry import (
    measure_coordinate,
    measure_side,
    value_beyond_quarter_turn,
    value_of,
)
from cairn.solver_core.geometry import rotations
from cairn.solver_core.model.joints.coordinates import (
    ALIGN,
    DISTANCE,
    EULER,
    GEAR,
    LINEAR,
    RACK,
    SWING,
    TURN,
    TWIST,
)

KINDS = [
    *((LINEAR, axis, 0) for axis in range(3)),
    *((TURN, axis, 0) for axis in range(3)),
    *((ALIGN, axis, about) for axis in range(3) for about in range(3) if axis != about),
    *((TWIST, axis, 0) for axis in range(3)),
    *((EULER, axis, 0) for axis in range(3)),
    (DISTANCE, 0, 0),
    (SWING, 2, 0),
    (GEAR, 2, 0),
    (RACK, 0, 0),
]
FACTOR = 0.7
STEP = 1e-6


@kernel
def measure(kind, axis, about, factor, frame_a, frame_b, start, center_a, center_b):
    """``measure_coordinate`` for Python."""
    return measure_coordinate(kind, axis, about, factor, frame_a, frame_b, start, center_a, center_b)


class Pair:
    """Two bodies with a joint's frame each, given by their poses."""

    def __init__(self, seed, angle, is_closed):
        rng = np.random.default_rng(seed)
        self.start = np.concatenate([rng.normal(size=3), _unit(rng.normal(size=4))])
        turn = rotations.from_rotation_vector(_unit(rng.normal(size=3)) * angle)
        self.frame_a = self.start.copy()
        self.frame_b = self.start.copy()
        self.frame_b[3:] = rotations.multiply(self.frame_b[3:], turn)
        if not is_closed:
            self.frame_b[:3] += rng.normal(size=3)
        self.center_a, self.center_b = rng.normal(size=(2, 3))

    def measured(self, kind, axis, about):
        """What ``measure_coordinate`` finds."""
        return measure(
            kind,
            axis,
            about,
            FACTOR,
            tuple(self.frame_a),
            tuple(self.frame_b),
            tuple(self.start),
            tuple(self.center_a),
            tuple(self.center_b),
        )

    def row(self, kind, axis, about):
        """Value and Jacobian [12]."""
        numbers, push, share, turn_a, turn_b = self.measured(kind, axis, about)
        value = _value(kind, numbers)
        return value, np.concatenate([-share * np.array(push), turn_a, push, turn_b])

    def moved(self, velocity):
        """The pair after the velocities [12] have acted for STEP."""
        other = object.__new__(Pair)
        other.start = self.start
        other.center_a, other.frame_a = _moved(self.center_a, self.frame_a, STEP * velocity[:6])
        other.center_b, other.frame_b = _moved(self.center_b, self.frame_b, STEP * velocity[6:])
        return other


def _value(kind, numbers):
    if kind == GEAR:
        return numbers[0] + FACTOR * numbers[1]
    return numbers[1] - FACTOR * numbers[0] if kind == RACK else numbers[0]


def _unit(vector):
    return vector / np.linalg.norm(vector)


def _moved(center, frame, motion):
    turn = rotations.from_rotation_vector(motion[3:])
    position = center + motion[:3] + rotations.rotate(turn, frame[:3] - center)
    return center + motion[:3], np.concatenate([position, rotations.multiply(turn, frame[3:])])


@pytest.mark.parametrize(("kind", "axis", "about"), KINDS)
def test_the_row_is_the_derivative_of_the_coordinate(kind, axis, about):
    """Compare J v with the difference quotient; locked turns where they are locked."""
    for seed in range(5):
        # of the first kinds the other coordinates are at their places
        pair = Pair(seed, 0.0 if kind in (TURN, ALIGN) else 0.6, is_closed=False)
        velocity = np.random.default_rng(seed + 100).normal(size=12)
        if kind in (GEAR, RACK):
            # the axes keep their direction, and a rack does not turn
            axis_z = rotations.rotate(pair.start[3:], np.array([0.0, 0.0, 1.0]))
            pair.frame_b[3:] = pair.start[3:]
            velocity[3:6] = 0.8 * axis_z
            velocity[9:] = 0.0 if kind == RACK else -0.3 * axis_z
        before, row = pair.row(kind, axis, about)
        after = pair.moved(velocity).row(kind, axis, about)[0]
        assert (after - before) / STEP == pytest.approx(row @ velocity, abs=1e-4)


@pytest.mark.parametrize(("kind", "axis", "about"), [kind for kind in KINDS if kind[0] not in (GEAR, RACK)])
def test_impulses_keep_momentum_where_the_joint_is_closed(kind, axis, about):
    """Impulses on the two bodies add up to nothing, and so do their moments about any point."""
    pair = Pair(3, 0.4, is_closed=kind != DISTANCE)
    _, row = pair.row(kind, axis, about)
    assert np.abs(row[:3] + row[6:9]).max() < 1e-12
    moment = row[3:6] + row[9:] + np.cross(pair.center_a, row[:3]) + np.cross(pair.center_b, row[6:9])
    assert np.abs(moment).max() < 1e-12


def test_angles_go_beyond_full_turns():
    """A hinge's angle is counted on from the last one."""

    @kernel
    def count(angle, last):
        return value_of(TWIST, 0.0, (angle, 0.0), last)[0]

    assert count(-3.0, np.array([3.1, 0.0])) == pytest.approx(2.0 * np.pi - 3.0)
    assert count(0.5, np.array([4.0 * np.pi + 0.2, 0.0])) == pytest.approx(4.0 * np.pi + 0.5)
    assert count(0.5, np.array([-4.0 * np.pi + 0.2, 0.0])) == pytest.approx(-4.0 * np.pi + 0.5)


@kernel
def angle_beyond(axis, numbers, last):
    """``value_beyond_quarter_turn`` for Python."""
    return value_beyond_quarter_turn(axis, numbers, last)


@pytest.mark.parametrize("second", [-2.8, -1.7, -0.6, 0.4, 1.5, 1.7, 3.0])
def test_eulers_angles_go_on_beyond_a_quarter_turn(second):
    """Rz(c) Ry(b) Rx(a) has the angles that it was made of, and their rates, where the last ones were near them."""
    pair = Pair(3, 0.0, True)
    angles = np.array([0.4, second, -0.3])
    half = 0.5 * angles
    turns = [np.array([np.cos(half[axis]), *(np.sin(half[axis]) * np.eye(3)[axis])]) for axis in range(3)]
    pair.frame_b[3:] = rotations.multiply(
        pair.frame_a[3:], rotations.multiply(turns[2], rotations.multiply(turns[1], turns[0]))
    )
    velocity = np.zeros(12)
    velocity[9:] = [0.3, -0.5, 0.7]
    for axis in range(3):
        last, found = np.array([angles[axis] + 0.3, angles[2] - 0.5]), []
        for moment in (pair.moved(-velocity), pair, pair.moved(velocity)):
            numbers, _, _, _, rate = moment.measured(EULER, axis, 0)
            found.append((*angle_beyond(axis, numbers, last), np.dot(rate, velocity[9:])))
        (before, _, _, _), (angle, third, sheet, rate), (after, _, _, _) = found
        assert sheet == np.sign(np.cos(second))
        sign = sheet if axis == 1 else 1.0
        assert (angle, third) == pytest.approx((angles[axis], angles[2]), abs=1e-12)
        if abs(np.cos(second)) > 0.1:
            assert (after - before) / (2.0 * STEP) == pytest.approx(sign * rate, rel=1e-5)


@kernel
def side(axis, limit, frame_a, frame_b):
    """``measure_side`` for Python."""
    return measure_side(axis, limit, frame_a, frame_b)


@pytest.mark.parametrize("second", [-2.8, -0.5 * np.pi, 0.4, 0.5 * np.pi, 1.7])
@pytest.mark.parametrize("axis", [0, 2])
def test_the_way_beyond_a_limit_on_the_sphere_has_a_rate_also_at_a_quarter_turn(axis, second):
    """It is sin(angle - limit) cos(b), and its rate is the derivative."""
    pair = Pair(4, 0.0, True)
    angles, limit = np.array([0.7, second, -0.4]), 0.25
    half = 0.5 * angles
    turns = [np.array([np.cos(half[k]), *(np.sin(half[k]) * np.eye(3)[k])]) for k in range(3)]
    pair.frame_b[3:] = rotations.multiply(
        pair.frame_a[3:], rotations.multiply(turns[2], rotations.multiply(turns[1], turns[0]))
    )
    velocity = np.zeros(12)
    velocity[3:6], velocity[9:] = [-0.2, 0.6, 0.1], [0.3, -0.5, 0.7]
    moments = pair.moved(-velocity), pair, pair.moved(velocity)
    (before, _), (beyond, rate), (after, _) = (side(axis, limit, one.frame_a, one.frame_b) for one in moments)
    assert beyond == pytest.approx(np.sin(angles[axis] - limit) * np.cos(second), abs=1e-12)
    assert (after - before) / (2.0 * STEP) == pytest.approx(np.dot(rate, velocity[9:] - velocity[3:6]), abs=1e-8)
    assert np.linalg.norm(rate) > 0.5
