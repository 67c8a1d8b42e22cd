"""In the background: how long a bake takes from its beginning to its first simulated frame, and what it says."""

import importlib
import json
import time

import bpy

package = next(addon.module for addon in bpy.context.preferences.addons if addon.module.endswith(".cairn"))
bake = importlib.import_module(f"{package}.addon.bake")
settings = importlib.import_module(f"{package}.addon.settings")
scene = bpy.context.scene
texts = []
started, worked = time.perf_counter(), time.process_time()
steps = bake.bake_frames(scene, settings.BakeSettings.from_scene(scene))
for progress in steps:
    texts.append(progress.text)
    if progress.stage == "simulate":
        break
seconds, worked = time.perf_counter() - started, time.process_time() - worked
try:
    steps.throw(bake.BakeStopped())
    while True:
        next(steps)
except StopIteration as end:
    report = end.value.report
notes = [note["text"] for note in report["notes"]]
told = {"seconds": seconds, "processor_seconds": worked, "texts": texts, "notes": notes}
print("cairn-test:" + json.dumps(told), flush=True)
