"""Ready-made scenes start as they are meant to: bodies touch and do not overlap, and every one is held by others."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from cairn.solver_core.geometry import rotations
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.scenes import SCENES, arch, boulders, chain, dominoes, pile
from cairn.solver_core.scenes.boulders import ground_height
from cairn.solver_core.scenes.cards import card_house
from cairn.solver_core.scenes.hanging import hanging_nodes
from cairn.solver_core.simulation import Simulation

MOVING = ("wall", "pile", "chain", "boulders", "dominoes", "cradle", "ball_pool", "tops", "tumbling", "gears")
JOINTED = ("bridge", "wrecking_ball", "ragdoll", "drawbridge", "car")
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
    assert simulation.overlaps() == []
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
