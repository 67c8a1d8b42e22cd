"""Bodies of several shapes: masses, frames, and that parts act as one body."""

import numpy as np
import pytest

from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.shapes import Box, ShapeError, Sphere
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.compound import Compound
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation


def box_hull(center, half_extents):
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    return ConvexHull.from_points(np.asarray(center) + corners * half_extents)


def test_a_cut_box_weighs_what_the_whole_one_does():
    """Two halves of a box have its volume, centre and inertia."""
    whole = Box((1.0, 0.5, 0.25), position=(3.0, -2.0, 1.0)).mass_properties()
    halves = Compound([box_hull((2.5, -2.0, 1.0), (0.5, 0.5, 0.25)), Box((0.5, 0.5, 0.25), (3.5, -2.0, 1.0))])
    parts = halves.mass_properties()
    assert parts.volume == pytest.approx(whole.volume, rel=1e-14)
    assert parts.center == pytest.approx(whole.center, rel=1e-14)
    assert parts.inertia == pytest.approx(whole.inertia, rel=1e-13, abs=1e-14)
    assert halves.size == pytest.approx(2.0)


def test_compounds_of_nothing_and_of_compounds_are_refused():
    """Both say what is wrong."""
    with pytest.raises(ShapeError, match="no part"):
        Compound([])
    with pytest.raises(ShapeError, match="give its parts"):
        Compound([Compound([Sphere(1.0)])])


def test_a_table_stands_on_its_legs():
    """A table of five boxes lands on its legs and stays; its parts do not collide with each other."""
    legs = [Box((0.05, 0.05, 0.4), (x, y, 0.4)) for x in (-0.6, 0.6) for y in (-0.4, 0.4)]
    builder = ModelBuilder()
    builder.add_body(shape=Box((5.0, 5.0, 0.0)), kind=BodyKind.STATIC)
    table = builder.add_body(shape=Compound([Box((0.7, 0.5, 0.05), (0.0, 0.0, 0.85)), *legs]), position=(0, 0, 0.02))
    model = builder.build()
    assert list(model.arrays.shapes.body) == [0, 1, 1, 1, 1, 1]
    simulation = Simulation(model, SimulationOptions(method="nncg"))
    for _ in range(24):
        report = simulation.advance_frame()
    position, orientation = simulation.poses()
    assert report.contacts == 16
    assert position[table] == pytest.approx([0, 0, 0], abs=1e-5)
    assert abs(orientation[table][0]) == pytest.approx(1.0, abs=1e-9)
