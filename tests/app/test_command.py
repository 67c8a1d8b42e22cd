"""``blender -b scene.blend --command cairn`` in the real application, with the installed zip."""

import json

import pytest
from application import ROOT, own_lines

HEIGHT = 11  # the place of z in a matrix, row by row


@pytest.fixture(scope="module")
def baked(blender, scene, tmp_path_factory):
    folder = tmp_path_factory.mktemp("baked")
    output, report = folder / "baked.blend", folder / "report.json"
    blender.run("-b", scene, "--command", "cairn", "bake", "-o", output, "--report", report)
    return output, json.loads(report.read_text())


def test_baked_file_plays_in_a_blender_without_cairn(baked, plain_blender):
    motion = plain_blender.script("read_motion.py", blend=baked[0])
    assert set(motion) == {"Lower", "Upper"}
    for body, rest in (("Lower", 0.5), ("Upper", 1.5)):
        assert min(motion[body]["keys"]) >= 2  # keys that repeat both neighbours are left out
        assert motion[body]["poses"][-1][HEIGHT] == pytest.approx(rest, abs=1e-4)
    fall = motion["Upper"]["poses"][0][HEIGHT] - motion["Upper"]["poses"][5][HEIGHT]
    time = 5 / 24
    # free fall from rest; the default damping of 0.04 and the substeps take less than the tolerance
    assert fall == pytest.approx(9.81 * time**2 / 2, rel=0.01)


def test_report_tells_of_every_frame(baked):
    report = baked[1]
    assert report["frames"][-1]["frame"] == 48
    assert report["blender"]
    assert report["frames"][-1]["contacts"] == 8


def test_info_tells_what_would_be_simulated(blender, scene):
    done = blender.run("-b", scene, "--command", "cairn", "info", "--json")
    text = done.stdout
    info = json.loads(text[text.index("{") : text.rindex("}") + 1])
    assert "Lower" in json.dumps(info)


def test_scene_without_bodies_ends_with_2_and_one_line(blender, plain_blender, tmp_path):
    scene, output = tmp_path / "cube.blend", tmp_path / "out.blend"
    plain_blender.run("-b", "--python-expr", f"import bpy; bpy.ops.wm.save_as_mainfile(filepath={str(scene)!r})")
    done = blender.run("-b", scene, "--command", "cairn", "bake", "-o", output, "--quiet", check=False)
    assert done.returncode == 2, done.stdout + done.stderr
    (line,) = own_lines(done.stderr)
    assert "rigid bod" in line.lower()
    assert not output.exists()


def test_second_bake_gives_the_same_bits(baked, blender, plain_blender, scene, tmp_path):
    output = tmp_path / "again.blend"
    blender.run("-b", scene, "--command", "cairn", "bake", "-o", output)
    motions = [plain_blender.script("read_motion.py", blend=path) for path in (baked[0], output)]
    assert motions[0] == motions[1]


def test_a_bounce_has_keys_between_frames(blender, plain_blender, tmp_path):
    """The guide's ball meets the floor between frames 6 and 7, as its file asks for; ``--no-hit-keys`` has none."""
    scene, between = ROOT / "docs" / "files" / "bounce.blend", []
    for number, words in enumerate(((), ("--no-hit-keys",))):
        output = tmp_path / f"bounce{number}.blend"
        blender.run("-b", scene, "--command", "cairn", "bake", "-o", output, *words)
        between.append(plain_blender.script("read_motion.py", blend=output)["Ball"]["between"])
    assert 6.0 < between[0][0] < 7.0
    assert between[1] == []
