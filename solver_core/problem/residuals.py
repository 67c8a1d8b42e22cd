"""The error measures that judge every solver, of contact problems and of plain LCPs.

Contact problems: the natural map in velocities. For row i with bounds [l_i, h_i] and compliance C_i

    residual_i = (W_ii - C_i) | r_i - clip(r_i - u_i / W_ii, l_i, h_i) |        [m/s]

and for the two friction rows of a contact, with w the larger of their W_ii and P the projection on what the model of
friction allows at the present normal impulse (``friction``; the box goes row by row)

    residual = w | r_t - P(r_t - u_t / w) |                             [m/s]

which are zero exactly at a solution: u_i >= 0 at the lower bound, u_i = 0 between the bounds, u_i <= 0 at the upper;
friction against the slip, at its bound where there is one. Multiplied by W_ii they are velocities, so that they do not
depend on masses: the speed by which a contact still approaches or slips, or the speed that its surplus impulse makes.
Of a compliant row it is the latter alone: a soft spring that is stretched by far more than it can pull together in a
substep has a large u, of which W_ii - C_i, the row's own part of J M^-1 J', over W_ii is what its impulse makes of
speed. A problem's residual is the largest over its rows.

Its scale is |b| = |J v_free + bias|, in which a normal row counts only where it would approach, and a compliant row by
the same share: neither an open gap far away nor a soft spring must loosen the tolerance of a stack beside it.

Contacts with an explicit W have the same natural map (``explicit_natural_map``), and for Coulomb friction one more
measure, in which problems are published (``cone_natural_map``).

Plain LCPs: ``LcpMeasures``.
"""

import math
from typing import NamedTuple

import numpy as np

from ..compiled.kernel import kernel, subkernel
from .friction import length_of, project_friction
from .rows import BOX_FRICTION


@subkernel
def row_velocity(jacobian, row, bias, velocity, a, b):
    """u = J v + bias of one row [m/s].

    Parameters
    ----------
    jacobian : float64 [row_capacity, 12]
        Read.
    row : int
    bias : float
        [m/s]
    velocity : float64 [body_count, 6]
        Read.
    a, b : int
        The bodies of the row.
    """
    # four short sums, which the processor adds side by side
    return (
        (jacobian[row, 0] * velocity[a, 0] + jacobian[row, 1] * velocity[a, 1] + jacobian[row, 2] * velocity[a, 2])
        + (jacobian[row, 3] * velocity[a, 3] + jacobian[row, 4] * velocity[a, 4] + jacobian[row, 5] * velocity[a, 5])
        + (jacobian[row, 6] * velocity[b, 0] + jacobian[row, 7] * velocity[b, 1] + jacobian[row, 8] * velocity[b, 2])
        + (jacobian[row, 9] * velocity[b, 3] + jacobian[row, 10] * velocity[b, 4] + jacobian[row, 11] * velocity[b, 5])
        + bias
    )


@subkernel
def project_impulse(value, row, lower, upper, normal_row, friction, impulse):
    """Clip ``value`` to the bounds of ``row``, of which a friction row's depend on the present normal impulse.

    Parameters
    ----------
    value : float
        [N s]
    row : int
    lower, upper, normal_row, friction, impulse : array [row_capacity]
        Of ``RowArrays`` (read).
    """
    normal = normal_row[row]
    if normal >= 0:
        bound = friction[row] * max(impulse[normal], 0.0)
        return min(bound, max(-bound, value))
    return min(upper[row], max(lower[row], value))


@kernel
def natural_map(rows, islands, island, velocity, settings):
    """Residual of one island at (rows.impulse, velocity).

    Parameters
    ----------
    rows : RowArrays
        Read.
    islands : IslandArrays
        Read.
    island : int
    velocity : float64 [body_count, 6]
        Read; v = v_free + M^-1 J' r.
    settings : SolverSettings
        The model of friction.

    Returns
    -------
    residual : float
        [m/s]; infinite where impulses or velocities are no numbers.
    worst_block : int
        Where it is largest; -1 where there is no block.
    """
    residual = 0.0
    worst_block = -1
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        error = _block_error(rows, block, velocity, settings)
        if error > residual:
            residual = error
            worst_block = block
    return residual, worst_block


