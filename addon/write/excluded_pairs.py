"""Pairs of bodies that are not to touch: as Blender has it, by constraints with *Disable Collisions*."""

import bpy

# The empty of a constraint that does nothing else [m].
_EMPTY_SIZE = 0.1


def exclude(scene: bpy.types.Scene, first: bpy.types.Object, second: bpy.types.Object) -> bpy.types.Object:
    """Let two bodies of a scene never touch each other.

    A constraint that is switched off does this, too, in Blender as here, and nothing else.

    Parameters
    ----------
    scene : bpy.types.Scene
        With a Rigid Body World.
    first, second : bpy.types.Object
        Bodies of it.

    Returns
    -------
    bpy.types.Object
        With the constraint that does it: one that is there between the two, else a new empty beside ``first``.
    """
    world = scene.rigidbody_world
    if world.constraints is None:
        world.constraints = bpy.data.collections.new("RigidBodyConstraints")
    for ob in world.constraints.all_objects:
        constraint = ob.rigid_body_constraint
        is_theirs = constraint is not None and {constraint.object1, constraint.object2} == {first, second}
        if is_theirs and ob.is_editable:
            constraint.disable_collisions = True
            return ob
    ob = bpy.data.objects.new(f"{first.name} Passes {second.name}", None)
    ob.empty_display_type, ob.empty_display_size = "PLAIN_AXES", _EMPTY_SIZE
    ob.location = first.matrix_world.translation
    _home_of(scene, first).objects.link(ob)
    world.constraints.objects.link(ob)  # and Blender makes it a constraint
    constraint = ob.rigid_body_constraint
    constraint.object1, constraint.object2 = first, second
    constraint.enabled, constraint.disable_collisions = False, True
    return ob


def _home_of(scene, ob):
    """The collection of the scene in which an object is, or the scene's own one."""
    world, inside = scene.rigidbody_world, scene.collection.children_recursive
    for collection in ob.users_collection:
        if collection in inside and collection.is_editable and collection not in (world.collection, world.constraints):
            return collection
    return scene.collection
