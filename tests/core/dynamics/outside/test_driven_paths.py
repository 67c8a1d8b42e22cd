"""Driven bodies, meshes and round shapes on cubic paths: they are where the cubic is, with its velocity at the end.

What lies on them feels the acceleration of the path, in each substep its share.
"""

import numpy as np
import pytest
from sample_meshes import box_mesh

from cairn.solver_core.dynamics.outside.driven_paths import aim_on_paths, allocate_paths, lay_paths
from cairn.solver_core.geometry import rotations
from cairn.solver_core.geometry.round_shapes import Cylinder
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.geometry.triangle_mesh import TriangleMesh
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.model.state import DYNAMIC, KINEMATIC
from cairn.solver_core.options import FrameInput, SimulationOptions
from cairn.solver_core.simulation import Simulation

RATE = 24
CORNERS, TRIANGLES = box_mesh((1.0, 1.0, 0.5), (0.0, 0.0, -0.5))


def follow(present, target, velocity, duration, substeps, offset=(0.0, 0.0, 0.0)):
    """Let one body follow its path, and another one of the same poses none, by the velocities that are given to it.

    Returns
    -------
    list of (float64 [3], float64 [4])
        Poses of the first at the ends of the substeps.
    float64 [2, 6]
        Mean velocities of both.
    DrivenPaths
    """
    kind, paths = np.array([KINEMATIC, DYNAMIC]), allocate_paths(2)
    present = tuple(np.array([part, part], float) for part in present)
    target = tuple(np.array([part, part], float) for part in target)
    given = np.repeat(np.array(velocity, float)[:, None], 2, axis=1)
    mean = np.zeros((2, 6))
    assert lay_paths(kind, np.array([offset, offset]), present, target, given, duration, mean, paths)
    position, orientation = present[0].copy(), present[1].copy()
    speeds, poses, h = np.zeros((2, 6)), [], duration / substeps
    for substep in range(substeps):
        aim_on_paths(paths, (substep + 1) / substeps, substep / substeps, position, orientation, speeds, h)
        position += h * speeds[:, :3]
        turns = rotations.from_rotation_vector(h * speeds[:, 3:])
        orientation = rotations.multiply(turns, orientation)
        poses.append((position[0].copy(), orientation[0].copy()))
    assert not speeds[1].any()
    return poses, mean, paths


def about(axis, angle):
    axis = np.array(axis, float) / np.linalg.norm(axis)
    return np.concatenate([[np.cos(0.5 * angle)], np.sin(0.5 * angle) * axis])


def same_turn(one, other):
    return abs(np.dot(one, other)) == pytest.approx(1.0, abs=1e-13)


def test_a_path_that_is_a_cubic_is_kept_to_the_last_digit():
    rng = np.random.default_rng(1)
    a, b, c, d = rng.normal(size=(4, 3))

    def at(time):
        return a + time * (b + time * (c + time * d))

    still = np.zeros(3)
    velocity = np.concatenate([b, still]), np.concatenate([b + 0.4 * c + 0.12 * d, still])
    turn = (1.0, 0.0, 0.0, 0.0)
    poses, mean, paths = follow((at(0.0), turn), (at(0.2), turn), velocity, 0.2, 5)
    for step, (position, orientation) in enumerate(poses, start=1):
        assert position == pytest.approx(at(0.04 * step), abs=1e-14)
        assert same_turn(orientation, turn)
    assert mean[0, :3] == pytest.approx((at(0.2) - at(0.0)) / 0.2)
    assert paths.end_velocity[0] == pytest.approx(velocity[1])


@pytest.mark.parametrize("turns", [0.1, 0.49, 0.51, 0.9, 1.0, 1.5, 3.0, -0.7, -1.0, -2.25])
@pytest.mark.parametrize("substeps", [1, 4])
def test_the_velocities_say_how_far_a_body_turns(turns, substeps):
    """A steady turn by any angle, also by whole turns, which the poses do not tell."""
    axis, start = np.array([0.6, 0.0, 0.8]), about((1, 2, 3), 0.7)
    angle, duration = 2.0 * np.pi * turns, 0.05
    velocity = np.concatenate([np.zeros(3), angle / duration * axis])
    end = rotations.multiply(about(axis, angle), start)
    poses, mean, _ = follow((np.zeros(3), start), (np.zeros(3), end), (velocity, velocity), duration, substeps)
    assert mean[0] == pytest.approx(velocity, abs=1e-9)
    for step, (_, orientation) in enumerate(poses, start=1):
        assert same_turn(orientation, rotations.multiply(about(axis, angle * step / substeps), start))


