"""Make the files of docs/guide/how-do-i.md, as an animator would have them before the bake.

    python tools/make_guide_files.py [NAME ...]

A file opens in the Blender that has saved it and in later ones: run this with the oldest bpy that Cairn knows.
tools/draw_guide.py draws their pictures.
"""

import argparse
import math
import random
import sys
from pathlib import Path
from typing import NamedTuple

import bpy
from mathutils import Matrix, Vector

FILES_FOLDER = Path(__file__).resolve().parents[1] / "docs" / "files"
# Of bodies by how their names begin, and of the others.
COLORS = {
    "Floor": (0.62, 0.64, 0.68),
    "Wall": (0.55, 0.62, 0.7),
    "Ball": (0.86, 0.24, 0.07),
    "Box": (0.16, 0.36, 0.62),
    "Can": (0.1, 0.42, 0.4),
    "Rock": (0.4, 0.36, 0.32),
    "Terrain": (0.27, 0.34, 0.2),
}
COLOR = (0.8, 0.56, 0.28)
# Of chunks of a wall, which has so many rows and columns of bricks.
CHUNK_COLORS = (
    *((0.8, 0.56, 0.28), (0.16, 0.36, 0.62), (0.1, 0.42, 0.4), (0.55, 0.2, 0.36)),
    *((0.62, 0.64, 0.3), (0.3, 0.5, 0.2), (0.7, 0.7, 0.72), (0.3, 0.24, 0.5)),
    (0.75, 0.4, 0.36),
)
CHUNKED = 10, 8


