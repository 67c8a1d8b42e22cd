"""Bodies at rest in touch, pushed by a random wrench: ten single bodies with 1 to 16 contacts, ten stacks of blocks.

The tests of Lloyd 2004, section 5.4, beside the peg (``peg_in_hole``). The paper names some of the cases and gives the
ranges of contacts and bodies; sizes, masses and the rest of the cases are ours. Coefficients of friction from 0.2 to
0.3, steps of one second, no gaps; body 0 is immovable. Many contacts are redundant: a face needs three.
"""

import numpy as np

from cairn.solver_core.problem.problem import ContactProblem
from cairn.solver_core.problem.rows import allocate_rows

_FRICTION = (0.2, 0.3)
_GRAVITY = 9.81  # [m/s^2]
# Standard deviation of the wrench on the top block, a fraction of its weight [N, N m].
_WRENCH_ON_STACK = 4.0
_HALF_SIDE = 0.5  # of blocks [m]
_RADIUS = 0.5  # of balls [m]

# Inverse inertia about any axis, of 1 kg.
_INVERSE_INERTIA_BLOCK = 6.0 / (2.0 * _HALF_SIDE) ** 2
_INVERSE_INERTIA_BALL = 2.5 / _RADIUS**2

# name -> contacts, in the order of the benchmark
SINGLE_BODY_CASES = {
    "ball on a plane": 1,
    "ball in a groove": 2,
    "ball in a corner": 3,
    "block on a plane": 4,
    "face on face, hexagon": 6,
    "block in a groove": 8,
    "face on face, octagon": 8,
    "ball in the rim of a hole": 10,
    "block in a corner": 12,
    "face on face": 16,
}
# Contacts of each level, from the floor up: 1 to 5 blocks, 4 to 32 contacts.
STACKS = (
    (4,),
    (8,),
    (4, 4),
    (8, 8),
    (4, 4, 4),
    (8, 8, 8),
    (4, 4, 4, 4),
    (8, 8, 8, 8),
    (4, 4, 4, 4, 4),
    (8, 6, 6, 6, 6),
)


def single_body_case(name: str, seed: int) -> ContactProblem:
    """One free body of 1 kg at rest, and a wrench at its centre.

    Parameters
    ----------
    name : str
        One of ``SINGLE_BODY_CASES``.
    seed : int
        Of the wrench (standard normal [N, N m]) and the coefficients of friction.
    """
    rng = np.random.default_rng(seed)
    points, normals = _contacts_of(name, SINGLE_BODY_CASES[name])
    inertia = _INVERSE_INERTIA_BALL if name.startswith("ball") else _INVERSE_INERTIA_BLOCK
    count = len(points)
    friction = rng.uniform(*_FRICTION, count)
    wrench = rng.normal(size=6)
    velocity = np.zeros((2, 6))
    velocity[1] = wrench * ([1.0] * 3 + [inertia] * 3)
    bodies = np.tile([0, 1], (count, 1))
    return _problem(bodies, points, normals, np.zeros((2, 3)), np.array([0.0, inertia]), friction, velocity)


def block_stack(contacts: tuple[int, ...], seed: int) -> ContactProblem:
    """Blocks of 1 kg on each other under gravity, with a wrench on the top one.

    Parameters
    ----------
    contacts : tuple of int
        Contacts of each level, on the corners of a regular polygon in the common face.
    seed : int
        Of the wrench (normal, 4 N and N m) and the coefficients of friction.
    """
    rng = np.random.default_rng(seed)
    levels = len(contacts)
    bodies, points = [], []
    for level, count in enumerate(contacts):
        points.append(_polygon(count) + [0.0, 0.0, 2.0 * _HALF_SIDE * level])
        bodies.append(np.tile([level, level + 1], (count, 1)))
    bodies, points = np.vstack(bodies), np.vstack(points)
    centers = np.zeros((levels + 1, 3))
    centers[1:, 2] = _HALF_SIDE * (2.0 * np.arange(levels) + 1.0)
    inertia = np.full(levels + 1, _INVERSE_INERTIA_BLOCK)
    friction = rng.uniform(*_FRICTION, len(points))
    velocity = np.zeros((levels + 1, 6))
    velocity[1:, 2] = -_GRAVITY
    velocity[-1] += _WRENCH_ON_STACK * rng.normal(size=6) * ([1.0] * 3 + [_INVERSE_INERTIA_BLOCK] * 3)
    normals = np.tile([0.0, 0.0, 1.0], (len(points), 1))
    return _problem(bodies, points, normals, centers, inertia, friction, velocity)


