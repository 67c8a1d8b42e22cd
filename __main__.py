"""``python -m cairn`` and the script ``cairn``: the command line with the bpy module from PyPI."""

import os
import sys


def main() -> int:
    """Run the command line; without bpy say where to get it."""
    try:
        import bpy
    except ImportError as error:
        print(
            f"cairn: the command line needs Blender's Python module ({error}); "
            "pip install bpy, or use blender -b SCENE.blend --command cairn ...",
            file=sys.stderr,
        )
        return 2
    from .addon.cli import main as run

    code = run()
    sys.stdout.flush()
    sys.stderr.flush()
    _leave(bpy, code)


def _leave(bpy, code):
    """End the process without Python's clean-up, in which the module reports Blender's own leaks on stderr."""
    import shutil

    shutil.rmtree(bpy.app.tempdir, ignore_errors=True)
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
