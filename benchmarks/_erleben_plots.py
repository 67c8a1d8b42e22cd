"""Erleben 2013's Figures 1 to 6 with our methods, by Matplotlib."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np


def save_plots(folder: Path, figures: dict) -> None:
    """Save one picture a figure.

    Parameters
    ----------
    folder : Path
    figures : dict
        Name of a study -> what it gives for its plot.
    """
    plots = {
        "figure_1_fill": (_fill, "tables"),
        "figure_2_rates": (_rates, "rates"),
        "figure_3_strategies": (_rates, "strategies"),
        "figure_4_relaxation": (_relaxations, "relaxations"),
        "figure_5_times": (_times, "times"),
        "figure_6_warm_start": (_warm_starts, "warm_starts"),
        "over_determined": (_zero_eigenvalues, "zero_eigenvalues"),
    }
    for name, (draw, study) in plots.items():
        picture = draw(figures[study])
        picture.tight_layout()
        picture.savefig(folder / f"erleben2013_{name}.png", dpi=120)
        plt.close(picture)


def _fill(problems):
    """Which entries of the matrices are not zero."""
    picture, places = plt.subplots(1, 2, figsize=(9, 4.5))
    for place, (kind, lcp) in zip(places, problems.items(), strict=True):
        place.spy(lcp.sparse, markersize=0.6)
        place.set_title(f"{kind}, n = {lcp.size}")
    return picture


def _rates(curves):
    """Merit along the iterations, a panel a kind of problem."""
    picture, places = plt.subplots(1, 2, figsize=(10, 4))
    for place, (kind, methods) in zip(places, curves.items(), strict=True):
        for method, merits in methods.items():
            drawn = np.where(merits > 0.0, merits, np.nan)  # x' |w| is zero at the start x = 0
            place.semilogy(drawn, label=method, marker="." if len(merits) < 40 else None)
        _label(place, kind, "iterations", "merit")
    return picture


def _relaxations(curves):
    """Merit of PSOR along the iterations, a curve a lambda."""
    picture, place = plt.subplots(figsize=(6, 4))
    for value, merits in curves.items():
        place.semilogy(merits[1:], label=f"$\\lambda$ = {value}")
    _label(place, "PSOR on 1,000 pressures", "iterations", "$x^T |Ax + b|$")
    return picture


def _times(curves):
    """Seconds against size, both on logarithmic axes."""
    picture, places = plt.subplots(1, 2, figsize=(10, 4))
    for place, (kind, (sizes, methods)) in zip(places, curves.items(), strict=True):
        for method, seconds in methods.items():
            place.loglog(sizes, seconds, marker=".", label=method)
        _label(place, kind, "variables", "seconds an iteration; Lemke whole")
    return picture


def _warm_starts(bars):
    """How many problems took how many iterations, without and with the warm start."""
    tolerances = sorted({key[0] for key in bars}, reverse=True)
    picture, places = plt.subplots(1, len(tolerances), figsize=(10, 4))
    for place, tolerance in zip(places, tolerances, strict=True):
        groups = {key[1:]: iterations for key, iterations in bars.items() if key[0] == tolerance}
        labels = [f"{method}\n{'w' if sweeps else 'wo'}" for method, sweeps in groups]
        place.boxplot(list(groups.values()))
        place.set_xticks(np.arange(1, len(labels) + 1), labels)
        place.set_title(f"to a merit of {tolerance:g}")
        place.set_ylabel("iterations")
        place.grid(True)
    return picture


def _zero_eigenvalues(shares):
    """Share of problems that converge absolutely against the share of zero eigenvalues."""
    picture, place = plt.subplots(figsize=(6, 4))
    for method, points in shares.items():
        place.plot(*zip(*points, strict=True), marker=".", label=method)
    _label(place, "semidefinite, n = 100", "share of zero eigenvalues", "share converged to eq. 107")
    return picture


def _label(place, title, across, up):
    place.set_title(title)
    place.set_xlabel(across)
    place.set_ylabel(up)
    place.legend()
    place.grid(True)
