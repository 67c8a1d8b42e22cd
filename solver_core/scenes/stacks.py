"""Boxes on boxes: the plainest scene that shows whether a solver solves."""

import colorsys
from dataclasses import replace

from ..geometry.shapes import Box
from .scene import Scene, SceneBody, floor


def stack(count: int = 10, top_mass: float = 1.0) -> Scene:
    """Unit boxes exactly on top of each other.

    Parameters
    ----------
    count : int
        Number of boxes.
    top_mass : float
        Mass of the top box [kg]; the others have 1 kg.
    """
    box = Box((0.5, 0.5, 0.5))
    boxes = [
        SceneBody(
            name=f"Box.{level + 1:03d}",
            shape=box,
            mass=top_mass if level == count - 1 else 1.0,
            position=(0.0, 0.0, 0.5 + level),
            color=colorsys.hsv_to_rgb(0.05 + 0.5 * level / count, 0.55, 0.85),
        )
        for level in range(count)
    ]
    return Scene(
        name="stack",
        title=f"A stack of {count} boxes",
        bodies=[floor(), *boxes],
        frame_count=240,
        camera=(1.6 * count, -2.2 * count, 0.8 * count),
        target=(0.0, 0.0, 0.45 * count),
    )


def heavy_stack(ratio: float = 100.0, count: int = 10) -> Scene:
    """A stack whose top box weighs ``ratio`` times as much as each below it."""
    return replace(
        stack(count, top_mass=ratio), name="heavy", title=f"A box {ratio:g} times heavier on top of the others"
    )
