"""Meshes of a million triangles: seconds of the processor and memory, each in a process of its own.

A ground of hills that does not move, with a box and a ball that land on it; and a torus that moves, which is cut into
convex parts and then lands on a floor. ``python -m benchmarks._large_meshes KIND TRIANGLES`` plays one and prints JSON.
"""

import importlib.util
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from .report import Claim

TRIANGLES, QUICK_TRIANGLES = 1_000_000, 100_000
MOST_MEMORY = 2 * 2**30
FRAMES = 24
# Seconds within which a run must have come to its end, whatever that is.
LONGEST = 600
_ROOT = Path(__file__).resolve().parent.parent


def measure(quick):
    """Rows and claims; ``quick`` has a tenth of the triangles and leaves the mesh that moves out."""
    kinds = ["passive"]
    if not quick and importlib.util.find_spec("coacd"):
        kinds.append("active")
    count = QUICK_TRIANGLES if quick else TRIANGLES
    rows, claims = [], []
    for kind in kinds:
        result = subprocess.run(
            [sys.executable, "-m", "benchmarks._large_meshes", kind, str(count)],
            cwd=_ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST,
        )
        if result.returncode:
            raise RuntimeError(f"{kind} mesh of {count} triangles: the run failed:\n{result.stderr}")
        row = json.loads(result.stdout)
        rows.append(row)
        what = f"{kind} mesh of {row['triangles']:,} triangles"
        claims += [
            Claim(f"{what}: peak memory [GB]", "at most 2", row["peak GB"], row["peak GB"] * 2**30 <= MOST_MEMORY),
            Claim(f"{what}: what lands on it rests within 1 mm of it", "yes", row["rests"], row["rests"] == "yes"),
        ]
    return rows, claims


def _hills(count):
    """Vertices and triangles of a ground 20 m wide."""
    cells = round((count / 2) ** 0.5)
    line = np.linspace(-10.0, 10.0, cells + 1)
    x, y = np.meshgrid(line, line)
    z = 0.5 * np.sin(0.7 * x) * np.cos(0.6 * y)
    a = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).ravel()
    triangles = np.stack([[a, a + 1, a + cells + 2], [a, a + cells + 2, a + cells + 1]]).transpose(0, 2, 1)
    return np.stack([x, y, z], axis=-1).reshape(-1, 3), triangles.reshape(-1, 3)


def _torus(count):
    """Vertices and triangles of a ring about z, of radius 1 m and 0.25 m thick either way."""
    across = round((count / 4) ** 0.5)
    around = 2 * across
    u, v = (2.0 * np.pi * np.arange(n) / n for n in (around, across))
    distance = 1.0 + 0.25 * np.cos(v)
    x, y = distance * np.cos(u)[:, None], distance * np.sin(u)[:, None]
    vertices = np.stack([x, y, np.broadcast_to(0.25 * np.sin(v), x.shape)], axis=-1).reshape(-1, 3)
    i, j = (index.ravel() for index in np.meshgrid(np.arange(around), np.arange(across), indexing="ij"))
    after, above = (i + 1) % around, (j + 1) % across
    quads = np.stack([i * across + j, after * across + j, after * across + above, i * across + above], axis=1)
    return vertices, np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def _play_passive(count):
    """A box and a ball land on hills."""
    from cairn.solver_core.geometry.shapes import Box, Sphere
    from cairn.solver_core.geometry.triangle_mesh import TriangleMesh
    from cairn.solver_core.model.model import BodyKind

    vertices, triangles = _hills(count)
    started = time.process_time()
    mesh = TriangleMesh(vertices, triangles)
    made = time.process_time() - started
    bodies = [
        {"shape": mesh, "kind": BodyKind.STATIC, "friction": 1.0},
        {"shape": Box((0.4, 0.3, 0.2)), "position": (0.0, 0.0, 0.4)},
        {"shape": Sphere(0.3), "position": (3.0, 0.0, 1.2)},
    ]
    return {"mesh": "passive", "triangles": len(triangles), "mesh s": made, **_simulate(bodies, (1, 2))}


def _play_active(count):
    """A torus is decomposed and falls flat on a floor."""
    from cairn.solver_core.geometry.decomposition import Decomposition, DecompositionSettings, hulls_of_parts
    from cairn.solver_core.geometry.shapes import Box
    from cairn.solver_core.geometry.solid_meshes import solid_mesh
    from cairn.solver_core.model.compound import Compound
    from cairn.solver_core.model.model import BodyKind

    vertices, triangles = _torus(count)
    started = time.process_time()
    solid = solid_mesh(vertices, triangles)
    decomposition, center, size = Decomposition.of(solid.vertices, solid.triangles, DecompositionSettings())
    hulls = hulls_of_parts(decomposition.run(), center, size)
    made = time.process_time() - started
    bodies = [
        {"shape": Box((5.0, 5.0, 0.5)), "position": (0.0, 0.0, -0.5), "kind": BodyKind.STATIC},
        {"shape": Compound(hulls, solid.properties), "position": (0.0, 0.0, 0.4)},
    ]
    row = {"mesh": f"active, {len(hulls)} parts", "triangles": len(triangles), "mesh s": made}
    return row | _simulate(bodies, (1,))


def _simulate(bodies, landing):
    """Play a second; whether those that fall touch something and overlap nothing at the end."""
    from cairn.solver_core.geometry.shapes import ShapeKind
    from cairn.solver_core.model.builder import ModelBuilder
    from cairn.solver_core.options import SimulationOptions
    from cairn.solver_core.simulation import Simulation
    from cairn.solver_core.warm_up import warm_up

    options = SimulationOptions(method="nncg")
    warm_up(options, shape_kinds=(ShapeKind.BOX, ShapeKind.HULL, ShapeKind.MESH))
    started = time.process_time()
    builder = ModelBuilder()
    for body in bodies:
        builder.add_body(**body)
    simulation = Simulation(builder.build(), options)
    simulation.advance_frame()
    first = time.process_time() - started
    frames = []
    for _ in range(FRAMES):
        started = time.process_time()
        report = simulation.advance_frame()
        frames.append(time.process_time() - started)
    contacts = simulation._collision.contacts[0]
    count = contacts.count[0]
    touching = set(contacts.body_b[:count].tolist()) | set(contacts.body_a[:count].tolist())
    rests = touching.issuperset(landing) and report.max_penetration < 1e-3
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "first frame s": first,
        "frame ms": 1e3 * float(np.median(frames)),
        "peak GB": (most if sys.platform == "darwin" else 1024 * most) / 2**30,
        "rests": "yes" if rests else "no",
    }


if __name__ == "__main__":
    play = {"passive": _play_passive, "active": _play_active}[sys.argv[1]]
    print(json.dumps(play(int(sys.argv[2]))))
