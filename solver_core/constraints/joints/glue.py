"""Which bodies joints glue to one piece.

Where joints hold all six coordinates of two bodies, nothing that acts between these two moves either of them: of two
bricks that are glued and touch, a contact could only press against the glue, and the more the warmer it starts. So what
is glued does not touch itself (``collision.broad_phase``), as the shapes of a compound do not.
"""

from ...compiled.kernel import kernel, subkernel
from ...model.joints.coordinates import LINEAR
from ...model.joints.joint_arrays import HOLD, WORLD
from .coordinate_geometry import is_angle


@kernel
def find_glued(joints, enabled, broken, glued):
    """Give bodies that are glued, through whatever others, the number of the lowest of them.

    Parameters
    ----------
    joints : JointArrays
        Read.
    enabled, broken : bool [joint_count]
        Read.
    glued : int64 [body_count]
        Written.
    """
    for body in range(glued.size):
        glued[body] = body
    for joint in range(joints.body_a.size):
        a, b = joints.body_a[joint], joints.body_b[joint]
        if b == WORLD or not enabled[joint] or broken[joint] or not _holds_all(joints, joint):
            continue
        while glued[a] != a:
            a = glued[a]
        while glued[b] != b:
            b = glued[b]
        glued[max(a, b)] = min(a, b)
    # a body's number is below its own, so that of the lowest is there already
    for body in range(glued.size):
        glued[body] = glued[glued[body]]


@subkernel
def _holds_all(joints, joint):
    lines, angles = 0, 0
    for index in range(joints.row_first[joint], joints.row_first[joint + 1]):
        if joints.role[index] == HOLD:
            lines += 1 if joints.kind[index] == LINEAR else 0
            angles += 1 if is_angle(joints.kind[index]) else 0
    return lines == 3 and angles == 3
