"""The panel Takes: what the scene shows, the bakes that are kept, and which of them plays."""

import contextlib
import datetime

import bpy
from bpy.props import EnumProperty, IntProperty, StringProperty

from ..settings import METHODS, QUALITIES
from ..takes import book, ghosts, showing, steps
from ..write import attach
from ..write import earlier_animation as earlier
from . import ghost_view, operators, watch
from .lines import draw_lines
from .operators import SceneOperator, StepsOperator, redraw
from .words import iface_, rpt_

_NAMES_OF_QUALITY = {identifier: name for identifier, name, _ in (*METHODS, *QUALITIES)}
# So many names are told of bodies that a take lacks, or that the scene lacks.
_NAMED = 3
# What can be shown, with its tooltip.
_MOTIONS = (
    (showing.CAIRN, "Cairn", "Play the bake: the take that was shown last"),
    (
        showing.BULLET,
        "Bullet",
        "Play Blender's own simulation of the same start, whose frames are all simulated at once. The bake stays among "
        "the takes",
    ),
    (
        showing.START,
        "Start",
        "Show bodies where they are without any simulation, with their own animation. The bake stays among the takes",
    ),
)


class TakeOperator(StepsOperator):
    """What operators share that change which bake a scene carries; few bodies are done at once, many in steps."""

    _task = "A take"
    _hint = ""

    def invoke(self, context, event):
        bodies = earlier.bodies_collection(context.scene)
        is_small = bodies is None or len(bodies.all_objects) <= attach.ATTACHED
        return self.execute(context) if is_small else super().invoke(context, event)

    def _begin(self, context, in_window=False):
        super()._begin(context, in_window)
        self._steps = operators.running["steps"] = operators.after_recording(self._scene_name, self._steps)
        operators.running["hint"] = ""
        operators.running["can_stop"] = False

    def _stop(self, context):
        """What is begun goes on to the end."""

    def _conclude(self, context, used):
        if used is None:  # the file is being closed
            return {"CANCELLED"}
        scene = bpy.data.scenes[self._scene_name]
        operators.note_state(context, self._scene_name, {"outdated": ""})
        watch.look_soon()
        ghost_view.refresh()
        redraw(context)
        texts = [rpt_("{} plays").format(used.take)] if used.take else []
        if used.kept:
            texts.append(rpt_("The bake is kept as {}").format(used.kept))
        if used.missing:
            texts.append(rpt_("No longer in the scene: {}").format(_listed(used.missing)))
        if used.still:
            texts.append(rpt_("Without keys in this take: {}").format(_listed(used.still)))
        if showing.shown(scene) == showing.START:
            texts.append(rpt_("Blender's own simulation is off while the start is shown"))
        if texts:
            self.report({"WARNING"} if used.missing or used.still else {"INFO"}, ". ".join(texts))
        return {"FINISHED"}


def _listed(names):
    if len(names) <= _NAMED:
        return ", ".join(names)
    return rpt_("{} and {:,d} more").format(", ".join(names[:_NAMED]), len(names) - _NAMED)


class CAIRN_OT_take_keep(TakeOperator, bpy.types.Operator):
    bl_idname = "cairn.take_keep"
    bl_label = "Keep as Take"
    bl_description = "Keep the present bake as a take, beside the others. It plays on, and later bakes leave it alone"
    bl_options = {"UNDO"}

    name: StringProperty(
        name="Name", description="Name the take; without a name it gets a number", options={"SKIP_SAVE"}
    )

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if not context.scene.cairn.is_baked:
            cls.poll_message_set("This scene has no bake by Cairn")
            return False
        return True

    def _work(self, scene, settings):
        return steps.told(steps.keep_steps(scene.name, self.name), "Keeping the bake as a take")

    def _conclude(self, context, uid):
        if uid is None:
            return {"CANCELLED"}
        redraw(context)
        take = book.take_of(bpy.data.scenes[self._scene_name], uid)
        self.report({"INFO"}, rpt_("Kept as {}").format(take.name))
        return {"FINISHED"}


