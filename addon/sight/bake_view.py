"""The poses of a bake in the 3D view while it runs: drawn over what is there, and no object is touched.

Those of the timeline's frame once somebody has moved it to where there are any; else the newest. These are drawn again
where a frame is new, some times a second at most and so rarely that drawing takes a twentieth of the time.
"""

from time import perf_counter
from typing import TYPE_CHECKING

import bpy
from bpy.app.translations import pgettext_iface as iface_

from .poses_view import PosesView

if TYPE_CHECKING:
    import numpy as np

    from ...solver_core.model.model import Model
    from ...solver_core.trajectory import Trajectory
    from ..read.exported_scene import SceneExport

# New poses are drawn so often at most [s], and so that drawing takes this share of the time at most.
INTERVAL, LARGEST_SHARE = 0.1, 0.05
# A bake has lasted so long before there is a picture: shorter ones need none [s].
_FIRST = 0.5
# A view that has not been drawn for so long is hidden; it is asked again [s].
_PATIENCE = 2.0


class Shown:
    """The view of a bake, if it is wanted: it begins with the simulation and ends with it.

    Parameters
    ----------
    wanted : bool
    """

    def __init__(self, wanted: bool):
        self._wanted = wanted
        self.view: BakeView | None = None

    def begin(self, export: "SceneExport", scene_name: str, trajectory: "Trajectory | None" = None) -> None:
        """Begin with the start; of a trajectory all frames that it has are seen where the timeline goes there."""
        if self._wanted:
            self.view = BakeView(scene_name, export.frame_start, export.frame_end, export.model, trajectory)

    def show(self, frame: int, position: "np.ndarray", orientation: "np.ndarray") -> None:
        """Show the poses of the user frames at the end of a frame."""
        if self.view is not None:
            self.view.show(frame, position, orientation)

    def look(self) -> None:
        """Have the newest poses drawn when it is time, while a frame takes long."""
        if self.view is not None:
            self.view.look()

    def close(self) -> None:
        """End the view."""
        if self.view is not None:
            self.view.close()


class BakeView(PosesView):
    """Draws one bake; ``close`` takes its handlers away, in whatever way the bake ends.

    Parameters
    ----------
    scene_name : str
        Views of other scenes are left alone.
    first, last : int
        Frames of the bake.
    model : Model
    trajectory : Trajectory or None
        To which the bake appends its frames.

    Attributes
    ----------
    seconds : float
        That drawing has taken.
    drawings : int
    """

    def __init__(self, scene_name: str, first: int, last: int, model: "Model", trajectory: "Trajectory | None" = None):
        super().__init__(scene_name)
        self._first, self._last, self._of_bake, self._trajectory = first, last, model, trajectory
        self._playhead: int | None = _playhead(scene_name)  # None once it was moved
        state = model.initial_state
        self._poses = model.user_poses(state.position, state.orientation)
        self._frame = self._asked_for = first
        # when it began, when views were asked to draw, and after how many drawings; when one of them has begun
        self._begin = perf_counter()
        self._asked = self._begun = 0.0
        self._drawn_before = self._awaited = 0
        self.seconds = 0.0
        self.drawings = 0

    def show(self, frame: int, position: "np.ndarray", orientation: "np.ndarray") -> None:
        """Take over the poses of the user frames at the end of a frame, and have them drawn when it is time."""
        self._frame, self._poses = frame, (position, orientation)
        self.look()

    def look(self) -> None:
        """Have the newest poses drawn, if they are not and it is time."""
        now = perf_counter()
        if not self._handlers or self._frame == self._asked_for:
            return
        if self._chosen() is not None:  # which Blender draws as the timeline goes there
            return
        if now < self._asked + (INTERVAL if self.drawings > self._drawn_before else _PATIENCE):
            return
        # the first picture is there soon, and those after it when all of them take that share of the time
        if now < self._begin + max(_FIRST, self.seconds / LARGEST_SHARE):
            return
        self._asked, self._asked_for, self._drawn_before = now, self._frame, self.drawings
        self._awaited = self._redraw()

    def _chosen(self):
        """The timeline's frame, if somebody has moved it to where there are poses; else None."""
        frame = _playhead(self.scene_name)
        if frame != self._playhead:
            self._playhead = None
        if frame is None or self._trajectory is None:
            return None
        is_there = self._first <= frame <= self._first + self._trajectory.frame_count
        return frame if self._playhead is None and is_there else None

    def shown(self):
        """The poses of the timeline's frame, or the newest ones."""
        frame = self._chosen()
        if frame is None:
            return self._frame, self._of_bake, self._poses
        done = frame - self._first
        return frame, self._of_bake, (self._trajectory.position[done], self._trajectory.orientation[done])

    def text(self):
        """Which frame they are of."""
        boxed = self._surface.boxed
        text = iface_("Newest: frame {:d} of {:d}")
        if boxed:
            text = iface_("Newest: frame {:d} of {:d}, boxes in place of {:,d} shapes")
        if self._chosen() is not None:
            return iface_("Frame {:d}; newest: frame {:d} of {:d}").format(self._on_card[0], self._frame, self._last)
        return text.format(self._on_card[0], self._last, boxed)

    def _before(self):
        self._begun = perf_counter()

    def _label(self):
        super()._label()
        if self._awaited > 0:  # Blender draws by itself, too
            from . import drawing

            self._awaited -= 1
            drawing.finish()
            self.seconds += perf_counter() - self._begun
            self.drawings += 1


def _playhead(scene_name):
    """The frame that the timeline of a scene shows; None: the scene is gone."""
    scene = bpy.data.scenes.get(scene_name)
    return None if scene is None else scene.frame_current
