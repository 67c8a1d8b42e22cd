import bpy

settings = bpy.context.scene.cairn

settings.method = "auto"
settings.quality = "production"
settings.friction = "cone"
settings.substeps = 4
settings.max_substeps = 16
settings.tolerance = 1e-6
settings.max_iterations = 0
settings.directions = 8
settings.relaxation = 0.0
settings.alpha = 0.0
settings.conjugacy = "fletcher_reeves"
settings.line_search = False
settings.strategy = "perturbation"
settings.warm_start_sweeps = 10
settings.seed = 0
