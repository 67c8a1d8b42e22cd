"""First use of Numba: is it there, is it the one that this build was made with, where do compiled kernels go.

Nothing here runs at registration. Blender unpacks the wheels of all extensions into one folder, and of a package that
several bring, the highest version wins for all; so what is found is compared with what was bundled
(``build_record.json``), and a difference is said in one line, with the place where the stranger lies. A bake goes on
with another Numba that Cairn was tested with; the kernels that travel in the zip do not fit it, and are compiled.
"""

import contextlib
import errno
import functools
import importlib
import importlib.metadata
import json
import os
import sys
import tempfile
import time
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path

from .. import __version__
from ..solver_core.compiled.versions import why_untested

EXTENSION = __package__.rpartition(".")[0]  # "bl_ext.<repository>.cairn", or "cairn"
ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("numba", "llvmlite", "scipy", "numpy")
OPTIONAL_PACKAGES = ("coacd",)

# A tick of the window's timer that compiles ends after the first kernel past this time [s].
COMPILE_SLICE = 0.08


class RuntimeUnavailable(RuntimeError):
    """Numba or what it needs cannot be used. ``str()`` is one line: what, where, what to do."""


def build_record() -> dict:
    """What this copy of Cairn was bundled with (``build_record.json``); empty for a copy that was not packaged."""
    path = ROOT / "build_record.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def found_versions(names: Sequence[str] = PACKAGES) -> dict[str, tuple[str, str] | None]:
    """Installed versions and places of packages, without loading them: {name: (version, folder) or None}."""
    return {name: _found_before(name) if name in sys.modules else _found(name) for name in names}


def _found(name: str) -> tuple[str, str] | None:
    try:
        distribution = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return None
    return distribution.version, str(Path(str(distribution.locate_file(name))))


# What is loaded stays as it is; to read the versions takes some ten milliseconds, and a bake asks three times.
_found_before = functools.cache(_found)


def differences(record: dict, found: dict[str, tuple[str, str] | None]) -> list[str]:
    """One line for each package whose version is not the bundled one, or for a Numba that was not tested."""
    lines = []
    for name, wanted in record.get("packages", {}).items():
        installed = found.get(name)
        if installed is None:
            lines.append(f"{name} {wanted} belongs to Cairn but is missing; reinstall Cairn")
        elif installed[0] != wanted:
            version, place = installed
            lines.append(
                f"{name} {version} in {place} is not the {wanted} that Cairn was built with; "
                f"switch off or update the extension that brings it, then restart Blender"
            )
    numba = found.get("numba")
    if not lines and numba is not None and (reason := why_untested(numba[0])):
        lines.append(f"{reason}, which lies in {numba[1]}; install another version of Numba")
    return lines


def differences_here() -> list[str]:
    """``differences`` of what this copy was bundled with and what is installed."""
    return differences(build_record(), found_versions((*PACKAGES, *OPTIONAL_PACKAGES)))


def cache_folder() -> Path | None:
    """Folder of compiled kernels if Cairn runs as an extension, else None (the core then decides)."""
    return _writable_cache()[0]


def _writable_cache() -> tuple[Path | None, str]:
    """The folder, and one line if it had to be a temporary one, which Blender deletes when it ends."""
    if not EXTENSION.startswith("bl_ext."):
        return None, ""
    import bpy

    try:
        folder = Path(_user_folder("numba_cache"))
        with tempfile.TemporaryFile(dir=folder):
            return folder, ""
    except OSError as error:
        reason = f"Cairn cannot write its compiled kernels ({error}), so they are compiled anew in each session"
        return Path(bpy.app.tempdir, "cairn-kernels"), f"{reason}; make that folder writable"


def _user_folder(name: str) -> str:
    """A folder of the extension's own, made if it is not there.

    Raises
    ------
    OSError
        It cannot be made. Blender itself answers with an empty path where a file is in the way.
    """
    import bpy

    path = bpy.utils.extension_path_user(EXTENSION, path=name, create=True)
    if not path:
        raise NotADirectoryError(errno.ENOTDIR, "not a folder", name)
    return path


def remarks() -> list[str]:
    """What a bake should say of how it ran, a line each; to be called after ``prepare``."""
    from ..solver_core.compiled import ready_made

    lines = [*differences_here(), ready_made.why_unused(), _writable_cache()[1]]
    return [line for line in lines if line]


def parts_folder() -> Path | None:
    """Folder of the convex parts of concave meshes, or None: they are then forgotten at the end of the session."""
    if EXTENSION.startswith("bl_ext."):
        with contextlib.suppress(OSError):
            return Path(_user_folder("convex_parts"))
        return None
    # Beside the compiled kernels (solver_core/compiled/kernel.py, which would load Numba here).
    if os.environ.get("NUMBA_CACHE_DIR"):
        return Path(os.environ["NUMBA_CACHE_DIR"], "cairn-convex-parts")
    folder = ROOT / "solver_core"
    return folder / "__pycache__" / "cairn-convex-parts" if os.access(folder, os.W_OK) else None


