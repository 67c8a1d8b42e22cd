"""Sleep: islands that have stood still for a while are left out of the steps until something wakes them.

A body is at rest once it has stayed for a second within a hair of one pose, and below the two speeds that it is given
(``ModelArrays.sleep_speed``, Blender's deactivation thresholds). What falls, creeps or tips leaves the hair's breadth,
however slow it is: in a time T a body that nothing holds goes g T^2 / 2, and the breadth is a small share of that as
well as of the body's size. An island falls asleep when all of its bodies are at rest and nothing that it touches is
driven.

A sleeping body acts as a static one: collision sees no pair of it with others that do not move, so it makes no contact
and no row. Its island wakes as a whole, before the contacts of the substep are solved,

- when a contact joins it with a body that is awake (also one that may come near in this substep),
- when a driven body that moves, or one that was changed from outside, comes near: by the bounds of their shapes,
- when gravity changes, or one of its own bodies is changed.

So nothing rests on what is asleep but what is asleep itself, and no force ever acts on a sleeping body.
"""

import math
from typing import NamedTuple

import numpy as np

from ...compiled.kernel import subkernel
from ...geometry.rotation_kernels import multiply
from ...model.joints.joint_arrays import WORLD
from ...model.model import BodyKind, Model
from ...model.state import DYNAMIC, KINEMATIC, STATIC

# A body must be at rest for this long before it falls asleep [s].
TIME_TO_SLEEP = 1.0
# How far its points may stray from where they were, as a share of its size ...
_RATIO_STRAY = 1e-4
# ... and of g T^2, with T the time above.
_RATIO_FALL = 1e-5
# A driven body moves if it goes farther in a substep than this share of its size and of its distance from the origin:
# rounding of its keyed pose is some 1e-15 of these.
_RATIO_DRIVEN = 1e-11


class SleepArrays(NamedTuple):
    """Who sleeps, and how long who has been at rest; carried from frame to frame.

    Attributes
    ----------
    sleeping_count, changed_count : int64 [1]
        Bodies that sleep; bodies that were changed.
    group : int64 [body_count]
        The lowest body of the island that a sleeping body fell asleep with; -1: awake.
    changed : bool [body_count]
        Whether a body was changed from outside since the last substep.
    time_at_rest : float64 [body_count]
        [s].
    rest_position, rest_orientation : float64 [body_count, 3], [body_count, 4]
        The pose around which a body has stayed for that time.
    """

    sleeping_count: np.ndarray
    changed_count: np.ndarray
    group: np.ndarray
    changed: np.ndarray
    time_at_rest: np.ndarray
    rest_position: np.ndarray
    rest_orientation: np.ndarray


def allocate_sleep(body_count: int) -> SleepArrays:
    """Everybody awake."""
    return SleepArrays(
        sleeping_count=np.zeros(1, np.int64),
        changed_count=np.zeros(1, np.int64),
        group=np.full(body_count, -1, np.int64),
        changed=np.zeros(body_count, np.bool_),
        time_at_rest=np.zeros(body_count),
        # no pose is near NaN: the first frame notes where the bodies are
        rest_position=np.full((body_count, 3), np.nan),
        rest_orientation=np.full((body_count, 4), np.nan),
    )


# What Python does between frames


def put_to_sleep(sleep: SleepArrays, kind, groups) -> None:
    """Let bodies sleep from now on.

    Parameters
    ----------
    sleep : SleepArrays
    kind : int64 [body_count]
        As the step sees it; written.
    groups : int64 [body_count]
        As ``SleepArrays.group``; -1 leaves a body as it is.
    """
    chosen = groups >= 0
    sleep.group[chosen] = groups[chosen]
    kind[chosen] = BodyKind.STATIC.value
    sleep.sleeping_count[0] = np.count_nonzero(sleep.group >= 0)


