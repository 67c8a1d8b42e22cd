"""The sweep over SIMD batches: eight contacts of eight pairs of bodies at a time (``simd_batches``).

What a visit does to a contact is what ``sweep`` does with friction in the disc, in the same order: first the normal
row, then both friction rows. A row of a contact is a direction d at the ends of two arms, and M^-1 is the bodies', not
the contact's, so

    u = d . (v_b + w_b x arm_b - v_a - w_a x arm_a) + bias,
    v_a -= p / mass_a,   w_a -= I_a^-1 (arm_a x p),   and for b with a plus,   where p = r d,

15 numbers per contact and 14 per pair of bodies, in place of the 72 of its rows: a large island's numbers come from
the processor's last cache or from memory, and that is what a sweep waits for.
"""

import numpy as np

from ...compiled.kernel import subkernel
from ...compiled.simd import (
    WIDTH,
    any_of,
    fetch,
    gather_rows,
    load,
    number_at,
    root,
    scatter_rows,
    select,
    size,
    spread,
    store,
)
from ...problem.friction import FACTOR_FREE, RATIO_NEAR, SECULAR_STEPS, SINGULAR
from ..linear_algebra.vectors import cross, dot
from ..shared.sweep import TINY
from .simd_batches import (
    ARM_A,
    ARM_B,
    BIAS,
    BODY_NUMBERS,
    COUPLING,
    FIRST,
    FRICTION,
    INVERSE,
    INVERSE_NORMAL,
    NORMAL,
    NUMBERS,
    SECOND,
)

_ROWS = 3
_NORMAL_ROW, _FIRST_ROW, _SECOND_ROW = np.int64(0), np.int64(3), np.int64(6)
# Numbers are prefetched this many vectors before they are read: the processor itself prefetches no further than to the
# end of a page of memory, which holds two vectors.
_AHEAD = np.int64(3)
# W of two friction rows that is singular is taken as if the rows were coupled a little less.
_FACTOR_COUPLING = 1.0 - 4.0 * SINGULAR


@subkernel
def fill_batches(rows, batches, domain, laid):
    """Copy what a sweep needs of the batches of a domain.

    Parameters
    ----------
    rows : RowArrays
        Read.
    batches : BatchArrays
        Read; numbers and inverse_mass written.
    domain : int
    laid : RowArrays
        Written: impulse and diagonal of the batches' rows.
    """
    numbers = batches.numbers
    row, end = batches.domain_row[domain], batches.batch_vector[batches.domain_batch[domain + 1]]
    for batch in range(batches.domain_batch[domain], batches.domain_batch[domain + 1]):
        first = batches.batch_vector[batch]
        for lane in range(WIDTH):
            block = batches.block[first, lane]
            _lay_inverse_mass(rows, batches.body[batch, 0, lane], block >= 0, batches.inverse_mass[batch, 0], lane)
            _lay_inverse_mass(rows, batches.body[batch, 1, lane], block >= 0, batches.inverse_mass[batch, 1], lane)
        for vector in range(first, batches.batch_vector[batch + 1]):
            for lane in range(WIDTH):
                if vector + 1 < end:
                    _fetch_contact(rows, batches.block[vector + 1, lane])
                block = batches.block[vector, lane]
                if block >= 0:
                    _lay_contact(rows, rows.block_row[block], numbers[vector], lane)
                else:
                    for number in range(NUMBERS):
                        numbers[vector, number, lane] = 0.0
                for index in range(_ROWS):
                    place = row + WIDTH * index + lane
                    laid.impulse[place] = laid.diagonal[place] = 0.0
                    if block >= 0:
                        source = rows.block_row[block] + index
                        laid.impulse[place], laid.diagonal[place] = rows.impulse[source], rows.diagonal[source]
            row += _ROWS * WIDTH


@subkernel
def _fetch_contact(rows, block):
    """Prefetch the rows of a contact, which lie as contacts were found."""
    if block >= 0:
        first = 12 * rows.block_row[block]
        for place in range(first, first + 36 + 8, 8):
            fetch(rows.jacobian, place)
            fetch(rows.response, place)


