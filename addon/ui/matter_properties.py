"""Properties of what a body is made of (``addon/read/matter.py``)."""

from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty

from .start_motion_properties import OVERRIDABLE

_RULES = (
    ("PRODUCT", "Product", "Multiply the two bodies' values, as Blender does; another rule of the other body counts"),
    ("MEAN", "Mean", "Take the mean of the two bodies' values"),
    ("LEAST", "Least", "Take the smaller one of the two bodies' values"),
    ("LARGEST", "Largest", "Take the larger one of the two bodies' values"),
)


class MatterProperties:
    """A part of ``Object.cairn``."""

    use_density: BoolProperty(
        name="Use Density",
        description="Let the body weigh its density times the volume of its collision shape, in place of Mass",
        override=OVERRIDABLE,
    )
    density: FloatProperty(
        name="Density",
        description="Set how many kilograms a cubic metre of the body weighs",
        default=1000.0,
        min=1e-3,
        max=1e6,
        soft_min=1.0,
        soft_max=20000.0,
        precision=1,
        override=OVERRIDABLE,
    )
    use_center_of_mass: BoolProperty(
        name="Use Center of Mass",
        description="Put the centre of mass where the offset says, and not in the middle of the collision shape",
        override=OVERRIDABLE,
    )
    center_of_mass: FloatVectorProperty(
        name="Center of Mass",
        description="Set how far the centre of mass is from the object's origin, along the object's axes; it is not "
        "scaled with the object",
        size=3,
        subtype="TRANSLATION",
        unit="LENGTH",
        override=OVERRIDABLE,
    )
    use_sliding_friction: BoolProperty(
        name="Use Sliding Friction",
        description="Let surfaces that slide have another friction than those that stick",
        override=OVERRIDABLE,
    )
    sliding_friction: FloatProperty(
        name="Sliding Friction",
        description="Set the friction of the body while its surface slides; Friction is that while it sticks",
        default=0.4,
        min=0.0,
        soft_max=1.0,
        precision=3,
        override=OVERRIDABLE,
    )
    rolling_friction: FloatProperty(
        name="Rolling Friction",
        description="Set what resists rolling, as the slope on which a ball begins to roll: 0.01 for a hard floor, 0.1 "
        "for grass; of two bodies that touch the larger one counts",
        default=0.0,
        min=0.0,
        soft_max=0.3,
        step=1,
        precision=3,
        override=OVERRIDABLE,
    )
    spinning_friction: FloatProperty(
        name="Spinning Friction",
        description="Set what resists spinning on the spot, as a share of the body's weight at its radius; of two "
        "bodies that touch the larger one counts",
        default=0.0,
        min=0.0,
        soft_max=0.3,
        step=1,
        precision=3,
        override=OVERRIDABLE,
    )
    friction_rule: EnumProperty(
        name="Combine Friction",
        description="Choose how the frictions of two bodies that touch make one; of two bodies' rules the later one in "
        "this list counts",
        items=_RULES,
        default="PRODUCT",
        override=OVERRIDABLE,
    )
    bounce_rule: EnumProperty(
        name="Combine Bounciness",
        description="Choose how the bouncinesses of two bodies that touch make one; of two bodies' rules the later one "
        "in this list counts",
        items=_RULES,
        default="PRODUCT",
        override=OVERRIDABLE,
    )
    surface_velocity: FloatVectorProperty(
        name="Surface Velocity",
        description="Let the surface run over the body as a conveyor belt does, along the object's axes, which turn "
        "with it; what lies on it is taken along by friction",
        size=3,
        min=-1e6,
        max=1e6,
        subtype="VELOCITY",
        unit="VELOCITY",
        override=OVERRIDABLE,
    )
    use_largest_speed: BoolProperty(
        name="Use Largest Speed",
        description="Let the body be no faster than its largest speed",
        override=OVERRIDABLE,
    )
    largest_speed: FloatProperty(
        name="Largest Speed",
        description="Set the speed that the centre of mass does not exceed, however far the body falls",
        default=50.0,
        min=1e-3,
        max=1e6,
        unit="VELOCITY",
        override=OVERRIDABLE,
    )
