"""Bodies whose motion is no number any more: they are held where they were last, and the rest goes on.

What overflows (a field, a motor, a speed at the start) would else reach all that it touches. ``IslandMemory.is_lost``
names them.
"""

from ...compiled.kernel import subkernel
from ...model.state import DYNAMIC, STATIC

# Motion is lost where poses and speeds add up to more than this: keys are single precision, which ends at 3e38.
# [m], [m/s], [rad/s]
_MOST = 1e30


@subkernel
def is_lost(state, position_velocity, body):
    """Whether a body's motion is none: no number, or more than keys can hold."""
    largest = 0.0
    for axis in range(3):
        largest += abs(state.position[body, axis])
    for column in range(6):
        largest += abs(state.velocity[body, column]) + abs(position_velocity[body, column])
    return not largest <= _MOST


@subkernel
def hold(state, motion, body):
    """Let a body stay where it is from now on, as if it were static."""
    state.kind[body], motion.memory.is_lost[body] = STATIC, True
    for column in range(6):
        state.velocity[body, column] = motion.start_velocity[body, column] = 0.0
        motion.free_velocity[body, column] = motion.position_velocity[body, column] = 0.0


@subkernel
def hold_what_is_lost(state, motion):
    """Hold those dynamic bodies that forces drive beyond all numbers, before anything is solved with them.

    Parameters
    ----------
    state : StateArrays
        Written: velocity, and kind as the step sees it.
    motion : MotionArrays
        Written, of such bodies.
    """
    for body in range(state.kind.size):
        largest = 0.0
        for column in range(6):
            largest += abs(motion.free_velocity[body, column])
        if state.kind[body] == DYNAMIC and not largest <= _MOST:
            hold(state, motion, body)
            motion.can_be_pushed[body], motion.inverse_mass[body] = False, 0.0
            for entry in range(9):
                motion.inverse_inertia[body, entry] = 0.0
