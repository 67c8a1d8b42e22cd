"""Triangle meshes for the tests."""

import numpy as np


def grid_mesh(cells, size, *, height=None, rng=None):
    """A square sheet of ``cells`` x ``cells`` quads about the origin, each cut in two; normals upwards.

    ``height(x, y)`` lifts the vertices. With ``rng`` inner vertices are shifted and diagonals run either way; of a
    hollow quad the other one would fold the sheet over.
    """
    line = np.linspace(-0.5 * size, 0.5 * size, cells + 1)
    x, y = np.meshgrid(line, line, indexing="ij")
    flip = np.zeros(cells * cells, bool)
    if rng is not None:
        x[1:-1, 1:-1] += rng.uniform(-0.3, 0.3, (cells - 1, cells - 1)) * size / cells
        y[1:-1, 1:-1] += rng.uniform(-0.3, 0.3, (cells - 1, cells - 1)) * size / cells
        flip = rng.random(cells * cells) < 0.5
    z = np.zeros_like(x) if height is None else height(x, y)
    first = np.arange(cells * (cells + 1)).reshape(cells, cells + 1)[:, :-1].ravel()
    a, b, c, d = first, first + cells + 1, first + cells + 2, first + 1
    halves = [np.stack([a, b, c, a, c, d], 1), np.stack([a, b, d, b, c, d], 1)]
    flip ^= _folds(x.ravel(), y.ravel(), np.where(flip[:, None], halves[1], halves[0]))
    quads = np.where(flip[:, None], halves[1], halves[0])
    triangles = np.concatenate([quads[:, :3], quads[:, 3:]])
    return np.stack([x, y, z], -1).reshape(-1, 3), triangles


def _folds(x, y, quads):
    """Whether one of a quad's two triangles [n, 6] is turned over."""
    (ax, bx, cx), (ay, by, cy) = (values[quads.reshape(-1, 2, 3)].transpose(2, 0, 1) for values in (x, y))
    return ((bx - ax) * (cy - ay) <= (by - ay) * (cx - ax)).any(axis=1)


def box_mesh(half_extents, center=(0.0, 0.0, 0.0)):
    """The twelve triangles of a box, outwards."""
    corners = np.array([[1.0 if i >> axis & 1 else -1.0 for axis in range(3)] for i in range(8)])
    quads = [(1, 3, 7, 5), (0, 4, 6, 2), (2, 6, 7, 3), (0, 1, 5, 4), (4, 5, 7, 6), (0, 2, 3, 1)]
    triangles = [(quad[0], quad[i], quad[i + 1]) for quad in quads for i in (1, 2)]
    return corners * half_extents + center, np.array(triangles)


def hull_mesh(hull):
    """The triangles of a ``ConvexHull``."""
    triangles = [(loop[0], loop[i], loop[i + 1]) for loop in hull.loops for i in range(1, len(loop) - 1)]
    return hull.vertices, np.array(triangles)


def divided(vertices, triangles, times):
    """Each triangle cut into four at the middles of its edges, several times."""
    for _ in range(times):
        edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        edges, numbers = np.unique(edges, axis=0, return_inverse=True)
        (a, b, c), (d, e, f) = triangles.T, (len(vertices) + numbers.reshape(-1, 3)).T
        vertices = np.concatenate([vertices, vertices[edges].mean(axis=1)])
        triangles = np.stack([a, d, f, d, b, e, f, e, c, d, e, f], 1).reshape(-1, 3)
    return vertices, triangles


def joined(*meshes):
    """Several meshes as one."""
    starts = np.cumsum([0] + [len(vertices) for vertices, _ in meshes])
    return (
        np.concatenate([vertices for vertices, _ in meshes]),
        np.concatenate([triangles + start for (_, triangles), start in zip(meshes, starts, strict=False)]),
    )


def bumps(x, y):
    """Heights of a smooth hilly ground, some 0.6 from valley to hill over 4 m."""
    return 0.3 * np.sin(2.0 * x) * np.cos(1.7 * y) + 0.1 * np.sin(5.0 * x + 3.0 * y)
