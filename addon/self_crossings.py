"""Meshes that pass through themselves: found by Blender's tree of triangles, in bounded time, once a mesh."""

import hashlib

from mathutils.bvhtree import BVHTree

from ..solver_core.self_crossings import crossing_pairs

# Larger meshes are not looked at: these take a second.
MAXIMAL_TRIANGLES = 100_000

_found: dict[bytes, int] = {}


def count_self_crossings(vertices, triangles) -> int:
    """Pairs of faces that pass through each other; 0 for meshes of more than ``MAXIMAL_TRIANGLES``.

    Parameters
    ----------
    vertices : float64 [vertex_count, 3]
        Distinct: neighbours share their corners.
    triangles : int64 [triangle_count, 3]
    """
    if not 0 < len(triangles) <= MAXIMAL_TRIANGLES:
        return 0
    key = hashlib.sha256(vertices.tobytes() + triangles.tobytes()).digest()
    if key not in _found:
        lower, upper = vertices.min(axis=0), vertices.max(axis=0)
        # About its middle, where single precision is finest.
        unit = (vertices - 0.5 * (lower + upper)) / (upper - lower).max()
        tree = BVHTree.FromPolygons(unit.tolist(), triangles.tolist(), all_triangles=True)
        _found[key] = len(crossing_pairs(unit, triangles, tree.overlap(tree)))
    return _found[key]
