"""Make a release: all zips with checksums and notes, in a folder that any web space can offer to Blender.

    python tools/release.py --output dist                                       all platforms and Pythons
    python tools/release.py --output dist --platform linux-x64 --blender 5.2    one of them
    python tools/release.py --output dist --collect                             of the zips that are there

Each zip is reviewed (``package.py --review``). One that the Blender in ``CAIRN_BLENDER`` can run is installed in it,
with an empty profile, and bakes a scene. Kernels are compiled for the zips of this machine's platform and Python; so
the zips of a release are made on each platform (``.github/workflows/release.yml``), and collected: ``SHA256SUMS``,
``NOTES.md`` (the changelog of this version), and ``index.json``, a repository of extensions: where the folder lies on a
web space, Preferences > Get Extensions > Repositories > Add Remote Repository takes the address of ``index.json``, and
Blender finds updates by itself.
"""

import argparse
import hashlib
import os
import platform
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import package
from package import (
    PLATFORMS,
    PYTHON_LINES,
    PYTHON_OF_BLENDER,
    ROOT,
    WHEEL_PLATFORMS,
    PackagingError,
    blender_builder,
    run,
)

SCENE = ROOT / "tests" / "app" / "scripts" / "make_scene.py"
# Compiling, where a zip has no kernels, takes most of it [s].
LONGEST_TRIAL = 900


def main(argv: list[str] | None = None) -> int:
    arguments = parse_arguments(argv)
    output = arguments.output
    output.mkdir(parents=True, exist_ok=True)
    try:
        if not arguments.collect:
            for blender, name in chosen(arguments.blender, arguments.platform):
                make(output, blender, name, arguments.words)
        collect(output)
    except PackagingError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


def parse_arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("dist"), metavar="DIR", help="default: dist")
    parser.add_argument("--platform", choices=WHEEL_PLATFORMS, help="this one only")
    parser.add_argument("--blender", choices=PYTHON_OF_BLENDER, help="the zip for this line of Blender only")
    parser.add_argument("--collect", action="store_true", help="make no zip: only what belongs to those that are there")
    parser.add_argument("words", nargs="*", metavar="WORD", help="after --: more words for package.py, as --no-kernels")
    return parser.parse_args(argv)


def chosen(blender: str | None, name: str | None) -> list[tuple[str, str]]:
    """Lines of Blender, one for each Python, and platforms of the zips to make."""
    first_of_python = {python: line for line, python in reversed(PYTHON_OF_BLENDER.items()) if python in PYTHON_LINES}
    lines = [blender] if blender else sorted(first_of_python.values())
    return [(line, wanted) for line in lines for wanted in ([name] if name else WHEEL_PLATFORMS)]


def make(output: Path, blender: str, name: str, words: list[str]) -> None:
    """Make a zip, review it, and try it if it can be tried here."""
    arguments = package.parse_arguments(["--blender", blender, "--platform", name, "--output", str(output), *words])
    archive = package.build(arguments)
    if package.review([str(archive)]):
        raise PackagingError(f"{archive.name} breaks rules of Blender's extension platform")
    application, machine = os.environ.get("CAIRN_BLENDER"), PLATFORMS.get((platform.system(), platform.machine()))
    python = arguments.python or PYTHON_OF_BLENDER[blender]
    tried = bool(application) and name == machine and package.python_of_compiler() == python
    if tried:
        try_out(str(application), archive)
    print(f"{archive} ({archive.stat().st_size / 1e6:.1f} MB{', baked with it' if tried else ', not tried here'})")


def try_out(application: str, archive: Path) -> None:
    """Install a zip in an empty profile, and bake two boxes."""
    with tempfile.TemporaryDirectory(prefix="cairn-release-") as folder:
        environment = {**os.environ, "BLENDER_USER_RESOURCES": str(Path(folder, "profile"))}
        scene, baked = Path(folder, "scene.blend"), Path(folder, "baked.blend")
        install = [
            "--command",
            "extension",
            "install-file",
            "--repo",
            "user_default",
            "--enable",
            str(archive.resolve()),
        ]
        for words in (
            ["-b", *install],
            ["-b", "--python-exit-code", "1", "--python", str(SCENE), "--", str(scene)],
            ["-b", str(scene), "--command", "cairn", "bake", "-o", str(baked)],
        ):
            done = subprocess.run(
                [application, *words],
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=LONGEST_TRIAL,
            )
            if done.returncode:
                last = (done.stdout + done.stderr).strip().rpartition("\n")[2]
                raise PackagingError(f"{archive.name} does not work in {application}: {last}")
        if not baked.is_file():
            raise PackagingError(f"{archive.name} has baked nothing in {application}")


def collect(output: Path) -> None:
    """Write checksums, notes and the index of the zips in a folder."""
    archives = sorted(output.glob("cairn-*.zip"))
    if not archives:
        raise PackagingError(f"there is no zip in {output}")
    sums = [f"{hashlib.sha256(archive.read_bytes()).hexdigest()}  {archive.name}\n" for archive in archives]
    (output / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    (output / "NOTES.md").write_text(notes_of_version(), encoding="utf-8")
    run([*blender_builder(), "server-generate", "--repo-dir", str(output.resolve())])


def notes_of_version() -> str:
    """What the changelog says of the version in the manifest."""
    version = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))["version"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(rf"(?ms)^## {re.escape(version)}\b[^\n]*\n(.*?)(?=^## |\Z)", changelog)
    if found is None:
        raise PackagingError(f"CHANGELOG.md has no entry for {version}")
    return f"# Cairn {version}\n\n{found[1].strip()}\n"


if __name__ == "__main__":
    sys.exit(main())
