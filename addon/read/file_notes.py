"""What the file itself lacks of the scene: libraries that are not there, and what an older Blender cannot know."""

from collections.abc import Iterator

import bpy

from .notes import Note

# What a simulation may depend on; pictures, materials and sounds are no part of it.
_KINDS = (
    "scenes", "collections", "objects", "meshes", "curves", "metaballs", "lattices", "armatures", "shape_keys",
    "actions", "node_groups", "pointclouds", "volumes",
)  # fmt: skip
# So many names of one library are listed.
_NAMED = 3


def file_notes() -> Iterator[Note]:
    """Notes about the open file as a whole."""
    saved, own = bpy.data.version[:2], bpy.app.version_file[:2]
    if saved > own:
        text = "the file was saved by Blender {}.{}, and this is {}.{}: what is new there is lost here"
        yield Note("warning", None, text.format(*saved, *own))
    missing: dict[str, list[str]] = {}
    for kind in _KINDS:
        for block in getattr(bpy.data, kind):
            if block.library is not None and block.is_missing:
                missing.setdefault(block.library.filepath, []).append(block.name)
    for path, names in missing.items():
        listed = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else "")
        text = (
            f"{path} could not be read, or lacks {listed}: the scene is simulated without; find the file, and reload it"
        )
        yield Note("warning", None, text)
