"""The digest of a scene, kept from look to look: only what has changed meanwhile is read anew, a piece at a time.

Blender says which data-blocks were changed. Objects that were read from these are read first, which takes no longer
where there are many others (``first_steps``); then all is gone through for what Blender does not tell (``steps``).
Between two pieces only names and numbers are held, never references to Blender's data, and whoever works through the
pieces begins again after a change.
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
# What an object has that is read as one of a group.
_KINDS = {"bodies": "rigid_body", "joints": "rigid_body_constraint", "movers": "name"}


class KeptDigest:
    """Digests of the scenes that windows show."""

    def __init__(self):
        self._entries: dict[tuple, _Entry] = {}
        self._touched: set[int] = set()
        self._sources: set[int] = set()  # of all entries, and of some that are no more
        self._dropped: dict[tuple, None] = {}  # keys of entries that were touched, until they are read again
        self._whole: dict[str, dict] = {}  # the last whole digest of each scene

    def forget(self) -> None:
        """Read all anew: after Undo and after opening a file nothing is what it was."""
        for kept in (self._entries, self._touched, self._sources, self._dropped, self._whole):
            kept.clear()

    def note(self, depsgraph) -> bool:
        """Note what Blender says that has changed; returns whether anything of it was read for a digest."""
        touched = {update.id.original.session_uid for update in depsgraph.updates if not _is_evaluated_alone(update)}
        self._touched |= touched
        return not self._sources.isdisjoint(touched)

    def changed(self) -> list[str]:
        """Names of the objects of which something was changed since they were read."""
        self._drop_touched()
        return list({name[0]: None for _, name in self._dropped})

    def first_steps(self, scene_name: str) -> Iterator[dict | None]:
        """Read what Blender has told of anew, an object a step; the last step gives the digest.

        Nothing where the scene was not read as a whole before, or where more has changed than what was read of it.
        """
        self._drop_touched()
        whole = self._whole.get(scene_name)
        if whole is None:
            return
        known: dict = {}
        digest = {group: dict(numbers) for group, numbers in whole.items()}
        digest["scene"] = scene_digest.scene_numbers(bpy.data.scenes[scene_name])
        for group, name in list(self._dropped):
            if name[0] not in digest[group]:  # of another scene
                continue
            ob = bpy.data.objects.get(name)
            if ob is None or getattr(ob, _KINDS[group]) is None:
                return
            digest[group][name[0]] = self._read_anew((group, name), ob, known).numbers
            yield None
        yield digest

    def steps(self, scene_name: str) -> Iterator[dict | None]:
        """Read what has changed, an object a step; the last step gives the digest."""
        self._drop_touched()
        known: dict = {}
        scene = bpy.data.scenes[scene_name]
        groups = zip(("bodies", "joints"), scene_digest.bodies_and_joints(scene), strict=True)
        waiting = [(group, _name_of(ob)) for group, objects in groups for ob in objects]
        del groups
        yield None
        scene = bpy.data.scenes[scene_name]
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
                entry = self._read_anew(key, ob, known)
                yield None
            kept[key] = entry
            digest[group][name[0]] = entry.numbers
            for mover in entry.movers:
                if mover not in named and ("movers", mover) not in seen:
                    seen.add(("movers", mover))
                    waiting.append(("movers", mover))
        yield None
        for group, names in order.items():
            digest[group] = {name: digest[group][name] for name in names if name in digest[group]}
        digest["movers"] = dict(sorted(digest["movers"].items()))
        self._dropped.clear()
        self._whole[scene_name] = digest
        yield digest

    def _read_anew(self, key, ob, known) -> _Entry:
        entry = self._entries[key] = _read(key[0], ob, known)
        self._sources |= entry.sources
        self._dropped.pop(key, None)
        return entry

    def _drop_touched(self):
        touched, self._touched = self._touched, set()
        if self._sources.isdisjoint(touched):
            return
        for key in [key for key, entry in self._entries.items() if not entry.sources.isdisjoint(touched)]:
            del self._entries[key]
            self._dropped[key] = None


def _is_evaluated_alone(update) -> bool:
    """Whether Blender tells of a baked mesh because the Rigid Body World has evaluated it, not since it was edited.

    One edit makes it evaluate all bodies, also while it is switched off. Whoever edits a mesh object has its geometry
    evaluated, too; and where a baked one was moved is seen without it (``since_bake.catch_up``).
    """
    if update.is_updated_geometry or update.is_updated_shading or not update.is_updated_transform:
        return False
    ob = update.id.original
    return isinstance(ob, bpy.types.Object) and ob.type == "MESH" and ob.cairn.is_baked


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
