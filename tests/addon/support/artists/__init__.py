"""Scene settings as artists produce them, by what they are about; see ``kinds``."""

from . import families, motion, names_and_places, shapes, time_and_files  # noqa: F401  (they fill KINDS)
from .kinds import KINDS, LAST, Kind, plain

__all__ = ["KINDS", "LAST", "Kind", "plain"]
