"""What bodies remember of how their islands were solved, and what these may spend on exact solves.

Islands come and go; so each body remembers for itself, and an island knows what its bodies agree on (``recall``).

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


class IslandMemory(NamedTuple):
    """By body.

    Attributes
    ----------
    stands : bool [body_count]
        The body has stood still in this frame (``standstill``).
    is_unsolved, was_unsolved : bool [body_count]
        The last solve for positions missed the tolerance in the body's island: in this substep, in the previous one.
    was_solved : bool [body_count]
        The last solve of the body's island was one by the method, and reached its tolerance.
    keeps_overlaps : bool [body_count]
        The body has moved in small steps. What these leave of overlaps may contradict each other, so solves by the
        method leave it, too.
    credit : float64 [body_count]
        Sweeps that may be spent on the body's island.
    unsettled : float64 [body_count]
        By how much the last sweep of the last small steps of the body's island changed a speed [m/s].
    in_small_steps : bool [body_count]
        In this detection pass the body's island moves in small steps.
    is_swept : bool [body_count]
        In this pass the contacts of the body's island, which has joints, are only swept.
    mean_velocity : float64 [body_count, 6]
        Over the substep, of bodies in small steps: what moves the poses.
    is_lost : bool [body_count]
        The body's motion was no number any more, so it is held where it was last.
    contact_turn : float64 [body_count]
        How fast the place where the body rolls or slides went round it in the last substep [rad/s].
    """

    stands: np.ndarray
    is_unsolved: np.ndarray
    was_unsolved: np.ndarray
    was_solved: np.ndarray
    keeps_overlaps: np.ndarray
    credit: np.ndarray
    unsettled: np.ndarray
    in_small_steps: np.ndarray
    is_swept: np.ndarray
    mean_velocity: np.ndarray
    is_lost: np.ndarray
    contact_turn: np.ndarray


def allocate_island_memory(body_count: int) -> IslandMemory:
    """Of bodies that have not moved yet, in islands that have been solved."""
    no = np.zeros(body_count, np.bool_)
    return IslandMemory(
        stands=no.copy(),
        is_unsolved=no.copy(),
        was_unsolved=no.copy(),
        was_solved=no.copy(),
        keeps_overlaps=no.copy(),
        credit=np.full(body_count, CREDIT_START),
        unsettled=np.zeros(body_count),
        in_small_steps=no.copy(),
        is_swept=no.copy(),
        mean_velocity=np.zeros((body_count, 6)),
        is_lost=no.copy(),
        contact_turn=np.zeros(body_count),
    )


class Recollection(NamedTuple):
    """What the bodies of an island agree on.

    Attributes
    ----------
    stand, were_solved : bool
        All of them ``stands``, ``was_solved``.
    keep_overlaps, are_unsolved, were_unsolved : bool
        One of them ``keeps_overlaps``, ``is_unsolved``, ``was_unsolved``.
    credit : float
        The least: a hit leaves nobody with more to spend [sweeps].
    unsettled : float
        The largest [m/s].
    """

    stand: bool
    were_solved: bool
    keep_overlaps: bool
    are_unsolved: bool
    were_unsolved: bool
    credit: float
    unsettled: float


@subkernel
def recall(islands, island, memory):
    """What an island's bodies remember.

    Parameters
    ----------
    islands, island
        Read.
    memory : IslandMemory
        Read.

    Returns
    -------
    Recollection
    """
    stand, were_solved = np.bool_(True), np.bool_(True)
    keep_overlaps, are_unsolved, were_unsolved = np.bool_(False), np.bool_(False), np.bool_(False)
    credit, unsettled = CREDIT_START, 0.0
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        stand = stand and memory.stands[body]
        were_solved = were_solved and memory.was_solved[body]
        keep_overlaps = keep_overlaps or memory.keeps_overlaps[body]
        are_unsolved = are_unsolved or memory.is_unsolved[body]
        were_unsolved = were_unsolved or memory.was_unsolved[body]
        credit = min(credit, memory.credit[body])
        unsettled = max(unsettled, memory.unsettled[body])
    return Recollection(stand, were_solved, keep_overlaps, are_unsolved, were_unsolved, credit, unsettled)


@subkernel
def begin_substep(memory):
    """A new substep has not solved anything yet; what the last one left stays known."""
    for body in range(len(memory.is_unsolved)):
        memory.is_unsolved[body] = False


@subkernel
def begin_pass(memory):
    """Begin to solve for positions: nothing has moved in small steps."""
    for body in range(len(memory.in_small_steps)):
        memory.in_small_steps[body] = memory.is_swept[body] = False


@subkernel
def end_substep(memory):
    """Note for the next substep which bodies this one leaves unsolved.

    Not when that one starts: it starts again if a buffer turns out to be full, or if it wakes bodies.
    """
    for body in range(len(memory.is_unsolved)):
        memory.was_unsolved[body] = memory.is_unsolved[body]


@subkernel
def forget_standing(memory):
    """Begin a frame: who stands still is to be found anew."""
    for body in range(len(memory.stands)):
        memory.stands[body] = False


@subkernel
def note_solved(islands, island, memory, is_unsolved):
    """Note whether the solve of an island missed its tolerance."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        memory.is_unsolved[islands.body_order[index]] = is_unsolved


@subkernel
def note_solved_by_method(islands, island, memory, was_solved):
    """Note whether the method has solved an island."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        memory.was_solved[islands.body_order[index]] = was_solved


@subkernel
def note_small_steps(islands, island, memory, change):
    """Note that an island moves in small steps, and by how much their last sweep changed a speed [m/s]."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        memory.in_small_steps[body] = memory.keeps_overlaps[body] = True
        memory.was_solved[body] = False
        memory.unsettled[body] = change


@subkernel
def note_swept(islands, island, memory):
    """Note that the contacts of an island with joints are only swept."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        memory.is_swept[islands.body_order[index]] = True


@subkernel
def has_unsolved_body(islands, island, memory):
    """Whether the solve of an island missed its tolerance."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        if memory.is_unsolved[islands.body_order[index]]:
            return True
    return False


@subkernel
def moves_in_small_steps(islands, island, memory):
    """Whether an island moves in small steps."""
    first = islands.body_first[island]
    return first < islands.body_first[island + 1] and memory.in_small_steps[islands.body_order[first]]


@subkernel
def credit_of(islands, island, memory):
    """The credit of an island [sweeps]."""
    return recall(islands, island, memory).credit


@subkernel
def spend_credit(islands, island, memory, sweeps):
    """Take what a solve by the method has cost, down to the largest debt."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        memory.credit[body] = max(memory.credit[body] - sweeps, -CREDIT_DEBT)


@subkernel
def earn_credit(islands, island, memory):
    """Add what a substep earns an island, once a substep."""
    contacts = islands.block_first[island + 1] - islands.block_first[island]
    earned = CREDIT_SWEEPS + CREDIT_VISITS / max(contacts, 1)
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        memory.credit[body] = max(memory.credit[body], min(memory.credit[body] + earned, CREDIT_MOST))


@subkernel
def take_mean_velocities(memory, position_velocity):
    """Let bodies that moved in small steps go where these lead.

    Parameters
    ----------
    memory : IslandMemory
        Read.
    position_velocity : float64 [body_count, 6]
        Written for these bodies.
    """
    for body in range(len(memory.in_small_steps)):
        if memory.in_small_steps[body]:
            for column in range(6):
                position_velocity[body, column] = memory.mean_velocity[body, column]