def new_file(end, size=20.0):
    """An empty scene with a floor so large."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_end = end
    bpy.ops.rigidbody.world_add()
    scene.rigidbody_world.point_cache.frame_end = end
    body(plane(size), "Floor", "PASSIVE", shape="BOX")
    return scene


def plane(size):
    bpy.ops.mesh.primitive_plane_add(size=size)
    return bpy.context.object


def cube(at, size=(1, 1, 1)):
    bpy.ops.mesh.primitive_cube_add(size=1, location=at)
    bpy.context.object.scale = size
    return bpy.context.object


def ball(at, radius, segments=32):
    bpy.ops.mesh.primitive_uv_sphere_add(radius=radius, location=at, segments=segments, ring_count=segments // 2)
    bpy.ops.object.shade_smooth()
    return bpy.context.object


def copy_of(ob, at):
    """A linked duplicate: its mesh is in the file once."""
    other = ob.copy()
    other.location = at
    bpy.context.scene.collection.objects.link(other)
    return other


def body(ob, name, kind="ACTIVE", mass=1.0, **settings):
    ob.name = name
    bpy.context.view_layer.objects.active = ob
    bpy.ops.rigidbody.object_add(type=kind)
    ob.rigid_body.mass = mass
    shape = settings.pop("shape", "BOX")
    ob.rigid_body.collision_shape = shape
    for key, value in settings.items():
        setattr(ob.rigid_body, key, value)
    paint(ob, next((color for word, color in COLORS.items() if name.startswith(word)), COLOR))
    return ob


def paint(ob, color):
    """Add a material of a color to an object; one of each color is in a file."""
    name = "#" + "".join(f"{round(255 * share):02x}" for share in color)
    material = bpy.data.materials.get(name)
    if material is None:
        material = bpy.data.materials.new(name)
        material.diffuse_color = (*color, 1.0)
        if material.node_tree is None:  # before Blender 5.0 nodes are there only once they are switched on
            material.use_nodes = True
        surface = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
        surface.inputs["Base Color"].default_value = (*color, 1.0)
        surface.inputs["Roughness"].default_value = 0.45
    if material.name not in ob.data.materials:
        ob.data.materials.append(material)
    return material


def carry(ob, places):
    """Key an object along places by frame, in straight lines, and let it go there: the next frame is simulated."""
    for frame, place in places.items():
        ob.location = place
        ob.keyframe_insert("location", frame=frame)
    let_go(ob, min(places), max(places) + 1)
    for curve in curves_of(ob):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


def let_go(ob, start, frame):
    """Key *Animated*: on from the start, off in a frame."""
    for at, animated in ((start, True), (frame, False)):
        ob.rigid_body.kinematic = animated
        ob.keyframe_insert("rigid_body.kinematic", frame=at)


def curves_of(owner):
    data = owner.animation_data
    strip = data.action.layers[0].strips[0]
    return strip.channelbag(data.action_slot).fcurves


def begin():
    """A ball that begins with a velocity and a spin, and bricks that begin with velocities that differ."""
    scene = new_file(48)
    thrown = body(ball((-1.8, 0, 0.6), 0.3), "Ball", mass=2.0, shape="SPHERE")
    thrown.cairn.start_velocity, thrown.cairn.start_spin = (5.0, 0.0, 4.0), (0.0, 12.0, 0.0)
    for index in range(6):
        brick = body(cube((2.0, 0.5 * index - 1.25, 0.2), (0.3, 0.3, 0.4)), f"Brick.{index}")
        brick.cairn.start_velocity, brick.cairn.start_random = (0.0, 0.0, 5.0), 0.3
    return scene


def matter():
    """A belt that carries boxes of wood, stone and ice off its end, and three balls that are heavy below."""
    scene = new_file(96)
    belt = body(cube((0, 0, 0.35), (4.0, 0.9, 0.3)), "Wall", "PASSIVE", friction=1.0)
    belt.cairn.surface_velocity = (1.0, 0.0, 0.0)
    for row, name in enumerate(("Wood", "Stone", "Ice")):
        body(cube((-1.2 + 0.6 * row, 0, 0.65), (0.3, 0.3, 0.3)), f"Box.{name}")
        bpy.ops.script.execute_preset(
            filepath=bpy.utils.preset_find(name, "cairn_matter"), menu_idname="CAIRN_PT_matter_presets"
        )
    for row in range(3):
        toy = body(ball((0.9 * row - 0.9, -1.2, 0.3), 0.3), f"Ball.{row}", shape="SPHERE", angular_damping=0.7)
        toy.rotation_euler.y = math.radians(40.0 * row - 80.0)
        toy.cairn.use_center_of_mass, toy.cairn.center_of_mass = True, (0.0, 0.0, -0.15)
        paint_cap(toy)
    return scene


def wind():
    """Sheets that fall through air beside a ball, and a gust that carries them along."""
    scene = new_file(96)
    turns = random.Random(3)
    for row in range(6):
        sheet = body(cube((0.7 * row - 3.2, 0.0, 3.0), (0.5, 0.36, 0.01)), f"Box.{row}", mass=0.1)
        sheet.rotation_euler = [turns.uniform(-0.5, 0.5) for _ in range(3)]
    body(ball((-4.0, 0, 3.0), 0.12), "Ball", mass=2.0, shape="SPHERE")
    air = field("DRAG", (0, -1.5, 1.0), linear_drag=0.6, quadratic_drag=0.0)
    air.name = "Air"
    gust = field("WIND", (-3.5, 0, 0.5), flow=0.0)
    gust.name, gust.rotation_euler = "Gust", (0.0, math.radians(55.0), 0.0)
    for frame, strength in ((14, 0.0), (20, 8.0), (34, 8.0), (44, 0.0)):
        gust.field.strength = strength
        gust.field.keyframe_insert("strength", frame=frame)
    return scene


def field(kind, at, **settings):
    """An object with a force field that acts by exposed area."""
    bpy.ops.object.effector_add(type=kind, location=at)
    ob = bpy.context.object
    for name, value in settings.items():
        setattr(ob.field, name, value)
    ob.cairn.field_by_area = True
    return ob


def paint_cap(toy):
    """The top of a ball in white, to see which way is up."""
    toy.data.materials.append(paint(bpy.data.objects["Floor"], COLORS["Floor"]))
    for face in toy.data.polygons:
        face.material_index = 1 if face.center.z > 0.2 else 0


def throw(end=48):
    """A ball that is carried 1 m in four frames, and let go."""
    scene = new_file(end)
    for row in range(3):
        body(cube((4.0, 0, 0.25 + 0.5 * row), (0.5, 0.5, 0.5)), f"Box.{row}")
    thrown = body(ball((-1, 0, 1), 0.2), "Ball", mass=2.0, shape="SPHERE")
    carry(thrown, {1: (-1, 0, 1.0), 5: (0, 0, 1.0)})
    return scene


def slow():
    """The same at a quarter of the speed; what carries the ball takes four times as many frames."""
    scene = throw(end=192)
    scene.rigidbody_world.time_scale = 0.25
    thrown = scene.objects["Ball"]
    thrown.animation_data_clear()
    carry(thrown, {1: (-1, 0, 1.0), 17: (0, 0, 1.0)})
    return scene


def hold():
    """Boxes in the air that wait, and a ball that wakes the first."""
    scene = new_file(48)
    for column in range(3):
        place = (1.2 * column, 0, 2.0)
        body(cube(place, (0.5, 0.5, 0.5)), f"Box.{column}", use_deactivation=True, use_start_deactivated=True)
    thrown = body(ball((-2, 0, 2.2), 0.2), "Ball", mass=2.0, shape="SPHERE")
    carry(thrown, {1: (-2, 0, 2.3), 5: (-1, 0, 2.3)})
    return scene


def wait():
    """A leaning wall that waits for a touch, planks for a volume that passes, and shelves for a hit above 15 N s."""
    scene = new_file(96)
    for layer in range(6):
        for column in range(3):
            at = (-3.2 + 0.6 * column + 0.3 * (layer % 2), 1.2 + 0.22 * layer, 0.2 + 0.4 * layer)
            wait_for(body(cube(at, (0.58, 0.3, 0.38)), f"Brick.{layer}.{column}"), "TOUCH")
    thrown = body(ball((-2.4, -2.5, 1.4), 0.25), "Ball.Thrown", mass=8.0, shape="SPHERE")
    thrown.cairn.start_velocity = (0.0, 6.0, 3.2)
    sweep = cube((-0.6, -0.2, 1.6), (0.3, 2.0, 1.0))
    sweep.name, sweep.display_type, sweep.hide_render = "Sweep", "WIRE", True
    for frame, x in ((1, -0.6), (96, 4.2)):
        sweep.location.x = x
        sweep.keyframe_insert("location", index=0, frame=frame)
    for point in curves_of(sweep)[0].keyframe_points:
        point.interpolation = "LINEAR"
    for number in range(8):
        plank = body(cube((0.3 + 0.42 * number, -0.2, 1.6), (0.4, 1.4, 0.08)), f"Plank.{number}")
        wait_for(plank, "VOLUME")
        plank.cairn.activation_volume = sweep
    for number, (name, mass) in enumerate((("Light", 1.0), ("Heavy", 5.0))):
        at = (1.1 + 1.8 * number, 2.4, 1.8)
        shelf = wait_for(body(cube(at, (1.2, 0.8, 0.1)), f"Wall.Shelf.{name}", mass=3.0), "IMPULSE")
        shelf.cairn.activation_impulse = 15.0
        body(ball((at[0], at[1], 3.2), 0.25), f"Ball.{name}", mass=mass, shape="SPHERE")
    return scene


def wait_for(ob, what):
    ob.cairn.activation = what
    return ob


def hang():
    """Cans that hang on a beam: one until a frame, one until it is hit, two until an invisible box passes."""
    scene = new_file(72)
    beam = body(cube((0, 0, 2.66), (5.2, 0.16, 0.16)), "Beam", "PASSIVE")
    sweep = cube((3.6, 0, 2.9), (0.3, 0.6, 1.0))
    sweep.name, sweep.display_type, sweep.hide_render = "Sweep", "WIRE", True
    for frame, x in ((1, 5.2), (72, 0.4)):
        sweep.location.x = x
        sweep.keyframe_insert("location", index=0, frame=frame)
    for point in curves_of(sweep)[0].keyframe_points:
        point.interpolation = "LINEAR"
    for number, (x, what) in enumerate(((-2.1, "FRAME"), (-0.7, "TOUCH"), (0.9, "VOLUME"), (2.1, "VOLUME"))):
        can = body(cube((x, 0, 2.2), (0.5, 0.5, 0.6)), f"Can.{number}", mass=3.0)
        bpy.ops.object.empty_add(location=(x, 0, 2.55))
        pin = bpy.context.object
        bpy.ops.rigidbody.constraint_add(type="POINT")
        pin.name, pin.empty_display_size = f"Pin.{number}", 0.2
        pin.rigid_body_constraint.object1, pin.rigid_body_constraint.object2 = beam, can
        pin.cairn.activation_holds, pin.cairn.activation = "UNTIL", what
        pin.cairn.activation_frame, pin.cairn.activation_volume = 16, sweep if what == "VOLUME" else None
    thrown = body(ball((-0.7, -5.0, 1.6), 0.2), "Ball", mass=4.0, shape="SPHERE")
    thrown.cairn.start_velocity = (0.0, 4.5, 5.4)
    return scene


def settle(count=50, side=5.0):
    """Rocks that hang above a hollow, to be settled."""
    scene = new_file(48)
    floor = scene.objects["Floor"]
    floor.scale = (0.35, 0.35, 1)
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=48, y_subdivisions=48, size=side)
    terrain = bpy.context.object
    for vertex in terrain.data.vertices:
        x, y, _ = vertex.co
        vertex.co.z = 0.15 + 0.12 * math.sin(2.1 * x) * math.cos(1.7 * y) + 0.05 * (x * x + y * y)
    bpy.ops.object.shade_smooth()
    body(terrain, "Terrain", "PASSIVE", shape="MESH")
    scatter = random.Random(7)
    kinds = [rock(scatter, f"Rock {kind}") for kind in range(6)]
    for number in range(count):
        stone = kinds[number] if number < len(kinds) else copy_of(kinds[number % len(kinds)], (0, 0, 0))
        stone.location = [*(scatter.uniform(-0.28 * side, 0.28 * side) for _ in range(2)), 1.2 + 0.06 * number]
        stone.rotation_euler = [scatter.uniform(-math.pi, math.pi) for _ in range(3)]
        body(stone, f"Rock.{number:03d}", mass=5.0, shape="CONVEX_HULL")
    return scene


def rock(scatter, name):
    """A stone of some 30 cm with flat faces: a ball whose corners are pushed in and out."""
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=2, radius=scatter.uniform(0.11, 0.2))
    stone = bpy.context.object
    stone.data.name = name
    stretch = [scatter.uniform(0.7, 1.3) for _ in range(3)]
    for vertex in stone.data.vertices:
        share = scatter.uniform(0.85, 1.1)
        vertex.co = [share * factor * value for factor, value in zip(stretch, vertex.co, strict=True)]
    return stone


def glued():
    """Bricks that are glued where they touch, and a ball that is thrown at them."""
    scene = new_file(48)
    bricks = {}
    for row in range(4):
        for column in range(5):
            place = (0, column - 2.0, 0.25 + 0.5 * row)
            bricks[row, column] = body(cube(place, (0.5, 1, 0.5)), f"Brick.{row}{column}", mass=2.0)
    for brick in bricks.values():
        brick.select_set(True)
    bpy.context.scene.objects["Floor"].select_set(False)
    bpy.ops.cairn.glue_neighbours(material="AREA")
    glue = bpy.context.object.cairn.glue
    glue.tension, glue.shear, glue.torsion = 4e3, 8e3, 8e3
    thrown = body(ball((-4, 0, 1.1), 0.4), "Ball", mass=60.0, shape="SPHERE")
    carry(thrown, {1: (-4, 0, 1.1), 5: (-2.4, 0, 1.1)})
    return scene


def clusters():
    """Bricks that are glued to each other and to the floor, in chunks of a color each, and a ball thrown at them."""
    scene = new_file(60)
    for row in range(CHUNKED[0]):
        for column in range(CHUNKED[1]):
            place = 0, 0.4 * (column - 0.5 * CHUNKED[1]) + (0.3 if row % 2 else 0.1), 0.1 + 0.2 * row
            body(cube(place, (0.25, 0.4, 0.2)), f"Brick.{row:02d}{column:02d}", mass=36.0)
    for ob in scene.objects:
        ob.select_set(True)
    bpy.ops.cairn.glue_neighbours(material="MORTAR")
    glue = bpy.context.object.cairn.glue
    glue.cluster_by, glue.cluster_count, glue.cluster_factor, glue.cluster_seed = "NUMBER", 8, 50.0, 2
    paint_chunks(scene, bpy.context.object)
    thrown = body(ball((-2.5, 0, 1.2), 0.3), "Ball", mass=400.0, shape="SPHERE")
    carry(thrown, {1: (-2.5, 0, 1.2), 7: (-1.1, 0, 1.2)})
    return scene


def paint_chunks(scene, glue):
    """Give the pieces of each cluster a color: those that bonds join which are stronger than without clusters."""
    from cairn.addon.read.scene_export import export_scene

    def tensions():
        return {(joint.first, joint.second): joint.joint.tension for joint in export_scene(scene).joints}

    stronger = tensions()
    by, glue.cairn.glue.cluster_by = glue.cairn.glue.cluster_by, "NONE"
    plain = tensions()
    glue.cairn.glue.cluster_by = by
    chunk = {piece.object.name: piece.object.name for piece in glue.cairn.glue.pieces}
    for pair in (pair for pair in plain if stronger[pair] > plain[pair]):
        first, second = (chunk[name] for name in pair)
        chunk = {name: first if one == second else one for name, one in chunk.items()}
    names = sorted({one for name, one in chunk.items() if name.startswith("Brick")})
    for name, one in chunk.items():
        if name.startswith("Brick"):
            ob = scene.objects[name]
            ob.data.materials.clear()
            paint(ob, CHUNK_COLORS[names.index(one) % len(CHUNK_COLORS)])


def joint(name, at, first, second, kind="FIXED"):
    empty = bpy.data.objects.new(name, None)
    empty.location = at
    empty.empty_display_size = 0.1
    bpy.context.scene.collection.objects.link(empty)
    bpy.context.view_layer.objects.active = empty
    bpy.ops.rigidbody.constraint_add(type=kind)
    constraint = empty.rigid_body_constraint
    constraint.object1, constraint.object2 = first, second
    return constraint


def blur():
    """A bar of two colors that turns three quarters of a turn in each frame, about an axis towards the camera."""
    scene = new_file(24)
    scene.render.use_motion_blur = True
    bar = body(cube((0, 0, 1.4), (1.6, 0.12, 0.12)), "Bar")
    bar.data.materials.clear()
    for color in (COLORS["Ball"], COLORS["Box"]):
        paint(bar, color)
    bpy.context.view_layer.objects.active = bar
    bpy.ops.object.select_all(action="DESELECT")
    bar.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide(number_cuts=1)
    bpy.ops.object.mode_set(mode="OBJECT")
    for face in bar.data.polygons:
        face.material_index = int(face.center.x > 0.0)
    bar.rigid_body.angular_damping = 0.0
    bar.cairn.start_velocity, bar.cairn.start_spin = (0.0, 0.0, 4.0), (0.0, math.radians(270.0 * 24.0), 0.0)
    return scene


def bounce():
    """A ball that meets the floor between frames 6 and 7, with keys there and enough steps of blur."""
    scene = new_file(36)
    scene.render.use_motion_blur = True
    scene.render.motion_blur_position = "START"
    scene.render.motion_blur_shutter = 1.0
    scene.cairn.hit_keys = True
    scene.objects["Floor"].rigid_body.restitution = 1.0
    thrown = body(ball((-1.8, 0, 1.78), 0.1), "Ball", shape="SPHERE", restitution=0.9, friction=0.2)
    thrown.cairn.start_velocity = (8.0, 0.0, -6.2)
    thrown.cycles.motion_steps = 4
    return scene


def centimetres():
    """Toy bricks of 4 cm and a ball that is thrown, in a file that counts in centimetres, its gravity too."""
    scene = new_file(48, size=400.0)
    scene.unit_settings.scale_length, scene.unit_settings.length_unit = 0.01, "CENTIMETERS"
    scene.gravity = (0.0, 0.0, -981.0)
    for row in range(6):
        for column in range(2):
            spot = (9.0 + row % 2, 4.0 * column - 2.0, 2.0 + 4.0 * row)
            body(cube(spot, (4, 4, 4)), f"Box.{row}{column}", mass=0.05)
    thrown = body(ball((-20, 0, 14), 3), "Ball", mass=0.3, shape="SPHERE")
    thrown.cairn.start_velocity = (160.0, 0.0, 120.0)
    return scene


def large(columns=10, layers=10):
    """A thousand balls and boxes above a bin."""
    scene = new_file(72)
    half, height = 3.2, 2.8
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        size = (0.2 if x else 2 * half - 0.2, 0.2 if y else 2 * half + 0.2, height)
        body(cube((half * x, half * y, 0.5 * height), size), f"Wall.{x}{y}", "PASSIVE")
    parts = (cube((0, 0, 0), (0.34, 0.34, 0.34)), ball((0, 0, 0), 0.2, segments=16))
    for part, name, shape in zip(parts, ("Box", "Ball"), ("BOX", "SPHERE"), strict=True):
        body(part, name, shape=shape)
    chance = random.Random(1)
    for layer in range(layers):
        for row in range(columns):
            for column in range(columns):
                spot = Vector((row - 0.5 * (columns - 1), column - 0.5 * (columns - 1), layer)) * 0.62
                spot += Vector(chance.uniform(-0.01, 0.01) for _ in range(3)) + Vector((0, 0, 1.0))
                other = copy_of(parts[chance.random() < 0.5], spot)
                other.rotation_euler = [chance.uniform(0.0, math.tau) for _ in range(3)]
    for part in parts:
        bpy.data.objects.remove(part)
    return scene


def export():
    """A ring of dominoes that share one mesh, the first of which begins to fall."""
    scene = new_file(60)
    count, radius = 36, 2.4
    stone = None
    for number in range(count):
        angle = math.tau * (number + 0.5) / (count + 1)
        spot = Vector((radius * math.cos(angle), radius * math.sin(angle), 0.4))
        if stone is None:
            stone = other = cube(spot, (0.4, 0.1, 0.8))
        else:
            other = copy_of(stone, spot)
        other.rotation_euler.z = angle
        body(other, f"Domino.{number:02}")
    stone.cairn.start_space, stone.cairn.start_spin = "LOCAL", (-2.5, 0.0, 0.0)
    return scene


def shot():
    """Cans on a plank, and a ball that is thrown at them."""
    scene = new_file(48)
    body(cube((1.6, 0, 0.45), (0.8, 3.0, 0.9)), "Wall", "PASSIVE")
    bpy.ops.mesh.primitive_cylinder_add(radius=0.2, depth=0.5)
    can = bpy.context.object
    can.data.shade_smooth()
    for row in range(4):
        for column in range(4 - row):
            spot = (1.6, 0.44 * (column - 0.5 * (3 - row)), 1.15 + 0.5 * row)
            other = can if row == column == 0 else copy_of(can, spot)
            other.location = spot
            body(other, f"Can.{row}{column}", mass=0.3, shape="CYLINDER")
    thrown = body(ball((-2.4, 0, 1.0), 0.2), "Ball", mass=3.0, shape="SPHERE")
    thrown.cairn.start_velocity = (12.0, 0.0, 2.0)
    return scene


# Bones of the figure: head, tail, parent, and how thick its body is.
BONES = {
    "hips": ((0, 0, 1.0), (0, 0, 1.2), None, 0.3),
    "chest": ((0, 0, 1.2), (0, 0, 1.55), "hips", 0.34),
    "head": ((0, 0, 1.6), (0, 0, 1.88), "chest", 0.22),
    **{
        f"{name}.{side}": (
            (sign * head[0], 0, head[1]),
            (sign * tail[0], 0, tail[1]),
            parent if parent in ("hips", "chest") else f"{parent}.{side}",
            thick,
        )
        for side, sign in (("L", 1), ("R", -1))
        for name, head, tail, parent, thick in (
            ("upper arm", (0.2, 1.5), (0.48, 1.5), "chest", 0.1),
            ("forearm", (0.48, 1.5), (0.78, 1.5), "upper arm", 0.09),
            ("thigh", (0.1, 1.0), (0.1, 0.54), "hips", 0.15),
            ("shin", (0.1, 0.54), (0.1, 0.06), "thigh", 0.12),
        )
    },
}


def figure():
    """A rig that leans over the edge of a step and lets go; what falls leads a second rig, which has the mesh."""
    scene = new_file(72)
    step = 0.7
    body(cube((0, 0.55, 0.5 * step), (2.4, 1.4, step)), "Wall", "PASSIVE")
    lead, follow = rig("Lead", step, parents=True), rig("Figure", step, parents=False)
    bpy.context.view_layer.update()
    placed = {name: limb(lead, name) for name in BONES}
    limbs = {name: part for name, (part, _) in placed.items()}
    bpy.context.view_layer.update()
    for name, bone in BONES.items():
        if bone.parent:
            join_limbs(lead, name, limbs[bone.parent], limbs[name])
    skin(follow)
    for name, (part, place) in placed.items():
        constraint = follow.pose.bones[name].constraints.new("CHILD_OF")
        constraint.target = part
        constraint.set_inverse_pending = False
        constraint.inverse_matrix = place.inverted() @ follow.matrix_world  # as Set Inverse does
    act(lead)
    for part in limbs.values():
        let_go(part, 1, LET_GO)
        part.display_type, part.hide_render = "WIRE", True
    lead.hide_set(True)
    return scene


class Bone(NamedTuple):
    """A bone of the figure, and its body."""

    head: tuple
    tail: tuple
    parent: str | None
    thick: tuple  # across and along the figure's front [m]
    kind: str  # of the joint at its head


def _limbs():
    """Of both sides, in a T pose; the figure looks along -Y."""
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for name, head, tail, parent, thick, kind in (
            ("upper arm", (0.19, 1.48), (0.47, 1.48), "chest", (0.09, 0.1), "CONE_TWIST"),
            ("forearm", (0.47, 1.48), (0.78, 1.48), f"upper arm.{side}", (0.08, 0.09), "HINGE"),
            ("thigh", (0.1, 0.98), (0.1, 0.52), "hips", (0.15, 0.16), "CONE_TWIST"),
            ("shin", (0.1, 0.52), (0.1, 0.04), f"thigh.{side}", (0.11, 0.12), "HINGE"),
        ):
            places = [(sign * x, 0.0, z) for x, z in (head, tail)]
            yield f"{name}.{side}", Bone(*places, parent, thick, kind)


BONES = {
    "hips": Bone((0, 0, 0.98), (0, 0, 1.16), None, (0.3, 0.18), ""),
    "chest": Bone((0, 0, 1.16), (0, 0, 1.54), "hips", (0.34, 0.2), "CONE_TWIST"),
    "head": Bone((0, 0, 1.58), (0, 0, 1.84), "chest", (0.18, 0.2), "CONE_TWIST"),
    **dict(_limbs()),
}
# The first frame in which the figure falls.
LET_GO = 21
# How far joints turn [degrees]: to all sides and about the bone, or one way only.
CONES = {"chest": (25, 25), "head": (35, 45), "upper arm": (85, 60), "thigh": (60, 30)}
HINGES = {"forearm": 140, "shin": 140}


def rig(name, height, parents):
    """An armature at a height; without parents each bone goes where its own constraint brings it."""
    armature = bpy.data.armatures.new(name)
    ob = bpy.data.objects.new(name, armature)
    ob.location.z = height
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for bone_name, bone in BONES.items():
        made = armature.edit_bones.new(bone_name)
        made.head, made.tail = bone.head, bone.tail
        if parents and bone.parent:
            made.parent = armature.edit_bones[bone.parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    return ob


def limb(lead, name):
    """A box along a bone, a little shorter than it, whose parent the bone is; and where it is in the rest pose."""
    bone = BONES[name]
    head, tail = Vector(bone.head), Vector(bone.tail)
    length = (tail - head).length
    along = max(range(3), key=lambda axis: abs((tail - head)[axis]))
    size = [bone.thick[0], bone.thick[1], bone.thick[0]]
    if along == 2:
        size = [*bone.thick, 0.0]
    size[along] = 0.94 * length
    part = body(
        cube(lead.matrix_world @ (0.5 * (head + tail)), size),
        f"Body {name}",
        mass=70.0 * size[0] * size[1] * size[2] * 12,
    )
    bpy.context.view_layer.update()
    place = part.matrix_world.copy()
    part.parent, part.parent_type, part.parent_bone = lead, "BONE", name
    bpy.context.view_layer.update()
    part.matrix_world = place
    return part, place


def join_limbs(lead, name, parent, part):
    """A joint at a bone's head, as far as such a joint of a person turns."""
    bone = BONES[name]
    word, _, side = name.partition(".")
    made = joint(f"Joint {name}", lead.matrix_world @ Vector(bone.head), parent, part, "POINT")
    empty = bpy.context.object
    if bone.kind == "HINGE":
        made.type = "HINGE"  # about Z: knees bend backwards, elbows to the front
        knee = word == "shin"
        empty.rotation_euler = (0.0, math.radians(90.0), 0.0) if knee else (0.0, 0.0, 0.0)
        made.use_limit_ang_z = True
        least, most = (0, HINGES[word]) if knee or side == "R" else (-HINGES[word], 0)
        made.limit_ang_z_lower, made.limit_ang_z_upper = math.radians(least), math.radians(most)
        return
    # a cone about the bone, which is the joint's Z
    direction = Vector(bone.tail) - Vector(bone.head)
    empty.rotation_euler = direction.to_track_quat("Z", "Y").to_euler()
    extras = empty.cairn.joint
    extras.kind = bone.kind
    extras.cone_angle, extras.twist_angle = (math.radians(angle) for angle in CONES[word])


