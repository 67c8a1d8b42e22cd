"""A brick wall in running bond, and one that a heavy ball hits."""

import colorsys

from ..geometry.shapes import Box, Sphere
from .scene import Scene, SceneBody, floor

_BRICK = (0.5, 0.25, 0.25)  # length, depth, height [m]
_BRICK_MASS = 20.0
_BALL_RADIUS = 0.35
_BALL_MASS = 600.0


def wall(columns: int = 9, courses: int = 12, ball_speed: float = 9.0) -> Scene:
    """The wall stands along x; the ball flies along y into its middle.

    Parameters
    ----------
    columns, courses : int
        Bricks a course, and courses. Every second course is shifted by half a brick, with half bricks at its ends.
    ball_speed : float
        [m/s].
    """
    start = -4.0
    ball = SceneBody(
        name="Ball",
        shape=Sphere(_BALL_RADIUS),
        mass=_BALL_MASS,
        position=(0.35, start, 1.6),
        linear_velocity=(0.0, ball_speed, 1.6),
        color=(0.16, 0.20, 0.26),
    )
    return Scene(
        name="wall",
        title="A brick wall hit by a heavy ball",
        bodies=[floor(), *brick_wall(columns, courses), ball],
        frame_count=72,
        camera=(6.4, -8.2, 3.6),
        target=(0.0, 0.6, 1.1),
    )


def standing_wall(columns: int = 14, courses: int = 12) -> Scene:
    """The wall along x and nothing else: 174 bricks, as many as Silcowitz-Hansen et al. 2010 have in their figure 7.

    Parameters
    ----------
    columns, courses : int
        As of ``wall``.
    """
    return Scene(
        name="bricks",
        title="A brick wall that stands",
        bodies=[floor(), *brick_wall(columns, courses)],
        frame_count=120,
        camera=(6.4, -9.8, 3.6),
        target=(0.0, 0.0, 1.4),
    )


def brick_wall(columns: int, courses: int) -> list[SceneBody]:
    """Bricks in running bond, along x above the origin."""
    bricks = []
    for course in range(courses):
        bricks += _course(course, columns)
    return bricks


def _course(course: int, columns: int) -> list[SceneBody]:
    """One course of bricks, from the left."""
    length, depth, height = _BRICK
    if course % 2 == 0:
        lengths = [length] * columns
    else:
        lengths = [0.5 * length] + [length] * (columns - 1) + [0.5 * length]
    left = -0.5 * length * columns
    bricks = []
    for place, brick_length in enumerate(lengths):
        tint = 0.5 + 0.5 * ((7 * course + 3 * place) % 5) / 4.0
        bricks.append(
            SceneBody(
                name=f"Brick.{course + 1:02d}.{place + 1:02d}",
                shape=Box((0.5 * brick_length, 0.5 * depth, 0.5 * height)),
                mass=_BRICK_MASS * brick_length / length,
                position=(left + 0.5 * brick_length, 0.0, (course + 0.5) * height),
                color=colorsys.hsv_to_rgb(0.035, 0.62, 0.45 + 0.35 * tint),
            )
        )
        left += brick_length
    return bricks
