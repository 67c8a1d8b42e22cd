"""Energy never grows, where nothing drives: every method and every model of friction, to 1e-6 of the start's.

Compiling a step with a method takes most of a minute, so only some methods are tested each time, and all at night.
"""

import math

import numpy as np
import pytest
from nightly import at_night

from cairn.solver_core import diagnostics
from cairn.solver_core.geometry.shapes import Box
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.scenes import pile
from cairn.solver_core.scenes.spinning import tops
from cairn.solver_core.simulation import Simulation
from cairn.solver_core.solvers.registry import METHODS, find_method

PAIRS = [(method, friction) for method in METHODS for friction in find_method(method).frictions]
# Share of the start's energy.
SLACK = 1e-6


def bouncing_boxes(count=20, restitution=0.8):
    """Boxes turned at random fall onto each other and a floor, and bounce."""
    rng = np.random.default_rng(1)
    builder = ModelBuilder()
    builder.add_body(shape=Box((20.0, 20.0, 0.0)), kind=BodyKind.STATIC, friction=0.7, restitution=1.0)
    for number in range(count):
        builder.add_body(
            shape=Box(tuple(rng.uniform(0.3, 0.5, 3))),
            mass=rng.uniform(0.5, 3.0),
            position=(1.3 * (number % 2), 1.3 * (number // 2 % 2), 1.0 + 1.3 * (number // 4)),
            orientation=rng.normal(size=4),
            angular_velocity=2.0 * rng.normal(size=3),
            friction=0.7,
            restitution=math.sqrt(restitution),
        )
    return builder.build()


SCENES = {
    "heap": (lambda: pile(20).build_model(), 48),
    "bouncing": (bouncing_boxes, 48),
    "tops": (lambda: tops().build_model(), 24),
}


def energies(model, frames, **options):
    """Energy at the start and after every frame [J]."""
    simulation = Simulation(model, SimulationOptions(**options))
    start = diagnostics.kinetic_energy(model, model.initial_state)
    start += diagnostics.potential_energy(model, model.initial_state, model.gravity)
    reports = [simulation.advance_frame() for _ in range(frames)]
    return np.array([start, *(report.kinetic_energy + report.potential_energy for report in reports)])


def runs_each_time(method, friction) -> bool:
    """Others at night: nncg with every model of friction is in test_impacts; auto's polygon has a kernel of its own."""
    return method in ("auto", "pgs") and (method, friction) != ("auto", "polyhedral")


@pytest.mark.parametrize(("method", "friction"), [pair if runs_each_time(*pair) else at_night(*pair) for pair in PAIRS])
@pytest.mark.parametrize("name", SCENES)
def test_energy_never_grows(name, method, friction):
    """It grows in no frame by more than 1e-6 of the start's, and falls where bodies hit or slide."""
    make, frames = SCENES[name]
    path = energies(make(), frames, method=method, friction=friction)
    assert np.diff(path).max() <= SLACK * path[0]
    assert path.max() <= (1.0 + SLACK) * path[0]
    assert path[-1] < path[0]
