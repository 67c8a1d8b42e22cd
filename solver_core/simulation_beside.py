"""A simulation in a process of its own: this one goes on, however long a frame takes, and ends the other at any time.

    with SimulationBeside() as beside:  # a Python starts
        beside.load(model, options, simulation.checkpoint())
        beside.send(FrameInput(...))  # some frames ahead, as it likes
        report = beside.receive()  # None while the frame is being simulated
        position, orientation = beside.poses()

The frames are the same to the bit: the process goes on from a checkpoint of the same model with the same options. It
sends a checkpoint after the last frame, and about once a second before, from which a simulation here can go on. It can
be given another simulation at any time, which begins after the frame at work: what was sent before is taken back.

Both sides write files into a folder of their own, each of which appears when it is whole, and are never in each other's
way: to read from a pipe would wait for the other side. A line on the process's input says that there is another file
for it; where this input ends, since this process has ended, so does it.
"""

import contextlib
import json
import os
import sys
import tempfile
import time
import typing
from collections import deque
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np

from .checkpoint import Checkpoint
from .compiled.child_process import stop
from .compiled.kernel_process import start_with_kernels
from .geometry.round_shapes import Capsule, Cone, Cylinder
from .geometry.shapes import Sphere
from .model.fields import fields_as_text, fields_of_text
from .model.model import Model
from .model.pull import Pull
from .options import FrameInput, SimulationOptions
from .report import PARTS, FrameBreaks, FrameContacts, FrameReport, JointReport
from .simulation import Simulation, SimulationError

# A checkpoint is sent after so long [s], and after so many times what the last one has cost.
CHECKPOINT_SECONDS, CHECKPOINT_FACTOR = 1.0, 100.0
# Of a model: what is no array, beside fields and pushes.
_TUPLES = ("names", "joint_names", "field_carriers", "field_responds", "charges", "pushes_along")
# Fields of a FrameInput that hold arrays by keys.
_BY_KEY = ("vertices", "vertex_velocities", "shape_rates")
_SHAPES = {shape.__name__: shape for shape in (Sphere, Capsule, Cylinder, Cone)}
_ERRORS = {error.__name__: error for error in (SimulationError, ValueError)}


class BesideLost(RuntimeError):
    """The process has ended by itself, or none could be started. ``str()`` is the reason in one line."""


class SimulationBeside:
    """A simulation in a process of its own, which starts at once; to be closed, or used in a ``with``.

    Attributes
    ----------
    frame : int
        Frames done, and received.
    waiting : int
        Frames that were sent, and not yet received.

    Raises
    ------
    BesideLost
        No process can be started.
    """

    def __init__(self):
        self.frame = self.waiting = 0
        self._checkpoint = self._poses = self._velocities = None
        self._told = 0
        self._awaited: deque[int] = deque()  # numbers of the messages that will be answered
        with contextlib.ExitStack() as closing:
            self._folder = closing.enter_context(tempfile.TemporaryDirectory(prefix="cairn-"))
            self._errors = closing.enter_context(tempfile.TemporaryFile())
            try:
                self._process = start_with_kernels(simulate_as_told, self._folder, stderr=self._errors)
            except OSError as error:
                raise BesideLost(" ".join(str(error).split())) from error
            closing.callback(stop, self._process)
            self._closing = closing.pop_all()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self) -> None:
        """End the process, also in the middle of a frame."""
        self._closing.close()

    @property
    def has_started(self) -> bool:
        """Whether the process has loaded the solver, so that what is sent is begun at once."""
        return (Path(self._folder) / _STARTED).exists()

    def load(self, model: Model, options: SimulationOptions, checkpoint: Checkpoint) -> None:
        """Say what to simulate, and where it goes on from: first of all, and again for another simulation.

        Parameters
        ----------
        model : Model
        options : SimulationOptions
        checkpoint : Checkpoint
            Of a simulation of that model with these options.
        """
        self._take_back()
        self.frame, self._checkpoint = checkpoint.frame, checkpoint
        arrays = {f"checkpoint.{name}": array for name, array in checkpoint.arrays.items()}
        for field in fields(Model):
            _flatten(field.name, getattr(model, field.name), arrays)
        text = {name: getattr(model, name) for name in _TUPLES}
        text |= {"fields": fields_as_text(model.fields), "pushes": model.pushes, "frame": checkpoint.frame}
        self._tell({"load": text, "options": asdict(options)}, arrays)

    def send(self, frame_input: FrameInput, *, wants_checkpoint: bool = False) -> None:
        """Let it simulate another frame, after those that were sent before; a checkpoint may be wanted of it."""
        text, arrays = _frame_text(frame_input)
        self._awaited.append(self._told)
        self._tell({"frame": text, "wants_checkpoint": wants_checkpoint}, arrays)
        self.waiting += 1

    def receive(self) -> FrameReport | None:
        """The report of the next frame, if it is done; ``poses`` and ``velocities`` are then those at its end.

        Raises
        ------
        SimulationError, ValueError
            As of ``Simulation.advance_frame``.
        BesideLost
        """
        answer = self._next_answer()
        if answer is None:
            return None
        text, arrays = answer
        if "error" in text:
            kind, message = text["error"]
            raise _ERRORS[kind](message) if kind in _ERRORS else BesideLost(f"{kind}: {message}")
        self.frame, self.waiting = self.frame + 1, self.waiting - 1
        self._poses = arrays.pop("poses.position"), arrays.pop("poses.orientation")
        self._velocities = arrays.pop("velocities")
        joints = {name: arrays.pop(f"report.{name}") for name in text["joints"]}
        contacts = {name: arrays.pop(f"frame_contacts.{name}") for name in text["contacts"]}
        breaks = {name: arrays.pop(f"frame_breaks.{name}") for name in text["breaks"]}
        if "checkpoint" in text:
            self._checkpoint = Checkpoint(text["checkpoint"], arrays)  # what is left of them
        return FrameReport(
            **text["report"],
            joints=JointReport(**joints) if joints else None,
            frame_contacts=FrameContacts(**contacts) if contacts else None,
            breaks=FrameBreaks(**breaks) if breaks else None,
        )

    def poses(self) -> tuple[np.ndarray, np.ndarray]:
        """As ``Simulation.poses``, at the end of the last frame that was received."""
        return self._poses

    def velocities(self) -> np.ndarray:
        """As ``Simulation.velocities``, at the end of the last frame that was received."""
        return self._velocities

    def checkpoint(self) -> Checkpoint:
        """The last checkpoint that was received: of this frame or one before it."""
        return self._checkpoint

    def _tell(self, text, arrays):
        _write_message(Path(self._folder) / f"{self._told}.in", text, arrays)
        self._told += 1
        with contextlib.suppress(OSError):  # it has ended; ``receive`` says why
            self._process.stdin.write(b"\n")
            self._process.stdin.flush()

    def _take_back(self):
        """Let the process skip frames that were sent and not begun, and forget what it has answered."""
        for number in self._awaited:
            with contextlib.suppress(OSError):  # it is being read
                (Path(self._folder) / f"{number}.in").unlink(missing_ok=True)
        self._awaited.clear()
        self.waiting = 0
        for path in Path(self._folder).glob("*.out"):
            with contextlib.suppress(OSError):
                path.unlink()

    def _next_answer(self):
        ended = self._process.poll() is not None
        path = Path(self._folder) / f"{self._awaited[0]}.out" if self._awaited else None
        if path is not None and path.exists():  # asked after ``poll``: what was written last counts
            answer = _read_message(path)
            self._awaited.popleft()
            return answer
        if ended:
            self._errors.seek(0)
            lines = [line for line in self._errors.read().decode(errors="replace").split("\n") if line.strip()]
            raise BesideLost(lines[-1].strip() if lines else f"exit code {self._process.returncode}")
        return None


