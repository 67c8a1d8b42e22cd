"""Make the files and pictures of docs/guide/how-do-i.md.

    python tools/make_guide_files.py [NAME ...]

A file is saved as an animator would have it before the bake; its picture shows frames of the bake side by side.
"""

import argparse
import sys
from pathlib import Path

import bpy
from mathutils import Vector

ROOT = Path(__file__).resolve().parents[1]
GUIDE = ROOT / "docs" / "guide"
FILES_FOLDER = ROOT / "docs" / "files"
SIZE = 320, 240  # of one frame of a picture [pixels]
# Of bodies by how their names begin, of the others, and of the sky.
COLORS = {"Floor": (0.55, 0.57, 0.6), "Ball": (0.85, 0.3, 0.1)}
COLOR, SKY = (0.75, 0.65, 0.45), (0.72, 0.76, 0.82)


def new_file(end):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_end = end
    bpy.ops.rigidbody.world_add()
    scene.rigidbody_world.point_cache.frame_end = end
    body(plane(20), "Floor", "PASSIVE", shape="BOX")
    return scene


def plane(size):
    bpy.ops.mesh.primitive_plane_add(size=size)
    return bpy.context.object


def cube(at, size=(1, 1, 1)):
    bpy.ops.mesh.primitive_cube_add(size=1, location=at)
    bpy.context.object.scale = size
    return bpy.context.object


def ball(at, radius):
    bpy.ops.mesh.primitive_uv_sphere_add(radius=radius, location=at)
    return bpy.context.object


def body(ob, name, kind="ACTIVE", mass=1.0, **settings):
    ob.name = name
    bpy.context.view_layer.objects.active = ob
    bpy.ops.rigidbody.object_add(type=kind)
    ob.rigid_body.mass = mass
    shape = settings.pop("shape", "BOX")
    ob.rigid_body.collision_shape = shape
    for key, value in settings.items():
        setattr(ob.rigid_body, key, value)
    return ob


def carry(ob, places):
    """Key an object along places by frame, in straight lines, and let it go there: the next frame is simulated."""
    for frame, place in places.items():
        ob.location = place
        ob.keyframe_insert("location", frame=frame)
    for frame, animated in ((min(places), True), (max(places) + 1, False)):
        ob.rigid_body.kinematic = animated
        ob.keyframe_insert("rigid_body.kinematic", frame=frame)
    data = ob.animation_data
    strip = data.action.layers[0].strips[0]
    for curve in strip.channelbag(data.action_slot).fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


def begin():
    """A ball that begins with a velocity and a spin, and bricks that begin with velocities that differ."""
    scene = new_file(48)
    thrown = body(ball((-1.8, 0, 0.6), 0.3), "Ball", mass=2.0, shape="SPHERE")
    thrown.cairn.start_velocity, thrown.cairn.start_spin = (5.0, 0.0, 4.0), (0.0, 12.0, 0.0)
    for index in range(6):
        brick = body(cube((2.0, 0.5 * index - 1.25, 0.2), (0.3, 0.3, 0.4)), f"Brick.{index}")
        brick.cairn.start_velocity, brick.cairn.start_random = (0.0, 0.0, 5.0), 0.3
    return scene


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


def glued():
    """Bricks with fixed constraints that break."""
    scene = new_file(48)
    bricks = {}
    for row in range(4):
        for column in range(5):
            place = (0, column - 2.0, 0.25 + 0.5 * row)
            bricks[row, column] = body(cube(place, (0.5, 1, 0.5)), f"Brick.{row}{column}", mass=2.0)
    for (row, column), brick in bricks.items():
        for other in ((row + 1, column), (row, column + 1)):
            if other in bricks:
                join(brick, bricks[other])
    thrown = body(ball((-4, 0, 1.1), 0.4), "Ball", mass=60.0, shape="SPHERE")
    carry(thrown, {1: (-4, 0, 1.1), 5: (-2.4, 0, 1.1)})
    return scene


def join(first, second):
    empty = bpy.data.objects.new("Glue", None)
    empty.location = 0.5 * (first.location + second.location)
    empty.empty_display_size = 0.1
    bpy.context.scene.collection.objects.link(empty)
    bpy.context.view_layer.objects.active = empty
    bpy.ops.rigidbody.constraint_add(type="FIXED")
    constraint = empty.rigid_body_constraint
    constraint.object1, constraint.object2 = first, second
    constraint.use_breaking, constraint.breaking_threshold = True, 4.0
    constraint.disable_collisions = False


# Frames that the pictures show; those without are shown by another picture.
FILES = {
    "begin": (begin, (1, 7, 14, 24)),
    "throw": (throw, (1, 5, 12, 30)),
    "hold": (hold, (1, 8, 14, 30)),
    "glued": (glued, (1, 10, 14, 30)),
    "slow": (slow, ()),
}


def save(name):
    """Make a file and save it; returns its scene."""
    scene = FILES[name][0]()
    scene.frame_set(1)
    (FILES_FOLDER).mkdir(exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(FILES_FOLDER / f"{name}.blend"), compress=True, copy=True)
    return scene


def draw(name, scene):
    """Bake and draw a picture."""
    from cairn.addon.bake import bake_scene
    from cairn.addon.cli_output import Progress
    from cairn.addon.pictures import render_strip
    from cairn.addon.settings import BakeSettings

    bake_scene(scene, BakeSettings.from_scene(scene))
    add_camera_and_light(scene)
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    render_strip(scene, FILES[name][1], GUIDE / f"how-{name}.png", Progress())


def add_camera_and_light(scene):
    """Look at the middle of what happens, from the side."""
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location = (1.0, -10.0, 4.0)
    camera.rotation_euler = (Vector((1.0, 0.0, 1.0)) - camera.location).to_track_quat("-Z", "Y").to_euler()
    light = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    light.data.energy, light.rotation_euler = 4.0, (0.6, 0.3, 0.2)
    for ob in (camera, light):
        scene.collection.objects.link(ob)
    scene.camera = camera
    scene.world = bpy.data.worlds.new("Sky")
    scene.world.color = SKY
    for ob in scene.rigidbody_world.collection.objects:
        name = next(name for name in (*COLORS, "") if ob.name.startswith(name))
        material = bpy.data.materials.new(name or "Body")
        material.diffuse_color = (*COLORS.get(name, COLOR), 1.0)
        ob.data = ob.data.copy()
        ob.data.materials.append(material)
    scene.render.engine = "BLENDER_WORKBENCH"
    shading = scene.display.shading
    shading.show_shadows, shading.show_cavity = True, True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(FILES), metavar="NAME")
    parser.add_argument("--no-pictures", action="store_true")
    arguments = parser.parse_args()
    import cairn

    for name in arguments.names:
        # registering adds Cairn's settings; a fresh file drops nothing of it
        cairn.register()
        scene = save(name)
        if FILES[name][1] and not arguments.no_pictures:
            draw(name, scene)
    return 0


if __name__ == "__main__":
    sys.exit(main())
