"""A drawbridge that is let go: its chains stop it level, and a heavy ball rolls over it."""

import math

import numpy as np

from ..geometry import rotations
from ..geometry.round_shapes import Capsule
from ..geometry.shapes import Box, Sphere
from ..model.compound import Compound
from ..model.joints.hinge import Hinge
from ..model.joints.point import Point
from ..model.model import BodyKind
from .hanging import floats, hanging_nodes, link_pose
from .scene import Scene, SceneBody, SceneJoint, floor

_LENGTH, _HALF_WIDTH, _HALF_THICKNESS = 4.0, 1.2, 0.06  # of the deck [m]
_LEVEL = 1.0  # of the ways on either side, and of the deck once it is down
_BEAM, _OVERHANG = 0.09, 0.3  # half side of the beam at its end, and how far that sticks out
_LINTEL = 5.2
_LINK_LENGTH, _LINK_RADIUS, _LINK_MASS = 0.25, 0.035, 2.0
_STONE, _WOOD, _IRON = (0.46, 0.47, 0.5), (0.5, 0.33, 0.17), (0.35, 0.37, 0.4)


def drawbridge(angle: float = 68.0, deck_mass: float = 300.0, ball_mass: float = 400.0) -> Scene:
    """The deck reaches along y from its hinge at the origin.

    Parameters
    ----------
    angle : float
        By which it is raised at the start [degrees].
    deck_mass, ball_mass : float
        [kg].
    """
    hinge = np.array([0.0, 0.0, _LEVEL - _HALF_THICKNESS])
    raised = rotations.from_rotation_vector(np.array([math.radians(angle), 0.0, 0.0]))
    planks = Box((_HALF_WIDTH, 0.5 * _LENGTH, _HALF_THICKNESS), position=(0.0, 0.5 * _LENGTH, 0.0))
    beam = Box((_HALF_WIDTH + _OVERHANG, _BEAM, _BEAM), position=(0.0, _LENGTH - _BEAM, 0.0))
    deck = SceneBody(
        name="Deck",
        shape=Compound([planks, beam]),
        mass=deck_mass,
        position=floats(hinge),
        orientation=floats(raised),
        color=_WOOD,
        part_colors=(_WOOD, (0.36, 0.23, 0.12)),
    )
    bodies, joints = [*_banks(), deck], [_deck_hinge(hinge)]
    for name, side in (("L", -1.0), ("R", 1.0)):
        x = side * (_HALF_WIDTH + _OVERHANG - 0.08)
        end = hinge + rotations.rotate(raised, np.array([x, _LENGTH - _BEAM, _BEAM]))
        links, ties = _chain(name, np.array([x, 0.12, _LINTEL]), end)
        bodies += links
        joints += ties
    return Scene(
        name="drawbridge",
        title="A drawbridge falls into its chains",
        bodies=[floor(12.0), *bodies, _ball(ball_mass)],
        joints=joints,
        frame_count=168,
        camera=(8.6, 9.0, 4.6),
        target=(0.0, 0.9, 2.2),
        linear_damping=0.02,
        angular_damping=0.05,
    )


def _deck_hinge(place):
    across = rotations.from_rotation_vector(np.array([0.0, 0.5 * math.pi, 0.0]))
    return SceneJoint(
        name="Hinge", joint=Hinge(), first="Bank.1", second="Deck", position=floats(place), orientation=floats(across)
    )


def _chain(side, start, end):
    """Links from the lintel to the end of the raised deck, and their ties; just long enough for the deck when level."""
    level_end = np.array([end[0], _LENGTH - _BEAM, _LEVEL - _HALF_THICKNESS + _BEAM])
    count = math.floor(np.linalg.norm(level_end - start) / _LINK_LENGTH)
    nodes = hanging_nodes(start, end, count, _LINK_LENGTH)
    links = []
    for number in range(count):
        position, orientation = link_pose(nodes[number], nodes[number + 1])
        links.append(
            SceneBody(
                name=f"Link.{side}.{number + 1:02d}",
                shape=Capsule(_LINK_RADIUS, 0.5 * _LINK_LENGTH - _LINK_RADIUS),
                mass=_LINK_MASS,
                position=position,
                orientation=orientation,
                color=_IRON if number % 2 else (0.55, 0.57, 0.6),
            )
        )
    names = ["Lintel", *(link.name for link in links), "Deck"]
    ties = [
        SceneJoint(
            name=f"Tie.{side}.{number + 1:02d}",
            joint=Point(),
            first=names[number],
            second=names[number + 1],
            position=floats(node),
        )
        for number, node in enumerate(nodes)
    ]
    return links, ties


def _banks():
    """The way to the gate, the gate, and the other bank of the moat."""
    half_gate = _HALF_WIDTH + _OVERHANG + 0.15
    boxes = {
        "Bank.1": ((half_gate + 0.8, 4.0, 0.5 * _LEVEL), (0.0, -4.0, 0.5 * _LEVEL)),
        "Bank.2": ((half_gate + 0.8, 3.0, 0.5 * _LEVEL), (0.0, _LENGTH + 3.04, 0.5 * _LEVEL)),
        "Lintel": ((half_gate + 0.7, 0.25, 0.3), (0.0, -0.25, _LINTEL + 0.1)),
    }
    for number, side in ((1, -1.0), (2, 1.0)):
        height = _LINTEL - 0.2 - _LEVEL
        boxes[f"Tower.{number}"] = (
            (0.35, 0.35, 0.5 * height),
            (side * (half_gate + 0.35), -0.4, _LEVEL + 0.5 * height),
        )
    return [
        SceneBody(name=name, shape=Box(half), kind=BodyKind.STATIC, position=place, color=_STONE)
        for name, (half, place) in boxes.items()
    ]


def _ball(mass):
    """It starts to roll so early that it comes to the deck when that is down and quiet."""
    radius, speed = 0.5, 1.7
    return SceneBody(
        name="Ball",
        shape=Sphere(radius),
        mass=mass,
        position=(0.15, -6.2, _LEVEL + radius),
        linear_velocity=(0.0, speed, 0.0),
        angular_velocity=(-speed / radius, 0.0, 0.0),
        color=(0.75, 0.25, 0.15),
    )
