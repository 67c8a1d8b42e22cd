"""The curve of *Gradient* that is drawn by hand: its editor, and a copy of its own for an object that shares it."""

import contextlib

import bpy

from ..read.glue_bonds import is_glue
from ..read.glue_profile import node_of, profile_values
from . import watch

# What was drawn last, by the number of the node group.
_drawn: dict[int, list] = {}


def draw_profile(layout, settings) -> None:
    """The curve's editor.

    Blender tells nobody that a curve was changed, but draws its panel anew: so that asks for a look at the scene.
    """
    node = node_of(settings)
    if node is None:
        layout.label(text="The curve is gone: choose another one, then Custom again", icon="ERROR")
        return
    group = settings.gradient_profile
    layout.template_curve_mapping(node, "mapping")
    if group.users > 1:
        layout.operator(CAIRN_OT_own_gradient_curve.bl_idname)
    values = profile_values(settings)
    if _drawn.setdefault(group.session_uid, values) != values:
        _drawn[group.session_uid] = values
        watch.look_soon()


class CAIRN_OT_own_gradient_curve(bpy.types.Operator):
    bl_idname = "cairn.own_gradient_curve"
    bl_label = "Make Curve Single User"
    bl_description = "Give the glue object a curve of its own: another one, from which it was duplicated, has the same"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return is_glue(context.object) and context.object.cairn.glue.gradient_profile is not None

    def execute(self, context):
        settings = context.object.cairn.glue
        settings.gradient_profile = settings.gradient_profile.copy()
        return {"FINISHED"}


def register():
    bpy.utils.register_class(CAIRN_OT_own_gradient_curve)


def unregister():
    _drawn.clear()
    with contextlib.suppress(RuntimeError):
        bpy.utils.unregister_class(CAIRN_OT_own_gradient_curve)
