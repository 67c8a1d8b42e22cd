"""The same scenes simulated by Blender's Bullet and by Cairn, in one process: how still they stand, and what it costs.

Each scene becomes Blender objects with native rigid bodies (as ``cairn demo`` makes them), and both simulate those:
24 fps, no damping, no deactivation, friction 0.5 of a pair. Blender at its defaults (10 substeps, 10 iterations), and
at 20 substeps of 100 iterations; Cairn at its defaults.

Bullet's time is the first playback less a second one, which reads the cache; Cairn's is everything from poses to
report. Both are processor times, on one thread, taken in turns, as medians: other work on the machine counts little.
Penetration of both is measured by Cairn's collision on their poses after every frame, over all pairs.
"""

import math
import sys
from dataclasses import dataclass, replace
from statistics import median
from time import process_time

import bpy
import numpy as np

from cairn.addon.demo import FRAME_START, build_scene
from cairn.addon.read.scene_export import export_scene
from cairn.solver_core import scenes
from cairn.solver_core.diagnostics import deepest_overlap
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.simulation import Simulation

from .gauntlet.named import bricks
from .report import Claim, Report

# Substeps and iterations: Blender's defaults, and what it needs for what stands to hardly creep.
DEFAULTS = (10, 10)
CAREFUL = (20, 100)
# Cairn stands still where no body goes farther than this share of its size in 10 s.
_STILL = 1e-4
# Largest overlap in a pile as a share of a box: while it moves and at rest.
_OVERLAP_MOVING, _OVERLAP_AT_REST = 5e-3, 1e-3
# A pile rests from the frame on from which all but one body in a hundred go less far than this share of their size a
# frame: one may still roll on it or away from it.
_RATIO_OF_REST, _SHARE_OF_REST = 1e-2, 0.99
# From this on a drift is a collapse, as a share of the bodies' size.
_COLLAPSE = 0.5
_SEED_OF_BRICKS = 1000


@dataclass(frozen=True)
class Case:
    """A scene, and how it is played.

    Attributes
    ----------
    name : str
    make : callable
    frames : int
    stands : bool
        Whether it is to stand still; else it is to fall into a heap.
    careful : bool
        Whether Bullet is also played at 20 substeps of 100 iterations.
    repetitions : int
        Of the timed playbacks.
    deactivation : bool
        Whether bodies at rest may sleep, at Blender's own thresholds.
    share_of_time : float
        Cairn may take so many times Bullet's time.
    """

    name: str
    make: object
    frames: int = 240
    stands: bool = True
    careful: bool = True
    repetitions: int = 5
    deactivation: bool = False
    share_of_time: float = 0.5


def _bricks() -> scenes.Scene:
    """The gauntlet's bricks as a scene of the core: a wall of 200 that overlap at the start, and four balls."""
    bodies = []
    for number, body in enumerate(bricks(np.random.default_rng(_SEED_OF_BRICKS)).bodies):
        (part,) = body.parts
        bodies.append(
            scenes.SceneBody(
                name=f"Body {number:03d}",
                shape=Box(part.numbers) if part.kind == "box" else Sphere(*part.numbers),
                mass=body.mass,
                position=body.position,
                orientation=body.orientation,
                kind=BodyKind.STATIC if body.static else BodyKind.DYNAMIC,
                linear_velocity=body.velocity,
            )
        )
    return scenes.Scene("bricks", "Four balls hit a wall", bodies, 120, (0.0, -20.0, 6.0), (0.0, 0.0, 2.0))


_CASES = (
    Case("stack10", scenes.stack),
    Case("stack10 x100", scenes.heavy_stack),
    Case("stack10 x1000", lambda: scenes.heavy_stack(1000.0)),
    Case("stack30", lambda: scenes.stack(30)),
    Case("wall174", scenes.standing_wall, repetitions=3),
    Case("wall174, deactivation", scenes.standing_wall, careful=False, repetitions=3, deactivation=True),
    Case("pyramid120", scenes.pyramid, repetitions=3),
    Case("cards1", lambda: scenes.card_house(1)),
    Case("cards3", scenes.card_house),
    Case("cards5", lambda: scenes.card_house(5)),
    Case("arch25", scenes.arch),
    Case("arch101", lambda: scenes.arch(101), repetitions=3),
    Case("pile1000", lambda: scenes.pile(1000), stands=False, careful=False, repetitions=1, share_of_time=0.3),
    Case("bricks200", _bricks, frames=120, stands=False, careful=False, repetitions=3, share_of_time=1.0),
)
CASES = {case.name: case for case in _CASES}
_QUICK = ("stack10", "stack10 x100", "cards3", "arch25")
_QUICK_FRAMES = 48


