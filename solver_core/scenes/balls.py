"""Balls: Newton's cradle in a smooth valley, and a pool that they fall into."""

import colorsys
import math

import numpy as np

from ..geometry.shapes import Box, Sphere
from ..model.model import BodyKind
from .scene import Scene, SceneBody, floor

_RADIUS = 0.25  # of the cradle's balls [m]
# The valley: a level middle, and on either side segments of this length [m], each steeper by this angle [rad].
_LEVEL, _SEGMENT, _STEP, _SEGMENTS = 4.0, 0.35, math.radians(4.0), 7
_TRACK = (0.32, 0.35, 0.38)


def cradle(count: int = 5, moving: int = 1) -> Scene:
    """Newton's cradle without strings: elastic balls in a valley without friction.

    Parameters
    ----------
    count, moving : int
        Balls, and how many of them start on the slope.
    """
    track = [_plate("Track.level", (0.0, 0.0), (0.5 * _LEVEL, 0.0), 0.0, centred=True)]
    start = None
    for side in (-1.0, 1.0):
        x, z = side * 0.5 * _LEVEL, 0.0
        for segment in range(1, _SEGMENTS + 1):
            slope = segment * _STEP
            end = (x + side * _SEGMENT * math.cos(slope), z + _SEGMENT * math.sin(slope))
            track.append(_plate(f"Track.{'left' if side < 0 else 'right'}.{segment}", (x, z), end, slope))
            if side < 0.0 and segment == _SEGMENTS - 1:
                start = (end, slope)
            x, z = end
    (x, z), slope = start
    first = (x + _RADIUS * math.sin(slope), z + _RADIUS * math.cos(slope))
    balls = []
    for ball in range(count):
        place = 2.0 * _RADIUS * (ball - 0.5 * (count - 1))
        position = (place, 0.0, _RADIUS)
        if ball < moving:
            behind = 2.0 * _RADIUS * (moving - 1 - ball)
            position = (first[0] - behind * math.cos(slope), 0.0, first[1] + behind * math.sin(slope))
        balls.append(
            SceneBody(
                name=f"Ball.{ball + 1}",
                shape=Sphere(_RADIUS),
                position=position,
                friction=0.0,
                restitution=1.0,
                color=colorsys.hsv_to_rgb(0.08 if ball < moving else 0.58, 0.6, 0.85),
            )
        )
    return Scene(
        name="cradle",
        title="Newton's cradle in a valley",
        bodies=[*track, *balls],
        frame_count=240,
        camera=(0.0, -8.5, 2.6),
        target=(0.0, 0.0, 0.5),
    )


def _plate(name, start, end, slope, centred=False) -> SceneBody:
    """A piece of the track from one point (x, z) to another, seen from its upper side; its restitution is 0."""
    if centred:
        start = (-end[0], end[1])
    middle = np.array([0.5 * (start[0] + end[0]), 0.5 * (start[1] + end[1])])
    half_length = 0.5 * math.hypot(end[0] - start[0], end[1] - start[1])
    turn = -math.copysign(slope, end[0] - start[0])  # about y, which turns x towards -z
    half_thickness = 0.05
    middle -= half_thickness * np.array([math.sin(turn), math.cos(turn)])
    return SceneBody(
        name=name,
        shape=Box((half_length, 0.5, half_thickness)),
        kind=BodyKind.STATIC,
        position=(float(middle[0]), 0.0, float(middle[1])),
        orientation=(math.cos(0.5 * turn), 0.0, math.sin(0.5 * turn), 0.0),
        friction=0.0,
        color=_TRACK,
    )


def ball_pool(count: int = 150, seed: int = 0) -> Scene:
    """Balls of three sizes fall into a pool.

    Parameters
    ----------
    count, seed : int
    """
    rng = np.random.default_rng(seed)
    half, wall, height = 1.5, 0.1, 1.6
    sides = [
        SceneBody(
            name=f"Wall.{place + 1}",
            shape=Box((half + 2 * wall, wall, 0.5 * height) if y else (wall, half, 0.5 * height)),
            kind=BodyKind.STATIC,
            position=(x * (half + wall), y * (half + wall), 0.5 * height),
            restitution=0.5,
            color=_TRACK,
        )
        for place, (x, y) in enumerate([(-1, 0), (1, 0), (0, 1), (0, -1)])
    ]
    pitch, radii = 0.5, (0.12, 0.16, 0.2)
    side = int(2 * (half - 0.25) / pitch) + 1
    balls = []
    for number in range(count):
        layer, place = divmod(number, side * side)
        row, column = divmod(place, side)
        kind = int(rng.integers(3))
        shift = rng.uniform(-0.03, 0.03, 3)
        balls.append(
            SceneBody(
                name=f"Ball.{number + 1:04d}",
                shape=Sphere(radii[kind]),
                mass=1e3 * radii[kind] ** 3,
                position=(
                    pitch * (column - 0.5 * (side - 1)) + shift[0],
                    pitch * (row - 0.5 * (side - 1)) + shift[1],
                    0.4 + pitch * layer + shift[2],
                ),
                friction=0.6,
                restitution=0.7,
                color=colorsys.hsv_to_rgb((0.02, 0.14, 0.55)[kind], 0.65, 0.9),
            )
        )
    return Scene(
        name="ball_pool",
        title=f"{count} balls fall into a pool",
        bodies=[floor(), *sides, *balls],
        frame_count=120,
        camera=(3.6, -5.4, 5.2),
        target=(0.0, 0.0, 0.7),
    )
