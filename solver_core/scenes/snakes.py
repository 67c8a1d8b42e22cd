"""Snakes of six links: the two scenes of Silcowitz-Hansen, Niebe and Erleben 2010 (figure 4, g and i) with joints."""

import math

import numpy as np

from ..geometry import rotations
from ..geometry.shapes import Box
from ..model.compound import Compound
from ..model.joints.hinge import Hinge
from ..model.model import BodyKind
from .hanging import floats, link_pose
from .scene import Scene, SceneBody, SceneJoint, floor

_LINKS, _LENGTH = 6, 1.0  # from hinge to hinge [m]; a link has 1 kg
_HALF_WIDTH, _HALF_LENGTH = 0.25, 0.44
_FOOT = 0.1  # its height [m]
_COLORS = ((0.85, 0.6, 0.25), (0.35, 0.55, 0.6))
# A hinge turns about its z axis.
_ABOUT_Y = rotations.from_rotation_vector(np.array([-0.5 * math.pi, 0.0, 0.0]))


def standing_snake() -> Scene:
    """Half a regular polygon; one foot is hinged to the ground, the other stands on it.

    The hinges' axes lie in the arch's plane, so it stands and could only fold sideways.
    """
    radius = 0.5 * _LENGTH / math.sin(0.5 * math.pi / _LINKS)
    angles = np.linspace(math.pi, 0.0, _LINKS + 1)
    outwards = np.column_stack([np.cos(angles), np.zeros(_LINKS + 1), np.sin(angles)])
    nodes = radius * outwards + [0.0, 0.0, _FOOT]
    links = [_link(number, nodes[number], nodes[number + 1]) for number in range(_LINKS)]
    links[-1] = _with_foot(links[-1], nodes[-1])
    names = ["Floor", *(link.name for link in links)]
    joints = [
        SceneJoint(
            name=f"Hinge.{number + 1}",
            joint=Hinge(),
            first=names[number],
            second=names[number + 1],
            position=floats(nodes[number]),
            orientation=link_pose(np.zeros(3), outwards[number])[1],
        )
        for number in range(_LINKS)
    ]
    return Scene(
        name="standing_snake",
        title="A snake of six hinged links stands as an arch",
        bodies=[floor(), *links],
        joints=joints,
        frame_count=96,
        camera=(3.0, -8.5, 3.2),
        target=(0.0, 0.0, 1.0),
    )


def hanging_snake(lean: float = 30.0) -> Scene:
    """Links in a line that hangs from a fixed one.

    Parameters
    ----------
    lean : float
        At the start, from the vertical [degrees].
    """
    lean, top = math.radians(lean), np.array([0.0, 0.0, 7.0])
    down = np.array([math.sin(lean), 0.0, -math.cos(lean)])
    nodes = top + np.outer(np.arange(_LINKS + 1) * _LENGTH, down)
    anchor = SceneBody(
        name="Anchor",
        shape=Box((0.6, 0.4, 0.15)),
        kind=BodyKind.STATIC,
        position=floats(top + [0.0, 0.0, 0.35]),
        color=(0.33, 0.37, 0.33),
    )
    links = [_link(number, nodes[number], nodes[number + 1]) for number in range(_LINKS)]
    names = ["Anchor", *(link.name for link in links)]
    joints = [
        SceneJoint(
            name=f"Hinge.{number + 1}",
            joint=Hinge(),
            first=names[number],
            second=names[number + 1],
            position=floats(nodes[number]),
            orientation=floats(_ABOUT_Y),
        )
        for number in range(_LINKS)
    ]
    return Scene(
        name="hanging_snake",
        title="A snake of six hinged links is let go",
        bodies=[anchor, *links],
        joints=joints,
        frame_count=144,
        camera=(0.0, -17.0, 5.0),
        target=(0.0, 0.0, 4.0),
    )


def _link(number, start, end):
    position, orientation = link_pose(start, end)
    return SceneBody(
        name=f"Link.{number + 1}",
        shape=Box((_HALF_WIDTH, _HALF_WIDTH, _HALF_LENGTH)),
        position=position,
        orientation=orientation,
        color=_COLORS[number % 2],
    )


def _with_foot(link, node):
    """The link with a slab below its end that lies flat on the ground; its mass is that of both."""
    back = rotations.conjugate(np.array(link.orientation))
    place = rotations.rotate(back, node - [0.0, 0.0, 0.5 * _FOOT] - np.array(link.position))
    foot = Box((_HALF_WIDTH, _HALF_WIDTH, 0.5 * _FOOT), position=floats(place), orientation=floats(back))
    return SceneBody(
        name=link.name,
        shape=Compound([link.shape, foot]),
        position=link.position,
        orientation=link.orientation,
        color=link.color,
        part_colors=(link.color, (0.3, 0.3, 0.33)),
    )
