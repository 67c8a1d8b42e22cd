"""Who collides with whom in a scene: Blender's collections and the joints that let their bodies pass."""

import bpy
import pytest

from cairn.addon.read.scene_export import export_scene


def joint(maker, name, first, second, **settings):
    """A rigid-body constraint between two objects, in the world's collection of constraints."""
    if maker.world.constraints is None:
        maker.world.constraints = bpy.data.collections.new("RigidBodyConstraints")
    ob = maker.object(name)
    maker.world.constraints.objects.link(ob)
    if ob.rigid_body_constraint is None:
        with bpy.context.temp_override(object=ob, active_object=ob, selected_objects=[ob]):
            bpy.ops.rigidbody.constraint_add()
    ob.rigid_body_constraint.object1, ob.rigid_body_constraint.object2 = first, second
    for key, value in settings.items():
        setattr(ob.rigid_body_constraint, key, value)
    return ob


def excluded_names(export):
    """Pairs of names that do not collide, read from the model."""
    count, names = export.model.body_count, export.model.names
    return {frozenset((names[key // count], names[key % count])) for key in export.model.arrays.excluded_pairs}


@pytest.mark.parametrize(
    ("settings", "passes"),
    [
        ({"type": "HINGE", "disable_collisions": True}, True),
        ({"type": "GENERIC_SPRING", "disable_collisions": True}, True),
        ({"type": "HINGE", "disable_collisions": False}, False),
        # in Blender, too, what is switched off does not act but lets its bodies pass
        ({"type": "HINGE", "disable_collisions": True, "enabled": False}, True),
    ],
)
def test_disable_collisions_lets_the_joined_bodies_pass(maker, settings, passes):
    """The two bodies of the joint do not collide, whatever its type; a third one is not touched."""
    bodies = [maker.body(name, location=(x, 0, 0)) for x, name in enumerate(("Gate", "Post", "Wall"))]
    joint(maker, "Joint", bodies[1], bodies[0], **settings)
    assert excluded_names(export_scene(maker.scene)) == ({frozenset(("Gate", "Post"))} if passes else set())


def test_joints_of_one_body_or_of_strangers_exclude_nothing(maker):
    """A joint with one object only, with one object twice, and with an object that is no body of the world."""
    body = maker.body("Body")
    stranger = maker.object("Stranger", maker.mesh())
    for number, (first, second) in enumerate([(body, None), (body, body), (body, stranger)]):
        joint(maker, f"Joint{number}", first, second, disable_collisions=True)
    assert len(export_scene(maker.scene).model.arrays.excluded_pairs) == 0
