import bpy

body = bpy.context.object.rigid_body
matter = bpy.context.object.cairn

body.friction = 0.55
body.restitution = 0.77
matter.use_density = True
matter.density = 950.0
matter.use_sliding_friction = True
matter.sliding_friction = 0.5
matter.friction_rule = "PRODUCT"
matter.bounce_rule = "PRODUCT"
matter.rolling_friction = 0.005
matter.spinning_friction = 0.005
