"""What small steps owe to conservation laws: angular momentum, energy, and a bound where something is driven.

Impulses of an island's small steps act where its contacts were at the substep's start, and overlaps are taken out by
velocities that are no part of the motion. These passes over an island's bodies, after its last step, put right what
that has changed. ``given`` is the ``SmallStepInput`` of the steps, ``mean_velocity`` times h the way of the bodies.
"""

import math

from ..compiled.kernel import subkernel
from .linear_algebra.vectors import cross, dot

# What something driven pushes gets no faster than this multiple of its speed: levers and wedges make faster.
RATIO_FASTEST = 2.0


@subkernel
def keep_angular_momentum(rows, islands, island, given, velocity, mean_velocity, h):
    """Turn an island that touches nothing but itself, so that it has the angular momentum that it would have alone.

    Impulses act where contacts were at the start, on bodies that have moved on since, and not along their velocities:
    m (h d) x v is gained. Seen from the island's centre of mass uniform gravity changes nothing.
    """
    first, end, mass_of = islands.body_first[island], islands.body_first[island + 1], rows.body_mass
    total = 0.0
    center = start = going = way = 0.0, 0.0, 0.0
    for index in range(first, end):
        body = islands.body_order[index]
        mass = mass_of[body, 0, 0]
        total += mass
        center = _added(center, mass, given.position[body])
        start = _added(start, mass, given.free_velocity[body])
        going = _added(going, mass, velocity[body])
        way = _added(way, mass * h, mean_velocity[body])
    x, y, z = center[0] / total, center[1] / total, center[2] / total
    # missing: the angular momentum alone less the one there is; inertia of the island as it is then
    missing = 0.0, 0.0, 0.0
    inertia = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for index in range(first, end):
        body = islands.body_order[index]
        mass, place = mass_of[body, 0, 0], given.position[body]
        free, now, moved = given.free_velocity[body], velocity[body], mean_velocity[body]
        arm = place[0] - x, place[1] - y, place[2] - z
        alone = free[0] - start[0] / total, free[1] - start[1] / total, free[2] - start[2] / total
        missing = _added(missing, mass, cross(arm, alone))
        arm = (
            arm[0] + h * moved[0] - way[0] / total,
            arm[1] + h * moved[1] - way[1] / total,
            arm[2] + h * moved[2] - way[2] / total,
        )
        relative = now[0] - going[0] / total, now[1] - going[1] / total, now[2] - going[2] / total
        missing = _added(missing, -mass, cross(arm, relative))
        for axis in range(3):
            change = free[3 + axis] - now[3 + axis]
            column = mass_of[body, 3, 3 + axis], mass_of[body, 4, 3 + axis], mass_of[body, 5, 3 + axis]
            missing = _added(missing, change, column)
        inertia = _with_body(inertia, mass_of[body], arm)
    spin = _turned_by(inertia, missing)
    for index in range(first, end):
        body = islands.body_order[index]
        place, moved = given.position[body], mean_velocity[body]
        arm = (
            place[0] - x + h * moved[0] - way[0] / total,
            place[1] - y + h * moved[1] - way[1] / total,
            place[2] - z + h * moved[2] - way[2] / total,
        )
        turned = cross(spin, arm)
        for axis in range(3):
            velocity[body, axis] += turned[axis]
            velocity[body, 3 + axis] += spin[axis]


