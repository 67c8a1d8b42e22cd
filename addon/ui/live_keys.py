"""The keys by which a body is dragged while *Live* is on."""

import bpy

# Keys of tools come before all others of a view, so those that select by dragging have one more while Live is on.
_TOOLS = ("Tweak", "Select Box", "Select Circle", "Select Lasso")
_KEYMAPS = [f"3D View Tool: {tool}{more}" for tool in _TOOLS for more in ("", " (fallback)")]


def drag_keys() -> list[tuple]:
    """Add the keys; returns pairs of a keymap and an item, to be taken away again."""
    found = []
    for name in _KEYMAPS:
        keymap = bpy.context.window_manager.keyconfigs.addon.keymaps.new(
            name=name, space_type="VIEW_3D", region_type="WINDOW"
        )
        found.append((keymap, keymap.keymap_items.new("cairn.live_drag", "LEFTMOUSE", "CLICK_DRAG")))
    return found
