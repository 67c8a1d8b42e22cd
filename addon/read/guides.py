"""Guided bodies, as *Follow* in their panel says: their own animation is a target that they are pulled to."""

import math
from collections.abc import Generator

import numpy as np

from ...solver_core.model.guides import FOLLOW, Guide
from .exported_scene import A_STEP
from .notes import Note
from .object_keys import find_object
from .own_settings import OwnSettings
from .scene_animation import animated_paths

# Properties of ``Object.cairn`` that say how a body follows.
FOLLOW_SETTINGS = ("follow", "follow_frequency", "follow_damping", "follow_force", "follow_torque")
_PATH = "cairn.follow"

NO_TARGET = "its Follow has nothing that moves it, by keys, constraints, drivers or parents: it is held where it starts"
NEVER_MOVES = "its Follow is not used: it never moves by simulation"


def are_keyed(ob) -> bool:
    """Whether how much an object follows may change from frame to frame."""
    return not animated_paths(ob).isdisjoint({_PATH, "*"})


def has_guide(ob) -> bool:
    """Whether an object's body follows its animation in any frame."""
    # who reads a scene from a script may not have registered the add-on
    own = getattr(ob, "cairn", None)
    return own is not None and (own.follow > 0.0 or _PATH in animated_paths(ob))


def add_guides(builder, objects, bodies, depsgraph, survey) -> Generator[None, None, tuple[bool, list[Note]]]:
    """Let bodies that move follow, as at the evaluated frame, ``A_STEP`` bodies a step.

    Returns
    -------
    changes : bool
        How much they follow is keyed.
    notes : list of Note
        On what is not used, or is held.
    """
    changes, notes = False, []
    for row, (ob, body) in enumerate(zip(objects, bodies, strict=True)):
        if row % A_STEP == 0:
            yield
        if not has_guide(ob):
            continue
        if not body.moves:
            notes.append(Note("info", ob.name, NEVER_MOVES))
            continue
        own = OwnSettings(ob, depsgraph)
        guide = Guide(
            frequency=own.follow_frequency,
            damping_ratio=own.follow_damping,
            largest_force=own.follow_force if own.follow_force > 0.0 else math.inf,
            largest_torque=own.follow_torque if own.follow_torque > 0.0 else math.inf,
            follow=_share(own.follow),
        )
        builder.guide_body(body.index, guide)
        changes = changes or are_keyed(ob)
        if not survey.may_move(ob):
            notes.append(Note("warning", ob.name, NO_TARGET))
    return changes, notes


def follow_at(bodies, depsgraph) -> np.ndarray:
    """How much all bodies follow at an evaluated frame, float64 [body_count]."""
    found = np.zeros(len(bodies))
    for body in bodies:
        ob = find_object(body.object_name, body.library)
        if body.is_guided and ob is not None:
            found[body.index] = _share(OwnSettings(ob, depsgraph).follow)
    return found


def note_follow(export, before, sample) -> None:
    """Write ``sample.follow``, which holds from the frame ``before`` on: what that one says.

    Parameters
    ----------
    export : SceneExport
    before, sample : FrameSample
        Of the two frames of the step.
    """
    if export.follow_changes:
        told = export.model.guides[:, FOLLOW] if before.follow_at is None else before.follow_at
        sample.follow = told


def _share(value):
    """How much an object follows: a curve between keys may lie beyond them."""
    return min(max(value, 0.0), 1.0)
