"""Checkpoints of bakes in the window: where they lie, and what the panel offers to do with them."""

from pathlib import Path
from typing import Any

import bpy

from ..read.scene_digest import scene_digest
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
        own = {Path(other.cairn.checkpoint_folder) for other in bpy.data.scenes if other.cairn.checkpoint_folder}
        housekeeping.remove_useless(Path(bpy.data.filepath), FORMAT, frozenset(own | {folder_of(scene)}))


def plan_of(scene, *, resume: bool = False, from_frame: int | None = None) -> CheckpointPlan | None:
    """What a bake in the window leaves, and where it begins; None if the scene is to have no checkpoints."""
    if not (scene.cairn.use_checkpoints or resume or from_frame is not None):
        return None
    source = None
    if resume:
        found = _best(scene, scene_digest(scene))
        source = found[0] if found is not None else None
    elif from_frame is not None:
        source = recording_of_bake(scene)
    return CheckpointPlan(folder=folder_of(scene), resume=resume, from_frame=from_frame, keep=True, source=source)


def sources_of(scene) -> list[Path]:
    """State files of checkpoints that may be of a scene: by its name, and where its bake has left its own."""
    places = [folder_of(scene)]
    if scene.cairn.checkpoint_folder:  # the file or the scene may have got another name since
        places.append(Path(scene.cairn.checkpoint_folder))
    return [place / name for place in dict.fromkeys(places) for name in (files.NEXT, files.STATE)]


def recording_of_bake(scene) -> Path | None:
    """The state file of the bake that a scene carries; None if it is there no more."""
    bake = scene.cairn.bake_id
    for source in sources_of(scene):
        stored = stored_text(source)
        if stored and bake in ("", stored["bake"]):
            return source
    return None


# What the files hold that were looked at last, by their place: (time of change, size) and text.
_texts: dict[Path, tuple] = {}


def stored_text(source: Path) -> dict[str, Any] | None:
    """The text of a state file, read anew where it has changed; None if there is none that can be used."""
    try:
        stamp = source.stat().st_mtime_ns, source.stat().st_size
    except OSError:
        _texts.pop(source, None)
        return None
    if source not in _texts or _texts[source][0] != stamp:
        stored = files.read_text(source)
        usable = isinstance(stored, dict) and stored.get("identity", {}).get("format") == FORMAT
        _texts[source] = stamp, stored if usable else None
    return _texts[source][1]


def _best(scene, digest):
    """The checkpoint that a bake of a scene as it is can go on from the farthest: (state file, text), or None."""
    found = []
    for source in sources_of(scene):
        stored = stored_text(source)
        if stored and not scene_changes(stored["identity"], digest):
            found.append((source, stored))
    return max(found, key=lambda entry: entry[1]["frame"], default=None)


# What ``offers_of`` tells.
OFFERS = ("checkpoint", "recorded", "fetch", "why_not")


def offers_of(scene, digest: dict) -> dict[str, Any]:
    """All that the panel offers to do with what was simulated, or why not.

    Parameters
    ----------
    scene : bpy.types.Scene
    digest : dict
        Of ``scene_digest``, of the scene as it is now.
    """
    best = _best(scene, digest)
    return {
        "checkpoint": _offer_of(scene, best),
        "recorded": recorded_of(scene),
        "fetch": _fetched_of(scene, best),
        "why_not": _why_not(scene, digest, best),
    }


def _offer_of(scene, found) -> dict[str, Any]:
    """What a scene's checkpoint offers, for the panel: {"frame", "start", "end", "fits"}; empty without one."""
    of_bake = recording_of_bake(scene)
    stored = found[1] if found is not None else stored_text(of_bake) if of_bake is not None else None
    if stored is None:
        return {}
    return {
        "frame": stored["identity"]["frame_start"] + stored["frame"],
        "start": stored["identity"]["frame_start"],
        "end": _end_of(scene),
        "fits": found is not None,
    }


def recorded_of(scene) -> list[int]:
    """First and last frame that *Bake from Current Frame* can keep of the bake that a scene carries; empty: none."""
    source = recording_of_bake(scene) if scene.cairn.is_baked else None
    stored = stored_text(source) if source is not None else None
    if not stored:
        return []
    start = stored["identity"]["frame_start"]
    return [start, min(start + stored["frame"], scene.cairn.baked_end)]


def _fetched_of(scene, found) -> int:
    """Last frame of a whole simulation that is there and that the scene does not carry; 0: there is none."""
    if found is None:
        return 0
    first, last = found[1]["identity"]["frame_start"], _end_of(scene)
    if first + found[1]["frame"] < last:
        return 0
    facts = scene.cairn
    is_there = facts.is_baked and facts.bake_id == found[1]["bake"] and facts.baked_end >= last
    return 0 if is_there else last


def _why_not(scene, digest, best) -> str:
    """Why nothing can be gone on with although something was simulated; empty if it can, or never could.

    That a bake is out of date is said elsewhere.
    """
    facts = scene.cairn
    if facts.is_baked and facts.bake_id and recording_of_bake(scene) is None:
        return (
            f"The checkpoint of this bake is no longer in {Path(facts.checkpoint_folder).name}: it plays on, "
            "but only Bake Again can change it"
        )
    if facts.is_baked or best is not None:
        return ""
    for source in sources_of(scene):
        stored = stored_text(source)
        if stored:
            last = stored["identity"]["frame_start"] + stored["frame"]
            found = ", ".join(scene_changes(stored["identity"], digest)[:3])
            return f"Simulated to frame {last}, but not for the scene as it is: {found}"
    return ""


def _end_of(scene) -> int:
    end = BakeSettings.from_scene(scene).end
    return scene.rigidbody_world.point_cache.frame_end if end is None else end
