"""How the mouse pulls a body in *Live* (``live_drag.py``)."""

from bpy.props import FloatProperty

from .start_motion_properties import OVERRIDABLE


class LiveProperties:
    """A part of ``Scene.cairn``."""

    drag_frequency: FloatProperty(
        name="Frequency",
        description="Let a body that is dragged come to the mouse so fast, in swings a second: low is a rubber band, "
        "high a firm hand",
        default=3.0,
        min=0.1,
        max=20.0,
        soft_max=10.0,
        override=OVERRIDABLE,
    )
    drag_damping: FloatProperty(
        name="Damping",
        description="Stop the swinging of a dragged body about the mouse so soon; with 1 it does not swing at all",
        default=0.7,
        min=0.0,
        max=10.0,
        soft_max=2.0,
        override=OVERRIDABLE,
    )
    drag_force: FloatProperty(
        name="Largest Force",
        description="Drag a body so hard at most, in times its own weight: what is held by more stays where it is",
        default=20.0,
        min=0.1,
        soft_max=100.0,
        max=1e6,
        override=OVERRIDABLE,
    )
