"""What the next substep would begin with: its contacts, and its rows. The step's own stages are run, on copies."""

import copy

import numpy as np

from ...collision.pair_dispatch import needed_pair_kernels
from ...compiled.kernel import kernel
from ...compiled.views import write_numbers
from ..outside.guide_arrays import at_end
from ..rest.sleeping import groups_that_touch, put_to_sleep, who_starts_asleep
from ..schedule.pass_kinds import FIRST_PASS
from .allocation import (
    allocate_collision,
    allocate_members,
    allocate_pair_runs,
    allocate_problem,
    gather_arrays,
    grow_collision,
)
from .compilation import detection_to_compile, empty_tables, first_stages_to_compile, what_it_has
from .detection import FOUND, FULL, apply_all_forces, build_rows, find_contacts
from .step_data import KernelTables, StepSettings

# Tables of kernels that have been called from here, by what they depend on, as ``Simulation`` keeps those of frames.
_tables_of_kernels: dict[tuple, KernelTables] = {}

# Of ``contacts_at``.
_BY_ITSELF = StepSettings(substeps=1, h=1e-3, gravity_norm=0.0, maximal_points=8)


@kernel
def find_present_contacts(arrays):
    """The first detection pass at the poses as they are, with nobody asleep; False if a buffer was full.

    Parameters
    ----------
    arrays : StepArrays
        Written: pairs and contacts.
    """
    return find_contacts(arrays, np.int64(0), FIRST_PASS) != FULL


@kernel
def begin_substep(arrays):
    """The stages of a substep up to its rows; False if a buffer was full.

    Parameters
    ----------
    arrays : StepArrays
        Written: motion, pairs, contacts, rows; bodies that wake.
    """
    while True:
        apply_all_forces(arrays)
        found = find_contacts(arrays, np.int64(0), FIRST_PASS)
        if found == FULL:
            return False
        if found == FOUND:
            build_rows(arrays, np.int64(0))
            return True


def contacts_at(model, state):
    """Contacts of a state by itself, without history.

    Parameters
    ----------
    model : Model
    state : StateArrays
        Velocities count: contacts are searched for as far as they lead in a thousandth of a second.

    Returns
    -------
    ContactArrays
        ``count`` of them are in use.
    """
    return _contacts(model, state, allocate_collision(model), _BY_ITSELF)


def start_asleep(model, state, sleep) -> None:
    """Let bodies sleep from the start, in groups of those that touch; what sleeps has no velocity.

    Parameters
    ----------
    model : Model
    state : StateArrays
        As the step sees it: kind and velocity written.
    sleep : SleepArrays
        Written.
    """
    state.velocity[who_starts_asleep(model)] = 0.0
    contacts = contacts_at(model, state)
    used = slice(int(contacts.count[0]))
    put_to_sleep(sleep, state.kind, groups_that_touch(model, contacts.body_a[used], contacts.body_b[used]))


def present_contacts(model, state, collision, step: StepSettings):
    """The contacts that the next substep would find, of the poses as they are.

    Parameters
    ----------
    model : Model
    state, collision, step
        Of the frame (read).

    Returns
    -------
    ContactArrays
        Arrays of its own.
    """
    return _contacts(model, copy.deepcopy(state), copy.deepcopy(collision), step)


def _contacts(model, state, collision, step):
    members = allocate_members(model.arrays, state, collision, empty_tables())
    write_numbers(members.settings.step, step)
    members = _run(find_present_contacts, detection_to_compile, members)
    return members.collision.contacts[members.collision.roles.present[0]]


def next_rows(model, gravity, state, sleep, collision, joint_state, forces, step: StepSettings):
    """The rows with which the next substep begins.

    Parameters
    ----------
    model : Model
    gravity, state, sleep, collision, joint_state, step
        Of the frame (read).
    forces : tuple of FieldArrays and GuideArrays
        Likewise.

    Returns
    -------
    rows : RowArrays
        ``impulse`` holds the warm start.
    free_velocity : float64 [body_count, 6]
    """
    state, sleep, collision, joint_state = copy.deepcopy((state, sleep, collision, joint_state))
    fields, guides = copy.deepcopy(forces)
    fields.values[0], fields.push[0] = fields.values[1], fields.push[1]
    members = allocate_members(model.arrays, state, collision, empty_tables(), forces=(fields, at_end(guides)))
    members = members._replace(
        sleep=sleep, joint_state=joint_state, settings=members.settings._replace(gravity=gravity)
    )
    write_numbers(members.settings.step, step)
    members = _run(begin_substep, first_stages_to_compile, members)
    return members.problem.rows, members.motion.free_velocity


def _run(begin, to_compile, members):
    """Run a kernel of this file, with more room wherever a buffer was full; returns the members at its end."""
    members = members._replace(kernels=_compiled_tables(to_compile, members))
    while True:
        (arrays,) = gather_arrays(members)
        if begin(arrays):
            return members
        collision = grow_collision(members.collision)
        members = members._replace(
            collision=collision,
            pair_runs=allocate_pair_runs(collision, 1),
            problem=allocate_problem(collision, members.model.joints, len(members.state.kind), None),
        )


def _compiled_tables(to_compile, members) -> KernelTables:
    """The members' own tables, filled, or those that the same kernels were in before."""
    kinds = members.model.shapes.kind
    key = to_compile, *what_it_has(members).values(), *needed_pair_kernels(kinds)
    if key not in _tables_of_kernels:
        for compilation in to_compile(members, kinds):
            compilation.compile()
        _tables_of_kernels[key] = members.kernels
    return _tables_of_kernels[key]
