"""The first bake in a new environment, which compiles, and the first frame once all is in the cache.

Each start is a process of its own, with a cache folder that is empty the first time. The first start is by the clock,
as a user waits for it, with child processes that compile side by side; the processor's seconds of all of them stand
beside it, for other work on the machine slows the clock. One more start compiles without children, to list what is
compiled: a function's own time is without what it calls, and one that is compiled for two signatures is compiled twice.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median

from .report import Claim, Report

BUDGET_COLD, BUDGET_CACHED = 45.0, 3.0
_DEFAULT = ("auto", "cone")
_ALSO = (("nncg", "box"), ("pgs", "box"))
_CACHED_STARTS = 3
_ROOT = Path(__file__).resolve().parent.parent
# Functions that take longest, in the table.
_LISTED = 12


def run(quick, plots) -> Report:
    """Compile the default and two light methods from nothing; ``quick`` one light method only."""
    methods = _ALSO[:1] if quick else (_DEFAULT, *_ALSO)
    rows, claims = [], []
    for method, friction in methods:
        with tempfile.TemporaryDirectory() as folder:
            cold = _start(folder, method, friction)
            cached = [_start(folder, method, friction) for _ in range(_CACHED_STARTS)]
        with tempfile.TemporaryDirectory() as folder:
            alone = _start(folder, method, friction, "alone")
        later = median(start["cpu"] for start in cached)
        twice = _compiled_twice(alone)
        rows.append(
            {
                "method": f"{method}, {friction}",
                "cold: wall s": cold["wall"],
                "cold: CPU s": cold["cpu"] + cold["children"],
                "alone: CPU s": alone["cpu"],
                "longest: s": max(alone["stages"].values()),
                "functions": len(alone["compilations"]),
                "twice": len(twice),
                "cached: s": later,
                "cached: wall s": median(start["wall"] for start in cached),
                "import s": median(start["import"] for start in cached),
                "load s": median(start["kernels"] for start in cached),
                "first frame s": median(start["frame"] for start in cached),
            }
        )
        name = f"{method}, {friction}"
        claims += [
            Claim(
                f"{name}: first start, s", f"at most {BUDGET_COLD:g}", cold["wall"], cold["wall"] <= BUDGET_COLD, True
            ),
            Claim(f"{name}: cached start, CPU s", f"at most {BUDGET_CACHED:g}", later, later <= BUDGET_CACHED, True),
            Claim(
                f"{name}: compilations in a cached start",
                0,
                max(len(start["compilations"]) for start in cached),
                all(not start["compilations"] for start in cached),
            ),
            Claim(f"{name}: functions compiled twice", 0, ", ".join(twice) or 0, not twice),
        ]
        if (method, friction) == methods[0]:
            stages = [{"stage": name, "alone: CPU s": spent} for name, spent in alone["stages"].items()]
            longest = sorted(alone["compilations"], key=lambda entry: -entry["own"])[:_LISTED]
            details = stages + [
                {"function": entry["function"], "own s": entry["own"], "with inner s": entry["with inner"]}
                for entry in longest
            ]
    return Report(
        name="cold_start",
        rows=rows + details,
        claims=claims,
        notes=[
            "Columns in wall s are by the clock, so other work on the machine counts in them alone. Tables by stage "
            f"and by function are of {', '.join(methods[0])}, without children; a kernel's own time includes LLVM's "
            "work on all that it calls."
        ],
    )


def _start(folder, *words) -> dict:
    environment = {**os.environ, "NUMBA_CACHE_DIR": folder, "OMP_NUM_THREADS": "1"}
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks._cold_probe", *words],
        cwd=_ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        raise RuntimeError(f"the start failed:\n{result.stderr}")
    return json.loads(result.stdout)


def _compiled_twice(start) -> list[str]:
    """Functions of Cairn's with more than one compilation, and the types in which those differ.

    What Numba adds has one name for many types, and is left out.
    """
    kinds = defaultdict(list)
    for entry in start["compilations"]:
        if not entry["function"].startswith(("numba.", "made.")):
            kinds[entry["function"]].append(entry["types"])
    return [
        f"{name} ({'; '.join(_differences(signatures))})"
        for name, signatures in sorted(kinds.items())
        if len(signatures) > 1
    ]


def _differences(signatures) -> list[str]:
    places = enumerate(zip(*signatures, strict=False))
    return [f"argument {place}: {', '.join(types)}" for place, types in places if len(set(types)) > 1]
