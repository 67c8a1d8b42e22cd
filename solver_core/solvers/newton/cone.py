"""Coulomb's law for a contact's whole impulse (normal, tangent, tangent): as a projection on a cone, and as it stands.

Friction in the disc (cone):      K = {r : |r_t| <= mu r_n}
friction row by row (box):        K = {r : |r_1| <= mu r_n, |r_2| <= mu r_n}

Both are convex cones whose bounds follow the normal impulse inside the projection. A contact with velocity u obeys the
law of friction exactly where (De Saxce and Feng 1998 for the disc; the same lines hold with the 1-norm for the box)

    r in K,    u + s n in K*,    r . (u + s n) = 0,       s = mu |u_t|   (cone)     s = mu (|u_1| + |u_2|)   (box)

Projection on the cone of z, with t = |z_t| and e = z_t / t:

    t <= mu z_n        p = z                                     D = I
    mu t <= -z_n       p = 0                                     D = 0
    else               p_n = (z_n + mu t) / (1 + mu^2)           D = w w' / (1 + mu^2) + (mu p_n / t) f f'
                       p_t = mu p_n e                            w = (1, mu e),  f normal to e in the plane

and on the box's cone with A = {k : |z_k| > mu p_n}, sigma_k = sign z_k:

    p_n = max(0, (z_n + mu sum_A |z_k|) / (1 + mu^2 |A|)),   p_k = mu p_n sigma_k in A, z_k elsewhere
    D = w w' / w'w + (identity on the tangents not in A),    w = (1, mu sigma_k in A),        D = 0 where p_n = 0.

D is symmetric and positive semidefinite, an element of the generalised derivative. At the apex z = 0 it is that of a
contact that sticks: a stack that is let go begins with all its inner contacts there, and they will bear. With mu = 0
both cones are half-lines.

The law as it stands (Alart and Curnier 1991) needs no shift, and is the gradient of nothing:

    p_n = max(0, z_n),    p_t = nearest to z_t among the friction impulses that mu p_n allows

    z_n < 0            p = 0                                     D = 0
    t <= mu z_n        p = z                                     D = I
    else (cone)        p_t = mu p_n e                            D_nn = 1, D_tn = mu e, D_tt = (mu p_n / t) f f'
    else (box)         p_k = mu p_n sigma_k in A                 D_nn = 1, D_kn = mu sigma_k in A, D_kk = 1 elsewhere
"""

import math

import numpy as np

from ...compiled.kernel import kernel, subkernel
from ...problem.friction import project_friction
from ...problem.rows import BOX_FRICTION


@subkernel
def project_impulse_on_cone(model, mu, z0, z1, z2):
    """Nearest point of K.

    Parameters
    ----------
    model : int
        BOX_FRICTION, else the cone.
    mu : float
    z0, z1, z2 : float
        Normal, tangent, tangent [N s].

    Returns
    -------
    tuple of three floats
    """
    if model == BOX_FRICTION:
        return _project_on_box_cone(mu, z0, z1, z2)
    t = math.sqrt(z1 * z1 + z2 * z2)
    if z0 >= 0.0 and t <= mu * z0:
        return z0, z1, z2
    if mu * t <= -z0:
        return 0.0, 0.0, 0.0
    p0 = (z0 + mu * t) / (1.0 + mu * mu)
    factor = mu * p0 / t if t > 0.0 else 0.0
    return p0, factor * z1, factor * z2


@subkernel
def _project_on_box_cone(mu, z0, z1, z2):
    p0 = _box_cone_normal(mu, z0, max(abs(z1), abs(z2)), min(abs(z1), abs(z2)))
    bound = mu * p0
    return p0, min(bound, max(-bound, z1)), min(bound, max(-bound, z2))


@subkernel
def _box_cone_normal(mu, z0, larger, smaller):
    """Normal part of the projection: tries no, one and two tangents at their bounds."""
    if z0 >= 0.0 and larger <= mu * z0:
        return z0
    p0 = (z0 + mu * larger) / (1.0 + mu * mu)
    if smaller > mu * p0:
        p0 = (z0 + mu * (larger + smaller)) / (1.0 + 2.0 * mu * mu)
    return max(p0, 0.0)


