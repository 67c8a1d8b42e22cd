"""What nothing holds keeps its momentum and its angular momentum, and has no more energy than it may have.

Of all motions of an island's bodies with the momentum P and the angular momentum L about the centre of mass, the one in
which they move as one rigid body has the least energy: V = P / m, Omega = I^-1 L. What is left of the motion is
orthogonal to it in the metric of the masses,

    T(v) = T(V, Omega) + T(v - (V, Omega))

so where impulses made energy, what is left is scaled until T is what is allowed, and P and L stay to rounding. All of
it is at the poses of the substep's end, which the spins' momenta, kept, lead to. Bodies that were pulled together may
have more energy than allowed even as one rigid body: then that is slowed, and L goes with it.
"""

import math

from ...compiled.kernel import subkernel
from ...geometry.rotation_kernels import rotate, rotate_back
from .integration import free_orientations


@subkernel
def bound_free_energy(model, state, motion, islands, island, h, allowed):
    """Scale the velocities of an island that nothing holds so that it has the energy that is allowed, if it has more.

    Parameters
    ----------
    model, islands, island
        Read.
    state : StateArrays
        Read; velocity written.
    motion : MotionArrays
        Read: position_velocity.
    h : float
        [s].
    allowed : float
        Kinetic energy at the substep's end [J].
    """
    first, last = islands.body_first[island], islands.body_first[island + 1]
    mass = 0.0
    x0 = x1 = x2 = v0 = v1 = v2 = 0.0
    for place in range(first, last):
        body = islands.body_order[place]
        m, at, way, own = model.mass[body], state.position[body], motion.position_velocity[body], state.velocity[body]
        mass += m
        x0, x1, x2 = x0 + m * (at[0] + h * way[0]), x1 + m * (at[1] + h * way[1]), x2 + m * (at[2] + h * way[2])
        v0, v1, v2 = v0 + m * own[0], v1 + m * own[1], v2 + m * own[2]
    center, drift = (x0 / mass, x1 / mass, x2 / mass), (v0 / mass, v1 / mass, v2 / mass)
    # about the centre of mass: energy, angular momentum, moments of inertia
    has = l0 = l1 = l2 = a = b = c = d = e = f = 0.0
    for place in range(first, last):
        body = islands.body_order[place]
        m, r, u = model.mass[body], _arm(state, motion, body, center, h), _relative(state, body, drift)
        _, after = free_orientations(state.orientation[body], motion.position_velocity[body], model.inertia[body], h)
        momentum = _spin_momentum(model, state, body)
        spin = _spin_of(model, body, after, momentum)
        has += 0.5 * (m * _dot(u, u) + _dot(momentum, spin))
        swept = _cross(r, u)
        l0, l1, l2 = l0 + m * swept[0] + momentum[0], l1 + m * swept[1] + momentum[1], l2 + m * swept[2] + momentum[2]
        j0, j1, j2, j3, j4, j5 = _inertia(model, body, after)
        square = m * _dot(r, r)
        a, b, c = a + j0 + square - m * r[0] * r[0], b + j1 - m * r[0] * r[1], c + j2 - m * r[0] * r[2]
        d, e, f = d + j3 + square - m * r[1] * r[1], e + j4 - m * r[1] * r[2], f + j5 + square - m * r[2] * r[2]
    allowed -= 0.5 * mass * _dot(drift, drift)
    if not has > allowed:  # what is no number is held elsewhere, and takes no other body with it
        return
    omega = _solve_symmetric(a, b, c, d, e, f, (l0, l1, l2))
    whole = 0.5 * (omega[0] * l0 + omega[1] * l1 + omega[2] * l2)
    slower = share = 0.0
    if allowed > 0.0:
        slower = math.sqrt(min(1.0, allowed / whole)) if whole > 0.0 else 1.0
        share = math.sqrt((allowed - whole) / (has - whole)) if allowed > whole else 0.0
    for place in range(first, last):
        body = islands.body_order[place]
        r, u, own = _arm(state, motion, body, center, h), _relative(state, body, drift), state.velocity[body]
        before, after = free_orientations(
            state.orientation[body], motion.position_velocity[body], model.inertia[body], h
        )
        swept, momentum = _cross(omega, r), _spin_momentum(model, state, body)
        turned = _spin_momentum_of(model, body, after, omega)
        spin = _spin_of(model, body, before, _mixed(turned, momentum, slower, share))
        moved = _mixed(swept, u, slower, share)
        for axis in range(3):
            own[axis], own[3 + axis] = drift[axis] + moved[axis], spin[axis]


