"""Ready-made scenes, free of Blender: what ``cairn demo`` shows and what tests and benchmarks simulate.

A scene is data; ``Scene.build_model`` turns it into a model, the add-on turns it into objects.
"""

from .arch import arch
from .balls import ball_pool, cradle
from .boulders import boulders
from .cards import card_house
from .chain import chain
from .dominoes import dominoes
from .gears import gears
from .pile import pile
from .pyramid import pyramid
from .scene import Scene, SceneBody
from .spinning import tops, tumbling_handle
from .stacks import heavy_stack, stack
from .wall import standing_wall, wall

# name -> function without arguments that makes the scene
SCENES = {
    "wall": wall,
    "bricks": standing_wall,
    "stack": stack,
    "heavy": heavy_stack,
    "pyramid": pyramid,
    "pile": pile,
    "arch": arch,
    "cards": card_house,
    "chain": chain,
    "dominoes": dominoes,
    "cradle": cradle,
    "ball_pool": ball_pool,
    "tops": tops,
    "tumbling": tumbling_handle,
    "gears": gears,
    "boulders": boulders,
}

__all__ = [
    "SCENES",
    "Scene",
    "SceneBody",
    "arch",
    "ball_pool",
    "boulders",
    "card_house",
    "chain",
    "cradle",
    "dominoes",
    "gears",
    "heavy_stack",
    "pile",
    "pyramid",
    "stack",
    "standing_wall",
    "tops",
    "tumbling_handle",
    "wall",
]
