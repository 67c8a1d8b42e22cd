"""Ready-made scenes, free of Blender: what ``cairn demo`` shows and what tests and benchmarks simulate.

A scene is data; ``Scene.build_model`` turns it into a model, the add-on turns it into objects.
"""

from .arch import arch
from .cards import card_house
from .chain import chain
from .pile import pile
from .pyramid import pyramid
from .scene import Scene, SceneBody
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
}

__all__ = [
    "SCENES",
    "Scene",
    "SceneBody",
    "arch",
    "card_house",
    "chain",
    "heavy_stack",
    "pile",
    "pyramid",
    "stack",
    "standing_wall",
    "wall",
]