@subkernel
def energy_at_end(model, state, motion, islands, island, h):
    """Kinetic energy of an island's bodies where the substep ends, at constant angular momentum [J].

    Parameters
    ----------
    model, state, islands, island, h
        Read.
    motion : MotionArrays
        Read: position_velocity.
    """
    energy = 0.0
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        _, after = free_orientations(state.orientation[body], motion.position_velocity[body], model.inertia[body], h)
        momentum, own = _spin_momentum(model, state, body), _relative(state, body, (0.0, 0.0, 0.0))
        energy += 0.5 * (model.mass[body] * _dot(own, own) + _dot(momentum, _spin_of(model, body, after, momentum)))
    return energy


@subkernel
def _mixed(whole, own, slower, share):
    """A share of what is not the motion of the whole, and that."""
    return (
        slower * whole[0] + share * (own[0] - whole[0]),
        slower * whole[1] + share * (own[1] - whole[1]),
        slower * whole[2] + share * (own[2] - whole[2]),
    )


@subkernel
def _arm(state, motion, body, center, h):
    """From the centre of mass to a body at the substep's end [m]."""
    at, way = state.position[body], motion.position_velocity[body]
    return at[0] + h * way[0] - center[0], at[1] + h * way[1] - center[1], at[2] + h * way[2] - center[2]


@subkernel
def _relative(state, body, drift):
    own = state.velocity[body]
    return own[0] - drift[0], own[1] - drift[1], own[2] - drift[2]


@subkernel
def _spin_momentum(model, state, body):
    """Angular momentum of a body about its centre, with the orientation that its velocity belongs to."""
    own, at = state.velocity[body], state.orientation[body]
    return _spin_momentum_of(model, body, (at[0], at[1], at[2], at[3]), (own[3], own[4], own[5]))


@subkernel
def _spin_momentum_of(model, body, orientation, omega):
    w, x, y, z = orientation
    inertia = model.inertia[body]
    s0, s1, s2 = rotate_back(w, x, y, z, omega[0], omega[1], omega[2])
    return rotate(w, x, y, z, inertia[0] * s0, inertia[1] * s1, inertia[2] * s2)


@subkernel
def _spin_of(model, body, orientation, momentum):
    w, x, y, z = orientation
    inertia = model.inertia[body]
    s0, s1, s2 = rotate_back(w, x, y, z, momentum[0], momentum[1], momentum[2])
    return rotate(w, x, y, z, s0 / inertia[0], s1 / inertia[1], s2 / inertia[2])


@subkernel
def _inertia(model, body, orientation):
    """xx, xy, xz, yy, yz, zz in world axes."""
    x = _spin_momentum_of(model, body, orientation, (1.0, 0.0, 0.0))
    y = _spin_momentum_of(model, body, orientation, (0.0, 1.0, 0.0))
    z = _spin_momentum_of(model, body, orientation, (0.0, 0.0, 1.0))
    return x[0], x[1], x[2], y[1], y[2], z[2]


@subkernel
def _solve_symmetric(a, b, c, d, e, f, right):
    """x of [[a, b, c], [b, d, e], [c, e, f]] x = right, for a positive matrix, by Cholesky's factors."""
    l00 = math.sqrt(a)
    l10, l20 = b / l00, c / l00
    l11 = math.sqrt(d - l10 * l10)
    l21 = (e - l20 * l10) / l11
    l22 = math.sqrt(f - l20 * l20 - l21 * l21)
    y0 = right[0] / l00
    y1 = (right[1] - l10 * y0) / l11
    y2 = (right[2] - l20 * y0 - l21 * y1) / l22
    z = y2 / l22
    y = (y1 - l21 * z) / l11
    return (y0 - l10 * y - l20 * z) / l00, y, z


@subkernel
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@subkernel
def _cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
