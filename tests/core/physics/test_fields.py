"""Force fields by closed forms: constant and central forces, springs, drag, what turns, and what keeps energy."""

import math

import numpy as np
import pytest

from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.round_shapes import Capsule, Cone, Cylinder
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.errors import ModelError
from cairn.solver_core.model.fields import (
    Charge,
    Drag,
    Field,
    Force,
    Harmonic,
    Magnetic,
    Turbulence,
    Vortex,
    Wind,
)
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import FrameInput, SimulationOptions
from cairn.solver_core.simulation import Simulation

NOTHING = (0.0, 0.0, 0.0)


def grain(*fields, gravity=NOTHING, position=(1.0, 0.0, 0.0), velocity=NOTHING, mass=1.0, charge=0.0, **body):
    """A simulation of a ball of a hundredth of a metre in these fields."""
    builder = ModelBuilder(gravity=gravity)
    shape = body.pop("shape", Sphere(0.01))
    index = builder.add_body(shape=shape, mass=mass, position=position, linear_velocity=velocity, **body)
    for field in fields:
        builder.add_field(field)
    if charge:
        builder.respond_to_fields(index, charge=charge)
    return Simulation(builder.build(), SimulationOptions())


def path(simulation, seconds=2.0):
    """Positions and velocities of the first body after each frame."""
    found = []
    for _ in range(round(seconds * 24)):
        simulation.advance_frame()
        found.append(np.concatenate([simulation.poses()[0][0], simulation.velocities()[0]]))
    return np.array(found)


def times(found):
    return np.arange(1, len(found) + 1) / 24.0


# constant and central forces


def test_wind_gives_the_exact_parabola():
    found = path(grain(Wind(strength=3.0, axis=(1.0, 0.0, 0.0)), mass=2.0, velocity=(0.0, 1.0, 0.0)))
    assert found[:, 0] == pytest.approx(1.0 + 0.5 * 1.5 * times(found) ** 2, abs=1e-12)
    assert found[:, 1] == pytest.approx(times(found), abs=1e-12)
    assert not found[:, 6:].any()


def test_a_spring_swings_as_the_closed_form_and_keeps_its_energy():
    found = path(grain(Harmonic(strength=9.0)), seconds=10.0)
    assert found[:, 0] == pytest.approx(np.cos(3.0 * times(found)), abs=2e-3)
    energy = 4.5 * found[:, 0] ** 2 + 0.5 * found[:, 3] ** 2
    assert energy == pytest.approx(4.5, rel=1e-3)


@pytest.mark.parametrize("damping", [0.2, 1.0, 3.0])
def test_a_damped_spring_follows_its_closed_form(damping):
    found, t = path(grain(Harmonic(strength=9.0, damping=damping))), np.arange(1, 49) / 24.0
    roots = np.roots([1.0, 6.0 * damping, 9.0]).astype(complex)
    if damping == 1.0:
        exact = (1.0 + 3.0 * t) * np.exp(-3.0 * t)
    else:
        a, b = roots
        exact = ((a * np.exp(b * t) - b * np.exp(a * t)) / (a - b)).real
    assert found[:, 0] == pytest.approx(exact, abs=2e-3)


def test_a_spring_with_a_length_rests_there():
    found = path(grain(Harmonic(strength=30.0, damping=1.0, rest_length=0.4), shape=Sphere(1e-4)), seconds=5.0)
    assert found[-1, 0] == pytest.approx(0.4, abs=1e-6)


