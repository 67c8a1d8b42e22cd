"""Kinds of bodies, their families and their joints."""

import math

import bpy
from mathutils import Matrix

from .kinds import LAST, ROCK, bodies, kind
from .motion import keep_place
from .time_and_files import library, own_collection

# Bodies, their families and their joints


@kind(reopen=True)
def floor_that_is_active_and_not_dynamic(m):
    floor = m.scene.objects["Floor"]
    floor.rigid_body.type, floor.rigid_body.enabled = "ACTIVE", False


@kind(reopen=True)
def pusher_that_is_passive(m):
    pusher = m.scene.objects["Pusher"]
    pusher.rigid_body.type = "PASSIVE"


@kind(reopen=True)
def one_layer_of_many(m):
    for ob in bodies(m):
        ob.rigid_body.collision_collections = [bit == 13 for bit in range(20)]


@kind("collides with nothing", reopen=True)
def body_in_no_layer(m):
    other = m.body("Other", shape="BOX", location=(9, 9, 9))
    other.rigid_body.collision_collections = [False] * 20


@kind("is not in the scene", reopen=True)
def body_of_another_scene(m):
    scene = bpy.data.scenes.new("Another")
    ob = bpy.data.objects.new("Elsewhere", m.mesh())
    scene.collection.objects.link(ob)
    m.world.collection.objects.link(ob)
    ob.location, ob.rigid_body.type = (50, 50, 50), "PASSIVE"


@kind("Other", "not in the Rigid Body World's collection", reopen=True)
def body_outside_of_the_world(m):
    other = m.body("Other", shape="BOX", location=(0, 0, 0.5))
    m.world.collection.objects.unlink(other)


@kind(reopen=True)
def flipped_normals(m):
    m.scene.objects["Rock"].data.flip_normals()


@kind(reopen=True)
def parent_with_an_inverse(m):
    parent = m.object("Parent", location=(5, 6, 7), rotation_euler=(0.3, 0.4, 0.5))
    keep_place(m.scene.objects["Rock"], parent)
    m.scene.objects["Rock"].matrix_parent_inverse @= Matrix.Rotation(math.pi, 4, "Z")
    bpy.context.view_layer.update()
    m.scene.objects["Rock"].matrix_world = Matrix.LocRotScale((3, 0, 0.9), ROCK, (1, 1, 1))


@kind(reopen=True)
def parents_that_are_many(m):
    above = None
    for number in range(30):
        parent = m.object(f"Parent {number}", location=(0, 0, 0.1))
        parent.parent, above = above, parent
    m.scene.objects["Rock"].parent = above
    m.scene.objects["Rock"].location.z -= 3.0


@kind(reopen=True)
def moving_parent_of_a_body_that_falls(m):
    """Its keys are those of a rock that falls beside it."""
    parent = m.object("Parent")
    m.key(parent, "location", {1: (0, 0, 0), LAST: (0, 0, 5)})
    m.scene.objects["Rock"].parent = parent


@kind(reopen=True)
def turning_parent_of_a_body_that_falls(m):
    parent = m.object("Parent")
    m.key(parent, "rotation_euler", {1: (0, 0, 0), LAST: (0, 0, 3)})
    m.scene.objects["Rock"].parent = parent


@kind("is simulated: it collides where it stood", same=False, reopen=True)
def passive_child_of_a_body(m):
    child = m.body("Child", type="PASSIVE", shape="BOX", location=(0, 0, 30))
    child.parent = m.scene.objects["Rock"]


@kind(reopen=True)
def body_below_a_body(m):
    keep_place(m.scene.objects["Rock"], m.scene.objects["Ball"])


@kind(reopen=True)
def chain_of_bodies_in_another_order(m):
    ball, rock, _, pusher = bodies(m)
    rock.name = "A"
    keep_place(ball, rock)
    rock.name = "Rock"
    keep_place(rock, pusher)


