"""Signed distance of a point from a capsule, cylinder or cone: in the plane through its axis and the point.

That of a segment is the least one of its points. The distance from a convex shape is a convex function of a point that
runs along a line, so half its square has a slope that grows, and what is nearest is its zero.
"""

from ...compiled.kernel import subkernel
from ..data.workspace import CAPSULE, CYLINDER

# Doubles hold a coordinate to this share.
RATIO_ROUNDING = 2.0**-53

# The place on a segment is found where the direction is across it to this cosine, and no other place is nearer by more
# than this share of the shape's size.
COSINE_ACROSS = 1e-7
RATIO_NEAREST = 1e-14

# The first step from where the zero of a slope is guessed, as a share of the segment, and how much longer each step is
# than the one before it until the zero lies between two of them.
FIRST_STEP = 2.0**-20
FACTOR_STEP = 16.0

# Three trials halve the range in which the zero is: enough for all bits of a double. Half of all cases take 16.
MOST_TRIALS = 160


@subkernel
def round_and_point(kind, parameters, point, touching, on_shape, on_point, direction):
    """Signed distance of a point from a round shape, in the shape's frame; the shape is a, the point b.

    Parameters
    ----------
    kind : int
        CAPSULE, CYLINDER or CONE.
    parameters : float64 [3]
        (read)
    point : float64 [3]
        (read)
    touching : float
        Distances below it count as none, and the way out of the shape is taken [m].
    on_shape, on_point, direction : float64 [3]
        Closest points and the direction from the shape to the point (written).

    Returns
    -------
    float
        [m]
    """
    x, y, z = point[0], point[1], point[2]
    across = (x * x + y * y) ** 0.5
    # The direction off the axis; on it any will do.
    u, v = 1.0, 0.0
    if across > 0.0:
        u, v = x / across, y / across
    if kind == CAPSULE:
        held = min(max(z, -parameters[1]), parameters[1])
        distance, p, q = from_corner(across, z, 0.0, held, touching, 1.0, 0.0)
        distance -= parameters[0]
    elif kind == CYLINDER:
        distance, p, q = from_rectangle(across, z, parameters[0], parameters[1], touching)
    else:
        distance, p, q = from_triangle(across, z, parameters[0], parameters[1], touching)
    direction[0], direction[1], direction[2] = u * p, v * p, q
    on_point[0], on_point[1], on_point[2] = x, y, z
    for i in range(3):
        on_shape[i] = on_point[i] - distance * direction[i]
    return distance


@subkernel
def from_corner(across, z, corner_across, corner_z, touching, p, q):
    """Distance and direction of (across, z) from a point; the direction (p, q) where they meet."""
    dp, dq = across - corner_across, z - corner_z
    distance = (dp * dp + dq * dq) ** 0.5
    if distance <= touching:
        return distance, p, q
    return distance, dp / distance, dq / distance


@subkernel
def from_rectangle(across, z, radius, half, touching):
    """Signed distance and direction from the half section of a cylinder."""
    beyond, above = across - radius, abs(z) - half
    up = 1.0 if z >= 0.0 else -1.0
    if beyond > 0.0 and above > 0.0:
        distance, p, q = from_corner(beyond, above, 0.0, 0.0, touching, 1.0, 0.0)
        return distance, p, q * up
    if above > beyond:
        return above, 0.0, up
    return beyond, 1.0, 0.0


@subkernel
def from_triangle(across, z, radius, half, touching):
    """Signed distance and direction from the half section of a cone.

    Its slanted side, from the rim to the apex, has the outward normal (H, r) / sqrt(H^2 + r^2) with H = 2 half.
    """
    height = 2.0 * half
    slope = (height * height + radius * radius) ** 0.5
    side_p, side_q = height / slope, radius / slope
    below = -z - half
    side = side_p * across + side_q * (z - half)
    if below <= 0.0 and side <= 0.0:
        if below > side:
            return below, 0.0, -1.0
        return side, side_p, side_q
    # How far along the side, from the apex down to the rim.
    along = side_q * across - side_p * (z - half)
    if side > 0.0 and 0.0 <= along <= slope:
        return side, side_p, side_q
    if side > 0.0 and along < 0.0:
        return from_corner(across, z, 0.0, half, touching, side_p, side_q)
    if across <= radius:
        return below, 0.0, -1.0
    return from_corner(across, z, radius, -half, touching, side_p, side_q)


@subkernel
def nearest_on_segment(kind, parameters, tail, x, y, z, guess, memory):
    """Where a segment apart from a cylinder or cone is nearest to it, in the shape's frame.

    By the rule of false position, an end's slope halved where it stays (Illinois); by where the tangents meet, for the
    slope jumps where a cap ends; and by halves where both are slow. An iteration with support points knows the place to
    the cube root of what doubles tell of the segment: chords get too short for normals before they lie on the curve.

    Parameters
    ----------
    kind, parameters
        As of ``round_and_point``.
    tail : float64 [3]
        Its start (read).
    x, y, z : float
        From there to its end [m].
    guess : float
        A share of it, near the answer.
    memory : float64 [4, >= 3]
        Closest points and the direction, as ``round_and_point`` writes them, then the segment's point (written).

    Returns
    -------
    float
        Distance [m]; 0 or less if they are not apart.
    """
    on_shape, on_segment, direction, point = memory[0], memory[1], memory[2], memory[3]
    length = (x * x + y * y + z * z) ** 0.5
    noise = RATIO_ROUNDING * length * (length + (tail[0] ** 2 + tail[1] ** 2 + tail[2] ** 2) ** 0.5)
    allowed = RATIO_NEAREST * (parameters[0] + parameters[1])
    low, high, moment_low, moment_high = 0.0, 1.0, 0.0, 0.0
    slope_low, slope_high, base_low, base_high = 0.0, 0.0, 0.0, 0.0
    share, step, last, width, distance = min(max(guess, 0.0), 1.0), FIRST_STEP, 0, 1.0, 0.0
    for trial in range(MOST_TRIALS):
        point[0], point[1], point[2] = tail[0] + share * x, tail[1] + share * y, tail[2] + share * z
        distance = round_and_point(kind, parameters, point, 0.0, on_shape, on_segment, direction)
        slope = direction[0] * x + direction[1] * y + direction[2] * z
        moment = distance * slope
        if abs(moment) <= noise or (share == 0.0 and slope > 0.0) or (share == 1.0 and slope < 0.0):
            break
        # The distance lies over its tangent.
        if abs(slope) <= COSINE_ACROSS * length and abs(slope) * (high - low) <= allowed:
            break
        if slope < 0.0:
            low, slope_low, base_low, moment_low = share, slope, distance - slope * share, moment
            moment_high *= 0.5 if last < 0 else 1.0
            last = -1
        else:
            high, slope_high, base_high, moment_high = share, slope, distance - slope * share, moment
            moment_low *= 0.5 if last > 0 else 1.0
            last = 1
        if slope_low == 0.0 or slope_high == 0.0:
            share = min(max(share - last * step, 0.0), 1.0)
            step *= FACTOR_STEP
            continue
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        if trial % 3 == 0:
            share = (base_low - base_high) / (slope_high - slope_low)
        else:
            share = low - moment_low * (high - low) / (moment_high - moment_low)
        if trial % 3 == 1:
            share = middle if high - low > 0.5 * width else share
            width = high - low
        if not low < share < high:
            share = middle
    return distance
