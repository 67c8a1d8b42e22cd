"""SIMD constraint batches: contacts that are swept eight at a time, of pairs of bodies that share no body.

Within a domain of a large island (``domain_partition``) the contacts of a pair of bodies are one run. Runs are put into
batches of eight, the longest first: each into the first batch that is still open and has none of its bodies, else into
a new one. So the runs of a batch share no body that can be pushed, and the batch is swept as one: the first contact of
every run, then the second, and so on; each lane of a SIMD vector (``compiled.simd``) is one run. The result is that of
a sweep that takes one run after the other, for none of them moves another's bodies.

    vector    lane 0  lane 1  lane 2  ...  lane 7
      0         x       x       x            x
      1         x       x       x            -       - : no contact, all numbers 0
      2         x       x       -            -

A batch in which too few lanes hold a contact is not worth its time. Its contacts are loose: swept one by one after the
batches of the domain, as are blocks that are no contacts.

The blocks of a domain are ordered by batch, run by run, and then come its loose blocks. The order depends on the domain
alone.
"""

from typing import NamedTuple

import numpy as np

from ...compiled.kernel import subkernel
from ...compiled.simd import WIDTH

# Places in ``BatchArrays.numbers``: the directions of a contact's three rows and the arms of a and b (3 numbers each);
# then of each row the bias; 1 / W_nn and W_nn; mu; W of the friction rows (11, 12, 22) and the inverse of its
# determinant. Not literals, for each of which Numba would compile the callee anew.
ARM_A, ARM_B, BIAS, INVERSE_NORMAL = np.int64(9), np.int64(12), np.int64(15), np.int64(18)
NORMAL, FRICTION, FIRST, COUPLING, SECOND, INVERSE = INVERSE_NORMAL + np.arange(1, 7)
NUMBERS = INVERSE + 1
# Numbers of each body of a batch: 1/m, and the inverse inertia, which is symmetric (xx, xy, xz, yy, yz, zz).
BODY_NUMBERS = np.int64(7)

# Most contacts of a run; longer ones are several.
_LONGEST = 8
# Batches that may be open at a time, one bit each.
_OPEN = 62
# A batch is worth its time if this many of its lanes hold a contact. [eighths]
_EIGHTHS_USED = 3
# Length of a run that goes into no batch.
_LOOSE = -1


class BatchArrays(NamedTuple):
    """Batches of all domains, one behind the other, and where the numbers of domains lie.

    Rows of batches and of loose blocks are numbered anew, side by side: those of a domain's batches vector by vector,
    in each the eight normal rows, the eight first friction rows, the eight second ones; then those of its loose blocks.

    ``numbers`` and ``inverse_mass`` are packed, with places named by constants: what a sweep reads of a contact, or of
    a pair of bodies, is one run of memory, for which a large island's sweep waits most of the time.

    Attributes
    ----------
    domain_batch : int64 [body_capacity + 1]
        First batch of each domain.
    domain_row : int64 [body_capacity + 1]
        First row of each domain.
    domain_loose : int64 [body_capacity]
        Place in ``IslandArrays.block_order`` of each domain's first loose block.
    batch_vector : int64 [vector_capacity + 1]
        First vector of each batch.
    block : int64 [vector_capacity, WIDTH]
        The block in each lane of a vector, or -1.
    body : int64 [vector_capacity, 2, WIDTH]
        Bodies a and b of each batch; in an empty lane those of the first, whose velocities are written last.
    inverse_mass : float64 [vector_capacity, 2, BODY_NUMBERS, WIDTH]
        M^-1 of bodies a and b of each batch [1/kg, 1/(kg m^2)].
    numbers : float64 [vector_capacity, NUMBERS, WIDTH]
        What a sweep reads of each contact.
    seen_in : int64 [body_capacity]
        Workspace: the open batches that a body is in, one bit each.
    run_first, run_length : int64 [block_capacity]
        Workspace: place of each run's first block, and how many blocks it has; ``_LOOSE`` if it is no contact.
    run_by_length : int64 [block_capacity]
        Workspace: the runs in order of their lengths.
    member : int64 [open batches, WIDTH]
        Workspace: the runs of each open batch.
    member_count : int64 [open batches]
        Workspace: how many runs each open batch has.
    """

    domain_batch: np.ndarray
    domain_row: np.ndarray
    domain_loose: np.ndarray
    batch_vector: np.ndarray
    block: np.ndarray
    body: np.ndarray
    inverse_mass: np.ndarray
    numbers: np.ndarray
    seen_in: np.ndarray
    run_first: np.ndarray
    run_length: np.ndarray
    run_by_length: np.ndarray
    member: np.ndarray
    member_count: np.ndarray


def allocate_batches(block_capacity: int, body_capacity: int) -> BatchArrays:
    """Room for the batches of this many blocks."""
    vectors = 8 * block_capacity // (_EIGHTHS_USED * WIDTH)
    return BatchArrays(
        domain_batch=np.zeros(body_capacity + 1, np.int64),
        domain_row=np.zeros(body_capacity + 1, np.int64),
        domain_loose=np.zeros(body_capacity, np.int64),
        batch_vector=np.zeros(vectors + 1, np.int64),
        block=np.zeros((vectors, WIDTH), np.int64),
        body=np.zeros((vectors, 2, WIDTH), np.int64),
        inverse_mass=np.zeros((vectors, 2, BODY_NUMBERS, WIDTH)),
        numbers=np.zeros((vectors, NUMBERS, WIDTH)),
        seen_in=np.zeros(body_capacity, np.int64),
        run_first=np.zeros(block_capacity, np.int64),
        run_length=np.zeros(block_capacity, np.int64),
        run_by_length=np.zeros(block_capacity, np.int64),
        member=np.zeros((_OPEN, WIDTH), np.int64),
        member_count=np.zeros(_OPEN, np.int64),
    )


