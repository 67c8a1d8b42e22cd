"""Fischer's function on the polyhedral contact problem: its value, its generalised Jacobian, one unit at a time.

Unknowns of a contact, all in m/s (``compact_rows``): theta (normal), phi_1 to phi_K (friction directions d_k), lambda
(slip). With u = W S y + b of its rows and y = (theta, sum phi_k d_k):

    0 <= theta   complementary to  u_n                 >= 0
    0 <= phi_k   complementary to  d_k' u_t + lambda   >= 0
    0 <= lambda  complementary to  mu theta - sum phi  >= 0          (Lloyd 2004, eq. 8; Erleben 2013, eq. 27)

Each pair (x, w) becomes one equation with f(x, w) = sqrt(x^2 + w^2 + 2 m^2) - x - w = 0, Fischer's function at m = 0;
at m > 0 its root is x w = m^2, x > 0, w > 0 (Kanzow 1996), and f has a derivative everywhere. Of other rows

    no bounds        -w = 0
    lower bound      f(x - lower, w) = 0
    upper bound      -f(upper - x, -w) = 0
    both             f(x - lower, f(upper - x, -w)) = 0                             (Billups 1995)

so that all derivatives p = df/dx, q = df/dw are at most 0. The Jacobian is P + Q A; A couples units only by their u.
So with B a unit's own block of P + Q (A + epsilon I), and s the change of its u that the other units make,

    change of its unknowns = -B^-1 (F + Q E s) = step - answer s,

and the units' y alone have to be found: y = goal - G s, the system of ``block_gmres``. That is block-diagonal
preconditioning, written for 3 numbers a contact instead of K + 2.

Where x = w = 0 Fischer's function has no derivative. The strategies pick p, q there (Erleben 2013, section 5.5):
    random           p = a - 1, q = b - 1 with (a, b) in the unit disc (eq. 98)
    zero             a = b = 0
    perturbation     as if x were a small positive number
    approximation    everywhere by finite differences (eq. 102), taken along x and w of each pair

Cost: some 2 K^3 / 3 operations a contact and Newton step for the factors of B.
"""

import math

from ...compiled.kernel import kernel, subkernel

# Places in ``problem.STRATEGIES``.
_PERTURBATION, _ZERO, _RANDOM, _APPROXIMATION = 0, 1, 2, 3
# A pair counts as zero when both numbers are below this share of the problem's scale.
_RATIO_ZERO = 1e-12
# Step of the finite differences, as a share of the larger of the pair and the problem's scale.
_RATIO_DIFFERENCE = 1e-8
# A pivot below this share of the largest entry of its block is replaced by it.
_RATIO_PIVOT = 1e-15


@subkernel
def fischer(x, w, smoothing):
    """sqrt(x^2 + w^2 + 2 m^2) - x - w, without cancellation."""
    root = math.sqrt(x * x + w * w + 2.0 * smoothing * smoothing)
    total = x + w
    if total > 0.0:
        return 2.0 * (smoothing * smoothing - x * w) / (root + total)
    return root - total


@subkernel
def fischer_slopes(x, w, smoothing, unit_speed, strategy, random):
    """Derivatives (p, q) of ``fischer``, or the strategy's choice where there is none.

    Parameters
    ----------
    x, w, smoothing : float
        [m/s]
    unit_speed : float
        The problem's scale [m/s].
    strategy : int
        Place in ``problem.STRATEGIES``.
    random : int64 [1]
        State of the random numbers; written.
    """
    if strategy == _APPROXIMATION:
        step = _RATIO_DIFFERENCE * max(unit_speed, abs(x), abs(w))
        smoothing = max(smoothing, step)
        value = fischer(x, w, smoothing)
        return (fischer(x + step, w, smoothing) - value) / step, (fischer(x, w + step, smoothing) - value) / step
    if max(abs(x), abs(w)) <= _RATIO_ZERO * unit_speed:
        if strategy == _ZERO:
            return -1.0, -1.0
        if strategy == _RANDOM:
            radius, angle = math.sqrt(_uniform(random)), 2.0 * math.pi * _uniform(random)
            return radius * math.cos(angle) - 1.0, radius * math.sin(angle) - 1.0
        x = max(smoothing, _RATIO_ZERO * unit_speed)
    root = math.sqrt(x * x + w * w + 2.0 * smoothing * smoothing)
    return _slope(x, w, smoothing, root), _slope(w, x, smoothing, root)


@subkernel
def _slope(one, other, smoothing, root):
    """one / root - 1, without cancellation: never 0, so that a contact's answer is defined however far it parts."""
    if one <= 0.0:
        return one / root - 1.0
    return -(other * other + 2.0 * smoothing * smoothing) / (root * (root + one))


