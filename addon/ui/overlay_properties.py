"""Properties of what is seen: what a bake leaves beside its keys, what is drawn meanwhile, and the overlay."""

import bpy
from bpy.props import BoolProperty, FloatProperty, PointerProperty

from .live_properties import LiveProperties

# What the overlay can draw.
PARTS = ("shapes", "contacts", "joints", "centres", "at_rest")


def _changed(overlay, context):
    """Begin or end to draw; only the panel's checkboxes do that."""
    from . import overlay_view

    overlay_view.refresh()


class CairnOverlay(bpy.types.PropertyGroup):
    """What Cairn draws into the 3D views of a scene."""

    newest: BoolProperty(
        name="Poses While Baking",
        description="Draw the bodies where the bake has come to while it runs, as the shapes that are simulated. "
        "No object is touched, and pictures are rarer where drawing takes long",
        default=True,
    )
    shapes: BoolProperty(
        name="Collision Shapes",
        description="Draw the shapes that are simulated, also before a bake: static, animated and dynamic ones differ "
        "in colour, and convex parts of one body do",
        update=_changed,
    )
    contacts: BoolProperty(
        name="Contacts",
        description="Draw an arrow at each contact of the frame, as long as its impulse, from blue where it holds to "
        "orange where it slips. Bakes keep their contacts while this is on",
        update=_changed,
    )
    joints: BoolProperty(
        name="Joints",
        description="Draw where joints are, what they join and their limits; and as arrows what they have borne, "
        "where the bake has kept its contacts",
        update=_changed,
    )
    centres: BoolProperty(
        name="Centers of Mass",
        description="Draw a cross at the center of mass of each body that can move",
        update=_changed,
    )
    at_rest: BoolProperty(
        name="At Rest",
        description="Draw in grey which bodies do not move at all in the frame, since they sleep or stand still. "
        "Known of bakes that were made while this is on",
        update=_changed,
    )
    arrow_length: FloatProperty(
        name="Arrow Length",
        description="Multiply the lengths of the arrows. At 1 half of a bake's contacts have arrows of two fifths of a "
        "body or more, and none is longer than three bodies",
        default=1.0,
        min=0.0,
        soft_max=10.0,
    )
    in_front: BoolProperty(
        name="In Front",
        description="Draw contacts, joints and centers of mass also where bodies hide them",
        default=True,
    )

    @property
    def is_on(self) -> bool:
        """Whether anything of it is drawn while no bake runs."""
        return any(getattr(self, name) for name in PARTS)


class SightProperties(LiveProperties):
    """A part of ``Scene.cairn``."""

    contact_points: BoolProperty(
        name="Contacts as Points",
        description="Leave what touches what in an object whose points Geometry Nodes reads, for dust and sparks",
    )
    impact_curves: BoolProperty(
        name="Impact Curves",
        description="Give each body that moves a property 'cairn_impact' with a key for each frame: how hard its "
        "contacts push in it, in newton seconds, for sound, drivers and materials",
    )
    hit_keys: BoolProperty(
        name="Keys at Hits",
        description="Add keys between frames where a body is hit, so that motion blur and slow motion see the bounce "
        "where it was, and not a corner cut between two frames",
    )
    report_curves: BoolProperty(
        name="Report as Curves",
        description="Leave an object 'Cairn Report' whose properties have a key for each frame: residual, missed "
        "solves, overlap, opening of joints, contacts, energy and time, for the Graph Editor",
    )
    overlay: PointerProperty(name="Overlay", description="Hold what Cairn draws into the 3D views", type=CairnOverlay)
