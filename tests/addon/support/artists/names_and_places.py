"""Kinds in which a name, a place or a frame is not what it looks like."""

import math

import bpy
from mathutils import Matrix

from .kinds import KINDS, LAST, bodies, kind, refused
from .motion import rock_in_the_nla
from .time_and_files import curves, library

# More of the same, where a name, a place or a frame is not what it looks like


@kind(reopen=True)
def linked_parent_with_the_name_of_a_body(m, tmp):
    """A rock that is no body is linked, and moves the pusher and holds the ball."""
    parent = m.object("Parent", location=(0, 0, 0))
    pusher, ball = m.scene.objects["Pusher"], m.scene.objects["Ball"]
    m.scene.objects["Rock"].name = "Stone"
    parent.name = "Rock"
    bpy.data.libraries.write(str(tmp / "a library.blend"), {parent})
    bpy.data.objects.remove(parent)
    with bpy.data.libraries.load(str(tmp / "a library.blend"), link=True) as (_, wanted):
        wanted.objects = ["Rock"]
    m.scene.collection.objects.link(wanted.objects[0])
    pusher.parent = ball.parent = wanted.objects[0]
    m.scene.objects["Stone"].name = "Rock"


@kind(reopen=True, names={"Pusher": ("Pusher", "//a library.blend")})
def two_libraries_with_one_name(m, tmp):
    library(m, tmp, ["Pusher"])
    other = m.body("Pusher", type="PASSIVE", shape="BOX", location=(50, 50, 50))
    bpy.data.libraries.write(str(tmp / "another.blend"), {other})
    bpy.data.objects.remove(other)
    with bpy.data.libraries.load(str(tmp / "another.blend"), link=True) as (_, wanted):
        wanted.objects = ["Pusher"]
    m.scene.collection.objects.link(wanted.objects[0])
    m.world.collection.objects.link(wanted.objects[0])


@kind(reopen=True)
def linked_collection_of_the_world(m, tmp):
    path = tmp / "a library.blend"
    m.scene.objects["Floor"].name = "Ground"
    ground = bpy.data.collections.new("Ground")
    ground.objects.link(m.scene.objects["Ground"])
    bpy.data.libraries.write(str(path), {ground})
    bpy.data.objects.remove(m.scene.objects["Ground"])
    bpy.data.collections.remove(ground)
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.collections = ["Ground"]
    m.world.collection.children.link(wanted.collections[0])
    m.scene.collection.children.link(wanted.collections[0])


KINDS["linked_collection_of_the_world"].names["Floor"] = ("Ground", "//a library.blend")


@kind(reopen=True)
def overridden_collection(m, tmp):
    path = tmp / "a library.blend"
    props = bpy.data.collections.new("Props")
    for name in ("Ball", "Rock"):
        props.objects.link(m.scene.objects[name])
    bpy.data.libraries.write(str(path), {props})
    for name in ("Ball", "Rock"):
        bpy.data.objects.remove(m.scene.objects[name])
    bpy.data.collections.remove(props)
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.collections = ["Props"]
    m.scene.collection.children.link(wanted.collections[0])
    own = wanted.collections[0].override_hierarchy_create(m.scene, bpy.context.view_layer)
    for ob in own.all_objects:
        if ob.name not in m.world.collection.objects:
            m.world.collection.objects.link(ob)


@refused("Rock", "tweak mode")
def strip_in_tweak_mode(m):
    rock_in_the_nla(m)
    data = m.scene.objects["Rock"].animation_data
    data.nla_tracks.active = data.nla_tracks[0]
    data.nla_tracks[0].select = data.nla_tracks[0].strips[0].select = True
    data.use_tweak_mode = True


@refused("Rock", "Solo", reopen=True)
def track_that_plays_solo(m):
    rock_in_the_nla(m)
    m.scene.objects["Rock"].animation_data.nla_tracks[0].is_solo = True


@kind(reopen=True)
def muted_track(m):
    rock = m.scene.objects["Rock"]
    m.key(rock, "location", {1: (9, 9, 9)})
    data = rock.animation_data
    action, slot = data.action, data.action_slot
    data.action = None
    track = data.nla_tracks.new()
    track.strips.new("away", 1, action).action_slot = slot
    track.mute = True
    rock.location = (3, 0, 0.9)


@kind(reopen=True)
def strips_that_are_switched_off(m):
    muted_track(m)
    data = m.scene.objects["Rock"].animation_data
    data.nla_tracks[0].mute, data.use_nla = False, False
    m.scene.objects["Rock"].location = (3, 0, 0.9)


@kind(reopen=True)
def action_without_a_slot(m):
    rock = m.scene.objects["Rock"]
    rock.animation_data_create().action = bpy.data.actions.new("Empty")


@kind(reopen=True)
def locked_and_hidden_channels(m):
    for curve in curves(m.scene.objects["Pusher"]):
        curve.lock, curve.hide, curve.color_mode = True, True, "CUSTOM"


@kind(reopen=True)
def action_with_a_range(m):
    action = m.scene.objects["Pusher"].animation_data.action
    action.use_frame_range, action.use_cyclic = True, True
    action.frame_start, action.frame_end = 3, 4


@kind("Gravity", same=False)
def gravity_of_no_number(m):
    m.scene.gravity = (0, 0, math.nan)


KINDS["gravity_of_no_number"].error = True