def run(quick, plots, only=None) -> Report:
    """Play every scene; ``quick`` takes four small ones for two seconds, ``only`` names scenes."""
    cases = [CASES[name] for name in only or (_QUICK if quick else CASES)]
    if quick:
        cases = [replace(case, frames=_QUICK_FRAMES, careful=False, repetitions=3) for case in cases]
    rows, claims = [], []
    for case in cases:
        row, case_claims = _measure(case)
        print(row, file=sys.stderr, flush=True)  # a full run takes a while
        rows.append(row)
        claims += case_claims
    return Report(
        name="blender_bullet",
        rows=rows,
        claims=claims,
        notes=[
            f"Blender {bpy.app.version_string}. Processor time a frame, the first one included; drift is the largest "
            "distance of any body from its start, at any frame.",
            "Overlaps are in thousandths of the smallest body; a pile is 'at rest' once 99 of 100 bodies go less "
            "than a hundredth of their size a frame.",
        ],
    )


def _measure(case):
    """A row of the table, and the claims on it."""
    description = _describe(case)
    scene = _blender_scene(case, description)
    export = export_scene(scene)
    if any(any(body.linear_velocity) for body in description.bodies):
        # Blender leads these to their start by keys; the core knows start velocities.
        export = replace(export, model=description.build_model(), default_sample=None)
    times = {"Bullet": [], "Bullet, careful": [], "Cairn": []}
    motions = {}
    CairnMotion(export).play(2)  # compiles
    for _ in range(case.repetitions):
        times["Bullet"].append(time_of_bullet(scene, DEFAULTS))
        simulated = CairnMotion(export)
        times["Cairn"].append(simulated.play(case.frames))
        motions["Cairn"] = simulated.motion
    motions["Bullet"] = motion_of_bullet(scene, export, DEFAULTS)
    if case.careful:
        times["Bullet, careful"].append(time_of_bullet(scene, CAREFUL))
        motions["Bullet, careful"] = motion_of_bullet(scene, export, CAREFUL)
    row = {"scene": case.name, "bodies": int(_moving(export).sum())}
    for name in times:
        ours = name == "Cairn"
        milliseconds = 1e3 * median(times[name]) / case.frames if times[name] else None
        row[f"{name}: ms"] = milliseconds
        row["drift mm" if ours else f"{name}: drift mm"] = _drift_text(export, motions.get(name))
        row["overlap" if ours else f"{name}: overlap"] = _overlap(export, motions[name]) if name in motions else None
    row["time, Cairn over Bullet"] = median(
        ours / theirs for ours, theirs in zip(times["Cairn"], times["Bullet"], strict=True)
    )
    row["missed"] = simulated.missed
    return row, _claims(case, export, motions, row)


def _claims(case, export, motions, row):
    """What is to hold of a scene."""
    ratio = row["time, Cairn over Bullet"]
    most = case.share_of_time
    timed = Claim(f"{case.name}: time over Bullet's", f"{most} or less", ratio, ratio <= most, True)
    if case.stands:
        ours, theirs = (_largest_drift(export, motions[name]) for name in ("Cairn", "Bullet"))
        still = Claim(f"{case.name}: drift over size", f"{_STILL:g}; Bullet {theirs:.2g}", ours, ours <= _STILL)
        return [still, timed]
    moving, at_rest = _overlap(export, motions["Cairn"]), _overlap_at_rest(export, motions["Cairn"])
    theirs = [_overlap(export, motions["Bullet"]), _overlap_at_rest(export, motions["Bullet"])]
    limits = [1e3 * _OVERLAP_MOVING, 1e3 * _OVERLAP_AT_REST]
    if _overlap(export, motions["Cairn"][:1]) > limits[0]:
        # what is set up with overlaps, and hit, is here for its time
        return [timed]
    return [
        Claim(f"{case.name}: overlap", f"{limits[0]:g}; Bullet {theirs[0]:.3g}", moving, moving <= limits[0]),
        Claim(f"{case.name}: at rest", f"{limits[1]:g}; Bullet {theirs[1]:.3g}", at_rest, at_rest <= limits[1]),
        timed,
    ]


