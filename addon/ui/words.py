"""Texts in the language that Blender's preferences choose.

Blender itself looks up names, descriptions, and what layouts and reports are given as it stands. What is put together
goes through ``iface_`` (panels), ``rpt_`` (reports, why something cannot be pressed) or ``tip_`` (tooltips) first, and
gets its numbers then. What readers and bakes say is also for the command line and for reports of a bake, so that it is
made in English; ``told`` looks up its form, in which numbers and names are holes: "is flat: simulated as a plate {}
thick".
"""

import re

from bpy.app.translations import pgettext_iface as iface_
from bpy.app.translations import pgettext_rpt as rpt_
from bpy.app.translations import pgettext_tip as tip_

from ..read.notes import NUMBER

__all__ = ["iface_", "is_busy_text", "rpt_", "tip_", "told"]


def told(text: str, names=()) -> str:
    """A text that was made elsewhere, sentence by sentence.

    Parameters
    ----------
    text : str
    names : iterable of str
        Of objects in the text.
    """
    holes = "|".join([*(re.escape(name) for name in sorted(names, key=len, reverse=True) if name), NUMBER.pattern])
    return ". ".join(_told_sentence(sentence, holes) for sentence in text.split(". "))


def _told_sentence(sentence, holes):
    if "{" in sentence or "}" in sentence:  # of a name, and no hole
        return sentence
    form, values = re.sub(holes, "{}", sentence), re.findall(f"({holes})", sentence)
    found = iface_(form)
    return sentence if found == form else found.format(*values)


def is_busy_text(task: str, can_stop: bool) -> str:
    """Why nothing else can be begun while ``task``, such as "A bake", runs."""
    text = rpt_("{} is running; ESC stops it") if can_stop else rpt_("{} is running")
    return text.format(iface_(task))
