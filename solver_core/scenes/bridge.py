"""A bridge of planks that hangs between two banks, and a heavy box that lands on it."""

import math

import numpy as np

from ..geometry.rotations import from_rotation_vector
from ..geometry.shapes import Box
from ..model.joints.axis import FREE, Axis, Spring
from ..model.joints.generic import Generic
from ..model.joints.point import Point
from ..model.model import BodyKind
from .hanging import floats, hanging_nodes, link_pose
from .scene import Scene, SceneBody, SceneJoint

_PITCH, _PLANK_LENGTH = 0.3, 0.26  # from pivot to pivot, and of the plank [m]
_PLANK_WIDTH, _PLANK_THICKNESS = 1.4, 0.06
_PLANK_MASS = 6.0
_BANK = (2.0, 2.2, 1.6)  # half of each side of a bank [m]
BANK_LEVEL = 3.2  # [m]


def bridge(count: int = 40, slack: float = 0.03, mass: float = 100.0) -> Scene:
    """Planks tied to their neighbours, and to the banks, at both of their edges; they start at rest.

    Parameters
    ----------
    count : int
        Planks.
    slack : float
        By how much the line of planks is longer than the way between the banks, as a share of the line.
    mass : float
        Of the box [kg].
    """
    bodies, joints, span = hanging_planks(count, slack)
    box = SceneBody(
        name="Box",
        shape=Box((0.4, 0.4, 0.3)),
        mass=mass,
        position=(0.06 * span, 0.08, BANK_LEVEL + 0.9),
        orientation=floats(from_rotation_vector(np.array([0.12, 0.1, 0.4]))),
        friction=0.9,
        color=(0.78, 0.28, 0.16),
    )
    return Scene(
        name="bridge",
        title=f"A bridge of {count} planks, and a box that lands on it",
        bodies=[*bodies, box],
        joints=joints,
        frame_count=192,
        camera=(0.3 * span, -1.3 * span, BANK_LEVEL + 0.32 * span),
        target=(0.0, 0.0, BANK_LEVEL - 0.09 * span),
        linear_damping=0.04,
        angular_damping=0.1,
    )


def hanging_planks(count: int, slack: float, damping: float = 0.0) -> tuple[list[SceneBody], list[SceneJoint], float]:
    """Two banks and the planks between them at rest, their ties, and how far the banks' outermost pivots are apart [m].

    Parameters
    ----------
    count : int
        Planks.
    slack : float
        By how much the line of planks is longer than the way between the banks, as a share of the line.
    damping : float
        Of the turns of neighbours against each other [N m s/rad].
    """
    span = count * _PITCH * (1.0 - slack)
    level = BANK_LEVEL - 0.5 * _PLANK_THICKNESS
    nodes = hanging_nodes((-0.5 * span, 0.0, level), (0.5 * span, 0.0, level), count, _PITCH)
    planks = [_plank(number, nodes[number], nodes[number + 1]) for number in range(count)]
    names = ["Bank.1", *(plank.name for plank in planks), "Bank.2"]
    joints = [
        SceneJoint(
            name=f"Tie.{number + 1:02d}.{side}",
            joint=Point(),
            first=names[number],
            second=names[number + 1],
            position=(float(node[0]), y, float(node[2])),
        )
        for number, node in enumerate(nodes)
        for side, y in (("L", -0.5 * _PLANK_WIDTH), ("R", 0.5 * _PLANK_WIDTH))
    ]
    if damping:
        joints += [_damper(number, names, node, damping) for number, node in enumerate(nodes)]
    edge = 0.5 * span + 0.5 * (_PITCH - _PLANK_LENGTH)
    return [_bank(1, -edge), _bank(2, edge), *planks], joints, span


def _damper(number, names, node, damping):
    bends = Axis(spring=Spring(stiffness=0.0, damping=damping))
    return SceneJoint(
        name=f"Damper.{number + 1:02d}",
        joint=Generic(angular=(FREE, bends, FREE)),
        first=names[number],
        second=names[number + 1],
        position=floats(node),
    )


def _plank(number, start, end):
    position, orientation = link_pose(start, end)
    shade = 0.85 + 0.15 * math.sin(2.4 * number)
    return SceneBody(
        name=f"Plank.{number + 1:02d}",
        # its z axis lies along the bridge
        shape=Box((0.5 * _PLANK_THICKNESS, 0.5 * _PLANK_WIDTH, 0.5 * _PLANK_LENGTH)),
        mass=_PLANK_MASS,
        position=position,
        orientation=orientation,
        friction=0.9,
        color=(0.62 * shade, 0.42 * shade, 0.22 * shade),
    )


def _bank(number, edge):
    side = math.copysign(1.0, edge)
    return SceneBody(
        name=f"Bank.{number}",
        shape=Box(_BANK),
        kind=BodyKind.STATIC,
        position=(edge + side * _BANK[0], 0.0, BANK_LEVEL - _BANK[2]),
        color=(0.33, 0.37, 0.33),
    )
