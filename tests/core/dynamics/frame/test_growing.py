"""Bodies that grow: their surface lifts, pushes and drags what touches it as a moving body would, and leaves no kick.

A box or hull that grows is a mesh whose vertices move (so does the add-on read it); a round body stays round.
"""

import numpy as np
import pytest
from sample_meshes import box_mesh

from cairn.solver_core.geometry.round_shapes import Capsule, Cone, Cylinder
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.geometry.triangle_mesh import TriangleMesh
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.compound import Compound
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import FrameInput, SimulationOptions
from cairn.solver_core.simulation import Simulation

RATE = 24
SUBSTEP = 1.0 / RATE / 4
GRAVITY = 9.81
CORNERS, TRIANGLES = box_mesh((1.0, 1.0, 0.5), (0.0, 0.0, 0.5))


def block(kind=BodyKind.KINEMATIC):
    """2 m wide, 1 m high, on the ground."""
    return {"shape": TriangleMesh(CORNERS, TRIANGLES), "kind": kind, "friction": 1.0, "name": "Block"}


def start(*bodies, gravity=(0.0, 0.0, -GRAVITY)):
    builder = ModelBuilder(gravity=gravity)
    for body in bodies:
        builder.add_body(**body)
    return Simulation(builder.build(), SimulationOptions(method="nncg", frame_rate=RATE, sleeping=False))


def play(simulation, frames, scale):
    """Advance while the corners of body 0 are scaled by ``scale(time)`` [3].

    Returns
    -------
    positions : float64 [frames + 1, body_count, 3]
    velocities : float64 [frames + 1, body_count, 6]
    deepest : float
        Overlap [m].
    """
    positions, velocities, deepest = [simulation.poses()[0]], [simulation.velocities()], 0.0
    for frame in range(1, frames + 1):
        report = simulation.advance_frame(FrameInput(vertices={0: CORNERS * scale(frame / RATE)}))
        positions.append(simulation.poses()[0])
        velocities.append(simulation.velocities())
        deepest = max(deepest, report.max_penetration)
    return np.array(positions), np.array(velocities), deepest


LOAD = [
    {"shape": Box((0.2, 0.2, 0.2)), "position": (0.5, 0.4, 1.2), "friction": 1.0},
    {"shape": Box((0.3, 0.2, 0.1)), "position": (-0.5, -0.3, 1.1), "friction": 1.0},
    {"shape": Box((0.2, 0.2, 0.2)), "position": (-0.5, -0.3, 1.4), "friction": 1.0},
]


@pytest.mark.parametrize("kind", [BodyKind.KINEMATIC, BodyKind.STATIC])
def test_a_growing_box_lifts_what_stands_on_it(kind):
    """At the speed of its top, 1 m/s; where it stops they fly on as thrown, land and stay: no more, no less energy."""
    simulation = start(block(kind), *LOAD)
    positions, velocities, deepest = play(simulation, 24, lambda time: (1.0, 1.0, 1.0 + time))
    heights = np.array([body["position"][2] for body in LOAD])
    lifted = np.arange(25)[:, None] / RATE
    np.testing.assert_allclose(positions[:, 1:, 2], heights + lifted, atol=2e-5)
    np.testing.assert_allclose(velocities[1:, 1:, 2], 1.0, atol=1e-4)
    np.testing.assert_allclose(positions[-1, 1:, :2], positions[0, 1:, :2], atol=1e-4)
    assert deepest < 2e-5
    positions, velocities, deepest = play(simulation, 24, lambda _: (1.0, 1.0, 2.0))
    # Thrown up at 1 m/s, of which the first substep of flight may take a whole kick of gravity, and down again.
    thrown = positions[:, 1:, 2].max(axis=0) - heights - 1.0
    assert np.all(thrown <= 0.5 / GRAVITY)
    assert np.all(thrown >= 0.5 * (1.0 - GRAVITY * SUBSTEP) ** 2 / GRAVITY)
    np.testing.assert_allclose(positions[-1, 1:, 2], heights + 1.0, atol=2e-5)
    np.testing.assert_allclose(velocities[-1, 1:], 0.0, atol=1e-4)


