import bpy

settings = bpy.context.scene.cairn

settings.method = "auto"
settings.quality = "production"
settings.friction = "cone"
settings.substeps = 4
settings.tolerance = 1e-6
settings.max_iterations = 0
