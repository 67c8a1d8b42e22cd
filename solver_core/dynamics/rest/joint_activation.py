"""Joints that hold until something happens to their bodies, or from then on: judged as bodies that wait are.

- Touch and hits, of a joint that holds until then: pushes on one of its bodies by something that moves and is not held
  by such a joint itself, so bricks that lie on each other touch nobody. The joint is gone from the substep's beginning:
  the substep is solved again without it, so the hit pushes the body and not what held it.
- Of a joint that holds from then on: a push of its two bodies on each other; of one with the world, by anything.
- A volume: once it holds the joint's place on its first body.
"""

from ...compiled.kernel import subkernel
from ...constraints.joints.glue import find_glued
from ...geometry.rotation_kernels import rotate
from ...model.activation import IMPULSE, TOUCH
from ...model.joints.joint_arrays import WORLD
from ..motion.frame_impulses import impulse_of
from .sleeping import wake_body


@subkernel
def note_held(members):
    """Note whose joints wait for a push, and whose for a hit."""
    waiting, activation, joints = members.waiting, members.model.activation, members.model.joints
    for body in range(waiting.is_held.size):
        waiting.is_held[body] = waiting.takes_hits[body] = False
    for joint in range(waiting.joint_waits.size):
        trigger = activation.joint_trigger[joint]
        if not waiting.joint_waits[joint] or (trigger != TOUCH and trigger != IMPULSE):
            continue
        for body in (joints.body_a[joint], joints.body_b[joint]):
            if body != WORLD:
                waiting.is_held[body] = waiting.is_held[body] or activation.joint_until[joint]
                waiting.takes_hits[body] = waiting.takes_hits[body] or trigger == IMPULSE


@subkernel
def change_joint(members, joint):
    """Let a joint go, or let it hold, from this substep's beginning."""
    waiting, joint_state, joints = members.waiting, members.joint_state, members.model.joints
    waiting.joint_waits[joint] = False
    waiting.count[0] -= 1
    waiting.joint_woke_in[joint] = members.record.substeps[0]
    joint_state.enabled[joint] = not members.model.activation.joint_until[joint]
    for row in range(joints.row_first[joint], joints.row_first[joint + 1]):
        joint_state.impulse[row] = joint_state.change[row] = 0.0
    find_glued(joints, joint_state.enabled, joint_state.broken, members.model.glued)
    for body in (joints.body_a[joint], joints.body_b[joint]):
        if body != WORLD:
            wake_body(body, members.state.kind, members.sleep)


@subkernel
def place_of(members, joint):
    """Where a joint is on its first body, in the world."""
    joints, state, body = members.model.joints, members.state, members.model.joints.body_a[joint]
    w, x, y, z = state.orientation[body]
    own, position = joints.position_a[joint], state.position[body]
    p0, p1, p2 = rotate(w, x, y, z, own[0], own[1], own[2])
    return position[0] + p0, position[1] + p1, position[2] + p2


@subkernel
def push_between(members, joint):
    """How hard the bodies of a joint push each other in this substep, or anything its body where it has one [N s]."""
    joints = members.model.joints
    first, second = joints.body_a[joint], joints.body_b[joint]
    contacts = members.collision.contacts[members.collision.roles.present[0]]
    s0 = s1 = s2 = 0.0
    for contact in range(contacts.count[0]):
        a, b = contacts.body_a[contact], contacts.body_b[contact]
        is_own = a == first or b == first
        if is_own and (second == WORLD or a == second or b == second):
            sign = 1.0 if b == first else -1.0
            p0, p1, p2 = impulse_of(members, contact)
            s0, s1, s2 = s0 + sign * p0, s1 + sign * p1, s2 + sign * p2
    return (s0 * s0 + s1 * s1 + s2 * s2) ** 0.5