def skin(ob):
    """A mesh of an ellipsoid for each bone, which an armature deforms."""
    import bmesh  # comes with bpy

    made = bmesh.new()
    layer = made.verts.layers.deform.verify()
    mesh = bpy.data.meshes.new("Skin")
    figure_mesh = bpy.data.objects.new("Skin", mesh)
    for index, (name, bone) in enumerate(BONES.items()):
        figure_mesh.vertex_groups.new(name=name)
        head, tail = Vector(bone.head), Vector(bone.tail)
        turn = (tail - head).to_track_quat("Z", "Y").to_matrix().to_4x4()
        wide, deep = bone.thick if abs((tail - head).z) > 0.0 else bone.thick[::-1]
        size = Matrix.Diagonal((0.62 * wide, 0.62 * deep, 0.58 * (tail - head).length, 1.0))
        place = Matrix.Translation(0.5 * (head + tail)) @ turn @ size
        found = bmesh.ops.create_uvsphere(made, u_segments=24, v_segments=12, radius=1.0, matrix=place)
        for vertex in found["verts"]:
            vertex[layer][index] = 1.0
    made.to_mesh(mesh)
    made.free()
    mesh.shade_smooth()
    figure_mesh.parent = ob
    figure_mesh.modifiers.new("Armature", "ARMATURE").object = ob
    bpy.context.scene.collection.objects.link(figure_mesh)
    paint(figure_mesh, (0.86, 0.24, 0.07))