@subkernel
def _lay_inverse_mass(rows, body, is_used, inverse, lane):
    """M^-1 of one body of a batch; zero for one that cannot be pushed, and in lanes that hold no contact."""
    for number in range(BODY_NUMBERS):
        inverse[number, lane] = 0.0
    mass = rows.body_mass[body]
    if not is_used or mass[0, 0] == 0.0:
        return
    inverse[0, lane] = 1.0 / mass[0, 0]
    a, b, c, d, e, f = mass[3, 3], mass[3, 4], mass[3, 5], mass[4, 4], mass[4, 5], mass[5, 5]
    # the adjugate of a symmetric matrix over its determinant
    c00, c01, c02 = d * f - e * e, c * e - b * f, b * e - c * d
    factor = 1.0 / (a * c00 + b * c01 + c * c02)
    inverse[1, lane], inverse[2, lane], inverse[3, lane] = factor * c00, factor * c01, factor * c02
    inverse[4, lane], inverse[5, lane] = factor * (a * f - c * c), factor * (b * c - a * e)
    inverse[6, lane] = factor * (a * d - b * b)


@subkernel
def _lay_arm(normal, tangent, turning_normal, turning_tangent, sign, numbers, first, lane):
    """The arm r, from r x n and r x t up to their sign: r = n x (r x n) + n (r . n), r . n = (r x t) . (n x t)."""
    n0, n1, n2 = normal[0], normal[1], normal[2]
    t0, t1, t2 = tangent[0], tangent[1], tangent[2]
    m0, m1, m2 = sign * turning_normal[0], sign * turning_normal[1], sign * turning_normal[2]
    along = sign * (
        turning_tangent[0] * (n1 * t2 - n2 * t1)
        + turning_tangent[1] * (n2 * t0 - n0 * t2)
        + turning_tangent[2] * (n0 * t1 - n1 * t0)
    )
    numbers[first, lane] = n1 * m2 - n2 * m1 + along * n0
    numbers[first + 1, lane] = n2 * m0 - n0 * m2 + along * n1
    numbers[first + 2, lane] = n0 * m1 - n1 * m0 + along * n2


@subkernel
def _lay_contact(rows, row, numbers, lane):
    """The numbers of one contact (``simd_batches``)."""
    for index in range(_ROWS):
        for axis in range(3):
            numbers[3 * index + axis, lane] = rows.jacobian[row + index, 6 + axis]
        numbers[BIAS + index, lane] = rows.bias[row + index]
    # the second tangent is n x the first, so it is at right angles to n to rounding, which the first need not be
    normal, tangent = rows.jacobian[row], rows.jacobian[row + 2]
    _lay_arm(normal[6:], tangent[6:], normal[3:], tangent[3:], -1.0, numbers, ARM_A, lane)
    _lay_arm(normal[6:], tangent[6:], normal[9:], tangent[9:], 1.0, numbers, ARM_B, lane)
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
def read_batches(rows, batches, domain, laid):
    """Copy the impulses of a domain's batches to the rows.

    Parameters
    ----------
    rows : RowArrays
        Written: impulse.
    batches, domain, laid
        Read.
    """
    row = batches.domain_row[domain]
    for vector in range(
        batches.batch_vector[batches.domain_batch[domain]], batches.batch_vector[batches.domain_batch[domain + 1]]
    ):
        for lane in range(WIDTH):
            block = batches.block[vector, lane]
            if block >= 0:
                for index in range(_ROWS):
                    rows.impulse[rows.block_row[block] + index] = laid.impulse[row + WIDTH * index + lane]
        row += _ROWS * WIDTH


