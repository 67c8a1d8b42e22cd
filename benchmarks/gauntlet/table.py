"""Scenes' outcomes -> a row for each family, and claims on counts."""

from statistics import median

import numpy as np

from ..report import Claim

# What stands still goes no farther than this share of its size; within a tenth it has at least not fallen.
STILL, STANDING = 1e-4, 0.1
# A frame's residual above this says that a solve left more than it was given.
LARGE_RESIDUAL = 2.0
# Claims on what moves: deepest overlap, and growth of energy, as shares of the bodies' size and of m g size.
MOST_OVERLAP, MOST_ENERGY = 1e-2, 1e-3


def row_of(family: str, outcomes: list[dict]) -> dict:
    """The table's row of scenes that all stand or all move.

    Parameters
    ----------
    family : str
    outcomes : list of dict
        As ``outcome`` of ``gauntlet`` makes them; at least one.
    """
    cairn = [outcome["Cairn"] for outcome in outcomes]
    rapier = [outcome["Rapier"] for outcome in outcomes if outcome["Rapier"]]
    row = {"family": family, "scenes": len(outcomes), "bodies": median(outcome["bodies"] for outcome in outcomes)}
    if outcomes[0]["stands"]:
        row |= {
            "still": _share(outcomes, "Cairn", STILL),
            "Rapier still": _share(outcomes, "Rapier", STILL),
            "Rapier within 0.1": _share(outcomes, "Rapier", STANDING),
            "drift": _worst(cairn, "drift"),
            "Rapier drift": _worst(rapier, "drift"),
        }
    row |= {
        "overlap": _worst(cairn, "overlap"),
        "Rapier overlap": _worst(rapier, "overlap"),
        "energy": _worst(cairn, "energy"),
        "Rapier energy": _worst(rapier, "energy"),
    }
    if not outcomes[0]["stands"]:
        row |= {"lost": sum(each["lost"] for each in cairn), "Rapier lost": sum(each["lost"] for each in rapier)}
    frames = sum(outcome["frames"] for outcome in outcomes)
    row |= {
        "missed %": 100.0 * sum(outcome["missed"] for outcome in outcomes) / frames,
        "residual > 2": sum(outcome["large residuals"] for outcome in outcomes),
        "ms": median(each["ms"] for each in cairn),
    }
    ratios = [outcome["time ratio"] for outcome in outcomes if outcome["Rapier"]]
    for column, share in (("time ratio: median", 50), ("95 %", 95), ("worst", 100)):
        row[column] = float(np.percentile(ratios, share)) if ratios else None
    return row


def claims_of(family: str, outcomes: list[dict]) -> list[Claim]:
    """What is claimed of a family: counts of scenes."""
    cairn, scenes = [outcome["Cairn"] for outcome in outcomes], len(outcomes)

    def claim(what, count):
        return Claim(f"{family}: {what}", f"{scenes} of {scenes}", f"{count} of {scenes}", count == scenes)

    if outcomes[0]["stands"]:
        return [claim(f"still within {STILL:g} of a size", _count_still(outcomes, "Cairn", STILL))]
    return [
        claim(f"overlap <= {MOST_OVERLAP:g} of a size", sum(each["overlap"] <= MOST_OVERLAP for each in cairn)),
        claim(f"energy grows <= {MOST_ENERGY:g} m g size", sum(each["energy"] <= MOST_ENERGY for each in cairn)),
        claim("nothing falls through the floor", sum(each["lost"] == 0 for each in cairn)),
    ]


def summaries(outcomes: list[dict]) -> list[dict]:
    """A row of all that stands, and one of all that moves, where there are scenes of several families."""
    rows = []
    for stands, name in ((True, "all that stands"), (False, "all that moves")):
        chosen = [outcome for outcome in outcomes if outcome["stands"] == stands]
        if len({outcome["family"] for outcome in chosen}) > 1:
            rows.append(row_of(name, chosen))
    return rows


def _share(outcomes, engine, most) -> str:
    """How many scenes an engine holds as still as this, beside the play that they have."""
    judged = [outcome for outcome in outcomes if outcome[engine]]
    return f"{_count_still(judged, engine, most)} of {len(judged)}" if judged else ""


def _count_still(outcomes, engine, most) -> int:
    return sum(outcome[engine]["drift"] <= most + outcome["play"] for outcome in outcomes)


def _worst(measures, what):
    return max((each[what] for each in measures), default=None)
