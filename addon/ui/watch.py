"""What the panel says by itself of a scene that has changed: out of date, warnings, an error whose cause is gone.

A depsgraph update only notes what was changed. A timer looks a moment later, once nothing is being dragged, played,
rendered or baked, so that neither drawing nor a bake waits for it; the results are kept on the window manager. What
Blender has told of is looked at first, so that the button turns red at once; then all the rest. There are no frame
handlers, which crash renders.
"""

import functools
import json
import time

import bpy
from bpy.app.handlers import persistent

from ..bake import reading_error
from ..checkpoints import in_window
from ..read import early_notes, scene_digest
from ..read.notes import grouped_notes
from ..settings import BakeSettings
from ..takes import book
from ..write import blender_world, since_bake
from . import errors, kept_digest, operators

# How long after a change the scene is looked at [s].
PAUSE = 0.3
# Some windows report updates for ever while nothing changes: one within this time of a look that has found nothing new
# waits as long, unless it is of something that a bake depends on. Later ones are what somebody has done.
PAUSE_AT_REST = 2.0
# A look is worked through in slices of so long, with so much time between them for the window [s]. Where drawing takes
# long (a second with software OpenGL, several times after each change), a slice is this share of it, up to some length.
SLICE = 0.008
BETWEEN_SLICES = 0.002
SHARE_OF_DRAWING = 0.1
LONGEST_SLICE = 0.08

_rested = 0.0  # when a look has ended that has found nothing new
_waits_long = False  # whether the next look is one that waits as at rest
_looked_at: list[str] = []  # names of the scenes that windows showed at the last look
_due = 0.0  # when the next slice should begin: what it is late was spent on drawing
# Who is told of each scene that was looked at: callable (name, digest).
listeners: list = []
_kept = kept_digest.KeptDigest()
_looking = None


@persistent
def note_change(_=None, depsgraph=None):
    """Let the timer look soon. Blender calls this after drawing, too, when nothing has been updated."""
    global _looking, _waits_long, _due
    if bpy.app.background:
        return
    if depsgraph is not None and len(depsgraph.updates) == 0:
        return
    is_known = False
    if depsgraph is None or operators.running is not None or is_shown_in_turns(bpy.context.window_manager):
        _kept.forget()  # where frames are shown one after the other, to list all that moves would take time
    else:
        is_known = _kept.note(depsgraph)
    _looking = None  # begins again with what has changed
    is_at_rest = time.perf_counter() - _rested < PAUSE_AT_REST and not is_known
    if bpy.app.timers.is_registered(_look_when_idle):
        if is_at_rest or not _waits_long:
            return
        bpy.app.timers.unregister(_look_when_idle)
    _waits_long, wait = is_at_rest, PAUSE_AT_REST if is_at_rest else PAUSE
    _due = time.perf_counter() + wait
    bpy.app.timers.register(_look_when_idle, first_interval=wait)


def look_soon():
    """Let the timer look at what lies beside the file: it has changed, and nothing of the scene."""
    global _looking, _due
    if bpy.app.background:
        return
    _looking = None
    if bpy.app.timers.is_registered(_look_when_idle):
        bpy.app.timers.unregister(_look_when_idle)
    _due = time.perf_counter() + PAUSE
    bpy.app.timers.register(_look_when_idle, first_interval=PAUSE)


def look_at_new(scene):
    """Let the timer look at a scene that a window now shows, of which Blender tells nothing. Drawing asks this."""
    if bpy.app.background or scene.name in _looked_at or _looking is not None:
        return
    is_shown = any(window.scene == scene for window in bpy.context.window_manager.windows)
    if is_shown and not bpy.app.timers.is_registered(_look_when_idle):
        look_soon()


@persistent
def _after_saving(*_):
    """Checkpoints belong to a file by its name, which may be another one now."""
    look_soon()


def _look_when_idle():
    """Look at the scenes that windows show; the timer comes back as long as somebody is at work."""
    global _rested, _looking, _due
    manager = bpy.context.window_manager
    if not is_idle(manager):
        _due = time.perf_counter() + PAUSE
        return PAUSE
    if _looking is None:
        _looking = _look_steps(manager)
    start, said = time.perf_counter(), manager.cairn.status
    end = start + _slice_after(start - _due)
    try:
        while time.perf_counter() < end:
            next(_looking)
    except (ReferenceError, KeyError):  # something was removed meanwhile
        _looking = None
        _due = time.perf_counter() + PAUSE
        return PAUSE
    except StopIteration as done:
        _looking = None
        if done.value:
            operators.redraw(bpy.context)
        else:
            _rested = time.perf_counter()
        return None
    if manager.cairn.status != said:
        operators.redraw(bpy.context)
    _due = time.perf_counter() + BETWEEN_SLICES
    return BETWEEN_SLICES


