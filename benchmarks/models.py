"""Fingerprints of models: what is built of a scene has the same bits on every Python, NumPy and SciPy.

One line a ready-made scene and a random one: SHA-256 of all that is simulated of it, before the first frame, without a
kernel compiled. ``.ci/run`` writes the list with both Pythons (``python -m benchmarks models --json FILE``) and
compares the files, since the same model moves the same: kernels have the same bits with one Numba.
"""

import hashlib

import numpy as np

from .digests import CASES as MOVING
from .report import Report

# Without the methods' scenes, which are one random scene, and without those of other benchmarks.
CASES = {name: case.make_model for name, case in MOVING.items() if not case.options and not name.startswith("fuzz")}


def run(quick, plots, only=None) -> Report:
    """All ready-made scenes and random ones, with ``quick`` the ready-made alone."""
    chosen = only or [name for name in CASES if not (quick and name.startswith("random"))]
    return Report("models", [{"scene": name, "digest": model_digest(CASES[name]())} for name in chosen], [])


def model_digest(model) -> str:
    """SHA-256 of the names, types and bits of all arrays of a model."""
    digest = hashlib.sha256(repr((model.names, model.joint_names)).encode())
    parts = ("gravity", "arrays", "hulls", "meshes", "initial_state", "frame_position", "frame_orientation")
    for name in (*parts, "starts_asleep"):
        _add(digest, name, getattr(model, name))
    return digest.hexdigest()


def _add(digest, name, value):
    if isinstance(value, np.ndarray):
        digest.update(f"{name} {value.dtype} {value.shape}".encode() + np.ascontiguousarray(value).tobytes())
    elif isinstance(value, tuple):
        for field, part in zip(getattr(value, "_fields", range(len(value))), value, strict=True):
            _add(digest, f"{name}.{field}", part)
    else:
        digest.update(f"{name} {value!r}".encode())
