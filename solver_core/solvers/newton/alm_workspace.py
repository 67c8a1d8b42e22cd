"""The memory of alm_newton.

In a step it is passed as views (``compiled.views``), one pointer however many fields there are: by value, some eight
machine words an array, forty calls would take as long as a Newton step on ten bodies.
"""

from typing import NamedTuple

import numpy as np

from ..linear_algebra.block_cholesky import BlockFactor, allocate_block_factor
from ..linear_algebra.block_lu import BlockLu, allocate_block_lu
from ..linear_algebra.body_graph import BodyGraph, allocate_body_graph
from ..linear_algebra.elimination import Elimination, allocate_elimination

# Steps of GMRES at most; the basis has one vector more.
MAX_STEPS_GMRES = 16


class RowVectors(NamedTuple):
    """One number per row, float64 [row_capacity] each.

    Attributes
    ----------
    multiplier
        lambda [N s].
    weight
        1 / mean W_ii of the row's group [kg]; 0 if it moves nothing; minus its penalty if that is constant.
    shift
        s, at normal rows of contacts; at bilateral rows what of u no velocity can take away [m/s].
    speed, change
        u = J v + bias, and J dv [m/s].
    trial, kept, best
        p of a trial step, p before a step, and the impulses with the smallest residual [N s].
    bias
        Of ``rows``, as it was given [m/s].
    """

    multiplier: np.ndarray
    weight: np.ndarray
    shift: np.ndarray
    speed: np.ndarray
    change: np.ndarray
    trial: np.ndarray
    kept: np.ndarray
    best: np.ndarray
    bias: np.ndarray


class BodyVectors(NamedTuple):
    """Six numbers per body, float64 [body_capacity, 6] each.

    Attributes
    ----------
    velocity, kept_velocity
        v, and v before a step [m/s, rad/s].
    gradient, direction
        g [N s, N m s], and dv [m/s, rad/s].
    remainder, search, image
        Of the linear solvers: what is left of g, a search direction, and a product.
    """

    velocity: np.ndarray
    kept_velocity: np.ndarray
    gradient: np.ndarray
    direction: np.ndarray
    remainder: np.ndarray
    search: np.ndarray
    image: np.ndarray


class Progress(NamedTuple):
    """How far the solve of an island has come; one number each, written.

    Attributes
    ----------
    factorisations, linear_steps, steps : int64 [1]
        Factorisations; steps of GMRES and conjugate gradients; Newton steps.
    stalled : int64 [1]
        Newton steps since the residual came down by a real factor.
    worst_block : int64 [1]
    groups : int64 [1]
        Contacts and single rows of the island.
    singles : int64 [1]
        Single rows of the island.
    splits : int64 [1]
        1 where GMRES has failed once, and H is split into L U from there on.
    conflicts : int64 [1]
        Times that a conflict was taken out.
    last, least, milestone : float64 [1]
        Residual of the last iterate, of the best one, and where ``stalled`` was last reset [m/s].
    factored_penalty : float64 [1]
        Penalty of the factor; 0 if it serves no longer.
    forcing : float64 [1]
        GMRES stops at this share of the first residual.
    scale : float64 [1]
        Of the problem [m/s].
    asked : float64 [1]
        The tolerance, where more than that is aimed at [m/s].
    work : float64 [1]
        Products of blocks in all factorisations so far, each of which takes as long as a contact in a sweep; never
        reset.
    most_work : float64 [1]
        What that may come to in this solve.
    """

    factorisations: np.ndarray
    linear_steps: np.ndarray
    steps: np.ndarray
    stalled: np.ndarray
    worst_block: np.ndarray
    groups: np.ndarray
    singles: np.ndarray
    splits: np.ndarray
    conflicts: np.ndarray
    last: np.ndarray
    least: np.ndarray
    milestone: np.ndarray
    factored_penalty: np.ndarray
    forcing: np.ndarray
    scale: np.ndarray
    asked: np.ndarray
    work: np.ndarray
    most_work: np.ndarray


_COUNTS = (
    "factorisations",
    "linear_steps",
    "steps",
    "stalled",
    "worst_block",
    "groups",
    "singles",
    "splits",
    "conflicts",
)


class AlmWorkspace(NamedTuple):
    """Room for ``solve_alm_newton``; contents mean nothing between calls, but for the graph and its elimination.

    Attributes
    ----------
    graph : BodyGraph
    elimination : Elimination
    factor : BlockFactor
    by_row : RowVectors
    group : int64 [row_capacity]
        Rows of the contact that begins here.
    asymmetric : BlockLu
        Of H by Coulomb's law as it stands.
    stiffness, factored, turned : float64 [row_capacity, 3]
        D now, and as it was factorised; D'.
    by_body : BodyVectors
    solution : float64 [6 body_capacity]
        Right-hand side and solution by position.
    basis : float64 [6 body_capacity (MAX_STEPS_GMRES + 1)]
    hessenberg : float64 [MAX_STEPS_GMRES + 1, MAX_STEPS_GMRES + 3]
        Of GMRES.
    progress : Progress
    history : float64 [any]
        Written: one residual per Newton step [m/s], as far as it reaches.
    """

    graph: BodyGraph
    elimination: Elimination
    factor: BlockFactor
    by_row: RowVectors
    group: np.ndarray
    asymmetric: BlockLu
    stiffness: np.ndarray
    factored: np.ndarray
    turned: np.ndarray
    by_body: BodyVectors
    solution: np.ndarray
    basis: np.ndarray
    hessenberg: np.ndarray
    progress: Progress
    history: np.ndarray


def allocate_alm_workspace(row_capacity: int, body_capacity: int, history: int = 0) -> AlmWorkspace:
    """Room for this many rows and bodies; a block has at least one row."""
    return AlmWorkspace(
        graph=allocate_body_graph(row_capacity, body_capacity),
        elimination=allocate_elimination(row_capacity, body_capacity),
        factor=allocate_block_factor(body_capacity),
        by_row=RowVectors(*(np.zeros(row_capacity) for _ in RowVectors._fields)),
        group=np.zeros(row_capacity, np.int64),
        asymmetric=allocate_block_lu(body_capacity),
        stiffness=np.zeros((row_capacity, 3)),
        factored=np.zeros((row_capacity, 3)),
        turned=np.zeros((row_capacity, 3)),
        by_body=BodyVectors(*(np.zeros((body_capacity, 6)) for _ in BodyVectors._fields)),
        solution=np.zeros(6 * body_capacity),
        basis=np.zeros(6 * body_capacity * (MAX_STEPS_GMRES + 1)),
        hessenberg=np.zeros((MAX_STEPS_GMRES + 1, MAX_STEPS_GMRES + 3)),
        progress=Progress(*(np.zeros(1, np.int64 if name in _COUNTS else float) for name in Progress._fields)),
        history=np.zeros(history),
    )
