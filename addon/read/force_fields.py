"""Blender's force fields as the core's: which act on rigid bodies, and what they are at a frame.

They are what Blender's own rigid bodies feel: fields of objects, with the effector weights of the Rigid Body World. A
body that has a field itself is moved by none, as in Blender, but by that of other charges if its own is a charge.
"""

from collections.abc import Iterator

import numpy as np

from ...solver_core.model import fields as kinds
from ...solver_core.model.errors import ModelError
from .exported_scene import ExportedField
from .faults import SceneError
from .keyed import Keyed
from .notes import Note
from .object_keys import find_object, key_of
from .scene_animation import animated_paths

# Kinds of Blender that the core has, with the name of their effector weight.
_KINDS = {
    "FORCE": (kinds.Force, "force"),
    "WIND": (kinds.Wind, "wind"),
    "VORTEX": (kinds.Vortex, "vortex"),
    "HARMONIC": (kinds.Harmonic, "harmonic"),
    "DRAG": (kinds.Drag, "drag"),
    "CHARGE": (kinds.Charge, "charge"),
    "MAGNET": (kinds.Magnetic, "magnetic"),
    "MAGNETIC": (kinds.Magnetic, "magnetic"),
    "TURBULENCE": (kinds.Turbulence, "turbulence"),
}
_WEIGHTS = ("all", *dict.fromkeys(weight for _, weight in _KINDS.values()))
# Coefficients of drag above this one count as it, as in Blender.
_MOST_DRAG = 2.0
# What is read of a field.
_SETTINGS = (
    "type",
    "shape",
    "strength",
    "flow",
    "noise",
    "seed",
    "apply_to_location",
    "falloff_type",
    "z_direction",
    "falloff_power",
    "use_min_distance",
    "distance_min",
    "use_max_distance",
    "distance_max",
    "radial_falloff",
    "use_radial_min",
    "radial_min",
    "use_radial_max",
    "radial_max",
    "linear_drag",
    "quadratic_drag",
    "harmonic_damping",
    "rest_length",
    "size",
    "use_global_coords",
    "use_gravity_falloff",
)


def has_field(ob) -> bool:
    """Whether an object has a force field of any kind."""
    return ob.field is not None and ob.field.type != "NONE"


def field_objects(scene) -> list:
    """Objects whose fields may act on the bodies of a scene, evaluated by the core or not, in the order of their names.

    Those of the effector collection of the Rigid Body World, or of the whole scene.
    """
    world = scene.rigidbody_world
    collection = world.effector_weights.collection if world is not None else None
    objects = scene.objects if collection is None else collection.all_objects
    return sorted((ob for ob in objects if has_field(ob)), key=lambda ob: ob.name_full)


def why_left_out(ob) -> str:
    """Why the core does not evaluate an object's field, as the rest of a sentence; empty if it does."""
    if ob.field.type not in _KINDS:
        return f"its force field is of the kind {_shown(ob.field, 'type')}, which Cairn does not know: it has no effect"
    if ob.field.shape not in {"POINT", "LINE", "PLANE"}:
        return (
            f"its force field has the shape {_shown(ob.field, 'shape')}: it has no effect; choose Point, Line or Plane"
        )
    return ""


def _shown(field, name) -> str:
    return field.bl_rna.properties[name].enum_items[getattr(field, name)].name


def field_notes(scene, world) -> Iterator[Note]:
    """Notes on force fields that have no effect, and on what acts otherwise than in Blender."""
    if world.effector_weights.all == 0.0:
        return
    for ob in field_objects(scene):
        reason = why_left_out(ob)
        if reason:
            yield Note("warning", ob.name, reason)
        elif ob.field.type == "TURBULENCE" and ob.field.strength != 0.0:
            yield Note("info", ob.name, "its turbulence has the size and strength of Blender's, and other eddies")
        if ob.rigid_body is not None and ob.rigid_body.type == "ACTIVE":
            yield Note("info", ob.name, "has a force field itself, so fields do not move it, as in Blender")
    if any(not why_left_out(ob) for ob in field_objects(scene)):
        rate = scene.render.fps
        text = (
            "force fields act as on particles, with all of their strength; Blender's own rigid bodies feel "
            f"1/{rate} of it: divide their Strength by {rate} for the same"
        )
        yield Note("info", None, text)
    for ob in scene.objects:
        for system in ob.particle_systems:
            settings = system.settings
            if any(
                field is not None and field.type != "NONE" for field in (settings.force_field_1, settings.force_field_2)
            ):
                yield Note("warning", ob.name, "its particles have a force field: Cairn does not know these")


