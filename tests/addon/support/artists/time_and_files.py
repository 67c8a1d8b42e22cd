"""Kinds of time, names, files, collections and several scenes."""

import bpy
from mathutils import Vector

from .kinds import KINDS, LAST, Kind, bodies, kind, refused

# Time


@kind("Unit Scale is 0.01")
def unit_scale(m):
    m.scene.unit_settings.system, m.scene.unit_settings.scale_length = "METRIC", 0.01


@kind()
def imperial_units(m):
    m.scene.unit_settings.system = "IMPERIAL"


def _shift(m, by):
    for point in (p for c in curves(bodies(m)[3]) for p in c.keyframe_points):
        point.co.x += by
        point.handle_left.x += by
        point.handle_right.x += by
    m.scene.frame_start, m.scene.frame_end = 1 + by, LAST + by
    m.world.point_cache.frame_start, m.world.point_cache.frame_end = 1 + by, LAST + by


def curves(ob):
    data = ob.animation_data
    return data.action.layers[0].strips[0].channelbag(data.action_slot).fcurves


@kind(shift=100)
def starts_at_101(m):
    _shift(m, 100)


@kind(shift=-1)
def starts_at_0(m):
    _shift(m, -1)


@kind(shift=-11)
def starts_below_0(m):
    # neither the scene's start nor the cache's can be below 0
    _shift(m, -11)


@kind()
def current_frame_between(m):
    m.scene.frame_set(5, subframe=0.5)


@kind()
def current_frame_far_off(m):
    m.scene.frame_set(5000)


@kind()
def frame_step(m):
    m.scene.frame_step = 3


@kind()
def cache_step(m):
    m.world.point_cache.frame_step = 7


@kind()
def twice_the_rate_at_twice_the_speed(m):
    m.scene.render.fps, m.world.time_scale = 48, 2.0


@kind()
def rate_with_a_base(m):
    m.scene.render.fps, m.scene.render.fps_base, m.world.time_scale = 48, 1.0, 2.0
    m.scene.render.fps, m.scene.render.fps_base, m.world.time_scale = 24, 0.5, 2.0


@kind()
def preview_range(m):
    m.scene.use_preview_range = True
    m.scene.frame_preview_start, m.scene.frame_preview_end = 3, 4


@kind("Time Remapping", same=False)
def time_remapping(m):
    m.scene.render.frame_map_new = 200


@kind()
def time_remapping_that_changes_nothing(m):
    m.scene.render.frame_map_old = m.scene.render.frame_map_new = 50


@kind()
def subframes_shown(m):
    m.scene.show_subframe = True


@kind("Speed of the Rigid Body World is 0", same=False)
def no_speed(m):
    m.world.time_scale = 0.0


@kind()
def keys_between_frames(m):
    a, b = Vector((-1.2, 0, 0.6)), Vector((-0.6, 0, 0.6))
    for curve in curves(bodies(m)[3]):
        for at in (2.5, 4.25):
            value = a[curve.array_index] + (b - a)[curve.array_index] * (at - 1) / (LAST - 1)
            curve.keyframe_points.insert(at, value).interpolation = "LINEAR"


@kind()
def sync_mode_and_audio(m):
    m.scene.sync_mode = "FRAME_DROP"


@kind("force fields", same=True)
def switched_off_force_field(m):
    m.world.effector_weights.force = 0.0
    field_object = m.object("Wind")
    bpy.context.view_layer.objects.active = field_object
    bpy.ops.object.forcefield_toggle()


# Names


def _renaming(names, label):
    def make(m):
        for old, new in names.items():
            m.scene.objects[old].name = new

    make.__name__ = label
    KINDS[label] = Kind(make, True, (), names)


_renaming({"Ball": "Мяч", "Rock": "岩石", "Floor": "אדמה", "Pusher": "ดัน"}, "names_of_other_scripts")
_renaming({"Ball": "⚽️🏀", "Rock": "🪨👩‍👩‍👧‍👦", "Floor": "e\u0301 é", "Pusher": "\u202ereversed"}, "names_of_emoji")
_renaming({"Ball": "a" * 63, "Rock": "a" * 62 + "b"}, "names_that_differ_at_the_end")
_renaming({"Ball": "a" * 255, "Rock": "a" * 254 + "b", "Pusher": "é" * 127}, "names_as_long_as_can_be")
_renaming({"Ball": "Ball.001", "Rock": "Ball.002", "Pusher": "ball.001"}, "names_with_numbers")
_renaming({"Ball": 'it\'s "quoted"', "Rock": "a\\b/c", "Floor": "100%d %s", "Pusher": 'x["y"]{z}'}, "names_with_quotes")
_renaming({"Ball": "two\nlines", "Rock": "\ttab", "Floor": " ", "Pusher": "<b>&amp;"}, "names_with_breaks")
_renaming({"Ball": "Scene", "Rock": "RigidBodyWorld", "Floor": "Rock Cairn"}, "names_of_other_things")
_renaming({"Ball": "Rock Cairn", "Rock": "Rock"}, "names_of_the_bakes_actions")


