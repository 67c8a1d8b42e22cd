"""Contacts with an explicit W as groups of complementarity variables, for Lemke's methods.

u = W r + b stands for u = J v with v in R^3n, J = 1 and the responses W's columns. So the reduced inverse of
``almost_complementary`` has as many rows as W's rank needs, and nothing else changes; W need not be symmetric.
"""

import numpy as np

from ...problem.problem import Status, kernel_settings
from ...problem.residuals import explicit_scale, residual_of_delassus
from .bilateral import COLUMNS, PLACES
from .lemke_island import MOST_DOUBLES, doubles_needed, solve_groups_along_path
from .lemke_path import LIMIT, RAY
from .polyhedral import friction_directions
from .polyhedral_groups import GROUP, Groups


def solve_explicit(delassus, start, friction, options, solve_groups, doubles):
    """Solve contacts with an explicit W.

    Parameters
    ----------
    delassus : Delassus
    start : float64 [3 contacts]
        Returned where it solves the problem, or where nothing better was found [N s].
    friction : {"polyhedral"}
    options : SolverOptions
        Complete.
    solve_groups : callable (groups, z, limit) -> (outcome, pivots)
    doubles : callable (contacts, directions) -> int
        Memory that it needs.

    Returns
    -------
    tuple
        (r, status, iterations, residual, scale, worst contact, history), as ``registry.Method.explicit``.
    """
    scale = explicit_scale(delassus.b)
    settings = kernel_settings(options, friction)
    target = max(settings.tolerance * scale, settings.absolute_tolerance)
    residual, worst = residual_of_delassus(delassus, start, settings)
    r, outcome, pivots = start, None, 0
    if not residual <= target:
        if doubles(len(delassus.friction), settings.directions) > MOST_DOUBLES:
            return start, Status.CAPACITY, 0, residual, scale, worst, np.zeros(0)
        groups = groups_of_delassus(delassus, settings.directions)
        z = np.zeros(len(groups.each) * (settings.directions + 2))
        outcome, pivots = solve_groups(groups, z, settings.max_iterations)
        found = _impulses(groups, z, len(delassus.b))
        present, present_worst = residual_of_delassus(delassus, found, settings)
        if present < residual:
            r, residual, worst = found, present, present_worst
    return r, _status(outcome, residual, target, settings), pivots, residual, scale, worst, np.zeros(0)


def solve_explicit_along_path(delassus, start, friction, options, joins):
    """Solve contacts with an explicit W with the reduced inverse; ``joins`` as ``lemke_island.island_solver``."""
    return solve_explicit(
        delassus,
        start,
        friction,
        options,
        lambda groups, z, limit: solve_groups_along_path(groups, z, limit, np.int64(joins)),
        lambda contacts, directions: doubles_needed((3 * contacts, contacts, 3 * contacts, 0), directions),
    )


def _impulses(groups, z, count):
    """r [N s] from theta and phi."""
    r = np.zeros(count)
    pairs = np.maximum(z.reshape(len(groups.each), -1), 0.0)
    normal = groups.each["normal_row"]
    tangential = pairs[:, 1:-1] @ groups.angle.T
    for offset, amount in enumerate((pairs[:, 0], tangential[:, 0], tangential[:, 1])):
        r[groups.row[normal + offset]] = groups.factor[normal + offset] * amount
    return r


def _status(outcome, residual, target, settings):
    """As on rows; a start that solves the problem has no outcome."""
    if residual <= settings.absolute_tolerance:
        return Status.CONVERGED_ABSOLUTE
    if residual <= target:
        return Status.CONVERGED_RELATIVE
    return {RAY: Status.RAY_TERMINATION, LIMIT: Status.MAX_ITERATIONS}.get(outcome, Status.ROUND_OFF)


def groups_of_delassus(delassus, directions) -> Groups:
    """The contacts as ``polyhedral_groups.gather_groups`` makes them of rows.

    Parameters
    ----------
    delassus : Delassus
    directions : int
        K.
    """
    diagonal = delassus.matrix.diagonal()
    contacts = np.flatnonzero(diagonal[0::3] > 0.0)
    rows = (3 * contacts[:, None] + np.arange(3)).ravel()
    count, width = len(rows), 6 * -(-len(rows) // 6)
    weight = np.repeat(1.0 / np.sqrt(diagonal[3 * contacts]), 3)
    speed = weight * delassus.b[rows]
    approach = np.where(np.arange(count) % 3 == 0, -speed, np.abs(speed))
    unit = np.max(approach, initial=0.0) or 1.0
    each = np.zeros(len(contacts), GROUP)
    each["local"] = -1
    each["normal_row"] = 3 * np.arange(len(contacts))
    each["friction"] = delassus.friction[contacts]
    slides = each["friction"] > 0.0
    each["tangent_row"] = np.where(slides, each["normal_row"] + 1, -1)
    each["directions"] = np.where(slides, directions, 0)
    for name in ("cover_normal", "cover_slip", "cover_cone"):
        each[name] = 1.0
    place = np.full((count, PLACES), -1, np.int64)
    place[:, 0] = 6 * (np.arange(count) // 6)
    jacobian = np.zeros((count, COLUMNS))
    jacobian[np.arange(count), np.arange(count) % 6] = weight
    response = np.zeros((count + 1, width))
    response[:count, :count] = (delassus.matrix.toarray()[np.ix_(rows, rows)] * weight).T
    angle = np.ascontiguousarray(friction_directions(directions).T)
    return Groups(
        each=each,
        angle=angle,
        place=place,
        jacobian=jacobian,
        response=response,
        free_speed=speed / unit,
        factor=weight * unit,
        offset=np.zeros(count),
        row=rows,
    )
