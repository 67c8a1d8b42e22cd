"""What a bake depends on, as a few numbers a body that are quick to compare: says whether and why it is out of date.

The fingerprint of an export is exact, but an export evaluates frames and reads every shape. Here only settings, keys
and coordinates are read, of the scene as it lies there: nothing is evaluated and nothing is changed. What constraints,
drivers and modifiers make of them is left out, so a change behind these is not noticed.
"""

import base64
import json
import zlib

import numpy as np

from ..settings import OPTION_NAMES, VARIANT_NAMES, BakeSettings
from ..write import earlier_animation as earlier
from ..write import fcurves

# Settings of a rigid body by the word that the panel has for a change of any of them.
_BODY_SETTINGS = {
    "type": ("type", "enabled", "kinematic"),
    "friction": ("friction",),
    "bounciness": ("restitution",),
    "mass": ("mass",),
    "damping": ("linear_damping", "angular_damping"),
    "deactivation": (
        "use_deactivation",
        "use_start_deactivated",
        "deactivate_linear_velocity",
        "deactivate_angular_velocity",
    ),
    "collision collections": ("collision_collections",),
}
_SHAPE_SETTINGS = ("collision_shape", "mesh_source", "use_margin", "collision_margin")
_PART_SETTINGS = ("concavity", "maximal_parts", "repair_resolution")
_PLACE_CHANNELS = ("location", "rotation_", "scale", "delta_")
_WORDS_OF_OPTIONS = {"method": "solver", "friction": "friction model", "max_iterations": "iterations", "threads": None}
# Phrases that name what has changed; the rest is counted.
_NAMED = 3


def scene_digest(scene) -> dict:
    """Numbers of everything that a bake depends on: {"scene": {word: number}, "bodies" and "joints": {name: {...}}}.

    Where a value names bodies, it is a list of its number and these names, so that a new name is no change.
    """
    collection = scene.cairn.world_collection or scene.rigidbody_world.collection
    bodies = [ob for ob in collection.all_objects if ob.rigid_body is not None] if collection is not None else []
    constraints = scene.rigidbody_world.constraints
    joints = [ob for ob in constraints.all_objects if ob.rigid_body_constraint is not None] if constraints else []
    meshes: dict[str, int] = {}
    return {
        "scene": _scene_numbers(scene),
        "bodies": {ob.name: _body_numbers(ob, meshes) for ob in bodies},
        "joints": {ob.name: {"settings": _joint_settings(ob)} for ob in joints},
    }


def packed(digest) -> str:
    """A digest as text that is short where bodies are alike."""
    return base64.b85encode(zlib.compress(json.dumps(digest).encode(), 6)).decode()


def unpacked(text) -> dict:
    return json.loads(zlib.decompress(base64.b85decode(text)))


def baked_digest(scene) -> dict:
    """The digest of a scene that has just been baked, with the names of what the bake has keyed."""
    return {**scene_digest(scene), "keyed": [ob.name for ob in earlier.baked_objects(scene)]}


def without_keys(before, scene) -> list[str]:
    """Change in words of what the bake has keyed and what has lost these keys: by Delete Bake in another scene, say."""
    names = [name for name in before.get("keyed", ()) if name in scene.objects]
    lost = [name for name in names if not earlier.plays_bake(scene.objects[name])]
    return [f"keys of {_counted(lost, 'bodies')}"] if lost else []


def changes(before, now) -> list[str]:
    """What differs between two digests, in words: "friction of 10 bodies", "3 new bodies", "substeps"."""
    found = [word for word in now["scene"] if before["scene"].get(word) != now["scene"][word]]
    names: dict[str, str] = {}  # present ones by those in ``before``
    for group, singular, plural in (("bodies", "body", "bodies"), ("joints", "joint", "joints")):
        old, new = before[group], now[group]
        renamed = _renamed(old, new, names)
        names.update(renamed)
        present = {renamed.get(name, name): numbers for name, numbers in old.items()}
        touched: dict[str, list[str]] = {}
        for name in new.keys() & present.keys():
            for word, value in new[name].items():
                if not _is_same(present[name].get(word), value, names):
                    touched.setdefault(word, []).append(name)
        found.extend(f"{word} of {_counted(touched[word], plural)}" for word in sorted(touched))
        for gone, text in ((new.keys() - present.keys(), "new"), (present.keys() - new.keys(), "removed")):
            if gone:
                found.append(f"{len(gone):,} {text} {singular if len(gone) == 1 else plural}")
    return found


def _renamed(old, new, names):
    """Bodies or joints that were given other names, {old name: new name}: nothing else has changed of them."""
    added, renamed = sorted(new.keys() - old.keys()), {}
    for name in sorted(old.keys() - new.keys()):
        words = old[name].keys()
        for other in added:
            if words == new[other].keys() and all(_is_same(old[name][word], new[other][word], names) for word in words):
                renamed[name] = other
                added.remove(other)
                break
    return renamed


def _is_same(before, now, names):
    """Whether two values of a digest agree: a number, or a number and the names of bodies, some of them renamed."""
    if isinstance(before, int) or isinstance(now, int) or before is None:
        return before == now
    return before[0] == now[0] and [names.get(name, name) for name in before[1:]] == now[1:]


def _counted(names, plural):
    return names[0] if len(names) == 1 else f"{len(names):,} {plural}"


