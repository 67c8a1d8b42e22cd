"""The Blender that ``CAIRN_BLENDER`` names, plain, and with Cairn's zip installed in it."""

import os
from pathlib import Path

import pytest
from application import Blender, build_zip


@pytest.fixture(scope="session")
def plain_blender(tmp_path_factory) -> Blender:
    """Blender as it comes, without Cairn."""
    executable = os.environ.get("CAIRN_BLENDER")
    if not executable:
        pytest.skip("CAIRN_BLENDER names no Blender")
    return Blender(executable, tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="session")
def application(plain_blender) -> dict:
    """Tell the application's Blender and Python lines."""
    return plain_blender.script("versions.py")


@pytest.fixture(scope="session")
def archive(application, tmp_path_factory) -> Path:
    words = ("--blender", application["blender"], "--python", application["python"])
    return build_zip(tmp_path_factory.mktemp("dist"), *words)


@pytest.fixture(scope="session")
def blender(plain_blender, archive, tmp_path_factory) -> Blender:
    """Blender with the zip installed and enabled."""
    installed = Blender(plain_blender.executable, tmp_path_factory.mktemp("installed"))
    installed.run("-b", "--command", "extension", "install-file", "--repo", "user_default", "--enable", archive)
    return installed


@pytest.fixture(scope="session")
def scene(plain_blender, tmp_path_factory) -> Path:
    """Two boxes that fall on each other and on a floor."""
    path = tmp_path_factory.mktemp("scene") / "scene.blend"
    plain_blender.script("make_scene.py", path)
    return path
