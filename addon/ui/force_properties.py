"""Properties of what pushes a body, and of a force field (``addon/read/forces.py``, ``addon/read/force_fields.py``)."""

from bpy.props import BoolProperty, EnumProperty, FloatVectorProperty

from .start_motion_properties import OVERRIDABLE


class ForceProperties:
    """A part of ``Object.cairn``."""

    constant_force: FloatVectorProperty(
        name="Force",
        description="Push the body at its centre of mass, in newtons; it can be keyed",
        size=3,
        subtype="XYZ",
        soft_min=-1000.0,
        soft_max=1000.0,
        override=OVERRIDABLE,
    )
    constant_torque: FloatVectorProperty(
        name="Torque",
        description="Turn the body faster about each axis, in newton metres; it can be keyed",
        size=3,
        subtype="XYZ",
        soft_min=-1000.0,
        soft_max=1000.0,
        override=OVERRIDABLE,
    )
    force_space: EnumProperty(
        name="Axes",
        description="Choose the axes that force and torque are given in",
        items=(
            ("WORLD", "World", "Push along the world's axes, however the body turns"),
            ("LOCAL", "Local", "Push along the body's own axes, with which the force turns, as a rocket's does"),
        ),
        override=OVERRIDABLE,
    )
    field_by_area: BoolProperty(
        name="By Exposed Area",
        description="Let the wind press on what faces it, or the drag on what moves ahead, with Strength on each "
        "square metre, so that a sheet falls as a sheet; else all bodies feel the same force",
        override=OVERRIDABLE,
    )
