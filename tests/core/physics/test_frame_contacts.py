"""What a frame hands out of its contacts: closed forms, and that all impulses together are the change of momentum."""

import numpy as np
import pytest

from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.joints.fixed import Fixed
from cairn.solver_core.model.joints.hinge import Hinge
from cairn.solver_core.model.joints.point import Point
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import FrameInput, SimulationOptions
from cairn.solver_core.scenes import SCENES
from cairn.solver_core.simulation import Simulation

G = 9.81
DURATION = 1.0 / 24.0
# Of the impulses on a body: what the sums may be off by is rounding.
SUM_TOLERANCE = 1e-9


def simulation_of(builder, **options):
    return Simulation(builder.build(), SimulationOptions(contacts=True, **options))


def with_floor(**options):
    builder = ModelBuilder(**options)
    builder.add_body(shape=Box((10.0, 10.0, 0.5)), position=(0.0, 0.0, -0.5), kind=BodyKind.STATIC, name="Floor")
    return builder


def advance(simulation, frame_input=None):
    """A frame; its contacts, after the sums of their impulses were held against the change of momentum."""
    model, before = simulation.model, simulation.velocities()
    simulation.advance_frame(frame_input)
    contacts, after = simulation.contacts(), simulation.velocities()
    mass, joints = model.arrays.mass[:, None], model.arrays.joints
    total, scale = contacts.forces + contacts.rest, np.linalg.norm(mass * before[:, :3], axis=1)
    for body, sign in ((contacts.body_b, 1.0), (contacts.body_a, -1.0)):
        np.add.at(total, body, sign * contacts.impulse)
        np.add.at(scale, body, np.linalg.norm(contacts.impulse, axis=1))
    for side, bodies in enumerate((joints.body_a, joints.body_b)):
        held = bodies >= 0
        np.add.at(total, bodies[held], contacts.joint_impulse[held, side])
        np.add.at(scale, bodies[held], np.linalg.norm(contacts.joint_impulse[held, side], axis=1))
    error = np.linalg.norm(mass * (after - before)[:, :3] - total, axis=1)
    error[simulation.state.kind != BodyKind.DYNAMIC] = 0.0
    scale += np.linalg.norm(contacts.forces, axis=1)
    worst = int(np.argmax(error - SUM_TOLERANCE * scale))
    assert error[worst] <= SUM_TOLERANCE * scale[worst], (model.names[worst], error[worst], scale[worst])
    return contacts


@pytest.mark.parametrize("sleeping", [True, False])
@pytest.mark.parametrize("substeps", [1, 4, 7])
def test_a_box_at_rest_is_borne(substeps, sleeping):
    """In each frame m g T, straight up, without slip; what sleeps pushes nothing."""
    builder = with_floor()
    builder.add_body(shape=Box((0.5, 0.3, 0.2)), mass=3.0, position=(1.0, 2.0, 0.2))
    simulation = simulation_of(builder, substeps=substeps, sleeping=sleeping)
    for frame in range(30):
        sleeps = simulation.sleeping[1]
        contacts = advance(simulation)
        if sleeps:
            assert frame >= 24
            assert len(contacts.impulse) == 0
            assert not contacts.forces.any()
            continue
        # to the solver's tolerance
        weight = 3.0 * G * DURATION
        assert contacts.impulse.sum(axis=0) == pytest.approx([0.0, 0.0, weight], abs=1e-6 * weight)
        assert set(zip(contacts.body_a.tolist(), contacts.body_b.tolist(), strict=True)) == {(0, 1)}
        assert contacts.normal == pytest.approx(np.tile([0.0, 0.0, 1.0], (len(contacts.normal), 1)), abs=1e-12)
        middle = (contacts.normal_impulse[:, None] * contacts.position).sum(axis=0) / contacts.normal_impulse.sum()
        assert middle == pytest.approx([1.0, 2.0, 0.0], abs=1e-5)
        assert np.abs(contacts.slip).max() < 1e-6 * G * DURATION
        assert np.linalg.norm(contacts.rest) < 1e-6 * weight
    assert simulation.sleeping[1] == sleeping


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("substeps", [1, 4])
def test_a_bounce_gives_what_it_turns_round(restitution, substeps):
    """A ball without gravity: m (1 + e) v where it hits, and in one frame; without a bounce in up to two."""
    share = restitution**0.5
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body(
        shape=Box((10.0, 10.0, 0.5)), position=(0.0, 0.0, -0.5), kind=BodyKind.STATIC, restitution=share, name="Floor"
    )
    ball = {"mass": 0.7, "restitution": share, "linear_velocity": (0.0, 0.0, -3.0)}
    builder.add_body(shape=Sphere(0.1), position=(0.3, -0.2, 0.33), **ball)
    simulation = simulation_of(builder, substeps=substeps)
    given = [advance(simulation) for _ in range(5)]
    total = sum(contacts.impulse.sum(axis=0) for contacts in given)
    assert total == pytest.approx([0.0, 0.0, 0.7 * (1.0 + restitution) * 3.0], rel=1e-6, abs=1e-9)
    hits = [contacts for contacts in given if contacts.normal_impulse.max(initial=0.0) > 1e-3]
    assert len(hits) == 1 if restitution > 0.0 else len(hits) <= 2
    assert hits[0].position[0] == pytest.approx([0.3, -0.2, 0.0], abs=0.13)


