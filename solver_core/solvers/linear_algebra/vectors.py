"""Products of vectors of three numbers, or of three SIMD vectors of them, inside kernels."""

from ...compiled.kernel import subkernel


@subkernel
def dot(one, other):
    """Inner product."""
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]


@subkernel
def cross(one, other):
    """Vector product."""
    return (
        one[1] * other[2] - one[2] * other[1],
        one[2] * other[0] - one[0] * other[2],
        one[0] * other[1] - one[1] * other[0],
    )
