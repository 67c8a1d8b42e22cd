"""What Cairn ignores in a scene, or does differently from Blender: one note per object and reason."""

import bpy
import numpy as np

from ...solver_core.diagnostics import boxes_overlap, joint_between, overlaps_at_start
from ...solver_core.model.model import BodyKind
from .. import runtime
from ..settings import is_cache_elsewhere
from ..write import earlier_animation as earlier
from . import body_warnings
from .file_notes import file_notes
from .force_fields import field_notes
from .notes import Note
from .scene_animation import animated_paths, flag_values, scale_animated
from .scene_shapes import rule_of_radius
from .surfaces import StartSurfaces, parts_fill_play

# Distance of the centre of mass from the origin, as a share of the shape's size, above which a note says so.
RATIO_OFF_CENTER = 0.02
# Overlaps at the start below this share of the smaller moving body's size are not mentioned.
RATIO_OVERLAP = 0.005

# The note of a body that Blender simulates and may not show.
OUTSIDE = "is not in the scene, but in the Rigid Body World's collection: it takes part, as in Blender"
# How the note of two bodies ends that overlap at the start and stay so, since joints connect them.
HELD = "connects them: they stay so, and touch only away from what connects them"
# The note of a search for overlaps that found none.
NO_OVERLAPS = Note(
    "info", None, f"no bodies overlap at the start by more than {100.0 * RATIO_OVERLAP:g} % of their size"
)


def body_notes(ob, body, model, moving_ancestor, frames) -> list[Note]:
    """Notes about one body: settings that are not followed, and what a bake of ``frames`` (a range) does to it."""
    texts = [("warning", text) for text in _warnings(ob, body, frames)]
    if body.moves:
        place, size = model.initial_state.position[body.index], model.arrays.size[body.index]
        texts += [("warning", text) for text in body_warnings.far_off(place, size)]
        texts += _center_note(body, model)
        if body.flags_change:
            texts += [("info", text) for text in _simulated_frames(ob, frames)]
    elif moving_ancestor is not None:
        texts.append(("warning", body_warnings.stays_behind(moving_ancestor)))
    if body.grows:
        rule = rule_of_radius(ob.rigid_body.collision_shape)
        texts.append(("info", f"its scale is keyed: it grows and pushes; its radius follows {rule}, as in Blender"))
    if body.growing_parts:
        texts.append(("info", "its scale, or that of parts, is keyed: they grow and push where they are seen"))
    if body.follows and not (ob.rigid_body.kinematic or body.flags_change or body.is_guided):
        texts.append(
            ("info", "is animated with Animated off: Cairn collides with what is seen, Blender with the start pose")
        )
    above = tuple({relative.name for relative in (ob.parent, moving_ancestor) if relative is not None})
    return [Note(level, ob.name, text, above) for level, text in texts]


def _warnings(ob, body, frames):
    if scale_animated(ob) and not (body.deforming_vertices or body.grows or body.growing_parts):
        yield from body_warnings.scale_held(ob, body.moves, frames)
    yield from body_warnings.settings_read_once(animated_paths(ob))
    if body.moves:
        yield from body_warnings.collisions_missing(ob)
        yield from body_warnings.replaced_by_bake(ob, frames, body.flags_change)
        yield from body_warnings.sheared_by_parent(ob, body.parent_matrix_start)


def _simulated_frames(ob, frames):
    steps = np.array(frames[1:])  # the flags of a step are those of its last frame
    enabled, kinematic = flag_values(ob, "enabled", steps), flag_values(ob, "kinematic", steps)
    if enabled is None or kinematic is None:
        yield "may come loose in any frame: Animated or Dynamic depends on a driver or the NLA"
        return
    dynamic = np.concatenate([[False], enabled & ~kinematic, [False]])
    changes = np.flatnonzero(dynamic[1:] != dynamic[:-1])
    runs = [f"{steps[first]} to {steps[end - 1]}" for first, end in zip(changes[::2], changes[1::2], strict=True)]
    if len(runs) > 1:
        yield f"is simulated in these frames only, as Animated or Dynamic is keyed: {', '.join(runs)}"
    elif runs != [f"{steps[0]} to {steps[-1]}"]:
        yield f"is simulated in frames {', '.join(runs)} only, as Animated or Dynamic is keyed"


