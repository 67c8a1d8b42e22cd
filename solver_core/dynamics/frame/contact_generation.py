"""The narrow phase as a task of workers: runs of pairs, whose contacts end up in the order of the pairs.

Each worker writes the contacts of its runs to a buffer of its own; then they are moved to the places that they have in
the order of pairs. Where one worker does all, it takes all pairs in one run and writes their contacts where they
belong.
"""

from ...collision.data.contact_arrays import STATUS_OK, clear_contacts, join_contacts
from ...collision.later_meetings import note_first_meetings, note_what_stands
from ...collision.narrow_phase import narrow_phase
from ...collision.pair_context import NarrowPhaseArrays
from ...collision.swept_motion import set_up
from ...compiled.clock import now
from ...compiled.kernel import entry, subkernel
from ...compiled.views import numbers_of, views_of
from ...parallel.workers import take_next
from ..schedule.sharing import is_shared, run_task, share_pairs
from ..schedule.stage_table import JOIN_CONTACTS, NARROW_PHASE

# Pairs of a run: enough work to be worth a turn at the counter, and little enough for all workers to end together.
PAIRS_A_RUN = 32


@subkernel(inline=True)
def make_contacts(members, pairs, contacts):
    """Narrow phase of all pairs.

    Parameters
    ----------
    members : StepMembers
    pairs, contacts : PairArrays, ContactArrays
        The present ones: written.

    Returns
    -------
    bool
        False if there is no room for the contacts.
    """
    runs, sharing = members.pair_runs, members.sharing
    predicted = members.collision.workspace.predicted
    runs.only_checks[0], runs.status[0] = False, STATUS_OK
    note_what_stands(pairs, members.model.shapes.body, members.state.kind, predicted)
    share_pairs(sharing, pairs)
    run_task(members, NARROW_PHASE)
    if is_shared(sharing):
        if not _place_runs(pairs, contacts, runs):
            return False
        run_task(members, JOIN_CONTACTS)
    elif runs.status[0] != STATUS_OK:
        return False
    if not note_first_meetings(pairs, members.model, members.state.kind, predicted):
        return True
    runs.looks_again[0] = True
    share_pairs(sharing, pairs)
    run_task(members, NARROW_PHASE)
    runs.looks_again[0] = False
    return runs.status[0] == STATUS_OK


@subkernel(inline=True)
def are_end_poses_clear(members, pairs):
    """Whether the rows keep all shapes apart at the poses of the substep's end, where the workspace has them.

    Parameters
    ----------
    members : StepMembers
    pairs : PairArrays
        The present ones (read).
    """
    runs = members.pair_runs
    runs.only_checks[0], runs.status[0] = True, STATUS_OK
    share_pairs(members.sharing, pairs)
    run_task(members, NARROW_PHASE)
    return runs.status[0] == STATUS_OK


@entry
def find_pair_contacts(arrays, worker):
    """Task: the narrow phase of the pairs, run by run.

    Parameters
    ----------
    arrays : StepArrays
        Read: what ``narrow_phase`` reads, and ``only_checks`` of the pair runs. Written: what it writes; of several
        workers each writes its contacts to its own buffer. Of the pair runs worker, first, count, needed, and a status
        that is not STATUS_OK.
    worker : int64
    """
    members = views_of(arrays)
    collision, sharing, runs = members.collision, members.sharing, members.pair_runs
    workspace, state = collision.workspace, members.state
    only_checks, looks_again = runs.only_checks[0], runs.looks_again[0]
    present, previous_pass = collision.roles.present[0], collision.roles.previous_pass[0]
    pairs, contacts = collision.pairs[present], collision.contacts[present]
    # Nothing is recycled at the end poses, so the present pairs and contacts stand for the last ones.
    last_substep = present if only_checks else collision.roles.last_substep[0]
    several = is_shared(sharing)
    makes_contacts = not (only_checks or looks_again)
    made = runs.own_contacts if several and makes_contacts else contacts
    if makes_contacts:
        clear_contacts(made)
    narrow_phase_arrays = NarrowPhaseArrays(
        members.model,
        state,
        workspace,
        pairs,
        made,
        collision.pairs[last_substep],
        collision.contacts[last_substep],
        collision.pairs[previous_pass],
        collision.contacts[previous_pass],
        members.kernels.pair_kernels,
        numbers_of(members.settings.step),
        only_checks,
        looks_again,
        members.motion.position_velocity if only_checks else workspace.predicted.velocity,
    )
    set_up(workspace.scratch.pose, members.settings.gravity)
    length = PAIRS_A_RUN if several and not looks_again else pairs.count[0]
    while True:
        run = take_next(sharing.next)
        first_pair = run * length
        if first_pair >= pairs.count[0] or (only_checks and runs.status[0] != STATUS_OK):
            break
        first = made.count[0]
        status = narrow_phase(narrow_phase_arrays, first_pair, first_pair + length)
        if status != STATUS_OK:
            runs.status[0] = status
        if several and makes_contacts:
            runs.worker[run], runs.first[run], runs.count[run] = worker, first, made.count[0] - first
        sharing.finished[worker] = now()
    if makes_contacts:
        runs.needed[worker] = made.needed[0]


@subkernel(inline=True)
def _place_runs(pairs, contacts, runs):
    """Find the places of the runs' contacts among all.

    Returns
    -------
    bool
        Whether there is room for them; else ``contacts.needed`` says how much they need.
    """
    clear_contacts(contacts)
    for worker in range(len(runs.needed)):
        contacts.needed[0] += runs.needed[worker]
    if contacts.needed[0] > len(contacts.gap):
        return False
    for run in range((pairs.count[0] + PAIRS_A_RUN - 1) // PAIRS_A_RUN):
        runs.place[run] = contacts.count[0]
        contacts.count[0] += runs.count[run]
    return True


@entry
def join_runs(arrays, worker):
    """Task: move the contacts that this worker made to their places among all.

    Parameters
    ----------
    arrays : StepArrays
        Read: the pair runs. Written: the present contacts, and where those of each pair begin.
    worker : int64
    """
    members = views_of(arrays)
    collision, runs = members.collision, members.pair_runs
    present = collision.roles.present[0]
    pairs, contacts = collision.pairs[present], collision.contacts[present]
    count = pairs.count[0]
    for run in range((count + PAIRS_A_RUN - 1) // PAIRS_A_RUN):
        if runs.worker[run] == worker:
            first_pair = run * PAIRS_A_RUN
            end_pair = min(first_pair + PAIRS_A_RUN, count)
            join_contacts(
                pairs,
                first_pair,
                end_pair,
                runs.own_contacts,
                runs.first[run],
                runs.count[run],
                contacts,
                runs.place[run],
            )
            members.sharing.finished[worker] = now()