def wake_all(sleep: SleepArrays, kind) -> None:
    """Wake everybody, and begin their times at rest anew.

    Parameters
    ----------
    sleep : SleepArrays
    kind : int64 [body_count]
        As the step sees it; written.
    """
    kind[sleep.group >= 0] = BodyKind.DYNAMIC.value
    sleep.group[:] = -1
    sleep.sleeping_count[0] = 0
    sleep.time_at_rest[:] = 0.0


def wake_groups_of(sleep: SleepArrays, kind, bodies) -> None:
    """Wake the islands of these bodies, and note that these bodies have been changed.

    Parameters
    ----------
    sleep : SleepArrays
    kind : int64 [body_count]
        As the step sees it; written.
    bodies : bool [body_count]
    """
    group = sleep.group
    woken = np.isin(group, np.unique(group[bodies & (group >= 0)]))
    kind[woken] = BodyKind.DYNAMIC.value
    group[woken] = -1
    sleep.time_at_rest[woken | bodies] = 0.0
    sleep.changed[bodies] = True
    sleep.sleeping_count[0], sleep.changed_count[0] = np.count_nonzero(group >= 0), np.count_nonzero(sleep.changed)


def wake_near_shapes(sleep: SleepArrays, kind, shapes, tree, changed, reach) -> None:
    """Wake bodies whose bounds of the last substep come near those of some shapes.

    Parameters
    ----------
    sleep, kind
        As of ``wake_groups_of``.
    shapes : ShapeArrays
    tree : TreeArrays
    changed : iterable of int
        Those shapes.
    reach : float
        [m].
    """
    bounds, near = tree.bounds, np.zeros(len(kind), bool)
    for shape in changed:
        overlaps = (bounds[:, 0] <= bounds[shape, 1] + reach) & (bounds[:, 1] >= bounds[shape, 0] - reach)
        near[shapes.body[overlaps.all(axis=1)]] = True
    wake_groups_of(sleep, kind, near)


def who_starts_asleep(model: Model) -> np.ndarray:
    """Bodies that start asleep, bool [body_count]; one that waits does not sleep: nothing of sleep wakes it."""
    asleep = model.starts_asleep & (model.initial_state.kind == BodyKind.DYNAMIC)
    waits = model.arrays.activation.waits
    return asleep & ~waits if waits.size else asleep


def groups_that_touch(model: Model, body_a, body_b) -> np.ndarray:
    """Groups of the bodies that start asleep: those that are connected by contacts.

    Parameters
    ----------
    model : Model
    body_a, body_b : int64 [contact_count]
        Bodies of the contacts at the start.

    Returns
    -------
    int64 [body_count]
        The lowest body of each one's group; -1 for bodies that start awake.
    """
    asleep = who_starts_asleep(model)
    joined = asleep[body_a] & asleep[body_b]
    first, second = body_a[joined], body_b[joined]
    lowest = np.arange(model.body_count)
    while not np.array_equal(lowest[first], lowest[second]):
        lower = np.minimum(lowest[first], lowest[second])
        # for the bodies themselves, and for those that stand for their groups
        for body in (first, second):
            np.minimum.at(lowest, lowest[body], lower)
            np.minimum.at(lowest, body, lower)
        lowest = lowest[lowest]
    return np.where(asleep, lowest, -1)


# What the step does


@subkernel
def is_driven(kind, velocity, position, size, h, body):
    """Whether a kinematic body really moves in a substep."""
    if kind[body] != KINEMATIC:
        return False
    reach = size[body] + abs(position[body, 0]) + abs(position[body, 1]) + abs(position[body, 2])
    speed = math.sqrt(velocity[body, 0] ** 2 + velocity[body, 1] ** 2 + velocity[body, 2] ** 2)
    spin = math.sqrt(velocity[body, 3] ** 2 + velocity[body, 4] ** 2 + velocity[body, 5] ** 2)
    return h * (speed + size[body] * spin) > _RATIO_DRIVEN * reach


