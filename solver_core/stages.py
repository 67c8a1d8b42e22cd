"""The stages of a step as the frame calls them: by address, with one pointer to all arrays of the step.

What a stage does stands in its own file, as a kernel of the arrays that it reads and writes, which Python can call.
Such a call hands over every word of every array, some ten an array: for the large tuples of a stage half a microsecond,
in each of four substeps, however few bodies there are. Here the stage's code is put where the pointer arrives
(``kernel``'s ``inline``), and reads the words that it needs.
"""

import functools

import numpy as np

from .collision.broad_phase import broad_phase
from .collision.growth import grow_shapes
from .collision.mesh_motion import move_meshes
from .constraints.contact_rows import build_contact_rows
from .contacts import LAST, match_contacts
from .island_parts import RATIO_REST, divide_islands
from .islands import find_islands
from .kernel import bind_entry, entry, subkernel
from .motion import apply_forces, integrate_poses
from .rows import CONE
from .shared_stages import GRAVITY, STEP, SWEEPS_AT_REST, settings_of, step_of
from .solvers.contact.parts import help_with_parts
from .solvers.contact.touch_up import touch_up_island
from .step_arrays import views_of, whole


@entry
def play_apply_forces(arrays):
    """Stage ``apply_forces``."""
    members = views_of(arrays)
    shared = members.shared
    apply_forces(members.model, members.state, members.motion, shared.gravity, shared.lengths[STEP])


@entry
def play_broad_phase(arrays):
    """Stage ``broad_phase``; returns its status."""
    members = views_of(arrays)
    collision = members.collision
    pairs = collision.pairs[collision.current[0]]
    return broad_phase(members.model, members.state, step_of(members.shared), pairs, collision.workspace)


@entry
def play_match_contacts(arrays):
    """Stage ``match_contacts``."""
    collision = views_of(arrays).collision
    current = collision.current[0]
    match_contacts(
        collision.pairs[current],
        collision.contacts[current],
        collision.contacts[collision.current[LAST]],
        collision.workspace,
    )


@entry
def play_build_rows(arrays):
    """Stage ``build_rows``."""
    members = views_of(arrays)
    problem, lengths = members.problem, members.shared.lengths
    contacts = members.collision.contacts[members.collision.current[0]]
    build_contact_rows(
        members.model,
        members.state,
        members.motion,
        contacts,
        lengths[GRAVITY],
        lengths[STEP],
        problem.rows,
        problem.contact_rows,
    )


@entry
def play_find_islands(arrays):
    """Stage ``find_islands``."""
    members = views_of(arrays)
    problem = members.problem
    rows, islands, can_be_pushed = problem.rows, problem.islands, members.motion.can_be_pushed
    find_islands(rows, can_be_pushed, islands, problem.parent, problem.label)
    settings, sweep = settings_of(members.shared.amounts, members.shared.counts), problem.sweep
    contacts = members.collision.contacts[members.collision.current[0]]
    packable = contacts.count[0] if settings.friction == CONE else np.int64(0)
    lengths = members.shared.lengths
    slow = 0.0 if members.shared.orders[SWEEPS_AT_REST] else RATIO_REST * lengths[GRAVITY] * lengths[STEP]
    motion = members.state.velocity, members.model.size, slow
    divide_islands(rows, can_be_pushed, islands, problem.graph, sweep.laid.block_row, sweep.packs, packable, motion)


@entry
def play_help(arrays, lane):
    """What a lane that has no island left does with those of another ``lane``."""
    members = views_of(arrays)
    problem, shared = members.problem, members.shared
    help_with_parts(
        whole(problem.rows),
        whole(problem.islands),
        members.state.velocity,
        whole(problem.sweep),
        shared.boards[lane],
        shared.board_amounts[lane],
    )


@entry
def play_touch_up(arrays, island, sweeps, most_sweeps):
    """Some sweeps over an island, by whatever method it is solved; returns what a solver returns."""
    members = views_of(arrays)
    problem, shared = members.problem, members.shared
    return touch_up_island(
        whole(problem.rows),
        whole(problem.islands),
        island,
        members.motion.free_velocity,
        members.state.velocity,
        whole(problem.sweep),
        settings_of(shared.amounts, shared.counts),
        sweeps,
        most_sweeps,
    )


@entry
def play_integrate(arrays):
    """Stage ``integrate``: bodies, meshes that deform and shapes that grow."""
    members = views_of(arrays)
    workspace, h = members.collision.workspace, members.shared.lengths[STEP]
    integrate_poses(members.model, members.state, members.motion, h)
    move_meshes(workspace.meshes, workspace.polytopes, h)
    grow_shapes(workspace.form, workspace.local_pose, h)


@subkernel
def solve_rows(rows, islands, island, free_velocity, velocity, workspace, settings):
    """Stand-in for a method, which ``solver_of_step`` binds."""
    raise NotImplementedError("an island was solved without a method")


def _solve_island(arrays, island):
    """Solve an island of the step's rows by the frame's method."""
    members = views_of(arrays)
    problem, shared = members.problem, members.shared
    return solve_rows(
        whole(problem.rows),
        whole(problem.islands),
        island,
        members.motion.free_velocity,
        members.state.velocity,
        whole(problem.solver),
        settings_of(shared.amounts, shared.counts),
    )


@functools.cache
def solver_of_step(kernel):
    """Entry (arrays, island) that solves by a method's kernel and returns what that returns."""
    return bind_entry(_solve_island, f"{kernel.__name__}_in_step", solve_rows=kernel)