@subkernel
def sweep_batches(batches, domain, impulse, velocity, change, step, moved):
    """Sweep once over the batches of a domain, with cone friction; or only over those of which a body has been moved.

    Parameters
    ----------
    batches, domain
        Read.
    impulse, change : float64 [laid rows]
        Written, in the order of the batches' rows.
    velocity : float64 [body_count, 6]
        Written.
    step : float
        As in ``sweep_rows``.
    moved : tuple of (int64 [body_count], int, int, float)
        In which sweep each body has been moved last; the first sweep that counts: batches of which no body has been
        moved since then are left out; the number of this sweep, which is written for bodies whose contacts it changes
        by more than a speed; and that speed [m/s].

    Returns
    -------
    largest, merit : float
        As in ``sweep_rows``.
    """
    moved_in, since, this_sweep, enough = moved
    zero, one, tiny, settled = spread(0.0), spread(1.0), spread(TINY), spread(enough)
    steps = spread(step)
    largest, merit = zero, zero
    numbers = batches.numbers
    row = batches.domain_row[domain]
    for batch in range(batches.domain_batch[domain], batches.domain_batch[domain + 1]):
        first_vector, end_vector = batches.batch_vector[batch], batches.batch_vector[batch + 1]
        if not _is_moved(batches.body[batch], moved_in, since):
            row += _ROWS * WIDTH * (end_vector - first_vector)
            continue
        most = zero
        bodies_a, bodies_b = _velocities_of(batches.body[batch, 0]), _velocities_of(batches.body[batch, 1])
        inverse_a, inverse_b = _inverse_mass(batches, 2 * batch), _inverse_mass(batches, 2 * batch + 1)
        va, vb = gather_rows(velocity, bodies_a), gather_rows(velocity, bodies_b)
        for vector in range(first_vector, end_vector):
            at = NUMBERS * WIDTH * vector
            _fetch_vector(numbers, at + _AHEAD * NUMBERS * WIDTH, impulse, change, row + _AHEAD * _ROWS * WIDTH)
            present = load(impulse, row)
            arm_a, arm_b = _three(numbers, at, ARM_A), _three(numbers, at, ARM_B)
            normal = _three(numbers, at, _NORMAL_ROW)
            speed = dot(normal, _slip(arm_a, arm_b, va, vb)) + _number(numbers, at, BIAS)
            wanted = present - (steps * _number(numbers, at, INVERSE_NORMAL)) * speed
            # NaN stays
            wanted = select(wanted < zero, zero, wanted)
            delta = _without_tiny(wanted - present, zero, tiny)
            push = normal[0] * delta, normal[1] * delta, normal[2] * delta
            va, vb = _pulled(arm_a, inverse_a, push, va), _pushed(arm_b, inverse_b, push, vb)
            store(impulse, row, wanted)
            store(change, row, delta)
            error = _number(numbers, at, NORMAL) * delta
            merit = merit + error * delta
            most = _larger(size(error), most)
            first, second = load(impulse, row + WIDTH), load(impulse, row + 2 * WIDTH)
            bound = _number(numbers, at, FRICTION) * wanted
            delta_1, delta_2 = zero, zero
            # a third of a heap's contacts are open, and lie side by side
            if any_of((size(first) + size(second) + bound) > zero):
                slip = _slip(arm_a, arm_b, va, vb)
                one_way, other_way = _three(numbers, at, _FIRST_ROW), _three(numbers, at, _SECOND_ROW)
                speed_1 = dot(one_way, slip) + _number(numbers, at, BIAS + 1)
                speed_2 = dot(other_way, slip) + _number(numbers, at, BIAS + 2)
                new_1, new_2 = _visit(numbers, at, bound, speed_1, speed_2, first, second, zero, one)
                if step != 1.0:
                    new_1, new_2 = first + steps * (new_1 - first), second + steps * (new_2 - second)
                    new_1, new_2 = _into_disc(bound, new_1, new_2, zero, one)
                delta_1 = _without_tiny(new_1 - first, zero, tiny)
                delta_2 = _without_tiny(new_2 - second, zero, tiny)
                push = (
                    one_way[0] * delta_1 + other_way[0] * delta_2,
                    one_way[1] * delta_1 + other_way[1] * delta_2,
                    one_way[2] * delta_1 + other_way[2] * delta_2,
                )
                va, vb = _pulled(arm_a, inverse_a, push, va), _pushed(arm_b, inverse_b, push, vb)
                store(impulse, row + WIDTH, new_1)
                store(impulse, row + 2 * WIDTH, new_2)
                error_1, error_2 = _number(numbers, at, FIRST) * delta_1, _number(numbers, at, SECOND) * delta_2
                merit = merit + (error_1 * delta_1 + error_2 * delta_2)
                most = _larger(size(error_2), _larger(size(error_1), most))
            store(change, row + WIDTH, delta_1)
            store(change, row + 2 * WIDTH, delta_2)
            row += _ROWS * WIDTH
        scatter_rows(velocity, bodies_a, va)
        scatter_rows(velocity, bodies_b, vb)
        if any_of(most > settled):
            _note_moved(batches, batch, most, enough, moved_in, this_sweep)
        largest = _larger(most, largest)
    total, greatest = 0.0, 0.0
    for lane in range(WIDTH):
        total += number_at(merit, lane)
        greatest = max(greatest, number_at(largest, lane))
    return greatest, total


