"""When Blender's own simulation goes on that waits (write/blender_world.py): handlers of files, Undo and playback.

While a world waits, or is on and may have to wait again, a timer looks a few times a second at the frame that is shown,
and playing from the start asks at once. There are no frame handlers in a window, which crash renders; and Blender tells
of no update where only the frame has changed.
"""

import bpy
from bpy.app.handlers import persistent

from ..write import blender_world
from . import operators

# How often the frame is looked at while a world waits [s].
INTERVAL = 0.25


@persistent
def note_change(_=None, depsgraph=None):
    """Look at the frames that are shown if a world has been switched in this session."""
    if bpy.app.background or bpy.app.timers.is_registered(_look) or not blender_world.has_switched():
        return
    bpy.app.timers.register(_look, first_interval=INTERVAL, persistent=True)


def _look():
    """Switch worlds on and off that the frame asks for, or that somebody has switched on meanwhile."""
    if operators.running is not None or bpy.app.is_job_running("RENDER"):
        return INTERVAL
    for scene in blender_world.waiting_scenes():
        if scene.rigidbody_world.enabled:
            scene.cairn.world_waits = False
            blender_world.hold(scene)
            operators.redraw(bpy.context)
    playing = any(window.screen.is_animation_playing for window in bpy.context.window_manager.windows)
    for scene in () if playing else blender_world.follow_frames():
        _show_anew(scene)
        operators.redraw(bpy.context)
    return INTERVAL if blender_world.is_followed() else None


def _show_anew(scene):
    """Evaluate the frame with the world on, so that the next one begins its simulation."""
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)


@persistent
def _before_playing(scene, *_):
    if operators.running is None and scene.cairn.world_waits and blender_world.resume(scene):
        _show_anew(scene)


@persistent
def _after_undo(*_):
    blender_world.guard_after_undo()
    note_change()


@persistent
def _after_opening(*_):
    blender_world.guard_opened()
    note_change()


@persistent
def _before_saving(*_):
    blender_world.show_as_saved(True)


@persistent
def _after_saving(*_):
    blender_world.show_as_saved(False)


HANDLERS = (
    ("animation_playback_pre", _before_playing),
    ("depsgraph_update_post", note_change),
    ("load_post", _after_opening),
    ("redo_post", _after_undo),
    ("save_post", _after_saving),
    ("save_post_fail", _after_saving),
    ("save_pre", _before_saving),
    ("undo_post", _after_undo),
)


def register():
    for occasion, handler in HANDLERS:
        getattr(bpy.app.handlers, occasion).append(handler)


def unregister():
    for occasion, handler in HANDLERS:
        getattr(bpy.app.handlers, occasion).remove(handler)
    if bpy.app.timers.is_registered(_look):
        bpy.app.timers.unregister(_look)
    blender_world.forget()
