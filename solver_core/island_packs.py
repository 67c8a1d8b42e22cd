"""Contacts that are swept eight at a time: packs of pairs of bodies that share no body which can be pushed.

Within a part of a large island (``island_parts``) the contacts of a pair of bodies are one run. Runs get colours in
turn, each the first that neither of its bodies has met: runs of a colour share no body that can be pushed. Those of a
colour are put together to packs of eight, the longest first. A pack is swept as one: the first contact of every run,
then the second, and so on; each place of a vector (``vectors``) is one run. That is what a sweep does that takes one
run after the other, for none of them moves another's bodies.

    slot     run 0  run 1  run 2  ...  run 7
      0        x      x      x           x
      1        x      x      x           -        - : no contact, all numbers 0
      2        x      x      -           -

A pack in which not half of the places hold a contact is not worth its time. Its contacts are loose: swept one by one
after the packs of the part, as are blocks that are no contacts.

The order of a part's blocks is that of its packs, run by run, and then that of its loose blocks. It hangs on the part
alone.
"""

from typing import NamedTuple

import numpy as np

from .kernel import subkernel
from .vectors import WIDTH

# Numbers of a contact in a slot: of each of its three rows the direction d, the arms times d of a and of b, and what
# the inverse inertias of both make of these (3 each); then of each row the bias; 1 / W_nn and W_nn; mu; W of the
# friction rows (11, 12, 22) and the inverse of its determinant.
ROW_NUMBERS = 15
BIAS = 3 * ROW_NUMBERS
INVERSE_NORMAL, NORMAL, FRICTION, FIRST, COUPLING, SECOND, INVERSE = range(BIAS + 3, BIAS + 10)
NUMBERS = BIAS + 10

# Most contacts of a run; longer ones are several, of several colours.
_LONGEST = 8
# Colours, one a bit; what has none left is loose.
_COLOURS = 62
_LOOSE = _COLOURS * _LONGEST
# Masses as seen by the rows of one contact differ by no more.
_RATIO_ROUNDING = 1e-12


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
    inverse_mass : float64 [slot_capacity, 2, WIDTH]
        Of each pack's bodies a and b [1/kg].
    numbers : float64 [slot_capacity, NUMBERS, WIDTH]
        What a sweep reads of each contact.
    colours : int64 [body_capacity]
        Workspace: the colours that a body has met, a bit each.
    run : int64 [block_capacity, 4]
        Workspace: place of each run's first block, how many there are, its key, its place in the order of keys.
    bucket : int64 [colours times lengths]
        Workspace: how many runs have a key.
    """

    part_pack: np.ndarray
    part_row: np.ndarray
    part_loose: np.ndarray
    pack_slot: np.ndarray
    block: np.ndarray
    body: np.ndarray
    inverse_mass: np.ndarray
    numbers: np.ndarray
    colours: np.ndarray
    run: np.ndarray
    bucket: np.ndarray


def allocate_packs(block_capacity: int, body_capacity: int) -> PackArrays:
    """Room for the packs of so many blocks; half of all places hold a contact, at least."""
    slots = 2 * block_capacity // WIDTH
    return PackArrays(
        part_pack=np.zeros(body_capacity + 1, np.int64),
        part_row=np.zeros(body_capacity + 1, np.int64),
        part_loose=np.zeros(body_capacity, np.int64),
        pack_slot=np.zeros(slots + 1, np.int64),
        block=np.zeros((slots, WIDTH), np.int64),
        body=np.zeros((slots, 2, WIDTH), np.int64),
        inverse_mass=np.zeros((slots, 2, WIDTH)),
        numbers=np.zeros((slots, NUMBERS, WIDTH)),
        colours=np.zeros(body_capacity, np.int64),
        run=np.zeros((block_capacity, 4), np.int64),
        bucket=np.zeros(_LOOSE + 2, np.int64),
    )


def laid_row_capacity(row_capacity: int) -> int:
    """Rows that packs and loose blocks may need."""
    return 2 * row_capacity


@subkernel
def find_packs(rows, can_be_pushed, islands, part, order, packs):
    """Sort the blocks of a part, and find its packs; those of the parts before it are found.

    Parameters
    ----------
    rows : RowArrays
        Read.
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
    runs = _find_runs(rows, can_be_pushed, islands.block_order, first, end, packs)
    _sort_runs(packs, runs)
    for index in range(first, end):
        order[index] = islands.block_order[index]
    place, pack = first, packs.part_pack[part]
    done = 0
    while done < runs and _key_at(packs, done) < _LOOSE:
        longest = packs.run[packs.run[done, 3], 1]
        colour = _key_at(packs, done) // _LONGEST
        together = used = 0
        while done + together < runs and together < WIDTH and _key_at(packs, done + together) // _LONGEST == colour:
            used += packs.run[packs.run[done + together, 3], 1]
            together += 1
        if 2 * used < WIDTH * longest:
            for index in range(done, done + together):
                packs.run[packs.run[index, 3], 2] = _LOOSE
        else:
            slot = packs.pack_slot[pack]
            for lane in range(WIDTH):
                run = packs.run[done + lane, 3] if lane < together else -1
                for step in range(longest):
                    packs.block[slot + step, lane] = -1
                    if run >= 0 and step < packs.run[run, 1]:
                        block = order[packs.run[run, 0] + step]
                        packs.block[slot + step, lane] = block
                        islands.block_order[place] = block
                        place += 1
                block = packs.block[slot, lane if run >= 0 else 0]
                packs.body[pack, 0, lane], packs.body[pack, 1, lane] = rows.body_a[block], rows.body_b[block]
            pack += 1
            packs.pack_slot[pack] = slot + longest
        done += together
    packs.part_pack[part + 1] = pack
    packs.part_loose[part] = place
    for run in range(runs):
        if packs.run[run, 2] == _LOOSE:
            for index in range(packs.run[run, 0], packs.run[run, 0] + packs.run[run, 1]):
                islands.block_order[place] = order[index]
                place += 1