@kind()
def an_action_with_the_bakes_name(m):
    action = bpy.data.actions.new("Rock Cairn")
    action.use_fake_user = True


@kind()
def scene_of_another_name(m):
    m.scene.name = 'Сцена "1"\n'


@kind()
def collections_of_other_names(m):
    m.world.collection.name = "🪨\n%s"


# Files


@kind(reopen=True)
def saved_and_opened(m):
    pass


@kind(reopen=True)
def opened_at_another_frame(m):
    m.scene.frame_set(6)


def library(m, tmp, names, rename=None):
    """Move objects to a file of their own, with all that belongs to them, and link it."""
    path = tmp / "a library.blend"
    objects = [m.scene.objects[name] for name in names]
    bpy.data.libraries.write(str(path), set(objects))
    for ob in objects:
        bpy.data.objects.remove(ob)
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.objects = list(names)
    for ob in wanted.objects:
        m.scene.collection.objects.link(ob)
        m.world.collection.objects.link(ob)
    return wanted.objects


@kind(reopen=True)
def linked_floor(m, tmp):
    library(m, tmp, ["Floor"])


@kind(reopen=True)
def linked_pusher(m, tmp):
    library(m, tmp, ["Pusher"])


@refused("Rock", "a library.blend", reopen=True)
def linked_rock(m, tmp):
    library(m, tmp, ["Rock"])


@kind(reopen=True)
def overridden_rock(m, tmp):
    (rock,) = library(m, tmp, ["Rock"])
    rock.override_create(remap_local_usages=True)


@kind(reopen=True)
def linked_mesh(m, tmp):
    path = tmp / "mesh.blend"
    rock = m.scene.objects["Rock"]
    rock.data.name = "RockMesh"
    bpy.data.libraries.write(str(path), {rock.data})
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.meshes = ["RockMesh"]
    rock.data = wanted.meshes[0]


@kind(reopen=True)
def linked_action(m, tmp):
    path = tmp / "action.blend"
    pusher = m.scene.objects["Pusher"]
    name = pusher.animation_data.action.name
    bpy.data.libraries.write(str(path), {pusher.animation_data.action})
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.actions = [name]
    pusher.animation_data.action = wanted.actions[0]
    pusher.animation_data.action_slot = wanted.actions[0].slots[0]


@kind(reopen=True, names={"Pusher": ("Pusher", "//a library.blend")})
def linked_pusher_beside_a_local_one(m, tmp):
    """A prop of the same name, which is no body, stands far off."""
    library(m, tmp, ["Pusher"])
    m.object("Pusher", m.mesh(), location=(50, 50, 50))


@kind(reopen=True, names={"Pusher": ("Pusher", "//a library.blend")})
def linked_pusher_beside_a_local_body(m, tmp):
    library(m, tmp, ["Pusher"])
    m.body("Pusher", type="PASSIVE", shape="BOX", location=(50, 50, 50))


@kind(reopen=True, names={"Floor": ("Rock", "//a library.blend"), "Rock": ("Rock", None)})
def linked_floor_beside_a_local_rock(m, tmp):
    """A floor that has the name of a body that falls, in its own file."""
    m.scene.objects["Rock"].name = "Stone"
    m.scene.objects["Floor"].name = "Rock"
    library(m, tmp, ["Rock"])
    m.scene.objects["Stone"].name = "Rock"


@kind("a library.blend", same=False, reopen=True)
def missing_library_of_a_body(m, tmp):
    library(m, tmp, ["Floor"])
    m.save(tmp / "shot.blend")
    (tmp / "a library.blend").unlink()


@kind("mesh.blend", same=False, reopen=True)
def missing_library_of_a_mesh(m, tmp):
    linked_mesh(m, tmp)
    m.save(tmp / "shot.blend")
    (tmp / "mesh.blend").unlink()


@kind("action.blend", same=False, reopen=True)
def missing_library_of_an_action(m, tmp):
    linked_action(m, tmp)
    m.save(tmp / "shot.blend")
    (tmp / "action.blend").unlink()


# Collections and visibility


@kind()
def in_several_collections(m):
    for name in ("A", "B"):
        collection = bpy.data.collections.new(name)
        m.scene.collection.children.link(collection)
        for ob in bodies(m):
            collection.objects.link(ob)


@kind()
def in_nested_collections(m):
    outer, inner = bpy.data.collections.new("Outer"), bpy.data.collections.new("Inner")
    m.scene.collection.children.link(outer)
    outer.children.link(inner)
    for ob in bodies(m):
        inner.objects.link(ob)
        m.scene.collection.objects.unlink(ob)


