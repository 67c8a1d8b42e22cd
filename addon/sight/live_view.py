"""*Live* in the 3D view: the poses of the frame that the timeline shows, or of the newest one before it."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ...solver_core.geometry.rotations import rotate
from .poses_view import PosesView

if TYPE_CHECKING:
    from ..live.drags import Dragged
    from ..live.session import Picture
    from .shape_surfaces import Surface

# Where nothing plays, views are asked to draw so often at most [s].
INTERVAL = 0.1
# The spring from a body to the mouse: its colour, and its width [pixels].
_SPRING, _WIDTH = (1.0, 1.0, 1.0, 0.9), 2.0


class LiveView(PosesView):
    """Draws a session; ``close`` takes its handlers away.

    Parameters
    ----------
    scene_name : str
    picture : callable (int) -> Picture or None
        Of a frame of the scene.
    line : callable () -> str
        What stands at the bottom of the view.
    held : callable () -> Dragged or None
        What is dragged now.

    Attributes
    ----------
    drawings : int
    first_drawn : dict of int to float
        When a picture of each run was first drawn (``time.perf_counter``) [s].
    """

    def __init__(
        self,
        scene_name: str,
        picture: "Callable[[int], Picture | None]",
        line: Callable[[], str],
        held: "Callable[[], Dragged | None]" = lambda: None,
    ):
        self._picture, self._line, self._held = picture, line, held
        self._asked = 0.0
        self._asked_for: tuple = ()
        self.drawings = 0
        self.first_drawn: dict[int, float] = {}
        super().__init__(scene_name)

    def look(self, frame: int) -> None:
        """Have views drawn if what they should show at a frame is not what they were last asked for."""
        shown, now = self._picture(frame), time.perf_counter()
        wanted = (shown.key if shown else None, self._line(), self._held())
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
        ends = self.spring()
        if ends is not None:
            from . import drawing

            drawing.line(*ends, _SPRING, _WIDTH * bpy.context.preferences.system.ui_scale)
            drawing.restore_state()

    def spring(self) -> "tuple[np.ndarray, np.ndarray] | None":
        """Where what is dragged is held, and where the mouse is, in the world [m]."""
        held, shown = self._held(), self.shown()
        if held is None or shown is None or held.name not in shown[1].names:
            return None
        _, model, (position, orientation) = shown
        body = model.names.index(held.name)
        return position[body] + rotate(orientation[body], np.array(held.point)), np.array(held.end)

    def surface(self) -> "Surface | None":
        """What is drawn of the present frame, for all poses; None: nothing is."""
        shown = self.shown()
        if shown is None:
            return None
        self._take_model(shown[1])
        return self._surface
