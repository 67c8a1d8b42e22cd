"""Ready-made scenes, free of Blender: what ``cairn demo`` shows and what tests and benchmarks simulate.

A scene is data; ``Scene.build_model`` turns it into a model, the add-on turns it into objects.
"""

from .arch import arch
from .balls import ball_pool, cradle
from .boulders import boulders
from .bridge import bridge
from .car import car
from .cards import card_house
from .chain import chain
from .clock import clock
from .crane import crane
from .dominoes import dominoes
from .drawbridge import drawbridge
from .gears import gears
from .pile import pile
from .pyramid import pyramid
from .ragdoll import ragdoll
from .scene import Scene, SceneBody, SceneJoint
from .snakes import hanging_snake, standing_snake
from .spinning import tops, tumbling_handle
from .stacks import heavy_stack, stack
from .walker import walker
from .wall import standing_wall, wall
from .wrecking_ball import wrecking_ball

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
    "bridge": bridge,
    "wrecking_ball": wrecking_ball,
    "ragdoll": ragdoll,
    "drawbridge": drawbridge,
    "car": car,
    "clock": clock,
    "crane": crane,
    "walker": walker,
    "standing_snake": standing_snake,
    "hanging_snake": hanging_snake,
}

__all__ = [
    "SCENES",
    "Scene",
    "SceneBody",
    "SceneJoint",
    "arch",
    "ball_pool",
    "boulders",
    "bridge",
    "car",
    "card_house",
    "chain",
    "clock",
    "cradle",
    "crane",
    "dominoes",
    "drawbridge",
    "gears",
    "hanging_snake",
    "heavy_stack",
    "pile",
    "pyramid",
    "ragdoll",
    "stack",
    "standing_snake",
    "standing_wall",
    "tops",
    "tumbling_handle",
    "walker",
    "wall",
    "wrecking_ball",
]
