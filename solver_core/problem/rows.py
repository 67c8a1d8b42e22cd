"""What a compiled contact solver sees: rows in blocks, islands of blocks, and its settings.

Generalised velocities v of the bodies, impulses r of the rows:

    v = v_free + M^-1 J' r,   u = J v + bias + C r = W r + b,   W = J M^-1 J' + C,   b = J v_free + bias

C is diagonal, the compliances of the rows: 0 for contacts and rigid rows; a row that gives way by what it bears, such
as a spring, has one (J v + bias = -C r between its bounds). Each row i has bounds lower_i <= r_i <= upper_i, and solves
the boxed complementarity problem

    u_i >= 0 where r_i = lower_i,    u_i = 0 in between,    u_i <= 0 where r_i = upper_i.

A contact is a block of three rows (normal, tangent, tangent). Its normal row has the bounds [0, inf). Its two friction
rows name the normal row and their coefficient; what they may be is the model of friction (``friction``): each within
+-friction * r_normal (box; Silcowitz-Hansen, Niebe and Erleben 2010, eq. 7), both in the disc of that radius (cone),
or both in the regular polygon inscribed in it (polyhedral).
A bilateral row has the bounds (-inf, inf), a motor or limit two constants. The rows of a contact have no compliance.
"""

from typing import NamedTuple

import numpy as np

# Models of friction (``friction``); kernels get their places.
FRICTION_MODELS = ("box", "cone", "polyhedral")
BOX_FRICTION, CONE_FRICTION, POLYHEDRAL_FRICTION = range(len(FRICTION_MODELS))


class RowArrays(NamedTuple):
    """Rows in blocks; a block is a run of rows that act between the same two bodies.

    Attributes
    ----------
    count : int64 [2]
        Blocks and rows in use.
    block_row : int64 [block_capacity + 1]
        First row of each block; the next entry ends it.
    body_a, body_b : int64 [block_capacity]
    jacobian : float64 [row_capacity, 12]
        Columns 0 to 5 act on (v, omega) of body a, 6 to 11 on body b.
    response : float64 [row_capacity, 12]
        M^-1 J', in the same columns; zero for a body that cannot be pushed.
    diagonal : float64 [row_capacity]
        W_ii [1/kg for contacts], compliance included.
    bias : float64 [row_capacity]
        [m/s]; u = J v + bias + compliance * impulse.
    lower, upper : float64 [row_capacity]
        Constant bounds of the impulse [N s]; unused in friction rows.
    normal_row : int64 [row_capacity]
        Friction rows: the row whose impulse, times ``friction``, bounds this one. Other rows: -1.
    friction : float64 [row_capacity]
    compliance : float64 [row_capacity]
        C_ii, not negative, in the unit of W_ii. Contacts have none: 0 there, and most sweeps do not read it.
    body_mass : float64 [body_capacity, 6, 6]
        M of each body in world axes [kg, kg m^2]; zero for a body that cannot be pushed. Read by methods that have
        velocities as unknowns; others need no more than ``response``.
    impulse : float64 [row_capacity]
        The iterate r [N s].
    """

    count: np.ndarray
    block_row: np.ndarray
    body_a: np.ndarray
    body_b: np.ndarray
    jacobian: np.ndarray
    response: np.ndarray
    diagonal: np.ndarray
    bias: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    normal_row: np.ndarray
    friction: np.ndarray
    compliance: np.ndarray
    body_mass: np.ndarray
    impulse: np.ndarray


class IslandArrays(NamedTuple):
    """Groups of blocks that share no body which can be pushed, so each is a problem of its own.

    Attributes
    ----------
    count : int64 [1]
    block_first : int64 [body_capacity + 1]
        Island i owns ``block_order[block_first[i]:block_first[i + 1]]``.
    block_order : int64 [block_capacity]
    body_first, body_order : int64
        Likewise for the bodies that can be pushed.
    domain_first : int64 [body_capacity + 1]
        Island i is divided into the domains ``domain_first[i]`` to ``domain_first[i + 1] - 1``; most have none.
    second_domain : int64 [body_capacity]
        The first of an island's domains of the second colour. Domains of one colour share no body that can be pushed.
    domain_block : int64 [body_capacity, 2]
        Where a domain begins and ends in ``block_order``. An island's domains lie one behind the other.
    is_left_out : bool [block_capacity]
        Blocks that no island has: contacts for which others of the same two bodies stand.
    """

    count: np.ndarray
    block_first: np.ndarray
    block_order: np.ndarray
    body_first: np.ndarray
    body_order: np.ndarray
    domain_first: np.ndarray
    second_domain: np.ndarray
    domain_block: np.ndarray
    is_left_out: np.ndarray


