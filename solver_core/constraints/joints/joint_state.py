"""What joints carry from substep to substep, and what a substep notes of them."""

from typing import NamedTuple

import numpy as np

from ...model.joints.joint_arrays import JointArrays


class JointStateArrays(NamedTuple):
    """State of all joints.

    Attributes
    ----------
    enabled, broken : bool [joint_count]
    target_speed, target_position : float64 [joint_row_count]
        Of motors; the position is NaN where it is no servo.
    angle : float64 [joint_row_count, 2]
        Numbers of the coordinates at the substep's start, counted beyond full turns (``value_of``).
    side : float64 [joint_row_count]
        Of ranges: 1 at the lower limit, -1 at the upper.
    impulse : float64 [joint_row_count]
        Of the last position solve [N s].
    change : float64 [joint_row_count]
        What the last velocity solve has added to it [N s].
    correction : float64 [joint_row_count]
        What the bias of the last position solve was more than the linear one, so that the joint held [m/s].
    start, aim : float64 [joint_row_count]
        Of a substep: error of the coordinate at its start, and where it is to be at its end [m].
    given : float64 [joint_row_count]
        Impulses that bodies got besides those of the velocity solve's rows [N s].
    block, island : int64 [joint_count]
        The joint's block of rows; -1 where it has none; and its island.
    joint_of_block : int64 [joint_count]
        The joints of the blocks behind the contacts.
    rules : int64 [joint_count]
        Which of its bodies its rows took for falling: 1 for a, 2 for b.
    end_position, end_orientation : float64 [body_count, 3], [body_count, 4]
        Poses at the substep's end, of bodies with joints; empty without any.
    falls : bool [body_count]
        Bodies that fell in the last position solve; empty without joints.
    is_due : bool [body_count]
        By island: its joints are to be corrected.
    worst, error : float64 [body_count]
        By island: the largest error of its joints, as a share of their sizes, and that of the correction before.
    opening : float64 [joint_count, 2]
        How far held coordinates are off [m, rad].
    force : float64 [joint_count, 6]
        Force and torque of the substep on body b [N, N m].
    """

    enabled: np.ndarray
    broken: np.ndarray
    target_speed: np.ndarray
    target_position: np.ndarray
    angle: np.ndarray
    side: np.ndarray
    impulse: np.ndarray
    change: np.ndarray
    correction: np.ndarray
    start: np.ndarray
    aim: np.ndarray
    given: np.ndarray
    block: np.ndarray
    island: np.ndarray
    joint_of_block: np.ndarray
    rules: np.ndarray
    end_position: np.ndarray
    end_orientation: np.ndarray
    falls: np.ndarray
    is_due: np.ndarray
    worst: np.ndarray
    error: np.ndarray
    opening: np.ndarray
    force: np.ndarray


def allocate_joint_state(joints: JointArrays) -> JointStateArrays:
    """Joints that have not acted yet."""
    count, rows = joints.joint_count, joints.row_count
    bodies = len(joints.is_jointed) if count else 0
    return JointStateArrays(
        enabled=joints.enabled.copy(),
        broken=np.zeros(count, np.bool_),
        target_speed=joints.target_speed.copy(),
        target_position=joints.target_position.copy(),
        angle=np.zeros((rows, 2)),
        side=np.ones(rows),
        impulse=np.zeros(rows),
        change=np.zeros(rows),
        correction=np.zeros(rows),
        start=np.zeros(rows),
        aim=np.zeros(rows),
        given=np.zeros(rows),
        block=np.full(count, -1, np.int64),
        island=np.zeros(count, np.int64),
        joint_of_block=np.zeros(count, np.int64),
        rules=np.zeros(count, np.int64),
        end_position=np.zeros((bodies, 3)),
        end_orientation=np.zeros((bodies, 4)),
        falls=np.ones(bodies, np.bool_),
        is_due=np.zeros(bodies, np.bool_),
        worst=np.zeros(bodies),
        error=np.zeros(bodies),
        opening=np.zeros((count, 2)),
        force=np.zeros((count, 6)),
    )
