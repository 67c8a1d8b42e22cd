"""What bodies are made of, by closed forms: two coefficients of friction, rules of pairs, belts, centres of mass."""

import math

import numpy as np
import pytest

from cairn.solver_core.geometry import rotations
from cairn.solver_core.geometry.round_shapes import Cone, Cylinder
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import FrameInput, SimulationOptions
from cairn.solver_core.simulation import Simulation

G = 9.81
FLOOR = Box((20.0, 20.0, 0.5))
QUALITIES = ("preview", "production", "exact")


def simulate(builder, seconds, look=lambda simulation: None, **options):
    """Run; returns the simulation, and what ``look`` saw after each frame."""
    simulation = Simulation(builder.build(), SimulationOptions(**options))
    seen = []
    for _ in range(round(seconds * 24)):
        simulation.advance_frame()
        seen.append(look(simulation))
    return simulation, np.array(seen)


def on_slope(slope, speed=0.0):
    """A box of static friction 0.4 and sliding friction 0.2 that begins down a slope of this tangent with this speed.

    Returns the builder, and the direction down the slope.
    """
    angle = math.atan(slope)
    turn = (math.cos(angle / 2), 0.0, math.sin(angle / 2), 0.0)
    builder = ModelBuilder()
    builder.add_body(
        shape=FLOOR, orientation=turn, position=rotations.rotate(np.array(turn), np.array([0, 0, -0.5])),
        kind=BodyKind.STATIC, friction=1.0,
    )  # fmt: skip
    place = rotations.rotate(np.array(turn), np.array([-10.0, 0.0, 0.1]))
    down = rotations.rotate(np.array(turn), np.array([1.0, 0.0, 0.0]))
    builder.add_body(
        shape=Box((0.2, 0.2, 0.1)), position=place, orientation=turn, friction=0.4, sliding_friction=0.2,
        linear_velocity=speed * down,
    )  # fmt: skip
    return builder, down


def speed_of(simulation, body=-1):
    return simulation.velocities()[body]


# two coefficients


@pytest.mark.parametrize("quality", QUALITIES)
@pytest.mark.parametrize("slope", [0.3, 0.39])
def test_below_the_static_coefficient_nothing_slides(slope, quality):
    """A box of static friction 0.4 and sliding friction 0.2 stays on slopes on which it would slide on."""
    builder, _ = on_slope(slope)
    simulation, _ = simulate(builder, 2.0, quality=quality)
    start = builder.build().initial_state.position[1]
    assert np.abs(simulation.poses()[0][1] - start).max() < 1e-4


@pytest.mark.parametrize("quality", QUALITIES)
@pytest.mark.parametrize(("slope", "start"), [(0.41, 0.0), (0.6, 0.0), (0.3, 0.5)])
def test_what_slides_is_slowed_by_the_sliding_coefficient(slope, start, quality):
    """Down the slope it gains g (sin - 0.2 cos), whether the slope sets it going or something has."""
    builder, down = on_slope(slope, start)
    _, speeds = simulate(builder, 2.0, lambda simulation: simulation.velocities()[1, :3] @ down, quality=quality)
    angle = math.atan(slope)
    expected = G * (math.sin(angle) - 0.2 * math.cos(angle))
    assert (speeds[-1] - speeds[12]) / ((len(speeds) - 13) / 24) == pytest.approx(expected, rel=0.005)


def test_what_slides_comes_to_rest_and_stays():
    """On a slope of 0.1 a push of 2 m/s ends after v^2 / 2 a, with the sliding coefficient; then it sticks."""
    builder, down = on_slope(0.1, 2.0)
    simulation, _ = simulate(builder, 4.0)
    angle = math.atan(0.1)
    way = (simulation.poses()[0][1] - builder.build().initial_state.position[1]) @ down
    assert way == pytest.approx(4.0 / (2 * G * (0.2 * math.cos(angle) - math.sin(angle))), rel=0.005)
    assert np.abs(simulation.velocities()[1]).max() < 1e-6


