"""What a bake would simulate and what it ignores, found without baking."""

import contextlib

import bpy

from ...solver_core.diagnostics import boxes_overlap
from .. import runtime
from ..bake_progress import BakeProgress
from ..joint_kinds import joint_counts
from ..preparation import Preparation
from ..write import since_bake
from .early_notes import nothing_to_bake
from .faults import Faults, SceneError
from .notes import note_dictionary
from .scene_export import export_scene, export_steps
from .scene_notes import NO_OVERLAPS, starting_overlaps


def export_for_bake(scene, settings, *, for_bake=True):
    """Read a scene with a bake's settings; concave meshes that are new stay pending.

    Parameters
    ----------
    scene : bpy.types.Scene
        As it is without an earlier bake (``earlier_animation``).
    settings : BakeSettings
    for_bake : bool
        As of ``export_scene``.

    Returns
    -------
    SceneExport

    Raises
    ------
    SceneError
        All that a bake refuses, of the settings and of the scene.
    """
    range_of_frames = {"frame_start": settings.start, "frame_end": settings.end}
    faults, export = _faults_of(settings), None
    with faults.caught():
        export = export_scene(scene, **range_of_frames, decompose=False, for_bake=for_bake)
    faults.raise_any()
    return export


def export_for_bake_steps(scene, settings, *, for_bake=True):
    """The same of a scene, whether it has a bake or not, as a generator: some objects a step."""
    faults, export = _faults_of(settings), None
    with faults.caught():
        export = yield from export_steps(scene, frame_start=settings.start, frame_end=settings.end, for_bake=for_bake)
    faults.raise_any()
    return export


def _faults_of(settings):
    faults, mismatch = Faults(), settings.mismatch()
    if mismatch:
        faults.add(SceneError(None, mismatch))
    return faults


def check_scene(scene, settings, find_overlaps):
    """Check a scene, as a generator of BakeProgress whose return value is a report: notes and totals of bodies.

    Reading takes steps, as for a bake, and so does the search for overlaps: what it needs is compiled as for a bake
    (``runtime.compile_contacts``). Closing the generator ends that.

    Parameters
    ----------
    scene : bpy.types.Scene
    settings : BakeSettings
    find_overlaps : bool
        Also look for bodies that overlap at the start.
    """
    scene_name = scene.name
    yield from _told(since_bake.catch_up_steps(scene_name))
    scene = bpy.data.scenes[scene_name]
    # a scene in which nothing moves yet can be looked at all the same
    for_bake = not nothing_to_bake(scene)
    with contextlib.closing(export_for_bake_steps(scene, settings, for_bake=for_bake)) as steps:
        export = yield from _told(steps)
    yield BakeProgress("export", 0, 0, "Reading the scene")
    overlaps, preparation = [], Preparation()
    if find_overlaps and boxes_overlap(export.model):
        # Numba may be missing: the search says so in a note.
        with (
            contextlib.suppress(runtime.RuntimeUnavailable),
            contextlib.closing(runtime.compile_contacts(export.model.arrays.shapes.kind)) as kernels,
        ):
            for done, total, _name in kernels:
                yield preparation.progress(done, total)
        overlaps = starting_overlaps(export.model, export.surfaces)
    if find_overlaps and not overlaps:
        overlaps = [NO_OVERLAPS]
    notes = [note_dictionary(note) for note in [*overlaps, *export.notes]]
    totals = {
        "bodies": len(export.bodies),
        "moving": sum(body.moves for body in export.bodies),
        "joints": joint_counts(joint.kind for joint in export.joints),
    }
    return {"notes": notes, "totals": totals}


def _told(steps):
    """Steps of reading as BakeProgress; returns what they do."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
        yield BakeProgress("export", 0, 0, "Reading the scene")
