"""Properties of a body that is led by its own animation (``addon/read/guides.py``)."""

from bpy.props import FloatProperty

from .start_motion_properties import OVERRIDABLE


class FollowProperties:
    """A part of ``Object.cairn``."""

    follow: FloatProperty(
        name="Follow",
        description="Pull the body to where its keys, constraints, drivers or parents put it, as long as it is "
        "Dynamic: at 1 it goes there and collides on the way, at 0 it is free and goes on with the motion that it has. "
        "It can be keyed, and holds from its key's frame on",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        override=OVERRIDABLE,
    )
    follow_frequency: FloatProperty(
        name="Frequency",
        description="Set how stiffly the body is pulled: how often a second it would swing about its target if nothing "
        "damped it, whatever its mass [Hz]. More than a fifth of the substeps a second is as stiff as that",
        default=5.0,
        min=0.01,
        max=10000.0,
        soft_max=20.0,
        precision=2,
        override=OVERRIDABLE,
    )
    follow_damping: FloatProperty(
        name="Damping",
        description="Set how it comes back when something pushes it off: with 1 as fast as it can without swinging "
        "over, with less it swings, with more it creeps",
        default=1.0,
        min=0.0,
        max=1000.0,
        soft_max=2.0,
        precision=2,
        override=OVERRIDABLE,
    )
    follow_force: FloatProperty(
        name="Largest Force",
        description="Limit the force that pulls the body, in newtons, which has to carry its weight, too; 0 sets no "
        "limit",
        default=0.0,
        min=0.0,
        max=1e12,
        soft_max=1e4,
        override=OVERRIDABLE,
    )
    follow_torque: FloatProperty(
        name="Largest Torque",
        description="Limit the torque that turns the body, in newton metres; 0 sets no limit",
        default=0.0,
        min=0.0,
        max=1e12,
        soft_max=1e4,
        override=OVERRIDABLE,
    )
