"""Bake, and the small operators of the panel.

The bake runs in the window as a modal operator on a timer: a slice of time per tick, so that orbiting stays smooth,
and ESC is heard between two frames. In the background, and when called with EXEC_DEFAULT, the same generator runs to
its end. Only the running operator knows that a bake is running (``running``); nothing of it is stored. A check of the
scene runs in the same way, since the search for overlaps may have to compile first.
"""

import contextlib
import functools
import json
import textwrap
import time

import bpy
from bpy.props import BoolProperty, StringProperty

from ..bake import SECONDS_TO_WAIT, BakeStopped, bake_frames
from ..bake_progress import BakeProgress
from ..checkpoints import in_window as checkpoints
from ..read import scene_digest
from ..read.early_notes import nothing_to_bake
from ..read.faults import SceneError
from ..read.notes import grouped_notes, note_of
from ..read.scene_check import check_scene
from ..read.scene_notes import HELD, NO_OVERLAPS
from ..runtime import system_information
from ..settings import BakeSettings
from ..takes.steps import keeping
from ..write import since_bake
from .errors import clear_error, is_expected, sentence, show_error, told_error
from .let_through import SILENT_EVENTS, is_let_through
from .scrub import Scrub
from .words import busy_text, iface_, kept_sentence, remark_text, tip_, told

# A tick works this long [s]; the next one follows after the rest of the interval, so the window stays smooth.
TICK_SLICE = 0.08
TICK_INTERVAL = 0.1
# Where a window takes longer than some ticks to draw (a second with software OpenGL), a tick works as long as drawing
# took, but not so long that ESC is not heard within a second [s]. Keyframes are written to the end, and make Blender
# draw the whole window after each tick: there the drawing alone counts.
LONGEST_SLICE = 0.4
# The panel and the status bar are redrawn at most this often [s], ...
REDRAW_INTERVAL = 0.5
# ... and where Blender draws slowly (a second with software OpenGL), only after this many times what drawing took.
REDRAW_FACTOR = 4.0

# Why a click did nothing is said for so long [s].
SECONDS_OF_REMARK = 4.0
# The progress of what runs in the window, for the panel; None if nothing runs.
running = None


def scene_bodies(scene):
    """Collection of the scene's rigid bodies, whether it is baked or not; None if there is none."""
    world = scene.rigidbody_world
    return scene.cairn.world_collection or (world.collection if world is not None else None)


# What ESC does while there is nothing yet that could be kept.
HINT_BEFORE_FRAMES = "ESC stops"
# What is said of a stop before anything could be kept; a variant's values stay, and the bake before them is gone.
TEXT_OF_NOTHING = "Stopped before the first frame; nothing was changed"
TEXT_OF_VARIANT = "Stopped before the first frame. The variant's values stay; Undo brings back what was there before"
# ... and once all frames are there.
HINT_WRITING = "All frames are kept"


def what_runs():
    """Why nothing else can begin now."""
    return busy_text(running["task"])


class SceneOperator:
    """Operators that change the scene need a rigid body world, Object Mode and no running bake."""

    @classmethod
    def poll(cls, context):
        if running is not None:
            cls.poll_message_set(what_runs())
            return False
        if context.scene.rigidbody_world is None:
            cls.poll_message_set("This scene has no rigid body world")
            return False
        if context.mode != "OBJECT":
            cls.poll_message_set("Switch to Object Mode first")
            return False
        return True