def add_fields(builder, scene, depsgraph, objects, moves, survey) -> list[ExportedField]:
    """Add the force fields of a scene to a model, as they are at the evaluated frame.

    Parameters
    ----------
    builder : ModelBuilder
        With all bodies.
    scene : bpy.types.Scene
    depsgraph : bpy.types.Depsgraph
    objects : sequence of bpy.types.Object
        Those of the bodies, in the model's order.
    moves : dict of str to bool
        Whether a body moves by simulation.
    survey : AnimationSurvey

    Raises
    ------
    SceneError
    """
    found = []
    weighted = any(path == "*" or path.startswith("rigidbody_world.effector") for path in animated_paths(scene))
    if scene.rigidbody_world.effector_weights.all == 0.0 and not weighted:
        return found
    weights = depsgraph.scene_eval.rigidbody_world.effector_weights
    index = {ob.name_full: body for body, ob in enumerate(objects)}
    for ob in field_objects(scene):
        if why_left_out(ob):
            continue
        carrier = index.get(ob.name_full) if moves.get(ob.name_full, False) else None
        name, library = key_of(ob)
        is_keyed = any(path == "*" or path.startswith("field") for path in animated_paths(ob))
        may_move = carrier is None and survey.may_move(ob)
        field = field_at(ob, ob.evaluated_get(depsgraph), weights, carrier is not None)
        builder.add_field(field, carrier)
        found.append(ExportedField(name, library, carrier is not None, weighted or is_keyed or may_move))
    if found:
        for body, ob in enumerate(objects):
            if has_field(ob):
                charge = ob.field.strength if ob.field.type == "CHARGE" else 0.0
                builder.respond_to_fields(body, responds=False, charge=charge)
    return found


def fields_at(fields: list[ExportedField], depsgraph) -> tuple:
    """All fields of an export at an evaluated frame, as ``FrameInput`` takes them.

    Raises
    ------
    SceneError
        An object was deleted or renamed, has no field any more, or one with values that are no numbers.
    """
    weights, found = depsgraph.scene_eval.rigidbody_world.effector_weights, []
    for field in fields:
        ob = find_object(field.object_name, field.library)
        if ob is None or not has_field(ob):
            raise SceneError(field.object_name, "has no force field any more; bake again")
        found.append(field_at(ob, ob.evaluated_get(depsgraph), weights, field.is_carried))
    return tuple(found)


def field_at(ob, evaluated, weights, is_carried) -> kinds.Field:
    """A field of the core as an object's is at an evaluated frame; of a body that carries it, in that one's frame."""
    field = evaluated.field
    kind, weight = _KINDS[field.type]
    matrix = np.array(evaluated.matrix_world)
    length = np.linalg.norm(matrix[:3, 2])
    axis = matrix[:3, 2] / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    given = {
        "position": tuple(matrix[:3, 3].tolist()),
        "axis": tuple(axis.tolist()),
        "strength": field.strength,
        "flow": field.flow,
        "noise": field.noise,
        "seed": field.seed,
        "shape": field.shape.lower(),
        "falloff": field.falloff_type.lower(),
        "side": field.z_direction.lower(),
        "power": field.falloff_power,
        "least_distance": field.distance_min if field.use_min_distance else 0.0,
        "most_distance": field.distance_max if field.use_max_distance else np.inf,
        "radial_power": field.radial_falloff,
        "least_radius": field.radial_min if field.use_radial_min else 0.0,
        "most_radius": field.radial_max if field.use_radial_max else np.inf,
        "weight": weights.all * getattr(weights, weight) if field.apply_to_location else 0.0,
    }
    if is_carried:
        given |= {"position": (0.0, 0.0, 0.0), "axis": (0.0, 0.0, 1.0)}
    if kind in (kinds.Wind, kinds.Drag):
        given["by_area"] = _acts_by_area(ob)
    if kind is kinds.Force:
        given["inverse_square"] = field.use_gravity_falloff
    elif kind is kinds.Harmonic:
        given |= {"damping": field.harmonic_damping, "rest_length": field.rest_length}
    elif kind is kinds.Drag:
        given |= {
            # what Blender calls linear goes with the square of the speed, and the other way round
            "strength": min(field.linear_drag, _MOST_DRAG),
            "damping": min(field.quadratic_drag, _MOST_DRAG),
            "flow": 0.0,
        }
    elif kind is kinds.Turbulence:
        # Blender takes a size of 0 for no scale at all
        given |= {"size": field.size or 1.0, "is_global": field.use_global_coords}
    try:
        return kind(**given)
    except ModelError as error:
        raise SceneError(ob.name, f"its force field cannot be read ({error})") from error


def _acts_by_area(ob) -> bool:
    """Whether a wind or a drag presses on what faces it."""
    # who reads a scene from a script may not have registered the add-on
    own = getattr(ob, "cairn", None)
    return own is not None and own.field_by_area and ob.field.type in {"WIND", "DRAG"}


def field_values(ob, keyed: Keyed) -> list:
    """Settings of an object's field as its digest has them."""
    names = [name for name in _SETTINGS if hasattr(ob.field, name)]
    return [*(keyed.still(f"field.{name}", getattr(ob.field, name)) for name in names), _acts_by_area(ob)]


def weight_values(scene, keyed: Keyed) -> list:
    """What the Rigid Body World makes of fields, as the digest of a scene has it."""
    weights, path = scene.rigidbody_world.effector_weights, "rigidbody_world.effector_weights."
    collection = weights.collection
    values = [keyed.still(path + name, getattr(weights, name)) for name in _WEIGHTS]
    return [values, collection.name_full if collection is not None else None]
