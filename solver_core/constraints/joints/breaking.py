"""Which joints break: those that bear most of what they cannot bear, and then those that still do without them.

What rests on a joint is a force; what hits it is an impulse, and that is a force only over a time. A rigid body takes
none to stop, so the time is given, ``impact_time`` T, the same for substeps of any length h: with F the force of the
substep, and F_0 that of the last one in which nothing hit what is joined,

    load = F                          where nothing hits,
    load = F_0 + sum of h (F - F_0) / T  where something does.

A hit takes up to two substeps, since bodies first come as near as their gap: the sum is that of this substep, the last
one, and what of the earlier ones is within T. Rigid bodies hand a hit on at once, however far. Bending spreads by the
square root of time; so for a bond at the distance d from where it hits, with the size L of its smaller body,

    T (d / L)^2    takes the place of T    where d is above L.

A joint breaks where its load is more than it bears. If several would, they do not break together: those go whose load
is at least half as many times what they bear as the worst one's in their island, and the substep is solved again
without them, until all others bear what is left. What breaks has given what it bears until then: its impulse p of the
substep, over its overload, acts on its two bodies once more. So a hit is used up by what it breaks: a crack runs from
where it begins, and what is behind it is spared. A bond only holds its bodies together: its work is u . p / 2, with u
their relative velocity at the end, where they did not move against each other before, and if that is above 0, the share

    s = min(1, u . p / p' K p)

of p is taken back, after which they do not part by it, where K is what impulses change u by. That takes energy, and so
nothing is gained, however many bonds of a body break. What has come apart collides from the next substep on; bodies
without play between them would hand the hit on in the same one, however much broke.
"""

import math

import numpy as np

from ...compiled.kernel import subkernel
from ...geometry.rotation_kernels import rotate_back
from ...model.joints.joint_arrays import WORLD
from .coordinate_geometry import frame_of

# Fills up the list of pairs that do not collide: more than any key of a pair.
NO_PAIR = np.iinfo(np.int64).max

# Of the worst joint's load, in units of what it bears: from this share on others break with it. A lower one lets a
# crack run in fewer solves, and breaks more of what it would have spared.
_SHARE_OF_WORST = 0.5


@subkernel
def find_hits(rows, islands, first_block, gap, start_velocity, h, least, is_hit):
    """Find the islands in which bodies come to each other in a substep faster than ``least`` [m/s].

    Parameters
    ----------
    rows, islands
        Read.
    first_block : int64
        Blocks from this one on are joints.
    gap : float64 [>= first_block]
        Of contacts [m] (read).
    start_velocity : float64 [body_count, 6]
        (read)
    h, least : float
        [s], [m/s]
    is_hit : bool [>= island_count]
        Written.
    """
    for island in range(islands.count[0]):
        is_hit[island] = False
        for place in range(islands.block_first[island], islands.block_first[island + 1]):
            block = islands.block_order[place]
            if block >= first_block:
                continue
            row, a, b = rows.block_row[block], rows.body_a[block], rows.body_b[block]
            closing = 0.0
            for column in range(6):
                closing -= rows.jacobian[row, column] * start_velocity[a, column]
                closing -= rows.jacobian[row, 6 + column] * start_velocity[b, column]
            if closing > least and h * closing > gap[block]:
                is_hit[island] = True
                break


@subkernel
def find_hit_places(rows, islands, first_block, contacts, start_velocity, h, least, joints, joint_state):
    """Find where islands are hit, as ``find_hits`` has it, and by how much that is spread until it reaches each bond.

    Parameters
    ----------
    rows, islands, first_block, start_velocity, h, least
        As of ``find_hits``.
    contacts : ContactArrays
        Read: gap, position.
    joints : JointArrays
        Read.
    joint_state : JointStateArrays
        ``spread`` and the places of hits written.
    """
    count, most = np.int64(0), joint_state.hit_island.size
    for island in range(islands.count[0]):
        if not joint_state.is_hit[island]:
            continue
        for place in range(islands.block_first[island], islands.block_first[island + 1]):
            block = islands.block_order[place]
            if block >= first_block:
                continue
            row, a, b = rows.block_row[block], rows.body_a[block], rows.body_b[block]
            closing = 0.0
            for column in range(6):
                closing -= rows.jacobian[row, column] * start_velocity[a, column]
                closing -= rows.jacobian[row, 6 + column] * start_velocity[b, column]
            if closing > least and h * closing > contacts.gap[block]:
                if count < most:
                    joint_state.hit_island[count] = island
                    for axis in range(3):
                        joint_state.hit_place[count, axis] = contacts.position[block, axis]
                count += 1
    joint_state.hit_count[0] = count
    for joint in range(joints.bond.shape[0]):
        joint_state.spread[joint] = 1.0
        acts = not joint_state.broken[joint] and joint_state.block[joint] >= 0
        if count <= most and acts and is_bond(joints, joint) and _is_hit(joint_state, joint):
            joint_state.spread[joint] = _spread(joints, joint_state, joint)