def test_what_stands_on_a_box_that_slows_down_is_not_thrown():
    """A smooth stop, slower than gravity: they stay on it throughout and rest in the end."""
    simulation = start(block(), *LOAD)
    positions, velocities, deepest = play(
        simulation, 36, lambda time: (1.0, 1.0, 1.0 + np.sin(0.5 * np.pi * min(time, 1.0)) ** 2)
    )
    heights = np.array([body["position"][2] for body in LOAD])
    top = np.sin(0.5 * np.pi * np.minimum(np.arange(37) / RATE, 1.0)) ** 2
    np.testing.assert_allclose(positions[:, 1:, 2] - heights, top[:, None] * np.ones(3), atol=2e-3)
    np.testing.assert_allclose(positions[-1, 1:, 2], heights + 1.0, atol=2e-5)
    np.testing.assert_allclose(velocities[-1, 1:], 0.0, atol=1e-4)
    assert deepest < 2e-5


def test_what_stands_on_a_shrinking_box_follows_it():
    """At half a metre a second down, and at rest where it ends."""
    simulation = start(block(), *LOAD)
    positions, velocities, deepest = play(simulation, 36, lambda time: (1.0, 1.0, 1.0 - 0.5 * min(time, 1.0)))
    heights = np.array([body["position"][2] for body in LOAD])
    sunk = 0.5 * np.minimum(np.arange(37) / RATE, 1.0)
    # At first they fall freely until they are as fast as it: v^2 / 2 g behind.
    assert np.all(positions[:, 1:, 2] >= heights - sunk[:, None] - 2e-5)
    np.testing.assert_allclose(positions[4:, 1:, 2] - heights, -sunk[4:, None] * np.ones(3), atol=2e-3)
    np.testing.assert_allclose(positions[-1, 1:, 2], heights - 0.5, atol=2e-5)
    np.testing.assert_allclose(velocities[-1, 1:], 0.0, atol=1e-4)
    assert deepest < 2e-5


def test_a_growing_wall_pushes_along_the_floor_against_friction():
    """A body before it goes at the wall's speed; where the wall stops it slides on by v^2 / 2 mu g."""
    floor = {"shape": Box((20, 20, 0.5)), "position": (0, 0, -0.5), "kind": BodyKind.STATIC, "friction": 0.5}
    pushed = {"shape": Box((0.3, 0.3, 0.2)), "position": (1.3, 0.1, 0.2), "friction": 1.0}
    simulation = start(block() | {"friction": 0.0}, floor, pushed)
    positions, velocities, deepest = play(simulation, 24, lambda time: (1.0 + time, 1.0, 1.0))
    np.testing.assert_allclose(positions[:, 2, 0], 1.3 + np.arange(25) / RATE, atol=1e-4)
    np.testing.assert_allclose(velocities[1:, 2, 0], 1.0, atol=1e-4)
    assert deepest < 2e-5
    positions, velocities, _ = play(simulation, 24, lambda _: (2.0, 1.0, 1.0))
    slide = 1.0 / (2.0 * 0.5 * GRAVITY)
    assert positions[-1, 2, 0] == pytest.approx(2.3 + slide, rel=0.02)
    np.testing.assert_allclose(velocities[-1, 2], 0.0, atol=1e-4)


def test_a_growing_top_carries_what_stands_off_its_middle_outwards():
    """A point of the top at x moves at x s'/s: a box that stands on it goes as fast as some point below it."""
    simulation = start(block(), {"shape": Box((0.05, 0.05, 0.05)), "position": (0.5, 0.0, 1.05), "friction": 1.0})
    positions, velocities, deepest = play(simulation, 24, lambda time: (1.0 + time, 1.0, 1.0))
    time = np.arange(25) / RATE
    # Friction of 1 takes it to half a metre a second within a twentieth of a second.
    surface = (positions[:, 1, 0] + np.array([[-0.05], [0.05]])) / (1.0 + time)
    assert np.all(velocities[3:, 1, 0] >= surface[0, 3:] - 1e-3)
    assert np.all(velocities[3:, 1, 0] <= surface[1, 3:] + 1e-3)
    assert positions[-1, 1, 0] > 0.9
    assert deepest < 2e-5


