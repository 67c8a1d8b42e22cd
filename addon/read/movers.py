"""What moves an object beside the simulation: its own channels, parents, constraints, drivers, and what deforms it.

``movers_of`` names the objects that have a hand in where an object is and what form it has; ``motion_numbers`` and
``shape_values`` say as numbers and values what they do. All is read as it lies there, whatever frame is shown.
"""

import zlib

import bpy
import numpy as np

from ..write import earlier_animation as earlier
from ..write import fcurves
from .activation import volume_of
from .keyed import Keyed, driver_targets, muted_by_bake, plain_names, pointer_names
from .scene_animation import CHANNELS_OF_LOOKS

_PLACES = ("location", "scale", "delta_location", "delta_scale")


def number_of(values) -> int:
    """A number that differs where values do."""
    return zlib.crc32(repr(values).encode())


def movers_of(ob):
    """Objects that something of an object's place or form is taken from."""
    for found in _references(ob):
        if isinstance(found, bpy.types.Object) and found != ob:
            yield found


def _references(ob):
    if ob.parent is not None:
        yield ob.parent
    if ob.rigid_body is not None or ob.rigid_body_constraint is not None:
        yield volume_of(ob)
    yield from driver_targets(ob.animation_data)
    for constraint in _constraints(ob):
        yield from _targets(constraint)
    for modifier in ob.modifiers:
        yield from (getattr(modifier, name) for name in pointer_names(type(modifier)))
        yield from (value for _, value in _inputs(modifier))
    for data in _data_blocks(ob):
        yield from driver_targets(data.animation_data)


def _constraints(ob):
    yield from ob.constraints
    for bone in ob.pose.bones if ob.pose is not None else ():
        yield from bone.constraints


def _targets(constraint):
    yield from (getattr(constraint, name) for name in pointer_names(type(constraint)))
    for entry in getattr(constraint, "targets", ()):
        yield entry.target


def _inputs(modifier):
    """What a geometry node modifier is given: (path below the modifier, value)."""
    if modifier.type != "NODES":
        return
    interface = getattr(modifier, "properties", None)
    if interface is None:  # in older versions of Blender they are custom properties
        yield from ((f'["{name}"]', value) for name, value in modifier.items())
        return
    for socket, given in _properties(interface.inputs):
        if isinstance(given, bpy.types.bpy_struct):
            yield from ((f".properties.inputs.{socket}.{name}", value) for name, value in _properties(given))


def _properties(owner):
    for prop in owner.bl_rna.properties:
        if prop.identifier != "rna_type":
            value = getattr(owner, prop.identifier)
            yield prop.identifier, tuple(value) if getattr(prop, "is_array", False) else value


def _data_blocks(ob):
    data = ob.data
    if data is not None and hasattr(data, "animation_data"):
        yield data
        keys = getattr(data, "shape_keys", None)
        if keys is not None:
            yield keys


def motion_numbers(ob, keyed: Keyed, known: dict) -> dict:
    """Where an object is before all animation, with the names of its movers, and what animates it.

    Parameters
    ----------
    ob : bpy.types.Object
    keyed : Keyed
        Of the object.
    known : dict
        Numbers of data-blocks that several objects share; written.
    """
    names = list(dict.fromkeys(mover.name for mover in movers_of(ob)))
    start = (_place(ob, keyed), constraint_values(ob, keyed), _pose(ob, keyed))
    animation = [keyed.digests(_matters), [_animation_of(data, known) for data in _data_blocks(ob)]]
    return {"start pose": [number_of(start), *names], "animation": number_of(animation)}


def _matters(path):
    return not path.startswith(CHANNELS_OF_LOOKS)


def _place(ob, keyed):
    """Channels that nothing animates; a bake's own bookkeeping says those of a baked object."""
    kept = earlier.Kept.read(ob) if ob.cairn.is_baked and earlier.owns_bake(ob) else None
    rotation = earlier.rotation_path(ob.rotation_mode)
    place = {path: list(getattr(ob, path)) for path in (*_PLACES, rotation)}
    place[f"delta_{rotation}"] = list(getattr(ob, f"delta_{rotation}", ()))
    if kept is not None:
        place["location"], place[rotation] = kept.location, kept.rotation
    values = [(path, keyed.still(path, value)) for path, value in place.items()]
    parent = ob.parent
    below = None
    if parent is not None:
        below = ob.parent_type, ob.parent_bone, [list(row) for row in ob.matrix_parent_inverse]
    return ob.rotation_mode, values, below


