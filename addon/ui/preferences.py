"""The extension's preferences: the documentation, which packages Cairn runs with, where its compiled kernels are, and
*Prepare Now*.
"""

import contextlib
import functools
import tomllib

import bpy

from ...solver_core.geometry.shapes import ShapeKind
from .. import runtime
from ..preparation import Preparation
from . import operators
from .words import iface_

# With so many bodies a scene uses threads.
_MANY_BODIES = 10_000
# The frame rate is a number that kernels are given, not one that they are compiled for.
_FRAME_RATE = 24.0


class CAIRN_OT_prepare(operators.StepsOperator, bpy.types.Operator):
    """Compile all that the chosen solver may need, for shapes and joints of any kind, so that no bake waits for it"""

    bl_idname = "cairn.prepare"
    bl_label = "Prepare Now"
    bl_options = {"INTERNAL"}

    _task = "A preparation"
    _hint = operators.HINT_BEFORE_FRAMES

    @classmethod
    def poll(cls, context):
        if operators.running is not None:
            cls.poll_message_set(operators.what_runs())
        return operators.running is None

    def _work(self, scene, settings):
        preparation, compiled = Preparation(), False
        kernels = runtime.compile_kernels(
            settings.options(_FRAME_RATE), list(ShapeKind), _MANY_BODIES, True, True, True, True, True
        )
        with contextlib.closing(kernels):
            for done, total, _name in kernels:
                compiled = compiled or total > 0
                yield preparation.progress(done, total)
        return compiled

    def _conclude(self, context, result):
        if result is None:
            self.report({"INFO"}, "Stopped; what was compiled so far is kept")
            return {"CANCELLED"}
        self.report({"INFO"}, "The solver is ready" if result else "The solver was ready already")
        return {"FINISHED"}


class CairnPreferences(bpy.types.AddonPreferences):
    bl_idname = runtime.EXTENSION

    def draw(self, context):
        layout = self.layout
        if documentation():
            layout.operator("wm.url_open", text="Documentation", icon="HELP").url = documentation()
        else:
            layout.label(text="Documentation: docs/guide in the repository that this zip was made from", icon="HELP")
        column = layout.column(align=True)
        for line in versions():
            column.label(text=line, translate=False)
        if operators.running is not None:
            layout.progress(factor=operators.running["factor"], text=operators.running["text"])
        layout.operator("cairn.prepare", icon="TIME")
        layout.operator("cairn.copy_system_information", icon="COPYDOWN")


_lines = []


@functools.cache
def documentation():
    """Where the documentation is: the zip's website, else the pages in it; in a copy of the repository the guide there.

    Looked up once, as Blender draws all the time.
    """
    manifest = tomllib.loads((runtime.ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    places = runtime.ROOT / "pages" / "docs" / "guide" / "README.html", runtime.ROOT / "docs" / "guide" / "README.md"
    return manifest.get("website") or next((place.as_uri() for place in places if place.is_file()), "")


def versions():
    """Versions and the cache's folder in words; looked up once, as Blender draws all the time."""
    if not _lines:
        found = runtime.found_versions((*runtime.PACKAGES, *runtime.OPTIONAL_PACKAGES))
        _lines.append(", ".join(f"{name} {value[0] if value else 'missing'}" for name, value in found.items()))
        _lines.extend(runtime.differences_here())
        _lines.append(iface_("Ready-made kernels: {}").format(runtime.ready_made_text()))
        folder = runtime.cache_folder() or iface_("beside the sources, or in NUMBA_CACHE_DIR")
        _lines.append(iface_("Compiled kernels: {}").format(folder))
    return _lines


CLASSES = (CAIRN_OT_prepare, CairnPreferences)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    _lines.clear()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