@subkernel
def _spread(joints, joint_state, joint):
    """How many times the time of a hit it takes to reach a bond: bending spreads by the square root of time."""
    position, orientation = joint_state.end_position, joint_state.end_orientation
    x, y, z, _, _, _, _ = frame_of(
        joints.body_b[joint], joints.position_b[joint], joints.orientation_b[joint], position, orientation
    )
    nearest = math.inf
    for index in range(joint_state.hit_count[0]):
        if joint_state.hit_island[index] == joint_state.island[joint]:
            hit = joint_state.hit_place[index]
            nearest = min(nearest, (x - hit[0]) ** 2 + (y - hit[1]) ** 2 + (z - hit[2]) ** 2)
    return max(1.0, nearest / joints.size[joint] ** 2) if nearest < math.inf else 1.0


@subkernel
def measure_loads(joints, joint_state, h, impact_time):
    """Write the loads that count for breaking; returns how many times what it bears the worst joint's is.

    Parameters
    ----------
    joints : JointArrays
        Read.
    joint_state : JointStateArrays
        ``load`` written.
    h, impact_time : float
        [s]

    Returns
    -------
    float
        Above 1 if a joint breaks.
    """
    worst = 0.0
    for joint in range(joints.body_a.size):
        if joint_state.broken[joint] or joint_state.block[joint] < 0:
            continue
        load = joint_state.load[joint]
        load[0], load[1] = 0.0, 0.0
        for axis in range(6):
            load[axis // 3] += _load(joint_state, joint, axis, h, impact_time) ** 2
        load[0], load[1] = math.sqrt(load[0]), math.sqrt(load[1])
        if joints.bond.shape[0] > 0:
            joint_state.stress[joint] = _stress(joints, joint_state, joint, h, impact_time)
        worst = max(worst, _overload(joint_state, joint))
    return worst


@subkernel
def is_bond(joints, joint):
    """Whether a joint is a bond."""
    return joint < joints.bond.shape[0] and not math.isnan(joints.bond[joint, 0])


@subkernel
def _stress(joints, joint_state, joint, h, impact_time):
    """How many times what it bears a bond's load is (``model.joints.bond``); 0 of other joints."""
    if not is_bond(joints, joint):
        return 0.0
    position, orientation = joint_state.end_position, joint_state.end_orientation
    _, _, _, w, x, y, z = frame_of(
        joints.body_b[joint], joints.position_b[joint], joints.orientation_b[joint], position, orientation
    )
    impact_time *= joint_state.spread[joint]
    along, side, up = rotate_back(
        w,
        x,
        y,
        z,
        _load(joint_state, joint, 0, h, impact_time),
        _load(joint_state, joint, 1, h, impact_time),
        _load(joint_state, joint, 2, h, impact_time),
    )
    twist, about_y, about_z = rotate_back(
        w,
        x,
        y,
        z,
        _load(joint_state, joint, 3, h, impact_time),
        _load(joint_state, joint, 4, h, impact_time),
        _load(joint_state, joint, 5, h, impact_time),
    )
    bond = joints.bond[joint]
    tension, shear, torsion, bending_y, bending_z = bond[0], bond[1], bond[2], bond[3], bond[4]
    # what is on body b holds it back where it is pulled off
    pull, bent = -along, _times(abs(about_y), bending_y) + _times(abs(about_z), bending_z)
    # what is pushed together bears more bending before its rim opens
    opened = bent + (_times(pull, tension) if pull > 0.0 else -_times(-pull, tension) if tension > 0.0 else 0.0)
    return max(0.0, opened, _times(math.sqrt(side * side + up * up), shear) + _times(abs(twist), torsion))


@subkernel
def _times(load, bears):
    """How many times what it bears a load is: any is too much for what bears none."""
    if load == 0.0:
        return 0.0
    return load / bears if bears > 0.0 else math.inf


@subkernel
def break_first(joints, joint_state, motion, h, given):
    """Break, in each island, the joints that go first of those that bear too much.

    Parameters
    ----------
    joints : JointArrays
        Read.
    joint_state : JointStateArrays
        ``load`` read; ``broken``, and ``peak`` and ``handed_on`` of what breaks, written.
    motion : MotionArrays
        ``start_velocity`` written: what breaks has given what it bears.
    h : float
        [s]
    given : float64 [joint_count or 0, 9]
        Added to, unless it is empty: that impulse on body a, on body b [N s], and its moment about the joint [N m s].
    """
    worst, island_of = joint_state.worst, joint_state.island
    for island in range(worst.size):
        worst[island] = 0.0
    for joint in range(joints.body_a.size):
        worst[island_of[joint]] = max(worst[island_of[joint]], _overload(joint_state, joint))
    for joint in range(joints.body_a.size):
        overload = _overload(joint_state, joint)
        if overload > 1.0 and overload >= _SHARE_OF_WORST * worst[island_of[joint]]:
            _hand_on(joints, joint_state, joint, h / overload)
            _push(joints, joint_state, joint, motion, motion.start_velocity, 1.0)
            _note_given(joint_state, joint, 1.0, given)
            joint_state.broken[joint] = True
            _note_peak(joint_state, joint)


@subkernel
def take_back(joints, joint_state, motion, velocity, solved, given):
    """Take back of what broke as much as it has pushed its bodies apart, at the substep's end.

    Parameters
    ----------
    joints : JointArrays
        Read.
    joint_state : JointStateArrays
        ``handed_on`` read, and 0 afterwards.
    motion : MotionArrays
        Read.
    velocity : float64 [body_count, 6]
        Written.
    solved : float64 [body_count or 0, 6]
        Likewise, unless it is empty: velocities with impulses alone.
    given : float64 [joint_count or 0, 9]
        As of ``break_first``.
    """
    for joint in range(joints.body_a.size):
        impulse = joint_state.handed_on[joint]
        if not impulse.any():
            continue
        along, response = _push(joints, joint_state, joint, motion, velocity, 0.0)
        if along > 0.0:
            share = -min(1.0, along / response)
            _push(joints, joint_state, joint, motion, velocity, share)
            if solved.shape[0] > 0:
                _push(joints, joint_state, joint, motion, solved, share)
                _note_given(joint_state, joint, share, given)
        for column in range(impulse.size):
            impulse[column] = 0.0


@subkernel
def _hand_on(joints, joint_state, joint, time):
    """Write what a joint gives its bodies when it breaks, its force for a time, at the arms that it has had.

    What is taken back has the same arms, or a light body at a long one would keep what it turns away by meanwhile.
    """
    impulse, frame_body = joint_state.handed_on[joint], joints.body_b[joint]
    for axis in range(6):
        impulse[axis] = time * joint_state.force[joint, axis]
    position, orientation = joint_state.end_position, joint_state.end_orientation
    frame = frame_of(frame_body, joints.position_b[joint], joints.orientation_b[joint], position, orientation)
    for body, first in ((joints.body_a[joint], 6), (joints.body_b[joint], 9)):
        if body != WORLD:
            impulse[first], impulse[first + 1], impulse[first + 2] = _moment(frame, position[body], impulse)


@subkernel
def _push(joints, joint_state, joint, motion, velocity, share):
    """Apply a share of a broken joint's impulse; returns by how much its bodies part along it, and that of p alone."""
    a, b, impulse = joints.body_a[joint], joints.body_b[joint], joint_state.handed_on[joint]
    along = response = 0.0
    for body, sign, first in ((a, -1.0, 6), (b, 1.0, 9)):
        if body == WORLD:
            continue
        angular = impulse[first], impulse[first + 1], impulse[first + 2]
        pushed = motion.can_be_pushed[body]
        turned = _turned(motion.inverse_inertia[body], angular)
        for i in range(3):
            if pushed:
                velocity[body, i] += sign * share * motion.inverse_mass[body] * impulse[i]
                velocity[body, 3 + i] += sign * share * turned[i]
                response += motion.inverse_mass[body] * impulse[i] ** 2 + angular[i] * turned[i]
            along += sign * (impulse[i] * velocity[body, i] + angular[i] * velocity[body, 3 + i])
    return along, response


@subkernel
def _note_given(joint_state, joint, share, given):
    """Note a share of a broken joint's impulse where somebody asks what joints have given."""
    if joint < given.shape[0]:
        for axis in range(3):
            impulse = share * joint_state.handed_on[joint, axis]
            given[joint, axis] -= impulse
            given[joint, 3 + axis] += impulse
            given[joint, 6 + axis] += share * joint_state.handed_on[joint, 3 + axis]


@subkernel
def _moment(frame, center, impulse):
    """Angular impulse about a body's centre of one that acts at a joint's frame."""
    x, y, z = frame[0] - center[0], frame[1] - center[1], frame[2] - center[2]
    return (
        impulse[3] + y * impulse[2] - z * impulse[1],
        impulse[4] + z * impulse[0] - x * impulse[2],
        impulse[5] + x * impulse[1] - y * impulse[0],
    )


@subkernel
def _turned(inverse, angular):
    """What an angular impulse changes the angular velocity by."""
    return (
        inverse[0] * angular[0] + inverse[1] * angular[1] + inverse[2] * angular[2],
        inverse[3] * angular[0] + inverse[4] * angular[1] + inverse[5] * angular[2],
        inverse[6] * angular[0] + inverse[7] * angular[1] + inverse[8] * angular[2],
    )


@subkernel
def let_collide(joints, joint_state, excluded_pairs):
    """Take the pairs off those that do not collide of which no joint holds any more.

    Parameters
    ----------
    joints : JointArrays
        Read.
    joint_state : JointStateArrays
        Read.
    excluded_pairs : int64 [excluded_count]
        Sorted, and NO_PAIR behind them; written.
    """
    if not _is_left_out(joints, joint_state, excluded_pairs):
        return
    kept = 0
    for place in range(excluded_pairs.size):
        key, is_of_joints, holds = excluded_pairs[place], False, False
        if key == NO_PAIR:
            break
        for joint in range(joints.body_a.size):
            if joints.excluded_key[joint] == key:
                is_of_joints = True
                holds = holds or (joint_state.enabled[joint] and not joint_state.broken[joint])
        if holds or not is_of_joints:
            excluded_pairs[kept] = key
            kept += 1
    for place in range(kept, excluded_pairs.size):
        excluded_pairs[place] = NO_PAIR


@subkernel
def _is_left_out(joints, joint_state, excluded_pairs):
    """Whether the pair of a broken joint does not collide yet: in nearly all substeps there is none."""
    for joint in range(joints.body_a.size):
        key, low, high = joints.excluded_key[joint], np.int64(0), np.int64(excluded_pairs.size)
        if not joint_state.broken[joint] or key < 0:
            continue
        while low < high:
            middle = (low + high) // 2
            if excluded_pairs[middle] < key:
                low = middle + 1
            else:
                high = middle
        if low < excluded_pairs.size and excluded_pairs[low] == key:
            return True
    return False


@subkernel
def keep_loads(joints, joint_state, h, impact_time):
    """Note what the next substep's loads are measured from, and the largest ones of the frame."""
    for joint in range(joints.body_a.size):
        if joint_state.broken[joint] or joint_state.block[joint] < 0:
            continue
        _note_peak(joint_state, joint)
        last, earlier = joint_state.hit_impulse[joint, 0], joint_state.hit_impulse[joint, 1]
        spread = joint_state.spread[joint] if joint < joint_state.spread.size else 1.0
        kept = max(0.0, 1.0 - h / (spread * impact_time))
        for axis in range(6):
            if _is_hit(joint_state, joint):
                earlier[axis] = kept * (earlier[axis] + last[axis])
                last[axis] = h * (joint_state.force[joint, axis] - joint_state.steady[joint, axis])
            else:
                earlier[axis] = last[axis] = 0.0
                joint_state.steady[joint, axis] = joint_state.force[joint, axis]


@subkernel
def _note_peak(joint_state, joint):
    for part in range(2):
        joint_state.peak[joint, part] = max(joint_state.peak[joint, part], joint_state.load[joint, part])
    if joint_state.stress.shape[0] > 0:
        joint_state.peak_stress[joint] = max(joint_state.peak_stress[joint], joint_state.stress[joint])


@subkernel
def _is_hit(joint_state, joint):
    return joint_state.is_hit[joint_state.island[joint]]


@subkernel
def _load(joint_state, joint, axis, h, impact_time):
    """What counts of one axis [N, N m]."""
    force, steady, before = (
        joint_state.force[joint, axis],
        joint_state.steady[joint, axis],
        joint_state.hit_impulse[joint],
    )
    if not _is_hit(joint_state, joint):
        return force
    return steady + (h * (force - steady) + before[0, axis] + before[1, axis]) / impact_time


@subkernel
def _overload(joint_state, joint):
    """How many times what it bears a joint's load is: above 1 it breaks; any is too much for what bears none."""
    if joint_state.broken[joint] or joint_state.block[joint] < 0:
        return 0.0
    overload = 0.0
    for part in range(2):
        load, bears = joint_state.load[joint, part], joint_state.breaking[joint, part]
        if load > 0.0:
            overload = max(overload, load / bears if bears > 0.0 else math.inf)
    if joint_state.stress.shape[0] > 0:
        overload = max(overload, joint_state.stress[joint])
    return overload