@subkernel(inline=True)
def wake_near_driven(model, state, sleep, tree, h):
    """Wake the islands that a driven body, or one changed from outside, may touch in this substep.

    Parameters
    ----------
    model : ModelArrays
        Read.
    state : StateArrays
        Read; kind written.
    sleep : SleepArrays
        Read and written.
    tree : TreeArrays
        ``bounds`` along this substep and ``margin`` (read).
    h : float
        [s].

    Returns
    -------
    bool
        Whether any island has woken.
    """
    woken = False
    if sleep.sleeping_count[0] == 0:
        return woken
    group, changed, body_of = sleep.group, sleep.changed, model.shapes.body
    for one in range(body_of.size):
        mover = body_of[one]
        if not changed[mover] and not is_driven(state.kind, state.velocity, state.position, model.size, h, mover):
            continue
        for two in range(body_of.size):
            body = body_of[two]
            if (
                group[body] >= 0
                and (model.collision_mask[body] & model.collision_mask[mover]) != 0
                and are_near(tree.bounds, tree.margin, one, two)
            ):
                _wake(group[body], state.kind, sleep)
                woken = True
    return woken


@subkernel
def are_near(bounds, margin, one, two):
    """Whether two shapes' bounds along the substep are within their margin of each other."""
    allowed = 2.0 * min(margin[one], margin[two])
    for axis in range(3):
        if bounds[one, 0, axis] - bounds[two, 1, axis] > allowed:
            return False
        if bounds[two, 0, axis] - bounds[one, 1, axis] > allowed:
            return False
    return True


@subkernel(inline=True)
def wake_touched(contacts, kind, sleep):
    """Wake the islands that a contact joins with a body that is awake.

    Parameters
    ----------
    contacts : ContactArrays
        Of this substep (read).
    kind : int64 [body_count]
        Read and written.
    sleep : SleepArrays
        Read and written.

    Returns
    -------
    bool
        Whether any island has woken.
    """
    woken = False
    if sleep.sleeping_count[0] == 0:
        return woken
    group = sleep.group
    for contact in range(contacts.count[0]):
        a, b = contacts.body_a[contact], contacts.body_b[contact]
        # of two bodies that make a contact one is dynamic, and a sleeping one is not
        sleeper = a if group[a] >= 0 else b
        if group[sleeper] >= 0:
            _wake(group[sleeper], kind, sleep)
            woken = True
    return woken


@subkernel
def wake_joined(model, joint_state, state, sleep, h):
    """Wake the islands that a joint ties to a body that is awake, or driven.

    Parameters
    ----------
    model : ModelArrays
        Read.
    joint_state : JointStateArrays
        Read: enabled, broken.
    state : StateArrays
        Read; kind written.
    sleep : SleepArrays
        Read and written.
    h : float
        [s].

    Returns
    -------
    bool
        Whether any island has woken.
    """
    woken = False
    joints, group = model.joints, sleep.group
    for joint in range(joints.body_a.size):
        a, b = joints.body_a[joint], joints.body_b[joint]
        if b == WORLD or not joint_state.enabled[joint] or joint_state.broken[joint]:
            continue
        for sleeper, other in ((a, b), (b, a)):
            moves = state.kind[other] == DYNAMIC or is_driven(
                state.kind, state.velocity, state.position, model.size, h, other
            )
            if group[sleeper] >= 0 and moves:
                _wake(group[sleeper], state.kind, sleep)
                woken = True
    return woken


@subkernel
def wake_body(body, kind, sleep):
    """Wake the group of a body, if it sleeps."""
    if sleep.group[body] >= 0:
        _wake(sleep.group[body], kind, sleep)


@subkernel
def _wake(chosen, kind, sleep):
    """Wake one group."""
    group = sleep.group
    for body in range(group.size):
        if group[body] == chosen:
            group[body] = -1
            kind[body] = DYNAMIC
            sleep.time_at_rest[body] = 0.0
            sleep.sleeping_count[0] -= 1


