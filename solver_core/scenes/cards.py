"""A house of cards: leaning pairs, and level cards across them for the next storey.

A leaning card touches the floor and its partner along edges only. With its own weight W it pushes its partner by
W tan(lean) / 2 and its foot outwards likewise; loaded from above by up to tan(lean) times the load: 0.40 at 22 degrees,
so friction must be above that.
"""

import colorsys
import math

from ..geometry.shapes import Box
from .scene import Scene, SceneBody, floor

_LENGTH, _WIDTH, _THICKNESS = 1.0, 0.7, 0.02  # of a card [m]
_LEAN = math.radians(22.0)
# Distance of the pairs, and how far a level card reaches beyond the outermost pair [m].
_PITCH = 0.94
_OVERHANG = 0.03
# Between two level cards that end on the same pair [m].
_GAP = 0.005
_DENSITY = 10.0  # [kg/m^3]


def card_house(levels: int = 3) -> Scene:
    """A house of this many storeys; the lowest has as many leaning pairs as the house has storeys.

    Level cards are cut so that none overlap: those at the ends of a storey cover both cards of the outermost pair,
    without which its pair would be loaded on one side and fall.

    Parameters
    ----------
    levels : int
    """
    cosine, sine = math.cos(_LEAN), math.sin(_LEAN)
    height = _LENGTH * cosine + _THICKNESS * sine
    bodies = []
    base = 0.0
    for level in range(levels):
        pairs = levels - level
        for pair in range(pairs):
            middle = _PITCH * (pair - 0.5 * (pairs - 1))
            for side in (-1.0, 1.0):
                place = middle + side * 0.5 * (_LENGTH * sine + _THICKNESS * cosine)
                bodies.append(_card(bodies, _LENGTH, (place, 0.0, base + 0.5 * height), -side * _LEAN))
        base += height
        for bay in range(pairs - 1):
            left = _PITCH * (bay - 0.5 * (pairs - 1)) + (-_OVERHANG if bay == 0 else 0.5 * _GAP)
            right = _PITCH * (bay + 1 - 0.5 * (pairs - 1)) + (_OVERHANG if bay == pairs - 2 else -0.5 * _GAP)
            centre = (0.5 * (left + right), 0.0, base + 0.5 * _THICKNESS)
            bodies.append(_card(bodies, right - left, centre, 0.5 * math.pi))
        base += _THICKNESS
    return Scene(
        name="cards",
        title=f"A house of cards of {levels} storeys",
        bodies=[floor(), *bodies],
        frame_count=120,
        camera=(0.7 * levels + 0.8, -2.2 * levels - 1.2, 0.8 * levels),
        target=(0.0, 0.0, 0.47 * levels),
    )


def _card(bodies, length, position, turn) -> SceneBody:
    """One card, upright but for a turn about y."""
    number = len(bodies)
    return SceneBody(
        name=f"Card.{number + 1:03d}",
        shape=Box((0.5 * _THICKNESS, 0.5 * _WIDTH, 0.5 * length)),
        mass=_DENSITY * _THICKNESS * _WIDTH * length,
        position=position,
        orientation=(math.cos(0.5 * turn), 0.0, math.sin(0.5 * turn), 0.0),
        color=colorsys.hsv_to_rgb(0.0 if number % 2 else 0.6, 0.55, 0.85),
    )
