"""Where motion breaks within a frame: substeps at whose end a body has another velocity than forces would give it.

Poses at frames cut the corner of a bounce between two of them. The substep in which a body is hit ends where it
touches, with the velocity that it leaves with, so its pose there is the corner.

What contacts and joints give a body in a substep changes its velocity by d, a vector with a norm: the change's kinetic
energy is m |d|^2 / 2, so turns count as the body's mass lies. This is a break if

- it is more than gravity and fields give in a whole frame: the path between two frames bends by so much in any case;
- it is more than a hundredth of the speed, else the path has no corner that is seen;
- it moves the body by more than a thousandth of its radius of gyration in a frame;
- and it is another push than in the substep before. What bears, drags or turns a body goes on from substep to substep,
  however strong it is; a hit comes at once, and is over.

All are ratios, without metres. Turns are compared by angular momentum, which a body that tumbles freely keeps.

A simulation that notes breaks advances substep by substep, which gives the same bits; kernels know nothing of it.
"""

from dataclasses import dataclass, fields

import numpy as np

from ...geometry import rotations

# A hundredth of the speed, a thousandth of the radius of gyration.
_RATIO_SPEED, _RATIO_SIZE = 0.01, 0.001
# A push that differs by less than this share from the one before goes on.
_RATIO_SAME = 0.5
# Principal moments that differ by less than this share count as one.
_RATIO_ISOTROPIC = 1e-9
# Its name in a checkpoint.
_PUSH = "breaks.push"


@dataclass(slots=True)
class FrameBreaks:
    """Where within a frame the motion of bodies breaks: n poses, in order of time.

    Attributes
    ----------
    body : int64 [n]
    share : float64 [n]
        Of the frame that is over, above 0 and below 1.
    position, orientation : float64 [n, 3], [n, 4]
        Of the user frames [m]; unit quaternions (w, x, y, z).
    spin : float64 [n, 3]
        Angular velocity from there on, world axes [rad/s].
    """

    body: np.ndarray
    share: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    spin: np.ndarray

    @classmethod
    def joined(cls, parts: "list[FrameBreaks]") -> "FrameBreaks":
        """Several, one after the other; of none it is empty."""
        empty = cls(np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 3)), np.zeros((0, 4)), np.zeros((0, 3)))
        names = [entry.name for entry in fields(cls)]
        return cls(*(np.concatenate([getattr(part, name) for part in (empty, *parts)]) for name in names))