def test_the_axis_of_a_fast_turn_may_swing_meanwhile():
    """The pose at the end is met though it is no turn about the mean axis."""
    start, axis = about((1, 0, 0), 0.3), np.array([0.0, 0.0, 1.0])
    end = rotations.multiply(about((0, 1, 0), 0.05), rotations.multiply(about(axis, 2.2 * np.pi), start))
    velocity = np.concatenate([np.zeros(3), 2.2 * np.pi / 0.1 * axis])
    poses, _, _ = follow((np.zeros(3), start), (np.zeros(3), end), (velocity, velocity), 0.1, 8)
    assert same_turn(poses[-1][1], end)


def test_a_swing_about_a_point_keeps_the_distance():
    """The user frame is the pivot, the body frame lies elsewhere: a turn that speeds up goes along the circle."""
    offset = np.array([-2.0, 0.0, 0.0])  # of the pivot in the body frame
    duration, first, last = 1.0 / RATE, 4.0, 4.4
    angle = 0.5 * (first + last) * duration
    turn = about((0, 0, 1), angle)
    velocity = [np.array([0.0, 0.0, 0.0, 0.0, 0.0, speed]) for speed in (first, last)]
    identity = np.array([1.0, 0.0, 0.0, 0.0])
    ends = (-offset, identity), (-rotations.rotate(turn, offset), turn)
    poses, _, paths = follow(*ends, velocity, duration, 4, offset)
    for step, (position, orientation) in enumerate(poses, start=1):
        time = 0.25 * step * duration
        expected = first * time + 0.5 * (last - first) / duration * time**2
        assert same_turn(orientation, about((0, 0, 1), expected))
        # Hermite's error: the fourth derivative, 2,900 m/s^4, times T^4 / 384
        assert position == pytest.approx(rotations.rotate(orientation, -offset), abs=2.3e-5)
    assert paths.end_velocity[0, :3] == pytest.approx(np.cross((0, 0, last), poses[-1][0]))


def carry(seconds, drive, platform, load, **options):
    """The load's largest way on the platform, as ``drive(simulation, frame)`` says where that is after each frame."""
    builder = ModelBuilder()
    builder.add_body(**platform, friction=0.8)
    builder.add_body(**load, friction=0.8)
    simulation = Simulation(builder.build(), SimulationOptions(frame_rate=RATE, **options))
    start, farthest = simulation.poses()[0][1], 0.0
    for frame in range(1, round(RATE * seconds) + 1):
        way = drive(simulation, frame)
        farthest = max(farthest, np.abs(simulation.poses()[0][1] - start - way).max())
    return farthest


def elevator(time):
    """A sine sideways and down, and its velocity: at most 4.7 m/s^2 down, and 1.8 sideways where friction bears 3.2."""
    rate = 2.0 * np.pi / 3.0
    way = np.array([0.4, 0.0, -1.08]) * (1.0 - np.cos(rate * time))
    return way, np.array([0.4, 0.0, -1.08]) * rate * np.sin(rate * time)


LOAD = {"shape": Box((0.4, 0.4, 0.4)), "position": (0.5, 0.0, 0.4)}
# Substeps a frame and quality.
STEPS = [(1, "production"), (4, "production"), (4, "exact"), (16, "production")]


@pytest.mark.parametrize(("substeps", "quality"), STEPS)
def test_a_platform_that_moves_like_a_sine_keeps_its_load(substeps, quality):
    def drive(simulation, frame):
        (way, now), (_, before) = elevator(frame / RATE), elevator((frame - 1) / RATE)
        position, orientation = simulation.poses()
        position[0] = (0.0, 0.0, -0.2) + way
        velocity = np.zeros((2, 2, 6))
        velocity[0, 0, :3], velocity[1, 0, :3] = before, now
        simulation.advance_frame(FrameInput(position=position, orientation=orientation, velocity=velocity))
        np.testing.assert_allclose(simulation.velocities()[0, :3], now, atol=1e-12)
        return way

    platform = {"shape": Box((3.0, 3.0, 0.2)), "kind": BodyKind.KINEMATIC, "position": (0.0, 0.0, -0.2)}
    assert carry(6.0, drive, platform, LOAD, substeps=substeps, quality=quality) < 1e-3


