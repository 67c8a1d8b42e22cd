"""Which bodies move in small steps, how far, and what their islands may spend on exact solves (``island_solve``).

Credit, in sweeps over an island, is the budget of exact solves, which ends them: each substep adds what it costs
anyway, small steps and all that is done for an island beside them, up to a limit; each solve takes what it cost. So all
of these together cost no more than the substeps themselves, however hard the scene. A scene starts with enough for a
cold start of what stands, which makes all later solves cheap; what is in motion may spend no more than what leaves
enough for coming to rest.
"""

from typing import NamedTuple

import numpy as np

from ...compiled.kernel import subkernel
from .policy import CREDIT_DEBT, CREDIT_MOST, CREDIT_START, CREDIT_SWEEPS, CREDIT_VISITS


class SmallStepMotion(NamedTuple):
    """What small steps leave of each body.

    Attributes
    ----------
    is_used : bool [body_count]
        In this detection pass the body's island moves in small steps.
    is_swept : bool [body_count]
        In this pass the contacts of the body's island, which has joints, are only swept (``jointed_solve``).
    mean_velocity : float64 [body_count, 6]
        Of such bodies over the substep: what moves the poses.
    keeps_overlaps : bool [body_count]
        The body has moved in small steps. What these leave of overlaps may contradict each other, so solves by the
        method leave it, too.
    was_solved : bool [body_count]
        The last solve of the body's island was one by the method, and reached its tolerance.
    credit : float64 [body_count]
        Sweeps that may be spent on the body's island.
    unsettled : float64 [body_count]
        By how much the last sweep of the last small steps of the body's island changed a speed [m/s].
    """

    is_used: np.ndarray
    is_swept: np.ndarray
    mean_velocity: np.ndarray
    keeps_overlaps: np.ndarray
    was_solved: np.ndarray
    credit: np.ndarray
    unsettled: np.ndarray


def allocate_small_step_motion(body_count: int) -> SmallStepMotion:
    """Bodies that have not moved yet."""
    return SmallStepMotion(
        is_used=np.zeros(body_count, np.bool_),
        is_swept=np.zeros(body_count, np.bool_),
        mean_velocity=np.zeros((body_count, 6)),
        keeps_overlaps=np.zeros(body_count, np.bool_),
        was_solved=np.zeros(body_count, np.bool_),
        credit=np.full(body_count, CREDIT_START),
        unsettled=np.zeros(body_count),
    )


@subkernel
def forget_small_steps(small_steps):
    """Begin a detection pass: nothing has moved in small steps."""
    for body in range(len(small_steps.is_used)):
        small_steps.is_used[body] = small_steps.is_swept[body] = False


@subkernel
def use_small_steps(islands, island, small_steps, change):
    """Note that an island moves in small steps, and by how much their last sweep changed a speed [m/s]."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        small_steps.is_used[body] = small_steps.keeps_overlaps[body] = True
        small_steps.unsettled[body] = change


@subkernel
def note_swept(islands, island, small_steps):
    """Note that the contacts of an island with joints are only swept."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        small_steps.is_swept[islands.body_order[index]] = True


@subkernel
def change_of_last_sweep(islands, island, small_steps):
    """The largest ``SmallStepMotion.unsettled`` of an island's bodies [m/s]."""
    change = 0.0
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        change = max(change, small_steps.unsettled[islands.body_order[index]])
    return change


@subkernel
def keeps_overlaps(islands, island, small_steps):
    """Whether some body of an island keeps its overlaps."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        if small_steps.keeps_overlaps[islands.body_order[index]]:
            return True
    return False


@subkernel
def note_solved_by_method(islands, island, small_steps, solved):
    """Note whether an island was solved by the method."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        small_steps.was_solved[islands.body_order[index]] = solved


@subkernel
def was_solved_by_method(islands, island, small_steps):
    """Whether all bodies of an island were solved by the method."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        if not small_steps.was_solved[islands.body_order[index]]:
            return False
    return True


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
    """Take what a solve by the method has cost, down to the largest debt."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        small_steps.credit[body] = max(small_steps.credit[body] - sweeps, -CREDIT_DEBT)


@subkernel
def earn_credit(islands, island, small_steps):
    """Add what a substep earns an island, once a substep."""
    contacts = islands.block_first[island + 1] - islands.block_first[island]
    earned = CREDIT_SWEEPS + CREDIT_VISITS / max(contacts, 1)
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        small_steps.credit[body] = max(small_steps.credit[body], min(small_steps.credit[body] + earned, CREDIT_MOST))


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
