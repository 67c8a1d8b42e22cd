"""Texts in panels: labels do not wrap by themselves, and what stands beside a value may be cut."""

import re
import textwrap

# Average width of a letter of the panel's font at a scale of 1 [pixels].
LETTER_WIDTH = 7.5
# Narrower panels have no room for the longest names of properties beside their values [pixels at a scale of 1].
WIDTH_FOR_NAMES = 260
# The space between a number and its unit.
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:%|[kMG]?N(?: m)?|m/s|mm|cm|m|s|min|h|MB)(?![\w/]))")


def draw_lines(layout, context, text, icon, margin=3):
    """A text of several lines, behind an icon if there is one; nothing for no text."""
    column = layout.column(align=True)
    for i, line in enumerate(wrapped(context, text, margin)):
        column.label(text=line, icon="BLANK1" if i and icon != "NONE" else icon, translate=False)


def is_narrow(context):
    """Whether a panel has no room for names beside values, nor for buttons beside each other."""
    return panel_width(context) < WIDTH_FOR_NAMES


def wrapped(context, text, margin):
    """Lines of a text that fit into the panel, with units beside their numbers; labels do not wrap by themselves."""
    kept = _BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", text)
    width = max(12, int(panel_width(context) / LETTER_WIDTH) - margin)
    lines = textwrap.wrap(kept, width, break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def panel_width(context):
    """Width of the region that is drawn, at a scale of 1 [pixels]."""
    scale = context.preferences.system.ui_scale or 1.0  # 0 without a window
    return (context.region.width if context.region is not None else 300) / scale