@subkernel
def _is_moved(bodies, moved_in, since):
    """Whether some body of a batch has been moved since a sweep, or in it."""
    for side in range(2):
        for lane in range(WIDTH):
            if moved_in[bodies[side, lane]] >= since:
                return True
    return False


@subkernel
def _note_moved(batches, batch, changes, enough, moved_in, this_sweep):
    """Note the bodies of the lanes that have changed by more than is enough; others than those cannot be pushed."""
    for lane in range(WIDTH):
        if number_at(changes, lane) > enough:
            for side in range(2):
                if batches.inverse_mass[batch, side, 0, lane] > 0.0:
                    moved_in[batches.body[batch, side, lane]] = this_sweep


@subkernel
def advance_laid_gaps(batches, batch, velocity, tau, surface_speed, gap):
    """Let the gaps of a batch's contacts change for a while: gap <- gap + tau (J v + surface speed).

    Parameters
    ----------
    batches, batch
        Read.
    velocity : float64 [body_count, 6]
        Read.
    tau : float
        [s].
    surface_speed, gap : float64 [8 vector_count]
        [m/s], [m], lane by lane; the latter written.
    """
    numbers, taus = batches.numbers, spread(tau)
    va = gather_rows(velocity, _velocities_of(batches.body[batch, 0]))
    vb = gather_rows(velocity, _velocities_of(batches.body[batch, 1]))
    for vector in range(batches.batch_vector[batch], batches.batch_vector[batch + 1]):
        at, place = NUMBERS * WIDTH * vector, WIDTH * vector
        slip = _slip(_three(numbers, at, ARM_A), _three(numbers, at, ARM_B), va, vb)
        speed = dot(_three(numbers, at, _NORMAL_ROW), slip) + load(surface_speed, place)
        store(gap, place, load(gap, place) + taus * speed)


@subkernel
def part_batches(batches, domain, impulse, velocity, as_equals, moved):
    """Sweep once over the normal rows of a domain's batches, or of those of which a body has been moved.

    Parameters
    ----------
    batches, domain
        Read.
    impulse : float64 [8 vector_count]
        Written, lane by lane.
    velocity : float64 [body_count, 6]
        Written.
    as_equals : bool
        As if all bodies had the same mass, and inertias to match.
    moved : tuple of (int64 [body_count], int, int, float)
        As of ``sweep_batches``.

    Returns
    -------
    float
        Largest change of a speed [m/s].
    """
    moved_in, since, this_sweep, enough = moved
    zero, one, settled, numbers = spread(0.0), spread(1.0), spread(enough), batches.numbers
    largest = zero
    for batch in range(batches.domain_batch[domain], batches.domain_batch[domain + 1]):
        if not _is_moved(batches.body[batch], moved_in, since):
            continue
        most = zero
        bodies_a, bodies_b = _velocities_of(batches.body[batch, 0]), _velocities_of(batches.body[batch, 1])
        inverse_a, inverse_b = _inverse_mass(batches, 2 * batch), _inverse_mass(batches, 2 * batch + 1)
        if as_equals:
            inverse_a, inverse_b = _of_unit_mass(inverse_a, zero, one), _of_unit_mass(inverse_b, zero, one)
        va, vb = gather_rows(velocity, bodies_a), gather_rows(velocity, bodies_b)
        for vector in range(batches.batch_vector[batch], batches.batch_vector[batch + 1]):
            at = NUMBERS * WIDTH * vector
            arm_a, arm_b = _three(numbers, at, ARM_A), _three(numbers, at, ARM_B)
            normal = _three(numbers, at, _NORMAL_ROW)
            weight = _weight(arm_a, inverse_a, normal) + _weight(arm_b, inverse_b, normal)
            speed = dot(normal, _slip(arm_a, arm_b, va, vb)) + _number(numbers, at, BIAS)
            present = load(impulse, WIDTH * vector)
            wanted = present - speed / select(weight > zero, weight, one)
            wanted = select(wanted > zero, select(weight > zero, wanted, zero), zero)
            store(impulse, WIDTH * vector, wanted)
            delta = wanted - present
            most = _larger(size(weight * delta), most)
            push = normal[0] * delta, normal[1] * delta, normal[2] * delta
            va, vb = _pulled(arm_a, inverse_a, push, va), _pushed(arm_b, inverse_b, push, vb)
        scatter_rows(velocity, bodies_a, va)
        scatter_rows(velocity, bodies_b, vb)
        if any_of(most > settled):
            _note_moved(batches, batch, most, enough, moved_in, this_sweep)
        largest = _larger(most, largest)
    greatest = 0.0
    for lane in range(WIDTH):
        greatest = max(greatest, number_at(largest, lane))
    return greatest


