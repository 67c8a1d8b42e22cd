"""Play a scene and ask what must hold of any: numbers, energy, momentum, speeds, the ground, bits, and time."""

import time
from dataclasses import dataclass

import numpy as np

from cairn.solver_core import BodyKind, FrameInput, Simulation, SimulationError, SimulationOptions
from cairn.solver_core.diagnostics import angular_momentum, kinetic_energy, linear_momentum, potential_energy
from cairn.solver_core.geometry import rotations
from cairn.solver_core.geometry.shapes import ShapeError
from cairn.solver_core.model.errors import ModelError

from .matter import drives
from .scenes import FLOOR, build

# Seconds that a frame of so few bodies may take.
LONGEST_FRAME = 5.0
# Energy may grow by this share of what there is, beside what taking overlaps out lifts.
ENERGY_SHARE = 1e-2
# Speeds that impacts of a few bodies may reach, over those that are there and what the fall gives.
SPEED_FACTOR = 30.0
MOMENTUM_SHARE = 1e-7


@dataclass(frozen=True)
class Finding:
    """What does not hold of a scene: its kind, which shrinking keeps, and a line of figures."""

    kind: str
    text: str


def check(scene: dict) -> Finding | None:
    """Play a scene; what is wrong first, or None. A scene that has no model is none of those that fail."""
    try:
        model = build(scene)
    except (ModelError, ShapeError):
        return None
    try:
        return _played(scene, model)
    except SimulationError as error:
        return Finding("numbers", str(error))
    except Exception as error:
        return Finding(type(error).__name__, str(error)[:200])


def inputs(scene: dict, model):
    """What drives each frame: bodies on straight lines that turn at constant speed; None where nothing does."""
    if not scene["driven"]:
        return [None] * scene["frames"]
    places, turns = model.user_poses(model.initial_state.position, model.initial_state.orientation)
    given = []
    for frame in range(1, scene["frames"] + 1):
        at, orientation = places.copy(), turns.copy()
        for number, velocity in scene["driven"].items():
            elapsed = frame / scene["options"]["frame_rate"]
            row, velocity = int(number), np.array(velocity)
            at[row] += elapsed * velocity[:3]
            orientation[row] = rotations.multiply(_turned(elapsed * velocity[3:]), orientation[row])
        given.append(FrameInput(position=at, orientation=orientation))
    return given


def _turned(vector):
    angle = np.linalg.norm(vector)
    axis = vector / angle if angle > 0.0 else vector
    return np.concatenate([[np.cos(0.5 * angle)], np.sin(0.5 * angle) * axis])


def _played(scene, model):
    simulation = Simulation(model, SimulationOptions(threads=1, **scene["options"]))
    given = inputs(scene, model)
    half = scene["frames"] // 2
    ledger, checkpoint = _Ledger(scene, model, simulation.state), None
    for frame, frame_input in enumerate(given):
        start = time.perf_counter()
        report = simulation.advance_frame(frame_input)
        # the first call of a method compiles
        spent = 1e-9 * sum(report.nanoseconds)
        if spent > LONGEST_FRAME:
            return Finding(
                "time", f"frame {frame + 1} takes {spent:.1f} s ({time.perf_counter() - start:.1f} s in all)"
            )
        found = ledger.judge(frame + 1, simulation.state)
        if found is not None:
            return found
        if frame + 1 == half:
            checkpoint = simulation.checkpoint()
    again = Simulation(model, SimulationOptions(threads=1, **scene["options"]))
    if checkpoint is not None:
        again.restore(checkpoint)
    for frame_input in given[half:] if checkpoint is not None else given:
        again.advance_frame(frame_input)
    if again.digest() != simulation.digest():
        return Finding("bits", "gone on with from its middle it ends elsewhere")
    return None


