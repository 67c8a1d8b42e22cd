"""What drives a frame from outside, checked before anything of it is taken over: shapes of arrays, and numbers."""

import math

import numpy as np

from ...geometry.shapes import ShapeKind
from ...model.model import BodyKind


def checked_duration(duration, frame_rate: float) -> float:
    """Length of a frame [s]; one over the frame rate where none is given."""
    duration = 1.0 / frame_rate if duration is None else float(duration)
    if not (math.isfinite(duration) and duration >= 0.0):
        raise ValueError(f"duration is {duration}; it must be at least 0")
    return duration


def checked_numbers(what: str, value, shape) -> np.ndarray:
    """Floats of that shape, all finite."""
    array = np.asarray(value, float)
    if array.shape != shape:
        raise ValueError(f"{what} has the shape {array.shape}; it must be {shape}")
    if not np.all(np.isfinite(array)):
        raise ValueError(f"{what} holds NaN or infinity")
    return array


def checked_flags(what: str, value, shape) -> np.ndarray:
    """Truth values of that shape."""
    array = np.asarray(value, bool)
    if array.shape != shape:
        raise ValueError(f"{what} has the shape {array.shape}; it must be {shape}")
    return array


def checked_poses(position, orientation, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Copies of the poses given for so many bodies."""
    position, orientation = np.array(position, float), np.array(orientation, float)
    if position.shape != (count, 3) or orientation.shape != (count, 4):
        raise ValueError(f"position and orientation must have the shapes ({count}, 3) and ({count}, 4)")
    return position, orientation


def checked_kinds(kind, earlier, shapes) -> np.ndarray:
    """Kinds of all bodies, of which none with a mesh is dynamic.

    Parameters
    ----------
    kind : array-like [body_count]
        ``BodyKind``.
    earlier : int64 [body_count]
    shapes : ShapeArrays
    """
    kind = np.asarray(kind)
    if kind.shape != earlier.shape:
        raise ValueError(f"kind has the shape {kind.shape}; it must be {earlier.shape}")
    if not np.isin(kind, list(BodyKind)).all():
        raise ValueError("kind holds a value that is not a valid BodyKind")
    rigid = kind[shapes.body[shapes.kind == ShapeKind.MESH]]
    if np.any(rigid == BodyKind.DYNAMIC):
        raise ValueError("kind makes a body dynamic whose shape is a mesh; it needs convex parts or the convex hull")
    return kind


def norm_of(vector: np.ndarray) -> float:
    """Length of a vector."""
    return float(vector @ vector) ** 0.5
