"""In a window: the loop that animators live in, from an empty scene. Tells after each step what is there.

Pictures go to the folder after ``--``.
"""

import json
import sys
import time
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))
from tour import (
    area,
    choose_tab,
    in_view,
    nothing_runs,
    part_of_cairn,
    pause,
    picture_here,
    play,
    press,
    seen,
    status,
    until,
    waiting,
)


def at(frame, name):
    """Where an object is in a frame, to a tenth of a millimetre."""
    bpy.context.scene.frame_set(frame)
    return [round(value, 4) for value in bpy.data.objects[name].matrix_world.translation]


def select(*names):
    for ob in bpy.context.view_layer.objects:
        ob.select_set(ob.name in names)
    bpy.context.view_layer.objects.active = bpy.data.objects[names[0]]


def bake():
    with in_view():
        assert bpy.ops.cairn.bake("INVOKE_DEFAULT") == {"RUNNING_MODAL"}


BAKE = [bake, until(nothing_runs)]


# The tour


def make_scene():
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


def model():
    with in_view():
        for name, place, scale in (
            ("Floor", (0, 0, -0.5), (20, 20, 1)),
            ("Low", (0, 0, 0.5), (1, 1, 1)),
            ("High", (0, 0, 1.6), (1, 1, 1)),
            ("Side", (3, 0, 1.5), (1, 1, 1)),
        ):
            bpy.ops.mesh.primitive_cube_add(size=1, location=place, scale=scale)
            bpy.context.object.name = name
        bpy.ops.object.effector_add(type="LENNARDJ", location=(0, 0, 4))
        bpy.context.object.name = "Wind"
        bpy.ops.view3d.view_all()
    area("VIEW_3D").spaces.active.show_region_ui = True
    bpy.context.scene.frame_end = 40


def add_world():
    with in_view():
        assert bpy.ops.rigidbody.world_add.poll()
        bpy.ops.rigidbody.world_add()
        seen["bake_of_nothing"] = bpy.ops.cairn.bake.poll()
    seen["why_not"] = part_of_cairn("panels").nothing_to_bake(bpy.context.scene)


def add_bodies():
    with in_view():
        select("Low", "High", "Side")
        bpy.ops.rigidbody.objects_add(type="ACTIVE")
        select("Floor")
        bpy.ops.rigidbody.objects_add(type="PASSIVE")
        seen["bake_of_bodies"] = bpy.ops.cairn.bake.poll()
    bpy.context.scene.rigidbody_world.point_cache.frame_end = 40


def wind_is_noted():
    return any(names == ["Wind"] for _, _, names in status().get("notes", []))


def look_at_bake():
    facts = bpy.context.scene.cairn
    seen["first"] = {
        "range": [facts.baked_start, facts.baked_end],
        "warned": facts.has_warnings,
        "summary": facts.summary,
        "world": bpy.context.scene.rigidbody_world.enabled,
        "worst": facts.worst_object,
        "outdated": status().get("outdated", ""),
        "high": at(40, "High"),
        "side": at(1, "Side"),
    }


def move():
    bpy.context.scene.frame_set(1)
    select("Side")
    with in_view():
        bpy.ops.transform.translate("EXEC_DEFAULT", True, value=(2, 0, 0))


def is_outdated_by(words):
    def told():
        return words in status().get("outdated", "")

    return until(told)


def look_at_move():
    seen["moved"] = [at(frame, "Side") for frame in (1, 40)]
    bpy.context.scene.frame_set(1)


def undo():
    with in_view():
        bpy.ops.ed.undo()


def look_at_undone():
    """Blender evaluates animation anew where Undo changes actions; the user's place must be what it finds."""
    seen["undone"] = [at(frame, "Side") for frame in (1, 40)]
    seen["undone_says"] = status()["outdated"]
    with in_view():
        bpy.ops.ed.redo()


def duplicate():
    select("Side")
    with in_view():
        bpy.ops.object.duplicate()
    bpy.context.object.name = "Copy"
    bpy.context.object.location.x += 3.0


def look_at_copy():
    seen["copied"] = [at(frame, name) for name in ("Side", "Copy") for frame in (1, 40)]
    bpy.context.scene.frame_set(1)


def change_friction():
    for name in ("Low", "High", "Side"):
        bpy.data.objects[name].rigid_body.friction = 0.1


