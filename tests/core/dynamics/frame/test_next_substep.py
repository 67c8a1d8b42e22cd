"""What the next substep begins with is what the step itself begins it with, and to ask for it changes nothing."""

import numpy as np

from cairn.solver_core.dynamics.schedule import stage_table
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.scenes import pile
from cairn.solver_core.scenes.stacks import stack
from cairn.solver_core.simulation import Simulation


def test_the_problem_is_the_one_that_the_step_solves():
    """Of a stack at rest, whose rows one pass finds and no velocity solve changes: the same rows, to the bit."""
    simulation = Simulation(stack(3).build_model(), SimulationOptions(substeps=1, method="nncg", sleeping=False))
    for _ in range(24):
        simulation.advance_frame()
    problem = simulation.contact_problem()
    simulation.advance_frame()
    blocks, rows = problem.rows.count
    solved = simulation._problem.rows
    assert list(solved.count) == [blocks, rows] == [12, 36]
    assert np.array_equal(problem.rows.body_a[:blocks], solved.body_a[:blocks])
    for name in ("jacobian", "response", "diagonal", "bias", "friction"):
        assert np.array_equal(getattr(problem.rows, name)[:rows], getattr(solved, name)[:rows]), name
    assert np.array_equal(problem.free_velocity, simulation._motion.free_velocity)


def test_to_ask_for_the_problem_changes_nothing():
    """Of a heap in the middle of its fall, with buffers that have to grow: the same motion to the bit."""
    model = pile(30).build_model()
    asked, other = Simulation(model), Simulation(model)
    for _ in range(8):
        assert asked.contact_problem().rows.count[0] >= 0
        asked.advance_frame()
        other.advance_frame()
    assert asked.digest() == other.digest()


def test_a_sleeping_body_that_is_about_to_be_hit_is_in_the_problem():
    """The substep would wake it; it sleeps on after the question."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    builder.add_body(shape=Box((9.0, 9.0, 0.5)), position=(0, 0, -0.5), kind=BodyKind.STATIC)
    asleep = builder.add_body(shape=Box((0.5, 0.5, 0.5)), position=(0, 0, 0.5), starts_asleep=True)
    ball = builder.add_body(shape=Sphere(0.2), position=(-1.0, 0, 0.7), linear_velocity=(40.0, 0, 0))
    simulation = Simulation(builder.build())
    assert simulation.sleeping[asleep]
    rows = simulation.contact_problem().rows
    bodies = set(zip(rows.body_a[: rows.count[0]].tolist(), rows.body_b[: rows.count[0]].tolist(), strict=True))
    assert {(0, asleep), (asleep, ball)} <= bodies
    assert simulation.sleeping[asleep]


def test_a_stage_is_where_its_name_is():
    """The numbers of stages and of what they call are the places of their names."""
    for place, stage in enumerate(stage_table.TABLE):
        assert getattr(stage_table, stage.name.upper()) == place
    assert len({stage.name for stage in stage_table.TABLE}) == len(stage_table.TABLE)
