"""The properties that can be varied: those of the panel, of rigid bodies, and whatever an object or a scene holds."""

import contextlib
import difflib
import math
import re
import zlib

import bpy
import numpy as np

from ..read.faults import SceneError
from ..read.glue_bonds import is_glue
from ..read.scene_animation import animated_paths

# Names on the command line that the panel's properties do not have themselves.
_PANEL_NAMES = {"solver": "method", "friction_model": "friction"}
# Of all bodies: of their shapes, of what wakes them, and of what leads them, in the panels of a rigid body.
_BODY_NAMES = (
    *("concavity", "maximal_parts", "repair_resolution", "activation_impulse", "activation_frame"),
    *("follow", "follow_frequency", "follow_damping", "follow_force", "follow_torque"),
)
# Of the panel, but of no use here.
_NOT_VARIED = {
    "seed": "random starts are --seeds N --jitter X; that of the solver's strategy is scene:cairn.seed",
    "threads": "it does not change the motion, and the variants share the cores",
    "use_checkpoints": "each variant has them",
    **dict.fromkeys(("contact_points", "impact_curves", "report_curves", "overlay"), "it changes no motion"),
}
_OWN_RANGE = ("frame_start", "frame_end")
_LAST = re.compile(
    r"""(?P<owner>.*?)(?:\.?(?P<name>\w+)|\[(?P<index>\d+)\]|\[(?P<quote>["'])(?P<key>.*)(?P=quote)\])$"""
)
# Single precision.
_RATIO_SAME = 1e-6
# What was set while values are only tried, to be put back; None else.
_tried: list | None = None


def set_properties(scene, values: dict) -> None:
    """Set all that a variant varies: first what is of all bodies, so that what is of one object stays.

    Raises
    ------
    SceneError
    """
    for name, value in sorted(values.items(), key=lambda item: item[0].startswith("object:")):
        set_property(scene, name, value)


def try_properties(scene, values: dict) -> None:
    """Set all that a variant varies as a trial, and put it back: raises what ``set_properties`` would."""
    global _tried
    _tried = []
    try:
        set_properties(scene, values)
    finally:
        tried, _tried = _tried, None
        for holder, parts, before in reversed(tried):
            with contextlib.suppress(ValueError, TypeError, AttributeError, KeyError, IndexError):
                _write(holder, parts, before)


def set_property(scene, name: str, value) -> None:
    """Set what ``--vary`` names to a value.

    Parameters
    ----------
    scene : bpy.types.Scene
    name : str
        "solver", "substeps" and others of the panel; "friction", "mass" and others of all rigid bodies;
        "object:NAME.PROPERTY", "world:PROPERTY" or "scene:PROPERTY", where it may be a path.
    value : float, int or str

    Raises
    ------
    SceneError
        There is no such property, it is keyed, or it cannot have this value.
    """
    prefix, colon, rest = name.partition(":")
    if colon and prefix == "object":
        _set_of_object(scene, name, rest, value)
    elif colon and prefix == "world":
        _set(scene.rigidbody_world, rest, value, name, scene, "rigidbody_world.")
    elif colon and prefix == "scene":
        _set(scene, rest, value, name, scene, "")
    elif name == "friction" and isinstance(value, str):
        _set(scene.cairn, "friction", value, name, scene, "cairn.")
    elif _holds(bpy.types.RigidBodyObject, name):
        for ob in rigid_bodies(scene):
            _set(ob.rigid_body, name, value, f"{name} of {ob.name}", ob, "rigid_body.")
    elif name in _BODY_NAMES:
        for ob in rigid_bodies(scene):
            _set(ob.cairn, name, value, f"{name} of {ob.name}", ob, "cairn.")
    elif _holds(scene.cairn, _PANEL_NAMES.get(name, name)):
        _set_of_panel(scene, name, value)
    else:
        known = [*_shown(bpy.types.RigidBodyObject), *_shown(scene.cairn), *_PANEL_NAMES, *_BODY_NAMES]
        raise SceneError(
            None,
            f"there is no property {name!r} to vary{_meant(name, known)}; there are those of the panel, those of rigid "
            "bodies, and object:NAME.PROPERTY, world:PROPERTY and scene:PROPERTY",
        )