def begin_a_long_bake():
    with in_view():  # a bake that is stopped leaves a finished one in place
        bpy.ops.cairn.delete_bake()
    began = time.perf_counter()
    bpy.ops.wm.redraw_timer(type="DRAW_WIN_SWAP", iterations=3)
    seen["seconds_to_draw"] = (time.perf_counter() - began) / 3.0
    bpy.context.scene.rigidbody_world.point_cache.frame_end = 20000
    # what comes to rest is over too soon
    bpy.context.scene.cairn.substeps = 1000
    for ob in bpy.context.scene.rigidbody_world.collection.objects:
        ob.rigid_body.restitution = 1.0
        ob.rigid_body.linear_damping = ob.rigid_body.angular_damping = 0.0
    bake()


def is_under_way():
    nothing_runs()
    return seen["progress"][-1][0].startswith("Frame ") and time.perf_counter() - waiting["since"] > 2.0


def press_escape():
    press("ESC")
    seen["pressed"] = time.perf_counter()


def has_answered():
    running = part_of_cairn("operators").running
    return running is None or running["text"].startswith("Stopping")


def note_answer():
    seen["seconds_to_answer"] = time.perf_counter() - seen.pop("pressed")


def look_at_stop():
    facts = bpy.context.scene.cairn
    seen["stopped"] = [facts.baked_start, facts.baked_end, facts.requested_end, facts.summary]
    bpy.context.scene.rigidbody_world.point_cache.frame_end = 40
    bpy.context.scene.cairn.property_unset("substeps")


def check():
    with in_view():
        bpy.ops.cairn.check_scene()
        notes = json.loads(bpy.context.window_manager.cairn.check)["notes"]
        place = next(place for place, (_, _, names) in enumerate(notes) if names == ["Wind"])
        space = area("VIEW_3D").spaces.active.region_3d
        before = list(space.view_location)
        bpy.ops.cairn.select_noted(source="check", place=place)
    seen["noted"] = {
        "selected": [ob.name for ob in bpy.context.selected_objects],
        "looks_elsewhere": before != list(space.view_location),
    }


def solve_badly():
    settings = bpy.context.scene.cairn
    settings.quality, settings.max_iterations = "exact", 1


def go_to_worst():
    facts = bpy.context.scene.cairn
    bpy.context.scene.frame_set(1)
    with in_view():
        seen["went"] = list(bpy.ops.cairn.go_to_worst())
    seen["worst"] = [facts.worst_object, facts.worst_frame]
    seen["at_worst"] = [bpy.context.object.name, bpy.context.scene.frame_current]
    there = bpy.context.object
    space = area("VIEW_3D").spaces.active.region_3d
    seen["worst_view"] = {
        "beside": (space.view_location - there.matrix_world.translation).length / there.dimensions.length,
        "distance": space.view_distance / there.dimensions.length,
    }


def delete():
    bpy.context.scene.frame_set(1)
    with in_view():
        bpy.ops.cairn.delete_bake()
    seen["deleted"] = {
        "baked": bpy.context.scene.cairn.is_baked,
        "world": bpy.context.scene.rigidbody_world.enabled,
        "actions": [ob.name for ob in bpy.data.objects if ob.animation_data and ob.animation_data.action],
        "places": {name: at(1, name) for name in ("Low", "Side", "Copy")},
    }


play(
    [
        *(make_scene, model, choose_tab, *picture_here("1-empty")),
        *(add_world, add_bodies, until(wind_is_noted), *picture_here("2-before")),
        *(*BAKE, look_at_bake, *picture_here("3-baked")),
        *(move, is_outdated_by("start pose of Side"), *picture_here("4-moved"), *BAKE, look_at_move),
        *(undo, is_outdated_by("start pose of Side"), look_at_undone, pause()),
        *(duplicate, is_outdated_by("1 new body"), *BAKE, look_at_copy),
        *(change_friction, is_outdated_by("friction of 3 bodies"), *picture_here("5-outdated")),
        *(
            begin_a_long_bake,
            until(is_under_way),
            *picture_here("6-running"),
            press_escape,
            until(has_answered),
            note_answer,
        ),
        *(until(nothing_runs), look_at_stop, *picture_here("7-stopped")),
        *(check, *picture_here("8-noted"), solve_badly, *BAKE, go_to_worst, *picture_here("9-worst")),
        *(delete, *picture_here("10-deleted")),
    ]
)
