"""Guided bodies: they swing, follow and let go as their closed forms say, with any load, and gain nothing by it."""

import math
import time

import numpy as np
import pytest

from cairn.solver_core import (
    Axis,
    BodyKind,
    Box,
    FrameInput,
    Guide,
    Hinge,
    ModelBuilder,
    ModelError,
    Point,
    Simulation,
    SimulationOptions,
    Sphere,
)
from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.dynamics.outside import guides
from cairn.solver_core.geometry import rotations
from cairn.solver_core.scenes.ragdoll import ragdoll

FRAME_RATE = 24
NOWHERE = (0.0, 0.0, 0.0)
UPRIGHT = (1.0, 0.0, 0.0, 0.0)
guides_gains = guides.servo_gains


@kernel
def servo_gains(frequency, damping_ratio, share, h):
    return guides_gains(frequency, damping_ratio, share, h)


def simulation_of(builder, substeps=4, **options) -> Simulation:
    return Simulation(builder.build(), SimulationOptions(frame_rate=FRAME_RATE, substeps=substeps, **options))


def box(guide, velocity=(0.0,) * 6, gravity=(0.0, 0.0, -9.81), **body):
    builder = ModelBuilder(gravity=gravity)
    index = builder.add_body(
        shape=Box((0.3, 0.2, 0.1)), mass=3.0, linear_velocity=velocity[:3], angular_velocity=velocity[3:], **body
    )
    builder.guide_body(index, guide)
    return builder


def rotation_vector(orientation):
    return rotations.to_rotation_vector(np.where(orientation[:, :1] < 0.0, -orientation, orientation))


def swing(frequency, ratio, speed, times):
    """An oscillator that leaves its rest with a speed."""
    rate = 2.0 * math.pi * frequency
    if ratio < 1.0:
        damped = rate * math.sqrt(1.0 - ratio**2)
        return speed * np.exp(-ratio * rate * times) * np.sin(damped * times) / damped
    if ratio == 1.0:
        return speed * times * np.exp(-rate * times)
    apart = rate * math.sqrt(ratio**2 - 1.0)
    return speed * np.exp(-ratio * rate * times) * np.sinh(apart * times) / apart


def rate_and_ratio(values, duration):
    """Undamped rate [rad/s] and damping ratio of a swing that was sampled: of its poles, by least squares."""
    before = np.stack([values[1:-1], values[:-2]], axis=1)
    total, product = np.linalg.lstsq(before, values[2:], rcond=None)[0]
    pole = np.log(np.roots([1.0, -total, -product])[0]) / duration
    return abs(pole), -pole.real / abs(pole)


# gains


@pytest.mark.parametrize("share", [0.5, 0.625, 1.0])
@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.7, 0.999999, 1.0, 1.5, 20.0])
@pytest.mark.parametrize("frequency", [1e-6, 0.5, 8.0, 19.0])
def test_gains_have_the_poles_of_the_oscillator(frequency, ratio, share):
    h = 1.0 / 96.0
    stiffness, braking = servo_gains(frequency, ratio, share, h)
    step = np.array([[1.0 - share * stiffness, 1.0 - share * braking], [-stiffness, 1.0 - braking]])
    rate = 2.0 * math.pi * frequency * h
    root = np.sqrt(complex(ratio**2 - 1.0))
    poles = np.exp(rate * np.array([-ratio + root, -ratio - root]))
    assert np.trace(step) == pytest.approx(poles.sum().real, abs=1e-12)
    assert np.linalg.det(step) == pytest.approx(poles.prod().real, abs=1e-12)


@pytest.mark.parametrize("ratio", [0.0, 0.05, 0.5, 1.0, 3.0, 100.0])
@pytest.mark.parametrize("frequency", [0.01, 5.0, 100.0, 1e6])
def test_no_load_and_no_rule_lets_a_servo_gain(frequency, ratio):
    """Any part p of K and G, as a load leaves of them, has poles in the unit circle, for the rule it was made for."""
    for share in (0.5, 0.625, 1.0):
        stiffness, braking = servo_gains(frequency, ratio, share, 1.0 / 96.0)
        for part in (1e-3, 0.1, 0.5, 1.0):
            k, g = part * stiffness, part * braking
            step = np.array([[1.0 - share * k, 1.0 - share * g], [-k, 1.0 - g]])
            assert np.abs(np.linalg.eigvals(step)).max() <= 1.0 + 1e-9
    # and of that for the mean where it goes by END
    k, g = servo_gains(frequency, ratio, 0.5, 1.0 / 96.0)
    assert np.abs(np.linalg.eigvals(np.array([[1.0 - k, 1.0 - g], [-k, 1.0 - g]]))).max() <= 1.0 + 1e-9


