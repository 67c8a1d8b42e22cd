"""A ball of more than a ton on a light chain, which swings into a brick wall."""

import math
from dataclasses import replace

import numpy as np

from ..geometry.round_shapes import Capsule
from ..geometry.shapes import Box, Sphere
from ..model.joints.point import Point
from ..model.model import BodyKind
from .hanging import floats, link_pose
from .scene import Scene, SceneBody, SceneJoint, floor
from .wall import brick_wall

_LINK_LENGTH, _LINK_RADIUS, _LINK_MASS = 0.3, 0.05, 4.0
_BALL_RADIUS = 0.65
# Height of the ball above the floor as it passes below its suspension [m].
_CLEARANCE = 0.7
# The ball meets the wall, which stands at y = 0, shortly before it passes there.
_HANGING_PLACE = -0.65


def wrecking_ball(links: int = 20, ball_mass: float = 1200.0, angle: float = 62.0) -> Scene:
    """The chain starts straight, and leans by ``angle``; a link has 4 kg.

    Parameters
    ----------
    links : int
    ball_mass : float
        [kg].
    angle : float
        Of the chain to the vertical at the start [degrees].
    """
    reach = links * _LINK_LENGTH
    hook = np.array([0.0, _HANGING_PLACE, _CLEARANCE + 2.0 * _BALL_RADIUS + reach])
    slope = math.radians(angle)
    along = np.array([0.0, -math.sin(slope), -math.cos(slope)])
    nodes = hook + np.outer(np.arange(links + 1) * _LINK_LENGTH, along)
    chain = [_link(number, nodes[number], nodes[number + 1]) for number in range(links)]
    ball = SceneBody(
        name="Ball",
        shape=Sphere(_BALL_RADIUS),
        mass=ball_mass,
        position=floats(nodes[-1] + _BALL_RADIUS * along),
        color=(0.16, 0.20, 0.26),
    )
    names = ["Jib", *(link.name for link in chain), "Ball"]
    joints = [
        SceneJoint(
            name=f"Pin.{number + 1:02d}",
            joint=Point(),
            first=names[number],
            second=names[number + 1],
            position=floats(node),
        )
        for number, node in enumerate(nodes)
    ]
    return Scene(
        name="wrecking_ball",
        title=f"A wrecking ball of {ball_mass:g} kg on a chain of {links} links",
        bodies=[replace(floor(24.0), friction=0.8), *_crane(hook), *brick_wall(7, 10), *chain, ball],
        joints=joints,
        frame_count=120,
        camera=(17.5, -10.0, 6.0),
        target=(-0.6, -1.4, 3.9),
    )


def _link(number, start, end):
    position, orientation = link_pose(start, end)
    return SceneBody(
        name=f"Link.{number + 1:02d}",
        shape=Capsule(_LINK_RADIUS, 0.5 * _LINK_LENGTH - _LINK_RADIUS),
        mass=_LINK_MASS,
        position=position,
        orientation=orientation,
        color=(0.75, 0.62, 0.3) if number % 2 else (0.55, 0.58, 0.62),
    )


def _crane(hook):
    """A mast beside the wall, and a jib from it to the hook."""
    x, y, height = hook
    side, mast = 0.25, -4.2
    yellow = (0.85, 0.65, 0.15)
    return [
        SceneBody(
            name="Mast",
            shape=Box((side, side, 0.5 * height)),
            kind=BodyKind.STATIC,
            position=(mast, y, 0.5 * height),
            color=yellow,
        ),
        SceneBody(
            name="Jib",
            shape=Box((0.5 * (x - mast) + side, side, side)),
            kind=BodyKind.STATIC,
            position=(0.5 * (x + mast), y, height + side),
            color=yellow,
        ),
    ]