def coacd_command() -> str:
    """Command that installs CoACD where this Python finds it."""
    if not EXTENSION.startswith("bl_ext."):
        return "python -m pip install coacd"
    import bpy

    # Blender itself looks into this folder, from its next start on; NumPy is Blender's own.
    folder = bpy.utils.user_resource("SCRIPTS", path="modules")
    return f'"{sys.executable}" -m pip install --no-deps --target "{folder}" coacd'


def prepare() -> None:
    """Load Numba and point it at the cache; called before any kernel module is imported.

    Raises
    ------
    RuntimeUnavailable
    """
    trouble = differences_here()
    for name in ("llvmlite", "numba", "scipy"):
        try:
            importlib.import_module(name)
        except Exception as error:  # a broken binary raises anything from ImportError to SystemError
            raise RuntimeUnavailable(_unavailable(name, error, trouble)) from error
    if trouble and not _is_tested(found_versions()):
        raise RuntimeUnavailable(trouble[0])
    folder = cache_folder()
    if folder is not None:
        from ..solver_core.compiled import kernel

        kernel.set_cache_folder(folder / __version__)


def _is_tested(found) -> bool:
    """Whether all packages are there, and Numba is one that Cairn was tested with."""
    return all(found.values()) and not why_untested(found["numba"][0])


def _unavailable(name, error, trouble):
    remedy = trouble[0] if trouble else "reinstall Cairn"
    if not trouble and not EXTENSION.startswith("bl_ext."):
        remedy = f"install it with: python -m pip install {name}"
    reason = " ".join(str(error).split()) or type(error).__name__
    return f"{name} cannot be loaded ({reason}); {remedy}"


def compile_kernels(
    options: dict,
    shape_kinds: Iterable[int],
    body_count: int = 1,
    joints: bool = False,
    waits: bool = False,
    fields: bool = False,
    guides: bool = False,
    rolls: bool = False,
    *,
    time_slice: float = COMPILE_SLICE,
) -> Generator[tuple[float, float, str], None, None]:
    """Compile or load all kernels that a bake with these options needs, as a generator of (done, total, name).

    It yields at once, before Numba is even imported, and then after each slice of time: while children compile, and
    between two kernels where this process does. Done and total are seconds of work for one core, roughly; where all are
    compiled already, and only loaded, they are 0. Closing it ends the children.

    Parameters
    ----------
    options : dict
        Keyword arguments of ``SimulationOptions``.
    shape_kinds : sequence of ShapeKind
        That the model has (``ShapeArrays.kind``).
    body_count : int
        Of the model.
    joints, fields, guides : bool
        Whether the model has any.
    waits : bool
        Whether it has bodies that wait for an activation.
    rolls : bool
        Whether it has rolling or spinning friction.
    """

    def steps():
        from ..solver_core.options import SimulationOptions
        from ..solver_core.warm_up import warm_up_steps

        return warm_up_steps(
            SimulationOptions(**options), shape_kinds, body_count, joints, waits, fields, guides, rolls
        )

    return _in_slices(steps, time_slice)


def compile_contacts(
    shape_kinds: Iterable[int], *, time_slice: float = COMPILE_SLICE
) -> Generator[tuple[float, float, str], None, None]:
    """As ``compile_kernels``, what finds the contacts of such shapes at the start."""

    def steps():
        from ..solver_core.warm_up import contact_steps

        return contact_steps(shape_kinds)

    return _in_slices(steps, time_slice)


def _in_slices(steps, time_slice):
    """Prepare, and take steps that are only imported then."""
    yield 0, 0, ""
    prepare()
    yield 0, 0, ""
    start = time.perf_counter()
    for step in steps():
        if time.perf_counter() - start > time_slice:
            yield step
            start = time.perf_counter()


def ready_made_text() -> str:
    """Which kernels came with Cairn, and, once Numba is loaded, whether they are used."""
    record = build_record()
    if "kernels" not in record:
        return "none; the solver is compiled at the first bake"
    if "numba" in sys.modules:
        from ..solver_core.compiled import ready_made

        if reason := ready_made.why_unused():
            return reason
    return "for {processor} processors, {count} in all".format(**record["kernels"])


def system_information() -> str:
    """Versions and places, for a report of a fault."""
    import platform

    import bpy

    record = build_record()
    lines = [
        f"Cairn {__version__} ({EXTENSION})",
        f"Blender {bpy.app.version_string} ({bpy.app.build_hash.decode(errors='replace')})",
        f"Python {platform.python_version()}, {platform.platform()}, {platform.machine()}",
        f"Built for Blender {record['blender']}, {record['platform']}" if record else "Not a packaged build",
    ]
    for name, found in found_versions().items():
        wanted = record.get("packages", {}).get(name) or record.get(name)
        text = f"{name} {found[0]} in {found[1]}" if found else f"{name} is missing"
        lines.append(text + (f" (built with {wanted})" if wanted else ""))
    coacd = found_versions(("coacd",))["coacd"]
    lines.append(f"coacd {coacd[0]} in {coacd[1]}" if coacd else f"coacd is missing; to install it: {coacd_command()}")
    lines.append(f"Ready-made kernels: {ready_made_text()}")
    lines.append(f"Compiled kernels: {cache_folder() or 'beside the sources, or in NUMBA_CACHE_DIR'}")
    return "\n".join(lines)
