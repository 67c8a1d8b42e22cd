"""Bad .blend files of many kinds: each ends with exit code 2 and one line that names it, and nothing is written."""

import os
import random
import subprocess
import sys

import bpy
import pytest
from bad_files import Commands, garbled, names, never_good, version_digits
from command_line import run
from nightly import at_night

# What the process ends with is the code of a command that cannot read its scene; any other end is a signal's.
_TOLD = """
import ctypes, os, sys
from cairn.addon.cli_crash import crash_told
with crash_told("cairn: told", 2):
    {}
"""


@pytest.fixture
def files(maker, tmp_path):
    """A good scene's file, uncompressed and compressed."""
    maker.body("Ball", shape="SPHERE", location=(0, 0, 3))
    rock = maker.body("Rock", location=(3, 0, 3))
    rock.modifiers.new("Bevel", "BEVEL")
    rock.driver_add("location", 0).driver.expression = "3.0"
    maker.key(
        maker.body("Floor", type="PASSIVE", shape="MESH", scale=(9, 9, 1)), "location", {1: (0, 0, 0), 5: (1, 0, 0)}
    )
    maker.scene.frame_end = maker.world.point_cache.frame_end = 3
    found = []
    for name, compress in (("plain.blend", False), ("packed.blend", True)):
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / name), compress=compress, check_existing=False)
        found.append((tmp_path / name).read_bytes())
    return found


@pytest.fixture
def commands(tmp_path):
    one = Commands(tmp_path)
    yield one
    one.close()


@pytest.fixture
def folder(tmp_path):
    """An empty folder."""
    (tmp_path / "shots").mkdir()
    return tmp_path / "shots"


def test_what_is_no_scene_is_refused(files, commands, folder):
    """A line that names the file once and says what is wrong; nothing lies beside the file."""
    path, wrong = folder / "shot.blend", {}
    bad = never_good(*files)
    assert len(bad) >= 100
    for kind, content in bad.items():
        path.write_bytes(content)
        code, lines = commands.run("bake", path, "--report", folder / "report.json")
        is_right = code == 2 and len(lines) == 1 and lines[0].startswith(f"cairn: cannot read {path}: ")
        if not (is_right and lines[0].count(str(path)) == 1 and names(folder) == ["shot.blend"]):
            wrong[kind] = code, lines, names(folder)
    assert not wrong


@pytest.mark.parametrize(("seed", "count"), [(0, 60), at_night(1, 1000)])
def test_what_is_damaged_is_read_or_refused(files, commands, folder, seed, count):
    """Also where Blender's reader crashes of it, which about one in fifty makes it do; the file stays as it is."""
    chance, path, wrong = random.Random(seed), folder / "shot.blend", []
    for number in range(count):
        kind, content = garbled(*files, chance)
        path.write_bytes(content)
        code, lines = commands.run("info", path)
        if not ((code == 0 and not lines) or (code == 2 and lines)) or path.read_bytes() != content:
            wrong.append((number, kind, code, lines))
    assert not wrong
    assert names(folder) == ["shot.blend"]