def test_what_may_not_fall_faster_adds_up():
    """A ball of at most 2 m/s falls, beside another that is damped and thrown sideways, and both land."""
    builder = with_floor()
    builder.add_body(shape=Sphere(0.1), mass=0.5, position=(0.0, 0.0, 1.5), largest_speed=2.0)
    thrown = {"linear_velocity": (3.0, 0.0, 1.0), "linear_damping": 0.3}
    builder.add_body(shape=Sphere(0.2), position=(1.0, 0.0, 1.0), largest_speed=2.5, **thrown)
    simulation = simulation_of(builder)
    lost = [advance(simulation).rest[1, 2] for _ in range(36)]
    # while it falls at its largest speed all that gravity gives is lost
    assert max(lost) == pytest.approx(0.5 * G * DURATION, rel=1e-9)


def test_what_a_belt_carries_slips_against_the_belt():
    """A box put on a belt of 1 m/s: friction takes it along, and its slip is what it lacks of the belt's speed."""
    builder = ModelBuilder()
    belt = {"kind": BodyKind.STATIC, "surface_velocity": (1.0, 0.0, 0.0), "friction": 0.5}
    builder.add_body(shape=Box((10.0, 1.0, 0.5)), position=(0.0, 0.0, -0.5), **belt)
    builder.add_body(shape=Box((0.2, 0.2, 0.2)), mass=3.0, position=(0.0, 0.0, 0.2), friction=0.5)
    simulation = simulation_of(builder)
    for _ in range(6):
        before = simulation.velocities()[1, 0]
        contacts = advance(simulation)
        mean = 0.5 * (before + simulation.velocities()[1, 0])
        assert contacts.impulse[:, 0].sum() == pytest.approx(0.25 * 3.0 * G * DURATION, rel=1e-3)
        assert contacts.slip[:, 0] == pytest.approx(np.full(len(contacts.slip), mean - 1.0), abs=2e-2)


def test_a_sliding_box_slips_and_is_braked():
    """Friction takes mu m g T in a frame, and the slip is the mean of the frame's velocities."""
    builder = with_floor()
    builder.add_body(
        shape=Box((0.5, 0.5, 0.1)), mass=2.0, position=(0.0, 0.0, 0.1), friction=0.2, linear_velocity=(4.0, -3.0, 0.0)
    )
    mu = 0.2 * builder.build().arrays.friction[0]
    simulation = simulation_of(builder)
    for _ in range(8):
        before = simulation.velocities()[1, :3]
        contacts = advance(simulation)
        mean = 0.5 * (before + simulation.velocities()[1, :3])
        bears = 2.0 * G * DURATION
        expected = [-0.8 * mu * bears, 0.6 * mu * bears, bears]
        assert contacts.impulse.sum(axis=0) == pytest.approx(expected, rel=1e-5)
        weight = np.linalg.norm(contacts.impulse, axis=1)
        assert (weight[:, None] * contacts.slip).sum(axis=0) / weight.sum() == pytest.approx(mean, rel=1e-4, abs=1e-6)


