"""Contacts that are swept eight at a time: packs of pairs of bodies that share no body which can be pushed.

Within a part of a large island (``island_parts``) the contacts of a pair of bodies are one run. Runs are put into packs
of eight, the longest runs first: each into the first pack that is still open and has none of its bodies, else into a
new one. So a pack's runs share no body that can be pushed. It is swept as one: the first contact of every run, then
the second, and so on; each place of a vector (``vectors``) is one run. That is what a sweep does that takes one run
after the other, for none of them moves another's bodies.

    slot     run 0  run 1  run 2  ...  run 7
      0        x      x      x           x
      1        x      x      x           -        - : no contact, all numbers 0
      2        x      x      -           -

A pack in which too few places hold a contact is not worth its time. Its contacts are loose: swept one by one after the
packs of the part, as are blocks that are no contacts.

The order of a part's blocks is that of its packs, run by run, and then that of its loose blocks. It hangs on the part
alone.
"""

from typing import NamedTuple

import numpy as np

from .kernel import subkernel
from .vectors import WIDTH

# Numbers of a contact in a slot: the directions of its three rows and the arms of a and b (3 each); then of each row
# the bias; 1 / W_nn and W_nn; mu; W of the friction rows (11, 12, 22) and the inverse of its determinant. No literals,
# for which Numba would compile what they are handed to once each.
ARM_A, ARM_B, BIAS, INVERSE_NORMAL = np.int64(9), np.int64(12), np.int64(15), np.int64(18)
NORMAL, FRICTION, FIRST, COUPLING, SECOND, INVERSE = INVERSE_NORMAL + np.arange(1, 7)
NUMBERS = INVERSE + 1
# Numbers of each body of a pack: 1/m, and the inverse inertia, which is symmetric (xx, xy, xz, yy, yz, zz).
BODY_NUMBERS = np.int64(7)

# Most contacts of a run; longer ones are several.
_LONGEST = 8
# Packs that may be open at a time, one a bit.
_OPEN = 62
# A pack is worth its time where so many of its places hold a contact. [eighths]
_EIGHTHS_USED = 3
# Of a run that is in no pack.
_LOOSE = -1


class PackArrays(NamedTuple):
    """Packs of all parts, one behind the other, and where the numbers of parts lie.

    Rows of packs and of loose blocks are numbered anew, side by side: those of a part's packs slot by slot, in each the
    normal rows of the eight, their first friction rows, their second; then those of its loose blocks.

    Attributes
    ----------
    part_pack : int64 [body_capacity + 1]
        First pack of each part.
    part_row : int64 [body_capacity + 1]
        First row of each part.
    part_loose : int64 [body_capacity]
        Place in ``IslandArrays.block_order`` of each part's first loose block.
    pack_slot : int64 [slot_capacity + 1]
        First slot of each pack.
    block : int64 [slot_capacity, WIDTH]
        The block in each place of a slot, or -1.
    body : int64 [slot_capacity, 2, WIDTH]
        Each pack's bodies a and b; in an empty place those of the first, whose velocities are written last.
    inverse_mass : float64 [slot_capacity, 2, BODY_NUMBERS, WIDTH]
        M^-1 of each pack's bodies a and b [1/kg, 1/(kg m^2)].
    numbers : float64 [slot_capacity, NUMBERS, WIDTH]
        What a sweep reads of each contact.
    met : int64 [body_capacity]
        Workspace: the open packs that a body is in, a bit each.
    run : int64 [block_capacity, 3]
        Workspace: place of each run's first block, how many there are (LOOSE of what is no contact), and the runs in
        order of their lengths.
    member : int64 [open packs, WIDTH + 1]
        Workspace: the runs of each open pack, and how many they are.
    """

    part_pack: np.ndarray
    part_row: np.ndarray
    part_loose: np.ndarray
    pack_slot: np.ndarray
    block: np.ndarray
    body: np.ndarray
    inverse_mass: np.ndarray
    numbers: np.ndarray
    met: np.ndarray
    run: np.ndarray
    member: np.ndarray


def allocate_packs(block_capacity: int, body_capacity: int) -> PackArrays:
    """Room for the packs of so many blocks."""
    slots = 8 * block_capacity // (_EIGHTHS_USED * WIDTH)
    return PackArrays(
        part_pack=np.zeros(body_capacity + 1, np.int64),
        part_row=np.zeros(body_capacity + 1, np.int64),
        part_loose=np.zeros(body_capacity, np.int64),
        pack_slot=np.zeros(slots + 1, np.int64),
        block=np.zeros((slots, WIDTH), np.int64),
        body=np.zeros((slots, 2, WIDTH), np.int64),
        inverse_mass=np.zeros((slots, 2, BODY_NUMBERS, WIDTH)),
        numbers=np.zeros((slots, NUMBERS, WIDTH)),
        met=np.zeros(body_capacity, np.int64),
        run=np.zeros((block_capacity, 3), np.int64),
        member=np.zeros((_OPEN, WIDTH + 1), np.int64),
    )


def laid_row_capacity(row_capacity: int) -> int:
    """Rows that packs and loose blocks may need."""
    return 8 * row_capacity // _EIGHTHS_USED


