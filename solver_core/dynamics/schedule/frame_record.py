"""What a frame's kernel notes of it: times, counts and measures, of which ``report`` makes the frame's report."""

from typing import NamedTuple

import numpy as np

from ...compiled.clock import now
from ...compiled.kernel import subkernel
from .stage_table import STAGES


class FrameRecord(NamedTuple):
    """Times, counts and measures of a frame.

    Attributes
    ----------
    stage_started : int64 [1]
        When the present stage began [ns].
    nanoseconds : int64 [len(STAGES)]
        Time of each stage.
    substeps : int64 [1]
        Done so far.
    detection_passes : int64 [1]
        Of the substeps done so far.
    contacts, islands : int64 [1]
        Of the last substep.
    sleeping : int64 [1]
        Bodies that sleep at the end.
    iterations : int64 [1]
        Of all solves.
    missed : int64 [1]
        Solves, of those that count (``restore_solve_quality``), that ended above their tolerance.
    in_small_steps : int64 [1]
        Islands, of the substeps, that moved in small steps instead.
    residual : float64 [1]
        The largest of these solves, relative to its problem's scale.
    worst_bodies : int64 [2]
        The bodies of the contact where that was; -1 without one.
    stands : int64 [1]
        1: nothing moves any more in this frame.
    not_finite : int64 [1]
        The first body whose motion is no longer finite; -1 without one.
    penetration : float64 [1]
        Deepest overlap that a substep started with [m].
    energy : float64 [2]
        Kinetic and potential, of the dynamic bodies at the end [J].
    """

    stage_started: np.ndarray
    nanoseconds: np.ndarray
    substeps: np.ndarray
    detection_passes: np.ndarray
    contacts: np.ndarray
    islands: np.ndarray
    sleeping: np.ndarray
    iterations: np.ndarray
    missed: np.ndarray
    in_small_steps: np.ndarray
    residual: np.ndarray
    worst_bodies: np.ndarray
    stands: np.ndarray
    not_finite: np.ndarray
    penetration: np.ndarray
    energy: np.ndarray


# Fields of floats, fields of more than one number, and what an empty record holds where that is not 0.
_FLOATS = ("residual", "penetration", "energy")
_LENGTHS = {"nanoseconds": len(STAGES), "worst_bodies": 2, "energy": 2}
_EMPTY = {"worst_bodies": -1, "not_finite": -1}


def allocate_record() -> FrameRecord:
    """An empty record. Its fields are slices of two arrays, so that Python need not go through them one by one."""
    counts = [name for name in FrameRecord._fields if name not in _FLOATS]
    record = FrameRecord(**_slices(counts, np.int64), **_slices(_FLOATS, float))
    clear_record(record)
    return record


def _slices(names, kind) -> dict:
    """Arrays by name, side by side in one."""
    ends = np.cumsum([_LENGTHS.get(name, 1) for name in names])
    return dict(zip(names, np.split(np.zeros(ends[-1], kind), ends[:-1]), strict=True))


def clear_record(record: FrameRecord) -> None:
    """Empty a record."""
    record.substeps.base.fill(0)
    record.residual.base.fill(0.0)
    for name, empty in _EMPTY.items():
        getattr(record, name).fill(empty)


def counts_of(record: FrameRecord) -> list[int]:
    """The fields from ``substeps`` to ``in_small_steps``, which hold one number each, in their order."""
    first = 1 + len(STAGES)
    return record.substeps.base[first : first + 8].tolist()


@subkernel
def start_clock(record):
    """Begin the first stage."""
    record.stage_started[0] = now()


@subkernel
def end_stage(record, stage):
    """Add the time since the last stage ended to this one.

    Parameters
    ----------
    record : FrameRecord
        Written.
    stage : int64
        Of ``stage_table``.
    """
    time = now()
    record.nanoseconds[stage] += time - record.stage_started[0]
    record.stage_started[0] = time


@subkernel(inline=True)
def solve_quality(record):
    """How well the solves of a frame went so far, for ``restore_solve_quality``."""
    worst = record.worst_bodies
    return record.missed[0], record.in_small_steps[0], worst[0], worst[1], record.residual[0]


@subkernel(inline=True)
def restore_solve_quality(record, earlier):
    """Forget how well later solves went; of a substep, the bodies go where the last detection pass leads them.

    Parameters
    ----------
    record : FrameRecord
        Written.
    earlier : tuple
        ``solve_quality`` before the solves that do not count.
    """
    worst = record.worst_bodies
    record.missed[0], record.in_small_steps[0], worst[0], worst[1], record.residual[0] = earlier


@subkernel(inline=True)
def record_solves(record, solves, islands):
    """Add how the solves of all islands ended.

    Parameters
    ----------
    record : FrameRecord
        Written.
    solves, islands : IslandSolveArrays, IslandArrays
        Read.
    """
    for island in range(islands.count[0]):
        record.iterations[0] += solves.iterations[island]
        record.missed[0] += solves.missed[island]
        record.in_small_steps[0] += solves.in_small_steps[island]
        if solves.worst_a[island] >= 0 and not solves.residual[island] <= record.residual[0]:
            record.residual[0] = solves.residual[island]
            record.worst_bodies[0] = solves.worst_a[island]
            record.worst_bodies[1] = solves.worst_b[island]


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
    record.contacts[0] = contacts.count[0]
    record.islands[0] = islands.count[0]
    for contact in range(contacts.count[0]):
        overlap = -contacts.gap[contact] - contacts.unrelaxed_gap[contact]
        record.penetration[0] = max(record.penetration[0], overlap)