# rules of pairs


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (("product", "product"), 0.8 * 0.2),
        (("mean", "product"), 0.5),
        (("product", "least"), 0.2),
        (("largest", "mean"), 0.8),
        (("largest", "least"), 0.8),
        (("mean", "least"), 0.2),
    ],
)
def test_friction_is_combined_by_the_later_rule(rules, expected):
    """A box that slides on a floor loses mu g a second; a ball dropped on it rises by its pair's restitution."""
    builder = ModelBuilder()
    both = [{"friction_rule": rule, "restitution_rule": rule} for rule in rules]
    builder.add_body(shape=FLOOR, position=(0, 0, -0.5), kind=BodyKind.STATIC, friction=0.8, restitution=0.8, **both[0])
    surface = {"friction": 0.2, "restitution": 0.2, **both[1]}
    builder.add_body(shape=Box((0.2, 0.2, 0.05)), position=(0, 0, 0.05), linear_velocity=(6, 0, 0), **surface)
    builder.add_body(shape=Sphere(0.2), position=(0, 5.0, 1.2), **surface)
    _, speeds = simulate(builder, 0.5, lambda simulation: speed_of(simulation, 1)[0], quality="exact")
    assert 6.0 - speeds[-1] == pytest.approx(expected * G * 0.5, rel=0.005)
    simulation = Simulation(builder.build(), SimulationOptions(quality="exact"))
    fastest = 0.0
    for _ in range(24):
        simulation.advance_frame()
        fastest = max(fastest, simulation.velocities()[2, 2])
        if fastest > 0.0:
            break
    # v rises at the bounce and falls by g t until the frame's end, by energy: v^2 / 2 + g z
    height = simulation.poses()[0][2, 2] - 0.2
    assert math.sqrt(fastest**2 + 2 * G * height) == pytest.approx(expected * math.sqrt(2 * G), rel=0.005)


# belts


@pytest.mark.parametrize("quality", QUALITIES)
@pytest.mark.parametrize("turned", [False, True])
def test_a_belt_takes_a_box_along(turned, quality):
    """At mu g until it goes 1 m/s, then with the belt, whose direction turns with its body."""
    builder = ModelBuilder()
    half = math.sqrt(0.5)
    builder.add_body(
        shape=FLOOR, position=(0, 0, -0.5), kind=BodyKind.STATIC, friction=1.0,
        orientation=(half, 0, 0, half) if turned else (1, 0, 0, 0), surface_velocity=(1.0, 0.0, 0.0),
    )  # fmt: skip
    builder.add_body(shape=Box((0.2, 0.3, 0.1)), position=(0, 0, 0.1), friction=0.1)
    axis = 1 if turned else 0
    simulation, speeds = simulate(builder, 3.0, lambda simulation: speed_of(simulation)[axis], quality=quality)
    assert speeds[11] == pytest.approx(0.1 * G * 0.5, rel=0.005)
    assert speeds[30:] == pytest.approx(1.0, rel=0.005)
    across = 1 - axis
    place = simulation.poses()[0][1]
    assert place[axis] == pytest.approx(3.0 - 0.5 / (0.1 * G), rel=0.005)
    assert abs(place[across]) < 1e-6
    assert place[2] == pytest.approx(0.1, abs=1e-4)
    assert np.abs(simulation.velocities()[1, 3:]).max() < 1e-5


def test_a_belt_turns_with_its_body():
    """A slab that is turned by hand about a far axis, by a quarter in two seconds: what it carries follows its belt.

    The slab turns about the box, which it carries, so the box goes where the belt points then.
    """
    builder = ModelBuilder()
    builder.add_body(
        shape=FLOOR, position=(0, 0, -0.5), kind=BodyKind.KINEMATIC, friction=1.0, surface_velocity=(1.0, 0.0, 0.0)
    )
    builder.add_body(shape=Box((0.1, 0.1, 0.1)), position=(0, 0, 0.1), friction=1.0)
    simulation = Simulation(builder.build(), SimulationOptions(quality="exact"))
    position, orientation = (array.copy() for array in simulation.poses())
    rate = math.radians(45.0)
    for frame in range(1, 49):
        angle = rate * frame / 24
        orientation[0] = math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2)
        simulation.advance_frame(FrameInput(position=position, orientation=orientation))
    place, velocity = simulation.poses()[0][1], simulation.velocities()[1]
    # without slip: x' = belt(angle) + rate z x (x - 0), whose solution is t times the belt's direction at the time t
    assert place[:2] == pytest.approx([2.0 * math.cos(angle), 2.0 * math.sin(angle)], abs=0.12)
    carried = np.array([math.cos(angle), math.sin(angle)]) + rate * np.array([-place[1], place[0]])
    assert velocity[:2] == pytest.approx(carried, rel=0.02)


