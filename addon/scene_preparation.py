"""What comes before a simulation: the scene is read, concave meshes are divided, kernels are loaded or compiled.

As a generator of steps, between which names and arrays are held and the scene is as the user left it.
"""

import contextlib
import time
from typing import Any

import bpy

from . import runtime
from .bake_progress import BakeProgress
from .preparation import Preparation, decomposition_progress
from .read.exported_scene import SceneExport
from .read.faults import SceneError
from .read.notes import Note
from .read.scene_check import export_for_bake, export_for_bake_steps
from .read.scene_joints import blender_substep
from .read.scene_notes import starting_overlaps
from .settings import BakeSettings
from .write import attach, blender_world, earlier_animation

# Making convex parts, and compiling, each take this share of what is left of the bar if there is any to do: both come
# before it is known how long the frames take.
PREPARATION_SHARE = 0.5


class ScenePreparation:
    """A scene on its way to a simulation.

    Parameters
    ----------
    scene_name : str
    settings : BakeSettings
    in_steps : bool
        Read it some objects a step: somebody waits for a window.
    """

    # From ``read_scene`` on.
    export: SceneExport
    options: dict[str, Any]

    def __init__(self, scene_name: str, settings: BakeSettings, in_steps: bool):
        self.scene_name = scene_name
        self.settings = settings
        self.in_steps = in_steps
        self.started = time.perf_counter()
        self.seconds = dict.fromkeys(("export", "decompose", "load", "compile"), 0.0)
        self.bar_filled = 0.0

    @property
    def scene(self):
        """The scene, found anew in each step."""
        scene = bpy.data.scenes.get(self.scene_name)
        if scene is None:
            raise SceneError(None, f"scene {self.scene_name!r} is gone")
        return scene

    def _bar_of_preparation(self):
        """The part of the bar that making convex parts takes, or compiling."""
        return self.bar_filled, self.bar_filled + PREPARATION_SHARE * (1.0 - self.bar_filled)

    @contextlib.contextmanager
    def timed(self, stage):
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += time.perf_counter() - start

    def catch_up(self):
        """Take over what the user has changed since an earlier bake."""
        yield from self.reading(attach.keep_steps(self.scene_name))

    def read_scene(self):
        """Export the scene as it is without an earlier bake; in one step where nobody waits for a window."""
        scene = self.scene
        if self.in_steps:
            self.export = yield from self.reading(export_for_bake_steps(scene, self.settings))
            self.note_scene(self.scene)
        else:
            with self.timed("export"), blender_world.guarded(scene), earlier_animation.earlier_animation(scene):
                self.export = export_for_bake(scene, self.settings)
                self.note_scene(scene)
            if earlier_animation.baked_objects(scene):
                attach.refresh(scene)
        self.options = self.settings.options(self.export.frame_rate)
        if blender_substep(scene) > 0.0:
            self.options["impact_time"] = blender_substep(scene)

    def note_scene(self, scene):
        """Note what else is to be known of the scene while it stands there as it was read; here nothing."""

    def decompose(self):
        """Make convex parts of concave meshes that are new; then read the scene with them."""
        pending = self.export.pending
        if not pending:
            return
        bar = self._bar_of_preparation()
        trouble = yield from decomposition_progress(pending, bar, lambda: self.timed("decompose"))
        self.bar_filled = bar[1]
        yield BakeProgress("export", 0, 0, "Reading the scene", self.bar_filled)
        yield from self.read_scene()
        if trouble is not None:
            text = f"convex parts were made within Blender, which was frozen meanwhile: {trouble}"
            self.export.notes.append(Note("info", None, text))

    def reading(self, steps):
        """Go through steps of reading the scene; returns what they do."""
        with contextlib.closing(steps):
            while True:
                with self.timed("export"):
                    try:
                        next(steps)
                    except StopIteration as end:
                        return end.value
                yield BakeProgress("export", 0, 0, "Reading the scene", self.bar_filled)

    def note_overlaps(self):
        """Add what overlaps at the start to the notes; needs compiled kernels."""
        self.export.notes.extend(starting_overlaps(self.export.model, self.export.surfaces, is_compiled=True))

    def compile(self):
        """Load Numba and the kernels; those that are in no cache yet are compiled."""
        start, part, bar = time.perf_counter(), "load", self._bar_of_preparation()
        preparation = Preparation(bar)
        model = self.export.model
        kernels = runtime.compile_kernels(
            self.options,
            model.arrays.shapes.kind,
            model.body_count,
            model.joint_count > 0,
            len(model.arrays.activation.waits) > 0,
            model.has_fields,
            len(model.guides) > 0,
            len(model.arrays.matter.rolling_friction) > 0,
        )
        with contextlib.closing(kernels):
            for done, total, _name in kernels:
                part = "compile" if total else part
                yield preparation.progress(done, total)
        if part == "compile":
            self.bar_filled = bar[1]
        self.export.notes.extend(Note("info", None, line) for line in runtime.remarks())
        # By the clock: other processes may compile between two steps.
        self.seconds[part] = time.perf_counter() - start
