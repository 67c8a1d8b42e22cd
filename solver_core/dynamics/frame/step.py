"""One frame of simulation: ``advance_frame`` is the step as a list of named stages.

It is one kernel, so that Python calls once a frame. Large stages and the solver it calls by address (``stages``), so
each is compiled on its own, and only what a model needs (``compilation``).

Each substep solves the contacts twice. For positions: where do the bodies go? Gaps may close but not more (speculative
contacts), overlaps are taken out by a share (Baumgarte), and the answer moves the poses. Then for velocities, only
where overlaps were taken out or bodies bounce: how fast are they afterwards? So taking out an overlap adds no kinetic
energy, and a bounce starts at the surface.
"""

import numpy as np

from ...collision.ccd_recheck import stop_where_swept_pairs_meet
from ...compiled.function_tables import call_for_count
from ...compiled.kernel import kernel, subkernel
from ...compiled.views import numbers_of, views_of
from ...constraints.contact_rows import store_contact_impulses
from ..islands.memory import forget_standing
from ..motion.frame_impulses import MOVED, REPEATED, SLEPT, SOLVED, has_room_for_contacts
from ..motion.integration import measure_motion
from ..rest.activation import AFTER, BEFORE
from ..rest.sleeping import fall_asleep, forget_changes
from ..rest.standstill import note_standing
from ..schedule.frame_record import end_stage, record_contacts, restore_solve_quality, solve_quality, start_clock
from ..schedule.sharing import call_stage
from ..schedule.stage_table import (
    ACTIVATE,
    APPLY_FORCES,
    END_JOINTS,
    FALL_ASLEEP,
    INTEGRATE,
    KEEP_IMPULSES,
    SOLVE_POSITIONS,
    SOLVE_VELOCITIES,
)
from .detection import apply_all_forces, detect_and_solve_positions, finish_detection, solve_islands


@kernel
def advance_frame(arrays):
    """Advance the state from the substep that the record says to the last one of the frame.

    Parameters
    ----------
    arrays : StepArrays
        Of the first worker; what is read and written is said at ``StepMembers``.

    Returns
    -------
    bool
        False if a buffer of pairs or contacts was full, or of those of the frame. Nothing of that substep has been done
        to the state then: the caller makes room and calls again. What a solver remembers is not taken back, so the
        bits may depend on when a buffer of pairs or contacts grew; a checkpoint holds that memory too.
    """
    members = views_of(arrays)
    model, state, sleep, collision = members.model, members.state, members.sleep, members.collision
    problem, record, stages = members.problem, members.record, members.kernels.stages
    waiting = members.waiting
    step, is_kept = numbers_of(members.settings.step), members.impulses.substep.is_kept[0] == 1
    start_clock(record)
    if record.substeps[0] == 0:
        forget_standing(members.motion.memory)
    while record.substeps[0] < step.until:
        if record.stands[0] == 1:
            # what is left of the frame would repeat the last substep
            if is_kept:
                call_stage(stages, KEEP_IMPULSES, arrays, REPEATED, step.until - record.substeps[0])
            record.substeps[0] = step.until
            break
        if is_kept and not has_room_for_contacts(members.impulses):
            return False
        if waiting.count[0] > 0 and call_for_count(stages, ACTIVATE, arrays, BEFORE) > 0:
            # what stood on a joint that is gone stands no longer
            forget_standing(members.motion.memory)
        earlier = solve_quality(record)
        apply_all_forces(arrays)
        end_stage(record, APPLY_FORCES)

        # Detection passes: broad_phase, narrow_phase, match_contacts, build_rows, find_islands, solve_positions.
        if not detect_and_solve_positions(arrays):
            return False
        contacts = collision.contacts[collision.roles.present[0]]
        forget_changes(sleep)
        # Warm starts use the impulses of the position solve; the velocity solve overwrites those of the rows.
        store_contact_impulses(problem.rows, contacts)
        end_stage(record, SOLVE_POSITIONS)

        solve_islands(members, SOLVE_VELOCITIES)
        if waiting.count[0] > 0 and call_for_count(stages, ACTIVATE, arrays, AFTER) > 0:
            # bodies have woken: the substep is solved again with them
            _take_back(members, earlier)
            continue
        if is_kept:
            call_stage(stages, KEEP_IMPULSES, arrays, SOLVED, np.int64(0))
        all_stand = note_standing(members, step)
        if model.joints.body_a.size > 0:
            goes_on = record.substeps[0] + 1 < step.substeps and not (all_stand and step.ends_at_rest == 1)
            if call_for_count(stages, END_JOINTS, arrays, np.int64(0 if goes_on else 1)) > 0:
                # joints broke: the substep is solved again without them
                _take_back(members, earlier)
                continue

        pairs, is_held = collision.pairs[collision.roles.present[0]], problem.step_rules.is_held
        stop_where_swept_pairs_meet(model, state, members.motion, is_held, step, pairs, collision.workspace)
        call_stage(stages, INTEGRATE, arrays)
        if is_kept:
            call_stage(stages, KEEP_IMPULSES, arrays, MOVED, np.int64(0))
        end_stage(record, INTEGRATE)

        record_contacts(record, contacts, problem.islands)
        finish_detection(members)
        record.substeps[0] += 1
        record.stands[0] = 1 if all_stand and step.ends_at_rest else 0

    if step.sleeping:
        fall_asleep(
            model, state, sleep, problem.rows, problem.islands, step.gravity_norm, step.substeps * step.h, step.h
        )
    if is_kept:
        call_stage(stages, KEEP_IMPULSES, arrays, SLEPT, np.int64(0))
    record.sleeping[0] = sleep.sleeping_count[0]
    record.not_finite[0] = measure_motion(
        model.mass,
        model.inertia,
        members.settings.gravity,
        state.kind,
        sleep.group,
        state.position,
        state.orientation,
        state.velocity,
        record.energy,
    )
    end_stage(record, FALL_ASLEEP)
    return True


@subkernel
def _take_back(members, earlier):
    """Begin a substep again: with the velocities that it began with, and nothing known to stand."""
    velocity, start_velocity = members.state.velocity, members.motion.start_velocity
    for body in range(velocity.shape[0]):
        for column in range(6):
            velocity[body, column] = start_velocity[body, column]
    forget_standing(members.motion.memory)
    restore_solve_quality(members.record, earlier)
