"""What animates a data-block's properties, and its own values of those that nothing animates.

A property that is keyed or driven has the value of the frame that is shown. Its keys say what it is in all of them, so
what is compared later is these (``digests``), and of values those alone that stay (``still``).
"""

import functools
import zlib

from ..write import earlier_animation as earlier
from ..write import fcurves, impact_curves

_PLAIN = frozenset({str, int, float, bool, type(None)})
# A driver that asks for the present frame gives another value at each.
_FRAMES = ("frame_current", "frame_subframe", "frame_float")


class Keyed:
    """The keys, strips and drivers of a data-block, as they are without a bake.

    Parameters
    ----------
    owner : bpy.types.ID
    """

    def __init__(self, owner):
        self.data = getattr(owner, "animation_data", None)
        self.curves: dict = {}
        self._strips: list = []
        self._muted_by_bake: set = set()
        self.animated: set = set()  # of (path, index)
        if self.data is None:
            return
        self.curves = user_curves(owner)
        self._strips = [strip for track in self.data.nla_tracks if not track.mute for strip in _strips_of(track.strips)]
        self.animated |= self.curves.keys() | {fcurves.key_of(driver) for driver in self.data.drivers}
        for strip in self._strips:
            self.animated |= fcurves.curves_of(fcurves.channelbag(strip.action, strip.action_slot)).keys()
        if self.data.drivers:
            self._muted_by_bake = muted_by_bake(owner)

    def still(self, path, value):
        """A property's value as something that prints the same whenever it is the same; None where it is animated."""
        plain = plain_value(value)
        if not self.animated:
            return plain
        if isinstance(plain, list):
            return [None if (path, index) in self.animated else part for index, part in enumerate(plain)]
        return None if (path, 0) in self.animated else plain

    def digests(self, matters=lambda path: True) -> list:
        """What animates the properties whose path matters, as numbers and texts."""
        if self.data is None:
            return []
        found = [(key, fcurves.digest(curve)) for key, curve in sorted(self.curves.items()) if matters(key[0])]
        for strip in self._strips:
            found.append(_strip_digest(strip, matters))
        for driver in self.data.drivers:
            if matters(driver.data_path):
                found.append(_driver_digest(driver, fcurves.key_of(driver) in self._muted_by_bake))
        return found


def user_curves(owner) -> dict:
    """F-curves of a data-block as they are without a bake: those that a bake has copied may have been edited since."""
    data = owner.animation_data
    if data is None:
        return {}
    if not earlier.plays_bake_of(owner):
        return fcurves.curves_of(fcurves.channelbag(data.action, data.action_slot))
    mode = earlier.kept_rotation_mode(owner)
    own = fcurves.curves_of(fcurves.channelbag(*earlier.earlier_action(owner)))
    copied = fcurves.curves_of(fcurves.channelbag(data.action, data.action_slot))
    found = {key: curve for key, curve in own.items() if earlier.is_own(key[0], mode)}
    users = {key: curve for key, curve in copied.items() if not impact_curves.is_impact(key[0])}
    return found | {key: curve for key, curve in users.items() if not earlier.is_own(key[0], mode)}


def muted_by_bake(owner) -> set:
    """Names of constraints, and (path, index) of drivers, that a bake has muted: without it they act."""
    if not earlier.plays_bake_of(owner):
        return set()
    kept = earlier.Kept.read(owner)
    return {*kept.constraints, *map(tuple, kept.drivers)}


def driver_targets(data):
    """Data-blocks that drivers read."""
    for driver in data.drivers if data is not None else ():
        for variable in driver.driver.variables:
            yield from (target.id for target in variable.targets if target.id is not None)


def plain_value(value):
    """A setting's value as something that prints the same whenever it is the same."""
    if type(value) in _PLAIN:  # asked first: most are, and there are thousands
        return value
    if hasattr(value, "name_full"):
        return value.name_full
    if isinstance(value, set):
        return sorted(value)
    try:
        parts = list(value)
    except TypeError:
        return None
    return [part if type(part) in _PLAIN else plain_value(part) for part in parts]


@functools.lru_cache(maxsize=512)
def plain_names(kind) -> tuple[str, ...]:
    """Names of the properties of a type (of constraint, of modifier) that a user sets, but references."""
    left_out = {"name", "mute", "enabled", "active", "is_active", "persistent_uid", "execution_time"}
    return tuple(
        prop.identifier
        for prop in kind.bl_rna.properties
        if prop.type not in {"POINTER", "COLLECTION"}
        and not prop.is_readonly
        and prop.identifier not in left_out
        and not prop.identifier.startswith(("show_", "use_pin", "is_override"))
    )


@functools.lru_cache(maxsize=512)
def pointer_names(kind) -> tuple[str, ...]:
    """Names of the properties of a type that are references."""
    return tuple(prop.identifier for prop in kind.bl_rna.properties if prop.type == "POINTER")


def _strips_of(strips):
    for strip in strips:
        if strip.mute:
            continue
        if strip.action is not None:
            yield strip
        yield from _strips_of(strip.strips)


def _strip_digest(strip, matters):
    curves = fcurves.curves_of(fcurves.channelbag(strip.action, strip.action_slot))
    placed = [plain_value(getattr(strip, name)) for name in plain_names(type(strip)) if name != "select"]
    own = [fcurves.digest(curve) for curve in strip.fcurves]
    return placed, own, [(key, fcurves.digest(curve)) for key, curve in sorted(curves.items()) if matters(key[0])]


def _driver_digest(curve, muted_by_bake):
    driver = curve.driver
    variables = [
        (variable.name, variable.type, [_target_digest(variable, target) for target in variable.targets])
        for variable in driver.variables
    ]
    keys = zlib.crc32(repr([tuple(point.co) for point in curve.keyframe_points]).encode())
    mute = curve.mute and not muted_by_bake
    return fcurves.key_of(curve), mute, driver.type, driver.expression, variables, keys


def _target_digest(variable, target):
    if target.id is None:
        return None
    what = (target.data_path, target.bone_target, target.transform_type, target.transform_space, target.rotation_mode)
    value = None
    if variable.type == "SINGLE_PROP" and target.data_path and not target.data_path.startswith(_FRAMES):
        value = _value_at(target.id, target.data_path)
    return type(target.id).__name__, what, value


def _value_at(owner, path):
    """What a driver reads if nothing animates it; else its keys."""
    stem, _, index = path.partition("[")
    is_element = index[:-1].isdigit()
    keyed = Keyed(owner)
    names = {stem if is_element else path}
    if any(animated in names for animated, _ in keyed.animated):
        return [(key, fcurves.digest(curve)) for key, curve in sorted(keyed.curves.items()) if key[0] in names]
    try:
        return plain_value(owner.path_resolve(path))
    except ValueError:
        return None
