"""A crane that lifts a load on a chain, turns, and sets it down; its servos are led by keys."""

import math

import numpy as np

from ..geometry import rotations
from ..geometry.round_shapes import Capsule
from ..geometry.shapes import Box
from ..model.compound import Compound
from ..model.joints.axis import Axis, Motor
from ..model.joints.hinge import Hinge
from ..model.joints.point import Point
from ..model.model import BodyKind
from .hanging import floats, link_pose
from .scene import Scene, SceneBody, SceneJoint, floor, smooth_targets

_TOP, _HINGE = 5.5, (0.9, 0.0, 6.0)  # of the mast, and of the boom in the mast's frame [m]
_BOOM, _BOOM_HALF_WIDTH = 8.0, 0.16
_LINK_RADIUS, _LINK_MASS = 0.05, 3.0
_LOAD = (0.7, 0.7, 0.5)  # half of each side [m]
_START, _UP, _DOWN = 5.0, 30.0, 12.5  # of the boom, above level [degrees]
_TURN = 70.0  # from where it takes the load to where it sets it down [degrees]
_PLATFORM = (1.5, 1.5, 0.6)
# Frames from which to which it lifts, turns and lowers. What hangs there swings once in 5 s.
_LIFT, _SWING, _LOWER = (12, 132), (132, 342), (352, 430)
_FRAMES = 460
# The joint's z axis against y, so that a positive angle lifts the boom.
_UPWARDS = rotations.from_rotation_vector(np.array([0.5 * math.pi, 0.0, 0.0]))
_YELLOW, _GREY, _IRON = (0.85, 0.65, 0.15), (0.42, 0.44, 0.47), (0.35, 0.37, 0.4)


def crane(links: int = 14, mass: float = 800.0) -> Scene:
    """The boom points along x at the start; the load stands on the ground below its tip, on a chain that is just tight.

    Parameters
    ----------
    links : int
        Of the chain.
    mass : float
        Of the load [kg].
    """
    lean = math.radians(_START)
    hinge = np.array(_HINGE)
    tip = hinge + _BOOM * np.array([math.cos(lean), 0.0, math.sin(lean)])
    turn = floats(rotations.from_rotation_vector(np.array([0.0, -lean, 0.0])))
    cab = Compound([Box((0.9, 0.75, 0.4), position=(0.0, 0.0, 0.42)), Box((0.6, 0.7, 0.3), position=(-1.4, 0.0, 0.42))])
    bodies = [
        floor(24.0),
        _static("Mast", Box((0.45, 0.45, 0.5 * _TOP)), (0.0, 0.0, 0.5 * _TOP), _GREY),
        _platform(),
        SceneBody(
            name="Cab", shape=cab, mass=4000.0, position=(0.0, 0.0, _TOP), color=_YELLOW, part_colors=(_YELLOW, _GREY)
        ),
        SceneBody(
            name="Boom",
            shape=Box((0.5 * _BOOM, _BOOM_HALF_WIDTH, _BOOM_HALF_WIDTH)),
            mass=400.0,
            position=floats(0.5 * (hinge + tip)),
            orientation=turn,
            color=_YELLOW,
        ),
    ]
    chain, ties = _chain(tip, links)
    load = SceneBody(
        name="Load", shape=Box(_LOAD), mass=mass, position=(float(tip[0]), 0.0, _LOAD[2]), color=(0.72, 0.26, 0.16)
    )
    return Scene(
        name="crane",
        title="A crane lifts a load, turns and sets it down",
        bodies=[*bodies, *chain, load],
        joints=[*_servos(), *ties],
        frame_count=_FRAMES,
        camera=(19.0, -13.0, 9.5),
        target=(1.5, 2.5, 4.0),
        linear_damping=0.04,
        angular_damping=0.1,
    )


def _servos():
    slew = smooth_targets([(0, 0.0), (_SWING[0], 0.0), (_SWING[1], math.radians(_TURN))])
    raise_by, lower_by = math.radians(_UP - _START), math.radians(_DOWN - _START)
    luff = smooth_targets(
        [(0, 0.0), (_LIFT[0], 0.0), (_LIFT[1], raise_by), (_LOWER[0], raise_by), (_LOWER[1], lower_by)]
    )
    return [
        SceneJoint(
            name="Slew",
            joint=Hinge(Axis(motor=Motor(position=0.0, largest=2e5))),
            first="Mast",
            second="Cab",
            position=(0.0, 0.0, _TOP),
            targets=slew,
        ),
        SceneJoint(
            name="Luff",
            joint=Hinge(Axis(motor=Motor(position=0.0, largest=4e5))),
            first="Cab",
            second="Boom",
            position=_HINGE,
            orientation=floats(_UPWARDS),
            targets=luff,
        ),
    ]


def _chain(tip, count):
    """Links from the boom's tip straight down to the load, and their ties."""
    heights = np.linspace(tip[2], 2.0 * _LOAD[2], count + 1)
    nodes = np.column_stack([np.full(count + 1, tip[0]), np.zeros(count + 1), heights])
    length = heights[0] - heights[1]
    links = []
    for number in range(count):
        position, orientation = link_pose(nodes[number], nodes[number + 1])
        links.append(
            SceneBody(
                name=f"Link.{number + 1:02d}",
                shape=Capsule(_LINK_RADIUS, 0.5 * length - _LINK_RADIUS),
                mass=_LINK_MASS,
                position=position,
                orientation=orientation,
                color=_IRON if number % 2 else (0.55, 0.57, 0.6),
            )
        )
    names = ["Boom", *(link.name for link in links), "Load"]
    ties = [
        SceneJoint(
            name=f"Tie.{number + 1:02d}",
            joint=Point(),
            first=names[number],
            second=names[number + 1],
            position=floats(node),
        )
        for number, node in enumerate(nodes)
    ]
    return links, ties


def _platform():
    """Where the load is set down: below the tip of the boom as it is then."""
    reach = _HINGE[0] + _BOOM * math.cos(math.radians(_DOWN + 1.0))
    turn = math.radians(_TURN)
    orientation = floats(rotations.from_rotation_vector(np.array([0.0, 0.0, turn])))
    place = (reach * math.cos(turn), reach * math.sin(turn), _PLATFORM[2])
    return _static("Platform", Box(_PLATFORM), place, (0.4, 0.45, 0.4), orientation)


def _static(name, shape, place, color, orientation=(1.0, 0.0, 0.0, 0.0)):
    return SceneBody(
        name=name, shape=shape, kind=BodyKind.STATIC, position=place, orientation=orientation, friction=0.9, color=color
    )
