"""Single scenes of a known size, beside the families: what others have measured, or what users make."""

import numpy as np

from .moving import grown, shot
from .scene import Scene, box, floor, random_turn, turn
from .standing import rough

_FRAMES_A_SECOND = 24


def pack(random) -> Scene:
    """1,000 boxes of 0.8 m in 10 x 10 x 10 layers at pitches 1.0 and 1.2, turned about the vertical; 4 s."""
    boxes = [
        box(
            (0.4, 0.4, 0.4),
            position=(x - 4.5, y - 4.5, 0.4 + 1.2 * z),
            orientation=turn("z", random.uniform(0.0, 2.0 * np.pi)),
        )
        for z, y, x in np.ndindex(10, 10, 10)
    ]
    return Scene("pack", rough([floor(), *boxes], 0.5), overlap=0.15, frames=4 * _FRAMES_A_SECOND)


def bricks(random) -> Scene:
    """A wall of 200 bricks that overlap at the start by up to 5 % stands, and four balls hit it from 1 s on; 5 s."""
    length, width, height = 1.0, 0.5, 0.4
    wall = []
    for course in range(10):
        for brick in range(20):
            shift = 0.25 * length if course % 2 else -0.25 * length
            place = ((brick - 9.5) * length + shift, 0.0, (course + 0.5) * height)
            plain = box((0.5 * length, 0.5 * width, 0.5 * height), mass=50.0, position=place)
            wall.append(grown(plain, random.uniform(0.0, 0.025)))
    balls = [
        shot(random, wall, along, arrival, 200.0, 0.5)
        for along, arrival in zip((-0.6, 0.2, -0.2, 0.6), (1.0, 1.5, 2.0, 2.5), strict=True)
    ]
    return Scene("bricks", rough([floor(), *wall, *balls], 0.5), overlap=0.05, frames=5 * _FRAMES_A_SECOND)


def rain(random) -> Scene:
    """10,000 boxes of 1 m, turned at random, fall from a grid of 20 x 20 x 25 into a heap; 5 s."""
    pitch = 1.8  # above the diagonal
    boxes = [
        box(
            (0.5, 0.5, 0.5),
            position=(pitch * (x - 9.5), pitch * (y - 9.5), pitch * (z + 0.6)),
            orientation=random_turn(random),
        )
        for z, y, x in np.ndindex(25, 20, 20)
    ]
    return Scene("rain", rough([floor(), *boxes], 0.5), frames=5 * _FRAMES_A_SECOND)


NAMED = {"pack": pack, "bricks": bricks, "rain": rain}
