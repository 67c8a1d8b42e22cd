"""Random jointed scenes of many families, each by Cairn and by Blender's Bullet in one run: what makes energy, what
opens, what it costs.

``families.py`` says what is drawn, from a family's name and a seed alone. Each scene becomes Blender objects with
Blender's own constraints, and both simulate those at their defaults, 24 frames a second, bodies awake. Poses are judged
alike, by the same code (``measures.py``).
"""

import sys
from statistics import median

from ..report import Claim, Report
from .families import FAMILIES, draw
from .measures import Outcome, outcome

CASES = tuple(FAMILIES)
_FRAMES, _FRAMES_QUICK = 240, 48
_SEEDS, _SEEDS_QUICK = range(4), range(1)
# Energy over the start, in all and in a frame, of the sum of m g reach; openings of the smallest body.
_GAIN, _GAIN_OF_FRAME, _OPENING = 1e-3, 1e-6, 1e-4
# Time over Bullet's: of a family's median file, of the worst; and the worst frame over a file's mean.
_TIME, _WORST_TIME, _WORST_FRAME = 2.0, 6.0, 5.0


def add_arguments(parser) -> tuple:
    """Add the options of this benchmark alone; returns their names."""
    own = parser.add_argument_group("joint_families")
    own.add_argument("--seeds", type=_seeds, metavar="A:B", help="seeds A to B - 1 of each family (default 0:4)")
    own.add_argument("--family", action="append", choices=FAMILIES, help="only this family; may be repeated")
    own.add_argument("--frames", type=int, metavar="N", help=f"frames of 1/24 s (default {_FRAMES})")
    own.add_argument("--without-bullet", action="store_true", help="Cairn alone")
    return "seeds", "family", "frames", "without_bullet"


def run(quick, plots, only=None, seeds=None, family=None, frames=None, without_bullet=False) -> Report:
    """Play the scenes, family by family; an interrupt ends it with what there is.

    Parameters
    ----------
    quick : bool
        One seed of each family, 48 frames.
    plots : None
        Not used.
    only, family : list of str, optional
        Families; without any all are played.
    seeds : range, optional
    frames : int, optional
    without_bullet : bool
    """
    seeds = seeds or (_SEEDS_QUICK if quick else _SEEDS)
    frames = frames or (_FRAMES_QUICK if quick else _FRAMES)
    rows, claims = [], []
    try:
        for name in [*(only or ()), *(family or ())] or FAMILIES:
            outcomes = []
            for seed in seeds:
                outcomes.append(outcome(f"{name} {seed}", draw(name, seed), frames, not without_bullet))
                print(_line(outcomes[-1]), file=sys.stderr, flush=True)
            rows.append(_row(name, outcomes))
            claims += _claims(name, outcomes)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
    notes = [
        "Energy over the start of the sum of m g reach, where nothing drives; openings of the smallest moving body's "
        "longest side, after any frame; processor times of the frames."
    ]
    return Report(name="joint_families", rows=rows, claims=claims, notes=notes)


def _seeds(text):
    first, last = text.split(":")
    return range(int(first), int(last))


def _line(found: Outcome):
    led = f", fastest {found.speed:.1f} times what is led" if found.speed else ""
    bullet = "" if found.bullet_ms is None else f", Bullet {found.bullet_ms:.2f} ms, open {found.bullet_opening:.1e}"
    return (
        f"{found.name}: {found.bodies} bodies, {found.joints} joints, gain {found.gain:.1e}, in a frame "
        f"{found.gain_of_frame:.1e}, open {found.opening:.1e}, missed {found.missed}, {found.ms:.2f} ms, worst frame "
        f"{found.worst_ms:.1f}{led}{bullet}{', NOT FINITE' if not found.finite else ''}"
    )


def _row(name, outcomes):
    timed = [found for found in outcomes if found.bullet_ms is not None]
    row = {
        "family": name,
        "files": len(outcomes),
        "gain": max(found.gain for found in outcomes),
        "gain in a frame": max(found.gain_of_frame for found in outcomes),
        "opening": max(found.opening for found in outcomes),
        "missed": sum(found.missed for found in outcomes),
        "ms, median": median(found.ms for found in outcomes),
        "worst frame over mean": max(found.worst_ms / found.ms for found in outcomes),
    }
    if timed:
        row["Bullet: opening"] = max(found.bullet_opening for found in timed)
        row["time over Bullet's, median"] = median(found.ms / found.bullet_ms for found in timed)
        row["worst"] = max(found.ms / found.bullet_ms for found in timed)
    return row


def _claims(name, outcomes):
    row = _row(name, outcomes)
    asked = [
        ("energy over the start", "gain", _GAIN, False),
        ("energy in a frame", "gain in a frame", _GAIN_OF_FRAME, False),
        ("opening", "opening", _OPENING, False),
        ("solves missed", "missed", 0, False),
        ("time over Bullet's, median", "time over Bullet's, median", _TIME, True),
        ("time over Bullet's, worst", "worst", _WORST_TIME, True),
        ("worst frame over mean", "worst frame over mean", _WORST_FRAME, True),
    ]
    return [
        Claim(f"{name}: {what}", f"{most:g} or less", row[key], row[key] <= most, *((True,) if timed else ()))
        for what, key, most, timed in asked
        if key in row
    ]
