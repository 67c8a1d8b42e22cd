"""What small steps (``small_steps``) and their impacts (``impacts``) are given beside the rows, and what they write."""

from typing import NamedTuple

import numpy as np

from ...problem.substep_impulses import SubstepImpulses


class SmallStepInput(NamedTuple):
    """What small steps need beside the rows.

    Attributes
    ----------
    contact_count : int64 [1]
        Blocks before this one are contacts; the others keep their bias.
    gap : float64 [contact_capacity]
        At the substep's start [m].
    unrelaxed_gap : float64 [contact_capacity]
        What of an overlap is none yet: the substep itself would lead into it [m].
    surface_speed : float64 [contact_capacity]
        ``SmallStepArrays.kept_speed`` of contacts.
    bounce_speed : float64 [contact_capacity]
        Speed after a bounce [m/s]; 0 where a contact does not bounce.
    restitution : float64 [contact_capacity]
    start_velocity, free_velocity : float64 [body_count, 6]
        At the substep's start, and at its end without contacts.
    position : float64 [body_count, 3]
        Of the centres of mass at the substep's start [m].
    least_impact : float
        Approaches up to this speed are no impacts [m/s].
    """

    contact_count: np.ndarray
    gap: np.ndarray
    unrelaxed_gap: np.ndarray
    surface_speed: np.ndarray
    bounce_speed: np.ndarray
    restitution: np.ndarray
    start_velocity: np.ndarray
    free_velocity: np.ndarray
    position: np.ndarray
    least_impact: float


class SmallStepMotion(NamedTuple):
    """What small steps write beside impulses.

    Attributes
    ----------
    velocity : float64 [body_count, 6]
        At the substep's end.
    mean_velocity : float64 [body_count, 6]
        h times it is how the island's bodies move.
    impulses : SubstepImpulses
        Where they are kept: of all steps but as ``rows.impulse`` says, and what bodies got by no impulse.
    """

    velocity: np.ndarray
    mean_velocity: np.ndarray
    impulses: SubstepImpulses


class SmallStepPace(NamedTuple):
    """How an island goes through a substep.

    Attributes
    ----------
    h : float
        Length of the substep [s].
    steps : int
        Small steps in it.
    size, cube_side : float
        Of the smallest body, and side of the cube of the smallest volume [m].
    gravity : float
        [m/s^2].
    is_supported, is_driven : bool
        The island touches something that cannot be pushed; and that moves by itself and may push energy into it.
    """

    h: float
    steps: int
    size: float
    cube_side: float
    gravity: float
    is_supported: bool
    is_driven: bool
