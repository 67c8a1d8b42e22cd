"""The stages of a step as the frame calls them: by address, with one pointer to all arrays of the step.

What a stage does is in its own file, as a kernel of the arrays that it reads and writes, which Python can call.
Such a call hands over every word of every array, some ten an array: for the large tuples of a stage half a microsecond,
in each of four substeps, however few bodies there are. Here the stage's code is put where the pointer arrives
(``kernel``'s ``inline``), and reads the words that it needs.
"""

import math

import numpy as np

from ...collision.broad_phase import broad_phase, find_unseen_pair
from ...collision.data.contact_arrays import STATUS_OK, STATUS_UNSEEN_PAIR
from ...collision.data.contact_matching import match_contacts
from ...collision.mesh.mesh_motion import move_meshes
from ...collision.scaled_shapes import grow_shapes
from ...compiled.kernel import entry, subkernel
from ...compiled.views import numbers_of, views_of, whole
from ...constraints.contact_rows import FACTOR_BOUNCE, Recovery, build_contact_rows
from ...constraints.matter import limit_speed, run_belts
from ...constraints.velocity_rows import touches_kinematic
from ...model.state import DYNAMIC
from ...problem.rows import CONE_FRICTION
from ...solvers.batches.domain_partition import RATIO_REST, partition_islands
from ...solvers.batches.partitioned_sweep import help_with_domains
from ...solvers.fallback_sweeps import sweep_as_fallback
from ...solvers.shared.small_step_input import SmallStepInput, SmallStepMotion, SmallStepPace
from ...solvers.small_steps import take_small_steps
from ..islands.contact_selection import select_contacts
from ..islands.islands import find_islands, rests_on_something
from ..islands.policy import LEFT_OF_OVERLAP, MOST_TAKEN_OUT, SHARE_TAKEN_OUT
from ..motion.integration import apply_forces, integrate_poses
from ..motion.motion_bounds import bound_motion, stay_in_sight
from ..motion.rolling_energy import keep_rolling_energy
from ..outside.guide_arrays import note_shares
from ..rest.waiting import complete_hits, hold_tried


@entry
def run_apply_forces(arrays):
    """Stage ``apply_forces``."""
    members = views_of(arrays)
    h = numbers_of(members.settings.step).h
    apply_forces(members.model, members.state, members.motion, members.settings.gravity, h)
    if members.model.matter.largest_speed.size > 0:
        _limit_speeds(members.model.matter.largest_speed, members.state.kind, members.motion.free_velocity)
    if members.waiting.count[0] > 0:
        hold_tried(members.waiting, members.motion.free_velocity)


@subkernel
def _limit_speeds(largest_speed, kind, velocity):
    """Slow the dynamic bodies that are faster than they may be."""
    for body in range(kind.size):
        if kind[body] == DYNAMIC:
            limit_speed(velocity[body], largest_speed[body])


@entry
def run_broad_phase(arrays):
    """Stage ``broad_phase``; returns its status. Or whether a solution leads shapes together that are no pair."""
    members = views_of(arrays)
    collision, step = members.collision, numbers_of(members.settings.step)
    pairs, predicted = collision.pairs[collision.roles.present[0]], collision.workspace.predicted
    if predicted.is_looked_along[0]:
        kind, velocity = members.state.kind, predicted.velocity
        is_missing = find_unseen_pair(members.model, kind, velocity, step.h, pairs, collision.workspace)
        return STATUS_UNSEEN_PAIR if is_missing else STATUS_OK
    return broad_phase(members.model, members.state, step, pairs, collision.workspace)


@entry
def run_match_contacts(arrays):
    """Stage ``match_contacts``."""
    collision = views_of(arrays).collision
    present = collision.roles.present[0]
    match_contacts(
        collision.pairs[present],
        collision.contacts[present],
        collision.contacts[collision.roles.last_substep[0]],
        collision.workspace,
    )


@entry
def run_build_rows(arrays):
    """Stage ``build_rows``."""
    members = views_of(arrays)
    problem, step = members.problem, numbers_of(members.settings.step)
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    if members.model.matter.surface_velocity.shape[0] > 0:
        run_belts(members.model, members.state.orientation, contacts)
    build_contact_rows(
        members.model,
        members.state,
        members.motion,
        contacts,
        step.gravity_norm,
        step.h,
        Recovery(SHARE_TAKEN_OUT, MOST_TAKEN_OUT, LEFT_OF_OVERLAP),
        problem.rows,
        problem.contact_rows,
    )
    if members.waiting.count[0] > 0:
        complete_hits(
            members.model.activation.trigger,
            members.waiting,
            members.motion,
            contacts,
            problem.rows,
            step.gravity_norm * step.h,
            step.h,
            problem.contact_rows,
        )


@entry
def run_find_islands(arrays):
    """Stage ``find_islands``."""
    members = views_of(arrays)
    problem, settings, step = members.problem, members.settings, numbers_of(members.settings.step)
    rows, islands, can_be_pushed = problem.rows, problem.islands, members.motion.can_be_pushed
    contacts, domains = members.collision.contacts[members.collision.roles.present[0]], problem.sweep.domains
    predicted, velocity = members.collision.workspace.predicted, members.motion.free_velocity
    is_later_pass = predicted.detection_pass[0] > 0
    if is_later_pass:
        velocity = predicted.velocity
    pose = members.collision.workspace.body_pose
    select_contacts(rows, contacts, velocity, is_later_pass, pose, step.h, problem.selection, islands)
    find_islands(rows, can_be_pushed, islands, problem.parent, problem.label)
    batchable = contacts.count[0] if settings.solver.friction[0] == CONE_FRICTION else np.int64(0)
    slow = 0.0 if step.sweeps_at_rest else RATIO_REST * step.gravity_norm * step.h
    motion = members.state.velocity, members.model.size, slow, members.motion.memory.in_small_steps
    partition_islands(
        rows, can_be_pushed, islands, problem.graph, domains.rows.block_row, domains.batches, batchable, motion
    )


