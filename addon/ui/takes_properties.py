"""Properties of takes (addon/takes): a list on the scene, and which of them plays."""

import bpy
from bpy.props import BoolProperty, CollectionProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from ..takes import book


def _named(take, context):
    """Names tell takes from each other, and their actions are named after them."""
    book.give_name(take.id_data, take)


def _ghost_changed(owner, context):
    from . import ghost_view

    ghost_view.refresh()


class CairnTakeBody(bpy.types.PropertyGroup):
    """A body of a take."""

    name: StringProperty(name="Object", description="Name of the body's object", options={"HIDDEN"})
    session: StringProperty(name="Session", description="Number of the object in this session", options={"HIDDEN"})
    slot: IntProperty(name="Slot", description="Handle of the action's slot with its keys", options={"HIDDEN"})
    rotation_mode: StringProperty(
        name="Rotation Mode", description="Rotation mode of the object as it was baked", options={"HIDDEN"}
    )


class CairnTake(bpy.types.PropertyGroup):
    """A bake that is kept."""

    name: StringProperty(name="Name", description="Name the take; its action has this name, too", update=_named)
    uid: StringProperty(name="Number", description="Tells the take from others", options={"HIDDEN"})
    action: PointerProperty(
        name="Action", description="Keys of all bodies, a slot each", type=bpy.types.Action, options={"HIDDEN"}
    )
    bodies: CollectionProperty(type=CairnTakeBody, options={"HIDDEN"})
    facts: StringProperty(name="Facts", description="What the scene says of the bake, as JSON", options={"HIDDEN"})
    report_slot: IntProperty(
        name="Report", description="Handle of the action's slot with the curves of the report", options={"HIDDEN"}
    )
    points: PointerProperty(
        name="Points", description="Contacts of the bake as points", type=bpy.types.Mesh, options={"HIDDEN"}
    )
    quality: StringProperty(name="Quality", description="Quality or solver of the bake", options={"HIDDEN"})
    seconds: FloatProperty(name="Seconds", description="Time that the bake took", options={"HIDDEN"})
    date: StringProperty(name="Date", description="When the take was kept", options={"HIDDEN"})
    ghost: BoolProperty(
        name="Ghost",
        description="Draw the bodies of this take into the 3D view, transparent, where they are at the frame that is "
        "shown. Nothing of it renders",
        update=_ghost_changed,
    )


class TakesProperties:
    """A part of ``Scene.cairn``."""

    takes: CollectionProperty(
        name="Takes", description="Keep bakes of this scene side by side", type=CairnTake, options={"HIDDEN"}
    )
    take_index: IntProperty(name="Take", description="Choose the take that the buttons beside the list are about")
    take: StringProperty(name="Take", description="Number of the take that the bake is", options={"HIDDEN"})
    shown_take: StringProperty(
        name="Shown Take", description="Number of the take that Show Cairn brings back", options={"HIDDEN"}
    )
    keep_takes: BoolProperty(
        name="Keep Each Bake",
        description="Add each bake that ends to the takes. Without it a bake is kept where a button says so, or where "
        "something else takes its place here",
    )
    bullet_ghost: BoolProperty(
        name="Ghost of Bullet",
        description="Draw the bodies into the 3D view, transparent, where Blender's own simulation has had them at the "
        "frame that is shown, when Bullet was shown in this session",
        update=_ghost_changed,
    )
    world_is_held: BoolProperty(
        name="World Is Held",
        description="Blender's own simulation is off while the start is shown; it goes on with Show Bullet, and a bake "
        "takes it for switched on",
        options={"HIDDEN"},
    )
