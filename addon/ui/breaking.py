"""What a constraint's panel says of breaking: at what load it does, and what it bore in the last bake."""

import functools
import json
import math

from ..joint_report import bears_text, in_prefix
from ..read.scene_joints import breaking_load
from .words import iface_


def breaking_texts(scene, ob) -> list[str]:
    """The load that Blender's threshold is, in the unit in which a bake tells what broke, and the largest one so far.

    Parameters
    ----------
    scene : bpy.types.Scene or None
    ob : bpy.types.Object
        With a constraint.
    """
    constraint = ob.rigid_body_constraint
    if not constraint.use_breaking or scene is None or scene.rigidbody_world is None:
        return []
    texts = []
    load = breaking_load(scene, constraint)
    if math.isfinite(load):
        texts.append(iface_("Breaks at {}").format(bears_text(*in_prefix([load], "N"))))
    peak = _peaks(scene.cairn.report).get(ob.name) if scene.cairn.is_baked else None
    if peak is not None:
        force, torque = in_prefix([peak["force"], peak["torque"]], "N")
        texts.append(iface_("Bore up to {} and {} m in the last bake").format(force, torque))
    return texts


@functools.lru_cache(maxsize=2)
def _peaks(report):
    """``peaks`` of a bake's report, which a panel asks for each time that it is drawn."""
    return json.loads(report).get("peaks", {}) if report else {}
