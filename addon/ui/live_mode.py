"""*Live* in the window: what has to be there while it is on, and is not there while it is off.

A timer, as no modal operator: while one of these runs Blender saves nothing by itself. ESC is a key of the whole
window that belongs to it as long. Of the scene its names are held, and by its session's number the scene is found
again after Undo.
"""

import contextlib
import time
import traceback

import bpy
from bpy.app.handlers import persistent

from ..live.playhead import frame_to_play
from ..live.session import Session
from ..read.scene_digest import scene_digest
from ..settings import BakeSettings
from ..sight.live_view import LiveView
from . import errors, kept_digest, operators, watch
from .live_keys import drag_keys
from .words import iface_, told

# A tick works for so long, and the next one follows after so long: while there is something to do, and while it is
# waited for a change or for the process beside [s].
SLICE, SOON, LATER = 0.012, 0.004, 0.02
# Where drawing takes long (a second with software OpenGL) a tick works for this share of it, up to some length [s].
SHARE_OF_DRAWING, LONGEST_SLICE = 0.5, 0.6
# The panels are drawn so often at most, in ticks.
TICKS_A_PANEL = 25

# What is on; None: nothing.
mode = None


class LiveMode:
    """A scene that is simulated while it is changed, from the press of the button to ``end``.

    Parameters
    ----------
    scene : bpy.types.Scene

    Attributes
    ----------
    session : Session
    view : LiveView
    """

    def __init__(self, scene: bpy.types.Scene):
        self._uid = scene.session_uid
        self._kept = kept_digest.KeptDigest()
        self._ticks, self._said = 0, ""
        self._due = time.perf_counter()  # when the next tick should begin: what it is late was spent on drawing
        self._plays_in: int | None = None  # the window in which it has let the timeline play, and from which frame
        self._frame_before = scene.frame_current
        self._keys: list[tuple] = []
        self.session = Session(scene.name, self._settings, self._look)
        self.view = LiveView(scene.name, self.session.picture, self.line, lambda: self.session.drags.held)
        for occasion, handler in HANDLERS:
            getattr(bpy.app.handlers, occasion).append(handler)
        self._add_keys()
        bpy.app.timers.register(_tick, first_interval=SOON)

    @property
    def scene(self) -> bpy.types.Scene | None:
        """The scene, whatever its name is; None: it was deleted."""
        return next((scene for scene in bpy.data.scenes if scene.session_uid == self._uid), None)

    def _settings(self):
        return BakeSettings.from_scene(self.scene)

    def _look(self):
        return self._kept.steps(self.scene.name)

    def _add_keys(self):
        keymaps = bpy.context.window_manager.keyconfigs.addon
        if keymaps is not None:  # without a window there are none
            keymap = keymaps.keymaps.new(name="Window", space_type="EMPTY")
            self._keys = [(keymap, keymap.keymap_items.new("cairn.live", "ESC", "PRESS")), *drag_keys()]

    # While it is on

    def note_change(self, depsgraph=None):
        """Something may have changed; all may be another after Undo."""
        if depsgraph is None:
            self._kept.forget()
        elif len(depsgraph.updates):
            self._kept.note(depsgraph)
        else:
            return
        self.session.note_change(plays=watch.is_shown_in_turns(bpy.context.window_manager))

    def tick(self) -> float:
        """Work for a slice; returns when to come back [s]."""
        scene = self.scene
        if bpy.app.is_job_running("RENDER"):
            return LATER
        if scene.name != self.view.scene_name:
            self.view.scene_name = scene.name
            self.session.rename(scene.name)
        self._reach(scene.frame_current)
        late = time.perf_counter() - self._due
        self.session.tick(min(max(SLICE, SHARE_OF_DRAWING * late), LONGEST_SLICE))
        self._hold_playhead(scene)
        self.view.look(scene.frame_current)
        self._ticks += 1
        said = self.line()
        if self._ticks % TICKS_A_PANEL == 0 and said != self._said:
            self._said = said
            operators.redraw(bpy.context)
        pause = LATER if self.session.waits and not self.session.drags.is_held else SOON
        self._due = time.perf_counter() + pause
        return pause

    def _reach(self, frame):
        """While a body is dragged, simulate for what is shown and for the next frame: the hand is where it is now."""
        drags = self.session.drags
        if drags.is_held and frame < drags.first:
            drags.release()  # the timeline plays from its beginning again
        self.session.reach(frame + 1)

    def _hold_playhead(self, scene):
        """Let the timeline play what there is again, where it has come farther; wait there for what is dragged."""
        frames = self.session.frames
        if frames is None or not any(_plays(window, scene) for window in bpy.context.window_manager.windows):
            return
        first = scene.frame_preview_start if scene.use_preview_range else scene.frame_start
        if self.session.drags.is_held:
            frame = min(scene.frame_current, frames[1])
        else:
            frame = frame_to_play(scene.frame_current, frames[:2], first)
        if frame != scene.frame_current:
            scene.frame_set(frame)

    def play(self, context):
        """Let the timeline play, unless it does."""
        if not context.screen.is_animation_playing and bpy.ops.screen.animation_play.poll():
            bpy.ops.screen.animation_play()
            self._plays_in = context.window.as_pointer()

    def line(self) -> str:
        """What it does, in a line."""
        session, frames = self.session, self.session.frames
        if session.error is not None:
            return ": ".join((iface_("Live"), errors.told_error(session.error)))
        if frames is None:
            return ": ".join((iface_("Live"), told(session.text))) if session.text else iface_("Live")
        return iface_("Live: simulated up to frame {:d} of {:d}").format(*frames[1:])

    def take(self, scene):
        """Hand over what was simulated, and end; as of ``Session.take``."""
        taken = self.session.take(scene_digest(scene))
        end()
        return taken

    def close(self):
        """Take everything away that it has brought."""
        if bpy.app.timers.is_registered(_tick):
            bpy.app.timers.unregister(_tick)
        for occasion, handler in HANDLERS:
            with contextlib.suppress(ValueError):
                getattr(bpy.app.handlers, occasion).remove(handler)
        for keymap, item in self._keys:
            keymap.keymap_items.remove(item)
        self.session.close()
        self.view.close()
        self._stop_playing()

    def _stop_playing(self):
        """Stop the timeline where it was begun by the button and still plays, and go back to the frame before."""
        for window in bpy.context.window_manager.windows:
            if window.as_pointer() == self._plays_in and window.screen.is_animation_playing:
                with bpy.context.temp_override(window=window):
                    bpy.ops.screen.animation_cancel(restore_frame=False)
                if self.scene is not None:
                    self.scene.frame_set(self._frame_before)


