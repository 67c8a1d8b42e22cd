"""Contacts at the poses to which the last solution leads: a step of Newton's method for the gaps as they are.

Rows are linear, but bodies turn, and a corner may hit where an edge was nearest. So if a solution leads two shapes into
each other though its rows forbid no such thing, contacts of the end poses join those of the start in the next detection
pass. Of meshes only those that turn are considered: their contacts cost more than those of others, and their rows are
seldom wrong.
"""

from typing import NamedTuple

import numpy as np

from ..compiled.kernel import subkernel
from .convex_contacts import NOT_KEPT, find_manifold, gap_speed
from .data.contact_buffers import append_contacts, repeat_end_pose_contacts
from .data.workspace import INFINITE, RATIO_MARGIN
from .detection_passes import MAX_COARSE_PASSES, RATIO_COARSE_OVERLAP, RATIO_UNFORESEEN_OVERLAP
from .mesh.mesh_manifold import least_gap
from .mesh_pair_contacts import append_contacts_of_mesh, find_mesh_contacts, start_probe
from .pair_context import approach_speed
from .scaled_shapes import set_surface_velocity
from .swept_motion import closest_approach, place_pair, spin_of, take_poses
from .time_of_impact import shift_to_start

# If a solution leads shapes into each other (RATIO_UNFORESEEN_OVERLAP), all contacts are taken that are near at the end
# and whose rows of the start are wrong by this fraction of the smaller one's size.
RATIO_PREDICTED = 2e-4
# Most of a gap at the end that is corrected unrelaxed, as a fraction of the smaller size: more is no corner that turned
# over an edge. A box that spins by 15 rad/s turns its corners by 0.14 of its size in 1/96 s.
RATIO_UNRELAXED = 0.25
# Shapes that overlap by no more than this fraction at the start count as apart then.
RATIO_APART = 2e-3


class EndPoseCheck(NamedTuple):
    """Whether the end poses of a pair are to be considered.

    Attributes
    ----------
    is_due : bool
    is_held : bool
        End-pose contacts of the previous pass hold the pair: they lead it elsewhere, and without them it would be led
        there again.
    speed : float
        Bound on the speed at which points of the moving shape come nearer to the other body until the end [m/s].
    approach : float
        The most by which points of both shapes come nearer, however the bodies turn, and the reach at the end [m].
    """

    is_due: bool
    is_held: bool
    speed: float
    approach: float


@subkernel(inline=True)
def plan_end_pose_check(arrays, pair):
    """The ``EndPoseCheck`` of a pair."""
    only_checks, predicted, velocity, h = (
        arrays.only_checks,
        arrays.workspace.predicted,
        arrays.end_velocity,
        arrays.step.h,
    )
    is_due = only_checks or predicted.detection_pass[0] > 0
    if pair.with_mesh:
        is_due = is_due and turns_far(arrays, pair, velocity) and not pair.is_moving_surface
    is_due = is_due and not (predicted.is_deep[pair.body_a] or predicted.is_deep[pair.body_b])
    if only_checks and _is_coarse(arrays, pair):
        is_due = is_due and predicted.detection_pass[0] < MAX_COARSE_PASSES - 1
    is_held = is_due and not only_checks and arrays.pairs.end_pose_count[pair.number] > 0
    speed, approach = 0.0, 0.0
    if is_held:
        approach = INFINITE
    elif is_due:
        speed = approach_speed(arrays, pair, velocity)
        is_due = h * speed > (allowed_overlap(arrays, pair) if only_checks else RATIO_PREDICTED * pair.size)
        if is_due:
            radius_a, radius_b = pair.shape_a.swept_radius, pair.shape_b.swept_radius
            closest = closest_approach(velocity[pair.body_a], velocity[pair.body_b], radius_a, radius_b)
            approach = h * closest + reach_at_end(arrays, pair)
    return EndPoseCheck(is_due, is_held, speed, approach)


@subkernel
def turns_far(arrays, pair, velocity):
    """Whether a mesh turns, or what meets it by so much that its points leave their tangents by an overlap."""
    body, h = arrays.model.shapes.body, arrays.step.h
    turn = h * spin_of(velocity[body[pair.moving]])
    is_off_tangent = 0.5 * turn * turn * pair.moving_radius > allowed_overlap(arrays, pair)
    return is_off_tangent or h * spin_of(velocity[body[pair.other]]) > RATIO_UNFORESEEN_OVERLAP


