"""Checkpoints of bakes in the window: where they lie, and what the panel offers to do with them."""

from pathlib import Path
from typing import Any

import bpy

from ..settings import BakeSettings
from . import folder as files
from . import housekeeping
from .identity import FORMAT, scene_changes
from .running import CheckpointPlan


def folder_of(scene) -> Path:
    """In one folder beside the open file, by its name and the scene's; where it was never saved, for this session."""
    name = bpy.path.clean_name(scene.name)
    if not bpy.data.filepath:
        return Path(bpy.app.tempdir) / f"{name}.checkpoint"
    return housekeeping.place_of(Path(bpy.data.filepath), name)


def tidy(scene) -> None:
    """Before a bake: remove what lies beside the file and is of no use, but for what the scene has."""
    if bpy.data.filepath:
        housekeeping.remove_useless(Path(bpy.data.filepath), FORMAT, frozenset([folder_of(scene)]))


def plan_of(scene, *, resume: bool = False, from_frame: int | None = None) -> CheckpointPlan | None:
    """What a bake in the window leaves, and where it begins; None if the scene is to have no checkpoints."""
    if not (scene.cairn.use_checkpoints or resume or from_frame is not None):
        return None
    return CheckpointPlan(folder=folder_of(scene), resume=resume, from_frame=from_frame, keep=True)


def offer_of(scene, digest: dict) -> dict[str, Any]:
    """What a scene's checkpoint offers, for the panel: {"frame", "start", "end", "fits"}; empty without one.

    Parameters
    ----------
    scene : bpy.types.Scene
    digest : dict
        Of ``scene_digest``, of the scene as it is now.
    """
    stored = files.read_text(folder_of(scene) / files.STATE)
    if not stored or "identity" not in stored:
        return {}
    identity = stored["identity"]
    end = BakeSettings.from_scene(scene).end
    return {
        "frame": identity["frame_start"] + stored["frame"],
        "start": identity["frame_start"],
        "end": scene.rigidbody_world.point_cache.frame_end if end is None else end,
        "fits": not scene_changes(identity, digest),
    }
