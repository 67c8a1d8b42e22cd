"""Noise of force fields, the same bits on every machine: whole numbers, sums and products alone.

**A number at random** of some whole numbers is a hash of them (``hashed``): 32 bits that are mixed by two products.

**Turbulence** is gradient noise (Perlin 2002): each point of a lattice of whole numbers has a gradient, one of the
twelve directions from a cube's middle to its edges, by the hash of its three coordinates. Within a cell the corners'
g . d are blended by 6 t^5 - 15 t^4 + 10 t^3 along each axis. Three octaves n(x) + n(2 x) / 2 + n(4 x) / 4, times 4 / 7,
are one component of the force; the other two are that of the coordinates in turn.
"""

import math

from ...compiled.kernel import subkernel

_BITS = 0xFFFFFFFF
_FACTOR = 0x45D9F3B
_OCTAVES = 3


@subkernel
def hashed(a, b, c):
    """32 bits of three whole numbers."""
    return _mixed(_mixed(_mixed(a & _BITS) + b & _BITS) + c & _BITS)


@subkernel
def _mixed(x):
    x = ((x >> 16) ^ x) * _FACTOR & _BITS
    x = ((x >> 16) ^ x) * _FACTOR & _BITS
    return (x >> 16) ^ x


@subkernel
def change_at_random(noise, seed, frame, number):
    """What noise adds to a strength in a frame, by the distribution that Blender's fields have.

    A whole number of 1 to 128 over one of 1 to 2, in 128ths, with a sign that is the same for all below one half.

    Parameters
    ----------
    noise : float
        Its size.
    seed, frame, number : int64
        Of the field, the frame, and what is moved.
    """
    first = hashed(seed, frame, number)
    whole = 1.0 + first % 128
    divisor = 1.0 + _mixed(first) / 4294967296.0
    return (noise if whole > 64.0 else -noise) * (whole / divisor) / 128.0


@subkernel
def turbulence(place, size):
    """Three components of noise at a place, each in -1..1, with eddies of a size [m]."""
    x, y, z = place[0] / size, place[1] / size, place[2] / size
    return _octaves(x, y, z), _octaves(y, z, x), _octaves(z, x, y)


@subkernel
def _octaves(x, y, z):
    total, amplitude, scale = 0.0, 1.0, 1.0
    for _ in range(_OCTAVES):
        total += amplitude * gradient_noise(scale * x, scale * y, scale * z)
        amplitude, scale = 0.5 * amplitude, 2.0 * scale
    return total * (4.0 / 7.0)


@subkernel
def gradient_noise(x, y, z):
    """Gradient noise at a point: 0 at the lattice, within -1..1."""
    i, j, k = math.floor(x), math.floor(y), math.floor(z)
    x, y, z = x - i, y - j, z - k
    i, j, k = int(i), int(j), int(k)
    u, v, w = _blended(x), _blended(y), _blended(z)
    total = 0.0
    for corner in range(8):
        a, b, c = corner & 1, (corner >> 1) & 1, corner >> 2
        share = (u if a else 1.0 - u) * (v if b else 1.0 - v) * (w if c else 1.0 - w)
        total += share * _slope(hashed(i + a, j + b, k + c) & 15, x - a, y - b, z - c)
    return total


@subkernel
def _blended(t):
    return t * t * t * (t * (t * 6.0 - 15.0) + 10.0)


@subkernel
def _slope(which, x, y, z):
    """g . d of one of the directions to a cube's edges; four of the twelve count twice."""
    one = x if which < 8 else y
    other = y if which < 4 else (x if which in (12, 14) else z)
    return (-one if which & 1 else one) + (-other if which & 2 else other)
