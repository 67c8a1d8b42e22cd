"""A screw in a nut, both in convex parts: it can go down only by turning, by its pitch for each turn."""

import numpy as np
import pytest
from concave_meshes import threaded

from cairn.solver_core.geometry.decomposition import Decomposition, DecompositionSettings, coacd_version, hulls_of_parts
from cairn.solver_core.geometry.solid_meshes import solid_mesh
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.compound import Compound
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation

pytestmark = [pytest.mark.one_python, pytest.mark.skipif(coacd_version() is None, reason="CoACD is not installed")]

PITCH = 0.8
GRAVITY = 9.81
# Six sides a turn, of which the thread takes two; the nut's groove is wider by one on either side and 0.2 deeper. So
# few, and parts that fill hollows by up to 5 %, make two turns of screw and one of nut in some fifteen seconds.
THREAD = np.array([0, 0, 0, 1, 1, 0])
GROOVE = np.array([0, 0, 1, 1, 1, 1])
ROOT, HEIGHT, PLAY = 0.35, 0.3, 0.2
# The play lets it hang so much higher or lower, and lean.
AXIAL_PLAY = 0.08


def in_parts(mesh) -> Compound:
    """A mesh in convex parts, with its own mass properties."""
    solid = solid_mesh(*mesh)
    decomposition, center, size = Decomposition.of(solid.vertices, solid.triangles, DecompositionSettings())
    return Compound(hulls_of_parts(decomposition.run(), center, size), solid.properties)


def test_a_screw_sinks_through_a_nut_by_its_pitch():
    """Without friction, by its own weight: its depth follows its turn within the play, and no energy comes from it."""
    screw = in_parts(threaded(ROOT + HEIGHT * THREAD, PITCH, rows=12))
    nut = in_parts(threaded(ROOT + PLAY + HEIGHT * GROOVE, PITCH, rows=6, shell=1.2))
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY))
    builder.add_body(shape=nut, kind=BodyKind.STATIC, friction=0.0)
    builder.add_body(shape=screw, friction=0.0)
    simulation = Simulation(builder.build(), SimulationOptions(method="nncg"))
    turned, before, turns, depths, energies = 0.0, 0.0, [], [], []
    for _ in range(60):
        report = simulation.advance_frame()
        energies.append(report.kinetic_energy + report.potential_energy)
        position, orientation = simulation.poses()
        now = 2.0 * np.arctan2(orientation[1, 3], orientation[1, 0])
        turned += (now - before + np.pi) % (2.0 * np.pi) - np.pi
        before = now
        turns.append(turned)
        depths.append(position[1, 2])
        # Upright, nearly, and within the nut: the play grows along its length.
        assert 1.0 - 2.0 * (orientation[1, 1] ** 2 + orientation[1, 2] ** 2) > 0.99
        assert np.linalg.norm(position[1, :2]) <= 2.0 * PLAY
        assert report.max_penetration < 0.01
    turns, depths = np.array(turns), np.array(depths)
    # First it falls until the threads touch.
    lag = depths[12:] - PITCH * turns[12:] / (2.0 * np.pi)
    assert np.ptp(lag) <= AXIAL_PLAY
    assert turns[-1] < -np.pi
    assert np.diff(energies).max() <= 1e-6 * GRAVITY * screw.size
