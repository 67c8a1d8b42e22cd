"""What an island is: the facts that its strategy is chosen by (``strategies``)."""

import math
from typing import NamedTuple

import numpy as np

from ...collision.data.workspace import RATIO_MARGIN
from ...collision.detection_passes import is_deep_contact
from ...compiled.kernel import subkernel
from ...compiled.views import numbers_of
from ...constraints.velocity_rows import kinetic_energy, touches_kinematic
from ...problem.residuals import row_velocity
from ..islands.islands import rests_on_something
from ..islands.policy import RATIO_CALM, RATIO_CALM_SIZE, RATIO_STILL, SHARE_CALMER, TURN_OF_ROLLING


class IslandFacts(NamedTuple):
    """How an island without joints begins a substep.

    Attributes
    ----------
    contacts : int
    is_supported : bool
        It touches a body that cannot be pushed.
    is_calm : bool
        Nothing in it slides or approaches as fast as what moves.
    overlap, rolling : float
        The deepest overlap, and that of bodies that roll on each other, as shares of the smaller one's size.
    smallest : float
        The smallest body's size; infinite without contacts [m].
    """

    contacts: int
    is_supported: bool
    is_calm: bool
    overlap: float
    rolling: float
    smallest: float


@subkernel
def look_at(members, rows, islands, island):
    """Find out what an island is, in one look at each of its contacts.

    Parameters
    ----------
    members : StepMembers
        Read.
    rows, islands, island
        Read.

    Returns
    -------
    IslandFacts
    """
    step, velocity, size = numbers_of(members.settings.step), members.motion.start_velocity, members.model.size
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    first, end = islands.block_first[island], islands.block_first[island + 1]
    spin, slow = TURN_OF_ROLLING / step.h, RATIO_CALM * step.gravity_norm * step.h
    overlap, rolling, smallest, is_calm = 0.0, 0.0, math.inf, np.bool_(True)
    for index in range(first, end):
        block = islands.block_order[index]
        a, b = rows.body_a[block], rows.body_b[block]
        smaller = min(size[a], size[b])
        smallest = min(smallest, smaller)
        if contacts.gap[block] < 0.0:
            depth, square = -contacts.gap[block] / smaller, 0.0
            for axis in range(3, 6):
                square += (velocity[b, axis] - velocity[a, axis]) ** 2
            overlap = max(overlap, depth)
            if square > spin * spin:
                rolling = max(rolling, depth)
        row = rows.block_row[block]
        while is_calm and row < rows.block_row[block + 1]:
            speed = abs(row_velocity(rows.jacobian, row, 0.0, velocity, a, b))
            is_calm = np.bool_(speed <= slow + RATIO_CALM_SIZE * smaller / step.h)
            row += 1
    is_supported = np.bool_(rests_on_something(rows, islands, island, members.motion.can_be_pushed))
    return IslandFacts(end - first, is_supported, is_calm, overlap, rolling, smallest)


@subkernel
def has_deep_contacts(islands, island, contacts, sizes):
    """Whether shapes of an island overlap by so much that it is taken out over many substeps."""
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        contact = islands.block_order[index]
        if contact < contacts.count[0]:
            allowed = RATIO_MARGIN * min(sizes[contacts.shape_a[contact]], sizes[contacts.shape_b[contact]])
            if is_deep_contact(contacts, contact, allowed):
                return True
    return False


@subkernel
def moves_fast(members, islands, island, speed):
    """Whether some body of an island is faster than this at the substep's start [m/s]."""
    velocity, size = members.motion.start_velocity, members.model.size
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        body = islands.body_order[index]
        square, turning = 0.0, 0.0
        for axis in range(3):
            square += velocity[body, axis] ** 2
            turning += velocity[body, 3 + axis] ** 2
        if square + size[body] ** 2 * turning > speed * speed:
            return True
    return False


@subkernel
def is_calmer(members, rows, islands, island):
    """Whether a solve has brought an island nearer to rest, by a tenth of its energy, or all but to rest.

    What is carried by something driven keeps its energy at rest on that, so there every solve does.
    """
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    if touches_kinematic(islands, island, rows, contacts, members.motion.free_velocity):
        return True
    step = numbers_of(members.settings.step)
    mass = 0.0
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        mass += rows.body_mass[islands.body_order[index], 0, 0]
    before = kinetic_energy(islands, island, rows, members.motion.start_velocity)
    after = kinetic_energy(islands, island, rows, members.state.velocity)
    return after <= SHARE_CALMER * before + 0.5 * mass * (RATIO_STILL * step.gravity_norm * step.h) ** 2
