"""What a bake depends on, as a few numbers an object that are quick to compare: says whether and why it is out of date.

The fingerprint of an export is exact, but an export evaluates frames and reads every shape. Here only settings, keys
and coordinates are read, of the scene as it lies there: nothing is evaluated and nothing is changed. What is keyed or
driven counts as its keys and drivers, at whatever frame is shown. Beside bodies and joints stand the *movers*: objects
that carry, constrain, drive or deform one of them, and those that do the same to these (movers.py).
"""

import base64
import json
import zlib
from collections.abc import Iterator

import bpy

from ..settings import OPTION_NAMES, VARIANT_NAMES, BakeSettings
from ..write import earlier_animation as earlier
from .activation import ACTIVATION_SETTINGS, has_activation, volume_of
from .force_fields import field_objects, field_values, has_field, weight_values
from .forces import FORCE_SETTINGS, has_force
from .glue import glue_values, strength_objects
from .guides import FOLLOW_SETTINGS, has_guide
from .joint_activation import JOINT_ACTIVATION_SETTINGS, has_joint_activation, joint_volume_of
from .keyed import Keyed
from .matter import MATTER_SETTINGS, has_matter
from .movers import motion_numbers, movers_of, number_of, shape_values
from .start_motion import START_SETTINGS, has_start_motion

# Settings of a rigid body by the word that the panel has for a change of any of them.
_BODY_SETTINGS = {
    "type": ("type", "enabled", "kinematic"),
    "friction": ("friction",),
    "bounciness": ("restitution",),
    "mass": ("mass",),
    "damping": ("linear_damping", "angular_damping"),
    "deactivation": (
        "use_deactivation",
        "use_start_deactivated",
        "deactivate_linear_velocity",
        "deactivate_angular_velocity",
    ),
    "collision collections": ("collision_collections",),
}
_SHAPE_SETTINGS = ("collision_shape", "mesh_source", "use_margin", "collision_margin")
PART_SETTINGS = ("concavity", "maximal_parts", "repair_resolution")
_WORDS_OF_OPTIONS = {"method": "solver", "friction": "friction model", "max_iterations": "iterations", "threads": None}
# Words of a digest that no panel has.
_TOLD = {"max_substeps": "substeps at most"}
# So many objects are read in a step: some hundredths of a second.
A_STEP = 64
# ... and of so many it is asked whether they play their bake: some thousandths.
LOOKED_AT = 1000
# Phrases that name what has changed; the rest is counted.
_NAMED = 3


def scene_digest(scene) -> dict:
    """Numbers of everything that a bake depends on.

    Returns
    -------
    dict
        {"scene": {word: number}, "movers", "bodies" and "joints": {name: {word: number}}}. Where a value names objects,
        it is a list of its number and these names, so that a new name is no change.
    """
    steps = scene_digest_steps(scene.name)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def scene_digest_steps(scene_name: str) -> Iterator[None]:
    """The same as a generator, ``A_STEP`` objects at a time, which returns the digest; between steps it holds names."""
    known: dict = {}
    digest: dict = {"scene": scene_numbers(bpy.data.scenes[scene_name]), "movers": {}, "bodies": {}, "joints": {}}
    names = [[ob.name_full for ob in group] for group in bodies_and_joints(bpy.data.scenes[scene_name])]
    named = {*names[0], *names[1]}
    yield
    waiting: list[str] = []  # movers, which may have others
    seen = set(named)

    def note_movers(ob):
        for mover in movers_of(ob):
            if mover.name_full not in seen:
                seen.add(mover.name_full)
                waiting.append(mover.name_full)

    readers = ("bodies", "rigid_body", body_numbers), ("joints", "rigid_body_constraint", joint_numbers)
    for group_names, (group, kind, numbers_of) in zip(names, readers, strict=True):
        for first in range(0, len(group_names), A_STEP):
            objects = _by_full_name(bpy.data.objects)
            for name in group_names[first : first + A_STEP]:
                ob = objects.get(name)
                if ob is not None and getattr(ob, kind) is not None:  # else a script has removed it meanwhile
                    digest[group][ob.name] = numbers_of(ob, known)
                    note_movers(ob)
            yield
    scene = bpy.data.scenes[scene_name]
    for ob in (*field_objects(scene), *strength_objects(scene)):
        if ob.name_full not in seen:
            seen.add(ob.name_full)
            waiting.append(ob.name_full)
    while waiting:
        objects = _by_full_name(bpy.data.objects)
        for _ in range(min(A_STEP, len(waiting))):
            ob = objects.get(waiting.pop())
            if ob is not None and ob.name not in digest["movers"]:
                digest["movers"][ob.name] = mover_numbers(ob, known)
                note_movers(ob)
        yield
    digest["movers"] = dict(sorted(digest["movers"].items()))
    return digest