# one body


@pytest.mark.parametrize("substeps", [1, 4, 16])
@pytest.mark.parametrize(("frequency", "ratio"), [(0.5, 0.0), (1.5, 0.1), (2.0, 1.0), (1.0, 2.0)])
def test_a_box_swings_about_its_pose_as_the_closed_form(substeps, frequency, ratio):
    velocity = 0.3, 0.0, 0.0, 0.0, 0.0, 0.2
    simulation = simulation_of(box(Guide(frequency=frequency, damping_ratio=ratio), velocity), substeps)
    ways, turns = [], []
    for _ in range(48):
        simulation.advance_frame()
        position, orientation = simulation.poses()
        ways.append(position[0])
        turns.append(rotation_vector(orientation)[0])
    times = np.arange(1, 49) / FRAME_RATE
    ways, turns = np.array(ways), np.array(turns)
    for found, speed in ((ways[:, 0], 0.3), (turns[:, 2], 0.2)):
        wanted = swing(frequency, ratio, speed, times)
        # two frames on it is what the oscillator's poles make of it, whatever the substeps
        root = np.sqrt(complex(ratio**2 - 1.0))
        poles = np.exp(2.0 * math.pi * frequency / FRAME_RATE * np.array([-ratio + root, -ratio - root]))
        ahead = poles.sum().real * found[1:-1] - poles.prod().real * found[:-2]
        assert np.abs(found[2:] - ahead).max() <= 1e-5 * np.abs(wanted).max()
        # how far the first substep goes is of the second order in its length
        assert np.abs(found - wanted).max() <= 0.16 / substeps * np.abs(wanted).max()
    assert np.abs(ways[:, 1:]).max() <= 1e-12  # its weight is carried
    assert np.abs(turns[:, :2]).max() <= 1e-9


def test_half_followed_it_sags_by_the_weight_that_is_not_carried():
    simulation = simulation_of(box(Guide(frequency=3.0, follow=0.25)))
    for _ in range(96):
        simulation.advance_frame()
    sag = 0.75 * 9.81 / (0.25 * (2.0 * math.pi * 3.0) ** 2)
    assert simulation.poses()[0][0] == pytest.approx([0.0, 0.0, -sag], abs=0.001 * sag)


def test_not_followed_it_falls():
    simulation = simulation_of(box(Guide(follow=0.0), (0.0, 1.0, 0.0, 0.0, 0.0, 2.0)))
    for _ in range(24):
        simulation.advance_frame()
    assert simulation.poses()[0][0] == pytest.approx([0.0, 1.0, -0.5 * 9.81], abs=1e-9)
    assert rotation_vector(simulation.poses()[1])[0] == pytest.approx([0.0, 0.0, 2.0], abs=1e-9)


def test_no_more_than_its_largest_force_and_torque():
    """A weight of 29.43 N, carried by 20 N at most, falls with what is left; a turn is led by 0.1 N m."""
    guide = Guide(frequency=10.0, largest_force=20.0, largest_torque=0.1)
    simulation = simulation_of(box(guide))
    ahead = rotations.from_rotation_vector(np.array([[0.0, 0.0, 3.0]]))
    given = FrameInput(position=np.zeros((1, 3)), orientation=ahead, jumps=np.ones(1, bool))
    inertia = simulation.model.arrays.inertia[0].max()
    before = simulation.velocities()[0]
    for _ in range(6):
        simulation.advance_frame(given)
        after = simulation.velocities()[0]
        assert after[2] - before[2] == pytest.approx((20.0 / 3.0 - 9.81) / FRAME_RATE, rel=1e-9)
        assert inertia * (after[5] - before[5]) * FRAME_RATE == pytest.approx(0.1, rel=1e-6)
        before = after


# moving targets


def circle(frame):
    """A pose that goes round in a circle of 1 m in two seconds and turns about a moving axis, all smoothly."""
    angle = math.pi * frame / FRAME_RATE
    position = np.array([[math.cos(angle) - 1.0, math.sin(angle), 0.3 * (1.0 - math.cos(2.0 * angle))]])
    vector = np.array([[0.5 * math.sin(2.0 * angle), 0.3 * math.sin(angle), 0.8 * math.sin(angle)]])
    return position, rotations.from_rotation_vector(vector)


