"""What can be said before a bake without reading the scene for one: quick enough to be looked at after each change."""

from collections.abc import Iterator

from ..settings import BakeSettings
from . import body_warnings
from .force_fields import field_notes
from .locked_axes import held_axes
from .missing_geometry import missing_geometry
from .notes import Note
from .scene_animation import AnimationSurvey, flags_animated, scale_animated
from .scene_joints import JointReader
from .scene_notes import OUTSIDE, cache_notes, range_notes, speed_notes


def early_notes(scene) -> list[Note]:
    """Warnings of a scene that would stand there after a bake too, or for which it would not begin.

    Nothing is evaluated.
    """
    return [note for note in early_notes_steps(scene) if note is not None]


def early_notes_steps(scene) -> Iterator[Note | None]:
    """The same one by one; between two bodies None, where whoever asks may rest while nothing changes."""
    for note in _all_notes(scene):
        if note is None or note.level == "warning":
            yield note
    if scene.rigidbody_world is not None:
        yield from cache_notes(scene)


def _all_notes(scene):
    world = scene.rigidbody_world
    if world is None:
        return
    collection = scene.cairn.world_collection or world.collection
    bodies = [ob for ob in collection.all_objects if ob.rigid_body is not None] if collection is not None else []
    parts = {ob.name_full for ob in bodies if _is_part(ob)}
    whole = [ob for ob in bodies if ob.name_full not in parts]
    settings, cache = BakeSettings.from_scene(scene), world.point_cache
    start = cache.frame_start if settings.start is None else settings.start
    end = cache.frame_end if settings.end is None else settings.end
    frames = range(start, max(start, end) + 1)
    for found in (_linked_notes(bodies), field_notes(scene, world), _shape_notes(bodies), speed_notes(scene, world)):
        yield from found
        yield None
    in_scene = set(scene.objects)
    yield from (Note("warning", ob.name, OUTSIDE) for ob in whole if ob not in in_scene)
    yield from _body_notes(whole, frames)
    if settings.start is None:
        yield from range_notes(scene, frames)
    yield from _joint_notes(scene, whole, parts)


def nothing_to_bake(scene) -> str:
    """Why there is nothing to bake; empty if there is. Stops at the first body that moves."""
    world = scene.rigidbody_world
    if world is None:
        return "This scene has no rigid body world"
    collection = scene.cairn.world_collection or world.collection
    found = False
    # a new world has no collection before its first body is added
    for ob in collection.all_objects if collection is not None else ():
        if ob.rigid_body is not None:
            found = True
            if may_move(ob):
                return ""
    if not found:
        return "No rigid bodies yet; select meshes and add Active and Passive ones"
    return "No rigid body is Active and Dynamic; nothing would move"


def may_move(ob) -> bool:
    """Whether a body may be moved by simulation in some frame."""
    body = ob.rigid_body
    return body.type == "ACTIVE" and ((body.enabled and not body.kinematic) or flags_animated(ob))


def _linked_notes(bodies):
    """Bodies that would move and cannot be keyed: all of them, where a bake names the first."""
    for ob in bodies:
        if not ob.is_editable and may_move(ob):
            text = "is linked from another file and cannot be keyed; make it local or an override"
            yield Note("warning", ob.name, text)


def _shape_notes(bodies):
    """Notes on meshes without vertices or faces; modifiers might give them some, and a compound needs none."""
    for ob in bodies:
        if ob.type != "MESH" or ob.modifiers or not (may_move(ob) or any(ob.rigid_body.collision_collections)):
            continue
        kind = ob.rigid_body.collision_shape
        if kind == "COMPOUND" and ob.children:
            continue
        text = missing_geometry(kind, len(ob.data.vertices), len(ob.data.polygons))
        if text is not None:
            yield Note("warning", ob.name, text)


def _body_notes(bodies, frames):
    """Notes on what a bake does not follow of bodies, or replaces."""
    survey = AnimationSurvey()
    moving = {ob.name_full for ob in bodies if may_move(ob)}
    has_still = any(_never_changes(ob, survey) for ob in bodies)
    for ob in bodies:
        moves = ob.name_full in moving
        texts = list(body_warnings.early_texts(ob, moves, frames, survey))
        if moves:
            if any(ob.lock_location) or any(ob.lock_rotation):
                texts += held_axes(ob, flags_animated(ob), has_still)[2]
        else:
            ancestor = ob.parent
            while ancestor is not None and ancestor.name_full not in moving:
                ancestor = ancestor.parent
            texts += [] if ancestor is None else [body_warnings.stays_behind(ancestor)]
        above = () if ob.parent is None else tuple(_ancestors(ob))
        yield from (Note("warning", ob.name, text, above) for text in texts)
        yield None


def _ancestors(ob):
    while ob.parent is not None:
        ob = ob.parent
        yield ob.name


def _never_changes(ob, survey):
    if ob.rigid_body.type != "PASSIVE" or survey.may_move(ob):
        return False
    return ob.rigid_body.collision_shape != "MESH" or not (survey.shape_may_change(ob) or scale_animated(ob))


def _joint_notes(scene, whole, parts):
    reader = JointReader(
        scene,
        None,
        {ob.name_full: index for index, ob in enumerate(whole)},
        {ob.name_full: may_move(ob) for ob in whole},
        parts,
        AnimationSurvey(),
    )
    reader.note_without_effect()
    return reader.notes


def _is_part(ob) -> bool:
    parent = ob.parent
    return parent is not None and parent.rigid_body is not None and parent.rigid_body.collision_shape == "COMPOUND"
