"""What stands still is solved once a frame: what is left of the frame would only repeat it.

A standing island costs as much in each substep as in the first, though nothing changes: not its contacts, not its
impulses, not its velocities. Once it has been solved in a frame with nothing moving, before or after, its bodies keep
their state until the frame ends, unless something joins the island that moves. The next frame measures it anew. If
nothing at all moves in the scene, the frame ends there.

Joints of what stands bear what they bore.

What stands still has no velocity: what rounding leaves of one is taken, so that it adds up to nothing. A brick whose
middle lies over the very edge of the one below, as in every wall of half-lapped bricks, would else tip within a second
by the rounding of where it was put; so it has to be off by some 1e-5 of its size.

An island stands still if the method has solved it, and at the substep's start and at its end and in what moves the
poses, no body is faster than rounding and the solver's tolerance make it. Balanced forces, so: a ball at the top of its
flight is still for a moment, too, but not at both ends of a substep.
"""

import math

from ...compiled.kernel import subkernel
from ...constraints.velocity_rows import touches_kinematic
from ...model.state import DYNAMIC, STATIC
from ..islands.islands import has_joints, rests_on_something

# Speeds at which a body stands still, as a share of what gravity gives in a substep ...
_RATIO_STILL = 1e-5
# ... and of its size a substep.
_RATIO_STILL_SIZE = 1e-9


@subkernel
def keep_velocities(islands, island, start_velocity, velocity):
    """Give the bodies of an island the velocities that they started the substep with."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        for column in range(6):
            velocity[body, column] = start_velocity[body, column]


@subkernel
def note_standing(members, step):
    """Note which bodies stand still, after a substep's solves and before it moves them.

    Parameters
    ----------
    members : StepMembers
        ``motion.memory.stands`` written; and the velocities of bodies that stand without joints, to 0.
    step : StepSettings

    Returns
    -------
    bool
        Whether nothing moves at all.
    """
    motion, state, size, problem = members.motion, members.state, members.model.size, members.problem
    rows, islands, stands = problem.rows, problem.islands, motion.memory.stands
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    for body in range(len(stands)):
        stands[body] = state.kind[body] == DYNAMIC and _is_still(motion, state.velocity, size, body, step)
    for island in range(islands.count[0]):
        if not _stands(members, rows, islands, island, contacts):
            for index in range(islands.body_first[island], islands.body_first[island + 1]):
                stands[islands.body_order[index]] = False
        elif not has_joints(rows, islands, island, contacts.count[0]):
            # a slow motor goes on
            _stop(islands, island, motion, state, size, _RATIO_STILL * step.gravity_norm * step.h)
    all_stand = True
    for body in range(len(stands)):
        all_stand = all_stand and (stands[body] or not _moves(state, body))
    return all_stand


@subkernel
def _is_still(motion, velocity, size, body, step):
    """Whether a body is still at both ends of a substep and between."""
    allowed = _RATIO_STILL * step.gravity_norm * step.h + _RATIO_STILL_SIZE * size[body] / step.h
    start, now, mean = motion.start_velocity[body], velocity[body], motion.position_velocity[body]
    speed = max(_speed(start, size[body]), _speed(now, size[body]), _speed(mean, size[body]))
    return speed <= allowed


@subkernel
def _speed(velocity, size):
    """A bound of the speed of a body's points [m/s]."""
    along = math.sqrt(velocity[0] ** 2 + velocity[1] ** 2 + velocity[2] ** 2)
    return along + size * math.sqrt(velocity[3] ** 2 + velocity[4] ** 2 + velocity[5] ** 2)


@subkernel
def _stands(members, rows, islands, island, contacts):
    """Whether an island of still bodies was solved, and is held by what does not move."""
    motion, memory = members.motion, members.motion.memory
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        if not memory.stands[body] or memory.is_unsolved[body] or memory.in_small_steps[body] or memory.is_swept[body]:
            return False
    return (
        members.solves.missed[island] == 0
        and rests_on_something(rows, islands, island, motion.can_be_pushed)
        and not touches_kinematic(islands, island, rows, contacts, members.state.velocity)
    )


@subkernel
def _stop(islands, island, motion, state, size, least):
    """Take the velocities of a standing island, if none is as fast as ``least`` [m/s].

    Where gravity is slight, what slides does so slower than rounding of its size lets count as standing.
    """
    first, end = islands.body_first[island], islands.body_first[island + 1]
    for index in range(first, end):
        body = islands.body_order[index]
        if max(_speed(state.velocity[body], size[body]), _speed(motion.position_velocity[body], size[body])) > least:
            return
    for index in range(first, end):
        body = islands.body_order[index]
        for column in range(6):
            state.velocity[body, column] = motion.position_velocity[body, column] = 0.0


@subkernel
def _moves(state, body):
    """Whether a body that does not stand still moves, or may begin to."""
    is_driven = False
    for column in range(6):
        is_driven = is_driven or state.velocity[body, column] != 0.0
    return state.kind[body] == DYNAMIC or (state.kind[body] != STATIC and is_driven)
