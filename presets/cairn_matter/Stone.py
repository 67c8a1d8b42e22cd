import bpy

body = bpy.context.object.rigid_body
matter = bpy.context.object.cairn

body.friction = 0.8
body.restitution = 0.55
matter.use_density = True
matter.density = 2600.0
matter.use_sliding_friction = True
matter.sliding_friction = 0.7
matter.friction_rule = "PRODUCT"
matter.bounce_rule = "PRODUCT"
matter.rolling_friction = 0.01
matter.spinning_friction = 0.01
