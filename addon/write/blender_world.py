"""Blender's own simulation: off while a bake plays, and on again only where Blender can show it.

At frames after the first one of its world's cache Blender shows each active body where the simulation has put it. If
the simulation has not come that far, that is a pose deep within Blender which nobody has set: the origin, or where the
body was when it became a rigid body. Blender's tools for moving take this pose for the body's own, and overwrite its
place with it. So the world is switched on where its simulation begins. At later frames it *waits*: it is off, all
bodies stand where their channels have them, and it goes on once a frame is shown at which it can begin
(ui/waiting_world.py). A file is saved with the world on.
"""

import contextlib
import re
from collections.abc import Iterator

import bpy

# By their numbers in this session: scenes whose world has been switched here. Undo may bring one back on at any frame.
_switched: set[int] = set()
# In the background nobody draws and no timer runs; there Blender asks before it shows another frame.
_FRAME_HANDLERS = bpy.app.handlers.frame_change_pre


def can_begin(scene) -> bool:
    """Whether the frame that a scene shows is one at which its world's simulation has not begun."""
    return scene.frame_current_final <= scene.rigidbody_world.point_cache.frame_start


def _has_frames(scene) -> bool:
    """Whether Blender keeps simulated frames, the last of which stands for those after it."""
    # "12 frames in memory (2 KiB)." in the language of the window: nothing else tells how many there are
    count = re.search(r"\d+", scene.rigidbody_world.point_cache.info)
    return count is not None and int(count.group()) > 0


def is_on(scene) -> bool:
    """Whether the world is on, or will be, or would be were the start not shown."""
    return plays(scene) or scene.cairn.world_is_held


def plays(scene) -> bool:
    """Whether the world is on, or will be once a frame is shown at which it can begin."""
    return scene.rigidbody_world.enabled or scene.cairn.world_waits


def switch_off(scene) -> bool:
    """Switch a scene's world off; returns whether it was on."""
    was_on = is_on(scene)
    scene.rigidbody_world.enabled = scene.cairn.world_waits = scene.cairn.world_is_held = False
    _switched.add(scene.session_uid)
    return was_on


def stand_still(scene) -> None:
    """Let all bodies stand where their channels have them, until the world is switched on again or a bake is made."""
    was_on = switch_off(scene)
    scene.cairn.world_is_held = was_on


def switch_on(scene) -> None:
    """Switch a scene's world on, at once or when a frame is shown at which it can begin."""
    _switched.add(scene.session_uid)
    scene.cairn.world_is_held = False
    if can_begin(scene):
        scene.rigidbody_world.enabled, scene.cairn.world_waits = True, False
    else:
        wait(scene)


def wait(scene) -> None:
    """Leave a scene's world off until a frame is shown at which it can begin."""
    scene.rigidbody_world.enabled, scene.cairn.world_waits = False, True
    _switched.add(scene.session_uid)
    if bpy.app.background and _before_frame not in _FRAME_HANDLERS:
        _FRAME_HANDLERS.append(_before_frame)


def resume(scene) -> bool:
    """Switch a waiting world on if it can begin; says whether it did. The frame has still to be evaluated."""
    if not can_begin(scene):
        return False
    scene.rigidbody_world.enabled, scene.cairn.world_waits = True, False
    return True


def has_switched() -> bool:
    """Whether any world has been switched in this session."""
    return bool(_switched)


def is_followed() -> bool:
    """Whether there is a world that waits, or that waits again once somebody jumps away from its beginning."""
    scenes = (scene for scene in bpy.data.scenes if scene.session_uid in _switched and not scene.cairn.is_baked)
    return any(scene.rigidbody_world is not None and is_on(scene) for scene in scenes)


def waiting_scenes() -> list:
    """Scenes whose world waits."""
    return [
        scene
        for scene in bpy.data.scenes
        if scene.rigidbody_world is not None and scene.cairn.world_waits and scene.is_editable
    ]


def guard(scene) -> bool:
    """Let a world wait that is on at a later frame and has simulated nothing; says whether it does."""
    world = scene.rigidbody_world
    if world is None or not world.enabled or can_begin(scene) or _has_frames(scene):
        return False
    wait(scene)
    return True


