"""The laws that a simulated scene obeys: friction, restitution, momentum, energy, stillness, scale, repeatability."""

import math

import numpy as np
import pytest

from cairn.solver_core import diagnostics
from cairn.solver_core.collision.data.contact_arrays import grown
from cairn.solver_core.geometry import rotations
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import FrameInput, SimulationOptions
from cairn.solver_core.problem.problem import SolverOptions
from cairn.solver_core.scenes import pile
from cairn.solver_core.scenes.stacks import stack
from cairn.solver_core.simulation import Simulation, SimulationError
from cairn.solver_core.solve import solve_contacts
from cairn.solver_core.solvers.registry import METHODS, find_method

G = 9.81
HALF = math.sqrt(0.5)  # friction of each body: the pair's product is 0.5


def cube_corners(half=0.5):
    return np.array([[x, y, z] for x in (-half, half) for y in (-half, half) for z in (-half, half)])


def run(simulation, frames):
    """Advance and return the user positions after every frame, [frames + 1, bodies, 3]."""
    positions = [simulation.poses()[0]]
    for _ in range(frames):
        simulation.advance_frame()
        positions.append(simulation.poses()[0])
    return np.array(positions)


def on_slope(degrees, shape, size=1.0):
    """A body of unit size resting on a static slab that is turned about y; friction of the pair 0.5."""
    tilt = rotations.from_rotation_vector([0.0, math.radians(degrees), 0.0])
    up = rotations.rotate(tilt, [0.0, 0.0, 1.0])
    builder = ModelBuilder(gravity=(0.0, 0.0, -G * size))
    slab = Box((60.0 * size, 5.0 * size, 0.5 * size))
    builder.add_body(
        shape=slab, position=-0.5 * size * up, orientation=tilt, kind=BodyKind.STATIC, friction=HALF, name="Slope"
    )
    builder.add_body(shape=shape, position=0.5 * size * up, orientation=tilt, friction=HALF, name="Box")
    return builder.build(), rotations.rotate(tilt, [1.0, 0.0, 0.0])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", [Box((0.5, 0.5, 0.5)), ConvexHull.from_points(cube_corners())], ids=["box", "hull"])
def test_box_sticks_on_a_gentle_slope(shape, method):
    """At 20 degrees, below the friction angle of 26.6, it moves less than 0.1 mm in 5 s."""
    model, _ = on_slope(20.0, shape)
    options = SimulationOptions(method=method, friction=find_method(method).frictions[0])
    path = run(Simulation(model, options), 120)
    assert np.abs(path[:, 1] - path[0, 1]).max() < 1e-4


@pytest.mark.parametrize("shape", [Box((0.5, 0.5, 0.5)), ConvexHull.from_points(cube_corners())], ids=["box", "hull"])
def test_box_slides_down_a_steep_slope(shape):
    """At 30 degrees it accelerates by g (sin - mu cos) within 1 %, and does not leave the slope."""
    model, downhill = on_slope(30.0, shape)
    path = run(Simulation(model), 72)
    along = (path[:, 1] - path[0, 1]) @ downhill
    time = np.arange(73) / 24.0
    acceleration = 2.0 * np.polyfit(time[12:], along[12:], 2)[0]
    expected = G * (math.sin(math.radians(30.0)) - 0.5 * math.cos(math.radians(30.0)))
    assert acceleration == pytest.approx(expected, rel=0.01)
    across = path[:, 1] - path[0, 1] - np.outer(along, downhill)
    assert np.abs(across).max() < 1e-3


def test_ten_boxes_stand_still():
    """A stack of ten at default settings, 240 frames: no box moves by more than 0.05 mm (asked: 5 mm)."""
    path = run(Simulation(stack(10).build_model()), 240)
    assert np.linalg.norm(path - path[0], axis=2).max() < 5e-5


