"""A ball joint."""

from dataclasses import dataclass

from .coordinates import Coordinate, held_point


@dataclass(frozen=True)
class Point:
    """The two bodies turn freely about a common point."""

    may_end_at_world = True

    def coordinates(self) -> list[Coordinate]:
        """Three translations, locked."""
        return held_point()
