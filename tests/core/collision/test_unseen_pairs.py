"""Whether a solution leads shapes together that are no pair: what says so misses nothing, and says it seldom."""

import itertools

import numpy as np
import pytest
from reference_collision import SUBSTEP, Collider, rotation, run_stage, signed_distance

from cairn.solver_core import Simulation, SimulationOptions
from cairn.solver_core.collision.data.contact_arrays import STATUS_UNSEEN_PAIR
from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.dynamics.motion.integration import allocate_motion, reach_farther
from cairn.solver_core.dynamics.schedule.stage_table import BROAD_PHASE
from cairn.solver_core.geometry.round_shapes import Capsule, Cone, Cylinder
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.model import BodyKind

HALF = np.array([0.3, 0.25, 0.2])
CORNERS = np.array(list(itertools.product((-1.0, 1.0), repeat=3))) * HALF


def misses_a_pair(collider, velocity, diverted=True):
    """Of the pairs of the collider's last step, along these velocities, which divert these bodies."""
    predicted = collider.workspace.predicted
    predicted.is_diverted[:], predicted.velocity[:] = diverted, velocity
    buffers = collider.pairs[0], collider.contacts[0]
    predicted.is_looked_along[0] = True
    status = run_stage(collider, BROAD_PHASE, *buffers, buffers, buffers)
    predicted.is_looked_along[0] = False
    return status == STATUS_UNSEEN_PAIR


def heap(rng, count, spread):
    """Boxes turned at random, in a cube."""
    bodies = [
        {"shape": Box(tuple(HALF)), "position": rng.uniform(-spread, spread, 3), "orientation": rng.normal(size=4)}
        for _ in range(count)
    ]
    return Collider(bodies, gravity_norm=9.81, pair_capacity=2000, contact_capacity=12000)


def corners_at(collider, body, velocity, time):
    """Where a box's corners are after some time of its velocities."""
    w = velocity[3:] * time
    angle = np.linalg.norm(w)
    turn = np.array([np.cos(0.5 * angle), *(np.sin(0.5 * angle) / max(angle, 1e-300) * w)])
    placed = rotation(turn) @ rotation(collider.state.orientation[body]) @ CORNERS.T
    return placed.T + collider.state.position[body] + velocity[:3] * time


@pytest.mark.parametrize("seed", range(12))
def test_what_meets_is_a_pair_or_is_said_to_be_missing(seed):
    """Boxes that stood still when the pairs were found, and are then pushed by up to a third of their size."""
    rng = np.random.default_rng(seed)
    collider = heap(rng, 14, 1.0).step()
    velocity = rng.normal(size=(14, 6)) * rng.choice([0.0, 0.3, 8.0], (14, 1))
    listed = set(collider.pair_list())
    meeting = 0
    for a, b in itertools.combinations(range(14), 2):
        for time in np.linspace(0.0, SUBSTEP, 5):
            corners = corners_at(collider, a, velocity[a], time), corners_at(collider, b, velocity[b], time)
            if (a, b) not in listed and signed_distance(*corners)[0] < 0.0:
                meeting += 1
    if meeting:
        assert misses_a_pair(collider, velocity)


def test_both_answers_occur_in_such_heaps():
    """The test above would say nothing where pairs were always, or never, missing."""
    answers = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        collider = heap(rng, 14, 1.0).step()
        answers.append(bool(misses_a_pair(collider, rng.normal(size=(14, 6)) * rng.choice([0.0, 0.3, 8.0], (14, 1)))))
    assert 0 < sum(answers) <= 12
    assert not misses_a_pair(heap(np.random.default_rng(0), 14, 1.0).step(), np.zeros((14, 6)))


@pytest.mark.parametrize(("speed", "is_missing"), [(14.0, False), (20.0, True)])
def test_bounds_along_the_motion_decide(speed, is_missing):
    """Two balls 0.17 m apart: in 1/96 s the one comes 0.146 m nearer, or 0.208 m."""
    bodies = [
        {"shape": Sphere(0.1), "position": (0.0, 0.0, 0.0)},
        {"shape": Sphere(0.1), "position": (0.37, 0.0, 0.0)},
    ]
    collider = Collider(bodies, gravity_norm=9.81).step()
    assert collider.pair_list() == []
    velocity = np.zeros((2, 6))
    velocity[0, 0] = speed
    assert misses_a_pair(collider, velocity) == is_missing
    for diverted in ([True, False], [False, True]):
        assert misses_a_pair(collider, velocity, diverted) == is_missing
    # what goes where it was looked for meets nothing unforeseen
    assert not misses_a_pair(collider, velocity, diverted=False)
    # what cannot collide is never missing
    collider.model.arrays.collision_mask[:] = 1, 2
    assert not misses_a_pair(collider, velocity)