@kind()
def bodies_in_a_child_of_the_worlds_collection(m):
    child = bpy.data.collections.new("Child")
    for ob in bodies(m):
        child.objects.link(ob)
        m.world.collection.objects.unlink(ob)
    m.world.collection.children.link(child)


@kind()
def the_worlds_collection_is_in_the_scene(m):
    m.scene.collection.children.link(m.world.collection)
    for ob in bodies(m):
        m.scene.collection.objects.unlink(ob)


def own_collection(m, names=("Ball", "Rock", "Floor", "Pusher")):
    collection = bpy.data.collections.new("Set")
    m.scene.collection.children.link(collection)
    for name in names:
        collection.objects.link(m.scene.objects[name])
        m.scene.collection.objects.unlink(m.scene.objects[name])
    return collection, bpy.context.view_layer.layer_collection.children["Set"]


@kind("Rock", "Ball", "hidden", reopen=True)
def excluded_collection(m):
    own_collection(m)[1].exclude = True


@kind("hidden", reopen=True)
def hidden_collection_in_the_layer(m):
    own_collection(m)[1].hide_viewport = True


@kind("hidden", reopen=True)
def hidden_collection(m):
    own_collection(m)[0].hide_viewport = True


@kind("hidden", reopen=True)
def disabled_in_renders_and_views(m):
    for ob in bodies(m):
        ob.hide_render = ob.hide_viewport = True


@kind("hidden", reopen=True)
def hidden_objects(m):
    for ob in bodies(m):
        ob.hide_set(True)


@kind(reopen=True)
def unselectable_and_in_wire(m):
    for ob in bodies(m):
        ob.hide_select, ob.display_type, ob.show_in_front = True, "BOUNDS", True


@kind("Pusher", reopen=True)
def hidden_pusher_with_parent(m):
    pusher = m.scene.objects["Pusher"]
    parent = m.object("Parent")
    parent.hide_viewport = pusher.hide_viewport = True
    pusher.parent = parent


@kind("Other", "instances", same=True)
def instanced_collection(m):
    collection, _ = own_collection(m, ("Rock",))
    m.object("Other", instance_type="COLLECTION", instance_collection=collection, location=(0, 9, 0))


@kind("Rock", "is not in the scene")
def only_instanced(m):
    collection, _ = own_collection(m, ("Rock",))
    m.scene.collection.children.unlink(collection)
    m.object("Other", instance_type="COLLECTION", instance_collection=collection)


@kind()
def second_view_layer(m):
    own_collection(m)
    m.scene.view_layers.new("Second").layer_collection.children["Set"].exclude = True


@kind(reopen=True)
def first_view_layer_excludes(m):
    """The window shows the second one."""
    _, layer = own_collection(m)
    second = m.scene.view_layers.new("Second")
    second.layer_collection.children["Set"].exclude = False
    layer.exclude = True
    bpy.context.window.view_layer = second


# Several scenes


@kind(reopen=True)
def second_scene_without_a_world(m):
    other = bpy.data.scenes.new("Another")
    for ob in bodies(m):
        other.collection.objects.link(ob)


@kind(reopen=True)
def second_scene_with_its_world(m):
    other = bpy.data.scenes.new("Another")
    for ob in bodies(m):
        other.collection.objects.link(ob)
    with bpy.context.temp_override(scene=other):
        bpy.ops.rigidbody.world_add()
    other.rigidbody_world.collection = m.world.collection


@kind(reopen=True)
def a_background_set(m):
    other = bpy.data.scenes.new("Another")
    other.collection.objects.link(bpy.data.objects.new("Prop", m.mesh()))
    m.scene.background_set = other


@kind(reopen=True)
def constraint_target_in_another_scene(m):
    other = bpy.data.scenes.new("Another")
    target = bpy.data.objects.new("Target", None)
    other.collection.objects.link(target)
    target.location = (-1.2, 0, 0.6)
    m.key(target, "location", {1: (-1.2, 0, 0.6), LAST: (-0.6, 0, 0.6)})
    pusher = m.scene.objects["Pusher"]
    pusher.animation_data_clear()
    pusher.location = (7, 7, 7)
    pusher.constraints.new("COPY_LOCATION").target = target


@kind(reopen=True)
def parent_in_another_scene(m):
    other = bpy.data.scenes.new("Another")
    parent = bpy.data.objects.new("Parent", None)
    other.collection.objects.link(parent)
    m.key(parent, "location", {1: (0, 0, 0), LAST: (0.6, 0, 0)})
    pusher = m.scene.objects["Pusher"]
    pusher.animation_data_clear()
    pusher.location = (-1.2, 0, 0.6)
    pusher.parent = parent
