"""What changes the force fields of a simulation from outside, and whom that wakes."""

import numpy as np

from ...geometry import rotations
from ...model.exposed_faces import exposed_faces
from ...model.fields import AXIS, NOISE, PLACE, Field, FieldArrays, allocate_fields, packed
from ...model.model import Model
from ..rest.sleeping import SleepArrays, wake_groups_of
from .field_forces import find_changes
from .frame_checks import checked_numbers


def fields_of(model: Model) -> FieldArrays:
    """The fields of a model as at the beginning, in arrays of a simulation's own."""
    of_bodies = model.field_responds, model.charges, model.pushes, model.pushes_along
    fields = allocate_fields(model.fields, model.field_carriers, *of_bodies)
    fields.values[:] = _in_body_frames(fields.values[1], model)
    fields.push[:] = _along_body_frames(fields.push[1], model)
    if any(getattr(field, "by_area", False) for field in model.fields):
        first, points = exposed_faces(model)
        fields = fields._replace(face_first=first, face=points)
    return fields


def change_fields(fields: FieldArrays, given, forces, model: Model, frame: int) -> None:
    """Take over where fields are at the frame's end, their numbers, and what pushes bodies.

    Parameters
    ----------
    fields : FieldArrays
        Written: values, frame, changes.
    given : sequence of Field, or None
        As in ``FrameInput``.
    forces : float64 [body_count, 6], or None
        Likewise.
    model : Model
    frame : int
        Frames done.

    Raises
    ------
    ValueError
        They are not the model's fields, or forces on a model that nothing pushes.
    """
    fields.values[0], fields.push[0] = fields.values[1], fields.push[1]
    fields.frame[0] = frame
    if forces is not None:
        if not model.pushes:
            raise ValueError("forces are given, and nothing pushes bodies at the start; push_body says what does")
        fields.push[1] = _along_body_frames(checked_numbers("forces", forces, (model.body_count, 6)), model)
    if given is not None:
        kinds = [type(field) for field in given]
        if kinds != [type(field) for field in model.fields]:
            names = [kind.__name__ for kind in kinds]
            raise ValueError(f"fields are {names}; they must be those of the model: {list(map(_name, model.fields))}")
        if any(getattr(field, "by_area", False) for field in given) and not fields.face_first.size:
            raise ValueError("a field acts by area, and none did at the start; it must be the same throughout")
        fields.values[1] = _in_body_frames(packed(tuple(given)), model)
    is_noisy = bool(np.any(fields.values[:, :, NOISE] > 0.0))
    moves = bool(np.any(fields.carrier >= 0)) or not np.array_equal(fields.values[0], fields.values[1])
    moves = moves or not np.array_equal(fields.push[0], fields.push[1])
    fields.changes[0] = int(is_noisy or moves)


def wake_where_forces_change(fields, model, state, sleep: SleepArrays, acting_kind, duration) -> None:
    """Wake the islands of bodies on which fields act otherwise at the frame's end than at its beginning.

    Parameters
    ----------
    fields : FieldArrays
        As ``change_fields`` has left it.
    model : ModelArrays
    state : StateArrays
        With the velocities of what is driven.
    sleep : SleepArrays
    acting_kind : int64 [body_count]
        Kinds as the step sees them; written.
    duration : float
        Of the frame [s].
    """
    if fields.changes[0] == 0 or sleep.sleeping_count[0] == 0:
        return
    changed = np.zeros(len(state.kind), np.bool_)
    find_changes(model, state, sleep.group, fields, duration, changed)
    if changed.any():
        wake_groups_of(sleep, acting_kind, changed)


def _in_body_frames(rows: np.ndarray, model: Model) -> np.ndarray:
    """Rows of fields whose places and axes on bodies are in the body frames, not the user frames."""
    rows = rows.copy()
    for field, body in enumerate(model.field_carriers):
        if body >= 0:
            turn = model.frame_orientation[body]
            place, axis = slice(PLACE, PLACE + 3), slice(AXIS, AXIS + 3)
            rows[field, place] = model.frame_position[body] + rotations.rotate(turn, rows[field, place])
            rows[field, axis] = rotations.rotate(turn, rows[field, axis])
    return rows


def _along_body_frames(pushes: np.ndarray, model: Model) -> np.ndarray:
    """Forces and torques of which those along bodies are along the body frames, not the user frames."""
    pushes = pushes.copy()
    along = np.flatnonzero(np.array(model.pushes_along, bool))
    for part in (slice(0, 3), slice(3, 6)):
        turn = model.frame_orientation[along]
        pushes[along, part] = rotations.rotate(turn, np.ascontiguousarray(pushes[along, part]))
    return pushes


def _name(field: Field) -> str:
    return type(field).__name__
