"""``python -m cairn`` and the script ``cairn``: the command line with the bpy module from PyPI."""

import os
import sys
from contextlib import contextmanager


def main() -> int:
    """Run the command line; without bpy say where to get it."""
    try:
        with _stdout_on_stderr():
            import bpy
    except ImportError as error:
        print(
            f"cairn: the command line needs Blender's Python module ({error}); "
            "pip install bpy, or use blender -b SCENE.blend --command cairn ...",
            file=sys.stderr,
        )
        return 2
    from .addon.cli import main as run

    try:
        code = run()
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read our output has seen enough: `cairn info shot.blend | head`
        code = 0
    _leave(bpy, code)


@contextmanager
def _stdout_on_stderr():
    """Blender's module says a line on stdout when it is loaded; results for programs are to stand there alone."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def _leave(bpy, code):
    """End the process without Python's clean-up, in which the module reports Blender's own leaks on stderr."""
    import shutil

    shutil.rmtree(bpy.app.tempdir, ignore_errors=True)
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