class MotionBreaks:
    """Finds breaks by comparing the ends of substeps.

    Parameters
    ----------
    model : ModelArrays

    Attributes
    ----------
    push : float64 [body_count, 6]
        What contacts and joints have given in the last substep, linear and, in world axes and times the roots of the
        moments over the mass, angular [m/s]. A checkpoint holds it.
    found : list of FrameBreaks
        Of the frame.
    """

    def __init__(self, model):
        mass, inertia = model.mass, model.inertia
        is_free = np.isfinite(mass) & (mass > 0.0)
        self._mass = np.where(is_free, mass, 1.0)
        # what cannot turn about an axis is not turned
        self._inertia = np.where(np.isfinite(inertia) & is_free[:, None], inertia, 0.0)
        self._inverse = np.divide(1.0, self._inertia, out=np.zeros_like(self._inertia), where=self._inertia > 0.0)
        self._arms = np.sqrt(self._inertia / self._mass[:, None])
        least, largest = self._inertia.min(axis=1, initial=np.inf), self._inertia.max(axis=1, initial=0.0)
        self._tumbles = largest - least > _RATIO_ISOTROPIC * largest
        self._radius = self._arms.max(axis=1, initial=0.0)
        self._kept = 1.0 - np.repeat(np.column_stack([model.linear_damping, model.angular_damping]), 3, axis=1)
        self.push = np.zeros((len(mass), 6))
        self.found: list[FrameBreaks] = []

    def note(self, state, motion, before: np.ndarray, step, poses) -> None:
        """Compare the end of a substep with what forces alone would have led to.

        Parameters
        ----------
        state, motion : StateArrays, MotionArrays
            At the substep's end (read).
        before : float64 [body_count, 4]
            Orientations at its start.
        step : StepSettings
            ``until`` is the substep's number, from 1.
        poses : callable
            Gives the poses of the user frames, as ``Simulation.poses``.
        """
        duration = step.substeps * step.h
        pushed = np.flatnonzero(motion.can_be_pushed)
        field = motion.acceleration[np.minimum(pushed, len(motion.acceleration) - 1)]
        # ``free_velocity`` of the motion is what the velocity solve began with
        free = self._kept[pushed] ** step.h * motion.start_velocity[pushed] + step.h * field
        speed, push = self._speeds(state, free, before, pushed)
        least = np.maximum(_norm(field[:, :3]) * duration, _RATIO_SPEED * speed)
        least = np.maximum(least, _RATIO_SIZE * self._radius[pushed] / duration)
        size = _norm(push)
        change = _norm(push - self.push[pushed])
        self.push[:] = 0.0
        self.push[pushed] = push
        found = pushed[(size > least) & (change > np.maximum(least, _RATIO_SAME * size))]
        if len(found) and step.until < step.substeps:  # the frame's own poses are those of its end
            position, orientation = poses()
            share = np.full(len(found), step.until / step.substeps)
            spin = state.velocity[found, 3:]
            self.found.append(FrameBreaks(found, share, position[found], orientation[found], spin))

    def of_frame(self) -> FrameBreaks:
        """All of the frame, and begin the next one."""
        found, self.found = self.found, []
        return FrameBreaks.joined(found)

    def stored(self) -> dict[str, np.ndarray]:
        """What a checkpoint holds of it."""
        return {_PUSH: self.push.copy()}

    def restored_push(self, arrays: dict[str, np.ndarray]) -> np.ndarray:
        """The same from a checkpoint's arrays; ValueError if it holds none."""
        push = arrays.get(_PUSH)
        if push is None or push.shape != self.push.shape:
            raise ValueError(f"the checkpoint has no {_PUSH}")
        return push.copy()

    def _speeds(self, state, free, before, bodies):
        """Norms of bodies' velocities at the end, and what has pushed them [n, 6]."""
        now, arms = state.velocity[bodies], self._arms[bodies]
        # of what turns like a ball, angular velocities say it
        spin, change = arms * now[:, 3:], arms * (now[:, 3:] - free[:, 3:])
        rows = np.flatnonzero(self._tumbles[bodies] & ((now[:, 3:] != 0.0) | (free[:, 3:] != 0.0)).any(axis=1))
        if len(rows):
            own = bodies[rows]
            first, last = rotations.matrix(before[own]), rotations.matrix(state.orientation[own])
            momentum = _turned(first, self._inertia[own] * _turned_back(first, free[rows, 3:]))
            turned = _turned_back(last, now[rows, 3:])
            lost = turned - self._inverse[own] * _turned_back(last, momentum)
            spin[rows] = arms[rows] * turned
            change[rows] = _turned(last, arms[rows] * lost)
        speed = np.sqrt(_square(now[:, :3]) + _square(spin))
        return speed, np.concatenate([now[:, :3] - free[:, :3], change], axis=1)


def _square(vectors):
    # not by einsum or sum, whose order of adding is the machine's
    total = vectors[:, 0] * vectors[:, 0]
    for column in range(1, vectors.shape[1]):
        total += vectors[:, column] * vectors[:, column]
    return total


def _norm(vectors):
    return np.sqrt(_square(vectors))


def _turned(matrices, vectors):
    x, y, z = (vectors[:, None, column] for column in range(3))
    return matrices[:, :, 0] * x + matrices[:, :, 1] * y + matrices[:, :, 2] * z


def _turned_back(matrices, vectors):
    return _turned(np.swapaxes(matrices, 1, 2), vectors)