def act(lead):
    """Keys of the rig: the arms come down, go up again, and the whole leans over the edge."""
    for frame, lean, arm in ((1, 0.0, 70.0), (10, -4.0, 60.0), (LET_GO - 1, 22.0, -55.0)):
        lead.rotation_euler.x = math.radians(lean)
        lead.keyframe_insert("rotation_euler", index=0, frame=frame)
        for side, sign in (("L", 1.0), ("R", -1.0)):
            bone = lead.pose.bones[f"upper arm.{side}"]
            bone.rotation_mode = "XYZ"
            axis = bone.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, 1.0, 0.0))
            bone.rotation_euler = Matrix.Rotation(math.radians(sign * arm), 3, axis).to_euler()
            bone.keyframe_insert("rotation_euler", frame=frame)


def follow():
    """A figure that waves, is hit by a ball, falls, and gets up again: bodies of its bones follow its own keys."""
    from cairn.addon.ragdoll import make_ragdoll

    scene = new_file(96)
    figure_rig = rig("Figure", 0.0, parents=True)
    skin(figure_rig)
    wave(figure_rig)
    bodies, _ = make_ragdoll(scene, figure_rig)
    for part in bodies:
        for frame, value in ((1, 1.0), (LIMP, 0.0), (RISES, 0.0), (STANDS, 1.0)):
            part.cairn.follow = value
            part.keyframe_insert("cairn.follow", frame=frame)
        part.cairn.follow = 1.0
        drop_at_once(part)
    thrown = body(ball((0.0, -6.0, 1.2), 0.16), "Ball", mass=20.0, shape="SPHERE")
    thrown.cairn.start_velocity = (0.0, 8.0, 3.8)
    return scene


