"""The zip in the real application: validated, installed, enabled, switched off and on."""

import zipfile

import pytest
from application import LOG_LINE, Blender, build_zip, this_platform


def lines_of(done):
    """Console lines without the times of Blender's log."""
    return sorted(LOG_LINE.sub("", line) for line in (done.stdout + done.stderr).splitlines())


def test_zip_is_valid(plain_blender, archive):
    plain_blender.run("--command", "extension", "validate", archive)


def test_zip_of_another_line_is_refused_by_blender_itself(plain_blender, application, tmp_path):
    """Blender 4.5's zip says in its manifest that it ends before 5.1."""
    if application["python"] == "3.11":
        pytest.skip("the zip fits this Blender")
    archive = build_zip(tmp_path, "--blender", "4.5")
    install = ("-b", "--command", "extension", "install-file", "--repo", "user_default", "--enable", archive)
    done = plain_blender.run(*install, check=False)
    # Blender says so, and goes on to exit with 0
    assert "maximum version (5.1.0)" in done.stdout
    assert not list(plain_blender.resources.rglob("cairn"))


def test_zip_of_another_platform_is_refused_by_blender_itself(plain_blender, archive, tmp_path):
    """The manifest names the platform of the wheels and kernels."""
    here, other = this_platform(), "windows-arm64"
    with zipfile.ZipFile(archive) as source, zipfile.ZipFile(tmp_path / "other.zip", "w") as target:
        for name in ("__init__.py", "blender_manifest.toml"):
            target.writestr(name, source.read(name).replace(f'["{here}"]'.encode(), f'["{other}"]'.encode()))
    plain = Blender(plain_blender.executable, tmp_path / "empty")
    install = ("-b", "--command", "extension", "install-file", "--repo", "user_default", "--enable")
    done = plain.run(*install, tmp_path / "other.zip", check=False)
    assert f"This platform ({here}) isn't one of ({other})" in done.stdout
    assert not list(plain.resources.rglob("cairn"))


def test_enabled_extension_loads_neither_numba_nor_scipy(blender):
    loaded = blender.script("loaded_modules.py")
    assert "bl_ext.user_default.cairn" in loaded["all"]
    assert not {"numba", "scipy", "llvmlite"} & set(loaded["top"])


def test_enabled_extension_leaves_the_console_empty(blender, plain_blender):
    start = ("-b", "--python-expr", "pass")
    assert lines_of(blender.run(*start)) == lines_of(plain_blender.run(*start))


def test_switched_off_and_on_it_is_what_it_was(blender):
    on, off, *later = blender.script("off_and_on.py")
    assert on
    assert off == []
    assert later == [on, off, on]
