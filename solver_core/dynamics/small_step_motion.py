"""Which bodies move in small steps, how far, and what their islands may spend on exact solves (``island_solve``).

Credit, in sweeps over an island, makes the price of a solve that may fail known beforehand: each substep adds what
small steps cost anyway, each exact solve takes what it cost. So all attempts together cost no more than the
small steps between them, however hard the scene; and a scene starts with enough for a cold start of what stands, which
makes all later solves cheap.
"""

from typing import NamedTuple

import numpy as np

from ..compiled.kernel import subkernel

# What a body starts with, and the most that it can have; what an attempt must have; what each substep adds.
CREDIT_START, CREDIT_TO_TRY, CREDIT_A_SUBSTEP = 2000.0, 40.0, 8.0


class SmallStepMotion(NamedTuple):
    """What small steps leave of each body.

    Attributes
    ----------
    is_used : bool [body_count]
        In this detection pass the body's island moves in small steps.
    mean_velocity : float64 [body_count, 6]
        Of such bodies over the substep: what moves the poses.
    credit : float64 [body_count]
        Sweeps that may be spent on the body's island.
    """

    is_used: np.ndarray
    mean_velocity: np.ndarray
    credit: np.ndarray


def allocate_small_step_motion(body_count: int) -> SmallStepMotion:
    """Bodies that have not moved yet."""
    return SmallStepMotion(
        is_used=np.zeros(body_count, np.bool_),
        mean_velocity=np.zeros((body_count, 6)),
        credit=np.full(body_count, CREDIT_START),
    )


@subkernel
def forget_small_steps(small_steps):
    """Begin a detection pass: nothing has moved in small steps."""
    for body in range(len(small_steps.is_used)):
        small_steps.is_used[body] = False


@subkernel
def use_small_steps(islands, island, small_steps):
    """Note that an island moves in small steps."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        small_steps.is_used[islands.body_order[index]] = True


@subkernel
def moves_in_small_steps(islands, island, small_steps):
    """Whether an island moves in small steps."""
    first = islands.body_first[island]
    return first < islands.body_first[island + 1] and small_steps.is_used[islands.body_order[first]]


@subkernel
def credit_of(islands, island, small_steps):
    """The least credit of an island's bodies: a hit leaves nobody with more to spend."""
    credit = CREDIT_START
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        credit = min(credit, small_steps.credit[islands.body_order[index]])
    return credit


@subkernel
def spend_credit(islands, island, small_steps, sweeps):
    """Take what a solve by the method has cost."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        small_steps.credit[islands.body_order[index]] -= sweeps


@subkernel
def earn_credit(small_steps):
    """Add what a substep earns, once a substep."""
    for body in range(len(small_steps.credit)):
        small_steps.credit[body] = min(small_steps.credit[body] + CREDIT_A_SUBSTEP, CREDIT_START)


@subkernel
def take_mean_velocities(small_steps, position_velocity):
    """Let bodies that moved in small steps go where these lead.

    Parameters
    ----------
    small_steps : SmallStepMotion
        Read.
    position_velocity : float64 [body_count, 6]
        Written for these bodies.
    """
    for body in range(len(small_steps.is_used)):
        if small_steps.is_used[body]:
            for column in range(6):
                position_velocity[body, column] = small_steps.mean_velocity[body, column]
