import bpy

body = bpy.context.object.rigid_body
matter = bpy.context.object.cairn

body.friction = 0.59
body.restitution = 0.3
matter.use_density = True
matter.density = 800.0
matter.use_sliding_friction = True
matter.sliding_friction = 0.53
matter.friction_rule = "PRODUCT"
matter.bounce_rule = "PRODUCT"
matter.rolling_friction = 0.02
matter.spinning_friction = 0.02