@pytest.mark.skipif(os.name != "posix", reason="told on POSIX systems alone")
@pytest.mark.parametrize("crash", ["ctypes.string_at(8)", "os.abort()", "ctypes.CDLL(None).memset(8, 0, 9)"])
def test_a_crash_is_told(crash):
    ended = subprocess.run([sys.executable, "-c", _TOLD.format(crash)], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (2, "cairn: told\n")


@pytest.mark.skipif(os.name != "posix", reason="told on POSIX systems alone")
def test_a_crash_later_is_the_systems_again():
    """What a process does at a signal is as it was before."""
    code = _TOLD.format("pass") + "os.abort()\n"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode < 0
    assert "told" not in ended.stderr


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read anything")
def test_a_file_that_may_not_be_read(maker, folder):
    maker.body()
    path = maker.save(folder / "shot.blend")
    path.chmod(0)
    code, _, lines = run("info", path)
    assert (code, lines) == (2, [f"cairn: cannot read {path}: Permission denied"])


@pytest.mark.parametrize(
    "name", ["two\nlines.blend", "a b.blend", 'it\'s "quoted".blend', "100%s %d.blend", "-o.blend", "été ⚽.blend"]
)
def test_names_of_files(maker, folder, monkeypatch, name):
    """A name with anything in it is read, and one line names it where the file is bad; also a relative one."""
    maker.body()
    maker.save(folder / "saved.blend")
    (folder / "saved.blend").rename(folder / name)
    monkeypatch.chdir(folder)
    code, out, lines = run("info", "--", name)
    assert (code, lines) == (0, [])
    assert "1 body" in out
    (folder / name).write_bytes(b"BLENDER")
    code, _, lines = run("bake", "--", name)
    assert code == 2
    assert lines == [f"cairn: cannot read {' '.join(name.split())}: {lines[0].partition(': ')[2].partition(': ')[2]}"]
    assert names(folder) == [name]


def test_a_file_of_a_later_blender_is_told(files, folder):
    """Blender reads it, without what it does not know."""
    plain, path = files[0], folder / "shot.blend"
    at, digits = version_digits(plain)
    path.write_bytes(plain[:at] + f"{999:0{digits}}".encode() + plain[at + digits :])
    code, out, _ = run("info", path)
    assert code == 0
    assert "the file was saved by Blender 9.99, and this is " in out


@pytest.mark.parametrize("name", ["shot.blend", "out.blend", "out.partial.blend", "link.blend"])
def test_a_report_takes_the_place_of_no_scene(maker, folder, name):
    """Neither of the one that is read, nor of the one that is written; also not by another name of it."""
    maker.body()
    shot = maker.save(folder / "shot.blend")
    (folder / "link.blend").symlink_to(shot)
    content, before = shot.read_bytes(), names(folder)
    code, _, lines = run("bake", shot, "-o", folder / "out.blend", "--report", folder / name)
    assert code == 2
    assert "the report would take the place of " in lines[0]
    assert (names(folder), shot.read_bytes()) == (before, content)


def test_names_as_long_as_can_be(maker, folder):
    """A bake has room for all files that it may leave, or is refused before it begins."""
    maker.body(shape="SPHERE")
    maker.scene.frame_end = maker.world.point_cache.frame_end = 3
    shot = maker.save(folder / "shot.blend")
    longest = 255 - len(".partial.blend")
    assert run("bake", shot, "-o", folder / f"{'x' * longest}.blend", "--quiet") == (0, "", [])
    assert names(folder) == ["shot.blend", f"{'x' * longest}.blend"]
    code, _, lines = run("bake", shot, "-o", folder / f"{'y' * (longest + 1)}.blend")
    assert code == 2
    assert "File name too long" in lines[0]
    assert names(folder) == ["shot.blend", f"{'x' * longest}.blend"]


def test_no_name_at_all(maker, folder):
    maker.body()
    code, _, lines = run("bake", maker.save(folder / "shot.blend"), "-o", "")
    assert (code, lines) == (2, ["cairn: cannot write .: it is a folder"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
@pytest.mark.parametrize("option", ["-o", "--report"])
def test_what_is_no_file_is_not_replaced(maker, folder, option):
    """A pipe, or a device such as /dev/null, which who may do anything would lose."""
    maker.body()
    shot = maker.save(folder / "shot.blend")
    os.mkfifo(folder / "pipe")
    code, _, lines = run("bake", shot, option, folder / "pipe")
    assert (code, lines) == (2, [f"cairn: cannot write {folder / 'pipe'}: it is a device or a pipe, and no file"])
    assert (folder / "pipe").is_fifo()
    assert names(folder) == ["pipe", "shot.blend"]


def test_a_link_stays_one(maker, folder):
    """What it leads to is written."""
    maker.body(shape="SPHERE")
    maker.scene.frame_end = maker.world.point_cache.frame_end = 3
    shot = maker.save(folder / "shot.blend")
    (folder / "latest.blend").symlink_to("version 1.blend")
    assert run("bake", shot, "-o", folder / "latest.blend", "--quiet") == (0, "", [])
    assert (folder / "latest.blend").is_symlink()
    assert names(folder) == ["latest.blend", "shot.blend", "version 1.blend"]