def test_a_hinge_bears_what_hangs_on_it():
    """At rest m g T on the world and the bar; and the fixed end of a cantilever m g L T about itself."""
    builder = ModelBuilder()
    builder.add_body(shape=Box((0.05, 0.05, 0.5)), mass=5.0, position=(0.0, 0.0, -0.5))
    builder.add_body(shape=Box((0.5, 0.05, 0.05)), mass=2.0, position=(3.5, 0.0, 0.0))
    builder.add_body(shape=Box((0.5, 0.05, 0.05)), mass=2.0, position=(3.5, 5.0, 0.0))
    builder.add_joint(Hinge(), 0, position=(0.0, 0.0, 0.0), orientation=(0.5**0.5, 0.5**0.5, 0.0, 0.0))
    builder.add_joint(Fixed(), 1, position=(3.0, 0.0, 0.0))
    builder.add_joint(Fixed(), 1, 2, position=(3.5, 2.5, 0.0))
    simulation = simulation_of(builder)
    for _ in range(4):
        contacts = advance(simulation)
        assert contacts.joint_impulse[0, 0] == pytest.approx([0.0, 0.0, 5.0 * G * DURATION], rel=1e-6, abs=1e-8)
        assert contacts.joint_impulse[1, 0] == pytest.approx([0.0, 0.0, 4.0 * G * DURATION], rel=1e-6, abs=1e-6)
        assert contacts.joint_impulse[2, 1] == pytest.approx([0.0, 0.0, 2.0 * G * DURATION], rel=1e-6, abs=1e-6)
        assert contacts.joint_impulse[2, 0] == pytest.approx(-contacts.joint_impulse[2, 1], rel=1e-9)
        # of the world, with the sign of what the world gets: 2 m g at 0.5 along x, and one of them at 5 along y
        moment = np.array([-5.0 * 2.0 * G, 0.5 * 4.0 * G, 0.0]) * DURATION
        assert contacts.joint_moment[1] == pytest.approx(moment, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("jointed", [True, False])
def test_bounces_that_turn_directions_sum_up(free, jointed):
    """Balls that meet aslant while they move on: impulses act along the line of their centres, which turns."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0 if free else -G))
    if not free:
        builder.add_body(shape=Box((10.0, 10.0, 0.5)), position=(0.0, 0.0, -0.5), kind=BodyKind.STATIC, restitution=0.9)
    kwargs = {"shape": Sphere(0.2), "restitution": 0.95, "friction": 0.8}
    one = builder.add_body(
        position=(0.0, 0.0, 0.21), linear_velocity=(6.0, 0.5, -0.4), angular_velocity=(3.0, 0.0, 9.0), **kwargs
    )
    other = builder.add_body(position=(0.9, 0.25, 0.3), linear_velocity=(-5.0, 0.0, -1.0), mass=2.0, **kwargs)
    if jointed:
        third = builder.add_body(position=(-0.5, 0.0, 0.25), linear_velocity=(6.0, 0.5, -0.4), **kwargs)
        fourth = builder.add_body(position=(1.4, 0.25, 0.3), linear_velocity=(-5.0, 0.0, -1.0), **kwargs)
        builder.add_joint(Point(), one, third, position=(-0.25, 0.0, 0.23))
        builder.add_joint(Hinge(), other, fourth, position=(1.15, 0.25, 0.3))
    simulation = simulation_of(builder)
    largest = max(np.linalg.norm(advance(simulation).impulse, axis=1).max(initial=0.0) for _ in range(12))
    assert largest > 1.0


@pytest.mark.parametrize("restitution", [0.3, 0.9])
def test_what_bounces_in_small_steps_sums_up(restitution):
    """Boxes that fall onto each other: what they bounce by is no impulse of the last small step."""
    builder, rng = ModelBuilder(), np.random.default_rng(4)
    common = {"friction": 0.5, "restitution": restitution}
    builder.add_body(shape=Box((9.0, 9.0, 0.5)), position=(0.0, 0.0, -0.5), kind=BodyKind.STATIC, **common)
    for place in np.ndindex(3, 3, 4):
        at = 0.32 * np.array(place) + [0.0, 0.0, 0.2] + rng.uniform(-0.01, 0.01, 3)
        builder.add_body(shape=Box((0.15, 0.15, 0.15)), position=at, orientation=rng.normal(size=4), **common)
    simulation = simulation_of(builder)
    for _ in range(36):
        advance(simulation)


def test_what_breaks_has_given_its_impulse():
    """A glued block that is hit: its joint's last impulse is part of the sum."""
    builder = ModelBuilder()
    builder.add_body(shape=Box((0.5, 0.5, 0.5)), mass=10.0, friction=0.0)
    ball = {"mass": 10.0, "linear_velocity": (5.0, 0.0, 0.0), "friction": 0.0}
    builder.add_body(shape=Box((0.5, 0.5, 0.5)), position=(-1.3, 0.0, 0.0), **ball)
    builder.add_body(shape=Box((0.5, 0.5, 0.5)), mass=10.0, position=(1.0, 0.0, 0.0))
    builder.add_joint(Fixed(), 0, position=(0.0, 0.0, 0.0), breaking_force=2_000.0)
    builder.add_joint(Fixed(), 0, 2, position=(0.5, 0.0, 0.0), breaking_force=1_000.0)
    simulation, broke = simulation_of(builder), []
    for _ in range(8):
        contacts = advance(simulation)
        broke.append(simulation._joint_state.broken.sum())
        if broke[-1] > sum(broke[:-1][-1:]):
            assert np.linalg.norm(contacts.joint_impulse[0, 0]) > 1.0
    assert broke[-1] == 2


@pytest.mark.parametrize("damping", [0.0, 0.6])
def test_driven_and_damped_heaps_sum_up(damping):
    """A plate that is driven into a heap: it takes any impulse, and others get theirs."""
    builder = with_floor()
    rng = np.random.default_rng(4)
    for level in range(5):
        for column in range(4):
            place = (0.35 * column, 0.1 * rng.uniform(-1, 1), 0.16 + 0.33 * level)
            builder.add_body(
                shape=Box((0.15, 0.15, 0.15)), position=place, linear_damping=damping, restitution=0.3 * (column % 2)
            )
    plate = builder.add_body(shape=Box((0.05, 1.0, 1.5)), position=(-1.0, 0.0, 1.6), kind=BodyKind.KINEMATIC)
    simulation = simulation_of(builder, sleeping=False)
    position, orientation = simulation.poses()
    pushed = False
    for frame in range(40):
        position[plate, 0] = -1.0 + min(0.12 * frame, 1.5)
        contacts = advance(simulation, FrameInput(position=position, orientation=orientation))
        pushed = pushed or bool(np.any(contacts.body_b == plate))
    assert pushed


@pytest.mark.parametrize("name", SCENES)
def test_impulses_are_the_change_of_momentum(name):
    """In each frame of every ready-made scene, and of every body."""
    scene = SCENES[name]()
    simulation = Simulation(scene.build_model(), SimulationOptions(contacts=True, frame_rate=scene.frame_rate))
    for frame in range(1, min(scene.frame_count, 72) + 1):
        advance(simulation, FrameInput(motor_position=scene.servo_targets(frame)))


def bin_of_boxes(count=700, restitution=0.0):
    builder, rng = with_floor(), np.random.default_rng(7)
    for number in range(count):
        layer, place = divmod(number, 64)
        x, y = 0.32 * (place % 8), 0.32 * (place // 8)
        builder.add_body(
            shape=Box((0.15, 0.15, 0.15)),
            position=(x, y, 0.2 + 0.34 * layer),
            linear_velocity=rng.normal(size=3),
            restitution=restitution,
        )
    return builder.build()


def as_bytes(contacts):
    return [getattr(contacts, name).tobytes() for name in contacts.__dataclass_fields__]


@pytest.mark.parametrize("restitution", [0.0, 0.6])
def test_threads_note_the_same(restitution):
    """One and three of them, to the bit, of a heap that they share."""
    found = []
    for threads in (1, 3):
        simulation = Simulation(
            bin_of_boxes(restitution=restitution), SimulationOptions(contacts=True, threads=threads)
        )
        found.append([as_bytes(advance(simulation)) for _ in range(4)])
    assert found[0] == found[1]


def test_a_simulation_that_goes_on_notes_the_same():
    """From a checkpoint in the middle of a fall, to the bit."""
    model, options = SCENES["pile"]().build_model(), SimulationOptions(contacts=True)
    through, resumed = Simulation(model, options), Simulation(model, options)
    for _ in range(10):
        advance(through)
    resumed.restore(through.checkpoint())
    assert len(resumed.contacts().impulse) == 0
    for _ in range(5):
        assert as_bytes(advance(through)) == as_bytes(advance(resumed))


@pytest.mark.parametrize("name", ["stack", "pile", "bricks", "clock"])
def test_a_frame_that_is_simulated_in_steps_notes_the_same(name):
    """Substep by substep, also where nothing moves any more before the frame ends."""
    model, options = SCENES[name]().build_model(), SimulationOptions(contacts=True)
    whole, stepwise = Simulation(model, options), Simulation(model, options)
    for _ in range(4):
        stepwise._seconds = np.inf
        for _ in stepwise.frame_steps():
            pass
        assert as_bytes(advance(whole)) == as_bytes(stepwise.contacts())
        assert whole.digest() == stepwise.digest()


@pytest.mark.parametrize("name", ["cradle", "pile", "ragdoll"])
def test_to_note_contacts_changes_no_motion(name):
    """Poses and velocities to the bit, also where the contacts of the frame ask for more room in its middle."""
    model = SCENES[name]().build_model()
    noting, plain = Simulation(model, SimulationOptions(contacts=True)), Simulation(model)
    room = len(noting._impulses.weight)
    for _ in range(40):
        noting.advance_frame()
        plain.advance_frame()
    assert noting.digest() == plain.digest()
    assert len(noting._impulses.weight) > room
    assert plain._impulses.weight.size == 0


def test_contacts_are_noted_where_they_are_asked_for():
    builder = with_floor()
    with pytest.raises(ValueError, match="contacts=True"):
        Simulation(builder.build()).contacts()
    simulation = simulation_of(builder)
    assert len(simulation.contacts().impulse) == 0
    assert simulation.advance_frame().frame_contacts.impulse.shape == (0, 3)
    assert Simulation(builder.build()).advance_frame().frame_contacts is None
