"""*Object > Rigid Body > Glue Neighbours*, and the panel of a glue object."""

import contextlib
import json
import math

import bpy
from bpy.props import EnumProperty, FloatProperty, StringProperty

from .. import glue
from ..glue_materials import MATERIALS, STRENGTHS
from ..joint_report import in_prefix
from ..read.glue_bonds import is_glue
from ..read.scene_joints import breaking_load
from . import operators
from .lines import draw_lines
from .operators import SceneOperator
from .panels import InPhysics, lay_out
from .words import iface_, rpt_

NO_SURFACES = "No surfaces of these bodies are within {} of each other; raise Gap"


class _Glue(SceneOperator):
    """What glues, with the gap in the redo panel."""

    gap: FloatProperty(
        name="Gap",
        description="Set the distance of surfaces up to which they are glued; 0 takes a fiftieth of the size of the "
        "pieces",
        default=0.0,
        min=0.0,
        subtype="DISTANCE",
        precision=4,
    )

    def _glue(self, context, pieces, into):
        """Glue bodies, and say what was glued; returns the glue object, or None where nothing touches."""
        baked = next((ob for ob in pieces if ob.cairn.is_baked), None)
        if baked is not None:
            self.report({"WARNING"}, rpt_("{} has the keys of a bake; delete the bake first").format(baked.name))
            return None
        found = glue.glue_neighbours(
            context.scene, pieces, gap=self.gap, depsgraph=context.evaluated_depsgraph_get(), into=into
        )
        self.gap = found.gap
        if found.ob is None:
            length = bpy.utils.units.to_string(
                context.scene.unit_settings.system, "LENGTH", found.gap, precision=3, split_unit=False
            )
            self.report({"WARNING"}, rpt_(NO_SURFACES).format(length.strip() or f"{found.gap:.3g} m"))
            return None
        self.report({"INFO"}, rpt_("{} bonds of {} bodies").format(f"{found.bonds:,}", f"{found.pieces:,}"))
        return found.ob


class CAIRN_OT_glue_neighbours(_Glue, bpy.types.Operator):
    bl_idname = "cairn.glue_neighbours"
    bl_label = "Glue Neighbours"
    bl_description = (
        "Glue the selected rigid bodies to each other where their surfaces touch. The bonds are the lines of one "
        "object, whose panel says how strong they are"
    )
    bl_options = {"REGISTER", "UNDO"}

    material: EnumProperty(
        name="Strength",
        description="Choose what the bonds are made of; it can be changed later",
        items=MATERIALS,
        default="MORTAR",
    )
    collection: StringProperty(
        name="Collection",
        description="Glue the rigid bodies of this collection, and of those in it, in place of the selected ones",
    )

    def draw(self, _context):
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "material")
        layout.prop(self, "gap")
        layout.prop_search(self, "collection", bpy.data, "collections")

    def execute(self, context):
        pieces = self._pieces(context)
        if pieces is None:
            return {"CANCELLED"}
        ob = self._glue(context, pieces, None)
        if ob is None:
            return {"CANCELLED"}
        ob.cairn.glue.material = self.material
        for other in context.selected_objects:
            other.select_set(False)
        ob.select_set(True)
        context.view_layer.objects.active = ob
        return {"FINISHED"}

    def _pieces(self, context):
        if self.collection:
            collection = bpy.data.collections.get(self.collection)
            if collection is None:
                self.report({"WARNING"}, rpt_("There is no collection {}").format(self.collection))
                return None
            chosen = collection.all_objects
        else:
            chosen = context.selected_objects
        members = set(operators.scene_bodies(context.scene).all_objects)
        pieces = [ob for ob in chosen if ob.rigid_body is not None and ob in members]
        if len(pieces) < 2 or not any(ob.rigid_body.type == "ACTIVE" for ob in pieces):
            self.report({"WARNING"}, rpt_("Select two rigid bodies or more, of which one is active, or more are"))
            return None
        return pieces


