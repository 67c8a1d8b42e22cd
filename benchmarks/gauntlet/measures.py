"""Playing a scene by both engines in alternation, and judging the motions alike, from poses and velocities alone."""

import gc
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from .cairn_engine import build_model, inertias
from .overlaps import Overlaps
from .scene import FLOOR_HALF_WIDTH, GRAVITY, matrix

# Frames of one engine before the other has its turn.
_TURN = 10
# Overlaps and energies of what moves count from this frame on: by then what overlapped at the start is apart.
_SETTLED = 24


@dataclass(frozen=True)
class Motion:
    """What an engine made of a scene.

    Attributes
    ----------
    position, orientation, velocity : float64 [frame_count + 1, body_count, 3], [.., 4], [.., 6]
        The start, and each frame's end; NaN from where an engine gave up.
    seconds : float64 [frame_count]
        Processor time of each frame, without reading the state.
    """

    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray
    seconds: np.ndarray


def play(scene, engines, frames) -> list[Motion]:
    """Play a scene by several engines, ten frames each in turn.

    Python's garbage collector waits meanwhile: it takes 60 ms for what Numba holds, in whichever frame it happens to be
    due, and what Rapier is charged is without the interpreter's time in any case.

    Parameters
    ----------
    scene : Scene
    engines : list
        With ``play``.
    frames : int

    Returns
    -------
    list of Motion
    """
    count = len(scene.bodies)
    motions = [
        Motion(*(np.full((frames + 1, count, width), np.nan) for width in (3, 4, 6)), np.zeros(frames)) for _ in engines
    ]
    for motion in motions:
        motion.position[0], motion.orientation[0] = scene.poses()
        motion.velocity[0] = [(*body.velocity, *body.spin) for body in scene.bodies]
    with _without_collector():
        for first in range(0, frames, _TURN):
            last = min(first + _TURN, frames)
            for engine, motion in zip(engines, motions, strict=True):
                if np.isfinite(motion.position[first]).all():
                    motion.seconds[first:last], states = engine.play(last - first)
                    for frame, state in enumerate(states, first + 1):
                        motion.position[frame], motion.orientation[frame], motion.velocity[frame] = state
    return motions


@contextmanager
def _without_collector():
    """Let the garbage collector rest, if it is not off in any case."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Judge:
    """Measures motions of one scene.

    Parameters
    ----------
    scene : Scene
    """

    def __init__(self, scene):
        self._scene = scene
        self._overlaps = Overlaps(scene)
        self._dynamic = scene.dynamic
        self._sizes = scene.sizes
        self._mass = np.array([body.mass for body in scene.bodies])
        self._inertia = inertias(build_model(scene))

    def measure(self, motion) -> dict:
        """What the table shows of a motion.

        Parameters
        ----------
        motion : Motion

        Returns
        -------
        dict
            ``drift``: farthest that a body was from its start, as a share of its size. ``overlap``: deepest, as a share
            of the smaller body's size; of what moves after the first second. ``energy``: growth beyond the start, over
            the sum of m g size; of what overlaps at the start beyond that after the first second. ``lost``: bodies that
            are deep below the floor's upper side at the end, and not because they rolled over its edge. ``ms``: mean
            processor time of a frame.
        """
        frames = len(motion.seconds)
        settled = min(_SETTLED, frames // 2)
        first = 1 if self._scene.stands else settled
        moves = self._dynamic
        away = np.linalg.norm(motion.position[:, moves] - motion.position[0, moves], axis=2) / self._sizes[moves]
        depths = [
            self._overlaps.deepest(motion.position[frame], motion.orientation[frame])
            for frame in range(first, frames + 1)
        ]
        return {
            "drift": _worst(away),
            "overlap": _worst(np.array(depths)),
            "energy": self._growth(motion, settled if self._scene.overlap else 0),
            "lost": self._lost(motion.position[-1, moves]),
            "ms": 1e3 * float(motion.seconds.mean()),
        }

    def energy(self, motion) -> np.ndarray:
        """Kinetic and potential energy at each frame [frame_count + 1] [J]."""
        moves = self._dynamic
        velocity, mass = motion.velocity[:, moves], self._mass[moves]
        axes = matrix(motion.orientation[:, moves])
        spin = np.einsum("fbij,fbi->fbj", axes, velocity[:, :, 3:])
        turning = np.einsum("fbi,bij,fbj->f", spin, self._inertia[moves], spin)
        straight = np.einsum("fbi,b,fbi->f", velocity[:, :, :3], mass, velocity[:, :, :3])
        return 0.5 * (turning + straight) + GRAVITY * motion.position[:, moves, 2] @ mass

    def _lost(self, position) -> int:
        """Bodies that went through the floor, of what moves: slopes have no floor."""
        place = position / self._scene.scale
        beside = np.abs(place[:, :2]).max(axis=1) > FLOOR_HALF_WIDTH
        return 0 if self._scene.stands else int(np.sum(~(place[:, 2] > -1.0) & ~beside))

    def _growth(self, motion, first) -> float:
        energy = self.energy(motion)[first:]
        scale = GRAVITY * float(self._mass[self._dynamic] @ self._sizes[self._dynamic])
        return _worst(energy - energy[0]) / scale


def _worst(values) -> float:
    """The largest; infinite where one is not finite."""
    return float(values.max(initial=0.0)) if np.isfinite(values).all() else float("inf")
