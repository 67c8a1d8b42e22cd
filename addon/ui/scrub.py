"""The playhead while a bake runs: a click or a drag where editors show the time, and the arrow keys, move it.

Blender's own operators for that would make a step of Undo in the middle of the bake, and keep its timer waiting.
"""

import bpy

from .let_through import is_over_view

# Editors that show the time along the top of their main region, and how high that is at a scale of 1 [pixels].
_EDITORS = {"DOPESHEET_EDITOR", "GRAPH_EDITOR", "NLA_EDITOR", "SEQUENCE_EDITOR"}
_HEIGHT = 23
_STEPS = {"LEFT_ARROW": -1, "RIGHT_ARROW": 1}


class Scrub:
    """Moves the playhead of a scene by the events of a window, from when there are poses to be seen.

    Parameters
    ----------
    scene_name : str
    """

    def __init__(self, scene_name: str):
        self._scene_name = scene_name
        self._drags = False

    def hears(self, event, window) -> bool:
        """Take an event that moves the playhead; False: it is none."""
        scene = bpy.data.scenes.get(self._scene_name)
        if scene is None or event.ctrl or event.alt:
            return False
        at = event.mouse_x, event.mouse_y
        if event.type == "LEFTMOUSE":
            region = _time_at(window, *at)
            begins = event.value in {"PRESS", "DOUBLE_CLICK"} and region is not None
            ends, self._drags = self._drags and event.value == "RELEASE", begins
            if begins:
                _show(scene, _frame_at(region, event.mouse_x))
            return begins or ends
        if event.type in {"MOUSEMOVE", "INBETWEEN_MOUSEMOVE"} and self._drags:
            region = _main_region(window, *at)
            if region is not None:
                _show(scene, _frame_at(region, event.mouse_x))
            return True
        if event.type in _STEPS and event.value == "PRESS" and _shows_time(window, *at):
            step = _STEPS[event.type]
            ends = scene.frame_end if step > 0 else scene.frame_start
            _show(scene, ends if event.shift else scene.frame_current + step)
            return True
        return False


def _show(scene, frame):
    if frame != scene.frame_current:
        scene.frame_set(frame)


def _frame_at(region, x):
    return round(region.view2d.region_to_view(x - region.x, 0)[0])


def _main_region(window, x, y):
    """The main region of an editor with a time, under a place of the window or above or below it."""
    for area in window.screen.areas:
        if area.type in _EDITORS and area.x <= x < area.x + area.width:
            for region in area.regions:
                if region.type == "WINDOW" and area.y <= y < area.y + area.height:
                    return region
    return None


def _time_at(window, x, y):
    """The main region whose time is at a place of the window."""
    region = _main_region(window, x, y)
    if region is None or not region.x <= x < region.x + region.width:
        return None
    top = region.y + region.height
    return region if top - _height() <= y < top else None


def _height():
    """Of the time at the top of an editor [pixels]."""
    return _HEIGHT * bpy.context.preferences.system.ui_scale


def _shows_time(window, x, y):
    return is_over_view(window, x, y) or _main_region(window, x, y) is not None
