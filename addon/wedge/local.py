"""Tasks on this machine: child processes, so many at a time."""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import bpy

from .variants import Variant

# A task that dies of a signal or a crash is tried so often; one that says what is wrong is not tried again.
TRIES = 2
_USAGE = 2
# Codes from here on, and negative ones, are those of signals.
_SIGNALS = 128
_PAUSE = 0.1
# The last line of a traceback.
_OWN_ERROR = re.compile(r"\w[\w.]*: ")
_FRAME = re.compile(rb"^cairn: Frame (\d+) of (\d+)", re.MULTILINE)


@dataclass
class TaskEnd:
    """How a task has ended.

    Attributes
    ----------
    variant : Variant
    code : int
        Exit code; negative: the signal.
    said : str
        What it has said is wrong, a line; empty where a signal has ended it.
    """

    variant: Variant
    code: int
    said: str


@dataclass
class _Running:
    variant: Variant
    process: subprocess.Popen
    lines: Path

    def share(self) -> float:
        """How much of the bake is done, by what it has said last."""
        found = [(int(frame), int(end)) for frame, end in _FRAME.findall(self.lines.read_bytes())]
        if not found:
            return 0.0
        (first, _), (last, end) = found[0], found[-1]
        return (last - first) / max(end - first, 1)

    def said(self) -> str:
        """Its last word; where it has died of an error of Python, that."""
        before, fault, after = self.lines.read_bytes().decode(errors="replace").rpartition("Traceback ")
        lines = (after if fault else before or after).splitlines()
        own = [line for line in lines if _OWN_ERROR.match(line)] if fault else []
        own = own or [line for line in lines if line.startswith("cairn: ")] or lines
        return own[-1].removeprefix("cairn: ") if own else ""

    def forget(self) -> None:
        """Once it has ended."""
        with suppress(OSError):
            self.lines.unlink()


def own_command() -> list[str]:
    """The command that runs Cairn as this process does."""
    if bpy.app.module:
        return [sys.executable, "-m", "cairn"]
    return [bpy.app.binary_path, "-b", "--command", "cairn"]


def task_command(cairn: list[str], folder: Path, variant: Variant) -> list[str]:
    """The command line of one task; ``cairn`` is the command that runs Cairn."""
    return [*cairn, "wedge", "--task", str(variant.number), "-o", str(folder)]


class LocalTasks:
    """Child processes, as many as ``jobs`` at a time; used by the command line, and in the window on a timer.

    Parameters
    ----------
    folder : Path
    variants : list of Variant
        Whose tasks are to run.
    jobs : int
    """

    def __init__(self, folder: Path, variants: list[Variant], jobs: int):
        self.folder = folder
        self.waiting = list(variants)
        self.jobs = jobs
        self._running: list[_Running] = []
        self._tries: dict[int, int] = {}

    def poll(self) -> list[TaskEnd]:
        """Start what there is room for; returns the tasks that have ended since the last call."""
        ended = []
        for task in list(self._running):
            code = task.process.poll()
            if code is None:
                continue
            self._running.remove(task)
            end = TaskEnd(task.variant, code, task.said() if 0 <= code < _SIGNALS else "")
            task.forget()
            if code not in (0, _USAGE) and self._tries[task.variant.number] < TRIES:
                self.waiting.insert(0, task.variant)
            else:
                ended.append(end)
        while self.waiting and len(self._running) < self.jobs:
            self._start(self.waiting.pop(0))
        return ended

    @property
    def running(self) -> int:
        """How many tasks run."""
        return len(self._running)

    @property
    def under_way(self) -> float:
        """How many bakes those are that run, each counted as far as it is."""
        return sum(task.share() for task in self._running)

    @property
    def is_done(self) -> bool:
        """Whether no task waits or runs."""
        return not (self.waiting or self._running)

    def stop(self) -> None:
        """End all children; what they have done is in their checkpoints."""
        for task in self._running:
            task.process.terminate()
        for task in self._running:
            with suppress(subprocess.TimeoutExpired):
                task.process.wait(timeout=5.0)
            if task.process.poll() is None:
                task.process.kill()
                task.process.wait()
            task.forget()
        self._running, self.waiting = [], []

    def _start(self, variant):
        self._tries[variant.number] = self._tries.get(variant.number, 0) + 1
        # a file, since nobody would empty a pipe; by name, since a file that is shared has one place for both ends
        descriptor, name = tempfile.mkstemp(prefix="cairn-wedge-")
        with open(descriptor, "wb") as errors:
            process = subprocess.Popen(
                task_command(own_command(), self.folder, variant),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=os.name == "posix",  # Ctrl-C is for the parent, which ends them
            )
        self._running.append(_Running(variant, process, Path(name)))


def run_locally(
    folder: Path, variants: list[Variant], jobs: int, check: Callable[[], object] = lambda: None
) -> Iterator[TaskEnd]:
    """Run tasks to their ends; yields each as it ends. Closing it, or an exception, ends the children.

    Parameters
    ----------
    folder : Path
    variants : list of Variant
    jobs : int
    check : callable
        Called all the time; may raise.
    """
    tasks = LocalTasks(folder, variants, jobs)
    try:
        while True:
            check()
            yield from tasks.poll()
            if tasks.is_done:
                return
            time.sleep(_PAUSE)
    finally:
        tasks.stop()