@pytest.mark.parametrize("size", [lambda time: 1.0 + time, lambda time: 1.0 - 0.4 * time], ids=["grows", "shrinks"])
def test_what_does_not_drag_pushes_along_its_normal_alone(size):
    """As keyed scale does: the box is lifted with the top, and stays above its place on the ground."""
    box = {"shape": Box((0.05, 0.05, 0.05)), "position": (0.5, 0.2, 1.05), "friction": 1.0}
    simulation = start(block() | {"surface_drags": False}, box)
    positions, _, deepest = play(simulation, 24, lambda time: (size(time), size(time), 1.0 + 0.5 * time))
    np.testing.assert_allclose(positions[:, 1, :2], np.tile((0.5, 0.2), (25, 1)), atol=1e-5)
    np.testing.assert_allclose(positions[:, 1, 2], 1.05 + 0.5 * np.arange(25) / RATE, atol=2e-5)
    assert deepest < 2e-5


def test_a_mesh_that_deforms_carries_a_load_whose_own_surface_would_not_drag():
    """Whether a surface drags is said by the body whose surface moves, not by what lies on it."""
    load = {"shape": Box((0.2, 0.2, 0.2)), "position": (0.3, 0.2, 1.2), "friction": 1.0, "surface_drags": False}
    simulation = start(block(), load)
    for frame in range(1, 25):
        aside = 0.4 * (1.0 - np.cos(2.0 * frame / RATE))
        simulation.advance_frame(FrameInput(vertices={0: CORNERS + (aside, 0.0, 0.0)}))
    np.testing.assert_allclose(simulation.poses()[0][1], (0.3 + aside, 0.2, 1.2), atol=1e-3)


def test_in_small_steps_a_mesh_that_deforms_drags_as_fast_as_it_moves_sideways():
    """Its rise does not bound what it carries: vertices with the rounding of float32 make small steps of it."""
    builder = ModelBuilder()
    builder.add_body(shape=TriangleMesh(CORNERS, TRIANGLES), kind=BodyKind.STATIC, friction=1.0)
    builder.add_body(shape=Box((0.2, 0.2, 0.2)), position=(0.0, 0.0, 1.2), friction=1.0)
    simulation, in_small_steps = Simulation(builder.build(), SimulationOptions(frame_rate=RATE)), 0
    for frame in range(1, 25):
        way = np.array((0.4, 0.0, 0.1)) * (1.0 - np.cos(2.0 * frame / RATE))
        vertices = (CORNERS + way).astype(np.float32)
        in_small_steps += simulation.advance_frame(FrameInput(vertices={0: vertices})).in_small_steps
    assert in_small_steps > 0
    np.testing.assert_allclose(simulation.poses()[0][1] - way, (0.0, 0.0, 1.2), atol=2e-3)


def test_a_round_body_that_does_not_drag():
    """Its side pushes outwards, and takes nothing up with its skin."""
    cylinder = {"shape": Cylinder(1.0, 1.0, position=(0, 0, 1.0)), "kind": BodyKind.STATIC, "friction": 1.0}
    box = {"shape": Box((0.1, 0.1, 0.1)), "position": (1.1, 0, 1.0), "friction": 1.0, "linear_velocity": (-0.5, 0, 0)}
    simulation = start(cylinder | {"surface_drags": False}, box, gravity=(0, 0, 0))
    _, velocities, _ = grow(
        simulation, 6, lambda time: Cylinder(1.0 + 0.5 * time, 1.0 + time, position=(0, 0, 1.0 + time))
    )
    assert velocities[-1, 1, 0] == pytest.approx(0.5, abs=0.1)
    assert np.abs(velocities[-1, 1, 1:3]).max() < 1e-6


