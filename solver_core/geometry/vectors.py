"""Products of vectors of three numbers inside kernels: tuples in, tuples or numbers out."""

from ..compiled.kernel import subkernel


@subkernel
def dot(one, other):
    """Inner product."""
    a0, a1, a2 = one
    b0, b1, b2 = other
    return a0 * b0 + a1 * b1 + a2 * b2


@subkernel
def cross(one, other):
    """Vector product."""
    a0, a1, a2 = one
    b0, b1, b2 = other
    return a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
