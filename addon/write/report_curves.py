"""How good each frame of a bake is, as properties of an object with a key for each frame: the Graph Editor draws them.

The object is an empty of its own, so nothing of the user's is touched, and drivers and scripts can read it. It belongs
to the bake and goes with it.
"""

from typing import TYPE_CHECKING

import bpy
import numpy as np

from . import fcurves

if TYPE_CHECKING:  # it loads Numba
    from ...solver_core import FrameReport

MARK = "cairn_report"
_NAME = "Cairn Report"
# Properties, what is said of each, and its value in a frame.
QUANTITIES = {
    "residual": (
        "Largest residual of the frame's solves, as a share of the speeds that contacts had to stop",
        lambda report: report.residual,
    ),
    "missed": ("Solves above their tolerance", lambda report: report.missed),
    "overlap": ("How deep bodies lay in each other at most, in meters", lambda report: report.max_penetration),
    "opening": ("How far the widest joint is open, in meters", lambda report: report.joint_error),
    "contacts": ("Contacts of bodies that are awake", lambda report: report.contacts),
    "energy": (
        "Kinetic and potential energy of what moves, in joules",
        lambda report: report.kinetic_energy + report.potential_energy,
    ),
    "seconds": ("Time that the frame took to simulate", lambda report: sum(report.seconds.values())),
}


def write_curves(scene: bpy.types.Scene, frame_start: int, reports: "list[FrameReport]") -> bpy.types.Object:
    """Fill the scene's object of reports, or make it.

    Parameters
    ----------
    scene : bpy.types.Scene
    frame_start : int
        Of the bake: the first report is of the frame behind it.
    reports : list of FrameReport

    Returns
    -------
    bpy.types.Object
    """
    ob = _object_of(scene)
    frames = frame_start + np.array([report.frame for report in reports])
    bag = _bag_of(ob)
    for name, (_, value) in QUANTITIES.items():
        _make_way(ob, bag, name)
        values = np.array([value(report) for report in reports], np.float32)
        fcurves.write_linear(bag.fcurves.new(_path(name)), *fcurves.without_repeats(frames, values))
    return ob


def keep_curves(scene: bpy.types.Scene, action: bpy.types.Action) -> int:
    """Copy the curves of a scene's bake into a slot of another action; returns its handle, 0 if there are none."""
    ob = curves_of(scene)
    if ob is None:
        return 0
    slot = action.slots.new("OBJECT", ob.name)
    target = fcurves.channelbag(action, slot, ensure=True)
    for name in QUANTITIES:
        curve = _bag_of(ob).fcurves.find(_path(name))
        if curve is not None:
            fcurves.copy_curve(curve, target)
    return slot.handle


def bring_back(scene: bpy.types.Scene, kept) -> None:
    """Let a scene have the curves of another bake, given as channels; without any those it has are taken away."""
    if kept is None:
        remove_curves(scene)
        return
    ob = _object_of(scene)
    bag = _bag_of(ob)
    for name in QUANTITIES:
        _make_way(ob, bag, name)
        curve = kept.fcurves.find(_path(name))
        if curve is not None:
            fcurves.copy_curve(curve, bag)


def _object_of(scene):
    """The scene's object of reports; made if there is none."""
    ob = curves_of(scene)
    if ob is None:
        ob = bpy.data.objects.new(_NAME, None)
        ob[MARK], ob.empty_display_size = True, 0.1
        scene.collection.objects.link(ob)
    return ob


def _path(name):
    return f'["{name}"]'


def _make_way(ob, bag, name):
    """Give the object a property, without the curve that it has."""
    ob[name] = 0.0
    ob.id_properties_ui(name).update(description=QUANTITIES[name][0])
    curve = bag.fcurves.find(_path(name))
    if curve is not None:
        bag.fcurves.remove(curve)


def remove_curves(scene: bpy.types.Scene) -> None:
    """Take the curves away with their bake, and the object, too, where nobody has done anything to it."""
    ob = curves_of(scene)
    if ob is None:
        return
    bag = _bag_of(ob)
    action = _own_action(ob)
    for name in QUANTITIES:
        curve = bag.fcurves.find(_path(name))
        if curve is not None:
            bag.fcurves.remove(curve)
        if name in ob:
            del ob[name]
    if not (bag.fcurves or ob.children or ob.constraints or ob.animation_data.drivers or ob.animation_data.nla_tracks):
        bpy.data.objects.remove(ob)
        if action is not None and action.users == 0:
            bpy.data.actions.remove(action)


def curves_of(scene: bpy.types.Scene) -> bpy.types.Object | None:
    """The scene's object of reports, if it has one that can be written."""
    found = [ob for ob in scene.objects if ob.type == "EMPTY" and ob.get(MARK) and ob.is_editable]
    return found[0] if found else None


def _own_action(ob):
    """The action of the object's curves, if it is one that this file has made."""
    action = ob.animation_data.action if ob.animation_data else None
    return action if action is not None and action.get(MARK) else None


def _bag_of(ob):
    """The channels of the object; made if there are none."""
    data = ob.animation_data_create()
    if data.action is None:
        data.action = bpy.data.actions.new(_NAME)
        data.action[MARK] = True
    if data.action_slot is None:
        data.action_slot = data.action.slots.new("OBJECT", ob.name)
    return fcurves.channelbag(data.action, data.action_slot, ensure=True)
