"""Concave meshes for the tests, as vertices and triangles, counterclockwise seen from outside."""

import numpy as np


def torus(radius=1.0, tube=0.25, around=32, across=12):
    """About the z axis."""
    u, v = np.meshgrid(*(np.arange(n) * 2.0 * np.pi / n for n in (around, across)), indexing="ij")
    distance = radius + tube * np.cos(v)
    vertices = np.stack([distance * np.cos(u), distance * np.sin(u), tube * np.sin(v)], axis=-1).reshape(-1, 3)
    i, j = (index.ravel() for index in np.meshgrid(np.arange(around), np.arange(across), indexing="ij"))
    after, above = (i + 1) % around, (j + 1) % across
    quads = np.stack([i * across + j, after * across + j, after * across + above, i * across + above], axis=1)
    return vertices, np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def revolved(profile, around=24):
    """A closed outline (radius, height), counterclockwise, turned about z; points of radius 0 become one vertex."""
    vertices, rings = [], []
    for radius, height in profile:
        if radius == 0.0:
            rings.append([len(vertices)] * around)
            vertices.append((0.0, 0.0, height))
        else:
            rings.append([len(vertices) + step for step in range(around)])
            angles = 2.0 * np.pi * np.arange(around) / around
            vertices += [(radius * np.cos(angle), radius * np.sin(angle), height) for angle in angles]
    triangles = []
    for ring, following in zip(rings, rings[1:] + rings[:1], strict=True):
        for step in range(around):
            after = (step + 1) % around
            triangles += [(ring[step], ring[after], following[after]), (ring[step], following[after], following[step])]
    triangles = [triangle for triangle in triangles if len(set(triangle)) == 3]
    return np.array(vertices), np.array(triangles)


def bowl(radius=1.0, wall=0.2, around=24, steps=5):
    """A hollow half ball, open upwards, its bottom flattened a little so that it stands."""
    angles = np.linspace(-0.5 * np.pi, 0.0, steps + 1)
    outer = [(radius * np.cos(angle), max(radius * np.sin(angle), -0.95 * radius)) for angle in angles[1:]]
    inner = [((radius - wall) * np.cos(angle), (radius - wall) * np.sin(angle)) for angle in angles[:0:-1]]
    return revolved([(0.0, -0.95 * radius), *outer, *inner, (0.0, -(radius - wall))], around)


def prism(outline, height):
    """A plane outline, counterclockwise and star-shaped about its first point, from z = 0 to ``height``."""
    outline = np.asarray(outline, float)
    count = len(outline)
    vertices = np.concatenate(
        [np.column_stack([outline, np.zeros(count)]), np.column_stack([outline, np.full(count, height)])]
    )
    fan = [(0, i, i + 1) for i in range(1, count - 1)]
    sides = [(i, (i + 1) % count, count + (i + 1) % count) for i in range(count)]
    sides += [(i, count + (i + 1) % count, count + i) for i in range(count)]
    triangles = [triangle[::-1] for triangle in fan] + [tuple(count + i for i in triangle) for triangle in fan] + sides
    return vertices, np.array(triangles)


def ring_prism(outer, inner, height):
    """The plane region between two outlines of as many corners, both counterclockwise, from z = 0 to ``height``."""
    outer, inner = np.asarray(outer, float), np.asarray(inner, float)
    count = len(outer)
    flat = np.concatenate([outer, inner])
    vertices = np.concatenate([np.column_stack([flat, np.full(2 * count, z)]) for z in (0.0, height)])
    triangles = []

    def quad(a, b, c, d):
        triangles.extend([(a, b, c), (a, c, d)])

    for i in range(count):
        j = (i + 1) % count
        outside, inside = (i, j), (count + i, count + j)
        top = 2 * count
        quad(outside[0], inside[0], inside[1], outside[1])
        quad(top + outside[0], top + outside[1], top + inside[1], top + inside[0])
        quad(outside[0], outside[1], top + outside[1], top + outside[0])
        quad(inside[1], inside[0], top + inside[0], top + inside[1])
    return vertices, np.array(triangles)


def gear(teeth=8, root=0.8, tip=1.15, bore=0.3, height=0.3):
    """A gear with straight flanks about a bore; each tooth takes two of five parts of its pitch."""
    angles, radii = [], []
    for tooth in range(teeth):
        for share, radius in ((0.0, root), (0.25, root), (0.42, tip), (0.58, tip), (0.75, root)):
            angles.append(2.0 * np.pi * (tooth + share - 0.5) / teeth)
            radii.append(radius)
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    return ring_prism(np.array(radii)[:, None] * directions, bore * directions, height)


def threaded(radii, pitch, rows, shell=None):
    """A bolt with a thread, about the z axis from z = 0; with ``shell`` a nut around it, of that outer radius.

    ``radii`` is the thread's outline along z over one pitch, in as many steps as a turn has; ``rows`` steps high.
    """
    around = len(radii)
    level, step = np.meshgrid(np.arange(rows + 1), np.arange(around), indexing="ij")
    radius, angle = np.asarray(radii)[(level - step) % around], 2.0 * np.pi * step / around
    skin = np.stack([radius * np.cos(angle), radius * np.sin(angle), pitch * level / around], axis=-1).reshape(-1, 3)
    height = pitch * rows / around

    def at(level, step):
        return level * around + step % around

    triangles = []
    for i in range(rows):
        for j in range(around):
            # Cut along the thread.
            triangles.append((at(i, j), at(i, j + 1), at(i + 1, j + 1)))
            triangles.append((at(i, j), at(i + 1, j + 1), at(i + 1, j)))
    if shell is None:
        bottom, top = len(skin), len(skin) + 1
        for j in range(around):
            triangles += [(bottom, at(0, j + 1), at(0, j)), (top, at(rows, j), at(rows, j + 1))]
        return np.concatenate([skin, [(0.0, 0.0, 0.0), (0.0, 0.0, height)]]), np.array(triangles)
    triangles = [triangle[::-1] for triangle in triangles]
    angles = 2.0 * np.pi * np.arange(around) / around
    outside = [(shell * np.cos(a), shell * np.sin(a), z) for z in (0.0, height) for a in angles]
    for j in range(around):
        after = (j + 1) % around
        low, low_after = len(skin) + j, len(skin) + after
        high, high_after = low + around, low_after + around
        triangles += [(low, low_after, high_after), (low, high_after, high)]
        triangles += [(at(0, j), at(0, after), low_after), (at(0, j), low_after, low)]
        triangles += [(at(rows, j), high, high_after), (at(rows, j), high_after, at(rows, after))]
    return np.concatenate([skin, outside]), np.array(triangles)