@subkernel
def fill_cone_derivative(model, mu, z0, z1, z2, factor, derivative, row):
    """Store ``factor`` times D at z in derivative[row : row + 3, 0 : 3].

    Parameters
    ----------
    model : int
        BOX_FRICTION, else the cone.
    mu : float
    z0, z1, z2 : float
        [N s]
    factor : float
    derivative : float64 [row_capacity, 3]
        Written.
    row : int
    """
    if model == BOX_FRICTION:
        _fill_box_cone_derivative(mu, z0, z1, z2, factor, derivative, row)
        return
    t = math.sqrt(z1 * z1 + z2 * z2)
    if z0 >= 0.0 and mu == 0.0:
        _fill(derivative, row, factor, 0.0, 0.0, 0.0, 0.0, 0.0)
    elif z0 >= 0.0 and t <= mu * z0:
        _fill(derivative, row, factor, 0.0, 0.0, factor, 0.0, factor)
    elif mu * t <= -z0:
        _fill(derivative, row, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    else:
        # t > 0 here: t = 0 is inside the cone or its polar
        e1, e2 = z1 / t, z2 / t
        along = factor / (1.0 + mu * mu)
        across = factor * mu * (z0 + mu * t) / ((1.0 + mu * mu) * t)
        d11 = along * mu * mu * e1 * e1 + across * e2 * e2
        d12 = (along * mu * mu - across) * e1 * e2
        d22 = along * mu * mu * e2 * e2 + across * e1 * e1
        _fill(derivative, row, along, along * mu * e1, along * mu * e2, d11, d12, d22)


@subkernel
def _fill_box_cone_derivative(mu, z0, z1, z2, factor, derivative, row):
    larger = max(abs(z1), abs(z2))
    p0 = _box_cone_normal(mu, z0, larger, min(abs(z1), abs(z2)))
    if p0 == 0.0 and (z0 < 0.0 or larger > 0.0):
        _fill(derivative, row, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        return
    bound = mu * p0
    bound_1, bound_2 = abs(z1) > bound or mu == 0.0, abs(z2) > bound or mu == 0.0
    w1 = math.copysign(mu, z1) if bound_1 else 0.0
    w2 = math.copysign(mu, z2) if bound_2 else 0.0
    along = factor / (1.0 + w1 * w1 + w2 * w2)
    d11 = along * w1 * w1 if bound_1 else factor
    d22 = along * w2 * w2 if bound_2 else factor
    _fill(derivative, row, along, along * w1, along * w2, d11, along * w1 * w2, d22)


@subkernel
def _fill(derivative, row, d00, d01, d02, d11, d12, d22):
    derivative[row, 0], derivative[row, 1], derivative[row, 2] = d00, d01, d02
    derivative[row + 1, 0], derivative[row + 1, 1], derivative[row + 1, 2] = d01, d11, d12
    derivative[row + 2, 0], derivative[row + 2, 1], derivative[row + 2, 2] = d02, d12, d22


@subkernel
def project_by_coulomb(model, mu, z0, z1, z2):
    """The law as it stands, applied to z; arguments as of ``project_impulse_on_cone``."""
    p0 = max(z0, 0.0)
    p1, p2 = project_friction(model, np.int64(0), mu * p0, z1, z2)
    return p0, p1, p2


@subkernel
def fill_coulomb_derivative(model, mu, z0, z1, z2, factor, derivative, row):
    """Store ``factor`` times the derivative of ``project_by_coulomb``; returns whether friction is at its bound.

    Parameters
    ----------
    model, mu, z0, z1, z2, factor, derivative, row
        As in ``fill_cone_derivative``.
    """
    if z0 < 0.0:
        _fill(derivative, row, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        return False
    bound = mu * z0
    along_1, along_2 = 0.0, 0.0
    if model == BOX_FRICTION:
        bound_1, bound_2 = abs(z1) > bound or mu == 0.0, abs(z2) > bound or mu == 0.0
        along_1 = math.copysign(factor * mu, z1) if bound_1 else 0.0
        along_2 = math.copysign(factor * mu, z2) if bound_2 else 0.0
        _fill(derivative, row, factor, 0.0, 0.0, 0.0 if bound_1 else factor, 0.0, 0.0 if bound_2 else factor)
        slides = bound_1 or bound_2
    else:
        t = math.sqrt(z1 * z1 + z2 * z2)
        slides = t > bound or mu == 0.0
        if not slides:
            _fill(derivative, row, factor, 0.0, 0.0, factor, 0.0, factor)
        elif t > 0.0:
            e1, e2 = z1 / t, z2 / t
            along_1, along_2 = factor * mu * e1, factor * mu * e2
            across = factor * bound / t
            _fill(derivative, row, factor, 0.0, 0.0, across * e2 * e2, -across * e1 * e2, across * e1 * e1)
        else:
            _fill(derivative, row, factor, 0.0, 0.0, 0.0, 0.0, 0.0)
    derivative[row + 1, 0], derivative[row + 2, 0] = along_1, along_2
    return slides


@subkernel
def shift_of_slip(model, mu, u1, u2):
    """De Saxce's shift s of the normal velocity [m/s].

    Parameters
    ----------
    model : int
        BOX_FRICTION, else the cone.
    mu : float
    u1, u2 : float
        Slip [m/s].
    """
    if model == BOX_FRICTION:
        return mu * (abs(u1) + abs(u2))
    return mu * math.sqrt(u1 * u1 + u2 * u2)


@kernel
def project_contacts(model, associated, mu, z, projected, derivative):
    """Project one triple a contact.

    Parameters
    ----------
    model : int
        BOX_FRICTION, else the cone.
    associated : bool
        On the cone; else by the law as it stands.
    mu : float64 [contacts]
        Read.
    z : float64 [3 contacts]
        Read [N s].
    projected : float64 [3 contacts]
        Written.
    derivative : float64 [3 contacts, 3]
        Written: D, three rows a contact.
    """
    for contact in range(mu.size):
        row = 3 * contact
        z0, z1, z2 = z[row], z[row + 1], z[row + 2]
        if associated:
            p0, p1, p2 = project_impulse_on_cone(model, mu[contact], z0, z1, z2)
            fill_cone_derivative(model, mu[contact], z0, z1, z2, 1.0, derivative, row)
        else:
            p0, p1, p2 = project_by_coulomb(model, mu[contact], z0, z1, z2)
            fill_coulomb_derivative(model, mu[contact], z0, z1, z2, 1.0, derivative, row)
        projected[row], projected[row + 1], projected[row + 2] = p0, p1, p2