def test_gravitation_keeps_an_orbit_and_its_energy():
    """An ellipse of Kepler's from 1 m at 1.2 times the speed of the circle."""
    k, speed = 9.0, 3.6
    found = path(grain(Force(strength=-k, inverse_square=True), velocity=(0.0, speed, 0.0)), seconds=8.0)
    distance = np.linalg.norm(found[:, :3], axis=1)
    energy = 0.5 * (found[:, 3:6] ** 2).sum(axis=1) - k / distance
    assert energy == pytest.approx(0.5 * speed**2 - k, rel=1e-3)
    axis = -0.5 * k / (0.5 * speed**2 - k)
    assert distance.max() == pytest.approx(2.0 * axis - 1.0, rel=2e-3)
    momentum = found[:, 0] * found[:, 4] - found[:, 1] * found[:, 3]
    assert momentum == pytest.approx(speed, rel=1e-3)


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0, 0.5])
def test_energy_of_a_force_with_a_falloff_is_its_integral(power):
    """The work of s (1 + r)^-p from r = 1 m on."""
    found = path(grain(Force(strength=4.0, power=power)))
    r, work = found[-1, 0], 0.0
    work = 4.0 * (
        math.log((1 + r) / 2.0) if power == 1.0 else ((1 + r) ** (1 - power) - 2.0 ** (1 - power)) / (1 - power)
    )
    assert 0.5 * found[-1, 3] ** 2 == pytest.approx(work, rel=1e-3)


# where fields act


@pytest.mark.parametrize(
    ("field", "position", "share"),
    [
        ({"most_distance": 2.0}, (0.0, 0.0, 1.9), 1.0),
        ({"most_distance": 2.0}, (0.0, 0.0, 2.1), 0.0),
        ({"power": 2.0, "least_distance": 1.0}, (0.0, 0.0, 0.5), 1.0),
        ({"power": 2.0, "least_distance": 1.0}, (0.0, 0.0, 2.0), 0.25),
        ({"falloff": "tube", "power": 1.0, "radial_power": 1.0}, (1.0, 0.0, 3.0), 0.125),
        ({"falloff": "tube", "most_radius": 0.5}, (1.0, 0.0, 3.0), 0.0),
        ({"falloff": "cone", "most_radius": 30.0}, (1.0, 0.0, 2.0), 1.0),
        ({"falloff": "cone", "most_radius": 26.0}, (1.0, 0.0, 2.0), 0.0),
        ({"falloff": "cone", "radial_power": 1.0}, (1.0, 0.0, 1.0), 1.0 / 46.0),
        ({"side": "positive"}, (0.0, 0.0, -1.0), 0.0),
        ({"side": "negative"}, (0.0, 0.0, -1.0), 1.0),
        ({"shape": "plane", "power": 1.0}, (7.0, 0.0, 1.0), 0.5),
        ({"shape": "line", "power": 1.0}, (1.0, 0.0, 7.0), 0.5),
        ({"weight": 0.3}, (1.0, 0.0, 0.0), 0.3),
    ],
)
def test_falloffs_shapes_and_sides(field, position, share):
    simulation = grain(Wind(strength=1.0, **field), position=position, shape=Sphere(1e-6))
    simulation.advance_frame(FrameInput(duration=1e-3))
    assert simulation.velocities()[0, 2] == pytest.approx(1e-3 * share, rel=1e-5)


@pytest.mark.parametrize(
    ("field", "position", "force"),
    [
        (Force(strength=2.0, shape="plane"), (3.0, 0.0, -1.0), (0.0, 0.0, -2.0)),
        (Force(strength=2.0, shape="line"), (3.0, 0.0, -1.0), (2.0, 0.0, 0.0)),
        (Vortex(strength=2.0), (3.0, 0.0, 4.0), (0.0, 10.0, 0.0)),
        (Vortex(strength=2.0, shape="line"), (3.0, 0.0, 4.0), (-12.0, 6.0, 0.0)),
        (Harmonic(strength=2.0, shape="plane"), (3.0, 0.0, 4.0), (0.0, 0.0, -8.0)),
    ],
)
def test_force_of_a_kind(field, position, force):
    """By the speed after a ten-thousandth of a second."""
    simulation = grain(field, position=position, shape=Sphere(1e-6))
    simulation.advance_frame(FrameInput(duration=1e-4))
    assert simulation.velocities()[0, :3] == pytest.approx(1e-4 * np.array(force), rel=1e-3, abs=1e-10)


# what depends on velocities