def rates_at(frame):
    step = 1e-4
    (p0, q0), (p1, q1) = circle(frame - step), circle(frame + step)
    turn = rotations.to_rotation_vector(rotations.multiply(q1, rotations.conjugate(q0)))
    return np.concatenate([p1 - p0, turn], axis=1) * FRAME_RATE / (2.0 * step)


def on_circle(frame, with_rates=True, **more):
    position, orientation = circle(frame)
    velocity = np.array([rates_at(frame - 1), rates_at(frame)]) if with_rates else None
    return FrameInput(position=position, orientation=orientation, velocity=velocity, **more)


def test_led_from_the_start_it_begins_with_the_velocity_of_its_target():
    ends = []
    for velocity in (np.zeros(6), rates_at(0)[0]):
        simulation = simulation_of(box(Guide(frequency=4.0), velocity))
        simulation.advance_frame(on_circle(1))
        ends.append(simulation.poses())
    assert ends[0][0] == pytest.approx(ends[1][0], abs=1e-9)
    assert ends[0][1] == pytest.approx(ends[1][1], abs=1e-9)


@pytest.mark.parametrize("substeps", [2, 4, 16])
@pytest.mark.parametrize("center", ["volume", (0.2, -0.1, 0.05)])
def test_it_follows_without_lag(substeps, center):
    """Of a size of 0.6 m it is off by 0.2 % at most; a servo that knows no velocity would lag by a third of it.

    At two substeps four times as much, as it is of the second order.
    """
    order = max(1.0, (4.0 / substeps) ** 2)
    velocity = rates_at(0)[0] if center == "volume" else np.zeros(6)
    simulation = simulation_of(box(Guide(frequency=4.0), velocity, center_of_mass=center), substeps)
    for frame in range(1, 97):
        simulation.advance_frame(on_circle(frame))
        position, orientation = simulation.poses()
        wanted, turned = circle(frame)
        off = np.linalg.norm(position - wanted)
        angle = np.linalg.norm(rotation_vector(rotations.multiply(orientation, rotations.conjugate(turned))))
        assert off <= 0.002 * 0.6 * order, (frame, off)
        assert angle <= 0.004 * order, (frame, angle)


def test_keys_joined_by_straight_ways_are_met():
    simulation = simulation_of(box(Guide(frequency=6.0)))
    for frame in range(1, 49):
        simulation.advance_frame(on_circle(frame, with_rates=False))
        if frame > 6:
            assert np.linalg.norm(simulation.poses()[0] - circle(frame)[0]) <= 0.02 * 0.6


def test_let_go_it_has_the_velocity_of_its_keys_and_comes_back():
    simulation = simulation_of(box(Guide(frequency=4.0), rates_at(0)[0]))
    for frame in range(1, 31):
        simulation.advance_frame(on_circle(frame))
    found, wanted = simulation.velocities()[0], rates_at(30)[0]
    assert np.linalg.norm(found[:3] - wanted[:3]) <= 0.01 * np.linalg.norm(wanted[:3])
    assert np.linalg.norm(found[3:] - wanted[3:]) <= 0.01 * np.linalg.norm(wanted[3:])
    start, spin = simulation.poses()[0][0], simulation.velocities()[0]
    for frame in range(31, 37):
        simulation.advance_frame(on_circle(frame, follow=np.zeros(1)))
    flown = 6.0 / FRAME_RATE
    parabola = start + flown * spin[:3] + 0.5 * flown**2 * np.array([0.0, 0.0, -9.81])
    assert simulation.poses()[0][0] == pytest.approx(parabola, abs=1e-9)
    for frame in range(37, 61):
        simulation.advance_frame(on_circle(frame, follow=np.ones(1)))
    assert np.linalg.norm(simulation.poses()[0] - circle(60)[0]) <= 0.02 * 0.6


def test_a_target_that_jumps_is_not_followed_at_the_speed_of_the_jump():
    simulation = simulation_of(box(Guide(frequency=2.0)))
    given = FrameInput(position=np.array([[1.0, 0.0, 0.0]]), orientation=np.array([UPRIGHT]), jumps=np.ones(1, bool))
    wanted = []
    for frame in range(1, 25):
        simulation.advance_frame(given)
        rate, at = 4.0 * math.pi, frame / FRAME_RATE
        wanted.append(1.0 - (1.0 + rate * at) * math.exp(-rate * at))
        assert simulation.poses()[0][0, 0] == pytest.approx(wanted[-1], abs=0.04)
        assert simulation.poses()[0][0, 0] <= 1.0 + 1e-9


