"""Bodies that wait: who does, what has been found out about them, and what holds for them within a substep.

A waiting body acts as a static one, as a sleeping one does (``sleeping``), but wakes by its own trigger alone
(``activation``), and is in no island. So two of them make no contact, and neither do they with what is static.
"""

from typing import NamedTuple

import numpy as np

from ...compiled.kernel import subkernel
from ...constraints.contact_rows import bounce_speed, normal_speed
from ...model.activation import IMPULSE, TOLD, ActivationArrays
from ...model.model import BodyKind

# Values of ``trial``: nothing has been tried in this substep; the body is dynamic to see what driven bodies give it;
# they have given it too little.
UNTRIED, TRIED, REFUSED = range(3)

# Of ``woke_in``.
PUT_TO_WAIT = -2

# A restitution that is none, but lets a contact take the whole of a hit in the substep in which it meets.
_LEAST_RESTITUTION = 1e-9


class WaitingArrays(NamedTuple):
    """Who waits; carried from frame to frame. Empty where the model has nobody who may.

    Attributes
    ----------
    count : int64 [1]
        Bodies and joints that wait.
    waits : bool [body_count or 0]
    trial : int64 [body_count or 0]
        UNTRIED, TRIED or REFUSED.
    woke_in : int64 [body_count or 0]
        The frame's substep in which the body has woken, from 0; -1: not in this frame; PUT_TO_WAIT: it waits since the
        frame's beginning.
    load, earlier_load : float64 [body_count or 0, 3]
        What pushed a waiting body in the last substep and in the one before it [N s]; NaN: not known yet.
    given : float64 [body_count or 0, 3]
        Of this substep.
    is_touched : bool [body_count or 0]
    volume_from, volume_to : float64 [volume_count, 3, 4]
        From the volumes' frames to the world, at the frame's beginning and at its end.
    joint_waits : bool [joint_count or 0]
        The joint has not had its trigger yet.
    joint_woke_in : int64 [joint_count or 0]
        As ``woke_in``.
    is_held : bool [body_count or 0]
        A joint at the body waits to be let go by a push.
    takes_hits : bool [body_count or 0]
        A joint at the body waits for a hit.
    """

    count: np.ndarray
    waits: np.ndarray
    trial: np.ndarray
    woke_in: np.ndarray
    load: np.ndarray
    earlier_load: np.ndarray
    given: np.ndarray
    is_touched: np.ndarray
    volume_from: np.ndarray
    volume_to: np.ndarray
    joint_waits: np.ndarray
    joint_woke_in: np.ndarray
    is_held: np.ndarray
    takes_hits: np.ndarray


def allocate_waiting(activation: ActivationArrays) -> WaitingArrays:
    """Bodies as they wait at the start."""
    count, joint_waits = len(activation.trigger), activation.joint_trigger != TOLD
    return WaitingArrays(
        count=np.full(1, np.count_nonzero(activation.waits) + np.count_nonzero(joint_waits), np.int64),
        waits=activation.waits.copy(),
        trial=np.zeros(count, np.int64),
        woke_in=np.full(count, -1, np.int64),
        load=np.full((count, 3), np.nan),
        earlier_load=np.full((count, 3), np.nan),
        given=np.zeros((count, 3)),
        is_touched=np.zeros(count, np.bool_),
        volume_from=activation.start.copy(),
        volume_to=activation.start.copy(),
        joint_waits=joint_waits,
        joint_woke_in=np.full(len(joint_waits), -1, np.int64),
        is_held=np.zeros(count, np.bool_),
        takes_hits=np.zeros(count, np.bool_),
    )


# What Python does between frames


def begin_waiting(waiting: WaitingArrays, state, kind) -> None:
    """Hold the bodies that wait from the start.

    Parameters
    ----------
    waiting : WaitingArrays
    state : StateArrays
        Their velocities are written.
    kind : int64 [body_count]
        As the step sees it; written.
    """
    if waiting.waits.any():
        kind[waiting.waits] = BodyKind.STATIC.value
        state.velocity[waiting.waits] = 0.0


def changed_bodies(waiting: WaitingArrays, names) -> tuple[list[str], list[str]]:
    """Names of bodies that have woken in the frame, and of those that were put to waiting."""
    woke_in = waiting.woke_in
    return (
        [names[body] for body in np.flatnonzero(woke_in >= 0)],
        [names[body] for body in np.flatnonzero(woke_in == PUT_TO_WAIT)],
    )


def end_waiting(waiting: WaitingArrays, bodies) -> None:
    """Bodies whose kind was changed from outside wait no longer.

    Parameters
    ----------
    waiting : WaitingArrays
        Written.
    bodies : bool [body_count]
    """
    if waiting.waits.size:
        waiting.waits[bodies] = False
        count_waiting(waiting)


def count_waiting(waiting: WaitingArrays) -> None:
    """Write how many wait."""
    waiting.count[0] = np.count_nonzero(waiting.waits) + np.count_nonzero(waiting.joint_waits)


def changed_joints(waiting: WaitingArrays, until, names) -> tuple[list[str], list[str]]:
    """Names of joints that were let go in the frame, and of those that hold since."""
    has_changed = waiting.joint_woke_in >= 0
    return (
        [names[joint] for joint in np.flatnonzero(has_changed & until)],
        [names[joint] for joint in np.flatnonzero(has_changed & ~until)],
    )


# What the step does


@subkernel
def hold_tried(waiting, free_velocity):
    """Bodies that are dynamic for a trial only do not fall.

    Parameters
    ----------
    waiting : WaitingArrays
        Read.
    free_velocity : float64 [body_count, 6]
        Written.
    """
    for body in range(waiting.trial.size):
        if waiting.trial[body] == TRIED:
            for column in range(6):
                free_velocity[body, column] = 0.0


@subkernel
def complete_hits(trigger, waiting, motion, contacts, rows, gravity_speed, h, contact_rows):
    """Let contacts with bodies that wait for an impulse take the whole of a hit in the substep in which they meet.

    Without restitution a hit takes two substeps: bodies first come as near as their gap. So such contacts count as ones
    that bounce, with a restitution that is none.

    Parameters
    ----------
    trigger : int64 [body_count]
        ``Trigger`` (read).
    waiting, motion, contacts, rows
        Read.
    gravity_speed, h : float
        That gravity gives in a substep [m/s]; [s].
    contact_rows : ContactRowArrays
        Written: restitution, bounce_speed.
    """
    for contact in range(contacts.count[0]):
        a, b = contacts.body_a[contact], contacts.body_b[contact]
        if contact_rows.restitution[contact] > 0.0 or not (
            (waiting.waits[a] and trigger[a] == IMPULSE)
            or (waiting.waits[b] and trigger[b] == IMPULSE)
            or waiting.takes_hits[a]
            or waiting.takes_hits[b]
        ):
            continue
        row, own = rows.block_row[contact], contact_rows.surface_speed[contact]
        contact_rows.restitution[contact] = _LEAST_RESTITUTION
        contact_rows.bounce_speed[contact] = bounce_speed(
            own + normal_speed(rows.jacobian, row, motion.start_velocity, a, b),
            own + normal_speed(rows.jacobian, row, motion.free_velocity, a, b),
            max(contacts.gap[contact], 0.0),
            _LEAST_RESTITUTION,
            gravity_speed,
            h,
        )
