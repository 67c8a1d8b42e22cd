"""What a bake would simulate and what it ignores, found without baking."""

import contextlib

from ...solver_core.diagnostics import boxes_overlap
from .. import runtime
from ..joint_kinds import joint_counts
from ..preparation import Preparation
from ..write import attach, blender_world, earlier_animation, since_bake
from .early_notes import nothing_to_bake
from .faults import Faults, SceneError
from .notes import note_dictionary
from .scene_export import export_scene
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
    faults, mismatch = Faults(), settings.mismatch()
    if mismatch:
        faults.add(SceneError(None, mismatch))
    export = None
    with faults.caught():
        export = export_scene(
            scene, frame_start=settings.start, frame_end=settings.end, decompose=False, for_bake=for_bake
        )
    faults.raise_any()
    return export


def check_scene(scene, settings, find_overlaps):
    """Check a scene, as a generator of BakeProgress whose return value is a report: notes and totals of bodies.

    Only the search for overlaps takes steps: what it needs is compiled as for a bake (``runtime.compile_contacts``).
    Closing the generator ends that.

    Parameters
    ----------
    scene : bpy.types.Scene
    settings : BakeSettings
    find_overlaps : bool
        Also look for bodies that overlap at the start.
    """
    since_bake.settle(scene)
    try:
        with blender_world.guarded(scene), earlier_animation.earlier_animation(scene):
            # a scene in which nothing moves yet can be looked at all the same
            export = export_for_bake(scene, settings, for_bake=not nothing_to_bake(scene))
    finally:
        if earlier_animation.baked_objects(scene):
            attach.refresh(scene)
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
