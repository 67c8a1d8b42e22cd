"""What changes along a simulation: poses, velocities and kinds of the bodies, in the body frame (see ``model``)."""

from typing import NamedTuple

import numpy as np

# ``BodyKind`` as kernels read it: Numba would take a member of the enumeration for a type of its own.
STATIC, KINEMATIC, DYNAMIC = range(3)


class StateArrays(NamedTuple):
    """State of all bodies, written by the step.

    Attributes
    ----------
    position : float64 [body_count, 3]
        Centres of mass [m].
    orientation : float64 [body_count, 4]
        Unit quaternions (w, x, y, z) of the body frames, whose axes are the principal axes of inertia.
    velocity : float64 [body_count, 6]
        Linear velocity of the centre of mass [m/s] and angular velocity [rad/s], both in world axes.
    kind : int64 [body_count]
        ``BodyKind`` at present; it may change from frame to frame.
    """

    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray
    kind: np.ndarray


def copy_state(state: StateArrays) -> StateArrays:
    """A copy that shares nothing with ``state``."""
    return StateArrays(*(array.copy() for array in state))
