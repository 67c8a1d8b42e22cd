"""*Viewport Overlays > Cairn*: what is drawn into the 3D view, and what is missing for it."""

import bpy

from ..sight import known_scenes
from . import operators, overlay_view
from .lines import draw_lines
from .overlay_properties import PARTS
from .words import iface_, told


class CAIRN_OT_read_shapes(bpy.types.Operator):
    """Read the scene for the overlay, as a bake would; in large scenes this is not done by itself"""

    bl_idname = "cairn.read_shapes"
    bl_label = "Update"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context):
        return operators.running is None and context.scene.rigidbody_world is not None

    def execute(self, context):
        overlay_view.read_soon(context.scene.name)
        return {"FINISHED"}


class VIEW3D_PT_overlay_cairn(bpy.types.Panel):
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_parent_id = "VIEW3D_PT_overlay"
    bl_label = "Cairn"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return context.scene.rigidbody_world is not None

    def draw(self, context):
        layout, scene = self.layout, context.scene
        overlay = scene.cairn.overlay
        space = getattr(context, "space_data", None)
        layout.active = space is None or space.overlay.show_overlays
        # one below the other: beside each other their names would be cut
        column = layout.column(align=True)
        for name in PARTS:
            column.prop(overlay, name)
        column = layout.column(align=True)
        column.active = overlay.contacts or overlay.joints
        column.prop(overlay, "arrow_length")
        column.prop(overlay, "in_front")
        layout.prop(overlay, "newest")
        for text, icon in what_is_missing(scene):
            draw_lines(layout, context, text, icon)
        if overlay_view.needs_model(overlay) and overlay_view.is_stale(scene) and overlay_view.is_large(scene):
            layout.operator("cairn.read_shapes", icon="FILE_REFRESH")


def what_is_missing(scene):
    """Why something that is on is not drawn, or not all of it: (text, icon) of each reason."""
    overlay, found = scene.cairn.overlay, []
    bake = overlay_view.bake_of(scene)
    if (overlay.contacts or overlay.at_rest) and not scene.cairn.is_baked:
        found.append((iface_("Contacts and what is at rest are known once the scene is baked"), "INFO"))
    elif overlay.contacts and (bake is None or not bake.arrays):
        found.append((iface_("The bake has not kept its contacts: bake again"), "INFO"))
    elif overlay.at_rest and (bake is None or bake.at_rest is None):
        found.append((iface_("What is at rest is known of a bake of this session: bake again"), "INFO"))
    left_out = overlay_view.left_out
    if overlay.contacts and left_out.get("contacts"):
        text = iface_("The strongest {:,d} contacts, without {:,d} weaker ones")
        found.append((text.format(left_out["shown"], left_out["contacts"]), "INFO"))
    if overlay.shapes and left_out.get("boxed"):
        found.append((iface_("Boxes in place of {:,d} shapes").format(left_out["boxed"]), "INFO"))
    if overlay.shapes and left_out.get("faces"):
        found.append((iface_("Edges alone, since drawing takes long here"), "INFO"))
    known = known_scenes.scene_named(scene.name)
    if known is not None and known.pending and overlay.shapes:
        text = iface_("Concave meshes stand as their hulls until a bake makes their parts: {:,d}")
        found.append((text.format(known.pending), "INFO"))
    said = overlay_view.what_is_said(scene)
    if said and overlay_view.needs_model(overlay):
        found.append((told(said), "ERROR"))
    return found


CLASSES = (CAIRN_OT_read_shapes, VIEW3D_PT_overlay_cairn)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
