"""Scene settings as artists produce them: each kind is a function that changes the plain scene, and not its physics.

The plain scene: a ball and a tilted rock fall on a floor beside a driven pusher. A kind is marked ``same`` (the motion
is that of the plain scene), or told with words that a note or an error has to have.
"""

import math
from dataclasses import dataclass, field

import bpy
from mathutils import Euler, Matrix, Vector

LAST = 8
ROCK = Euler((0.3, 0.2, 0.1))
KINDS = {}


@dataclass
class Kind:
    """A kind of scene.

    Attributes
    ----------
    make : function
        Called with the ``SceneMaker`` and, if it takes two arguments, with an empty folder.
    same : bool
        Whether the motion is that of the plain scene.
    words : tuple of str
        Each has to stand in what a bake says.
    names : dict
        Of bodies that have others here than in the plain scene: name, or (name, library).
    shift : int
        How many frames later it begins.
    reopen : bool
        Saved and opened before the bake, and again after it.
    error : bool
        Whether a bake is refused.
    """

    make: object
    same: bool
    words: tuple = ()
    names: dict = field(default_factory=dict)
    shift: int = 0
    reopen: bool = False
    error: bool = False


def kind(*words, same=True, **more):
    def add(function):
        KINDS[function.__name__] = Kind(function, same, words, **more)
        return function

    return add


def refused(*words, **more):
    return kind(*words, same=False, error=True, **more)


def plain(m):
    """The plain scene; returns its bodies."""
    m.scene.frame_start, m.scene.frame_end = 1, LAST
    m.world.point_cache.frame_start, m.world.point_cache.frame_end = 1, LAST
    ball = m.body("Ball", shape="SPHERE", location=(0, 0, 0.62))
    rock = m.body("Rock", shape="CONVEX_HULL", location=(3, 0, 0.9), rotation_euler=ROCK)
    floor = m.body("Floor", type="PASSIVE", shape="BOX", location=(0, 0, -0.5), scale=(20, 20, 1))
    pusher = m.body("Pusher", type="ACTIVE", shape="BOX", location=(-1.2, 0, 0.6), settings={"kinematic": True})
    m.key(pusher, "location", {1: (-1.2, 0, 0.6), LAST: (-0.6, 0, 0.6)})
    return ball, rock, floor, pusher


def bodies(m):
    return [m.scene.objects.get(name) for name in ("Ball", "Rock", "Floor", "Pusher")]


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


def _own_collection(m, names=("Ball", "Rock", "Floor", "Pusher")):
    collection = bpy.data.collections.new("Set")
    m.scene.collection.children.link(collection)
    for name in names:
        collection.objects.link(m.scene.objects[name])
        m.scene.collection.objects.unlink(m.scene.objects[name])
    return collection, bpy.context.view_layer.layer_collection.children["Set"]


@kind("Rock", "Ball", "hidden", reopen=True)
def excluded_collection(m):
    _own_collection(m)[1].exclude = True


@kind("hidden", reopen=True)
def hidden_collection_in_the_layer(m):
    _own_collection(m)[1].hide_viewport = True


@kind("hidden", reopen=True)
def hidden_collection(m):
    _own_collection(m)[0].hide_viewport = True


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
    collection, _ = _own_collection(m, ("Rock",))
    m.object("Other", instance_type="COLLECTION", instance_collection=collection, location=(0, 9, 0))


@kind("Rock", "is not in the scene")
def only_instanced(m):
    collection, _ = _own_collection(m, ("Rock",))
    m.scene.collection.children.unlink(collection)
    m.object("Other", instance_type="COLLECTION", instance_collection=collection)


@kind()
def second_view_layer(m):
    _own_collection(m)
    m.scene.view_layers.new("Second").layer_collection.children["Set"].exclude = True


@kind(reopen=True)
def first_view_layer_excludes(m):
    """The window shows the second one."""
    _, layer = _own_collection(m)
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


# Drivers, NLA, constraints and other animation


@kind(reopen=True)
def driven_pusher(m):
    pusher = m.scene.objects["Pusher"]
    pusher.animation_data_clear()
    pusher.location = (0, 0, 0.6)
    driver = pusher.driver_add("location", 0).driver
    driver.expression = f"-1.2 + 0.6 * (frame - 1) / {LAST - 1}"


