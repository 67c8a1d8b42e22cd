"""Properties of a glue object (``addon/glue.py``)."""

import bpy
from bpy.props import CollectionProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty

from ..glue_materials import MATERIALS
from .glue_variation_properties import GlueVariationProperties
from .start_motion_properties import OVERRIDABLE

# What is said in newtons has no unit of Blender's that fits.
_LARGEST = 1e15


class CairnGluePiece(bpy.types.PropertyGroup):
    """A piece that is glued: found again whatever its name is."""

    object: PointerProperty(name="Piece", description="The rigid body that is glued", type=bpy.types.Object)


def _strength(name, description, default):
    """A strength, which counts as it is at the start and so cannot be keyed."""
    return FloatProperty(
        name=name,
        description=description,
        default=default,
        min=0.0,
        max=_LARGEST,
        options={"LIBRARY_EDITABLE"},
        override=OVERRIDABLE,
    )


class CairnGlue(GlueVariationProperties, bpy.types.PropertyGroup):
    """How strong all bonds of a glue object are."""

    pieces: CollectionProperty(
        type=CairnGluePiece, name="Pieces", description="The rigid bodies that are glued", options={"HIDDEN"}
    )
    material: EnumProperty(
        name="Strength",
        description="Choose what the bonds are made of; it says what each square metre of them bears",
        items=MATERIALS,
        default="MORTAR",
        options={"LIBRARY_EDITABLE"},
        override=OVERRIDABLE,
    )
    tension: _strength(
        "Tension", "Set the pull that a square metre of a bond bears, in newtons; bending tears it by the same", 1e5
    )
    shear: _strength("Shear", "Set the force along a square metre of a bond that it bears, in newtons", 2e5)
    torsion: _strength(
        "Torsion", "Set the stress at the rim of a bond that is twisted that it bears, in newtons a square metre", 2e5
    )
    tension_force: _strength("Tension", "Set the pull that each bond bears, in newtons; bending tears it, too", 5e3)
    shear_force: _strength("Shear", "Set the force along its surface that each bond bears, in newtons", 1e4)
    torsion_torque: _strength("Torsion", "Set the torque about its normal that each bond bears, in newton metres", 1e3)
    strength: FloatProperty(
        name="Factor",
        description="Multiply the strength of all bonds by this number",
        default=1.0,
        min=0.0,
        max=1e9,
        soft_max=10.0,
        options={"LIBRARY_EDITABLE"},
        override=OVERRIDABLE,
    )
    noise: FloatProperty(
        name="Random",
        description="Make each bond weaker by a share of its own, up to this one",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        options={"LIBRARY_EDITABLE"},
        override=OVERRIDABLE,
    )
    seed: IntProperty(
        name="Seed",
        description="Choose other random numbers",
        default=0,
        min=0,
        options={"LIBRARY_EDITABLE"},
        override=OVERRIDABLE,
    )
    gap: FloatProperty(
        name="Gap",
        description="Set the distance of surfaces up to which Glue Again bridges them; 0 takes a fiftieth of the size "
        "of the pieces",
        default=0.0,
        min=0.0,
        subtype="DISTANCE",
        precision=4,
        options={"LIBRARY_EDITABLE"},
        override=OVERRIDABLE,
    )
