import bpy

body = bpy.context.object.rigid_body
matter = bpy.context.object.cairn

body.friction = 0.95
body.restitution = 0.84
matter.use_density = True
matter.density = 2500.0
matter.use_sliding_friction = True
matter.sliding_friction = 0.63
matter.friction_rule = "PRODUCT"
matter.bounce_rule = "PRODUCT"
matter.rolling_friction = 0.002
matter.spinning_friction = 0.002
