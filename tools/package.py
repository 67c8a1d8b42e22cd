"""Build the zip that Blender installs, for one line of Blender and one platform.

    python tools/package.py --blender 5.2 --platform linux-x64 --output dist
    python tools/package.py --review dist/cairn-0.1.0-cp313-linux-x64.zip

Blender brings NumPy; Numba, llvmlite, SciPy and CoACD travel in the zip as the wheels that their makers publish.
A compiled wheel fits one Python and one platform, and Blender changes its Python between lines, so there is
a zip for each pair, and the manifest in it says which Blenders may install it.

The kernels of all solvers travel in it too, compiled for a processor that nearly all machines have
(``compile_kernels.py``), so that a first bake compiles nothing. That takes some minutes, and works on the zip's own
platform and with its Python only: that of the application in ``CAIRN_BLENDER``, else the one that runs this. A zip
for another is made without, and compiles at its first bake.

The zip is made and validated by Blender's own builder: that of the application named in ``CAIRN_BLENDER``,
else the one in the bpy module. The same sources, wheels and kernels give the same zip, to the byte.
"""

import argparse
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path
from typing import NamedTuple

from pages import write_pages
from review import broken_rules

ROOT = Path(__file__).resolve().parents[1]

# What Blender loads; benchmarks, their problems, tests and tools are not in the zip.
PACKED = ("__init__.py", "__main__.py", "LICENSE", "addon", "presets", "solver_core")
BUNDLED = ("llvmlite", "numba", "scipy")
# Cuts concave bodies into convex parts; its makers publish no wheel for Macs with Intel's processors.
DECOMPOSITION = "coacd"
WITHOUT_DECOMPOSITION = ("macos-x64",)

# pip's names for each of Blender's platforms: the oldest system that a wheel may ask for. Blender itself asks
# for glibc 2.28. pip takes older macOS versions into account by itself, older glibc versions it does not.
WHEEL_PLATFORMS = {
    "linux-x64": ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64"),
    "windows-x64": ("win_amd64",),
    "macos-arm64": ("macosx_12_0_arm64",),
    "macos-x64": ("macosx_12_0_x86_64",),
}

# Blender's names of platforms, by those of Python.
PLATFORMS = {
    ("Linux", "x86_64"): "linux-x64",
    ("Windows", "AMD64"): "windows-x64",
    ("Darwin", "arm64"): "macos-arm64",
    ("Darwin", "x86_64"): "macos-x64",
}

PYTHON_OF_BLENDER = {"4.5": "3.11", "5.0": "3.11", "5.1": "3.13", "5.2": "3.13", "5.3": "3.13"}


class PythonLine(NamedTuple):
    """Blenders that share a Python, and so a zip."""

    numpy: str  # the oldest NumPy among them: the wheels must work with it
    blender_min: str
    blender_max: str | None  # the first Blender that the zip does not fit


PYTHON_LINES = {
    "3.11": PythonLine(numpy="numpy==1.26.4", blender_min="4.5.0", blender_max="5.1.0"),
    "3.13": PythonLine(numpy="numpy==2.2.*", blender_min="5.1.0", blender_max=None),
}


class PackagingError(Exception):
    """Something that the user can put right; its text is one line."""


