"""``tools/package.py`` without the network: what it writes, what it refuses, and Blender's word on the manifest."""

import importlib.util
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def package():
    spec = importlib.util.spec_from_file_location("package", ROOT / "tools" / "package.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def wheels(tmp_path):
    """Stand-ins for the wheels, with the metadata that matters."""
    requirements = {
        "coacd-1.0.14": ["numpy"],
        "llvmlite-0.50.0": [],
        "numba-0.68.1": ["llvmlite<0.51,>=0.50.0dev0", "numpy<2.6,>=1.22"],
        "scipy-1.17.1": ["numpy<2.7,>=1.26.4", 'numpy<1 ; extra == "test"'],
    }
    folder = tmp_path / "wheels" / "cp311-windows-x64"
    folder.mkdir(parents=True)
    for name, lines in requirements.items():
        with zipfile.ZipFile(folder / f"{name}-cp311-cp311-win_amd64.whl", "w") as wheel:
            metadata = "".join(f"Requires-Dist: {line}\n" for line in lines)
            wheel.writestr(f"{name}.dist-info/METADATA", f"Metadata-Version: 2.4\n{metadata}")
    return folder


@pytest.fixture
def archive(package, wheels, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("CAIRN_BLENDER", raising=False)
    pytest.importorskip("bpy", reason="Blender's builder comes with the bpy module")
    words = ["--blender", "4.5", "--platform", "windows-x64", "--output", str(tmp_path / "dist")]
    assert package.main([*words, "--wheels", str(wheels.parent)]) == 0, capsys.readouterr().err
    (path,) = (tmp_path / "dist").iterdir()
    with zipfile.ZipFile(path) as opened:
        yield opened


def test_manifest_of_the_repository_satisfies_blender(package):
    pytest.importorskip("bpy", reason="Blender's validator comes with the bpy module")
    done = subprocess.run([*package.blender_builder(), "validate", str(ROOT)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_zip_names_its_wheels_platform_and_blenders(archive, wheels):
    manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
    assert manifest["platforms"] == ["windows-x64"]
    assert (manifest["blender_version_min"], manifest["blender_version_max"]) == ("4.5.0", "5.1.0")
    assert manifest["wheels"] == sorted(f"./wheels/{wheel.name}" for wheel in wheels.iterdir())
    assert manifest["permissions"]["files"]


def test_zip_of_a_fork_leads_to_the_fork(package, tmp_path, monkeypatch):
    """In a GitHub workflow the link in the preferences is that of the repository that it runs for."""
    words = ["--blender", "5.2", "--platform", "linux-x64", "--output", "dist"]
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    assert package.parse_arguments(words).website == ""
    monkeypatch.setenv("GITHUB_REPOSITORY", "somebody/cairn")
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://example.org")
    website = package.parse_arguments(words).website
    manifest = tmp_path / "blender_manifest.toml"
    line = package.PYTHON_LINES["3.13"]
    for written, expected in ((website, "https://example.org/somebody/cairn"), ("", None)):
        manifest.write_text((ROOT / "blender_manifest.toml").read_text())
        package.write_manifest(manifest, line=line, platform="linux-x64", wheels=[], website=written)
        assert tomllib.loads(manifest.read_text()).get("website") == expected


def test_the_same_sources_give_the_same_zip_to_the_byte(archive, package, wheels, tmp_path):
    """Built later, from files with other times, in another order and with other rights."""
    first = Path(archive.filename).read_bytes()
    for wheel in wheels.iterdir():
        os.utime(wheel, (1e9, 1e9))
        wheel.chmod(0o600)
    words = ["--blender", "4.5", "--platform", "windows-x64", "--output", str(tmp_path / "again")]
    assert package.main([*words, "--wheels", str(wheels.parent)]) == 0
    (second,) = (tmp_path / "again").iterdir()
    assert second.read_bytes() == first
    turned = tmp_path / "turned.zip"
    with zipfile.ZipFile(turned, "w") as other:
        for name in reversed(archive.namelist()):
            other.writestr(name, archive.read(name))
    package.write_alike(turned, tmp_path / "alike.zip")
    assert (tmp_path / "alike.zip").read_bytes() == first


def test_zip_holds_what_blender_loads_and_nothing_else(archive):
    tops = {name.split("/")[0] for name in archive.namelist()}
    files = {"__init__.py", "__main__.py", "LICENSE", "blender_manifest.toml", "build_record.json"}
    assert tops == files | {"addon", "pages", "presets", "solver_core", "wheels"}
    assert "pages/docs/guide/README.html" in archive.namelist()
    assert not [name for name in archive.namelist() if "__pycache__" in name]


def test_record_says_what_was_bundled(archive, package):
    record = package.json.loads(archive.read("build_record.json"))
    assert record == {
        "cairn": tomllib.loads((ROOT / "blender_manifest.toml").read_text())["version"],
        "blender": "4.5",
        "platform": "windows-x64",
        "python": "3.11",
        "packages": {"coacd": "1.0.14", "llvmlite": "0.50.0", "numba": "0.68.1", "scipy": "1.17.1"},
        "numpy": ">=1.26.4,<2.6",
    }


@pytest.mark.parametrize("blender", ["4.5", "5.0", "5.1", "5.2", "5.3"])
def test_every_blender_is_inside_the_range_of_its_zip(package, blender):
    line = package.PYTHON_LINES[package.PYTHON_OF_BLENDER[blender]]

    def numbers(version):
        return tuple(int(part) for part in version.split("."))

    assert numbers(line.blender_min) <= numbers(f"{blender}.0")
    assert line.blender_max is None or numbers(f"{blender}.0") < numbers(line.blender_max)


@pytest.mark.parametrize(
    "words",
    [
        ["--blender", "2.79", "--platform", "linux-x64", "--output", "dist"],
        ["--blender", "5.2", "--platform", "amiga", "--output", "dist"],
        ["--blender", "5.2", "--platform", "linux-x64", "--output", "dist", "--python", "cp313"],
        ["--blender", "5.2", "--platform", "linux-x64"],
        ["--blender", "5.2", "--platform", "linux-x64", "--output", "dist", "--website", 'x" y'],
    ],
)
def test_wrong_words_are_refused(package, words, capsys):
    with pytest.raises(SystemExit) as stop:
        package.main(words)
    assert stop.value.code == 2
    assert "error:" in capsys.readouterr().err.splitlines()[-1]


def test_wheels_keep_the_bounds_of_the_project(package, tmp_path, monkeypatch):
    """pip is asked for Numba within the versions that Cairn was tested with."""
    asked = []
    monkeypatch.setattr(package, "run", asked.extend)
    with pytest.raises(package.PackagingError, match="one wheel each"):
        package.fetch_wheels(tmp_path, python="3.13", platform="linux-x64", numpy="numpy==2.2.*")
    (numba,) = (word for word in asked if word.startswith("numba"))
    assert numba in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert {"llvmlite", "numpy==2.2.*"} <= set(asked)
    assert "coacd>=1.0.14" in asked


def test_convex_parts_are_left_out_where_there_is_no_wheel_for_them(package):
    assert "coacd" in package.bundled("macos-arm64")
    assert package.bundled("macos-x64") == package.BUNDLED


def test_kernels_of_another_platform_are_left_out(archive, package):
    """They are compiled on the platform itself; the zip works without."""
    assert not [name for name in archive.namelist() if name.startswith("kernels/")]
    assert "kernels" not in package.json.loads(archive.read("build_record.json"))


def test_why_kernels_are_left_out_is_one_line(package, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("CAIRN_BLENDER", raising=False)
    here = package.PLATFORMS.get((package.platform.system(), package.platform.machine()))
    for platform in package.WHEEL_PLATFORMS:
        words = ["--blender", "5.2", "--platform", platform, "--output", str(tmp_path)]
        assert not package.add_kernels(tmp_path / "kernels", [], package.parse_arguments(words), "2.7")
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("package: without kernels: those of ")
        assert ("Python 2.7" if platform == here else platform) in line


def test_kernels_are_compiled_with_packages_where_they_would_be_installed(package, tmp_path, monkeypatch):
    """In a folder of another name their files would be part of the keys of kernels, which are then compiled twice."""
    monkeypatch.delenv("CAIRN_BLENDER", raising=False)
    asked = []
    monkeypatch.setattr(package, "run", asked.append)
    python = "{}.{}".format(*sys.version_info)
    machine = package.platform.system(), package.platform.machine()
    words = ["--blender", "5.2", "--platform", package.PLATFORMS[machine]]
    arguments = package.parse_arguments([*words, "--output", str(tmp_path)])
    assert package.add_kernels(tmp_path / "kernels", [], arguments, python)
    (command,) = asked
    assert Path(command[command.index("--packages") + 1]).name == "site-packages"


def test_failure_is_one_line(package, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CAIRN_BLENDER", sys.executable)
    monkeypatch.setattr(package, "run", lambda command: (_ for _ in ()).throw(package.PackagingError("no wheels")))
    words = ["--blender", "5.2", "--platform", "linux-x64", "--output", str(tmp_path)]
    assert package.main(words) == 1
    assert capsys.readouterr().err == "package: no wheels\n"