@subkernel
def keep_energy(rows, islands, island, given, velocity, mean_velocity, h):
    """Slow what bodies of an island that touches nothing but itself do beside moving together, if that has got energy.

    Sweeps that end before they have converged may give some. Seen from the island's centre of mass uniform gravity
    gives none. Of all motions with the same momenta that of one rigid body has the least energy, and what is beside it
    may be slowed without a change of either.
    """
    first, end, mass_of = islands.body_first[island], islands.body_first[island + 1], rows.body_mass
    total = allowed = has = 0.0
    center = free = going = 0.0, 0.0, 0.0
    for index in range(first, end):
        body = islands.body_order[index]
        mass, at, moved = mass_of[body, 0, 0], given.position[body], mean_velocity[body]
        total += mass
        free, going = _added(free, mass, given.free_velocity[body]), _added(going, mass, velocity[body])
        center = _added(_added(center, mass, at), mass * h, moved)
        for i in range(6):
            for j in range(6):
                allowed += 0.5 * given.free_velocity[body, i] * mass_of[body, i, j] * given.free_velocity[body, j]
                has += 0.5 * velocity[body, i] * mass_of[body, i, j] * velocity[body, j]
    # less what they have together
    allowed -= 0.5 * dot(free, free) / total
    has -= 0.5 * dot(going, going) / total
    if not has > allowed:
        return
    x, y, z = center[0] / total, center[1] / total, center[2] / total
    u, v, w = going[0] / total, going[1] / total, going[2] / total
    momentum = 0.0, 0.0, 0.0
    inertia = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for index in range(first, end):
        body = islands.body_order[index]
        mass, at, moved, now = mass_of[body, 0, 0], given.position[body], mean_velocity[body], velocity[body]
        arm = at[0] + h * moved[0] - x, at[1] + h * moved[1] - y, at[2] + h * moved[2] - z
        momentum = _added(momentum, mass, cross(arm, (now[0] - u, now[1] - v, now[2] - w)))
        for axis in range(3):
            column = mass_of[body, 3, 3 + axis], mass_of[body, 4, 3 + axis], mass_of[body, 5, 3 + axis]
            momentum = _added(momentum, now[3 + axis], column)
        inertia = _with_body(inertia, mass_of[body], arm)
    spin = _turned_by(inertia, momentum)
    together = 0.5 * dot(spin, momentum)
    if not has > together:
        return
    share = math.sqrt(min(max(allowed - together, 0.0) / (has - together), 1.0))
    for index in range(first, end):
        body = islands.body_order[index]
        at, moved, now = given.position[body], mean_velocity[body], velocity[body]
        arm = at[0] + h * moved[0] - x, at[1] + h * moved[1] - y, at[2] + h * moved[2] - z
        turned, going_on = cross(spin, arm), (u, v, w)
        for axis in range(3):
            both = going_on[axis] + turned[axis]
            now[axis] = both + share * (now[axis] - both)
            now[3 + axis] = spin[axis] + share * (now[3 + axis] - spin[axis])


@subkernel
def _with_body(inertia, mass, arm):
    """An inertia (xx, yy, zz, xy, xz, yz) and that of one more body, of this mass matrix at the end of this arm."""
    xx, yy, zz, xy, xz, yz = inertia
    a, b, c = arm
    m = mass[0, 0]
    return (
        xx + (m * (b * b + c * c) + mass[3, 3]),
        yy + (m * (a * a + c * c) + mass[4, 4]),
        zz + (m * (a * a + b * b) + mass[5, 5]),
        xy + (mass[3, 4] - m * a * b),
        xz + (mass[3, 5] - m * a * c),
        yz + (mass[4, 5] - m * b * c),
    )


@subkernel
def _turned_by(inertia, momentum):
    """Angular velocity of an inertia (xx, yy, zz, xy, xz, yz) that has this angular momentum."""
    xx, yy, zz, xy, xz, yz = inertia
    # the adjugate of a symmetric matrix over its determinant
    c00, c01, c02 = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    c11, c12, c22 = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    factor = 1.0 / (xx * c00 + xy * c01 + xz * c02)
    return (
        factor * (c00 * momentum[0] + c01 * momentum[1] + c02 * momentum[2]),
        factor * (c01 * momentum[0] + c11 * momentum[1] + c12 * momentum[2]),
        factor * (c02 * momentum[0] + c12 * momentum[1] + c22 * momentum[2]),
    )


@subkernel
def _added(vector, factor, other):
    """vector + factor other, of three numbers."""
    return vector[0] + factor * other[0], vector[1] + factor * other[1], vector[2] + factor * other[2]


