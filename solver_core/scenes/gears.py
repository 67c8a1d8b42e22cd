"""A gear train: toothed wheels on round pins, the first one turned; all else is contact, of teeth and of holes."""

import colorsys
import math

import numpy as np

from ..geometry import rotations
from ..geometry.hulls import ConvexHull
from ..geometry.round_shapes import Cylinder
from ..geometry.shapes import Box
from ..model.compound import Compound
from ..model.model import BodyKind
from .scene import Scene, SceneBody, floor

# The teeth, all lengths in modules: pitch diameter over tooth count, the same for wheels that mesh.
MODULE = 0.1  # [m]
ADDENDUM, DEDENDUM = 1.0, 1.25  # from the pitch circle up to the tip and down to the root
# At 25 degrees wheels from 12 teeth on (2 / sin^2) mesh with any other without undercut.
_PRESSURE_ANGLE = math.radians(25.0)
_BACKLASH = 0.2
_FLANK_POINTS = 6  # of the chords that stand for an involute

_WIDTH = 0.2  # of the wheels [m]
PIN_RADIUS, HOLE_RADIUS = 0.2, 0.205  # the hole's is that of the circle inscribed in it [m]
_COLLAR_RADIUS, _COLLAR_WIDTH = 0.3, 0.08
END_PLAY = 0.02  # between a wheel and the collar on either side [m]
_PLATE_HALF_WIDTH, _MARGIN = 0.05, 0.15  # [m]

_DENSITY = 1000.0  # [kg/m^3]
_WHEEL_FRICTION, _AXLE_FRICTION = 0.5, 0.1  # of two wheels 0.25, of a wheel on its pin 0.05
_MARK = (0.25, 0.1, 0.1)

# A wheel lies in its own x y plane; upright, its axis points at the viewer, who looks along y.
_UPRIGHT = rotations.from_rotation_vector(np.array([0.5 * math.pi, 0.0, 0.0]))
_TOWARDS_VIEWER = np.array([0.0, -1.0, 0.0])


def gears(teeth=(12, 20, 14, 24), directions=(-25.0, 40.0, -30.0), turn_seconds: float = 3.0) -> Scene:
    """Wheels that mesh one after the other; the first one is turned at constant speed, the others are free.

    Wheel k turns at z_1 / z_k times the speed of the first, every other one backwards.

    Parameters
    ----------
    teeth : sequence of int
        Of each wheel, z_k; 12 or more.
    directions : sequence of float
        From each wheel to the next, to the horizontal [degrees].
    turn_seconds : float
        Of a turn of the first wheel [s].
    """
    centers, angles = _mesh_wheels(teeth, np.radians(directions))
    reach = np.array([_tip_radius(count) for count in teeth])[:, None]
    centers -= [0.0, (centers - reach)[:, 1].min() - _MARGIN]
    lower, upper = (centers - reach).min(axis=0), (centers + reach).max(axis=0)
    spin = 2.0 * math.pi / turn_seconds
    bodies = [floor(), _plate(lower, upper)]
    for number, (count, center, angle) in enumerate(zip(teeth, centers, angles, strict=True)):
        place = float(center[0]), 0.0, float(center[1])
        shape, color = gear_shape(count), colorsys.hsv_to_rgb(0.08 + 0.17 * number, 0.55, 0.85)
        bodies.append(_axle(number, place))
        bodies.append(
            SceneBody(
                name=f"Gear.{number + 1}",
                shape=shape,
                mass=_DENSITY * shape.mass_properties().volume,
                position=place,
                orientation=tuple(map(float, _turned(angle))),
                friction=_WHEEL_FRICTION,
                kind=BodyKind.DYNAMIC if number else BodyKind.KINEMATIC,
                angular_velocity=(0.0, 0.0, 0.0) if number else tuple(map(float, spin * _TOWARDS_VIEWER)),
                color=color,
                # one tooth and what carries it, so that turns can be counted
                part_colors=(_MARK, _MARK, *[color] * (len(shape.parts) - 2)),
            )
        )
    middle, width = 0.5 * (lower + upper), upper[0] - lower[0]
    return Scene(
        name="gears",
        title=f"A train of {len(teeth)} gears turns on round pins",
        bodies=bodies,
        frame_count=240,
        camera=(middle[0] - 0.15 * width, -1.5 * width, middle[1] + 0.25 * width),
        target=(middle[0], 0.0, middle[1]),
    )