class StepsOperator(SceneOperator):
    """Operators that work in steps: in a window slice by slice on a timer, without a window from beginning to end.

    They give ``_work(scene, settings)``, a generator of BakeProgress, ``_conclude(context, result)`` of what it returns
    (None where it was stopped), ``_task``, what runs, and ``_hint``, what ESC does once there are frames.
    """

    def execute(self, context):
        """Work from beginning to end; also what a call without a window does."""
        self._begin(context)
        try:
            while True:
                if next(self._steps).waits:
                    time.sleep(SECONDS_TO_WAIT)
        except StopIteration as end:
            return self._finish(context, result=end.value)
        except Exception as error:
            return self._finish(context, error=error)
        except BaseException:  # Ctrl-C while the scene was read
            self._finish(context)
            raise

    def invoke(self, context, event):
        if bpy.app.background or context.window is None:
            return self.execute(context)
        if context.screen.is_animation_playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)
        self._begin(context, in_window=True)
        running["timer"] = context.window_manager.event_timer_add(TICK_INTERVAL, window=context.window)
        context.window_manager.modal_handler_add(self)
        self._show(context, iface_("Reading the scene"))
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type == "ESC" and event.value == "PRESS":
            self._stop(context)
            return {"RUNNING_MODAL"}
        if event.type != "TIMER":
            if self._is_seen and self._scrub.hears(event, context.window):
                return {"RUNNING_MODAL"}
            if is_let_through(event, context.window):
                return {"PASS_THROUGH"}
            if event.value == "PRESS" and event.type not in SILENT_EVENTS:
                self._remark(context)
            return {"RUNNING_MODAL"}
        if running["stop"] and not self._stopping:
            self._stop(context)
        try:
            self._tick(context)
        except StopIteration as end:
            return self._finish(context, result=end.value)
        except Exception as error:
            return self._finish(context, error=error)
        return {"RUNNING_MODAL"}

    # Whether there are frames in the view that somebody may look at.
    _is_seen = False

    def _stop(self, context):
        self._stopping = True
        self._show(context, iface_("Stopping"), immediately=True)

    def _remark(self, context):
        """Say why a click or a key does nothing now."""
        running["remark"] = remark_text(self._task)
        self._remark_until = time.perf_counter() + SECONDS_OF_REMARK
        self._show(context, running["text"], immediately=True)

    def cancel(self, context):
        """Blender ends the operator: another file, quitting, the extension switched off."""
        self._finish(context)

    def _begin(self, context, in_window=False):
        global running
        session = context.window_manager.cairn
        session.check = ""  # what an earlier bake has said
        clear_error(session)
        self._scene_name = context.scene.name
        self._in_window = in_window
        self._steps = self._work(context.scene, BakeSettings.from_scene(context.scene))
        self._stages, self._scrub = set(), Scrub(self._scene_name)
        self._stopping = False
        self._stop_thrown = False
        self._remark_until = 0.0
        self._drawn = self._left = 0.0
        self._ended = time.perf_counter()
        self._redraw_interval = REDRAW_INTERVAL
        running = {
            "scene": self._scene_name,
            "text": "",
            "factor": 0.0,
            "task": self._task,
            "hint": HINT_BEFORE_FRAMES,
            "remark": "",
            "stop": False,
            "can_stop": True,
            "timer": None,
            "steps": self._steps,
        }

    def _tick(self, context):
        """Work for a slice of time."""
        start = time.perf_counter()
        if self._drawn > self._left:  # what has passed since was spent on drawing
            self._redraw_interval = max(REDRAW_INTERVAL, REDRAW_FACTOR * (start - self._drawn))
        self._left = start
        time_slice = self._slice_after(start - self._ended)
        while True:
            if self._stopping and not self._stop_thrown:
                self._stop_thrown = True
                try:
                    progress = self._steps.throw(BakeStopped())
                except BakeStopped:  # nothing had begun that could be kept
                    raise StopIteration(None) from None
            else:
                progress = next(self._steps)
            if progress.stage in ("simulate", "write"):
                running["hint"] = self._hint if progress.stage == "simulate" else HINT_WRITING
            # A stage is shown before it begins: loading Numba takes a second, and draws nothing. Animation and
            # simulation take turns, of which only the first is shown at once.
            begins = progress.stage not in self._stages
            if begins or progress.waits or time.perf_counter() - start > time_slice:
                break
        self._stages.add(progress.stage)
        text = told(progress.text)
        if self._stopping:
            text = iface_("Stopping: {}").format(text)
        self._show(context, text, progress.factor, immediately=begins)
        self._ended = time.perf_counter()

    def _slice_after(self, pause):
        """How long a tick works after a pause, which drawing the window may have taken [s]."""
        if pause < 2.0 * TICK_INTERVAL:
            return TICK_SLICE
        return pause if self._stages & {"write", "delete"} else min(pause, LONGEST_SLICE)

    def _show(self, context, text, factor=None, immediately=False):
        """Say where the work is, in the panels and the status bar."""
        running["text"] = text
        if time.perf_counter() > self._remark_until:
            running["remark"] = ""
        if factor is not None:
            running["factor"] = factor
        if time.perf_counter() - self._drawn < self._redraw_interval and not immediately:
            return
        self._drawn = time.perf_counter()
        if context.workspace is not None:
            hint = running["remark"] or iface_(running["hint"])
            context.workspace.status_text_set("        ".join((": ".join(("Cairn", text)), hint)))
        redraw(context)

    def _finish(self, context, result=None, error=None):
        """The one way out: end, ESC, error, another file, quitting."""
        stop_running(context)
        return self._conclude(context, result) if error is None else self._fail(context, error)

    def _fail(self, context, error):
        if not is_expected(error):
            import traceback

            traceback.print_exception(error)
            # The whole of it is in the console; a compiler's message fills pages.
            cause = textwrap.shorten(": ".join((type(error).__name__, str(error))), 200)
            error = RuntimeError(iface_("Cairn has failed; nothing was changed. {}").format(cause))
        show_error(context, error, self._scene_name)
        self.report({"ERROR"}, told_error(error))
        return {"CANCELLED"}