@subkernel
def _of_unit_mass(inverse, zero, one):
    """M^-1 of bodies of the same shape and a mass of 1 kg; 0 stays 0."""
    mass = select(inverse[0] > zero, one / select(inverse[0] > zero, inverse[0], one), zero)
    return (
        mass * inverse[0],
        mass * inverse[1],
        mass * inverse[2],
        mass * inverse[3],
        mass * inverse[4],
        mass * inverse[5],
        mass * inverse[6],
    )


@subkernel
def _weight(arm, inverse, normal):
    """J M^-1 J' of one body: how fast its contact point moves along the normal after a unit impulse."""
    u = _answer(arm, inverse, normal)
    turn = cross((u[3], u[4], u[5]), arm)
    return normal[0] * (u[0] + turn[0]) + normal[1] * (u[1] + turn[1]) + normal[2] * (u[2] + turn[2])


@subkernel
def _fetch_vector(numbers, at, impulse, change, row):
    for which in range(NUMBERS):
        fetch(numbers, at + WIDTH * which)
    for index in range(_ROWS):
        fetch(impulse, row + WIDTH * index)
        fetch(change, row + WIDTH * index)


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
def _number(numbers, at, which):
    return load(numbers, at + WIDTH * which)


@subkernel
def _three(numbers, at, which):
    return _number(numbers, at, which), _number(numbers, at, which + 1), _number(numbers, at, which + 2)


@subkernel
def _inverse_mass(batches, body):
    """M^-1 of the eight bodies of a side of a batch."""
    numbers, at = batches.inverse_mass, BODY_NUMBERS * WIDTH * body
    return (
        _number(numbers, at, 0),
        _number(numbers, at, 1),
        _number(numbers, at, 2),
        _number(numbers, at, 3),
        _number(numbers, at, 4),
        _number(numbers, at, 5),
        _number(numbers, at, 6),
    )


@subkernel
def _slip(arm_a, arm_b, va, vb):
    """Velocity of b's contact point relative to a's."""
    turn_a, turn_b = cross((va[3], va[4], va[5]), arm_a), cross((vb[3], vb[4], vb[5]), arm_b)
    return (
        (vb[0] - va[0]) + (turn_b[0] - turn_a[0]),
        (vb[1] - va[1]) + (turn_b[1] - turn_a[1]),
        (vb[2] - va[2]) + (turn_b[2] - turn_a[2]),
    )


@subkernel
def _answer(arm, inverse, push):
    """M^-1 times an impulse at the end of an arm."""
    mass, xx, xy, xz, yy, yz, zz = inverse
    x, y, z = cross(arm, push)
    return (
        mass * push[0],
        mass * push[1],
        mass * push[2],
        xx * x + xy * y + xz * z,
        xy * x + yy * y + yz * z,
        xz * x + yz * y + zz * z,
    )


@subkernel
def _pushed(arm, inverse, push, v):
    """Velocities of bodies after an impulse."""
    u = _answer(arm, inverse, push)
    return v[0] + u[0], v[1] + u[1], v[2] + u[2], v[3] + u[3], v[4] + u[4], v[5] + u[5]


@subkernel
def _pulled(arm, inverse, push, v):
    """Velocities of bodies after the opposite of an impulse."""
    u = _answer(arm, inverse, push)
    return v[0] - u[0], v[1] - u[1], v[2] - u[2], v[3] - u[3], v[4] - u[4], v[5] - u[5]


@subkernel
def _without_tiny(number, zero, tiny):
    """As in ``sweep``; NaN stays."""
    return select(size(number) <= tiny, zero, number)


@subkernel
def _larger(first, second):
    return select(first > second, first, second)
