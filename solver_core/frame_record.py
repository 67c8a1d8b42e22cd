"""What a frame reports: written by its kernel, read by Python once a frame."""

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from .contacts import AT_ONCE
from .kernel import subkernel

# The stages of a step, in their order; the names stand in reports and benchmarks.
STAGES = (
    "apply_forces",
    "broad_phase",
    "narrow_phase",
    "match_contacts",
    "build_rows",
    "find_islands",
    "solve_contacts",
    "solve_velocities",
    "integrate",
    "fall_asleep",
)

# Entries of FrameRecord.counts; WORST takes two.
SUBSTEPS, CONTACTS, ISLANDS, SLEEPING, ITERATIONS, MISSED, LOST, WORST = range(8)
# Entries of FrameRecord.measures; ENERGY takes two.
RESIDUAL, PENETRATION, ENERGY = range(3)


class FrameRecord(NamedTuple):
    """What a frame reports.

    Attributes
    ----------
    nanoseconds : int64 [len(STAGES)]
    counts : int64 [9]
        SUBSTEPS done; CONTACTS, ISLANDS and SLEEPING bodies at the end; ITERATIONS of all solves; how many of those
        that count (``go_back_to_solves``) MISSED their tolerance; the first body whose motion is no longer finite
        (LOST), -1 without one; the two bodies of the contact with the largest residual, -1 without one (WORST).
    measures : float64 [4]
        Largest RESIDUAL of these solves, relative to its problem's scale; deepest overlap that a substep started with
        (PENETRATION [m]); kinetic and potential ENERGY of the dynamic bodies at the end [J].
    """

    nanoseconds: np.ndarray
    counts: np.ndarray
    measures: np.ndarray


def allocate_record() -> FrameRecord:
    """A record of nothing."""
    record = FrameRecord(
        nanoseconds=np.zeros(len(STAGES), np.int64), counts=np.zeros(9, np.int64), measures=np.zeros(4)
    )
    clear_record(record)
    return record


def clear_record(record: FrameRecord) -> None:
    """Make it one of nothing again."""
    for array in record:
        array.fill(0)
    record.counts[LOST:] = -1


@subkernel(inline=True)
def solves_of(record):
    """How well the solves of a frame went so far."""
    counts, measures = record.counts, record.measures
    return counts[MISSED], counts[WORST], counts[WORST + 1], measures[RESIDUAL]


@subkernel(inline=True)
def go_back_to_solves(record, earlier):
    """Forget how well later solves went; of a substep, the bodies go where the solution of its last look leads them.

    Parameters
    ----------
    record : FrameRecord
        Written.
    earlier : tuple
        ``solves_of`` before the solves that do not count.
    """
    counts, measures = record.counts, record.measures
    counts[MISSED], counts[WORST], counts[WORST + 1], measures[RESIDUAL] = earlier


@subkernel(inline=True)
def record_contacts(record, contacts, islands):
    """Note the contacts and islands of a substep, and how deep it found overlaps.

    Parameters
    ----------
    record : FrameRecord
        Written.
    contacts, islands : ContactArrays, IslandArrays
        Read.
    """
    counts, measures = record.counts, record.measures
    counts[CONTACTS] = contacts.count[0]
    counts[ISLANDS] = islands.count[0]
    for contact in range(contacts.count[0]):
        overlap = -contacts.gap[contact] - contacts.drift[contact, AT_ONCE]
        measures[PENETRATION] = max(measures[PENETRATION], overlap)


@dataclass(slots=True)
class FrameReport:
    """What happened in a frame.

    Attributes
    ----------
    frame : int
        Frames done so far, this one included.
    substeps : int
        Steps that the frame took.
    contacts, islands : int
        Of bodies that are awake, at the frame's end.
    sleeping : int
        Bodies that sleep at the frame's end.
    iterations : int
        Of all solves of the frame.
    missed : int
        Solves that ended above their tolerance; where contacts are looked for several times in a substep, of the last.
    fallbacks : int
        Solves that a second method had to take over (``auto``).
    residual : float
        Largest of these solves, relative to its problem's scale.
    worst : str
        Where that was: "Cube on Floor"; empty without contacts.
    max_penetration : float
        Deepest overlap that a substep started with [m].
    kinetic_energy, potential_energy : float
        Of the dynamic bodies at the frame's end [J].
    nanoseconds : list of int
        Time of each of ``STAGES``.
    """

    frame: int
    substeps: int
    contacts: int
    islands: int
    sleeping: int
    iterations: int
    missed: int
    fallbacks: int
    residual: float
    worst: str
    max_penetration: float
    kinetic_energy: float
    potential_energy: float
    nanoseconds: list[int]

    @property
    def seconds(self) -> dict[str, float]:
        """Time by stage."""
        return {stage: 1e-9 * time for stage, time in zip(STAGES, self.nanoseconds, strict=True)}

    def as_dict(self) -> dict:
        """Plain values, for JSON."""
        names = [entry.name for entry in fields(self) if entry.name != "nanoseconds"]
        return {name: getattr(self, name) for name in names} | {"seconds": self.seconds}
