"""Parts of an export that need no more than what they are given: the world and its frames, a body's settings, and the
fingerprint of what was read.
"""

import hashlib

import numpy as np

from ..write import earlier_animation as earlier
from .exported_scene import FrameSample, SceneExport
from .faults import SceneError
from .scene_animation import curves_digest


def rigid_body_world(scene):
    """The scene's Rigid Body World; a SceneError where it has none, or no collection."""
    world = scene.rigidbody_world
    if world is None:
        raise SceneError(
            None,
            f"scene {scene.name!r} has no Rigid Body World; select a mesh and add a rigid body in Physics > Rigid Body",
        )
    if earlier.bodies_collection(scene) is None:
        raise SceneError(
            None, f"the Rigid Body World of {scene.name!r} has no collection; choose one in Scene > Rigid Body World"
        )
    return world


def frame_range(world, frame_start, frame_end, faults):
    """First and last frame, by default those of the world's cache."""
    start = world.point_cache.frame_start if frame_start is None else int(frame_start)
    end = world.point_cache.frame_end if frame_end is None else int(frame_end)
    if start >= end:
        faults.add(SceneError(None, f"the start frame, {start}, must lie before the end frame, {end}"))
    return start, max(end, start + 1)


def mass_of(name, settings, moves) -> float:
    """Mass of a body [kg]."""
    mass = settings.mass
    if mass == 0.0 and not moves:
        # Blender ignores the mass of what never moves.
        return 1.0
    if not np.isfinite(mass) or mass <= 0.0:
        raise SceneError(name, f"its mass is {mass:g} kg; set a number above 0 in Physics > Rigid Body > Settings")
    return mass


def sleep_of(settings, begins_moving) -> dict:
    """Arguments of ``add_body`` for Blender's deactivation."""
    if not settings.use_deactivation:
        return {"sleep_speed": (0.0, 0.0)}
    return {
        "sleep_speed": (settings.deactivate_linear_velocity, settings.deactivate_angular_velocity),
        "starts_asleep": settings.use_start_deactivated and not begins_moving,
    }


def fingerprint_of(export: SceneExport, sample: FrameSample, owners) -> str:
    """What tells whether two exports give the same simulation."""
    digest = hashlib.sha256()
    # not the last frame: a bake may go on to another one
    digest.update(repr((export.model.names, export.frame_start, export.frame_rate)).encode())
    digest.update(repr([(body.moves, body.follows, body.flags_change) for body in export.bodies]).encode())
    digest.update(repr(export.joints).encode())
    timed = [(body.index, body.activation) for body in export.bodies if body.activation is not None]
    if timed or export.volumes:
        digest.update(repr((timed, export.volumes)).encode())
    _hash_arrays(digest, export.model.arrays)
    # recorded poses are those of objects, whose origins may lie elsewhere in the same bodies
    _hash_arrays(digest, (export.model.frame_position, export.model.frame_orientation))
    _hash_arrays(digest, export.model.hulls)
    _hash_arrays(digest, export.model.meshes)
    _hash_arrays(digest, export.model.initial_state)
    _hash_arrays(digest, (export.model.starts_asleep,))
    _hash_arrays(digest, (np.array(sample.duration), sample.gravity, sample.kind))
    if export.model.pushes:
        digest.update(repr((export.model.pushes, export.model.pushes_along, export.forces_change)).encode())
    if export.model.fields:
        digest.update(repr((export.model.fields, export.model.field_carriers, export.fields)).encode())
        digest.update(repr((export.model.field_responds, export.model.charges)).encode())
    if len(export.model.guides):
        _hash_arrays(digest, (export.model.guides, np.array(export.follow_changes)))
    digest.update(curves_digest(owners))
    return digest.hexdigest()


def _hash_arrays(digest, arrays):
    for array in arrays:
        if isinstance(array, np.ndarray):
            digest.update(np.ascontiguousarray(array).tobytes())
        else:
            _hash_arrays(digest, array)