def _describe(case):
    """The scene, its floor half a metre thick: Bullet's boxes need a thickness."""
    description = case.make()
    floor = description.bodies[0]
    half_width = floor.shape.half_extents[0]
    floor = replace(floor, shape=Box((half_width, half_width, 0.25)), position=(0.0, 0.0, -0.25))
    return replace(description, bodies=[floor, *description.bodies[1:]], frame_count=case.frames)


def _blender_scene(case, description):
    """The scene as an animator would have set it up."""
    scene = build_scene(description)
    for body in description.bodies:
        scene.objects[body.name].rigid_body.use_deactivation = case.deactivation
    return scene


class CairnMotion:
    """One simulation of an exported scene.

    Attributes
    ----------
    motion : list of (position, orientation)
        Poses of the user frames at the start and after every frame.
    missed : int
        Solves that ended above their tolerance.
    """

    def __init__(self, export):
        self.simulation = Simulation(export.model, SimulationOptions(frame_rate=export.frame_rate, threads=1))
        self.frame_input = export.default_sample and export.default_sample.frame_input
        self.motion = [self.simulation.poses()]
        self.missed = 0

    def play(self, frames):
        """Simulate, and return the processor time of it [s]."""
        seconds = 0.0
        for _ in range(frames):
            started = process_time()
            report = self.simulation.advance_frame(self.frame_input)
            poses = self.simulation.poses()
            seconds += process_time() - started
            self.motion.append(poses)
            self.missed += report.missed
        return seconds


def time_of_bullet(scene, settings):
    """Processor time of the simulation: of a first playback less that of a second one [s]."""
    _forget_cache(scene, settings)
    return _time_of_playback(scene) - _time_of_playback(scene)


def _time_of_playback(scene):
    started = process_time()
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
    return process_time() - started


def motion_of_bullet(scene, export, settings):
    """Poses of all bodies at the start and after every frame, as the list of (position, orientation)."""
    world = scene.rigidbody_world
    if (world.substeps_per_frame, world.solver_iterations) != settings:
        _forget_cache(scene, settings)
    objects = [scene.objects[body.object_name] for body in export.bodies]
    motion = []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        matrices = [ob.matrix_world for ob in objects]
        motion.append(
            (
                np.array([matrix.translation for matrix in matrices]),
                np.array([matrix.to_quaternion() for matrix in matrices]),
            )
        )
    return motion


def _forget_cache(scene, settings):
    """Set Bullet's substeps and iterations; a change of these empties its cache at the next first frame."""
    world = scene.rigidbody_world
    world.substeps_per_frame, world.solver_iterations = settings[0] + 1, settings[1]
    world.substeps_per_frame = settings[0]
    scene.frame_set(FRAME_START)


def _moving(export):
    return export.model.initial_state.kind == BodyKind.DYNAMIC


def _drifts(export, motion):
    """Largest distance of each moving body from its start [m]."""
    path = np.array([position for position, _ in motion])[:, _moving(export)]
    return np.linalg.norm(path - path[0], axis=2).max(axis=0)


def _largest_drift(export, motion):
    """As a share of the bodies' sizes."""
    return float((_drifts(export, motion) / export.model.arrays.size[_moving(export)]).max())


def _drift_text(export, motion):
    """In millimetres, or that it fell."""
    if motion is None:
        return None
    fallen = _largest_drift(export, motion) > _COLLAPSE
    return "falls" if fallen else f"{1e3 * _drifts(export, motion).max():.3g}"


def _overlap(export, motion):
    """Deepest overlap of any pair after any frame, in thousandths of the smallest moving body."""
    size = export.model.arrays.size[_moving(export)].min()
    return 1e3 * max(deepest_overlap(export.model, *poses) for poses in motion) / size


def _overlap_at_rest(export, motion):
    """As ``_overlap``, once the bodies rest; infinite if they do not."""
    moving = _moving(export)
    rest = rest_begins(np.array([position for position, _ in motion])[:, moving], export.model.arrays.size[moving])
    return math.inf if rest is None else _overlap(export, motion[rest:])


def rest_begins(path, sizes):
    """The frame from which on a pile rests, or None.

    Parameters
    ----------
    path : float64 [frame_count + 1, body_count, 3]
        Positions [m].
    sizes : float64 [body_count]
        [m].
    """
    ways = np.linalg.norm(np.diff(path, axis=0), axis=2)
    moves = np.quantile(ways / sizes, _SHARE_OF_REST, axis=1) > _RATIO_OF_REST
    last = int(np.flatnonzero(moves)[-1]) if moves.any() else -1
    return None if last == len(moves) - 1 else last + 1