def test_linear_drag_is_the_exponential():
    found = path(grain(Drag(strength=0.0, damping=1.5), mass=0.5, velocity=(2.0, 0.0, 0.0)))
    assert found[:, 3] == pytest.approx(2.0 * np.exp(-3.0 * times(found)), rel=1e-9)


def test_quadratic_drag_follows_its_closed_form():
    found = path(grain(Drag(strength=0.5), mass=0.5, velocity=(4.0, 0.0, 0.0)))
    assert found[:, 3] == pytest.approx(4.0 / (1.0 + 4.0 * times(found)), rel=2e-3)
    assert found[:, 0] == pytest.approx(1.0 + np.log(1.0 + 4.0 * times(found)), rel=2e-3)


@pytest.mark.parametrize(("strength", "damping"), [(0.5, 0.0), (0.0, 0.7), (0.3, 0.4), (2.0, 2.0)])
@pytest.mark.parametrize("mass", [0.001, 0.3, 20.0])
def test_terminal_velocity(strength, damping, mass):
    """damping v + strength v^2 = m g, also where the drag brakes far faster than a substep."""
    seconds = 2.0 if mass < 1.0 else 40.0
    field = Drag(strength=strength, damping=damping)
    found = path(grain(field, mass=mass, gravity=(0.0, 0.0, -9.81)), seconds=seconds)
    weight = mass * 9.81
    exact = weight / damping if strength == 0.0 else (
        (math.sqrt(damping**2 + 4.0 * strength * weight) - damping) / (2.0 * strength)
    )  # fmt: skip
    if strength == 0.0:
        exact *= 1.0 - math.exp(-damping / mass * seconds)
    assert -found[-1, 5] == pytest.approx(exact, rel=5e-3)


def test_a_magnetic_field_turns_and_gives_no_energy():
    found = path(grain(Magnetic(strength=3.0, shape="plane"), velocity=(2.0, 0.0, 0.0)))
    assert np.linalg.norm(found[:, 3:6], axis=1) == pytest.approx(2.0, rel=1e-9)
    # F = v x B turns against B, at the rate |B| / m
    assert found[:, 3] == pytest.approx(2.0 * np.cos(3.0 * times(found)), abs=2e-3)
    assert found[:, 4] == pytest.approx(-2.0 * np.sin(3.0 * times(found)), abs=2e-3)


def test_flow_slows_as_drag_does():
    wind = Wind(strength=2.0, flow=4.0, axis=(1.0, 0.0, 0.0))
    found = path(grain(wind))
    assert found[:, 3] == pytest.approx(0.5 * (1.0 - np.exp(-4.0 * times(found))), rel=1e-9)


def test_charges_push_each_other_away_and_nothing_else():
    field = Charge(strength=2.0, shape="point")
    found = path(grain(field, charge=3.0), seconds=0.5)
    assert found[:, 0] == pytest.approx(np.cosh(math.sqrt(6.0) * times(found)), rel=1e-3)
    assert path(grain(field), seconds=0.5)[-1, 0] == 1.0


# bodies that are no points


def test_a_field_that_is_linear_turns_a_bar_as_its_inertia_says():
    """A bar beside a plane spring k z: the torque k times its second moment of mass, so it swings at sqrt(k / m)."""
    angle = 0.01
    turn = (math.cos(angle / 2), 0.0, math.sin(angle / 2), 0.0)
    bar = grain(Harmonic(strength=9.0, shape="plane"), position=NOTHING, shape=Box((1.0, 1e-3, 1e-3)), orientation=turn)
    found = []
    for _ in range(48):
        bar.advance_frame()
        found.append(2.0 * bar.poses()[1][0, 2])
    assert found == pytest.approx(angle * np.cos(3.0 * np.arange(1, 49) / 24.0), abs=2e-3 * angle)


def test_uniform_wind_turns_nothing_and_a_falloff_across_it_turns():
    box = grain(Wind(strength=5.0), shape=Box((0.5, 0.2, 0.1)), orientation=(0.8, 0.1, 0.5, 0.3))
    assert not path(box)[:, 6:].any()
    tube = grain(Wind(strength=5.0, falloff="tube", most_radius=1.0), shape=Box((0.5, 0.2, 0.1)))
    assert path(tube)[-1, 7] != 0.0


