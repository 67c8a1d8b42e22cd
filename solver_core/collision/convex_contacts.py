"""Contacts of a pair of convex shapes at the start of a substep, or at their time of impact if they are fast."""

import numpy as np

from ..compiled.function_tables import call_for_count
from ..compiled.kernel import subkernel
from .anti_tunnelling import add_anti_tunnelling_contacts
from .data.contact_buffers import append_contacts, remember_pose, start_contacts
from .data.workspace import INFINITE, NO_CONTACT, RATIO_MARGIN, ROUND_SHAPES, SPHERE, SPHERES, has_axis
from .distance.shape_distance import RATIO_FAST
from .manifold.polytope_contacts import polytope_contacts
from .scaled_shapes import set_surface_velocity
from .swept_motion import closest_approach, take_poses
from .time_of_impact import SEPARATED_BY_CCD, find_time_of_impact, shift_to_start, sweep_slack

# A value of PairArrays.reach that recycles nothing, like SEPARATED_BY_CCD: of contacts that hold in this pass only.
NOT_KEPT = -1.0


@subkernel(inline=True)
def make_convex_contacts(arrays, pair, approach):
    """Append new contacts of a pair of convex shapes.

    Parameters
    ----------
    arrays, pair : NarrowPhaseArrays, Pair
        The pair's entry in the cache, the contacts and the scratch are written.
    approach : float
        How much nearer points of the two shapes may come in the substep [m].

    Returns
    -------
    bool
        False if the shapes pass each other and are separated by CCD.
    """
    pairs, contacts, workspace, step = arrays.pairs, arrays.contacts, arrays.workspace, arrays.step
    pair_number, scratch, velocity = pair.number, workspace.scratch, arrays.state.velocity
    pose, body_pose, shape_pose = scratch.pose, workspace.body_pose, workspace.shape_pose
    fast = RATIO_FAST * pair.size
    slack = sweep_slack(pair, workspace.size, step.gravity_norm * step.h * step.h) + step.h * pair.surface_speed
    fraction, is_predicted = 0.0, False
    if approach > fast:
        fraction, is_predicted = find_time_of_impact(arrays, pair, slack)
    if fraction < 0.0:
        remember_pose(pairs, pair_number, SEPARATED_BY_CCD, pose)
        start_contacts(pairs, pair_number, contacts.count[0], np.int64(NO_CONTACT), np.int64(-1), np.bool_(False))
        return False
    if fraction > 0.0:
        reach = (1.0 - fraction) * approach + RATIO_MARGIN * pair.size + slack
        remember_pose(pairs, pair_number, NOT_KEPT, pose)
    else:
        reach = approach + RATIO_MARGIN * pair.size
        take_poses(body_pose[pair.body_a], body_pose[pair.body_b], shape_pose[pair.a], shape_pose[pair.b], pose)
        remember_pose(pairs, pair_number, reach, pose)
    count, cull_distance = find_manifold(arrays, pair, reach, INFINITE)
    radius_a, radius_b = pair.shape_a.swept_radius, pair.shape_b.swept_radius
    fastest = step.h * closest_approach(velocity[pair.body_a], velocity[pair.body_b], radius_a, radius_b)
    if fraction == 0.0 and fastest <= fast:
        pairs.cull_distance[pair_number] = cull_distance
    if count > 0 and fastest > fast:
        count = add_anti_tunnelling_contacts(workspace, pair, reach, step.maximal_points, count)
    first = contacts.count[0]
    append_contacts(
        arrays.model.shapes.body, workspace.local_pose, scratch, pairs, pair_number, count, np.bool_(False), contacts
    )
    if fraction > 0.0:
        impact_velocity = workspace.predicted.velocity if is_predicted else velocity
        shift_to_start(arrays, pair, first, fraction, impact_velocity, 0.0)
    if pair.surface_speed > 0.0:
        set_surface_velocity(workspace, pair, contacts, first)
    return True


@subkernel
def find_manifold(arrays, pair, reach, enough):
    """Write the manifold of a pair of convex shapes at the relative poses in the scratch.

    Parameters
    ----------
    arrays, pair : NarrowPhaseArrays, Pair
        The scratch is written.
    reach : float
        Largest gap that makes a contact [m].
    enough : float
        If the shapes turn out to be farther apart than this, no contact is wanted [m].

    Returns
    -------
    count : int
        Contacts.
    cull_distance : float
        As in ``PairArrays`` [m].
    """
    a, b, scratch, polytopes = pair.shape_a, pair.shape_b, arrays.workspace.scratch, arrays.workspace.polytopes
    reference, feature = arrays.pairs.reference[pair.number], arrays.pairs.feature[pair.number]
    maximal_points = arrays.step.maximal_points
    if a.kind == SPHERE or b.kind == SPHERE:
        scratch.feature.is_curved[0] = 1
        return call_for_count(arrays.pair_kernels, SPHERES, polytopes, a, b, pair.size, reach, scratch), reach
    if has_axis(a.kind) or has_axis(b.kind):
        count = call_for_count(
            arrays.pair_kernels,
            ROUND_SHAPES,
            polytopes,
            a,
            b,
            pair.size,
            reach,
            maximal_points,
            reference,
            feature,
            scratch,
        )
        return count, reach
    scratch.feature.is_curved[0] = 0
    count = polytope_contacts(polytopes, a, b, pair.size, reach, enough, maximal_points, reference, feature, scratch)
    return count, scratch.cull_distance[0]
