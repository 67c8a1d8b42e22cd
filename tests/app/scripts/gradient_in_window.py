"""In a window: the curve of *Gradient* that is drawn by hand; a bake turns red when it is changed.

A picture goes to the folder after ``--``.
"""

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tour
from tour import in_view, nothing_runs, seen, status, until

folder = Path(sys.argv[sys.argv.index("--") + 1])
bpy.context.preferences.view.show_splash = False


def scene():
    return tour.window().scene


def begin():
    """A row of cubes that is glued, along an empty."""
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    with in_view():
        for place in range(6):
            bpy.ops.mesh.primitive_cube_add(size=1, location=(place, 0, 1))
            bpy.ops.rigidbody.object_add(type="PASSIVE" if place == 0 else "ACTIVE")
        for ob in scene().objects:
            ob.select_set(ob.rigid_body is not None)
        bpy.ops.cairn.glue_neighbours(material="AREA")
        glue = bpy.context.object
        bpy.ops.object.empty_add(type="ARROWS", location=(0, 0, 1))
        slope = bpy.context.object
    slope.empty_display_size = 5.0
    glue.cairn.glue.gradient_object, glue.cairn.glue.gradient_axis = slope, "X"
    glue.cairn.glue.gradient_curve = "CUSTOM"
    bpy.context.view_layer.objects.active = glue
    scene().rigidbody_world.point_cache.frame_end = scene().frame_end = 6
    for name in ("gradient", "clusters", "painted"):
        panel = getattr(tour.part_of_cairn("glue_variation_panels"), f"PHYSICS_PT_cairn_glue_{name}")
        bpy.utils.unregister_class(panel)
        panel.bl_options = set() if name == "gradient" else {"DEFAULT_CLOSED"}
        bpy.utils.register_class(panel)


def physics():
    tour.area("PROPERTIES").spaces.active.context = "PHYSICS"


def bake():
    with in_view():
        bpy.ops.cairn.bake("INVOKE_DEFAULT")


def note(name):
    def step():
        seen[name] = status().get("outdated", "")

    return step


def draw():
    """A point that the user drags up, which only draws the panel anew."""
    mapping = scene().objects["Glue"].cairn.glue.gradient_profile.nodes[0].mapping
    mapping.curves[0].points.new(0.4, 0.9)
    mapping.update()


tour.play(
    [
        *(begin, tour.drawn, physics, tour.drawn, bake, until(nothing_runs), tour.pause(2.0), note("baked")),
        *(draw, tour.drawn, tour.drawn, tour.pause(2.0), note("drawn"), *tour.picture(folder / "gradient.png")),
    ]
)