def test_drag_slows_a_spin_as_it_slows_a_flight():
    """Linear drag is even over the mass: both go with damping / mass, whatever the shape."""
    spinning = grain(Drag(strength=0.0, damping=1.5), shape=Sphere(0.4), mass=0.5, angular_velocity=(0.0, 0.0, 6.0))
    found = path(spinning)
    assert found[:, 8] == pytest.approx(6.0 * np.exp(-3.0 * times(found)), rel=1e-3)


def test_a_box_that_swings_and_turns_in_a_spring_keeps_its_energy():
    spring = Harmonic(strength=40.0, shape="line", axis=(0.0, 1.0, 1.0))
    box = grain(spring, shape=Box((0.6, 0.2, 0.1)), orientation=(0.8, 0.1, 0.5, 0.3), angular_velocity=(1.0, 2.0, 0.5))
    inertia, axis, energies = box.model.arrays.inertia[0], np.array([0.0, 1.0, 1.0]) / math.sqrt(2.0), []
    reach = np.sqrt(1.5 * (inertia.sum() - 2.0 * inertia))
    for _ in range(240):
        box.advance_frame()
        position, velocity = box.state.position[0], box.state.velocity[0]
        turn = _matrix(box.state.orientation[0])
        spin = turn.T @ velocity[3:]
        energy = 0.5 * velocity[:3] @ velocity[:3] + 0.5 * (inertia * spin**2).sum()
        for column in range(3):
            for side in (-1.0, 1.0):
                point = position + side * reach[column] * turn[:, column]
                across = point - axis * (axis @ point)
                energy += 0.5 * 40.0 * across @ across / 6.0
        energies.append(energy)
    assert max(energies) - min(energies) < 0.02 * energies[0]
    assert np.mean(energies[-24:]) == pytest.approx(np.mean(energies[:24]), rel=1e-3)


def _matrix(quaternion):
    w, x, y, z = quaternion
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


# noise


def test_turbulence_is_a_noise_between_bounds_and_the_same_each_time():
    field = Turbulence(strength=24.0, size=0.7)
    first, second = path(grain(field), 1.0), path(grain(field), 1.0)
    assert first.tobytes() == second.tobytes()
    assert len({tuple(row) for row in np.round(first[:, 3:6], 6).tolist()}) == len(first)
    assert np.abs(np.diff(first[:, 3:6], axis=0)).max() <= 1.0


def test_noise_changes_a_strength_from_frame_to_frame_within_bounds():
    wind = Wind(strength=10.0, noise=4.0, axis=(1.0, 0.0, 0.0))
    found, other = path(grain(wind)), path(grain(Wind(strength=10.0, noise=4.0, axis=(1.0, 0.0, 0.0), seed=2)))
    force = 24.0 * np.diff(found[:, 3])
    assert np.all((force >= 6.0) & (force <= 14.0))
    assert len(set(np.round(force, 9))) == len(force)
    assert not np.allclose(found, other)


# contacts, sleep, checkpoints


def on_floor(*fields, **body):
    builder = ModelBuilder()
    builder.add_body(shape=Box((5.0, 5.0, 0.5)), position=(0.0, 0.0, -0.5), kind=BodyKind.STATIC, friction=1.0)
    builder.add_body(shape=Box((0.2, 0.2, 0.2)), position=(0.0, 0.0, 0.2), friction=0.5, **body)
    for field in fields:
        builder.add_field(field)
    return builder


