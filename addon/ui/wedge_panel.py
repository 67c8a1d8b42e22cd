"""The panel Wedge: what to vary, so many bakes in child processes, their pictures, and the one that is taken.

The variants are baked from the file as it was saved last, so that each is what the command line makes of it.
"""

import json
import math
import os
import time
from pathlib import Path

import bpy
import bpy.utils.previews
from bpy.props import CollectionProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from ..bake import BakeStopped
from ..bake_progress import BakeProgress
from ..read.faults import SceneError
from ..takes import steps as take_steps
from ..wedge.local import LocalTasks
from ..wedge.plan import WedgePlan, file_hash, read_plan
from ..wedge.table import write_sheet, write_table
from ..wedge.targets import jitter, rigid_bodies, set_properties, try_properties
from ..wedge.variants import WedgeError, make_variants, parse_vary
from ..write import attach
from ..write.earlier_animation import objects_of
from . import operators
from .errors import show_error
from .operators import SceneOperator, StepsOperator, redraw
from .panels import label
from .words import iface_, rpt_, told

# How often children are asked whether they have ended [s].
_PAUSE = 0.05
_COLUMNS = 2
_SCALE_OF_PICTURE = 5.0
# Pictures in the panel; what is beyond is in the contact sheet.
_MOST_SHOWN = 24

# What the last run of this session has given, for the panel: {"file", "folder", "plan", "icons"}.
_shown: dict = {}
_previews = None


class CairnWedgeEntry(bpy.types.PropertyGroup):
    path: StringProperty(
        name="Property",
        description="Name the property to vary: friction, mass ... of all bodies, solver, substeps ... of the panel, "
        "or object:NAME.PROPERTY, world:PROPERTY, scene:PROPERTY",
        default="friction",
    )
    values: StringProperty(
        name="Values",
        description="Give the values that the property takes: a list (1,10,100), or from, to and how many (0.3:0.8:6)",
        default="0.3:0.8:3",
    )


class CairnWedge(bpy.types.PropertyGroup):
    entries: CollectionProperty(
        name="Properties", description="List the properties that are varied, with their values", type=CairnWedgeEntry
    )
    seeds: IntProperty(
        name="Seeds",
        description="Set how many random starts each variant is baked from; with 0 bodies start where they are",
        default=0,
        min=0,
        max=1000,
    )
    jitter: FloatProperty(
        name="Jitter",
        description="Set how far a random start moves a body at most from where it is",
        default=0.001,
        min=1e-6,
        subtype="DISTANCE",
    )
    jobs: IntProperty(
        name="Jobs",
        description="Set how many variants are baked at a time; 0 is one for each core of the processor",
        default=0,
        min=0,
        max=256,
    )
    before_jitter: StringProperty(
        name="Before Jitter", description="Where bodies stood before a variant was taken, as JSON", options={"HIDDEN"}
    )


