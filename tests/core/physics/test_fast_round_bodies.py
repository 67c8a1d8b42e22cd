"""Fast capsules, cylinders, cones and coins: nothing that hits passes, what misses is not deflected.

At 100 m/s, 24 frames a second and 4 substeps a bullet of 2 cm goes a metre, fifty times its size, in a substep. Whether
it misses is known from support functions: some plane along its way has the target on one side and its way on the other.
"""

import numpy as np
import pytest
from reference_collision import about, rotation
from reference_round import highest
from sample_meshes import box_mesh, grid_mesh, joined

from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.round_shapes import Capsule, Cone, Cylinder
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.geometry.triangle_mesh import TriangleMesh
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation

FRAME = 1.0 / 24.0
SUBSTEP = FRAME / SimulationOptions().substeps
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
THIN = {
    "wall": Box((0.005, 1, 1)),
    "hull": ConvexHull.from_points(ConvexHull.from_box((0.005, 1, 1)).vertices),
    "plate of 1 mm": Box((0.0005, 1, 1)),
    "sheet": Box((0, 1, 1)),
    "disc": Cylinder(1.0, 0.005, orientation=about((0, 1, 0), np.pi / 2)),
    "pipe": Cylinder(0.03, 1.0),
    "rod": Capsule(0.02, 1.0),
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
    poses = zip(simulation.state.orientation, simulation.state.velocity, strict=True)
    turned = np.array([rotation(turn).T @ velocity[3:] for turn, velocity in poses])
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
    radius = np.hypot(0.0, bullet.bounding_radius) + np.abs(bullet.mass_properties().center).max()
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


@bullets
@pytest.mark.parametrize("wall", [name for name in THIN if name not in ("pipe", "rod")])
@pytest.mark.parametrize("spin", [0.0, 40.0])
def test_one_that_hits_a_wall_does_not_pass(wall, bullet, spin):
    """At up to 57 degrees, from any distance: its centre never gets behind, and what led it there is gone.

    One that slides over the wall's edge in the substep after the hit keeps what leads it down onto the wall until then.
    """
    for simulation, direction, had in shots(THIN[wall], bullet, spin):
        most = 0.01 * SPEED * direction[0]
        thickness = THIN[wall].bounding_box()[1][0]
        for _ in range(3):
            simulation.advance_frame()
            assert energy(simulation) <= had * (1 + 1e-6)
            if np.abs(simulation.state.position[1, 1:]).max() < 0.95:
                assert simulation.state.position[1, 0] < thickness
        if np.abs(simulation.state.position[1, 1:]).max() > 1.0:
            most = max(most, bullet.bounding_radius / SUBSTEP)
        assert simulation.velocities()[1, 0] < most


@bullets
@pytest.mark.parametrize("post", ["pipe", "rod"])
@pytest.mark.parametrize("spin", [0.0, 40.0])
def test_one_that_hits_a_post_is_turned_aside(post, bullet, spin):
    """Aimed at its axis: it may swing round the post, not go through it as if there were none; energy falls."""
    for simulation, direction, had in shots(THIN[post], bullet, spin):
        before = simulation.velocities()[1, :3]
        for _ in range(3):
            simulation.advance_frame()
            assert energy(simulation) <= had * (1 + 1e-6)
        assert np.linalg.norm(simulation.velocities()[1, :3] - before) > 0.01 * SPEED
        miss = np.cross(simulation.state.position[1], direction)[1]
        assert np.hypot(simulation.state.position[1, 1], miss) > 0.01


def shots(wall, bullet, spin):
    """Simulations of a wall across x and a bullet aimed at its middle; with the direction and the energy [J]."""
    rng = np.random.default_rng(7)
    for _ in range(8):
        angle, height = rng.uniform(-1.0, 1.0), rng.uniform(-0.3, 0.3)
        direction = np.array([np.cos(angle), 0.0, np.sin(angle)])
        body = {
            "shape": bullet,
            "position": (0, 0, height) - rng.uniform(0.3, 2.3) * direction,
            "orientation": unit(rng, 4),
            "linear_velocity": SPEED * direction,
            "angular_velocity": spin * unit(rng),
            "friction": 0.0,
        }
        simulation = start({"shape": wall, "kind": BodyKind.STATIC}, body)
        yield simulation, direction, energy(simulation)


@bullets
@pytest.mark.parametrize("target", TARGETS.values(), ids=list(TARGETS))
def test_one_that_hits_a_free_body_gives_it_its_momentum(bullet, target):
    """Aimed at its middle, without friction: momentum stays, energy falls, and the target flies off."""
    rng = np.random.default_rng(8)
    for _ in range(8):
        direction = unit(rng)
        middle = target.mass_properties().center
        bodies = [
            {"shape": target, "mass": 2.0, "friction": 0.0, "linear_velocity": unit(rng)},
            {
                "shape": bullet,
                "position": middle - rng.uniform(0.8, 2.2) * direction,
                "orientation": unit(rng, 4),
                "linear_velocity": SPEED * direction,
                "friction": 0.0,
            },
        ]
        bodies[1]["linear_velocity"] = bodies[1]["linear_velocity"] + bodies[0]["linear_velocity"]
        simulation = start(*bodies)
        had, momentum = energy(simulation), linear_momentum(simulation)
        for _ in range(2):
            simulation.advance_frame()
        assert energy(simulation) <= had * (1 + 1e-6)
        np.testing.assert_allclose(linear_momentum(simulation), momentum, atol=1e-10 * SPEED)
        # Near the end of a substep a hit takes only what would lead too deep; one that has slid off by the next keeps
        # the rest.
        gained = np.linalg.norm(simulation.velocities()[0, :3] - bodies[0]["linear_velocity"])
        assert gained > 1e-4 * SPEED


def linear_momentum(simulation) -> np.ndarray:
    """[kg m/s]"""
    free = simulation.state.kind == BodyKind.DYNAMIC
    return simulation.model.arrays.mass[free] @ simulation.state.velocity[free, :3]


def test_boxes_that_meet_at_an_angle_spin_as_by_the_arms_of_their_meeting():
    """A cube that hits a free one face on, off its middle, while it flies aside: the closed form of the impact.

    Equal cubes of side a and mass m, face on face over one edge's stretch. With the friction left out only the normal
    part of the approach is stopped, and neither gets a spin where the contact's middle is on the line of both centres.
    """
    half = 0.05
    for share in (0.02, 0.5, 0.9):
        # They meet after this share of the first substep, exactly opposite.
        time = share * FRAME / 4
        velocity = np.array([60.0, 45.0, 0.0])
        one = {"shape": Box((half,) * 3), "position": -np.array([2 * half, 0, 0]) - time * velocity, "friction": 0.0}
        two = {"shape": Box((half,) * 3), "friction": 0.0}
        simulation = start(two, one | {"linear_velocity": velocity}, substeps=1, frame_rate=4 / FRAME)
        simulation.advance_frame()
        # What closes the gap by the end of the substep stays until then.
        kept = 0.5 * share * 60.0
        np.testing.assert_allclose(simulation.velocities()[0], (30.0 - kept, 0, 0, 0, 0, 0), atol=1e-3)
        np.testing.assert_allclose(simulation.velocities()[1], (30.0 + kept, 45.0, 0, 0, 0, 0), atol=1e-3)


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


# ---- meshes


GRID = TriangleMesh(*grid_mesh(21, 4.0, rng=np.random.default_rng(1)))
SOLIDS = {"ball": Sphere(0.01), "box": Box((0.01, 0.01, 0.01)), **BULLETS}


@pytest.mark.parametrize("bullet", SOLIDS.values(), ids=list(SOLIDS))
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_one_that_hits_a_mesh_at_an_angle_does_not_pass(bullet, side):
    """Up to 74 degrees off the normal, over many triangles, of which it is over none of those it hits at the start."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        angle, around = rng.uniform(0, 1.3), rng.uniform(0, 6.3)
        direction = np.array([np.sin(angle) * np.cos(around), np.sin(angle) * np.sin(around), -side * np.cos(angle)])
        body = {
            "shape": bullet,
            "position": (*rng.uniform(-0.5, 0.5, 2), 0.0) - rng.uniform(0.3, 1.3) * direction,
            "orientation": unit(rng, 4),
            "linear_velocity": SPEED * direction,
            "friction": 0.0,
        }
        simulation = start({"shape": GRID, "kind": BodyKind.STATIC}, body, substeps=1, frame_rate=4 / FRAME)
        had = energy(simulation)
        for _ in range(4):
            simulation.advance_frame()
            position = simulation.state.position[1]
            if np.abs(position[:2]).max() < 1.9:
                assert side * position[2] > 0.0
            assert energy(simulation) <= had * (1 + 1e-6)


@pytest.mark.parametrize("bullet", SOLIDS.values(), ids=list(SOLIDS))
def test_one_that_misses_a_mesh_flies_on(bullet):
    """Past the edges of a closed box of triangles, by 3 % of the size and more: to rounding."""
    half = np.array([0.3, 0.2, 0.25])
    mesh, hull = TriangleMesh(*box_mesh(half)), Box(half)
    rng = np.random.default_rng(9)
    for _ in range(20):
        direction, turn = unit(rng), unit(rng, 4)
        aside = across(rng, direction)
        reach = support(hull, (1, 0, 0, 0), aside) + support(bullet, turn, -aside)
        first = (reach + rng.uniform(0.03, 0.2) * bullet.size) * aside - rng.uniform(0.8, 2.2) * direction
        body = {"shape": bullet, "position": first, "orientation": turn, "linear_velocity": SPEED * direction}
        simulation = start({"shape": mesh, "kind": BodyKind.STATIC}, body)
        before = simulation.velocities()
        for _ in range(2):
            simulation.advance_frame()
        np.testing.assert_array_equal(simulation.velocities(), before)
        np.testing.assert_allclose(simulation.poses()[0][1], first + 2 * FRAME * SPEED * direction, atol=1e-11)


def test_a_bullet_that_is_led_along_a_mesh_does_not_pass_a_wall_of_it():
    """Floor and wall are one mesh: the way at the start ends below the floor, the floor leads it to the wall."""
    floor = np.array([(-3, -3, 0), (3, -3, 0), (3, 3, 0), (-3, 3, 0)], float), np.array([(0, 1, 2), (0, 2, 3)])
    for distance in (0.1, 0.3, 0.6):
        wall = box_mesh((0.005, 1.0, 0.2), (distance, 0.0, 0.2))
        room = TriangleMesh(*joined(floor, wall))
        for bullet in (Sphere(0.01), Box((0.01, 0.01, 0.01)), Cylinder(0.01, 0.01)):
            body = {"shape": bullet, "position": (-0.05, 0.03, 0.06), "linear_velocity": (70.7, 0, -70.7)}
            simulation = start({"shape": room, "kind": BodyKind.STATIC}, body | {"friction": 0.0})
            for _ in range(2):
                simulation.advance_frame()
                assert simulation.state.position[1, 0] <= distance - 0.005 - 0.0099, distance
                assert simulation.state.position[1, 2] >= 0.0099
