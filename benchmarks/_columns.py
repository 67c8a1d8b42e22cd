"""Rows of columns of unit boxes, made directly: as many contacts as one likes, in no time."""

import numpy as np

from cairn.solver_core.problem.problem import ContactProblem
from cairn.solver_core.problem.rows import allocate_rows

_CORNERS = np.array([[-0.5, -0.5], [-0.5, 0.5], [0.5, -0.5], [0.5, 0.5]])
_AXES = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
# Of a unit box of 1 kg: 1 / mass, and 6 / (mass side^2) about each axis.
_INVERSE_MASS = np.array([1.0, 1.0, 1.0, 6.0, 6.0, 6.0])


def columns(count: int, levels: int, friction: float = 0.5) -> ContactProblem:
    """Columns of boxes on a floor, four contacts a face, that fall a bit and slip.

    Parameters
    ----------
    count, levels : int
        Columns, and boxes of each.
    friction : float
    """
    boxes = count * levels
    contacts = 4 * boxes
    rows = allocate_rows(contacts, 3 * contacts, boxes + 1)
    rows.count[:] = contacts, 3 * contacts
    rows.block_row[:] = 3 * np.arange(contacts + 1)
    body = 1 + np.arange(boxes)
    rows.body_b[:] = np.repeat(body, 4)
    rows.body_a[:] = np.repeat(np.where(np.arange(boxes) % levels == 0, 0, body - 1), 4)
    corners = np.tile(_CORNERS, (boxes, 1))
    arm_a = np.column_stack([corners, np.full(contacts, 0.5)])
    arm_b = np.column_stack([corners, np.full(contacts, -0.5)])
    for place, axis in enumerate(_AXES):
        direction = np.broadcast_to(axis, (contacts, 3))
        rows.jacobian[place::3] = np.hstack(
            [-direction, -np.cross(arm_a, direction), direction, np.cross(arm_b, direction)]
        )
    rows.response[:] = rows.jacobian * np.tile(_INVERSE_MASS, 2)
    rows.response[np.repeat(rows.body_a == 0, 3), :6] = 0.0
    rows.body_mass[1:] = np.diag(1.0 / _INVERSE_MASS)
    rows.diagonal[:] = np.sum(rows.jacobian * rows.response, axis=1)
    rows.upper[0::3] = np.inf
    for tangent in (1, 2):
        rows.normal_row[tangent::3] = 3 * np.arange(contacts)
        rows.friction[tangent::3] = friction
    velocity = np.zeros((boxes + 1, 6))
    velocity[1:, 2] = -0.1
    velocity[1:, 0] = np.random.default_rng(0).uniform(-0.02, 0.02, boxes)
    return ContactProblem(rows, velocity)
