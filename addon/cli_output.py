"""What the command line writes: progress on stderr, files that are complete or not there at all."""

import json
import math
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import TextIO

import bpy

# Time between two updates of the line on a terminal, and between two lines elsewhere [s].
_SECONDS_TERMINAL = 0.2
_SECONDS_LOG = 5.0
# Compressed files end with the magic number of Zstandard's table of frames; others with an empty block of this name,
# within so many bytes.
_END_OF_ZSTD = b"\xb1\xea\x92\x8f"
_END_OF_BLEND = b"ENDB"
_TAIL = 32
_LIST_OF_NUMBERS = re.compile(r"\[\n\s+[-+.\deE]+(?:,\s+[-+.\deE]+)*\s+\]")


class Progress:
    """A single updating line on a terminal, a line every few seconds elsewhere, nothing if ``quiet``.

    Called with a ``BakeProgress``, or with stage, done, total and text. Each time ``check`` is called, which may raise
    to end the work.
    """

    def __init__(
        self, *, quiet: bool = False, stream: TextIO | None = None, check: Callable[[], object] = lambda: None
    ):
        self.quiet = quiet
        self.check = check
        self.stream = stream or sys.stderr
        self.on_terminal = self.stream.isatty()
        self._announced: set[str] = set()
        self._last = 0.0
        self._open_line = False

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._end_line()

    def __call__(self, progress):
        """Show how far a bake is."""
        self.show(progress.stage, progress.done, progress.total, progress.text)

    def show(self, stage: str, done: int, total: int, text: str = "") -> None:
        """Show how far a stage is."""
        self.check()
        if self.quiet:
            return
        now = time.monotonic()
        # A bake alternates between reading animation and simulating, which is announced the first time only.
        new_stage, finished = stage not in self._announced, 0 < total <= done
        pause = _SECONDS_TERMINAL if self.on_terminal else _SECONDS_LOG
        if not (new_stage or finished or now - self._last >= pause):
            return
        if new_stage and self._announced:
            self._end_line()
        self._announced.add(stage)
        self._last = now
        self._write(f"cairn: {text or stage}")

    def _write(self, line):
        if self.on_terminal:
            width = shutil.get_terminal_size().columns - 1
            self.stream.write("\r" + line[:width].ljust(width))
            self._open_line = True
        else:
            self.stream.write(line + "\n")
        self.stream.flush()

    def _end_line(self):
        if self._open_line:
            self.stream.write("\n")
            self.stream.flush()
            self._open_line = False


def check_writable(path: Path) -> None:
    """Raise an OSError that says why a file could not be written at ``path``; leaves nothing behind."""
    with suppress(FileNotFoundError, NotADirectoryError):
        os.lstat(path)  # a name that is too long
    path = path.resolve()
    if path.is_dir():
        raise IsADirectoryError(None, "it is a folder", str(path))
    if path.exists() and not path.is_file():
        raise FileExistsError(None, "it is a device or a pipe, and no file", str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(None, f"there is no folder {path.parent}", str(path))
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".cairn-"):
        pass


def save_blend(path: Path) -> None:
    """Save the open file at ``path``: complete, or not at all."""
    with beside(path, ".blend") as temporary:
        try:
            # A copy: the session's own path, and so the meaning of relative paths in it, stays.
            with blender_lines_dropped():
                path_text = str(temporary.resolve())
                bpy.ops.wm.save_as_mainfile(filepath=path_text, copy=True, check_existing=False)
        except RuntimeError as error:
            raise OSError(None, str(error).strip(), str(path)) from error
        if not _is_whole(temporary):
            raise OSError(None, "only a part of it could be written; is the disk full?", str(path))


def _is_whole(path):
    """Whether a .blend has its end: Blender calls a compressed one saved also where the disk was full."""
    with path.open("rb") as file:
        file.seek(-min(_TAIL, path.stat().st_size), os.SEEK_END)
        tail = file.read()
    return tail.endswith(_END_OF_ZSTD) or _END_OF_BLEND in tail


def write_json(path: Path, content: dict) -> None:
    """Write a report at ``path``: complete, or not at all."""
    with beside(path, ".json") as temporary:
        text = json.dumps(_without_nan(content), indent=1, allow_nan=False)
        # A line for each list of numbers, not for each number: a frame has four a joint.
        text = _LIST_OF_NUMBERS.sub(lambda found: " ".join(found.group().split()), text)
        temporary.write_text(text + "\n", encoding="utf-8")


def write_text(path: Path, text: str) -> None:
    """Write a text at ``path``: complete, or not at all."""
    with beside(path, path.suffix) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _without_nan(value):
    """JSON knows no NaN and no infinity: null stands for them."""
    if isinstance(value, dict):
        return {key: _without_nan(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@contextmanager
def beside(path: Path, ending):
    """A temporary name in the same folder, which takes the place of ``path`` if all went well; a link stays one."""
    path = path.resolve()
    # a name of its own: one that is made of the file's could be too long
    temporary = path.with_name(f".cairn-{os.getpid()}{ending}")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


@contextmanager
def blender_lines_on_stderr(active: bool = True) -> Iterator[None]:
    """Send what Blender itself prints on stdout ("Read blend ...") to stderr meanwhile."""
    if not active:
        yield
        return
    with redirect_stdout(sys.stderr), _stdout_on(2):
        yield


@contextmanager
def blender_lines_dropped(errors: bool = False) -> Iterator[None]:
    """Drop what Blender itself prints on stdout ("Read blend ...") meanwhile, from C and through Python.

    Parameters
    ----------
    errors : bool
        Also on stderr, as of its libraries ("EGL Error ..."); exceptions tell what matters.
    """
    with open(os.devnull, "w") as nothing, redirect_stdout(nothing), _stdout_on(nothing.fileno()):
        if not errors:
            yield
            return
        sys.stderr.flush()
        with _descriptor_on(2, nothing.fileno()):
            yield


@contextmanager
def _stdout_on(descriptor):
    sys.stdout.flush()
    with _descriptor_on(1, descriptor):
        try:
            yield
        finally:
            sys.stdout.flush()


@contextmanager
def _descriptor_on(own, descriptor):
    _flush_c_streams()
    kept = os.dup(own)
    os.dup2(descriptor, own)
    try:
        yield
    finally:
        _flush_c_streams()
        os.dup2(kept, own)
        os.close(kept)


def _flush_c_streams():
    """Lines that C's own buffer still holds would come out after stdout is back."""
    import ctypes

    with suppress(OSError, TypeError, AttributeError):
        (ctypes.cdll.msvcrt if os.name == "nt" else ctypes.CDLL(None)).fflush(None)
