"""Properties of what wakes a body (``addon/read/activation.py``)."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty

from .start_motion_properties import OVERRIDABLE


def _has_surface(_settings, ob):
    return ob.type in {"MESH", "CURVE", "SURFACE", "META", "FONT"}


class ActivationProperties:
    """A part of ``Object.cairn``."""

    activation: EnumProperty(
        name="Activation",
        description="Choose what lets the body move; until then it stays where it is, also in the air, and holds what "
        "leans on it",
        items=(
            ("START", "Start", "Let it move from the first frame"),
            ("TOUCH", "Touch", "Wake it as soon as something that moves pushes it"),
            ("IMPULSE", "Impulse", "Wake it by a hit that is harder than a threshold; what rests on it is no hit"),
            ("FRAME", "Frame", "Wake it at a frame"),
            ("VOLUME", "Volume", "Wake it once its centre of mass is in another object, which may move"),
            ("NEVER", "Never", "Let nothing wake it"),
        ),
        default="START",
        override=OVERRIDABLE,
    )
    activation_impulse: FloatProperty(
        name="Impulse",
        description="Set the hit above which the body wakes, in newton seconds: a mass in kilograms times the speed "
        "that it loses",
        default=10.0,
        min=0.0,
        max=1e12,
        soft_max=1e4,
        precision=3,
        override=OVERRIDABLE,
    )
    activation_frame: IntProperty(
        name="Frame",
        description="Set the last frame in which the body is where it waits",
        default=1,
        min=-1048574,
        max=1048574,
        override=OVERRIDABLE,
    )
    activation_volume: PointerProperty(
        name="Volume",
        description="Choose the object, a closed surface, that wakes the body; it may be animated, and nothing touches "
        "it unless it is a rigid body, too",
        type=bpy.types.Object,
        poll=_has_surface,
        override=OVERRIDABLE,
    )
    activation_holds: EnumProperty(
        name="Holds",
        description="Choose when the constraint holds: its activation below lets it go, or lets it hold",
        items=(
            ("ALWAYS", "Always", "Let it hold throughout, or as Enabled is keyed"),
            ("UNTIL", "Until", "Let it hold until its bodies are touched or hit, a frame, or a volume"),
            ("FROM", "From", "Let it hold once its bodies touch or hit each other, from a frame on, or in a volume"),
        ),
        default="ALWAYS",
        override=OVERRIDABLE,
    )
    use_deactivation_frame: BoolProperty(
        name="Use Deactivate",
        description="Let the body stop at a frame and stay as if it were static, until its activation, if there is "
        "one, wakes it again",
        override=OVERRIDABLE,
    )
    deactivation_frame: IntProperty(
        name="Deactivate",
        description="Set the frame at which the body stops where it is",
        default=100,
        min=-1048574,
        max=1048574,
        override=OVERRIDABLE,
    )
