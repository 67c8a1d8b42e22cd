"""What an object had before a bake: kept by the bake, given back by Delete Bake.

A bake gives each object an action of its own ("Cube Cairn") and leaves the user's action alone; a pointer on the object
keeps it in the file. Channels other than location and rotation are copied into the bake's action, so that they go on
playing. If the user edits one of these copies after the bake, the edit is carried over to the user's own action before
the bake is deleted or made anew (``keep_edits``): digests taken at the bake tell which copies were edited.

Constraints, and drivers of location and rotation, would act on top of the baked keys; the bake mutes them.
"""

import contextlib
import dataclasses
import functools
import json

from . import blender_world, fcurves, impact_curves
from .channels import rotation_path

# Marks an action that a bake has made; a custom property survives the copies that Duplicate Objects makes.
MARK = "cairn"
ROTATION_PATHS = ("rotation_quaternion", "rotation_euler", "rotation_axis_angle")
# Properties of CairnObject that a bake sets.
BOOKKEEPING = ("is_baked", "earlier_action", "earlier_slot", "earlier_state", "owner_name", "owner_session")


def is_bake_action(action):
    """Whether a bake has made this action (or the one that it is a copy of)."""
    return action is not None and MARK in action


def is_own(path, rotation_mode):
    """Whether a bake replaces the channel of this path."""
    if path == "location" or path == rotation_path(rotation_mode):
        return True
    # Switching a constraint on again by a key would spoil the bake.
    return path.startswith("constraints[") and path.endswith((".mute", ".enabled"))


@dataclasses.dataclass
class Kept:
    """What ``CairnObject.earlier_state`` holds, beside the action."""

    had_animation_data: bool
    location: list
    rotation: list
    rotation_mode: str
    constraints: list  # names of those that the bake has muted
    drivers: list  # [path, index] of those that the bake has muted
    blending: list  # the action's blend type, influence and extrapolation above NLA tracks
    digests: dict  # "path|index" of each channel that the bake has copied -> digest at the bake
    start: dict | None = None  # first frame of the bake's keys and {path: values} there (since_bake.start_of_bake)

    @classmethod
    def of(cls, obj):
        """What a bake that starts now has to keep of an object that is not baked."""
        data = obj.animation_data
        path = rotation_path(obj.rotation_mode)
        return cls(
            had_animation_data=data is not None,
            location=list(obj.location),
            rotation=list(getattr(obj, path)),
            rotation_mode=obj.rotation_mode,
            constraints=[constraint.name for constraint in obj.constraints if not constraint.mute],
            drivers=[list(fcurves.key_of(driver)) for driver in acting_drivers(obj)],
            blending=blending_of(data),
            digests={},
        )

    @classmethod
    def read(cls, obj):
        """Read an object's bookkeeping."""
        return cls(**json.loads(obj.cairn.earlier_state))

    def write(self, obj):
        obj.cairn.earlier_state = json.dumps(vars(self))


def kept_rotation_mode(obj):
    """The rotation mode that a baked object had at the bake: what ``Kept.read`` says, quicker."""
    return _rotation_mode(obj.cairn.earlier_state)


@functools.lru_cache(maxsize=8192)
def _rotation_mode(state):
    return json.loads(state)["rotation_mode"]


def acting_drivers(obj):
    """Drivers that would override what a bake writes."""
    data = obj.animation_data
    if data is None:
        return []
    return [curve for curve in data.drivers if is_own(curve.data_path, obj.rotation_mode) and not curve.mute]


def blending_of(data):
    """How an object's action is laid over its NLA tracks."""
    if data is None:
        return ["REPLACE", 1.0, "HOLD"]
    return [data.action_blend_type, data.action_influence, data.action_extrapolation]


def set_blending(data, blending):
    data.action_blend_type, data.action_influence, data.action_extrapolation = blending


def is_marked_baked(obj):
    """Whether an object's bookkeeping says that it is baked; who reads from a script may not have registered it."""
    book = getattr(obj, "cairn", None)
    return book is not None and book.is_baked


def earlier_action(obj):
    """The user's action and slot of an object, whether it is baked or not; (None, None) if there is none."""
    data = obj.animation_data
    if is_marked_baked(obj) and not _is_replaced(obj):
        return obj.cairn.earlier_action, fcurves.find_slot(obj.cairn.earlier_action, obj.cairn.earlier_slot)
    return (None, None) if data is None else (data.action, data.action_slot)


def owns_bake(obj):
    """Whether a baked object's bookkeeping is its own; if not, it is a copy of the object that was baked.

    Both are asked: a name changes by renaming (``follow_name``), a session's number by opening the file.
    """
    book = obj.cairn
    if not book.owner_name:  # of a bake before owners were noted
        return True
    return book.owner_name == obj.name or book.owner_session == str(obj.session_uid)


