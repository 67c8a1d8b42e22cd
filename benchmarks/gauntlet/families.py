"""All families and named scenes: a name and a seed give a scene.

Gravity is 9.81 m/s^2 and a frame 1/24 s at every size, as users have it; the size of the bodies is drawn with equal
chances for each order between 1 cm and 10 m. Rapier is told that size (``length_unit``), so that its margins fit.
"""

import zlib
from dataclasses import replace

import numpy as np

from . import moving, noisy, standing
from .named import NAMED
from .scene import Scene, scaled

FAMILIES = {**standing.FAMILIES, **moving.FAMILIES, **noisy.FAMILIES}
# Bodies of 1 cm to 10 m.
_SCALES = (0.01, 10.0)


def draw(family: str, seed: int, scale: float | None = None) -> Scene:
    """One scene; the same arguments always give the same one, whatever other families there are.

    Parameters
    ----------
    family : str
        One of ``FAMILIES`` or ``NAMED``.
    seed : int
    scale : float, optional
        Size of a body [m], about; without it drawn. Named scenes have their own.
    """
    random = np.random.default_rng([seed, zlib.crc32(family.encode())])
    if family in NAMED:
        return replace(NAMED[family](random), seed=seed)
    drawn = np.exp(random.uniform(*np.log(_SCALES)))
    scene = scaled(FAMILIES[family](random), float(drawn if scale is None else scale))
    return replace(scene, seed=seed)
