"""What a force field does to a point: the laws of Blender's force fields, derived in docs/decisions/46-forces.md.

A law gives a force and how it changes with the point's velocity v, as a few numbers that add up over the fields:

    F(v)        force [N]
    dF/dv u  =  -c u - q v (v . u) + u x B          c [N s/m], q [N s^3/m^3], B [N s/m]

``c`` is what is linear in the velocity, ``q`` what drag that is quadratic adds along it, ``B`` magnetic. Powers that
are 0, 1 or 2 and the noise of turbulence are made of sums, products and quotients alone: the same bits everywhere.
"""

import math

from ...compiled.kernel import subkernel
from ...geometry.vectors import cross, dot
from ...model.fields import (
    AXIS,
    BOTH,
    CHARGE,
    DAMPING,
    DRAG,
    FALLOFF,
    FLOW,
    FORCE,
    HARMONIC,
    IS_GLOBAL,
    IS_INVERSE_SQUARE,
    KIND,
    LEAST,
    LEAST_RADIUS,
    LENGTH,
    LINE,
    MAGNETIC,
    MOST,
    MOST_RADIUS,
    PLACE,
    PLANE,
    POINT,
    POSITIVE,
    POWER,
    RADIAL_POWER,
    SHAPE,
    SIDE,
    SPHERE,
    STRENGTH,
    TUBE,
    VORTEX,
    WEIGHT,
    WIND,
)
from .field_noise import turbulence

_NOTHING = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0


@subkernel
def force_at(row, point, velocity, charge, change):
    """A field's force on a point, and its change with the velocity.

    Parameters
    ----------
    row : float64 [COLUMNS]
        The field as it is now, in the world (read).
    point, velocity : tuple of 3 floats
        [m], [m/s].
    charge : float
        Of the body.
    change : float
        What noise adds to the strength, and to the damping.

    Returns
    -------
    tuple of 8 floats
        F, c, q, B.
    """
    kind, axis = row[KIND], (row[AXIS], row[AXIS + 1], row[AXIS + 2])
    arm = point[0] - row[PLACE], point[1] - row[PLACE + 1], point[2] - row[PLACE + 2]
    along = dot(axis, arm)
    from_source = _from_source(row, kind, axis, arm, along)
    distance = _length(from_source)
    share = row[WEIGHT] * _share(row, arm, along, distance)
    if not share > 0.0:
        return _NOTHING
    strength, damping = row[STRENGTH] + change, row[DAMPING]
    fx, fy, fz, c, q = 0.0, 0.0, 0.0, 0.0, 0.0
    bx, by, bz = 0.0, 0.0, 0.0
    if kind == FORCE:
        if distance > 0.0:
            size = strength * share / distance
            if row[IS_INVERSE_SQUARE] != 0.0:
                size /= distance * distance
            fx, fy, fz = _scaled(size, from_source)
    elif kind == WIND:
        fx, fy, fz = _scaled(strength * share, axis)
    elif kind == VORTEX:
        if row[SHAPE] == POINT:
            round_it = cross(axis, arm)
            size = _length(round_it)
            if size > 0.0:
                fx, fy, fz = _scaled(strength * distance * share / size, round_it)
        else:
            round_it = _scaled(strength * share, cross(axis, arm))
            inwards = _scaled(strength * share, cross(axis, round_it))
            fx, fy, fz, c = round_it[0] + inwards[0], round_it[1] + inwards[1], round_it[2] + inwards[2], 1.0
    elif kind == HARMONIC:
        if distance > 0.0:
            fx, fy, fz = _scaled(-strength * share * (distance - row[LENGTH]) / distance, from_source)
        c = (damping + change) * 2.0 * math.sqrt(abs(strength))
    elif kind == DRAG:
        speed = _length(velocity)
        c = share * (damping + change + strength * speed)
        q = share * strength / speed if speed > 0.0 else 0.0
    elif kind == CHARGE:
        fx, fy, fz = _scaled(charge * strength * share, from_source)
    elif kind == MAGNETIC:
        direction = axis if row[SHAPE] == PLANE else cross(axis, from_source)
        size = _length(direction)
        if size > 0.0:
            bx, by, bz = _scaled(strength * share / size, direction)
            fx, fy, fz = cross(velocity, (bx, by, bz))
    else:
        place = point if row[IS_GLOBAL] != 0.0 else (arm[0] + axis[0], arm[1] + axis[1], arm[2] + axis[2])
        fx, fy, fz = _scaled(strength * share, turbulence(place, row[LENGTH]))
    if kind != HARMONIC and kind != DRAG:
        c += row[FLOW] * share
    return fx - c * velocity[0], fy - c * velocity[1], fz - c * velocity[2], c, q, bx, by, bz