# A body on three feet: loads under them are unique, where those under four corners are not.
FOOT = 0.05
FEET = np.array([(0.2, 0.0), (-0.1, 0.15), (-0.1, -0.15)])


def slide_on_feet(place, velocity, friction, growth, seconds, steps=4000):
    """Newton's and Coulomb's laws for the body on its feet, by Euler's method: loads by balance of moments.

    A point of the top at x moves at x s'/s. The centre is a foot's radius over the top. Returns place [2] and turn.
    """
    place, velocity, angle, spin, h = np.array(place), np.array(velocity), 0.0, 0.0, seconds / steps
    inertia = (FEET**2).sum() / 3.0 + 0.4 * FOOT**2
    for step in range(steps):
        arms = FEET @ [(np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))]
        slip = velocity + spin * arms[:, ::-1] * (-1.0, 1.0) - (place + arms) * growth / (1.0 + growth * step * h)
        drag = -friction * slip / np.sqrt((slip**2).sum(axis=1, keepdims=True) + 1e-8)
        loads = np.linalg.solve(np.vstack([np.ones(3), (arms + FOOT * drag).T]), (GRAVITY, 0.0, 0.0))
        force = loads[:, None] * drag
        velocity = velocity + h * force.sum(axis=0)
        spin += h * (arms[:, 0] @ force[:, 1] - arms[:, 1] @ force[:, 0]) / inertia
        place, angle = place + h * velocity, angle + h * spin
    return place, angle


@pytest.mark.parametrize("growth", [(1.0, 0.0), (1.0, 1.0)])
@pytest.mark.parametrize(
    ("place", "velocity"), [((-0.6, 0.0), (2.0, 0.0)), ((-0.6, 0.4), (2.0, 0.0)), ((-0.6, 0.4), (1.5, 0.5))]
)
def test_what_slides_on_a_growing_top_drifts_and_turns_as_the_top_drags_it(place, velocity, growth):
    """Beside an integration of its own; along the middle of what is symmetric it neither drifts nor turns."""
    tripod = Compound([Sphere(FOOT, position=(x, y, 0.0)) for x, y in FEET])
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY))
    builder.add_body(**block() | {"friction": 0.5})
    builder.add_body(shape=tripod, position=(*place, 1.0 + FOOT), linear_velocity=(*velocity, 0.0), friction=1.0)
    options = SimulationOptions(method="nncg", frame_rate=RATE, substeps=16, sleeping=False)
    simulation = Simulation(builder.build(), options)
    play(simulation, 20, lambda time: (1.0 + growth[0] * time, 1.0 + growth[1] * time, 1.0))
    (_, position), (_, orientation) = simulation.poses()
    expected, turn = slide_on_feet(place, velocity, 0.5, np.array(growth), 20 / RATE)
    np.testing.assert_allclose(position[:2], expected, atol=1e-3)
    assert 2.0 * np.arctan2(orientation[3], orientation[0]) == pytest.approx(turn, abs=5e-4)
    if place[1] == 0.0 == velocity[1]:
        assert abs(position[1]) < 1e-6
        assert abs(orientation[3]) < 1e-6


def test_a_ball_between_a_growing_box_and_a_wall_is_squeezed_out_without_a_kick():
    """Above it is free: the box's edge pushes it up and away, never faster than some times the edge itself."""
    wall = {"shape": Box((0.5, 5, 5)), "position": (2.3, 0, 0), "kind": BodyKind.STATIC, "friction": 0.0}
    ball = {"shape": Sphere(0.4), "position": (1.4, 0.0, 1.3), "friction": 0.0}
    simulation = start(block() | {"friction": 0.0}, wall, ball)
    positions, velocities, _ = play(simulation, 24, lambda time: (1.0 + 0.5 * min(time, 1.0), 1.0, 1.0))
    assert np.all(np.isfinite(positions))
    assert np.abs(velocities[:, 2, :3]).max() < 3.0


# ---- round shapes


FLOOR = {"shape": Box((20, 20, 0.5)), "position": (0, 0, -0.5), "kind": BodyKind.STATIC, "friction": 0.5}


