"""What somebody has dragged while a scene was simulated, frame by frame: the hand is a part of what drives it.

So a run with the same drags has the same bits, whether it follows the hand, goes on from there or begins anew.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:  # it loads Numba
    from ...solver_core import Pull
    from ...solver_core.model.model import Model

# The weight of a body where there is no gravity is that of this one [m/s^2].
_GRAVITY = 9.81


class Spring(NamedTuple):
    """How a body is pulled.

    Attributes
    ----------
    frequency : float
        [Hz].
    damping_ratio : float
    largest_force : float
        In weights of the body.
    """

    frequency: float = 3.0
    damping_ratio: float = 0.7
    largest_force: float = 20.0


class Dragged(NamedTuple):
    """What is dragged in a frame.

    Attributes
    ----------
    name : str
        Of the object.
    point : tuple of float [3]
        Where it is held, in its user frame [m].
    begin, end : tuple of float [3]
        Where that point is to be at the frame's beginning and end [m].
    spring : Spring
    """

    name: str
    point: tuple[float, float, float]
    begin: tuple[float, float, float]
    end: tuple[float, float, float]
    spring: Spring


class Drags:
    """What was dragged, by frame of the scene, and what is held now.

    Attributes
    ----------
    frames : dict of int to Dragged
    """

    def __init__(self):
        self.frames: dict[int, Dragged] = {}
        self._held: Dragged | None = None
        self._first = self._last = 0
        self._before: dict[int, Dragged] = {}

    @property
    def is_held(self) -> bool:
        """Whether something is in the hand."""
        return self._held is not None

    @property
    def first(self) -> int:
        """The frame at whose end it was taken into the hand."""
        return self._first

    @property
    def held(self) -> Dragged | None:
        """What is in the hand, and where the hand is at last."""
        return self._held

    def grab(self, frame: int, name: str, point, place, spring: Spring) -> None:
        """Take a body into the hand at a frame's end; what was dragged later is forgotten."""
        place = _numbers(place)
        self._before, self._first, self._last = self.frames, frame, frame
        self.frames = {each: dragged for each, dragged in self.frames.items() if each <= frame}
        self._held = Dragged(name, _numbers(point), place, place, spring)

    def move(self, place) -> None:
        """The hand is at another place [m]."""
        if self._held is not None:
            self._held = self._held._replace(end=_numbers(place))

    def reach(self, frame: int) -> None:
        """Time has come so far: the hand goes to where it is now, at the rate of these frames."""
        if self._held is None or frame <= self._last:
            return
        begin, end = np.array(self._held.begin), np.array(self._held.end)
        count = frame - self._last
        ways = [_numbers(begin + (end - begin) * done / count) for done in range(count)] + [self._held.end]
        for number in range(count):
            self.frames[self._last + number + 1] = self._held._replace(begin=ways[number], end=ways[number + 1])
        self._held, self._last = self._held._replace(begin=self._held.end), frame

    def release(self) -> None:
        """Let go: what was dragged stays."""
        self._held, self._before = None, {}

    def cancel(self) -> None:
        """Let go, and have all as it was before."""
        self.frames = self._before
        self.release()

    def is_known(self, frame: int) -> bool:
        """Whether it is known what is dragged in a frame."""
        return self._held is None or frame <= self._last

    def pull(self, frame: int, model: "Model") -> "Pull | None":
        """What the simulation is to pull in a frame; bodies that are no longer there are let alone."""
        dragged = self.frames.get(frame)
        if dragged is None or dragged.name not in model.names:
            return None
        from ...solver_core import Pull

        body, spring = model.names.index(dragged.name), dragged.spring
        weight = float(model.arrays.mass[body]) * (float(np.linalg.norm(model.gravity)) or _GRAVITY)
        return Pull(
            body=body,
            point=dragged.point,
            begin=dragged.begin,
            end=dragged.end,
            frequency=spring.frequency,
            damping_ratio=spring.damping_ratio,
            largest_force=spring.largest_force * weight,
        )

    def spans(self) -> list[tuple[str, int, int]]:
        """Name, first and last frame of what was dragged without a pause."""
        found: list[tuple[str, int, int]] = []
        for frame in sorted(self.frames):
            name = self.frames[frame].name
            if found and found[-1][0] == name and found[-1][2] == frame - 1:
                found[-1] = name, found[-1][1], frame
            else:
                found.append((name, frame, frame))
        return found


def _numbers(place):
    x, y, z = place
    return float(x), float(y), float(z)
