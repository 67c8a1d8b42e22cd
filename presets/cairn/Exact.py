import bpy

settings = bpy.context.scene.cairn

settings.method = "nncg"
settings.friction = "box"
settings.substeps = 10
settings.tolerance = 1e-9
settings.max_iterations = 2000
