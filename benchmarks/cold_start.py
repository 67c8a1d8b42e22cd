"""The first bake in a new environment, which compiles, and the first frame once all is in the cache.

Each start is a process of its own, with a cache folder that is empty the first time. Time is the processor's: what the
start would take on a machine with nothing else to do. Compilations are listed by function: its own time, without
what it calls; a function that is compiled for two signatures is compiled twice.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
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
            cold = _start(method, friction, folder)
            cached = [_start(method, friction, folder) for _ in range(_CACHED_STARTS)]
        later = median(start["cpu"] for start in cached)
        twice = _compiled_twice(cold)
        rows.append(
            {
                "method": f"{method}, {friction}",
                "cold: s": cold["cpu"],
                "functions": len(cold["compilations"]),
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
                f"{name}: first start, CPU s", f"at most {BUDGET_COLD:g}", cold["cpu"], cold["cpu"] <= BUDGET_COLD, True
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
            stages = [{"stage": name, "cold: s": spent} for name, spent in cold["stages"].items()]
            longest = sorted(cold["compilations"], key=lambda entry: -entry["own"])[:_LISTED]
            details = stages + [
                {"function": entry["function"], "own s": entry["own"], "with inner s": entry["with inner"]}
                for entry in longest
            ]
    return Report(
        name="cold_start",
        rows=rows + details,
        claims=claims,
        notes=[
            "Seconds are of the processor, so that other work on the machine counts little; the tables by stage and by "
            f"function are of {', '.join(methods[0])}. The frame's kernel links the stages that it calls and compiles "
            "them once more as one module."
        ],
    )


def _start(method, friction, folder) -> dict:
    environment = {**os.environ, "NUMBA_CACHE_DIR": folder, "OMP_NUM_THREADS": "1"}
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks._cold_probe", method, friction],
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
    """Functions of Cairn's with more than one compilation; what Numba adds has one name for many types."""
    counts = Counter(entry["function"] for entry in start["compilations"])
    counts = {name: count for name, count in counts.items() if not name.startswith(("numba.", "made."))}
    return sorted(name for name, count in counts.items() if count > 1)