@pytest.mark.parametrize("quality", ["preview", "production", "exact"])
def test_wind_moves_a_box_on_a_floor_by_what_friction_leaves(quality):
    simulation = Simulation(
        on_floor(Wind(strength=6.0, axis=(1.0, 0.0, 0.0))).build(), SimulationOptions(quality=quality)
    )
    for _ in range(48):
        simulation.advance_frame()
    assert simulation.velocities()[1, 0] == pytest.approx(2.0 * (6.0 - 0.5 * 9.81), rel=5e-3)
    holds = Simulation(on_floor(Wind(strength=4.0, axis=(1.0, 0.0, 0.0))).build(), SimulationOptions(quality=quality))
    for _ in range(48):
        holds.advance_frame()
    assert np.abs(holds.poses()[0][1] - [0.0, 0.0, 0.2]).max() < 1e-4
    assert holds.sleeping[1]


def test_what_sleeps_in_a_wind_wakes_as_the_wind_changes_where_it_is():
    near = {"most_distance": 3.0}
    builder = on_floor(Wind(strength=1.0, axis=(1.0, 0.0, 0.0), **near))
    builder.add_body(shape=Box((0.2, 0.2, 0.2)), position=(4.5, 0.0, 0.2), friction=0.5)
    simulation = Simulation(builder.build(), SimulationOptions())
    for _ in range(48):
        simulation.advance_frame(FrameInput(fields=[Wind(strength=1.0, axis=(1.0, 0.0, 0.0), **near)]))
    assert simulation.sleeping[1:].all()
    simulation.advance_frame(FrameInput(fields=[Wind(strength=20.0, axis=(1.0, 0.0, 0.0), **near)]))
    assert not simulation.sleeping[1]
    assert simulation.sleeping[2]
    assert simulation.velocities()[1, 0] > 0.1


def test_a_strength_that_is_keyed_changes_along_the_frame():
    """From 0 to f in a frame of t: the speed is f t / 2."""
    simulation = grain(Wind(strength=0.0))
    simulation.advance_frame(FrameInput(fields=[Wind(strength=24.0)]))
    assert simulation.velocities()[0, 2] == pytest.approx(0.5, rel=1e-12)


def test_fields_that_are_not_the_models_are_refused():
    with pytest.raises(ValueError, match=r"fields are \['Drag'\]; they must be those of the model: \['Wind'\]"):
        grain(Wind()).advance_frame(FrameInput(fields=[Drag()]))


def test_a_body_carries_its_field_and_is_not_moved_by_it():
    builder = ModelBuilder(gravity=NOTHING)
    star = builder.add_body(shape=Sphere(0.1), linear_velocity=(0.0, 0.0, 1.0))
    builder.add_body(shape=Sphere(0.01), position=(1.0, 0.0, 0.0), linear_velocity=(0.0, 3.0, 1.0))
    builder.add_field(Force(strength=-9.0, inverse_square=True), star)
    simulation = Simulation(builder.build(), SimulationOptions())
    for _ in range(48):
        simulation.advance_frame()
    first, second = simulation.poses()[0]
    assert first == pytest.approx([0.0, 0.0, 2.0], abs=1e-9)
    assert np.linalg.norm(second - first) == pytest.approx(1.0, rel=1e-3)


def test_a_checkpoint_goes_on_to_the_same_bits():
    fields = Turbulence(strength=8.0, noise=3.0), Vortex(strength=2.0, shape="line", flow=0.5), Drag(strength=0.2)
    later = [Turbulence(strength=4.0, noise=1.0), Vortex(strength=3.0, shape="line"), Drag(strength=0.4)]
    model = on_floor(*fields).build()
    whole = Simulation(model, SimulationOptions())
    for frame in range(24):
        whole.advance_frame(FrameInput(fields=later) if frame == 5 else None)
        if frame == 11:
            checkpoint = whole.checkpoint()
    resumed = Simulation(model, SimulationOptions())
    resumed.restore(checkpoint)
    for _ in range(12):
        resumed.advance_frame()
    assert resumed.digest() == whole.digest()


