import bpy

settings = bpy.context.scene.cairn

settings.method = "auto"
settings.quality = "preview"
settings.friction = "cone"
settings.substeps = 2
settings.max_substeps = 4
settings.tolerance = 1e-4
settings.max_iterations = 200
settings.directions = 8
settings.relaxation = 0.0
settings.alpha = 0.0
settings.conjugacy = "fletcher_reeves"
settings.line_search = False
settings.strategy = "perturbation"
settings.warm_start_sweeps = 10
settings.seed = 0
