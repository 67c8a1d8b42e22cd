"""The memory of the Fischer-Newton method: the room kept from call to call, and its names during a call."""

from typing import NamedTuple

import numpy as np

from ...compiled.kernel import subkernel
from ..linear_algebra.compact_rows import (
    CompactRows,
    allocate_compact_rows,
)
from ..shared.direction_impulses import fill_corners
from .block_gmres import allocate_basis, allocate_hessenberg
from .fischer_blocks import number_unknowns
from .fischer_bodies import BodySystem, allocate_body_system

# Directions that the workspace has room for; a call that needs more allocates its own.
_ROOM_DIRECTIONS = 8


class FischerWorkspace(NamedTuple):
    """Room for the method; contents mean nothing between calls.

    Attributes
    ----------
    compact : CompactRows
    rows : float64 [ROW_ARRAYS, row_capacity]
        The arrays of ``NewtonState`` with a number a row.
    gain : float64 [row_capacity, 3]
    first_unknown : int64 [row_capacity + 1]
    unknowns : float64 [UNKNOWN_ARRAYS, unknown_capacity]
        The arrays of ``NewtonState`` with a number an unknown, for up to ``_ROOM_DIRECTIONS`` directions.
    answer : float64 [unknown_capacity, 3]
    system : BodySystem
        The Newton equation over the bodies.
    basis, hessenberg : float64
        Of GMRES.
    random : int64 [1]
    history : float64 [any]
        Written: the residual after each step [m/s].
    merit_history : float64 [any]
        Written: 1/2 |F|^2 without smoothing [m^2/s^2].
    """

    compact: CompactRows
    rows: np.ndarray
    gain: np.ndarray
    first_unknown: np.ndarray
    unknowns: np.ndarray
    answer: np.ndarray
    system: BodySystem
    basis: np.ndarray
    hessenberg: np.ndarray
    random: np.ndarray
    history: np.ndarray
    merit_history: np.ndarray


class NewtonState(NamedTuple):
    """The iterate and what belongs to a step; all numbers in m/s (``compact_rows``).

    Attributes
    ----------
    compact : CompactRows
    first_unknown : int64 [units + 1]
    corners : float64 [K, 2]
        Friction directions.
    y, u, best, dy, du, goal, work : float64 [rows]
        Impulses, speeds, best impulses so far; changes of both; g of the reduced system; workspace.
    gain : float64 [rows, 3]
        G of the reduced system.
    x, dx, trial, w, dw, value, p, q : float64 [unknowns]
        Unknowns, their change, a trial; slacks, their change; F, P, Q.
    step : float64 [unknowns]
    answer : float64 [unknowns, 3]
    block : float64 [K + 2, K + 6]
    system : BodySystem
    basis, hessenberg : float64
    random : int64 [1]
    """

    compact: CompactRows
    first_unknown: np.ndarray
    corners: np.ndarray
    y: np.ndarray
    u: np.ndarray
    best: np.ndarray
    dy: np.ndarray
    du: np.ndarray
    goal: np.ndarray
    work: np.ndarray
    gain: np.ndarray
    x: np.ndarray
    dx: np.ndarray
    trial: np.ndarray
    w: np.ndarray
    dw: np.ndarray
    value: np.ndarray
    p: np.ndarray
    q: np.ndarray
    step: np.ndarray
    answer: np.ndarray
    block: np.ndarray
    system: BodySystem
    basis: np.ndarray
    hessenberg: np.ndarray
    random: np.ndarray


ROW_ARRAYS, UNKNOWN_ARRAYS = 7, 9


def allocate_fischer_workspace(row_capacity: int, body_capacity: int, history: int = 0) -> FischerWorkspace:
    """Room for as many rows, of which each three may be a contact."""
    unknown_capacity = row_capacity * (_ROOM_DIRECTIONS + 2) // 3 + 1
    return FischerWorkspace(
        compact=allocate_compact_rows(row_capacity, body_capacity),
        rows=np.zeros((ROW_ARRAYS, row_capacity)),
        gain=np.zeros((row_capacity, 3)),
        first_unknown=np.zeros(row_capacity + 1, np.int64),
        unknowns=np.zeros((UNKNOWN_ARRAYS, unknown_capacity)),
        answer=np.zeros((unknown_capacity, 3)),
        system=allocate_body_system(row_capacity, body_capacity),
        basis=allocate_basis(row_capacity),
        hessenberg=allocate_hessenberg(),
        random=np.zeros(1, np.int64),
        history=np.zeros(history),
        merit_history=np.zeros(history),
    )


@subkernel(allocates=True)
def prepare_state(compact, workspace, settings):
    """The workspace under the names of ``NewtonState``, with the unknowns numbered and the directions filled in.

    Parameters
    ----------
    compact : CompactRows
        Read.
    workspace : FischerWorkspace
        Written.
    settings : SolverSettings

    Returns
    -------
    NewtonState
    """
    directions = settings.directions
    unknown_count = number_unknowns(compact, directions, workspace.first_unknown)
    unknowns, answer = workspace.unknowns, workspace.answer
    if unknowns.shape[1] < unknown_count:
        unknowns, answer = np.zeros((UNKNOWN_ARRAYS, unknown_count)), np.zeros((unknown_count, 3))
    corners = np.zeros((directions, 2))
    fill_corners(corners)
    workspace.random[0] = settings.seed % _RANDOM_STATES + 1
    row_arrays = workspace.rows
    return NewtonState(
        compact=compact,
        first_unknown=workspace.first_unknown,
        corners=corners,
        y=row_arrays[0],
        u=row_arrays[1],
        best=row_arrays[2],
        dy=row_arrays[3],
        du=row_arrays[4],
        goal=row_arrays[5],
        work=row_arrays[6],
        gain=workspace.gain,
        x=unknowns[0],
        dx=unknowns[1],
        trial=unknowns[2],
        w=unknowns[3],
        dw=unknowns[4],
        value=unknowns[5],
        p=unknowns[6],
        q=unknowns[7],
        step=unknowns[8],
        answer=answer,
        block=np.zeros((directions + 2, directions + 6)),
        system=workspace.system,
        basis=workspace.basis,
        hessenberg=workspace.hessenberg,
        random=workspace.random,
    )


# The random numbers' states are 1 to this.
_RANDOM_STATES = 2147483646
