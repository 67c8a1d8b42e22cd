"""Properties of the motion that a body begins with (``addon/read/start_motion.py``)."""

from bpy.props import EnumProperty, FloatProperty, FloatVectorProperty, IntProperty

# Of a library override only such properties are saved: without this, the bake of a file opened again is not known.
OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}


class StartMotionProperties:
    """A part of ``Object.cairn``."""

    start_velocity: FloatVectorProperty(
        name="Velocity",
        description="Speed with which the body's centre of mass begins in the first frame, along each axis",
        size=3,
        min=-1e6,
        max=1e6,
        subtype="VELOCITY",
        unit="VELOCITY",
        override=OVERRIDABLE,
    )
    start_spin: FloatVectorProperty(
        name="Spin",
        description="Angle by which the body turns in a second as it begins, about each axis; all three together are "
        "one axis, about which it turns by the length of the arrow",
        size=3,
        min=-1e5,
        max=1e5,
        subtype="EULER",
        unit="ROTATION",
        override=OVERRIDABLE,
    )
    start_space: EnumProperty(
        name="Axes",
        description="Whose axes the initial velocity and spin are along",
        items=(
            ("WORLD", "World", "Along the axes of the world"),
            ("LOCAL", "Local", "Along the axes of the object as it stands in the first frame"),
        ),
        default="WORLD",
        override=OVERRIDABLE,
    )
    start_random: FloatProperty(
        name="Random",
        description="Share of the speed and of the spin by which each body differs from what is set here, in a "
        "direction of its own",
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        override=OVERRIDABLE,
    )
    start_seed: IntProperty(
        name="Seed",
        description="Another number makes other random differences of the initial motion",
        default=0,
        min=0,
        override=OVERRIDABLE,
    )
