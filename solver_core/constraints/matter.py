"""What surfaces are made of: a pair's friction and restitution, and surfaces that run over their bodies, as belts do.

**Two coefficients.** A contact whose surfaces slide as the substep begins has the sliding (dynamic) coefficient in it,
one whose surfaces stick the static one. Whether they slide is read off the velocities, so nothing else is carried from
substep to substep (docs/decisions/45-matter.md).

**Belts.** The surface of a body runs over it with the velocity s in the body's axes. At a contact with the normal n,
the part of s across n is what the surface does there; so friction aims at no slip against the belt, and what a belt
carries keeps its normal force. It is part of the contacts' ``surface_velocity``, as that of meshes that deform is, and
so of the rows' bias, of what drives a body, and of what never stands still.
"""

import math

from ..compiled.kernel import subkernel
from ..geometry.rotation_kernels import rotate
from ..model.matter import LARGEST, LEAST, MEAN


@subkernel
def combined(rule_a, rule_b, one, other):
    """A pair's coefficient from those of its bodies; of two rules the later one counts."""
    rule = max(rule_a, rule_b)
    if rule == MEAN:
        return 0.5 * (one + other)
    if rule == LEAST:
        return min(one, other)
    if rule == LARGEST:
        return max(one, other)
    return one * other


@subkernel
def pair_friction(model, a, b, slides):
    """Coefficient of friction of two bodies whose surfaces stick or slide.

    Parameters
    ----------
    model : ModelArrays
        Read.
    a, b : int64
    slides : bool
    """
    matter = model.matter
    one, other = model.friction[a], model.friction[b]
    if slides:
        one, other = matter.sliding_friction[a], matter.sliding_friction[b]
    if matter.rules.shape[0] == 0:
        return one * other
    return combined(matter.rules[a, 0], matter.rules[b, 0], one, other)


@subkernel
def pair_restitution(model, a, b):
    """Restitution of two bodies.

    Parameters
    ----------
    model : ModelArrays
        Read.
    a, b : int64
    """
    one, other, rules = model.restitution[a], model.restitution[b], model.matter.rules
    if rules.shape[0] == 0:
        return one * other
    return combined(rules[a, 1], rules[b, 1], one, other)


@subkernel
def run_belts(model, orientation, contacts):
    """Let the surfaces of belts run at their contacts; repeating it changes nothing.

    A belt's surface moves across the normal as the belt does, whatever its deformation would drag along there.

    Parameters
    ----------
    model : ModelArrays
        Read.
    orientation : float64 [body_count, 4]
        Of the body frames (w, x, y, z) (read).
    contacts : ContactArrays
        ``surface_velocity`` written.
    """
    belts = model.matter.surface_velocity
    for contact in range(contacts.count[0]):
        a, b = contacts.body_a[contact], contacts.body_b[contact]
        if not (is_belt(belts, a) or is_belt(belts, b)):
            continue
        p, q, r = _world_velocity(belts, orientation, b)
        x, y, z = _world_velocity(belts, orientation, a)
        p, q, r = p - x, q - y, r - z
        velocity, (n0, n1, n2) = contacts.surface_velocity[contact], contacts.normal[contact]
        own = n0 * velocity[0] + n1 * velocity[1] + n2 * velocity[2]
        along = own - (n0 * p + n1 * q + n2 * r)
        velocity[0], velocity[1], velocity[2] = p + along * n0, q + along * n1, r + along * n2


@subkernel
def is_belt(belts, body):
    """Whether a body's surface runs over it."""
    return belts[body, 0] != 0.0 or belts[body, 1] != 0.0 or belts[body, 2] != 0.0


@subkernel
def _world_velocity(belts, orientation, body):
    w, x, y, z = orientation[body]
    return rotate(w, x, y, z, belts[body, 0], belts[body, 1], belts[body, 2])


@subkernel
def limit_speed(velocity, largest):
    """Shorten the linear part of a velocity to a speed.

    Parameters
    ----------
    velocity : float64 [6]
        Written.
    largest : float
        [m/s].
    """
    square = velocity[0] ** 2 + velocity[1] ** 2 + velocity[2] ** 2
    if square > largest * largest:
        share = largest / math.sqrt(square)
        for axis in range(3):
            velocity[axis] *= share
