"""Fingerprints of trajectories: a change that is meant to change no motion gives the same list, to the bit.

One line a ready-made scene, a random scene, a method, and a scene of the gauntlet, of the joints' families and of the
fuzz: SHA-256 of poses, velocities and kinds after each frame, and the median time of a frame. Record it before a change
(``python -m benchmarks digests --json before.json``) and play the same again after it, in the same environment (another
processor, NumPy or LLVM may round otherwise): ``python -m benchmarks digests --against before.json``.
"""

import hashlib
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from cairn.solver_core import (
    BodyKind,
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    ModelBuilder,
    ModelError,
    ShapeError,
    Simulation,
    SimulationError,
    SimulationOptions,
    Sphere,
    TriangleMesh,
)
from cairn.solver_core.scenes import SCENES

from .fuzz import scenes as fuzz
from .gauntlet import families as gauntlet
from .gauntlet.cairn_engine import build_model
from .joint_families import families as joint_families
from .joint_families.measures import led
from .report import Claim, Report

_FRAMES, _FRAMES_QUICK = 48, 12
_RANDOM_SCENES, _RANDOM_SCENES_QUICK = 20, 5
_SEEDS_OF_GAUNTLET, _SEEDS_OF_JOINTS, _FUZZ_SCENES = (*range(6), *range(1000, 1003)), range(4), 200
# Each method once, on the first random scene, with the model of friction that it is made for.
_METHODS = (
    ("pgs", "box"),
    ("psor", "box"),
    ("nncg", "box"),
    ("nncg", "cone"),
    ("amgs", "box"),
    ("amsor", "box"),
    ("alm_newton", "cone"),
    ("fischer_newton", "polyhedral"),
    ("staggered", "polyhedral"),
    ("lemke", "polyhedral"),
    ("lemke_structural", "polyhedral"),
    ("lemke_reduced", "polyhedral"),
    ("auto", "box"),
    ("auto", "polyhedral"),
)


@dataclass(frozen=True)
class Case:
    """A scene: what makes its model, the options, and the assembly of which bodies are led along paths, if any are."""

    make_model: Callable
    options: dict = field(default_factory=dict)
    assembly: object = None


def add_arguments(parser) -> tuple:
    """Add the options of this benchmark alone; returns their names."""
    own = parser.add_argument_group("digests")
    own.add_argument("--against", type=Path, metavar="FILE", help="play what was recorded there, print what differs")
    return ("against",)


def run(quick, plots, only=None, against=None) -> Report:
    """All scenes and every method, or what was recorded; a claim fails where a scene moves otherwise than recorded.

    Parameters
    ----------
    quick : bool
        Fewer frames of the ready-made scenes and of five random ones.
    plots : None
        Not used.
    only : list of str, optional
        Names of scenes.
    against : Path, optional
        What ``--json`` has written: its scenes are played, with as many frames, and the table has those that differ.
    """
    if against:
        recorded = {row["scene"]: row for row in json.loads(against.read_text(encoding="utf-8"))["rows"]}
        chosen = [(name, row["frames"]) for name, row in recorded.items() if not only or name in only]
    else:
        names = only or [name for name in CASES if not quick or name in _QUICK]
        chosen = [(name, _FRAMES_QUICK if quick else _FRAMES) for name in names]
    rows = []
    for name, frame_count in chosen:
        rows.append(_row(name, frame_count) if name in CASES else _unplayed(name, "there is no such scene"))
        print(f"{name}: {rows[-1]['digest'][:16]}", file=sys.stderr, flush=True)
    if not against:
        return Report("digests", rows, [])
    return compared(recorded, rows)


def compared(recorded, rows) -> Report:
    """What differs from a recorded table: rows with both digests, and one claim on all.

    Parameters
    ----------
    recorded : dict of str to dict
        Scene -> row.
    rows : list of dict
    """
    others = [
        {"scene": row["scene"], "recorded": recorded[row["scene"]]["digest"], "now": row["digest"]}
        for row in rows
        if row["digest"] != recorded[row["scene"]]["digest"]
    ]
    alike = len(rows) - len(others)
    return Report("digests", others, [Claim("scenes that move as recorded", len(rows), alike, not others)])


def _row(name, frame_count) -> dict:
    case = CASES[name]
    try:
        simulation = Simulation(case.make_model(), SimulationOptions(threads=1, **case.options))
    except (ModelError, ShapeError) as error:  # some of the fuzz are to have no model
        return _unplayed(name, f"no model: {error}") | {"frames": frame_count}
    start = simulation.poses()
    digest, times = hashlib.sha256(), []
    for frame in range(1, frame_count + 1):
        given = led(case.assembly, start, frame) if case.assembly else None
        started = time.process_time()
        try:
            simulation.advance_frame(given)
        except SimulationError as error:
            return _unplayed(name, f"frame {frame}: {error}") | {"frames": frame_count}
        times.append(time.process_time() - started)
        digest.update(simulation.digest().encode())
    return {"scene": name, "frames": frame_count, "ms a frame": 1e3 * median(times), "digest": digest.hexdigest()}


