"""Meshes that pass through themselves: found by Blender's tree of triangles, in bounded time, once a mesh."""

import hashlib

from mathutils.bvhtree import BVHTree

from ...solver_core.geometry.self_crossings import crossing_pairs

# Larger meshes are not searched: these take a second, and a million triangles would take gigabytes.
MAXIMAL_TRIANGLES = 100_000

_found: dict[bytes, int] = {}


def self_crossings(vertices, triangles, consequence):
    """Pairs of faces of a mesh that pass through each other, and what is to be said of it.

    Parameters
    ----------
    vertices : float64 [vertex_count, 3]
        Distinct: neighbours share their corners.
    triangles : int64 [triangle_count, 3]
    consequence : str
        Of crossings.

    Returns
    -------
    count : int
        0 also for meshes of more than ``MAXIMAL_TRIANGLES``, which are not looked at.
    notes : list of (str, str)
    """
    if len(triangles) > MAXIMAL_TRIANGLES:
        text = f"its mesh has {len(triangles):,} triangles: whether it passes through itself was not looked for"
        return 0, [("info", f"{text} (up to {MAXIMAL_TRIANGLES:,})")]
    count = _count(vertices, triangles)
    if not count:
        return 0, []
    return count, [("warning", f"its mesh passes through itself ({count} pairs of faces): {consequence}")]


def _count(vertices, triangles) -> int:
    if not len(triangles):
        return 0
    key = hashlib.sha256(vertices.tobytes() + triangles.tobytes()).digest()
    if key not in _found:
        lower, upper = vertices.min(axis=0), vertices.max(axis=0)
        # About its middle, where single precision is finest.
        unit = (vertices - 0.5 * (lower + upper)) / (upper - lower).max()
        tree = BVHTree.FromPolygons(unit.tolist(), triangles.tolist(), all_triangles=True)
        _found[key] = len(crossing_pairs(unit, triangles, tree.overlap(tree)))
    return _found[key]
