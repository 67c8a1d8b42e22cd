"""Until when or from when a rigid body constraint holds, as its panel *Activation* says."""

from typing import TYPE_CHECKING

from .activation import ACTIVATION_SETTINGS, ActivationReader
from .exported_scene import JointFrame
from .notes import Note

if TYPE_CHECKING:
    import bpy

    from ...solver_core.model.builder import ModelBuilder

JOINT_ACTIVATION_SETTINGS = ("activation_holds", *ACTIVATION_SETTINGS[:3])

NO_TRIGGER = "its Activation says Start: it holds throughout"
NEVER_HELD = "its Activation says from Never: it never holds"
IS_KEYED = "its Activation is not used: Enabled is keyed or driven, which says when it holds"
IS_OFF = "its Activation is not used: Enabled is off, so it never holds"
IS_BODY = "its Activation is that of its body, which it is, too; give the constraint an object of its own"


def has_joint_activation(ob: "bpy.types.Object") -> bool:
    """Whether a constraint's panel says anything else than that it holds throughout."""
    own = getattr(ob, "cairn", None)
    return own is not None and own.activation_holds != "ALWAYS" and ob.rigid_body_constraint is not None


def joint_volume_of(ob: "bpy.types.Object") -> "bpy.types.Object | None":
    """The object that lets a joint go or lets it hold, if one does."""
    return ob.cairn.activation_volume if has_joint_activation(ob) and ob.cairn.activation == "VOLUME" else None


def read_joint_activation(
    ob: "bpy.types.Object",
    is_enabled: bool,
    is_keyed: bool,
    builder: "ModelBuilder",
    reader: ActivationReader | None,
) -> tuple[dict, JointFrame | None]:
    """Arguments of ``add_joint``, and the frame that matters; notes go to the reader's.

    Parameters
    ----------
    ob : bpy.types.Object
    is_enabled, is_keyed : bool
        Whether the constraint is switched on, and whether that is animated.
    builder : ModelBuilder
        A volume is added to it.
    reader : ActivationReader or None
        None where nothing is to be said of it.
    """
    if reader is None or not has_joint_activation(ob):
        return {}, None
    own, until = ob.cairn, ob.cairn.activation_holds == "UNTIL"
    for is_so, text in ((ob.rigid_body is not None, IS_BODY), (is_keyed, IS_KEYED), (not is_enabled, IS_OFF)):
        if is_so:
            reader.notes.append(Note("warning", ob.name, text))
            return {}, None
    if own.activation == "FRAME":
        reader.is_sampled = True
        return {"enabled": until}, JointFrame(own.activation_frame, until)
    if own.activation == "START":
        reader.notes.append(Note("warning", ob.name, NO_TRIGGER))
        return {}, None
    activation = reader.activation_of(builder, ob)
    if activation is None or own.activation == "NEVER":
        if not until and own.activation == "NEVER":
            reader.notes.append(Note("warning", ob.name, NEVER_HELD))
        return {"enabled": until}, None
    return {"holds_until" if until else "holds_from": activation}, None
