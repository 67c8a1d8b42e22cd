"""Ready-made scenes start as they are meant to: bodies touch and do not overlap, and every one is held by others."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from cairn.solver_core.geometry import rotations
from cairn.solver_core.options import FrameInput, SimulationOptions
from cairn.solver_core.scenes import SCENES, arch, boulders, chain, clock, crane, dominoes, pile, walker
from cairn.solver_core.scenes.boulders import ground_height
from cairn.solver_core.scenes.cards import card_house
from cairn.solver_core.scenes.clock import TEETH
from cairn.solver_core.scenes.hanging import hanging_nodes
from cairn.solver_core.scenes.scene import smooth_targets
from cairn.solver_core.simulation import Simulation

MOVING = ("wall", "pile", "chain", "boulders", "dominoes", "cradle", "ball_pool", "tops", "tumbling", "gears")
JOINTED = (
    *("bridge", "wrecking_ball", "ragdoll", "drawbridge", "car"),
    *("clock", "crane", "walker", "standing_snake", "hanging_snake"),
)
STANDING = [name for name in SCENES if name not in MOVING + JOINTED]


@pytest.mark.parametrize("name", STANDING)
def test_bodies_touch_and_do_not_overlap(name):
    """At the start all gaps are zero to rounding, and no body is without a contact."""
    model = SCENES[name]().build_model()
    rows = Simulation(model, SimulationOptions()).contact_problem().rows
    contacts = int(rows.count[0])
    touched = np.union1d(rows.body_a[:contacts], rows.body_b[:contacts])
    assert np.array_equal(touched, np.arange(model.body_count))
    # a normal row's bias is gap / h; gaps between neighbours that stand apart are no overlaps
    assert rows.bias[: 3 * contacts : 3].min() >= -1e-9


@pytest.mark.parametrize("count", [1, 100, 1000])
def test_a_pile_starts_in_the_air(count):
    """So many boxes, none of which touches another."""
    model = pile(count).build_model()
    assert model.body_count == count + 1
    distance, _ = cKDTree(model.initial_state.position[1:]).query(model.initial_state.position[1:], k=[2])
    assert distance.min() > 3.0**0.5
    assert model.initial_state.position[1:, 2].min() > 0.5 * 3.0**0.5


def test_rings_of_a_chain_hang_in_each_other():
    """No two overlap, and each passes through the hole of the next: their circles are linked."""
    model = chain().build_model()
    assert Simulation(model, SimulationOptions(method="nncg")).overlaps() == []
    position, orientation = model.user_poses(model.initial_state.position, model.initial_state.orientation)
    angles = np.linspace(0.0, 2.0 * np.pi, 400, endpoint=False)
    circle = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(400)])
    for upper in range(model.body_count - 1):
        # The lower ring's middle line in the frame of the upper one crosses its disc once.
        lower = upper + 1
        world = position[lower] + rotations.rotate(np.broadcast_to(orientation[lower], (400, 4)), circle)
        back = np.broadcast_to(rotations.conjugate(orientation[upper]), (400, 4))
        local = rotations.rotate(back, world - position[upper])
        crossings = np.flatnonzero(local[:, 2] * np.roll(local[:, 2], -1) < 0.0)
        assert np.sum(np.linalg.norm(local[crossings, :2], axis=1) < 1.0) == 1


def test_boulders_start_above_the_ground_and_apart():
    """Every rock's lowest point is above the mesh, and no two spheres around rocks overlap."""
    model = boulders().build_model()
    positions, radii = model.initial_state.position[1:], model.arrays.shapes.bounding_radius[1:]
    assert np.all(positions[:, 2] - radii > ground_height(positions[:, 0], positions[:, 1]))
    apart = np.linalg.norm(positions[:, None] - positions[None], axis=2) - radii[:, None] - radii[None]
    assert apart[~np.eye(len(radii), dtype=bool)].min() > 0.0


