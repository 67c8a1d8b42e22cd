"""Ready-made scenes, free of Blender: what ``cairn demo`` shows and what tests and benchmarks simulate.

A scene is data; ``Scene.build_model`` turns it into a model, the add-on turns it into objects.
"""

from .scene import Scene, SceneBody
from .stacks import stack
from .wall import wall

# name -> function without arguments that makes the scene
SCENES = {"wall": wall, "stack": stack}

__all__ = ["SCENES", "Scene", "SceneBody", "stack", "wall"]
