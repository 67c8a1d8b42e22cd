"""On which side of a sheet a body belongs: a sheet has no inside, so the least way out may lead to either.

It is the side on which the body's centre is. But a body that lies on a face of the sheet stays on that side while its
centre is hardly beyond: a thin plate that others press down must not come out below. And a body that starts astride,
with its centre about in the sheet, belongs clearly on neither side: it is taken out against gravity, unless the sheet
stands upright.
"""

from ...compiled.kernel import subkernel
from ..data.workspace import FACES, POSITION
from .closest_points import into_frame
from .round_support import rounding, support_point

# A body that lay on a sheet stays on its side while its centre is not farther beyond than this share of its size.
RATIO_BEYOND_SHEET = 0.5
# Two faces of a sheet are the same or each other's back if the cosine of their normals is above this in size.
COSINE_SAME_FACE = 0.5
# A body is astride while its centre is nearer to the sheet than this share of how thick it is across the sheet.
RATIO_ASTRIDE = 0.25
# A sheet that is steeper than this (cosine between its normal and gravity) has no upper side.
COSINE_UPPER_SIDE = 0.1


@subkernel
def find_side(polytopes, a, b, size, favoured_a, favoured_b, pose, side):
    """Write the normal of a sheet, from a to b, on the side to which it pushes; 0 if neither is a sheet.

    ``favoured_a`` and ``favoured_b`` are the faces that the last contacts lay on, -1 for none.

    No axis that leads to the other side is tried.

    Returns
    -------
    bool
        Whether the body lay on a face of the sheet, which decided.
    """
    side[0], side[1], side[2] = 0.0, 0.0, 0.0
    row_a, row_b = a.polytope, b.polytope
    flat_a, flat_b = polytopes.flat_face[row_a], polytopes.flat_face[row_b]
    beyond = RATIO_BEYOND_SHEET * size
    if flat_a >= 0:
        first = polytopes.start[row_a, FACES]
        last_face = first + favoured_a if favoured_a >= 0 else -1
        plane, up = polytopes.plane[first + flat_a], pose.up_in_a
        sign, decided = choose_side(polytopes.plane, first + flat_a, last_face, pose.b_in_a[POSITION], beyond)
        if not decided:
            rises = plane[0] * up[0] + plane[1] * up[1] + plane[2] * up[2]
            sign = clear_side(polytopes, plane, b, pose.b_in_a, rises, sign)
        for i in range(3):
            side[i] = sign * polytopes.plane[first + flat_a, i]
        return decided
    if flat_b >= 0:
        first = polytopes.start[row_b, FACES]
        last_face = first + favoured_b if favoured_b >= 0 else -1
        plane = polytopes.plane[first + flat_b]
        sign, decided = choose_side(polytopes.plane, first + flat_b, last_face, pose.a_in_b[POSITION], beyond)
        if not decided:
            x, y, z = into_frame(pose.b_in_a, pose.up_in_a[0], pose.up_in_a[1], pose.up_in_a[2])
            sign = clear_side(polytopes, plane, a, pose.a_in_b, plane[0] * x + plane[1] * y + plane[2] * z, sign)
        for i in range(3):
            for j in range(3):
                side[i] -= pose.b_in_a[i, j] * sign * polytopes.plane[first + flat_b, j]
        return decided
    return False


@subkernel
def choose_side(plane, flat_face, last_face, center, beyond):
    """On which side (1 or -1) of a sheet's face a centre counts, and whether the last contact's face decided that."""
    height = -plane[flat_face, 3]
    for i in range(3):
        height += plane[flat_face, i] * center[i]
    sign = 1.0 if height >= 0.0 else -1.0
    if last_face < 0:
        return sign, False
    cosine = 0.0
    for i in range(3):
        cosine += plane[flat_face, i] * plane[last_face, i]
    if abs(cosine) < COSINE_SAME_FACE:
        return sign, False
    last_sign = 1.0 if cosine > 0.0 else -1.0
    if last_sign * height < -beyond:
        return sign, False
    return last_sign, True


@subkernel
def clear_side(polytopes, plane, other, pose, rises, sign):
    """The side (1 or -1) of a sheet with no contacts yet: against gravity for what is astride, else its centre's.

    Parameters
    ----------
    polytopes : HullArrays
        (read)
    plane : float64 [4]
        Of the sheet's face: normal and offset (read).
    other : PairShape
        The other shape (read).
    pose : float64 [4, 3]
        Of the other shape in the sheet's frame (read).
    rises : float
        Cosine between the face's normal and the direction against gravity; 0 without gravity.
    sign : float
        The centre's side.
    """
    if not is_steep(rises):
        height = -plane[3]
        for i in range(3):
            height += plane[i] * pose[POSITION, i]
        if is_astride(height, thickness_along(polytopes, other, pose, plane[0], plane[1], plane[2])):
            return 1.0 if rises > 0.0 else -1.0
    return sign


@subkernel
def is_steep(rises):
    """Whether a sheet has no upper side, by the cosine between its normal and the direction against gravity."""
    return abs(rises) < COSINE_UPPER_SIDE


@subkernel
def is_astride(height, thickness):
    """Whether a centre is so near to a sheet that neither side is clear."""
    return abs(height) <= RATIO_ASTRIDE * thickness


@subkernel
def thickness_along(polytopes, shape, pose, x, y, z):
    """Extent of a shape along a direction of the frame that ``pose`` places it in [m]."""
    p, q, r = into_frame(pose, x, y, z)
    a, b, c, vertex = support_point(polytopes, shape, p, q, r, 0)
    highest = p * a + q * b + r * c
    a, b, c, vertex = support_point(polytopes, shape, -p, -q, -r, vertex)
    return highest - (p * a + q * b + r * c) + 2.0 * rounding(shape)
