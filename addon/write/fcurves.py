"""F-curves in bulk, on Blender 4.5 to 5.2: channel bags, keys as arrays, copies, and what tells two curves apart.

Keys are moved with ``foreach_get`` and ``foreach_set``, because ``keyframe_insert`` takes ten times as long.
"""

import dataclasses
import functools
import hashlib

import numpy as np

# Enumerations as integers, since ``foreach_set`` knows no names.
CONSTANT, LINEAR, BEZIER = 0, 1, 2
FREE, VECTOR = 0, 2

# Blender's own group for these channels in the dope sheet.
GROUP = "Object Transforms"

KEY_FIELDS = {
    "co": (2, np.float32),
    "handle_left": (2, np.float32),
    "handle_right": (2, np.float32),
    "interpolation": (1, np.int32),
    "handle_left_type": (1, np.int32),
    "handle_right_type": (1, np.int32),
    "easing": (1, np.int32),
    "type": (1, np.int32),
    "back": (1, np.float32),
    "amplitude": (1, np.float32),
    "period": (1, np.float32),
}
CURVE_FIELDS = ("extrapolation", "color_mode", "color", "mute", "lock", "hide", "auto_smoothing")


def channelbag(action, slot, *, ensure=False):
    """The channels of one slot of an action; None if there are none and ``ensure`` is off."""
    if action is None or slot is None:
        return None
    if not ensure:
        bags = (strip.channelbag(slot) for layer in action.layers for strip in layer.strips)
        return next((bag for bag in bags if bag is not None), None)
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(slot, ensure=True)


def find_slot(action, handle):
    """The slot of an action that has this handle, or None."""
    return None if action is None else next((slot for slot in action.slots if slot.handle == handle), None)


def key_of(curve):
    """Path and index, which name a curve within a channel bag."""
    return curve.data_path, curve.array_index


def curves_of(bag):
    """Curves of a channel bag (or of none) by path and index."""
    return {} if bag is None else {key_of(curve): curve for curve in bag.fcurves}


@dataclasses.dataclass
class Keys:
    """The keys of a curve: one array a field, a row a key."""

    fields: dict

    @classmethod
    def of(cls, curve):
        """Read a curve's keys."""
        points = curve.keyframe_points
        fields = {}
        for name, (width, dtype) in KEY_FIELDS.items():
            values = np.empty(len(points) * width, dtype)
            points.foreach_get(name, values)
            fields[name] = values.reshape(-1, width)
        return cls(fields)

    @classmethod
    def linear(cls, frames, values):
        """Keys that are joined by straight lines; handles are Blender's to compute."""
        count = len(frames)
        fields = {name: np.zeros((count, width), dtype) for name, (width, dtype) in KEY_FIELDS.items()}
        fields["co"][:] = np.column_stack([frames, values])
        fields["interpolation"][:] = LINEAR
        fields["handle_left_type"][:] = fields["handle_right_type"][:] = VECTOR
        return cls(fields)

    def __len__(self):
        return len(self.fields["co"])

    def __add__(self, other):
        return Keys({name: np.concatenate([self.fields[name], other.fields[name]]) for name in KEY_FIELDS})

    def rows(self, start, end):
        """Keys ``start`` to ``end`` - 1."""
        return Keys({name: values[start:end].copy() for name, values in self.fields.items()})

    def write(self, curve):
        """Make these the curve's only keys."""
        points = curve.keyframe_points
        points.clear()
        points.add(len(self))
        for name, values in self.fields.items():
            points.foreach_set(name, values.ravel())
        curve.update()


def without_repeats(frames, values):
    """Keys without those that repeat both neighbours to the bit: straight lines between the others pass through them.

    Returns
    -------
    frames, values : array [n], float32 [n]
    """
    frames, values = np.asarray(frames), np.asarray(values, np.float32)
    bits = values.view(np.int32)
    same = bits[1:] == bits[:-1]
    if not same.any():
        return frames, values
    repeats = np.zeros(len(bits), bool)
    repeats[1:-1] = same[:-1] & same[1:]
    repeats &= bits != np.iinfo(np.int32).min  # between two keys of -0 a curve gives 0
    return frames[~repeats], values[~repeats]


