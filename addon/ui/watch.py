"""What the panel says by itself of a scene that has changed: out of date, warnings, an error whose cause is gone.

A depsgraph update only notes that there was a change. A timer looks a moment later, once nothing is being dragged,
played, rendered or baked, so that neither drawing nor a bake waits for it; the results are kept on the window manager.
There are no frame handlers, which crash renders.
"""

import json
import time

import bpy
from bpy.app.handlers import persistent

from ..bake import reading_error
from ..checkpoints import in_window
from ..read import early_notes, scene_digest
from ..read.notes import grouped_notes
from ..settings import BakeSettings
from ..write import blender_world, since_bake
from . import operators

# How long after a change the scene is looked at [s], and how many times as long as a look takes.
PAUSE = 0.3
PAUSE_FACTOR = 10.0
# The same after a look that has found nothing new: some windows report updates for ever while nothing changes.
PAUSE_AT_REST = 2.0
PAUSE_FACTOR_AT_REST = 50.0

_pause = PAUSE


@persistent
def note_change(_=None, depsgraph=None):
    """Let the timer look soon. Blender calls this after drawing, too, when nothing has been updated."""
    if depsgraph is not None and len(depsgraph.updates) == 0:
        return
    if not bpy.app.background and not bpy.app.timers.is_registered(_look_when_idle):
        bpy.app.timers.register(_look_when_idle, first_interval=_pause)


def _look_when_idle():
    """Look at the scenes that windows show; the timer comes back as long as somebody is at work."""
    global _pause
    manager = bpy.context.window_manager
    if not _is_idle(manager):
        return PAUSE
    start = time.perf_counter()
    before = manager.cairn.status, manager.cairn.error
    for scene in {window.scene for window in manager.windows}:
        look_at(scene, manager.cairn)
    took = time.perf_counter() - start
    _pause = max(PAUSE_AT_REST, PAUSE_FACTOR_AT_REST * took)
    if before != (manager.cairn.status, manager.cairn.error):
        _pause = max(PAUSE, PAUSE_FACTOR * took)
        operators.redraw(bpy.context)
    return None


def _is_idle(manager):
    if operators.running is not None or bpy.app.is_job_running("RENDER"):
        return False
    return not any(window.modal_operators or window.screen.is_animation_playing for window in manager.windows)


def look_at(scene, session):
    """Take over what was copied and moved since the bake, and keep what the panel says of the scene now."""
    if scene.rigidbody_world is None:
        if session.status:
            session.status = ""
        return
    if scene.cairn.is_baked:
        blender_world.hold_if_empty(scene)
    since_bake.settle(scene)
    digest = scene_digest.scene_digest(scene)
    status = {
        "scene": scene.name,
        "outdated": outdated(scene, digest),
        "notes": grouped_notes(early_notes.early_notes(scene)),
        "checkpoint": in_window.offer_of(scene, digest),
        "recorded": in_window.recorded_of(scene),
        "fetch": in_window.fetched_of(scene, digest),
        "why_not": in_window.why_not(scene, digest),
    }
    text = json.dumps(status)
    if text != session.status:  # writing is a change, which would make it look again for ever
        session.status = text
    forget_error(scene, session, scene_digest.packed(digest))


def outdated(scene, digest):
    """Why the bake of a scene is out of date, in a sentence; empty if it is not."""
    stored = scene.cairn.ingredients
    if not scene.cairn.is_baked or not stored:
        return ""
    before = scene_digest.unpacked(stored)
    found = [*scene_digest.without_keys(before, scene), *scene_digest.changes(before, digest)]
    return scene_digest.changes_sentence(found)


def forget_error(scene, session, digest):
    """Take an error away once its cause is gone: asked by reading the scene, once after each change of it."""
    if not session.error or session.error_digest in ("", digest):
        return
    session.error_digest = digest
    error = reading_error(scene, BakeSettings.from_scene(scene))
    session.error = session.error_object = ""
    if error is not None:
        session.error = operators.one_line(error)
        session.error_object = error.object_name or ""


HANDLERS = ("depsgraph_update_post", "load_post", "undo_post", "redo_post")


def register():
    for occasion in HANDLERS:
        getattr(bpy.app.handlers, occasion).append(note_change)
    note_change()


def unregister():
    for occasion in HANDLERS:
        getattr(bpy.app.handlers, occasion).remove(note_change)
    if bpy.app.timers.is_registered(_look_when_idle):
        bpy.app.timers.unregister(_look_when_idle)