@subkernel
def _uniform(random):
    """Next number in (0, 1) of the minimal standard generator (Park and Miller 1988, with 48271)."""
    random[0] = random[0] * 48271 % 2147483647
    return random[0] / 2147483647.0


@subkernel
def _row_value(x, w, lower, upper, smoothing):
    """Equation of a row that is no contact."""
    if lower == -math.inf and upper == math.inf:
        return -w
    if upper == math.inf:
        return fischer(x - lower, w, smoothing)
    inner = fischer(upper - x, -w, smoothing)
    return -inner if lower == -math.inf else fischer(x - lower, inner, smoothing)


@subkernel
def _row_slopes(x, w, lower, upper, smoothing, unit_speed, strategy, random):
    """Derivatives of ``_row_value`` by x and w."""
    if lower == -math.inf and upper == math.inf:
        return 0.0, -1.0
    if upper == math.inf:
        return fischer_slopes(x - lower, w, smoothing, unit_speed, strategy, random)
    inner_p, inner_q = fischer_slopes(upper - x, -w, smoothing, unit_speed, strategy, random)
    if lower == -math.inf:
        return inner_p, inner_q
    inner = fischer(upper - x, -w, smoothing)
    p, q = fischer_slopes(x - lower, inner, smoothing, unit_speed, strategy, random)
    return p - q * inner_p, -q * inner_q


@kernel
def number_unknowns(compact, directions, first_unknown):
    """Places of the units' unknowns: K + 2 a contact, one another row.

    Parameters
    ----------
    compact : CompactRows
        Read.
    directions : int
        K.
    first_unknown : int64 [units + 1]
        Written.

    Returns
    -------
    int
        Number of unknowns.
    """
    total = 0
    for unit in range(compact.count[0]):
        first_unknown[unit] = total
        total += directions + 2 if compact.friction[unit] >= 0.0 else 1
    first_unknown[compact.count[0]] = total
    return total


@kernel
def combine_directions(compact, first_unknown, corners, x, y):
    """y = R x: impulses of the rows from the unknowns; theta, and sum_k phi_k d_k.

    Parameters
    ----------
    compact : CompactRows
        Read.
    first_unknown : int64 [units + 1]
        Read.
    corners : float64 [K, 2]
        d_k, read.
    x, y : float64 [unknowns], [rows]
        Read; written [m/s].
    """
    for unit in range(compact.count[0]):
        row, first = compact.first_row[unit], first_unknown[unit]
        y[row] = x[first]
        if compact.friction[unit] >= 0.0:
            t1, t2 = 0.0, 0.0
            for k in range(corners.shape[0]):
                t1 += corners[k, 0] * x[first + 1 + k]
                t2 += corners[k, 1] * x[first + 1 + k]
            y[row + 1], y[row + 2] = t1, t2


@kernel
def compute_slacks(compact, first_unknown, corners, x, u, w):
    """The second number w of each pair, linear in the unknowns x and the speeds u.

    Parameters
    ----------
    compact, first_unknown, corners, x
        As in ``combine_directions``.
    u : float64 [rows]
        Read [m/s].
    w : float64 [unknowns]
        Written [m/s].
    """
    for unit in range(compact.count[0]):
        row, first = compact.first_row[unit], first_unknown[unit]
        w[first] = u[row]
        mu = compact.friction[unit]
        if mu >= 0.0:
            last = first + 1 + corners.shape[0]
            reserve = mu * x[first]
            for k in range(corners.shape[0]):
                w[first + 1 + k] = corners[k, 0] * u[row + 1] + corners[k, 1] * u[row + 2] + x[last]
                reserve -= x[first + 1 + k]
            w[last] = reserve


@kernel
def evaluate_equations(compact, first_unknown, x, w, smoothing, value):
    """Values F of all equations.

    Parameters
    ----------
    compact, first_unknown, x, w
        Read.
    smoothing : float
        m [m/s].
    value : float64 [unknowns]
        Written [m/s].

    Returns
    -------
    float
        Merit 1/2 |F|^2 (Erleben 2013, eq. 103).
    """
    merit = 0.0
    for unit in range(compact.count[0]):
        first, end = first_unknown[unit], first_unknown[unit + 1]
        if compact.friction[unit] >= 0.0:
            for place in range(first, end):
                value[place] = fischer(x[place], w[place], smoothing)
        else:
            row = compact.first_row[unit]
            value[first] = _row_value(x[first], w[first], compact.lower[row], compact.upper[row], smoothing)
        for place in range(first, end):
            merit += 0.5 * value[place] * value[place]
    return merit