@pytest.mark.parametrize("size", [0.01, 100.0])
def test_a_stack_of_another_size_stands_as_well(size):
    """Lengths and gravity scaled: the drift scales with them."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -G * size))
    builder.add_body(shape=Box((5 * size, 5 * size, 0.0)), kind=BodyKind.STATIC, friction=HALF)
    for level in range(5):
        builder.add_body(shape=Box((0.5 * size,) * 3), position=(0.0, 0.0, (0.5 + level) * size), friction=HALF)
    path = run(Simulation(builder.build()), 48)
    assert np.linalg.norm(path - path[0], axis=2).max() < 5e-5 * size


@pytest.mark.parametrize("substeps", [2, 4, 10])
def test_ball_bounces_to_a_quarter_of_its_height(substeps):
    """Restitution 0.5 from 1 m: the next apexes are at 1/4 and 1/16 within 2 %."""
    radius = 0.1
    builder = ModelBuilder(gravity=(0.0, 0.0, -G))
    builder.add_body(shape=Box((5.0, 5.0, 0.0)), kind=BodyKind.STATIC, restitution=1.0)
    builder.add_body(shape=Sphere(radius), position=(0.0, 0.0, 1.0 + radius), restitution=0.5)
    simulation = Simulation(builder.build(), SimulationOptions(substeps=substeps))
    apexes, rising = [], False
    for _ in range(48):
        simulation.advance_frame()
        height, speed = simulation.poses()[0][1, 2] - radius, simulation.velocities()[1, 2]
        if speed > 0.0:
            # of the flight it is on, in closed form
            apex = height + speed**2 / (2.0 * G)
            apexes += [] if rising else [apex]
        rising = speed > 0.0
    assert apexes[0] == pytest.approx(0.25, rel=0.02)
    assert apexes[1] == pytest.approx(0.0625, rel=0.05)


def test_free_collisions_keep_momentum():
    """Bodies of all shapes collide without gravity: both momenta stay to 1e-9, and energy does not grow."""
    rng = np.random.default_rng(4)
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    shapes = [Box((0.5, 0.3, 0.4)), Sphere(0.4), ConvexHull.from_points(rng.normal(size=(30, 3)) * 0.4)]
    for index in range(12):
        place = rng.normal(size=3) * 1.5 + 2.0 * np.array([index % 3 - 1, index // 3 % 2, index // 6])
        builder.add_body(
            shape=shapes[index % 3],
            mass=rng.uniform(0.5, 3.0),
            position=place * 1.6,
            orientation=rng.normal(size=4),
            linear_velocity=-place + rng.normal(size=3),
            # faster ones overlap in this scene where nothing bounces, and taking that out turns them a bit
            angular_velocity=rng.normal(size=3) * 2.0,
            friction=0.7,
            restitution=0.6,
        )
    simulation = Simulation(builder.build())
    model = simulation.model
    start = diagnostics.linear_momentum(model, simulation.state)
    spin = diagnostics.angular_momentum(model, simulation.state)
    energy = diagnostics.kinetic_energy(model, simulation.state)
    unit = np.sqrt(energy * model.arrays.mass.sum())
    touched = 0
    for _ in range(72):
        touched += simulation.advance_frame().contacts
        assert np.abs(diagnostics.linear_momentum(model, simulation.state) - start).max() < 1e-9 * unit
        assert diagnostics.kinetic_energy(model, simulation.state) <= energy * (1.0 + 1e-6)
    assert touched > 20
    # angular momentum about the origin: exact in every solve; poses move along straight lines
    assert np.abs(diagnostics.angular_momentum(model, simulation.state) - spin).max() < 1e-9 * unit * 10.0


def test_equal_balls_exchange_velocities():
    """A central elastic collision: the first stops, the second leaves with its velocity."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    for x, speed in ((0.0, 2.0), (1.5, 0.0)):
        builder.add_body(shape=Sphere(0.5), position=(x, 0, 0), linear_velocity=(speed, 0, 0), restitution=1.0)
    simulation = Simulation(builder.build())
    run(simulation, 24)
    assert simulation.velocities()[:, 0] == pytest.approx([0.0, 2.0], abs=1e-6)


