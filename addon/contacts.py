"""The contacts of a bake: what of each frame is kept, and the file of them all.

A file of NumPy's (``numpy.load``, no pickles) whose contacts lie one after the other, frame by frame: those of frame
``frame_start + 1 + k`` are ``first[k]`` to ``first[k + 1]``. Single precision, and half of it where a thousandth will
do.
"""

import zipfile
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .cli_output import beside

if TYPE_CHECKING:  # they load Numba
    from ..solver_core import FrameContacts, Trajectory
    from .read.exported_scene import SceneExport

# What is kept of a frame, and as what; the other arrays are left empty. Half precision is of directions and of slip.
_KEPT: dict[str, Any] = {
    "position": np.float32,
    "normal": np.float16,
    "impulse": np.float32,
    "slip": np.float16,
    "body_a": np.int32,
    "body_b": np.int32,
    "joint_impulse": np.float32,
    "joint_moment": np.float32,
}
OF_CONTACTS = ("position", "normal", "impulse", "slip", "body_a", "body_b")
_MOST_HALF = float(np.finfo(np.float16).max)


def kept(contacts: "FrameContacts") -> "FrameContacts":
    """The contacts of a frame as a bake keeps them: smaller numbers, and nothing of each body."""
    arrays = {}
    for entry in fields(contacts):
        array = getattr(contacts, entry.name)
        kind = _KEPT.get(entry.name)
        if kind is np.float16:
            array = np.clip(array, -_MOST_HALF, _MOST_HALF)
        arrays[entry.name] = array[:0] if kind is None else array.astype(kind)
    return replace(contacts, **arrays)


def contacts_file(export: "SceneExport", trajectory: "Trajectory") -> dict[str, np.ndarray]:
    """The arrays of the file, by name.

    Returns
    -------
    dict
        ``first`` int64 [frame_count + 1]; of each of the n contacts ``frame`` (of the scene), ``position`` [m],
        ``normal`` (from body a to body b), ``impulse`` on body b [N s], ``slip`` of b's surface along a's [m/s],
        ``body_a`` and ``body_b``, which count in ``names``; ``joint_names`` and of each frame ``joint_impulse`` on
        body b [N s], ``joint_moment`` [N m s] and ``joint_broken``; ``frame_start`` and ``frame_rate``.
    """
    frames = [report.frame_contacts for report in trajectory.reports]
    counts = [0 if frame is None else len(frame.impulse) for frame in frames]
    start = export.frame_start
    arrays = {
        "first": np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64),
        "frame": np.repeat(np.arange(start + 1, start + 1 + len(frames), dtype=np.int32), counts),
    }
    for name in OF_CONTACTS:
        empty = np.zeros((0, 3) if name in ("position", "normal", "impulse", "slip") else 0, _KEPT[name])
        arrays[name] = np.concatenate([empty, *(getattr(frame, name) for frame in frames if frame is not None)])
    joints = len(export.model.joint_names)
    impulse, moment = np.zeros((2, len(frames), joints, 3), np.float32)
    for index, frame in enumerate(frames):
        if frame is not None and joints:
            impulse[index], moment[index] = frame.joint_impulse[:, 1], frame.joint_moment
    broken = trajectory.joint_broken
    return arrays | {
        "names": np.array(export.model.names, np.str_),
        "joint_names": np.array(export.model.joint_names, np.str_),
        "joint_impulse": impulse,
        "joint_moment": moment,
        "joint_broken": np.zeros((len(frames), joints), bool) if broken is None else broken,
        "frame_start": np.int64(start),
        "frame_rate": np.float64(export.frame_rate),
    }


def write_contacts(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Write the file: complete, or not at all; the same arrays give the same bytes."""
    with beside(path, ".npz") as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as file:
        for name, array in arrays.items():
            # without the time of day
            entry = zipfile.ZipInfo(f"{name}.npy")
            entry.compress_type = zipfile.ZIP_DEFLATED
            with file.open(entry, "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, np.asanyarray(array), allow_pickle=False)
