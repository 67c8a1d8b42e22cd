import bpy

settings = bpy.context.scene.cairn

settings.method = "nncg"
settings.friction = "box"
settings.substeps = 4
settings.tolerance = 1e-6
settings.max_iterations = 0
