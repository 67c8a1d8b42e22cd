"""Print where each active body of the opened file is, frame by frame, and how many keys its action has."""

import json

import bpy
from bpy_extras import anim_utils

scene = bpy.context.scene
motion = {}
for body in scene.objects:
    if body.animation_data is None or body.animation_data.action is None:
        continue
    data = body.animation_data
    channels = anim_utils.action_get_channelbag_for_slot(data.action, data.action_slot)
    motion[body.name] = {"keys": [len(curve.keyframe_points) for curve in channels.fcurves], "z": []}
for frame in range(scene.frame_start, scene.frame_end + 1):
    scene.frame_set(frame)
    for name, record in motion.items():
        record["z"].append(bpy.data.objects[name].matrix_world.translation.z)
print("cairn-test:" + json.dumps(motion))
