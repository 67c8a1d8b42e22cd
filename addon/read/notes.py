"""Notes on a scene, and notes of a kind as one: how many objects it is about, and from which number to which.

90 notes such as "Card.014: is flat: simulated as a plate 0.003 thick" make "is flat: simulated as a plate 0.003 to 0.02
thick" of 90 objects.
"""

import re
from dataclasses import dataclass

# A number that stands alone, not within a name or a word.
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?(?![\w]|[.,]\d)")
# Numbers that are a range already are no one's to widen.
_RANGE = re.compile(r"\d to \d")


@dataclass(frozen=True)
class Note:
    """Something that the user should know before baking.

    Attributes
    ----------
    level : {"info", "warning"}
    object_name : str or None
    text : str
        Without the object's name; equal but for numbers and ``others`` for all objects with the same reason.
    others : tuple of str
        Names of other objects in the text.
    """

    level: str
    object_name: str | None
    text: str
    others: tuple[str, ...] = ()


def note_dictionary(note: Note) -> dict:
    """A note as reports hold it."""
    return {"level": note.level, "object": note.object_name, "text": note.text, "others": list(note.others)}


def note_of(entry: dict) -> Note:
    """The note that a report holds."""
    return Note(entry["level"], entry["object"], entry["text"], tuple(entry["others"]))


def grouped_notes(notes) -> list[tuple[str, str, list[str]]]:
    """Notes of a kind as one: (level, text, object names), warnings first, otherwise in order.

    Of a kind are texts that differ in numbers and other objects alone; the text says from which number to which.
    """
    groups: dict[tuple[str, str], list[tuple[Note, list[str]]]] = {}
    for note in notes:
        form, values = _form(note)
        groups.setdefault((note.level, form), []).append((note, values))
    ordered = sorted(groups.items(), key=lambda item: item[0][0] != "warning")
    return [(level, _filled(form, members), _names(members)) for (level, form), members in ordered]


def _form(note):
    """The text with a mark for each name of another object and each number, and what stood there."""
    names = "|".join(re.escape(name) for name in sorted(note.others, key=len, reverse=True))
    pieces = re.split(f"({names})", note.text) if names else [note.text]
    form, values = "", []
    for piece in pieces:
        if piece in note.others:
            form, values = form + "\1", [*values, piece]
        elif _RANGE.search(note.text):
            form += piece
        else:
            form, values = form + NUMBER.sub("\0", piece), [*values, *NUMBER.findall(piece)]
    return form, values


def _filled(form, members):
    """A form's text with the range of its numbers, and the first of the names."""
    columns = zip(*(values for _, values in members), strict=True)
    filled = iter([_names_text(column) if column[0] in members[0][0].others else _range(column) for column in columns])
    return re.sub("[\0\1]", lambda _: next(filled), form)


def _names(members):
    return list(dict.fromkeys(note.object_name for note, _ in members if note.object_name is not None))


def _names_text(names):
    more = len(set(names)) - 1
    return f"{names[0]} and {more:,} more" if more else names[0]


def _range(values):
    """From the least to the largest, as the texts spell them: 0.003 to 0.02."""
    least, most = (choose(values, key=lambda text: float(text.replace(",", ""))) for choose in (min, max))
    return least if least == most else f"{least} to {most}"