@kind("Rock: its drivers of location", reopen=True)
def driven_rock(m):
    """A driver that changes nothing before the bake's keys take its place."""
    driver = m.scene.objects["Rock"].driver_add("location", 0).driver
    driver.expression = "3.0"


@kind(reopen=True)
def driven_by_a_property(m):
    pusher = m.scene.objects["Pusher"]
    pusher.animation_data_clear()
    control = m.object("Control")
    control["slide"] = 0.0
    m.key(control, '["slide"]', {1: 0.0})
    control.animation_data_clear()
    for frame in (1, LAST):
        control["slide"] = float(frame == LAST)
        control.keyframe_insert('["slide"]', frame=frame)
    for point in curves(control)[0].keyframe_points:
        point.interpolation = "LINEAR"
    pusher.location = (0, 0, 0.6)
    driver = pusher.driver_add("location", 0).driver
    variable = driver.variables.new()
    variable.name = "s"
    variable.targets[0].id, variable.targets[0].data_path = control, '["slide"]'
    driver.expression = "-1.2 + 0.6 * s"


@kind(reopen=True)
def broken_driver_of_a_custom_property(m):
    rock = m.scene.objects["Rock"]
    rock["x"] = 1.0
    rock.driver_add('["x"]').driver.expression = "no_such_name + 1"


@kind(reopen=True)
def pusher_in_the_nla(m):
    data = m.scene.objects["Pusher"].animation_data
    action, slot = data.action, data.action_slot
    data.action = None
    strip = data.nla_tracks.new().strips.new("slide", 1, action)
    strip.action_slot = slot


@kind(reopen=True)
def pusher_in_a_scaled_strip(m):
    data = m.scene.objects["Pusher"].animation_data
    action, slot = data.action, data.action_slot
    for curve in curves(m.scene.objects["Pusher"]):
        for point in curve.keyframe_points:
            point.co.x = 1 + (point.co.x - 1) * 2
    data.action = None
    strip = data.nla_tracks.new().strips.new("slide", 1, action)
    strip.action_slot, strip.scale = slot, 0.5


@kind("Rock", reopen=True)
def rock_in_the_nla(m):
    """A strip that says what is there in any case."""
    rock = m.scene.objects["Rock"]
    m.key(rock, "location", {1: (3, 0, 0.9)})
    data = rock.animation_data
    action, slot = data.action, data.action_slot
    data.action = None
    data.nla_tracks.new().strips.new("rest", 1, action).action_slot = slot


@kind(reopen=True)
def cyclic_pusher(m):
    """Keys of two frames that go on by a modifier."""
    pusher = m.scene.objects["Pusher"]
    step = 0.6 / (LAST - 1)
    pusher.animation_data_clear()
    m.key(pusher, "location", {1: (-1.2, 0, 0.6), 2: (-1.2 + step, 0, 0.6)})
    for curve in curves(pusher):
        cycles = curve.modifiers.new("CYCLES")
        cycles.mode_before = cycles.mode_after = "REPEAT_OFFSET"


@kind(reopen=True)
def extrapolated_pusher(m):
    pusher = m.scene.objects["Pusher"]
    step = 0.6 / (LAST - 1)
    pusher.animation_data_clear()
    m.key(pusher, "location", {1: (-1.2, 0, 0.6), 2: (-1.2 + step, 0, 0.6)})
    for curve in curves(pusher):
        curve.extrapolation = "LINEAR"


@kind("Rock", reopen=True)
def keyed_rock(m):
    """Keys that the bake replaces."""
    m.key(m.scene.objects["Rock"], "location", {1: (3, 0, 0.9), 30: (9, 9, 9)})


@kind(reopen=True)
def muted_keys(m):
    rock = m.scene.objects["Rock"]
    m.key(rock, "location", {1: (3, 0, 0.9), 30: (9, 9, 9)})
    rock.location = (3, 0, 0.9)
    for curve in curves(rock):
        curve.mute = True


@kind(reopen=True)
def other_channels_keyed(m):
    rock = m.scene.objects["Rock"]
    rock["glow"] = 1.0
    rock.keyframe_insert('["glow"]', frame=3)
    rock.keyframe_insert("hide_render", frame=2)
    rock.keyframe_insert("color", frame=2)
    for curve in curves(rock):
        curve.modifiers.new("NOISE")