@pytest.mark.parametrize("stones", [5, 25, 101])
def test_neighbouring_stones_share_a_joint(stones):
    """Four contacts a joint and a foot: stones meet face to face along the whole arch."""
    model = arch(stones).build_model()
    rows = Simulation(model, SimulationOptions()).contact_problem().rows
    contacts = int(rows.count[0])
    pairs = {(int(a), int(b)) for a, b in zip(rows.body_a[:contacts], rows.body_b[:contacts], strict=True)}
    neighbours = {(stone, stone + 1) for stone in range(1, stones)}
    assert neighbours <= {tuple(sorted(pair)) for pair in pairs}
    assert sum(rows.bias[: 3 * contacts : 3] < 1e-9) == 4 * (stones + 1)


@pytest.mark.parametrize("levels", [1, 3, 5])
def test_a_house_has_its_cards(levels):
    """n storeys take n (n + 1) leaning cards and n (n - 1) / 2 level ones."""
    bodies = card_house(levels).bodies
    assert len(bodies) - 1 == levels * (levels + 1) + levels * (levels - 1) // 2
    assert len({body.name for body in bodies}) == len(bodies)


def play(name, frames, **options):
    """The simulation after so many frames, and its last report."""
    simulation = Simulation(SCENES[name]().build_model(), SimulationOptions(**{"method": "nncg"} | options))
    for _ in range(frames):
        report = simulation.advance_frame()
    return simulation, report


def test_all_dominoes_fall():
    """Of forty on the curve none stands in the end, and none lies outside of the row."""
    scene = dominoes(40)
    simulation = Simulation(scene.build_model(), SimulationOptions(method="nncg"))
    start = simulation.poses()[0]
    assert np.linalg.norm(np.diff(start[1:], axis=0), axis=1).max() < 0.15
    for _ in range(scene.frame_count):
        simulation.advance_frame()
    places = simulation.poses()[0]
    assert places[1:, 2].max() < 0.13  # half of its height, standing, is 0.14
    assert np.linalg.norm((places - start)[1:], axis=1).max() < 0.3


def test_the_cradle_hands_on_its_ball():
    """The ball that comes down the slope stays with the others, and the last one leaves with its speed within 5 %."""
    simulation = Simulation(SCENES["cradle"]().build_model(), SimulationOptions(method="nncg"))
    first, last = [], []
    for _ in range(40):
        simulation.advance_frame()
        speed = np.linalg.norm(simulation.velocities()[-5:, :3], axis=1)
        first.append(speed[0])
        last.append(speed[-1])
    hit = int(np.argmax(np.array(last) > 0.1))
    assert last[hit] == pytest.approx(first[hit - 2], rel=0.05)
    assert first[hit + 1] < 0.05 * last[hit]


def test_tops_spin_on():
    """After 2 s the fast tops have neither fallen nor wandered off."""
    simulation, _ = play("tops", 48)
    position, orientation = simulation.poses()
    upright = rotations.rotate(orientation, np.array([0.0, 0.0, 1.0]))[1:3, 2]
    assert upright == pytest.approx(np.full(2, np.cos(np.radians(18.0))), abs=0.02)
    assert np.abs(position[1:3, 2]).max() < 5e-3
    assert np.abs(position[1:3, 1]).max() < 0.1


@pytest.mark.parametrize("name", JOINTED)
def test_jointed_bodies_start_apart_from_all_others(name):
    """Bodies overlap only where a joint holds them together, and every joint starts within its own range."""
    scene = SCENES[name]()
    simulation = Simulation(scene.build_model(), SimulationOptions())
    # a foot that stands on the ground does so to rounding
    assert [found for found in simulation.overlaps() if found.share > 1e-12] == []
    for joint in scene.joints:
        for coordinate in joint.joint.coordinates():
            given = coordinate.range
            assert given.lower > given.upper or given.lower <= 0.0 <= given.upper, joint.name