class CAIRN_OT_glue_again(_Glue, bpy.types.Operator):
    """Find the bonds of this object's pieces anew, where they stand now; the strength stays"""

    bl_idname = "cairn.glue_again"
    bl_label = "Glue Again"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return super().poll(context) and is_glue(context.object) and context.object.is_editable

    def invoke(self, context, _event):
        self.gap = context.object.cairn.glue.gap
        return self.execute(context)

    def execute(self, context):
        if not self.properties.is_property_set("gap"):
            self.gap = context.object.cairn.glue.gap
        members = set(operators.scene_bodies(context.scene).all_objects)
        pieces = [piece.object for piece in context.object.cairn.glue.pieces if piece.object in members]
        pieces = [ob for ob in pieces if ob.rigid_body is not None]
        if len(pieces) < 2:
            self.report({"WARNING"}, rpt_("Of its pieces fewer than two are left; glue others in their place"))
            return {"CANCELLED"}
        return {"FINISHED"} if self._glue(context, pieces, context.object) is not None else {"CANCELLED"}


class CAIRN_OT_constraints_into_glue(_Glue, bpy.types.Operator):
    """Turn the selected rigid body constraints of the type Fixed into bonds of one object, as strong as they are"""

    bl_idname = "cairn.constraints_into_glue"
    bl_label = "Fixed Constraints into Glue"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context):
        chosen = [ob for ob in context.selected_objects if _is_fixed(ob)]
        pairs = [_pair_of(ob) for ob in chosen]
        pieces = list(dict.fromkeys(ob for pair in pairs for ob in pair))
        if not pieces:
            self.report({"WARNING"}, rpt_("Select constraints of the type Fixed that join two rigid bodies"))
            return {"CANCELLED"}
        loads: dict = {}
        for ob, pair in zip(chosen, pairs, strict=True):
            loads.setdefault(frozenset(pair), []).append((ob, breaking_load(context.scene, ob.rigid_body_constraint)))
        made = self._glue(context, pieces, None)
        if made is None:
            return {"CANCELLED"}
        kept = glue.keep_bonds(made, {pair: sum(load for _, load in given) for pair, given in loads.items()})
        gone = [ob for pair in kept for ob, _ in loads[pair]]
        for ob in gone:
            if ob.type == "EMPTY" and not ob.children:
                bpy.data.objects.remove(ob)
            else:
                context.view_layer.objects.active = ob
                bpy.ops.rigidbody.constraint_remove()
        left = len(chosen) - len(gone)
        if not kept:
            mesh = made.data
            bpy.data.objects.remove(made)
            bpy.data.meshes.remove(mesh)
            self.report({"WARNING"}, rpt_("The surfaces of none of these pairs touch; raise Gap"))
            return {"CANCELLED"}
        if left:
            text = rpt_("{} constraints are bonds now; {} stay as they are, as their bodies do not touch: raise Gap")
            self.report({"WARNING"}, text.format(len(gone), left))
        else:
            self.report({"INFO"}, rpt_("{} constraints are bonds now").format(len(gone)))
        context.view_layer.objects.active = made
        made.select_set(True)
        return {"FINISHED"}


def _is_fixed(ob):
    constraint = ob.rigid_body_constraint
    return (
        constraint is not None
        and constraint.type == "FIXED"
        and ob.cairn.joint.kind == "BLENDER"
        and bool(_pair_of(ob))
    )


def _pair_of(ob):
    """The two bodies of a constraint; nothing where there are not two."""
    pair = ob.rigid_body_constraint.object1, ob.rigid_body_constraint.object2
    return pair if None not in pair and all(one.rigid_body is not None for one in pair) and pair[0] != pair[1] else ()


