import bpy

settings = bpy.context.scene.cairn

settings.method = "nncg"
settings.friction = "box"
settings.substeps = 2
settings.tolerance = 1e-4
settings.max_iterations = 200
