"""Which bodies are in islands whose position solve missed the tolerance, in this substep and in the previous one."""

from typing import NamedTuple

import numpy as np

from ...collision.data.workspace import RATIO_MARGIN
from ...collision.detection_passes import is_deep_contact
from ...compiled.kernel import subkernel


class SolveFlags(NamedTuple):
    """Convergence of the position solves, body by body.

    Attributes
    ----------
    is_unsolved : bool [B]
        The final solve of this substep missed the tolerance in the body's island.
    was_unsolved : bool [B]
        The final solve of the previous substep did.
    """

    is_unsolved: np.ndarray
    was_unsolved: np.ndarray


def allocate_solve_flags(body_count: int) -> SolveFlags:
    """Flags of bodies whose islands have been solved."""
    return SolveFlags(is_unsolved=np.zeros(body_count, np.bool_), was_unsolved=np.zeros(body_count, np.bool_))


@subkernel
def start_solve_flags(flags):
    """A new substep has not solved anything yet; what the last one left stays known."""
    for body in range(len(flags.is_unsolved)):
        flags.is_unsolved[body] = False


@subkernel
def keep_solve_flags(flags):
    """Note for the next substep which bodies this one leaves unsolved.

    Not when that one starts: it starts again if a buffer turns out to be full, or if it wakes bodies.
    """
    for body in range(len(flags.is_unsolved)):
        flags.was_unsolved[body] = flags.is_unsolved[body]


@subkernel
def note_solved(islands, island, flags, unsolved):
    """Note whether the solve of an island missed its tolerance."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        flags.is_unsolved[islands.body_order[index]] = unsolved


@subkernel
def has_flagged_body(islands, island, flag):
    """Whether a flag (bool [B], of ``SolveFlags``) is set for a body of an island."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        if flag[islands.body_order[index]]:
            return True
    return False


@subkernel
def has_deep_contacts(islands, island, contacts, sizes):
    """Whether shapes of an island overlap by so much that it is taken out over many substeps."""
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        contact = islands.block_order[index]
        if contact < contacts.count[0]:
            allowed = RATIO_MARGIN * min(sizes[contacts.shape_a[contact]], sizes[contacts.shape_b[contact]])
            if is_deep_contact(contacts, contact, allowed):
                return True
    return False
