"""Which objects cannot be given keyframes, and why."""

import bpy

from .faults import Faults, SceneError


def check_editable(ob: bpy.types.Object, faults: Faults) -> None:
    """Keep why an object's animation cannot be written, if it cannot."""
    if ob.library is not None:
        text = f"is linked from {ob.library.filepath} and cannot be keyed; make it local or an override"
        faults.add(SceneError(ob.name, text))
    elif not ob.is_editable:
        faults.add(SceneError(ob.name, "is linked from another file; make a library override of it"))
    data = ob.animation_data if ob.is_editable else None
    if data is None:
        return
    if data.use_tweak_mode:
        faults.add(SceneError(ob.name, "its NLA strip is in tweak mode; leave it (Tab in the NLA editor)"))
    elif data.use_nla and any(track.is_solo for track in data.nla_tracks):
        faults.add(SceneError(ob.name, "one of its NLA tracks plays solo; switch Solo off"))
