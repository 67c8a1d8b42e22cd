"""In a window: tell how often Blender has to evaluate the scene while nothing happens, and while a keyed body is baked.

Each of these lets it draw all 3D views anew, several times.
"""

import sys
import time
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))
from tour import in_view, nothing_runs, part_of_cairn, pause, play, seen, until

SECONDS_AT_REST = 8.0  # some looks of Cairn at the scene


def count_updates(scene, depsgraph):
    if scene == bpy.context.scene and len(depsgraph.updates):
        running = part_of_cairn("operators").running
        stage = running["text"].split()[0] if running else ""
        counts[stage] = counts.get(stage, 0) + 1


def change():
    bpy.data.objects["Upper"].location.z += 0.1


def forget():
    counts.clear()


def note_rest():
    seen["at_rest"] = sum(counts.values())


def note_rest_of_bake():
    seen["at_rest_baked"] = sum(counts.values())


def key_a_body():
    pusher = bpy.data.objects["Lower"]
    pusher.rigid_body.kinematic = True
    for frame, place in ((1, 0.0), (48, 3.0)):
        pusher.location.x = place
        pusher.keyframe_insert("location", index=0, frame=frame)
    bpy.context.scene.frame_set(1)


def bake():
    operators = part_of_cairn("operators")
    tick, seen["longest"] = operators.StepsOperator._tick, 0.0

    def timed(self, context):
        began = time.thread_time()
        try:
            return tick(self, context)
        finally:
            if operators.running["text"].startswith(("Frame", "Reading animation")):
                seen["longest"] = max(seen["longest"], time.thread_time() - began)
                seen["scenes"] = max(seen.get("scenes", 0), len(bpy.data.scenes))

    operators.StepsOperator._tick = timed
    counts.clear()
    with in_view():
        assert bpy.ops.cairn.bake("INVOKE_DEFAULT") == {"RUNNING_MODAL"}


def note_bake():
    seen["while_baking"] = {stage: counts.get(stage, 0) for stage in ("Frame", "Reading")}
    seen["scenes_left"] = [scene.name for scene in bpy.data.scenes]
    seen["pushed"] = bpy.context.scene.cairn.summary


counts = {}
bpy.app.handlers.depsgraph_update_post.append(count_updates)
play(
    [
        *(pause(), change, pause(3.0), forget, pause(SECONDS_AT_REST), note_rest),
        *(key_a_body, pause(3.0), bake, until(nothing_runs), note_bake),
        *(pause(4.0), forget, pause(SECONDS_AT_REST), note_rest_of_bake),
    ]
)
