"""The sweep over packs: eight contacts of eight pairs of bodies at a time (``island_packs``).

What a visit does to a contact is what ``sweep`` does with friction in the disc, in the same order: first the normal
row, then both friction rows. A row's direction is the same for both bodies, and M^-1 a number for it, so

    u = d . (v_b - v_a) + m_a . w_a + m_b . w_b + bias,     m = (+-arm) x d,
    v_a -= (r / mass_a) d,   w_a += I_a^-1 m_a r,   and for b with a plus,

15 numbers a row in place of 24: a large island's numbers come from the processor's last cache, and that is what a
sweep waits for.
"""

import numpy as np

from ...friction import FACTOR_FREE, RATIO_NEAR, SECULAR_STEPS, SINGULAR
from ...island_packs import (
    BIAS,
    COUPLING,
    FIRST,
    FRICTION,
    INVERSE,
    INVERSE_NORMAL,
    NORMAL,
    NUMBERS,
    ROW_NUMBERS,
    SECOND,
    inverse_masses,
)
from ...kernel import subkernel
from ...vectors import WIDTH, any_of, gather, load, number_at, root, scatter, select, size, spread, store
from .sweep import TINY

_ROWS = 3
_NORMAL_ROW, _FIRST_ROW, _SECOND_ROW = np.int64(0), np.int64(1), np.int64(2)
# W of two friction rows that is singular is taken as if the rows were coupled a little less.
_FACTOR_COUPLING = 1.0 - 4.0 * SINGULAR


@subkernel
def lay_packs(rows, packs, part, laid):
    """Copy what a sweep needs of the packs of a part.

    Parameters
    ----------
    rows : RowArrays
        Read.
    packs : PackArrays
        Read; numbers and inverse_mass written.
    part : int
    laid : RowArrays
        Written: impulse and diagonal of the packs' rows.
    """
    numbers = packs.numbers
    row = packs.part_row[part]
    for pack in range(packs.part_pack[part], packs.part_pack[part + 1]):
        first = packs.pack_slot[pack]
        for lane in range(WIDTH):
            block = packs.block[first, lane]
            packs.inverse_mass[pack, 0, lane] = packs.inverse_mass[pack, 1, lane] = 0.0
            if block >= 0:
                source = rows.block_row[block]
                mass_a, mass_b = inverse_masses(rows.jacobian[source], rows.response[source])
                packs.inverse_mass[pack, 0, lane], packs.inverse_mass[pack, 1, lane] = mass_a, mass_b
        for slot in range(first, packs.pack_slot[pack + 1]):
            for lane in range(WIDTH):
                block = packs.block[slot, lane]
                if block >= 0:
                    _lay_contact(rows, rows.block_row[block], numbers[slot], lane)
                else:
                    for number in range(NUMBERS):
                        numbers[slot, number, lane] = 0.0
                for index in range(_ROWS):
                    place = row + WIDTH * index + lane
                    laid.impulse[place] = laid.diagonal[place] = 0.0
                    if block >= 0:
                        source = rows.block_row[block] + index
                        laid.impulse[place], laid.diagonal[place] = rows.impulse[source], rows.diagonal[source]
            row += _ROWS * WIDTH


@subkernel
def _lay_contact(rows, row, numbers, lane):
    """The numbers of one contact (``island_packs``)."""
    for index in range(_ROWS):
        jacobian, response, first = rows.jacobian[row + index], rows.response[row + index], ROW_NUMBERS * index
        for axis in range(3):
            numbers[first + axis, lane] = jacobian[6 + axis]
            numbers[first + 3 + axis, lane] = jacobian[3 + axis]
            numbers[first + 6 + axis, lane] = jacobian[9 + axis]
            numbers[first + 9 + axis, lane] = response[3 + axis]
            numbers[first + 12 + axis, lane] = response[9 + axis]
        numbers[BIAS + index, lane] = rows.bias[row + index]
    normal, first, second = rows.diagonal[row], rows.diagonal[row + 1], rows.diagonal[row + 2]
    coupling = 0.0
    for column in range(12):
        coupling += rows.jacobian[row + 1, column] * rows.response[row + 2, column]
    if not first * second - coupling * coupling > SINGULAR * first * second:
        coupling *= _FACTOR_COUPLING
    numbers[INVERSE_NORMAL, lane], numbers[NORMAL, lane] = 1.0 / normal, normal
    numbers[FRICTION, lane] = rows.friction[row + 1]
    numbers[FIRST, lane], numbers[COUPLING, lane], numbers[SECOND, lane] = first, coupling, second
    numbers[INVERSE, lane] = 1.0 / (first * second - coupling * coupling)


@subkernel
def take_packs(rows, packs, part, laid):
    """Copy the impulses of a part's packs to the rows.

    Parameters
    ----------
    rows : RowArrays
        Written: impulse.
    packs, part, laid
        Read.
    """
    row = packs.part_row[part]
    for slot in range(packs.pack_slot[packs.part_pack[part]], packs.pack_slot[packs.part_pack[part + 1]]):
        for lane in range(WIDTH):
            block = packs.block[slot, lane]
            if block >= 0:
                for index in range(_ROWS):
                    rows.impulse[rows.block_row[block] + index] = laid.impulse[row + WIDTH * index + lane]
        row += _ROWS * WIDTH


