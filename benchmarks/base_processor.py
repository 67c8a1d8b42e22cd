"""Kernels for the base processor, as they travel in the zip, beside kernels compiled for the machine at hand.

Two processes have one compiled for each, and play the same frames of the same scenes in turns of a few frames, so that
other work on the machine meets both alike. Each scene is played several times; of each turn the fastest counts.
"""

import json
import os
import platform
import subprocess
import sys
from math import exp, log
from pathlib import Path

from .report import Claim, Report

# As in tools/compile_kernels.py; every Mac has an M1's features.
BASE = "apple-m1" if platform.machine() == "arm64" else "x86-64-v3"
ASKED = 1.1
CASES = (
    *("wall", "bricks", "stack", "pyramid", "pile", "arch", "cards", "chain"),
    *("dominoes", "gears", "boulders", "ball_pool"),
)
_QUICK = ("stack", "cards")
_TURN, _TURNS, _ROUNDS = 4, 12, 3
_ROOT = Path(__file__).resolve().parent.parent


def run(quick, plots, only=None) -> Report:
    """Twelve scenes of two seconds; ``quick``: two of them, once."""
    chosen, rounds = only or (_QUICK if quick else CASES), 1 if quick else _ROUNDS
    times = {name: [[], []] for name in chosen}
    same = dict.fromkeys(chosen, True)
    for _ in range(rounds):
        players = _start(BASE), _start(None)
        for name in chosen:
            _play(players, name, 1)  # compiles, or loads
            for turn in range(_TURNS):
                (base, state), (native, other) = _play(players, name, _TURN)
                same[name] &= state == other
                for spent, kept in ((sum(base), times[name][0]), (sum(native), times[name][1])):
                    if turn < len(kept):
                        kept[turn] = min(kept[turn], spent)
                    else:
                        kept.append(spent)
        for player in players:
            player.stdin.close()
            player.wait()
    frames = _TURN * _TURNS
    rows = [
        {
            "scene": name,
            "base: ms a frame": sum(base) / frames,
            "native: ms a frame": sum(native) / frames,
            "base / native": sum(base) / sum(native),
            "same bits": same[name],
        }
        for name, (base, native) in times.items()
    ]
    mean = exp(sum(log(row["base / native"]) for row in rows) / len(rows))
    claims = [
        Claim("base over native, geometric mean", f"at most {ASKED}", round(mean, 3), mean <= ASKED, True),
        Claim("scenes with the same bits", len(rows), sum(same.values()), all(same.values())),
    ]
    return Report("base_processor", rows, claims)


def _start(processor):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment |= {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": ""} if processor else {}
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks._frame_probe"],
        cwd=_ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _play(players, name, count):
    """The next frames of a scene by both, one after the other."""
    answers = []
    for player in players:
        player.stdin.write(json.dumps([name, count]) + "\n")
        player.stdin.flush()
        answers.append(json.loads(player.stdout.readline()))
    return answers
