"""What the user has copied and moved since a bake: a copy starts where it is, a moved body starts where it was put.

Duplicate Objects copies a bake's bookkeeping too, which says where the *original* stood. So the bookkeeping names its
owner: by session, which survives renaming, and by name, which survives saving. ``catch_up`` frees copies of the bake.

A body that the user moves at the frame at which the bake starts, or at one before it, differs there from the key that
the bake wrote; so does one that is keyed at that frame. ``catch_up`` makes that the body's start pose: in the
bookkeeping, and as the value of the bake's first key, so that it is seen at that frame again although the rest of the
bake is out of date.
"""

import functools

import bpy
import numpy as np

from . import earlier_animation as earlier
from . import fcurves

# So many objects are looked at in a step: some hundredths of a second.
A_STEP = 128
# Whether ``catch_up`` has changed something since ``record_steps``.
_unrecorded = False


def catch_up(scene):
    """Free copies of the bake they were copied with, and let moved bodies start where they are.

    Returns
    -------
    changed : bool
        Whether there were any.
    """
    steps = catch_up_steps(scene.name)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def catch_up_steps(scene_name, first=None):
    """The same as a generator, ``A_STEP`` objects at a time; between steps it holds names.

    ``first`` are names of objects that alone are looked at, if they carry a bake; copies are then left alone.
    """
    global _unrecorded
    scene = bpy.data.scenes[scene_name]
    objects = earlier.objects_of(scene)
    has_many = len(objects) > A_STEP
    changed, names = False, first
    if first is None:
        for obj in objects:
            earlier.follow_name(obj)
        if has_many:
            del obj, objects
            yield
            scene = bpy.data.scenes[scene_name]
        changed = bool(_free_copies(scene))
        _unrecorded = _unrecorded or changed
        if has_many:
            yield
            scene = bpy.data.scenes[scene_name]
        names = [obj.name for obj in earlier.baked_objects(scene)]
    for start in range(0, len(names), A_STEP):
        if has_many:
            yield
            scene = bpy.data.scenes[scene_name]
        objects = {obj.name: obj for obj in earlier.objects_of(scene)}
        view = _View(scene)
        with bpy.context.temp_override(area=None):  # a 3D view's own filters and its local view hide nothing here
            for name in names[start : start + A_STEP]:
                obj = objects.get(name)
                if obj is not None and earlier.carries_bake(obj) and _take_over_start(view, obj):
                    changed = _unrecorded = True
    return changed


def record_steps(scene_name):
    """Catch up, and give Undo a step with what that has changed: undoing what comes next must leave it there.

    A generator, as of ``catch_up_steps``. The step that a user's move has made holds the bake's key from before.
    Blender evaluates animation anew where Undo changes actions, so after undoing the next bake that key would put the
    body back.
    """
    global _unrecorded
    yield from catch_up_steps(scene_name)
    if _unrecorded and bpy.ops.ed.undo_push.poll():
        bpy.ops.ed.undo_push(message="Start from New Place")
    _unrecorded = False


def is_behind(scene):
    """Whether ``catch_up`` would do anything; changes nothing."""
    view = _View(scene)
    with bpy.context.temp_override(area=None):
        return bool(_copies(scene)) or any(
            _new_start(view, obj, earlier.Kept.read(obj)) for obj in earlier.baked_objects(scene)
        )


# Copies


def _copies(scene):
    return [obj for obj in scene.objects if obj.cairn.is_baked and obj.is_editable and not earlier.owns_bake(obj)]


def _free_copies(scene):
    """Take the bake off copies of baked objects, which stay where they are; the original's animation is theirs too."""
    copies = _copies(scene)
    if copies:
        _give_own_collection(scene, copies)
    if copies and _is_copied_as_a_whole(scene, copies):
        for obj in copies:
            earlier.claim_bake(obj)
        return []
    made = []
    for obj in copies:
        transform = {path: tuple(getattr(obj, path)) for path in ("location", *earlier.ROTATION_PATHS)}
        made.append(earlier.take_off(obj))
        for path, values in transform.items():
            setattr(obj, path, values)
    earlier.remove_unused([action for action in made if action is not None])
    return copies


def _is_copied_as_a_whole(scene, copies):
    """Whether the scene is a full copy of a baked one: its objects own the copied bake, and play it."""
    if not scene.cairn.is_baked or earlier.baked_objects(scene):
        return False
    owners = {obj.cairn.owner_name for obj in copies}
    return all(name in bpy.data.objects and name not in scene.objects for name in owners)


def _give_own_collection(scene, copies):
    """Give a full copy of a scene a collection of its own bodies, where a bake has taken the world's collection out.

    Blender copies collections that it finds in the scene and in its Rigid Body World, and what a bake keeps is in
    neither: the copy's bookkeeping names the original's. Bodies that have no bake are known by their names.
    """
    kept, present = scene.cairn.world_collection, set(scene.objects)
    if kept is None or not present.isdisjoint(kept.all_objects):
        return
    if not any(other.cairn.world_collection == kept for other in bpy.data.scenes if other != scene):
        return
    names = {_without_number(obj.name) for obj in kept.all_objects}
    bodies = [obj for obj in scene.objects if obj.rigid_body is not None]
    collection = bpy.data.collections.new(kept.name)
    for obj in bodies:
        if obj in copies or _without_number(obj.name) in names:
            collection.objects.link(obj)
    scene.cairn.world_collection = collection


