"""Sounds of hits in the sequencer: a copy of a chosen sound where a body is hit, as loud as it is hit hard.

What hits is told by the curves that a bake leaves on bodies (``impact_curves.py``).
"""

from typing import Any, NamedTuple

import numpy as np

from . import fcurves, impact_curves

# What was placed here is known by this property, and replaced by the next time.
MARK = "cairn_impact"
# A hit is so many times as hard as what the frame before has had; what lies or slides is none.
RISE = 2.0
# Of the strongest hit: a sound that is less loud is not heard.
LEAST_VOLUME = 0.02
# A sequencer has so many channels.
CHANNELS = 128


class Hit(NamedTuple):
    """A hit, in a frame, with its strength [N s]."""

    frame: int
    strength: float


def hits_in(start: int, impacts: np.ndarray, threshold: float) -> list[Hit]:
    """Frames in which a body is hit at least so hard, and much harder than in the frame before.

    Parameters
    ----------
    start : int
        The first frame.
    impacts : float [n]
        Of frames one after the other [N s].
    threshold : float
        [N s]
    """
    before = np.concatenate([[0.0], impacts[:-1]])
    found = np.flatnonzero((impacts >= threshold) & (impacts > 0.0) & (impacts >= RISE * before))
    return [Hit(start + int(frame), float(impacts[frame])) for frame in found]


def impacts_of_object(ob: Any) -> tuple[int, np.ndarray] | None:
    """The first frame and the values of an object's impact curve; None if it has none."""
    data = ob.animation_data
    bag = None if data is None else fcurves.channelbag(data.action, data.action_slot)
    curve = None if bag is None else bag.fcurves.find(impact_curves.PATH)
    if curve is None:
        return None
    first, last = (round(frame) for frame in curve.range())
    return first, np.array([curve.evaluate(float(frame)) for frame in range(first, last + 1)])


def channels_for(hits: list[Hit], length: int, first: int) -> list[tuple[Hit, int]]:
    """Hits in the order of their frames, each with the lowest channel from ``first`` on that is free so long."""
    ends: list[int] = []
    placed = []
    for hit in sorted(hits):
        free = next((place for place, end in enumerate(ends) if end <= hit.frame), len(ends))
        if first + free > CHANNELS:
            continue
        if free == len(ends):
            ends.append(0)
        ends[free] = hit.frame + max(length, 1)
        placed.append((hit, first + free))
    return placed


def strips_of(editor: Any) -> Any:
    """The strips of a sequencer; before Blender 5.0 they are called sequences, too."""
    return editor.strips if hasattr(editor, "strips") else editor.sequences


def is_placed(strip: Any) -> bool:
    """Whether a strip was placed here."""
    return strip.type == "SOUND" and bool(strip.get(MARK))


def length_of(strip: Any) -> int:
    """Frames of a strip; Blender 5.3 has other names."""
    return int(strip.duration if hasattr(strip, "left_handle") else strip.frame_final_duration)


def start_of(strip: Any) -> int:
    """Its first frame."""
    return int(strip.left_handle if hasattr(strip, "left_handle") else strip.frame_final_start)


def place(editor: Any, source: Any, hits: list[Hit], remove_unused) -> int:
    """Place copies of a sound strip; those that were placed before go.

    Parameters
    ----------
    editor : bpy.types.SequenceEditor
    source : sound strip
    hits : list of Hit
    remove_unused : callable (sound)
        Called with a data-block that Blender has loaded once more, and that nothing uses.

    Returns
    -------
    int
        How many were placed.
    """
    strips = strips_of(editor)
    for strip in [strip for strip in strips if is_placed(strip) and strip != source]:
        strips.remove(strip)
    sound, length = source.sound, length_of(source)
    first = max((strip.channel for strip in strips), default=0) + 1
    strongest = max((hit.strength for hit in hits), default=0.0)
    placed = [hit for hit in hits if hit.strength >= LEAST_VOLUME * strongest]
    placed = channels_for(placed, length, first)
    for hit, channel in placed:
        strip = strips.new_sound(name=source.name, filepath=sound.filepath, channel=channel, frame_start=hit.frame)
        loaded = strip.sound
        strip.sound = sound
        if loaded is not None and loaded != sound and loaded.users == 0:
            remove_unused(loaded)
        strip.volume = source.volume * hit.strength / strongest
        strip[MARK] = True
    return len(placed)