def plays_bake(obj):
    """Whether a baked object has the action that its bake has made."""
    return is_marked_baked(obj) and obj.animation_data is not None and is_bake_action(obj.animation_data.action)


def plays_bake_of(owner):
    """The same of any data-block: a baked object that owns its bookkeeping and plays the bake's action."""
    is_object = hasattr(owner, "rigid_body")
    return is_object and plays_bake(owner) and owns_bake(owner)


def claim_bake(obj):
    """Note an object as the owner of its bookkeeping."""
    obj.cairn.owner_name, obj.cairn.owner_session = obj.name, str(obj.session_uid)


def follow_name(obj):
    """Note a new name of a baked object, for the sessions to come; copies keep that of their original."""
    book = obj.cairn
    if book.is_baked and obj.is_editable and book.owner_session == str(obj.session_uid) and book.owner_name != obj.name:
        book.owner_name = obj.name


def _is_replaced(obj):
    """Whether the user has given a baked object another action in the place of the bake's."""
    data = obj.animation_data
    return data is not None and data.action is not None and not is_bake_action(data.action)


@dataclasses.dataclass
class Snapshot:
    """All that this module and keyframes.py may change on an object, to put it back in an instant; it holds names."""

    action: str | None
    slot: int | None
    had_animation_data: bool
    blending: list
    transform: dict
    constraints: list
    drivers: dict
    bookkeeping: dict
    earlier_action: str | None
    has_impact: bool

    @classmethod
    def of(cls, obj):
        data, book = obj.animation_data, obj.cairn
        return cls(
            action=_full_name(data.action) if data else None,
            slot=data.action_slot.handle if data and data.action_slot else None,
            had_animation_data=data is not None,
            blending=blending_of(data),
            transform={path: tuple(getattr(obj, path)) for path in ("location", *ROTATION_PATHS)},
            constraints=[constraint.mute for constraint in obj.constraints],
            drivers={fcurves.key_of(curve): curve.mute for curve in data.drivers} if data else {},
            bookkeeping={name: getattr(book, name) for name in BOOKKEEPING if name != "earlier_action"},
            earlier_action=_full_name(book.earlier_action),
            has_impact=impact_curves.NAME in obj,
        )

    def put_back(self, obj, actions):
        """Put an object back; ``actions`` are those of ``actions_by_full_name``."""
        if not self.had_animation_data:
            obj.animation_data_clear()
        else:
            action = actions.get(self.action)
            assign(obj, action, fcurves.find_slot(action, self.slot))
            set_blending(obj.animation_data, self.blending)
            for curve in obj.animation_data.drivers:
                curve.mute = self.drivers.get(fcurves.key_of(curve), curve.mute)
        for path, values in self.transform.items():
            setattr(obj, path, values)
        for constraint, mute in zip(obj.constraints, self.constraints, strict=True):
            constraint.mute = mute
        obj.cairn.earlier_action = actions.get(self.earlier_action)
        for name, value in self.bookkeeping.items():
            setattr(obj.cairn, name, value)
        if self.has_impact:
            impact_curves.make(obj)
        else:
            impact_curves.take(obj)


def _full_name(data):
    """The name of a data-block, which tells it from those of other files; None of none."""
    return None if data is None else data.name_full


def actions_by_full_name():
    """All actions: Blender's own search for a name goes through all of them each time."""
    import bpy

    return {action.name_full: action for action in bpy.data.actions}


def assign(obj, action, slot):
    """Give an object an action (or none) and the slot in it (or none)."""
    data = obj.animation_data or obj.animation_data_create()
    data.action = action
    if action is not None:
        data.action_slot = slot


def give_back(obj):
    """Put a baked object as it was before the bake; its bookkeeping stays.

    An action that the user has put in the bake's place stays too.
    """
    kept = Kept.read(obj)
    if _is_replaced(obj):
        if obj.cairn.earlier_action is not None:  # what nothing uses would be lost when the file is saved
            obj.cairn.earlier_action.use_fake_user = True
    else:
        if obj.animation_data is not None:
            obj.animation_data.use_tweak_mode = False  # no action can be assigned in it
        assign(obj, *earlier_action(obj))
        set_blending(obj.animation_data, kept.blending)
    _mute(obj, kept, False)
    obj.location = kept.location
    path = rotation_path(kept.rotation_mode)
    setattr(obj, path, kept.rotation)
    data = obj.animation_data
    if not kept.had_animation_data and data.action is None and not data.nla_tracks and not data.drivers:
        obj.animation_data_clear()


def mute_what_acts(obj, kept):
    """Mute the constraints and drivers that would act on top of the bake."""
    _mute(obj, kept, True)


def _mute(obj, kept, mute):
    for name in kept.constraints:
        if name in obj.constraints:
            obj.constraints[name].mute = mute
    muted = {tuple(key) for key in kept.drivers}
    if obj.animation_data is not None:
        for curve in obj.animation_data.drivers:
            if fcurves.key_of(curve) in muted:
                curve.mute = mute