def _holds(owner, path) -> bool:
    """Whether a path begins with a property of this owner that its panel shows."""
    found = owner.bl_rna.properties.get(re.split(r"[.\[]", path, maxsplit=1)[0])
    return found is not None and not found.is_hidden and found.identifier not in {"name", "rna_type"}


def _shown(owner) -> list[str]:
    """Names of the properties that an owner's panel shows."""
    return [found.identifier for found in owner.bl_rna.properties if _holds(owner, found.identifier)]


def _meant(name, known) -> str:
    """A hint at the nearest of some names; empty where none is near."""
    near = difflib.get_close_matches(name, known, n=1)
    return f", perhaps {near[0]!r}" if near else ""


def _set_of_panel(scene, name, value):
    if name in _NOT_VARIED:
        raise SceneError(None, f"{name} is not varied: {_NOT_VARIED[name]}")
    if name in _OWN_RANGE and not scene.cairn.use_custom_range:
        raise SceneError(None, f"{name} is not used in this scene; vary use_custom_range=on before it, too")
    _set(scene.cairn, _PANEL_NAMES.get(name, name), value, name, scene, "cairn.")


def rigid_bodies(scene) -> list:
    """Objects of the rigid body world."""
    world = scene.rigidbody_world
    collection = world.collection if world is not None else None
    return [ob for ob in collection.all_objects if ob.rigid_body is not None] if collection else []


def jitter(scene, seed: int, farthest: float) -> None:
    """Move the starts of active bodies by up to ``farthest`` [m], each in a direction of its own.

    Bodies whose place is keyed, driven, or held by constraints stay where these say. Parents are taken as they are at
    the first frame, where Blender's own simulation has moved nothing: whatever frame is shown, a seed gives one start.
    """
    shown, panel, cache = scene.frame_current, scene.cairn, scene.rigidbody_world.point_cache
    scene.frame_set(panel.frame_start if panel.use_custom_range else cache.frame_start)
    for ob in rigid_bodies(scene):
        paths = animated_paths(ob)
        held = "*" in paths or "location" in paths or any(not constraint.mute for constraint in ob.constraints)
        if ob.rigid_body.type != "ACTIVE" or held or not ob.is_editable:
            continue
        random = np.random.default_rng([seed, zlib.crc32(ob.name.encode())])
        direction = random.normal(size=3)
        offset = farthest * random.random() ** (1 / 3) * direction / np.linalg.norm(direction)
        if ob.parent is not None:
            outer = np.array(ob.matrix_world, float) @ np.linalg.inv(np.array(ob.matrix_basis, float))
            offset = np.linalg.solve(outer[:3, :3], offset)
        ob.location = np.array(ob.location, float) + offset
    scene.frame_set(shown)


def _set_of_object(scene, full_name, rest, value):
    """An object's name may itself hold points: the longest one that there is counts."""
    names = [rest[:place] for place, letter in enumerate(rest) if letter in ".["]
    ob = next((scene.objects[name] for name in reversed(names) if name in scene.objects), None)
    if ob is None:
        meant = _meant(rest.rpartition(".")[0] or rest, list(scene.objects.keys()))
        raise SceneError(None, f"{full_name}: there is no such object in the scene{meant}")
    path = rest[len(ob.name) :].removeprefix(".")
    for holder in ("rigid_body", "rigid_body_constraint"):
        owner = getattr(ob, holder)
        if owner is not None and _holds(owner, path):
            return _set(owner, path, value, full_name, ob, f"{holder}.")
    if path in _BODY_NAMES and (ob.rigid_body is not None or ob.rigid_body_constraint is not None):
        return _set(ob.cairn, path, value, full_name, ob, "cairn.")
    if ob.rigid_body_constraint is not None and _holds(ob.cairn.joint, path):
        return _set(ob.cairn.joint, path, value, full_name, ob, "cairn.joint.")
    if is_glue(ob) and _holds(ob.cairn.glue, path):
        return _set(ob.cairn.glue, path, value, full_name, ob, "cairn.glue.")
    if path == "name":
        raise SceneError(None, f"{full_name}: a name does not move anything")
    return _set(ob, path, value, full_name, ob, "")