@kind(reopen=True)
def one_action_of_two(m):
    """Both are keyed by one slot of one action."""
    rock, ball = m.scene.objects["Rock"], m.scene.objects["Ball"]
    rock["glow"] = ball["glow"] = 1.0
    rock.keyframe_insert('["glow"]', frame=3)
    data = ball.animation_data_create()
    data.action = rock.animation_data.action
    data.action_slot = rock.animation_data.action_slot


@kind(reopen=True)
def one_action_with_two_slots(m):
    pusher, rock = m.scene.objects["Pusher"], m.scene.objects["Rock"]
    action = pusher.animation_data.action
    data = rock.animation_data_create()
    data.action = action
    data.action_slot = action.slots.new("OBJECT", "Rock")
    rock["glow"] = 1.0
    rock.keyframe_insert('["glow"]', frame=3)


@kind("Rock", reopen=True)
def constraint_on_rock(m):
    rock = m.scene.objects["Rock"]
    target = m.object("Target", location=rock.location)
    rock.constraints.new("COPY_LOCATION").target = target


@kind(reopen=True)
def muted_and_broken_constraints(m):
    rock = m.scene.objects["Rock"]
    rock.constraints.new("COPY_LOCATION")
    rock.constraints.new("DAMPED_TRACK").mute = True
    rock.constraints.new("LIMIT_SCALE").influence = 0.0


@kind(reopen=True)
def pusher_on_a_path(m):
    curve = bpy.data.curves.new("Path", "CURVE")
    curve.dimensions = "3D"
    spline = curve.splines.new("POLY")
    spline.points.add(1)
    spline.points[0].co, spline.points[1].co = (-1.2, 0, 0.6, 1), (-0.6, 0, 0.6, 1)
    path = m.object("Path", curve)
    curve.use_path = True
    pusher = m.scene.objects["Pusher"]
    pusher.animation_data_clear()
    pusher.location = (0, 0, 0)
    follow = pusher.constraints.new("FOLLOW_PATH")
    follow.target, follow.use_fixed_location = path, True
    follow.offset_factor = 0.0
    follow.keyframe_insert("offset_factor", frame=1)
    follow.offset_factor = 1.0
    follow.keyframe_insert("offset_factor", frame=LAST)
    for point in (p for c in curves(pusher) for p in c.keyframe_points):
        point.interpolation = "LINEAR"


# Transforms


def _mode(mode):
    def make(m):
        rock = m.scene.objects["Rock"]
        turn = ROCK.to_quaternion()
        rock.rotation_mode = mode
        if mode == "QUATERNION":
            rock.rotation_quaternion = -turn
        elif mode == "AXIS_ANGLE":
            axis, angle = turn.to_axis_angle()
            rock.rotation_axis_angle = (angle, *(3.0 * axis))
        else:
            rock.rotation_euler = turn.to_euler(mode)

    KINDS[f"rotation_mode_{mode.lower()}"] = Kind(make, True)


for _name in ("QUATERNION", "AXIS_ANGLE", "XZY", "YXZ", "YZX", "ZXY", "ZYX"):
    _mode(_name)


@kind()
def long_quaternion(m):
    rock = m.scene.objects["Rock"]
    rock.rotation_mode = "QUATERNION"
    rock.rotation_quaternion = 100.0 * ROCK.to_quaternion()


@kind(same=False)
def quaternion_of_nothing(m):
    rock = m.scene.objects["Rock"]
    rock.rotation_mode = "QUATERNION"
    rock.rotation_quaternion = (0, 0, 0, 0)


@kind()
def many_turns(m):
    m.scene.objects["Rock"].rotation_euler.z += 6 * math.tau


@kind()
def delta_transforms(m):
    rock = m.scene.objects["Rock"]
    rock.delta_location, rock.location = (1, 2, 3), Vector(rock.location) - Vector((1, 2, 3))
    rock.delta_rotation_euler, rock.rotation_euler = ROCK, (0, 0, 0)
    rock.delta_scale, rock.scale = (2, 2, 2), (0.5, 0.5, 0.5)


@kind()
def negative_scale(m):
    m.scene.objects["Rock"].scale = (-1, -1, -1)


@kind()
def mirrored_about_one_axis(m):
    m.scene.objects["Rock"].scale.x = -1


@kind()
def parent_with_scale(m):
    rock = m.scene.objects["Rock"]
    parent = m.object("Parent", scale=(2, 2, 2), location=(1, 1, 1), rotation_euler=(1, 2, 3))
    _keep_place(rock, parent)


