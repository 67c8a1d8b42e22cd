"""A bake's own channels apart from the bake: copied into a slot of another action, and made a bake's action again."""

from . import earlier_animation as earlier
from . import fcurves, impact_curves, keyframes


def keep(obj, action) -> tuple[int, str]:
    """Copy the channels that a bake has given an object into a new slot of an action.

    Returns
    -------
    slot : int
        Its handle.
    rotation_mode : str
        The mode that the channels are for.
    """
    mode = earlier.kept_rotation_mode(obj)
    slot = action.slots.new("OBJECT", obj.name)
    _copy(own_curves(obj).values(), fcurves.channelbag(action, slot, ensure=True))
    return slot.handle, mode


def own_curves(obj) -> dict:
    """The channels that its bake has given an object, by path and index."""
    data, mode = obj.animation_data, earlier.kept_rotation_mode(obj)
    curves = fcurves.curves_of(fcurves.channelbag(data.action, data.action_slot))
    return {key: curve for key, curve in curves.items() if _is_motion(key[0], mode)}


def is_same(obj, bag) -> bool:
    """Whether a baked object still has the channels that were kept in ``bag``, to the bit."""
    own, kept = own_curves(obj), fcurves.curves_of(bag)
    return own.keys() == kept.keys() and all(fcurves.is_same(own[key], kept[key]) for key in own)


def build(obj, bag):
    """An action for a bake of an object with the channels that were kept in ``bag``, and the user's others."""
    action, own = keyframes.new_action(obj)
    for curve in list(own.fcurves):
        if _is_motion(curve.data_path, obj.rotation_mode):
            own.fcurves.remove(curve)
    is_override = obj.override_library is not None  # which cannot be given a property
    _copy((curve for curve in bag.fcurves if not (is_override and impact_curves.is_impact(curve.data_path))), own)
    return action


def _is_motion(path, rotation_mode):
    return earlier.is_own(path, rotation_mode) or impact_curves.is_impact(path)


def _copy(curves, bag):
    group = fcurves.transform_group(bag)
    for curve in curves:
        copy = fcurves.copy_curve(curve, bag)
        if not impact_curves.is_impact(curve.data_path):
            copy.group = group
