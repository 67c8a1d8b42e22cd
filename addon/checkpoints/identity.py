"""Whose checkpoint it is: a bake goes on from one only if that leads to the same bits as going on without a stop."""

import platform
from typing import Any

from ... import __version__
from ..read.exported_scene import SceneExport
from ..read.scene_digest import changes

FORMAT = 8
# The number of threads does not change a motion.
_FREE_OPTIONS = {"threads"}
_NAMED = 3


def identity_of(scene, export: SceneExport, options: dict[str, Any], digest: dict) -> dict[str, Any]:
    """What has to be the same when a bake goes on, and names and numbers to say what is not.

    Parameters
    ----------
    scene : bpy.types.Scene
    export : SceneExport
        Of that scene.
    options : dict
        Keyword arguments of ``SimulationOptions``.
    digest : dict
        Of ``scene_digest``, of that scene.
    """
    import numba

    from ...solver_core.compiled.sources import core_fingerprint

    return {
        "format": FORMAT,
        "versions": {
            "Cairn": f"{__version__} ({core_fingerprint()})",
            "Numba": numba.__version__,
            "processor": platform.machine(),
        },
        "scene": scene.name,
        "frame_start": export.frame_start,
        "frame_end": export.frame_end,
        "options": {name: value for name, value in options.items() if name not in _FREE_OPTIONS},
        "bodies": list(export.model.names),
        "joints": [joint.object_name for joint in export.joints],
        "fingerprint": export.fingerprint,
        "digest": digest,
    }


def difference(stored: dict[str, Any], own: dict[str, Any]) -> str:
    """Why a bake cannot go on from a checkpoint, in words; empty if it can."""
    if stored.get("format") != FORMAT:
        return "another version of Cairn has made it"
    if own["options"].get("contacts") and not stored["options"].get("contacts"):
        return "it was made without contacts"
    if own["options"].get("breaks") and not stored["options"].get("breaks"):
        return "it was made without keys at hits"
    for group in ("versions", "options"):
        for name, value in own[group].items():
            if stored[group].get(name) != value:
                return f"it was made with {name} {stored[group].get(name)}, and now it is {value}"
    if stored["frame_start"] != own["frame_start"]:
        return f"it begins at frame {stored['frame_start']}, not {own['frame_start']}"
    if stored["fingerprint"] != own["fingerprint"]:
        found = scene_changes(stored, own["digest"])
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        return (
            f"the scene has changed since ({', '.join(found[:_NAMED])}{more})"
            if found
            else "other bodies move, or otherwise"
        )
    return ""


def scene_changes(stored: dict[str, Any], digest: dict) -> list[str]:
    """What has changed in a scene since a checkpoint, in words; a bake may go on to another last frame."""
    earlier = stored["digest"]
    found = [word for word in changes(earlier, digest) if word != "range"]
    # a new name leaves the motion as it is, but a checkpoint knows bodies by their names
    if not found and any(earlier[group].keys() != digest[group].keys() for group in ("bodies", "joints")):
        return ["names"]
    return found