@subkernel
def reach_at_end(arrays, pair):
    """Largest gap that makes an end-pose contact [m]."""
    return 0.0 if arrays.only_checks else RATIO_MARGIN * pair.size


@subkernel
def allowed_overlap(arrays, pair):
    """Into which a solution may lead a pair's shapes before end-pose contacts are made [m]."""
    return (RATIO_COARSE_OVERLAP if _is_coarse(arrays, pair) else RATIO_UNFORESEEN_OVERLAP) * pair.size


@subkernel
def _is_coarse(arrays, pair):
    is_coarse = arrays.workspace.predicted.is_coarse
    return is_coarse[pair.body_a] or is_coarse[pair.body_b]


@subkernel
def stays_apart(arrays, pair, check):
    """Whether a pair has no contacts and is too far apart for any at the end."""
    pairs, pair_number = arrays.pairs, pair.number
    is_plain = not (pair.with_mesh or pair.is_moving_surface)
    return is_plain and pairs.contact_count[pair_number] == 0 and check.approach <= pairs.cull_distance[pair_number]


@subkernel(inline=True)
def has_unforeseen_overlap(arrays, pair, check):
    """Whether the solution leads a pair's shapes into each other by the end, unseen by the rows."""
    if pair.with_mesh:
        return not find_mesh_contacts_at_end(arrays, pair, check)[1]
    return not find_manifold_at_end(arrays, pair, check)[1]


@subkernel(inline=True)
def add_end_pose_contacts(arrays, pair, check):
    """Append contacts at the end poses to those of a pair, if its rows do not tell of them.

    Parameters
    ----------
    arrays, pair : NarrowPhaseArrays, Pair
        The pair's entry in the cache, the contacts and the scratch are written.
    check : EndPoseCheck
    """
    pairs, contacts, workspace, pair_number = arrays.pairs, arrays.contacts, arrays.workspace, pair.number
    scratch, predicted = workspace.scratch, workspace.predicted
    if pair.with_mesh:
        count, is_clear = find_mesh_contacts_at_end(arrays, pair, check)
        if not is_clear:
            pairs.reach[pair_number] = pairs.cull_distance[pair_number] = NOT_KEPT
            first = contacts.count[0]
            mesh_pose = scratch.pose.shape_b if pair.other == pair.b else scratch.pose.shape_a
            append_contacts_of_mesh(arrays, pair, mesh_pose, count, np.bool_(True))
            velocity = arrays.end_velocity
            shift_to_start(arrays, pair, first, 1.0, velocity[pair.body_a], velocity[pair.body_b], 0.0)
        return
    count, is_clear = find_manifold_at_end(arrays, pair, check)
    if is_clear and not check.is_held:
        return
    # Made at the end, they hold in this substep only.
    pairs.reach[pair_number] = pairs.cull_distance[pair_number] = NOT_KEPT
    if is_clear:
        repeat_end_pose_contacts(pairs, pair_number, arrays.previous_pass_contacts, contacts)
        return
    pairs.end_pose_count[pair_number] = count
    body_end, shape_end = predicted.body_pose, predicted.shape_pose
    take_poses(body_end[pair.body_a], body_end[pair.body_b], shape_end[pair.a], shape_end[pair.b], scratch.pose)
    first = contacts.count[0]
    depth = overlap_at_start(contacts.gap, pairs.contact_start[pair_number], first)
    append_contacts(
        arrays.model.shapes.body, workspace.local_pose, scratch, pairs, pair_number, count, np.bool_(True), contacts
    )
    least_approach = -INFINITE if depth <= RATIO_APART * pair.size else 0.0
    velocity = arrays.end_velocity
    shift_to_start(arrays, pair, first, 1.0, velocity[pair.body_a], velocity[pair.body_b], least_approach)
    mark_unrelaxed(contacts, depth, first, pair.size)
    if pair.surface_speed > 0.0:
        set_surface_velocity(workspace, pair, contacts, first)


