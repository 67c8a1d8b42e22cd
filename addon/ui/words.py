"""Texts in the language that Blender's preferences choose.

Blender itself looks up names, descriptions, and what layouts and reports are given as it stands. What is put together
goes through ``iface_`` (panels), ``rpt_`` (reports, why something cannot be pressed) or ``tip_`` (tooltips) first, and
gets its numbers then: each is a whole sentence, with a form of its own where one and many differ. What readers and
bakes say is also for the command line and for reports of a bake, so that it is made in English; ``told`` looks up its
form, in which numbers, durations, names, paths and what is quoted are holes: "is flat: simulated as a plate {} thick".
A sentence that ends in a list has the form of what stands before it, "Out of date: {}", and one for each entry.
"""

import re

import bpy
from bpy.app.translations import pgettext_iface as iface_
from bpy.app.translations import pgettext_rpt as rpt_
from bpy.app.translations import pgettext_tip as tip_

from ..read.notes import NUMBER

__all__ = ["busy_text", "iface_", "kept_sentence", "names_told", "objects_in", "remark_text", "rpt_", "tip_", "told"]


# Holes of a form beside numbers: durations, which have forms of their own, places of files, and what is quoted.
_DURATION = re.compile(r"(?<![\w.])(?:\d+ h \d+ min|\d+ min \d+ s|\d+(?:\.\d+)? s)\b")
_PLACE = r"(?<!\w)(?:/|[A-Za-z]:\\)[^\s:,;)]+"
_QUOTED = r"(?<!\w)'[^']+'(?!\w)"
# The end of a list that is too long.
_MORE = re.compile(r"(.*) and ([\d,]+) more")
# Why nothing else can be begun, and what is said of a click, while each of these is at work.
_AT_WORK = {
    "A bake": ("A bake is running; ESC stops it", "Only looking around works while a bake runs; ESC stops it"),
    "A check": ("A check is running; ESC stops it", "Only looking around works while a check runs; ESC stops it"),
    "A wedge": ("A wedge is running; ESC stops it", "Only looking around works while a wedge runs; ESC stops it"),
    "A settling": ("Bodies are settling; ESC stops it", "Only looking around works while bodies settle; ESC stops it"),
    "A deletion": ("A deletion is running", "Only looking around works while a deletion runs"),
    "A take": ("A take is being written", "Only looking around works while a take is written"),
    "A change of what is shown": (
        "What the scene shows is being changed",
        "Only looking around works while what the scene shows is changed",
    ),
    "A preparation": (
        "The solver is being prepared; ESC stops it",
        "Only looking around works while the solver is prepared; ESC stops it",
    ),
}


def told(text: str, names=()) -> str:
    """A text that was made elsewhere, sentence by sentence.

    Parameters
    ----------
    text : str
    names : iterable of str
        Of objects in the text.
    """
    spelt = [rf"(?<!\w){re.escape(name)}(?!\w)" for name in sorted(names, key=len, reverse=True) if name]
    holes = re.compile("|".join([*spelt, _QUOTED, _PLACE, _DURATION.pattern, NUMBER.pattern]))
    return ". ".join(_told_sentence(sentence, holes) for sentence in text.split(". "))


def _told_sentence(sentence, holes):
    if "{" in sentence or "}" in sentence:  # of a name, and no hole
        return sentence
    found = _filled(sentence, holes)
    return _told_list(sentence, holes) if found is None else found


def _filled(sentence, holes, *more):
    """A sentence's form in the language of the window, with its values and more of them; None if there is none."""
    form = holes.sub("{}", sentence) + "".join("{}" for _ in more)
    found = iface_(form)
    if found == form:
        return None
    return found.format(*(_told_duration(value) for value in holes.findall(sentence)), *more)


def _told_list(sentence, holes):
    """A sentence that ends in a list: its head, and each entry by itself."""
    head, colon, rest = sentence.partition(": ")
    if not colon:
        return sentence
    more = _MORE.fullmatch(rest)
    entries = [_filled(entry, holes) or entry for entry in (more[1] if more else rest).split(", ")]
    listed = iface_(", ").join(entries)
    if more:
        listed = iface_("{} and {} more").format(listed, more[2])
    return _filled(head + colon, holes, listed) or sentence


def _told_duration(value):
    if _DURATION.fullmatch(value) is None:
        return value
    return iface_(NUMBER.sub("{}", value)).format(*NUMBER.findall(value))


def names_told(text: str) -> list[str]:
    """Names of objects that stand at the end of a list's entries: "Out of date: mass of Box, friction of 3 bodies"."""
    entries = (entry.rpartition(" of ")[2] for entry in text.partition(": ")[2].split(", "))
    return [entry for entry in entries if entry in bpy.data.objects]


def objects_in(text: str) -> list[str]:
    """Names of the file's objects that a text has, wherever they stand in it."""
    return [ob.name for ob in bpy.data.objects if ob.name in text]


def busy_text(task: str) -> str:
    """Why nothing else can be begun while a task, such as "A bake", runs."""
    return rpt_(_AT_WORK[task][0])


def remark_text(task: str) -> str:
    """Why a click or a key does nothing while a task runs."""
    return iface_(_AT_WORK[task][1])


def kept_sentence(facts, result, offers) -> str:
    """That a bake which has ended early leaves the one before it in place, and what can be gone on with."""
    texts = [
        rpt_("Failed" if result.error else "Stopped"),
        rpt_("The bake of frames {:d} to {:d} stays").format(facts.baked_start, facts.baked_end),
    ]
    offer = offers["checkpoint"]
    if offer and offer["fits"] and offer["frame"] < offer["end"]:
        # the bake that stays may be the same motion, and longer
        is_new = offer["frame"] == result.checkpoint_frame
        text = rpt_("Continue goes on with the new one from frame {:d}")
        if not is_new:
            text = rpt_("Continue goes on from frame {:d}")
        texts.append(text.format(offer["frame"]))
    return ". ".join(texts)
