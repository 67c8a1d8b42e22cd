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

# By how much a shape that is followed is smaller than it is (share of its size): what counts as touching in rows,
# ``contact_rows.RATIO_TOUCHING``, by which a body may be off its place.
RATIO_LOSS = 1e-5
# ... but no more than this share of the smaller shape's size: what is small feels what is uneven by more.
RATIO_MOST_LOSS = 1e-3

# Contacts stop nothing where the bodies come nearer by less than this share of the smaller size in a substep.
RATIO_STOPS = 1e-6
# Two normals whose cosine differs from 1 by less than this are one: within a milliradian.
RATIO_SAME_NORMAL = 5e-7

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
        Relative pose, scales and a sheet's side (read); closest points of the cores, and the direction (written if
        the cores are apart).

    Returns
    -------
    float
        [m]; not above 0 where they overlap.
    """
    radii = rounding(a) + rounding(b) - scratch.worn[0]
    if has_axis(a.kind) or has_axis(b.kind):
        distance = closest_cores(polytopes, a, b, x, y, z, reach + radii, touching, scratch)
    else:
        distance = closest_points(polytopes, a.polytope, b.polytope, x, y, z, reach + radii, touching, scratch)
    return distance - radii


@subkernel
def loss_of(size, moves, pair_size):
    """By how much a shape of a size is smaller where it is followed; what stands is where it is to rounding [m]."""
    return min(RATIO_LOSS * (size if moves else pair_size), RATIO_MOST_LOSS * pair_size)


@subkernel
def wear(polytopes, shape, loss, scale):
    """Write the scale that makes a core smaller by ``loss`` [m]; return what the radius around it loses [m].

    Along each axis of its frame both ends come in by that length. A sheet has none to lose across itself.
    """
    parameters, bounds = shape.parameters, polytopes.bounds[shape.polytope]
    is_rounding = shape.kind == SPHERE or shape.kind == CAPSULE
    for i in range(3):
        half = 0.5 * (bounds[1, i] - bounds[0, i])
        if has_axis(shape.kind):
            half = parameters[1] if i == 2 else parameters[0]
        scale[i] = max(1.0 - loss / half, 0.0) if half > 0.0 and not is_rounding else 1.0
    return min(loss, parameters[0]) if is_rounding else 0.0


@subkernel
def lost_along(shape, loss, x, y, z):
    """By how much less far a smaller shape reaches in a direction of its frame, where it loses most of it [m]."""
    if shape.kind == SPHERE or shape.kind == CAPSULE:
        return min(loss, shape.parameters[0])
    if has_axis(shape.kind):
        return loss * ((x * x + y * y) ** 0.5 + abs(z))
    return loss * (abs(x) + abs(y) + abs(z))


@subkernel
def restore_shapes(scratch):
    """Let distances take both shapes for what they are."""
    scratch.worn[0] = 0.0
    for i in range(3):
        scratch.scale_a[i] = scratch.scale_b[i] = 1.0


@subkernel
def horizon_of(fall, travel):
    """Up to which fraction of the substep bodies are followed: what gravity adds may lead them a little farther.

    ``fall`` is what it may add to a motion by ``travel`` [m].
    """
    return 1.0 + min(1.0, fall / travel) if travel > 0.0 else 1.0


@subkernel
def depth_of_point(polytopes, shape, x, y, z):
    """Distance of a point in a shape from its surface, not above 0 outside; own frame [m]."""
    if shape.kind in (SPHERE, CAPSULE):
        beyond = max(abs(z) - (shape.parameters[1] if shape.kind == CAPSULE else 0.0), 0.0)
        return shape.parameters[0] - (x * x + y * y + beyond * beyond) ** 0.5
    return depth_inside(polytopes, shape, 0.0, 0.0, 0.0, x, y, z)
