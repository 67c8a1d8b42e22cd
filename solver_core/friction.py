"""Models of friction: the set that holds the friction impulse of a contact, and the projection on it.

With bound = mu * r_normal the two friction impulses lie in
    box          |t1| <= bound, |t2| <= bound                     (two decoupled directions)
    cone         |(t1, t2)| <= bound                              (Coulomb's disc)
    polyhedral   the regular polygon with corners bound * (cos, sin)(2 pi k / K), k = 0 to K - 1
                 (Lloyd 2004, eq. 8; Erleben 2013, eq. 27: t = D lambda, e' lambda <= bound, lambda >= 0)
"""

import math

from .kernel import subkernel
from .rows import BOX, CONE


@subkernel
def project_friction(model, directions, bound, t1, t2):
    """Nearest point to (t1, t2) among the friction impulses that ``bound`` allows.

    Parameters
    ----------
    model : int
        BOX, CONE or POLYHEDRAL.
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
    if model == BOX:
        return min(bound, max(-bound, t1)), min(bound, max(-bound, t2))
    length = math.hypot(t1, t2)
    if model == CONE:
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
