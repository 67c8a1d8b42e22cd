"""The curve that is drawn by hand for *Gradient*: how the strength of bonds goes from the start to the end.

Blender keeps such curves in brushes and nodes alone. So it is the Float Curve of a node group, to which the settings of
the glue object refer: it is saved, undone and copied with them. A name that begins with a dot hides it from menus.
"""

import bpy
import numpy as np


def new_profile(owner: str) -> bpy.types.NodeTree:
    """A node group with a straight curve, for an object of this name."""
    group = bpy.data.node_groups.new(f".{owner} Gradient", "ShaderNodeTree")
    group.nodes.new("ShaderNodeFloatCurve")
    return group


def node_of(settings) -> bpy.types.Node | None:
    """The node whose ``mapping`` is the curve; None where there is no such node any more."""
    group = settings.gradient_profile
    return None if group is None else next((node for node in group.nodes if node.type == "CURVE_FLOAT"), None)


def profile_at(settings, share: np.ndarray) -> np.ndarray | None:
    """The curve's heights, within 0 and 1, at these shares of the way; None where there is no curve."""
    node = node_of(settings)
    if node is None:
        return None
    mapping = node.mapping
    mapping.initialize()  # of a file that was just opened it has no table yet
    curve = mapping.curves[0]
    return np.clip([mapping.evaluate(curve, float(part)) for part in share], 0.0, 1.0)


def profile_values(settings) -> list:
    """What says how the curve goes, by which a bake finds out that it has changed."""
    node = node_of(settings)
    if node is None:
        return []
    mapping = node.mapping
    points = [(*point.location, point.handle_type) for point in mapping.curves[0].points]
    return [mapping.extend, mapping.use_clip, mapping.clip_min_y, mapping.clip_max_y, *(v for p in points for v in p)]
