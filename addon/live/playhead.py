"""Where the timeline goes on when it plays farther than there are frames."""


def frame_to_play(frame: int, simulated: tuple[int, int], first_played: int) -> int:
    """The frame that is to be shown: the present one, or the first, from where what there is plays again.

    Parameters
    ----------
    frame : int
        That the timeline shows.
    simulated : (int, int)
        First and newest frame with poses.
    first_played : int
        With which the timeline begins anew by itself: that of the scene, or of its preview range.
    """
    first, newest = simulated
    begin = max(first, first_played)
    return begin if begin <= newest < frame else frame