def test_kinematic_conveyor_carries_a_box():
    """A box dropped on a moving belt is dragged by mu g up to the belt's speed and then moves with it."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -G))
    builder.add_body(
        shape=Box((50.0, 1.0, 0.1)),
        position=(0, 0, -0.1),
        kind=BodyKind.KINEMATIC,
        linear_velocity=(2.0, 0, 0),
        friction=HALF,
    )
    builder.add_body(shape=Box((0.25, 0.25, 0.25)), position=(0, 0, 0.25), friction=HALF)
    simulation = Simulation(builder.build())
    path = run(simulation, 5)
    assert path[-1, 1, 0] == pytest.approx(0.5 * (0.5 * G) * (5.0 / 24.0) ** 2, rel=1e-3)
    run(simulation, 43)
    assert simulation.velocities()[1, 0] == pytest.approx(2.0, rel=1e-4)


def test_driven_body_follows_its_animation_and_is_launched_with_its_velocity():
    """A kinematic body is at its given pose after every frame; made dynamic it flies on with its velocity."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -G))
    body = builder.add_body(shape=Box((0.2, 0.3, 0.4), position=(0.3, 0, 0)), kind=BodyKind.KINEMATIC)
    simulation = Simulation(builder.build())
    spin = np.array([0.0, 0.0, 3.0])
    for frame in range(1, 13):
        time = frame / 24.0
        position = np.array([[2.0 * time, 0.0, 1.0 + 3.0 * time]])
        orientation = rotations.from_rotation_vector(spin * time)[None]
        simulation.advance_frame(FrameInput(position=position, orientation=orientation))
        where, turned = simulation.poses()
        assert where[body] == pytest.approx(position[0], abs=1e-12)
        assert abs(turned[body] @ orientation[0]) == pytest.approx(1.0, abs=1e-12)
    simulation.advance_frame(FrameInput(kind=np.array([BodyKind.DYNAMIC])))
    # the centre of mass, 0.3 m off the origin, flew along its last chord
    turns = [rotations.from_rotation_vector(spin * frame / 24.0) for frame in (11, 12)]
    arms = [rotations.rotate(turn, [0.3, 0.0, 0.0]) for turn in turns]
    chord = np.array([2.0, 0.0, 3.0]) + (arms[1] - arms[0]) * 24.0
    expected = chord - np.array([0, 0, G]) / 24.0
    assert simulation.velocities()[body, :3] == pytest.approx(expected, abs=1e-9)
    assert simulation.velocities()[body, 5] == pytest.approx(3.0, rel=1e-6)


