"""What a body is made of, as its panel *Matter* says: arguments of ``ModelBuilder.add_body`` beyond Blender's own."""

from ...solver_core.model.matter import CombineRule

# Properties of ``Object.cairn`` that say what a body is made of.
MATTER_SETTINGS = (
    "use_density",
    "density",
    "use_center_of_mass",
    "center_of_mass",
    "use_sliding_friction",
    "sliding_friction",
    "friction_rule",
    "bounce_rule",
    "surface_velocity",
    "use_largest_speed",
    "largest_speed",
    "rolling_friction",
    "spinning_friction",
)


def has_matter(ob) -> bool:
    """Whether an object's panel says anything that Blender's settings do not."""
    # who reads a scene from a script may not have registered the add-on
    own = getattr(ob, "cairn", None)
    if own is None:
        return False
    is_used = own.use_density or own.use_center_of_mass or own.use_sliding_friction or own.use_largest_speed
    has_rule = any(rule != CombineRule.PRODUCT.name for rule in (own.friction_rule, own.bounce_rule))
    has_value = own.rolling_friction or own.spinning_friction or any(own.surface_velocity)
    return bool(is_used or has_rule or has_value)


def matter_of(ob, settings, mass, moves) -> dict:
    """Arguments of ``add_body``.

    Parameters
    ----------
    ob : bpy.types.Object
    settings : bpy.types.RigidBodyObject
        Blender's own.
    mass : float
        That of these [kg].
    moves : bool
        Whether the simulation moves it; of other bodies no mass counts, and they may have no volume.
    """
    arguments = {"mass": mass, "friction": settings.friction, "restitution": settings.restitution}
    if not has_matter(ob):
        return arguments
    own = ob.cairn
    arguments["friction_rule"], arguments["restitution_rule"] = own.friction_rule.lower(), own.bounce_rule.lower()
    arguments["surface_velocity"] = tuple(own.surface_velocity)
    arguments["rolling_friction"], arguments["spinning_friction"] = own.rolling_friction, own.spinning_friction
    if own.use_density and moves:
        del arguments["mass"]
        arguments["density"] = own.density
    if own.use_center_of_mass and moves:
        arguments["center_of_mass"] = tuple(own.center_of_mass)
    if own.use_sliding_friction:
        arguments["sliding_friction"] = own.sliding_friction
    if own.use_largest_speed:
        arguments["largest_speed"] = own.largest_speed
    return arguments
