"""The list of scenes that are played: a decorator adds each with its name, and says what CI leaves to nightly runs."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class PlayedScene:
    """A scene and how it is played.

    Attributes
    ----------
    name : str
    make : callable
        Builds it in a new file and returns its truths.
    nightly : bool
        Left out in ordinary runs.
    fails : str
        Why a truth fails today; empty if all hold.
    deeper : str
        Why bodies overlap by more than in Bullet's play; empty if they do not.
    view : tuple of float
        Direction from which pictures are taken.
    """

    name: str
    make: Callable
    nightly: bool
    fails: str
    deeper: str
    view: tuple


SCENES: dict[str, PlayedScene] = {}


def played(nightly=False, fails="", deeper="", view=(0.5, -1.0, 0.45)):
    """Add a scene under its function's name."""

    def add(make):
        SCENES[make.__name__] = PlayedScene(make.__name__, make, nightly, fails, deeper, view)
        return make

    return add
