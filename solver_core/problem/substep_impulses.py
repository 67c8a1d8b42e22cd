"""What a substep's impulses are beside those that its rows end with, noted only where somebody asks for contacts.

A solve ends with impulses r of its rows, but these need not be all that its bodies got: an island that bounces goes
through a sequence of impacts, each of which begins from none; small steps end with those of the last step; and two
balls are turned to the line of their centres between the two solves. With P what a contact has given body b in all,

    P = J' r + beside,       v = v_free + M^-1 (sum of P) + balance / m

in every substep. ``balance`` is what a solve has done to a body by none of its rows: small steps owe something to
conservation laws (``solvers.small_step_balance``).
"""

from typing import NamedTuple

import numpy as np

from ..compiled.kernel import subkernel


class SubstepImpulses(NamedTuple):
    """What acts in a substep beside the impulses of the rows.

    Attributes
    ----------
    is_kept : int64 [1]
        0: nothing is noted, and the arrays below are empty.
    beside : float64 [contact_capacity, 3]
        What a contact gave body b beside the impulses of its rows, world axes [N s].
    balance : float64 [body_count, 3]
        What a body got by no row [N s].
    """

    is_kept: np.ndarray
    beside: np.ndarray
    balance: np.ndarray


def allocate_substep_impulses(contact_capacity: int, body_count: int, is_kept: bool) -> SubstepImpulses:
    """Room for this many contacts and bodies; for none if nothing is kept."""
    contacts, bodies = (contact_capacity, body_count) if is_kept else (0, 0)
    return SubstepImpulses(np.full(1, int(is_kept), np.int64), np.zeros((contacts, 3)), np.zeros((bodies, 3)))


@subkernel
def forget_substep_impulses(impulses, contact_count):
    """Begin a detection pass: no contact has given anything.

    Parameters
    ----------
    impulses : SubstepImpulses
        Written.
    contact_count : int64
    """
    for contact in range(contact_count):
        for axis in range(3):
            impulses.beside[contact, axis] = 0.0
    for body in range(impulses.balance.shape[0]):
        for axis in range(3):
            impulses.balance[body, axis] = 0.0


@subkernel
def add_impulses_of_rows(rows, islands, island, contact_count, factor, impulses):
    """Add a multiple of what the rows of an island's contacts have given to what is ``beside`` them.

    Parameters
    ----------
    rows, islands, island
        Read.
    contact_count : int64
        Blocks before this one are contacts.
    factor : float
    impulses : SubstepImpulses
        ``beside`` written.
    """
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if block < contact_count:
            add_impulse_of_rows(rows, block, factor, impulses.beside[block])


@subkernel
def add_impulse_of_rows(rows, block, factor, total):
    """Add a multiple of what a block's rows have given body b, world axes [N s].

    Parameters
    ----------
    rows : RowArrays
        Read.
    block : int64
    factor : float
    total : float64 [3]
        Written.
    """
    for row in range(rows.block_row[block], rows.block_row[block + 1]):
        impulse = factor * rows.impulse[row]
        for axis in range(3):
            total[axis] += rows.jacobian[row, 6 + axis] * impulse


@subkernel
def take_as_given(rows, islands, island, contact_count, given, impulses):
    """Let what contacts have given be what is ``given``, whatever their rows say now.

    Parameters
    ----------
    rows, islands, island, contact_count
        As of ``add_impulses_of_rows``.
    given : float64 [contact_capacity, 3]
        On body b, world axes [N s] (read).
    impulses : SubstepImpulses
        ``beside`` written.
    """
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if block < contact_count:
            for axis in range(3):
                impulses.beside[block, axis] = given[block, axis]
    add_impulses_of_rows(rows, islands, island, contact_count, -1.0, impulses)