@contextlib.contextmanager
def guarded(scene) -> Iterator[None]:
    """Guard a scene of which other frames are evaluated meanwhile, and show its bodies as its channels have them."""
    try:
        yield
    finally:
        if guard(scene):
            scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)


def guard_others(scene, names) -> None:
    """The same of other scenes that have some of these objects (names), whose pose a change of them takes away."""
    for other in bpy.data.scenes:
        world = other.rigidbody_world
        if other == scene or world is None or world.collection is None or not other.is_editable:
            continue
        if any(ob.name in names for ob in world.collection.all_objects):
            guard(other)


def guard_after_undo() -> None:
    """After Undo or Redo: let worlds wait that were switched in this session and are on again at a later frame.

    What Blender has simulated is forgotten by then, whatever its cache holds.
    """
    for scene in bpy.data.scenes:
        world = scene.rigidbody_world
        if world is not None and scene.session_uid in _switched and world.enabled and not can_begin(scene):
            wait(scene)


def guard_opened() -> None:
    """After a file was opened: let worlds wait at later frames.

    What Blender has simulated is in the file, but it reads none of it before it has begun anew, unless it was baked.
    """
    _switched.clear()
    for scene in bpy.data.scenes:
        world = scene.rigidbody_world
        if world is None or not scene.is_editable:
            continue
        if scene.cairn.world_is_held:
            world.enabled = False
        elif not world.point_cache.is_baked and (world.enabled or scene.cairn.world_waits):
            wait(scene)
            resume(scene)


def show_as_saved(saving: bool) -> None:
    """Let worlds that wait or are held be on in the file that is saved, and off again afterwards."""
    for scene in [*waiting_scenes(), *_held_scenes(saving)]:
        scene.rigidbody_world.enabled = saving


def _held_scenes(saving: bool) -> list:
    """Scenes whose world is held while the start is shown; where somebody has switched it on, it no longer is."""
    held = [
        scene
        for scene in bpy.data.scenes
        if scene.rigidbody_world is not None and scene.cairn.world_is_held and scene.is_editable
    ]
    for scene in held:
        if saving and scene.rigidbody_world.enabled:
            scene.cairn.world_is_held = False
    return [scene for scene in held if scene.cairn.world_is_held]


def follow_frames() -> list:
    """Switch waiting worlds on that can begin; let wait again those that were jumped away from their beginning.

    Returns
    -------
    list of bpy.types.Scene
        Those that were changed; their frame has still to be evaluated.
    """
    changed = []
    for scene in bpy.data.scenes:
        world = scene.rigidbody_world
        if world is None or scene.session_uid not in _switched or not scene.is_editable or scene.cairn.is_baked:
            continue
        if scene.cairn.world_waits:
            if not world.enabled and resume(scene):
                changed.append(scene)
        # the frame after the first one is simulated when it is shown
        elif scene.frame_current_final > world.point_cache.frame_start + 1 and guard(scene):
            changed.append(scene)
    return changed


def hold(scene) -> None:
    """Let bodies stand at their start although the world is on: somebody has switched it on at a later frame.

    Blender simulates a frame in which no time passes and keeps it as one that is out of date: it stands for all later
    ones until the simulation begins.
    """
    world = scene.rigidbody_world
    frame, subframe, speed = scene.frame_current, scene.frame_subframe, world.time_scale
    start = world.point_cache.frame_start
    try:
        world.time_scale = 0.0
        for shown in (start, start + 1):
            scene.frame_set(shown)
    finally:
        world.time_scale = speed
        scene.frame_set(frame, subframe=subframe)


def hold_if_empty(scene) -> None:
    """The same if the world is on at a later frame and nothing has been simulated."""
    if scene.rigidbody_world.enabled and not can_begin(scene) and not _has_frames(scene):
        hold(scene)


def forget() -> None:
    """Have Blender ask no more."""
    _switched.clear()
    if _before_frame in _FRAME_HANDLERS:
        _FRAME_HANDLERS.remove(_before_frame)


@bpy.app.handlers.persistent
def _before_frame(scene, *_):
    """In the background: the same in time for the frame that is to be shown."""
    follow_frames()


def is_own_handler(handler) -> bool:
    """Whether a handler of changed frames is Cairn's, which moves nothing."""
    return handler is _before_frame
