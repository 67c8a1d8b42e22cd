"""Print the lines of Blender and of its Python."""

import json
import sys

import bpy

python = ".".join(map(str, sys.version_info[:2]))
print("cairn-test:" + json.dumps({"blender": ".".join(map(str, bpy.app.version[:2])), "python": python}))
