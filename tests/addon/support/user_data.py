"""All that a file holds of its user's, to compare before and after."""

import math
import warnings

import bpy

# What says nothing of the user's: counters, what follows from the rest, Blender's own links, and what is on the screen.
_LEFT_OUT = {
    "rna_type", "bl_rna", "session_uid", "users", "is_evaluated", "original", "tag", "is_updated", "is_updated_data",
    "matrix_world", "matrix_local", "matrix_basis", "bound_box", "dimensions", "depsgraph", "cycles", "cairn",
    "preview", "id_type", "node_previews", "icon_id", "statistics", "is_valid", "view_center", "is_icon_custom",
    "runtime_data", "storage_type", "last_slot_identifier",
    "override_library",
    "all_objects", "all_strips", "channels", "fcurves", "point_caches", "info", "active_section",
}  # fmt: skip
# Collections of data-blocks whose members are looked at.
_KINDS = ("scenes", "objects", "actions", "collections", "meshes", "curves", "armatures", "worlds", "texts", "cameras")
_DEEPEST = 7


def user_data():
    """Everything that RNA says of the file's data-blocks, {path: value}; ``cairn``, which a bake keeps, is left out.

    A world that waits for its first frame, off, counts as on.
    """
    found = {}
    for kind in _KINDS:
        for block in getattr(bpy.data, kind):
            _collect(found, f"{kind}[{block.name_full!r}]", block, 0)
    for scene in bpy.data.scenes:
        if scene.cairn.world_waits:
            found[f"scenes[{scene.name_full!r}].rigidbody_world.enabled"] = True
    return found


def differences(before, after):
    """Paths whose values differ, with both values."""
    return {
        path: (before.get(path, "not there"), after.get(path, "not there"))
        for path in before.keys() | after.keys()
        if not _same(before.get(path, "not there"), after.get(path, "not there"))
    }


def _same(first, second):
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(_same, first, second))
    both_nan = isinstance(first, float) and isinstance(second, float) and math.isnan(first) and math.isnan(second)
    return both_nan or first == second


def _collect(found, path, owner, depth):
    for name in _custom(owner):
        found[f"{path}[{name!r}]"] = _plain(owner[name])
    for prop in owner.bl_rna.properties:
        name = prop.identifier
        if name in _LEFT_OUT or name.startswith("bl_"):
            continue
        try:
            with warnings.catch_warnings():  # what goes in a later Blender is the user's now
                warnings.simplefilter("ignore", DeprecationWarning)
                value = getattr(owner, name)
        except (AttributeError, RuntimeError, ValueError, UnicodeDecodeError):
            continue
        _note(found, f"{path}.{name}", prop, value, depth)


def _plain(value):
    return value.to_dict() if hasattr(value, "to_dict") else list(value) if hasattr(value, "to_list") else value


def _custom(owner):
    try:
        return [name for name in owner.keys() if name not in {"cycles", "cairn"}]  # noqa: SIM118 - no mapping
    except (TypeError, AttributeError):
        return []


def _note(found, path, prop, value, depth):
    if prop.type == "POINTER":
        if value is None or isinstance(value, bpy.types.ID):
            found[path] = value and value.name_full
            is_embedded = path.endswith((".node_tree", ".shape_keys")) or (
                path.count(".") == 1 and ".collection" in path
            )
            if value is not None and is_embedded and depth < _DEEPEST:
                _collect(found, path, value, depth + 1)
        elif depth < _DEEPEST:
            found[path] = "there"
            _collect(found, path, value, depth + 1)
    elif prop.type == "COLLECTION":
        found[f"{path}#"] = len(value)
        for index, entry in enumerate(value):
            if isinstance(entry, bpy.types.ID):
                found[f"{path}[{index}]"] = entry.name_full
            elif entry is not None and depth < _DEEPEST:
                _collect(found, f"{path}[{index}]", entry, depth + 1)
    elif prop.type != "STRING" and getattr(prop, "is_array", False):
        found[path] = [list(part) if hasattr(part, "__len__") else part for part in value]
    else:
        found[path] = value
