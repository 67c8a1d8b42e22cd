"""How long a bake in the window keeps it from drawing: the longest step of each stage, of sparse scenes of many boxes.

The operator's generators are played to their ends, as its ticks do, without a window: what Blender draws is not in it.
A tick works for ``TICK_SLICE`` and then until its step ends. Steps are told in processor time of Blender's own thread,
as other work on the machine counts for little there; a step that only waits takes none.
"""

import math
import sys
import tempfile
import time
from pathlib import Path

import bpy

import cairn
from cairn.addon.bake import SECONDS_TO_WAIT, bake_frames
from cairn.addon.checkpoints import in_window
from cairn.addon.settings import BakeSettings
from cairn.addon.ui.delete_bake import deletion
from cairn.addon.ui.operators import after_recording

from .report import Claim, Report

BODIES, QUICK_BODIES = (1000, 5000), (300,)
FRAMES = 6
# The view is to be drawn this often [s].
LONGEST = 0.1
# Stages that Blender, or loading the solver, does in one piece (docs/decisions/37-simulation-beside.md).
_IN_ONE_PIECE = {"export", "compile", "write: end", "delete: end"}
_DISTANCE = 3.0


def run(quick: bool = False, plots: Path | None = None) -> Report:
    """Bake, bake again and delete scenes of some sizes."""
    rows = []
    for count in QUICK_BODIES if quick else BODIES:
        with tempfile.TemporaryDirectory() as folder:
            scene = _make_scene(count, Path(folder))
            for what, stages in _play(scene).items():
                rows += [
                    {"bodies": count, "what": what, "stage": stage, "longest step, s": round(max(times), 3)}
                    | {"steps": len(times), "all, s": round(sum(times), 2)}
                    for stage, times in stages.items()
                ]
    longest = max((row["longest step, s"] for row in rows if row["stage"] not in _IN_ONE_PIECE), default=0.0)
    claims = [
        Claim("longest step but for what is one piece [s]", LONGEST, longest, longest <= LONGEST, timed=True),
    ]
    notes = [f"one piece are: {', '.join(sorted(_IN_ONE_PIECE))}; Python {sys.version.split()[0]}"]
    return Report("window_latency", rows, claims, notes)


def _make_scene(count, folder):
    """Boxes on a floor, a third of which stand and the others fall."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    cairn.register()
    scene = bpy.context.scene
    bpy.ops.rigidbody.world_add()
    scene.rigidbody_world.collection = bpy.data.collections.new("RigidBodyWorld")
    scene.rigidbody_world.point_cache.frame_end = FRAMES
    bpy.ops.mesh.primitive_cube_add(size=1.0)
    cube = bpy.context.object.data
    bpy.data.objects.remove(bpy.context.object)
    side = math.ceil(math.sqrt(count))
    middle = 0.5 * _DISTANCE * side
    _add_box(scene, "Floor", cube, (middle, middle, -0.5)).rigid_body.type = "PASSIVE"
    scene.objects["Floor"].scale = (4 * middle, 4 * middle, 1)
    for index in range(count):
        row, column = divmod(index, side)
        _add_box(scene, f"Box{index}", cube, (_DISTANCE * column, _DISTANCE * row, 0.5 + 0.4 * (index % 3)))
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "boxes.blend"))
    return scene


def _add_box(scene, name, mesh, location):
    box = bpy.data.objects.new(name, mesh)
    box.location = location
    scene.collection.objects.link(box)
    scene.rigidbody_world.collection.objects.link(box)
    box.rigid_body.collision_shape = "BOX"
    return box


def _play(scene):
    """Times of all steps [s], {what: {stage: [time]}}."""
    return {
        "bake": _times(scene, _bake),
        "bake again": _times(scene, _bake),
        "delete": _times(scene, lambda scene: deletion(scene.name)),
    }


def _bake(scene):
    plan = in_window.plan_of(scene)
    return bake_frames(scene, BakeSettings.from_scene(scene), plan, beside=True, keeps_earlier=True)


def _times(scene, begin):
    """Play a generator of BakeProgress; a step counts to the stage that was shown before it, or is its last one."""
    times = {}
    steps = after_recording(scene.name, begin(scene))
    stage = "export"
    while True:
        start = time.thread_time()
        try:
            progress = next(steps)
        except StopIteration:
            times.setdefault(f"{stage}: end", []).append(time.thread_time() - start)
            return times
        if progress.text.startswith("Removing") and stage == "write":
            stage = "write: end"  # the keys are shown
        times.setdefault(stage, []).append(time.thread_time() - start)
        stage = "remove" if progress.text.startswith("Removing") else progress.stage
        if progress.waits:
            time.sleep(SECONDS_TO_WAIT)
