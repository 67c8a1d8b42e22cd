"""What is kept from one detection pass of a substep to the next: predicted motion, and which contacts a pair had.

The first pass finds contacts by the velocities at the start. Contacts change these: later passes look farther for
bodies that were pushed, and add contacts at the poses to which the last solution leads. The step has the loop.
"""

import math

from ..compiled.kernel import subkernel
from ..model.state import DYNAMIC
from .data.workspace import POSITION, RATIO_MARGIN
from .swept_motion import place_at_time

# A solution may lead shapes into each other by this fraction of the smaller one's size before end-pose contacts are
# made.
RATIO_UNFORESEEN_OVERLAP = 8e-4
# ... and by this one where bodies are not solved for exactly; there, no more passes than these check that.
RATIO_COARSE_OVERLAP = 8e-3
MAX_COARSE_PASSES = 3
# Share of the surplus that a body needed in a substep which the next one begins with; less than the second is none [m].
_SHARE_OF_SURPLUS, _LEAST_SURPLUS = 0.5, 1e-6


@subkernel
def start_pass(predicted, detection_pass):
    """Note the number of the pass; in the first one of a substep there is no deep overlap yet, and surplus is a guess.

    What is pushed about in a heap was so in the last substep: half of what it needed then saves a fifth of the further
    passes.
    """
    predicted.detection_pass[0] = detection_pass
    if detection_pass == 0:
        for body in range(len(predicted.surplus)):
            guess = _SHARE_OF_SURPLUS * predicted.surplus[body]
            predicted.surplus[body] = guess if guess > _LEAST_SURPLUS else 0.0
            predicted.is_deep[body] = predicted.is_coarse[body] = False


@subkernel
def swap_pass_buffers(roles):
    """Make the buffers of this pass those from which the next one may take contacts."""
    roles.present[0], roles.previous_pass[0] = roles.previous_pass[0], roles.present[0]


@subkernel(inline=True)
def repeat_pairs(previous_pass_pairs, pairs):
    """Copy the pairs of the previous pass, with what was noted of them."""
    pairs.count[0] = previous_pass_pairs.count[0]
    for pair_number in range(pairs.count[0]):
        pairs.shape_a[pair_number] = previous_pass_pairs.shape_a[pair_number]
        pairs.shape_b[pair_number] = previous_pass_pairs.shape_b[pair_number]
        pairs.previous_pass_start[pair_number] = previous_pass_pairs.previous_pass_start[pair_number]
        pairs.previous_pass_count[pair_number] = previous_pass_pairs.previous_pass_count[pair_number]
        pairs.end_pose_count[pair_number] = previous_pass_pairs.end_pose_count[pair_number]


@subkernel
def place_end_poses(shape_body, velocity, h, workspace):
    """Predict the poses of bodies and shapes at the end of a substep of constant velocities and spins.

    Parameters
    ----------
    shape_body : int64 [S]
        (read)
    velocity : float64 [B, 6]
        That moves the bodies (read).
    h : float
        [s].
    workspace : CollisionWorkspace
        Poses at the start read, poses in ``predicted`` written.
    """
    local_pose, body_pose, predicted = workspace.local_pose, workspace.body_pose, workspace.predicted
    body_end, shape_end = predicted.body_pose, predicted.shape_pose
    for shape in range(len(shape_body)):
        body = shape_body[shape]
        place_at_time(body_pose[body], local_pose[shape], velocity[body], h, body_end[body], shape_end[shape])


@subkernel
def clear_pass_history(pairs):
    """Note of a new list of pairs that none has end-pose contacts or contacts of the previous pass."""
    for pair_number in range(pairs.count[0]):
        pairs.end_pose_count[pair_number] = pairs.previous_pass_count[pair_number] = 0


@subkernel(inline=True)
def note_pass_contacts(pairs, contacts, sizes, body_kind, is_deep):
    """Note which contacts each pair has in this pass, and which bodies are too deep in others for end-pose contacts.

    Such overlaps are taken out over many substeps, and several of them may contradict each other.
    """
    for pair_number in range(pairs.count[0]):
        first, count = pairs.contact_start[pair_number], pairs.contact_count[pair_number]
        pairs.previous_pass_start[pair_number], pairs.previous_pass_count[pair_number] = first, count
        allowed = RATIO_MARGIN * min(sizes[pairs.shape_a[pair_number]], sizes[pairs.shape_b[pair_number]])
        for contact in range(first, first + count):
            if is_deep_contact(contacts, contact, allowed):
                for body in (contacts.body_a[contact], contacts.body_b[contact]):
                    if body_kind[body] == DYNAMIC:
                        is_deep[body] = True


@subkernel
def is_deep_contact(contacts, contact, allowed):
    """Whether the shapes of a contact overlap by more than ``allowed`` at the start of the substep [m]."""
    return contacts.gap[contact] + contacts.unrelaxed_gap[contact] < -allowed


@subkernel
def motion_is_negligible(body_of, bounding_radius, local_pose, sizes, velocity, h):
    """Whether all shapes move so little in a substep that none can be led into another, as in most scenes at rest.

    Two shapes approach by no more than the sum of |v| + 4 L |omega| of their bodies, L the largest radius of all about
    the centre of mass: a pair's points are within two such radii of one body's centre of mass, and the pair's reach of
    the other's.
    """
    radius, size, speed, spin = 0.0, math.inf, 0.0, 0.0
    for shape in range(len(body_of)):
        position, own = local_pose[shape, POSITION], velocity[body_of[shape]]
        offset = math.sqrt(position[0] ** 2 + position[1] ** 2 + position[2] ** 2)
        radius = max(radius, offset + bounding_radius[shape])
        size = min(size, sizes[shape])
        speed = max(speed, own[0] ** 2 + own[1] ** 2 + own[2] ** 2)
        spin = max(spin, own[3] ** 2 + own[4] ** 2 + own[5] ** 2)
    return 2.0 * h * (math.sqrt(speed) + 4.0 * radius * math.sqrt(spin)) < RATIO_UNFORESEEN_OVERLAP * size
