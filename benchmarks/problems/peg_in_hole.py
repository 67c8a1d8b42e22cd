"""A peg in a hole, pushed by a random wrench: one free body, redundant contacts on two rings.

The test of Lloyd 2004, section 5.4: contacts equally spaced around the top and the bottom of the hole, coefficients of
friction from 0.2 to 0.3, a wrench at the peg's centre. The paper leaves the sizes open; the peg's are ours.
"""

import numpy as np

from cairn.solver_core.problem.problem import ContactProblem
from cairn.solver_core.problem.rows import allocate_rows

_RADIUS = 0.5  # [m]
_LENGTH = 2.0  # distance of the two rings, and the peg's length [m]
_FRICTION = (0.2, 0.3)


def peg_in_hole(contacts: int, seed: int) -> ContactProblem:
    """One step of one second: body 0 is the hole, immovable, body 1 the peg, of 1 kg, at rest.

    Parameters
    ----------
    contacts : int
        Half of them on each ring, one above the other; even, from 2 on. Normals point at the peg's axis; tangents are
        the axis and the direction around it.
    seed : int
        Of the wrench (standard normal [N, N m]) and the coefficients of friction.

    Returns
    -------
    ContactProblem
        On rows; no gaps (bias is zero).
    """
    rng = np.random.default_rng(seed)
    inverse_mass = _inverse_mass()
    rows = allocate_rows(contacts, 3 * contacts)
    rows.count[:] = contacts, 3 * contacts
    rows.block_row[:] = 3 * np.arange(contacts + 1)
    rows.body_b[:] = 1
    for contact in range(contacts):
        span = slice(3 * contact, 3 * contact + 3)
        rows.jacobian[span] = _contact_jacobian(contact % 2, 4.0 * np.pi * (contact // 2) / contacts)
        rows.response[span, 6:] = rows.jacobian[span, 6:] * inverse_mass
        rows.upper[3 * contact] = np.inf
        rows.normal_row[span] = -1, 3 * contact, 3 * contact
    rows.friction[:] = np.repeat(rng.uniform(*_FRICTION, contacts), 3)
    rows.friction[::3] = 0.0
    rows.diagonal[:] = np.sum(rows.jacobian * rows.response, axis=1)
    velocity = np.zeros((2, 6))
    velocity[1] = inverse_mass * rng.normal(size=6)
    return ContactProblem(rows, velocity)


def _inverse_mass() -> np.ndarray:
    """Diagonal of M^-1 of a full cylinder of 1 kg about its centre, its axis along z."""
    across = (3.0 * _RADIUS**2 + _LENGTH**2) / 12.0
    return 1.0 / np.array([1.0, 1.0, 1.0, across, across, 0.5 * _RADIUS**2])


def _contact_jacobian(ring, angle) -> np.ndarray:
    """Rows n, t1, t2 of a contact, n = t1 x t2."""
    outward = np.array([np.cos(angle), np.sin(angle), 0.0])
    axis = np.array([0.0, 0.0, 1.0])
    axes = np.array([-outward, axis, np.cross(-outward, axis)])
    arms = np.cross(_RADIUS * outward + (ring - 0.5) * _LENGTH * axis, axes)
    # the hole does not move: its arm is the same point's, its response is zero
    return np.hstack([-axes, -arms, axes, arms])
