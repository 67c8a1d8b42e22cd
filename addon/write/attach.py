"""Give objects the actions of a bake, and what they had before: some objects a step, so that a window draws meanwhile.

Between two steps each object has either the bake or its earlier animation, and the scene says that it is baked: Delete
Bake gives back whatever a file has that was saved in between.
"""

import bpy

from ..read.faults import Faults, SceneError
from ..read.writable import check_editable
from . import blender_world, contact_points, fcurves, impact_curves, report_curves, since_bake
from . import earlier_animation as earlier

# Number of objects that are given their action, or give it back, in a step, and of actions that are removed in one:
# some hundredths of a second.
ATTACHED = 64
REMOVED = 32
# Properties of CairnScene that a bake sets.
FACTS = (
    "is_baked",
    "baked_start",
    "baked_end",
    "requested_end",
    "summary",
    "worst_object",
    "worst_frame",
    "has_warnings",
    "fingerprint",
    "ingredients",
    "version",
    "report",
    "bake_id",
    "checkpoint_folder",
    "take",
    "world_was_enabled",
    "world_collection",
)


def check_writable(scene, object_names):
    """Raise SceneError for the objects whose animation cannot be written."""
    _check(objects_by_name(scene), object_names)


def _check(objects, object_names):
    faults = Faults()
    for name in object_names:
        if name in objects:
            check_editable(objects[name], faults)
        else:
            faults.add(SceneError(name, "is no longer in the scene; bake again"))
    faults.raise_any()


def attach_steps(scene_name, actions, facts):
    """Give the built actions to their objects, all or none, as a generator; an error, or closing it, puts all back.

    Each step begins with (objects that are then done, objects).

    Parameters
    ----------
    scene_name : str
    actions : dict of str to str
        Names of the actions by those of the objects.
    facts : dict of str to object
        Properties of CairnScene that say that the scene is baked.

    Returns
    -------
    dict of str to str
        What is replaced, for ``remove_replaced``.
    """
    scene = bpy.data.scenes[scene_name]
    names = list(dict.fromkeys([*actions, *(obj.name for obj in earlier.baked_objects(scene))]))
    undo, replaced = None, {}
    try:
        for start in range(0, max(len(names), 1), ATTACHED):
            chunk = names[start : start + ATTACHED]
            yield start + len(chunk), len(names)
            scene = bpy.data.scenes[scene_name]
            objects, every = objects_by_name(scene), actions_by_name()
            if undo is None:
                _check(objects, actions)
                undo = _PutBack(scene)
                earlier.switch_world_on(scene)
                earlier.switch_world_off(scene, nested=any(_has_ancestor(objects[name], actions) for name in actions))
                for fact, value in facts.items():
                    setattr(scene.cairn, fact, value)
            _check(objects, [name for name in chunk if name in actions])
            for name in chunk:
                obj = objects.get(name)
                if obj is None:  # one that the new bake does not move, and that a script has removed
                    continue
                undo.remember(obj)
                made = earlier.take_off(obj) if obj.cairn.is_baked else None
                if made is not None:
                    replaced[made.name] = actions.get(name, "")
                if name in actions:
                    _put_on(obj, every[actions[name]])
        blender_world.guard_others(scene, names)
    except BaseException:  # also where Blender opens another file meanwhile
        if undo is not None:
            undo.put_back()
        raise
    return replaced


class _PutBack:
    """What a scene was like before a bake was given to it."""

    def __init__(self, scene):
        self._scene, self._session = scene.name, scene.session_uid
        self._world = earlier.World.of(scene)
        self._facts = {fact: getattr(scene.cairn, fact) for fact in ("is_baked", "baked_start", "baked_end", "take")}
        self._objects = {}

    def remember(self, obj):
        """Note how an object is that will be changed."""
        self._objects[obj.name] = earlier.Snapshot.of(obj)

    def put_back(self):
        """Put back what was noted, as far as it is still there."""
        scene = bpy.data.scenes.get(self._scene)
        if scene is None or scene.session_uid != self._session:
            return
        objects, actions = objects_by_name(scene), earlier.actions_by_full_name()
        for name, snapshot in self._objects.items():
            if name in objects:
                snapshot.put_back(objects[name], actions)
        self._world.put_back(scene)
        for fact, value in self._facts.items():
            setattr(scene.cairn, fact, value)


def actions_by_name():
    """Local actions: Blender's own search for a name goes through all of them each time."""
    return {action.name: action for action in bpy.data.actions if action.library is None}


def _has_ancestor(obj, names):
    parent = obj.parent
    while parent is not None and (parent.library is not None or parent.name not in names):
        parent = parent.parent
    return parent is not None