def test_momentum_of_a_frame_counts_fields():
    simulation = Simulation(
        on_floor(Wind(strength=6.0, axis=(1.0, 0.0, 0.0)), Drag(strength=0.5), linear_damping=0.1).build(),
        SimulationOptions(contacts=True),
    )
    for _ in range(24):
        before = simulation.velocities()[1, :3]
        simulation.advance_frame()
        found = simulation.contacts()
        given = found.forces[1] + found.rest[1] + found.impulse[found.body_b == 1].sum(axis=0)
        given -= found.impulse[found.body_a == 1].sum(axis=0)
        assert given == pytest.approx(simulation.velocities()[1, :3] - before, abs=1e-9)
        assert np.abs(found.rest[1]).max() < 1e-6


# what is refused, and what costs nothing


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Wind(strength=math.nan), "Wind: strength is nan"),
        (lambda: Wind(axis=NOTHING), "Wind: axis is zero"),
        (lambda: Force(shape="ball"), "Force: shape is 'ball'"),
        (lambda: Turbulence(size=0.0), "Turbulence: size is 0"),
        (lambda: Drag(least_distance=-1.0), "Drag: least_distance is -1"),
        (lambda: ModelBuilder().add_field(Field()), "it must be a kind of field"),
        (lambda: ModelBuilder().add_field(Wind(), 3), "there is no body 3"),
    ],
)
def test_what_is_wrong_is_said(make, text):
    with pytest.raises(ModelError, match=text):
        make()


def test_without_fields_there_is_nothing_of_them():
    simulation = Simulation(on_floor().build(), SimulationOptions())
    assert simulation._fields.values.size == simulation._fields.responds.size == 0
    assert simulation._motion.acceleration.shape == (1, 6)
    assert "fields" not in simulation.checkpoint().arrays


# by area


PLATE = Box((0.5, 0.4, 0.01))


def test_a_plate_falls_flat_and_on_edge_as_its_areas_say():
    """A s v^2 = m g of its broad side, and of its narrow one."""
    drag = Drag(strength=1.2, by_area=True)
    flat = path(grain(drag, gravity=(0.0, 0.0, -9.81), shape=PLATE, mass=0.5), seconds=4.0)
    assert -flat[-1, 5] == pytest.approx(math.sqrt(0.5 * 9.81 / (1.2 * 0.8)), rel=5e-3)
    half = math.sqrt(0.5)
    edge = grain(drag, gravity=(0.0, 0.0, -9.81), shape=PLATE, mass=0.5, orientation=(half, 0.0, half, 0.0))
    assert -path(edge, seconds=20.0)[-1, 5] == pytest.approx(math.sqrt(0.5 * 9.81 / (1.2 * 0.8 * 0.02)), rel=5e-3)


@pytest.mark.parametrize("angle", [0.0, 30.0, 60.0])
def test_wind_presses_on_a_tilted_plate_along_its_normal(angle):
    """s A cos^2, of the broad side and of one narrow side."""
    half = math.radians(0.5 * angle)
    wind = Wind(strength=3.0, by_area=True)
    plate = grain(wind, shape=PLATE, orientation=(math.cos(half), 0.0, math.sin(half), 0.0))
    plate.advance_frame()
    cosine, sine = math.cos(2.0 * half), math.sin(2.0 * half)
    broad, narrow = 3.0 * 0.8 * cosine**2, 3.0 * 0.8 * 0.02 * sine**2
    force = broad * np.array([sine, 0.0, cosine]) + narrow * np.array([-cosine, 0.0, sine])
    assert 24.0 * plate.velocities()[0, :3] == pytest.approx(force, rel=1e-9, abs=1e-12)


def test_a_plate_that_is_heavy_at_one_end_turns_in_wind_as_its_torque_says():
    """The pressure acts at the middle: its torque about the centre of mass is force times the distance."""
    wind = Wind(strength=0.03, by_area=True)
    plate = grain(wind, shape=PLATE, center_of_mass=(0.3, 0.0, 0.0))
    found, inertia = path(plate), plate.model.arrays.inertia[0]
    about_y = 1.0 * ((1.0 + 0.02**2) / 12.0 + 0.3**2)
    assert np.abs(inertia - about_y).min() < 1e-6 * about_y
    rate, angle, spin, h = 0.03 * 0.8 * 0.3 / about_y, 0.0, 0.0, 1e-4
    for _ in range(round(2.0 / h)):
        spin += h * rate * math.cos(angle) ** 2
        angle += h * spin
    assert found[-1, 7] == pytest.approx(spin, rel=5e-3)
    turned = 2.0 * math.asin(plate.poses()[1][0, 2])
    assert turned == pytest.approx(angle, rel=5e-3)


