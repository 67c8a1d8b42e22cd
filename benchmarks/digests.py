"""Fingerprints of trajectories: a change that is meant to change no motion gives the same list, to the bit.

One line a ready-made scene, a random scene, and a method: SHA-256 of poses, velocities and kinds after each frame, and
the median time of a frame. Run it before and after a change, in the same environment (another processor, NumPy or LLVM
may round otherwise), and compare: ``python -m benchmarks digests --json before.json``.
"""

import hashlib
import time
from functools import partial
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
    Simulation,
    SimulationOptions,
    Sphere,
    TriangleMesh,
)
from cairn.solver_core.scenes import SCENES

from .report import Report

_FRAMES, _FRAMES_QUICK = 48, 12
_RANDOM_SCENES, _RANDOM_SCENES_QUICK = 20, 5
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


def run(quick, plots, only=None) -> Report:
    """All ready-made scenes, random ones, and every method; ``quick``: fewer frames, five random scenes, no methods."""
    frame_count = _FRAMES_QUICK if quick else _FRAMES
    chosen = only or [name for name in CASES if not quick or name in _QUICK]
    return Report("digests", [_row(name, frame_count) for name in chosen], [])


def _row(name, frame_count) -> dict:
    make_model, options = CASES[name]
    simulation = Simulation(make_model(), SimulationOptions(threads=1, **options))
    digest, times = hashlib.sha256(), []
    for _ in range(frame_count):
        started = time.process_time()
        simulation.advance_frame()
        times.append(time.process_time() - started)
        digest.update(simulation.digest().encode())
    return {"scene": name, "frames": frame_count, "ms a frame": 1e3 * median(times), "digest": digest.hexdigest()}


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


# name -> function that makes the model, options
CASES = {name: (lambda make=make: make().build_model(), {}) for name, make in SCENES.items()}
CASES |= {f"random-{seed}": (partial(random_model, seed), {}) for seed in range(_RANDOM_SCENES)}
CASES |= {
    f"{method}-{friction}": (partial(random_model, 0, body_count=8), {"method": method, "friction": friction})
    for method, friction in _METHODS
}
_QUICK = [*SCENES, *(f"random-{seed}" for seed in range(_RANDOM_SCENES_QUICK))]
