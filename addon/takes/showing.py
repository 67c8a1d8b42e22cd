"""What a scene shows: the bake (Cairn), Blender's own simulation of the same start (Bullet), or the start alone.

Bullet and the start are the scene without its bake, as Delete Bake leaves it: the bake is a take meanwhile, and *Show
Cairn* plays that take again. So a file that is saved meanwhile is an ordinary one, which has the bake in its takes.
"""

import contextlib
from collections.abc import Iterator

import bpy
import numpy as np

from ..bake import BakeStopped
from ..bake_progress import BakeProgress
from ..read.faults import SceneError
from ..write import attach, blender_world
from ..write import earlier_animation as earlier
from . import book, ghosts, steps
from .steps import Used, told

CAIRN, BULLET, START = "CAIRN", "BULLET", "START"


def shown(scene) -> str:
    """What a scene shows."""
    if scene.cairn.is_baked:
        return CAIRN
    return BULLET if blender_world.plays(scene) else START


def show_steps(scene_name: str, motion: str) -> Iterator[BakeProgress]:
    """Let a scene show something else; returns Used.

    An error changes nothing. Closing the generator leaves what was there, or what was asked for.

    Parameters
    ----------
    scene_name : str
    motion : {"CAIRN", "BULLET", "START"}

    Raises
    ------
    SceneError
    """
    scene = bpy.data.scenes[scene_name]
    if motion == CAIRN:
        return (yield from told(_show_cairn(scene), "Bringing the bake back"))
    if motion == BULLET and not _may_simulate(scene):
        raise SceneError(None, "Blender's Rigid Body World is switched off: switch it on to see Bullet")
    kept = yield from told(steps.secure_steps(scene_name), "Keeping the bake")
    scene = bpy.data.scenes[scene_name]
    if scene.cairn.is_baked:
        scene.cairn.shown_take = scene.cairn.take
        yield from told(attach.delete_steps(scene_name), "Taking the bake off")
        scene = bpy.data.scenes[scene_name]
    if motion == START:
        blender_world.stand_still(scene)
        attach.refresh(scene)
    else:
        blender_world.switch_on(scene)
        with contextlib.suppress(BakeStopped):
            yield from simulate_steps(scene_name)
    return Used("", kept, [], [])


def _may_simulate(scene):
    return scene.cairn.world_was_enabled if scene.cairn.is_baked else blender_world.is_on(scene)


def _show_cairn(scene):
    if scene.cairn.is_baked:
        return Used("", "", [], [])
    take = book.take_of(scene, scene.cairn.shown_take) or book.chosen(scene)
    if take is None:
        raise SceneError(None, "there is no bake to show: press Bake first")
    return (yield from steps.use_steps(scene.name, take.uid))


def simulate_steps(scene_name: str) -> Iterator[BakeProgress]:
    """Let Blender simulate all frames of the world's cache, and remember how bodies moved (``ghosts.note_bullet``).

    Blender keeps the frames, so that each can be shown at once. A stop leaves those that are there. The frame that is
    shown stays the same.
    """
    scene = bpy.data.scenes[scene_name]
    session, shown_frame, subframe = scene.session_uid, scene.frame_current, scene.frame_subframe
    cache = scene.rigidbody_world.point_cache
    first, last = cache.frame_start, cache.frame_end
    names, matrices = [obj.name for obj in _bodies(scene)], []
    try:
        scene.frame_set(first)
        blender_world.resume(scene)
        for frame in range(first, last + 1):
            scene = bpy.data.scenes[scene_name]
            scene.frame_set(frame)
            objects = attach.objects_by_name(scene)
            matrices.append([_columns(objects.get(name)) for name in names])
            done, total = frame - first + 1, last - first + 1
            yield BakeProgress("simulate", done, total, f"Bullet, frame {frame} of {last}", done / total)
    finally:
        scene = bpy.data.scenes.get(scene_name)
        if scene is not None and scene.session_uid == session:
            ghosts.note_bullet(scene, names, first, np.array(matrices, np.float32))
            scene.frame_set(shown_frame, subframe=subframe)


def _columns(obj):
    """The world matrix of an object as it lies in memory: columns first."""
    return np.eye(4) if obj is None else np.array(obj.matrix_world).T


def _bodies(scene):
    """Bodies that Blender simulates."""
    collection = earlier.bodies_collection(scene)
    objects = collection.all_objects if collection is not None else ()
    return [obj for obj in objects if obj.rigid_body is not None and obj.rigid_body.type == "ACTIVE"]
