"""The Blender that ``CAIRN_BLENDER`` names, plain, and with Cairn's zip installed in it."""

import os
import shutil
from pathlib import Path

import pytest
from application import READY_MADE, Blender, build_zip, installed


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
    # the kernels of one solver and of the laws of friction that scenes here have: to compile those of all takes minutes
    words = ("--blender", application["blender"], "--python", application["python"], *READY_MADE)
    return build_zip(tmp_path_factory.mktemp("dist"), *words)


@pytest.fixture(scope="session")
def profile(plain_blender, archive, tmp_path_factory) -> Path:
    """Blender's folder after the zip was installed and enabled, to be copied: to unpack the wheels takes seconds."""
    return installed(plain_blender, archive, tmp_path_factory.mktemp("profile")).resources


@pytest.fixture(scope="session")
def blender(plain_blender, profile, tmp_path_factory) -> Blender:
    """Blender with the zip installed and enabled."""
    return with_profile(plain_blender, profile, tmp_path_factory.mktemp("installed") / "profile")


@pytest.fixture
def new_blender(plain_blender, profile, tmp_path) -> Blender:
    """The same, with an empty profile: it has never baked."""
    return with_profile(plain_blender, profile, tmp_path / "new")


def with_profile(plain: Blender, profile: Path, resources: Path) -> Blender:
    return Blender(plain.executable, Path(shutil.copytree(profile, resources, symlinks=True)))


@pytest.fixture
def bare_blender(new_blender) -> Blender:
    """The same, as if the zip had been made without kernels."""
    shutil.rmtree(new_blender.extension / "kernels")
    return new_blender


@pytest.fixture(scope="session")
def scene(plain_blender, tmp_path_factory) -> Path:
    """Two boxes that fall on each other and on a floor."""
    path = tmp_path_factory.mktemp("scene") / "scene.blend"
    plain_blender.script("make_scene.py", path)
    return path