@pytest.mark.parametrize("name", JOINTED)
def test_joints_are_where_their_bodies_are(name):
    """No joint is farther from the middle of either of its bodies than that body reaches."""
    scene = SCENES[name]()
    bodies = {body.name: body for body in scene.bodies}
    for joint in scene.joints:
        for end in (joint.first, joint.second):
            body = bodies[end]
            center = body.shape.mass_properties().center
            middle = body.position + rotations.rotate(np.array(body.orientation), np.asarray(center, float))
            assert np.linalg.norm(joint.position - middle) < 0.75 * body.shape.size, (joint.name, end)


@pytest.mark.parametrize(("last", "length"), [((4.0, 0.0, 0.0), 0.5), ((3.0, 2.0, 1.5), 0.5), ((1.0, 0.0, -3.0), 0.5)])
def test_hanging_nodes_are_in_equilibrium(last, length):
    """Links are equally long, the ends are where they were asked for, and each joint bears its share of the weight."""
    nodes = hanging_nodes((0.0, 0.0, 0.0), last, 12, length)
    links = np.diff(nodes, axis=0)
    assert np.linalg.norm(links, axis=1) == pytest.approx(length)
    assert nodes[[0, -1]] == pytest.approx(np.array([(0.0, 0.0, 0.0), last]), abs=1e-9)
    # torque balance of a link about its middle: the mean of the forces at its two ends lies along it
    slope = links[:, 2] / np.linalg.norm(links[:, :2], axis=1)
    assert np.diff(slope, n=2) == pytest.approx(0.0, abs=1e-8)
    assert np.all(np.diff(slope) > 0.0)


def led(scene, frames, *names):
    """Positions [frame, body, 3], orientations and velocities of these bodies while the scene's servos are led."""
    simulation = Simulation(scene.build_model(), SimulationOptions())
    rows = [simulation.model.names.index(name) for name in names]
    places, turns, velocities = [], [], []
    for frame in range(1, frames + 1):
        report = simulation.advance_frame(FrameInput(motor_position=scene.servo_targets(frame)))
        assert report.joint_error < 1e-5
        position, orientation = simulation.poses()
        places.append(position[rows])
        turns.append(orientation[rows])
        velocities.append(simulation.velocities()[rows])
    return np.array(places), np.array(turns), np.array(velocities)


def test_a_clocks_wheel_goes_on_by_half_a_tooth_in_each_beat():
    """The pendulum swings evenly by the wheel's pushes, and the hands turn slower by their ratio."""
    scene = clock()
    _, turns, velocities = led(scene, scene.frame_count, "Escape Wheel", "Pendulum", "Minute Hand", "Hour Hand")
    angles = np.unwrap(2.0 * np.arctan2(turns[:, :, 2], turns[:, :, 0]), axis=0)
    wheel, turning = angles[:, 0], beats(velocities[:, 1])
    assert len(turning) >= 12
    # where the pendulum turns, a tooth lies against a pin: each time the wheel is half of a pitch farther
    half_pitch = np.pi / TEETH
    assert np.diff(wheel[turning]) == pytest.approx(half_pitch, abs=0.07 * half_pitch)
    assert np.diff(wheel[turning[::2]]) == pytest.approx(2.0 * half_pitch, abs=0.01 * half_pitch)
    assert np.abs(velocities[turning, 0, 4]).max() < 0.1
    assert np.ptp(np.diff(turning)) <= 1
    for hand, ratio in ((2, 12.0), (3, 144.0)):
        assert np.ptp(angles[:, hand]) == pytest.approx(np.ptp(wheel) / ratio, rel=0.02)


def test_a_clock_comes_to_the_same_swing_from_above_and_from_below():
    """What it swings by in the end is the wheel's doing: its pushes make up for what the teeth take.

    It comes near slowly: after 70 seconds it still changes by 1 to 2 % in eight beats, by rounding, and then stays
    within 2 % of 6.8 degrees. So it has two minutes.
    """
    swings = []
    for start in (8.0, 6.2):
        scene = clock(start)
        _, turns, velocities = led(scene, 3000, "Pendulum")
        angles = 2.0 * np.arctan2(turns[:, 0, 2], turns[:, 0, 0])
        swing = np.degrees(np.abs(angles[beats(velocities[:, 0])]))
        assert len(swing) > 110
        swings.append(swing[-24:].mean())
        assert swings[-1] == pytest.approx(swing[-48:-24].mean(), rel=0.01)
    assert swings[0] == pytest.approx(swings[1], rel=0.03)
    assert 5.5 < swings[0] < 8.0


