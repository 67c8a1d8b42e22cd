"""A simulation in the middle, to go on from."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Checkpoint:
    """A simulation in the middle; it can be pickled.

    Attributes
    ----------
    frame : int
        Frames done.
    arrays : tuple
        What the simulation carries.
    """

    frame: int
    arrays: tuple
