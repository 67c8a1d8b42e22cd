"""A joint that holds all."""

from dataclasses import dataclass

from .axis import LOCKED
from .coordinates import Coordinate, held_point, turns


@dataclass(frozen=True)
class Fixed:
    """The two bodies move as one."""

    may_end_at_world = True

    def coordinates(self) -> list[Coordinate]:
        """Six, locked."""
        return [*held_point(), *turns((LOCKED, LOCKED, LOCKED))]