def write_linear(curve, frames, values):
    """Keys joined by straight lines, with as few calls as possible: this is what a bake spends its writing on."""
    count = len(frames)
    points = curve.keyframe_points
    points.add(count)
    coordinates = np.empty((count, 2), np.float32)
    coordinates[:, 0] = frames
    coordinates[:, 1] = values
    points.foreach_set("co", coordinates.ravel())
    points.foreach_set("interpolation", _constant(count, LINEAR))
    points.foreach_set("handle_left_type", _constant(count, VECTOR))
    points.foreach_set("handle_right_type", _constant(count, VECTOR))
    curve.update()


@functools.lru_cache(maxsize=16)
def _constant(count, value):
    return np.full(count, value, np.int32)


def new_curve(bag, path, index, group):
    """Add a curve to a channel bag, in the group of object transforms."""
    curve = bag.fcurves.new(path, index=index)
    curve.group = group
    return curve


def transform_group(bag):
    """The channel group of object transforms."""
    return bag.groups.get(GROUP) or bag.groups.new(GROUP)


def is_plain(curve):
    """Whether the curve's keys alone say what it does before its last key."""
    return (
        len(curve.modifiers) == 0
        and curve.extrapolation == "CONSTANT"
        and len(curve.sampled_points) == 0
        and len(curve.keyframe_points) > 0
    )


def cut_before(curve, frame):
    """The keys of a plain curve before ``frame``, and the handle with which it arrives there.

    Returns
    -------
    lead : Keys
        Keys whose curve up to ``frame`` runs as it did, if a key with the curve's value follows there.
    handle : array [2] or None
        Left handle, relative to its key, that the key at ``frame`` needs; None if it needs none.
    """
    keys = Keys.of(curve)
    times = keys.fields["co"][:, 0]
    count = int(np.searchsorted(times, frame - 1e-3))
    lead = keys.rows(0, count)
    # Automatic handles depend on all neighbours, which change; free ones stay where they are.
    lead.fields["handle_left_type"][:] = lead.fields["handle_right_type"][:] = FREE
    if count == 0:
        return lead, None
    if count == len(keys):  # the last key holds
        lead.fields["interpolation"][-1] = CONSTANT
        return lead, None
    interpolation = int(keys.fields["interpolation"][count - 1, 0])
    if interpolation in (CONSTANT, LINEAR):
        return lead, None
    if interpolation != BEZIER:  # an easing: no part of it is an easing of its own
        return lead + _sampled(curve, times[count - 1], frame, lead), None

    points = np.array(
        [
            keys.fields["co"][count - 1],
            keys.fields["handle_right"][count - 1],
            keys.fields["handle_left"][count],
            keys.fields["co"][count],
        ],
        float,
    )
    right, arriving = split_bezier(_without_overlap(points), frame)
    lead.fields["handle_right"][-1] = right
    return lead, arriving


def _sampled(curve, last, frame, lead):
    """Keys at whole frames after ``last`` and before ``frame``; the key at ``last`` becomes linear."""
    lead.fields["interpolation"][-1] = LINEAR
    frames = np.arange(np.floor(last) + 1, frame)
    return Keys.linear(frames, [curve.evaluate(float(at)) for at in frames])


def _without_overlap(points):
    """Shorten handles that reach beyond the other key, as Blender does before it evaluates a segment."""
    length = points[3, 0] - points[0, 0]
    points = points.copy()
    for key, handle in ((0, 1), (3, 2)):
        reach = abs(points[handle, 0] - points[key, 0])
        if reach > length:
            points[handle] = points[key] + (points[handle] - points[key]) * (length / reach)
    return points