# The process

_STARTED = "started"


def simulate_as_told(folder: str) -> None:
    """Run in the process: simulate what it is told, frame by frame, until its input ends."""
    folder, simulation, clock = Path(folder), None, _CheckpointClock()
    (folder / _STARTED).touch()
    for told, _line in enumerate(sys.stdin):
        try:
            text, arrays = _read_message(folder / f"{told}.in")
        except FileNotFoundError:  # it was taken back
            continue
        if "load" in text:
            simulation = _loaded(text, arrays)
            continue
        try:
            answer, arrays = _simulated(simulation, _frame_input(text["frame"], arrays))
        except Exception as error:
            answer, arrays = {"error": (type(error).__name__, " ".join(str(error).split()))}, {}
        if "error" not in answer and (text["wants_checkpoint"] or clock.is_due()):
            checkpoint = simulation.checkpoint()
            answer["checkpoint"] = checkpoint.frame
            arrays = {**checkpoint.arrays, **arrays}
        _write_message(folder / f"{told}.out", answer, arrays)
        if "checkpoint" in answer:
            clock.note()


class _CheckpointClock:
    """When the next checkpoint is due: soon, but so that they cost next to nothing."""

    def __init__(self):
        self._next = self._begun = time.perf_counter()

    def is_due(self) -> bool:
        self._begun = time.perf_counter()
        return self._begun >= self._next

    def note(self) -> None:
        """One has been written."""
        now = time.perf_counter()
        self._next = now + max(CHECKPOINT_SECONDS, CHECKPOINT_FACTOR * (now - self._begun))


def _loaded(text, arrays) -> Simulation:
    plain = {name: tuple(text["load"][name]) for name in _TUPLES}
    plain["fields"], plain["pushes"] = fields_of_text(text["load"]["fields"]), tuple(map(tuple, text["load"]["pushes"]))
    hints = typing.get_type_hints(Model)
    parts = {
        field.name: _filled(hints[field.name], field.name, arrays) for field in fields(Model) if field.name not in plain
    }
    simulation = Simulation(Model(**plain, **parts), SimulationOptions(**text["options"]))
    own = {name.removeprefix("checkpoint."): array for name, array in arrays.items() if name.startswith("checkpoint.")}
    simulation.restore(Checkpoint(text["load"]["frame"], own))
    return simulation