# Frames from which on the figure of ``follow`` is limp, and is led more and more, until it is where it was.
LIMP, RISES, STANDS = 20, 56, 84


def drop_at_once(ob):
    """Let an object's first key hold until the second one."""
    for layer in ob.animation_data.action.layers:
        for curve in layer.strips[0].channelbags[0].fcurves:
            curve.keyframe_points[0].interpolation = "CONSTANT"


def wave(lead):
    """Keys of the rig: it sways, one arm hangs, the other one waves."""
    for frame in range(1, 105, 8):
        turn = math.sin(frame / 8.0 * 0.5 * math.pi)
        for name, axis, angle in (
            ("upper arm.L", (0.0, 1.0, 0.0), 75.0),
            ("upper arm.R", (0.0, 1.0, 0.0), 35.0 + 25.0 * turn),
            ("forearm.R", (0.0, 1.0, 0.0), 30.0 + 25.0 * turn),
            ("chest", (0.0, 1.0, 0.0), 6.0 * turn),
        ):
            bone = lead.pose.bones[name]
            bone.rotation_mode = "XYZ"
            own = bone.bone.matrix_local.to_3x3().inverted() @ Vector(axis)
            bone.rotation_euler = Matrix.Rotation(math.radians(angle), 3, own).to_euler()
            bone.keyframe_insert("rotation_euler", frame=frame)


FILES = {
    "begin": begin,
    "matter": matter,
    "wind": wind,
    "throw": throw,
    "hold": hold,
    "hang": hang,
    "wait": wait,
    "settle": settle,
    "glued": glued,
    "clusters": clusters,
    "figure": figure,
    "follow": follow,
    "slow": slow,
    "blur": blur,
    "bounce": bounce,
    "centimetres": centimetres,
    "large": large,
    "export": export,
    "shot": shot,
}


def make(name):
    """Make a file's scene, in the open Blender."""
    scene = FILES[name]()
    scene.frame_set(1)
    return scene


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(FILES), metavar="NAME")
    arguments = parser.parse_args()
    import cairn

    FILES_FOLDER.mkdir(exist_ok=True)
    for name in arguments.names:
        cairn.register()  # it adds Cairn's settings; a fresh file drops nothing of it
        make(name)
        bpy.context.preferences.filepaths.save_version = 0
        path = FILES_FOLDER / f"{name}.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True, copy=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
