"""Print the pose of each keyed object of the opened file, frame by frame (a matrix, row by row), and its keys."""

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
    keys = [[point.co.x for point in curve.keyframe_points] for curve in channels.fcurves]
    between = sorted({frame for curve in keys for frame in curve if frame != round(frame)})
    motion[body.name] = {"keys": [len(curve) for curve in keys], "between": between, "poses": []}
for frame in range(scene.frame_start, scene.frame_end + 1):
    scene.frame_set(frame)
    for name, record in motion.items():
        record["poses"].append([value for row in bpy.data.objects[name].matrix_world for value in row])
print("cairn-test:" + json.dumps(motion))
