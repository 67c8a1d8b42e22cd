"""In a window, with the guide's words: a rig with a mesh becomes a ragdoll, which goes limp and comes back.

Made, keyed, baked, undone and redone, saved and opened, switched off. Pictures go to the folder after ``--``.
"""

import math
import sys
from pathlib import Path

import addon_utils
import bpy
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parent))
import tour
from tour import in_view, nothing_runs, seen, until

folder = Path(sys.argv[sys.argv.index("--") + 1])
LIMP, BACK, LAST, WIDTH = 20, 56, 96, 1280
# Head, tail and parent of each bone, and how thick what is weighted to it is; the figure stands with its arms out.
BONES = {
    "Hips": ((0, 0, 1.0), (0, 0, 1.2), None, 0.14),
    "Chest": ((0, 0, 1.2), (0, 0, 1.5), "Hips", 0.16),
    "Head": ((0, 0, 1.5), (0, 0, 1.8), "Chest", 0.1),
    **{
        f"{name}.{side}": (
            (sign * start[0], 0, start[1]),
            (sign * end[0], 0, end[1]),
            parent and parent.format(side),
            thick,
        )
        for side, sign in (("L", 1), ("R", -1))
        for name, start, end, parent, thick in (
            ("Arm", (0.2, 1.45), (0.5, 1.45), "Chest", 0.06),
            ("Forearm", (0.5, 1.45), (0.8, 1.45), "Arm.{}", 0.05),
            ("Thigh", (0.1, 1.0), (0.12, 0.55), "Hips", 0.08),
            ("Shin", (0.12, 0.55), (0.12, 0.08), "Thigh.{}", 0.06),
        )
    },
}
bpy.context.preferences.view.show_splash = False


def scene():
    return tour.window().scene


def rig():
    return bpy.data.objects["Rig"]


def begin():
    """A floor, a rig with limits at elbows and knees, a mesh that goes with it, and a wave of its arms."""
    scene().frame_end = LAST
    for name in ("Cube", "Light"):
        bpy.data.objects.remove(bpy.data.objects[name])
    with in_view():
        bpy.ops.mesh.primitive_plane_add(size=10)
        bpy.ops.rigidbody.object_add(type="PASSIVE")
        bpy.ops.object.armature_add()
        armature = bpy.context.object
        armature.name = "Rig"
        bpy.ops.object.mode_set(mode="EDIT")
        bones = armature.data.edit_bones
        bones.remove(bones[0])
        for name, (head, tail, parent, _) in BONES.items():
            bone = bones.new(name)
            bone.head, bone.tail = head, tail
            bone.parent = bones.get(parent) if parent else None
        bpy.ops.object.mode_set(mode="OBJECT")
    for name in ("Forearm.L", "Forearm.R", "Shin.L", "Shin.R"):
        bone = armature.pose.bones[name]
        bone.use_ik_limit_x, bone.ik_min_x, bone.ik_max_x = True, *((0.0, 2.4) if "arm" in name else (-2.4, 0.0))
        bone.lock_ik_y = bone.lock_ik_z = True
    add_skin(armature)
    for frame in range(1, LAST + 1, 4):
        for side in "LR":
            bone = armature.pose.bones[f"Arm.{side}"]
            bone.rotation_mode = "XYZ"
            bone.rotation_euler.z = 0.6 * math.sin(2.0 * math.pi * (frame - 1) / 24.0)
            bone.keyframe_insert("rotation_euler", frame=frame)
    space = tour.area("VIEW_3D").spaces.active
    space.show_region_ui, space.shading.type = True, "SOLID"
    space.region_3d.view_location, space.region_3d.view_distance = (0.0, 0.0, 0.9), 6.0
    tour.area("PROPERTIES").spaces.active.context = "OBJECT"


