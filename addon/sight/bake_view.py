"""The newest poses in the 3D view while a bake runs: drawn over what is there, and no object is touched.

What the view shows otherwise recedes behind a veil. It is drawn again where a frame is new, some times a second at most
and so rarely that drawing takes a twentieth of the time. Holds names and arrays, no references to Blender's data.
"""

from time import perf_counter
from typing import TYPE_CHECKING, Any

import bpy
from bpy.app.translations import pgettext_iface as iface_

from .shape_surfaces import surface_of

if TYPE_CHECKING:
    import numpy as np

    from ...solver_core.model.model import Model
    from ..read.exported_scene import SceneExport

# New poses are drawn so often at most [s], and so that drawing takes this share of the time at most.
INTERVAL, LARGEST_SHARE = 0.1, 0.05
# A bake has lasted so long before there is a picture: shorter ones need none [s].
_FIRST = 0.5
# A view that has not been drawn for so long is hidden; it is asked again [s].
_PATIENCE = 2.0
# How much of the scene the veil leaves, its colour where the theme says none, and the place of the text [pixels].
_VEIL, _GREY, _MARGIN, _SIZE = 0.72, (0.22, 0.22, 0.22), 70, 12


class Shown:
    """The view of a bake, if it is wanted: it begins with the simulation and ends with it.

    Parameters
    ----------
    wanted : bool
    """

    def __init__(self, wanted: bool):
        self._wanted = wanted
        self.view: BakeView | None = None

    def begin(self, export: "SceneExport", scene_name: str) -> None:
        """Begin with the start."""
        if self._wanted:
            self.view = BakeView(scene_name, export.frame_start, export.frame_end, export.model)

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


class BakeView:
    """Draws one bake; ``close`` takes its handlers away, in whatever way the bake ends.

    Parameters
    ----------
    scene_name : str
        Views of other scenes are left alone.
    first, last : int
        Frames of the bake.
    model : Model

    Attributes
    ----------
    seconds : float
        That drawing has taken.
    drawings : int
    """

    def __init__(self, scene_name: str, first: int, last: int, model: "Model"):
        self._scene_name, self._last, self._model = scene_name, last, model
        self._surface: Any = surface_of(model)
        state = model.initial_state
        self._poses = model.user_poses(state.position, state.orientation)
        self._frame = self._shown = first
        # when it began, when views were asked to draw, and after how many drawings; when one of them has begun
        self._begin = perf_counter()
        self._asked = self._begun = 0.0
        self._drawn_before = self._awaited = 0
        self._drawn: Any = None
        self._on_card: tuple[int, Any] = (first - 1, None)
        self.seconds = 0.0
        self.drawings = 0
        add = _view_type().draw_handler_add
        self._handlers = [
            add(self._guarded(self._before), (), "WINDOW", "PRE_VIEW"),
            add(self._guarded(self._draw), (), "WINDOW", "POST_VIEW"),
            add(self._guarded(self._label), (), "WINDOW", "POST_PIXEL"),
        ]

    def show(self, frame: int, position: "np.ndarray", orientation: "np.ndarray") -> None:
        """Take over the poses of the user frames at the end of a frame, and have them drawn when it is time."""
        self._frame, self._poses = frame, (position, orientation)
        self.look()

    def look(self) -> None:
        """Have the newest poses drawn, if they are not and it is time."""
        now = perf_counter()
        if not self._handlers or self._frame == self._shown:
            return
        if now < self._asked + (INTERVAL if self.drawings > self._drawn_before else _PATIENCE):
            return
        # the first picture is there soon, and those after it when all of them take that share of the time
        if now < self._begin + max(_FIRST, self.seconds / LARGEST_SHARE):
            return
        self._asked, self._shown, self._drawn_before = now, self._frame, self.drawings
        self._awaited = self._redraw()

    def close(self) -> None:
        """Take the handlers away, and let the views show what is there."""
        handlers, self._handlers = self._handlers, []
        for handler in handlers:
            _view_type().draw_handler_remove(handler, "WINDOW")
        self._drawn, self._on_card = None, (0, None)
        if handlers:
            self._redraw()

    def _redraw(self):
        """Ask the views of the scene to draw; how many there are."""
        count = 0
        for window in bpy.context.window_manager.windows:
            if window.scene.name == self._scene_name:
                for area in window.screen.areas:
                    if area.type == "VIEW_3D":
                        area.tag_redraw()
                        count += 1
        return count

    def _guarded(self, draw):
        """A handler that draws in views of the bake's scene, and is taken away where drawing fails."""

        def handler():
            if not self._handlers or bpy.context.scene.name != self._scene_name:
                return
            try:
                draw()
            except Exception as error:
                import traceback

                traceback.print_exception(error)
                self.close()

        return handler

    def _before(self):
        self._begun = perf_counter()

    def _draw(self):
        from . import drawing

        if self._drawn is None:
            self._drawn = drawing.Drawn(self._surface)
        if self._on_card[0] != self._frame:
            poses = self._model.body_poses(*self._poses)
            self._on_card = self._frame, drawing.poses_on_card(*poses)
        import gpu

        drawing.veil((*_background(), _VEIL))
        gpu.state.depth_test_set("LESS_EQUAL")
        gpu.state.depth_mask_set(True)
        gpu.state.blend_set("NONE")
        self._drawn.draw(self._on_card[1], bpy.context.region_data)
        drawing.restore_state()

    def _label(self):
        import blf

        from . import drawing

        scale = bpy.context.preferences.system.ui_scale
        blf.size(0, _SIZE * scale)
        blf.color(0, 1.0, 1.0, 1.0, 0.9)
        blf.position(0, _MARGIN * scale, 0.5 * _MARGIN * scale, 0)
        text = iface_("Newest: frame {:d} of {:d}")
        if self._surface.boxed:
            text = iface_("Newest: frame {:d} of {:d}, boxes in place of {:,d} shapes")
        blf.draw(0, text.format(self._on_card[0], self._last, self._surface.boxed))
        if self._awaited > 0:  # Blender draws by itself, too
            self._awaited -= 1
            drawing.finish()
            self.seconds += perf_counter() - self._begun
            self.drawings += 1


def _view_type():
    return bpy.types.SpaceView3D


def _background():
    """The colour of the theme's 3D view."""
    themes = bpy.context.preferences.themes
    return tuple(themes[0].view_3d.space.gradients.high_gradient) if themes else _GREY
