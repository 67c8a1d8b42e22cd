"""A trajectory and the exported scene come in; keyframes of location and rotation go out, as F-curves of the objects.
Earlier animation is kept, and restored when the bake is deleted. Nothing else writes animation.
"""