def add_skin(armature):
    """A box a bone in one mesh, and automatic weights of Object > Parent."""
    points, faces, owners = [], [], []
    for name, (_, _, _, thick) in BONES.items():
        bone = armature.data.bones[name]
        first = len(points)
        for x in (-thick, thick):
            for y in (0.05 * bone.length, 0.95 * bone.length):
                for z in (-thick, thick):
                    points.append(tuple(bone.matrix_local @ Vector((x, y, z))))
                    owners.append(name)
        sides = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
        faces += [[first + corner for corner in side] for side in sides]
    mesh = bpy.data.meshes.new("Skin")
    mesh.from_pydata(points, [], faces)
    skin = bpy.data.objects.new("Skin", mesh)
    scene().collection.objects.link(skin)
    for name in BONES:
        group = skin.vertex_groups.new(name=name)
        group.add([index for index, owner in enumerate(owners) if owner == name], 1.0, "REPLACE")
    skin.parent = armature
    skin.modifiers.new("Armature", "ARMATURE").object = armature


def select_rig():
    with in_view():
        bpy.ops.object.select_all(action="DESELECT")
    rig().select_set(True)
    bpy.context.view_layer.objects.active = rig()
    with in_view():
        bpy.ops.ed.undo_push(message="Select")


def press(name, /, **arguments):
    def start():
        with in_view():
            seen.setdefault("answers", []).append(
                [name, *getattr(bpy.ops.cairn, name)("INVOKE_DEFAULT", True, **arguments)]
            )

    return [start, until(nothing_runs)]


def show(frame):
    def step():
        scene().frame_set(frame)

    return [step, tour.drawn]


def follow(value):
    """What is typed into Follow of the body that is active."""

    def step():
        bpy.context.object.cairn.follow = value

    return step


def places():
    """Where the head and a hand of the mesh are, and whether it has a bake."""
    graph = bpy.context.evaluated_depsgraph_get()
    shown = rig().evaluated_get(graph)
    return {
        name: [round(value, 4) for value in (shown.matrix_world @ shown.pose.bones[name].head)]
        for name in ("Head", "Forearm.L", "Hips")
    } | {
        "baked": scene().cairn.is_baked,
        "objects": len(bpy.data.objects),
        "selected": len(bpy.context.selected_objects),
    }


def note(name):
    def step():
        seen[name] = places()

    return step


def tab(name):
    def step():
        tour.area("PROPERTIES").spaces.active.context = name

    return [tour.drawn, step, tour.drawn]


def open_follow():
    """The panel Follow, as a click on its title opens it."""
    panel = tour.part_of_cairn("follow").PHYSICS_PT_cairn_follow
    bpy.utils.unregister_class(panel)
    panel.bl_options, panel.bl_order = set(), -1
    bpy.utils.register_class(panel)


def undo():
    with in_view():
        bpy.ops.ed.undo()


def redo():
    with in_view():
        bpy.ops.ed.redo()


def save_and_open():
    path = str(folder / "ragdoll.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path, load_ui=False)


def switch_off():
    """The motion stays where the extension is off, and its panel comes back with it."""
    module = next(addon.module for addon in bpy.context.preferences.addons if addon.module.endswith(".cairn"))
    addon_utils.disable(module)
    scene().frame_set(LIMP + 16)
    graph = bpy.context.evaluated_depsgraph_get()
    shown = rig().evaluated_get(graph)
    seen["off"] = [round(value, 4) for value in (shown.matrix_world @ shown.pose.bones["Head"].head)]
    addon_utils.enable(module)


def picture(name):
    return tour.picture(folder / f"ragdoll-{name}.png", WIDTH)


tour.play(
    [
        *(begin, tour.drawn, select_rig, *picture("rig"), note("before")),
        *(*press("make_ragdoll"), open_follow, *tab("PHYSICS"), *picture("made"), note("made")),
        *(undo, tour.drawn, note("undone"), redo, tour.drawn, note("redone")),
        *(*show(1), follow(1.0), *press("key_follow"), *show(LIMP), follow(0.0), *press("key_follow")),
        *(*show(BACK), follow(1.0), *press("key_follow"), *picture("keyed")),
        *(*press("bake"), *show(LIMP), note("led"), *show(LIMP + 16), *picture("limp"), note("limp")),
        *(*show(LAST), *picture("back"), note("back"), *show(LIMP + 16)),
        *(undo, tour.drawn, note("unbaked"), redo, tour.drawn, note("baked again")),
        *(save_and_open, tour.drawn, *show(LIMP + 16), note("opened"), switch_off, tour.drawn),
        *(*press("delete_bake"), *show(LIMP + 16), note("deleted"), *picture("deleted")),
    ]
)
