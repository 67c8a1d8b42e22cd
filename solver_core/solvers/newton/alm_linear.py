"""The linear systems of alm_newton's Newton steps: H dv = -g, with a factor at hand.

The factor is that of H itself, of an H a little different (an older one, or the symmetric part of one with slip
terms), or of the diagonal blocks of H only. By itself it solves; with what differs

    GMRES(k)              on L^-1 H L^-T, in the norm that L gives; H may be asymmetric; k basis vectors, no restart
    L U                   of an asymmetric H, where those steps do not do
    conjugate gradients   on H with (L L')^-1 as preconditioner, for the diagonal blocks: many steps, little memory

Sources: Saad and Schultz 1986; Hestenes and Stiefel 1952.
"""

import math

import numpy as np

from ...compiled.kernel import subkernel
from ..linear_algebra.block_cholesky import solve_lower, solve_upper
from ..linear_algebra.block_lu import factorize_lu, solve_lu
from .alm_hessian import assemble_asymmetric, dot_bodies, multiply_hessian
from .alm_workspace import MAX_STEPS_GMRES

# Conjugate gradients stop at this share of the first residual.
_RATIO_GRADIENTS = 1e-2
_MAX_STEPS_GRADIENTS = 500


@subkernel
def solve_with_factor(bodies, workspace):
    """dv = -(L L')^-1 g.

    Parameters
    ----------
    bodies : int64 [any]
        Of the graph (read).
    workspace : AlmWorkspace
        ``by_body.direction`` and ``solution`` are written.
    """
    elimination, factor, by_body, x = workspace.elimination, workspace.factor, workspace.by_body, workspace.solution
    count, column_start, row = bodies.size, elimination.column_start, elimination.row
    _gather(bodies, elimination.order, by_body.gradient, -1.0, x)
    solve_lower(count, column_start, row, factor, x)
    solve_upper(count, column_start, row, factor, x)
    _scatter(bodies, elimination.order, x, by_body.direction)


@subkernel
def solve_asymmetric(rows, islands, island, workspace):
    """dv = -H^-1 g with a factor L U of H itself.

    Parameters
    ----------
    rows, islands, island
        Read.
    workspace : AlmWorkspace
        ``stiffness`` is read; ``by_body.direction`` and what belongs to the factor are written.
    """
    graph, elimination, factor = workspace.graph, workspace.elimination, workspace.asymmetric
    count, column_start, row = graph.count[0], elimination.column_start, elimination.row
    bodies = graph.body[:count]
    assemble_asymmetric(
        rows, islands, island, workspace.group, graph, elimination, factor, workspace.stiffness, workspace.turned
    )
    factorize_lu(count, column_start, row, factor)
    solve_with_asymmetric_factor(bodies, workspace)
    workspace.progress.factorisations[0] += 1


@subkernel
def solve_with_asymmetric_factor(bodies, workspace):
    """dv = -(L U)^-1 g.

    Parameters
    ----------
    bodies : int64 [any]
        Of the graph (read).
    workspace : AlmWorkspace
        ``by_body.direction`` and ``solution`` are written.
    """
    elimination, factor, by_body, x = workspace.elimination, workspace.asymmetric, workspace.by_body, workspace.solution
    _gather(bodies, elimination.order, by_body.gradient, -1.0, x)
    solve_lu(bodies.size, elimination.column_start, elimination.row, factor, x)
    _scatter(bodies, elimination.order, x, by_body.direction)


@subkernel
def iterate_gmres(rows, islands, island, workspace, forcing):
    """dv = -H^-1 g by GMRES, with the ``stiffness`` at hand for D; as near as ``MAX_STEPS_GMRES`` come.

    Parameters
    ----------
    rows, islands, island
        Read.
    workspace : AlmWorkspace
        ``by_body.direction`` is written.
    forcing : float
        Share of the first residual at which it stops.

    Returns
    -------
    bool
        Whether the residual has come down to its share ``forcing``.
    """
    graph, elimination, factor = workspace.graph, workspace.elimination, workspace.factor
    x, basis, small = workspace.solution, workspace.basis, workspace.hessenberg
    count, column_start, row = graph.count[0], elimination.column_start, elimination.row
    bodies, size = graph.body[:count], 6 * count
    # of ``small``, column k holds that of the Hessenberg matrix, the last three the right-hand side and the rotations
    right, cosine, sine = MAX_STEPS_GMRES, MAX_STEPS_GMRES + 1, MAX_STEPS_GMRES + 2
    _gather(bodies, elimination.order, workspace.by_body.gradient, -1.0, x)
    solve_lower(count, column_start, row, factor, x)
    # not the literal 0, for which Numba would compile the callee a second time
    steps = np.int64(0)
    first = _store_normalized(x, size, basis, steps)
    small[0, right] = first
    reached = not first > 0.0
    while not reached and steps < MAX_STEPS_GMRES:
        for entry in range(size):
            x[entry] = basis[steps * size + entry]
        solve_upper(count, column_start, row, factor, x)
        _scatter(bodies, elimination.order, x, workspace.by_body.search)
        multiply_hessian(
            rows,
            islands,
            island,
            workspace.group,
            graph,
            workspace.stiffness,
            workspace.by_body.search,
            workspace.by_body.image,
        )
        _gather(bodies, elimination.order, workspace.by_body.image, 1.0, x)
        solve_lower(count, column_start, row, factor, x)
        for k in range(steps + 1):
            share = 0.0
            for entry in range(size):
                share += basis[k * size + entry] * x[entry]
            for entry in range(size):
                x[entry] -= share * basis[k * size + entry]
            small[k, steps] = share
        small[steps + 1, steps] = _store_normalized(x, size, basis, (steps + 1) * size)
        _rotate_column(small, steps, right, cosine, sine)
        steps += 1
        reached = abs(small[steps, right]) <= forcing * first
    for entry in range(size):
        x[entry] = 0.0
    for k in range(steps - 1, -1, -1):
        total = small[k, right]
        for other in range(k + 1, steps):
            total -= small[k, other] * small[other, right]
        small[k, right] = total / small[k, k]
        for entry in range(size):
            x[entry] += small[k, right] * basis[k * size + entry]
    solve_upper(count, column_start, row, factor, x)
    _scatter(bodies, elimination.order, x, workspace.by_body.direction)
    workspace.progress.linear_steps[0] += steps
    return reached