def test_a_belt_along_the_normal_carries_nothing():
    """What of a surface velocity points out of the surface is no motion of it."""
    builder = ModelBuilder()
    builder.add_body(
        shape=FLOOR, position=(0, 0, -0.5), kind=BodyKind.STATIC, friction=1.0, surface_velocity=(0.0, 0.0, 3.0)
    )
    builder.add_body(shape=Box((0.1, 0.1, 0.1)), position=(0, 0, 0.1), friction=1.0)
    simulation, _ = simulate(builder, 1.0)
    assert simulation.poses()[0][1] == pytest.approx([0.0, 0.0, 0.1], abs=1e-9)


def test_a_sphere_on_a_belt_rolls():
    """Without friction at its centre a ball that slips on a belt ends at 2/7 of the belt's speed, as it rolls on it."""
    builder = ModelBuilder()
    builder.add_body(
        shape=FLOOR, position=(0, 0, -0.5), kind=BodyKind.STATIC, friction=1.0, surface_velocity=(1.4, 0, 0)
    )
    builder.add_body(shape=Sphere(0.2), position=(0, 0, 0.2), friction=0.3)
    simulation, _ = simulate(builder, 3.0)
    assert simulation.velocities()[1, 0] == pytest.approx(0.4, rel=0.005)
    assert simulation.velocities()[1, 4] == pytest.approx((0.4 - 1.4) / 0.2, rel=0.005)


@pytest.mark.parametrize("quality", QUALITIES)
def test_a_body_with_a_belt_walks(quality):
    """A box whose own surface runs backwards gains mu g, up to the belt's speed; the belt lies across the normal."""
    builder = ModelBuilder()
    builder.add_body(shape=FLOOR, position=(0, 0, -0.5), kind=BodyKind.STATIC, friction=1.0)
    builder.add_body(shape=Box((0.5, 0.3, 0.1)), position=(0, 0, 0.1), friction=0.2, surface_velocity=(-1.5, 0.0, 0.0))
    _, speeds = simulate(builder, 2.0, lambda simulation: speed_of(simulation)[0], quality=quality)
    assert speeds[11] == pytest.approx(0.2 * G * 0.5, rel=0.005)
    assert speeds[-1] == pytest.approx(1.5, rel=0.005)


