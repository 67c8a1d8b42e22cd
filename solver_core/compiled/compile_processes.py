"""Child processes that compile kernels side by side into the cache on disk, from where this process loads them.

LLVM and Numba use one core, and hold Python's lock meanwhile. So this process sends each child the name of one kernel
after another, those that take longest first. One child compiles a function, and other processes may write the same
files (``cache_files``). This process is free while they work: the window stays alive, and children can be stopped at
any time.

If a child cannot be started, or fails, this process compiles its kernels.
"""

import contextlib
import gc
import importlib
import json
import logging
import os
import sys
import tempfile
import time

from . import kernel, sources
from .child_process import start, stop

# A child takes up to 700 MB, and the longest kernel a quarter to a third of the time of all.
MOST_CHILDREN = 4
# Pause between two looks at the children [s].
PAUSE = 0.02
# New objects between two garbage collections in a child; Python's default is hundreds.
_OBJECTS_TO_COLLECT = 500_000
# What takes longest, by the end of its name (``everything_to_compile`` writes more before it), in seconds of one core.
_SECONDS = {
    "solve_island": 20.0,
    "narrow_phase": 18.0,
    "narrow_phase: meshes": 14.0,
    "narrow_phase: round shapes": 8.0,
    "frame": 8.0,
    "solve_jointed": 9.0,
    "solve_jointed_velocities": 7.0,
    "correct_joints": 6.0,
    "end_joints": 5.0,
    "prepare_joints": 4.0,
    "fallback_sweeps": 3.0,
    "small_steps": 8.0,
    "solve_velocities": 8.0,
    "solve_positions": 5.0,
    "narrow_phase: round shapes on meshes": 5.0,
}
_OTHER_SECONDS = 2.0

log = logging.getLogger(__name__)


def child_count() -> int:
    """How many children are worth starting: none if they would share one core with this process."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST_CHILDREN) if cores > 1 else 0


def typical_seconds(name: str) -> float:
    """How long a core takes to compile the kernel of this name, roughly: for progress, and for what comes first."""
    return max((seconds for end, seconds in _SECONDS.items() if name.endswith(end)), default=_OTHER_SECONDS)


def compile_in_children(plan, names, arguments):
    """Compile kernels side by side, as a generator of (work done [s], name of one at work).

    Work is counted in ``typical_seconds``.

    It ends when all are compiled or no child is left. Closing it ends the children.

    Parameters
    ----------
    plan : function
        At the top level of a module of the core; returns a list of ``Compilation``, the same here and in a child.
    names : list of str
        Of the compilations that are to be compiled.
    arguments : tuple
        Of ``plan``, which JSON can hold.
    """
    task = json.dumps(
        {
            "folder": kernel.chosen_folder() and str(kernel.chosen_folder()),
            "fingerprint": sources.core_fingerprint(),
            "plan": (plan.__module__, plan.__name__),
            "arguments": arguments,
        }
    )
    waiting = sorted(names, key=typical_seconds, reverse=True)
    children, done = [], 0.0
    try:
        for _ in range(min(child_count(), len(names))):
            try:
                children.append(_Child(task))
            except OSError as error:
                log.warning("Cairn can start no more processes to compile in: %s", error)
                break
        while True:
            for child in children:
                name = child.name
                if child.has_finished():
                    done += typical_seconds(name)
                if child.is_idle and waiting:
                    child.compile(waiting.pop(0))
            at_work = [child.name for child in children if child.name]
            if not at_work:
                return
            yield done, at_work[0]
            time.sleep(PAUSE)
    finally:
        for child in children:
            child.stop()


class _Child:
    """A child process that compiles kernels, and the name of the one at work."""

    def __init__(self, task: str):
        self.name = ""
        self.is_lost = False
        self._told = 0
        # The child writes a character for each kernel, so the file's size says how far it is. Reading from a pipe
        # would block.
        with contextlib.ExitStack() as closing:
            self._marks = closing.enter_context(tempfile.TemporaryFile())
            self._errors = closing.enter_context(tempfile.TemporaryFile())
            self._process = start(compile_as_told, task, stdout=self._marks, stderr=self._errors)
            closing.callback(stop, self._process)
            self.stop = closing.pop_all().close

    @property
    def is_idle(self) -> bool:
        return not (self.name or self.is_lost)

    def compile(self, name: str) -> None:
        """Send it the name of the next kernel."""
        self._told += 1
        self.name = name
        with contextlib.suppress(OSError):  # it has ended; ``has_finished`` notices
            self._process.stdin.write(f"{name}\n".encode())
            self._process.stdin.flush()

    def has_finished(self) -> bool:
        """Whether it has compiled the last kernel that it was sent; True once."""
        if not self.name:
            return False
        if os.fstat(self._marks.fileno()).st_size >= self._told:
            self.name = ""
            return True
        if self._process.poll() is not None:
            self._errors.seek(0)
            lines = self._errors.read().decode(errors="replace").split("\n")
            reason = next((line for line in reversed(lines) if line.strip()), f"exit code {self._process.returncode}")
            log.warning("Cairn's process that compiled %s has ended: %s", self.name, reason)
            self.name, self.is_lost = "", True
        return False


def compile_as_told(task: str) -> None:
    """Run in a child: compile the kernels whose names it reads, until its input ends."""
    task = json.loads(task)
    if sources.core_fingerprint() != task["fingerprint"]:
        raise SystemExit("Cairn's files have changed since it was loaded")
    kernel.set_cache_folder(task["folder"])
    module, name = task["plan"]
    plan = getattr(importlib.import_module(module), name)
    compilations = {compilation.name: compilation for compilation in plan(*task["arguments"])}
    # Collecting garbage among the millions of objects that Numba keeps takes an eighth of the time to compile if it is
    # done as often as Python does by default.
    gc.set_threshold(_OBJECTS_TO_COLLECT)
    for line in sys.stdin:
        compilations[line.strip()].compile()
        sys.stdout.write(".")
        sys.stdout.flush()