def grow(simulation, frames, shape_at):
    """Advance while the shape of body 0 is ``shape_at(time)``; returns as ``play``."""
    positions, velocities, deepest = [simulation.poses()[0]], [simulation.velocities()], 0.0
    for frame in range(1, frames + 1):
        report = simulation.advance_frame(FrameInput(shapes={0: shape_at(frame / RATE)}))
        positions.append(simulation.poses()[0])
        velocities.append(simulation.velocities())
        deepest = max(deepest, report.max_penetration)
    return np.array(positions), np.array(velocities), deepest


ROUND = {
    "sphere": lambda s: Sphere(0.5 * s, position=(0, 0, 0.5 * s)),
    "capsule": lambda s: Capsule(0.25 * s, 0.25 * s, position=(0, 0, 0.5 * s)),
    "cylinder": lambda s: Cylinder(0.5 * s, 0.5 * s, position=(0, 0, 0.5 * s)),
    "cone upside down": lambda s: Cone(0.5 * s, 0.5 * s, position=(0, 0, 0.5 * s), orientation=(0.0, 1.0, 0.0, 0.0)),
}


@pytest.mark.parametrize("make", ROUND.values(), ids=list(ROUND))
def test_a_growing_round_body_lifts_what_lies_on_it(make):
    """Its top goes up at the sum of all rates, 1 m/s, and a plate that is balanced on it with it; then down again."""
    plate = {"shape": Box((0.4, 0.4, 0.05)), "position": (0, 0, 1.05), "friction": 1.0}
    simulation = start({"shape": make(1.0), "kind": BodyKind.STATIC, "friction": 1.0}, plate)
    positions, velocities, deepest = grow(simulation, 24, lambda time: make(1.0 + time))
    np.testing.assert_allclose(positions[:, 1, 2], 1.05 + np.arange(25) / RATE, atol=2e-5)
    np.testing.assert_allclose(velocities[1:, 1], np.array([(0, 0, 1, 0, 0, 0)] * 24), atol=1e-4)
    assert deepest < 2e-5
    positions, velocities, _ = grow(simulation, 24, lambda time: make(2.0 - 0.5 * time))
    # It flies up at 1 m/s first, and comes down on what has sunk meanwhile.
    assert positions[:, 1, 2].max() <= 2.05 + 0.5 / GRAVITY
    np.testing.assert_allclose(positions[-6:, 1, 2], 2.05 - 0.5 * np.arange(19, 25) / RATE, atol=1e-3)


def test_a_growing_cylinder_drags_along_with_its_skin():
    """Its side comes at r', and goes up at z h'/h: a box that flies against it is taken up by friction."""
    cylinder = {"shape": Cylinder(1.0, 1.0, position=(0, 0, 1.0)), "kind": BodyKind.STATIC, "friction": 1.0}
    box = {"shape": Box((0.1, 0.1, 0.1)), "position": (1.1, 0, 1.0), "friction": 1.0, "linear_velocity": (-0.5, 0, 0)}
    simulation = start(cylinder, box, gravity=(0, 0, 0))
    positions, velocities, _ = grow(
        simulation, 6, lambda time: Cylinder(1.0 + 0.5 * time, 1.0 + time, position=(0, 0, 1.0 + time))
    )
    # The push is 1 m/s times the mass, and the skin's slip 1 m/s: friction of 1 can take it up to that speed.
    assert velocities[-1, 1, 0] == pytest.approx(0.5, abs=0.1)
    assert 0.3 < velocities[-1, 1, 2] < 1.1
    assert positions[-1, 1, 0] > 1.1 + 0.5 * 6 / RATE - 1e-3


