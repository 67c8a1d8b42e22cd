"""Models of friction: the set that holds the friction impulse of a contact, and the projection on it.

With bound = mu * r_normal the two friction impulses lie in
    box          |t1| <= bound, |t2| <= bound                     (two decoupled directions)
    cone         |(t1, t2)| <= bound                              (Coulomb's disc)
    polyhedral   the regular polygon with corners bound * (cos, sin)(2 pi k / K), k = 0 to K - 1
                 (Lloyd 2004, eq. 8; Erleben 2013, eq. 27: t = D lambda, e' lambda <= bound, lambda >= 0)

and the friction impulse of one contact alone, while all others stay: the t in that set with

    -(u + W (t - t_old)) in the normal cone of the set at t,        W the contact's 2 x 2 block,

which for a symmetric W is the one that brakes the slip most.
"""

import math

import numpy as np

from ..compiled.kernel import subkernel
from .rows import BOX_FRICTION, CONE_FRICTION


@subkernel
def project_friction(model, directions, bound, t1, t2):
    """Nearest point to (t1, t2) among the friction impulses that ``bound`` allows.

    Parameters
    ----------
    model : int
        BOX_FRICTION, CONE_FRICTION or POLYHEDRAL_FRICTION.
    directions : int
        Corners of the polygon.
    bound : float
        mu * r_normal, not negative [N s].
    t1, t2 : float
        [N s].

    Returns
    -------
    tuple of (float, float)
    """
    if model == BOX_FRICTION:
        return min(bound, max(-bound, t1)), min(bound, max(-bound, t2))
    length = length_of(t1, t2)
    if model == CONE_FRICTION:
        if length <= bound:
            return t1, t2
        return t1 / length * bound, t2 / length * bound
    # by symmetry the nearest edge is that of the sector which holds the point
    sector = 2.0 * math.pi / directions
    apothem = bound * math.cos(0.5 * sector)
    half_edge = bound * math.sin(0.5 * sector)
    middle = (math.floor(math.atan2(t2, t1) / sector) + 0.5) * sector
    cosine, sine = math.cos(middle), math.sin(middle)
    across = cosine * t1 + sine * t2
    if across <= apothem:
        return t1, t2
    along = min(half_edge, max(-half_edge, cosine * t2 - sine * t1))
    return cosine * apothem - sine * along, sine * apothem + cosine * along


@subkernel
def solve_friction(model, directions, bound, w11, w12, w21, w22, speed_1, speed_2, t1, t2):
    """Friction impulse of a contact at which all others stay.

    Exact in the disc; in the polygon one step of projected gradients.

    Parameters
    ----------
    model : int
        CONE_FRICTION or POLYHEDRAL_FRICTION.
    directions : int
        Corners of the polygon.
    bound : float
        mu * r_normal, not negative [N s].
    w11, w12, w21, w22 : float
        The contact's friction rows in W [1/kg], w11 + w22 above 0.
    speed_1, speed_2 : float
        Slip at (t1, t2) [m/s].
    t1, t2 : float
        Present friction impulse [N s].

    Returns
    -------
    tuple of (float, float)
    """
    if model == CONE_FRICTION:
        return _solve_disc(bound, w11, w12, w21, w22, w11 * t1 + w12 * t2 - speed_1, w21 * t1 + w22 * t2 - speed_2)
    # the largest eigenvalue of the symmetric part: the longest step that never overshoots
    weight = 0.5 * (w11 + w22 + length_of(w11 - w22, w12 + w21))
    return project_friction(model, directions, bound, t1 - speed_1 / weight, t2 - speed_2 / weight)


@subkernel
def visit_friction(model, directions, bound, w11, w12, w21, w22, speed_1, speed_2, t1, t2):
    """What a sweep does to the friction of a contact that pushes: as ``solve_friction``; exact at a solution only.

    Parameters
    ----------
    model, directions, bound, w11, w12, w21, w22, speed_1, speed_2, t1, t2
        As in ``solve_friction``.

    Returns
    -------
    tuple of (float, float)
        [N s]
    """
    if model == CONE_FRICTION:
        return stick_or_slide(bound, w11, w12, w21, w22, speed_1, speed_2, t1, t2)
    return solve_friction(model, directions, bound, w11, w12, w21, w22, speed_1, speed_2, t1, t2)


# Steps of Newton's method on the length of the friction impulse; it gains more than two digits each.
SECULAR_STEPS = 10
_SECULAR_TOLERANCE = 1e-12
# W of two friction rows counts as singular below this share of the product of its diagonal.
SINGULAR = 1e-12
# From this near on, one more step of a sweep's visit gains enough digits.
RATIO_NEAR = 1e-2
# A slip by this many times what friction may take from it is as good as free.
FACTOR_FREE = 1e12


