"""A pyramid of boxes in one plane, each on two."""

import colorsys

from ..geometry.shapes import Box
from .scene import Scene, SceneBody, floor

# Free width between neighbours, as a share of a box.
_GAP = 0.1


def pyramid(rows: int = 15) -> Scene:
    """Unit boxes; row after row one fewer, 120 in 15 rows.

    Parameters
    ----------
    rows : int
    """
    box = Box((0.5, 0.5, 0.5))
    boxes = [
        SceneBody(
            name=f"Box.{row + 1:02d}.{place + 1:02d}",
            shape=box,
            position=((1.0 + _GAP) * (place - 0.5 * (rows - row - 1)), 0.0, 0.5 + row),
            color=colorsys.hsv_to_rgb(0.08 + 0.1 * row / rows, 0.5, 0.6 + 0.3 * (place % 2)),
        )
        for row in range(rows)
        for place in range(rows - row)
    ]
    return Scene(
        name="pyramid",
        title=f"A pyramid of {len(boxes)} boxes",
        bodies=[floor(), *boxes],
        frame_count=120,
        camera=(0.9 * rows, -1.9 * rows, 0.9 * rows),
        target=(0.0, 0.0, 0.42 * rows),
    )
