"""Random scenes of everything, with what must hold of any scene asked of each; what fails is made small and stored.

``python -m benchmarks fuzz --minutes 30 --seed 0 --store FOLDER``. Scenes are played in a process of its own. What ends
that process (a crash) or takes longer than ``PATIENCE`` is a finding as any other.
"""

import contextlib
import json
import queue
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

from ..report import Claim, Report
from .oracles import check
from .scenes import random_scene, save
from .shrink import shrink

# A scene that takes longer hangs; kernels are compiled in the first ones [s].
PATIENCE = 600.0
# So many scenes a process.
BATCH = 500
# What crashes or hangs cannot be tried here again and again.
_WHOLE = ("crash", "hang")


def add_arguments(parser):
    """Options of its own."""
    parser.add_argument("--minutes", type=float, default=1.0, help="how long to look for scenes that fail")
    parser.add_argument("--seed", type=int, default=0, help="of the first scene; the others follow")
    parser.add_argument("--store", type=Path, metavar="FOLDER", help="put what fails there, as small as it gets")
    parser.add_argument(
        "--matter", action="store_true", help="with matter, forces, guides, fields, glue and waiting bodies"
    )
    return "minutes", "seed", "store", "matter"


def run(quick: bool = False, plots: Path | None = None, *, minutes=1.0, seed=0, store=None, matter=False) -> Report:
    """Play scenes until time is up."""
    end = time.monotonic() + 60.0 * (0.5 if quick else minutes)
    rows, played, first = [], 0, seed
    while time.monotonic() < end:
        for number, kind, text in _batch(first, first + BATCH, end, matter):
            played, first = played + 1, number + 1
            if kind:
                rows.append(_row(number, kind, text, store, matter))
                print(rows[-1], file=sys.stderr, flush=True)
    kinds = Counter(row["kind"] for row in rows)
    claims = [Claim("scenes that fail", 0, len(rows), not rows)]
    notes = [f"{played} scenes, seeds {seed} to {first - 1}", *(f"{kind}: {count}" for kind, count in kinds.items())]
    return Report("fuzz", rows, claims, notes)


def _batch(first, last, end, matter):
    """Findings of scenes, (seed, kind or None, text), as they come; ends after one that has ended the process."""
    words = [sys.executable, "-m", "benchmarks.fuzz.worker", str(first), str(last), *(["--matter"] if matter else [])]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    lines: queue.Queue = queue.Queue()
    reader = threading.Thread(target=_read, args=(process.stdout, lines), daemon=True)
    reader.start()
    begun = None
    try:
        while time.monotonic() < end or begun is not None:
            try:
                line = lines.get(timeout=PATIENCE)
            except queue.Empty:
                yield begun, "hang", f"no answer within {PATIENCE:.0f} s"
                return
            if line is None:
                if begun is not None:
                    yield begun, "crash", f"the process ended with {process.wait()}"
                return
            told = json.loads(line)
            if "begins" in told:
                begun = told["begins"]
                continue
            begun = None
            yield told["name"], told["kind"], told["text"]
            if time.monotonic() >= end:
                return
    finally:
        with contextlib.suppress(OSError):
            process.kill()
        process.wait()


def _read(stream, lines):
    for line in stream:
        lines.put(line)
    lines.put(None)


def _row(number, kind, text, store, matter):
    scene = random_scene(number, matter)
    if store is not None:
        if kind not in _WHOLE:
            scene = shrink(scene, lambda candidate: (found := check(candidate)) is not None and found.kind == kind)
            found = check(scene)
            text = found.text if found is not None else text
        store.mkdir(parents=True, exist_ok=True)
        save(scene, store / f"{kind.replace(' ', '-')}-{number}.json")
    return {
        "seed": number,
        "kind": kind,
        "bodies": len(scene["bodies"]),
        "joints": len(scene["joints"]),
        "frames": scene["frames"],
        "found": text,
    }
