"""Kinds of meshes, curves, modifiers and other data."""

import math

import bpy

from .kinds import KINDS, Kind, bodies, kind, refused
from .motion import keep_place

# Data


@kind(reopen=True)
def one_mesh_of_all(m):
    mesh = m.scene.objects["Rock"].data
    for ob in bodies(m):
        ob.data = mesh


@kind(reopen=True)
def loose_edges_and_points(m):
    mesh = m.scene.objects["Rock"].data
    mesh.vertices.add(1)
    mesh.vertices[8].co = (0.1, 0.1, 0.1)
    mesh.edges.add(1)
    mesh.edges[12].vertices = (0, 8)


@kind("Rock", "no vertices", same=False, reopen=True)
def mesh_without_points(m):
    m.scene.objects["Rock"].data.clear_geometry()


@refused("Rock", reopen=True)
def point_that_is_no_number(m):
    m.scene.objects["Rock"].data.vertices[0].co.x = math.nan


@kind(reopen=True)
def modifiers_that_are_off(m):
    rock = m.scene.objects["Rock"]
    rock.modifiers.new("s", "SUBSURF").show_viewport = False
    rock.modifiers.new("a", "ARRAY").show_viewport = False
    rock.rigid_body.mesh_source = "FINAL"


@kind(reopen=True)
def base_under_modifiers(m):
    rock = m.scene.objects["Rock"]
    rock.modifiers.new("a", "ARRAY")
    rock.rigid_body.mesh_source = "BASE"


@kind("Rock", reopen=True)
def topology_that_changes_on_a_rock(m):
    rock = m.scene.objects["Rock"]
    build = rock.modifiers.new("b", "BUILD")
    build.frame_start, build.frame_duration = -100, 1
    rock.rigid_body.mesh_source = "FINAL"


@refused("Floor", "vertices", reopen=True)
def topology_that_changes_on_the_floor(m):
    floor = m.scene.objects["Floor"]
    floor.rigid_body.collision_shape, floor.rigid_body.mesh_source = "MESH", "FINAL"
    array = floor.modifiers.new("a", "ARRAY")
    for frame, count in ((1, 1), (4, 2)):
        array.count = count
        array.keyframe_insert("count", frame=frame)


@kind(reopen=True)
def simplified(m):
    m.scene.render.use_simplify, m.scene.render.simplify_subdivision = True, 0


@kind(reopen=True)
def shape_keys(m):
    rock = m.scene.objects["Rock"]
    rock.shape_key_add(name="Basis")
    rock.shape_key_add(name="Grown")


def _foreign(label, make_data, words=("Other",)):
    def make(m):
        ob = m.object("Other", make_data(m), location=(9, 9, 0.6))
        m.world.collection.objects.link(ob)

    KINDS[label] = Kind(make, True, words, reopen=True)


_foreign("curve_in_the_world", lambda m: bpy.data.curves.new("Other", "CURVE"))
_foreign("text_in_the_world", lambda m: bpy.data.curves.new("Other", "FONT"))
_foreign("metaball_in_the_world", lambda m: bpy.data.metaballs.new("Other"))
_foreign("empty_in_the_world", lambda m: None)
_foreign("camera_in_the_world", lambda m: bpy.data.cameras.new("Other"))
_foreign("light_in_the_world", lambda m: bpy.data.lights.new("Other", "SUN"))
_foreign("lattice_in_the_world", lambda m: bpy.data.lattices.new("Other"))
_foreign("armature_in_the_world", lambda m: bpy.data.armatures.new("Other"))


@kind(reopen=True)
def instancer_of_the_rock(m):
    """A rock on each face of a parent: the parent's child is the body, what it shows is not."""
    parent = m.object("Many", m.mesh(), instance_type="FACES", location=(0, 30, 0))
    keep_place(m.scene.objects["Rock"], parent)


@kind(reopen=True)
def children_of_bodies(m):
    rock = m.scene.objects["Rock"]
    camera = m.object("Camera", bpy.data.cameras.new("Camera"))
    camera.parent = rock
    m.scene.camera = camera


@kind(reopen=True)
def in_edit_mode(m):
    bpy.context.view_layer.objects.active = m.scene.objects["Rock"]
    bpy.ops.object.mode_set(mode="EDIT")


@kind(reopen=True)
def assets_and_custom_data(m):
    rock = m.scene.objects["Rock"]
    rock.asset_mark()
    rock["list"], rock["text"], rock["group"] = [1.0, 2.0], "ü\n", {"a": {"b": 3}}
    m.scene.objects["Pusher"].animation_data.action.asset_mark()
    m.scene.timeline_markers.new("Now", frame=3)


@kind(reopen=True)
def disk_cache(m):
    m.world.point_cache.use_disk_cache = True


@kind(reopen=True)
def world_is_off(m):
    m.world.enabled = False


@kind("Rock: starts 1e+07 from the scene's origin", same=False, reopen=True)
def far_from_the_origin(m):
    for ob in bodies(m)[:3]:
        ob.location.x += 1e7


@kind(reopen=True)
def joints_that_are_off(m):
    empty = m.object("Joint")
    bpy.context.view_layer.objects.active = empty
    bpy.ops.rigidbody.constraint_add()
    empty.rigid_body_constraint.enabled = False
    empty.rigid_body_constraint.object1 = m.scene.objects["Rock"]


@kind("Joint", reopen=True)
def joint_without_bodies(m):
    empty = m.object("Joint", scale=(0, 0, 0))
    bpy.context.view_layer.objects.active = empty
    bpy.ops.rigidbody.constraint_add()
    empty.rigid_body_constraint.object1 = m.object("Nobody")
    empty.rigid_body_constraint.object2 = m.scene.objects["Rock"]
