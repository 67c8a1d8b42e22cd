"""Random scenes of many families, each by Cairn and by Rapier in one run: what stands, what moves, what it costs.

``families.py`` says what is drawn, from a family's name and a seed alone. Nothing may be tuned on seeds that are then
shown: 0 to 999 are for tuning, 1000 to 1999 to show. Both engines are at their defaults, on one thread, with bodies
kept awake: Cairn with 24 frames a second, Rapier (``pip install rapier3d==0.36.1``) with 60 steps a second and the size
of the bodies as its length unit. Gravity is 9.81 m/s^2 and sizes are drawn from 1 cm to 10 m, as users have them.

Both motions are judged from poses and velocities alone, by the same code, which is neither engine's (``overlaps.py``,
``measures.py``). Drift is the largest distance of a body from its start in any frame, as a share of its longest side;
bodies that are not quite flat may go a little until they stand (``Scene.play``).
Overlap is the deepest of all frames as a share of the smaller body's side; of what moves, after the first second.
Energy is how far it grows beyond the start, over the sum of m g size; where bodies overlap at the start, beyond what it
is after the first second. Missed are the frames of which Cairn says that a solve missed its tolerance. Times are
processor times of the frames alone, ten of each engine in turn, after a frame that compiles; of Rapier, which works in
a thread of its own, they are that thread's. A scene's ratio is that of its mean times, and median, 95th percentile and
worst are over the scenes.
"""

import sys

from ..report import Report
from .cairn_engine import FRAME_RATE, QUALITIES, CairnEngine, options_of
from .families import FAMILIES, draw
from .measures import Judge, play
from .named import NAMED
from .rapier_engine import VERSION, RapierEngine
from .table import LARGE_RESIDUAL, claims_of, row_of, summaries

CASES = (*FAMILIES, *NAMED)
_FRAMES, _FRAMES_QUICK = 120, 48
_SEEDS, _SEEDS_QUICK = range(3), range(1)


def add_arguments(parser) -> tuple:
    """Add the options of this benchmark alone; returns their names."""
    own = parser.add_argument_group("gauntlet")
    own.add_argument("--seeds", type=_seeds, metavar="A:B", help="seeds A to B - 1 of each family (default 0:3)")
    own.add_argument("--family", action="append", choices=FAMILIES, help="only this family; may be repeated")
    own.add_argument("--scene", action="append", choices=NAMED, help="this scene instead; may be repeated")
    own.add_argument("--frames", type=int, metavar="N", help=f"frames of 1/24 s (default {_FRAMES})")
    own.add_argument("--quality", choices=QUALITIES, help="of Cairn (default: its own)")
    own.add_argument("--without-rapier", action="store_true", help="Cairn alone")
    return "seeds", "family", "scene", "frames", "quality", "without_rapier"


def run(
    quick, plots, only=None, seeds=None, family=None, scene=None, frames=None, quality=None, without_rapier=False
) -> Report:
    """Play the scenes, family by family; an interrupt ends it with what there is.

    Parameters
    ----------
    quick : bool
        One seed of each family, 48 frames.
    plots : None
        Not used.
    only : list of str, optional
        Families and named scenes, as ``family`` and ``scene`` together.
    seeds : range, optional
    family, scene : list of str, optional
        Without any all families are played, and no named scene.
    frames : int, optional
    quality : str, optional
        Of ``SimulationOptions``.
    without_rapier : bool
    """
    names = [*(only or ()), *(family or ()), *(scene or ())] or list(FAMILIES)
    seeds = seeds or (_SEEDS_QUICK if quick else _SEEDS)
    rows, claims, outcomes = [], [], []
    try:
        for name in names:
            of_family = []
            for seed in seeds:
                of_family.append(
                    outcome(draw(name, seed), frames or (_FRAMES_QUICK if quick else None), quality, without_rapier)
                )
                outcomes.append(of_family[-1])
                print(_line(of_family[-1]), file=sys.stderr, flush=True)
            rows.append(row_of(name, of_family))
            claims += claims_of(name, of_family)
            print(Report("", rows[-1:], []).text().strip(), file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print("interrupted: families that were not done are left out of the table", file=sys.stderr, flush=True)
    return Report(
        name="gauntlet",
        rows=[*rows, *summaries(outcomes)],
        claims=claims,
        notes=[
            f"Seeds {seeds.start} to {seeds.stop - 1}. Drift and overlap are worst ones, as shares of a body's size; "
            "energy is its largest growth, over m g size; ms is Cairn's median time of a frame.",
            f"The time ratio is Cairn's over Rapier's ({VERSION}, 60 Hz).",
        ],
        details=outcomes,
    )


def outcome(scene, frames=None, quality=None, without_rapier=False) -> dict:
    """Play one scene by both engines and measure it.

    Parameters
    ----------
    scene : Scene
    frames : int, optional
        Without it the scene's own, or 120.
    quality : str, optional
    without_rapier : bool

    Returns
    -------
    dict
        Plain values; "Cairn" and "Rapier" hold what ``Judge.measure`` returns.
    """
    frames = frames or scene.frames or _FRAMES
    engines = [CairnEngine(scene, options_of(quality))] + ([] if without_rapier else [RapierEngine(scene, FRAME_RATE)])
    motions = play(scene, engines, frames)
    judge = Judge(scene)
    measures = {engine.name: judge.measure(motion) for engine, motion in zip(engines, motions, strict=True)}
    return {
        "family": scene.family,
        "seed": scene.seed,
        "bodies": int(scene.dynamic.sum()),
        "size": scene.size,
        "stands": scene.stands,
        "play": scene.play,
        "frames": frames,
        "Cairn": measures["Cairn"],
        "Rapier": measures.get("Rapier"),
        "missed": sum(engines[0].missed),
        "large residuals": sum(residual > LARGE_RESIDUAL for residual in engines[0].residual),
        "largest residual": max(engines[0].residual, default=0.0),
        "worst ms": 1e3 * float(motions[0].seconds.max()),
        "time ratio": None if without_rapier else measures["Cairn"]["ms"] / measures["Rapier"]["ms"],
        **scene.notes,
    }


def _line(result) -> str:
    """A scene's outcome in one line."""
    parts = [f"{result['family']} {result['seed']}: {result['bodies']} bodies of {result['size']:.2g} m"]
    for name in ("Cairn", "Rapier"):
        if result[name]:
            shown = "drift overlap energy ms" if result["stands"] else "overlap energy ms"
            parts.append(f"{name} " + " ".join(f"{what} {result[name][what]:.2g}" for what in shown.split()))
    parts.append(f"missed {result['missed']} of {result['frames']}")
    if result["time ratio"]:
        parts.append(f"time ratio {result['time ratio']:.2f}")
    return "; ".join(parts)


def _seeds(text) -> range:
    """A:B as a range that is not empty."""
    first, _, last = text.partition(":")
    seeds = range(int(first), int(last))
    if not seeds:
        raise ValueError(f"{text} holds no seed")
    return seeds