def _contacts_of(name, count):
    """Points relative to the body's centre, and normals into the body."""
    axes = np.eye(3)
    face = {"block on a plane", "face on face, hexagon", "face on face, octagon", "face on face"}
    if name in face:
        points = _polygon(count) - [0.0, 0.0, _HALF_SIDE]
        return points, np.tile(axes[2], (count, 1))
    if name == "block in a groove":
        faces = [np.array([1.0, 0.0, 1.0]) / np.sqrt(2.0), np.array([-1.0, 0.0, 1.0]) / np.sqrt(2.0)]
        return _faces(faces)
    if name == "block in a corner":
        return _faces(list(axes))
    if name == "ball on a plane":
        normals = axes[2:]
    elif name == "ball in a groove":
        normals = np.array([[1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]]) / np.sqrt(2.0)
    elif name == "ball in a corner":
        normals = axes
    else:
        angle = 2.0 * np.pi * np.arange(count) / count
        normals = np.column_stack([-np.cos(angle), -np.sin(angle), np.ones(count)]) / np.sqrt(2.0)
    return -_RADIUS * normals, normals


def _faces(normals):
    """Four corners of a block's face under each of the normals, which point into the block."""
    points = []
    for normal in normals:
        first, second = _tangents(normal)
        for side, other in ((1, 1), (1, -1), (-1, -1), (-1, 1)):
            points.append(_HALF_SIDE * (side * first + other * second - normal))
    return np.array(points), np.repeat(normals, 4, axis=0)


def _polygon(count):
    """Corners of a regular polygon in a block's face at height zero; for four, the face's own."""
    angle = 2.0 * np.pi * (np.arange(count) + 0.5) / count
    radius = _HALF_SIDE * (np.sqrt(2.0) if count == 4 else 1.0)
    return radius * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(count)])


def _tangents(normal):
    """Two directions that make a right-handed frame with ``normal``."""
    helper = np.eye(3)[np.argmin(np.abs(normal))]
    first = np.cross(normal, helper)
    first /= np.linalg.norm(first)
    return first, np.cross(normal, first)


def _problem(bodies, points, normals, centers, inertia, friction, velocity):
    """Rows of the contacts; normals point into the second body of each pair."""
    count = len(points)
    rows = allocate_rows(count, 3 * count, len(centers))
    rows.count[:] = count, 3 * count
    rows.block_row[:] = 3 * np.arange(count + 1)
    rows.body_a[:], rows.body_b[:] = bodies[:, 0], bodies[:, 1]
    inverse_mass = np.zeros((len(centers), 6))
    inverse_mass[1:, :3] = 1.0
    inverse_mass[1:, 3:] = inertia[1:, None]
    for body in range(1, len(centers)):
        rows.body_mass[body] = np.diag(1.0 / inverse_mass[body])
    for contact in range(count):
        a, b = bodies[contact]
        span = slice(3 * contact, 3 * contact + 3)
        axes = np.array([normals[contact], *_tangents(normals[contact])])
        arm_a, arm_b = points[contact] - centers[a], points[contact] - centers[b]
        rows.jacobian[span] = np.hstack([-axes, -np.cross(arm_a, axes), axes, np.cross(arm_b, axes)])
        rows.response[span] = rows.jacobian[span] * np.concatenate([inverse_mass[a], inverse_mass[b]])
        rows.upper[3 * contact] = np.inf
        rows.normal_row[span] = -1, 3 * contact, 3 * contact
        rows.friction[span] = 0.0, friction[contact], friction[contact]
    rows.diagonal[:] = np.sum(rows.jacobian * rows.response, axis=1)
    return ContactProblem(rows, velocity)