# what joints hold


@pytest.mark.parametrize("follow", [1.0, 0.5, 0.1])
@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("frequency", [1.2, 3.0])
def test_a_guided_pendulum(frequency, ratio, follow):
    """With the share of its weight that hangs: w^2 = follow (2 pi f)^2 + (1 - follow) m g l / (I + m l^2)."""
    builder = ModelBuilder()
    rod = builder.add_body(shape=Box((0.05, 0.05, 0.5)), mass=2.0, position=(0.0, 0.0, -0.5))
    builder.add_joint(Hinge(Axis()), rod, position=NOWHERE, orientation=_about_y())
    builder.guide_body(rod, Guide(frequency=frequency, damping_ratio=ratio, follow=follow))
    model = builder.build()
    model.initial_state.velocity[rod] = [-0.5 * 0.1, 0.0, 0.0, 0.0, 0.1, 0.0]
    simulation = Simulation(model, SimulationOptions(frame_rate=FRAME_RATE, substeps=4, sleeping=False))
    angles = [0.0]
    for _ in range(120):
        simulation.advance_frame()
        angles.append(rotation_vector(simulation.poses()[1])[rod, 1])
    inertia = 2.0 / 3.0 * (0.05**2 + 0.5**2) + 2.0 * 0.25
    servo = follow * (2.0 * math.pi * frequency) ** 2
    rate = math.sqrt(servo + (1.0 - follow) * 2.0 * 9.81 * 0.5 / inertia)
    found = rate_and_ratio(np.array(angles), 1.0 / FRAME_RATE)
    assert found[0] == pytest.approx(rate, rel=1e-3)
    assert found[1] == pytest.approx(ratio * math.sqrt(servo) / rate, rel=0.002, abs=5e-4)


def _about_y():
    """The hinge's z axis along y."""
    return rotations.from_rotation_vector(np.array([[-0.5 * math.pi, 0.0, 0.0]]))[0]


@pytest.mark.parametrize("frequency", [0.3, 5.0, 19.0, 1e4])
@pytest.mark.parametrize("ratio", [0.1, 1.0, 10.0])
def test_with_a_load_of_a_thousand_times_its_mass_it_stays_where_it_belongs(frequency, ratio):
    """A ball of 1 kg that carries one of 1,000 kg by a joint: its energy never rises above what it fell by."""
    builder = ModelBuilder()
    light = builder.add_body(shape=Sphere(0.2), mass=1.0)
    heavy = builder.add_body(shape=Sphere(0.5), mass=1000.0, position=(0.6, 0.0, -1.0))
    builder.add_joint(Point(), light, heavy, position=(0.0, 0.0, -0.2))
    builder.guide_body(light, Guide(frequency=frequency, damping_ratio=ratio))
    simulation = simulation_of(builder, sleeping=False)
    for _ in range(48):
        report = simulation.advance_frame()
        way = 9.81 * (simulation.poses()[0][heavy, 2] + 1.0)
        speed = 0.5 * np.sum(simulation.velocities()[heavy, :3] ** 2)
        assert speed + way <= 0.05, report.frame
        assert np.all(np.isfinite(simulation.poses()[0]))


@pytest.mark.parametrize("frequency", [2.0, 18.0, 1e5])
def test_pressed_on_a_floor_it_rests(frequency):
    """Its target is under the floor: contacts hold it there, whatever pulls."""
    builder = ModelBuilder()
    builder.add_body(shape=Box((3.0, 3.0, 0.5)), kind=BodyKind.STATIC, position=(0.0, 0.0, -0.5))
    index = builder.add_body(shape=Box((0.2, 0.2, 0.2)), mass=2.0, position=(0.0, 0.0, 0.5))
    builder.guide_body(index, Guide(frequency=frequency))
    simulation = simulation_of(builder)
    position, orientation = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, -0.3]]), np.array([UPRIGHT, UPRIGHT])
    for frame in range(72):
        simulation.advance_frame(FrameInput(position=position, orientation=orientation))
        assert simulation.poses()[0][index, 2] >= 0.2 - 0.01
        if frame > 48:
            assert np.abs(simulation.velocities()[index]).max() <= 1e-3


