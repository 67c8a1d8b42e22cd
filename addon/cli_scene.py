"""What all commands share: the scene that a command works on, how it ends, and the one line that says why it cannot."""

import argparse
import re
import sys
from pathlib import Path

import bpy

from .cli_crash import crash_told
from .cli_output import blender_lines_dropped, check_writable
from .read.faults import SceneError

# Exit codes: what they mean is said in ``cli``.
DONE, FAILED, UNUSABLE, INTERRUPTED = 0, 1, 2, 130


class CommandError(Exception):
    """Ends the command with an exit code and one line on stderr."""

    def __init__(self, line, code=UNUSABLE):
        self.code = code
        super().__init__(line)


def complain(error, code) -> int:
    """Say what is wrong, each fault in one line; returns the exit code."""
    for fault in getattr(error, "faults", (error,)):
        print(f"cairn: {one_line(fault)}", file=sys.stderr, flush=True)
    return code


def one_line(text) -> str:
    """The same without line breaks, which names may have."""
    return " ".join(str(text).split())


def unavailable() -> type[Exception]:
    """What is raised where a package that Cairn needs is missing; it must not be loaded before it is asked for."""
    from .runtime import RuntimeUnavailable

    return RuntimeUnavailable


def guarded(function, *arguments):
    """Call a bake, and turn a simulation that could not even begin into exit code 1, a missing package into 2."""
    try:
        return function(*arguments)
    except ImportError as error:
        raise CommandError(f"cannot load {error.name or 'a package'} ({error}); reinstall Cairn") from error
    except (SceneError, unavailable(), KeyboardInterrupt):
        raise
    except RuntimeError as error:
        # SimulationError cannot be named before Numba is known to be there.
        if type(error).__name__ != "SimulationError":
            raise
        raise CommandError(f"{error}; no frame was computed and nothing saved", FAILED) from error


def add_scene(parser, optional: bool = False):
    """Add SCENE.blend, which need not be given inside Blender, or where the command knows it otherwise."""
    in_application = not bpy.app.module
    parser.add_argument(
        "scene",
        metavar="SCENE.blend",
        type=Path,
        nargs="?" if in_application or optional else None,
        help="default: the file that Blender has opened" if in_application else "the file to read",
    )


def count(text) -> int:
    """A whole number from 1 on, of an option."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return number


def ensure_registered():
    """Outside Blender nobody has switched the add-on on: the scene's settings need their properties."""
    if bpy.app.module:
        from . import register as register_addon

        register_addon()


def scene_path(given) -> Path:
    """The file that is given, or that Blender has opened."""
    if given is not None:
        if not given.is_file():
            raise CommandError(f"{given} is not a file" if given.exists() else f"there is no file {given}")
        return given
    if not bpy.data.filepath:
        raise CommandError("Blender has no file open (or could not read it); give SCENE.blend")
    return Path(bpy.data.filepath)


def open_scene(path):
    """Open a file, or stay with the one that Blender has opened."""
    ensure_registered()
    if path is None:
        return
    try:
        path.open("rb").close()
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror or error}") from error
    try:
        # Windows and screens of the file do not matter here, and old ones take longest to convert.
        crashed = f"cairn: {one_line(f'cannot read {path}: Blender crashed while it read it; the file is damaged')}"
        with blender_lines_dropped(), crash_told(crashed, UNUSABLE):
            bpy.ops.wm.open_mainfile(filepath=str(path.resolve()), load_ui=False)
    except RuntimeError as error:
        reason = _reason(str(error), path.resolve())
        raise CommandError(f"cannot read {path}: {reason} (is it a complete .blend file?)") from error


def _reason(report, path):
    """Why Blender cannot read a file, in its words, but without the path, which it repeats at each level."""
    words, quoted = report.strip().splitlines()[0].removeprefix("Error: "), rf"""["']{re.escape(str(path))}["']"""
    level = rf"(?:Loading|(?:(?:Failed to|Cannot) read )?(?:[Bb]lend )?file) {quoted}(?: failed)?[:,]? "
    return re.sub(rf"^(?:{level})+| in file {quoted}$", "", words)


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, which may not be there yet."""
    if one.exists() and other.exists():
        return one.samefile(other)
    return one.resolve() == other.resolve()


def refuse_unwritable(path):
    """Refuse a file that could not be written later."""
    try:
        check_writable(path)
    except OSError as error:
        raise CommandError(f"cannot write {path}: {error.strerror or error}") from error
