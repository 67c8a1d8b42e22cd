import bpy

body = bpy.context.object.rigid_body
matter = bpy.context.object.cairn

body.friction = 0.67
body.restitution = 0.67
matter.use_density = True
matter.density = 700.0
matter.use_sliding_friction = True
matter.sliding_friction = 0.55
matter.friction_rule = "PRODUCT"
matter.bounce_rule = "PRODUCT"
matter.rolling_friction = 0.01
matter.spinning_friction = 0.01