@subkernel
def _rotate_column(small, column, right, cosine, sine):
    """Take the last column of the Hessenberg matrix to upper triangular form by Givens rotations."""
    for k in range(column):
        upper, lower = small[k, column], small[k + 1, column]
        small[k, column] = small[k, cosine] * upper + small[k, sine] * lower
        small[k + 1, column] = small[k, cosine] * lower - small[k, sine] * upper
    length = math.hypot(small[column, column], small[column + 1, column])
    small[column, cosine] = small[column, column] / length if length > 0.0 else 1.0
    small[column, sine] = small[column + 1, column] / length if length > 0.0 else 0.0
    small[column, column] = length if length > 0.0 else 1.0
    small[column + 1, right] = -small[column, sine] * small[column, right]
    small[column, right] *= small[column, cosine]


@subkernel
def _store_normalized(x, size, basis, start):
    """A basis vector from x; returns the norm of x."""
    total = 0.0
    for entry in range(size):
        total += x[entry] * x[entry]
    length = math.sqrt(total)
    factor = 1.0 / length if length > 0.0 else 0.0
    for entry in range(size):
        basis[start + entry] = factor * x[entry]
    return length


@subkernel
def iterate_gradients(rows, islands, island, workspace):
    """dv = -H^-1 g by conjugate gradients; arguments as in ``iterate_gmres``."""
    graph, elimination, factor = workspace.graph, workspace.elimination, workspace.factor
    residual, search, image, x = (
        workspace.by_body.remainder,
        workspace.by_body.search,
        workspace.by_body.image,
        workspace.solution,
    )
    direction = workspace.by_body.direction
    count, column_start, row = graph.count[0], elimination.column_start, elimination.row
    bodies = graph.body[:count]
    now, first, step = 0.0, 0.0, 0
    for body in bodies:
        for column in range(6):
            residual[body, column] = workspace.by_body.gradient[body, column]
            direction[body, column] = 0.0
            search[body, column] = 0.0
    while step < _MAX_STEPS_GRADIENTS and (step == 0 or now > _RATIO_GRADIENTS**2 * first):
        # ``image`` is the preconditioned residual here, a product with H below
        _gather(bodies, elimination.order, residual, -1.0, x)
        solve_lower(count, column_start, row, factor, x)
        solve_upper(count, column_start, row, factor, x)
        _scatter(bodies, elimination.order, x, image)
        last, now = now, -dot_bodies(bodies, residual, image)
        first = now if step == 0 else first
        keep = now / last if step > 0 else 0.0
        for body in bodies:
            for column in range(6):
                search[body, column] = image[body, column] + keep * search[body, column]
        multiply_hessian(rows, islands, island, workspace.group, graph, workspace.stiffness, search, image)
        length = now / dot_bodies(bodies, search, image)
        for body in bodies:
            for column in range(6):
                direction[body, column] += length * search[body, column]
                residual[body, column] += length * image[body, column]
        step += 1
    workspace.progress.linear_steps[0] += step


@subkernel
def _gather(bodies, order, vector, sign, x):
    """X = sign * vector, by position."""
    for place in range(bodies.size):
        body = bodies[order[place]]
        for column in range(6):
            x[6 * place + column] = sign * vector[body, column]


@subkernel
def _scatter(bodies, order, x, vector):
    """Set ``vector`` = x, by body."""
    for place in range(bodies.size):
        body = bodies[order[place]]
        for column in range(6):
            vector[body, column] = x[6 * place + column]