def plan_of(scene) -> WedgePlan:
    """The wedge that the panel asks for, of the file as it was saved last.

    Raises
    ------
    SceneError
    """
    # without a window Blender does not keep track of changes: 5.0 always tells of some, 5.2 never
    if not bpy.data.filepath or (bpy.data.is_dirty and not bpy.app.background):
        raise SceneError(None, "save the file first: variants are baked from it as it was saved")
    wedge, source = scene.cairn_wedge, Path(bpy.data.filepath)
    try:
        varied = [parse_vary(f"{entry.path}={entry.values}") for entry in wedge.entries]
        variants = make_variants(varied, side_by_side=False, seeds=wedge.seeds or None)
    except WedgeError as error:
        raise SceneError(None, str(error)) from error
    return WedgePlan(
        scene=str(source),
        scene_hash=file_hash(source),
        variants=variants,
        jitter=wedge.jitter if wedge.seeds else 0.0,
        threads=max(1, (os.cpu_count() or 1) // _jobs(wedge)),
    )


def _jobs(wedge) -> int:
    return wedge.jobs or os.cpu_count() or 1


def folder_of(plan: WedgePlan) -> Path:
    """Beside the file: the first folder that holds this wedge, or none yet.

    Raises
    ------
    SceneError
    """
    source, wanted = Path(plan.scene), [plan.key(variant) for variant in plan.variants]
    number = 1
    while True:
        folder = source.with_name(f"{source.stem}.wedge" + (f".{number}" if number > 1 else ""))
        try:
            stored = read_plan(folder)
        except WedgeError as error:
            raise SceneError(None, str(error)) from error
        if stored is None or [stored.key(variant) for variant in stored.variants] == wanted:
            return folder
        number += 1


class CAIRN_OT_wedge(StepsOperator, bpy.types.Operator):
    bl_description = (
        "Bake all variants in child processes, from the file as it was saved last. Those that are finished are "
        "kept, and others go on from their checkpoints"
    )
    bl_idname = "cairn.wedge"
    bl_label = "Bake Variants"

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        wedge = context.scene.cairn_wedge
        if not (wedge.entries or wedge.seeds):
            cls.poll_message_set("Nothing varies: add a property, or seeds")
            return False
        return True

    _task = "A wedge"
    _hint = "ESC stops; finished variants stay"

    def _work(self, scene, settings):
        return bake_variants(scene)

    def _conclude(self, context, result):
        if result is None:
            return {"CANCELLED"}
        plan, folder, failed, stopped = result
        show(plan, folder)
        redraw(context)
        done = sum(plan.result(folder, variant) is not None for variant in plan.variants)
        if failed:
            end = failed[0]
            error = SceneError(
                None, f"variant {end.variant.number} ({end.variant.text}) has failed: {end.said or end.code}"
            )
            show_error(context, error, self._scene_name)
        text = rpt_("{:,d} of {:,d} variants are baked, in {}").format(done, len(plan.variants), folder)
        if stopped:
            text = ". ".join((rpt_("Stopped"), text))
        self.report({"ERROR" if failed else "INFO"}, text)
        return {"FINISHED"}


# How full the bar is at most as long as a variant is at work.
MOST_AT_WORK = 0.99


def bake_variants(scene):
    """Run all tasks, as a generator of BakeProgress; returns (plan, folder, tasks that failed, whether stopped)."""
    plan = plan_of(scene)
    for variant in plan.variants:  # what cannot be set is refused before the first one starts
        try_properties(scene, variant.values)
    folder = folder_of(plan)
    try:
        folder.mkdir(exist_ok=True)
        plan.write(folder)
    except OSError as error:
        raise SceneError(None, f"cannot write {folder}: {error.strerror or error}") from error
    waiting = [variant for variant in plan.variants if plan.result(folder, variant) is None]
    tasks, total, failed, stopped = LocalTasks(folder, waiting, _jobs(scene.cairn_wedge)), len(plan.variants), [], False
    done = total - len(waiting)
    try:
        while not tasks.is_done:
            for end in tasks.poll():
                done += 1
                if end.code != 0:
                    failed.append(end)
            # a variant that is at work has its picture still to be drawn, once all of its frames are there
            share = min((done + tasks.under_way) / total, done / total if tasks.is_done else MOST_AT_WORK)
            yield BakeProgress(
                "wedge",
                done,
                total,
                f"{done} of {total} variants done, {tasks.running} at work, {share:.0%} of all",
                share,
            )
            time.sleep(_PAUSE)
    except (BakeStopped, KeyboardInterrupt):
        stopped = True
    finally:
        tasks.stop()
    try:
        write_table(plan, folder)
        write_sheet(plan, folder)
    except OSError as error:
        raise SceneError(None, f"cannot write {folder}: {error.strerror or error}") from error
    return plan, folder, failed, stopped


def show(plan: WedgePlan, folder: Path) -> None:
    """Keep pictures of what is finished, for the panel."""
    global _previews
    if _previews is not None:
        bpy.utils.previews.remove(_previews)
    _previews = bpy.utils.previews.new()
    icons = {}
    for variant in plan.variants:
        path = folder / f"{variant.name}.png"
        if plan.result(folder, variant) is not None:
            icons[variant.number] = _previews.load(str(path), str(path), "IMAGE").icon_id if path.is_file() else 0
    _shown.clear()
    _shown.update(file=bpy.data.filepath, folder=folder, plan=plan, icons=icons)


class CAIRN_OT_wedge_use(SceneOperator, bpy.types.Operator):
    """Give this scene the values of the variant below whose picture this button is, and bake it. It becomes a take"""

    bl_idname = "cairn.wedge_use"
    bl_label = "Use This One"
    bl_options = {"INTERNAL"}  # the bake that it starts makes the step of Undo, for the values, too

    number: IntProperty(name="Variant", description="Tell which variant is taken by its number", min=1)

    def execute(self, context):
        if _shown.get("file") != bpy.data.filepath:
            self.report({"ERROR"}, "These variants are of another file")
            return {"CANCELLED"}
        try:
            use_variant(context.scene, _shown["plan"], self.number)
            text = _shown["plan"].variant(self.number).text
        except (SceneError, WedgeError) as error:
            self.report({"ERROR"}, told(str(error)))
            return {"CANCELLED"}
        result = bpy.ops.cairn.bake("EXEC_DEFAULT" if bpy.app.background else "INVOKE_DEFAULT", variant=text)
        # the bake goes on by itself; Blender would keep an operator for ever that says so and has no timer
        return {"FINISHED"} if result == {"RUNNING_MODAL"} else result


def use_variant(scene, plan: WedgePlan, number: int) -> None:
    """Set what a variant sets in the scene that is open; a start that another variant has moved comes back first.

    The bake that the scene has is a take afterwards.
    """
    variant = plan.variant(number)
    if scene.cairn.is_baked:
        take_steps.finished(take_steps.secure_steps(scene.name))
        attach.delete_bake(scene)
    set_properties(scene, variant.values)
    objects = {ob.name: ob for ob in objects_of(scene)}
    for name, location in json.loads(scene.cairn_wedge.before_jitter or "{}").items():
        if name in objects:
            objects[name].location = location
    scene.cairn_wedge.before_jitter = ""
    if variant.seed is not None:
        before = [(ob, list(ob.location)) for ob in rigid_bodies(scene)]
        jitter(scene, variant.seed, plan.jitter)
        moved = {ob.name: place for ob, place in before if list(ob.location) != place}
        scene.cairn_wedge.before_jitter = json.dumps(moved)


class CAIRN_OT_wedge_add(bpy.types.Operator):
    """Add a property to those that the variants of this scene differ in"""

    bl_idname = "cairn.wedge_add"
    bl_label = "Add Property"
    bl_options = {"UNDO", "INTERNAL"}

    path: StringProperty(name="Property", description="Name the property that is to vary", default="friction")
    values: StringProperty(name="Values", description="Give the values that the property takes", default="0.3:0.8:3")

    def execute(self, context):
        entry = context.scene.cairn_wedge.entries.add()
        entry.path, entry.values = self.path, self.values
        redraw(context)
        return {"FINISHED"}


class CAIRN_OT_wedge_remove(bpy.types.Operator):
    """Take this property out of those that the variants of this scene differ in"""

    bl_idname = "cairn.wedge_remove"
    bl_label = "Remove Property"
    bl_options = {"UNDO", "INTERNAL"}

    index: IntProperty(name="Index", description="Tell the place of the property in the list", min=0)

    def execute(self, context):
        context.scene.cairn_wedge.entries.remove(self.index)
        return {"FINISHED"}


def target_of(block, path: str, index: int) -> tuple[str, str] | None:
    """Property and values for the panel, of what the mouse is over; None if it cannot be varied.

    Parameters
    ----------
    block : bpy.types.ID
    path : str
        Of the property below it.
    index : int
        In an array; -1: it is none.
    """
    try:
        value = block.path_resolve(path)
    except ValueError:
        return None
    owner, _, last = path.rpartition(".")
    kind = (block.path_resolve(owner) if owner else block).bl_rna.properties.get(last)
    if index >= 0 and kind is not None and getattr(kind, "is_array", False):
        path, value = f"{path}[{index}]", value[index]
    values = _values_around(kind, value)
    if values is None:
        return None
    if isinstance(block, bpy.types.Object):
        for prefix in ("rigid_body.", "rigid_body_constraint.", "cairn.joint."):
            path = path.removeprefix(prefix)
        return f"object:{block.name}{'' if path.startswith('[') else '.'}{path}", values
    if isinstance(block, bpy.types.Scene):
        if path.startswith("cairn."):
            name = path.removeprefix("cairn.")
            return {"method": "solver", "friction": "friction_model"}.get(name, name), values
        world = path.startswith("rigidbody_world.")
        return (f"world:{path.removeprefix('rigidbody_world.')}" if world else f"scene:{path}"), values
    return None


def _values_around(kind, value):
    """Half to one and a half of a number, all words of a menu."""
    if isinstance(value, bool):
        return "off,on"
    if isinstance(value, float):
        return f"{0.5 * value:.6g}:{1.5 * value:.6g}:3" if value else "0:1:3"
    if isinstance(value, int):
        return f"{value},{2 * value}" if value else "0,1"
    if kind is not None and kind.type == "ENUM" and not kind.is_enum_flag:
        return ",".join(item.identifier for item in kind.enum_items)
    return None


def draw_context_menu(menu, context):
    """*Vary with Cairn*, where the mouse is over what can be varied."""
    found = getattr(context, "property", None)
    if not found or context.scene.rigidbody_world is None:
        return
    target = target_of(*found)
    if target is not None:
        menu.layout.separator()
        operator = menu.layout.operator("cairn.wedge_add", text="Vary with Cairn", icon="MOD_ARRAY")
        operator.path, operator.values = target


class _Wedge:
    bl_label = "Wedge"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return context.scene.rigidbody_world is not None

    def draw(self, context):
        layout, wedge = self.layout, context.scene.cairn_wedge
        column = layout.column(align=True)
        column.enabled = operators.running is None
        for index, entry in enumerate(wedge.entries):
            row = column.row(align=True)
            row.prop(entry, "path", text="")
            row.prop(entry, "values", text="")
            row.operator("cairn.wedge_remove", text="", icon="X").index = index
        column.operator("cairn.wedge_add", icon="ADD")
        row = column.row(align=True)
        row.prop(wedge, "seeds")
        if wedge.seeds:
            row.prop(wedge, "jitter")
        column.prop(wedge, "jobs")
        layout.operator("cairn.wedge", text=_button_text(wedge), icon="MOD_ARRAY", translate=False)
        self._draw_results(context)

    def _draw_results(self, context):
        if not _shown or _shown["file"] != bpy.data.filepath:
            return
        grid = self.layout.grid_flow(columns=_COLUMNS, row_major=True, even_columns=True)
        for number, icon in list(_shown["icons"].items())[:_MOST_SHOWN]:
            box = grid.box()
            if icon:
                box.template_icon(icon_value=icon, scale=_SCALE_OF_PICTURE)
            column = box.column(align=True)
            for i, part in enumerate(_shown["plan"].variant(number).text.split(", ")):
                column.label(text=part if i else f"{number}: {part}", translate=False)
            box.operator("cairn.wedge_use").number = number
        if len(_shown["icons"]) > _MOST_SHOWN:
            label(self.layout, iface_("All are in {}").format(_shown["folder"] / "sheet.png"))


def _button_text(wedge) -> str:
    """How many variants there will be, as far as that can be said."""
    try:
        counts = [len(parse_vary(f"{entry.path}={entry.values}")[1]) for entry in wedge.entries]
    except WedgeError:
        return iface_("Bake Variants")
    total = math.prod(counts) * (wedge.seeds or 1)
    return iface_("Bake {:,d} Variants").format(total) if total > 1 else iface_("Bake Variants")


class SCENE_PT_cairn_wedge(_Wedge, bpy.types.Panel):
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "scene"
    bl_parent_id = "SCENE_PT_cairn"


class VIEW3D_PT_cairn_wedge(_Wedge, bpy.types.Panel):
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Cairn"
    bl_parent_id = "VIEW3D_PT_cairn"


CLASSES = (
    CairnWedgeEntry,
    CairnWedge,
    CAIRN_OT_wedge,
    CAIRN_OT_wedge_use,
    CAIRN_OT_wedge_add,
    CAIRN_OT_wedge_remove,
    SCENE_PT_cairn_wedge,
    VIEW3D_PT_cairn_wedge,
)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Scene.cairn_wedge = PointerProperty(
        name="Cairn Wedge", description="What Cairn is to vary in this scene", type=CairnWedge
    )
    bpy.types.UI_MT_button_context_menu.append(draw_context_menu)


def unregister():
    global _previews
    bpy.types.UI_MT_button_context_menu.remove(draw_context_menu)
    if _previews is not None:
        bpy.utils.previews.remove(_previews)
        _previews = None
    _shown.clear()
    del bpy.types.Scene.cairn_wedge
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
