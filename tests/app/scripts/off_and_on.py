"""Switch the extension off and on again, twice, and print what is registered after each step."""

import json

import addon_utils
import bpy

MODULE = "bl_ext.user_default.cairn"


def registered() -> list[str]:
    kinds = (bpy.types.Panel, bpy.types.Operator, bpy.types.PropertyGroup, bpy.types.Menu, bpy.types.AddonPreferences)
    classes = [cls for kind in kinds for cls in kind.__subclasses__() if cls.__module__.startswith(MODULE)]
    return sorted(cls.__name__ for cls in classes if cls.is_registered)


def raise_again(error: Exception) -> None:
    raise error


steps = [registered()]
for _ in range(2):
    addon_utils.disable(MODULE, handle_error=raise_again)
    steps.append(registered())
    addon_utils.enable(MODULE, handle_error=raise_again)
    steps.append(registered())
print("cairn-test:" + json.dumps(steps))
