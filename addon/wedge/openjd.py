"""A wedge as a job bundle of Open Job Description: ``template.json`` and what a farm wants beside it.

A task is a variant. Long bakes become a chain of steps, each of which bakes all variants up to a frame and leaves
checkpoints. The last step makes the table. ``openjd-cli`` runs the bundle on one machine; AWS Deadline Cloud takes it
as it is.

Source: https://github.com/OpenJobDescription/openjd-specifications/wiki/2023-09-Template-Schemas
"""

import itertools
from pathlib import Path
from typing import Any

from ..cli_output import write_json
from .plan import PLAN, WedgePlan

_TEMPLATE = "template.json"


def write_bundle(plan: WedgePlan, folder: Path, command: list[str], until: list[int | None]) -> list[Path]:
    """Write the bundle into the folder of a wedge.

    Parameters
    ----------
    plan : WedgePlan
    folder : Path
        ``wedge.json`` is there.
    command : list of str
        That runs Cairn on the farm's machines.
    until : list of (int or None)
        Last frame of each step that bakes; None is the bake's own end.

    Returns
    -------
    list of Path
        What was written.
    """
    contents = {
        _TEMPLATE: template(plan, folder, command, until),
        "parameter_values.json": {"parameterValues": _parameter_values(plan, folder)},
        "asset_references.json": {
            "assetReferences": {
                "inputs": {"filenames": [plan.scene, str(folder / PLAN)], "directories": []},
                "outputs": {"directories": [str(folder)]},
            }
        },
    }
    for name, content in contents.items():
        write_json(folder / name, content)
    return [folder / name for name in contents]


def template(plan: WedgePlan, folder: Path, command: list[str], until: list[int | None]) -> dict[str, Any]:
    """The job template; arguments as of ``write_bundle``."""
    steps: list[dict[str, Any]] = []
    for frame in until:
        name = "Bake" if frame is None else f"BakeUntil{frame}"
        arguments = ["--task", "{{Task.Param.Variant}}", "-o", "{{Param.Folder}}"]
        if frame is not None:
            arguments += ["--until", str(frame)]
        step = _step(name, [*command, "wedge", "{{Param.Scene}}", *arguments])
        step["parameterSpace"] = {
            "taskParameterDefinitions": [{"name": "Variant", "type": "INT", "range": f"1-{len(plan.variants)}"}]
        }
        steps.append(step)
    steps.append(_step("Table", [*command, "wedge", "--table", "-o", "{{Param.Folder}}"]))
    for before, step in itertools.pairwise(steps):
        step["dependencies"] = [{"dependsOn": before["name"]}]
    return {
        "specificationVersion": "jobtemplate-2023-09",
        "name": f"Cairn {folder.name}"[:120],
        "parameterDefinitions": [
            {
                "name": "Scene",
                "type": "PATH",
                "objectType": "FILE",
                "dataFlow": "IN",
                "default": plan.scene,
                "description": "The .blend with the rigid bodies",
            },
            {
                "name": "Folder",
                "type": "PATH",
                "objectType": "DIRECTORY",
                "dataFlow": "INOUT",
                "default": str(folder),
                "description": "Of the wedge: wedge.json, and whatever is baked",
            },
        ],
        "steps": steps,
    }


def _parameter_values(plan, folder):
    return [{"name": "Scene", "value": plan.scene}, {"name": "Folder", "value": str(folder)}]


def _step(name, command):
    return {"name": name, "script": {"actions": {"onRun": {"command": command[0], "args": command[1:]}}}}