ROD = 0.05
RODS = [Box((ROD, ROD, 0.5)), Cylinder(ROD, 0.5), Capsule(ROD, 0.45), Cone(ROD, 0.5)]


@pytest.mark.parametrize(("way", "is_missing"), [(1.1, False), (1.25, True)])
@pytest.mark.parametrize("shape", RODS, ids=lambda shape: type(shape).__name__)
def test_rods_that_lie_askew_are_seen_along_their_own_axes(shape, way, is_missing):
    """Two parallel rods along (1, 1, 0), 1.2 m apart: the boxes around them meet where they are still 0.1 m apart."""
    normal, across = np.array([1.0, -1.0, 0.0]) / 2**0.5, np.array([-1.0, 1.0, 0.0]) / 2**0.5
    turned = (0.5**0.5, *(0.5**0.5 * across))
    places = np.zeros(3), 1.3 * normal
    bodies = [{"shape": shape, "position": place, "orientation": turned} for place in places]
    collider = Collider(bodies, gravity_norm=9.81).step()
    assert collider.pair_list() == []
    assert abs(rotation(np.array(turned))[:, 2] @ normal) < 1e-12
    velocity = np.zeros((2, 6))
    velocity[0, :3] = way / SUBSTEP * normal
    assert misses_a_pair(collider, velocity) == is_missing
    velocity[0, 3:] = 0.5 / SUBSTEP
    assert misses_a_pair(collider, velocity)


@kernel
def _reach(size, motion, velocity, gravity_norm, h, predicted):
    return reach_farther(size, motion, velocity, gravity_norm, h, predicted)


def test_what_turns_round_is_diverted_as_what_is_pushed_on():
    """Bodies of 1 m at 8 m/s: one goes on, one comes back, one is slowed a little, one pushed; and one is driven."""
    motion = allocate_motion(5)
    motion.can_be_pushed[:4] = True
    motion.start_velocity[:, 0] = 8.0
    velocity = np.zeros((5, 6))
    velocity[:, 0] = 8.0, -8.0, 7.7, 16.0, 30.0
    predicted = heap(np.random.default_rng(0), 5, 1.0).step().workspace.predicted
    for pushed, expected in ((16.0, [False, True, False, True, False]), (8.0, None)):
        velocity[3, 0], predicted.surplus[:] = pushed, 0.0
        out_of_sight, is_fast = _reach(np.ones(5), motion, velocity, 9.81, SUBSTEP, predicted)
        assert out_of_sight == (expected is not None)
        assert not is_fast
        if expected:
            assert predicted.is_diverted.tolist() == expected


def heap_that_falls(seed):
    """60 boxes turned at random, in layers above a floor."""
    rng = np.random.default_rng(seed)
    builder = ModelBuilder()
    builder.add_body(shape=Box((8.0, 8.0, 0.5)), kind=BodyKind.STATIC, position=(0.0, 0.0, -0.5))
    for z, y, x in np.ndindex(5, 4, 3):
        place = np.array([x - 1.0, y - 1.5, z + 0.8]) * 0.7
        builder.add_body(shape=Box(tuple(0.8 * HALF)), position=place, orientation=rng.normal(size=4))
    return builder.build()


@pytest.mark.parametrize("seed", range(2))
def test_a_heap_that_falls_is_looked_at_once_in_most_substeps(seed):
    """Its bodies are pushed elsewhere in each substep, mostly towards what they already are a pair with."""
    simulation = Simulation(heap_that_falls(seed), SimulationOptions(threads=1))
    reports = [simulation.advance_frame() for _ in range(30)]
    passes, substeps = (sum(getattr(report, name) for report in reports) for name in ("detection_passes", "substeps"))
    assert passes <= 1.3 * substeps
    assert max(report.max_penetration for report in reports) < 0.03
