"""Save a scene with every kind of shape, a concave ring that moves, and a hinge. Names the file after ``--``."""

import sys

import bpy

path = sys.argv[sys.argv.index("--") + 1]
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.frame_start, scene.frame_end = 1, 12
bpy.ops.rigidbody.world_add()


def add(shape: str, make, kind: str = "ACTIVE", **words) -> bpy.types.Object:
    make(**words)
    body = bpy.context.object
    bpy.ops.rigidbody.object_add(type=kind)
    body.rigid_body.collision_shape = shape
    return body


mesh = bpy.ops.mesh
add("BOX", mesh.primitive_cube_add, "PASSIVE", size=1, location=(0, 0, -0.5), scale=(30, 30, 1))
add("MESH", mesh.primitive_grid_add, "PASSIVE", size=4, location=(8, 0, 0.1))
add("SPHERE", mesh.primitive_uv_sphere_add, radius=0.5, location=(8, 0, 1))
add("BOX", mesh.primitive_cube_add, size=1, location=(0, 0, 0.6))
add("CONVEX_HULL", mesh.primitive_ico_sphere_add, radius=0.5, location=(2, 0, 0.6))
add("CYLINDER", mesh.primitive_cylinder_add, radius=0.5, depth=1, location=(-2, 0, 0.6))
add("CONE", mesh.primitive_cone_add, radius1=0.5, depth=1, location=(-4, 0, 0.6))
add("CAPSULE", mesh.primitive_cylinder_add, radius=0.3, depth=1.2, location=(7, 1, 1))
add("MESH", mesh.primitive_torus_add, major_radius=1, minor_radius=0.3, location=(0, 4, 0.5))
posts = [add("BOX", mesh.primitive_cube_add, size=0.5, location=(x, -4, 2)) for x in (0, 1)]
bpy.ops.object.empty_add(location=(0.5, -4, 2))
bpy.ops.rigidbody.constraint_add(type="HINGE")
hinge = bpy.context.object.rigid_body_constraint
hinge.object1, hinge.object2 = posts
scene.rigidbody_world.point_cache.frame_end = 12
bpy.ops.wm.save_as_mainfile(filepath=path)
print("cairn-test:" + "{}")