def _simulated(simulation, frame_input):
    report = simulation.advance_frame(frame_input)
    position, orientation = simulation.poses()
    arrays = {"poses.position": position, "poses.orientation": orientation, "velocities": simulation.velocities()}
    joints, contacts, breaks = map(_names_of, (report.joints, report.frame_contacts, report.breaks))
    arrays |= {f"report.{name}": getattr(report.joints, name) for name in joints}
    arrays |= {f"frame_contacts.{name}": getattr(report.frame_contacts, name) for name in contacts}
    arrays |= {f"frame_breaks.{name}": getattr(report.breaks, name) for name in breaks}
    plain = {field.name: getattr(report, field.name) for field in fields(report) if field.name not in PARTS}
    return {"report": plain, "joints": joints, "contacts": contacts, "breaks": breaks}, arrays


def _names_of(part):
    """Names of the arrays of a part of a report, if it has that part."""
    return [] if part is None else [field.name for field in fields(part)]


# What is sent, as text and arrays


def _flatten(name, value, arrays):
    """Put an array, or all of nested named tuples, among ``arrays``."""
    if isinstance(value, np.ndarray):
        arrays[name] = value
    elif hasattr(value, "_fields"):
        for field in value._fields:
            _flatten(f"{name}.{field}", getattr(value, field), arrays)


def _filled(kind, name, arrays):
    """The inverse of ``_flatten``: an array, or a named tuple of the class ``kind``."""
    if not hasattr(kind, "_fields"):
        return arrays[name]
    hints = typing.get_type_hints(kind)
    return kind(**{field: _filled(hints[field], f"{name}.{field}", arrays) for field in kind._fields})


def _frame_text(frame_input):
    """A FrameInput as text and arrays."""
    text, arrays = {"duration": frame_input.duration, "shapes": []}, {}
    text["pull"] = None if frame_input.pull is None else asdict(frame_input.pull)
    text["fields"] = None if frame_input.fields is None else fields_as_text(frame_input.fields)
    for field in fields(frame_input):
        value = getattr(frame_input, field.name)
        if isinstance(value, np.ndarray):
            arrays[field.name] = value
    for name in _BY_KEY:
        given = getattr(frame_input, name) or {}
        text[name] = [_plain_key(key) for key in given]
        arrays |= {f"{name}.{number}": np.asarray(array, float) for number, array in enumerate(given.values())}
    for number, (key, shape) in enumerate((frame_input.shapes or {}).items()):
        text["shapes"].append((_plain_key(key), type(shape).__name__, [field.name for field in fields(shape)]))
        for field in fields(shape):
            arrays[f"shapes.{number}.{field.name}"] = np.asarray(getattr(shape, field.name), float)
    return text, arrays


def _frame_input(text, arrays) -> FrameInput:
    """The inverse of ``_frame_text``."""
    names = {field.name for field in fields(FrameInput)} - {"duration", "shapes", "fields", "pull", *_BY_KEY}
    plain: dict = {name: array for name, array in arrays.items() if name in names}
    for name in _BY_KEY:
        given = {_own_key(key): arrays[f"{name}.{number}"] for number, key in enumerate(text[name])}
        plain[name] = given or None
    shapes = {}
    for number, (key, kind, own) in enumerate(text["shapes"]):
        # as it was made, without checks that would round its numbers once more
        shape = shapes[_own_key(key)] = object.__new__(_SHAPES[kind])
        for name in own:
            value = arrays[f"shapes.{number}.{name}"]
            object.__setattr__(shape, name, value if value.ndim else float(value))
    if text["fields"] is not None:
        plain["fields"] = fields_of_text(text["fields"])
    if text["pull"] is not None:
        plain["pull"] = Pull(
            **{name: tuple(value) if isinstance(value, list) else value for name, value in text["pull"].items()}
        )
    return FrameInput(duration=text["duration"], shapes=shapes or None, **plain)


def _plain_key(key):
    return [int(part) for part in key] if isinstance(key, tuple) else int(key)


def _own_key(key):
    return tuple(key) if isinstance(key, list) else key


def _write_message(path: Path, text, arrays) -> None:
    """Write a file that appears when it is whole: the length of the text, the text, and one array after another."""
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    table = [(name, array.dtype.str, array.shape) for name, array in arrays.items()]
    head = json.dumps({"text": text, "arrays": table}).encode()
    temporary = path.with_name(f"{path.name}.part")
    with temporary.open("wb") as file:
        file.write(len(head).to_bytes(8, "little") + head)
        for array in arrays.values():
            file.write(array.data if array.size else b"")
    os.replace(temporary, path)


def _read_message(path: Path):
    """Text and arrays of a message, which is removed."""
    data = path.read_bytes()
    path.unlink()
    end = 8 + int.from_bytes(data[:8], "little")
    head, arrays = json.loads(data[8:end]), {}
    for name, kind, shape in head["arrays"]:
        dtype = np.dtype(kind)
        count = int(np.prod(shape, dtype=np.int64))
        # a copy of its own: aligned, and one that can be written
        arrays[name] = np.frombuffer(data, np.uint8, count * dtype.itemsize, end).copy().view(dtype).reshape(shape)
        end += count * dtype.itemsize
    return head["text"], arrays
