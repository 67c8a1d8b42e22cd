"""How long a bake in the window keeps it from drawing: the longest step of each stage, of sparse scenes of many boxes.

The operator's generators are played to their ends, as its ticks do, without a window: what Blender draws is not in it.
A tick works for ``TICK_SLICE`` and then until its step ends. Steps are told in processor time of Blender's own thread,
as other work on the machine counts for little there; a step that only waits takes none.

What a call of Blender takes that evaluates or removes all of a scene is told apart (``CALLS``), and so is what its main
loop does after each step, which is to evaluate what has changed. The same is measured in a file without Cairn.
"""

import contextlib
import math
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import bpy

import cairn
from cairn.addon.bake import SECONDS_TO_WAIT, bake_frames
from cairn.addon.checkpoints import in_window
from cairn.addon.read import aside, frame_samples, scene_export
from cairn.addon.read.scene_check import check_scene
from cairn.addon.settings import BakeSettings
from cairn.addon.ui import kept_digest, watch
from cairn.addon.ui.delete_bake import deletion
from cairn.addon.ui.operators import TICK_SLICE, after_recording
from cairn.addon.write import attach, keyframes

from .report import Claim, Report

BODIES, QUICK_BODIES = (1000, 5000), (300,)
FRAMES = 6
# The view is to be drawn this often [s].
LONGEST = 0.1
# Loading the solver is once a session.
_ONCE = {"compile"}
# Functions that call Blender once, for something that it does in one piece.
CALLS = (
    (aside, "_copied"),
    (aside, "_remove"),
    (aside.FrameAside, "evaluate"),
    (frame_samples, "evaluate_frame"),
    (scene_export, "evaluate_frame"),
    (attach, "refresh"),
    (keyframes, "refresh"),
)
_DISTANCE = 3.0


def run(quick: bool = False, plots: Path | None = None) -> Report:
    """Bake, bake again, check and delete scenes of some sizes."""
    rows = []
    for count in QUICK_BODIES if quick else BODIES:
        with tempfile.TemporaryDirectory() as folder:
            scene = _make_scene(count, Path(folder))
            for what, stages in _play(scene).items():
                rows += [
                    {"bodies": count, "what": what, "stage": stage} | _row(times) for stage, times in stages.items()
                ]
            rows += _bare(count)
    ours = [row["ours, s"] for row in rows if row["stage"] not in _ONCE and row["what"] != "bare Blender"]
    longest = max(ours, default=0.0)
    claims = [
        Claim(
            "longest step, without Blender's own and loading the solver [s]",
            LONGEST,
            longest,
            longest <= LONGEST,
            timed=True,
        ),
    ]
    notes = [
        "the longest of each stage: Cairn, calls of Blender within its steps, and Blender's main loop after a step",
        f"Python {sys.version.split()[0]}, Blender {bpy.app.version_string}",
    ]
    return Report("window_latency", rows, claims, notes)


def _row(times):
    ours, calls, after = (max(column) for column in zip(*times, strict=True))
    return {
        "ours, s": round(ours, 3),
        "Blender, s": round(calls, 3),
        "after, s": round(after, 3),
        "steps": len(times),
        "all of ours, s": round(sum(one for one, _, _ in times), 2),
    }


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
    box.rotation_euler.z = 0.1 * len(scene.objects)
    scene.collection.objects.link(box)
    scene.rigidbody_world.collection.objects.link(box)
    box.rigid_body.collision_shape = "BOX"
    return box


def _play(scene):
    """Times of all steps, {what: {stage: [(ours, Blender's within, Blender's after) in s]}}."""
    return {
        "bake": _times(scene, _bake),
        "look after an edit": _look(scene),
        "check": _times(scene, _check),
        "bake again": _times(scene, _bake),
        "delete": _times(scene, lambda scene: deletion(scene.name)),
    }


def _bake(scene):
    plan = in_window.plan_of(scene)
    return bake_frames(scene, BakeSettings.from_scene(scene), plan, beside=True, keeps_earlier=True)


def _check(scene):
    return check_scene(scene, BakeSettings.from_scene(scene), True)


