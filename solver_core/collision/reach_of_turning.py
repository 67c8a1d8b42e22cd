"""Contacts that what spins cannot come to in a substep are left out.

Rows are linear: they take the tangent for the way of a point, h (w x r). Of a turn of half a radian that is a sixth
more than the point comes nearer, of two turns it is no way at all: a rod that spins a centimetre beyond its own reach
of a floor would be pushed off by it. But turning brings a shape nearer by R - r at most, however fast, with its radius
R about the body's centre of mass and r the contact's place along the normal from there. So a contact whose gap is more
than that, and what the centre may travel, is none.
"""

from ..compiled.kernel import subkernel
from .data.contact_buffers import copy_contact
from .data.workspace import POSITION, RATIO_MARGIN
from .pair_context import approach_speed
from .swept_motion import bound_approach, felt_spin

# From this turn in a substep on, tangents are no way [rad].
_TURN_OFF_TANGENT = 0.5


@subkernel
def leave_out_unreachable(arrays, pair, approach, center_a, center_b, first):
    """Leave out contacts of a pair, the last of all, that its moving shape cannot come to.

    Parameters
    ----------
    arrays, pair : NarrowPhaseArrays, Pair
        The contacts are written.
    approach : float
        How much nearer points of the two shapes may come in the substep [m].
    center_a, center_b : float64 [4, 3]
        Poses of the bodies where the contacts were made (read).
    first : int
        The pair's first contact.

    Returns
    -------
    bool
        Whether one was left out: then the rest holds in this pass only.
    """
    workspace, contacts, velocity, h = arrays.workspace, arrays.contacts, arrays.state.velocity, arrays.step.h
    is_a = pair.moving == pair.a
    shape, body, other, center = (
        (pair.shape_a, pair.body_a, pair.body_b, center_a)
        if is_a
        else (pair.shape_b, pair.body_b, pair.body_a, center_b)
    )
    local_pose = workspace.local_pose[pair.moving]
    if h * felt_spin(velocity[body], shape.kind, local_pose, workspace.shape_pose[pair.moving]) <= _TURN_OFF_TANGENT:
        return False
    at_center = bound_approach(velocity, body, other, workspace.body_pose, workspace.body_pose[body], 0.0)
    travel = approach + h * (at_center - approach_speed(arrays, pair, velocity)) + RATIO_MARGIN * pair.size
    offset = local_pose[POSITION]
    radius = shape.bounding_radius + (offset[0] * offset[0] + offset[1] * offset[1] + offset[2] * offset[2]) ** 0.5
    sign, kept = 1.0 if is_a else -1.0, first
    for contact in range(first, contacts.count[0]):
        at, normal, shift = contacts.position[contact], contacts.normal[contact], contacts.toi_offset[contact]
        along = 0.0
        for i in range(3):
            along += sign * normal[i] * (at[i] - sign * 0.5 * shift[i] - center[POSITION, i])
        if contacts.gap[contact] > travel + max(0.0, radius - along):
            continue
        if kept < contact:
            copy_contact(contacts, contact, contacts, kept)
            contacts.matched[kept] = -1
        kept += 1
    left_out = contacts.count[0] - kept
    contacts.count[0] = kept
    contacts.needed[0] -= left_out
    arrays.pairs.contact_count[pair.number] -= left_out
    return left_out > 0
