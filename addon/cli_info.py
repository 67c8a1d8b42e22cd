"""What ``cairn info`` prints of a scene, for people and for programs."""

from pathlib import Path
from typing import Any

import bpy

from .. import __version__
from .joint_kinds import joint_counts, joints_sentence
from .read.exported_scene import SceneExport
from .read.notes import grouped_notes, note_dictionary

_KIND_WORDS = ("static", "kinematic", "dynamic")
_SHAPE_WORDS = ("box", "sphere", "hull", "capsule", "cylinder", "cone", "mesh")


def info_dictionary(export: SceneExport, source: Path) -> dict[str, Any]:
    """What ``cairn info --json`` prints."""
    return {
        "cairn": __version__,
        "blender": bpy.app.version_string,
        "scene": str(source),
        "frame_start": export.frame_start,
        "frame_end": export.frame_end,
        "frame_rate": export.frame_rate,
        "gravity": export.model.gravity.tolist(),
        "bodies": [_body_dictionary(export, body) for body in export.bodies],
        "joints": [_joint_dictionary(joint) for joint in export.joints],
        "notes": [note_dictionary(note) for note in export.notes],
        "fingerprint": export.fingerprint,
    }


def _body_dictionary(export, body) -> dict:
    arrays, index = export.model.arrays, body.index
    kinds = arrays.shapes.kind[arrays.shapes.body == index]
    return {
        "name": body.object_name,
        "kind": _KIND_WORDS[int(export.model.initial_state.kind[index])],
        "moves": body.moves,
        "animated": body.follows,
        "shape": _SHAPE_WORDS[int(kinds[0])] if len(kinds) == 1 else "compound",
        "parts": len(kinds),
        "size": float(arrays.size[index]),
        "mass": float(arrays.mass[index]),
        "friction": float(arrays.friction[index]),
        "restitution": float(arrays.restitution[index]),
    }


def _joint_dictionary(joint) -> dict:
    return {
        "name": joint.object_name,
        "kind": joint.kind,
        "first": joint.first,
        "second": joint.second,
        "enabled": joint.enabled,
        "animated": joint.is_sampled,
    }


def info_lines(export: SceneExport, source: Path) -> list[str]:
    """What ``cairn info`` prints."""
    entries = [_body_dictionary(export, body) for body in export.bodies]
    counts = [f"{sum(entry['kind'] == word for entry in entries)} {word}" for word in reversed(_KIND_WORDS)]
    frames = export.frame_end - export.frame_start
    at_first = " at the start" if any(body.flags_change for body in export.bodies) else ""
    lines = [
        f"{source}: {len(entries)} {'body' if len(entries) == 1 else 'bodies'} ({', '.join(counts)}{at_first})",
        f"frames {export.frame_start} to {export.frame_end}: {frames} to simulate at {export.frame_rate:g} per second",
    ]
    if export.joints:
        lines.append(joints_sentence(joint_counts(joint.kind for joint in export.joints)))
    lines.append("")
    width = max(len(entry["name"]) for entry in entries)
    for entry in entries:
        mass = f"{entry['mass']:10.4g} kg" if entry["moves"] else 13 * " "
        shape = entry["shape"] if entry["parts"] == 1 else f"{entry['parts']} parts"
        lines.append(f"  {entry['name']:{width}}  {entry['kind']:9}  {shape:8} {mass}")
    for level, heading in (("warning", "Warnings:"), ("info", "To know:")):
        groups = [group for group in grouped_notes(export.notes) if group[0] == level]
        if groups:
            lines += ["", heading]
            lines += [f"  {named(text, names)}" for _, text, names in groups]
    return lines


def named(text: str, names: list[str]) -> str:
    """A note with the objects that it is about; of many only the first."""
    if not names:
        return text
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f"{shown}: {text}"