def changes_sentence(found) -> str:
    """The changes in a line for the panel; empty without any."""
    if not found:
        return ""
    more = len(found) - _NAMED
    return "Out of date: " + ", ".join(found[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _number(values) -> int:
    return zlib.crc32(repr(values).encode())


def _plain(value):
    """A setting's value as something that prints the same whenever it is the same."""
    if hasattr(value, "name_full"):
        return value.name_full
    return value if isinstance(value, (str, int, float, bool, type(None))) else [_plain(part) for part in value]


def _settings(owner, names):
    return [_plain(getattr(owner, name)) for name in names]


def _scene_numbers(scene):
    world, settings = scene.rigidbody_world, BakeSettings.from_scene(scene)
    numbers = {}
    for name in OPTION_NAMES:
        word = None if name in VARIANT_NAMES else _WORDS_OF_OPTIONS.get(name, name)
        if word is not None:
            numbers[word] = _number(getattr(settings, name))
    variants = [(name, getattr(settings, name)) for name in VARIANT_NAMES if getattr(settings, name) is not None]
    if variants:
        numbers["solver"] = _number((settings.method, variants))
    start = world.point_cache.frame_start if settings.start is None else settings.start
    end = world.point_cache.frame_end if settings.end is None else settings.end
    numbers["range"] = _number((start, end))
    render, weights = scene.render, world.effector_weights
    gravity = (scene.use_gravity, list(scene.gravity), weights.gravity, weights.all)
    numbers["gravity"] = _number((gravity, _keys(_scene_curves(scene), ("gravity", "use_gravity"))))
    speed = (world.time_scale, render.fps, render.fps_base)
    numbers["speed"] = _number((speed, _keys(_scene_curves(scene), ("rigidbody_world", "render"))))
    return numbers


def _scene_curves(scene):
    data = scene.animation_data
    return {} if data is None else fcurves.curves_of(fcurves.channelbag(data.action, data.action_slot))


def _body_numbers(ob, meshes):
    body = ob.rigid_body
    curves = fcurves.curves_of(fcurves.channelbag(*earlier.earlier_action(ob)))
    numbers = {word: _number(_settings(body, names)) for word, names in _BODY_SETTINGS.items()}
    shape = [*_settings(body, _SHAPE_SETTINGS), *_settings(ob.cairn, _PART_SETTINGS)]
    modifiers = [(modifier.type, modifier.show_viewport) for modifier in ob.modifiers]
    numbers["shape"] = _number((shape, modifiers, _mesh_number(ob.data, meshes)))
    numbers["locked axes"] = _number((list(ob.lock_location), list(ob.lock_rotation)))
    numbers["start pose"] = [_number(_place(ob, curves)), *_carriers(ob)]
    numbers["animation"] = _number(_keys(curves, (*_PLACE_CHANNELS, "rigid_body")))
    return numbers


def _place(ob, curves):
    """Where an object is before all animation; a bake's own bookkeeping says it of a baked one."""
    data = ob.animation_data
    if data is not None and (data.drivers or any(track.strips for track in data.nla_tracks)):
        return None  # its channels are those of the present frame
    kept = earlier.Kept.read(ob) if ob.cairn.is_baked and earlier.owns_bake(ob) else None
    rotation = earlier.rotation_path(ob.rotation_mode)
    keyed = {path for path, _ in curves}
    place = {path: list(getattr(ob, path)) for path in ("location", rotation, "scale", "delta_location", "delta_scale")}
    if kept is not None:
        place["location"], place[rotation] = kept.location, kept.rotation
    place = [(path, values) for path, values in place.items() if path not in keyed]
    parent = ob.parent
    if parent is None:
        return place
    above = None
    if parent.rigid_body is None:
        above = _place(parent, fcurves.curves_of(fcurves.channelbag(*earlier.earlier_action(parent))))
    return place, [list(row) for row in ob.matrix_parent_inverse], above


def _carriers(ob):
    """The next parent that is a body, which has numbers of its own: its name, if there is one."""
    parent = ob.parent
    while parent is not None and parent.rigid_body is None:
        parent = parent.parent
    return [] if parent is None else [parent.name]


def _keys(curves, prefixes):
    """Digests of the curves whose path begins with one of some words."""
    return [(key, fcurves.digest(curves[key])) for key in sorted(curves) if key[0].startswith(prefixes)]


def _mesh_number(mesh, known):
    """Number of a mesh's coordinates and size, once for all bodies that share it."""
    if mesh is None or not hasattr(mesh, "vertices"):
        return 0
    if mesh.name_full not in known:
        points = np.empty(3 * len(mesh.vertices), np.float32)
        mesh.vertices.foreach_get("co", points)
        known[mesh.name_full] = zlib.crc32(points.tobytes(), len(mesh.polygons))
    return known[mesh.name_full]


def _joint_settings(ob):
    """Number of a joint's settings, and the names of the objects that they name."""
    constraint, extras = ob.rigid_body_constraint, ob.cairn.joint
    values, names = [], []
    for owner in (constraint, extras):
        for prop in owner.bl_rna.properties:
            value = getattr(owner, prop.identifier)
            if prop.type == "POINTER":
                names.append(value.name if value is not None and prop.identifier != "rna_type" else "")
            else:
                values.append(_plain(value))
    curves = fcurves.curves_of(fcurves.channelbag(*earlier.earlier_action(ob)))
    number = _number((values, _place(ob, curves), _keys(curves, (*_PLACE_CHANNELS, "rigid_body_constraint", "cairn"))))
    return [number, *names, *_carriers(ob)]