@kernel
def block_errors(rows, islands, island, velocity, settings, error):
    """The natural map of each block.

    Parameters
    ----------
    rows, islands, island, velocity, settings
        As of ``natural_map``.
    error : float64 [blocks of the island or more]
        Written: the largest of a block's rows, in the island's order [m/s].
    """
    first = islands.block_first[island]
    for index in range(first, islands.block_first[island + 1]):
        error[index - first] = _block_error(rows, islands.block_order[index], velocity, settings)


@subkernel(inline=True)
def _block_error(rows, block, velocity, settings):
    """The natural map of one block: the largest of its rows [m/s]."""
    # Numbers, not arrays, go to the functions called for each row: an array costs more to hand over than they do.
    jacobian, diagonal, impulse, normal_row = rows.jacobian, rows.diagonal, rows.impulse, rows.normal_row
    a, b = rows.body_a[block], rows.body_b[block]
    row, end = rows.block_row[block], rows.block_row[block + 1]
    largest = 0.0
    while row < end:
        normal = normal_row[row]
        speed = row_velocity(jacobian, row, rows.bias[row], velocity, a, b)
        bound = rows.friction[row] * max(impulse[normal], 0.0) if normal >= 0 else 0.0
        if settings.friction != BOX_FRICTION and normal >= 0 and row + 1 < end and normal_row[row + 1] == normal:
            error = _friction_error(
                max(diagonal[row], diagonal[row + 1]),
                impulse[row],
                impulse[row + 1],
                speed,
                row_velocity(jacobian, row + 1, rows.bias[row + 1], velocity, a, b),
                bound,
                settings.friction,
                settings.directions,
            )
            row += 2
        else:
            weight = diagonal[row]
            error = 0.0
            compliance = 0.0 if is_of_contact(normal_row, row, end) else rows.compliance[row]
            if weight > 0.0:
                lower, upper = (-bound, bound) if normal >= 0 else (rows.lower[row], rows.upper[row])
                step = (speed + compliance * impulse[row]) / weight
                error = (weight - compliance) * abs(impulse[row] - min(upper, max(lower, impulse[row] - step)))
            row += 1
        if not error <= largest:
            # of what is no number comparisons say nothing
            largest = error if error < math.inf else math.inf
    return largest


@subkernel
def is_of_contact(normal_row, row, end):
    """Whether ``row`` is a friction row, or a normal row with its friction row right behind: it has no compliance then.

    Parameters
    ----------
    normal_row : int64 [row_capacity]
        Read.
    row, end : int
        The row, and the one after the last of its block.
    """
    return normal_row[row] >= 0 or (row + 1 < end and normal_row[row + 1] == row)


@subkernel
def is_friction_pair(normal_row, row, end):
    """Whether ``row`` and the next are the two friction rows of a contact.

    Parameters
    ----------
    normal_row : int64 [row_capacity]
        Read.
    row, end : int
        The row, and the one after the last of its block.
    """
    return normal_row[row] >= 0 and row + 1 < end and normal_row[row + 1] == normal_row[row]


@subkernel
def _friction_error(weight, impulse_1, impulse_2, speed_1, speed_2, bound, friction, directions):
    """Natural map of a pair of friction rows [m/s]."""
    if weight <= 0.0:
        return 0.0
    wanted_1, wanted_2 = project_friction(
        friction, directions, bound, impulse_1 - speed_1 / weight, impulse_2 - speed_2 / weight
    )
    return weight * length_of(impulse_1 - wanted_1, impulse_2 - wanted_2)