@subkernel
def pay_for_lifts(rows, islands, island, given, velocity, mean_velocity, h):
    """Take from the velocities what energy taking overlaps out has added, as far as they have it.

    The forces' work is p . d with their impulse p = M (v_free - v_start) and the way d. What is left of the change of
    the energy is the contacts' work, which is never above 0.
    """
    kinetic = gained = 0.0
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        for i in range(6):
            for j in range(6):
                mass, forced = rows.body_mass[body, i, j], given.free_velocity[body, j] - given.start_velocity[body, j]
                kinetic += 0.5 * velocity[body, i] * mass * velocity[body, j]
                gained -= 0.5 * given.start_velocity[body, i] * mass * given.start_velocity[body, j]
                gained -= mean_velocity[body, i] * mass * forced
    gained += kinetic
    if not gained > 0.0:
        return
    share = math.sqrt(max(1.0 - gained / kinetic, 0.0)) if kinetic > 0.0 else 0.0
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        for column in range(6):
            velocity[islands.body_order[index], column] *= share


@subkernel
def most_that_drives(rows, islands, island, given, velocity, workspace):
    """What an island that something driven pushes begins with, as ``limit_speeds`` needs it.

    Returns
    -------
    driven : float
        ``RATIO_FASTEST`` times the speed of the fastest driven surface that is touched [m/s].
    energy : float
        The largest kinetic energy that a body has beyond that speed, at the substep's start or without contacts [J].
    bounce : float
        The largest speed of a bounce off something driven [m/s]: such may add up.
    """
    energy = square = bounce = 0.0
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        if block >= given.contact_count[0]:
            continue
        # the own speed of a surface that deforms, which also drags: biases of friction rows are nothing else
        surface, first = workspace.kept_speed[block] ** 2, rows.block_row[block]
        for row in range(first + 1, rows.block_row[block + 1]):
            surface += rows.bias[row] ** 2
        for side in range(2):
            body = rows.body_b[block] if side else rows.body_a[block]
            if rows.body_mass[body, 0, 0] == 0.0:
                for row in range(first, rows.block_row[block + 1]):
                    speed = 0.0
                    for column in range(6):
                        speed += rows.jacobian[row, 6 * side + column] * velocity[body, column]
                    surface += speed * speed
        if surface > 0.0:
            square, bounce = max(square, surface), max(bounce, given.bounce_speed[block])
    square *= RATIO_FASTEST * RATIO_FASTEST
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        mass = rows.body_mass[body]
        has = max(_kinetic_energy(mass, given.start_velocity[body]), _kinetic_energy(mass, given.free_velocity[body]))
        energy = max(energy, has - 0.5 * mass[0, 0] * square)
    return math.sqrt(square), energy, bounce


@subkernel
def limit_speeds(rows, islands, island, velocity, mean_velocity, most, recovery):
    """Slow bodies that something driven pinches.

    What drives is as strong as it needs to be, so between it and what stands still no speed is too large: a row of
    balls that it presses against a wall bends, and the straighter it was the faster it throws one out of it. What
    drives with the speed V therefore makes no body faster than ``RATIO_FASTEST`` V, spin included. What a body has
    beyond that (it fell, or was thrown) it may give to another. Where that is too little, what drives goes into what it
    pinches, and is left by the recovery of overlaps. ``most`` as of ``most_that_drives``; ``recovery`` is the largest
    speed of that [m/s].
    """
    driven, energy, bounce = most
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        mass = rows.body_mass[body]
        fastest = math.sqrt(driven * driven + 2.0 * energy / mass[0, 0]) + bounce
        _limit(mass, velocity[body], fastest)
        _limit(mass, mean_velocity[body], fastest + recovery)


@subkernel
def _limit(mass, velocity, fastest):
    """Let a body have no more energy than if all of it went so fast [m/s]."""
    has, allowed = _kinetic_energy(mass, velocity), 0.5 * mass[0, 0] * fastest * fastest
    if has > allowed:
        share = math.sqrt(allowed / has)
        for column in range(6):
            velocity[column] *= share


@subkernel
def _kinetic_energy(mass, velocity):
    """v' M v / 2 of a body [J]."""
    energy = 0.0
    for i in range(6):
        for j in range(6):
            energy += 0.5 * velocity[i] * mass[i, j] * velocity[j]
    return energy


@subkernel
def speed_taken(islands, island, free_velocity, velocity):
    """The largest change of a body's velocity by impulses [m/s], which stands for the problem's scale."""
    square = 0.0
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body, change = islands.body_order[index], 0.0
        for axis in range(3):
            change += (velocity[body, axis] - free_velocity[body, axis]) ** 2
        square = max(square, change)
    return math.sqrt(square)