def test_kinematic_wall_pushes_with_its_real_velocity():
    """An elastic ball at rest hit by a wall of 1 m/s leaves with 2 m/s."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body(shape=Box((0.1, 2.0, 2.0)), kind=BodyKind.KINEMATIC, linear_velocity=(1.0, 0, 0), restitution=1.0)
    builder.add_body(shape=Sphere(0.2), position=(0.8, 0, 0), restitution=1.0)
    simulation = Simulation(builder.build())
    run(simulation, 30)
    assert simulation.velocities()[1, 0] == pytest.approx(2.0, rel=1e-6)


def test_what_jumps_pushes_nothing_on_the_way():
    """A wall that is put behind a box leaves it where it is, moves on from there, and takes nothing with it."""
    builder = ModelBuilder()
    builder.add_body(shape=Box((5.0, 5.0, 0.5)), kind=BodyKind.STATIC, position=(0.0, 0.0, -0.5))
    wall = builder.add_body(shape=Box((0.1, 1.0, 1.0)), kind=BodyKind.KINEMATIC, position=(-2.0, 0.0, 1.0))
    box = builder.add_body(shape=Box((0.3, 0.3, 0.3)), position=(0.0, 0.0, 0.3))
    simulation = Simulation(builder.build())
    position, orientation = simulation.poses()
    for frame in range(24):
        position[wall, 0] = 2.0 if frame == 12 else position[wall, 0] + 0.01
        jumps = None if frame != 12 else np.arange(3) == wall
        simulation.advance_frame(FrameInput(position=position, orientation=orientation, jumps=jumps))
        assert simulation.poses()[0][wall] == pytest.approx(position[wall])
        speed = 0.0 if frame == 12 else 0.01 * 24
        assert simulation.velocities()[wall, 0] == pytest.approx(speed)
    assert simulation.poses()[0][box] == pytest.approx((0.0, 0.0, 0.3), abs=1e-6)


@pytest.mark.parametrize("depth", [0.02, 0.3])
def test_box_inside_the_floor_comes_out_and_stays(depth):
    """An overlap is taken out without kinetic energy: the box never jumps off the floor."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -G))
    builder.add_body(shape=Box((5, 5, 1)), position=(0, 0, -1), kind=BodyKind.STATIC)
    builder.add_body(shape=Box((0.5, 0.5, 0.5)), position=(0, 0, 0.5 - depth))
    simulation = Simulation(builder.build())
    heights = []
    for _ in range(96):
        report = simulation.advance_frame()
        heights.append(simulation.poses()[0][1, 2])
        assert report.kinetic_energy < 1e-3
    assert np.all(np.diff(heights) > -1e-5)
    assert heights[-1] == pytest.approx(0.5, abs=1e-4)
    assert max(heights) <= 0.5 + 1e-6