class _Ledger:
    """Energy, momentum and speeds at the start, and what becomes of them."""

    def __init__(self, scene, model, state):
        self.model, self.gravity = model, np.array(scene["gravity"])
        arrays = model.arrays
        self.moving = state.kind == BodyKind.DYNAMIC
        self.is_free = not scene["driven"] and not _feeds(scene) and not drives(scene)
        self.is_alone = self.is_free and bool(self.moving.all()) and all(j["b"] is not None for j in scene["joints"])
        self.is_alone = self.is_alone and not self.gravity.any() and not _is_damped(scene)
        self.size = arrays.size
        self.start = state.position.copy()
        self.energy = self._energy(state)
        self.momentum = linear_momentum(model, state), angular_momentum(model, state)
        mass = arrays.mass
        self.g = float(np.linalg.norm(self.gravity))
        # to take an overlap out lifts a body by its size at most, and those that lie on it; to close a joint that is
        # open at the start, by as much as the bodies are apart
        apart = np.ptp(state.position, axis=0).sum() if scene["joints"] else 0.0
        self.lift = float(self.g * mass[self.moving].sum() * (arrays.size[self.moving].sum() + apart))
        reach = np.abs(state.velocity[:, :3]).max() + (np.linalg.norm(state.velocity[:, 3:], axis=1) * self.size).max()
        self.reach = float(reach)
        self.floor = _floor_of(scene)

    def _energy(self, state):
        return kinetic_energy(self.model, state), potential_energy(self.model, state, self.gravity)

    def judge(self, frame, state):
        if not self.moving.any():
            return None
        return (
            self._judge_energy(frame, state)
            or self._judge_largest_speed(frame, state)
            or self._judge_speed(frame, state)
            or self._judge_momentum(frame, state)
            or self._judge_floor(frame, state)
        )

    def _judge_energy(self, frame, state):
        if not self.is_free:
            return None
        now, start = self._energy(state), self.energy
        gained = sum(now) - sum(start)
        there = start[0] + abs(start[1] - now[1])
        # far from the origin potentials are large numbers
        rounding = 1e-12 * (abs(start[1]) + abs(now[1]))
        if gained > ENERGY_SHARE * there + self.lift + rounding + 1e-12:
            return Finding("energy", f"frame {frame}: gains {gained:.3g} J of {there + self.lift:.3g} J")
        return None

    def _judge_speed(self, frame, state):
        if not self.is_free:
            return None
        fallen = self.g * frame / 24.0
        turning = self.size * np.linalg.norm(state.velocity[:, 3:], axis=1)
        points = np.where(self.moving, np.linalg.norm(state.velocity[:, :3], axis=1) + turning, 0.0)
        there = self.reach + fallen + np.sqrt(2.0 * self.g * self.size.max())
        allowed = SPEED_FACTOR * there * self._leverage() + 1e-9
        worst = int(np.argmax(points))
        if points[worst] <= allowed:
            return None
        name = self.model.names[worst]
        return Finding("speed", f"frame {frame}: {name} at {points[worst]:.3g} m/s, {allowed:.3g} are allowed")

    def _judge_largest_speed(self, frame, state):
        """No body is faster than it may be."""
        allowed = self.model.arrays.matter.largest_speed
        if not len(allowed):
            return None
        speed = np.where(state.kind == BodyKind.DYNAMIC, np.linalg.norm(state.velocity[:, :3], axis=1), 0.0)
        worst = int(np.argmax(speed - allowed))
        if speed[worst] <= allowed[worst] * (1.0 + 1e-9):
            return None
        name = self.model.names[worst]
        return Finding("largest speed", f"frame {frame}: {name} at {speed[worst]:.3g}, not {allowed[worst]:.3g} m/s")

    def _leverage(self):
        """A long body that is hit turns what is light at its end faster."""
        return float(self.size.max() / self.size.min()) if len(self.size) > 1 else 1.0

    def _judge_momentum(self, frame, state):
        if self.is_alone:
            linear, angular = linear_momentum(self.model, state), angular_momentum(self.model, state)
            mass = self.model.arrays.mass
            scale = np.sum(mass * np.linalg.norm(state.velocity[:, :3], axis=1)) + 1e-12
            if np.linalg.norm(linear - self.momentum[0]) > MOMENTUM_SHARE * scale * frame:
                return Finding("momentum", f"frame {frame}: {linear} was {self.momentum[0]}")
            scale = np.sum(
                mass * np.linalg.norm(state.position, axis=1) * np.linalg.norm(state.velocity[:, :3], axis=1)
            )
            scale += np.linalg.norm(angular) + np.linalg.norm(self.momentum[1]) + 1e-12
            if np.linalg.norm(angular - self.momentum[1]) > 1e3 * MOMENTUM_SHARE * scale * frame:
                return Finding("angular momentum", f"frame {frame}: {angular} was {self.momentum[1]}")
        return None

    def _judge_floor(self, frame, state):
        if self.floor is not None:
            below = self.floor - state.position[:, 2] - self.size
            fallen = self.moving & (self.start[:, 2] > self.floor) & (below > 0.0) & self._is_above(state)
            if fallen.any():
                worst = int(np.argmax(np.where(fallen, below, -np.inf)))
                return Finding(
                    "fallen", f"frame {frame}: {self.model.names[worst]} is {below[worst]:.3g} m below the floor"
                )
        return None

    def _is_above(self, state):
        return np.linalg.norm(state.position[:, :2] - self.start[0, :2], axis=1) + self.size < 500.0


def _floor_of(scene):
    ground = scene["bodies"][0] if scene["bodies"] else None
    if ground is None:
        return None
    is_floor = ground["kind"] == "STATIC" and ground["shape"].get("half_extents") == [500.0, 500.0, 5.0]
    can_touch = all(body.get("collision_mask", 1) & ground.get("collision_mask", 1) for body in scene["bodies"])
    is_led = scene["driven"] or any("guide" in body for body in scene["bodies"])
    return FLOOR if is_floor and can_touch and not scene["joints"] and not is_led else None


def _feeds(scene):
    """Whether something has energy of its own: motors, and springs."""

    def fed(axis):
        return "motor" in axis or "spring" in axis

    def axes(joint):
        for name in ("axis", "linear", "angular"):
            found = joint.get(name, ())
            yield from [found] if isinstance(found, dict) else found

    return any(fed(axis) for joint in scene["joints"] for axis in axes(joint))


def _is_damped(scene):
    names = ("linear_damping", "largest_speed")
    return any(body.get("starts_asleep") or any(name in body for name in names) for body in scene["bodies"])