def _set(owner, path, value, name, block, prefix):
    """Set a property by its path below ``owner``, and look whether it has the value then."""
    parts = _LAST.match(path)
    if parts is None:
        raise SceneError(None, f"{name}: {path!r} is no property")
    keyed = animated_paths(block)
    whole = prefix + path
    if "*" in keyed or any(whole == curve or whole.startswith((f"{curve}.", f"{curve}[")) for curve in keyed):
        raise SceneError(None, f"{name}: it is keyed or driven, which would win; remove its keys to vary it")
    try:
        holder = owner.path_resolve(parts["owner"]) if parts["owner"] else owner
        missing = parts["name"] and hasattr(holder, "bl_rna") and not hasattr(holder, parts["name"])
        if missing and (meant := _meant(parts["name"], _names_of(owner, holder, block))):
            raise SceneError(None, f"{name}: there is no property {parts['name']!r}{meant}")
        read = _write(holder, parts, value)
    except SceneError:  # says it all
        raise
    except (ValueError, TypeError, AttributeError, KeyError, IndexError) as error:
        reason = " ".join(str(error).split()).removeprefix("bpy_struct: item.attr = val: ")
        raise SceneError(None, f"{name}: it cannot be {value!r} ({reason})") from error
    if not _is_same(read, value):
        raise SceneError(None, f"{name}: it cannot be {value!r}; the nearest that it can be is {read!r}")


def _names_of(owner, holder, block):
    """Names that may be meant: those of an owner, and of the body or joint where it is the object itself."""
    names = list(holder.bl_rna.properties.keys())
    for part in ("rigid_body", "rigid_body_constraint"):
        if owner == block and getattr(block, part, None) is not None:
            names += _shown(getattr(block, part))
    return names


def _write(holder, parts, value):
    if parts["name"]:
        before = getattr(holder, parts["name"])
        _note_tried(holder, parts, before)
        _check_range(holder, parts["name"], value)
        setattr(holder, parts["name"], _of_kind(before, value))
        return getattr(holder, parts["name"])
    place = int(parts["index"]) if parts["index"] else parts["key"]
    _note_tried(holder, parts, holder[place])
    holder[place] = _of_kind(holder[place], value)
    return holder[place]


def _note_tried(holder, parts, before):
    if _tried is not None:
        _tried.append((holder, parts, before))


def _check_range(holder, name, value):
    """Blender does not keep all properties in their range when they are set."""
    kind = holder.bl_rna.properties.get(name) if hasattr(holder, "bl_rna") else None
    if kind is None or kind.type not in {"INT", "FLOAT"} or not isinstance(value, (int, float)):
        return
    if not kind.hard_min <= value <= kind.hard_max:
        raise ValueError(f"it must be from {kind.hard_min:g} to {kind.hard_max:g}")


def _of_kind(before, value):
    """A value as the kind that the property has; words for on and off."""
    if isinstance(before, bool):
        words = {
            "true": True,
            "on": True,
            "yes": True,
            "false": False,
            "off": False,
            "no": False,
            "1": True,
            "0": False,
        }
        if str(value).lower() not in words:
            raise ValueError("it is on or off")
        return words[str(value).lower()]
    if isinstance(before, float) and isinstance(value, int):
        return float(value)
    if isinstance(before, int) and isinstance(value, float):
        if not value.is_integer():
            raise ValueError("it is a whole number")
        return int(value)
    return value


def _is_same(read, value):
    if isinstance(read, bool):
        return True
    if isinstance(read, (int, float)):
        return isinstance(value, (int, float)) and math.isclose(read, value, rel_tol=_RATIO_SAME, abs_tol=1e-30)
    return read == value