@kernel
def problem_scale(rows, islands, island, free_velocity):
    """|b| of one island: the speed that the impulses have to take away [m/s].

    NaN where a row holds NaN: every row is checked here before a solver starts, and comparisons later drop NaN.

    Parameters
    ----------
    rows, islands, island
        Read.
    free_velocity : float64 [body_count, 6]
        Read.
    """
    scale = 0.0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        end = rows.block_row[block + 1]
        for row in range(rows.block_row[block], end):
            speed = row_velocity(rows.jacobian, row, rows.bias[row], free_velocity, a, b)
            if not is_of_contact(rows.normal_row, row, end) and rows.compliance[row] != 0.0:
                speed *= (rows.diagonal[row] - rows.compliance[row]) / rows.diagonal[row]
            if speed != speed:
                return speed
            if rows.normal_row[row] < 0 and rows.lower[row] == 0.0:
                speed = min(speed, 0.0)
            scale = max(scale, abs(speed))
    return scale


@kernel
def explicit_natural_map(indptr, indices, data, b, friction, r, model, directions):
    """Residual of contacts with an explicit W, as ``natural_map``; rows normal, tangent, tangent in turn.

    Parameters
    ----------
    indptr, indices : int64
    data : float64
        W in compressed rows.
    b : float64 [3 contacts]
        u = W r + b [m/s].
    friction : float64 [contacts]
    r : float64 [3 contacts]
        Read [N s].
    model, directions : int
        The model of friction.

    Returns
    -------
    residual : float
        [m/s].
    worst_contact : int
        Where it is largest; -1 where there is no contact.
    """
    residual = 0.0
    worst_contact = -1
    for contact in range(friction.size):
        row = 3 * contact
        speed, weight = explicit_speed(indptr, indices, data, b, r, row)
        speed_1, weight_1 = explicit_speed(indptr, indices, data, b, r, row + 1)
        speed_2, weight_2 = explicit_speed(indptr, indices, data, b, r, row + 2)
        error = 0.0
        if weight > 0.0:
            error = weight * abs(r[row] - max(r[row] - speed / weight, 0.0))
        if model != BOX_FRICTION:
            weight_1 = weight_2 = max(weight_1, weight_2)
        if weight_1 > 0.0 and weight_2 > 0.0:
            bound = friction[contact] * max(r[row], 0.0)
            wanted_1, wanted_2 = project_friction(
                model, directions, bound, r[row + 1] - speed_1 / weight_1, r[row + 2] - speed_2 / weight_2
            )
            error_1, error_2 = weight_1 * abs(r[row + 1] - wanted_1), weight_2 * abs(r[row + 2] - wanted_2)
            error = max(error, max(error_1, error_2) if model == BOX_FRICTION else math.hypot(error_1, error_2))
        if error > residual:
            residual = error
            worst_contact = contact
    return residual, worst_contact


@subkernel
def explicit_speed(indptr, indices, data, b, r, row):
    """u = W r + b of one row [m/s], and W_ii.

    Parameters
    ----------
    indptr, indices, data, b
        As in ``explicit_natural_map`` (read).
    r : float64 [3 contacts]
        [N s] (read).
    row : int
    """
    speed = b[row]
    weight = 0.0
    for entry in range(indptr[row], indptr[row + 1]):
        column = indices[entry]
        speed += data[entry] * r[column]
        if column == row:
            weight = data[entry]
    return speed, weight


def residual_of_delassus(delassus, r, settings):
    """``explicit_natural_map`` of contacts with an explicit W.

    Parameters
    ----------
    delassus : Delassus
    r : float64 [3 contacts]
        [N s].
    settings : SolverSettings
        Its model of friction is used.

    Returns
    -------
    residual : float
        [m/s]
    worst_contact : int
    """
    matrix = delassus.matrix
    return explicit_natural_map(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int64),
        matrix.data,
        delassus.b,
        delassus.friction,
        r,
        settings.friction,
        settings.directions,
    )


def explicit_scale(b) -> float:
    """|b| of contacts with an explicit W, as ``problem_scale``; NaN where b holds NaN."""
    speed = np.array(b, float)
    speed[0::3] = np.minimum(speed[0::3], 0.0)
    return float(np.max(np.abs(speed), initial=0.0))


