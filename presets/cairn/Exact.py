import bpy

settings = bpy.context.scene.cairn

settings.method = "auto"
settings.quality = "exact"
settings.friction = "cone"
settings.substeps = 10
settings.tolerance = 1e-9
settings.max_iterations = 2000