def split_bezier(points, frame):
    """Cut a curve segment at ``frame`` (de Casteljau).

    Parameters
    ----------
    points : array [4, 2]
        Key, its right handle, the next key's left handle, the next key; frames grow from key to key.

    Returns
    -------
    right : array [2]
        The first key's right handle after the cut.
    arriving : array [2]
        The left handle at the cut, relative to the point there.
    """
    low, high = 0.0, 1.0
    for _ in range(60):  # x(t) grows, so halving finds t
        t = 0.5 * (low + high)
        x = (1 - t) ** 3 * points[0, 0] + 3 * (1 - t) ** 2 * t * points[1, 0]
        x += 3 * (1 - t) * t**2 * points[2, 0] + t**3 * points[3, 0]
        low, high = (t, high) if x < frame else (low, t)
    once = points[:-1] + t * np.diff(points, axis=0)
    twice = once[:-1] + t * np.diff(once, axis=0)
    cut = twice[0] + t * (twice[1] - twice[0])
    return once[0], twice[0] - cut


def values_at(curve, frames):
    """The curve's values at frames."""
    return np.array([curve.evaluate(float(frame)) for frame in frames])


def copy_curve(source, bag):
    """Copy a curve into a channel bag that has none of its path and index."""
    if hasattr(bag.fcurves, "new_from_fcurve"):  # 5.0 and later
        return bag.fcurves.new_from_fcurve(source)
    curve = bag.fcurves.new(source.data_path, index=source.array_index)
    if source.group is not None:
        curve.group = bag.groups.get(source.group.name) or bag.groups.new(source.group.name)
    for name in CURVE_FIELDS:
        setattr(curve, name, getattr(source, name))
    for modifier in source.modifiers:
        _copy_modifier(modifier, curve.modifiers.new(modifier.type))
    if len(source.sampled_points):
        samples = np.array([point.co[:] for point in source.sampled_points])
        write_linear(curve, samples[:, 0], samples[:, 1])
    else:
        Keys.of(source).write(curve)
    return curve


def _copy_modifier(source, target):
    if source.type == "ENVELOPE":
        for point in source.control_points:
            copy = target.control_points.add(point.frame)
            copy.min, copy.max = point.min, point.max
    for name, value in _settings(source):
        if not target.is_property_readonly(name):
            setattr(target, name, value)


def _settings(struct):
    """Names and values of a struct's own plain properties."""
    for prop in struct.bl_rna.properties:
        if prop.type not in {"POINTER", "COLLECTION"}:
            value = getattr(struct, prop.identifier)
            yield prop.identifier, tuple(value) if getattr(prop, "is_array", False) else value


def digest(curve):
    """Hash of all that a curve does, to see later whether somebody has edited it."""
    content = hashlib.sha256()
    for values in Keys.of(curve).fields.values():
        content.update(values.tobytes())
    for point in curve.sampled_points:
        content.update(np.array(point.co[:]).tobytes())
    texts = [getattr(curve, name) for name in ("extrapolation", "mute", "auto_smoothing")]
    texts += [sorted(_settings(modifier)) for modifier in curve.modifiers]
    content.update(repr(texts).encode())
    return content.hexdigest()[:16]


def is_same(first, second) -> bool:
    """Whether two curves do the same between keys, to the bit: quicker than ``digest``, which looks at handles, too.

    These are compared where a key is not joined to the next by a straight line.
    """
    if len(first.keyframe_points) != len(second.keyframe_points) or len(first.modifiers) or len(second.modifiers):
        return digest(first) == digest(second)
    if (first.extrapolation, first.mute) != (second.extrapolation, second.mute):
        return False
    names = ["interpolation", "co"]
    interpolation = _field(first, "interpolation")
    if (interpolation != LINEAR).any():
        names += [name for name in KEY_FIELDS if name not in names]
    return all(np.array_equal(_field(first, name), _field(second, name)) for name in names)


def _field(curve, name):
    width, dtype = KEY_FIELDS[name]
    values = np.empty(len(curve.keyframe_points) * width, dtype)
    curve.keyframe_points.foreach_get(name, values)
    return values