def _center_note(body, model):
    # frame_position is the origin seen from the body frame, so its length is the distance.
    distance = np.linalg.norm(model.frame_position[body.index])
    if distance > RATIO_OFF_CENTER * model.arrays.size[body.index]:
        yield (
            "info",
            "its origin is not its centre of mass: Blender turns it about the origin, Cairn about its volume's centre",
        )


def scene_notes(scene, objects, anything_moves) -> list[Note]:
    """Notes about the world, force fields and objects that take no part."""
    world = scene.rigidbody_world
    notes = [
        *file_notes(),
        *_constraint_notes(scene, world),
        *field_notes(scene, world),
        *_outsider_notes(scene, objects),
    ]
    if not anything_moves:
        notes.append(Note("warning", None, "no body moves: all are passive, animated or have Dynamic off"))
    notes.extend(speed_notes(scene, world))
    notes.extend(cache_notes(scene))
    notes.extend(_unit_notes(scene))
    notes.extend(_hidden_notes(scene, objects))
    notes.extend(_instance_notes(scene))
    cache = world.point_cache
    if cache.is_baked or cache.use_disk_cache:
        notes.append(Note("info", None, "Blender's own baked rigid-body cache is ignored"))
    notes.append(
        Note(
            "info",
            None,
            f"Blender's substeps ({world.substeps_per_frame}) and solver iterations ({world.solver_iterations}) "
            "are not used; Cairn has its own",
        )
    )
    return notes


def speed_notes(scene, world) -> list[Note]:
    """Notes on how time runs."""
    notes = []
    if scene.render.frame_map_old != scene.render.frame_map_new:
        notes.append(Note("warning", None, "Time Remapping is not supported: set Old and New to the same value"))
    if world.time_scale == 0.0:
        notes.append(Note("warning", None, "Speed of the Rigid Body World is 0: nothing moves"))
    return notes


def range_notes(scene, frames) -> list[Note]:
    """A note where the Rigid Body World's cache, whose ``frames`` (a range) are simulated, is not the scene's range."""
    if (frames[0], frames[-1]) == (scene.frame_start, scene.frame_end):
        return []
    text = (
        f"frames {frames[0]} to {frames[-1]} are simulated, the range of the Rigid Body World's cache; "
        f"the scene plays {scene.frame_start} to {scene.frame_end}"
    )
    if frames[-1] < scene.frame_end:
        return [Note("warning", None, f"{text}: bodies stand still after frame {frames[-1]}")]
    return [Note("info", None, text)]


def cache_notes(scene) -> list[Note]:
    """A note where the scene's range is simulated, since the cache has no frame of it."""
    cache = scene.rigidbody_world.point_cache
    # who reads a scene from a script may not have registered the add-on
    own = getattr(scene, "cairn", None)
    if own is None or own.use_custom_range or not is_cache_elsewhere(scene):
        return []
    text = (
        f"frames {scene.frame_start} to {scene.frame_end} are simulated, those of the scene: the Rigid Body World's "
        f"cache, {cache.frame_start} to {cache.frame_end}, has none of them"
    )
    return [Note("info", None, text)]