@subkernel
def sweep_packs(packs, part, impulse, velocity, change, step):
    """Sweep once over the packs of a part, with friction in the disc.

    Parameters
    ----------
    packs, part
        Read.
    impulse, change : float64 [laid rows]
        Written, in the order of the packs' rows.
    velocity : float64 [body_count, 6]
        Written.
    step : float
        As in ``sweep_rows``.

    Returns
    -------
    largest, merit : float
        As in ``sweep_rows``.
    """
    zero, one, tiny = spread(0.0), spread(1.0), spread(TINY)
    steps = spread(step)
    largest, merit = zero, zero
    numbers = packs.numbers
    row = packs.part_row[part]
    for pack in range(packs.part_pack[part], packs.part_pack[part + 1]):
        first_slot, end_slot = packs.pack_slot[pack], packs.pack_slot[pack + 1]
        bodies_a, bodies_b = _velocities_of(packs.body[pack, 0]), _velocities_of(packs.body[pack, 1])
        masses = load(packs.inverse_mass, 2 * WIDTH * pack), load(packs.inverse_mass, 2 * WIDTH * pack + WIDTH)
        va, vb = _gather_velocity(velocity, bodies_a), _gather_velocity(velocity, bodies_b)
        for slot in range(first_slot, end_slot):
            at = NUMBERS * WIDTH * slot
            present = load(impulse, row)
            speed = _speed(numbers, at, _NORMAL_ROW, va, vb)
            wanted = present - (steps * _number(numbers, at, INVERSE_NORMAL)) * speed
            # NaN stays
            wanted = select(wanted < zero, zero, wanted)
            delta = _without_tiny(wanted - present, zero, tiny)
            va, vb = _pushed(numbers, at, _NORMAL_ROW, delta, masses, va, vb)
            store(impulse, row, wanted)
            store(change, row, delta)
            error = _number(numbers, at, NORMAL) * delta
            merit = merit + error * delta
            largest = _larger(size(error), largest)
            first, second = load(impulse, row + WIDTH), load(impulse, row + 2 * WIDTH)
            bound = _number(numbers, at, FRICTION) * wanted
            delta_1, delta_2 = zero, zero
            # a third of a heap's contacts are open, and lie side by side
            if any_of((size(first) + size(second) + bound) > zero):
                speed_1, speed_2 = _speed(numbers, at, _FIRST_ROW, va, vb), _speed(numbers, at, _SECOND_ROW, va, vb)
                new_1, new_2 = _visit(numbers, at, bound, speed_1, speed_2, first, second, zero, one)
                if step != 1.0:
                    new_1, new_2 = first + steps * (new_1 - first), second + steps * (new_2 - second)
                    new_1, new_2 = _into_disc(bound, new_1, new_2, zero, one)
                delta_1 = _without_tiny(new_1 - first, zero, tiny)
                delta_2 = _without_tiny(new_2 - second, zero, tiny)
                va, vb = _pushed(numbers, at, _FIRST_ROW, delta_1, masses, va, vb)
                va, vb = _pushed(numbers, at, _SECOND_ROW, delta_2, masses, va, vb)
                store(impulse, row + WIDTH, new_1)
                store(impulse, row + 2 * WIDTH, new_2)
                error_1, error_2 = _number(numbers, at, FIRST) * delta_1, _number(numbers, at, SECOND) * delta_2
                merit = merit + (error_1 * delta_1 + error_2 * delta_2)
                largest = _larger(size(error_2), _larger(size(error_1), largest))
            store(change, row + WIDTH, delta_1)
            store(change, row + 2 * WIDTH, delta_2)
            row += _ROWS * WIDTH
        _scatter_velocity(velocity, bodies_a, va)
        _scatter_velocity(velocity, bodies_b, vb)
    total, greatest = 0.0, 0.0
    for lane in range(WIDTH):
        total += number_at(merit, lane)
        greatest = max(greatest, number_at(largest, lane))
    return greatest, total


