"""Where the timeline goes on when it plays farther than there are frames."""

import pytest

from cairn.addon.live.playhead import frame_to_play


@pytest.mark.parametrize(
    ("frame", "simulated", "first_played", "expected"),
    [
        (10, (1, 20), 1, 10),  # there is one
        (20, (1, 20), 1, 20),  # the newest
        (21, (1, 20), 1, 1),  # plays what there is again
        (21, (1, 20), 5, 5),  # from where it would by itself
        (21, (10, 20), 1, 10),  # from where there are any
        (31, (1, 20), 30, 31),  # nothing of what it plays is there yet
        (-3, (1, 20), -5, -3),  # before the start it shows the start
        (2, (1, 1), 1, 1),  # waits at the start
    ],
)
def test_the_timeline_plays_what_there_is(frame, simulated, first_played, expected):
    assert frame_to_play(frame, simulated, first_played) == expected