def _put_on(obj, action):
    """Give an object that is not baked the action of a bake."""
    kept = earlier.Kept.of(obj)
    slot = action.slots[0]
    bag = fcurves.channelbag(action, slot)
    impact_curves.give(obj, bag)
    kept.digests = earlier.copied_channels(bag, obj.rotation_mode)
    user_action, user_slot = earlier.earlier_action(obj)
    book = obj.cairn
    book.earlier_action = user_action
    book.earlier_slot = user_slot.handle if user_slot is not None else 0
    kept.start = since_bake.start_of_bake(obj, kept, bag)
    kept.write(obj)
    earlier.claim_bake(obj)
    book.is_baked = True
    earlier.assign(obj, action, slot)
    earlier.set_blending(obj.animation_data, ["REPLACE", 1.0, "HOLD"])
    earlier.mute_what_acts(obj, kept)


def keep_steps(scene_name):
    """Take over what the user has copied, moved and edited since the bake, some objects a step."""
    yield from since_bake.catch_up_steps(scene_name)
    names = [obj.name for obj in earlier.baked_objects(bpy.data.scenes[scene_name])]
    for start in range(0, len(names), ATTACHED):
        yield
        objects = objects_by_name(bpy.data.scenes[scene_name])
        for name in names[start : start + ATTACHED]:
            if name in objects:
                earlier.keep_edits(objects[name])


def remove_replaced(replaced):
    """Remove the actions of the bake before, and give the new ones their names."""
    for _ in remove_steps(replaced):
        pass


def remove_steps(replaced):
    """The same as a generator, which begins with a step that does nothing.

    In a window this should be done a step after the others: Blender looks for a removed action in all that it has still
    to tell its window, which after ``write_steps`` is something of each object.

    Parameters
    ----------
    replaced : dict of str to str
        What ``write_steps`` returns: by the old action's name the new one's, empty if there is none.
    """
    names = list(replaced)
    for start in range(0, len(names), REMOVED):
        yield
        every = actions_by_name()
        gone = [every[old] for old in names[start : start + REMOVED] if old in every and every[old].users == 0]
        new_names = {old.name: replaced[old.name] for old in gone}
        earlier.remove_unused(gone)
        for old, new in new_names.items():
            if new in every:
                every[new].name = old


def delete_bake(scene):
    """Take Cairn's keyframes off a scene and put everything back as it was before the bake.

    Returns
    -------
    int
        Number of objects that were given back.
    """
    steps = delete_steps(scene.name)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def delete_steps(scene_name):
    """The same as a generator of (objects done, objects), which returns how many were given back.

    Each object has its bake or what it had before; closing the generator after it has begun does the rest.
    """
    scene = bpy.data.scenes[scene_name]
    session = scene.session_uid
    for _ in since_bake.catch_up_steps(scene_name):
        yield 0, len(earlier.baked_objects(bpy.data.scenes[scene_name]))
    names = [obj.name for obj in earlier.baked_objects(bpy.data.scenes[scene_name])]
    scene, made, done = bpy.data.scenes[scene_name], [], 0
    try:
        while done < len(names):
            made += _give_back(scene, names[done : done + ATTACHED])
            done = min(done + ATTACHED, len(names))
            yield done, len(names)
            scene = bpy.data.scenes[scene_name]
    except GeneratorExit:
        scene = bpy.data.scenes.get(scene_name)
        if scene is not None and scene.session_uid == session:
            _conclude_deletion(scene, names, made + _give_back(scene, names[done:]))
        raise
    _conclude_deletion(scene, names, made)
    return len(names)


def _give_back(scene, names):
    """Take the bake off some objects; returns the names of the actions that they leave."""
    every = objects_by_name(scene)
    objects = [every[name] for name in names if name in every and every[name].cairn.is_baked]
    if not bpy.app.background:
        earlier.remove_actions(objects)
    return [action.name for action in map(earlier.take_off, objects) if action is not None]


def _conclude_deletion(scene, names, made):
    """Put back what a bake has changed of the scene, once its objects are given back."""
    earlier.switch_world_on(scene)
    blender_world.guard_others(scene, set(names))
    contact_points.remove_points(scene)
    report_curves.remove_curves(scene)
    for fact in FACTS:
        scene.cairn.property_unset(fact)
    refresh(scene)
    every = actions_by_name()
    earlier.remove_unused([every[name] for name in made if name in every])


def take_off_bake(obj):
    """Take the bake off one object that leaves the world, if it has one."""
    if obj.cairn.is_baked and obj.is_editable and earlier.owns_bake(obj):
        earlier.remove_unused([action for action in [earlier.take_off(obj)] if action is not None])


def objects_by_name(scene):
    """Objects of a scene and of its world by name; of two with one name (one is linked) the local one."""
    objects = {}
    for obj in earlier.objects_of(scene):
        if obj.library is None or obj.name not in objects:
            objects[obj.name] = obj
    return objects


def refresh(scene):
    """Evaluate the present frame, so that the window shows what the keys say."""
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