@entry
def run_help(arrays, worker):
    """What a worker that has no island left does with the domains of another ``worker``'s island.

    Parameters
    ----------
    arrays : StepArrays
        Written: impulses and velocities of the domains.
    worker : int64
    """
    members = views_of(arrays)
    problem, sharing = members.problem, members.sharing
    help_with_domains(
        whole(problem.rows),
        whole(problem.islands),
        members.state.velocity,
        problem.sweep,
        sharing.queues[worker],
        worker,
    )


@entry
def run_fallback_sweeps(arrays, island, sweeps, most_sweeps):
    """Some sweeps over an island, by whatever method it is solved; returns what a solver returns.

    Parameters
    ----------
    arrays : StepArrays
        Written: impulses and velocities of the island.
    island : int64
    sweeps, most_sweeps : int64
        As of ``sweep_as_fallback``.
    """
    members = views_of(arrays)
    problem = members.problem
    return sweep_as_fallback(
        whole(problem.rows),
        whole(problem.islands),
        island,
        members.motion.free_velocity,
        members.state.velocity,
        problem.sweep,
        numbers_of(members.settings.solver),
        sweeps,
        most_sweeps,
    )


@entry
def run_small_steps(arrays, island):
    """An island's motion through a substep in small steps; returns what a solver returns.

    Parameters
    ----------
    arrays : StepArrays
        Written: impulses and velocities of the island, and how its bodies move; what is ``beside`` these impulses.
    island : int64
    """
    members = views_of(arrays)
    problem, motion, step = members.problem, members.motion, numbers_of(members.settings.step)
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    given = SmallStepInput(
        contacts.count,
        contacts.gap,
        contacts.unrelaxed_gap,
        problem.contact_rows.surface_speed,
        problem.contact_rows.bounce_speed,
        problem.contact_rows.restitution,
        motion.start_velocity,
        motion.free_velocity,
        members.state.position,
        FACTOR_BOUNCE * step.gravity_norm * step.h,
    )
    islands = whole(problem.islands)
    smallest = slightest = math.inf
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        smallest = min(smallest, members.model.size[body])
        slightest = min(slightest, _cube_side(members.model, body))
    rows = whole(problem.rows)
    pace = SmallStepPace(
        step.h,
        step.small_steps,
        smallest,
        min(slightest, smallest),
        step.gravity_norm,
        rests_on_something(rows, islands, island, motion.can_be_pushed),
        touches_kinematic(islands, island, rows, contacts, members.state.velocity),
    )
    moved = SmallStepMotion(members.state.velocity, motion.memory.mean_velocity, members.impulses.substep)
    settings = numbers_of(members.settings.solver)
    return take_small_steps(rows, islands, island, given, moved, problem.small_steps, problem.sweep, settings, pace)


@subkernel
def _cube_side(model, body):
    """Side of the cube with the volume of the box that has a body's mass and inertia [m]."""
    inertia, volume = model.inertia[body], 1.0
    whole = inertia[0] + inertia[1] + inertia[2]
    for axis in range(3):
        volume *= math.sqrt(6.0 * max(whole - 2.0 * inertia[axis], 0.0) / model.mass[body])
    return volume ** (1.0 / 3.0)


@entry
def run_integrate(arrays):
    """Stage ``integrate``: bodies, within their bounds, meshes that deform and shapes that grow."""
    members = views_of(arrays)
    problem, workspace, step = members.problem, members.collision.workspace, numbers_of(members.settings.step)
    keep_rolling_energy(
        problem.rows,
        members.collision.pairs[members.collision.roles.present[0]],
        members.collision.contacts[members.collision.roles.present[0]],
        members.collision.contacts[members.collision.roles.last_substep[0]],
        problem.contact_rows,
        members.model,
        members.state,
        members.motion,
        problem.step_rules.is_held,
        problem.rolling,
        members.settings.gravity,
        step.h,
    )
    bound_motion(
        problem.rows,
        problem.islands,
        members.collision.contacts[members.collision.roles.present[0]],
        members.model,
        members.state,
        members.motion,
        problem.step_rules,
        step.gravity_norm,
        step.h,
    )
    stay_in_sight(
        members.model.size,
        members.motion,
        problem.step_rules.is_held,
        step.h,
        members.collision.workspace.predicted,
    )
    if members.model.matter.largest_speed.size > 0:
        _limit_speeds(members.model.matter.largest_speed, members.state.kind, members.state.velocity)
    if members.guides.follow.size > 0:
        note_shares(
            members.guides,
            problem.step_rules.step_rule,
            members.motion,
            members.state.velocity,
            step.gravity_norm * step.h,
            step.small_steps,
        )
    integrate_poses(members.model, members.state, members.motion, step.h)
    move_meshes(workspace.meshes, workspace.polytopes, step.h)
    grow_shapes(workspace.shape_parameters, workspace.local_pose, step.h)