@pytest.mark.parametrize("quality", ["exact", "production"])
@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_it_follows_along_a_floor_that_it_is_pressed_on(quality, friction):
    """By a millimetre, to and fro by half a metre in a second: 0.4 % of its size off, where 2 % are asked."""
    builder = ModelBuilder()
    builder.add_body(shape=Box((3.0, 3.0, 0.5)), kind=BodyKind.STATIC, position=(0.0, 0.0, -0.5), friction=1.0)
    index = builder.add_body(shape=Box((0.2, 0.2, 0.2)), mass=3.0, position=(0.0, 0.0, 0.2), friction=friction)
    builder.guide_body(index, Guide())
    simulation = simulation_of(builder, quality=quality)
    rate = 2.0 * math.pi / FRAME_RATE
    for frame in range(1, 73):
        position, velocity = np.zeros((2, 3)), np.zeros((2, 2, 6))
        position[index] = 0.5 * math.sin(rate * frame) ** 2, 0.0, 0.199
        for end, at in enumerate((frame - 1, frame)):
            velocity[end, index, 0] = math.pi * math.sin(2.0 * rate * at)
        simulation.advance_frame(FrameInput(position=position, orientation=np.tile(UPRIGHT, (2, 1)), velocity=velocity))
        assert abs(simulation.poses()[0][index, 0] - position[index, 0]) <= 0.004 * 0.4, frame


def test_it_pushes_what_is_in_its_way_with_no_more_than_its_force():
    """Against a box that cannot be moved by 20 N, but by 60 N: friction bears 0.5 * 0.5 * 20 kg g = 49 N."""
    ends = []
    for force in (20.0, 200.0):
        builder = ModelBuilder()
        builder.add_body(shape=Box((5.0, 5.0, 0.5)), kind=BodyKind.STATIC, position=(0.0, 0.0, -0.5), friction=0.5)
        other = builder.add_body(shape=Box((0.3, 0.3, 0.3)), mass=20.0, position=(1.0, 0.0, 0.3), friction=0.5)
        pusher = builder.add_body(shape=Sphere(0.2), mass=1.0, position=(0.0, 0.0, 0.3), friction=0.0)
        builder.guide_body(pusher, Guide(frequency=3.0, largest_force=force))
        simulation = simulation_of(builder)
        for frame in range(1, 73):
            position = np.zeros((3, 3))
            position[pusher] = min(frame / 48.0, 1.0) * 2.0, 0.0, 0.3
            simulation.advance_frame(FrameInput(position=position, orientation=np.tile(UPRIGHT, (3, 1))))
        ends.append(simulation.poses()[0][other, 0])
    assert ends[0] == pytest.approx(1.0, abs=0.02)
    assert ends[1] > 1.5


# figures


def figure(guide=None):
    """The ready-made figure, standing in the air, without stairs: its model, and the places of its bodies."""
    builder, scene = ModelBuilder(), ragdoll(lean=0.0)
    own = [body for body in scene.bodies if body.kind == BodyKind.DYNAMIC]
    index = {}
    for body in own:
        index[body.name] = builder.add_body(
            name=body.name,
            shape=body.shape,
            mass=body.mass,
            position=body.position,
            orientation=body.orientation,
            linear_damping=0.04,
            angular_damping=0.1,
        )
        if guide is not None:
            builder.guide_body(index[body.name], guide)
    for joint in scene.joints:
        second = None if joint.second is None else index[joint.second]
        builder.add_joint(
            joint.joint, index[joint.first], second, position=joint.position, orientation=joint.orientation
        )
    return builder, scene, index


