"""Memory to solve islands with joints, which are eliminated (``joint_elimination``)."""

from typing import NamedTuple

import numpy as np

from ..compiled.kernel import subkernel
from ..compiled.simd import WIDTH
from ..problem.rows import IslandArrays, RowArrays, allocate_islands
from .linear_algebra.block_products import SIZE
from .newton.alm_workspace import AlmWorkspace, allocate_alm_workspace

# Most numbers of all columns of W.
_MOST_NUMBERS = 1 << 20


class JointedArrays(NamedTuple):
    """Memory of ``solve_with_joints_eliminated``; contents mean nothing between calls, but for graph and elimination.

    What is kept is the memory of corrections of joints, in the course of a detection pass.

    Attributes
    ----------
    islands : IslandArrays
        One island: the blocks with rows that hold, and their bodies.
    alm : AlmWorkspace
        Graph, factor, and vectors by row and body.
    base : float64 [body_count, 6]
        Velocities without the impulses of these blocks.
    part : int64 [body_count]
        Which bodies joints hold together: a number for each lot of the island; -1 for bodies without joints.
    part_first : int64 [body_count + 1]
    part_position, part_body : int64 [body_count]
        The positions of a part's bodies in the elimination, ascending, and these bodies.
    part_of_position : int64 [body_count]
    listed_row, listed_block, row_kind : int64, int64, int8 [row_capacity]
        The rows that do not hold, their blocks, and how they are visited (``joint_responses``).
    outside : int64 [body_count]
        The bodies outside of joints.
    seat : int64 [row_capacity, 2]
        A row's seat in the lot of body a, and in that of body b where it is another one; -1: none.
    column : int64 [row_capacity]
        Where a row's column begins; -1: it has none yet.
    seat_first : int64 [body_count + 1]
        The seats of a lot, in whole vectors.
    by_body : bool [body_count]
        Whether a lot keeps its bodies' velocities in place of seats.
    velocity_at : int64 [body_count]
        Where, of the bodies of these.
    seat_row, seat_block : int64 [any]
        The row that has a seat, and its block; row -1: nobody.
    speed, speed_before, speed_direction : float64 [any]
        What a seat's lot adds to the speed of its row [m/s]; before a sweep, and the conjugate direction.
    diagonal, coupling : float64 [row_capacity]
        W_ii of a row with a column, and W between it and the second direction of its friction.
    columns : float64 [any]
        Columns of W: of the seats of the lot of body a, and then of that of b where it is another one.
    used : int64 [5]
        Numbers of ``columns`` that are in use; seats; rows that do not hold; bodies outside of joints; lots.
    lane, lane_sums : int64 [8], float64 [8]
        Places in the list of the rows whose columns are made; J x of a row, lane by lane.
    x : float64 [48 body_count]
        Right-hand sides, one a lane; zero between calls.
    kept_velocity : float64 [body_count, 6]
        Of the correction that has left an island's joints least off.
    kept_impulse : float64 [row_capacity]
        Likewise, of all rows of the island.
    kept_way : float64 [body_count, 6]
        What leads bodies to the poses that are the least off.
    way_impulse : float64 [row_capacity]
        What has led joined bodies that way, of the rows of their joints.
    kept_rule : int64 [body_count]
        The step rules of these velocities.
    end_jacobian, end_bias : float64 [row_capacity, 12], [row_capacity]
        Rows that ask for what errors at the substep's end change by (``rows_at_end``).
    turn_rate : float64 [body_count, 9]
        By what a body's turning at the substep's end changes with its angular velocity, column by column.
    turn_share : float64 [body_count, 9]
        By what turns of the pose where forces act change with its velocity at the end [s], row by row.
    turn_stiffness, turn_coupling : float64 [body_count, 9], [block_capacity, 18]
        Likewise what joints' torques on a body change by, with the opposite sign [kg m^2]; and those of a block on its
        body a by the other's velocity, and on b.
    last_velocity : float64 [body_count, 6]
        Of the last solve, where these were measured.
    is_held : bool [block_capacity]
        Of ``find_held_contacts``.
    impulse_before, impulse_direction : float64 [row_capacity]
        Impulses before a sweep, and the conjugate direction.
    velocity_before, velocity_direction : float64 [body_count, 6]
        Likewise of velocities.
    """

    islands: IslandArrays
    alm: AlmWorkspace
    base: np.ndarray
    part: np.ndarray
    part_first: np.ndarray
    part_position: np.ndarray
    part_body: np.ndarray
    part_of_position: np.ndarray
    listed_row: np.ndarray
    listed_block: np.ndarray
    row_kind: np.ndarray
    outside: np.ndarray
    seat: np.ndarray
    column: np.ndarray
    seat_first: np.ndarray
    by_body: np.ndarray
    velocity_at: np.ndarray
    seat_row: np.ndarray
    seat_block: np.ndarray
    speed: np.ndarray
    speed_before: np.ndarray
    speed_direction: np.ndarray
    diagonal: np.ndarray
    coupling: np.ndarray
    columns: np.ndarray
    used: np.ndarray
    lane: np.ndarray
    lane_sums: np.ndarray
    x: np.ndarray
    kept_velocity: np.ndarray
    kept_impulse: np.ndarray
    kept_way: np.ndarray
    way_impulse: np.ndarray
    kept_rule: np.ndarray
    end_jacobian: np.ndarray
    end_bias: np.ndarray
    turn_rate: np.ndarray
    turn_share: np.ndarray
    turn_stiffness: np.ndarray
    turn_coupling: np.ndarray
    last_velocity: np.ndarray
    is_held: np.ndarray
    impulse_before: np.ndarray
    impulse_direction: np.ndarray
    velocity_before: np.ndarray
    velocity_direction: np.ndarray