def test_a_heap_on_a_belt_ends_at_its_speed():
    """Many bodies at once, which move in small steps: all that lies on the belt goes with it."""
    random = np.random.default_rng(3)
    builder = ModelBuilder()
    builder.add_body(
        shape=Box((60.0, 3.0, 0.5)), position=(0, 0, -0.5), kind=BodyKind.STATIC, friction=1.0,
        surface_velocity=(2.0, 0, 0),
    )  # fmt: skip
    for place in range(12):
        builder.add_body(
            shape=Box((0.2, 0.15, 0.1)), friction=0.8, orientation=random.normal(size=4),
            position=(0.3 * (place % 3), 0.3 * (place % 2), 0.4 + 0.4 * (place // 3)),
        )  # fmt: skip
    simulation, _ = simulate(builder, 6.0)
    assert simulation.velocities()[1:, 0] == pytest.approx(2.0, rel=0.005)
    assert simulation.velocities()[1:, 1] == pytest.approx(0.0, abs=0.01)


# largest speed


def test_what_falls_is_no_faster_than_allowed():
    """A body with a largest speed falls as any other until it has it, and then at it."""
    builder = ModelBuilder()
    builder.add_body(shape=Sphere(0.2), largest_speed=3.0)
    builder.add_body(shape=Sphere(0.2), position=(2, 0, 0))
    simulation, speeds = simulate(builder, 1.0, lambda simulation: simulation.velocities()[:, 2])
    assert np.all(np.abs(speeds[:, 0]) <= 3.0 * (1 + 1e-12))
    assert simulation.velocities()[:, 2] == pytest.approx([-3.0, -G])
    assert speeds[5, 0] == pytest.approx(speeds[5, 1])


# centre of mass, density


def test_a_roly_poly_stands_up():
    """A ball whose centre of mass is d below its middle rocks by T = 2 pi sqrt((I + m (r - d)^2) / (m g d))."""
    r, d, mass = 0.5, 0.2, 2.0
    inertia = 0.4 * mass * r**2 + mass * d**2
    period = 2.0 * math.pi * math.sqrt((inertia + mass * (r - d) ** 2) / (mass * G * d))
    builder = ModelBuilder()
    builder.add_body(shape=FLOOR, position=(0, 0, -0.5), kind=BodyKind.STATIC, friction=1.0)
    tilt = 0.05
    builder.add_body(
        shape=Sphere(r), mass=mass, center_of_mass=(0.0, 0.0, -d), position=(0, 0, r), friction=1.0,
        orientation=(math.cos(tilt / 2), 0.0, math.sin(tilt / 2), 0.0),
    )  # fmt: skip
    _, tilts = simulate(builder, 10.0, lambda simulation: simulation.poses()[1][1, 2], substeps=8)
    down = [i + tilts[i] / (tilts[i] - tilts[i + 1]) for i in range(len(tilts) - 1) if tilts[i] > 0 >= tilts[i + 1]]
    assert len(down) >= 4
    assert np.diff(down).mean() / 24 == pytest.approx(period, rel=0.01)


def test_a_roly_poly_gets_up_from_its_side():
    """Laid on its side, with air's damping, it stands up and stays."""
    builder = ModelBuilder()
    builder.add_body(shape=FLOOR, position=(0, 0, -0.5), kind=BodyKind.STATIC, friction=1.0)
    builder.add_body(
        shape=Sphere(0.5), center_of_mass=(0.0, 0.0, -0.25), position=(0, 0, 0.5), friction=1.0,
        orientation=(math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0), angular_damping=0.6,
    )  # fmt: skip
    simulation, _ = simulate(builder, 12.0)
    up = rotations.rotate(simulation.poses()[1][1], np.array([0.0, 0.0, 1.0]))
    assert up[2] > 0.999


@pytest.mark.parametrize("shape", [Box((0.5, 0.25, 2.0)), Sphere(0.5), Cylinder(0.5, 1.0), Cone(0.5, 1.0)])
def test_density_times_volume_is_the_mass(shape):
    """Of shapes whose volumes are in every table."""
    volumes = {Box: 2.0, Sphere: math.pi / 6.0, Cylinder: math.pi / 2.0, Cone: math.pi / 6.0}
    builder = ModelBuilder()
    builder.add_body(shape=shape, density=700.0)
    assert builder.build().arrays.mass[0] == pytest.approx(700.0 * volumes[type(shape)], rel=1e-14)


def test_tables_are_empty_where_nothing_is_used():
    """What kernels ask first: a plain model has no rules, coefficients, belts, largest speeds or rolling friction."""
    builder = ModelBuilder()
    builder.add_body(shape=Sphere(0.5), friction=0.3, sliding_friction=0.3)
    assert [array.size for array in builder.build().arrays.matter] == [0, 0, 0, 0, 0]


def test_sliding_rolling_and_belts_go_on_to_the_bit():
    """Whether a contact slides is in the velocities, so a checkpoint in the middle goes on to the same bits."""
    builder, random = ModelBuilder(), np.random.default_rng(8)
    builder.add_body(
        shape=FLOOR, position=(0, 0, -0.5), kind=BodyKind.STATIC, friction=1.0, surface_velocity=(0.5, 0.2, 0.0),
        friction_rule="mean",
    )  # fmt: skip
    for place in range(8):
        builder.add_body(
            shape=Box((0.2, 0.15, 0.1)), friction=0.6, sliding_friction=0.3, orientation=random.normal(size=4),
            position=(0.2 * place, 0, 0.5), linear_velocity=(0, 2, 0), largest_speed=4.0, rolling_friction=0.05,
        )  # fmt: skip
    model, options = builder.build(), SimulationOptions()
    simulation = Simulation(model, options)
    checkpoints, digests = [], []
    for _ in range(40):
        checkpoints.append(simulation.checkpoint())
        simulation.advance_frame()
        digests.append(simulation.digest())
    for checkpoint, expected in zip(checkpoints, digests, strict=True):
        resumed = Simulation(model, options)
        resumed.restore(checkpoint)
        resumed.advance_frame()
        assert resumed.digest() == expected, checkpoint.frame
