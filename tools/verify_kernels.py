"""Compile the kernels of a zip anew, from the sources and wheels in it, and say whether they are the same to the byte.

    python tools/verify_kernels.py dist/cairn-0.1.0-cp313-linux-x64.zip
    python tools/verify_kernels.py ZIP --methods auto --frictions cone      a part of them, sooner

A zip carries machine code, which nobody can read. It was made from the sources beside it, by the Numba and LLVM in its
wheels, for one processor; so whoever has the zip can make it again. That takes some minutes, on the zip's own platform
and with its Python: that of the application in ``CAIRN_BLENDER``, else the one that runs this. It is also said which
sources in the zip are not those of this checkout. Ends with 1 where anything differs.
"""

import argparse
import hashlib
import json
import os
import platform
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from package import PACKED, PLATFORMS, ROOT, PackagingError, compiler, python_of_compiler, run

RECORD = "kernels/record.json"
# So many lines of what differs, and then how many more there are.
LINES = 20


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("zip", type=Path)
    parser.add_argument("--methods", nargs="+", metavar="NAME", help="the kernels of these solvers only")
    parser.add_argument("--frictions", nargs="+", metavar="NAME", help="and of these laws of friction only")
    arguments = parser.parse_args(argv)
    try:
        with zipfile.ZipFile(arguments.zip) as archive:
            problems = verify(archive, arguments.methods, arguments.frictions)
    except PackagingError as error:
        problems = [str(error)]
    except (OSError, zipfile.BadZipFile, KeyError, ValueError) as error:
        problems = [f"cannot be read as a zip of Cairn: {error}"]
    for line in problems[:LINES]:
        print(f"verify_kernels: {line}", file=sys.stderr)
    if len(problems) > LINES:
        print(f"verify_kernels: and {len(problems) - LINES} more", file=sys.stderr)
    return int(bool(problems))


def verify(archive: zipfile.ZipFile, methods: list[str] | None, frictions: list[str] | None) -> list[str]:
    """What is wrong with a zip, in lines; what was found right is printed."""
    problems = foreign_sources(archive)
    if not problems:
        print("the sources in it are those of this checkout")
    if RECORD not in archive.namelist():
        print("it carries no machine code but that of its wheels")
        return problems
    given = json.loads(archive.read(RECORD))
    problems += damaged(archive, given)
    made_for = json.loads(archive.read("build_record.json"))
    here = PLATFORMS.get((platform.system(), platform.machine())), python_of_compiler()
    if here != (made_for["platform"], made_for["python"]):
        wanted = f"{made_for['platform']} with Python {made_for['python']}"
        raise PackagingError(f"its kernels are for {wanted}, and this is {here[0]} with Python {here[1]}")
    with tempfile.TemporaryDirectory(prefix="cairn-verify-") as temporary:
        made = rebuild(archive, Path(temporary), methods, frictions)
    found = different(given, made, is_all=not (methods or frictions))
    if not found:
        print(f"{len(made['kernels'])} of {len(given['kernels'])} kernels were compiled anew, and are the same")
    return problems + found


def foreign_sources(archive: zipfile.ZipFile) -> list[str]:
    """Sources in the zip that this checkout has not, or has otherwise."""
    lines = []
    for name in sorted(archive.namelist()):
        if name.split("/")[0] in PACKED and not name.endswith("/"):
            own = ROOT / name
            if not own.is_file():
                lines.append(f"{name} is not in this checkout")
            elif own.read_bytes() != archive.read(name):
                lines.append(f"{name} is not as in this checkout")
    return lines


def damaged(archive: zipfile.ZipFile, record: dict) -> list[str]:
    """Files of machine code that are not what the zip's own record says."""
    listed = {f"kernels/{entry['file']}": entry["sha256"] for entry in record["kernels"].values()}
    held = {name for name in archive.namelist() if name.startswith("kernels/") and not name.endswith("/")} - {RECORD}
    lines = [f"{name} stands in no record" for name in sorted(held - set(listed))]
    for name, wanted in sorted(listed.items()):
        if name not in held:
            lines.append(f"{name} is missing")
        elif hashlib.sha256(archive.read(name)).hexdigest() != wanted:
            lines.append(f"{name} is not what its record says")
    return lines


def rebuild(archive: zipfile.ZipFile, folder: Path, methods: list[str] | None, frictions: list[str] | None) -> dict:
    """Compile the kernels from what is in the zip; returns their record."""
    source, packages, output = folder / "cairn", folder / "site-packages", folder / "kernels"
    archive.extractall(source)
    for wheel in sorted((source / "wheels").glob("*.whl")):
        with zipfile.ZipFile(wheel) as content:
            content.extractall(packages)
    (source / "tools").mkdir()
    script = Path(shutil.copy2(ROOT / "tools" / "compile_kernels.py", source / "tools"))
    words = ["--packages", str(packages), "--output", str(output)]
    for name, chosen in (("methods", methods), ("frictions", frictions)):
        words += [f"--{name}", *chosen] if chosen else []
    # nothing that was compiled before
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    run([*compiler(script), *words], environment)
    return json.loads((output / "record.json").read_text(encoding="utf-8"))


def different(given: dict, made: dict, is_all: bool) -> list[str]:
    """What two records of kernels do not have in common; the second may be of a part of them."""
    lines = [
        f"they were made with {name} {given.get(name)}, and anew with {made[name]}"
        for name in made
        if name != "kernels" and given.get(name) != made[name]
    ]
    for key, entry in made["kernels"].items():
        if key not in given["kernels"]:
            lines.append(f"kernel {entry['kernel']} is missing in it")
        elif given["kernels"][key] != entry:
            lines.append(f"kernel {entry['kernel']} comes out otherwise")
    if is_all:
        strange = set(given["kernels"]) - set(made["kernels"])
        lines += [f"kernel {given['kernels'][key]['kernel']} comes from none of its sources" for key in sorted(strange)]
    return lines


if __name__ == "__main__":
    sys.exit(main())
