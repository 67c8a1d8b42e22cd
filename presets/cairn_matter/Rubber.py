import bpy

body = bpy.context.object.rigid_body
matter = bpy.context.object.cairn

body.friction = 1.0
body.restitution = 0.9
matter.use_density = True
matter.density = 1100.0
matter.use_sliding_friction = True
matter.sliding_friction = 0.9
matter.friction_rule = "PRODUCT"
matter.bounce_rule = "PRODUCT"
matter.rolling_friction = 0.02
matter.spinning_friction = 0.02
