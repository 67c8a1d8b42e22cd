"""*Live* in the 3D view: the poses of the frame that the timeline shows, or of the newest one before it."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import bpy

from .poses_view import PosesView

if TYPE_CHECKING:
    from ..live.session import Picture

# Where nothing plays, views are asked to draw so often at most [s].
INTERVAL = 0.1


class LiveView(PosesView):
    """Draws a session; ``close`` takes its handlers away.

    Parameters
    ----------
    scene_name : str
    picture : callable (int) -> Picture or None
        Of a frame of the scene.
    line : callable () -> str
        What stands at the bottom of the view.

    Attributes
    ----------
    drawings : int
    first_drawn : dict of int to float
        When a picture of each run was first drawn (``time.perf_counter``) [s].
    """

    def __init__(self, scene_name: str, picture: "Callable[[int], Picture | None]", line: Callable[[], str]):
        self._picture, self._line = picture, line
        self._asked = 0.0
        self._asked_for: tuple = ()
        self.drawings = 0
        self.first_drawn: dict[int, float] = {}
        super().__init__(scene_name)

    def look(self, frame: int) -> None:
        """Have views drawn if what they should show at a frame is not what they were last asked for."""
        shown, now = self._picture(frame), time.perf_counter()
        wanted = (shown.key if shown else None, self._line())
        if wanted == self._asked_for or now < self._asked + INTERVAL:
            return
        self._asked, self._asked_for = now, wanted
        self._redraw()

    def shown(self):
        """The poses of the present frame."""
        found = self._picture(bpy.context.scene.frame_current)
        return (found.key, found.model, found.poses) if found else None

    def text(self):
        """What runs."""
        return self._line()

    def _draw(self):
        super()._draw()
        if self._on_card[0] is not None:
            self.drawings += 1
            self.first_drawn.setdefault(self._on_card[0][0], time.perf_counter())
