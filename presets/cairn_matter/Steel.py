import bpy

body = bpy.context.object.rigid_body
matter = bpy.context.object.cairn

body.friction = 0.77
body.restitution = 0.87
matter.use_density = True
matter.density = 7850.0
matter.use_sliding_friction = True
matter.sliding_friction = 0.63
matter.friction_rule = "PRODUCT"
matter.bounce_rule = "PRODUCT"
matter.rolling_friction = 0.002
matter.spinning_friction = 0.002