def after_recording(scene_name, steps):
    """Steps of an operator; first Undo is given what the user has changed since the bake before (``record_steps``)."""
    with contextlib.closing(steps):
        for _ in since_bake.record_steps(scene_name):
            yield BakeProgress("export", 0, 0, "Reading the scene")
        return (yield from steps)


class BakeOperator(StepsOperator):
    """What operators that bake share; they give ``_work``."""

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        reason = nothing_to_bake(context.scene)
        if reason:
            cls.poll_message_set(told(reason))
        return not reason

    _task = "A bake"
    _hint = "ESC stops and keeps the frames so far"

    @property
    def _is_seen(self):
        return "simulate" in self._stages and "write" not in self._stages

    def _as_in_window(self, scene):
        """What bakes that a window waits for are asked, beside what those without one are."""
        shows = self._in_window and scene.cairn.overlay.newest
        return {"beside": self._in_window, "keeps_earlier": True, "shows": shows}

    def _begin(self, context, in_window=False):
        checkpoints.tidy(context.scene)
        super()._begin(context, in_window)
        steps = keeping(self._scene_name, self._steps, getattr(self, "variant", ""))
        self._steps = running["steps"] = after_recording(self._scene_name, steps)

    def cancel(self, context):
        self.variant = ""  # its file is being closed
        StepsOperator.cancel(self, context)

    def _fail(self, context, error):
        return self._recorded(StepsOperator._fail(self, context, error))

    def _has_changed(self):
        """Whether the scene was changed for this bake, which alone would make the step of Undo."""
        return bool(getattr(self, "variant", ""))

    def _recorded(self, answer):
        """Give Undo the change for a bake that does not come: else it would take back what was done before, too."""
        if self._has_changed() and bpy.ops.ed.undo_push.poll():
            bpy.ops.ed.undo_push(message="Use This One")
        return answer

    def _conclude(self, context, result):
        if result is None or not result.reports:
            self.report({"INFO"}, TEXT_OF_VARIANT if self._has_changed() else TEXT_OF_NOTHING)
            return self._recorded({"CANCELLED"})
        if result.error:
            show_error(context, SceneError(None, result.error), self._scene_name)
        if result.kept_earlier:
            offers = note_offers(context, self._scene_name, result.digest)
            self.report(
                {"ERROR" if result.error else "INFO"},
                kept_sentence(bpy.data.scenes[self._scene_name].cairn, result, offers),
            )
            redraw(context)
            return {"CANCELLED"}
        remember_check(context, self._scene_name, result.report)
        note_bake(context, self._scene_name)
        warned = any(note["level"] == "warning" for note in result.report["notes"])
        self.report({"ERROR" if result.error else "WARNING" if warned else "INFO"}, told(result.summary))
        return {"FINISHED"}


class CAIRN_OT_bake(BakeOperator, bpy.types.Operator):
    bl_idname = "cairn.bake"
    bl_label = "Bake"
    bl_description = (
        "Simulate the scene's rigid bodies and write their motion as keyframes of location and rotation. "
        "Unlike Bake to Keyframes, bodies stay rigid bodies, and Delete Bake brings earlier animation back"
    )
    # No REGISTER: the redo panel would bake again at every touch of a setting.
    bl_options = {"UNDO"}

    variant: StringProperty(
        name="Variant",
        description="Name the variant whose values the scene was given for this bake, which is kept as a take then",
        options={"HIDDEN", "SKIP_SAVE"},
    )

    @classmethod
    def description(cls, context, properties):
        texts = [cls.bl_description, *(["The present bake is replaced"] if context.scene.cairn.is_baked else [])]
        return ". ".join(map(tip_, texts))

    def _work(self, scene, settings):
        return bake_frames(scene, settings, checkpoints.plan_of(scene), **self._as_in_window(scene))


