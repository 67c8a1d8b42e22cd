"""The list of a scene's takes: names, numbers, what is kept of a bake's facts, and whose keys are whose."""

import datetime
import json
import uuid
from collections.abc import Iterator

import bpy

from ..write import attach, fcurves

# Marks the action of a take, with its name.
MARK = "cairn_take"
# Facts of a bake that depend on the world and on what plays, not on the bake.
_OF_THE_SCENE = {"is_baked", "take", "world_was_enabled", "world_collection"}


def facts_of(scene) -> dict:
    """What a scene says of its bake, and a take of its own."""
    return {fact: getattr(scene.cairn, fact) for fact in attach.FACTS if fact not in _OF_THE_SCENE}


def take_of(scene, uid: str):
    """The take of this number, or None."""
    return next((take for take in scene.cairn.takes if take.uid == uid), None) if uid else None


def playing(scene):
    """The take that a scene's bake is, or None."""
    return take_of(scene, scene.cairn.take) if scene.cairn.is_baked else None


def chosen(scene):
    """The take that is chosen in the list, or None."""
    takes, index = scene.cairn.takes, scene.cairn.take_index
    return takes[index] if 0 <= index < len(takes) else None


def free_name(scene) -> str:
    """A name for the next take."""
    names, number = {take.name for take in scene.cairn.takes}, 1
    while f"Take {number}" in names:
        number += 1
    return f"Take {number}"


def give_name(scene, take) -> None:
    """Let a take have a name that no other of the scene has, and its action the same."""
    stem = take.name.strip() or "Take"
    names = {other.name for other in scene.cairn.takes if other.uid != take.uid}
    name, number = stem, 1
    while name in names:
        name, number = f"{stem}.{number:03d}", number + 1
    if take.name != name:
        take.name = name  # which calls this once more
        return
    if take.action is not None and take.action.is_editable:
        take.action.name, take.action[MARK] = name, name


def add(scene, name: str, action, bodies, report_slot: int, points):
    """Add a take to a scene, which plays it.

    Parameters
    ----------
    scene : bpy.types.Scene
    name : str
        Made unique.
    action : bpy.types.Action
    bodies : sequence of (bpy.types.Object, int, str)
        Each with the handle of its slot and its rotation mode.
    report_slot : int
        Handle of the slot with the curves of the report; 0: there are none.
    points : bpy.types.Mesh or None

    Returns
    -------
    CairnTake
    """
    facts, take = scene.cairn, scene.cairn.takes.add()
    take.uid, take.action, take.report_slot, take.points = uuid.uuid4().hex, action, report_slot, points
    take.facts = json.dumps(facts_of(scene))
    report = json.loads(facts.report or "{}")
    options = report.get("options", {})
    is_auto = options.get("method", facts.method) == "auto"
    take.quality = options.get("quality", facts.quality) if is_auto else options["method"]
    take.seconds = report.get("totals", {}).get("seconds", 0.0)
    take.date = datetime.datetime.now().isoformat(timespec="minutes")
    take.name = name
    for obj, slot, rotation_mode in bodies:
        body = take.bodies.add()
        body.name, body.session = obj.name, str(obj.session_uid)
        body.slot, body.rotation_mode = slot, rotation_mode
    facts.take = facts.shown_take = take.uid
    facts.take_index = len(facts.takes) - 1
    return take


def remove(scene, uid: str) -> None:
    """Take a take out of a scene, with its action where nothing else uses it; what plays goes on."""
    facts = scene.cairn
    index = next(i for i, take in enumerate(facts.takes) if take.uid == uid)
    action, points = facts.takes[index].action, facts.takes[index].points
    facts.takes.remove(index)
    facts.take_index = max(0, min(facts.take_index, len(facts.takes) - 1))
    for name in ("take", "shown_take"):
        if getattr(facts, name) == uid:
            setattr(facts, name, "")
    if action is not None and action.users == 0:
        bpy.data.actions.remove(action)
    if points is not None and points.users == 0:
        bpy.data.meshes.remove(points)


def bodies_of(scene, take) -> tuple[list, list[str]]:
    """The objects of a take that a scene still has, and the names of those that it has not.

    Returns
    -------
    found : list of (bpy.types.Object, bpy.types.ActionSlot, str)
        With the slot of their keys and the rotation mode that these are for.
    missing : list of str
    """
    objects = attach.objects_by_name(scene)
    by_session = {str(obj.session_uid): obj for obj in objects.values()}
    slots = {slot.handle: slot for slot in take.action.slots}
    objects_found = {body.slot: by_session[body.session] for body in take.bodies if body.session in by_session}
    claimed = {obj.name for obj in objects_found.values()}
    found, missing = [], []
    for body in take.bodies:
        obj = objects_found.get(body.slot)
        if obj is None and body.name not in claimed:
            obj = objects.get(body.name)
        if obj is None or body.slot not in slots:
            missing.append(body.name)
        else:
            found.append((obj, slots[body.slot], body.rotation_mode))
    return found, missing


def report_of(take):
    """The channels of a take's report, or None."""
    return fcurves.channelbag(take.action, fcurves.find_slot(take.action, take.report_slot))


def follow_names(scene) -> None:
    """Note the present names of bodies, for the sessions to come."""
    for _ in follow_steps(scene.name):
        pass


def follow_steps(scene_name: str) -> Iterator[None]:
    """The same as a generator, a take a step."""
    for place in range(len(bpy.data.scenes[scene_name].cairn.takes)):
        scene = bpy.data.scenes[scene_name]
        if not scene.is_editable or place >= len(scene.cairn.takes):
            return
        names = {str(obj.session_uid): obj.name for obj in attach.objects_by_name(scene).values()}
        for body in scene.cairn.takes[place].bodies:
            name = names.get(body.session, body.name)
            if name != body.name:
                body.name = name
        yield


def find_by_name(scene) -> None:
    """In another session, which has other numbers: find bodies by their names."""
    if not scene.is_editable or not scene.cairn.takes:
        return
    numbers = {name: str(obj.session_uid) for name, obj in attach.objects_by_name(scene).items()}
    for take in scene.cairn.takes:
        for body in take.bodies:
            body.session = numbers.get(body.name, "")