def _by_full_name(objects):
    """Blender's own search for a name goes through all objects each time."""
    return {ob.name_full: ob for ob in objects}


def bodies_and_joints(scene) -> tuple[list, list]:
    """Objects of the rigid body world, whether the scene is baked or not."""
    world = scene.rigidbody_world
    collection = scene.cairn.world_collection or world.collection
    bodies = [ob for ob in collection.all_objects if ob.rigid_body is not None] if collection is not None else []
    constraints = world.constraints
    joints = [ob for ob in constraints.all_objects if ob.rigid_body_constraint is not None] if constraints else []
    return bodies, joints


def packed(digest) -> str:
    """A digest as text that is short where bodies are alike."""
    return base64.b85encode(zlib.compress(json.dumps(digest).encode(), 6)).decode()


def unpacked(text) -> dict:
    return json.loads(zlib.decompress(base64.b85decode(text)))


def baked_digest(digest, scene) -> dict:
    """The digest of a scene that has just been baked, with the names of what the bake has keyed."""
    return {**digest, "keyed": [ob.name for ob in earlier.baked_objects(scene)]}


def without_keys_steps(before, scene_name):
    """Change in words of what the bake has keyed and what has lost these keys: by Delete Bake in another scene, say.

    A generator, ``LOOKED_AT`` objects at a time, which returns a list of words.
    """
    lost, keyed = [], before.get("keyed", ())
    for first in range(0, len(keyed), LOOKED_AT):
        # Blender's own search for a name goes through all of them
        objects = {ob.name: ob for ob in bpy.data.scenes[scene_name].objects}
        names = [name for name in keyed[first : first + LOOKED_AT] if name in objects]
        lost += [name for name in names if not earlier.plays_bake(objects[name])]
        del objects
        yield
    return [f"keys of {_counted(lost, 'bodies')}"] if lost else []


# Groups of a digest, in the order in which names refer to each other, with one and many of it in words.
_GROUPS = (
    ("movers", "object that moves bodies", "objects"),
    ("bodies", "body", "bodies"),
    ("joints", "joint", "joints"),
)


def changes(before, now) -> list[str]:
    """What differs between two digests, in words: "friction of 10 bodies", "3 new bodies", "substeps"."""
    if all(before.get(group) == now[group] for group in now):  # most of the time, and quickly known
        return []
    found = [_TOLD.get(word, word) for word in now["scene"] if before["scene"].get(word) != now["scene"][word]]
    names: dict[str, str] = {}  # present ones by those in ``before``
    renamed = {}
    for group, _, _ in _GROUPS:
        # what moves a mover may be a body, whose new name is not known yet
        renamed[group] = _renamed(before.get(group, {}), now[group], names, only_numbers=group == "movers")
        names.update(renamed[group])
    for group, singular, plural in sorted(_GROUPS, key=lambda entry: entry[0] == "movers"):
        old, new = before.get(group, {}), now[group]
        present = {renamed[group].get(name, name): numbers for name, numbers in old.items()}
        touched: dict[str, list[str]] = {}
        for name in new.keys() & present.keys():
            if not names and present[name] == new[name]:  # most are, which is quickly known
                continue
            for word in new[name].keys() | present[name].keys():
                if not _is_same(present[name].get(word), new[name].get(word), names):
                    touched.setdefault(word, []).append(name)
        found.extend(f"{word} of {_counted(touched[word], plural)}" for word in sorted(touched))
        if group == "movers":  # whose movers they are, or were, has changed, which is said
            continue
        for gone, text in ((new.keys() - present.keys(), "new"), (present.keys() - new.keys(), "removed")):
            if gone:
                found.append(f"{len(gone):,} {text} {singular if len(gone) == 1 else plural}")
    return found


