"""The one folder beside a file that holds the checkpoints of all files there: what is in it, and what can go.

A checkpoint is of no use once its file is gone for a while, or if another version of Cairn has made it. Such are
removed when a bake begins; what else is there goes by the button that says how much it takes.
"""

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from . import folder as files

# Name of the folder, and the end of the names in it.
FOLDER = "cairn checkpoints"
_ENDING = ".checkpoint"
# A file that is not there may have been renamed, or be on its way: its checkpoints stay for a week [s].
_SECONDS_WITHOUT_FILE = 7 * 24 * 3600.0
# How long a size is believed, since drawing asks for it [s].
_SECONDS_KNOWN = 5.0
_known: dict[Path, tuple[float, "Usage"]] = {}


@dataclass(frozen=True)
class Usage:
    """What checkpoints take.

    Attributes
    ----------
    count : int
        Of scenes.
    size : int
        [bytes]
    """

    count: int
    size: int


def place_of(blend: Path, scene: str) -> Path:
    """Where the checkpoints of a scene of a file lie."""
    return blend.with_name(FOLDER) / f"{blend.stem}.{scene}{_ENDING}"


def usage_of(blend: Path) -> Usage:
    """Of all checkpoints beside a file; looked up anew every few seconds only."""
    now, outer = time.monotonic(), blend.with_name(FOLDER)
    if outer not in _known or now - _known[outer][0] > _SECONDS_KNOWN:
        folders = _folders(outer)
        _known[outer] = now, Usage(len(folders), sum(map(_size, folders)))
    return _known[outer][1]


def forget() -> None:
    """Look anew."""
    _known.clear()


def remove_useless(blend: Path, format_number: int, keep: frozenset[Path] = frozenset()) -> None:
    """Remove the checkpoints beside a file from which nothing can go on.

    Parameters
    ----------
    blend : Path
    format_number : int
        Of the checkpoints that this version of Cairn goes on from.
    keep : frozenset of Path
        Folders that are in use.
    """
    for place in _folders(blend.with_name(FOLDER)):
        states = [path for path in place.glob("*.npz") if not files.is_piece(path.name)]
        texts = [files.read_text(path) for path in states]
        is_ours = any(
            isinstance(text, dict) and text.get("identity", {}).get("format") == format_number for text in texts
        )
        if place not in keep and not (is_ours and (_has_file(place) or _is_recent(states))):
            remove(place)
    forget()


def remove_all(blend: Path) -> Usage:
    """Remove all checkpoints beside a file; returns what they took."""
    forget()
    usage = usage_of(blend)
    for place in _folders(blend.with_name(FOLDER)):
        remove(place)
    forget()
    return usage


def remove(place: Path) -> None:
    """Remove a checkpoint, and the folder of all if nothing is left in it."""
    files.clear(place)
    with suppress(OSError):
        place.parent.rmdir()


def _has_file(place):
    """Whether the file is there that a checkpoint's folder is named after; scenes' names may hold points, too."""
    return any(place.name.startswith(f"{blend.stem}.") for blend in place.parent.parent.glob("*.blend"))


def _is_recent(paths):
    return any(time.time() - path.stat().st_mtime < _SECONDS_WITHOUT_FILE for path in paths)


def _folders(outer):
    with suppress(OSError):
        return sorted(path for path in outer.iterdir() if path.name.endswith(_ENDING) and path.is_dir())
    return []


def _size(place):
    size = 0
    with suppress(OSError):
        size = sum(path.stat().st_size for path in place.iterdir())
    return size