def test_a_growing_ball_pushes_along_the_floor_and_leaves_no_kick():
    """A block before it goes at the speed of its side, and stops by friction where the ball stops."""
    ball = {"shape": Sphere(0.5, position=(0, 0, 0.3)), "kind": BodyKind.KINEMATIC, "friction": 0.0}
    pushed = {"shape": Box((0.4, 0.4, 0.3)), "position": (0.9, 0, 0.3), "friction": 1.0}
    simulation = start(ball, FLOOR, pushed)
    positions, velocities, deepest = grow(simulation, 12, lambda time: Sphere(0.5 + 0.5 * time, position=(0, 0, 0.3)))
    np.testing.assert_allclose(positions[:, 2, 0], 0.9 + 0.5 * np.arange(13) / RATE, atol=2e-4)
    assert deepest < 2e-5
    positions, velocities, _ = grow(simulation, 12, lambda _: Sphere(0.75, position=(0, 0, 0.3)))
    slide = 0.5**2 / (2.0 * 0.5 * GRAVITY)
    assert positions[-1, 2, 0] == pytest.approx(1.15 + slide, abs=0.15 * slide)
    np.testing.assert_allclose(velocities[-1, 2], 0.0, atol=1e-4)


def test_a_ball_that_grows_fast_passes_nothing():
    """From 1 cm to 1 m in a frame, 24 m/s: a box beside it is pushed off, not swallowed."""
    box = {"shape": Box((0.05, 0.05, 0.05)), "position": (0.3, 0.02, 0.01), "friction": 0.0}
    simulation = start({"shape": Sphere(0.01), "kind": BodyKind.STATIC, "friction": 0.0}, box, gravity=(0, 0, 0))
    positions, velocities, _ = grow(simulation, 1, lambda _: Sphere(1.0))
    assert np.linalg.norm(positions[-1, 1]) >= 1.05 - 0.06
    assert np.linalg.norm(velocities[-1, 1, :3]) == pytest.approx(0.99 * RATE, rel=0.02)


def test_growth_wakes_what_sleeps_on_it():
    """A plate asleep on a can's top rises with it later."""
    builder = ModelBuilder()
    builder.add_body(shape=Cylinder(0.5, 0.5, position=(0, 0, 0.5)), kind=BodyKind.STATIC, friction=1.0)
    builder.add_body(shape=Box((0.2, 0.2, 0.1)), position=(0, 0, 1.1), friction=1.0)
    run = Simulation(builder.build(), SimulationOptions(method="nncg", sleeping=True))
    for _ in range(72):
        report = run.advance_frame()
    assert report.sleeping == 1
    grow(run, 12, lambda time: Cylinder(0.5, 0.5 + 0.25 * time, position=(0, 0, 0.5 + 0.25 * time)))
    assert run.poses()[0][1, 2] == pytest.approx(1.1 + 0.25, abs=1e-3)


def test_a_resumed_growth_gives_the_same_bits():
    """Checkpoint and restore in the middle of a growth."""
    plate = {"shape": Box((0.4, 0.4, 0.05)), "position": (0.1, 0, 1.05), "friction": 1.0}
    make = ROUND["sphere"]
    simulation = start({"shape": make(1.0), "kind": BodyKind.STATIC, "friction": 1.0}, plate)
    grow(simulation, 5, lambda time: make(1.0 + time))
    checkpoint = simulation.checkpoint()
    grow(simulation, 5, lambda time: make(1.2 + time))
    digest = simulation.digest()
    simulation.restore(checkpoint)
    grow(simulation, 5, lambda time: make(1.2 + time))
    assert simulation.digest() == digest


def test_wrong_shapes_are_refused():
    """Another kind, turned, of a dynamic body, of a box: each named."""
    simulation = start(
        {"shape": Cylinder(0.5, 0.5), "kind": BodyKind.STATIC, "name": "Can"},
        {"shape": Sphere(0.5), "position": (0, 0, 5), "name": "Ball"},
        {"shape": Box((1, 1, 1)), "position": (5, 0, 0), "kind": BodyKind.STATIC, "name": "Box"},
    )
    for given, message in (
        ({0: Sphere(1.0)}, "Can is another one"),
        ({0: Cylinder(0.5, 0.5, orientation=(1, 0.5, 0, 0))}, "Can is another one, or turned"),
        ({1: Sphere(1.0)}, "Ball, which is dynamic"),
        ({2: Box((2, 2, 2))}, "Box, whose own is not one"),
    ):
        with pytest.raises(ValueError, match=message):
            simulation.advance_frame(FrameInput(shapes=given))


