"""Chains of boxes and hinges as rows made by hand: the two scenes of Silcowitz-Hansen et al. 2010 that have joints.

A hinge is a block of five bilateral rows: three hold its point together (directions x, y, z), two keep the bodies from
turning against each other but about the hinge's axis.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from cairn.solver_core.problem.problem import ContactProblem
from cairn.solver_core.problem.rows import allocate_rows

_LINKS = 6
_LENGTH, _WIDTH = 1.0, 0.5  # of a link [m]; its mass is 1 kg
_FRICTION = 0.5
_AXES = np.eye(3)


@dataclass
class _Rows:
    """Blocks of rows, one after the other.

    Attributes
    ----------
    position : list of float64 [3]
        Centres of mass.
    inverse_mass : list of float64 [6, 6]
    blocks : list of (a, b, jacobian [rows, 12], is contact)
    """

    position: list
    inverse_mass: list
    blocks: list

    def add_body(self, position, lean, mass=1.0):
        """A link whose long side is turned by ``lean`` from z towards x; no mass: immovable."""
        inverse = np.zeros((6, 6))
        if mass:
            inverse[:3, :3] = np.eye(3) / mass
            long, wide = mass * _WIDTH**2 / 6.0, mass * (_WIDTH**2 + _LENGTH**2) / 12.0
            turn = np.array(
                [[math.cos(lean), 0.0, math.sin(lean)], [0.0, 1.0, 0.0], [-math.sin(lean), 0.0, math.cos(lean)]]
            )
            inverse[3:, 3:] = turn @ np.diag([1.0 / wide, 1.0 / wide, 1.0 / long]) @ turn.T
        self.position.append(np.asarray(position, float))
        self.inverse_mass.append(inverse)
        return len(self.position) - 1

    def add_hinge(self, a, b, point, axis):
        """Five bilateral rows at ``point``, for an ``axis`` in the plane y = 0 or along y."""
        across = _AXES[0] if axis[1] else _AXES[1]
        turning = np.zeros((2, 12))
        turning[:, 9:12] = across, np.cross(axis, across)
        turning[:, 3:6] = -turning[:, 9:12]
        self.blocks.append((a, b, np.vstack([self._pushes(a, b, point, _AXES), turning]), False))

    def add_contact(self, a, b, point):
        """A contact with the normal z, from a to b."""
        self.blocks.append((a, b, self._pushes(a, b, point, _AXES[[2, 0, 1]]), True))

    def _pushes(self, a, b, point, directions):
        arm_a, arm_b = point - self.position[a], point - self.position[b]
        return np.hstack([-directions, -np.cross(arm_a, directions), directions, np.cross(arm_b, directions)])

    def problem(self, velocity_change) -> ContactProblem:
        """All blocks, with every movable body falling by ``velocity_change`` [m/s]."""
        counts = [len(jacobian) for _, _, jacobian, _ in self.blocks]
        total, bodies = sum(counts), len(self.position)
        rows = allocate_rows(len(counts), total, bodies)
        rows.count[:] = len(counts), total
        rows.block_row[:] = np.concatenate([[0], np.cumsum(counts)])
        for block, (a, b, jacobian, is_contact) in enumerate(self.blocks):
            first = rows.block_row[block]
            span = slice(first, first + len(jacobian))
            rows.body_a[block], rows.body_b[block] = a, b
            rows.jacobian[span] = jacobian
            rows.response[span] = np.hstack(
                [jacobian[:, :6] @ self.inverse_mass[a], jacobian[:, 6:] @ self.inverse_mass[b]]
            )
            rows.lower[span], rows.upper[span] = (0.0 if is_contact else -np.inf), np.inf
            if is_contact:
                rows.normal_row[first + 1 : first + 3] = first
                rows.friction[first + 1 : first + 3] = _FRICTION
        rows.diagonal[:] = np.sum(rows.jacobian * rows.response, axis=1)
        velocity = np.zeros((bodies, 6))
        for body, inverse in enumerate(self.inverse_mass):
            if inverse[0, 0] > 0.0:
                rows.body_mass[body] = np.linalg.inv(inverse)
                velocity[body, 2] = -velocity_change
        return ContactProblem(rows, velocity)


def standing_arch(velocity_change: float) -> ContactProblem:
    """(g) Half a regular polygon of six links, one foot hinged to the ground, the other on it with four contacts.

    The hinges' axes lie in the arch's plane, so it stands and could only fold sideways.
    """
    rows = _Rows([], [], [])
    ground = rows.add_body(np.zeros(3), 0.0, mass=0.0)
    radius = 0.5 * _LENGTH / math.sin(0.5 * math.pi / _LINKS)
    joints = [
        radius * np.array([-math.cos(angle), 0.0, math.sin(angle)]) for angle in np.linspace(0.0, math.pi, _LINKS + 1)
    ]
    last = ground
    for lower, upper in pairwise(joints):
        along = upper - lower
        link = rows.add_body(0.5 * (lower + upper), math.atan2(along[0], along[2]))
        rows.add_hinge(last, link, lower, lower / radius)
        last = link
    for x in (-0.5, 0.5):
        for y in (-0.5, 0.5):
            rows.add_contact(ground, last, joints[-1] + _WIDTH * np.array([x, y, 0.0]))
    return rows.problem(velocity_change)


def hanging_snake(velocity_change: float, lean: float = math.radians(30.0)) -> ContactProblem:
    """(i) Six links in a line that hang from a fixed one, ``lean`` from the vertical."""
    rows = _Rows([], [], [])
    last = rows.add_body(np.zeros(3), 0.0, mass=0.0)
    down = np.array([math.sin(lean), 0.0, -math.cos(lean)])
    for place in range(_LINKS):
        link = rows.add_body((place + 0.5) * _LENGTH * down, -lean)
        rows.add_hinge(last, link, place * _LENGTH * down, _AXES[1])
        last = link
    return rows.problem(velocity_change)
