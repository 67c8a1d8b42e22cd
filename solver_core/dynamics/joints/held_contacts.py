"""Contacts that joints hold: where jointed bodies overlap so near to what connects them that nothing leads them apart.

Bars meet at one point, and overlap there; a strand of hair begins within the head. Whoever set that up has said that
they meet there. Such a contact has hardly a lever about what joins its bodies: at a tenth of their length from a ball
joint it takes ten times their weight to bear it, at a hundredth a hundred times. Several of them press against each
other whatever is done: W of a dozen such contacts has eigenvalues from 1 down to 1e-13, and impulses grew to 1e5 times
what there was to bear, which no solver ends with, and nobody has wished for.

So a contact that overlaps, of bodies that joints connect, is left out where its bodies, held by these, give way by less
than a share of what they would alone,

    n H^-1 n'  <=  s n M^-1 n',        H = M + J_B' D J_B  (``solvers.joint_elimination``),

which is about the square of its lever over their length. All else of the pair touches as ever: bodies far from their
joint, and what only touches.
"""

from ...compiled.kernel import entry, subkernel
from ...compiled.views import numbers_of, views_of
from ...constraints.contact_rows import RATIO_TOUCHING, fill_inertia, size_that_moves
from ...constraints.joints.joint_motion import restore_own, stiffen_body
from ...constraints.joints.joint_rows import lowest_joined, respond_anew
from ...solvers.joint_elimination import find_held_contacts

# A contact is held where its bodies give way by less than this share of what they would alone: of two rods on a ball
# joint, nearer to it than a tenth of their length.
_RATIO_HELD = 1e-2
# What is left out is as if so many sizes away within a substep.
_SIZES_AWAY = 10.0


@entry
def run_leave_held_contacts(arrays, island):
    """Leave out the contacts of an island that joints hold: their rows ask for nothing, and bear nothing.

    Parameters
    ----------
    arrays : StepArrays
        Written: biases, impulses and restitution of these contacts.
    island : int64
    """
    members = views_of(arrays)
    rows, islands, workspace = members.problem.rows, members.problem.islands, members.problem.jointed
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    if not _find_candidates(members, rows, islands, island, contacts):
        return
    motion, joint_state, h = members.motion, members.joint_state, numbers_of(members.settings.step).h
    # what forces make of the bodies is not what joints let them do
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        if joint_state.is_held[body]:
            restore_own(joint_state, motion, rows, body)
    respond_anew(islands, island, contacts.count[0], motion, rows)
    find_held_contacts(rows, islands, island, workspace, _RATIO_HELD)
    for place in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[place]
        if joint_state.is_held[body]:
            stiffen_body(joint_state, motion, body, h)
            fill_inertia(motion.inverse_inertia[body], rows.body_mass[body])
    respond_anew(islands, island, contacts.count[0], motion, rows)
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block < contacts.count[0] and workspace.is_held[block]:
            smaller = size_that_moves(members.model.size, motion.can_be_pushed, rows.body_a[block], rows.body_b[block])
            _leave_out(rows, members.problem.contact_rows, block, _SIZES_AWAY * smaller / h)


@subkernel
def is_left_out(members, block):
    """Whether a contact has been left out in this pass."""
    rows = members.problem.rows
    smaller = size_that_moves(members.model.size, members.motion.can_be_pushed, rows.body_a[block], rows.body_b[block])
    h = numbers_of(members.settings.step).h
    return members.problem.contact_rows.velocity_bias[block] >= _SIZES_AWAY * smaller / h


@subkernel
def _leave_out(rows, contact_rows, block, speed):
    row = rows.block_row[block]
    for direction in range(row, rows.block_row[block + 1]):
        rows.impulse[direction] = 0.0
    rows.bias[row] = contact_rows.velocity_bias[block] = speed
    contact_rows.restitution[block] = contact_rows.bounce_speed[block] = 0.0


@subkernel
def _find_candidates(members, rows, islands, island, contacts):
    """Mark the contacts that overlap and whose bodies joints connect; returns whether there is one."""
    is_held, found = members.problem.jointed.is_held, False
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        is_held[block] = False
        if block < contacts.count[0]:
            a, b = rows.body_a[block], rows.body_b[block]
            touching = RATIO_TOUCHING * size_that_moves(members.model.size, members.motion.can_be_pushed, a, b)
            if contacts.gap[block] < -touching:
                is_held[block] = are_joined(members, rows, islands, island, a, b, contacts.count[0])
                found = found or is_held[block]
    return found


@subkernel
def are_joined(members, rows, islands, island, a, b, contact_count):
    """Whether joints connect two bodies of an island, through whatever others.

    Parameters
    ----------
    members : StepMembers
        Read.
    rows, islands, island
        Read.
    a, b : int64
    contact_count : int64
        Blocks from this one on are joints.

    Returns
    -------
    bool
    """
    can_be_pushed, lowest = members.motion.can_be_pushed, members.joint_state.lowest
    if can_be_pushed[a] and can_be_pushed[b]:
        if lowest_joined(lowest, a) == lowest_joined(lowest, b):
            return True
        # or by something that stands
        for place in range(islands.block_first[island], islands.block_first[island + 1]):
            block = islands.block_order[place]
            one, other = rows.body_a[block], rows.body_b[block]
            if block >= contact_count and can_be_pushed[one] != can_be_pushed[other]:
                moves, stands = (one, other) if can_be_pushed[one] else (other, one)
                if lowest_joined(lowest, moves) == lowest_joined(lowest, a) and _is_joined_to(
                    members, rows, islands, island, stands, b, contact_count
                ):
                    return True
        return False
    moves, stands = (a, b) if can_be_pushed[a] else (b, a)
    return _is_joined_to(members, rows, islands, island, stands, moves, contact_count)


@subkernel
def _is_joined_to(members, rows, islands, island, stands, moves, contact_count):
    """Whether joints connect a body to one that cannot be pushed."""
    lowest = members.joint_state.lowest
    for place in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[place]
        if block >= contact_count and (rows.body_a[block] == stands or rows.body_b[block] == stands):
            other = rows.body_a[block] if rows.body_b[block] == stands else rows.body_b[block]
            if lowest_joined(lowest, other) == lowest_joined(lowest, moves):
                return True
    return False