def copied_channels(bag, rotation_mode):
    """Digests of the channels of a bake's action that are copies of the user's, by "path|index"."""
    return {
        f"{curve.data_path}|{curve.array_index}": fcurves.digest(curve)
        for curve in (bag.fcurves if bag is not None else ())
        if not is_own(curve.data_path, rotation_mode) and not impact_curves.is_impact(curve.data_path)
    }


def keep_edits(obj):
    """Carry edits of copied channels over to the user's own action, and keys that the user has added since the bake.

    Does nothing if there are none. An action that others use too is not touched: the object gets a copy.
    """
    data = obj.animation_data
    if data is None or not is_bake_action(data.action):
        return
    kept = Kept.read(obj)
    bag = fcurves.channelbag(data.action, data.action_slot)
    now = copied_channels(bag, kept.rotation_mode)
    edited = [name for name in kept.digests.keys() | now.keys() if kept.digests.get(name) != now.get(name)]
    if not edited:
        return
    target = _own_channels(obj)
    curves, targets = fcurves.curves_of(bag), fcurves.curves_of(target)
    for name in sorted(edited):
        path, _, index = name.rpartition("|")
        key = path, int(index)
        if key in targets:
            target.fcurves.remove(targets[key])
        if key in curves:
            fcurves.copy_curve(curves[key], target)
    kept.digests = now
    kept.write(obj)


def _own_channels(obj):
    """Channel bag of an earlier action that is this object's alone, made where there is none."""
    import bpy

    action, slot = earlier_action(obj)
    if action is None:
        action = bpy.data.actions.new(f"{obj.name}Action")
        slot = action.slots.new("OBJECT", obj.name)
    elif action.users - action.use_fake_user > 1 or not action.is_editable:  # one user is our pointer
        handle = slot.handle if slot is not None else None
        action = action.copy()
        slot = fcurves.find_slot(action, handle)
    if slot is None:
        slot = action.slots.new("OBJECT", obj.name)
    obj.cairn.earlier_action, obj.cairn.earlier_slot = action, slot.handle
    return fcurves.channelbag(action, slot, ensure=True)


@dataclasses.dataclass
class World:
    """What a bake changes on the rigid body world, to put it back; it holds names."""

    enabled: bool
    collection: str | None
    was_enabled: bool
    kept_collection: str | None
    waits: bool
    is_held: bool

    @classmethod
    def of(cls, scene):
        world, book = scene.rigidbody_world, scene.cairn
        return cls(
            enabled=world.enabled,
            collection=_full_name(world.collection),
            was_enabled=book.world_was_enabled,
            kept_collection=_full_name(book.world_collection),
            waits=book.world_waits,
            is_held=book.world_is_held,
        )

    def put_back(self, scene):
        world, book = scene.rigidbody_world, scene.cairn
        world.enabled = self.enabled
        if _full_name(world.collection) != self.collection:
            world.collection = _collection_of(scene, self.collection)
        book.world_was_enabled, book.world_waits, book.world_is_held = self.was_enabled, self.waits, self.is_held
        book.world_collection = _collection_of(scene, self.kept_collection)


def _collection_of(scene, full_name):
    """The collection of a name, or None; a scene's own is not among the others."""
    import bpy

    found = [collection for collection in bpy.data.collections if collection.name_full == full_name]
    if not found and scene.collection.name_full == full_name:
        return scene.collection
    return found[0] if found else None


def switch_world_off(scene, *, nested):
    """Switch Blender's own simulation off, as it would move the baked objects.

    With ``nested`` (baked bodies that are children of baked bodies) the world's collection is taken out too: even a
    disabled world makes such parents depend on their children, and Blender shows poses of the frame before.
    """
    world, book = scene.rigidbody_world, scene.cairn
    book.world_was_enabled = blender_world.switch_off(scene)
    if nested:
        book.world_collection = world.collection
        world.collection = None


def switch_world_on(scene):
    """Put the rigid body world as it was before the bake."""
    if scene.rigidbody_world is None or not scene.cairn.is_baked:
        return
    _put_collection_back(scene)
    blender_world.switch_off(scene)
    if scene.cairn.world_was_enabled:
        blender_world.switch_on(scene)


def _put_collection_back(scene):
    """Give the rigid body world the collection that a bake had to take out."""
    world, book = scene.rigidbody_world, scene.cairn
    if book.world_collection is not None:
        if world.collection is not None:  # bodies that the user has added since
            present = set(book.world_collection.objects)
            for obj in set(world.collection.objects) - present:
                book.world_collection.objects.link(obj)
        world.collection = book.world_collection


