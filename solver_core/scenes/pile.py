"""Boxes that fall into a heap: contacts that come and go all the time."""

import colorsys
import math

import numpy as np

from ..geometry.shapes import Box
from .scene import Scene, SceneBody, floor

# Distance of the boxes at the start, more than their diagonal of 1.73 [m].
_PITCH = 1.8


def pile(count: int = 100, seed: int = 0) -> Scene:
    """Unit boxes turned at random, in layers over a floor.

    Parameters
    ----------
    count : int
    seed : int
    """
    rng = np.random.default_rng(seed)
    side = max(1, round((count / 2.5) ** (1.0 / 3.0)))  # about two and a half times as high as wide
    box = Box((0.5, 0.5, 0.5))
    boxes = []
    for number in range(count):
        layer, place = divmod(number, side * side)
        row, column = divmod(place, side)
        shift = rng.uniform(-0.03, 0.03, 2)
        turn = rng.normal(size=4)
        boxes.append(
            SceneBody(
                name=f"Box.{number + 1:04d}",
                shape=box,
                position=(
                    _PITCH * (column - 0.5 * (side - 1)) + shift[0],
                    _PITCH * (row - 0.5 * (side - 1)) + shift[1],
                    _PITCH * (layer + 0.5),
                ),
                orientation=tuple(turn / math.sqrt(turn @ turn)),
                color=colorsys.hsv_to_rgb(0.55 + 0.1 * (number % 7) / 6.0, 0.45, 0.8),
            )
        )
    width = _PITCH * side
    return Scene(
        name="pile",
        title=f"{count} boxes fall into a heap",
        bodies=[floor(max(20.0, 6.0 * width)), *boxes],
        frame_count=96,
        camera=(2.2 * width + 3.0, -3.4 * width - 3.0, 1.8 * width + 1.0),
        target=(0.0, 0.0, 0.6 * width),
    )
