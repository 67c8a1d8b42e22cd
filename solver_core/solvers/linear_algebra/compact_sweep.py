"""Projected Gauss-Seidel sweeps over rows in compact form, and the residual there."""

import math

import numpy as np

from ...compiled.kernel import kernel, subkernel
from ...problem.friction import project_friction
from ...problem.rows import BOX_FRICTION
from .compact_rows import push_bodies, unit_speeds

# What a sweep changes besides rows that are no contacts: everything, normal impulses, or friction.
ALL, NORMALS, FRICTION = 0, 1, 2


@subkernel
def sweep_units(compact, part, model, directions, y):
    """One sweep of projected Gauss-Seidel, unit by unit, from y = the present impulses.

    In disc and polygon a contact's friction takes the largest step of projected gradients that never overshoots.

    Parameters
    ----------
    compact : CompactRows
        Read; ``velocity`` must hold Y y and is kept so (explicit W: not used).
    part : int
        ALL, NORMALS or FRICTION.
    model, directions : int
        The model of friction, and the corners of its polygon.
    y : float64 [rows]
        Read and written [m/s].

    Returns
    -------
    largest : float
        Largest change of an impulse, as the speed that it makes [m/s].
    merit : float
        Sum of the squared changes, in the same measure [m^2/s^2].
    """
    largest, merit = 0.0, 0.0
    for unit in range(compact.count[0]):
        row = compact.first_row[unit]
        is_contact = compact.friction[unit] >= 0.0
        if not is_contact or part != FRICTION:
            speed, _, _ = unit_speeds(compact, unit, y)
            wanted = y[row] - (speed + compact.offset[row]) / compact.own[row, 0]
            lower, upper = (0.0, math.inf) if is_contact else (compact.lower[row], compact.upper[row])
            error = _change_impulse(compact, unit, row, min(upper, max(lower, wanted)), y)
            largest = max(largest, error * (1.0 - compact.compliance[unit]))
            merit += error * error
        if is_contact and part != NORMALS:
            error = _sweep_friction(compact, unit, model, directions, y)
            largest = max(largest, error)
            merit += error * error
    return largest, merit


@subkernel
def _sweep_friction(compact, unit, model, directions, y):
    """Friction of one contact at its present normal impulse; returns the speed that its change makes."""
    own, row = compact.own, compact.first_row[unit]
    bound = compact.friction[unit] * max(y[row], 0.0)
    first, second = own[row + 1, 1], own[row + 2, 2]
    if model == BOX_FRICTION:
        total = 0.0
        for place, weight in ((row + 1, first), (row + 2, second)):
            _, s1, s2 = unit_speeds(compact, unit, y)
            speed = (s1 if place == row + 1 else s2) + compact.offset[place]
            if weight > 0.0:
                wanted = min(bound, max(-bound, y[place] - speed / weight))
                total = math.hypot(total, weight * _change_impulse(compact, unit, place, wanted, y))
        return total
    weight = _largest_response(first, second, 0.5 * (own[row + 1, 2] + own[row + 2, 1]))
    if not weight > 0.0:
        return 0.0
    _, s1, s2 = unit_speeds(compact, unit, y)
    t1, t2 = project_friction(
        model,
        directions,
        bound,
        y[row + 1] - (s1 + compact.offset[row + 1]) / weight,
        y[row + 2] - (s2 + compact.offset[row + 2]) / weight,
    )
    return weight * math.hypot(
        _change_impulse(compact, unit, row + 1, t1, y), _change_impulse(compact, unit, row + 2, t2, y)
    )


@subkernel
def _change_impulse(compact, unit, row, value, y):
    """Set one impulse and push its bodies; returns |change|."""
    delta = value - y[row]
    y[row] = value
    if delta != 0.0 and compact.count[3] == 0:
        push_bodies(compact.velocity, compact.body_a[unit], compact.body_b[unit], compact.response[row], delta)
    return abs(delta)


@subkernel
def _largest_response(first, second, coupling):
    """Largest eigenvalue of a symmetric 2 x 2 matrix."""
    return 0.5 * (first + second) + np.hypot(0.5 * (first - second), coupling)


@kernel
def compact_residual(compact, model, directions, y, u):
    """The natural map (``residuals``) of compact rows.

    Parameters
    ----------
    compact : CompactRows
        Read.
    model, directions : int
        The model of friction.
    y, u : float64 [rows]
        Impulses and speeds, read [m/s].

    Returns
    -------
    float
        [m/s]
    """
    residual = 0.0
    for unit in range(compact.count[0]):
        row = compact.first_row[unit]
        mu = compact.friction[unit]
        if mu < 0.0:
            wanted = min(compact.upper[row], max(compact.lower[row], y[row] - u[row]))
            residual = max(residual, (1.0 - compact.compliance[unit]) * abs(y[row] - wanted))
            continue
        residual = max(residual, abs(y[row] - max(0.0, y[row] - u[row])))
        first, second = compact.own[row + 1, 1], compact.own[row + 2, 2]
        if model != BOX_FRICTION:
            first = second = max(first, second)
        if first > 0.0 and second > 0.0:
            t1, t2 = project_friction(
                model,
                directions,
                mu * max(y[row], 0.0),
                y[row + 1] - u[row + 1] / first,
                y[row + 2] - u[row + 2] / second,
            )
            error_1, error_2 = first * abs(y[row + 1] - t1), second * abs(y[row + 2] - t2)
            error = max(error_1, error_2) if model == BOX_FRICTION else math.hypot(error_1, error_2)
            residual = max(residual, error)
    return residual
