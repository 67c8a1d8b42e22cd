"""What leads the guided bodies of a simulation from outside: their targets, and how much these are followed."""

import numpy as np

from ...model.guides import FREQUENCY
from ...model.model import BodyKind, Model
from ..rest.sleeping import SleepArrays, wake_groups_of
from .driven_paths import lay_paths
from .frame_checks import checked_flags, checked_numbers, checked_poses
from .frame_poses import aim_driven, find_driven_poses
from .guide_arrays import GuideArrays


def change_guides(guides: GuideArrays, model: Model, frame_input, sleep: SleepArrays, acting, duration) -> None:
    """Take over where targets go in the frame, and how much they are followed; wakes whom that changes.

    Who is led from the first frame on, and has no velocity of its own, begins with that of its target.

    Parameters
    ----------
    guides : GuideArrays
        Written.
    model : Model
    frame_input : FrameInput
        ``follow``, ``position``, ``orientation``, ``velocity``, ``jumps``.
    sleep : SleepArrays
        Written.
    acting : StateArrays
        As the step sees it; kinds written, and velocities of who is led from the start.
    duration : float
        Of the frame [s].

    Raises
    ------
    ValueError
        An array has the wrong shape or holds NaN, or follow is not from 0 to 1.
    """
    guided, count = guides.numbers[:, FREQUENCY] > 0.0, model.body_count
    changed = np.zeros(count, bool)
    if frame_input.follow is not None:
        follow = checked_numbers("follow", frame_input.follow, (count,))
        if np.any((follow < 0.0) | (follow > 1.0)):
            raise ValueError(f"follow has values from {follow.min():g} to {follow.max():g}; they must be from 0 to 1")
        changed = guided & (follow != guides.follow)
        guides.follow[:] = follow
    position, orientation = guides.position.copy(), guides.orientation.copy()
    if frame_input.position is not None:
        given = checked_poses(frame_input.position, frame_input.orientation, count)
        # these kernels ask who is driven, as targets are
        kind = np.where(guided, BodyKind.KINEMATIC.value, BodyKind.STATIC.value)
        lost = find_driven_poses(kind, model.frame_position, model.frame_orientation, *given)
        if lost >= 0:
            raise ValueError(f"the pose given for {model.names[lost]} holds NaN or infinity")
        position[guided], orientation[guided] = given[0][guided], given[1][guided]
    jumps = np.zeros(count, bool)
    if frame_input.jumps is not None:
        jumps = guided & checked_flags("jumps", frame_input.jumps, (count,))
    moved = np.any(position != guides.position, axis=1) | np.any(orientation != guides.orientation, axis=1)
    guides.position[jumps], guides.orientation[jumps] = position[jumps], orientation[jumps]
    _lay(guides, model, frame_input, guided & ~jumps, (position, orientation), duration)
    guides.position[:], guides.orientation[:] = position, orientation
    if guides.begins[0] == 1 and duration > 0.0:
        guides.begins[0] = 0
        begins = guided & (guides.follow > 0.0) & (acting.kind == BodyKind.DYNAMIC) & ~acting.velocity.any(axis=1)
        acting.velocity[begins, :3] = guides.paths.way[begins, 0] / duration
        acting.velocity[begins, 3:] = guides.paths.turn[begins, 0] / duration
    changed |= guided & moved & (guides.follow > 0.0)
    guides.moves[0] = int(changed.any())
    if changed.any() and sleep.sleeping_count[0] > 0:
        wake_groups_of(sleep, acting.kind, changed)


def _lay(guides, model, frame_input, led, target, duration):
    """Write the paths from the targets of the last frame to those of this one."""
    paths, present = guides.paths, (guides.position, guides.orientation)
    paths.start_position[:], paths.start_orientation[:] = present
    paths.way[:], paths.turn[:], paths.swing[:], paths.is_curved[:] = 0.0, 0.0, 0.0, False
    if duration == 0.0:
        return
    kind = np.where(led, BodyKind.KINEMATIC.value, BodyKind.STATIC.value)
    rates = np.full((2, model.body_count, 6), np.nan)
    if frame_input.velocity is not None:
        rates = np.array(frame_input.velocity, float)
    steady = np.zeros((model.body_count, 6))
    aim_driven(kind, *present, steady, *target, duration)
    lay_paths(kind, model.frame_position, present, target, rates, duration, np.zeros_like(steady), paths)
    straight = led & ~paths.is_curved
    paths.way[straight] = duration * steady[straight, None, :3]
    paths.turn[straight] = duration * steady[straight, None, 3:]
