"""Draws time over overlap of what moves: ``python -m benchmarks.gauntlet.pareto PICTURE NAME=FILE ...``.

Each FILE is what ``python -m benchmarks gauntlet --json`` wrote, of one quality of Cairn. A dot is a scene: the time of
a frame over Rapier's in the same run, and the deepest overlap after the first second, as a share of a body's size.
Rapier's own dots lie at the time 1. A cross marks the medians.
"""

import json
import sys
from pathlib import Path

import numpy as np

_COLORS = ("#1f77b4", "#2ca02c", "#9467bd", "#8c564b")


def draw(picture, files) -> None:
    """Draw the scenes of several runs.

    Parameters
    ----------
    picture : Path
        Written; its suffix says what kind of picture it is.
    files : dict of str to Path
        By the name that the picture gives each.
    """
    from matplotlib.figure import Figure

    axes = (figure := Figure(figsize=(7.0, 4.2), layout="constrained")).add_subplot()
    rapier = None
    for color, (name, path) in zip(_COLORS, files.items(), strict=False):
        details = json.loads(path.read_text())["details"]
        scenes = [scene for scene in details if not scene["stands"] and scene["Rapier"]]
        times = [scene["time ratio"] for scene in scenes]
        depths = [max(scene["Cairn"]["overlap"], 1e-7) for scene in scenes]
        rapier = rapier or [scene["Rapier"]["overlap"] for scene in scenes]
        _draw_dots(axes, times, depths, color, f"Cairn, {name}")
    _draw_dots(axes, np.ones(len(rapier)), rapier, "#d62728", "Rapier 0.36.1")
    axes.set(
        xscale="log", yscale="log", xlabel="time of a frame, Rapier's = 1", ylabel="deepest overlap, body's size = 1"
    )
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(picture)


def _draw_dots(axes, times, depths, color, label):
    axes.scatter(times, depths, 14, color, alpha=0.5, linewidths=0, label=label)
    axes.scatter([np.median(times)], [np.median(depths)], 120, color, marker="P", edgecolors="black")


if __name__ == "__main__":
    words = [word.partition("=") for word in sys.argv[2:]]
    draw(Path(sys.argv[1]), {name: Path(path) for name, _, path in words})