# ---- compounds


def post(s):
    """A block's corners and a ball before it, from 0 up, all s times as large: a compound's parts."""
    return CORNERS * 0.5 * s, Sphere(0.25 * s, position=(1.5 * s, 0.3 * s, 0.25 * s))


def play_post(simulation, frames, scale):
    """Advance while body 0, made of ``post``, has the size ``scale(time)``; returns as ``play``."""
    positions, velocities, deepest = [simulation.poses()[0]], [simulation.velocities()], 0.0
    for frame in range(1, frames + 1):
        corners, ball = post(scale(frame / RATE))
        report = simulation.advance_frame(FrameInput(vertices={(0, 0): corners}, shapes={(0, 1): ball}))
        positions.append(simulation.poses()[0])
        velocities.append(simulation.velocities())
        deepest = max(deepest, report.max_penetration)
    return np.array(positions), np.array(velocities), deepest


@pytest.mark.parametrize("kind", [BodyKind.KINEMATIC, BodyKind.STATIC])
def test_a_growing_compound_lifts_and_pushes_with_every_part(kind):
    """Half a metre a second up at the block's top and at the ball's; the ball goes outwards, too, with a plate on it.

    The plate has the speed of the ball's top from the start: it is balanced there. The parts lie turned in the body
    frame, whose axes are the principal ones.
    """
    corners, ball = post(1.0)
    compound = Compound([TriangleMesh(corners, TRIANGLES), ball])
    simulation = start(
        {"shape": compound, "kind": kind, "friction": 1.0},
        {"shape": Box((0.2, 0.2, 0.2)), "position": (0.1, 0.05, 0.7), "friction": 1.0},
        {"shape": Box((0.2, 0.2, 0.05)), "position": (1.5, 0.3, 0.55), "friction": 1.0}
        | {"linear_velocity": (1.5, 0.3, 0.5)},
    )
    assert abs(simulation.model.frame_orientation[0, 0]) < 1.0 - 1e-6
    positions, velocities, deepest = play_post(simulation, 24, lambda time: 1.0 + time)
    time = np.arange(25)[:, None] / RATE
    np.testing.assert_allclose(positions[:, 1:, 2], np.array([0.7, 0.55]) + 0.5 * time, atol=2e-5)
    np.testing.assert_allclose(velocities[1:, 1, 2], 0.5, atol=1e-4)
    np.testing.assert_allclose(positions[:, 2, :2], np.array([1.5, 0.3]) * (1.0 + time), atol=2e-5)
    np.testing.assert_allclose(velocities[1:, 2], np.tile([1.5, 0.3, 0.5, 0, 0, 0], (24, 1)), atol=1e-4)
    assert deepest < 2e-5


def test_wrong_parts_are_refused():
    """A part that is not there, one that is no mesh or does not grow, and a compound without the part's number."""
    corners, ball = post(1.0)
    shape = Compound([TriangleMesh(corners, TRIANGLES), ball])
    simulation = start({"shape": shape, "kind": BodyKind.STATIC, "name": "Post"})
    for given, message in (
        (FrameInput(vertices={(0, 1): corners}), "part 1 of Post, whose shape is not one mesh"),
        (FrameInput(vertices={0: corners}), "Post, whose shape is not one mesh"),
        (FrameInput(shapes={(0, 0): ball}), "part 0 of Post, whose own is not one that can grow"),
        (FrameInput(shapes={(0, 2): ball}), "part 2 of Post, whose own is not one that can grow"),
        (FrameInput(shapes={(0, -1): ball}), "part -1 of Post"),
        (FrameInput(shapes={(0, 1): Capsule(0.5, 0.5)}), "part 1 of Post is another one"),
    ):
        with pytest.raises(ValueError, match=message):
            simulation.advance_frame(given)
