"""Shapes that would have passed each other: whether a solution leads them together, and that they do not pass then."""

from ..compiled.kernel import subkernel
from .data.workspace import MAX_PASSES, MESH
from .distance.shape_distance import RATIO_FAST
from .pair_context import describe_pair
from .swept_motion import closest_approach, velocity_change_bound
from .time_of_impact import SEPARATED_BY_CCD, advance_to_impact, sweep_slack


@subkernel(inline=True)
def recheck_swept_pairs(model, state, start_velocity, step, pairs, workspace, is_farther):
    """Whether shapes that were separated by CCD meet after all by the velocities after the solve, or may.

    Parameters
    ----------
    model, state, step, workspace
        As in ``NarrowPhaseArrays``; the state's velocity is the one after the contacts (read).
    start_velocity : float64 [B, 6]
        (read)
    pairs : PairArrays
        As ``narrow_phase`` left them (read).
    is_farther : bool
        Whether bodies go farther than their velocities at the start could tell: then pairs without contacts may have
        become fast enough to pass each other, and a body may meet other triangles of a mesh.

    Returns
    -------
    bool
    """
    shapes, velocity, surface_speed = model.shapes, state.velocity, workspace.shape_parameters.surface_speed
    fall = step.gravity_norm * step.h * step.h
    for pair_number in range(pairs.count[0]):
        a, b = pairs.shape_a[pair_number], pairs.shape_b[pair_number]
        with_mesh = shapes.kind[a] == MESH or shapes.kind[b] == MESH
        is_separated = pairs.reach[pair_number] == SEPARATED_BY_CCD
        is_unfollowed = is_farther and not is_separated and pairs.contact_count[pair_number] == 0
        if not (is_separated or is_unfollowed or with_mesh):
            continue
        pair = describe_pair(model, state, workspace, pairs, pair_number)
        body_a, body_b = pair.body_a, pair.body_b
        radius_a, radius_b = pair.shape_a.swept_radius, pair.shape_b.swept_radius
        slack = sweep_slack(pair, workspace.size, fall)
        slack += step.h * (surface_speed[a] + surface_speed[b])
        changed = velocity_change_bound(start_velocity[body_a], velocity[body_a], radius_a)
        changed += velocity_change_bound(start_velocity[body_b], velocity[body_b], radius_b)
        if step.h * changed <= slack:
            continue
        if is_unfollowed and not with_mesh:
            speed = closest_approach(velocity[body_a], velocity[body_b], radius_a, radius_b)
            if step.h * speed <= RATIO_FAST * pair.size:
                continue
        if with_mesh:
            # Which triangles it meets then is found out when contacts are made.
            if is_farther:
                return True
            speed = closest_approach(velocity[body_a], velocity[body_b], radius_a, radius_b)
            if step.h * speed > RATIO_FAST * pair.size:
                return True
        elif advance_to_impact(workspace, pair, velocity[body_a], velocity[body_b], step.h, 1.0, slack) >= 0.0:
            return True
    return False


@subkernel
def stop_where_swept_pairs_meet(model, state, motion, is_held, step, pairs, workspace):
    """Let bodies go no farther than to where shapes meet that would have passed each other.

    The last solution of a substep may lead a body elsewhere than all before it: into what it would have passed by the
    motions along which contacts were looked for. No pass is left that would see it, so it goes as far as that, and on
    in the next substep, which looks along its velocity.

    Parameters
    ----------
    model, state, step, workspace
        As in ``NarrowPhaseArrays`` (read).
    motion : MotionArrays
        Read: start_velocity. Written: position_velocity.
    is_held : bool [B]
        Of ``StepRuleArrays``: corrections of joints lead these bodies (read).
    pairs : PairArrays
        As ``narrow_phase`` left them (read).
    """
    if workspace.predicted.detection_pass[0] + 1 < MAX_PASSES:
        return
    fall = step.gravity_norm * step.h * step.h
    for pair_number in range(pairs.count[0]):
        if pairs.reach[pair_number] != SEPARATED_BY_CCD:
            continue
        pair = describe_pair(model, state, workspace, pairs, pair_number)
        a, b = pair.body_a, pair.body_b
        way_a, way_b = motion.position_velocity[a], motion.position_velocity[b]
        changed = velocity_change_bound(motion.start_velocity[a], way_a, pair.shape_a.swept_radius)
        changed += velocity_change_bound(motion.start_velocity[b], way_b, pair.shape_b.swept_radius)
        if pair.with_mesh or step.h * changed <= sweep_slack(pair, workspace.size, fall):
            continue
        share = advance_to_impact(workspace, pair, way_a, way_b, step.h, 1.0, 0.0)
        if share < 0.0:
            continue
        for axis in range(3):
            if pair.moves_a and not is_held[a]:
                way_a[axis] *= share
            if pair.moves_b and not is_held[b]:
                way_b[axis] *= share