@kind()
def mirrored_parent(m):
    _keep_place(m.scene.objects["Rock"], m.object("Parent", scale=(-1, 1, 1), rotation_euler=(1, 2, 3)))


def _keep_place(ob, parent):
    bpy.context.view_layer.update()
    ob.parent = parent
    ob.matrix_parent_inverse = parent.matrix_world.inverted()


@refused("Rock", "sheared")
def parent_that_shears(m):
    rock = m.scene.objects["Rock"]
    rock.parent = m.object("Parent", scale=(3, 1, 1))


@refused("Rock", "zero scale")
def parent_of_no_size(m):
    m.scene.objects["Rock"].parent = m.object("Parent", scale=(0, 0, 0))


@refused("Rock", "its scale along X is 0")
def flat_scale(m):
    m.scene.objects["Rock"].scale.x = 0


@refused("Rock", "scale")
def no_scale(m):
    m.scene.objects["Rock"].scale = (0, 0, 0)


@refused("Rock", "location")
def location_of_no_number(m):
    m.scene.objects["Rock"].location.x = math.nan


@refused("Floor", "location")
def floor_at_infinity(m):
    m.scene.objects["Floor"].location.z = math.inf


@refused("Rock", "rotation_euler")
def rotation_of_no_number(m):
    m.scene.objects["Rock"].rotation_euler.x = math.nan


@refused("Rock", "scale")
def scale_of_no_number(m):
    m.scene.objects["Rock"].scale.x = math.nan


@kind(same=False)
def locked_channels(m):
    """Axes that are locked hold the body."""
    rock = m.scene.objects["Rock"]
    rock.lock_rotation = rock.lock_scale = (True, True, True)
    rock.lock_rotation_w = True


@kind(reopen=True)
def parent_by_a_bone(m):
    armature = bpy.data.armatures.new("Rig")
    rig = m.object("Rig", armature)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.edit_bones.new('Бone "1"')
    bone.tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="POSE")
    pusher = m.scene.objects["Pusher"]
    pusher.animation_data_clear()
    pusher.parent, pusher.parent_type, pusher.parent_bone = rig, "BONE", 'Бone "1"'
    pusher.matrix_parent_inverse = Matrix.Translation((0, 0, 0))
    pusher.location = (-1.2, 0.6, 0)
    rig.rotation_euler = (0, 0, 0)
    # bones point along their Y: the child's axes are turned, which a box of equal sides does not show
    for frame, x in ((1, 0.0), (LAST, 0.6)):
        rig.location = (x, 0.0, -1.0 + 0.6 - 0.6)
        rig.keyframe_insert("location", frame=frame)
    for point in (p for c in curves(rig) for p in c.keyframe_points):
        point.interpolation = "LINEAR"
    bpy.context.view_layer.update()
    there = Matrix.Translation((-1.2, 0, 0.6))
    rig.location = (0, 0, -1.2)
    bpy.context.view_layer.update()
    m.scene.frame_set(1)
    pusher.location = (0, 0, 0)
    bpy.context.view_layer.update()
    pusher.matrix_world = there


@kind(reopen=True)
def parent_by_a_vertex(m):
    parent = m.object("Parent", m.mesh())
    pusher = m.scene.objects["Pusher"]
    pusher.parent, pusher.parent_type = parent, "VERTEX"
    bpy.context.view_layer.update()
    corner = Vector(parent.data.vertices[0].co)
    pusher.matrix_parent_inverse = Matrix.Translation(-corner)


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
    _keep_place(m.scene.objects["Rock"], parent)


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
    _keep_place(m.scene.objects["Rock"], parent)
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
    _keep_place(m.scene.objects["Rock"], m.scene.objects["Ball"])


@kind(reopen=True)
def chain_of_bodies_in_another_order(m):
    ball, rock, _, pusher = bodies(m)
    rock.name = "A"
    _keep_place(ball, rock)
    rock.name = "Rock"
    _keep_place(rock, pusher)


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
    _, layer = _own_collection(m)
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


@kind("Other", "force fields", reopen=True)
def field_of_no_strength(m):
    other = m.object("Other")
    bpy.context.view_layer.objects.active = other
    bpy.ops.object.forcefield_toggle()
    other.field.strength = 0.0


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