@subkernel
def stick_or_slide(bound, w11, w12, w21, w22, speed_1, speed_2, t1, t2):
    """Friction impulse in the disc at which a sweep arrives, at a contact where all others stay.

    Where the contact sticks this is the solution. Where it slides, the impulse t' opposes the slip,

        W (t' - t) + slip = -s t',   |t'| = bound,

    and s is the root of a function that is nearly linear (``_solve_disc``). At the solution s = |slip| / bound, so the
    present slip tells where to begin. Mostly one step of Newton's method from there does, the last being the first from
    near the circle, to which the impulse is brought back then. A solution stays where it is.

    Parameters
    ----------
    bound : float
        mu * r_normal, above 0 [N s].
    w11, w12, w21, w22, speed_1, speed_2, t1, t2 : float
        As of ``solve_friction``.

    Returns
    -------
    tuple of (float, float)
    """
    wanted_1, wanted_2 = w11 * t1 + w12 * t2 - speed_1, w21 * t1 + w22 * t2 - speed_2
    determinant = w11 * w22 - w12 * w21
    if not determinant > SINGULAR * w11 * w22:
        return _solve_disc(bound, w11, w12, w21, w22, wanted_1, wanted_2)
    inverse = 1.0 / determinant
    new_1, new_2 = (w22 * wanted_1 - w12 * wanted_2) * inverse, (w11 * wanted_2 - w21 * wanted_1) * inverse
    if new_1 * new_1 + new_2 * new_2 <= bound * bound:
        return new_1, new_2
    slip = length_of(speed_1, speed_2)
    if slip >= FACTOR_FREE * bound * (w11 + w22):
        # next to nothing brakes it; s, and the squares below, may be beyond any number
        length = length_of(wanted_1, wanted_2)
        share = bound / length if length > 0.0 else 0.0
        return share * wanted_1, share * wanted_2
    shift = slip / bound
    for _ in range(SECULAR_STEPS):
        a, d = w11 + shift, w22 + shift
        inverse = 1.0 / (a * d - w12 * w21)
        new_1, new_2 = (d * wanted_1 - w12 * wanted_2) * inverse, (a * wanted_2 - w21 * wanted_1) * inverse
        square = new_1 * new_1 + new_2 * new_2
        turned_1, turned_2 = (d * new_1 - w12 * new_2) * inverse, (a * new_2 - w21 * new_1) * inverse
        excess = math.sqrt(square) / bound - 1.0
        shift = max(0.0, shift + excess * square / (new_1 * turned_1 + new_2 * turned_2))
        if abs(excess) <= RATIO_NEAR:
            break
    new_1, new_2 = (w22 + shift) * wanted_1 - w12 * wanted_2, (w11 + shift) * wanted_2 - w21 * wanted_1
    share = bound / length_of(new_1, new_2)
    return share * new_1, share * new_2


@subkernel
def _solve_disc(bound, w11, w12, w21, w22, wanted_1, wanted_2):
    """The t with W t + s t = wanted, s >= 0, |t| <= bound, s (bound - |t|) = 0.

    s is the root of 1 / |t(s)| = 1 / bound, by Newton's method, which is nearly linear in s (as in trust regions) and
    comes from the left; it starts where the largest singular value alone would brake.
    """
    if bound <= 0.0:
        return 0.0, 0.0
    determinant = w11 * w22 - w12 * w21
    if determinant > SINGULAR * w11 * w22:
        # mostly it sticks, s = 0
        t1, t2 = (w22 * wanted_1 - w12 * wanted_2) / determinant, (w11 * wanted_2 - w21 * wanted_1) / determinant
        if t1 * t1 + t2 * t2 <= bound * bound:
            return t1, t2
    # largest singular value of W
    largest = 0.5 * (length_of(w11 + w22, w21 - w12) + length_of(w11 - w22, w12 + w21))
    least = max(0.0, length_of(wanted_1, wanted_2) / bound - largest)
    if (w11 + least) * (w22 + least) - w12 * w21 <= SINGULAR * (w11 + least) * (w22 + least):
        least += SINGULAR * largest
    shift = least
    t1, t2 = 0.0, 0.0
    for _ in range(SECULAR_STEPS):
        a, d = w11 + shift, w22 + shift
        inverse = 1.0 / (a * d - w12 * w21)
        t1, t2 = (d * wanted_1 - w12 * wanted_2) * inverse, (a * wanted_2 - w21 * wanted_1) * inverse
        length = length_of(t1, t2)
        if abs(length - bound) <= _SECULAR_TOLERANCE * bound or (length < bound and shift == least):
            break
        # d|t|/ds = -t' (W + s)^-1 t / |t|
        turned_1, turned_2 = (d * t1 - w12 * t2) * inverse, (a * t2 - w21 * t1) * inverse
        shift = max(least, shift + (length / bound - 1.0) * length * length / (t1 * turned_1 + t2 * turned_2))
    # Not plain numbers: Numba would compile it once more, for the literals.
    return project_friction(np.int64(CONE_FRICTION), np.int64(0), bound, t1, t2)


@subkernel
def length_of(x, y):
    """Length of (x, y); ``math.hypot``, which is safe for the largest and smallest numbers, takes ten times as long."""
    return math.sqrt(x * x + y * y)