@kind(reopen=True)
def lone_bone_constraint(m):
    rig = m.object("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.new("Bone").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.pose.bones["Bone"].constraints.new("COPY_LOCATION").target = m.scene.objects["Rock"]


@kind(reopen=True)
def keyed_visibility(m):
    for ob in bodies(m):
        for frame, hidden in ((1, False), (4, True)):
            ob.hide_viewport = ob.hide_render = hidden
            ob.keyframe_insert("hide_render", frame=frame)


@kind(reopen=True)
def rays_and_holdouts(m):
    rock = m.scene.objects["Rock"]
    rock.visible_camera, rock.visible_shadow, rock.is_holdout = False, False, True
    rock.lineart.usage = "EXCLUDE"


@kind(reopen=True)
def layer_collection_flags(m):
    _, layer = own_collection(m)
    layer.holdout = layer.indirect_only = True


@kind("Joint", reopen=True)
def joint_to_itself(m):
    empty = m.object("Joint")
    bpy.context.view_layer.objects.active = empty
    bpy.ops.rigidbody.constraint_add()
    empty.rigid_body_constraint.object1 = empty.rigid_body_constraint.object2 = m.scene.objects["Rock"]


@kind(reopen=True)
def no_collection_of_joints(m):
    m.world.constraints = None


@kind("constraints: it takes no part", reopen=True)
def joint_outside_of_the_world(m):
    empty = m.object("Joint")
    bpy.context.view_layer.objects.active = empty
    bpy.ops.rigidbody.constraint_add()
    empty.rigid_body_constraint.object1 = m.scene.objects["Rock"]
    empty.rigid_body_constraint.object2 = m.scene.objects["Floor"]
    m.world.constraints.objects.unlink(empty)


@kind("its part Part is animated", same=False, reopen=True)
def animated_part_of_a_compound(m):
    compound = m.body("Compound", shape="COMPOUND", type="PASSIVE", location=(0, 40, 0))
    part = m.body("Part", shape="BOX")
    part.parent = compound
    m.key(part, "location", {1: (0, 0, 0), 5: (1, 0, 0)})


@kind("is a shape of its compound parent", reopen=True)
def hidden_part_of_a_compound(m):
    compound = m.body("Compound", shape="COMPOUND", type="PASSIVE", location=(0, 40, 0))
    part = m.body("Part", shape="BOX")
    part.parent, part.hide_viewport = compound, True


@kind(reopen=True)
def linked_part_of_a_compound(m, tmp):
    """Its floor is a compound, whose part comes from another file with its parent."""
    compound = m.body("Compound", shape="COMPOUND", type="PASSIVE", location=(0, 40, 0))
    m.body("Part", shape="BOX").parent = compound
    library(m, tmp, ["Compound", "Part"])


@kind("Other", "kind Boid", reopen=True)
def field_that_is_not_known(m):
    other = m.object("Other")
    bpy.context.view_layer.objects.active = other
    bpy.ops.object.forcefield_toggle()
    other.field.type = "BOID"


@kind(reopen=True)
def sequencer_and_compositor(m):
    editor = m.scene.sequence_editor_create()
    strips = editor.strips if hasattr(editor, "strips") else editor.sequences
    strips.new_effect("Red", "COLOR", channel=1, frame_start=1, **_length(5))


def _length(frames):
    return {"length": frames} if bpy.app.version >= (5, 0, 0) else {"frame_end": 1 + frames}


@kind(reopen=True)
def texts_and_handlers_that_do_not_run(m):
    text = bpy.data.texts.new("run.py")
    text.write("import bpy\nbpy.data.objects['Rock'].location.x = 99\n")
    text.use_module = True


@kind(reopen=True)
def custom_names_like_the_bakes(m):
    rock = m.scene.objects["Rock"]
    rock["is_baked"], rock["earlier_state"] = True, "none"
    m.scene["is_baked"] = True


@kind(reopen=True)
def copies_of_the_scene(m):
    """A linked copy has the same objects, and a world of its own."""
    copy = m.scene.copy()
    copy.name = "Copy"


@kind(reopen=True)
def action_that_others_use(m):
    """An action of the rock's looks, which a prop uses, too."""
    rock = m.scene.objects["Rock"]
    rock.keyframe_insert("color", frame=1)
    prop = m.object("Prop", m.mesh(), location=(0, 60, 0))
    data = prop.animation_data_create()
    data.action, data.action_slot = rock.animation_data.action, rock.animation_data.action_slot


@kind("its keys of location", reopen=True)
def keys_of_one_axis(m):
    rock = m.scene.objects["Rock"]
    for frame in (1, 40):
        rock.keyframe_insert("location", index=1, frame=frame)


@kind(reopen=True)
def keys_of_another_rotation_mode(m):
    """Blender plays none of them."""
    rock = m.scene.objects["Rock"]
    for frame in (1, 40):
        rock.rotation_quaternion = (1, frame, 0, 0)
        rock.keyframe_insert("rotation_quaternion", frame=frame)
