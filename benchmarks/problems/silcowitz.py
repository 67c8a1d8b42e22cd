"""The scenes on which nncg was published.

Silcowitz-Hansen, Niebe and Erleben 2010, figure 4, shows them in pictures; table 1 counts bodies, rows and ranks. From
the ranks follows how many bodies move; sizes and places are chosen here so that the numbers of rows come near.
"""

import colorsys
import math

from cairn.solver_core.geometry import rotations
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.shapes import Box
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.scenes.scene import Scene, SceneBody, floor
from cairn.solver_core.scenes.snakes import hanging_snake, standing_snake

# Below the angle of friction, 27 degrees, and where a stack of three would tip over, 18 degrees.
_SLOPE_DEGREES = 15.0
_SLOPE_OF_THE_BOND_DEGREES = 12.0
_GEAR_CORNERS = 12
_GEAR_THICKNESS = 0.4
_HEAVY = 100.0


def slope() -> Scene:
    """(a) Nine boxes on an inclined surface, three stacks of which two touch, held by friction."""
    # two of the stacks touch
    boxes = [(x, 0.5 + level) for x in (0.0, 1.0, 2.05) for level in range(3)]
    return _scene("slope", "Boxes on a slope", _tilted(boxes, _SLOPE_DEGREES), 4.0)


def bond() -> Scene:
    """(b) Twenty-six bricks in bond on a slope, each on two others: friction alone holds them."""
    bricks = [(1.05 * (place - 0.5 * (7 - row)), 0.5 + row) for row in range(5) for place in range(7 - row)]
    bricks.append((bricks[-2][0], 5.5))
    return _scene("bond", "A large stack on a slope", _tilted(bricks, _SLOPE_OF_THE_BOND_DEGREES), 8.0)


def equal_stack() -> Scene:
    """(c) Nine boxes of equal mass in three rows, each on two."""
    places = [(1.1 * (place - 0.5 * (4 - row)), 0.5 + row) for row in range(3) for place in range(4 - row)]
    return _scene("equal", "A stack of equal boxes", _boxes(places), 5.0)


def flat_gears() -> Scene:
    """(d) Six gears lying in a pyramid; their hulls, so no teeth, which share up to eight points a pair."""
    places = [
        (0.55 * (2 * place - (2 - row)), _GEAR_THICKNESS * (0.5 + row)) for row in range(3) for place in range(3 - row)
    ]
    return _scene("gears", "A small pyramid of gears", _gears(places, (1.0, 0.0, 0.0, 0.0)), 3.0)


def standing_gears() -> Scene:
    """(e) Ten gears standing in a pyramid, flat on flat; their hulls, so no teeth."""
    width = math.cos(math.pi / _GEAR_CORNERS)  # between two flats
    height = width * math.sqrt(0.75)
    places = [
        (width * (place - 0.5 * (3 - row)), 0.5 * width + row * height) for row in range(4) for place in range(4 - row)
    ]
    upright = rotations.from_rotation_vector([0.5 * math.pi, 0.0, 0.0])
    return _scene("wheels", "A medium pyramid of gears", _gears(places, tuple(upright)), 4.0)


def small_stack() -> Scene:
    """(f) Four boxes of equal mass on each other."""
    return _scene("small", "A small stack", _boxes([(0.0, 0.5 + level) for level in range(4)]), 4.0)


def heavy_on_light() -> Scene:
    """(h) A box 100 times heavier across three stacks of three light ones."""
    light = _boxes([(1.1 * (column - 1), 0.5 + level) for column in range(3) for level in range(3)])
    heavy = SceneBody(
        name="Heavy", shape=Box((1.6, 0.5, 0.5)), mass=_HEAVY, position=(0.0, 0.0, 3.5), color=(0.16, 0.20, 0.26)
    )
    return _scene("across", "A heavy box on light ones", [floor(), *light[1:], heavy], 5.0)


# figure -> (scene, bodies, rows and rank of table 1)
FIGURE_4 = {
    "a": (slope, 14, 171, 54),
    "b": (bond, 30, 519, 157),
    "c": (equal_stack, 14, 156, 54),
    "d": (flat_gears, 11, 216, 36),
    "e": (standing_gears, 15, 198, 60),
    "f": (small_stack, 9, 51, 24),
    "h": (heavy_on_light, 15, 168, 62),
}

# The two with hinges, likewise.
SNAKES = {"g": (standing_snake, 7, 42, 36), "i": (hanging_snake, 7, 30, 30)}


def _boxes(places) -> list[SceneBody]:
    """A floor and unit boxes at (x, z)."""
    box = Box((0.5, 0.5, 0.5))
    return [floor()] + [
        SceneBody(name=f"Box.{index + 1:03d}", shape=box, position=(x, 0.0, z), color=_color(index))
        for index, (x, z) in enumerate(places)
    ]


def _tilted(places, degrees) -> list[SceneBody]:
    """A slope about y through the origin, and unit boxes at (x along it, z above it)."""
    tilt = rotations.from_rotation_vector([0.0, math.radians(degrees), 0.0])
    layer = SceneBody(
        name="Slope",
        shape=Box((20.0, 5.0, 0.5)),
        position=tuple(rotations.rotate(tilt, [0.0, 0.0, -0.5])),
        orientation=tuple(tilt),
        kind=BodyKind.STATIC,
        color=(0.32, 0.34, 0.37),
    )
    box = Box((0.5, 0.5, 0.5))
    return [layer] + [
        SceneBody(
            name=f"Box.{index + 1:03d}",
            shape=box,
            position=tuple(rotations.rotate(tilt, [x, 0.0, z])),
            orientation=tuple(tilt),
            color=_color(index),
        )
        for index, (x, z) in enumerate(places)
    ]


def _gears(places, orientation) -> list[SceneBody]:
    """A floor and gears of unit diameter at (x, z)."""
    corners = [(2 * k + 1) * math.pi / _GEAR_CORNERS for k in range(_GEAR_CORNERS)]
    half = 0.5 * _GEAR_THICKNESS
    gear = ConvexHull.from_points([(0.5 * math.cos(a), 0.5 * math.sin(a), z) for z in (-half, half) for a in corners])
    return [floor()] + [
        SceneBody(
            name=f"Gear.{index + 1:03d}",
            shape=gear,
            position=(x, 0.0, z),
            orientation=orientation,
            color=_color(index),
        )
        for index, (x, z) in enumerate(places)
    ]


def _color(index):
    return colorsys.hsv_to_rgb(0.08 + 0.07 * (index % 7), 0.5, 0.85)


def _scene(name, title, bodies, size) -> Scene:
    return Scene(
        name=name,
        title=title,
        bodies=bodies,
        frame_count=120,
        camera=(1.2 * size, -2.2 * size, 0.8 * size),
        target=(0.0, 0.0, 0.35 * size),
    )
