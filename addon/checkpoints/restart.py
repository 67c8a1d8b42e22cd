"""A bake that begins anew in the middle of an earlier one, with other settings or other bodies than that one had.

What is before stays as it was recorded, but for the start pose, which is the scene's. From there on bodies have the
poses and velocities of that frame, and joints that were broken are broken; contacts, sleep and what solvers remember
begin afresh. Bodies are known by their names: new ones stand at their start until then.
"""

from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np

from ...solver_core.model.model import BodyKind
from .recording import Recording

if TYPE_CHECKING:  # they load Numba
    from ...solver_core import Simulation


def restart(
    simulation: "Simulation", recording: Recording, bodies: list[str], joints: list[str], own_joints
) -> Recording:
    """Put a simulation that has not begun where a recording ends.

    Parameters
    ----------
    simulation : Simulation
        Changed.
    recording : Recording
        Of an earlier bake, up to the frame at which the simulation begins.
    bodies, joints : list of str
        Names of those that were recorded.
    own_joints : list of str
        Names of the simulation's joints.

    Returns
    -------
    Recording
        The same with the bodies and joints of this simulation.
    """
    from ...solver_core.checkpoint import Checkpoint

    recording = _with_bodies(simulation, recording, bodies)
    places, notes = _places(bodies, simulation.model.names), simulation.options.contacts
    reports = [_with_contacts(report, places, joints, own_joints, notes) for report in recording.reports]
    reports = [_with_joints(report, joints, own_joints) for report in reports]
    reports = [_with_breaks(report, places) for report in reports]
    recording = replace(recording, reports=reports)
    model, arrays = simulation.model, simulation.checkpoint().arrays
    position, orientation = model.body_poses(recording.position[-1], recording.orientation[-1])
    arrays |= {"state.position": position, "state.orientation": orientation}
    arrays["state.velocity"] = recording.velocity[-1].copy()
    _hold_as_recorded(arrays, model.names, recording.reports)
    _wake_as_recorded(arrays, model.names, model.joint_names, recording.reports)
    last = recording.reports[-1]
    if last.joints is not None:
        arrays["joint_state.broken"] = last.joints.broken.copy()
    simulation.restore(Checkpoint(recording.frame_count, arrays))
    simulation.wake()
    return recording


def _hold_as_recorded(arrays, names, reports):
    """Hold the bodies that were lost in a recording, and have not been told to do anything else since."""
    rows = {name: row for row, name in enumerate(names)}
    for report in reports:
        for name in report.lost:
            if name in rows:
                arrays["motion.memory.is_lost"][rows[name]] = True
                arrays["acting_kind"][rows[name]] = int(BodyKind.STATIC)


def _wake_as_recorded(arrays, names, joint_names, reports):
    """Let those bodies and joints wait that did at the end of a recording, of those that wait from the start."""
    if "waiting.waits" not in arrays:
        return
    rows, waits = {name: row for row, name in enumerate(names)}, arrays["waiting.waits"]
    for report in reports:
        for changed, is_woken in ((report.activated, True), (report.deactivated, False)):
            known = [rows[name] for name in changed if name in rows]
            waits[known] = not is_woken
            arrays["acting_kind"][known] = int(BodyKind.DYNAMIC if is_woken else BodyKind.STATIC)
    arrays["state.velocity"][waits] = 0.0
    joint_waits = arrays["waiting.joint_waits"]
    rows = {name: row for row, name in enumerate(joint_names)}
    for report in reports if joint_waits.size else ():
        for changed, holds in ((report.let_go, False), (report.joined, True)):
            known = [rows[name] for name in changed if name in rows]
            joint_waits[known], arrays["joint_state.enabled"][known] = False, holds
    arrays["waiting.count"][0] = np.count_nonzero(waits) + np.count_nonzero(joint_waits)


def arrive(simulation: "Simulation", frame_input) -> None:
    """Put bodies that are driven, and shapes that are animated, where they are at the frame at which it begins."""
    frame = simulation.frame
    simulation.advance_frame(replace(frame_input, duration=0.0))
    simulation.frame = frame


def _with_bodies(simulation, recording, bodies):
    position, orientation = simulation.poses()
    shape = (recording.frame_count + 1, 1, 1)
    own = {
        "position": np.tile(position, shape),
        "orientation": np.tile(orientation, shape),
        "velocity": np.tile(simulation.velocities(), shape),
    }
    columns = {name: column for column, name in enumerate(bodies)}
    known = [index for index, name in enumerate(simulation.model.names) if name in columns]
    recorded = [columns[simulation.model.names[index]] for index in known]
    for name, array in own.items():
        # not the start: keys are written as motion since where the scene has a body now
        array[1:, known] = getattr(recording, name)[1:, recorded]
    return replace(recording, **own)


def _places(names, own_names):
    """Where each of some names is among others; -1: nowhere."""
    own = {name: place for place, name in enumerate(own_names)}
    return np.array([own.get(name, -1) for name in names], np.int64)


def _with_contacts(report, places, joints, own_joints, notes):
    """A report with the contacts of the simulation's bodies and joints, of which new ones have touched nothing.

    Parameters
    ----------
    report : FrameReport
    places : int64 [recorded bodies]
        Where they are among those of the simulation; -1: nowhere.
    joints, own_joints : list of str
    notes : bool
        Whether the simulation notes contacts.
    """
    contacts = report.frame_contacts
    if contacts is None or not notes:
        return replace(report, frame_contacts=None)
    known = (places[contacts.body_a] >= 0) & (places[contacts.body_b] >= 0)
    own = {name: getattr(contacts, name)[known] for name in ("position", "normal", "impulse", "slip")}
    own |= {name: places[getattr(contacts, name)[known]].astype(contacts.body_a.dtype) for name in ("body_a", "body_b")}
    columns = _places(own_joints, joints)
    for name in ("joint_impulse", "joint_moment"):
        recorded = getattr(contacts, name)
        own[name] = np.zeros((len(columns), *recorded.shape[1:]), recorded.dtype)
        own[name][columns >= 0] = recorded[columns[columns >= 0]]
    return replace(report, frame_contacts=replace(contacts, **own))


def _with_breaks(report, places):
    """A report with the breaks of the simulation's bodies."""
    breaks = report.breaks
    if breaks is None:
        return report
    known = places[breaks.body] >= 0
    own = {entry.name: getattr(breaks, entry.name)[known] for entry in fields(breaks)}
    return replace(report, breaks=replace(breaks, **(own | {"body": places[own["body"]]})))


def _with_joints(report, joints, own_joints):
    """A report with the simulation's joints, of which new ones have borne nothing."""
    if joints == own_joints:
        return report
    if not own_joints:
        return replace(report, joints=None)
    from ...solver_core.report import JointReport

    count = len(own_joints)
    columns = {name: column for column, name in enumerate(joints)}
    known = [index for index, name in enumerate(own_joints) if name in columns]
    own = {}
    for entry in fields(JointReport):
        recorded = getattr(report.joints, entry.name)
        own[entry.name] = np.zeros((count, *recorded.shape[1:]), recorded.dtype)
        if known:
            own[entry.name][known] = recorded[[columns[own_joints[index]] for index in known]]
    return replace(report, joints=JointReport(**own))