def gear_shape(count: int) -> Compound:
    """A spur gear with involute flanks about a hole, in convex parts.

    A hub segment for each tooth, whose flat outer side carries the tooth, and the tooth. The hole is a polygon of as
    many sides about the circle of ``HOLE_RADIUS``, so a thinner pin that touches a side always lies within 1 - cos(pi /
    count) of its play from where it would lie in a round hole.

    Parameters
    ----------
    count : int
        Teeth; the middle of the first one lies on the x axis.
    """
    half_turn = math.pi / count
    outer = MODULE * (0.5 * count - DEDENDUM)  # of the segments' corners
    inner = HOLE_RADIUS / math.cos(half_turn)
    corners = [(radius, side * half_turn) for radius in (inner, outer) for side in (-1.0, 1.0)]
    segment = np.array([(radius * math.cos(angle), radius * math.sin(angle)) for radius, angle in corners])
    tooth = _tooth_outline(count, outer * math.cos(half_turn))
    parts = []
    for number in range(count):
        cos, sin = math.cos(2.0 * half_turn * number), math.sin(2.0 * half_turn * number)
        turn = np.array([[cos, sin], [-sin, cos]])
        parts += [_prism(segment @ turn), _prism(tooth @ turn)]
    return Compound(parts)


def _tooth_outline(count, foot):
    """Corners [n, 2] of the tooth on the x axis, from the line x = ``foot`` up.

    With the pitch radius r, the base radius r_b = r cos(alpha) and inv(a) = tan(a) - a, the flank at a radius rho is
    s / (2 r) + inv(alpha) - inv(acos(r_b / rho)) away from the middle, s being the thickness at the pitch circle. Below
    the base circle, where no involute is, the flank goes straight to the centre.
    """
    pitch, tip = 0.5 * MODULE * count, _tip_radius(count)
    base = pitch * math.cos(_PRESSURE_ANGLE)
    # each of two wheels gives half of the backlash
    thickness = MODULE * 0.5 * (math.pi - _BACKLASH)

    def half_angle(radius):
        slope = math.acos(min(1.0, base / radius))
        return 0.5 * thickness / pitch + _involute(_PRESSURE_ANGLE) - _involute(slope)

    flank = [(foot, foot * math.tan(half_angle(foot)))]
    for radius in np.linspace(max(base, 1.01 * foot), tip, _FLANK_POINTS):
        angle = half_angle(radius)
        flank.append((radius * math.cos(angle), radius * math.sin(angle)))
    flank = np.array(flank)
    return np.concatenate([flank, flank * [1.0, -1.0]])


def _involute(angle):
    return math.tan(angle) - angle


def _tip_radius(count):
    return MODULE * (0.5 * count + ADDENDUM)


def _prism(outline):
    """The hull of a plane outline as thick as a wheel."""
    levels = [np.column_stack([outline, np.full(len(outline), z)]) for z in (-0.5 * _WIDTH, 0.5 * _WIDTH)]
    return ConvexHull.from_points(np.concatenate(levels))


def _mesh_wheels(teeth, directions):
    """Centres [wheel, 2] at which the pitch circles touch, and angles [rad] at which teeth face gaps.

    Let a tooth of one wheel be the share p of its pitch behind the line of centres, and one of the other the share q.
    The wheels turn against each other, so where they meet these lie on either side of the line: a tooth is in the
    middle of a gap where p + q is a half.
    """
    centers, angles = [np.zeros(2)], [0.0]
    for number, direction in enumerate(directions):
        first, second = teeth[number], teeth[number + 1]
        distance = 0.5 * MODULE * (first + second)
        centers.append(centers[-1] + distance * np.array([math.cos(direction), math.sin(direction)]))
        p = first * (direction - angles[-1]) / (2.0 * math.pi)
        angles.append((direction + math.pi - 2.0 * math.pi * (0.5 - p) / second) % (2.0 * math.pi / second))
    return np.array(centers), angles


def _turned(angle):
    return rotations.multiply(_UPRIGHT, rotations.from_rotation_vector(np.array([0.0, 0.0, angle])))


def _axle(number, place):
    """A pin with a collar at either end of its wheel, from the plate behind it."""
    collar = 0.5 * (_WIDTH + _COLLAR_WIDTH) + END_PLAY
    pin = Cylinder(PIN_RADIUS, 0.5 * _WIDTH + END_PLAY)
    ends = [Cylinder(_COLLAR_RADIUS, 0.5 * _COLLAR_WIDTH, position=(0.0, 0.0, z)) for z in (-collar, collar)]
    return SceneBody(
        name=f"Axle.{number + 1}",
        shape=Compound([pin, *ends]),
        kind=BodyKind.STATIC,
        position=place,
        orientation=tuple(map(float, _UPRIGHT)),
        friction=_AXLE_FRICTION,
        color=(0.45, 0.47, 0.5),
    )


def _plate(lower, upper):
    """What holds the axles: it stands behind the wheels, which reach from ``lower`` to ``upper`` in x and z."""
    front = 0.5 * _WIDTH + END_PLAY + _COLLAR_WIDTH
    half_length, half_height = 0.5 * (upper[0] - lower[0]) + _MARGIN, 0.5 * (upper[1] + _MARGIN)
    return SceneBody(
        name="Plate",
        shape=Box((half_length, _PLATE_HALF_WIDTH, half_height)),
        kind=BodyKind.STATIC,
        position=(0.5 * float(lower[0] + upper[0]), front + _PLATE_HALF_WIDTH, half_height),
        friction=_AXLE_FRICTION,
        color=(0.3, 0.33, 0.38),
    )
