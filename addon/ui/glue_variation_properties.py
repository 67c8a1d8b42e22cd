"""Properties by which the strength of a glue object's bonds varies from place to place (``read/glue_variation.py``)."""

import bpy
from bpy.props import EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from ..read.glue_profile import new_profile
from .start_motion_properties import OVERRIDABLE

# All count as they are at the start, and so cannot be keyed.
_COMMON = {"options": {"LIBRARY_EDITABLE"}, "override": OVERRIDABLE}


def _factor(name, description, default):
    return FloatProperty(
        name=name, description=description, default=default, min=0.0, max=1e9, soft_max=10.0, **_COMMON
    )


def _is_mesh(_settings, ob):
    return ob.type == "MESH"


def _give_profile(settings, _context):
    """A curve to draw, where one is chosen for the first time."""
    if settings.gradient_curve == "CUSTOM" and settings.gradient_profile is None:
        settings.gradient_profile = new_profile(settings.id_data.name)


def _seed(description):
    return IntProperty(name="Seed", description=description, default=0, min=0, **_COMMON)


class GlueVariationProperties:
    """A part of ``Object.cairn.glue``."""

    noise_size: FloatProperty(
        name="Size",
        description="Set the size of strong and weak places of Random; 0 gives each bond a number of its own",
        default=0.0,
        min=0.0,
        subtype="DISTANCE",
        **_COMMON,
    )
    paint: StringProperty(
        name="Attribute",
        description="Name a vertex group or an attribute, which is read where each bond is: numbers, or colors by how "
        "bright they are. Bonds of pieces without it stay as strong as they are",
        **_COMMON,
    )
    paint_object: PointerProperty(
        name="Painted On",
        description="Choose an object to read what is painted on it, such as the wall before it was cut; none reads "
        "the pieces themselves",
        type=bpy.types.Object,
        poll=_is_mesh,
        override=OVERRIDABLE,
    )
    paint_low: _factor("Where 0", "Multiply the strength by this number where the attribute is 0", 0.0)
    paint_high: _factor("Where 1", "Multiply the strength by this number where the attribute is 1", 1.0)
    gradient_object: PointerProperty(
        name="Object",
        description="Choose the object along which the strength changes, from its origin to the end of its axis: 1 in "
        "its own coordinates, or the size at which an empty is shown",
        type=bpy.types.Object,
        override=OVERRIDABLE,
    )
    gradient_axis: EnumProperty(
        name="Along",
        description="Choose what the gradient follows from the object's origin on",
        items=(
            ("X", "X", "Along the object's X axis"),
            ("Y", "Y", "Along the object's Y axis"),
            ("Z", "Z", "Along the object's Z axis"),
            ("DISTANCE", "Distance", "Away from the object's origin, on all sides"),
        ),
        default="Z",
        **_COMMON,
    )
    gradient_curve: EnumProperty(
        name="Curve",
        description="Choose how the factor goes from the one at the start to the one at the end",
        items=(
            ("LINEAR", "Linear", "Evenly, in a straight line"),
            ("SMOOTH", "Smooth", "Slowly at both ends"),
            ("ROOT", "Root", "Fast at the start, slowly at the end"),
            ("SHARP", "Sharp", "Slowly at the start, fast at the end"),
            ("STEP", "Step", "At once, halfway between both ends"),
            ("CUSTOM", "Custom", "By a curve that is drawn by hand"),
        ),
        default="LINEAR",
        update=_give_profile,
        **_COMMON,
    )
    gradient_profile: PointerProperty(
        name="Profile",
        description="Keep the curve that is drawn by hand: a node group with a Float Curve",
        type=bpy.types.NodeTree,
        override=OVERRIDABLE,
    )
    gradient_low: _factor("Start", "Multiply the strength by this number at the object's origin, and before it", 1.0)
    gradient_high: _factor("End", "Multiply the strength by this number at the end of the axis, and beyond it", 0.1)
    cluster_by: EnumProperty(
        name="Clusters",
        description="Choose which pieces hold together better, as the chunks that a wall comes apart into first",
        items=(
            ("NONE", "None", "Leave all bonds as they are"),
            ("NUMBER", "Number", "Pieces near each other, in so many clusters around pieces that chance chooses"),
            ("COLLECTION", "Collection", "Pieces that are in the same collection"),
            ("ATTRIBUTE", "Attribute", "Pieces of which a custom property, or an attribute of the mesh, has one value"),
        ),
        default="NONE",
        **_COMMON,
    )
    cluster_count: IntProperty(
        name="Count",
        description="Set how many clusters the pieces are put into",
        default=10,
        min=1,
        soft_max=100,
        **_COMMON,
    )
    cluster_seed: _seed("Choose other pieces around which the clusters are")
    cluster_attribute: StringProperty(
        name="Attribute",
        description="Name the custom property of the pieces, or the attribute of their meshes, that says to which "
        "cluster each belongs",
        **_COMMON,
    )
    cluster_factor: _factor(
        "Inside", "Multiply the strength of bonds inside a cluster by this number; those between stay as they are", 10.0
    )