def _renamed(old, new, names, *, only_numbers=False):
    """Objects that were given other names, {old name: new name}: nothing else has changed of them.

    Of two that have new names one may refer to the other, which is found first.
    """
    added, gone, renamed = sorted(new.keys() - old.keys()), sorted(old.keys() - new.keys()), {}
    waiting = None
    while waiting != gone:
        waiting, gone = gone, []
        for name in waiting:
            words, known = old[name].keys(), {**names, **renamed}
            for other in added:
                if words == new[other].keys() and all(
                    _is_same(old[name][word], new[other][word], known, only_numbers) for word in words
                ):
                    renamed[name] = other
                    added.remove(other)
                    break
            else:
                gone.append(name)
    return renamed


def _is_same(before, now, names, only_numbers=False):
    """Whether two values of a digest agree: a number, or a number and the names of objects, some of them renamed."""
    if isinstance(before, int) or isinstance(now, int) or before is None or now is None:
        return before == now
    if before[0] != now[0]:
        return False
    return only_numbers or [names.get(name, name) for name in before[1:]] == now[1:]


def _counted(names, plural):
    return names[0] if len(names) == 1 else f"{len(names):,} {plural}"


def changes_sentence(found) -> str:
    """The changes in a line for the panel; empty without any."""
    if not found:
        return ""
    more = len(found) - _NAMED
    return "Out of date: " + ", ".join(found[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _settings(owner, prefix, names, keyed):
    return [keyed.still(prefix + name, getattr(owner, name)) for name in names]


def scene_numbers(scene) -> dict:
    """Numbers of what is set for all bodies."""
    world, settings, keyed = scene.rigidbody_world, BakeSettings.from_scene(scene), Keyed(scene)

    def option(name):
        value = getattr(settings, name)
        return value if keyed.still(f"cairn.{name}", getattr(scene.cairn, name)) is not None else None

    numbers = {}
    for name in OPTION_NAMES:
        word = None if name in VARIANT_NAMES else _WORDS_OF_OPTIONS.get(name, name)
        if word is not None:
            numbers[word] = number_of(option(name))
    variants = [(name, option(name)) for name in VARIANT_NAMES if getattr(settings, name) is not None]
    if variants:
        numbers["solver"] = number_of((settings.method, variants))
    start = world.point_cache.frame_start if settings.start is None else settings.start
    end = world.point_cache.frame_end if settings.end is None else settings.end
    numbers["range"] = number_of((start, end))
    weights, render = world.effector_weights, scene.render
    pull = [
        keyed.still("use_gravity", scene.use_gravity),
        keyed.still("gravity", scene.gravity),
        *_settings(weights, "rigidbody_world.effector_weights.", ("gravity", "all"), keyed),
    ]
    numbers["gravity"] = number_of((pull, keyed.digests(_is_gravity)))
    rate = _settings(render, "render.", ("fps", "fps_base"), keyed)
    numbers["frame rate"] = number_of((rate, keyed.digests(_is_frame_rate)))
    speed = keyed.still("rigidbody_world.time_scale", world.time_scale)
    numbers["Speed of the Rigid Body World"] = number_of((speed, keyed.digests(_is_speed)))
    fields = field_objects(scene)
    if fields:  # no word else: digests of former versions have none
        numbers["force fields"] = number_of((len(fields), weight_values(scene, keyed)))
    bonds = glue_values(scene)
    if bonds:
        numbers["glue"] = number_of(bonds)
    return numbers


def _is_gravity(path):
    return path.startswith(("gravity", "use_gravity", "rigidbody_world.effector_weights"))


def _is_frame_rate(path):
    return path.startswith("render.fps")


def _is_speed(path):
    return path.startswith("rigidbody_world.time_scale")


def mover_numbers(ob, known) -> dict:
    """Numbers of an object that moves a body, or one that does."""
    keyed = Keyed(ob)
    numbers = motion_numbers(ob, keyed, known) | {"shape": number_of(shape_values(ob, keyed, known))}
    return numbers | _field_number(ob, keyed)


def _field_number(ob, keyed) -> dict:
    """The number of an object's force field; none without."""
    return {"force field": number_of(field_values(ob, keyed))} if has_field(ob) else {}


def body_numbers(ob, known) -> dict:
    """Numbers of a body; ``known`` keeps those of meshes that several share."""
    body, keyed = ob.rigid_body, Keyed(ob)
    numbers = {word: number_of(_settings(body, "rigid_body.", names, keyed)) for word, names in _BODY_SETTINGS.items()}
    shape = [
        *_settings(body, "rigid_body.", _SHAPE_SETTINGS, keyed),
        *_settings(ob.cairn, "cairn.", PART_SETTINGS, keyed),
        shape_values(ob, keyed, known),
    ]
    numbers["shape"] = number_of(shape)
    if has_start_motion(ob):  # no word else: digests of former versions have none
        numbers["initial motion"] = number_of(_settings(ob.cairn, "cairn.", START_SETTINGS, keyed))
    if has_matter(ob):
        numbers["matter"] = number_of(_settings(ob.cairn, "cairn.", MATTER_SETTINGS, keyed))
    if has_activation(ob):
        values, volume = _settings(ob.cairn, "cairn.", ACTIVATION_SETTINGS, keyed), volume_of(ob)
        numbers["activation"] = [number_of(values), *([] if volume is None else [volume.name])]
    if has_force(ob):
        numbers["constant force"] = number_of(_settings(ob.cairn, "cairn.", FORCE_SETTINGS, keyed))
    if has_guide(ob):
        numbers["follow"] = number_of(_settings(ob.cairn, "cairn.", FOLLOW_SETTINGS, keyed))
    numbers["locked axes"] = number_of(_settings(ob, "", ("lock_location", "lock_rotation"), keyed))
    return numbers | motion_numbers(ob, keyed, known) | _field_number(ob, keyed)


def joint_numbers(ob, known) -> dict:
    """Number of a joint's settings and place, and the names of the objects that they name."""
    keyed = Keyed(ob)
    values, names = [], []
    for owner, prefix in ((ob.rigid_body_constraint, "rigid_body_constraint."), (ob.cairn.joint, "cairn.joint.")):
        # Blender 5.3 lists a group's name twice
        for prop in {prop.identifier: prop for prop in owner.bl_rna.properties}.values():
            value = getattr(owner, prop.identifier)
            if prop.type == "POINTER":
                names.append(value.name if value is not None and prop.identifier != "rna_type" else "")
            else:
                values.append(keyed.still(prefix + prop.identifier, value))
    if has_joint_activation(ob):  # else digests are those of former versions
        values.append(_settings(ob.cairn, "cairn.", JOINT_ACTIVATION_SETTINGS, keyed))
        names.append(getattr(joint_volume_of(ob), "name", ""))
    motion = motion_numbers(ob, keyed, known)
    place = motion["start pose"]
    return {"settings": [number_of((values, place[0], motion["animation"])), *names, *place[1:]]}
