"""What the panel and the status bar say of an error, until it is cleared, a bake begins or its cause is gone."""

import json
import re

import bpy

from ..read.faults import SceneError
from ..read.notes import Note, grouped_notes
from ..read.scene_digest import packed, scene_digest
from ..runtime import RuntimeUnavailable
from .words import objects_in, told


def is_expected(error):
    """Whether an error is one that a user can do something about, and says what."""
    # SimulationError and the core's ValueErrors cannot be named before Numba is known to be there.
    return isinstance(error, (SceneError, RuntimeUnavailable)) or type(error).__name__ == "SimulationError"


def one_line(error):
    """An error's message as the window shows it: a sentence, unless it begins with an object's name."""
    line = " ".join(str(error).split()) or type(error).__name__
    return sentence(line) if isinstance(error, SceneError) and error.object_name is None else line


def told_error(error):
    """The same in the language of the window."""
    line = one_line(error)
    return told(line, [getattr(error, "object_name", None) or "", *objects_in(line)])


def sentence(text):
    """A text that begins with a capital: notes and errors stand behind an object's name or "cairn:" elsewhere.

    One that begins with a path, as ``object:Ball.rigid_body.mass``, begins as that is spelt.
    """
    if re.match(r"\w+[:.]\w", text):
        return text
    return text[:1].upper() + text[1:]


def show_error(context, error, scene_name):
    """Keep an error in the panel until it is cleared, the next bake begins or its cause is gone (watch.py)."""
    session, scene = context.window_manager.cairn, bpy.data.scenes.get(scene_name)
    tell_error(session, error)
    about_scene = isinstance(error, SceneError) and scene is not None and scene.rigidbody_world is not None
    session.error_digest = packed(scene_digest(scene)) if about_scene else ""


def tell_error(session, error):
    """What the panel says of an error: one line, the object that it is about, and all faults of a scene by kind."""
    session.error = one_line(error)
    session.error_object = getattr(error, "object_name", None) or ""
    faults = [Note("warning", fault.object_name, fault.message) for fault in getattr(error, "faults", ())]
    session.faults = json.dumps(grouped_notes(faults)) if len(faults) > 1 else ""


def clear_error(session):
    session.error = session.error_object = session.faults = ""