class _Panel:
    """How strong the bonds of a glue object are."""

    bl_label = "Glue"

    @classmethod
    def poll(cls, context):
        return is_glue(context.object)

    def draw(self, context):
        layout, ob = self.layout, context.object
        settings = ob.cairn.glue
        lay_out(layout, context)
        column = layout.column()
        column.enabled = operators.running is None
        column.prop(settings, "material")
        part = column.column(align=True)
        if settings.material == "BOND":
            part.prop(settings, "tension_force", text="Tension [N]")
            part.prop(settings, "shear_force", text="Shear [N]")
            part.prop(settings, "torsion_torque", text="Torsion [N m]")
        elif settings.material == "AREA":
            part.prop(settings, "tension", text="Tension [N/m²]")
            part.prop(settings, "shear", text="Shear [N/m²]")
            part.prop(settings, "torsion", text="Torsion [N/m²]")
        else:
            texts = [text.replace("N", "Pa") for text in in_prefix(list(STRENGTHS[settings.material]), "N")]
            draw_lines(part, context, iface_("Bears {} in tension, {} in shear").format(*texts[:2]), "NONE")
        column.prop(settings, "strength")
        column.prop(settings, "noise")
        part = column.column(align=True)
        part.active = settings.noise > 0.0
        part.prop(settings, "noise_size")
        part.prop(settings, "seed")
        column.prop(settings, "gap")
        column.operator("cairn.glue_again", icon="FILE_REFRESH")
        for text in _facts(context.scene, ob):
            draw_lines(column, context, text, "INFO")


def _facts(scene, ob):
    """How many bonds there are, how many the last bake broke, and how near to breaking it brought the others."""
    text = iface_("{} bonds of {} bodies")
    texts = [text.format(f"{len(ob.data.edges):,}", f"{len(ob.cairn.glue.pieces):,}")]
    report = scene.cairn.report if scene.cairn.is_baked else ""
    broken, stress = _borne(report).get(ob.name, (0, 0.0))
    if broken == 1:
        texts.append(iface_("1 bond broke in the last bake"))
    elif broken:
        texts.append(iface_("{} bonds broke in the last bake").format(f"{broken:,}"))
    if stress > 0.0:
        bore = "The others bore up to {:.0%} of their strength" if broken else _BORE
        texts.append(iface_(bore).format(stress))
    return texts


_BORE = "Bore up to {:.0%} of their strength in the last bake"
_kept: list = ["", {}]


def _borne(report):
    """By a bake's report, of each glue object how many bonds broke, and the largest stress of the others.

    A panel asks for it each time that it is drawn.
    """
    if _kept[0] != report:
        stored, found = json.loads(report) if report else {}, {}
        broken = [entry for entry in stored.get("breaks", ()) if entry.get("glue")]
        gone = {entry["joint"] for entry in broken}
        for entry in broken:
            count, stress = found.get(entry["glue"], (0, 0.0))
            found[entry["glue"]] = count + 1, stress
        for name, peak in stored.get("peaks", {}).items():
            if name not in gone and math.isfinite(peak.get("stress", math.inf)):
                count, stress = found.get(peak["glue"], (0, 0.0))
                found[peak["glue"]] = count, max(stress, peak["stress"])
        _kept[:] = [report, found]
    return _kept[1]


class PHYSICS_PT_cairn_glue(_Panel, InPhysics, bpy.types.Panel):
    bl_idname = "PHYSICS_PT_cairn_glue"


class VIEW3D_PT_cairn_glue(_Panel, bpy.types.Panel):
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Cairn"
    bl_parent_id = "VIEW3D_PT_cairn"


def draw_in_rigid_body(menu, _context):
    """At the end of the 3D view's *Object > Rigid Body* menu."""
    menu.layout.operator_context = "INVOKE_DEFAULT"
    menu.layout.operator(CAIRN_OT_glue_neighbours.bl_idname)
    menu.layout.operator(CAIRN_OT_constraints_into_glue.bl_idname)


CLASSES = (
    CAIRN_OT_glue_neighbours,
    CAIRN_OT_glue_again,
    CAIRN_OT_constraints_into_glue,
    PHYSICS_PT_cairn_glue,
    VIEW3D_PT_cairn_glue,
)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.VIEW3D_MT_object_rigid_body.append(draw_in_rigid_body)


def unregister():
    bpy.types.VIEW3D_MT_object_rigid_body.remove(draw_in_rigid_body)
    for cls in reversed(CLASSES):
        with contextlib.suppress(RuntimeError):
            bpy.utils.unregister_class(cls)
