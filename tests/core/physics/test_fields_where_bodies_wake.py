"""Bodies that wake, or wait, within a substep, in a wind: it is solved anew, and nobody loses what the wind gives."""

import numpy as np
import pytest

from cairn.solver_core import BodyKind, Box, ModelBuilder, Simulation, SimulationOptions, Sphere
from cairn.solver_core.model.activation import Activation
from cairn.solver_core.model.fields import Wind

WIND = 3.0  # [N], on bodies of a kilogram


def played(builder, frames):
    simulation = Simulation(builder.build(), SimulationOptions(frame_rate=24))
    places, speeds, reports = [], [], []
    for _ in range(frames):
        reports.append(simulation.advance_frame())
        places.append(simulation.poses()[0])
        speeds.append(simulation.velocities())
    return np.array(places), np.array(speeds), reports


@pytest.mark.parametrize("sleeps", [False, True])
def test_a_hit_elsewhere_takes_nothing_of_the_wind(sleeps):
    """A ball far above has gained F t / m, whatever a box does to one that sleeps on the floor, or waits there."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -9.81))
    builder.add_body(kind=BodyKind.STATIC, shape=Box((20.0, 20.0, 1.0)), position=(0.0, 0.0, -1.0))
    given = {"starts_asleep": True} if sleeps else {"activation": Activation.touch()}
    lying = builder.add_body(shape=Box((0.5, 0.5, 0.5)), position=(0.0, 0.0, 0.5), friction=1.0, **given)
    falling = builder.add_body(shape=Box((0.5, 0.5, 0.5)), position=(0.2, 0.0, 1.7), friction=1.0)
    flying = builder.add_body(shape=Sphere(0.1), position=(0.0, 9.0, 50.0))
    builder.add_field(Wind(strength=WIND, axis=(1.0, 0.0, 0.0)))
    builder.respond_to_fields(lying, False)
    builder.respond_to_fields(falling, False)
    _, speeds, reports = played(builder, 24)
    assert reports[0].contacts < reports[-1].contacts  # it has been hit
    times = np.arange(1, 25) / 24.0
    assert speeds[:, flying, 0] == pytest.approx(WIND * times, rel=1e-12)


def test_what_waits_stays_in_the_wind_until_it_is_touched():
    """A box flies in a wind at one that waits: that stays where it is, and then the wind moves both."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    coming = builder.add_body(shape=Box((0.5, 0.5, 0.5)))
    waiting = builder.add_body(shape=Box((0.5, 0.5, 0.5)), position=(1.5, 0.0, 0.0), activation=Activation.touch())
    builder.add_field(Wind(strength=WIND, axis=(1.0, 0.0, 0.0)))
    places, speeds, _ = played(builder, 48)
    moves = np.flatnonzero(speeds[:, waiting, 0] > 0.0)
    assert np.all(places[: moves[0], waiting] == (1.5, 0.0, 0.0))
    # the way of half a metre takes sqrt(2 s m / F)
    assert moves[0] / 24.0 < np.sqrt(2.0 * 0.5 / WIND) <= (moves[0] + 1) / 24.0
    together = speeds[moves[0] + 1 :, :, 0].sum(axis=1)
    assert np.diff(together) == pytest.approx(2.0 * WIND / 24.0, rel=1e-9)
    assert np.all(places[moves[0] :, waiting, 0] - places[moves[0] :, coming, 0] >= 1.0 - 1e-6)