class _OfOneTake:
    """Operators on a take of the list, by its place."""

    index: IntProperty(
        name="Index",
        description="Tell the take by its place in the list; -1 is the one that is chosen",
        default=-1,
        min=-1,
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context):
        if not SceneOperator.poll.__func__(cls, context):
            return False
        if not context.scene.cairn.takes:
            cls.poll_message_set("This scene has no takes")
            return False
        return True

    def take_of(self, scene):
        """The take that is meant."""
        takes = scene.cairn.takes
        index = scene.cairn.take_index if self.index < 0 else self.index
        return takes[index] if index < len(takes) else None


class CAIRN_OT_take_use(_OfOneTake, TakeOperator, bpy.types.Operator):
    bl_idname = "cairn.take_use"
    bl_label = "Use Take"
    bl_description = (
        "Let this take play in the place of the present bake, which is kept as a take if it is none. "
        "Delete Bake then brings back what was there before any bake"
    )
    bl_options = {"UNDO"}

    def _work(self, scene, settings):
        take = self.take_of(scene)
        return steps.told(steps.use_steps(scene.name, take.uid if take is not None else ""), "Writing the take")


class CAIRN_OT_take_rename(_OfOneTake, bpy.types.Operator):
    """Give a take another name, which its action gets, too"""

    bl_idname = "cairn.take_rename"
    bl_label = "Rename Take"
    bl_options = {"UNDO"}

    name: StringProperty(name="Name", description="Name the take; a name that another one has gets a number")

    def invoke(self, context, event):
        take = self.take_of(context.scene)
        self.name = take.name if take is not None else ""
        return context.window_manager.invoke_props_dialog(self)

    def execute(self, context):
        take = self.take_of(context.scene)
        if take is None:
            self.report({"ERROR"}, "There is no take at this place of the list")
            return {"CANCELLED"}
        take.name = self.name
        redraw(context)
        return {"FINISHED"}


class CAIRN_OT_take_remove(_OfOneTake, bpy.types.Operator):
    """Remove a take and its action. What plays goes on, also if it is this take"""

    bl_idname = "cairn.take_remove"
    bl_label = "Remove Take"
    bl_options = {"UNDO"}

    def execute(self, context):
        take = self.take_of(context.scene)
        if take is None:
            self.report({"ERROR"}, "There is no take at this place of the list")
            return {"CANCELLED"}
        name = take.name
        book.remove(context.scene, take.uid)
        ghost_view.refresh()
        redraw(context)
        self.report({"INFO"}, rpt_("Removed {}").format(name))
        return {"FINISHED"}


class CAIRN_OT_show(TakeOperator, bpy.types.Operator):
    bl_idname = "cairn.show"
    bl_label = "Show Cairn, Bullet or Start"
    bl_description = "Choose what the scene plays: the bake, Blender's own simulation, or the start alone"
    bl_options = {"UNDO"}

    motion: EnumProperty(name="Show", description="Choose what the scene plays", items=_MOTIONS, default=showing.CAIRN)

    _task = "A change of what is shown"
    _hint = "ESC stops Bullet; the frames so far stay"

    @classmethod
    def description(cls, context, properties):
        return next(text for identifier, _, text in _MOTIONS if identifier == properties.motion)

    def invoke(self, context, event):
        """Bullet simulates all frames, which may take long."""
        if self.motion == showing.BULLET:
            return StepsOperator.invoke(self, context, event)
        return TakeOperator.invoke(self, context, event)

    def _begin(self, context, in_window=False):
        TakeOperator._begin(self, context, in_window)
        operators.running["can_stop"] = self.motion == showing.BULLET

    def _stop(self, context):
        """ESC ends Bullet's simulation, the frames so far stay; all else goes on to the end."""
        if "simulate" in self._stages:
            StepsOperator._stop(self, context)
        operators.running["stop"] = False

    def _work(self, scene, settings):
        return showing.show_steps(scene.name, self.motion)


