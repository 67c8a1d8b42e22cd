"""Meshes that deform: bodies are carried, lifted and pushed by the surface as by a body that moves the same way."""

import numpy as np
import pytest
from sample_meshes import grid_mesh

from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.geometry.triangle_mesh import TriangleMesh
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import FrameInput, SimulationOptions
from cairn.solver_core.simulation import Simulation

VERTICES, TRIANGLES = grid_mesh(9, 6.0, rng=np.random.default_rng(1))
BOX = {"shape": Box((0.3, 0.3, 0.2)), "position": (0.1, 0.2, 0.2), "friction": 1.0}


def simulation(mesh_kind, *bodies):
    builder = ModelBuilder()
    builder.add_body(shape=TriangleMesh(VERTICES, TRIANGLES), kind=mesh_kind, friction=1.0, name="Sheet")
    for body in bodies:
        builder.add_body(**body)
    return Simulation(builder.build(), SimulationOptions(method="nncg"))


@pytest.mark.parametrize("direction", [(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.4, 0.3, 0.5)])
def test_a_mesh_whose_vertices_all_move_alike_is_one_that_moves(direction):
    """A box on it goes the same way as on a kinematic mesh: along, up, and when it stops."""
    ends = []
    for kind in (BodyKind.STATIC, BodyKind.KINEMATIC):
        run = simulation(kind, BOX)
        for frame in range(1, 37):
            shift = 0.5 * np.sin(0.5 * np.pi * min(frame / 24.0, 1.0)) ** 2 * np.array(direction)
            position = np.array([shift, np.zeros(3)])
            orientation = np.tile([1.0, 0.0, 0.0, 0.0], (2, 1))
            run.advance_frame(
                FrameInput(vertices={0: VERTICES + shift})
                if kind == BodyKind.STATIC
                else FrameInput(position=position, orientation=orientation)
            )
        ends.append(run.poses()[0][1])
    np.testing.assert_allclose(ends[0], ends[1], atol=2e-6)
    np.testing.assert_allclose(ends[0], np.array(BOX["position"]) + 0.5 * np.array(direction), atol=5e-3)


def test_a_slope_that_rises_under_a_ball_makes_it_roll():
    """A sheet tilted about its middle, vertex by vertex, to 20 degrees: 5/7 g sin a from then on, within 1 %."""
    run = simulation(BodyKind.STATIC, {"shape": Sphere(0.2), "position": (0.0, 0.0, 0.2), "friction": 1.0})
    tilt = np.radians(20.0)
    for frame in range(1, 41):
        angle = tilt * min(frame / 12.0, 1.0)
        turned = VERTICES * (np.cos(angle), 1.0, 1.0) + VERTICES[:, :1] * (0.0, 0.0, -np.sin(angle))
        run.advance_frame(FrameInput(vertices={0: turned} if frame <= 12 else None))
        if frame == 16:
            start, time = run.velocities()[1, :3], frame / 24.0
    gained = np.linalg.norm(run.velocities()[1, :3] - start) / (40 / 24.0 - time)
    np.testing.assert_allclose(gained, 5.0 / 7.0 * 9.81 * np.sin(tilt), rtol=0.01)


def test_a_wave_throws_up_what_lies_on_it_and_nothing_falls_through():
    """A bump that runs through the sheet lifts boxes and balls; all stay above the surface."""
    spots = [(x, y) for x in (-1.2, 0.0, 1.2) for y in (-0.8, 0.8)]
    bodies = [
        {"shape": Sphere(0.15) if place % 2 else Box((0.15, 0.15, 0.1)), "position": (x, y, 0.16)}
        for place, (x, y) in enumerate(spots)
    ]
    run = simulation(BodyKind.STATIC, *bodies)
    highest = 0.0
    for frame in range(1, 73):
        lifted = VERTICES + np.outer(0.4 * np.exp(-((VERTICES[:, 0] + 3.0 - 0.1 * frame) ** 2)), (0.0, 0.0, 1.0))
        run.advance_frame(FrameInput(vertices={0: lifted}))
        positions = run.poses()[0][1:]
        highest = max(highest, positions[:, 2].max())
        inside = np.abs(positions[:, :2]).max(axis=1) < 2.8
        surface = 0.4 * np.exp(-((positions[:, 0] + 3.0 - 0.1 * frame) ** 2))
        assert np.all(positions[inside, 2] > surface[inside] - 0.02)
    assert highest > 0.45


def test_a_box_asleep_wakes_when_the_mesh_below_moves():
    """With sleeping on it falls asleep on the sheet, and rises with it later."""
    builder = ModelBuilder()
    builder.add_body(shape=TriangleMesh(VERTICES, TRIANGLES), kind=BodyKind.STATIC)
    builder.add_body(**BOX)
    run = Simulation(builder.build(), SimulationOptions(method="nncg", sleeping=True))
    for _ in range(72):
        report = run.advance_frame()
    assert report.sleeping == 1
    for frame in range(1, 13):
        run.advance_frame(FrameInput(vertices={0: VERTICES + (0.0, 0.0, 0.02 * frame)}))
    np.testing.assert_allclose(run.poses()[0][1, 2], 0.44, atol=1e-3)


def test_wrong_vertices_are_refused():
    """A wrong number, NaN, a body that has no mesh: each named."""
    run = simulation(BodyKind.STATIC, BOX)
    with pytest.raises(ValueError, match="Sheet have the shape"):
        run.advance_frame(FrameInput(vertices={0: VERTICES[:5]}))
    with pytest.raises(ValueError, match="Sheet hold NaN"):
        run.advance_frame(FrameInput(vertices={0: np.full_like(VERTICES, np.nan)}))
    with pytest.raises(ValueError, match="not one mesh"):
        run.advance_frame(FrameInput(vertices={1: VERTICES}))