def main(argv: list[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    if words[:1] == ["--review"]:
        return review(words[1:])
    arguments = parse_arguments(words)
    try:
        archive = build(arguments)
    except PackagingError as error:
        print(f"package: {error}", file=sys.stderr)
        return 1
    print(f"{archive} ({archive.stat().st_size / 1e6:.1f} MB)")
    return 0


def review(paths: list[str]) -> int:
    """Print what Blender's reviewers would send back of these zips; 1 if there is anything."""
    failed = not paths
    for path in paths:
        try:
            with zipfile.ZipFile(path) as archive:
                lines = broken_rules(archive, Path(path).stat().st_size)
        except (OSError, zipfile.BadZipFile, KeyError) as error:
            lines = [f"cannot be read as an extension: {error}"]
        for line in lines:
            print(f"{path}: {line}")
        failed = failed or bool(lines)
    if not paths:
        print("package: --review needs the path of a zip", file=sys.stderr)
    return int(failed)


def parse_arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blender", required=True, choices=PYTHON_OF_BLENDER, help="line of Blender")
    parser.add_argument("--platform", required=True, choices=WHEEL_PLATFORMS)
    parser.add_argument("--output", required=True, type=Path, metavar="DIR", help="where the zip goes")
    parser.add_argument("--python", metavar="X.Y", help="its Python, where it is not the one of blender.org")
    parser.add_argument(
        "--wheels", type=Path, metavar="DIR", help="keep the downloaded wheels here and use those that are here"
    )
    parser.add_argument("--no-kernels", action="store_true", help="leave out the compiled kernels")
    parser.add_argument("--methods", nargs="+", metavar="NAME", help="compile the kernels of these solvers only")
    parser.add_argument("--frictions", nargs="+", metavar="NAME", help="and of these laws of friction only")
    parser.add_argument(
        "--website",
        metavar="URL",
        default=own_website(),
        help="where the documentation is, for the link in the preferences; a GitHub workflow knows its own",
    )
    arguments = parser.parse_args(argv)
    if arguments.website and not re.fullmatch(r"https?://[^\s\"\\\\]+", arguments.website):
        parser.error(f"argument --website: {arguments.website!r} is not an address like https://...")
    if arguments.python and not re.fullmatch(r"3\.\d+", arguments.python):
        parser.error(f"argument --python: {arguments.python!r} is not a version like 3.13")
    return arguments


def own_website() -> str:
    """The repository that a GitHub workflow runs for, forks included; empty anywhere else."""
    repository = os.environ.get("GITHUB_REPOSITORY")
    return f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com')}/{repository}" if repository else ""


def build(arguments: argparse.Namespace) -> Path:
    python = arguments.python or PYTHON_OF_BLENDER[arguments.blender]
    # a distribution's own build, whose Python no other line is known to share
    own_line = PythonLine(numpy="numpy", blender_min=f"{arguments.blender}.0", blender_max=None)
    line = PYTHON_LINES.get(python, own_line)
    tag = "cp" + python.replace(".", "")
    version = tomllib.loads((ROOT / "blender_manifest.toml").read_text())["version"]
    builder = blender_builder()

    with tempfile.TemporaryDirectory(prefix="cairn-package-") as temporary:
        source = Path(temporary, "cairn")
        archive = Path(temporary, f"cairn-{version}-{tag}-{arguments.platform}.zip")
        copy_sources(source)
        wheels = fetch_wheels(
            (arguments.wheels or Path(temporary, "wheels")) / f"{tag}-{arguments.platform}",
            python=python,
            platform=arguments.platform,
            numpy=line.numpy,
        )
        (source / "wheels").mkdir()
        for wheel in wheels:
            shutil.copy2(wheel, source / "wheels")
        write_pages(source / "pages")
        manifest = source / "blender_manifest.toml"
        write_manifest(manifest, line=line, platform=arguments.platform, wheels=wheels, website=arguments.website)
        record = {
            "cairn": version,
            "blender": arguments.blender,
            "platform": arguments.platform,
            "python": python,
            "packages": {wheel.name.split("-")[0]: wheel.name.split("-")[1] for wheel in wheels},
            "numpy": numpy_range(wheels),
        }
        if not arguments.no_kernels and add_kernels(source / "kernels", wheels, arguments, python):
            made = json.loads((source / "kernels" / "record.json").read_text(encoding="utf-8"))
            record["kernels"] = {"processor": made["processor"], "count": len(made["kernels"])}
        (source / "build_record.json").write_text(json.dumps(record, indent=2) + "\n")

        built = Path(temporary, "built.zip")
        run([*builder, "build", "--source-dir", str(source), "--output-filepath", str(built)])
        write_alike(built, archive)
        run([*builder, "validate", str(archive)])
        arguments.output.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(archive, arguments.output / archive.name))


def write_alike(source: Path, target: Path) -> None:
    """Write a zip anew so that the same files give the same bytes: by name, without times, and with plain rights."""
    with zipfile.ZipFile(source) as given, zipfile.ZipFile(target, "w") as made:
        for name in sorted(given.namelist()):
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system, entry.external_attr = 3, 0o100644 << 16  # of Unix, on every machine
            made.writestr(entry, given.read(name), compresslevel=9)


def blender_builder() -> list[str]:
    """Find Blender's command for extensions, as words to which a subcommand is added."""
    if application := os.environ.get("CAIRN_BLENDER"):
        return [application, "--factory-startup", "--command", "extension"]
    module = importlib.util.find_spec("bpy")
    for folder in (module and module.submodule_search_locations) or ():
        for script in Path(folder).glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py"):
            return [sys.executable, str(script)]
    raise PackagingError("no Blender to build with: pip install bpy, or name an application in CAIRN_BLENDER")


def copy_sources(target: Path) -> None:
    target.mkdir()
    for name in (*PACKED, "blender_manifest.toml"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        elif source.is_file():
            shutil.copy2(source, target)
        else:
            raise PackagingError(f"{name} is missing in {ROOT}")


def fetch_wheels(folder: Path, *, python: str, platform: str, numpy: str) -> list[Path]:
    """Let pip find the newest wheels that agree with each other, pyproject.toml, the platform and Blender's NumPy."""
    names = bundled(platform)
    if not find_bundled(folder, names):
        platforms = [word for name in WHEEL_PLATFORMS[platform] for word in ("--platform", name)]
        # NumPy is asked for so that pip heeds its version; its own wheel stays out of the zip
        run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
             "--only-binary=:all:", "--implementation", "cp", "--python-version", python, *platforms,
             "--dest", str(folder), *bundled_requirements(names), numpy])  # fmt: skip
    wheels = find_bundled(folder, names)
    if len(wheels) != len(names):
        found = ", ".join(wheel.name for wheel in wheels)
        raise PackagingError(f"{folder} should hold one wheel each of {', '.join(names)}; it has {found}")
    return wheels