class Dance:
    """A motion of the figure that its joints allow: the hip goes round, arms and legs swing, with their joints."""

    def __init__(self, scene, index):
        self.joints, self.index = scene.joints, index
        self.rest = {body.name: np.array(body.position) for body in scene.bodies if body.name in index}
        self.parent = {joint.second: joint for joint in scene.joints}

    def at(self, frame):
        time_now = frame / FRAME_RATE
        wave = math.sin(2.0 * math.pi * 1.2 * time_now)
        angles = {"UpperArm.L": 0.9 * wave, "UpperArm.R": -0.9 * wave, "Thigh.L": -0.6 * wave, "Thigh.R": 0.6 * wave}
        angles |= {"Forearm.L": 0.7 + 0.5 * wave, "Forearm.R": 0.7 - 0.5 * wave}
        angles |= {"Shin.L": -0.6 + 0.4 * wave, "Shin.R": -0.6 - 0.4 * wave}
        root = np.array([0.4 * math.sin(2.0 * math.pi * 0.5 * time_now), 0.6 * time_now, 0.1 * wave])
        count = len(self.index)
        position, orientation = np.zeros((count, 3)), np.tile(UPRIGHT, (count, 1))
        for name, row in self.index.items():
            place, turn, own = self.rest[name].copy(), 0.0, name
            while own in self.parent:
                joint = self.parent[own]
                angle = angles.get(own, 0.0) * _ease(time_now)
                turn += angle
                place = np.array(joint.position) + _about_x(angle, place - np.array(joint.position))
                own = joint.first
            position[row] = place + root * _ease(time_now)
            orientation[row] = math.cos(0.5 * turn), math.sin(0.5 * turn), 0.0, 0.0
        return position, orientation


def _ease(time_now):
    share = min(time_now, 1.0)
    return share * share * (3.0 - 2.0 * share)


def _about_x(angle, vector):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([vector[0], c * vector[1] - s * vector[2], s * vector[1] + c * vector[2]])


def dance_input(dance, frame, **more):
    step = 1e-3
    rates = []
    for at in (frame - 1, frame):
        (p0, q0), (p1, q1) = dance.at(max(at - step, 0.0)), dance.at(at + step)
        span = (at + step - max(at - step, 0.0)) / FRAME_RATE
        turn = rotations.to_rotation_vector(rotations.multiply(q1, rotations.conjugate(q0)))
        rates.append(np.concatenate([p1 - p0, turn], axis=1) / span)
    position, orientation = dance.at(frame)
    return FrameInput(position=position, orientation=orientation, velocity=np.array(rates), **more)


def test_a_figure_follows_goes_limp_and_comes_back():
    """At follow 1 within 2 % of each body's size; let go with the keys' velocity within 1 %; back within a second."""
    builder, scene, index = figure(Guide())
    simulation, dance = simulation_of(builder), Dance(scene, index)
    size, count = simulation.model.arrays.size, len(index)
    for frame in range(1, 61):
        given = dance_input(dance, frame)
        simulation.advance_frame(given)
        off = np.linalg.norm(simulation.poses()[0] - given.position, axis=1) / size
        turns = rotations.multiply(simulation.poses()[1], rotations.conjugate(given.orientation))
        assert off.max() <= 0.02, (frame, off.max())
        assert np.linalg.norm(rotation_vector(turns), axis=1).max() <= 0.02
    found, wanted = simulation.velocities()[:, :3], given.velocity[1, :, :3]
    assert np.linalg.norm(found - wanted, axis=1).max() <= 0.01 * np.linalg.norm(wanted, axis=1).max()
    before = simulation.poses()[0]
    for frame in range(61, 73):
        report = simulation.advance_frame(dance_input(dance, frame, follow=np.zeros(count)))
        assert report.missed == 0
    fallen = before[:, 2] - simulation.poses()[0][:, 2]
    assert fallen.mean() > 0.5
    for frame in range(73, 121):
        given = dance_input(dance, frame, follow=np.ones(count))
        simulation.advance_frame(given)
    off = np.linalg.norm(simulation.poses()[0] - given.position, axis=1) / size
    assert off.max() <= 0.02


def test_a_guided_figure_costs_at_most_twice_the_limp_one():
    """Medians of frames taken in turn, of the figure that dances on, and of the same one that is let go."""
    builder, scene, index = figure(Guide())
    dance, spent = Dance(scene, index), ([], [])
    guided, limp = simulation_of(builder), simulation_of(builder)
    for frame in range(1, 43):
        given = dance_input(dance, frame)
        follow = np.full(len(index), float(frame <= 18))
        let_go = FrameInput(
            position=given.position, orientation=given.orientation, velocity=given.velocity, follow=follow
        )
        for times, simulation, own in zip(spent, (guided, limp), (given, let_go), strict=True):
            begin = time.perf_counter()
            simulation.advance_frame(own)
            times.append(time.perf_counter() - begin)
    assert np.median(spent[0][18:]) <= 2.0 * np.median(spent[1][18:])


# what is carried, and who wakes


