"""Stage ``narrow_phase``: contacts of every pair of shapes.

Reads poses (as ``broad_phase`` placed them), the pairs, and pairs and contacts of the last substep and of the previous
detection pass; fills ``contacts`` except ``impulse`` and ``age``, and the rest of ``pairs``. Pair by pair:

1. contacts that serve again are taken from the cache (``pair_cache``);
2. else new ones are made: of convex shapes at the start of the substep, or at their time of impact if they are fast
   (``convex_contacts``, ``time_of_impact``); of a mesh along the other shape's path (``mesh_pair_contacts``);
3. in later passes, contacts are added at the poses to which the last solution leads (``end_pose_contacts``).
"""

import numpy as np

from ..compiled.kernel import subkernel
from .convex_contacts import make_convex_contacts, note_meetings, stays_as_seen
from .data.contact_arrays import STATUS_CAPACITY, STATUS_OK, STATUS_UNFORESEEN_OVERLAP
from .data.contact_buffers import drop_contacts
from .data.workspace import INFINITE
from .distance.shape_distance import restore_shapes
from .end_pose_contacts import add_end_pose_contacts, has_unforeseen_overlap, plan_end_pose_check, stays_apart
from .later_meetings import is_met_later, look_again
from .mesh_pair_contacts import make_mesh_contacts
from .pair_cache import find_same_pair, first_candidate, reuse_contacts
from .pair_context import approach_of_substep, describe_pair

# As ``end_pair``: all pairs.
ALL_PAIRS = np.iinfo(np.int64).max


@subkernel(inline=True)
def narrow_phase(arrays, first_pair, end_pair):
    """Make or recycle the contacts of all pairs; or check whether a solution leads shapes into each other unseen.

    One kernel for both, so that the contacts of all kinds of shapes are compiled once.

    Parameters
    ----------
    arrays : NarrowPhaseArrays
        ``contacts`` written, but for ``impulse`` and ``age``, and the pair cache. With ``only_checks`` just scratch is
        written, and ``feature`` of pairs with a mesh; ``note_pass_contacts`` must have been called before. With
        ``looks_again`` the contacts of pairs that meet after others are written anew (``later_meetings``).
    first_pair, end_pair : int64
        Only these pairs are considered; an end beyond the last one is the last one's. Their contacts are appended.

    Returns
    -------
    int
        STATUS_OK; STATUS_CAPACITY with ``needed`` set; STATUS_UNFORESEEN_OVERLAP if shapes are led into each other that
        the rows do not keep apart.
    """
    pairs, last_substep_pairs, previous_pass_pairs = arrays.pairs, arrays.last_substep_pairs, arrays.previous_pass_pairs
    is_later_pass = arrays.workspace.predicted.detection_pass[0] > 0
    restore_shapes(arrays.workspace.scratch)
    # Not a plain 0: Numba would compile what it is passed to once more, for the literal.
    last_substep_number, previous_pass_number = np.int64(0), np.int64(0)
    if not arrays.only_checks and first_pair > 0:
        last_substep_number = first_candidate(
            last_substep_pairs.shape_a, last_substep_pairs.count[0], pairs.shape_a[first_pair]
        )
        previous_pass_number = first_candidate(
            previous_pass_pairs.shape_a, previous_pass_pairs.count[0], pairs.shape_a[first_pair]
        )
    for pair_number in range(first_pair, min(end_pair, pairs.count[0])):
        if arrays.looks_again:
            if is_met_later(pairs, pair_number, arrays.model, arrays.state.kind, arrays.workspace.predicted):
                pair = describe_pair(arrays.model, arrays.state, arrays.workspace, pairs, pair_number)
                if not look_again(arrays, pair):
                    return STATUS_CAPACITY
            continue
        pair = describe_pair(arrays.model, arrays.state, arrays.workspace, pairs, pair_number)
        check = plan_end_pose_check(arrays, pair)
        if arrays.only_checks:
            overlaps = (
                check.is_due and not stays_apart(arrays, pair, check) and has_unforeseen_overlap(arrays, pair, check)
            )
            if overlaps:
                return STATUS_UNFORESEEN_OVERLAP
            continue
        last_substep_number = find_same_pair(last_substep_pairs, pair.a, pair.b, last_substep_number)
        if is_later_pass:
            previous_pass_number = find_same_pair(previous_pass_pairs, pair.a, pair.b, previous_pass_number)
        approach = approach_of_substep(arrays, pair)
        is_reused = reuse_contacts(arrays, pair, approach, last_substep_number, previous_pass_number)
        if is_reused:
            stops = note_meetings(arrays, pair, approach)
            if stops and pairs.is_recycled[pair_number] and not stays_as_seen(arrays, pair, approach):
                # They are made anew, with what happens in mind.
                drop_contacts(pairs, pair_number, arrays.contacts)
                is_reused = False
        if not is_reused:
            if pair.with_mesh:
                make_mesh_contacts(arrays, pair, approach)
                note_meetings(arrays, pair, approach)
            elif not make_convex_contacts(arrays, pair, approach):
                pairs.meeting[pair_number], pairs.last_meeting[pair_number] = INFINITE, 0.0
                continue
        if check.is_due and not stays_apart(arrays, pair, check):
            made = pairs.contact_count[pair_number]
            add_end_pose_contacts(arrays, pair, check)
            if pairs.contact_count[pair_number] > made:
                # They say where the last solution leads, so the pair is left as it is.
                pairs.last_meeting[pair_number] = 0.0
    if arrays.contacts.needed[0] > arrays.contacts.count[0]:
        return STATUS_CAPACITY
    return STATUS_OK
