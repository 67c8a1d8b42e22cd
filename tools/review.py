"""The rules of Blender's extension platform that can be checked on a zip: what its reviewers would send back.

``python tools/package.py --review ZIP`` prints each rule that is broken, a line each, and fails if there is one. What
Blender itself checks (``extension validate``) is not repeated.
"""

import ast
import re
import tomllib
import zipfile
from collections.abc import Iterator

MEGABYTE = 1e6
LARGEST_ZIP = 200 * MEGABYTE
LONGEST_TAGLINE = 64
# What the platform's list of tags for add-ons has, as far as they concern us.
KNOWN_TAGS = {"3D View", "Animation", "Bake", "Import-Export", "Modeling", "Object", "Physics", "Pipeline", "Scene"}
LICENSE = "SPDX:GPL-3.0-or-later"

REFUSED_MODULES = {"threading", "_thread", "concurrent", "pickle", "marshal", "urllib", "requests", "socket", "http"}
REFUSED_NAMES = {"bl_info", "eval", "exec", "sys.path", "bpy.app.driver_namespace"}
# It hands the folders of this process to the one that it starts.
READS_SYS_PATH = {"solver_core/compiled/child_process.py"}
BUNDLED_BY_BLENDER = ("numpy",)


def broken_rules(archive: zipfile.ZipFile, size: int) -> list[str]:
    """One line for each rule that a zip of ``size`` bytes breaks."""
    manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
    broken = [*_of_manifest(manifest), *_of_files(archive, manifest)]
    if size > LARGEST_ZIP:
        broken.append(f"the zip has {size / MEGABYTE:.0f} MB, and at most {LARGEST_ZIP / MEGABYTE:.0f} are allowed")
    for name in archive.namelist():
        if name.endswith(".py"):
            broken += [f"{name}: {line}" for line in _of_source(archive.read(name).decode(), name)]
    return broken


def _of_manifest(manifest) -> Iterator[str]:
    tagline = manifest["tagline"]
    if len(tagline) > LONGEST_TAGLINE:
        yield f"the tagline has {len(tagline)} characters, and at most {LONGEST_TAGLINE} are allowed"
    if not tagline[-1].isalnum():
        yield "the tagline ends with a punctuation mark"
    if manifest["name"].lower().startswith("blender"):
        yield "the name begins with Blender, which is a trade mark"
    if LICENSE not in manifest["license"]:
        yield f"the licence is not {LICENSE}"
    if strangers := set(manifest["tags"]) - KNOWN_TAGS:
        yield f"unknown tags: {', '.join(sorted(strangers))}"
    for permission, reason in manifest.get("permissions", {}).items():
        if not 0 < len(reason) <= LONGEST_TAGLINE or not reason[-1].isalnum():
            yield f"the reason for the permission {permission} is empty, too long, or ends with a full stop"


def _of_files(archive, manifest) -> Iterator[str]:
    names = archive.namelist()
    wheels = {f"./{name}" for name in names if name.endswith(".whl")}
    if wheels != set(manifest.get("wheels", ())):
        yield "the wheels in the zip are not those of the manifest"
    for wheel in sorted(wheels):
        if wheel.removeprefix("./wheels/").split("-")[0].lower() in BUNDLED_BY_BLENDER:
            yield f"{wheel} comes with Blender already"
    if not any(name.startswith("LICENSE") for name in names):
        yield "there is no LICENSE"
    for name in names:
        if re.search(r"\.(so|dll|dylib|pyd|exe|blend1)$|(^|/)(\.|__pycache__)", name):
            yield f"{name} may not be in a zip: programs travel in wheels only, and hidden files not at all"


def _of_source(text: str, name: str) -> Iterator[str]:
    tree = ast.parse(text)
    for node in ast.walk(tree):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            modules = [node.module or ""]
        for module in modules:
            if module.split(".")[0] in REFUSED_MODULES:
                yield f"line {node.lineno} imports {module}"
            if module.split(".")[0] in {"bl_ext", "cairn"}:
                yield f"line {node.lineno} imports its own package by name"
        if isinstance(node, (ast.Name, ast.Attribute)):
            used = ast.unparse(node)
            if used in REFUSED_NAMES and not (used == "sys.path" and name in READS_SYS_PATH):
                yield f"line {node.lineno} uses {used}"
