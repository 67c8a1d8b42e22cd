"""Fast capsules, cylinders, cones and coins: nothing that misses is deflected.

At 100 m/s, 24 frames a second and 4 substeps a bullet of 2 cm goes a metre, fifty times its size, in a substep. Whether
it misses is known from support functions: some plane along its way has the target on one side and its way on the other.
"""

import numpy as np
import pytest
from reference_collision import about, rotation
from reference_round import highest

from cairn.solver_core.model import BodyKind, ModelBuilder
from cairn.solver_core.round_shapes import Capsule, Cone, Cylinder
from cairn.solver_core.shapes import Box, ConvexHull, Sphere
from cairn.solver_core.simulation import Simulation, SimulationOptions

FRAME = 1.0 / 24.0
SPEED = 100.0

BULLETS = {
    "capsule": Capsule(0.01, 0.015),
    "cylinder": Cylinder(0.01, 0.015),
    "cone": Cone(0.01, 0.015),
    "coin": Cylinder(0.012, 0.0005),
}
TARGETS = {
    "box": Box((0.3, 0.2, 0.25)),
    "plate": Box((0.3, 0.3, 0.0005)),
    "hull": ConvexHull.from_points(0.3 * np.random.default_rng(4).normal(size=(14, 3))),
    "ball": Sphere(0.3),
    "rod": Capsule(0.01, 0.4),
    "cylinder": Cylinder(0.2, 0.2),
    "cone": Cone(0.2, 0.2),
}
bullets = pytest.mark.parametrize("bullet", BULLETS.values(), ids=list(BULLETS))


def unit(rng, size=3):
    vector = rng.normal(size=size)
    return vector / np.linalg.norm(vector)


def across(rng, direction):
    """A random unit vector at right angles to another."""
    vector = np.cross(direction, unit(rng))
    return vector / np.linalg.norm(vector)


def support(shape, turn, direction) -> float:
    """How far a turned shape reaches along a direction from its user frame's origin [m]."""
    return highest(shape, (rotation(turn).T @ direction)[None])[0]


def start(*bodies, **options):
    builder = ModelBuilder(gravity=(0, 0, 0))
    for body in bodies:
        builder.add_body(**body)
    return Simulation(builder.build(), SimulationOptions(method="nncg", friction="box", **options))


def energy(simulation) -> float:
    """Kinetic [J]."""
    moments = simulation.model.arrays.inertia
    turned = np.array(
        [rotation(q).T @ v[3:] for q, v in zip(simulation.state.orientation, simulation.state.velocity, strict=True)]
    )
    linear = simulation.model.arrays.mass * (simulation.state.velocity[:, :3] ** 2).sum(axis=1)
    return 0.5 * (linear + (moments * turned**2).sum(axis=1))[simulation.state.kind == BodyKind.DYNAMIC].sum()


# ---- what misses


@bullets
@pytest.mark.parametrize("target", TARGETS.values(), ids=list(TARGETS))
def test_one_that_misses_flies_on(bullet, target):
    """By 3 % of the sizes and more, past targets that stand and that fly themselves: the free way, to rounding."""
    rng = np.random.default_rng(5)
    for trial in range(12):
        moves = trial % 2 == 1
        direction, turn, target_turn = unit(rng), unit(rng, 4), unit(rng, 4)
        aside = across(rng, direction)
        reach = support(target, target_turn, aside) + support(bullet, turn, -aside)
        size = bullet.size + (target.size if moves else 0.0)
        first = (reach + rng.uniform(0.03, 0.2) * size) * aside - rng.uniform(0.8, 2.2) * direction
        drift = 3.0 * unit(rng) if moves else np.zeros(3)
        drift -= drift @ aside * aside
        bullet_body = {
            "shape": bullet,
            "position": first,
            "orientation": turn,
            "linear_velocity": SPEED * direction + drift,
        }
        target_body = {
            "shape": target,
            "orientation": target_turn,
            "linear_velocity": drift,
            "kind": BodyKind.DYNAMIC if moves else BodyKind.STATIC,
        }
        simulation = start(target_body, bullet_body)
        before = simulation.velocities()
        simulation.advance_frame()
        simulation.advance_frame()
        np.testing.assert_array_equal(simulation.velocities(), before)
        expected = first + 2 * FRAME * bullet_body["linear_velocity"]
        np.testing.assert_allclose(simulation.poses()[0][1], expected, atol=1e-11)


@bullets
def test_one_that_tumbles_past_flies_on(bullet):
    """Spinning at 300 rad/s, past a post by the ball that holds it: spin and way stay."""
    rng = np.random.default_rng(6)
    radius = bullet.bounding_radius + np.abs(bullet.mass_properties().center).max()
    for _ in range(12):
        direction, turn = unit(rng), unit(rng, 4)
        aside = across(rng, direction)
        post = {"shape": Cylinder(0.1, 0.3), "orientation": unit(rng, 4), "kind": BodyKind.STATIC}
        reach = support(post["shape"], post["orientation"], aside) + radius
        first = 1.03 * reach * aside - rng.uniform(0.8, 2.2) * direction
        simulation = start(
            post,
            {
                "shape": bullet,
                "position": first,
                "orientation": turn,
                "linear_velocity": SPEED * direction,
                "angular_velocity": 300.0 * unit(rng),
            },
        )
        before, had = simulation.velocities()[1, :3], energy(simulation)
        center = simulation.state.position[1].copy()
        simulation.advance_frame()
        simulation.advance_frame()
        np.testing.assert_array_equal(simulation.velocities()[1, :3], before)
        np.testing.assert_allclose(simulation.state.position[1], center + 2 * FRAME * before, atol=1e-11)
        # Between its bounds the energy of a free spin is the splitting's, to 1e-6 of it.
        assert energy(simulation) == pytest.approx(had, rel=1e-6)


# ---- what hits


def test_a_coin_that_is_led_along_the_floor_does_not_pass_a_wall_on_it():
    """It comes down at 45 degrees; its way ends below the floor, before the wall, but the floor leads it there."""
    for distance in (0.1, 0.3, 0.6):
        floor = {"shape": Box((3, 3, 0.05)), "position": (0, 0, -0.05), "kind": BodyKind.STATIC}
        wall = {"shape": Cylinder(0.2, 0.005), "position": (distance, 0, 0.2), "kind": BodyKind.STATIC}
        wall["orientation"] = about((0, 1, 0), np.pi / 2)
        coin = {
            "shape": Cylinder(0.012, 0.0005),
            "position": (-0.05, 0.0, 0.06),
            "linear_velocity": (70.7, 0, -70.7),
            "friction": 0.0,
        }
        simulation = start(floor, wall, coin)
        for _ in range(2):
            simulation.advance_frame()
            assert simulation.poses()[0][2, 0] <= distance - 0.005 - 0.0119, distance
            assert simulation.poses()[0][2, 2] >= 0.0004
