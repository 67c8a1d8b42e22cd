"""Whether a substep's solution leads shapes together that would have passed each other."""

from ..kernel import subkernel
from .broad_phase import DYNAMIC
from .ways import RATIO_FAST, closest_approach, follow_pair, way_change, way_lever
from .workspace import BOUNDING_RADIUS, GROWS, MESH, RATIO_MARGIN

# Value of PairArrays.reach of pairs that pass each other on their ways, and get no contacts.
SET_ASIDE = -2.0


@subkernel(inline=True)
def meet_on_new_ways(model, state, start_velocity, step, pairs, workspace):
    """Whether shapes that were set aside meet after all, on the ways that contacts lead their bodies, or may.

    Parameters
    ----------
    model, state, step, workspace
        As of ``narrow_phase``; the state's velocity is the one after the contacts (read).
    start_velocity : float64 [B, 6]
        (read)
    pairs : PairArrays
        As ``narrow_phase`` left them (read).

    Returns
    -------
    bool
    """
    shapes, scratch, polytopes = model.shapes, workspace.scratch, workspace.polytopes
    kind, form, sizes, velocity = shapes.kind, workspace.form, workspace.size, state.velocity
    polytope, local_pose, body_pose = workspace.polytope, workspace.local_pose, workspace.body_pose
    for pair in range(pairs.count[0]):
        a, b = pairs.shape_a[pair], pairs.shape_b[pair]
        with_mesh = kind[a] == MESH or kind[b] == MESH
        if pairs.reach[pair] != SET_ASIDE and not with_mesh:
            continue
        body_a, body_b = shapes.body[a], shapes.body[b]
        lever_a = way_lever(kind[a], local_pose[a], form[a, BOUNDING_RADIUS])
        lever_b = way_lever(kind[b], local_pose[b], form[b, BOUNDING_RADIUS])
        moves_a, moves_b = state.kind[body_a] == DYNAMIC, state.kind[body_b] == DYNAMIC
        slack = way_slack(moves_a, moves_b, sizes[a], sizes[b], step.gravity_norm * step.h * step.h)
        slack += step.h * (form[a, GROWS] + form[b, GROWS])
        changed = way_change(start_velocity[body_a], velocity[body_a], lever_a)
        changed += way_change(start_velocity[body_b], velocity[body_b], lever_b)
        if step.h * changed <= slack:
            continue
        if with_mesh:
            # Which triangles it meets then is found out when contacts are made.
            speed = closest_approach(velocity[body_a], velocity[body_b], lever_a, lever_b)
            if step.h * speed > RATIO_FAST * min(sizes[a], sizes[b]):
                return True
            continue
        share = follow_pair(
            polytopes,
            polytope[a],
            polytope[b],
            kind[a],
            kind[b],
            form[a],
            form[b],
            body_pose[body_a],
            body_pose[body_b],
            local_pose[a],
            local_pose[b],
            velocity[body_a],
            velocity[body_b],
            lever_a,
            lever_b,
            step.h,
            min(sizes[a], sizes[b]),
            slack,
            scratch.pose,
            scratch.axes,
            scratch.simplex,
            scratch.closest,
        )
        if share >= 0.0:
            return True
    return False


@subkernel
def way_slack(moves_a, moves_b, size_a, size_b, fall):
    """How far two bodies may be off their ways without contacts being looked for once more [m]."""
    slack = fall
    if moves_a:
        slack += RATIO_MARGIN * size_a
    if moves_b:
        slack += RATIO_MARGIN * size_b
    return slack
