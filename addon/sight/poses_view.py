"""Poses that no object has, in the 3D views of a scene: drawn over what is there, which recedes behind a veil.

Holds names and arrays, no references to Blender's data.
"""

from typing import TYPE_CHECKING, Any

import bpy

from .shape_surfaces import surface_of

if TYPE_CHECKING:
    import numpy as np

    from ...solver_core.model.model import Model

# How much of the scene the veil leaves, its colour where the theme says none, and the place of the text [pixels].
_VEIL, _GREY, _MARGIN, _SIZE = 0.72, (0.22, 0.22, 0.22), 70, 12


class PosesView:
    """Draws poses; ``close`` takes its handlers away. Who derives from it says what is drawn.

    Parameters
    ----------
    scene_name : str
        Views of other scenes are left alone.
    """

    def __init__(self, scene_name: str):
        self.scene_name = scene_name
        self._model: Model | None = None
        self._surface: Any = None
        self._drawn: Any = None
        self._on_card: tuple[Any, Any] = (None, None)
        add = _view_type().draw_handler_add
        self._handlers = [
            add(self._guarded(self._before), (), "WINDOW", "PRE_VIEW"),
            add(self._guarded(self._draw), (), "WINDOW", "POST_VIEW"),
            add(self._guarded(self._label), (), "WINDOW", "POST_PIXEL"),
        ]

    def shown(self) -> "tuple[Any, Model, tuple[np.ndarray, np.ndarray]] | None":
        """What is to be drawn now: something that tells it from all else, and poses of the model's user frames."""
        raise NotImplementedError

    def text(self) -> str:
        """The line at the bottom of the view."""
        raise NotImplementedError

    def close(self) -> None:
        """Take the handlers away, and let the views show what is there."""
        handlers, self._handlers = self._handlers, []
        for handler in handlers:
            _view_type().draw_handler_remove(handler, "WINDOW")
        self._drawn, self._on_card = None, (None, None)
        if handlers:
            self._redraw()

    @property
    def is_open(self) -> bool:
        """Whether it draws: not once it is closed, or drawing has failed."""
        return bool(self._handlers)

    def _redraw(self):
        """Ask the views of the scene to draw; how many there are."""
        count = 0
        for window in bpy.context.window_manager.windows:
            if window.scene.name == self.scene_name:
                for area in window.screen.areas:
                    if area.type == "VIEW_3D":
                        area.tag_redraw()
                        count += 1
        return count

    def _guarded(self, draw):
        """A handler that draws in views of the scene, and is taken away where drawing fails."""

        def handler():
            if not self._handlers or bpy.context.scene.name != self.scene_name:
                return
            try:
                draw()
            except Exception as error:
                import traceback

                traceback.print_exception(error)
                self.close()

        return handler

    def _take_model(self, model):
        if model is not self._model:
            self._model, self._surface, self._drawn = model, surface_of(model), None

    def _before(self):
        """Blender begins to draw a view."""

    def _draw(self):
        shown = self.shown()
        if shown is None:
            return
        import gpu

        from . import drawing

        key, model, poses = shown
        self._take_model(model)
        if self._drawn is None:
            self._drawn = drawing.Drawn(self._surface)
        if self._on_card[0] != key:
            self._on_card = key, drawing.poses_on_card(*model.body_poses(*poses))
        drawing.veil((*_background(), _VEIL))
        gpu.state.depth_test_set("LESS_EQUAL")
        gpu.state.depth_mask_set(True)
        gpu.state.blend_set("NONE")
        self._drawn.draw(self._on_card[1], bpy.context.region_data)
        drawing.restore_state()

    def _label(self):
        import blf

        scale = bpy.context.preferences.system.ui_scale
        blf.size(0, _SIZE * scale)
        blf.color(0, 1.0, 1.0, 1.0, 0.9)
        blf.position(0, _MARGIN * scale, 0.5 * _MARGIN * scale, 0)
        blf.draw(0, self.text())


def _view_type():
    return bpy.types.SpaceView3D


def _background():
    """The colour of the theme's 3D view."""
    themes = bpy.context.preferences.themes
    return tuple(themes[0].view_3d.space.gradients.high_gradient) if themes else _GREY