def _unplayed(name, why):
    return {"scene": name, "frames": 0, "ms a frame": 0.0, "digest": why}


def random_model(seed, body_count=40):
    """Bodies of all shapes, sizes over a decade, that fall in a heap onto a floor, a mesh and a turning paddle."""
    random = np.random.default_rng(seed)
    builder = ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body(name="floor", kind=BodyKind.STATIC, shape=Box((20, 20, 0.5)), position=(0, 0, -0.5))
    if seed % 2:
        builder.add_body(name="terrain", kind=BodyKind.STATIC, shape=_terrain(random))
    if seed % 3 == 0:
        builder.add_body(
            name="paddle",
            kind=BodyKind.KINEMATIC,
            shape=Box((3.0, 0.2, 0.4)),
            position=(0, 0, 0.9),
            angular_velocity=(0, 0, 2.0),
        )
    for number in range(body_count):
        size = 0.2 * 10.0 ** random.uniform(0.0, 0.5 if seed % 5 else 1.0)
        builder.add_body(
            name=f"body {number}",
            shape=_shape(random, size),
            mass=size**3 * 10.0 ** random.uniform(0.0, 2.0),
            position=(*random.uniform(-2.0, 2.0, 2), 1.0 + 0.25 * number + 2.0 * size),
            orientation=_orientation(random),
            friction=random.uniform(0.2, 1.0),
            restitution=random.choice([0.0, 0.0, 0.7]),
            linear_velocity=random.normal(0.0, 1.0, 3),
            angular_velocity=random.normal(0.0, 2.0, 3),
        )
    return builder.build()


def _shape(random, size):
    a, b, c = size * random.uniform(0.4, 1.0, 3)
    kinds = (
        lambda: Box((a, b, c)),
        lambda: Box((a, b, c)),
        lambda: Sphere(a),
        lambda: Capsule(radius=0.5 * a, half_length=b),
        lambda: Cylinder(radius=a, half_height=b),
        lambda: Cone(radius=a, half_height=b),
        lambda: ConvexHull.from_points(size * random.normal(0.0, 0.6, (12, 3))),
    )
    return kinds[random.integers(len(kinds))]()


def _terrain(random, count=12, width=12.0):
    heights = random.uniform(0.0, 0.6, (count, count))
    places = np.linspace(-width / 2, width / 2, count)
    vertices = [(x, y, heights[i, j]) for i, x in enumerate(places) for j, y in enumerate(places)]
    faces = []
    for i in range(count - 1):
        for j in range(count - 1):
            corner = i * count + j
            faces += [(corner, corner + count, corner + 1), (corner + 1, corner + count, corner + count + 1)]
    return TriangleMesh(np.array(vertices), np.array(faces))


def _orientation(random):
    quaternion = random.normal(size=4)
    return quaternion / np.linalg.norm(quaternion)


def _scene_of_gauntlet(family, seed):
    return Case(lambda: build_model(gauntlet.draw(family, seed)), {"frame_rate": 24.0, "sleeping": False})


def _scene_of_joints(family, seed):
    assembly = joint_families.draw(family, seed)
    return Case(lambda: assembly.scene(family, 1).build_model(), {"frame_rate": 24.0}, assembly)


def _scene_of_fuzz(seed):
    scene = fuzz.random_scene(seed)
    return Case(lambda: fuzz.build(scene), scene["options"])


def _named(kind, families, seeds):
    return [(f"{kind} {family} {seed}", family, seed) for family in families for seed in seeds]


CASES = {name: Case(lambda make=make: make().build_model()) for name, make in SCENES.items()}
CASES |= {f"random-{seed}": Case(partial(random_model, seed)) for seed in range(_RANDOM_SCENES)}
CASES |= {
    f"{method}-{friction}": Case(partial(random_model, 0, body_count=8), {"method": method, "friction": friction})
    for method, friction in _METHODS
}
_GAUNTLET = _named("gauntlet", gauntlet.FAMILIES, _SEEDS_OF_GAUNTLET)
_JOINTS = _named("joints", joint_families.FAMILIES, _SEEDS_OF_JOINTS)
CASES |= {name: _scene_of_gauntlet(family, seed) for name, family, seed in _GAUNTLET}
CASES |= {name: _scene_of_joints(family, seed) for name, family, seed in _JOINTS}
CASES |= {f"fuzz {seed}": _scene_of_fuzz(seed) for seed in range(_FUZZ_SCENES)}
# The same on every Python: what others draw is rounded as NumPy's own functions do.
_QUICK = [*SCENES, *(f"random-{seed}" for seed in range(_RANDOM_SCENES_QUICK))]
