"""The digest of a scene, kept from look to look: only what has changed meanwhile is read anew, a piece at a time.

Blender says which data-blocks were changed. Between two pieces only names and numbers are held, never references to
Blender's data, and whoever works through the pieces begins again after a change.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import bpy

from ..read import scene_digest
from ..read.force_fields import field_objects
from ..read.keyed import driver_targets, pointer_names
from ..read.movers import movers_of

# Objects that have not changed are this many a step.
_KEPT_A_STEP = 50


@dataclass(frozen=True)
class _Entry:
    """What is kept of an object: its numbers, its movers, and by their session's numbers what these were read from.

    Blender does not tell of Cairn's own settings if a script has changed them, nor whoever refers to an object that it
    has another name: these (``own``) are compared.
    """

    numbers: dict
    movers: tuple[tuple[str, str | None], ...]
    sources: frozenset[int]
    own: tuple


_READERS = {
    "bodies": scene_digest.body_numbers,
    "joints": scene_digest.joint_numbers,
    "movers": scene_digest.mover_numbers,
}


class KeptDigest:
    """Digests of the scenes that windows show."""

    def __init__(self):
        self._entries: dict[tuple, _Entry] = {}
        self._touched: set[int] = set()

    def forget(self) -> None:
        """Read all anew: after Undo and after opening a file nothing is what it was."""
        self._entries.clear()
        self._touched.clear()

    def note(self, depsgraph) -> None:
        """Note what Blender says that has changed."""
        self._touched.update(update.id.original.session_uid for update in depsgraph.updates)

    def steps(self, scene_name: str) -> Iterator[dict | None]:
        """Read what has changed, an object a step; the last step gives the digest."""
        self._drop_touched()
        known: dict = {}
        scene = bpy.data.scenes[scene_name]
        groups = zip(("bodies", "joints"), scene_digest.bodies_and_joints(scene), strict=True)
        waiting = [(group, _name_of(ob)) for group, objects in groups for ob in objects]
        order = {group: [name[0] for of, name in waiting if of == group] for group in ("bodies", "joints")}
        named = {name for _, name in waiting}
        digest: dict = {"scene": scene_digest.scene_numbers(scene), "movers": {}, "bodies": {}, "joints": {}}
        fields = {_name_of(ob): None for ob in field_objects(scene)}
        waiting += [("movers", name) for name in fields if name not in named]
        seen = set(waiting)
        kept = {}
        while waiting:
            if len(kept) % _KEPT_A_STEP == 0:
                yield None
            group, name = key = waiting.pop()
            ob = bpy.data.objects.get(name)
            if ob is None:  # gone; its removal is a change, after which this begins again
                continue
            entry = self._entries.get(key)
            if entry is None or entry.own != _own_settings(group, ob):
                # kept at once: who begins again after a change goes on from here
                entry = self._entries[key] = _read(group, ob, known)
                yield None
            kept[key] = entry
            digest[group][name[0]] = entry.numbers
            for mover in entry.movers:
                if mover not in named and ("movers", mover) not in seen:
                    seen.add(("movers", mover))
                    waiting.append(("movers", mover))
        for group, names in order.items():
            digest[group] = {name: digest[group][name] for name in names if name in digest[group]}
        digest["movers"] = dict(sorted(digest["movers"].items()))
        yield digest

    def _drop_touched(self):
        touched, self._touched = self._touched, set()
        if touched:
            self._entries = {key: entry for key, entry in self._entries.items() if entry.sources.isdisjoint(touched)}


def _name_of(ob):
    return ob.name, ob.library.filepath if ob.library is not None else None


def _read(group, ob, known) -> _Entry:
    numbers = _READERS[group](ob, known)
    movers = tuple(dict.fromkeys(_name_of(mover) for mover in movers_of(ob)))
    return _Entry(numbers, movers, frozenset(_sources_of(ob)), _own_settings(group, ob))


def _own_settings(group, ob):
    names = tuple(mover.name for mover in movers_of(ob))
    if group == "movers":
        return *names, ob.cairn.field_by_area
    if group == "bodies":
        settings = (
            *scene_digest.PART_SETTINGS,
            *scene_digest.START_SETTINGS,
            *scene_digest.MATTER_SETTINGS,
            *scene_digest.ACTIVATION_SETTINGS,
            *scene_digest.FORCE_SETTINGS,
            *scene_digest.FOLLOW_SETTINGS,
            "field_by_area",
        )
        return names, tuple(_compared(getattr(ob.cairn, name)) for name in settings)
    joint = ob.cairn.joint
    targets = [getattr(one, name) for one in (ob.rigid_body_constraint, joint) for name in pointer_names(type(one))]
    names += tuple(target.name if isinstance(target, bpy.types.Object) else None for target in targets)
    return names, tuple(getattr(joint, prop.identifier) for prop in joint.bl_rna.properties if prop.type != "POINTER")


def _compared(value):
    """A value that compares by what it holds: Blender's vectors are views."""
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value


def _sources_of(ob):
    yield ob.session_uid
    for block in (ob.data, getattr(ob.data, "shape_keys", None)):
        if block is not None:
            yield block.session_uid
            yield from _animation_of(block)
    yield from _animation_of(ob)
    if ob.cairn.earlier_action is not None:
        yield ob.cairn.earlier_action.session_uid
    for constraint in ob.constraints:
        if constraint.type == "ACTION" and constraint.action is not None:
            yield constraint.action.session_uid
    for modifier in ob.modifiers:
        if modifier.type == "NODES" and modifier.node_group is not None:
            yield modifier.node_group.session_uid


def _animation_of(block):
    data = block.animation_data
    if data is None:
        return
    if data.action is not None:
        yield data.action.session_uid
    for track in data.nla_tracks:
        yield from (strip.action.session_uid for strip in track.strips if strip.action is not None)
    yield from (target.session_uid for target in driver_targets(data))