@subkernel
def find_manifold_at_end(arrays, pair, check):
    """The manifold of a pair of convex shapes at the end poses.

    Returns
    -------
    count : int
        Contacts, in the scratch.
    is_clear : bool
        Whether no end-pose contacts, or no others than it has, are needed.
    """
    workspace, reach = arrays.workspace, reach_at_end(arrays, pair)
    scratch, shape_end = workspace.scratch, workspace.predicted.shape_pose
    place_pair(shape_end[pair.a], shape_end[pair.b], scratch.pose)
    expected = predicted_gap(arrays, pair)
    enough = expected - RATIO_PREDICTED * pair.size
    allows_overlap = arrays.only_checks or check.is_held
    if allows_overlap:
        enough = min(enough, -allowed_overlap(arrays, pair))
    count, _ = find_manifold(arrays, pair, reach, enough)
    deepest = reach
    for contact in range(count):
        deepest = min(deepest, scratch.manifold.gap[contact])
    is_clear = expected - deepest <= RATIO_PREDICTED * pair.size or count == 0
    if allows_overlap:
        is_clear = is_clear or deepest > -allowed_overlap(arrays, pair)
    return count, is_clear


@subkernel
def find_mesh_contacts_at_end(arrays, pair, check):
    """Contacts of a pair with a mesh at the end poses; returns as ``find_manifold_at_end``."""
    pairs, workspace, pair_number, size = arrays.pairs, arrays.workspace, pair.number, pair.size
    body_end, shape_end = workspace.predicted.body_pose, workspace.predicted.shape_pose
    pose = workspace.scratch.pose
    start_probe(arrays, pair)
    # What has gone through a sheet is searched for as far behind it as it may have come.
    reach = RATIO_MARGIN * size + min(arrays.step.h * check.speed, 0.5 * size)
    take_poses(body_end[pair.body_a], body_end[pair.body_b], shape_end[pair.a], shape_end[pair.b], pose)
    first, held = pairs.last_substep_start[pair_number], pairs.last_substep_count[pair_number]
    earlier = arrays.last_substep_contacts
    if pairs.contact_count[pair_number] > 0:
        # What is led through a sheet belongs on the side on which it has been.
        first, held = pairs.contact_start[pair_number], pairs.contact_count[pair_number]
        earlier = arrays.contacts
    count = find_mesh_contacts(arrays, pair, reach, first, held, earlier)
    expected, deepest = predicted_gap(arrays, pair), least_gap(workspace.meshes.contact.gap, np.int64(0), count)
    is_clear = expected - deepest <= RATIO_PREDICTED * size
    if arrays.only_checks:
        is_clear = is_clear or deepest > -allowed_overlap(arrays, pair)
    return count, is_clear


@subkernel
def predicted_gap(arrays, pair):
    """Least gap + h u_n of a pair's contacts, which its rows expect at the end; infinite without contacts [m]."""
    contacts, h, body_pose = arrays.contacts, arrays.step.h, arrays.workspace.body_pose
    first, count = arrays.pairs.contact_start[pair.number], arrays.pairs.contact_count[pair.number]
    va, vb = arrays.end_velocity[pair.body_a], arrays.end_velocity[pair.body_b]
    least = INFINITE
    for contact in range(first, first + count):
        least = min(least, contacts.gap[contact] + h * gap_speed(contacts, contact, body_pose, va, vb))
    return least


@subkernel
def overlap_at_start(gap, first, last):
    """Depth of the deepest of some contacts; 0 if none overlaps [m]."""
    depth = 0.0
    for contact in range(first, last):
        depth = max(depth, -gap[contact])
    return depth


@subkernel
def mark_unrelaxed(contacts, depth, first, size):
    """Note how much of the negative gaps of end-pose contacts the position solve must correct unrelaxed.

    Measured from the start their planes may cut into shapes that are still apart: a body has turned or slid on until
    the end. That is no overlap to be taken out bit by bit; beyond RATIO_UNRELAXED nothing is asked. Pairs that overlap
    at the start by more than RATIO_APART are left to that: several such overlaps may contradict each other, and
    corrected in full they would throw bodies out.

    Parameters
    ----------
    contacts : ContactArrays
        ``gap`` read and written, ``unrelaxed_gap`` written.
    depth : float
        Of the overlap at the start [m].
    first : int
        The pair's contacts at the end, from here on the last of all.
    size : float
        Of the smaller shape [m].
    """
    gap, is_apart = contacts.gap, depth <= RATIO_APART * size
    for contact in range(first, contacts.count[0]):
        if is_apart:
            gap[contact] = max(gap[contact], -depth - RATIO_UNRELAXED * size)
        contacts.unrelaxed_gap[contact] = max(0.0, -gap[contact] - depth) if is_apart else 0.0