@subkernel
def find_packs(rows, packable, can_be_pushed, islands, part, order, packs):
    """Sort the blocks of a part, and find its packs; those of the parts before it are found.

    Parameters
    ----------
    rows : RowArrays
        Read.
    packable : int
        Blocks before this one are contacts as ``build_contact_rows`` makes them; others are loose.
    can_be_pushed : bool [body_count]
        Read.
    islands : IslandArrays
        Written: the order of the part's blocks.
    part : int
    order : int64 [block_capacity]
        Workspace.
    packs : PackArrays
        Written.
    """
    first, end = islands.part_block[part, 0], islands.part_block[part, 1]
    block_order, met, run, member = islands.block_order, packs.met, packs.run, packs.member
    runs = _find_runs(rows, packable, block_order, first, end, packs)
    _sort_runs(run, runs)
    for index in range(first, end):
        order[index] = block_order[index]
        met[rows.body_a[order[index]]] = met[rows.body_b[order[index]]] = 0
    for bit in range(_OPEN):
        member[bit, WIDTH] = 0
    packs.part_pack[part + 1] = packs.part_pack[part]
    place, opened = first, 0
    for index in range(runs):
        chosen = run[index, 2]
        if run[chosen, 1] == _LOOSE:
            break
        a, b = rows.body_a[order[run[chosen, 0]]], rows.body_b[order[run[chosen, 0]]]
        known = (met[a] if can_be_pushed[a] else 0) | (met[b] if can_be_pushed[b] else 0)
        bit = _lowest(opened & ~known)
        if bit == _OPEN:
            bit = _lowest(~opened)
        if bit == _OPEN:
            continue
        opened |= 1 << bit
        met[a] |= 1 << bit
        met[b] |= 1 << bit
        member[bit, member[bit, WIDTH]] = chosen
        member[bit, WIDTH] += 1
        if member[bit, WIDTH] == WIDTH:
            place = _close_pack(rows, islands, part, bit, order, packs, place)
            opened &= ~(1 << bit)
    for bit in range(_OPEN):
        if member[bit, WIDTH] > 0:
            place = _close_pack(rows, islands, part, bit, order, packs, place)
    packs.part_loose[part] = place
    for index in range(runs):
        # what is in a pack has none left
        for position in range(run[index, 0], run[index, 0] + abs(run[index, 1])):
            block_order[place] = order[position]
            place += 1


@subkernel
def _lowest(bits):
    """Place of the lowest bit that is set; ``_OPEN`` where none is."""
    place = 0
    while place < _OPEN and not (bits >> place) & 1:
        place += 1
    return place


@subkernel
def _is_worth_it(packs, bit):
    """Whether enough places of an open pack hold a contact."""
    used = 0
    for lane in range(packs.member[bit, WIDTH]):
        used += packs.run[packs.member[bit, lane], 1]
    return 8 * used >= _EIGHTHS_USED * WIDTH * packs.run[packs.member[bit, 0], 1]


@subkernel
def _close_pack(rows, islands, part, bit, order, packs, place):
    """Write down an open pack as the part's next, from a place of its blocks on; returns where they end.

    A pack that is not worth its time is given up.
    """
    run, member, met = packs.run, packs.member, packs.met
    pack, lanes = packs.part_pack[part + 1], member[bit, WIDTH]
    for lane in range(lanes):
        block = order[run[member[bit, lane], 0]]
        met[rows.body_a[block]] &= ~(1 << bit)
        met[rows.body_b[block]] &= ~(1 << bit)
    is_worth_it = _is_worth_it(packs, bit)
    member[bit, WIDTH] = 0
    if not is_worth_it:
        return place
    slot, longest = packs.pack_slot[pack], run[member[bit, 0], 1]
    for lane in range(WIDTH):
        of_lane = member[bit, lane] if lane < lanes else member[bit, 0]
        for step in range(longest):
            packs.block[slot + step, lane] = -1
            if lane < lanes and step < run[of_lane, 1]:
                packs.block[slot + step, lane] = islands.block_order[place] = order[run[of_lane, 0] + step]
                place += 1
        block = order[run[of_lane, 0]]
        packs.body[pack, 0, lane], packs.body[pack, 1, lane] = rows.body_a[block], rows.body_b[block]
    for lane in range(lanes):
        run[member[bit, lane], 1] = 0
    packs.part_pack[part + 1] = pack + 1
    packs.pack_slot[pack + 1] = slot + longest
    return place


@subkernel
def _find_runs(rows, packable, block_order, first, end, packs):
    """Runs of contacts between the same two bodies, in their order; returns how many there are."""
    run = packs.run
    runs, last_a, last_b = 0, -1, -1
    for index in range(first, end):
        block = block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        is_contact = block < packable
        if is_contact and a == last_a and b == last_b and run[runs - 1, 1] < _LONGEST:
            run[runs - 1, 1] += 1
            continue
        run[runs, 0], run[runs, 1] = index, 1 if is_contact else _LOOSE
        runs += 1
        last_a, last_b = (a, b) if is_contact else (-1, -1)
    return runs


@subkernel
def _sort_runs(run, runs):
    """The longest first, equal ones in their order; what is no contact last."""
    place = 0
    for length in range(_LONGEST, _LOOSE - 1, -1):
        for index in range(runs):
            if run[index, 1] == length:
                run[place, 2] = index
                place += 1