@subkernel(inline=True)
def forget_changes(sleep):
    """What was changed from outside has had its effect."""
    if sleep.changed_count[0] > 0:
        sleep.changed_count[0] = 0
        sleep.changed[:] = False


@subkernel(inline=True)
def fall_asleep(model, state, sleep, rows, islands, gravity_norm, duration, h):
    """Count the time that bodies have been at rest, and let islands fall asleep; once a frame.

    Parameters
    ----------
    model : ModelArrays
        Read.
    state : StateArrays
        Read; kind and velocity of bodies that fall asleep written.
    sleep : SleepArrays
        Read and written.
    rows, islands : RowArrays, IslandArrays
        Of the frame's last substep (read).
    gravity_norm, duration, h : float
        [m/s^2]; of the frame and of a substep [s].
    """
    fall = math.inf if gravity_norm == 0.0 else _RATIO_FALL * gravity_norm * TIME_TO_SLEEP**2
    for body in range(state.kind.size):
        if state.kind[body] == DYNAMIC:
            _count_time_at_rest(model, state, sleep, body, fall, duration)
    for island in range(islands.count[0]):
        if _is_at_rest(model, state, sleep.time_at_rest, rows, islands, island, h):
            first = islands.body_first[island]
            # body_order is sorted within an island
            lowest = islands.body_order[first]
            for index in range(first, islands.body_first[island + 1]):
                body = islands.body_order[index]
                sleep.group[body] = lowest
                sleep.sleeping_count[0] += 1
                state.kind[body] = STATIC
                state.velocity[body, :] = 0.0


@subkernel
def _count_time_at_rest(model, state, sleep, body, fall, duration):
    """Add a frame to a body's time at rest, or begin it anew where the body has left its place."""
    velocity, position, orientation = state.velocity[body], state.position[body], state.orientation[body]
    rest_position, rest_orientation = sleep.rest_position[body], sleep.rest_orientation[body]
    speed = math.sqrt(velocity[0] ** 2 + velocity[1] ** 2 + velocity[2] ** 2)
    spin = math.sqrt(velocity[3] ** 2 + velocity[4] ** 2 + velocity[5] ** 2)
    w, x, y, z = orientation
    rest_w, rest_x, rest_y, rest_z = rest_orientation
    _, a, b, c = multiply(w, x, y, z, rest_w, -rest_x, -rest_y, -rest_z)
    shift = math.sqrt(
        (position[0] - rest_position[0]) ** 2
        + (position[1] - rest_position[1]) ** 2
        + (position[2] - rest_position[2]) ** 2
    )
    # the sine of half the angle; a body's far points are some half its size off
    stray = shift + model.size[body] * math.sqrt(a * a + b * b + c * c)
    is_slow = speed < model.sleep_speed[body, 0] and spin < model.sleep_speed[body, 1]
    if is_slow and stray <= min(_RATIO_STRAY * model.size[body], fall):
        sleep.time_at_rest[body] += duration
        return
    sleep.time_at_rest[body] = 0.0
    for axis in range(3):
        rest_position[axis] = position[axis]
    for entry in range(4):
        rest_orientation[entry] = orientation[entry]


@subkernel
def _is_at_rest(model, state, time_at_rest, rows, islands, island, h):
    """Whether all bodies of an island have been at rest for long enough, and nothing that they touch is driven."""
    for index in range(islands.body_first[island], islands.body_first[island + 1]):
        if time_at_rest[islands.body_order[index]] < TIME_TO_SLEEP:
            return False
    for index in range(islands.block_first[island], islands.block_first[island + 1]):
        block = islands.block_order[index]
        for body in (rows.body_a[block], rows.body_b[block]):
            if is_driven(state.kind, state.velocity, state.position, model.size, h, body):
                return False
    return True