@kernel
def differentiate_equations(compact, first_unknown, x, w, smoothing, unit_speed, strategy, random, p, q):
    """Derivatives P and Q of all equations by their x and their w.

    Parameters
    ----------
    compact, first_unknown, x, w, smoothing
        As in ``evaluate_equations``.
    unit_speed, strategy, random
        As in ``fischer_slopes``.
    p, q : float64 [unknowns]
        Written.
    """
    for unit in range(compact.count[0]):
        first, end = first_unknown[unit], first_unknown[unit + 1]
        if compact.friction[unit] >= 0.0:
            for place in range(first, end):
                p[place], q[place] = fischer_slopes(x[place], w[place], smoothing, unit_speed, strategy, random)
        else:
            row = compact.first_row[unit]
            p[first], q[first] = _row_slopes(
                x[first], w[first], compact.lower[row], compact.upper[row], smoothing, unit_speed, strategy, random
            )


@kernel
def factor_units(compact, first_unknown, corners, p, q, value, epsilon, block, answer, step, gain, goal):
    """Solve each unit's own block of the Newton equation for its value and for a change of its speeds.

    Parameters
    ----------
    compact, first_unknown, corners
        Read.
    p, q, value : float64 [unknowns]
        Read.
    epsilon : float
        Added to the diagonal of A.
    block : float64 [K + 2, K + 6]
        Workspace.
    answer : float64 [unknowns, 3]
        Written: B^-1 Q E.
    step : float64 [unknowns]
        Written: -B^-1 F [m/s].
    gain : float64 [rows, 3]
        Written: G = R answer.
    goal : float64 [rows]
        Written: g = R step [m/s].
    """
    for unit in range(compact.count[0]):
        row, first = compact.first_row[unit], first_unknown[unit]
        size = first_unknown[unit + 1] - first
        if size == 1:
            pivot = p[first] + q[first] * (compact.own[row, 0] + epsilon)
            answer[first, 0], answer[first, 1], answer[first, 2] = q[first] / pivot, 0.0, 0.0
            step[first] = -value[first] / pivot
            gain[row, 0], gain[row, 1], gain[row, 2] = answer[first, 0], 0.0, 0.0
            goal[row] = step[first]
            continue
        fill_block(compact, unit, first, corners, p, q, epsilon, block)
        for place in range(size):
            block[place, size + 3] = -value[first + place]
        _eliminate(block, size)
        for place in range(size):
            for column in range(3):
                answer[first + place, column] = block[place, size + column]
            step[first + place] = block[place, size + 3]
        _combine_answers(row, first, corners, answer, step, gain, goal)


@kernel
def fill_block(compact, unit, first, corners, p, q, epsilon, block):
    """A contact's block P + Q (A + epsilon I), and Q E beside it: by how much its equations answer its u.

    Parameters
    ----------
    compact, unit, first, corners, p, q, epsilon
        Read, as in ``factor_units``.
    block : float64 [K + 2, K + 6]
        Written, but for the last column.
    """
    row = compact.first_row[unit]
    own, count = compact.own, corners.shape[0]
    last, size = count + 1, count + 2
    for place in range(size):
        for column in range(size + 3):
            block[place, column] = 0.0
    slope = q[first]
    block[0, 0] = slope * own[row, 0]
    block[0, size] = slope
    for k in range(count):
        block[0, 1 + k] = slope * (own[row, 1] * corners[k, 0] + own[row, 2] * corners[k, 1])
    for k in range(count):
        slope, c1, c2 = q[first + 1 + k], corners[k, 0], corners[k, 1]
        along_n = c1 * own[row + 1, 0] + c2 * own[row + 2, 0]
        along_1 = c1 * own[row + 1, 1] + c2 * own[row + 2, 1]
        along_2 = c1 * own[row + 1, 2] + c2 * own[row + 2, 2]
        line = block[1 + k]
        line[0] = slope * along_n
        for other in range(count):
            line[1 + other] = slope * (along_1 * corners[other, 0] + along_2 * corners[other, 1])
        line[last] = slope
        line[size + 1] = slope * c1
        line[size + 2] = slope * c2
        block[last, 1 + k] = -q[first + last]
    block[last, 0] = q[first + last] * compact.friction[unit]
    for place in range(size):
        block[place, place] += p[first + place] + epsilon * q[first + place]


