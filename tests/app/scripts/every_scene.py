"""Open every scene of Add > Cairn in one file, and bake the first frames of each; tell how it went."""

import importlib
import json

import bpy

FRAMES = 7  # some scenes lead bodies to their start for 4
package = next(addon.module for addon in bpy.context.preferences.addons if addon.module.endswith(".cairn"))
demos = importlib.import_module(f"{package}.addon.demo_list").DEMOS
told = {}
for name, _, _ in demos:
    bpy.ops.cairn.add_demo(demo=name)
    scene = bpy.data.scenes[-1] if bpy.context.window is None else bpy.context.window.scene
    scene.frame_end = scene.rigidbody_world.point_cache.frame_end = scene.frame_start + FRAMES
    with bpy.context.temp_override(scene=scene):
        ended = list(bpy.ops.cairn.bake())
    told[name] = [scene.name, ended, scene.cairn.baked_end, scene.cairn.has_warnings]
print("cairn-test:" + json.dumps(told))
