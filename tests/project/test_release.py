"""``package.py --review`` finds what Blender's reviewers would send back; ``release.py`` makes what goes with zips."""

import hashlib
import json
import zipfile

import package
import pytest
import release

MANIFEST = """
id = "cairn"
name = "Cairn"
tagline = "Bake rigid bodies"
tags = ["Physics", "Bake"]
license = ["SPDX:GPL-3.0-or-later"]
wheels = ["./wheels/numba-0.68.1-cp313-cp313-win_amd64.whl"]
[permissions]
files = "Keep compiled kernels"
"""
SOUND = {
    "blender_manifest.toml": MANIFEST,
    "LICENSE": "",
    "__init__.py": "from . import addon\n",
    "wheels/numba-0.68.1-cp313-cp313-win_amd64.whl": "",
    "solver_core/compiled/child_process.py": "import sys\npath = sys.path\n",
}


def reviewed(folder, capsys, **changes):
    """The exit code of a review, and its lines; a dot in a file's name is written as two underscores."""
    path = folder / "cairn.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**SOUND, **changes}.items():
            archive.writestr(name, text)
    code = package.main(["--review", str(path)])
    return code, [line.removeprefix(f"{path}: ") for line in capsys.readouterr().out.splitlines()]


def test_sound_zip_passes(tmp_path, capsys):
    assert reviewed(tmp_path, capsys) == (0, [])


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("addon/a.py", "import threading", "imports threading"),
        ("addon/a.py", "def f():\n    from pickle import loads", "addon/a.py: line 2 imports pickle"),
        ("addon/a.py", "import urllib.request", "imports urllib.request"),
        ("addon/a.py", "eval('1')", "uses eval"),
        ("addon/a.py", "import sys\nsys.path.append('x')", "uses sys.path"),
        ("addon/a.py", "bl_info = {}", "uses bl_info"),
        ("addon/a.py", "from cairn import addon", "imports its own package by name"),
        ("addon/library.so", "", "programs travel in wheels only"),
        ("addon/__pycache__/a.pyc", "", "hidden files"),
        ("wheels/numpy-2.2.0-cp313-cp313-win_amd64.whl", "", "comes with Blender already"),
        ("wheels/other-1.0-py3-none-any.whl", "", "wheels in the zip are not those of the manifest"),
        ("blender_manifest.toml", MANIFEST.replace("bodies", "bodies!"), "punctuation"),
        ("blender_manifest.toml", MANIFEST.replace("bodies", "bodies " * 20), "at most 64"),
        ("blender_manifest.toml", MANIFEST.replace("GPL-3.0-or-later", "MIT"), "licence"),
        ("blender_manifest.toml", MANIFEST.replace('"Bake"]', '"Bakery"]'), "unknown tags: Bakery"),
        ("blender_manifest.toml", MANIFEST.replace("kernels", "kernels."), "permission files"),
        ("blender_manifest.toml", MANIFEST.replace('"Cairn"', '"Blender Cairn"'), "trade mark"),
    ],
)
def test_each_rule_that_is_broken_is_a_line(tmp_path, capsys, name, text, said):
    code, lines = reviewed(tmp_path, capsys, **{name: text})
    assert code == 1
    assert [line for line in lines if said in line], lines


def test_a_zip_may_not_be_too_large(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("review.LARGEST_ZIP", 100)
    code, (line,) = reviewed(tmp_path, capsys)
    assert code == 1
    assert "are allowed" in line


@pytest.mark.parametrize("content", [None, b"no zip"])
def test_what_is_no_zip_is_said_in_a_line(tmp_path, capsys, content):
    path = tmp_path / "broken.zip"
    if content is not None:
        path.write_bytes(content)
    assert package.main(["--review", str(path)]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert "cannot be read as an extension" in line


def test_every_python_and_platform_gets_one_zip():
    made = release.chosen(None, None)
    assert len(made) == len(set(made)) == len(package.PYTHON_LINES) * len(package.WHEEL_PLATFORMS)
    assert {package.PYTHON_OF_BLENDER[line] for line, _ in made} == set(package.PYTHON_LINES)
    assert release.chosen("5.1", "macos-arm64") == [("5.1", "macos-arm64")]


def test_a_release_has_checksums_notes_and_an_index(tmp_path, monkeypatch):
    """Blender's own builder makes the index from the zips."""
    pytest.importorskip("bpy", reason="Blender's builder comes with the bpy module")
    monkeypatch.delenv("CAIRN_BLENDER", raising=False)
    archive = tmp_path / "cairn-0.1.0-cp313-linux-x64.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("blender_manifest.toml", (release.ROOT / "blender_manifest.toml").read_text())
        opened.writestr("__init__.py", "")
    assert release.main(["--collect", "--output", str(tmp_path)]) == 0
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    assert (tmp_path / "SHA256SUMS").read_text() == f"{digest}  {archive.name}\n"
    assert "### Added" in (tmp_path / "NOTES.md").read_text()
    (entry,) = json.loads((tmp_path / "index.json").read_text())["data"]
    assert entry["archive_url"] == f"./{archive.name}"
    assert entry["archive_hash"] == f"sha256:{digest}"


def test_without_zips_there_is_nothing_to_collect(tmp_path, capsys):
    assert release.main(["--collect", "--output", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("release: there is no zip in ")


def test_a_zip_that_does_not_work_stops_the_release(tmp_path, monkeypatch):
    """Here the application ends with an error at once."""
    archive = tmp_path / "cairn.zip"
    archive.write_bytes(b"")
    with pytest.raises(package.PackagingError, match=r"cairn\.zip does not work in"):
        release.try_out("false", archive)