def bodies_collection(scene):
    """The collection of a scene's rigid bodies, which a bake may have taken out of its world; None if there is none."""
    # who reads a scene from a script may not have registered the add-on
    book, world = getattr(scene, "cairn", None), scene.rigidbody_world
    kept = book.world_collection if book is not None else None
    return kept or (world.collection if world is not None else None)


def is_collection_split(scene):
    """Whether bodies were added since a bake that has taken the world's collection out: there are two until it ends."""
    return None not in (scene.cairn.world_collection, scene.rigidbody_world.collection)


def shows_earlier(obj, frame):
    """Whether a baked object is at a frame where it would be without its bake, to the bit.

    It is at the first frame of the bake's keys and before it, if nothing but the object's own channels says where it
    is: these are the first key (``since_bake.is_where_it_was_put``).
    """
    kept, data = Kept.read(obj), obj.animation_data
    if kept.start is None or kept.rotation_mode != obj.rotation_mode or not plays_bake(obj):
        return False
    if data.use_tweak_mode or any(track.strips for track in data.nla_tracks):
        return False
    curves = fcurves.curves_of(fcurves.channelbag(data.action, data.action_slot))
    return all(
        _has_value(curves.get((path, index)), frame, value)
        for path, values in (("location", kept.location), (rotation_path(kept.rotation_mode), kept.rotation))
        for index, value in enumerate(values)
    )


def _has_value(curve, frame, value):
    is_muted = curve is None or curve.mute or (curve.group is not None and curve.group.mute)
    return not is_muted and curve.evaluate(frame) == value


def objects_of(scene):
    """Objects of a scene, and bodies that its world simulates although they are not in it: what is only instanced."""
    objects = list(scene.objects)
    world = scene.rigidbody_world
    collection = scene.cairn.world_collection or (world.collection if world is not None else None)
    if collection is not None:
        present = set(objects)
        objects += [obj for obj in collection.all_objects if obj not in present]
    return objects


def baked_objects(scene):
    """Objects of a scene that carry a bake of their own, and may be changed."""
    return [obj for obj in objects_of(scene) if carries_bake(obj)]


def carries_bake(obj):
    """Whether an object carries a bake of its own, and may be changed."""
    return obj.cairn.is_baked and obj.is_editable and owns_bake(obj)


def take_off(obj):
    """Put a baked object as it was, and return the action that the bake had made (None if the user has replaced it)."""
    keep_edits(obj)
    data = obj.animation_data
    made = data.action if data is not None and is_bake_action(data.action) else None
    give_back(obj)
    impact_curves.take(obj)
    for name in BOOKKEEPING:
        obj.cairn.property_unset(name)
    return made


def remove_actions(objects):
    """Delete the actions that a bake has made for objects, as far as nothing else uses them.

    They are still in use: Blender looks for each in all that it has still to tell its window, and giving an object back
    is something to tell.
    """
    import bpy

    for obj in objects:
        keep_edits(obj)
    actions = {obj.animation_data.action for obj in objects if obj.animation_data is not None}
    own = {action for action in actions if is_bake_action(action) and action.users == 1}
    if own:
        bpy.data.batch_remove(own)


def remove_unused(actions):
    """Delete actions that nothing uses: a user who has put one to another use keeps it."""
    import bpy

    unused = {action for action in actions if action.users == 0}
    if not unused:  # a window would be drawn anew after removing nothing, too
        return
    if not bpy.app.background:
        bpy.data.batch_remove(unused)
        return
    # Nothing shows them, and nobody is to be told: looking for that takes seconds for thousands.
    for action in unused:
        bpy.data.actions.remove(action, do_unlink=False, do_ui_user=False)


@contextlib.contextmanager
def earlier_animation(scene, objects=None):
    """Show a baked scene as it was before the bake, as long as the context lasts.

    Used around export and sampling when a scene is baked anew: nothing is seen of it between two ticks, so an autosave
    keeps the bake. The evaluated scene is stale afterwards; whoever needs it sets the frame again.

    Parameters
    ----------
    scene : bpy.types.Scene
    objects : sequence of bpy.types.Object, optional
        Some of its ``baked_objects``, which alone are shown so, for a copy of the scene that is evaluated meanwhile.
    """
    is_whole = objects is None
    if is_whole:
        objects = baked_objects(scene)
    for obj in objects:
        keep_edits(obj)
    snapshots = [(obj, Snapshot.of(obj)) for obj in objects]
    world = None
    if is_whole and scene.cairn.is_baked and scene.rigidbody_world is not None:
        world = World.of(scene)
    try:
        for obj in objects:
            give_back(obj)
        if world is not None:
            _put_collection_back(scene)
            scene.rigidbody_world.enabled = False
        yield
    finally:
        actions = actions_by_full_name() if snapshots else {}
        for obj, snapshot in snapshots:
            snapshot.put_back(obj, actions)
        if world is not None:
            world.put_back(scene)
