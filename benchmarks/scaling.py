"""Boxes rain on a floor: what a body costs as there are more of them, in time by stage and in memory, on one thread;
and how much less time they take with a thread a core.

Layers of boxes, turned at random, ten high, over an area that grows with their number: a body has as many neighbours
among 10,000 as among 100. Each size runs in a process of its own, so that peak memory is its own.
"""

import json
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np

from .report import Claim, Report

SIZES = (100, 300, 1_000, 3_000, 10_000)
QUICK_SIZES = (100, 300, 1_000)
LAYERS = 10
# Distance of the boxes' centres at the start: more than their diagonal of 1.73 [m].
PITCH = 1.8
# Frames of 1/24 s: all have landed after 48 or so.
FRAMES, QUICK_FRAMES = 60, 24
MOST_GROWTH, MOST_BYTES = 1.5, 4 * 2**30
_ROOT = Path(__file__).resolve().parent.parent
_LIGHT = ("nncg", "box")
# Bodies from which on threads share the work.
_SHARED_FROM = 1_000


def run(quick, plots) -> Report:
    """Rain at every size with the default method; ``quick`` up to 1,000 bodies with ``nncg``."""
    method, friction = _LIGHT if quick else ("auto", "cone")
    sizes, frames = (QUICK_SIZES, QUICK_FRAMES) if quick else (SIZES, FRAMES)
    runs = {size: _measure(size, frames, method, friction, 1) for size in sizes}
    shared = {size: _measure(size, frames, method, friction, 0) for size in sizes if size >= _SHARED_FROM}
    stages = list(runs[sizes[0]]["stages"])
    cost = {size: sum(measured["stages"].values()) for size, measured in runs.items()}
    rows = [
        {
            "bodies": size,
            "us a frame and body": cost[size],
            "time on all cores": sum(shared[size]["stages"].values()) / cost[size] if size in shared else "",
            **{stage: measured["stages"][stage] for stage in stages},
        }
        for size, measured in runs.items()
    ]
    memory = [
        {
            "bodies": size,
            "contacts": measured["contacts"],
            "bytes a body": measured["body bytes"],
            "bytes a contact": measured["contact bytes"],
            "buffers MB": measured["buffers"] / 2**20,
            "peak MB": measured["peak"] / 2**20,
            "grown in the second half MB": measured["growth"] / 2**20,
            "missed solves": measured["missed"],
        }
        for size, measured in runs.items()
    ]
    small, large = sizes[0], sizes[-1]
    growth = cost[large] / cost[small]
    apart = [stage for stage in stages if stage not in ("solve_positions", "solve_velocities")]
    others = [sum(runs[size]["stages"][stage] for stage in apart) for size in (small, large)]
    last = runs[large]
    return Report(
        name="scaling",
        rows=rows + memory,
        claims=[
            Claim(
                f"cost a body, {large:,} over {small:,}", f"at most {MOST_GROWTH}", growth, growth <= MOST_GROWTH, True
            ),
            Claim(
                "the same without the solver's stages",
                f"at most {MOST_GROWTH}",
                others[1] / others[0],
                others[1] / others[0] <= MOST_GROWTH,
                True,
            ),
            Claim(f"peak memory of {large:,} bodies [bytes]", "4 GB", last["peak"], last["peak"] <= MOST_BYTES),
            Claim(
                "bytes of the buffers a contact, largest over smallest run",
                "at most 2",
                last["contact bytes"] / runs[small]["contact bytes"],
                last["contact bytes"] <= 2 * runs[small]["contact bytes"],
            ),
            Claim(
                "the same motion on all cores",
                "to the bit",
                sum(shared[size]["digest"] == runs[size]["digest"] for size in shared) / len(shared),
                all(shared[size]["digest"] == runs[size]["digest"] for size in shared),
            ),
        ],
        notes=[
            f"{method}, {friction}; {frames} frames, {LAYERS} boxes above each other. Times are medians "
            "over the frames. Bytes are of all arrays of the simulation; buffers have room for half "
            "as many contacts again as were there when they last grew."
        ],
    )


def _measure(size, frames, method, friction, threads) -> dict:
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks.scaling", str(size), str(frames), method, friction, str(threads)],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        raise RuntimeError(f"{size} bodies: the run failed:\n{result.stderr}")
    return json.loads(result.stdout)


def rain_model(count):
    """``count`` unit boxes in layers over a floor."""
    from cairn.solver_core.geometry.shapes import Box
    from cairn.solver_core.model.builder import ModelBuilder
    from cairn.solver_core.model.model import BodyKind

    rng = np.random.default_rng(0)
    columns = -(-count // LAYERS)
    side = max(1, round(columns**0.5))
    box = Box((0.5, 0.5, 0.5))
    builder = ModelBuilder()
    builder.add_body(shape=Box((PITCH * side + 20.0, PITCH * side + 20.0, 0.0)), kind=BodyKind.STATIC)
    for number in range(count):
        layer, place = divmod(number, columns)
        row, column = divmod(place, side)
        builder.add_body(
            shape=box,
            position=PITCH * np.array([column - 0.5 * side, row - 0.5 * side, layer + 0.5])
            + rng.uniform(-0.03, 0.03, 3),
            orientation=rng.normal(size=4),
            friction=0.5**0.5,
        )
    return builder.build()


def _bytes(value) -> int:
    """Bytes of all arrays in nested tuples."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    return sum(_bytes(member) for member in value) if isinstance(value, tuple) else 0


def _play(size, frames, method, friction, threads) -> dict:
    """Rain ``frames`` frames; the first is left out of the times, which are medians: other work may interrupt some."""
    from cairn.solver_core.options import SimulationOptions
    from cairn.solver_core.simulation import Simulation

    simulation = Simulation(rain_model(size), SimulationOptions(method=method, friction=friction, threads=threads))
    reports, halfway = [], 0
    for frame in range(frames):
        reports.append(simulation.advance_frame())
        if frame == frames // 2:
            halfway = _peak()
    times = {
        stage: 1e6 * float(np.median([report.seconds[stage] for report in reports[1:]])) / size
        for stage in reports[0].seconds
    }
    collision, problem = simulation._collision, simulation._problem
    by_body = _bytes((simulation.model.arrays, simulation.state, simulation._motion, collision.workspace))
    total = by_body + _bytes((collision.pairs, collision.contacts, problem))
    capacity = len(collision.contacts[0].gap)
    return {
        "stages": times,
        "digest": simulation.digest(),
        "contacts": max(report.contacts for report in reports),
        "missed": sum(report.missed for report in reports),
        "body bytes": by_body / size,
        "contact bytes": (total - by_body) / capacity,
        "buffers": total,
        "peak": _peak(),
        "growth": _peak() - halfway,
    }


def _peak() -> int:
    """Most memory that the process has held [bytes]."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


if __name__ == "__main__":
    arguments = sys.argv[1:]
    print(json.dumps(_play(int(arguments[0]), int(arguments[1]), *arguments[2:4], int(arguments[4]))))