class CAIRN_OT_check_scene(StepsOperator, bpy.types.Operator):
    """List what a bake would simulate, and what it ignores or does differently from Blender"""

    bl_idname = "cairn.check_scene"
    bl_label = "Check Scene"
    bl_options = {"INTERNAL"}

    find_overlaps: BoolProperty(
        name="Find Overlaps",
        description="Search also for bodies that overlap at the start; the first time this may compile a part of the "
        "solver, which takes about 15 seconds, in the background",
        default=False,
    )

    @classmethod
    def description(cls, context, properties):
        if properties.find_overlaps:
            return tip_(
                "List what a bake would simulate and what it ignores, and search for bodies that overlap at the start, "
                "which takes a while the first time"
            )
        return tip_(cls.__doc__)

    _task = "A check"
    _hint = HINT_BEFORE_FRAMES

    def invoke(self, context, event):
        """A window shows progress if something may have to be compiled; the rest is done immediately."""
        return super().invoke(context, event) if self.find_overlaps else self.execute(context)

    def _work(self, scene, settings):
        return check_scene(scene, settings, self.find_overlaps)

    def _conclude(self, context, result):
        if result is None:
            self.report({"INFO"}, "Stopped; the scene has not been checked")
            return {"CANCELLED"}
        remember_check(context, self._scene_name, result)
        redraw(context)
        if any(note["text"] == NO_OVERLAPS.text for note in result["notes"]):
            self.report({"INFO"}, sentence(NO_OVERLAPS.text))
        return {"FINISHED"}


def note_bake(context, scene_name):
    """What was baked just now is up to date, and the buttons are those of it: nobody has to look first."""
    scene = bpy.data.scenes[scene_name]
    digest = scene_digest.unpacked(scene.cairn.ingredients)
    digest.pop("keyed", None)  # what the bake has keyed is no part of the scene
    note_state(context, scene_name, {"outdated": "", **checkpoints.offers_of(scene, digest)})


def note_offers(context, scene_name, digest):
    """Let the panel offer what the checkpoints that are there allow, of a scene with this digest; returns it."""
    offers = checkpoints.offers_of(bpy.data.scenes[scene_name], digest)
    status = json.loads(context.window_manager.cairn.status or "{}")
    known = {"outdated": status.get("outdated", "")} if status.get("scene") == scene_name else {}
    note_state(context, scene_name, {**known, **offers})
    return offers


def forget_offers(context):
    """Let the panel offer nothing of checkpoints until they are looked at again."""
    session = context.window_manager.cairn
    status = json.loads(session.status or "{}")
    session.status = json.dumps(
        {name: value for name, value in status.items() if name not in checkpoints.OFFERS}, sort_keys=True
    )


def note_state(context, scene_name, said):
    """Let the panel say of a scene what is known without a look; it keeps what it has said of its objects."""
    session = context.window_manager.cairn
    status = json.loads(session.status or "{}")
    notes = status.get("notes", []) if status.get("scene") == scene_name else []
    session.status = json.dumps({"scene": scene_name, "notes": notes, **said}, sort_keys=True)


def forget_note(context, text):
    """Take a note out of what a check and the last look have said: what it told has just been corrected."""
    session = context.window_manager.cairn
    for name in ("check", "status"):
        known = json.loads(getattr(session, name) or "{}")
        notes = known.get("notes", [])
        kept = [note for note in notes if note[1] != text]
        if len(kept) < len(notes):
            setattr(session, name, json.dumps(known | {"notes": kept}, sort_keys=True))


def remember_check(context, scene_name, report):
    """Keep what the panel says of a scene: numbers and grouped notes of a bake's report."""
    context.window_manager.cairn.check = json.dumps({"scene": scene_name, **_check_of_report(report)})


def _check_of_report(report):
    notes = [note_of(entry) for entry in report["notes"]]
    return {
        "bodies": report["totals"]["bodies"],
        "moving": report["totals"]["moving"],
        "joints": report["totals"]["joints"],
        "notes": grouped_notes(notes),
        "held": [[note.object_name, note.others[0]] for note in notes if note.text.endswith(HELD)],
    }


