"""In a window: vary what the mouse is over by a right click, bake the variants, look at them, and take one.

The file that is open is saved on the way. Pictures go to the folder after ``--``.
"""

import json
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))
from tour import (
    area,
    choose_tab,
    in_view,
    nothing_runs,
    part_of_cairn,
    picture_here,
    play,
    press,
    region,
    seen,
    until,
    window,
)

# Between two places at which the mouse looks for the property [pixels].
STEP = 12
look = {"y": 0, "under": None}


def open_sidebar():
    """With the panel Wedge open, as a click on its title would."""
    panel = part_of_cairn("wedge_panel").VIEW3D_PT_cairn_wedge
    bpy.utils.unregister_class(panel)
    panel.bl_options = set()
    bpy.utils.register_class(panel)
    area("VIEW_3D").spaces.active.show_region_ui = True


def watch_menus():
    """Note what the menu of a right click was opened for."""

    def note(menu, context):
        found = getattr(context, "property", None)
        look["under"] = found and found[1]

    bpy.types.UI_MT_button_context_menu.append(note)
    look["y"] = region("UI").y + region("UI").height - 40


def right_click():
    look["y"] -= STEP
    sidebar = region("UI")
    look["x"] = sidebar.x + int(0.6 * sidebar.width)
    assert look["y"] > sidebar.y, "the property is not there"
    window().event_simulate(type="MOUSEMOVE", value="NOTHING", x=look["x"], y=look["y"])
    press("RIGHTMOUSE", look["x"], look["y"])


def find_property():
    """Right clicks, one below the other, until the menu is that of the property."""
    if look["under"] == "cairn.substeps":
        return False
    look["count"] = look.get("count", 0) + 1
    if look["count"] % 2:
        if look["count"] > 1:
            press("ESC", look["x"], look["y"])
    else:
        right_click()
    return True


def choose_last_entry():
    """From the top of a menu upwards is its last entry, which is Cairn's."""
    press("UP_ARROW", look["x"], look["y"])
    press("RET", look["x"], look["y"])


def has_entry():
    return len(bpy.context.scene.cairn_wedge.entries) > 0


def look_at_entry():
    seen["entries"] = [[entry.path, entry.values] for entry in bpy.context.scene.cairn_wedge.entries]
    bpy.ops.wm.save_mainfile()


def bake_variants():
    with in_view():
        seen["started"] = list(bpy.ops.cairn.wedge("INVOKE_DEFAULT"))


def look_at_variants():
    wedge_panel = part_of_cairn("wedge_panel")
    shown = wedge_panel._shown
    seen["folder"] = str(shown["folder"])
    seen["icons"] = {number: icon > 0 for number, icon in shown["icons"].items()}


def use_second():
    with in_view():
        seen["used"] = list(bpy.ops.cairn.wedge_use("INVOKE_DEFAULT", number=2))


def state():
    scene = bpy.context.scene
    digest = json.loads(scene.cairn.report)["totals"]["digest"] if scene.cairn.is_baked else ""
    return {"baked": scene.cairn.is_baked, "substeps": scene.cairn.substeps, "digest": digest}


def look_at_bake():
    seen["taken"] = state()


def undo():
    with in_view():
        bpy.ops.ed.undo()
    seen["undone"] = state()


play(
    [
        *(open_sidebar, choose_tab, *picture_here("wedge-1-empty"), watch_menus),
        *(find_property, *picture_here("wedge-2-menu"), choose_last_entry, until(has_entry), look_at_entry),
        *(*picture_here("wedge-3-property"), bake_variants, until(nothing_runs), look_at_variants),
        *(
            *picture_here("wedge-4-variants"),
            use_second,
            until(nothing_runs),
            look_at_bake,
            *picture_here("wedge-5-taken"),
        ),
        undo,
    ]
)