def cone_natural_map(delassus, r) -> float:
    """Dimensionless residual of contacts with exact Coulomb friction and an explicit W.

        |r - P_K(r - rho u_hat)| / (rho |b|),    u = W r + b,    u_hat = u + mu |u_t| on the normal rows,

    with K the cones |r_t| <= mu r_n, P_K the projection on them, rho = 1 / mean(diag W) and Euclidean norms (De Saxce
    and Feng 1998; Acary, Cadoux, Lemarechal and Malick 2011). Zero exactly at a solution: r in K, u_hat in the dual
    cone, r' u_hat = 0.

    Parameters
    ----------
    delassus : Delassus
    r : float64 [3 contacts]

    Returns
    -------
    float
        Without the division by |b| where b = 0.
    """
    rho = 1.0 / float(np.mean(delassus.matrix.diagonal()))
    u = (delassus.matrix @ r + delassus.b).reshape(-1, 3)
    u[:, 0] += delassus.friction * np.hypot(u[:, 1], u[:, 2])
    impulses = np.reshape(r, (-1, 3))
    error = float(np.linalg.norm(impulses - project_on_cones(delassus.friction, impulses - rho * u)))
    size = float(np.linalg.norm(delassus.b))
    return error / (rho * size) if size > 0.0 else error / rho


def project_on_cones(friction, impulses) -> np.ndarray:
    """Nearest points to ``impulses`` [contacts, 3] in the cones |r_t| <= mu r_n."""
    normal, length = impulses[:, 0], np.hypot(impulses[:, 1], impulses[:, 2])
    inside = length <= friction * normal
    behind = friction * length <= -normal
    on_surface = np.maximum((normal + friction * length) / (1.0 + friction**2), 0.0)
    share = friction * on_surface / np.where(length > 0.0, length, 1.0)
    projected = np.column_stack([on_surface, share * impulses[:, 1], share * impulses[:, 2]])
    projected[behind] = 0.0
    projected[inside] = impulses[inside]
    return projected


class LcpMeasures(NamedTuple):
    """How far x is from a solution of an LCP with w = A x + b.

    Attributes
    ----------
    natural_map : float
        max_i |min(x_i, w_i)|.
    natural_map_norm : float
        |min(x, w)|, Euclidean.
    fischer_burmeister : float
        1/2 |phi|^2, phi_i = sqrt(x_i^2 + w_i^2) - x_i - w_i (Erleben 2013, section 5.5).
    product : float
        x' |w| (Erleben 2013, eq. 106).
    infeasibility_x, infeasibility_w : float
        max_i max(-x_i, 0), and of w.
    complementarity : float
        max_i |x_i w_i|.
    scale : float
        max_i |b_i|, and 1 where b = 0: what the natural map is at x = 0, were all of b negative.
    """

    natural_map: float
    natural_map_norm: float
    fischer_burmeister: float
    product: float
    infeasibility_x: float
    infeasibility_w: float
    complementarity: float
    scale: float

    @property
    def relative_residual(self) -> float:
        """``natural_map`` over ``scale``."""
        return self.natural_map / self.scale


def measure_lcp(lcp, x) -> LcpMeasures:
    """All measures of x.

    Parameters
    ----------
    lcp : LCP
    x : float64 [n]
    """
    if lcp.size == 0:
        return LcpMeasures(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, lcp.scale)
    with np.errstate(over="ignore", invalid="ignore"):  # squares and products of huge numbers are infinite
        w = lcp.slack(x)
        smaller = np.minimum(x, w)
        phi = fischer_burmeister(x, w)
        return LcpMeasures(
            natural_map=float(np.abs(smaller).max()),
            natural_map_norm=math.sqrt(smaller @ smaller),
            fischer_burmeister=0.5 * float(phi @ phi),
            product=float(x @ np.abs(w)),
            infeasibility_x=max(-float(x.min()), 0.0),
            infeasibility_w=max(-float(w.min()), 0.0),
            complementarity=float(np.abs(x * w).max()),
            scale=lcp.scale,
        )


def fischer_burmeister(x, w) -> np.ndarray:
    """phi(x, w) = sqrt(x^2 + w^2) - x - w, element by element, without cancellation where both are positive."""
    total = x + w
    root = np.hypot(x, w)
    positive = total > 0.0
    return np.where(positive, -2.0 * x * w / np.where(positive, root + total, 1.0), root - total)
