"""What is remembered from look to look of a substep, in which contacts are looked for more than once."""

from ..contacts import CONTACT_COUNT, CONTACT_START, LOOKED_COUNT, LOOKED_START
from ..kernel import subkernel
from .broad_phase import DYNAMIC
from .workspace import DEEP, LOOK, RATIO_MARGIN, SURPLUS, UNSOLVED


@subkernel
def start_look(outlook, look):
    """Note the look's number; the first of a substep knows of no surplus and of no failure."""
    for body in range(len(outlook)):
        outlook[body, LOOK] = look
        if look == 0:
            outlook[body, SURPLUS] = 0.0
            outlook[body, UNSOLVED] = 0.0
            outlook[body, DEEP] = 0.0


@subkernel
def remember_look(pairs, contacts, sizes, body_kind, outlook):
    """Note which contacts each pair has in this look, and which bodies are too deep in others for another one.

    Such overlaps are taken out bit by bit, and ask for ways out that may contradict each other.
    """
    for pair in range(pairs.count[0]):
        link = pairs.link[pair]
        link[LOOKED_START], link[LOOKED_COUNT] = link[CONTACT_START], link[CONTACT_COUNT]
        allowed = RATIO_MARGIN * min(sizes[pairs.shape_a[pair]], sizes[pairs.shape_b[pair]])
        for contact in range(link[CONTACT_START], link[CONTACT_START] + link[CONTACT_COUNT]):
            if contacts.gap[contact] < -allowed:
                for body in (contacts.body_a[contact], contacts.body_b[contact]):
                    if body_kind[body] == DYNAMIC:
                        outlook[body, DEEP] = 1.0


@subkernel
def is_unsolved(islands, island, outlook):
    """Whether the last look left a body of an island in one that was not solved to its tolerance."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        if outlook[islands.body_order[index], UNSOLVED] > 0.0:
            return True
    return False


@subkernel
def note_unsolved(islands, island, outlook, unsolved):
    """Note of the bodies of an island whether it was left so."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        outlook[islands.body_order[index], UNSOLVED] = 1.0 if unsolved else 0.0
