"""Keep a scene's bake as a take, and let it play another one: some objects a step, as a bake is attached.

Generators of (objects done, objects); between two steps they hold names and numbers.
"""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

import bpy

from ..bake_progress import BakeProgress
from ..read.early_notes import may_move
from ..read.faults import Faults, SceneError
from ..write import attach, contact_points, fcurves, kept_motion, report_curves
from ..write import earlier_animation as earlier
from . import book

# Objects whose channels are copied in a step: some hundredths of a second.
COPIED = 64


@dataclass
class Used:
    """What came of using a take: names of what it could not do.

    Attributes
    ----------
    take : str
        Name of what plays now; empty where there is no bake.
    kept : str
        Name of the take that the bake before became; empty if it was one, or there was none.
    missing : list of str
        Bodies of the take that the scene no longer has.
    still : list of str
        Bodies of the scene that could move, and that the take knows nothing of.
    """

    take: str
    kept: str
    missing: list[str]
    still: list[str]


def is_kept_steps(scene_name: str) -> Iterator[tuple[int, int]]:
    """Whether the bake that a scene carries is a take, and nobody has edited its keys since."""
    scene = bpy.data.scenes[scene_name]
    take = book.playing(scene)
    if take is None or take.action is None or json.loads(take.facts) != book.facts_of(scene):
        return False
    slots = {obj.name: slot.handle for obj, slot, _ in book.bodies_of(scene, take)[0]}
    names = [obj.name for obj in playing_objects(scene)]
    if not slots.keys() >= set(names):
        return False
    uid = take.uid
    for start in range(0, len(names), COPIED):
        scene = bpy.data.scenes[scene_name]
        objects, action = attach.objects_by_name(scene), book.take_of(scene, uid).action
        for name in names[start : start + COPIED]:
            if not kept_motion.is_same(
                objects[name], fcurves.channelbag(action, fcurves.find_slot(action, slots[name]))
            ):
                return False
        yield start, len(names)
    return True


def playing_objects(scene) -> list:
    """Objects that play the bake of a scene, not an action that the user has put in its place."""
    return [obj for obj in earlier.baked_objects(scene) if earlier.plays_bake(obj)]


def keep_steps(scene_name: str, name: str = "") -> Iterator[tuple[int, int]]:
    """Keep the bake that a scene carries as a take, which then plays; returns its number.

    Raises
    ------
    SceneError
        There is no bake.
    """
    for _ in attach.keep_steps(scene_name):
        yield 0, 1
    scene = bpy.data.scenes[scene_name]
    names = [obj.name for obj in playing_objects(scene)]
    if not scene.cairn.is_baked or not names:
        raise SceneError(None, "there is no bake to keep: press Bake first")
    name = name or book.free_name(scene)
    action = bpy.data.actions.new(name)
    action[book.MARK], action_name, kept = name, action.name, []
    try:
        for start in range(0, len(names), COPIED):
            objects, action = attach.objects_by_name(bpy.data.scenes[scene_name]), bpy.data.actions[action_name]
            for object_name in names[start : start + COPIED]:
                if object_name in objects and earlier.plays_bake(objects[object_name]):
                    kept.append((object_name, *kept_motion.keep(objects[object_name], action)))
            yield min(start + COPIED, len(names)), len(names)
    except BaseException:
        if action_name in bpy.data.actions:
            bpy.data.actions.remove(bpy.data.actions[action_name])
        raise
    scene, action = bpy.data.scenes[scene_name], bpy.data.actions[action_name]
    objects = attach.objects_by_name(scene)
    bodies = [(objects[object_name], slot, mode) for object_name, slot, mode in kept if object_name in objects]
    report_slot = report_curves.keep_curves(scene, action)
    return book.add(scene, name, action, bodies, report_slot, contact_points.kept_points(scene)).uid


def secure_steps(scene_name: str) -> Iterator[tuple[int, int]]:
    """Keep the bake that a scene carries if it would be lost otherwise; returns the name of its take, or "".

    "" also where the scene carries none.
    """
    for _ in attach.keep_steps(scene_name):
        yield 0, 1
    scene = bpy.data.scenes[scene_name]
    if not scene.cairn.is_baked or not playing_objects(scene) or (yield from is_kept_steps(scene_name)):
        return ""
    uid = yield from keep_steps(scene_name)
    return book.take_of(bpy.data.scenes[scene_name], uid).name