@subkernel
def _visit(numbers, at, bound, speed_1, speed_2, first, second, zero, one):
    """Friction impulses at which the sweep arrives: ``friction.stick_or_slide``, and none where the contact is open."""
    w11, w12, w22 = _number(numbers, at, FIRST), _number(numbers, at, COUPLING), _number(numbers, at, SECOND)
    wanted_1, wanted_2 = w11 * first + w12 * second - speed_1, w12 * first + w22 * second - speed_2
    inverse = _number(numbers, at, INVERSE)
    new_1, new_2 = (w22 * wanted_1 - w12 * wanted_2) * inverse, (w11 * wanted_2 - w12 * wanted_1) * inverse
    is_open = bound <= zero
    slides = select(is_open, zero, new_1 * new_1 + new_2 * new_2 - bound * bound) > zero
    new_1, new_2 = select(is_open, zero, new_1), select(is_open, zero, new_2)
    if not any_of(slides):
        return new_1, new_2
    # harmless numbers where nothing slides
    bound = select(slides, bound, one)
    slip = root(speed_1 * speed_1 + speed_2 * speed_2)
    is_free = slip >= spread(FACTOR_FREE) * bound * (w11 + w22)
    shift = select(is_free, zero, slip / bound)
    going = select(is_free, zero, select(slides, one, zero))
    for _ in range(SECULAR_STEPS):
        a, d = w11 + shift, w22 + shift
        inverse = one / (a * d - w12 * w12)
        s1, s2 = (d * wanted_1 - w12 * wanted_2) * inverse, (a * wanted_2 - w12 * wanted_1) * inverse
        square = s1 * s1 + s2 * s2
        turned_1, turned_2 = (d * s1 - w12 * s2) * inverse, (a * s2 - w12 * s1) * inverse
        excess = root(square) / bound - one
        better = shift + excess * square / (s1 * turned_1 + s2 * turned_2)
        shift = select(going > zero, select(better > zero, better, zero), shift)
        going = select(size(excess) <= spread(RATIO_NEAR), zero, going)
        if not any_of(going > zero):
            break
    s1 = select(is_free, wanted_1, (w22 + shift) * wanted_1 - w12 * wanted_2)
    s2 = select(is_free, wanted_2, (w11 + shift) * wanted_2 - w12 * wanted_1)
    share = bound / root(s1 * s1 + s2 * s2)
    return select(slides, share * s1, new_1), select(slides, share * s2, new_2)


@subkernel
def _into_disc(bound, t1, t2, zero, one):
    """The nearest point of the disc."""
    length = root(t1 * t1 + t2 * t2)
    share = select(length > bound, bound / select(length > zero, length, one), one)
    return share * t1, share * t2


@subkernel
def _velocities_of(body):
    """Where the velocities of eight bodies begin."""
    return (
        6 * body[0],
        6 * body[1],
        6 * body[2],
        6 * body[3],
        6 * body[4],
        6 * body[5],
        6 * body[6],
        6 * body[7],
    )


@subkernel
def _gather_velocity(velocity, places):
    return (
        gather(velocity, places, 0),
        gather(velocity, places, 1),
        gather(velocity, places, 2),
        gather(velocity, places, 3),
        gather(velocity, places, 4),
        gather(velocity, places, 5),
    )


@subkernel
def _scatter_velocity(velocity, places, value):
    scatter(velocity, places, 0, value[0])
    scatter(velocity, places, 1, value[1])
    scatter(velocity, places, 2, value[2])
    scatter(velocity, places, 3, value[3])
    scatter(velocity, places, 4, value[4])
    scatter(velocity, places, 5, value[5])


@subkernel
def _number(numbers, at, which):
    return load(numbers, at + WIDTH * which)


@subkernel
def _speed(numbers, at, row, va, vb):
    """J v + bias of one row of the eight contacts."""
    first = ROW_NUMBERS * row
    linear = (
        _number(numbers, at, first) * (vb[0] - va[0])
        + _number(numbers, at, first + 1) * (vb[1] - va[1])
        + _number(numbers, at, first + 2) * (vb[2] - va[2])
    )
    turning_a = (
        _number(numbers, at, first + 3) * va[3]
        + _number(numbers, at, first + 4) * va[4]
        + _number(numbers, at, first + 5) * va[5]
    )
    turning_b = (
        _number(numbers, at, first + 6) * vb[3]
        + _number(numbers, at, first + 7) * vb[4]
        + _number(numbers, at, first + 8) * vb[5]
    )
    return linear + turning_a + turning_b + _number(numbers, at, BIAS + row)


@subkernel
def _pushed(numbers, at, row, delta, masses, va, vb):
    """Velocities of both bodies after the impulse ``delta`` on one row."""
    first = ROW_NUMBERS * row
    x, y, z = _number(numbers, at, first), _number(numbers, at, first + 1), _number(numbers, at, first + 2)
    push_a, push_b = masses[0] * delta, masses[1] * delta
    return (
        (
            va[0] - x * push_a,
            va[1] - y * push_a,
            va[2] - z * push_a,
            va[3] + _number(numbers, at, first + 9) * delta,
            va[4] + _number(numbers, at, first + 10) * delta,
            va[5] + _number(numbers, at, first + 11) * delta,
        ),
        (
            vb[0] + x * push_b,
            vb[1] + y * push_b,
            vb[2] + z * push_b,
            vb[3] + _number(numbers, at, first + 12) * delta,
            vb[4] + _number(numbers, at, first + 13) * delta,
            vb[5] + _number(numbers, at, first + 14) * delta,
        ),
    )


@subkernel
def _without_tiny(number, zero, tiny):
    """As in ``sweep``; NaN stays."""
    return select(size(number) <= tiny, zero, number)


@subkernel
def _larger(first, second):
    return select(first > second, first, second)
