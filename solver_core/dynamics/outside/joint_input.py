"""What changes the joints of a simulation from outside: what is keyed, and what has broken."""

import numpy as np

from ...constraints.joints.breaking import NO_PAIR
from ...constraints.joints.glue import find_glued
from ...model.activation import TOLD
from ...model.joints.joint_arrays import FRICTION, MOTOR, SPRING, WORLD
from ...model.model import ModelArrays

_NO_BODIES = np.zeros(0, bool)
# Numbers of axes in a frame's input: where the state of the joints has them, and of rows of which role.
_NUMBERS = {
    "motor_velocity": ("target_speed", MOTOR),
    "motor_position": ("target_position", MOTOR),
    "motor_largest": ("largest", MOTOR),
    "joint_friction": ("largest", FRICTION),
    "spring_stiffness": ("spring_stiffness", SPRING),
    "spring_damping": ("spring_damping", SPRING),
}
_KEYED = "joint_breaking", *_NUMBERS


def change_joints(arrays: ModelArrays, joint_state, frame_input, duration: float) -> np.ndarray:
    """Switch joints on and off, aim motors, and change what is keyed; returns the bodies of the joints that changed.

    Parameters
    ----------
    arrays : ModelArrays
    joint_state : JointStateArrays
        Written: enabled; target_speed, target_position, target_rate, last_rate; spring_stiffness, spring_damping,
        largest, breaking.
    frame_input : FrameInput
    duration : float
        Of the frame [s].

    Returns
    -------
    bool [body_count]
        Empty where nothing is to be changed.

    Raises
    ------
    ValueError
        An array has the wrong shape, or holds infinity or a negative number where there is none.
    """
    if _changes_nothing(joint_state, frame_input):
        return _NO_BODIES
    joints, triggers = arrays.joints, arrays.activation.joint_trigger
    changed = np.zeros(joints.joint_count, bool)
    if frame_input.joint_enabled is not None:
        enabled = np.asarray(frame_input.joint_enabled, bool)
        _check_shape("joint_enabled", enabled, (joints.joint_count,))
        if triggers.size:  # what has a trigger listens to nothing else
            enabled = np.where(triggers == TOLD, enabled, joint_state.enabled)
        changed |= enabled != joint_state.enabled
        # what a joint bore before is no guess for what it bears now
        for joint in np.flatnonzero(changed):
            rows = slice(joints.row_first[joint], joints.row_first[joint + 1])
            joint_state.impulse[rows] = joint_state.change[rows] = 0.0
        joint_state.enabled[:] = enabled
    before = joint_state.target_position.copy()
    for name, (field, role) in _NUMBERS.items():
        given = getattr(frame_input, name)
        if given is not None:
            changed |= _take_over(joints, name, np.asarray(given, float), getattr(joint_state, field), role)
    if frame_input.joint_breaking is not None:
        load = np.asarray(frame_input.joint_breaking, float)
        _check_shape("joint_breaking", load, (joints.joint_count, 2))
        if (load < 0.0).any():
            raise ValueError("joint_breaking holds a negative number")
        joint_state.breaking[~np.isnan(load)] = load[~np.isnan(load)]
    _find_rates(joint_state, before, duration)
    bodies = np.zeros(len(joints.is_jointed), bool)
    bodies[joints.body_a[changed]] = True
    bodies[joints.body_b[changed & (joints.body_b != WORLD)]] = True
    return bodies


def _changes_nothing(joint_state, frame_input) -> bool:
    """Whether nothing is keyed in this frame, and no servo's place has moved in the last one."""
    if any(getattr(frame_input, name) is not None for name in _KEYED) or joint_state.last_rate.any():
        return False
    enabled = frame_input.joint_enabled
    # As bytes: of a few joints, NumPy would take longer than the step.
    return enabled is None or np.asarray(enabled, bool).tobytes() == joint_state.enabled.tobytes()


def _take_over(joints, name, given, values, role):
    """Write the numbers of axes [joint_count, 6] to the rows of this role; returns whose were others."""
    _check_shape(name, given, (joints.joint_count, 6))
    if name in ("motor_velocity", "motor_position", "spring_stiffness", "spring_damping") and np.isinf(given).any():
        raise ValueError(f"{name} holds infinity")
    if name not in ("motor_velocity", "motor_position") and (given < 0.0).any():
        raise ValueError(f"{name} holds a negative number")
    joint_of_row = np.repeat(np.arange(joints.joint_count), np.diff(joints.row_first))
    rows = np.flatnonzero(joints.role == role)
    wanted = given[joint_of_row[rows], joints.number[rows]]
    new = ~np.isnan(wanted) & (wanted != values[rows])
    values[rows[new]] = wanted[new]
    changed = np.zeros(joints.joint_count, bool)
    changed[joint_of_row[rows[new]]] = True
    return changed


def _find_rates(joint_state, before, duration):
    """How fast the places that servos are aimed at go on: as in this frame and the last one, the slower of the two.

    A place that jumps, or that begins to move, goes on at no rate: a servo comes to rest there.
    """
    moved = joint_state.target_position - before
    rate = np.where(np.isnan(moved), 0.0, moved) / duration if duration > 0.0 else np.zeros_like(moved)
    last = joint_state.last_rate
    joint_state.target_rate[:] = np.where(rate * last > 0.0, np.sign(rate) * np.minimum(abs(rate), abs(last)), 0.0)
    joint_state.last_rate[:] = rate


def with_own_pairs(arrays: ModelArrays) -> ModelArrays:
    """A model's arrays with copies of those that say what may collide, for ``exclude_joined``."""
    return arrays._replace(excluded_pairs=arrays.excluded_pairs.copy(), glued=arrays.glued.copy())


def exclude_joined(arrays: ModelArrays, own: ModelArrays, joint_state) -> None:
    """Let the pairs collide whose joints do not hold any more, and find which bodies are glued to one piece.

    Parameters
    ----------
    arrays, own : ModelArrays
        Of the model, and with copies of its ``excluded_pairs`` and ``glued``, which are written.
    joint_state : JointStateArrays
    """
    key = arrays.joints.excluded_key
    acts = joint_state.enabled & ~joint_state.broken
    free = np.setdiff1d(key[~acts & (key >= 0)], key[acts])
    kept = np.setdiff1d(arrays.excluded_pairs, free)
    own.excluded_pairs[:] = NO_PAIR
    own.excluded_pairs[: len(kept)] = kept
    find_glued(arrays.joints, joint_state.enabled, joint_state.broken, own.glued)


def _check_shape(name, array, shape):
    if array.shape != shape:
        raise ValueError(f"{name} has the shape {array.shape}; it must be {shape}")