def test_it_sleeps_at_its_target_and_wakes_when_that_moves_or_lets_go():
    simulation = simulation_of(box(Guide(frequency=4.0), sleep_speed=(0.4, 0.5)))
    for _ in range(60):
        simulation.advance_frame()
    # nothing holds it but its servo, and it stands
    assert np.abs(simulation.velocities()).max() <= 1e-12
    place = FrameInput(position=np.array([[0.01, 0.0, 0.0]]), orientation=np.array([UPRIGHT]))
    for _ in range(48):
        simulation.advance_frame(place)
    assert simulation.poses()[0][0, 0] == pytest.approx(0.01, abs=1e-4)
    simulation.advance_frame(FrameInput(follow=np.zeros(1)))
    assert simulation.velocities()[0, 2] == pytest.approx(-9.81 / FRAME_RATE, abs=1e-6)


def test_a_body_on_a_floor_that_sleeps_is_lifted():
    builder = ModelBuilder()
    builder.add_body(shape=Box((3.0, 3.0, 0.5)), kind=BodyKind.STATIC, position=(0.0, 0.0, -0.5))
    index = builder.add_body(shape=Box((0.2, 0.2, 0.2)), mass=2.0, position=(0.0, 0.0, 0.2))
    builder.guide_body(index, Guide(frequency=4.0, follow=0.0))
    simulation = simulation_of(builder)
    for _ in range(60):
        simulation.advance_frame()
    assert simulation.sleeping[index]
    lifted = FrameInput(
        position=np.array([NOWHERE, (0.0, 0.0, 1.0)]), orientation=np.tile(UPRIGHT, (2, 1)), follow=np.ones(2)
    )
    for _ in range(48):
        simulation.advance_frame(lifted)
    assert simulation.poses()[0][index, 2] == pytest.approx(1.0, abs=1e-3)


def test_a_checkpoint_goes_on_to_the_same_bits():
    model = box(Guide(frequency=4.0), rates_at(0)[0]).build()
    options = SimulationOptions(frame_rate=FRAME_RATE, substeps=4)
    unbroken, resumed = Simulation(model, options), Simulation(model, options)
    for frame in range(1, 13):
        unbroken.advance_frame(on_circle(frame, follow=np.full(1, 0.7)))
    resumed.restore(unbroken.checkpoint())
    for frame in range(13, 25):
        for simulation in (unbroken, resumed):
            simulation.advance_frame(on_circle(frame))
        assert unbroken.digest() == resumed.digest()


def test_guides_of_other_bodies_move_nothing():
    """A body without a guide falls as in a model without any."""
    ends = []
    for with_guide in (False, True):
        builder = ModelBuilder()
        builder.add_body(shape=Box((3.0, 3.0, 0.5)), kind=BodyKind.STATIC, position=(0.0, 0.0, -0.5))
        builder.add_body(shape=Box((0.2, 0.3, 0.1)), position=(0.0, 0.0, 1.0), angular_velocity=(1.0, 2.0, 3.0))
        led = builder.add_body(shape=Box((0.2, 0.2, 0.2)), position=(9.0, 0.0, 5.0), orientation=UPRIGHT)
        if with_guide:
            builder.guide_body(led, Guide())
        simulation = simulation_of(builder)
        for _ in range(18):
            simulation.advance_frame()
        ends.append(simulation.poses()[0][1])
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


# what is refused


@pytest.mark.parametrize(
    ("guide", "text"),
    [
        (Guide(frequency=0.0), "frequency of its guide is 0"),
        (Guide(frequency=math.nan), "frequency of its guide is nan"),
        (Guide(damping_ratio=-1.0), "damping ratio of its guide is -1"),
        (Guide(largest_force=0.0), "largest force of its guide is 0"),
        (Guide(follow=1.5), "follow is 1.5"),
    ],
)
def test_numbers_that_cannot_be_are_named(guide, text):
    with pytest.raises(ModelError, match=text):
        box(guide, name="Box")


def test_input_that_cannot_be_is_named():
    simulation = simulation_of(box(Guide()))
    with pytest.raises(ValueError, match="follow has values from 2 to 2"):
        simulation.advance_frame(FrameInput(follow=np.full(1, 2.0)))
    with pytest.raises(ValueError, match="body 0 holds NaN"):
        simulation.advance_frame(FrameInput(position=np.full((1, 3), np.nan), orientation=np.array([UPRIGHT])))