def bundled(platform: str) -> tuple[str, ...]:
    """Names of the packages that travel in the zip of a platform."""
    return BUNDLED if platform in WITHOUT_DECOMPOSITION else (DECOMPOSITION, *BUNDLED)


def bundled_requirements(names: tuple[str, ...]) -> list[str]:
    """What pip is asked for: the bundled packages, with the bounds of ``pyproject.toml``."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    dependencies = project["dependencies"] + project["optional-dependencies"]["decomposition"]
    bounded = {re.match(r"[\w-]+", text)[0]: text for text in dependencies}
    return [bounded.get(name, name) for name in names]


def find_bundled(folder: Path, names: tuple[str, ...]) -> list[Path]:
    return sorted(wheel for name in names for wheel in folder.glob(f"{name}-*.whl"))


def add_kernels(folder: Path, wheels: list[Path], arguments: argparse.Namespace, python: str) -> bool:
    """Compile the kernels with the packages of the zip, or say why they are left out and return False."""
    machine = PLATFORMS.get((platform.system(), platform.machine()))
    if arguments.platform != machine:
        reason = f"those of {arguments.platform} are compiled on such a machine"
    elif (here := python_of_compiler()) != python:
        reason = f"those of Python {python} are compiled with it, and this is {here}: name a Blender in CAIRN_BLENDER"
    else:
        with tempfile.TemporaryDirectory(prefix="cairn-packages-") as temporary:
            # the name by which Cairn tells other packages from its own, whose files are part of the keys of kernels
            packages = str(Path(temporary, "site-packages"))
            for wheel in wheels:
                with zipfile.ZipFile(wheel) as archive:
                    archive.extractall(packages)
            words = ["--packages", packages, "--output", str(folder)]
            for name in ("methods", "frictions"):
                if chosen := getattr(arguments, name):
                    words += [f"--{name}", *chosen]
            run([*compiler(), *words])
        return True
    print(f"package: without kernels: {reason}", file=sys.stderr)
    return False


def compiler() -> list[str]:
    """The command that compiles kernels, as words to which its own are added."""
    script = str(ROOT / "tools" / "compile_kernels.py")
    if application := os.environ.get("CAIRN_BLENDER"):
        return [application, "--factory-startup", "-b", "--python-exit-code", "1", "--python", script, "--"]
    return [sys.executable, script]


def python_of_compiler() -> str:
    """Python's version, as 3.13, where kernels would be compiled."""
    application = os.environ.get("CAIRN_BLENDER")
    if not application:
        return "{}.{}".format(*sys.version_info)
    asked = "import sys; print('python: {}.{}'.format(*sys.version_info))"
    told = run([application, "--factory-startup", "-b", "--python-expr", asked])
    return re.search(r"(?m)^python: (\d\.\d+)$", told)[1]


def write_manifest(path: Path, *, line: PythonLine, platform: str, wheels: list[Path], website: str) -> None:
    """Fill in what holds for this zip only."""
    text = re.sub(r"(?m)^blender_version_min = .*\n", "", path.read_text())
    built = [f'blender_version_min = "{line.blender_min}"']
    if line.blender_max:
        built.append(f'blender_version_max = "{line.blender_max}"')
    if website:
        built.append(f'website = "{website}"')
    built.append(f'platforms = ["{platform}"]')
    built.append("wheels = [")
    built += [f'    "./wheels/{wheel.name}",' for wheel in wheels]
    built.append("]")
    # TOML's top level ends at the first table
    head, table, rest = text.partition("\n[")
    path.write_text("\n".join([head.rstrip(), *built, ""]) + table + rest)


def numpy_range(wheels: list[Path]) -> str:
    """Intersect the ranges of NumPy that the wheels allow, as ``">=1.26.4,<2.6"``."""
    bounds: dict[str, list[tuple[int, ...]]] = {">=": [], "<": []}
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            metadata = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            requirements = re.findall(r"(?m)^Requires-Dist: numpy\b([^;\n]*)$", archive.read(metadata).decode())
        for sign, version in re.findall(r"(>=|<)\s*([\d.]+)", " ".join(requirements)):
            bounds[sign].append(tuple(int(part) for part in version.split(".")))
    limits = ((">=", max(bounds[">="])), ("<", min(bounds["<"])))
    return ",".join(sign + ".".join(map(str, version)) for sign, version in limits)


def run(command: list[str]) -> str:
    """Run a command quietly and return what it printed; where it fails, its last line says why."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise PackagingError(f"{Path(command[0]).name} failed: {lines[-1].strip() if lines else 'no message'}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
