"""The kernels in the zip, in the real application with an empty profile.

A first bake compiles nothing, to the same bits; where they do not fit it compiles, and says so in one line.
"""

import json

import pytest

# Of this process, since other work on the machine makes the clock run; an idle one takes half.
PROCESSOR_SECONDS_TO_FIRST_FRAME = 6.0


@pytest.fixture(scope="module")
def mixed_scene(plain_blender, tmp_path_factory):
    """Every kind of shape, a joint, and a concave mesh that moves."""
    path = tmp_path_factory.mktemp("mixed") / "mixed.blend"
    plain_blender.script("make_mixed_scene.py", path)
    return path


def test_first_bake_compiles_nothing(new_blender, mixed_scene):
    told = new_blender.script("first_frame.py", blend=mixed_scene)
    assert not [text for text in told["texts"] if "Preparing" in text]
    assert not [note for note in told["notes"] if "kernels" in note]
    assert new_blender.kernel_files == {}
    assert told["processor_seconds"] < PROCESSOR_SECONDS_TO_FIRST_FRAME


def test_ring_moves_in_convex_parts(new_blender, mixed_scene):
    """CoACD is in the zip."""
    told = new_blender.script("first_frame.py", blend=mixed_scene)
    assert [note for note in told["notes"] if "convex parts" in note]


def test_another_processor_compiles_says_so_and_has_the_same_bits(new_blender, plain_blender, scene, tmp_path):
    """For one that lacks what the ready-made kernels need; one compilation serves what is said and what moves."""
    bake = ("-b", scene, "--command", "cairn", "bake", "-o")
    new_blender.run(*bake, tmp_path / "ready.blend")
    assert new_blender.kernel_files == {}
    new_blender.environment = {"NUMBA_CPU_NAME": "nehalem", "NUMBA_CPU_FEATURES": ""}
    told = new_blender.script("first_frame.py", blend=scene)
    assert [text for text in told["texts"] if "Preparing the solver" in text]
    (line,) = [note for note in told["notes"] if "ready-made kernels" in note]
    assert "NUMBA_CPU_NAME" in line
    assert new_blender.kernel_files
    new_blender.run(*bake, tmp_path / "compiled.blend")
    ready, compiled = (
        plain_blender.script("read_motion.py", blend=tmp_path / f"{name}.blend") for name in ("ready", "compiled")
    )
    assert ready == compiled


def test_damaged_kernel_is_compiled_and_named(new_blender, scene):
    """The file of a small one, which every scene needs, is cut off."""
    record = json.loads((new_blender.extension / "kernels" / "record.json").read_text())
    (entry,) = [entry for entry in record["kernels"].values() if entry["kernel"].endswith("run_find_islands")]
    kernel = new_blender.extension / "kernels" / entry["file"]
    kernel.write_bytes(kernel.read_bytes()[:1000])
    told = new_blender.script("first_frame.py", blend=scene)
    (line,) = [note for note in told["notes"] if "damaged" in note]
    assert kernel.name in line
    assert "reinstall Cairn" in line


def test_folder_that_cannot_be_written_is_said_and_the_bake_works(new_blender, scene):
    folder = new_blender.resources / "extensions" / ".user" / "user_default" / "cairn"
    folder.mkdir(parents=True)
    (folder / "numba_cache").write_text("in the way")
    told = new_blender.script("first_frame.py", blend=scene)
    (line,) = [note for note in told["notes"] if "in each session" in note]
    assert "numba_cache" in line


@pytest.mark.nightly
def test_two_blenders_that_compile_at_once_bake_the_same(bare_blender, blender, scene, tmp_path):
    """Both compile into one folder, for this processor, and neither spoils what the other keeps."""
    reports = [tmp_path / "1.json", tmp_path / "2.json"]
    ready_made = tmp_path / "ready.json"
    bake = ("-b", scene, "--command", "cairn", "bake")
    blender.run(*bake, "-o", tmp_path / "ready.blend", "--report", ready_made)
    started = [bare_blender.start(*bake, "-o", path.with_suffix(".blend"), "--report", path) for path in reports]
    for process in started:
        bare_blender.ended(process)
    digests = {json.loads(path.read_text())["totals"]["digest"] for path in [ready_made, *reports]}
    assert len(digests) == 1
    kept = bare_blender.kernel_files
    assert kept
    bare_blender.run(*bake, "-o", tmp_path / "3.blend")
    assert bare_blender.kernel_files == kept
