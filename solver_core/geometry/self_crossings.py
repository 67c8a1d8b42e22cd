"""Faces of a mesh that pass through each other: which of the pairs that may do so really do.

Two triangles cross if an edge of one goes through the inside of the other. What only touches, shares a corner or lies
in one plane does not cross, so all tests ask for more than a share of the mesh's size. Who may cross is found by a tree
of boxes elsewhere (in Blender: ``mathutils.bvhtree``, in single precision).
"""

import numpy as np

# How far an edge must reach beyond a triangle's plane on either side, and how far inside its sides it must pass: a
# share of the mesh's size, well above the rounding of single precision.
RATIO_CROSSING = 1e-5


def crossing_pairs(vertices: np.ndarray, triangles: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """The pairs of triangles of which an edge of one passes through the other.

    Parameters
    ----------
    vertices : float64 [vertex_count, 3]
    triangles : int64 [triangle_count, 3]
    candidates : int64 [pair_count, 2]
        Triangles.

    Returns
    -------
    int64 [crossing_count, 2]
        Each pair once, the smaller number first.
    """
    pairs = np.unique(np.sort(np.asarray(candidates, np.int64).reshape(-1, 2), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    if not len(pairs):
        return pairs
    tolerance = RATIO_CROSSING * np.ptp(vertices, axis=0).max()
    one, two = vertices[triangles[pairs[:, 0]]], vertices[triangles[pairs[:, 1]]]
    return pairs[_edges_pass(one, two, tolerance) | _edges_pass(two, one, tolerance)]


def _edges_pass(ones, twos, tolerance):
    """Whether an edge of each of the first triangles [n, 3, 3] passes through the second."""
    normals = np.cross(twos[:, 1] - twos[:, 0], twos[:, 2] - twos[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = normals / np.where(lengths > 0.0, lengths, 1.0)
    heights = np.einsum("nki,ni->nk", ones - twos[:, :1], normals)
    passes = np.zeros(len(ones), bool)
    for tail, head in ((0, 1), (1, 2), (2, 0)):
        below, above = heights[:, tail], heights[:, head]
        crosses = (np.minimum(below, above) < -tolerance) & (np.maximum(below, above) > tolerance)
        share = below / np.where(crosses, below - above, 1.0)
        points = ones[:, tail] + share[:, None] * (ones[:, head] - ones[:, tail])
        for corner in range(3):
            along = twos[:, (corner + 1) % 3] - twos[:, corner]
            inwards = np.cross(normals, along)
            sizes = np.linalg.norm(inwards, axis=1)
            inside = np.einsum("ni,ni->n", points - twos[:, corner], inwards)
            crosses &= inside > tolerance * sizes
        passes |= crosses
    return passes
