"""Save a scene: a floor, and two unit boxes above it that will be a stack. Names the file after ``--``."""

import sys

import bpy

path = sys.argv[sys.argv.index("--") + 1]
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.frame_start, scene.frame_end = 1, 48
bpy.ops.rigidbody.world_add()


def add_box(name: str, location, scale, kind: str) -> None:
    bpy.ops.mesh.primitive_cube_add(size=1, location=location, scale=scale)
    box = bpy.context.object
    box.name = name
    bpy.ops.rigidbody.object_add(type=kind)
    box.rigid_body.collision_shape = "BOX"


add_box("Floor", (0, 0, -0.5), (10, 10, 1), "PASSIVE")
add_box("Lower", (0, 0, 0.6), (1, 1, 1), "ACTIVE")
add_box("Upper", (0, 0, 2.1), (1, 1, 1), "ACTIVE")
scene.rigidbody_world.point_cache.frame_end = 48
bpy.ops.wm.save_as_mainfile(filepath=path)
print("cairn-test:" + "{}")
