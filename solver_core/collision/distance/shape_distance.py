"""Distance of two convex shapes, depth of a point in one, and the constants of time of impact on such distances."""

from ...compiled.kernel import subkernel
from ..data.workspace import CAPSULE, SPHERE, has_axis
from .closest_points import closest_points
from .round_separation import closest_cores
from .round_support import depth_inside, rounding

# Pairs that may come closer in a substep by more than this share of the smaller one's size are followed. In slower ones
# a plane taken at the start is off by no more than that.
RATIO_FAST = 0.25

# Steps of following a pair. Bodies that turn and nearly graze each other may need more; they count as meeting then.
MOST_STEPS = 40

# What searches for a time of impact return for shapes that pass each other.
NO_IMPACT = -1.0


@subkernel
def shape_distance(polytopes, a, b, x, y, z, reach, touching, scratch):
    """Distance of two convex shapes.

    Parameters
    ----------
    polytopes : HullArrays
        (read)
    a, b : PairShape
        (read)
    x, y, z : float
        As of ``closest_points``.
    reach : float
        Distances above it need not be exact [m].
    touching : float
        Distances of the cores below it count as none [m].
    scratch : PairScratch
        Relative pose and a sheet's side (read); closest points of the cores, and the direction (written if the cores
        are apart).

    Returns
    -------
    float
        [m]; not above 0 where they overlap.
    """
    radii = rounding(a) + rounding(b)
    if has_axis(a.kind) or has_axis(b.kind):
        distance = closest_cores(polytopes, a, b, x, y, z, reach + radii, touching, scratch)
    else:
        distance = closest_points(polytopes, a.polytope, b.polytope, x, y, z, reach + radii, touching, scratch)
    return distance - radii


@subkernel
def depth_of_point(polytopes, shape, x, y, z):
    """Distance of a point in a shape from its surface, not above 0 outside; own frame [m]."""
    if shape.kind in (SPHERE, CAPSULE):
        beyond = max(abs(z) - (shape.parameters[1] if shape.kind == CAPSULE else 0.0), 0.0)
        return shape.parameters[0] - (x * x + y * y + beyond * beyond) ** 0.5
    return depth_inside(polytopes, shape, 0.0, 0.0, 0.0, x, y, z)
