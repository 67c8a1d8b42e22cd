"""How an object is found again in a later step: by its name, and by the file that it is linked from.

Blender keeps the names of a file's own objects unlike. One that is linked may have the name of a local one, or of one
from another library.
"""

import bpy


def key_of(ob: bpy.types.Object) -> tuple[str, str | None]:
    """Name of an object, and the path of the library that it is linked from, as Blender has it; None of a local one."""
    return ob.name, None if ob.library is None else ob.library.filepath


def find_object(name: str, library: str | None = None) -> bpy.types.Object | None:
    """The object of a key, or None."""
    return bpy.data.objects.get((name, library))


def find_objects(names: list[str]) -> dict[str, bpy.types.Object | None]:
    """Local objects by name: Blender's own search for a name goes through all objects each time."""
    local = {ob.name: ob for ob in bpy.data.objects if ob.library is None}
    return {name: local.get(name) for name in names}
