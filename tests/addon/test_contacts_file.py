"""``cairn bake --contacts FILE.npz``: what the file says, and that it is the same however it was baked."""

import numpy as np
import pytest

from cairn.addon import cli
from cairn.addon.contacts import kept

FRAMES = 30
G = 9.81


@pytest.fixture
def shot(maker, tmp_path):
    """A saved scene: boxes of 2 and 3 kg that fall onto a floor side by side."""
    for name, mass, place in (("Light", 2.0, (0, 0, 1.2)), ("Heavy", 3.0, (3, 0, 1.4))):
        body = maker.body(name, shape="BOX", location=place)
        body.rigid_body.mass, body.rigid_body.use_deactivation = mass, False
    maker.body("Floor", type="PASSIVE", shape="BOX", location=(0, 0, -0.5), scale=(10, 10, 1))
    maker.scene.frame_end = maker.world.point_cache.frame_end = 1 + FRAMES
    return maker.save(tmp_path / "shot.blend")


def bake(shot, name, *options):
    """The bytes of the file of contacts, and its arrays."""
    path = shot.with_name(f"{name}.npz")
    out = shot.with_name(f"{name}.blend")
    assert cli.main(["bake", str(shot), "-o", str(out), "--quiet", "--contacts", str(path), *map(str, options)]) == 0
    with np.load(path, allow_pickle=False) as file:
        return path.read_bytes(), {entry: file[entry] for entry in file.files}


def test_the_file_says_what_pushes_what(shot):
    """At rest each box is borne with m g T a frame; until it falls onto the floor it has no contact."""
    _, found = bake(shot, "one")
    assert set(found["names"]) == {"Floor", "Heavy", "Light"}
    assert len(found["first"]) == FRAMES + 1
    assert found["first"][0] == 0
    assert found["first"][-1] == len(found["impulse"]) == len(found["frame"])
    assert found["first"][1] == 0
    names = found["names"].tolist()
    floor = names.index("Floor")
    for name, mass in (("Light", 2.0), ("Heavy", 3.0)):
        last = (found["frame"] == 1 + FRAMES) & (
            (found["body_a"] == names.index(name)) | (found["body_b"] == names.index(name))
        )
        assert last.sum() == 4
        sign = np.where(found["body_b"][last] == floor, -1.0, 1.0)[:, None]
        pushed = (sign * found["impulse"][last]).sum(axis=0)
        assert pushed == pytest.approx([0.0, 0.0, mass * G / 24.0], rel=1e-3, abs=1e-3)
        assert (sign * found["normal"][last])[:, 2] == pytest.approx(1.0)
        assert np.abs(found["slip"][last]).max() < 1e-3
    # the fall is taken in the frames of the hit, up to gravity's part of these
    light = (found["body_a"] == names.index("Light")) | (found["body_b"] == names.index("Light"))
    total = np.abs(found["impulse"][light, 2]).sum()
    assert total == pytest.approx(2.0 * G * FRAMES / 24.0, rel=0.05)
    assert found["frame_start"] == 1
    assert found["frame_rate"] == 24.0
    assert found["joint_impulse"].shape == (FRAMES, 0, 3)


def test_threads_and_a_stop_leave_the_same_file(shot):
    """Byte by byte: on three threads, and in two parts with a checkpoint between."""
    whole, _ = bake(shot, "whole")
    assert bake(shot, "threads", "--threads", 3)[0] == whole
    out, path = shot.with_name("parts.blend"), shot.with_name("parts.npz")
    first = ["bake", str(shot), "-o", str(out), "--quiet", "--contacts", str(path), "--until", "14"]
    assert cli.main(first) == 0
    assert not path.exists()
    assert bake(shot, "parts", "--resume")[0] == whole


def test_a_bake_without_contacts_is_no_beginning_of_one_with(shot, capsys):
    """What was not noted cannot be written; the other way round it goes on."""
    out, path = str(shot.with_name("out.blend")), str(shot.with_name("out.npz"))
    assert cli.main(["bake", str(shot), "-o", out, "--quiet", "--until", "10"]) == 0
    assert cli.main(["bake", str(shot), "-o", out, "--quiet", "--resume", "--contacts", path]) == 2
    assert "made without contacts" in capsys.readouterr().err
    assert cli.main(["bake", str(shot), "-o", out, "--quiet", "--contacts", path, "--until", "10"]) == 0
    assert cli.main(["bake", str(shot), "-o", out, "--quiet", "--resume"]) == 0


@pytest.mark.parametrize("name", ["shot.blend", "shot.cairn.blend", "report.json", "no/contacts.npz"])
def test_a_file_that_is_something_else_is_refused(shot, name, capsys):
    """Before anything is simulated; nothing is there afterwards that was not before."""
    before = sorted(path.name for path in shot.parent.iterdir())
    report = str(shot.with_name("report.json"))
    path = str(shot.parent / name)
    assert cli.main(["bake", str(shot), "--report", report, "--contacts", path, "--quiet"]) == 2
    assert len([line for line in capsys.readouterr().err.splitlines() if line.startswith("cairn: ")]) == 1
    assert sorted(path.name for path in shot.parent.iterdir()) == before


def test_smaller_numbers_are_near_those_of_the_simulation():
    """Single precision of impulses and places, half of it of directions; and no infinity."""
    from cairn.solver_core import Simulation, SimulationOptions
    from cairn.solver_core.scenes import SCENES

    simulation = Simulation(SCENES["pile"]().build_model(), SimulationOptions(contacts=True))
    for _ in range(14):
        contacts = simulation.advance_frame().frame_contacts
    small = kept(contacts)
    assert len(small.impulse) > 20
    assert small.impulse == pytest.approx(contacts.impulse, rel=1e-6, abs=1e-9)
    assert small.position == pytest.approx(contacts.position, rel=1e-6, abs=1e-6)
    assert small.normal == pytest.approx(contacts.normal, abs=1e-3)
    contacts.slip[0] = 1e9, -1e9, 0.0
    assert np.isfinite(kept(contacts).slip).all()