def check_of(context):
    """What is known of the present scene: of the last check in this session, or of its bake, with which it is kept."""
    facts = context.scene.cairn
    check = json.loads(context.window_manager.cairn.check or "{}")
    if check.get("scene") == context.scene.name:
        return check
    return _check_of_bake(facts.report) if facts.is_baked and facts.report and running is None else {}


@functools.lru_cache(maxsize=4)
def _check_of_bake(text):
    """Of a bake's report as it is stored; drawing asks this."""
    report = json.loads(text)
    return _check_of_report(report) if "notes" in report else {}


class CAIRN_OT_stop(bpy.types.Operator):
    """Stop what is running, as ESC does: a bake keeps the frames that it has so far"""

    bl_idname = "cairn.stop"
    bl_label = "Stop"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context):
        return running is not None and running["can_stop"] and not running["stop"]

    def execute(self, context):
        running["stop"] = True
        return {"FINISHED"}


class CAIRN_OT_use_scene_range(bpy.types.Operator):
    """Give the Rigid Body World's cache, and with it the bake, the frames that the scene plays"""

    bl_idname = "cairn.use_scene_range"
    bl_label = "Use Scene Range"
    bl_options = {"UNDO", "INTERNAL"}

    @classmethod
    def poll(cls, context):
        return running is None and context.scene.rigidbody_world is not None

    def execute(self, context):
        scene, cache = context.scene, context.scene.rigidbody_world.point_cache
        cache.frame_end = max(cache.frame_end, scene.frame_end)  # Blender keeps the start before the end
        cache.frame_start, cache.frame_end = scene.frame_start, scene.frame_end
        scene.update_tag()  # Blender reports no change of what a script has set
        return {"FINISHED"}


class CAIRN_OT_clear_error(bpy.types.Operator):
    """Clear the message that tells why the last bake did not work"""

    bl_idname = "cairn.clear_error"
    bl_label = "Clear Error"
    bl_options = {"INTERNAL"}

    def execute(self, context):
        clear_error(context.window_manager.cairn)
        return {"FINISHED"}


class CAIRN_OT_copy_system_information(bpy.types.Operator):
    """Copy versions, places and the last error to the clipboard, for a bug report"""

    bl_idname = "cairn.copy_system_information"
    bl_label = "Copy System Information"
    bl_options = {"INTERNAL"}

    def execute(self, context):
        text = system_information()
        facts, session = context.scene.cairn, context.window_manager.cairn
        for title, value in (("Last bake", facts.summary), ("Error", session.error), ("Report", facts.report)):
            if value:
                text += "\n" + ": ".join((title, value))
        context.window_manager.clipboard = text
        self.report({"INFO"}, "Copied to the clipboard")
        return {"FINISHED"}


def is_baked(context):
    """Whether the scene carries a bake, or the active object does (appended from a baked scene). Drawing asks this."""
    active = context.view_layer.objects.active
    return context.scene.cairn.is_baked or (active is not None and active.cairn.is_baked)


def redraw(context):
    """Redraw the regions that hold Cairn's panels; a 3D view itself may be slow to draw."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            shown_in = {"PROPERTIES": "WINDOW", "VIEW_3D": "UI", "PREFERENCES": "WINDOW"}.get(area.type)
            for region in area.regions:
                if region.type == shown_in:
                    region.tag_redraw()


def stop_running(context):
    """Clean up after a bake: steps, timer, status bar, panels. Also when the extension is switched off meanwhile."""
    global running
    if running is None:
        return
    ended, running = running, None
    ended["steps"].close()
    if ended["timer"] is not None:
        context.window_manager.event_timer_remove(ended["timer"])
        if context.workspace is not None:
            context.workspace.status_text_set(None)
    redraw(context)


CLASSES = (
    CAIRN_OT_bake,
    CAIRN_OT_check_scene,
    CAIRN_OT_stop,
    CAIRN_OT_use_scene_range,
    CAIRN_OT_clear_error,
    CAIRN_OT_copy_system_information,
)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    stop_running(bpy.context)
    for cls in reversed(CLASSES):
        with contextlib.suppress(RuntimeError):
            bpy.utils.unregister_class(cls)