def _slice_after(late):
    """How long to look where the last slice was so long ago that this one is late [s]."""
    return min(max(SLICE, SHARE_OF_DRAWING * late), LONGEST_SLICE)


def _look_steps(manager):
    """Look at all scenes that are shown, as a generator; returns whether there was anything new to say."""
    global _looked_at
    before = manager.cairn.status, manager.cairn.error
    _looked_at = sorted({window.scene.name for window in manager.windows})
    for name in _looked_at:
        yield from look_steps(name, manager.cairn, _kept)
    return before != (manager.cairn.status, manager.cairn.error)


def is_idle(manager):
    """Whether nothing is baked, rendered, dragged or played."""
    if operators.running is not None or is_shown_in_turns(manager):
        return False
    return not any(window.modal_operators for window in manager.windows)


def is_shown_in_turns(manager):
    """Whether frames are rendered or played."""
    return bpy.app.is_job_running("RENDER") or any(window.screen.is_animation_playing for window in manager.windows)


def look_at(scene, session):
    """Take over what was copied and moved since the bake, and keep what the panel says of the scene now."""
    for _ in look_steps(scene.name, session, kept_digest.KeptDigest()):
        pass


def look_steps(scene_name, session, kept):
    """The same as a generator, which holds names between its steps; ``kept`` is what former looks have read."""
    scene = bpy.data.scenes[scene_name]
    if scene.rigidbody_world is None:
        if session.status:
            session.status = ""
        return
    if scene.cairn.is_baked:
        blender_world.hold_if_empty(scene)
    yield from since_bake.catch_up_steps(scene_name, kept.changed())
    first = yield from _last(kept.first_steps(scene_name))
    said = {} if first is None else (yield from _say_digest(scene_name, session, first))
    yield from since_bake.catch_up_steps(scene_name)
    yield from book.follow_steps(scene_name)  # Blender tells nobody of an autosave
    yield
    digest = yield from _last(kept.steps(scene_name))
    if digest != first:
        said = yield from _say_digest(scene_name, session, digest)
    for listener in listeners:
        listener(scene_name, digest)
    notes = []
    for note in early_notes.early_notes_steps(bpy.data.scenes[scene_name]):
        if note is None:
            yield
        else:
            notes.append(note)
    yield
    _say(session, said | {"notes": grouped_notes(notes)})
    if session.error:
        yield
        forget_error(bpy.data.scenes[scene_name], session, scene_digest.packed(digest))


def _last(steps):
    """The last of what a generator gives, None between; a generator itself."""
    last = None
    for last in steps:  # noqa: B007
        yield
    return last


def _say_digest(scene_name, session, digest):
    """Say what follows from a digest, which need not wait for the notes: a generator that returns it."""
    known = json.loads(session.status or "{}")
    if known.get("scene") != scene_name:
        known = None
    found = yield from _changes_steps(scene_name, digest)
    said = {"scene": scene_name, "outdated": scene_digest.changes_sentence(found)}
    if known is not None:
        _say(session, known | said)
    yield
    said |= in_window.offers_of(bpy.data.scenes[scene_name], digest)
    if known is not None:
        _say(session, known | said)
    yield
    return said


def _say(session, said):
    text = json.dumps(said, sort_keys=True)
    if text != session.status:  # writing is a change, which would make it look again for ever
        session.status = text


def _changes_steps(scene_name, digest):
    """What has changed since the bake of a scene, in words, so that it is out of date: a generator that returns it."""
    scene = bpy.data.scenes[scene_name]
    stored = scene.cairn.ingredients
    if not scene.cairn.is_baked or not stored:
        return []
    before = _unpacked(stored)
    yield
    found = yield from scene_digest.without_keys_steps(before, scene_name)
    yield
    return [*found, *scene_digest.changes(before, digest)]


@functools.lru_cache(maxsize=4)
def _unpacked(stored):
    return scene_digest.unpacked(stored)


def forget_error(scene, session, digest):
    """Take an error away once its cause is gone: asked by reading the scene, once after each change of it."""
    if not session.error or session.error_digest in ("", digest):
        return
    session.error_digest = digest
    error = reading_error(scene, BakeSettings.from_scene(scene))
    errors.clear_error(session)
    if error is not None:
        errors.tell_error(session, error)


HANDLERS = (
    ("depsgraph_update_post", note_change),
    ("load_post", note_change),
    ("redo_post", note_change),
    ("save_post", _after_saving),
    ("undo_post", note_change),
)


def register():
    for occasion, handler in HANDLERS:
        getattr(bpy.app.handlers, occasion).append(handler)
    note_change()


def unregister():
    for occasion, handler in HANDLERS:
        getattr(bpy.app.handlers, occasion).remove(handler)
    if bpy.app.timers.is_registered(_look_when_idle):
        bpy.app.timers.unregister(_look_when_idle)