@subkernel
def pressure_at(row, point, speed, facing, change):
    """What a field presses a point of a surface by, along its normal, and how that grows with its speed.

    Parameters
    ----------
    row : float64 [COLUMNS]
        A wind or a drag that acts by area (read).
    point : tuple of 3 floats
        [m].
    speed : float
        Of the surface along its normal [m/s].
    facing : float
        Cosine of the angle between the normal and where the wind comes from.
    change : float
        As of ``force_at``.

    Returns
    -------
    tuple of 2 floats
        [N/m^2], [N s/m^3].
    """
    axis = row[AXIS], row[AXIS + 1], row[AXIS + 2]
    arm = point[0] - row[PLACE], point[1] - row[PLACE + 1], point[2] - row[PLACE + 2]
    along = dot(axis, arm)
    distance = _length(_from_source(row, row[KIND], axis, arm, along))
    share = row[WEIGHT] * _share(row, arm, along, distance)
    if not share > 0.0:
        return 0.0, 0.0
    strength, ahead = row[STRENGTH] + change, max(speed, 0.0)
    if row[KIND] == DRAG:
        damping = row[DAMPING] + change
        if ahead == 0.0:
            return 0.0, 0.0
        return share * (damping + strength * ahead) * ahead, share * (damping + 2.0 * strength * ahead)
    pressed = share * strength * max(facing, 0.0) ** 2
    return pressed + share * row[FLOW] * ahead, share * row[FLOW] if ahead > 0.0 else 0.0


@subkernel
def _from_source(row, kind, axis, arm, along):
    """From where the field comes from to a point: from its place, or the nearest point of its line or plane."""
    if row[SHAPE] == POINT:
        return arm
    if kind == VORTEX or row[SHAPE] == LINE:
        return arm[0] - along * axis[0], arm[1] - along * axis[1], arm[2] - along * axis[2]
    return _scaled(along, axis)


@subkernel
def _share(row, arm, along, distance):
    """The falloff at a point ``arm`` from the field's place, ``along`` its axis, 0..1."""
    side, falloff = row[SIDE], row[FALLOFF]
    if side != BOTH and (along < 0.0 if side == POSITIVE else along > 0.0):
        return 0.0
    if falloff == SPHERE:
        return _fallen(distance, row[POWER], row[LEAST], row[MOST])
    share = _fallen(abs(along), row[POWER], row[LEAST], row[MOST])
    if share == 0.0:
        return 0.0
    if falloff == TUBE:
        x, y, z = arm
        across = _length((x - along * row[AXIS], y - along * row[AXIS + 1], z - along * row[AXIS + 2]))
    else:
        length = _length(arm)
        across = 0.0
        if length > 0.0:
            across = math.degrees(math.acos(min(max(along / length, -1.0), 1.0)))
    return share * _fallen(across, row[RADIAL_POWER], row[LEAST_RADIUS], row[MOST_RADIUS])


@subkernel
def _fallen(distance, power, least, most):
    """(1 + r - least)^-power between two distances, 1 within and 0 without."""
    if distance > most:
        return 0.0
    if distance < least or power == 0.0:
        return 1.0
    base = 1.0 + distance - least
    if power == 1.0:
        return 1.0 / base
    if power == 2.0:
        return 1.0 / (base * base)
    return base**-power


@subkernel
def _length(vector):
    return math.sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2])


@subkernel
def _scaled(factor, vector):
    return factor * vector[0], factor * vector[1], factor * vector[2]
