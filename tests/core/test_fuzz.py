"""The fuzz's own parts, and a few of its scenes; ``python -m benchmarks fuzz`` plays as many as there is time for."""

import copy

import numpy as np
import pytest

from benchmarks.fuzz import oracles
from benchmarks.fuzz.scenes import build, load, random_scene, save
from benchmarks.fuzz.shrink import shrink, without_bodies

BALL = {"shape": {"type": "Sphere", "radius": 0.3}, "kind": "DYNAMIC", "position": [0.0, 0.0, 2.0]}
FALL = {
    "gravity": [0.0, 0.0, -9.81],
    "bodies": [BALL],
    "joints": [],
    "driven": {},
    "frames": 6,
    "options": {"frame_rate": 24.0},
}


@pytest.mark.parametrize("seed", range(2000, 2012))
def test_random_scenes_hold(seed):
    """Numbers, energy, momentum, speeds, the floor, and the same bits from the middle on."""
    found = oracles.check(random_scene(seed))
    assert found is None, found


@pytest.mark.parametrize("seed", range(2000, 2006))
def test_random_scenes_with_matter_hold(seed):
    """Likewise with what bodies are made of, what pushes and leads them, and no body faster than it may be."""
    found = oracles.check(random_scene(seed, matter=True))
    assert found is None, found


@pytest.mark.nightly
@pytest.mark.parametrize("matter", [False, True])
@pytest.mark.parametrize("first", range(10_000, 12_000, 100))
def test_many_random_scenes_hold(first, matter):
    for seed in range(first, first + 100):
        found = oracles.check(random_scene(seed, matter))
        assert found is None, (seed, found)


def test_matter_adds_to_scenes_and_changes_none():
    """Everything comes up, all of it builds, and a seed without it is the scene that it was."""
    names, fields, joints = set(), set(), set()
    for seed in range(300):
        plain, scene = random_scene(seed), random_scene(seed, matter=True)
        for before, body in zip(plain["bodies"], scene["bodies"], strict=True):
            assert before.items() <= body.items()
            names |= body.keys() - before.keys()
        fields |= {field["type"] for field in scene.get("fields", ())}
        joints |= {joint["type"] for joint in scene["joints"]} - {joint["type"] for joint in plain["joints"]}
        build(scene)
    assert names >= {"rolling_friction", "spinning_friction", "sliding_friction", "friction_rule", "restitution_rule"}
    assert names >= {"surface_velocity", "largest_speed", "collision_mask", "push", "guide", "activation", "charge"}
    assert len(fields) == 8
    assert joints == {"Bond", "Gear"}


def test_what_is_faster_than_it_may_be_is_found(monkeypatch):
    scene = FALL | {"bodies": [BALL | {"largest_speed": 1.0}]}
    assert oracles.check(scene) is None

    def hasten(simulation):
        simulation.state.velocity[:, 2] = -1.2

    monkeypatch.setattr(oracles, "Simulation", broken(hasten))
    found = oracles.check(scene)
    assert found is not None
    assert found.kind == "largest speed"


def test_a_seed_is_a_scene_and_scenes_are_stored(tmp_path):
    """The same again, and as a file; all kinds of bodies and joints come up."""
    scenes = [random_scene(seed) for seed in range(200)]
    assert scenes[7] == random_scene(7)
    save(scenes[7], tmp_path / "seven.json")
    assert load(tmp_path / "seven.json") == scenes[7]
    shapes = {body["shape"]["type"] for scene in scenes for body in scene["bodies"]}
    assert len(shapes) == 8
    assert len({joint["type"] for scene in scenes for joint in scene["joints"]}) == 8
    assert any(scene["driven"] for scene in scenes)


def broken(change):
    """A simulation whose state is changed after its third frame."""

    class Broken(oracles.Simulation):
        def advance_frame(self, frame_input=None):
            report = super().advance_frame(frame_input)
            if self.frame == 3:
                change(self)
            return report

    return Broken


def gain_speed(simulation):
    simulation.state.velocity[:, 0] += 20.0


def sink(simulation):
    simulation.state.position[-1, 2] = -3.0


def forget(simulation):
    """As if a checkpoint had not held what it should: whoever goes on from the middle comes elsewhere."""
    simulation.state.position[:, 0] += 1e-12 * len(simulation.marks)
    simulation.marks.append(1)


@pytest.mark.parametrize(("change", "kind"), [(gain_speed, "energy"), (sink, "fallen")])
def test_what_is_wrong_is_found(monkeypatch, change, kind):
    floor = {"shape": {"type": "Box", "half_extents": [500.0, 500.0, 5.0]}, "kind": "STATIC", "position": [0, 0, -5.0]}
    scene = FALL | {"bodies": [floor, BALL]}
    assert oracles.check(scene) is None
    monkeypatch.setattr(oracles, "Simulation", broken(change))
    found = oracles.check(scene)
    assert found is not None
    assert found.kind == kind


def test_another_end_from_the_middle_is_found(monkeypatch):
    broken_class = broken(forget)
    broken_class.marks = [1]
    monkeypatch.setattr(oracles, "Simulation", broken_class)
    found = oracles.check(FALL | {"frames": 4})
    assert found is not None
    assert found.kind == "bits"


def test_momentum_that_appears_is_found(monkeypatch):
    """Two bodies alone in space that are given the same push."""
    other = BALL | {"position": [3.0, 0.0, 2.0], "linear_velocity": [-1.0, 0.0, 0.0]}
    scene = FALL | {"gravity": [0.0, 0.0, 0.0], "bodies": [BALL, other]}
    assert oracles.check(scene) is None

    def push(simulation):
        simulation.state.velocity[:, 1] += 1e-3

    monkeypatch.setattr(oracles, "Simulation", broken(push))
    found = oracles.check(scene)
    assert found is not None
    assert found.kind == "momentum"


def test_shrinking_leaves_what_fails():
    """Two bodies of fourteen and one joint that are needed; the input is as it was."""
    scene = next(scene for scene in map(random_scene, range(500)) if len(scene["joints"]) > 3)
    wanted = scene["joints"][1]["type"]
    before = copy.deepcopy(scene)

    def fails(candidate):
        build(candidate)
        return any(joint["type"] == wanted for joint in candidate["joints"])

    small = shrink(scene, fails)
    assert scene == before
    assert [joint["type"] for joint in small["joints"]] == [wanted]
    assert len(small["bodies"]) <= 2
    assert small["frames"] == 1
    assert np.all([set(body) <= {"shape", "kind", "position"} for body in small["bodies"]])


def test_joints_follow_their_bodies_when_others_go():
    joints = [
        {"type": "Fixed", "a": 2, "b": 3, "position": [0, 0, 0]},
        {"type": "Fixed", "a": 0, "b": 3, "position": []},
    ]
    scene = FALL | {"bodies": [BALL] * 4, "joints": joints, "driven": {"3": [0.0] * 6}}
    small = without_bodies(scene, {0, 1})
    assert [(joint["a"], joint["b"]) for joint in small["joints"]] == [(0, 1)]
    assert small["driven"] == {"1": [0.0] * 6}
