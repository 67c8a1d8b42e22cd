"""``blender -b scene.blend --command cairn`` in the real application, with the installed zip."""

import json

import pytest
from application import own_lines


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
        assert min(motion[body]["keys"]) >= 48
        # a few millimetres for contact's own tolerance
        assert motion[body]["z"][-1] == pytest.approx(rest, abs=5e-3)
    # free fall from rest for the first five frames, 0.1 m at most before it touches: z0 - g t^2 / 2
    fall = motion["Upper"]["z"][0] - motion["Upper"]["z"][5]
    time = 5 / 24
    assert fall == pytest.approx(9.81 * time**2 / 2, rel=0.06)


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
