"""Notes of a kind become one, which says of how many objects it is true and from which number to which."""

import pytest

from cairn.addon.read.notes import Note, grouped_notes, note_dictionary, note_of


def group(*texts, others=()):
    """The one text of notes on A, B, ...; of each note the names of the others in it."""
    notes = [
        Note("info", chr(65 + place), text, tuple(name for name in others if name in text))
        for place, text in enumerate(texts)
    ]
    ((level, text, names),) = grouped_notes(notes)
    assert (level, names) == ("info", [note.object_name for note in notes])
    return text


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["is flat: a plate 0.02 thick", "is flat: a plate 0.003 thick"], "is flat: a plate 0.003 to 0.02 thick"),
        (["has 1,200 faces", "has 90 faces", "has 4,000 faces"], "has 90 to 4,000 faces"),
        (["is 1e-05 off", "is 2 off"], "is 1e-05 to 2 off"),
        (["moves by -3 m", "moves by 2 m"], "moves by -3 to 2 m"),
        (["lies 5 % off (2 pairs)", "lies 5 % off (7 pairs)"], "lies 5 % off (2 to 7 pairs)"),
        (["is alone in 7.", "is alone in 9."], "is alone in 7 to 9."),
        (["is open"], "is open"),
        (["stays at 3 m"], "stays at 3 m"),
    ],
)
def test_numbers_become_a_range(texts, expected):
    assert group(*texts) == expected


def test_other_objects_are_named_and_counted():
    """The first is named; numbers in names are no numbers."""
    others = ("Floor", "Cube.014", "Cube 2")
    texts = [f"starts {depth} deep in {name}" for depth, name in zip((0.3, 0.1, 0.2), others, strict=True)]
    assert group(*texts, others=others) == "starts 0.1 to 0.3 deep in Floor and 2 more"
    assert group(texts[1], texts[1], others=others) == texts[1]


@pytest.mark.parametrize(
    "texts",
    [
        ("is simulated in frames 5 to 17 only", "is simulated in frames 8 to 22 only"),
        ("is a part of Table.001", "is a part of Table.002"),
        ("Mass is animated", "Friction is animated"),
        ("is open", "is closed"),
    ],
)
def test_what_differs_otherwise_stays_apart(texts):
    """Ranges are not widened into other ranges, and names that nobody has told are words."""
    notes = [Note("info", "A", text) for text in texts]
    assert [text for _, text, _ in grouped_notes(notes)] == list(texts)


def test_warnings_come_first_and_an_object_counts_once():
    notes = [Note("info", "A", "is 3 off"), Note("warning", "B", "is 3 off"), Note("warning", "B", "is 4 off")]
    assert grouped_notes(notes) == [("warning", "is 3 to 4 off", ["B"]), ("info", "is 3 off", ["A"])]


def test_a_report_keeps_a_note():
    note = Note("warning", "A", "starts 0.1 deep in B", ("B",))
    assert note_of(note_dictionary(note)) == note