@kind(reopen=True)
def gravity_by_its_weight(m):
    m.scene.gravity = (0, 0, -2 * 9.81)
    m.world.effector_weights.gravity = 0.5


@kind(reopen=True)
def driven_gravity(m):
    driver = m.scene.driver_add("gravity", 2).driver
    driver.expression = "-9.81 + 0 * frame"


@kind(reopen=True)
def keyed_speed(m):
    for frame in (1, LAST):
        m.world.time_scale = 1.0
        m.scene.keyframe_insert("rigidbody_world.time_scale", frame=frame)


@kind("Mass is animated", reopen=True)
def driven_mass(m):
    m.scene.objects["Rock"].driver_add("rigid_body.mass").driver.expression = "1.0"


@kind("its scale is animated", reopen=True)
def driven_scale(m):
    m.scene.objects["Rock"].driver_add("scale", 0).driver.expression = "1.0"


@kind("Mass is animated", same=False, reopen=True)
def driven_to_no_mass(m):
    m.scene.objects["Rock"].driver_add("rigid_body.mass").driver.expression = "-1.0"


@kind(reopen=True)
def pusher_as_a_child_of(m):
    parent = m.object("Leader")
    m.key(parent, "location", {1: (0, 0, 0), LAST: (0.6, 0, 0)})
    pusher = m.scene.objects["Pusher"]
    pusher.animation_data_clear()
    pusher.location = (-1.2, 0, 0.6)
    child = pusher.constraints.new("CHILD_OF")
    child.target = parent
    child.inverse_matrix = Matrix()


@kind(reopen=True)
def pusher_follows_a_hidden_leader(m):
    pusher_as_a_child_of(m)
    m.scene.objects["Leader"].hide_viewport = True


@kind(reopen=True)
def geometry_nodes(m):
    """They give what they are given."""
    modifier = m.scene.objects["Rock"].modifiers.new("Nodes", "NODES")
    tree = bpy.data.node_groups.new("Nodes", "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    for kind_of_socket in ("Float", "Vector", "Object", "Material", "String", "Bool", "Menu", "Collection"):
        tree.interface.new_socket("In", in_out="INPUT", socket_type=f"NodeSocket{kind_of_socket}")
    into, out = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    tree.links.new(into.outputs[0], out.inputs[0])
    modifier.node_group = tree


@kind(reopen=True)
def let_go_at_the_first_frame(m):
    """A rock that is Animated until the second frame, and driven and constrained until then."""
    rock = m.scene.objects["Rock"]
    m.key(rock, "rigid_body.kinematic", {0: True, 1: False})


@kind(reopen=True)
def keys_before_the_bake(m):
    m.key(m.scene.objects["Rock"], "location", {-30: (9, 9, 9), 1: (3, 0, 0.9)})


@kind(reopen=True)
def two_materials_and_groups(m):
    rock = m.scene.objects["Rock"]
    for name in ("A", "Б"):
        rock.data.materials.append(bpy.data.materials.new(name))
        rock.vertex_groups.new(name=name).add([0, 1], 0.5, "ADD")


@kind(reopen=True)
def a_particle_system(m):
    m.scene.objects["Rock"].modifiers.new("Hair", "PARTICLE_SYSTEM")


@kind(reopen=True)
def fake_users_and_pins(m):
    for ob in bodies(m):
        ob.use_fake_user = True
    m.scene.objects["Pusher"].animation_data.action.use_fake_user = True


@kind("Floor: is flat", same=False, reopen=True)
def sliver_of_a_floor(m):
    floor = m.scene.objects["Floor"]
    floor.scale, floor.location.z = (2000, 20, 0.001), -0.0005


@kind(reopen=True)
def camera_and_light_follow(m):
    light = m.object("Light", bpy.data.lights.new("Light", "SPOT"))
    light.constraints.new("TRACK_TO").target = m.scene.objects["Ball"]
    light.parent = m.scene.objects["Rock"]


@kind(reopen=True)
def joint_to_another_scene(m):
    other = bpy.data.scenes.new("Another")
    far = bpy.data.objects.new("Elsewhere", m.mesh())
    other.collection.objects.link(far)
    empty = m.object("Joint")
    bpy.context.view_layer.objects.active = empty
    bpy.ops.rigidbody.constraint_add()
    empty.rigid_body_constraint.object1 = far
    empty.rigid_body_constraint.object2 = m.scene.objects["Rock"]


KINDS["joint_to_another_scene"].words = ("Joint", "Elsewhere")


@kind("collection", same=False, error=True)
def no_collection_of_bodies(m):
    m.world.collection = None


@kind("no rigid bodies", same=False, error=True)
def empty_collection_of_bodies(m):
    m.world.collection = bpy.data.collections.new("Nothing")


@kind("no Rigid Body World", same=False, error=True)
def no_world(m):
    bpy.ops.rigidbody.world_remove()


@kind("nothing to simulate", same=False, error=True)
def nothing_that_moves(m):
    for ob in bodies(m):
        ob.rigid_body.type = "PASSIVE"


@kind("must lie before", same=False, error=True)
def a_range_of_one_frame(m):
    m.world.point_cache.frame_start = m.world.point_cache.frame_end = 5


@kind()
def a_cache_elsewhere(m):
    m.world.point_cache.frame_start, m.world.point_cache.frame_end = 5000, 5250


KINDS["a_cache_elsewhere"].words = ("has none of them",)