def test_energy_of_a_falling_heap_only_falls():
    """Boxes, balls and hulls dropped on a floor without restitution: total energy does not grow."""
    rng = np.random.default_rng(1)
    builder = ModelBuilder(gravity=(0.0, 0.0, -G))
    builder.add_body(shape=Box((6, 6, 0.5)), position=(0, 0, -0.5), kind=BodyKind.STATIC)
    shapes = [Box((0.3, 0.2, 0.25)), Sphere(0.25), ConvexHull.from_points(rng.normal(size=(20, 3)) * 0.2)]
    for index in range(18):
        builder.add_body(
            shape=shapes[index % 3],
            position=(0.5 * (index % 3), 0.3 * (index // 3 % 2), 1.0 + 0.7 * (index // 3)),
            orientation=rng.normal(size=4),
        )
    simulation = Simulation(builder.build())
    energies = []
    for _ in range(72):
        report = simulation.advance_frame()
        energies.append(report.kinetic_energy + report.potential_energy)
    growth = np.diff(energies).max()
    assert growth < 1e-3 * energies[0]
    assert energies[-1] < 0.5 * energies[0]


def test_fast_ball_does_not_pass_a_thin_sheet():
    """Speculative contacts: 30 m/s against a sheet without thickness, from either side."""
    for side in (1.0, -1.0):
        builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
        builder.add_body(shape=Box((2, 2, 0)), kind=BodyKind.STATIC)
        builder.add_body(shape=Sphere(0.1), position=(0, 0, 3.0 * side), linear_velocity=(0, 0, -30.0 * side))
        path = run(Simulation(builder.build()), 24)
        assert (side * path[-1, 1, 2]) == pytest.approx(0.1, abs=1e-3)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_thin_plate_is_not_pressed_through_a_sheet(side):
    """A heavy ball falls on a plate of 4 mm on a sheet: however deep it is pressed, it stays on its side."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -G * side))
    builder.add_body(shape=Box((3, 3, 0)), kind=BodyKind.STATIC)
    builder.add_body(shape=Box((0.4, 0.3, 0.002)), mass=0.2, position=(0, 0, 0.1 * side), name="Plate")
    builder.add_body(shape=Sphere(0.3), mass=500.0, position=(0.1, 0, 4.0 * side), linear_velocity=(0, 0, -40.0 * side))
    path = run(Simulation(builder.build(), SimulationOptions(substeps=1)), 48)
    assert (side * path[-1, 1, 2]) == pytest.approx(0.002, abs=1e-3)
    assert (side * path[-1, 2, 2]) > 0.29


@pytest.mark.parametrize("seed", range(8))
def test_what_a_heavy_ball_hits_does_not_pass_the_floor(seed):
    """Towers of boxes and balls from 5 cm to 2 m, under a ball of up to 1,000 times their mass."""
    rng = np.random.default_rng(seed)
    size, mass = 10.0 ** rng.uniform(-1.3, 0.3), 10.0 ** rng.uniform(0.0, 3.0)
    builder = ModelBuilder()
    builder.add_body(shape=Box((40.0 * size, 40.0 * size, 0.0)), kind=BodyKind.STATIC)
    height, count = 2.5 * size, int(rng.integers(1, 4))
    for _ in range(count):
        place = (*rng.normal(0.0, 0.05 * size, 2), height)
        builder.add_body(shape=rng.choice([Box((0.4 * size,) * 3), Sphere(0.4 * size)]), position=place)
        height += 1.3 * size * rng.uniform(0.8, 1.5)
    speed = 10.0 ** rng.uniform(0.3, 2.0) * np.sqrt(size)
    place = (0.0, 0.0, height + size)
    builder.add_body(shape=Sphere(0.8 * size), mass=mass, position=place, linear_velocity=(0.0, 0.0, -speed))
    path = run(Simulation(builder.build(), SimulationOptions(substeps=int(rng.choice([1, 2, 4, 8])))), 20)
    hit = path[:, 1 : 1 + count]
    assert hit[np.abs(hit[..., :2]).max(axis=-1) < 35.0 * size][:, 2].min() > 0.2 * size


@pytest.mark.parametrize("height", [0.05, 0.1, 0.2, 0.4])
def test_a_box_lands_where_it_falls(height):
    """Onto another one of its size, and not a little to the side."""
    builder = ModelBuilder()
    builder.add_body(shape=Box((10.0, 10.0, 0.5)), kind=BodyKind.STATIC, position=(0.0, 0.0, -0.5))
    for place in (0.5, 1.5 + height):
        builder.add_body(shape=Box((0.5, 0.5, 0.5)), position=(0.0, 0.0, place))
    path = run(Simulation(builder.build(), SimulationOptions()), 36)
    assert path[-1, 2] == pytest.approx([0.0, 0.0, 1.5], abs=1e-4)


@pytest.mark.parametrize("substeps", [1, 4])
def test_a_body_that_is_hit_does_not_pass_the_floor(substeps):
    """A heavy ball knocks a hovering box down: in the same substep the box reaches a floor that it was not near."""
    builder = ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body(shape=Box((9, 9, 0)), kind=BodyKind.STATIC)
    builder.add_body(shape=Box((0.2, 0.2, 0.2)), position=(0, 0, 1.0), name="Hit")
    builder.add_body(shape=Sphere(0.4), mass=100.0, position=(0, 0, 2.5), linear_velocity=(0, 0, -60.0))
    path = run(Simulation(builder.build(), SimulationOptions(substeps=substeps)), 24)
    assert path[:, 1, 2].min() > 0.19
    assert path[:, 2, 2].min() > 0.39


def test_masks_decide_who_touches():
    """Bodies without a common bit pass through each other."""
    builder = ModelBuilder(gravity=(0.0, 0.0, -G))
    builder.add_body(shape=Box((5, 5, 0)), kind=BodyKind.STATIC, collision_mask=0b01)
    builder.add_body(shape=Box((0.5, 0.5, 0.5)), position=(-2, 0, 0.5), collision_mask=0b01)
    builder.add_body(shape=Box((0.5, 0.5, 0.5)), position=(2, 0, 0.5), collision_mask=0b10)
    path = run(Simulation(builder.build()), 24)
    assert path[-1, 1, 2] == pytest.approx(0.5, abs=1e-4)
    assert path[-1, 2, 2] == pytest.approx(0.5 - 0.5 * G, abs=1e-6)


def test_frame_of_no_duration_moves_only_what_is_driven():
    """World speed 0: the frame counts, dynamic bodies stay, kinematic ones are where their animation is."""
    builder = ModelBuilder()
    builder.add_body(shape=Sphere(0.5), linear_velocity=(1.0, 0, 0))
    builder.add_body(shape=Sphere(0.5), position=(5.0, 0, 0), kind=BodyKind.KINEMATIC)
    simulation = Simulation(builder.build())
    target = FrameInput(duration=0.0, position=np.full((2, 3), 7.0), orientation=np.array([[1.0, 0, 0, 0]] * 2))
    assert simulation.advance_frame(target).frame == 1
    assert np.array_equal(simulation.poses()[0], [[0.0, 0, 0], [7.0, 7, 7]])
    assert np.array_equal(simulation.velocities()[1], np.zeros(6))


def test_the_same_run_twice_has_the_same_bits():
    """Repeatable to the bit, also where buffers had to grow on the way."""
    ends = []
    for _ in range(2):
        simulation = Simulation(stack(6).build_model())
        run(simulation, 12)
        ends.append(np.concatenate([simulation.state.position.ravel(), simulation.state.velocity.ravel()]).tobytes())
    assert ends[0] == ends[1]


def test_full_buffers_grow_to_the_same_bits(monkeypatch):
    """Start with room for one contact: the motion is the same to the bit."""
    from cairn.solver_core.collision.data.contact_arrays import allocate_contacts, allocate_pairs
    from cairn.solver_core.dynamics.frame import allocation

    roomy = Simulation(stack(6).build_model())
    allocate = allocation.allocate_collision

    def tight(model):
        pairs = tuple(allocate_pairs(1) for _ in range(3))
        contacts = tuple(allocate_contacts(1) for _ in range(3))
        return allocate(model)._replace(pairs=pairs, contacts=contacts)

    monkeypatch.setattr("cairn.solver_core.simulation.allocate_collision", tight)
    small = Simulation(stack(6).build_model())
    assert run(roomy, 6).tobytes() == run(small, 6).tobytes()


def test_report_tells_what_happened():
    """Counts, the worst contact's names, energies and the time of every stage."""
    simulation = Simulation(stack(3).build_model())
    run(simulation, 3)
    report = simulation.advance_frame()
    assert report.frame == 4
    assert report.substeps == 4
    assert report.detection_passes == 1  # nothing moves: the other substeps would repeat it
    assert report.contacts == 12
    assert report.islands == 1
    assert report.missed == 0
    assert report.residual <= 1e-6
    assert set(report.worst.split(" on ")) <= {"Box.001", "Box.002", "Box.003", "Floor"}
    assert report.potential_energy == pytest.approx(G * (0.5 + 1.5 + 2.5), rel=1e-6)
    assert report.kinetic_energy < 1e-9
    assert list(report.seconds) == [
        "apply_forces",
        "broad_phase",
        "narrow_phase",
        "match_contacts",
        "build_rows",
        "find_islands",
        "solve_positions",
        "solve_velocities",
        "integrate",
        "fall_asleep",
    ]
    assert all(seconds > 0.0 for seconds in report.seconds.values())
    assert report.as_dict()["seconds"] == report.seconds


def test_missed_tolerance_is_reported():
    """One iteration a solve: the report counts the misses and says where."""
    simulation = Simulation(stack(5).build_model(), SimulationOptions(max_iterations=1, quality="exact"))
    report = simulation.advance_frame()
    assert report.missed > 0
    assert report.residual > 1e-6
    assert report.worst


def test_only_the_last_pass_of_a_substep_counts():
    """However many detection passes there are: of an island one position solve counts, and one velocity solve."""
    options = SimulationOptions(max_iterations=1, substeps=1, sleeping=False, quality="exact")
    simulation = Simulation(pile(20).build_model(), options)
    reports = [simulation.advance_frame() for _ in range(36)]
    assert all(report.missed <= 2 * report.islands for report in reports)
    # there were more, of an iteration each
    assert any(report.iterations > 2 * report.islands for report in reports)
    assert all(report.detection_passes >= report.substeps for report in reports)
    assert any(report.detection_passes > report.substeps for report in reports)


def test_a_substep_that_finds_no_room_counts_nothing(monkeypatch):
    """It is done anew with more room: what its first passes have not solved is forgotten."""
    options = SimulationOptions(max_iterations=1, substeps=1, sleeping=False)
    model = pile(200).build_model()
    simulation, found = Simulation(model, options), []

    def grow_by_little(collision):
        record = simulation._record
        found.append((int(record.iterations[0]), int(record.missed[0])))
        pairs, contacts = (buffers[collision.roles.present[0]] for buffers in (collision.pairs, collision.contacts))
        needs_pairs, needs_contacts = int(pairs.needed[0]), int(contacts.needed[0])
        return collision._replace(
            pairs=tuple(grown(buffer, max(len(buffer.shape_a), needs_pairs)) for buffer in collision.pairs),
            contacts=tuple(grown(buffer, max(len(buffer.shape_a), needs_contacts)) for buffer in collision.contacts),
        )

    monkeypatch.setattr("cairn.solver_core.simulation.grow_collision", grow_by_little)
    for _ in range(48):
        simulation.advance_frame()
    assert any(iterations > 0 for iterations, _ in found)  # there was no room at a later pass
    assert all(missed == 0 for _, missed in found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"substeps": 0}, "substeps is 0"),
        ({"method": "magic"}, "method is 'magic'"),
        ({"friction": "glue"}, "there is no friction 'glue'"),
        ({"tolerance": math.nan}, "tolerance is nan"),
        ({"frame_rate": 0.0}, "frame_rate is 0"),
        ({"max_iterations": 0}, "max_iterations is 0"),
    ],
)
def test_bad_options_name_the_option(options, message):
    """One line with the option and its value."""
    with pytest.raises(ValueError, match=message):
        SimulationOptions(**options)


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_bad_input_names_the_body():
    """NaN in a kinematic pose names the body; what is driven so fast that it overflows does, too."""
    builder = ModelBuilder()
    builder.add_body(shape=Sphere(1.0), kind=BodyKind.KINEMATIC, name="Hammer")
    simulation = Simulation(builder.build())
    with pytest.raises(ValueError, match="pose given for Hammer holds NaN"):
        simulation.advance_frame(FrameInput(position=np.full((1, 3), np.nan), orientation=np.ones((1, 4))))
    far = np.array([[1e308, 0.0, 0.0]]), np.array([[1.0, 0.0, 0.0, 0.0]])
    with pytest.raises(SimulationError, match="Hammer"):
        simulation.advance_frame(FrameInput(position=far[0], orientation=far[1]))


def test_contact_problem_is_what_the_next_substep_solves():
    """From the rows of the present state the velocities of the next substep follow; asking changes nothing."""
    simulation, untouched = (
        Simulation(stack(4).build_model(), SimulationOptions(frame_rate=96.0, substeps=1, tolerance=1e-12))
        for _ in range(2)
    )
    for _ in range(3):
        simulation.advance_frame()
        untouched.advance_frame()
    problem = simulation.contact_problem()
    warm = problem.rows.impulse[: problem.rows.count[1]].copy()
    result = solve_contacts(problem, r0=warm, options=SolverOptions(tolerance=1e-12))
    simulation.advance_frame()
    untouched.advance_frame()
    assert result.velocity[1:] == pytest.approx(simulation.state.velocity[1:], abs=1e-12)
    assert np.array_equal(simulation.state.velocity, untouched.state.velocity)
    weight = 9.81 / 96.0
    assert warm[0::3].reshape(4, 4).sum(axis=1) == pytest.approx(weight * np.arange(4, 0, -1), rel=1e-6)