def use_steps(scene_name: str, uid: str) -> Iterator[tuple[int, int]]:
    """Let a scene carry a take as its bake; returns Used.

    What the scene carries becomes a take first if it is none. An error, or closing the generator, leaves the scene with
    that.

    Raises
    ------
    SceneError
        The action is gone, or an object cannot be written.
    """
    _check(bpy.data.scenes[scene_name], uid)
    kept = yield from secure_steps(scene_name)
    scene = bpy.data.scenes[scene_name]
    found, missing = _check(scene, uid)
    bodies, total = [(obj.name, slot.handle) for obj, slot, _ in found], len(found)
    facts = json.loads(book.take_of(scene, uid).facts)
    actions: dict[str, str] = {}
    try:
        for start in range(0, len(bodies), COPIED):
            scene = bpy.data.scenes[scene_name]
            objects, source = attach.objects_by_name(scene), book.take_of(scene, uid).action
            for name, handle in bodies[start : start + COPIED]:
                bag = fcurves.channelbag(source, fcurves.find_slot(source, handle))
                if bag is not None and bag.fcurves:
                    actions[name] = kept_motion.build(objects[name], bag).name
            yield min(start + COPIED, total) // 2, total
        said = {"is_baked": True, "baked_start": facts["baked_start"], "baked_end": facts["baked_end"], "take": uid}
        with contextlib.closing(attach.attach_steps(scene_name, actions, said)) as attaching:
            replaced = yield from _halves(attaching)
    except BaseException:
        earlier.remove_unused([bpy.data.actions[name] for name in actions.values() if name in bpy.data.actions])
        raise
    scene = bpy.data.scenes[scene_name]
    take = book.take_of(scene, uid)
    for fact, value in facts.items():
        setattr(scene.cairn, fact, value)
    scene.cairn.shown_take = uid
    contact_points.bring_back(scene, take.points)
    report_curves.bring_back(scene, book.report_of(take))
    attach.refresh(scene)
    still = [obj.name for obj in _may_move(scene) if obj.name not in actions]
    used = Used(take.name, kept, missing, still)
    for _ in attach.remove_steps(replaced):
        yield total, total
    return used


def _halves(attaching):
    """The second half of what is to be done; returns what ``attaching`` does."""
    while True:
        try:
            done, total = next(attaching)
        except StopIteration as end:
            return end.value
        yield (total + done) // 2, total


def _check(scene, uid):
    """The bodies of a take, as of ``book.bodies_of``; raises what stands in its way."""
    take = book.take_of(scene, uid)
    if take is None:
        raise SceneError(None, "there is no take at this place of the list: choose another one")
    if take.action is None:
        raise SceneError(None, f"the action of {take.name} was deleted: Undo, or remove the take")
    found, missing = book.bodies_of(scene, take)
    if not found:
        raise SceneError(None, f"the scene has none of the bodies of {take.name}: {', '.join(missing[:3])}")
    faults = Faults()
    for obj, _, mode in found:
        if obj.rotation_mode != mode:
            text = f"its rotation mode is {obj.rotation_mode}, and that of its keys {mode}: set it back, or bake again"
            faults.add(SceneError(obj.name, text))
    faults.raise_any()
    attach.check_writable(scene, [obj.name for obj, _, _ in found])
    return found, missing


def _may_move(scene):
    bodies = earlier.bodies_collection(scene)
    objects = bodies.all_objects if bodies is not None else ()
    return [obj for obj in objects if obj.rigid_body is not None and may_move(obj)]


def told(steps, text: str) -> Iterator[BakeProgress]:
    """Steps of (objects done, objects) as BakeProgress; returns what they return."""
    with contextlib.closing(steps):
        while True:
            try:
                done, total = next(steps)
            except StopIteration as end:
                return end.value
            yield BakeProgress("write", done, total, f"{text}, {done:,} of {total:,}", done / total if total else 0.0)


def keeping(scene_name: str, steps, name: str) -> Iterator[BakeProgress]:
    """Steps of a bake, and of keeping it where each is kept, or where it has a name; returns its BakeResult."""
    with contextlib.closing(steps):
        result = yield from steps
    is_wanted = bool(name) or bpy.data.scenes[scene_name].cairn.keep_takes
    if is_wanted and result.reports and not (result.paused or result.kept_earlier):
        yield from told(keep_steps(scene_name, name), "Keeping the bake as a take")
    return result


def finished(steps):
    """Go through all steps; returns what the generator does."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