class SolverSettings(NamedTuple):
    """A solver kernel's settings: ``problem.SolverOptions`` in numbers. A method reads those that it has.

    Attributes
    ----------
    tolerance : float
        Stops at residual <= tolerance * scale of the problem.
    absolute_tolerance : float
        Stops at residual <= this [m/s].
    max_iterations : int
    friction : int
        BOX_FRICTION, CONE_FRICTION or POLYHEDRAL_FRICTION.
    directions : int
        Corners of the polygon of polyhedral friction.
    relaxation : float
        Factor on a step of Gauss-Seidel.
    alpha : float
        Share of the accelerated splitting (Miyamoto and Yamashita 2019).
    conjugacy : int
        Place in ``problem.CONJUGACIES``.
    line_search : int
        1 with a line search, else 0.
    strategy : int
        Place in ``problem.STRATEGIES``.
    warm_start_sweeps : int
        Sweeps of Gauss-Seidel before the method begins.
    seed : int
        Of the random strategy.
    waits : int
        1: after a failure the default method sweeps on, and does without its exact method for a while; 0: the caller
        sees to that.
    max_work : float
        Visits of a contact that a solve may cost; inf: any. Newton's method reads it.
    exactly : float
        With a number above 0 the default method begins with its exact method, and Newton's solves on to this share of
        the tolerance, if rounding allows: joints have no sweeps to end in.
    """

    tolerance: float = 1e-6
    absolute_tolerance: float = 0.0
    max_iterations: int = 500
    friction: int = 0
    directions: int = 8
    relaxation: float = 1.0
    alpha: float = 0.0
    conjugacy: int = 0
    line_search: int = 0
    strategy: int = 0
    warm_start_sweeps: int = 0
    seed: int = 0
    waits: int = 1
    max_work: float = np.inf
    exactly: float = 0.0


class IslandProblem(NamedTuple):
    """What a solver gets to solve islands, from Python and in a step.

    Attributes
    ----------
    rows : RowArrays
        ``impulse`` holds the start and is written.
    islands : IslandArrays
    free_velocity : float64 [body_count, 6]
    velocity : float64 [body_count, 6]
        v_free + M^-1 J' r at the start; written.
    settings : SolverSettings of arrays
        As of ``compiled.views.arrays_of``.
    work : float64 [1]
        Written: what the last solve cost, in sweeps over its island.
    workspace : workspace of the method
        The last, so what does not read it is the same code for all methods.
    """

    rows: RowArrays
    islands: IslandArrays
    free_velocity: np.ndarray
    velocity: np.ndarray
    settings: SolverSettings
    work: np.ndarray
    workspace: tuple


def allocate_rows(block_capacity: int, row_capacity: int, body_capacity: int = 0) -> RowArrays:
    """Empty rows with room for this many blocks, rows and bodies' masses."""
    return RowArrays(
        count=np.zeros(2, np.int64),
        block_row=np.zeros(block_capacity + 1, np.int64),
        body_a=np.zeros(block_capacity, np.int64),
        body_b=np.zeros(block_capacity, np.int64),
        jacobian=np.zeros((row_capacity, 12)),
        response=np.zeros((row_capacity, 12)),
        diagonal=np.zeros(row_capacity),
        bias=np.zeros(row_capacity),
        lower=np.zeros(row_capacity),
        upper=np.zeros(row_capacity),
        normal_row=np.full(row_capacity, -1, np.int64),
        friction=np.zeros(row_capacity),
        compliance=np.zeros(row_capacity),
        body_mass=np.zeros((body_capacity, 6, 6)),
        impulse=np.zeros(row_capacity),
    )


def objection_to_compliances(rows: RowArrays) -> str:
    """Why solvers cannot take the compliances of these rows; empty where they can.

    They take for granted that no compliance is negative, that ``diagonal`` includes them, and that friction rows and
    rows that bound friction have none.
    """
    count = int(rows.count[1])
    compliance, normal_row = rows.compliance[:count], rows.normal_row[:count]
    friction_rows = np.flatnonzero(normal_row >= 0)
    of_contacts = np.union1d(friction_rows, normal_row[friction_rows])
    for places, reason in (
        (np.flatnonzero(compliance < 0.0), "must be at least 0"),
        (np.flatnonzero(rows.diagonal[:count] < compliance), "must be part of diagonal"),
        (of_contacts[compliance[of_contacts] != 0.0], "must be 0, as of all rows of friction or that bound friction"),
    ):
        if len(places):
            return f"the compliance of row {places[0]} is {compliance[places[0]]}; it {reason}"
    return ""


def allocate_islands(block_capacity: int, body_capacity: int) -> IslandArrays:
    """No island, with room for as many as there are bodies."""
    return IslandArrays(
        count=np.zeros(1, np.int64),
        block_first=np.zeros(body_capacity + 1, np.int64),
        block_order=np.zeros(block_capacity, np.int64),
        body_first=np.zeros(body_capacity + 1, np.int64),
        body_order=np.zeros(body_capacity, np.int64),
        domain_first=np.zeros(body_capacity + 1, np.int64),
        second_domain=np.zeros(body_capacity, np.int64),
        domain_block=np.zeros((body_capacity, 2), np.int64),
        is_left_out=np.zeros(block_capacity, np.bool_),
    )


def single_island(rows, body_count: int) -> IslandArrays:
    """All blocks and bodies of a problem as one island."""
    block_count = int(rows.count[0])
    islands = allocate_islands(block_count, max(body_count, 1))
    islands.count[0] = 1
    islands.block_order[:] = np.arange(block_count)
    islands.block_first[1] = block_count
    islands.body_order[:body_count] = np.arange(body_count)
    islands.body_first[1] = body_count
    return islands
