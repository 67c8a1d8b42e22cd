"""Which events reach the window while a bake runs in it: those that look around, that save, and that press *Stop*."""

import bpy

# Events that reach the window while a bake runs: looking around is free, changing the scene is not.
VIEW_EVENTS = {
    "MIDDLEMOUSE",
    "WHEELUPMOUSE",
    "WHEELDOWNMOUSE",
    "WHEELINMOUSE",
    "WHEELOUTMOUSE",
    "TRACKPADPAN",
    "TRACKPADZOOM",
    "MOUSEROTATE",
    "MOUSESMARTZOOM",
    "NDOF_MOTION",
    "MOUSEMOVE",
    "INBETWEEN_MOUSEMOVE",
    "WINDOW_DEACTIVATE",
    *(f"NUMPAD_{digit}" for digit in range(10)),
    "NUMPAD_PERIOD",
    "NUMPAD_PLUS",
    "NUMPAD_MINUS",
}

# Events that say nothing of what somebody wants.
SILENT_EVENTS = {
    *("LEFT_CTRL", "RIGHT_CTRL", "LEFT_SHIFT", "RIGHT_SHIFT", "LEFT_ALT", "RIGHT_ALT", "OSKEY"),
    *("NONE", "TIMER_REPORT", "TIMER_AUTOSAVE", "TIMER_JOBS", "TIMER0", "TIMER1", "TIMER2", "TIMERREGION"),
}
# Width of the names of a sidebar's tabs, at its edge, at a scale of 1 [pixels].
WIDTH_OF_TABS = 22


def is_let_through(event, window):
    """Whether an event reaches the window while a bake runs: to look around, to save, and to press *Stop*."""
    if event.type in VIEW_EVENTS:
        # beside a view minus, and the wheel with Ctrl, change the number under the mouse
        if event.type.startswith("NUMPAD"):
            makes_camera = event.ctrl and event.type == "NUMPAD_0"
            return is_over_view(window, event.mouse_x, event.mouse_y) and not makes_camera
        if event.type.startswith(("WHEEL", "TRACKPAD")) and event.ctrl:
            return is_over_view(window, event.mouse_x, event.mouse_y)
        return not (event.type.startswith("WHEEL") and event.alt)  # which goes to another frame
    if event.type == "S" and event.ctrl and not event.shift and not event.alt:
        return bool(bpy.data.filepath)  # between two steps the file is sound
    return event.type == "LEFTMOUSE" and is_on_panel(window, event.mouse_x, event.mouse_y)


def is_over_view(window, x, y):
    """Whether a place of the window shows the scene: in a 3D view, and not on its header, tools or sidebar."""
    for area in window.screen.areas:
        if area.type == "VIEW_3D":
            kinds = {region.type for region in area.regions if _holds(region, x, y)}
            if "WINDOW" in kinds:
                return kinds == {"WINDOW"}
    return False


def _holds(region, x, y):
    return region.x <= x < region.x + region.width and region.y <= y < region.y + region.height


def is_on_panel(window, x, y):
    """Whether a place of the window is on Cairn's tab of a sidebar, where nothing can be changed while a bake runs."""
    tabs = WIDTH_OF_TABS * bpy.context.preferences.system.ui_scale
    regions = [region for area in window.screen.areas for region in area.regions if region.type == "UI"]
    return any(
        region.x <= x < region.x + region.width - tabs and region.y <= y < region.y + region.height
        for region in regions
        if region.active_panel_category == "Cairn"
    )
