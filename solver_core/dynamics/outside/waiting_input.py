"""What lets bodies wait or wakes them from outside, and where the volumes that wake them go."""

import numpy as np

from ...model.model import BodyKind
from ..rest.sleeping import wake_groups_of
from ..rest.waiting import PUT_TO_WAIT, WaitingArrays, changed_bodies, changed_joints, count_waiting
from .frame_checks import checked_flags, checked_numbers
from .joint_input import exclude_joined


def change_waiting(waiting: WaitingArrays, sleep, state, kind, frame_input) -> None:
    """Begin a frame: wake who is to be woken, let wait who is to wait, and note where the volumes go.

    Parameters
    ----------
    waiting : WaitingArrays
        Written.
    sleep : SleepArrays
        Read and written: what sleeps with a body that is to wait wakes.
    state : StateArrays
        Velocities of what is to wait are written.
    kind : int64 [body_count]
        As the step sees it; written.
    frame_input : FrameInput
        ``activate``, ``deactivate`` and ``volumes``.
    """
    waiting.woke_in.fill(-1)
    waiting.joint_woke_in.fill(-1)
    waiting.volume_from[:] = waiting.volume_to
    if frame_input.volumes is not None:
        waiting.volume_to[:] = checked_numbers("volumes", frame_input.volumes, waiting.volume_to.shape)
    if frame_input.deactivate is not None:
        chosen = checked_flags("deactivate", frame_input.deactivate, waiting.waits.shape)
        chosen = chosen & (state.kind == BodyKind.DYNAMIC) & ~waiting.waits
        if chosen.any():
            wake_groups_of(sleep, kind, chosen)
            waiting.waits[chosen], kind[chosen] = True, BodyKind.STATIC.value
            state.velocity[chosen], waiting.woke_in[chosen] = 0.0, PUT_TO_WAIT
            waiting.load[chosen], waiting.earlier_load[chosen] = np.nan, np.nan
    if frame_input.activate is not None:
        chosen = checked_flags("activate", frame_input.activate, waiting.waits.shape) & waiting.waits
        waiting.waits[chosen], kind[chosen], waiting.woke_in[chosen] = False, BodyKind.DYNAMIC.value, 0
    count_waiting(waiting)


def report_waiting(report, waiting: WaitingArrays, model, own, joint_state) -> None:
    """Add to a frame's report who woke, and which joints changed; pairs of these collide from now on as they hold.

    Parameters
    ----------
    report : FrameReport
        Written.
    waiting : WaitingArrays
    model : Model
    own : ModelArrays
        Of ``with_own_pairs``; written.
    joint_state : JointStateArrays
    """
    report.activated, report.deactivated = changed_bodies(waiting, model.names)
    if waiting.joint_waits.size:
        joints = changed_joints(waiting, model.arrays.activation.joint_until, model.joint_names)
        report.let_go, report.joined = joints
        if any(joints):
            exclude_joined(model.arrays, own, joint_state)
