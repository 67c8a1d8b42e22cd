"""The files of a bake's checkpoints: ``state.npz``, and what was recorded up to it in pieces.

A bake in the window has ``next.npz`` beside the state of the bake before it, and takes that one's place at its end.

A piece holds the frames from one checkpoint to the next and is never written again. ``state.npz`` names the pieces that
belong to it and takes the place of the one before it as a whole, so at any moment the folder holds a checkpoint that is
complete: what a bake that was killed has begun to write is named by nobody.
"""

import json
import os
import re
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..read.faults import SceneError

STATE = "state.npz"
# The same of a bake in the window until it takes the place of the one before it, which stays until then.
NEXT = "next.npz"
# Member of a file that holds JSON, beside arrays.
_TEXT = "json"
_PIECE = re.compile(r"frames-[0-9a-f]{8}-\d{6,}\.npz")
_TEMPORARY = re.compile(r"\.(state|next|frames-[0-9a-f]{8}-\d{6,})\.npz-\d+")
# What NumPy raises of a file that is cut off, garbled or something else.
_DAMAGE = (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, TypeError)


class CheckpointError(SceneError):
    """A checkpoint that cannot be used. ``str()`` is one line: which, why, what to do. Its files are as they were."""

    def __init__(self, message):
        super().__init__(None, message)


def piece_name(bake: str, first_frame: int) -> str:
    """Name of the piece of a bake (eight hexadecimal digits) that begins with this frame of the recording."""
    return f"frames-{bake}-{first_frame:06d}.npz"


def is_piece(name: str) -> bool:
    """Whether a file of this name holds recorded frames, and not a state."""
    return _PIECE.fullmatch(name) is not None


def write_file(path: Path, text: Any, arrays: Mapping[str, np.ndarray], *, compress: bool) -> None:
    """Write JSON and arrays to a file: whole, or not at all.

    Raises
    ------
    OSError
        The disk is full, or the folder is gone.
    """
    temporary = path.with_name(f".{path.name}-{os.getpid()}")
    members: dict[str, Any] = {**arrays, _TEXT: np.frombuffer(json.dumps(text).encode(), np.uint8)}
    try:
        with temporary.open("wb") as file:
            _save(file, members, zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        with suppress(OSError):
            temporary.unlink()


def _save(file, arrays, method):
    """As ``numpy.savez_compressed``, which cannot be told to compress quickly: a window waits for it."""
    with zipfile.ZipFile(file, "w", method, compresslevel=1) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def read_file(path: Path) -> tuple[Any, dict[str, np.ndarray]]:
    """What ``write_file`` has written.

    Raises
    ------
    CheckpointError
        The file is damaged, or cannot be read.
    """
    try:
        with np.load(path, allow_pickle=False) as members:
            arrays = {name: members[name] for name in members.files}
        return json.loads(arrays.pop(_TEXT).tobytes()), arrays
    except OSError as error:
        raise CheckpointError(f"cannot read the checkpoint {path}: {error.strerror or error}") from error
    except _DAMAGE as error:
        raise CheckpointError(
            f"the checkpoint {path} is damaged ({_reason(error)}); move its folder away, or bake without resuming"
        ) from error


def read_text(path: Path) -> Any:
    """The JSON of a file alone, which is quick; None if there is none that can be read."""
    try:
        with np.load(path, allow_pickle=False) as members:
            return json.loads(members[_TEXT].tobytes())
    except (OSError, *_DAMAGE):
        return None


def pieces_of(path: Path) -> frozenset[str]:
    """Names of the pieces that a state file needs; none if it cannot be read."""
    stored = read_text(path)
    return frozenset(stored.get("pieces", ())) if isinstance(stored, dict) else frozenset()


def promote(folder: Path, pieces: Iterable[str]) -> None:
    """Put the next state, which needs these pieces, in the place of the one before; remove what nobody needs then."""
    with suppress(OSError):
        os.replace(folder / NEXT, folder / STATE)
        clear(folder, keep=frozenset([STATE, *pieces]))


def clear(folder: Path, keep: frozenset[str] = frozenset()) -> None:
    """Remove the files of checkpoints but those to ``keep``, and the folder if nothing is left; all else stays."""
    with suppress(OSError):
        # first what names the pieces: whoever is killed on the way leaves no checkpoint, rather than a broken one
        for path in sorted(folder.iterdir(), key=lambda path: path.name not in (STATE, NEXT)):
            ours = path.name in (STATE, NEXT) or _PIECE.fullmatch(path.name) or _TEMPORARY.fullmatch(path.name)
            if ours and path.name not in keep:
                path.unlink()
        if not keep:
            folder.rmdir()


def _reason(error) -> str:
    return " ".join(str(error).split()) or type(error).__name__
