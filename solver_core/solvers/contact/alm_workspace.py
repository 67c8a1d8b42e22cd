"""The memory of alm_newton.

Arrays of one kind are rows of one larger array, named by the constants here: a function is handed some eight machine
words for every array of a tuple, and a Newton step on ten bodies takes no longer than some forty such calls.
"""

from typing import NamedTuple

import numpy as np

from .block_cholesky import BlockFactor, allocate_block_factor
from .body_graph import BodyGraph, allocate_body_graph
from .elimination import Elimination, allocate_elimination

# Steps of GMRES at most; the basis has one vector more.
MAX_STEPS_GMRES = 16

# Rows of ``by_row``: lambda, 1 / mean W_ii, s, u, J dv, p of a trial step, p before a step, best impulses.
MULTIPLIER, WEIGHT, SHIFT, SPEED, CHANGE, TRIAL, KEPT, BEST = range(8)
# Rows of ``by_body``: v, v before a step, g, dv; of the linear solvers what is left of g, a search direction and a
# product.
VELOCITY, KEPT_VELOCITY, GRADIENT, DIRECTION, REMAINDER, SEARCH, IMAGE = range(7)
# Places in ``counts``: factorisations, steps of GMRES and conjugate gradients, Newton steps, those since the residual
# came down by a real factor, the worst block, and contacts and single rows of the island.
FACTORISATIONS, LINEAR_STEPS, STEPS, STALLED, WORST_BLOCK, GROUPS = range(6)
# Places in ``numbers``: residual of the last iterate, of the best one, and where the count ``STALLED`` began [m/s];
# the penalty of the factor, 0 where it serves no longer; how far GMRES goes; the problem's scale [m/s].
LAST, LEAST, MILESTONE, FACTORED_PENALTY, FORCING, SCALE = range(6)


class AlmWorkspace(NamedTuple):
    """Room for ``solve_alm_newton``; contents mean nothing between calls, but for the graph and its elimination.

    Attributes
    ----------
    graph : BodyGraph
    elimination : Elimination
    factor : BlockFactor
    by_row : float64 [8, row_capacity]
    group : int64 [row_capacity]
        Rows of the contact that begins here.
    stiffness, factored : float64 [row_capacity, 3]
        D now, and as it was factorised.
    by_body : float64 [7, body_capacity, 6]
    solution : float64 [6 body_capacity]
        Right-hand side and solution by position.
    basis : float64 [6 body_capacity (MAX_STEPS_GMRES + 1)]
    hessenberg : float64 [MAX_STEPS_GMRES + 1, MAX_STEPS_GMRES + 3]
        Of GMRES.
    counts : int64 [6]
        Written.
    numbers : float64 [6]
        Written.
    history : float64 [any]
        Written: one residual a Newton step [m/s], as far as it reaches.
    """

    graph: BodyGraph
    elimination: Elimination
    factor: BlockFactor
    by_row: np.ndarray
    group: np.ndarray
    stiffness: np.ndarray
    factored: np.ndarray
    by_body: np.ndarray
    solution: np.ndarray
    basis: np.ndarray
    hessenberg: np.ndarray
    counts: np.ndarray
    numbers: np.ndarray
    history: np.ndarray


def allocate_alm_workspace(row_capacity: int, body_capacity: int, history: int = 0) -> AlmWorkspace:
    """Room for so many rows and bodies; a block has at least one row."""
    return AlmWorkspace(
        graph=allocate_body_graph(row_capacity, body_capacity),
        elimination=allocate_elimination(row_capacity, body_capacity),
        factor=allocate_block_factor(body_capacity),
        by_row=np.zeros((BEST + 1, row_capacity)),
        group=np.zeros(row_capacity, np.int64),
        stiffness=np.zeros((row_capacity, 3)),
        factored=np.zeros((row_capacity, 3)),
        by_body=np.zeros((IMAGE + 1, body_capacity, 6)),
        solution=np.zeros(6 * body_capacity),
        basis=np.zeros(6 * body_capacity * (MAX_STEPS_GMRES + 1)),
        hessenberg=np.zeros((MAX_STEPS_GMRES + 1, MAX_STEPS_GMRES + 3)),
        counts=np.zeros(GROUPS + 1, np.int64),
        numbers=np.zeros(SCALE + 1),
        history=np.zeros(history),
    )