@pytest.mark.parametrize(
    ("shape", "force"),
    [
        (Sphere(0.5), math.pi * 0.25 / 2.0),
        (Cylinder(0.5, 0.3), math.pi * 0.25),
        (Cone(0.5, 0.5), math.pi * 0.25),
        (Capsule(0.5, 0.4), math.pi * 0.25 / 2.0),
        (Box((0.3, 0.2, 0.1)), 0.24),
        (ConvexHull.from_points(np.array(list(np.ndindex(2, 2, 2))) * [0.6, 0.4, 0.2]), 0.24),
    ],
)
def test_pressure_on_each_shape_from_below(shape, force):
    """s times the area that faces the wind, of a ball half of its disc: the mean of cos^2 over it."""
    body = grain(Wind(strength=1.0, by_area=True), shape=shape)
    body.advance_frame(FrameInput(duration=1e-3))
    assert 1e3 * body.velocities()[0, 2] == pytest.approx(force, rel=5e-3)
    assert 1e3 * body.velocities()[0, 3:] == pytest.approx(np.zeros(3), abs=1e-9)


# constant force and torque


def pushed(force=NOTHING, torque=NOTHING, *, along_body=False, **body):
    builder = ModelBuilder(gravity=NOTHING)
    index = builder.add_body(shape=Box((0.5, 0.4, 0.3)), mass=2.0, **body)
    builder.push_body(index, force, torque, along_body=along_body)
    return Simulation(builder.build(), SimulationOptions())


def test_a_constant_force_and_torque_give_their_parabolas():
    simulation = pushed((4.0, 0.0, 0.0), (0.0, 0.0, 0.1))
    found = path(simulation)
    moment = 2.0 * (0.5**2 + 0.4**2) / 3.0
    assert found[:, 0] == pytest.approx(times(found) ** 2, abs=1e-12)
    assert found[:, 8] == pytest.approx(0.1 / moment * times(found), rel=1e-12)
    angle = 2.0 * math.asin(simulation.poses()[1][0, 3])
    assert angle == pytest.approx(0.05 / moment * 4.0, rel=1e-9)


def test_a_force_along_a_body_turns_with_it():
    """At the spin w the velocity goes round: F / (m w) (sin w t, 1 - cos w t)."""
    found = path(pushed((4.0, 0.0, 0.0), along_body=True, angular_velocity=(0.0, 0.0, 3.0)))
    t = times(found)
    assert found[:, 3] == pytest.approx(2.0 / 3.0 * np.sin(3.0 * t), abs=1e-4)
    assert found[:, 4] == pytest.approx(2.0 / 3.0 * (1.0 - np.cos(3.0 * t)), abs=1e-4)


def test_forces_change_along_frames_and_wake():
    simulation = pushed()
    simulation.advance_frame(FrameInput(forces=[[96.0, 0.0, 0.0, 0.0, 0.0, 0.0]]))
    assert simulation.velocities()[0, 0] == pytest.approx(1.0, rel=1e-12)
    builder = on_floor()
    builder.push_body(1)
    sleeper = Simulation(builder.build(), SimulationOptions())
    for _ in range(48):
        sleeper.advance_frame()
    assert sleeper.sleeping[1]
    sleeper.advance_frame(FrameInput(forces=[[0.0] * 6, [0.0, 0.0, 24.0, 0.0, 0.0, 0.0]]))
    assert not sleeper.sleeping[1]
    assert sleeper.velocities()[1, 2] > 0.05
    with pytest.raises(ValueError, match="nothing pushes bodies"):
        grain(Wind()).advance_frame(FrameInput(forces=np.zeros((1, 6))))