def allocate_jointed(block_capacity: int, row_capacity: int, body_count: int, jointed_bodies: int) -> JointedArrays:
    """Room for this many blocks, rows and bodies, of which joints hold so many; none where that is 0."""
    if jointed_bodies == 0:
        block_capacity = row_capacity = body_count = 0
    # a row has two at most, and those of a lot are filled up to a whole vector
    seats = 2 * row_capacity + WIDTH * body_count
    return JointedArrays(
        islands=allocate_islands(block_capacity, body_count),
        alm=allocate_alm_workspace(row_capacity, body_count),
        base=np.zeros((body_count, 6)),
        part=np.zeros(body_count, np.int64),
        part_first=np.zeros(body_count + 1, np.int64),
        part_position=np.zeros(body_count, np.int64),
        part_body=np.zeros(body_count, np.int64),
        part_of_position=np.zeros(body_count, np.int64),
        listed_row=np.zeros(row_capacity, np.int64),
        listed_block=np.zeros(row_capacity, np.int64),
        row_kind=np.zeros(row_capacity, np.int8),
        outside=np.zeros(body_count, np.int64),
        seat=np.zeros((row_capacity, 2), np.int64),
        column=np.zeros(row_capacity, np.int64),
        seat_first=np.zeros(body_count + 1, np.int64),
        by_body=np.zeros(body_count, np.bool_),
        velocity_at=np.zeros(body_count, np.int64),
        seat_row=np.zeros(seats, np.int64),
        seat_block=np.zeros(seats, np.int64),
        speed=np.zeros(seats),
        speed_before=np.zeros(seats),
        speed_direction=np.zeros(seats),
        diagonal=np.zeros(row_capacity),
        coupling=np.zeros(row_capacity),
        columns=np.zeros(min(_MOST_NUMBERS, row_capacity * seats)),
        used=np.zeros(5, np.int64),
        lane=np.zeros(WIDTH, np.int64),
        lane_sums=np.zeros(WIDTH),
        x=np.zeros(WIDTH * SIZE * body_count),
        kept_velocity=np.zeros((body_count, 6)),
        kept_impulse=np.zeros(row_capacity),
        kept_way=np.zeros((body_count, 6)),
        way_impulse=np.zeros(row_capacity),
        kept_rule=np.zeros(body_count, np.int64),
        end_jacobian=np.zeros((row_capacity, 12)),
        end_bias=np.zeros(row_capacity),
        turn_rate=np.zeros((body_count, 9)),
        turn_share=np.zeros((body_count, 9)),
        turn_stiffness=np.zeros((body_count, 9)),
        turn_coupling=np.zeros((block_capacity, 18)),
        last_velocity=np.zeros((body_count, 6)),
        is_held=np.zeros(block_capacity, np.bool_),
        impulse_before=np.zeros(row_capacity),
        impulse_direction=np.zeros(row_capacity),
        velocity_before=np.zeros((body_count, 6)),
        velocity_direction=np.zeros((body_count, 6)),
    )


@subkernel
def rows_at_end(rows, workspace):
    """The same rows, which ask for what errors at the substep's end change by, and push where they do.

    Parameters
    ----------
    rows : RowArrays
    workspace : JointedArrays

    Returns
    -------
    RowArrays
    """
    return RowArrays(
        rows.count,
        rows.block_row,
        rows.body_a,
        rows.body_b,
        workspace.end_jacobian,
        rows.response,
        rows.diagonal,
        workspace.end_bias,
        rows.lower,
        rows.upper,
        rows.normal_row,
        rows.friction,
        rows.compliance,
        rows.body_mass,
        rows.impulse,
    )
