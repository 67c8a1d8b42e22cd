"""Contacts of a pair of a mesh and another shape at the start of a substep, along the other shape's path."""

import numpy as np

from ..compiled.function_tables import call_for_count
from ..compiled.kernel import subkernel
from .convex_contacts import NOT_KEPT, is_near_seam
from .data.contact_buffers import remember_pose
from .data.workspace import MESHES, RATIO_MARGIN, is_round
from .distance.shape_distance import loss_of
from .mesh.mesh_pairs import append_mesh_contacts, exchange_poses, hold_contacts, set_centers, set_path
from .reach_of_turning import leave_out_unreachable
from .time_of_impact import turns_away


@subkernel(inline=True)
def make_mesh_contacts(arrays, pair, approach):
    """Append new contacts of a pair with a mesh; the relative poses are in the scratch.

    Parameters
    ----------
    arrays, pair : NarrowPhaseArrays, Pair
        The pair's entry in the cache, the contacts and the scratch are written.
    approach : float
        How much nearer points of the two shapes may come in the substep [m].
    """
    velocity, predicted = arrays.state.velocity, arrays.workspace.predicted
    va, vb = velocity[pair.body_a], velocity[pair.body_b]
    is_later_pass = predicted.detection_pass[0] > 0
    make_mesh_contacts_along(arrays, pair, approach, va, vb, is_later_pass)


@subkernel
def make_mesh_contacts_along(arrays, pair, approach, va, vb, is_later_pass):
    """As ``make_mesh_contacts``, by some velocities of the bodies, and in later passes by those of the last solution.

    Parameters
    ----------
    va, vb : float64 [6]
        (read)
    is_later_pass : bool
    arrays, pair, approach
        As of ``make_mesh_contacts``.
    """
    pairs, workspace, predicted = arrays.pairs, arrays.workspace, arrays.workspace.predicted
    pair_number, probe = pair.number, workspace.meshes.probe
    mesh_pose = workspace.shape_pose[pair.other]
    start_probe(arrays, pair)
    # If the other shape moves fast, contacts are only searched for along its path.
    reach = approach + RATIO_MARGIN * pair.size
    least = RATIO_MARGIN * pair.size
    reach -= set_path_by(arrays, pair, va, vb, least, probe.path)
    if is_later_pass:
        pa, pb = predicted.velocity[pair.body_a], predicted.velocity[pair.body_b]
        set_path_by(arrays, pair, pa, pb, least, probe.new_path)
    probe.fall[0] = probe.loss[0] = 0.0
    if is_near_seam(arrays, pair) and not turns_away(workspace, pair, va, vb, arrays.step.h):
        set_path_by(arrays, pair, va, vb, 0.0, probe.motion)
        probe.fall[0] = arrays.step.gravity_norm * arrays.step.h * arrays.step.h
        size_a, size_b = workspace.size[pair.a], workspace.size[pair.b]
        probe.loss[0] = loss_of(size_a, pair.moves_a, pair.size) + loss_of(size_b, pair.moves_b, pair.size)
    remember_pose(pairs, pair_number, reach, workspace.scratch.pose)
    first, held = pairs.last_substep_start[pair_number], pairs.last_substep_count[pair_number]
    count = find_mesh_contacts(arrays, pair, reach, first, held, arrays.last_substep_contacts)
    if probe.is_ahead[0]:
        pairs.reach[pair_number] = pairs.cull_distance[pair_number] = NOT_KEPT
    first_made, body_pose = arrays.contacts.count[0], workspace.body_pose
    append_contacts_of_mesh(arrays, pair, mesh_pose, count, np.bool_(False))
    if leave_out_unreachable(arrays, pair, approach, body_pose[pair.body_a], body_pose[pair.body_b], first_made):
        pairs.reach[pair_number] = pairs.cull_distance[pair_number] = NOT_KEPT
    kind = arrays.model.shapes.kind[pair.moving]
    pairs.is_curved[pair_number] = is_round(kind) and count > 0


@subkernel
def start_probe(arrays, pair):
    """Write the centres of the other shape and of its body to the probe of the meshes, what is up, and no path."""
    workspace, body = arrays.workspace, arrays.model.shapes.body[pair.moving]
    probe, shape_pose = workspace.meshes.probe, workspace.shape_pose
    set_centers(shape_pose[pair.moving], workspace.body_pose[body], shape_pose[pair.other], probe)
    probe.is_ahead[0] = False
    mesh_pose, up = shape_pose[pair.other], workspace.scratch.pose.up
    for i in range(3):
        probe.path[i], probe.new_path[i], probe.motion[i] = 0.0, 0.0, 0.0
        probe.up[i] = mesh_pose[0, i] * up[0] + mesh_pose[1, i] * up[1] + mesh_pose[2, i] * up[2]


@subkernel
def set_path_by(arrays, pair, va, vb, least, path):
    """Write the path of the other shape by some velocities of the bodies; return its length, if above ``least`` [m]."""
    body_pose, shape_pose, h = arrays.workspace.body_pose, arrays.workspace.shape_pose, arrays.step.h
    mesh_pose, other_pose = shape_pose[pair.other], shape_pose[pair.moving]
    pose_a, pose_b = body_pose[pair.body_a], body_pose[pair.body_b]
    if pair.other == pair.a:
        return set_path(va, vb, pose_a, pose_b, mesh_pose, other_pose, h, least, path)
    return set_path(vb, va, pose_b, pose_a, mesh_pose, other_pose, h, least, path)


@subkernel
def find_mesh_contacts(arrays, pair, reach, first, count, earlier):
    """Find the contacts of a pair with a mesh, at the relative poses in the scratch and along the path in the probe.

    Parameters
    ----------
    arrays, pair : NarrowPhaseArrays, Pair
        The pair's ``feature`` and the scratch of pairs and meshes are written; the relative poses are those of the mesh
        as shape a afterwards.
    reach : float
        Largest gap that makes a contact for a shape that does not move along its path [m].
    first, count, earlier : int, int, ContactArrays
        Earlier contacts of the pair, the sides of which are kept (read).

    Returns
    -------
    int
        Rows of ``meshes.contact``.
    """
    pairs, workspace, pair_number = arrays.pairs, arrays.workspace, pair.number
    meshes, scratch, is_b = workspace.meshes, workspace.scratch, pair.other == pair.b
    if is_b:
        exchange_poses(scratch.pose)
    sign = -1.0 if is_b else 1.0
    local_point = earlier.local_b if is_b else earlier.local_a
    hold_contacts(first, count, earlier.local_normal, local_point, sign, workspace.local_pose[pair.other], meshes)
    found = call_for_count(
        arrays.pair_kernels,
        MESHES,
        meshes,
        workspace.polytopes,
        arrays.model.shapes.hull[pair.other],
        pair.shape_a if is_b else pair.shape_b,
        pair.size,
        reach,
        arrays.step.maximal_points,
        pairs.feature[pair_number],
        scratch,
        arrays.pair_kernels,
    )
    pairs.feature[pair_number] = scratch.feature.origin_feature[0]
    return found


@subkernel
def append_contacts_of_mesh(arrays, pair, mesh_pose, count, joins):
    """Append the contacts that were found with the mesh at a world pose; if they ``join``, behind the pair's."""
    workspace, shapes = arrays.workspace, arrays.model.shapes
    append_mesh_contacts(
        workspace.meshes,
        shapes.hull[pair.other],
        shapes.body,
        workspace.local_pose,
        mesh_pose,
        workspace.scratch.pose,
        arrays.pairs,
        pair.number,
        pair.other == pair.b,
        count,
        joins,
        arrays.contacts,
    )
