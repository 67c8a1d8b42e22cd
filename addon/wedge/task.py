"""One task of a wedge: the bake of one variant, with its report and its picture."""

import math
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ..bake import BakeResult, bake_scene
from ..checkpoints.folder import clear
from ..checkpoints.running import CheckpointPlan
from ..cli_output import Progress, beside, save_blend, write_json
from ..pictures import PictureError, render_picture
from ..settings import BakeSettings
from ..write import attach
from ..write.earlier_animation import objects_of
from .plan import WedgePlan
from .targets import jitter, set_properties
from .variants import Variant

# Of a variant's picture [pixels].
WIDTH, HEIGHT = 320, 180
# A body has moved if it went farther than this share of its size.
RATIO_MOVED = 0.01
# Surfaces of bodies that are looked through for the ground below.
_MOST_SURFACES = 200
# The next look begins so much below one, as a share of the bodies' size.
_RATIO_NUDGE = 1e-4


def bake_variant(
    plan: WedgePlan, variant: Variant, folder: Path, progress: Progress, until: int | None = None
) -> BakeResult:
    """Bake a variant of the scene that is open, from its last checkpoint on, and write what comes of it.

    The motion is written first, and the report, which says that the variant is finished, last.

    Parameters
    ----------
    plan : WedgePlan
    variant : Variant
    folder : Path
        Of the wedge.
    progress : Progress
    until : int, optional
        Stop after this frame, with a checkpoint alone.

    Raises
    ------
    SceneError
        The variant cannot be set up, or baked.
    OSError
    """
    scene = bpy.context.scene
    set_up(scene, plan, variant)
    settings = replace(BakeSettings.from_scene(scene), threads=plan.threads)
    for name in ("start", "end"):
        if getattr(plan, name) is not None:
            settings = replace(settings, **{name: getattr(plan, name)})
    place = folder / f"{variant.name}.checkpoint"
    checkpoints = CheckpointPlan(folder=place, resume=True, until=until)
    result = bake_scene(scene, settings, progress, checkpoints)
    if result.stopped or result.paused:
        return result
    output = plan.output(folder, variant)
    if plan.trajectories:
        with beside(output, ".npz") as temporary:
            np.savez(
                temporary,
                names=np.array(result.export.model.names),
                position=result.trajectory.position,
                orientation=result.trajectory.orientation,
                frame_start=result.frame_start,
            )
    else:
        save_blend(output)
    told = {"key": plan.key(variant), "variant": variant.text, "values": variant.values, "seed": variant.seed}
    moving = [body.index for body in result.export.bodies if body.moves]
    told |= _motion(result, moving)
    if plan.pictures and moving:
        told["picture"] = _take_picture(scene, result, moving, folder / f"{variant.name}.png", progress)
    write_json(folder / f"{variant.name}.json", result.report | {"scene": plan.scene, "wedge": told})
    clear(place)
    return result


def set_up(scene, plan: WedgePlan, variant: Variant) -> None:
    """Make the scene that is open the variant; an earlier bake is taken off it.

    Raises
    ------
    SceneError
    """
    if scene.cairn.is_baked:
        attach.delete_bake(scene)
    set_properties(scene, variant.values)
    if variant.seed is not None:
        jitter(scene, variant.seed, plan.jitter)


def _motion(result, moving) -> dict:
    """How many bodies moved, and how far the farthest went [m]."""
    position = result.trajectory.position
    way = np.linalg.norm(position[-1] - position[0], axis=1)[moving]
    return {
        "moved": int(np.count_nonzero(way > RATIO_MOVED * result.export.model.arrays.size[moving])),
        "farthest": float(way.max(initial=0.0)),
    }


def _take_picture(scene, result, moving, path, progress) -> str:
    """Render the last frame; returns why there is no picture, or nothing."""
    render = scene.render
    render.engine, render.resolution_x, render.resolution_y = "BLENDER_WORKBENCH", WIDTH, HEIGHT
    render.resolution_percentage = 100
    render.use_file_extension = render.use_overwrite = True
    if scene.camera is None:
        scene.frame_set(result.frame_start)
        model, starts = result.export.model, result.trajectory.position[0, moving]
        size, names = float(model.arrays.size[moving].max()), {model.names[index] for index in moving}
        scene.camera = _camera(scene, np.concatenate([starts, _grounds(scene, starts, size, names)]), size)
    objects = {ob.name: ob for ob in objects_of(scene)}
    bodies = [objects[body.object_name] for body in result.export.bodies if body.moves]
    if not any(ob.material_slots for ob in bodies):
        scene.display.shading.color_type = "RANDOM"  # all of one grey, bodies could not be told apart
    try:
        render_picture(scene, result.frame_end, path, progress)
    except PictureError as error:
        return str(error)
    return ""


def _grounds(scene, points, size, moving):
    """Where something that does not move lies below these points [at most one a point, 3]."""
    graph, down, found = bpy.context.evaluated_depsgraph_get(), Vector((0.0, 0.0, -1.0)), []
    for point in points:
        origin = Vector(point.tolist())
        for _ in range(_MOST_SURFACES):
            hits, place, _normal, _face, ob, _matrix = scene.ray_cast(graph, origin, down)
            if not hits:
                break
            if ob.name not in moving:
                found.append(place)
                break
            origin = place + _RATIO_NUDGE * size * down
    return np.array(found, float).reshape(-1, 3)


def _camera(scene, points, size):
    """A camera for all variants: it sees where bodies of this size begin and fall to, and as much around; from above.

    It does not depend on what happens, so pictures can be compared.
    """
    camera = bpy.data.objects.new("Wedge", bpy.data.cameras.new("Wedge"))
    scene.collection.objects.link(camera)
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    radius = 0.5 * (float(np.linalg.norm(np.ptp(points, axis=0))) + size)
    narrow = 0.5 * camera.data.angle * HEIGHT / WIDTH
    distance = radius / math.sin(narrow)
    direction = Vector((0.6, -1.0, 0.5)).normalized()
    turn = direction.to_track_quat("Z", "Y").to_matrix().to_4x4()
    camera.matrix_world = Matrix.Translation(Vector(middle.tolist()) + distance * direction) @ turn
    camera.data.clip_start, camera.data.clip_end = 1e-3 * distance, 100.0 * distance
    return camera