def constraint_values(owner, keyed: Keyed, prefix: str = "") -> list:
    """Settings of constraints, of an object or a bone; what a bake has muted counts as what it was."""
    muted = muted_by_bake(owner) if len(owner.constraints) else ()
    found = []
    for constraint in owner.constraints:
        path = f'{prefix}constraints["{bpy.utils.escape_identifier(constraint.name)}"].'
        values = [keyed.still(path + name, getattr(constraint, name)) for name in plain_names(type(constraint))]
        mute = constraint.mute and constraint.name not in muted
        found.append((constraint.type, keyed.still(f"{path}mute", mute), values))
        if constraint.type == "ACTION" and constraint.action is not None:
            found.append(_whole_action(constraint.action))
    return found


def _whole_action(action):
    bags = [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]
    return [(fcurves.key_of(curve), fcurves.digest(curve)) for bag in bags for curve in bag.fcurves]


def _pose(ob, keyed):
    """Bones of an armature: where they rest, the channels that nothing animates, and their constraints."""
    if ob.pose is None:
        return None
    found = []
    for bone in ob.pose.bones:
        prefix = f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"].'
        rotation = earlier.rotation_path(bone.rotation_mode)
        channels = [keyed.still(prefix + path, getattr(bone, path)) for path in ("location", rotation, "scale")]
        rest = [list(row) for row in bone.bone.matrix_local]
        parent = bone.parent.name if bone.parent is not None else None
        found.append((rest, parent, channels, constraint_values(bone, keyed, prefix)))
    return found


def shape_values(ob, keyed: Keyed, known: dict) -> list:
    """Coordinates and modifiers of an object."""
    modifiers = []
    for modifier in ob.modifiers:
        path = f'modifiers["{bpy.utils.escape_identifier(modifier.name)}"].'
        values = [keyed.still(path + name, getattr(modifier, name)) for name in plain_names(type(modifier))]
        inputs = [
            (name, keyed.still(f"{path[:-1]}{name}", _plain_value(value)))
            for name, value in _inputs(modifier)
            if not isinstance(value, bpy.types.Object)
        ]
        shown = keyed.still(f"{path}show_viewport", modifier.show_viewport)
        modifiers.append((modifier.type, shown, values, inputs))
    return [modifiers, _geometry(ob.data, known)]


def _plain_value(value):
    """A value whose text says what it is, in another session too: of a data-block its name, of a row its numbers."""
    if isinstance(value, bpy.types.ID):
        return value.name
    return value.to_list() if hasattr(value, "to_list") else value


def _animation_of(data, known):
    """What animates a mesh, a curve, an armature or shape keys, and the values of keys that nothing animates."""
    key = "animation", data.name_full, type(data).__name__
    if key not in known:
        keyed = Keyed(data)
        values = []
        if isinstance(data, bpy.types.Key):
            for block in data.key_blocks:
                path = f'key_blocks["{bpy.utils.escape_identifier(block.name)}"].'
                values.append([keyed.still(path + name, getattr(block, name)) for name in ("value", "mute")])
        known[key] = number_of((keyed.digests(), values))
    return known[key]


def _geometry(data, known):
    """Number of a data-block's coordinates and size, once for all objects that share it."""
    if data is None:
        return 0
    key = "geometry", data.name_full, type(data).__name__
    if key not in known:
        known[key] = number_of([zlib.crc32(points.tobytes()) for points in _coordinates(data)])
    return known[key]


def _coordinates(data):
    if isinstance(data, bpy.types.Mesh):
        yield _points(data.vertices, "co", 3)
        yield np.array([len(data.polygons)])
    elif isinstance(data, bpy.types.Curve):
        for spline in data.splines:
            if spline.type == "BEZIER":
                for name in ("co", "handle_left", "handle_right"):
                    yield _points(spline.bezier_points, name, 3)
            else:
                yield _points(spline.points, "co", 4)
    elif isinstance(data, bpy.types.Lattice):
        yield _points(data.points, "co_deform", 3)
    keys = getattr(data, "shape_keys", None)
    for block in keys.key_blocks if keys is not None and isinstance(data, bpy.types.Mesh) else ():
        yield _points(block.points if hasattr(block, "points") else block.data, "co", 3)


def _points(points, name, width):
    values = np.empty(width * len(points), np.float32)
    points.foreach_get(name, values)
    return values
