"""Tasks on this machine: child processes, so many at a time."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import bpy

from .variants import Variant

# A task that dies of a signal or a crash is tried so often; one that says what is wrong is not tried again.
TRIES = 2
_USAGE = 2
_PAUSE = 0.1


@dataclass
class TaskEnd:
    """How a task has ended.

    Attributes
    ----------
    variant : Variant
    code : int
        Exit code; negative: the signal.
    said : str
        The last line on stderr.
    """

    variant: Variant
    code: int
    said: str


@dataclass
class _Running:
    variant: Variant
    process: subprocess.Popen
    errors: IO[bytes] = field(repr=False)


def own_command() -> list[str]:
    """The command that runs Cairn as this process does."""
    if bpy.app.module:
        return [sys.executable, "-m", "cairn"]
    return [bpy.app.binary_path, "-b", "--command", "cairn"]


def task_command(cairn: list[str], folder: Path, variant: Variant) -> list[str]:
    """The command line of one task; ``cairn`` is the command that runs Cairn."""
    return [*cairn, "wedge", "--task", str(variant.number), "-o", str(folder), "--quiet"]


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
            end = TaskEnd(task.variant, code, _last_line(task.errors))
            if code not in (0, _USAGE) and self._tries[task.variant.number] < TRIES:
                self.waiting.insert(0, task.variant)
            else:
                ended.append(end)
        while self.waiting and len(self._running) < self.jobs:
            self._start(self.waiting.pop(0))
        return ended

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
            task.errors.close()
        self._running, self.waiting = [], []

    def _start(self, variant):
        self._tries[variant.number] = self._tries.get(variant.number, 0) + 1
        errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed when the task has ended)
        process = subprocess.Popen(
            task_command(own_command(), self.folder, variant),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=os.name == "posix",  # Ctrl-C is for the parent, which ends them
        )
        self._running.append(_Running(variant, process, errors))


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


def _last_line(file) -> str:
    with file:
        file.seek(0)
        lines = file.read().decode(errors="replace").splitlines()
    own = [line for line in lines if line.startswith("cairn: ")] or lines
    return own[-1].removeprefix("cairn: ") if own else ""
