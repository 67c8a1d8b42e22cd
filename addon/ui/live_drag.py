"""A body that is dragged in the 3D view while *Live* is on: the mouse pulls it, in the plane of the view."""

from typing import NamedTuple

import bpy
import numpy as np
from bpy_extras import view3d_utils
from mathutils import Vector

from ..live.drags import Spring
from ..sight.picking import picked
from . import live_mode
from .words import iface_

# What goes on in the window while a body is held; the rest waits.
_PASSED = ("TIMER", "MIDDLEMOUSE", "WHEEL", "TRACKPAD", "NDOF", "WINDOW")


class _View(NamedTuple):
    """A view, whose memory Blender may give up between two events: asked for anew each time."""

    region: bpy.types.Region
    data: bpy.types.RegionView3D

    def line(self, at):
        """Where a line of sight begins, and which way it goes."""
        origin = view3d_utils.region_2d_to_origin_3d(self.region, self.data, at)
        return origin, view3d_utils.region_2d_to_vector_3d(self.region, self.data, at)

    def place(self, at, beside):
        """Under the mouse, and in the plane of the view through another place."""
        return view3d_utils.region_2d_to_location_3d(self.region, self.data, at, Vector(beside))


def grab(mode: "live_mode.LiveMode", origin, direction, frame: int, spring: Spring):
    """Take the body that a line of sight meets into the hand; where it is held, or None: there is none.

    Parameters
    ----------
    mode : LiveMode
    origin, direction : float64 [3]
    frame : int
        That the timeline shows.
    spring : Spring
    """
    picture, surface = mode.session.picture(frame), mode.view.surface()
    if picture is None or surface is None:
        return None
    found = picked(picture.model, surface, picture.poses, np.array(origin), np.array(direction))
    if found is None or not mode.session.grab(picture.frame, found.body, found.point, found.place, spring):
        return None
    return found.place


class CAIRN_OT_live_drag(bpy.types.Operator):
    bl_idname = "cairn.live_drag"
    bl_label = "Drag a Body"
    bl_description = (
        "Pull the body under the mouse by a spring, in the plane of the view, while Live is on. Letting go keeps what "
        "it did; ESC and the right mouse button take it back"
    )
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context):
        mode = live_mode.mode
        return mode is not None and context.scene == mode.scene and context.region_data is not None

    def invoke(self, context, event):
        mode, region = live_mode.mode, context.region
        view = _View(region, context.region_data)
        # where the button was pressed; the mouse is a little further now
        at = event.mouse_prev_press_x - region.x, event.mouse_prev_press_y - region.y
        settings = context.scene.cairn
        spring = Spring(settings.drag_frequency, settings.drag_damping, settings.drag_force)
        place = grab(mode, *view.line(at), context.scene.frame_current, spring)
        if place is None:
            return {"PASS_THROUGH"}
        self._mode, self._place = mode, place
        mode.play(context)
        self._move(context, event)
        context.window_manager.modal_handler_add(self)
        context.workspace.status_text_set(iface_("Let go to keep it; ESC or the right mouse button takes it back"))
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if live_mode.mode is not self._mode or not self._mode.session.drags.is_held:
            return self._ended(context, "CANCELLED")  # it has ended, or a change has begun it again
        if event.type == "MOUSEMOVE":
            self._move(context, event)
        elif event.type == "LEFTMOUSE" and event.value == "RELEASE":
            self._mode.session.drags.release()
            return self._ended(context, "FINISHED")
        elif event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS":
            self._mode.session.cancel_drag()
            return self._ended(context, "CANCELLED")
        return {"PASS_THROUGH" if event.type.startswith(_PASSED) else "RUNNING_MODAL"}

    def cancel(self, context):
        """Blender ends it, as with the window."""
        self._mode.session.drags.release()
        self._ended(context, "CANCELLED")

    def _move(self, context, event):
        view = _View(context.region, context.region_data)
        at = event.mouse_x - context.region.x, event.mouse_y - context.region.y
        self._mode.session.drags.move(view.place(at, self._place))

    def _ended(self, context, how):
        context.workspace.status_text_set(None)
        return {how}


class CAIRN_OT_live_forget(bpy.types.Operator):
    """Simulate as if no body had been dragged in Live"""

    bl_idname = "cairn.live_forget"
    bl_label = "Forget Drags"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context):
        return live_mode.mode is not None and bool(live_mode.mode.session.drags.frames)

    def execute(self, context):
        live_mode.mode.session.forget_drags()
        return {"FINISHED"}


CLASSES = (CAIRN_OT_live_drag, CAIRN_OT_live_forget)