def beats(velocities):
    """Frames in which a pendulum about y turns, of its velocities [frame, 6]."""
    return np.flatnonzero(velocities[:-1, 4] * velocities[1:, 4] < 0.0)


def test_a_crane_lifts_a_load_and_sets_it_down():
    """It leaves the ground, swings little, and lies still on the platform while the chain is slack."""
    scene = crane(links=6)
    bodies = {body.name: body for body in scene.bodies}
    places, _, velocities = led(scene, scene.frame_count, "Load", "Boom")
    load, platform = places[:, 0], bodies["Platform"]
    ground, level = bodies["Load"].position[2], platform.position[2] + platform.shape.half_extents[2]
    assert load[11, 2] == pytest.approx(ground, abs=1e-6)
    assert load[:, 2].max() > ground + 3.0
    assert load[-1, 2] == pytest.approx(level + ground, abs=1e-4)
    assert np.linalg.norm(load[-1, :2] - platform.position[:2]) < 0.7
    # the chain above them swings on, and what moves is swept only to a thousandth of what a substep changes
    assert np.abs(velocities[-1]).max() < 1e-4
    # the boom is where its servos were led
    lean = np.arcsin((places[-1, 1, 2] - 6.0) / 4.0)
    assert np.degrees(lean) == pytest.approx(12.5, abs=1e-3)


def test_a_walker_crosses_a_bridge_that_comes_to_rest():
    """It stands on the other bank, and neither it nor any plank moves."""
    scene = walker(count=10)
    planks = [body.name for body in scene.bodies if body.name.startswith("Plank")]
    places, turns, velocities = led(scene, scene.frame_count, "Walker", *planks)
    start, end = places[0, 0], places[-1, 0]
    assert end[0] == pytest.approx(-start[0], abs=0.4)
    # on the tips of its legs, or on two of each
    assert start[2] - 0.01 < end[2] < start[2] + 0.06
    assert abs(end[1]) < 0.1
    assert turns[-1, 0] == pytest.approx([1.0, 0.0, 0.0, 0.0], abs=0.02)
    # the bridge gives way under it
    assert places[:, 0, 2].min() < start[2] - 0.2
    assert np.abs(velocities[60:120, 1:, 2]).max() > 0.1
    # its servos do not throw it
    assert np.abs(velocities[:, 0]).max() < 3.0
    assert np.abs(velocities[-1]).max() < 2e-3


def test_a_hanging_snake_keeps_its_energy():
    """Six hinged links in a line swing, and fold as they return."""
    scene = SCENES["hanging_snake"]()
    simulation = Simulation(scene.build_model(), SimulationOptions())
    reports = [simulation.advance_frame() for _ in range(scene.frame_count)]
    energy = np.array([report.kinetic_energy + report.potential_energy for report in reports])
    fall = 9.81 * 0.5 * 36.0 * (1.0 - np.cos(np.radians(30.0)))
    assert np.diff(energy).max() < 1e-6 * fall
    assert np.ptp(energy) < 1e-2 * fall
    assert max(report.joint_error for report in reports) < 1e-6


def test_servos_are_led_along_lines():
    """Between the keys of each servo; other joints have none."""
    scene = crane(links=1)
    places = scene.servo_targets(1)
    numbers = {joint.name: number for number, joint in enumerate(scene.joints)}
    assert np.argwhere(~np.isnan(places)).tolist() == [[numbers["Slew"], 5], [numbers["Luff"], 5]]
    assert scene.servo_targets(scene.frame_count)[numbers["Slew"], 5] == pytest.approx(np.radians(70.0))
    assert SCENES["bridge"]().servo_targets(1) is None
    assert smooth_targets([(0, 1.0), (4, 3.0)]) == ((0, 1.0), (2, 2.0), (4, 3.0))