def _look(scene):
    """Times of the steps by which the panel finds that one body has changed, which go on between what is drawn."""
    kept, session = kept_digest.KeptDigest(), bpy.context.window_manager.cairn
    for _ in watch.look_steps(scene.name, session, kept):
        pass
    scene.objects["Box0"].rigid_body.mass += 1.0
    change = SimpleNamespace(id=SimpleNamespace(original=scene.objects["Box0"]), is_updated_geometry=True)
    kept.note(SimpleNamespace(updates=[change]))  # as Blender tells it in a window
    times, steps = [], watch.look_steps(scene.name, session, kept)
    while True:
        start = time.thread_time()
        try:
            next(steps)
        except StopIteration:
            return {"look": times}
        finally:
            times.append((time.thread_time() - start, 0.0, 0.0))


def _times(scene, begin):
    """Play a generator of BakeProgress; a step counts to the stage that was shown before it, or is its last one."""
    times: dict = {}
    name, stage = scene.name, "export"
    worked = after = 0.0  # in a tick, which is longer where Blender takes long after it
    with _blenders_own() as calls:
        steps = after_recording(name, begin(scene))
        while True:
            start, calls[0] = time.thread_time(), 0.0
            try:
                progress = next(steps)
            except StopIteration:
                progress = None
            spent = time.thread_time() - start - calls[0]
            if progress is None or (progress.text.startswith("Removing") and stage == "write"):
                stage += ": end"
            worked += spent + calls[0]
            if progress is None or stage != progress.stage or worked > max(TICK_SLICE, after):
                start = time.thread_time()
                bpy.context.view_layer.update()
                worked, after = 0.0, time.thread_time() - start
            times.setdefault(stage, []).append((spent, calls[0], after if worked == 0.0 else 0.0))
            if progress is None:
                return times
            stage = "remove" if progress.text.startswith("Removing") else progress.stage
            if progress.waits:
                time.sleep(SECONDS_TO_WAIT)


@contextlib.contextmanager
def _blenders_own():
    """Count what calls of Blender take meanwhile, [s]."""
    taken, originals = [0.0], [(owner, name, getattr(owner, name)) for owner, name in CALLS]

    def counted(function):
        def call(*arguments, **keywords):
            start = time.thread_time()
            try:
                return function(*arguments, **keywords)
            finally:
                taken[0] += time.thread_time() - start

        return call

    for owner, name, function in originals:
        setattr(owner, name, counted(function))
    try:
        yield taken
    finally:
        for owner, name, function in originals:
            setattr(owner, name, function)


def _bare(count):
    """What Blender takes alone for the same: a scene of as many objects, without rigid bodies and without Cairn."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    cairn.unregister()
    scene = bpy.context.scene
    mesh = bpy.data.meshes.new("Cube")
    objects = [bpy.data.objects.new(f"Box{index}", mesh) for index in range(count)]
    for ob in objects:
        scene.collection.objects.link(ob)
    update = bpy.context.view_layer.update
    update()
    rows = []

    def measure(stage, work, after=None):
        start = time.thread_time()
        found = work()
        spent = time.thread_time() - start
        start = time.thread_time()
        update()
        row = {"bodies": count, "what": "bare Blender", "stage": stage, "ours, s": 0.0, "Blender, s": round(spent, 3)}
        rows.append(row | {"after, s": round(time.thread_time() - start, 3), "steps": 1, "all of ours, s": 0.0})
        return found

    copy = measure("a copy of the scene", scene.copy)
    measure("to evaluate the copy", lambda: copy.frame_set(1))
    measure("to remove the copy", lambda: bpy.data.scenes.remove(copy))
    for ob in objects:
        action = bpy.data.actions.new(ob.name)
        slot = action.slots.new("OBJECT", ob.name)
        bag = action.layers.new("Layer").strips.new(type="KEYFRAME").channelbag(slot, ensure=True)
        for index in range(3):
            bag.fcurves.new("location", index=index).keyframe_points.insert(1, 0.5)
        ob.animation_data_create().action = action
        ob.animation_data.action_slot = slot
    measure("to show a frame of new keys", lambda: scene.frame_set(2))
    for ob in objects:
        ob.animation_data_clear()
    measure("to show a frame of no keys", lambda: scene.frame_set(1))
    return rows
