"""*Write Impact Sounds* in the sequencer's menu *Add*, and in *Object > Rigid Body*."""

import contextlib

import bpy
from bpy.props import FloatProperty

from ..write import impact_sounds
from . import operators
from .words import rpt_

# Where nothing is chosen: hits of less than this share of the strongest one make no sound.
_SHARE = 0.1


class CAIRN_OT_write_impact_sounds(bpy.types.Operator):
    bl_idname = "cairn.write_impact_sounds"
    bl_label = "Write Impact Sounds"
    bl_description = (
        "Place a copy of the sequencer's active sound strip at each frame in which a selected body is hit, as loud as "
        "it is hit hard. Without selected bodies those of all count; strips that were placed before are replaced. It "
        "needs a bake with Impact Curves"
    )
    bl_options = {"REGISTER", "UNDO"}

    threshold: FloatProperty(
        name="Threshold",
        description="Leave out hits of less impulse than this, in newton seconds; 0 takes a tenth of the strongest hit",
        default=0.0,
        min=0.0,
        precision=3,
    )

    @classmethod
    def poll(cls, context):
        if operators.running is not None:
            cls.poll_message_set(operators.what_runs())
            return False
        if source_of(context) is None:
            cls.poll_message_set("Add a sound to the Video Sequencer, and make its strip the active one")
            return False
        return True

    def execute(self, context):
        found = {ob: impact_sounds.impacts_of_object(ob) for ob in context.scene.objects}
        found = {ob: impacts for ob, impacts in found.items() if impacts is not None}
        if not found:
            self.report({"WARNING"}, rpt_("No body has an impact curve: bake with Solver > Impact Curves"))
            return {"CANCELLED"}
        chosen = [ob for ob in found if ob.select_get()] or list(found)
        hits = [hit for ob in chosen for hit in impact_sounds.hits_in(*found[ob], 0.0)]
        least = self.threshold or _SHARE * max((hit.strength for hit in hits), default=0.0)
        hits = [hit for hit in hits if hit.strength >= least]
        try:
            count = impact_sounds.place(editor_of(context), source_of(context), hits, bpy.data.sounds.remove)
        except RuntimeError as error:  # the file is gone
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        left_out = len(hits) - count
        text = rpt_("{:,d} sounds of hits of {:.3g} N s and more")
        if left_out:
            text = rpt_("{:,d} sounds of hits of {:.3g} N s and more; {:,d} had no room")
        self.report({"INFO"}, text.format(count, least, left_out))
        return {"FINISHED"}


def editor_of(context):
    """The sequencer that is shown: since Blender 5.0 it may be that of another scene."""
    scene = getattr(context, "sequencer_scene", None) or context.scene
    return scene.sequence_editor


def source_of(context):
    """The sound to place: the active strip, or the only one that nobody has placed here; None if there is none."""
    editor = editor_of(context)
    if editor is None:
        return None
    active = editor.active_strip
    if active is not None and active.type == "SOUND" and not impact_sounds.is_placed(active):
        return active
    strips = [strip for strip in impact_sounds.strips_of(editor) if strip.type == "SOUND"]
    own = [strip for strip in strips if not impact_sounds.is_placed(strip)]
    return own[0] if len(own) == 1 else None


def draw_in_menu(menu, context):
    """The entry in Blender's menus."""
    menu.layout.operator(CAIRN_OT_write_impact_sounds.bl_idname, icon="SOUND")


CLASSES = (CAIRN_OT_write_impact_sounds,)
_MENUS = ("SEQUENCER_MT_add", "VIEW3D_MT_object_rigid_body")


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    for name in _MENUS:
        getattr(bpy.types, name).append(draw_in_menu)


def unregister():
    for name in _MENUS:
        with contextlib.suppress(AttributeError):
            getattr(bpy.types, name).remove(draw_in_menu)
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
