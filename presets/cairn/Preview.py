import bpy

settings = bpy.context.scene.cairn

settings.method = "auto"
settings.quality = "preview"
settings.friction = "cone"
settings.substeps = 2
settings.tolerance = 1e-4
settings.max_iterations = 200