@subkernel
def _find_runs(rows, can_be_pushed, block_order, first, end, packs):
    """Runs of contacts between the same two bodies, in their order, and their keys; returns how many there are."""
    colours, run = packs.colours, packs.run
    for index in range(first, end):
        colours[rows.body_a[block_order[index]]] = colours[rows.body_b[block_order[index]]] = 0
    runs, last_a, last_b = 0, -1, -1
    for index in range(first, end):
        block = block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        packs_it = _is_plain_contact(rows, block)
        if packs_it and a == last_a and b == last_b and run[runs - 1, 1] < _LONGEST:
            run[runs - 1, 1] += 1
            if run[runs - 1, 2] < _LOOSE:
                run[runs - 1, 2] -= 1
            continue
        colour = _COLOURS
        if packs_it:
            met = (colours[a] if can_be_pushed[a] else 0) | (colours[b] if can_be_pushed[b] else 0)
            colour = 0
            while met & 1:
                met >>= 1
                colour += 1
        run[runs, 0], run[runs, 1], run[runs, 2] = index, 1, _LOOSE
        if colour < _COLOURS:
            colours[a] |= 1 << colour
            colours[b] |= 1 << colour
            # the longest first
            run[runs, 2] = colour * _LONGEST + _LONGEST - 1
        runs += 1
        last_a, last_b = (a, b) if packs_it else (-1, -1)
    return runs


@subkernel
def _sort_runs(packs, runs):
    """Counting sort by the runs' keys, which keeps the order of equal ones."""
    run, bucket = packs.run, packs.bucket
    for key in range(_LOOSE + 2):
        bucket[key] = 0
    for index in range(runs):
        bucket[run[index, 2] + 1] += 1
    for key in range(_LOOSE + 1):
        bucket[key + 1] += bucket[key]
    for index in range(runs):
        key = run[index, 2]
        run[bucket[key], 3] = index
        bucket[key] += 1


@subkernel
def _key_at(packs, place):
    return packs.run[packs.run[place, 3], 2]


@subkernel
def _is_plain_contact(rows, block):
    """Whether a block is a contact as ``contact_rows`` builds them: J = [-d, ., d, .], and bodies with a mass each."""
    row = rows.block_row[block]
    if rows.block_row[block + 1] - row != 3 or rows.normal_row[row] >= 0:
        return False
    if rows.normal_row[row + 1] != row or rows.normal_row[row + 2] != row:
        return False
    if rows.lower[row] != 0.0 or rows.upper[row] != np.inf or rows.friction[row + 1] != rows.friction[row + 2]:
        return False
    mass_a, mass_b = inverse_masses(rows.jacobian[row], rows.response[row])
    for index in range(row, row + 3):
        # NaN is no plain contact either
        if not rows.diagonal[index] > 0.0:
            return False
        for axis in range(3):
            d = rows.jacobian[index, 6 + axis]
            if rows.jacobian[index, axis] != -d:
                return False
            if not abs(rows.response[index, axis] + mass_a * d) <= _RATIO_ROUNDING * mass_a:
                return False
            if not abs(rows.response[index, 6 + axis] - mass_b * d) <= _RATIO_ROUNDING * mass_b:
                return False
    return True


@subkernel
def inverse_masses(jacobian, response):
    """1/m of both bodies, from one row of a contact: that by which M^-1 multiplies the direction."""
    axis = 6
    for other in range(7, 9):
        if abs(jacobian[other]) > abs(jacobian[axis]):
            axis = other
    return -response[axis - 6] / jacobian[axis], response[axis] / jacobian[axis]