@subkernel
def _eliminate(block, size):
    """Solve the first ``size`` columns for the four after them in place: Gauss with row pivoting."""
    width = size + 4
    largest = 0.0
    for place in range(size):
        for column in range(size):
            largest = max(largest, abs(block[place, column]))
    for column in range(size):
        pivot_row = column
        for place in range(column + 1, size):
            if abs(block[place, column]) > abs(block[pivot_row, column]):
                pivot_row = place
        if pivot_row != column:
            for other in range(column, width):
                block[column, other], block[pivot_row, other] = block[pivot_row, other], block[column, other]
        if abs(block[column, column]) <= _RATIO_PIVOT * largest:
            block[column, column] = math.copysign(_RATIO_PIVOT * largest, block[column, column])
        for place in range(column + 1, size):
            factor = block[place, column] / block[column, column]
            if factor != 0.0:
                for other in range(column + 1, width):
                    block[place, other] -= factor * block[column, other]
    for place in range(size - 1, -1, -1):
        for right in range(size, width):
            total = block[place, right]
            for other in range(place + 1, size):
                total -= block[place, other] * block[other, right]
            block[place, right] = total / block[place, place]


@subkernel
def _combine_answers(row, first, corners, answer, step, gain, goal):
    """G = R answer and g = R step of one contact."""
    goal[row] = step[first]
    goal[row + 1], goal[row + 2] = 0.0, 0.0
    for column in range(3):
        gain[row, column] = answer[first, column]
        gain[row + 1, column], gain[row + 2, column] = 0.0, 0.0
    for k in range(corners.shape[0]):
        place = first + 1 + k
        for direction in range(2):
            corner = corners[k, direction]
            goal[row + 1 + direction] += corner * step[place]
            for column in range(3):
                gain[row + 1 + direction, column] += corner * answer[place, column]


@kernel
def recover_unknowns(compact, first_unknown, answer, step, y, u, change):
    """Change of all unknowns, step - answer s, from the units' y and u = W S y; s = u - D y.

    Parameters
    ----------
    compact, first_unknown, answer, step
        Read, as in ``factor_units``.
    y, u : float64 [rows]
        Read [m/s].
    change : float64 [unknowns]
        Written [m/s].
    """
    own = compact.own
    for unit in range(compact.count[0]):
        row, end = compact.first_row[unit], compact.first_row[unit + 1]
        first = first_unknown[unit]
        if end - row == 1:
            change[first] = step[first] - answer[first, 0] * (u[row] - own[row, 0] * y[row])
            continue
        y0, y1, y2 = y[row], y[row + 1], y[row + 2]
        s0 = u[row] - (own[row, 0] * y0 + own[row, 1] * y1 + own[row, 2] * y2)
        s1 = u[row + 1] - (own[row + 1, 0] * y0 + own[row + 1, 1] * y1 + own[row + 1, 2] * y2)
        s2 = u[row + 2] - (own[row + 2, 0] * y0 + own[row + 2, 1] * y1 + own[row + 2, 2] * y2)
        for place in range(first, first_unknown[unit + 1]):
            change[place] = step[place] - (answer[place, 0] * s0 + answer[place, 1] * s1 + answer[place, 2] * s2)


@kernel
def spread_gradient(compact, first_unknown, corners, p, q, value, t, turned, gradient):
    """Gradient of the merit, (P + Q A)' F, in two halves around a product with (W S)'.

    With ``turned`` = (W S)' t this call's ``t`` is E' Q F of the same arguments; call it, multiply, call it again.

    Parameters
    ----------
    compact, first_unknown, corners, p, q, value
        Read.
    t : float64 [rows]
        Written: E' Q F.
    turned : float64 [rows]
        Read: (W S)' t.
    gradient : float64 [unknowns]
        Written.
    """
    for unit in range(compact.count[0]):
        row, first = compact.first_row[unit], first_unknown[unit]
        end = first_unknown[unit + 1]
        t[row] = q[first] * value[first]
        gradient[first] = p[first] * value[first] + turned[row]
        if end - first == 1:
            continue
        last = end - 1
        reserve = q[last] * value[last]
        gradient[first] += compact.friction[unit] * reserve
        t1, t2, total = 0.0, 0.0, 0.0
        for k in range(corners.shape[0]):
            place = first + 1 + k
            weighted = q[place] * value[place]
            t1 += corners[k, 0] * weighted
            t2 += corners[k, 1] * weighted
            total += weighted
            gradient[place] = (
                p[place] * value[place] + corners[k, 0] * turned[row + 1] + corners[k, 1] * turned[row + 2] - reserve
            )
        t[row + 1], t[row + 2] = t1, t2
        gradient[last] = p[last] * value[last] + total