class CAIRN_UL_takes(bpy.types.UIList):
    """A take: whether it plays, its name, how it was baked, and whether its ghost is drawn."""

    def draw_item(self, context, layout, data, take, icon, active_data, active_property, index=0, flt_flag=0):
        row = layout.row(align=True)
        plays = book.playing(data.id_data) == take
        button = row.operator("cairn.take_use", text="", icon="RADIOBUT_ON" if plays else "RADIOBUT_OFF", emboss=False)
        button.index = index
        row.prop(take, "name", text="", emboss=False)
        told = row.row()
        told.alignment = "RIGHT"
        told.label(text=_seconds(take), translate=False)
        row.prop(take, "ghost", text="", icon="GHOST_ENABLED" if take.ghost else "GHOST_DISABLED", emboss=False)


def _seconds(take):
    return iface_("{:.1f} s").format(take.seconds) if take.seconds < 9.95 else iface_("{:,.0f} s").format(take.seconds)


def take_text(take):
    """Quality, time and date of a take, in the window's language."""
    quality = iface_(_NAMES_OF_QUALITY.get(take.quality, take.quality))
    with contextlib.suppress(ValueError):
        date = datetime.datetime.fromisoformat(take.date)
        return iface_("{}, {}, {:d}/{:02d}/{:02d} {:02d}:{:02d}").format(
            quality, _seconds(take), date.year, date.month, date.day, date.hour, date.minute
        )
    return quality


class _Takes:
    bl_label = "Takes"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return context.scene.rigidbody_world is not None

    def draw(self, context):
        layout, scene = self.layout, context.scene
        facts, shown = scene.cairn, showing.shown(scene)
        layout.enabled = operators.running is None
        row = layout.row(align=True)
        row.enabled = facts.is_baked or len(facts.takes) > 0
        for motion, name, _ in _MOTIONS:
            row.operator("cairn.show", text=name, depress=motion == shown).motion = motion
        if shown == showing.START and facts.takes:
            draw_lines(layout, context, iface_("Blender's own simulation is off while the start is shown"), "INFO")
        row = layout.row()
        row.template_list("CAIRN_UL_takes", "", facts, "takes", facts, "take_index", rows=3)
        side = row.column(align=True)
        side.operator("cairn.take_keep", text="", icon="ADD")
        side.operator("cairn.take_remove", text="", icon="REMOVE")
        take = book.chosen(scene)
        if take is not None:
            draw_lines(layout, context, take_text(take), "BLANK1", 0)
            boxed = ghost_view.boxed.get(take.uid, 0)
            if boxed:
                draw_lines(layout, context, iface_("Boxes in place of {:,d} meshes").format(boxed), "INFO")
        column = layout.column(align=True)
        column.prop(facts, "keep_takes")
        bullet = column.row()
        bullet.active = ghosts.bullet_of(scene) is not None
        bullet.prop(facts, "bullet_ghost")


class SCENE_PT_cairn_takes(_Takes, bpy.types.Panel):
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "scene"
    bl_parent_id = "SCENE_PT_cairn"


class VIEW3D_PT_cairn_takes(_Takes, bpy.types.Panel):
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Cairn"
    bl_parent_id = "VIEW3D_PT_cairn"


CLASSES = (
    CAIRN_OT_take_keep,
    CAIRN_OT_take_use,
    CAIRN_OT_take_rename,
    CAIRN_OT_take_remove,
    CAIRN_OT_show,
    CAIRN_UL_takes,
    SCENE_PT_cairn_takes,
    VIEW3D_PT_cairn_takes,
)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(CLASSES):
        with contextlib.suppress(RuntimeError):
            bpy.utils.unregister_class(cls)
