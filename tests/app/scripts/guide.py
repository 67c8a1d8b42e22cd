"""In a window: docs/guide from its first step to its last, with its pictures. Tells what is there after the steps.

The folder for the pictures stands after ``--``. The numbers are those that the guide says to type.
"""

import math
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tour

folder = Path(sys.argv[sys.argv.index("--") + 1])
WIDTH = 1280  # of the pictures [pixels]
LAST = 100
seen = {}


def picture(name):
    return tour.picture(folder / f"{name}.webp", WIDTH)


def show_physics():
    """The tab of the properties that has a body's settings; it is there once it was drawn."""
    tour.area("PROPERTIES").spaces.active.context = "PHYSICS"


def look(distance, turn=(68.0, 0.0, 24.0)):
    """Let the 3D view look at the house, from the front."""
    from mathutils import Euler

    view = tour.area("VIEW_3D").spaces.active.region_3d
    view.view_perspective = "PERSP"
    view.view_location = (0.45, 0.0, 0.8)
    view.view_rotation = Euler([math.radians(angle) for angle in turn]).to_quaternion()
    view.view_distance = distance


def select(*names):
    for ob in bpy.context.view_layer.objects:
        ob.select_set(ob.name in names)
    bpy.context.view_layer.objects.active = bpy.data.objects[names[-1]]


def place(name, x, z, turn):
    """What is typed into Location X and Z and Rotation Y in the sidebar."""
    ob = bpy.data.objects[name]
    ob.location.x, ob.location.z, ob.rotation_euler.y = x, z, math.radians(turn)


def duplicate(*names):
    """Shift D and Esc; the names of the copies."""
    select(*names)
    bpy.ops.object.duplicate()
    return sorted(ob.name for ob in bpy.context.selected_objects)


# The ten steps


def step_1_empty():
    bpy.ops.wm.read_homefile(use_factory_startup=True)


def step_1():
    bpy.context.preferences.view.ui_scale = 1.15
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    bpy.context.scene.frame_end = LAST


def step_2():
    with tour.in_view():
        bpy.ops.mesh.primitive_plane_add()
        bpy.ops.transform.resize(value=(10, 10, 10))
        bpy.ops.rigidbody.object_add(type="PASSIVE")
    bpy.context.object.rigid_body.friction = 0.8
    look(6.0)


def step_3():
    with tour.in_view():
        bpy.ops.mesh.primitive_cube_add()
    card = bpy.context.object
    card.dimensions = (0.02, 0.7, 1.0)
    place("Cube", -0.181, 0.474, 20.0)
    tour.area("VIEW_3D").spaces.active.show_region_ui = True
    look(4.5)


def step_4():
    with tour.in_view():
        bpy.ops.rigidbody.object_add(type="ACTIVE")
    bpy.context.object.rigid_body.friction = 0.8
    material = bpy.data.materials.new("Card")
    if material.node_tree is None:
        material.use_nodes = True
    shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].default_value = material.diffuse_color = (0.8, 0.08, 0.05, 1.0)
    bpy.context.object.data.materials.append(material)


def step_5():
    with tour.in_view():
        duplicate("Cube")
    place("Cube.001", 0.181, 0.474, -20.0)


def step_6():
    with tour.in_view():
        duplicate("Cube", "Cube.001")
        bpy.ops.transform.translate(value=(0.95, 0.0, 0.0))


def step_7():
    with tour.in_view():
        duplicate("Cube")
    place("Cube.004", 0.475, 0.958, 90.0)


def step_8():
    with tour.in_view():
        duplicate("Cube", "Cube.001")
        bpy.ops.transform.translate(value=(0.475, 0.0, 0.968))


def play_blender():
    """What Blender's own simulation makes of it, as the guide says."""
    scene = bpy.context.scene
    scene.rigidbody_world.point_cache.frame_end = LAST
    for frame in range(1, LAST + 1):
        scene.frame_set(frame)
    seen["blender"] = highest()


def rewind():
    bpy.context.scene.frame_set(1)


def highest():
    depsgraph = bpy.context.evaluated_depsgraph_get()
    cards = [ob for ob in bpy.context.scene.objects if ob.name.startswith("Cube")]
    return round(max(ob.evaluated_get(depsgraph).matrix_world.translation.z for ob in cards), 4)


def step_9():
    with tour.in_view():
        assert bpy.ops.cairn.bake("INVOKE_DEFAULT") == {"RUNNING_MODAL"}


def is_baked():
    return bpy.context.scene.cairn.is_baked


def look_at_bake():
    scene = bpy.context.scene
    seen["start"] = highest()
    scene.frame_set(25)
    seen["settled"] = highest()
    scene.frame_set(LAST)
    seen["end"] = highest()
    seen["summary"], seen["warned"] = scene.cairn.summary, scene.cairn.has_warnings
    seen["bodies"] = sum(ob.rigid_body is not None for ob in scene.objects)


def step_10():
    look(9.0)
    with tour.in_view():
        bpy.ops.view3d.camera_to_view()
    scene = bpy.context.scene
    scene.render.resolution_x, scene.render.resolution_y = 960, 540
    scene.render.image_settings.file_format = "WEBP"
    scene.render.filepath = str(folder / "10-rendered.webp")
    if hasattr(scene, "eevee"):
        scene.eevee.taa_render_samples = 16
    bpy.ops.render.render(write_still=True)


tour.play(
    [
        *(step_1_empty, step_1, step_2, tour.drawn, show_physics, *picture("2-floor")),
        *(step_3, lambda: tour.choose_tab("Item"), *picture("3-card"), step_4, *picture("4-physics")),
        *(step_5, step_6, *picture("6-pairs"), step_7, step_8, *picture("8-house")),
        *(play_blender, *picture("8-blender"), rewind, tour.choose_tab, *picture("9-before")),
        *(step_9, tour.until(is_baked), look_at_bake, *picture("9-baked"), step_10),
    ],
    seen,
)
