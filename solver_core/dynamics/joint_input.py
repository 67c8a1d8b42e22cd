"""What changes the joints of a simulation from outside: what is keyed, and what has broken."""

import numpy as np

from ..model.joints.joint_arrays import MOTOR, WORLD, JointArrays
from ..model.model import ModelArrays

# More than any key of a pair.
_NO_PAIR = np.iinfo(np.int64).max


def change_joints(joints: JointArrays, joint_state, frame_input) -> np.ndarray:
    """Switch joints on and off, and aim motors; returns the bodies of the joints that are not as they were.

    Parameters
    ----------
    joints : JointArrays
    joint_state : JointStateArrays
        Written: enabled, target_speed, target_position.
    frame_input : FrameInput

    Returns
    -------
    bool [body_count]

    Raises
    ------
    ValueError
        An array has the wrong shape, or holds infinity.
    """
    changed = np.zeros(joints.joint_count, bool)
    if frame_input.joint_enabled is not None:
        enabled = np.asarray(frame_input.joint_enabled, bool)
        _check_shape("joint_enabled", enabled, (joints.joint_count,))
        changed |= enabled != joint_state.enabled
        # what a joint bore before is no guess for what it bears now
        for joint in np.flatnonzero(changed):
            rows = slice(joints.row_first[joint], joints.row_first[joint + 1])
            joint_state.impulse[rows] = joint_state.change[rows] = 0.0
        joint_state.enabled[:] = enabled
    joint_of_row = np.repeat(np.arange(joints.joint_count), np.diff(joints.row_first))
    motors = np.flatnonzero(joints.role == MOTOR)
    for name, targets in (
        ("motor_velocity", joint_state.target_speed),
        ("motor_position", joint_state.target_position),
    ):
        given = getattr(frame_input, name)
        if given is None:
            continue
        given = np.asarray(given, float)
        _check_shape(name, given, (joints.joint_count, 6))
        if np.isinf(given).any():
            raise ValueError(f"{name} holds infinity")
        wanted = given[joint_of_row[motors], joints.number[motors]]
        new = ~np.isnan(wanted) & (wanted != targets[motors])
        targets[motors[new]] = wanted[new]
        changed[joint_of_row[motors[new]]] = True
    bodies = np.zeros(len(joints.is_jointed), bool)
    bodies[joints.body_a[changed]] = True
    bodies[joints.body_b[changed & (joints.body_b != WORLD)]] = True
    return bodies


def exclude_joined(arrays: ModelArrays, own: ModelArrays, joint_state) -> None:
    """Let the pairs collide whose joints do not hold any more.

    Parameters
    ----------
    arrays, own : ModelArrays
        Of the model, and with a copy of its ``excluded_pairs``, which is written.
    joint_state : JointStateArrays
    """
    key = arrays.joints.excluded_key
    acts = joint_state.enabled & ~joint_state.broken
    free = np.setdiff1d(key[~acts & (key >= 0)], key[acts])
    kept = np.setdiff1d(arrays.excluded_pairs, free)
    own.excluded_pairs[:] = _NO_PAIR
    own.excluded_pairs[: len(kept)] = kept


def _check_shape(name, array, shape):
    if array.shape != shape:
        raise ValueError(f"{name} has the shape {array.shape}; it must be {shape}")