def starting_overlaps(model, surfaces: StartSurfaces | None = None, *, is_compiled: bool = False) -> list[Note]:
    """Notes about bodies that overlap at the start, the worst first.

    ``surfaces`` as in ``SceneExport``: with them a note tells if only the convex parts overlap, not the meshes.
    Loads Numba and the collision kernels, unless all bounding boxes are apart; with the kernels there (``is_compiled``)
    their own search is faster than to look at the boxes.
    """
    if not is_compiled and not boxes_overlap(model):
        return []
    try:
        runtime.prepare()
    except runtime.RuntimeUnavailable as error:
        return [Note("warning", None, f"overlaps at the start could not be searched for: {error}")]
    notes = []
    for overlap in overlaps_at_start(model):
        if not overlap.share > RATIO_OVERLAP:
            continue
        moving, other = overlap.body_a, overlap.body_b
        if model.initial_state.kind[moving] != BodyKind.DYNAMIC:
            moving, other = other, moving
        percent = 100.0 * overlap.share
        share = f"{percent:.2g}" if percent < 10.0 else f"{percent:.0f}"  # 100 in two digits would be 1e+02
        if surfaces is not None and parts_fill_play(surfaces, model, (moving, other)):
            text = (
                f"starts {overlap.depth:.3g} deep in {model.names[other]}, by its convex parts only: the meshes do not "
                "touch, but parts fill hollows. A smaller Concavity makes finer ones"
            )
            notes.append(Note("warning", model.names[moving], text, (model.names[other],)))
            continue
        joint = joint_between(model, moving, other)
        if joint is not None:
            name = model.joint_names[joint]
            text = (
                f"starts {overlap.depth:.3g} deep in {model.names[other]}, {share} % of the smaller "
                f"one's size, and {name} {HELD}"
            )
            notes.append(Note("warning", model.names[moving], text, (model.names[other], name)))
            continue
        text = (
            f"starts {overlap.depth:.3g} deep in {model.names[other]}, {share} % of the smaller "
            "one's size: they are moved apart gently"
        )
        notes.append(Note("warning", model.names[moving], text, (model.names[other],)))
    return notes


def _constraint_notes(scene, world):
    members = {ob.name_full for ob in world.constraints.all_objects} if world.constraints else set()
    for ob in scene.objects:
        if ob.rigid_body_constraint is not None and ob.name_full not in members:
            yield Note(
                "info",
                ob.name,
                "is not in the Rigid Body World's collection of constraints: it takes no part, as in Blender",
            )


def _unit_notes(scene):
    scale = scene.unit_settings.scale_length
    if scene.unit_settings.system != "NONE" and abs(scale - 1.0) > 1e-6:
        text = (
            f"Unit Scale is {scale:g}: as in Blender's own simulation it changes nothing, and a body of one unit falls "
            "like one of a metre; Gravity and the bodies' sizes decide"
        )
        yield Note("info", None, text)


def _hidden_notes(scene, objects):
    """Bodies that no view layer shows, and that take part."""
    # Blender searches a view layer for each name
    layers = [(layer, set(layer.objects)) for layer in scene.view_layers]
    present = set(scene.objects)
    with bpy.context.temp_override(area=None):  # else a 3D view's own filters and its local view count, too
        hidden = [
            ob
            for ob in objects
            if ob in present and not any(ob in seen and ob.visible_get(view_layer=layer) for layer, seen in layers)
        ]
    for ob in hidden:
        yield Note("info", ob.name, "is hidden, or in a collection that is: it takes part, as in Blender")


def _instance_notes(scene):
    """Objects that show instances of bodies, which no simulation moves on their own."""
    for ob in scene.objects:
        collection = ob.instance_collection if ob.instance_type == "COLLECTION" else None
        if collection is not None and any(part.rigid_body is not None for part in collection.all_objects):
            text = (
                f"shows instances of bodies of {collection.name}, which take no part: make them real to simulate them"
            )
            yield Note("info", ob.name, text, (collection.name,))


def _outsider_notes(scene, objects):
    taking_part = {ob.name_full for ob in objects}
    members = {ob.name_full for ob in earlier.bodies_collection(scene).all_objects}
    in_scene = {ob.name_full for ob in scene.objects}
    for ob in scene.objects:
        if ob.rigid_body is not None and ob.name_full not in members:
            yield Note("info", ob.name, "is not in the Rigid Body World's collection: it takes no part, as in Blender")
    for ob in earlier.bodies_collection(scene).all_objects:
        if ob.name_full in taking_part:
            if ob.name_full not in in_scene:
                yield Note("warning", ob.name, OUTSIDE)
        elif ob.rigid_body is None:
            yield Note(
                "info", ob.name, "is in the Rigid Body World's collection but has no rigid body: it takes no part"
            )
        else:
            text = f"is a shape of its compound parent {ob.parent.name}"
            yield Note("info", ob.name, text, (ob.parent.name,))