def _plays(window, scene):
    return window.scene == scene and window.screen.is_animation_playing


def begin(context) -> None:
    """Switch it on for the scene that the window shows, and let the timeline play."""
    global mode
    end()
    mode = LiveMode(context.scene)
    mode.play(context)
    operators.redraw(context)


def end() -> None:
    """Switch it off, if it is on."""
    global mode
    ended, mode = mode, None
    if ended is not None:
        ended.close()
        operators.redraw(bpy.context)


def _tick():
    """Give it time; ended where the scene is gone, something else of Cairn runs, or it has failed."""
    if mode is None:
        return None
    if mode.scene is None or mode.scene.rigidbody_world is None or operators.running is not None:
        end()
        return None
    try:
        pause = mode.tick()
        error = mode.session.error
        if error is not None and not errors.is_expected(error):
            raise error
    except Exception as error:
        traceback.print_exception(error)
        name = mode.scene.name if mode.scene is not None else ""
        end()
        errors.show_error(bpy.context, error, name)
        return None
    if not mode.view.is_open:  # drawing has failed, and has said why
        end()
        return None
    return pause


@persistent
def _note_change(_=None, depsgraph=None):
    if mode is not None:
        mode.note_change(depsgraph)


@persistent
def _after_loading(*_):
    end()


HANDLERS = (
    ("depsgraph_update_post", _note_change),
    ("redo_post", _note_change),
    ("undo_post", _note_change),
    ("load_pre", _after_loading),
)
