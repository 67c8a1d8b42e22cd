"""What stands, stands still: how far any body of a still scene goes in ten seconds and in ten minutes, at three scales.

Scales multiply all lengths of a scene; gravity and the time of a step stay. So a card house of 1 cm falls ten times as
fast as one of 1 m, if it falls. Each scene is played with bodies kept awake, which asks for all of its contacts all the
time, and at the defaults of a bake, where bodies at rest sleep.

Drift is the largest distance of any body from its start at any frame, the worst body's; the share is of its own size.
"""

import sys
from dataclasses import replace
from time import process_time

import numpy as np

from cairn.solver_core import scenes
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.shapes import Box
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation
from cairn.solver_core.warm_up import warm_up

from .report import Claim, Report

CASES = {
    "stack10": scenes.stack,
    "stack10 x100": scenes.heavy_stack,
    "stack10 x1000": lambda: scenes.heavy_stack(1000.0),
    "stack30": lambda: scenes.stack(30),
    "wall174": scenes.standing_wall,
    "pyramid120": scenes.pyramid,
    "cards1": lambda: scenes.card_house(1),
    "cards3": scenes.card_house,
    "cards5": lambda: scenes.card_house(5),
    "arch25": scenes.arch,
    "arch101": lambda: scenes.arch(101),
}
_QUICK = ("stack10", "cards1", "arch25")
SCALES = (1.0, 0.01, 100.0)
# Played time [s]: at scale 1, and at the others; and where the first drift is read.
LONG, SHORT, QUICK_SECONDS = 600.0, 10.0, 2.0
# The most that a body may go: a share of its size in SHORT, and a distance in LONG [m].
MOST_SHARE, MOST_LONG = 1e-4, 1e-3
RATE = 24.0


def run(quick, plots, only=None) -> Report:
    """Play the scenes; ``quick`` takes three of them for two seconds, awake; ``only`` names scenes."""
    names = only or (_QUICK if quick else tuple(CASES))
    long, short = (QUICK_SECONDS, QUICK_SECONDS) if quick else (LONG, SHORT)
    warm_up()
    rows, claims = [], []
    for name in names:
        for scale in SCALES:
            for sleeping in (False,) if quick else (False, True):
                row, case_claims = _measure(name, scale, sleeping, long if scale == 1.0 else short, short)
                print(row, file=sys.stderr, flush=True)  # a full run takes an hour
                rows.append(row)
                claims += case_claims
    return Report(
        name="stillness",
        rows=rows,
        claims=claims,
        notes=[f"The default method and friction at {RATE:g} frames/s, {SimulationOptions().substeps} substeps."],
    )


def _measure(name, scale, sleeping, seconds, first_seconds):
    """A row of the table, and the claims on it."""
    model = scaled(CASES[name](), scale).build_model()
    simulation = Simulation(model, SimulationOptions(frame_rate=RATE, sleeping=sleeping))
    moving = model.initial_state.kind == BodyKind.DYNAMIC
    size, start = model.arrays.size[moving], simulation.poses()[0][moving]
    largest, first_drift = np.zeros(len(start)), None
    missed, residual, spent = 0, 0.0, 0.0
    for frame in range(round(seconds * RATE)):
        started = process_time()
        report = simulation.advance_frame()
        position = simulation.poses()[0]
        spent += process_time() - started
        missed += report.missed > 0
        residual = max(residual, report.residual)
        largest = np.maximum(largest, np.linalg.norm(position[moving] - start, axis=1))
        if frame + 1 == round(first_seconds * RATE):
            first_drift = largest.copy()
    worst, share = int(np.argmax(largest)), float((first_drift / size).max())
    row = {
        "scene": name,
        "scale": scale,
        "asleep": "may be" if sleeping else "never",
        "ms a frame": 1e3 * spent / round(seconds * RATE),
        f"mm in {first_seconds:g} s": 1e3 * float(first_drift.max()),
        "share of size": share,
        "played s": seconds,
        "mm in all": 1e3 * float(largest.max()),
        "worst": [body for body, is_moving in zip(model.names, moving, strict=True) if is_moving][worst],
        "frames that missed": missed,
        "residual": residual,
    }
    what = f"{name} x {scale:g}, {'may sleep' if sleeping else 'awake'}"
    claims = [Claim(f"{what}: drift over size in {first_seconds:g} s", MOST_SHARE, share, share <= MOST_SHARE)]
    if seconds == LONG:
        drift = float(largest.max())
        claims.append(Claim(f"{what}: drift in {seconds:g} s [m]", MOST_LONG, drift, drift <= MOST_LONG))
    return row, claims


def scaled(scene, factor):
    """The scene with all lengths times ``factor``; gravity stays.

    Parameters
    ----------
    scene : Scene
        Of boxes and hulls at rest.
    factor : float

    Returns
    -------
    Scene
    """
    bodies = [
        replace(body, shape=_scaled_shape(body.shape, factor), position=tuple(np.multiply(body.position, factor)))
        for body in scene.bodies
    ]
    return replace(scene, bodies=bodies)


def _scaled_shape(shape, factor):
    if isinstance(shape, Box):
        return Box(tuple(np.multiply(shape.half_extents, factor)))
    return ConvexHull.from_points(factor * shape.vertices)
