"""What is remembered from look to look of a substep, in which contacts are looked for more than once."""

import math

from ..contacts import (
    AT_ONCE,
    CONTACT_COUNT,
    CONTACT_START,
    LINK_COLUMNS,
    LOOKED,
    LOOKED_COUNT,
    LOOKED_START,
    MET_AT_END,
    PRESENT,
)
from ..kernel import subkernel
from .broad_phase import DYNAMIC
from .ways import place_on_way
from .workspace import BOUNDING_RADIUS, DEEP, LOOK, POSITION, RATIO_MARGIN, RESTLESS, SURPLUS, UNSOLVED

# A solution may lead shapes into each other by this share of the smaller one's size before contacts are looked for at
# its end.
RATIO_TURNED_INTO = 8e-4


@subkernel
def start_look(outlook, look):
    """Note the look's number; the first of a substep knows of no surplus, and of no failure but the last substep's."""
    for body in range(len(outlook)):
        outlook[body, LOOK] = look
        if look == 0:
            outlook[body, SURPLUS] = 0.0
            outlook[body, UNSOLVED] = 0.0
            outlook[body, DEEP] = 0.0


@subkernel
def keep_look(current):
    """The buffers of this look become those that the next one may take contacts from."""
    current[PRESENT], current[LOOKED] = current[LOOKED], current[PRESENT]


@subkernel(inline=True)
def repeat_pairs(looked_pairs, pairs):
    """Look at the pairs of the last look once more, with what was noted of them."""
    pairs.count[0] = looked_pairs.count[0]
    for pair in range(pairs.count[0]):
        pairs.shape_a[pair], pairs.shape_b[pair] = looked_pairs.shape_a[pair], looked_pairs.shape_b[pair]
        for column in range(LINK_COLUMNS):
            pairs.link[pair, column] = looked_pairs.link[pair, column]


@subkernel
def place_ends(body_of, body_pose, local_pose, velocity, h, body_end, shape_end):
    """Where the bodies and their shapes are at the end of a substep at constant velocities and spins."""
    for shape in range(len(body_of)):
        body = body_of[shape]
        place_on_way(body_pose[body], local_pose[shape], velocity[body], h, body_end[body], shape_end[shape])


@subkernel
def forget_ends(pairs):
    """No pair of a new list has met at the end yet, or is known to have contacts of the last look."""
    for pair in range(pairs.count[0]):
        pairs.link[pair, MET_AT_END] = pairs.link[pair, LOOKED_COUNT] = 0


@subkernel
def end_looks(outlook):
    """Note for the next substep which bodies this one leaves unsolved.

    Not when that one starts: it starts anew where buffers turn out to be full, or where it wakes bodies.
    """
    for body in range(len(outlook)):
        outlook[body, RESTLESS] = outlook[body, UNSOLVED]


@subkernel(inline=True)
def remember_look(pairs, contacts, sizes, body_kind, outlook):
    """Note which contacts each pair has in this look, and which bodies are too deep in others for another one.

    Such overlaps are taken out bit by bit, and ask for ways out that may contradict each other.
    """
    for pair in range(pairs.count[0]):
        link = pairs.link[pair]
        link[LOOKED_START], link[LOOKED_COUNT] = link[CONTACT_START], link[CONTACT_COUNT]
        allowed = RATIO_MARGIN * min(sizes[pairs.shape_a[pair]], sizes[pairs.shape_b[pair]])
        for contact in range(link[CONTACT_START], link[CONTACT_START] + link[CONTACT_COUNT]):
            if contacts.gap[contact] + contacts.drift[contact, AT_ONCE] < -allowed:
                for body in (contacts.body_a[contact], contacts.body_b[contact]):
                    if body_kind[body] == DYNAMIC:
                        outlook[body, DEEP] = 1.0


@subkernel
def has_deep_contacts(islands, island, contacts, sizes):
    """Whether shapes of an island overlap by so much that it is taken out in many substeps."""
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        contact = islands.block_order[index]
        if contact < contacts.count[0]:
            allowed = RATIO_MARGIN * min(sizes[contacts.shape_a[contact]], sizes[contacts.shape_b[contact]])
            if contacts.gap[contact] + contacts.drift[contact, AT_ONCE] < -allowed:
                return True
    return False


@subkernel
def is_marked(islands, island, outlook, column):
    """Whether a body of an island has a mark: UNSOLVED by the last look, or RESTLESS since the last substep."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        if outlook[islands.body_order[index], column] > 0.0:
            return True
    return False


@subkernel
def note_unsolved(islands, island, outlook, unsolved):
    """Note of the bodies of an island whether it was left so."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        outlook[islands.body_order[index], UNSOLVED] = 1.0 if unsolved else 0.0


@subkernel
def nothing_turns(body_of, form, local_pose, sizes, velocity, h):
    """Whether all shapes go so little way in a substep that none can be led into another; for most scenes at rest.

    Two shapes approach by no more than the sum of |v| + 4 L |omega| of their bodies, L the longest lever of all: a
    pair's points are within two levers of one body's centre of mass, and the pair's reach of the other's.
    """
    lever, size, speed, spin = 0.0, math.inf, 0.0, 0.0
    for shape in range(len(body_of)):
        position, own = local_pose[shape, POSITION], velocity[body_of[shape]]
        offset = math.sqrt(position[0] ** 2 + position[1] ** 2 + position[2] ** 2)
        lever = max(lever, offset + form[shape, BOUNDING_RADIUS])
        size = min(size, sizes[shape])
        speed = max(speed, own[0] ** 2 + own[1] ** 2 + own[2] ** 2)
        spin = max(spin, own[3] ** 2 + own[4] ** 2 + own[5] ** 2)
    return 2.0 * h * (math.sqrt(speed) + 4.0 * lever * math.sqrt(spin)) < RATIO_TURNED_INTO * size
