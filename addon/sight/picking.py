"""Which of the bodies that are drawn lies under a place of the view: arrays in, a body and a place out."""

from typing import NamedTuple

import numpy as np

from ...solver_core.geometry import rotations
from ...solver_core.model.model import BodyKind, Model
from .shape_surfaces import Surface

# Triangles that a ray is nearly parallel to are no hit, as a share of their area.
_RATIO_PARALLEL = 1e-9


class Picked(NamedTuple):
    """What is under the mouse.

    Attributes
    ----------
    body : int
    place : float64 [3]
        Where its surface is hit, in the world [m].
    point : float64 [3]
        The same in the body's user frame [m].
    """

    body: int
    place: np.ndarray
    point: np.ndarray


def picked(model: Model, surface: Surface, poses, origin, direction) -> Picked | None:
    """The first body that a line of sight meets; static ones are looked through, as they are drawn.

    Parameters
    ----------
    model : Model
    surface : Surface
        Of the model.
    poses : tuple of float64 [body_count, 3], [body_count, 4]
        Of the user frames.
    origin, direction : float64 [3]
        Of the line, in the world [m].
    """
    origin, direction = np.asarray(origin, float), np.asarray(direction, float)
    own = surface.place[:, 3].astype(np.int64)
    position, orientation = model.body_poses(*poses)
    chosen = _near_the_line(own, surface, position, origin, direction)
    chosen &= np.asarray(model.initial_state.kind) != BodyKind.STATIC
    triangles = surface.triangles[chosen[own[surface.triangles[:, 0]]]]
    if len(triangles) == 0:
        return None
    used, inverse = np.unique(triangles, return_inverse=True)
    places = position[own[used]] + rotations.rotate(orientation[own[used]], surface.place[used, :3].astype(float))
    a, b, c = np.moveaxis(places[inverse.reshape(triangles.shape)], 1, 0)
    distance = _distances(a, b, c, origin, direction)
    nearest = int(np.argmin(distance))
    if not np.isfinite(distance[nearest]):
        return None
    body = int(own[triangles[nearest, 0]])
    place = origin + distance[nearest] * direction
    turn = poses[1][body] * (1.0, -1.0, -1.0, -1.0)
    return Picked(body, place, rotations.rotate(turn, place - poses[0][body]))


def _near_the_line(own, surface, position, origin, direction):
    """Bodies whose ball about everything that is drawn of them meets the line, bool [body_count]."""
    radius = np.zeros(len(position))
    np.maximum.at(radius, own, np.linalg.norm(surface.place[:, :3], axis=1))
    away = position - origin
    along = away @ direction / (direction @ direction)
    return np.linalg.norm(away - along[:, None] * direction, axis=1) <= radius * (1.0 + 1e-6)


def _distances(a, b, c, origin, direction):
    """How far along the line it meets triangles, in lengths of ``direction``; infinity where it does not."""
    ab, ac = b - a, c - a
    across = np.cross(direction, ac)
    volume = np.einsum("ij,ij->i", ab, across)
    scale = np.linalg.norm(ab, axis=1) * np.linalg.norm(ac, axis=1) * np.linalg.norm(direction)
    with np.errstate(divide="ignore", invalid="ignore"):
        away = origin - a
        u = np.einsum("ij,ij->i", away, across) / volume
        around = np.cross(away, ab)
        v = around @ direction / volume
        distance = np.einsum("ij,ij->i", ac, around) / volume
        hits = (np.abs(volume) > _RATIO_PARALLEL * scale) & (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (distance > 0.0)
    return np.where(hits, distance, np.inf)