def _without_number(name):
    """A name without what Blender puts behind one that is taken: Box of Box.001."""
    stem, _, number = name.rpartition(".")
    return stem if stem and number.isdigit() else name


# Moved bodies


def is_where_it_was_put(obj, kept):
    """Whether an object's own channels alone say where it is without a bake, not keys, constraints and the like."""
    data = obj.animation_data
    if kept.constraints or kept.drivers or (data is not None and any(track.strips for track in data.nla_tracks)):
        return False
    own = fcurves.curves_of(fcurves.channelbag(*earlier.earlier_action(obj)))
    return not any(earlier.is_own(path, obj.rotation_mode) for path, _ in own)


def start_of_bake(obj, kept, bag):
    """What ``Kept.start`` holds of an object whose bake is in ``bag``: its first frame and the values there.

    None where something else than the object's own channels says where it starts: keys, drivers, constraints, strips.
    """
    if not is_where_it_was_put(obj, kept):
        return None
    start = {"frame": None, "channels": {}}
    for (path, index), curve in sorted(fcurves.curves_of(bag).items()):
        if earlier.is_own(path, obj.rotation_mode):
            start["frame"], value = curve.keyframe_points[0].co
            start["channels"].setdefault(path, []).insert(index, value)
    return start


def start_at(obj, new):
    """Let a body start with other values of its own channels, {path: values}, whether it is baked or not."""
    if earlier.carries_bake(obj):
        _start_bake_at(obj, earlier.Kept.read(obj), new)
        return
    for path, values in new.items():
        setattr(obj, path, values)


def _take_over_start(view, obj):
    """Make the pose that a body has been given at the bake's start frame its start pose; says whether there was one."""
    kept = earlier.Kept.read(obj)
    new = _new_start(view, obj, kept)
    if not new:
        return False
    _start_bake_at(obj, kept, new)
    return True


def _start_bake_at(obj, kept, new):
    """Write another start to what a bake has kept, and to the first keys of the bake, where it plays."""
    curves = _bake_curves(obj)
    for path, values in new.items():
        for index, value in enumerate(values):
            if kept.start is not None and (path, index) in curves:
                _set_first_key(curves[path, index], kept.start["frame"], value)
        if kept.start is not None:
            kept.start["channels"][path] = values
        if path == "location":
            kept.location = values
        elif len(values) == len(kept.rotation):
            kept.rotation = values
    kept.write(obj)


def _new_start(view, obj, kept):
    """Channels that differ at the start frame from what the bake wrote there, {path: values}; empty if none does."""
    curves = _bake_curves(obj)
    if kept.start is None or not curves:
        return {}
    first, new = kept.start["frame"], {}
    for path, baked in kept.start["channels"].items():
        own = [curves.get((path, index)) for index in range(len(baked))]
        if any(curve is None or curve.mute for curve in own):  # the user has taken the motion into their own hands
            return {}
        shown = view.shows_start(obj, first, own)
        values = list(getattr(obj, path)) if shown else [curve.evaluate(first) for curve in own]
        if values != baked:
            new[path] = values
    return new


def _bake_curves(obj):
    data = obj.animation_data
    if data is None or not earlier.is_bake_action(data.action):
        return {}
    return fcurves.curves_of(fcurves.channelbag(data.action, data.action_slot))


class _View:
    """What a scene shows, found once for all of its objects: Blender searches a view layer for each name."""

    def __init__(self, scene):
        self._frame, self._subframe = scene.frame_current, scene.frame_subframe
        self._layers = list(scene.view_layers)

    def shows_start(self, obj, first, curves):
        """Whether an object's channels are those of the bake's first frame; earlier ones show the same, unless keyed.

        What is hidden keeps the channels that it had when it was hidden.
        """
        if self._frame > first or self._subframe != 0.0:
            return False
        if self._frame < first and any(curve.keyframe_points[0].co.x < first for curve in curves):
            return False
        return self._is_evaluated and any(
            obj in objects and obj.visible_get(view_layer=layer)
            for layer, objects in zip(self._layers, self._objects, strict=True)
        )

    @functools.cached_property
    def _is_evaluated(self):
        """A script may have set the frame without evaluating it."""
        graphs = [layer.depsgraph for layer in self._layers if layer.depsgraph is not None]
        return all(graph.scene_eval.frame_current == self._frame for graph in graphs)

    @functools.cached_property
    def _objects(self):
        return [set(layer.objects) for layer in self._layers]


def _set_first_key(curve, frame, value):
    """Change a curve at ``frame`` alone; from the next frame on it does what it did."""
    keys = fcurves.Keys.of(curve)
    times = keys.fields["co"][:, 0]
    row = int(np.searchsorted(times, frame + 1e-3))
    before = keys.rows(0, int(np.searchsorted(times, frame - 1e-3)))
    changed = before + fcurves.Keys.linear([frame], [value])
    if row < len(keys) and times[row] > frame + 1 + 1e-3:  # keys of a body at rest are left out
        changed = changed + fcurves.Keys.linear([frame + 1], [curve.evaluate(frame + 1)])
    (changed + keys.rows(row, len(keys))).write(curve)