def test_a_mesh_that_deforms_smoothly_keeps_its_load():
    def drive(simulation, frame):
        (way, now), (_, before) = elevator(frame / RATE), elevator((frame - 1) / RATE)
        velocities = np.array([np.broadcast_to(before, CORNERS.shape), np.broadcast_to(now, CORNERS.shape)])
        simulation.advance_frame(FrameInput(vertices={0: CORNERS + way}, vertex_velocities={0: velocities}))
        return way

    platform = {"shape": TriangleMesh(CORNERS, TRIANGLES), "kind": BodyKind.STATIC}
    assert carry(6.0, drive, platform, LOAD) < 1e-3


def test_a_drum_that_grows_smoothly_lifts_its_load_as_it_grows():
    """Its height is a sine; at constant rates the load would be left by millimetres."""

    def drive(simulation, frame):
        (way, now), (_, before) = elevator(frame / RATE), elevator((frame - 1) / RATE)
        half = 2.0 + 0.5 * way[2]
        rates = np.array([[0.0, 0.5 * speed[2], 0.0, 0.0, 0.5 * speed[2]] for speed in (before, now)])
        shape = Cylinder(2.0, half, position=(0.0, 0.0, half - 4.0))
        simulation.advance_frame(FrameInput(shapes={0: shape}, shape_rates={0: rates}))
        return np.array([0.0, 0.0, way[2]])

    drum = {"shape": Cylinder(2.0, 2.0, position=(0.0, 0.0, -2.0)), "kind": BodyKind.STATIC}
    assert carry(6.0, drive, drum, LOAD) < 1e-3


def test_a_body_that_is_let_go_has_the_velocity_of_the_frames_end():
    """Thrown by an arm that speeds up: the parabola from its velocity at that moment, not from the last chord's."""
    builder = ModelBuilder()
    builder.add_body(shape=Sphere(0.1), kind=BodyKind.KINEMATIC)
    model = builder.build()
    simulation = Simulation(model, SimulationOptions(frame_rate=RATE))
    for frame in range(1, 13):
        velocity = np.zeros((2, 1, 6))
        velocity[:, 0, 0] = 2.0 * 9.0 * np.array([frame - 1, frame]) / RATE
        place = np.array([[9.0 * (frame / RATE) ** 2, 0.0, 0.0]])
        simulation.advance_frame(
            FrameInput(position=place, orientation=np.array([[1.0, 0.0, 0.0, 0.0]]), velocity=velocity)
        )
    kind = np.array([BodyKind.DYNAMIC])
    for _ in range(12):
        simulation.advance_frame(FrameInput(kind=kind))
    thrown = simulation.poses()[0][0] - place[0]
    assert thrown == pytest.approx((9.0 * 0.5, 0.0, -0.5 * 9.81 * 0.25), rel=1e-9)


def test_frames_in_steps_and_at_once_are_the_same_bits_on_paths():
    digests = []
    for in_steps in (False, True):
        builder = ModelBuilder()
        builder.add_body(shape=Box((3.0, 3.0, 0.2)), kind=BodyKind.KINEMATIC, position=(0.0, 0.0, -0.2))
        builder.add_body(**LOAD)
        simulation = Simulation(builder.build(), SimulationOptions(frame_rate=RATE))
        for frame in range(1, 10):
            (way, now), (_, before) = elevator(frame / RATE), elevator((frame - 1) / RATE)
            velocity = np.zeros((2, 2, 6))
            velocity[0, 0, :3], velocity[1, 0, :3] = before, now
            position, orientation = simulation.poses()
            position[0] = (0.0, 0.0, -0.2) + way
            given = FrameInput(position=position, orientation=orientation, velocity=velocity)
            if in_steps:
                simulation._seconds = 1.0  # as if the frame before had taken long
                assert len(list(simulation.frame_steps(given))) == 3
            else:
                simulation.advance_frame(given)
        digests.append(simulation.digest())
    assert digests[0] == digests[1]


def test_rates_of_a_wrong_shape_are_refused_by_name():
    builder = ModelBuilder()
    builder.add_body(name="Belt", shape=TriangleMesh(CORNERS, TRIANGLES), kind=BodyKind.KINEMATIC)
    simulation = Simulation(builder.build(), SimulationOptions(frame_rate=RATE))
    with pytest.raises(ValueError, match=r"rates of Belt have the shape \(2, 3\)"):
        simulation.advance_frame(FrameInput(vertices={0: CORNERS}, vertex_velocities={0: np.zeros((2, 3))}))
    position, orientation = simulation.poses()
    with pytest.raises(ValueError, match="velocity has the shape"):
        simulation.advance_frame(FrameInput(position=position, orientation=orientation, velocity=np.zeros((1, 6))))