def laid_row_capacity(row_capacity: int) -> int:
    """Rows that batches and loose blocks may need."""
    return 8 * row_capacity // _EIGHTHS_USED


@subkernel
def find_batches(rows, batchable, can_be_pushed, islands, domain, order, batches):
    """Sort the blocks of a domain and find its batches; those of the domains before it have been found.

    Parameters
    ----------
    rows : RowArrays
        Read.
    batchable : int
        Blocks before this one are contacts as ``build_contact_rows`` makes them; others are loose.
    can_be_pushed : bool [body_count]
        Read.
    islands : IslandArrays
        Written: the order of the domain's blocks.
    domain : int
    order : int64 [block_capacity]
        Workspace.
    batches : BatchArrays
        Written.
    """
    first, end = islands.domain_block[domain, 0], islands.domain_block[domain, 1]
    block_order, seen_in = islands.block_order, batches.seen_in
    runs = _find_runs(rows, batchable, block_order, first, end, batches)
    _sort_runs(batches, runs)
    for index in range(first, end):
        order[index] = block_order[index]
        seen_in[rows.body_a[order[index]]] = seen_in[rows.body_b[order[index]]] = 0
    for bit in range(_OPEN):
        batches.member_count[bit] = 0
    batches.domain_batch[domain + 1] = batches.domain_batch[domain]
    place, opened = first, 0
    for index in range(runs):
        run = batches.run_by_length[index]
        if batches.run_length[run] == _LOOSE:
            break
        block = order[batches.run_first[run]]
        a, b = rows.body_a[block], rows.body_b[block]
        known = (seen_in[a] if can_be_pushed[a] else 0) | (seen_in[b] if can_be_pushed[b] else 0)
        bit = _lowest(opened & ~known)
        if bit == _OPEN:
            bit = _lowest(~opened)
        if bit == _OPEN:
            continue
        opened |= 1 << bit
        seen_in[a] |= 1 << bit
        seen_in[b] |= 1 << bit
        batches.member[bit, batches.member_count[bit]] = run
        batches.member_count[bit] += 1
        if batches.member_count[bit] == WIDTH:
            place = _close_batch(rows, islands, domain, bit, order, batches, place)
            opened &= ~(1 << bit)
    for bit in range(_OPEN):
        if batches.member_count[bit] > 0:
            place = _close_batch(rows, islands, domain, bit, order, batches, place)
    batches.domain_loose[domain] = place
    for run in range(runs):
        # runs in a batch have none left
        for position in range(batches.run_first[run], batches.run_first[run] + abs(batches.run_length[run])):
            block_order[place] = order[position]
            place += 1


@subkernel
def _lowest(bits):
    """Place of the lowest bit that is set; ``_OPEN`` if none is."""
    place = 0
    while place < _OPEN and not (bits >> place) & 1:
        place += 1
    return place


@subkernel
def _is_worth_it(batches, bit):
    """Whether enough lanes of an open batch hold a contact."""
    used = 0
    for lane in range(batches.member_count[bit]):
        used += batches.run_length[batches.member[bit, lane]]
    return 8 * used >= _EIGHTHS_USED * WIDTH * batches.run_length[batches.member[bit, 0]]


@subkernel
def _close_batch(rows, islands, domain, bit, order, batches, place):
    """Write down an open batch as the domain's next, from a place of its blocks on; returns where they end.

    A batch that is not worth its time is given up.
    """
    run_first, run_length, member, seen_in = batches.run_first, batches.run_length, batches.member, batches.seen_in
    batch, lanes = batches.domain_batch[domain + 1], batches.member_count[bit]
    for lane in range(lanes):
        block = order[run_first[member[bit, lane]]]
        seen_in[rows.body_a[block]] &= ~(1 << bit)
        seen_in[rows.body_b[block]] &= ~(1 << bit)
    is_worth_it = _is_worth_it(batches, bit)
    batches.member_count[bit] = 0
    if not is_worth_it:
        return place
    vector, longest = batches.batch_vector[batch], run_length[member[bit, 0]]
    for lane in range(WIDTH):
        run = member[bit, lane] if lane < lanes else member[bit, 0]
        for step in range(longest):
            batches.block[vector + step, lane] = -1
            if lane < lanes and step < run_length[run]:
                batches.block[vector + step, lane] = islands.block_order[place] = order[run_first[run] + step]
                place += 1
        block = order[run_first[run]]
        batches.body[batch, 0, lane], batches.body[batch, 1, lane] = rows.body_a[block], rows.body_b[block]
    for lane in range(lanes):
        run_length[member[bit, lane]] = 0
    batches.domain_batch[domain + 1] = batch + 1
    batches.batch_vector[batch + 1] = vector + longest
    return place


@subkernel
def _find_runs(rows, batchable, block_order, first, end, batches):
    """Runs of contacts between the same two bodies, in their order; returns how many there are."""
    run_length = batches.run_length
    runs, last_a, last_b = 0, -1, -1
    for index in range(first, end):
        block = block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        is_contact = block < batchable
        if is_contact and a == last_a and b == last_b and run_length[runs - 1] < _LONGEST:
            run_length[runs - 1] += 1
            continue
        batches.run_first[runs], run_length[runs] = index, 1 if is_contact else _LOOSE
        runs += 1
        last_a, last_b = (a, b) if is_contact else (-1, -1)
    return runs


@subkernel
def _sort_runs(batches, runs):
    """Order runs by length, the longest first, equal ones in their order; those that are no contacts last."""
    place = 0
    for length in range(_LONGEST, _LOOSE - 1, -1):
        for run in range(runs):
            if batches.run_length[run] == length:
                batches.run_by_length[place] = run
                place += 1
