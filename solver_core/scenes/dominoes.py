"""Dominoes on a curve: each falls on the next, and what has fallen rests on its neighbour."""

import colorsys
import math

import numpy as np

from ..geometry.shapes import Box
from .scene import Scene, SceneBody, floor

_THICKNESS, _WIDTH, _HEIGHT = 0.04, 0.14, 0.28  # of a domino [m]
_PITCH = 0.13  # along the curve, from one domino to the next [m]
_MASS = 0.1
# The first leans forward by this much [rad]: more than thickness over height, so it falls.
_LEAN = 0.2
# The row goes to and fro with this many half circles, of this radius in pitches.
_TURNS = 3
_TURN_RADIUS = 4.0


def dominoes(count: int = 200) -> Scene:
    """A row that winds to and fro; the first domino leans and falls on the second.

    Parameters
    ----------
    count : int
    """
    places, headings = _winding_path(count, _PITCH)
    bodies = []
    for number, ((x, y), heading) in enumerate(zip(places, headings, strict=True)):
        lean = _LEAN if number == 0 else 0.0
        # turned about its lower front edge, which stays on the floor
        forward = 0.5 * _HEIGHT * math.sin(lean) + 0.5 * _THICKNESS * (1.0 - math.cos(lean))
        height = 0.5 * _HEIGHT * math.cos(lean) + 0.5 * _THICKNESS * math.sin(lean)
        bodies.append(
            SceneBody(
                name=f"Domino.{number + 1:03d}",
                shape=Box((0.5 * _THICKNESS, 0.5 * _WIDTH, 0.5 * _HEIGHT)),
                mass=_MASS,
                position=(x + forward * math.cos(heading), y + forward * math.sin(heading), height),
                orientation=_facing(heading, lean),
                color=colorsys.hsv_to_rgb(0.6 * number / count, 0.6, 0.85),
            )
        )
    low, high = places.min(axis=0), places.max(axis=0)
    middle, width = 0.5 * (low + high), float((high - low).max())
    return Scene(
        name="dominoes",
        title=f"{count} dominoes fall one after the other",
        bodies=[floor(), *bodies],
        frame_count=24 + round(1.6 * count),
        camera=(float(middle[0]), float(middle[1]) - 1.5 * width, 1.2 * width),
        target=(float(middle[0]), float(middle[1]), 0.0),
    )


def _facing(heading, lean):
    """Turn by ``lean`` about y, then by ``heading`` about z."""
    a, b = 0.5 * heading, 0.5 * lean
    return (
        math.cos(a) * math.cos(b),
        -math.sin(a) * math.sin(b),
        math.cos(a) * math.sin(b),
        math.sin(a) * math.cos(b),
    )


def _winding_path(count, pitch):
    """Points at equal distances along straights joined by half circles, and the directions there.

    Returns
    -------
    places : float64 [count, 2]
    headings : list of float
    """
    length = pitch * (count - 1)
    radius = _TURN_RADIUS * pitch
    straight = max((length - _TURNS * math.pi * radius) / (_TURNS + 1), 0.0)
    places, headings = [], []
    for number in range(count):
        turn, along = divmod(pitch * number, straight + math.pi * radius)
        side = 1.0 if turn % 2 == 0 else -1.0
        heading = 0.0 if side > 0.0 else math.pi
        x, y = (0.0 if side > 0.0 else straight), 2.0 * radius * turn
        if along <= straight:
            places.append((x + side * along, y))
        else:
            angle = (along - straight) / radius
            end = x + side * straight
            places.append((end + side * radius * math.sin(angle), y + radius * (1.0 - math.cos(angle))))
            heading += side * angle
        headings.append(heading)
    return np.array(places), headings
