"""Servos that lead bodies to poses from outside: what is carried along of them (``guides``)."""

from typing import NamedTuple

import numpy as np

from ...compiled.kernel import subkernel
from ..motion.position_update import END
from .driven_paths import DrivenPaths, allocate_paths

# Share of a substep's last velocity in what moves a body by the mean of both.
_MEAN_SHARE = 0.5
# A velocity that changes by less than this share of gravity's in a substep is the same at both ends of it.
_RATIO_STEADY = 1e-3


class GuideArrays(NamedTuple):
    """Of all bodies; empty where none has a guide.

    Attributes
    ----------
    numbers : float64 [body_count or 0, 5]
        Of ``Model.guides``; a frequency of 0 is none.
    follow : float64 [body_count or 0]
        During the frame, from 0 to 1.
    paths : DrivenPaths
        Of the body frames' targets in the frame.
    position, orientation : float64 [body_count or 0, 3], [body_count or 0, 4]
        Targets of the body frames at the frame's end.
    velocity : float64 [2, body_count or 0, 6]
        Of the targets as the servos take them, in the last substep and in this one [m/s, rad/s]; NaN: not led.
    share : float64 [body_count or 0]
        By how much of its velocity at the end the last substep has moved a body.
    moves : int64 [1]
        1: a target moves in the frame.
    begins : int64 [1]
        1: there was no frame yet.
    """

    numbers: np.ndarray
    follow: np.ndarray
    paths: DrivenPaths
    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray
    share: np.ndarray
    moves: np.ndarray
    begins: np.ndarray


def allocate_guides(numbers: np.ndarray, position=None, orientation=None) -> GuideArrays:
    """Guides whose targets are where the bodies are.

    Parameters
    ----------
    numbers : float64 [body_count or 0, 5]
    position, orientation : float64 [body_count, 3], [body_count, 4], optional
        Of the body frames.
    """
    count = len(numbers)
    paths = allocate_paths(count)
    place = np.zeros((count, 3)) if position is None else position[:count].copy()
    turn = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)) if orientation is None else orientation[:count].copy()
    paths.start_position[:], paths.start_orientation[:] = place, turn
    return GuideArrays(
        numbers=numbers,
        follow=numbers[:, 4].copy(),
        paths=paths,
        position=place,
        orientation=turn,
        velocity=np.full((2, count, 6), np.nan),
        share=np.full(count, _MEAN_SHARE),
        moves=np.zeros(1, np.int64),
        begins=np.ones(1, np.int64),
    )


def at_end(guides: GuideArrays) -> GuideArrays:
    """The same, written, with targets that stay where they are at the frame's end."""
    guides.paths.start_position[:], guides.paths.start_orientation[:] = guides.position, guides.orientation
    for part in (guides.paths.way, guides.paths.turn, guides.paths.swing):
        part[:] = 0.0
    return guides


@subkernel
def note_shares(guides, step_rule, motion, velocity, gravity_speed, small_steps):
    """Note at a substep's end what the servos of the next one begin with.

    Parameters
    ----------
    guides : GuideArrays
        Written: share, velocity.
    step_rule : int64 [body_count]
        Of ``StepRuleArrays`` (read).
    motion : MotionArrays
        Read: start_velocity, memory.
    velocity : float64 [body_count, 6]
        (read)
    gravity_speed : float
        That gravity gives in a substep [m/s].
    small_steps : int64
        In a substep.
    """
    for body in range(guides.follow.size):
        changed = 0.0
        for column in range(6):
            guides.velocity[0, body, column] = guides.velocity[1, body, column]
            if column < 3:
                changed += (velocity[body, column] - motion.start_velocity[body, column]) ** 2
        if motion.memory.in_small_steps[body]:
            guides.share[body] = 0.5 + 0.5 / max(small_steps, 1)
        elif step_rule[body] != END:
            guides.share[body] = _MEAN_SHARE
        elif changed > (_RATIO_STEADY * gravity_speed) ** 2:
            guides.share[body] = 1.0
