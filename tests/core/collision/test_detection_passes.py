"""Later detection passes: what they take over is what they would make, and pairs that they skip stay apart."""

import numpy as np
import pytest
from reference_collision import SUBSTEP, Collider, about, rotation, run_stage, signed_distance

from cairn.solver_core.collision.data.contact_arrays import allocate_contacts, allocate_pairs
from cairn.solver_core.collision.data.workspace import RATIO_MARGIN
from cairn.solver_core.collision.detection_passes import clear_pass_history, place_end_poses, repeat_pairs
from cairn.solver_core.collision.distance.shape_distance import RATIO_FAST
from cairn.solver_core.compiled.kernel import kernel
from cairn.solver_core.dynamics.schedule.stage_table import BROAD_PHASE, NARROW_PHASE
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.model import BodyKind

BODIES = 60
ROOM = 2000, 12000
WRITTEN = (
    "shape_a",
    "shape_b",
    "body_a",
    "body_b",
    "gap",
    "matched",
    "position",
    "normal",
    "local_normal",
    "local_a",
    "local_b",
    "surface_velocity",
    "toi_offset",
    "unrelaxed_gap",
)
CACHED = "contact_start", "contact_count", "reference", "feature", "is_curved", "is_recycled", "end_pose_count"


@kernel
def call_place_end_poses(shape_body, velocity, h, workspace):
    """Of the step."""
    place_end_poses(shape_body, velocity, h, workspace)


@kernel
def call_forget_end_poses(pairs):
    """Of the step."""
    clear_pass_history(pairs)


@kernel
def call_repeat_pairs(previous_pass_pairs, pairs):
    """Of the step."""
    repeat_pairs(previous_pass_pairs, pairs)


def heap(rng, shapes) -> Collider:
    """Bodies that touch, overlap a little and are near each other, some of them moving, with a substep behind them."""
    bodies = [{"shape": Box((9, 9, 0.5)), "position": (0, 0, -0.5), "kind": BodyKind.STATIC}]
    for index in range(BODIES):
        place = rng.uniform(-1, 1, 3) * (1.6, 1.6, 0.8) + (0, 0, 1)
        bodies.append({"shape": shapes[index % len(shapes)], "position": place, "orientation": rng.normal(size=4)})
    collider = Collider(bodies, gravity_norm=9.81, pair_capacity=ROOM[0], contact_capacity=ROOM[1])
    collider.state.velocity[1:] = rng.normal(size=(BODIES, 6)) * rng.choice([0.01, 0.3, 3.0], (BODIES, 1))
    collider.step()
    collider.state.position[1:] += rng.normal(size=(BODIES, 3)) * rng.choice([0.0, 1e-4, 0.01], (BODIES, 1))
    return collider.step()


def look_again(collider, surplus, led, previous_pass_pairs, previous_pass, *, same_pairs=False):
    """Pairs and contacts of another look at the poses of the last step, with more reach and contacts of the end."""
    workspace, step = collider.workspace, collider.step_scalars
    previous = collider.pairs[1], collider.contacts[1]
    pairs, contacts = allocate_pairs(ROOM[0]), allocate_contacts(ROOM[1])
    predicted = workspace.predicted
    predicted.velocity[:], predicted.surplus[:], predicted.detection_pass[:] = led, surplus, 1
    if same_pairs:
        call_repeat_pairs(collider.pairs[0], pairs)
    else:
        run_stage(collider, BROAD_PHASE, pairs, contacts, previous, previous)
        call_forget_end_poses(pairs)
    call_place_end_poses(collider.model.arrays.shapes.body, led, step.h, workspace)
    status = run_stage(collider, NARROW_PHASE, pairs, contacts, previous, (previous_pass_pairs, previous_pass))
    assert status == 0
    return pairs, contacts


def assert_same(one, other):
    """Two looks found the same, to the bit."""
    (pairs, contacts), (other_pairs, other_contacts) = one, other
    count, contact_count = pairs.count[0], contacts.count[0]
    assert other_pairs.count[0] == count
    assert other_contacts.count[0] == contact_count
    for name in ("shape_a", "shape_b", "reach", *CACHED):
        np.testing.assert_array_equal(getattr(pairs, name)[:count], getattr(other_pairs, name)[:count])
    for name in WRITTEN:
        expected = getattr(other_contacts, name)[:contact_count]
        np.testing.assert_array_equal(getattr(contacts, name)[:contact_count], expected, err_msg=name)


SHAPES = {
    "boxes": [Box((0.3, 0.25, 0.2)), Box((0.2, 0.2, 0.2)), Box((0.5, 0.1, 0.15))],
    "mixed": [
        Box((0.3, 0.25, 0.2)),
        Sphere(0.25),
        ConvexHull.from_points(np.random.default_rng(5).normal(size=(12, 3)) * 0.2),
    ],
}


@pytest.mark.parametrize("same_pairs", [False, True])
@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("seed", range(4))
def test_contacts_taken_over_are_those_made_anew(shapes, seed, same_pairs):
    """To the bit, contacts of the end included; and many are taken over: a mark on the looked ones comes along."""
    rng = np.random.default_rng(seed)
    collider = heap(rng, SHAPES[shapes])
    pushed = rng.choice([0.0, 0.05, 8.0], (BODIES + 1, 1))
    led = collider.state.velocity + rng.normal(size=(BODIES + 1, 6)) * pushed
    surplus = np.zeros(BODIES + 1) if same_pairs else rng.choice([0.0, 1e-3, 0.02], BODIES + 1)
    led[0], surplus[0] = 0.0, 0.0
    none = allocate_pairs(1), allocate_contacts(1)
    previous_pass = collider.pairs[0], collider.contacts[0]
    taken_over = look_again(collider, surplus, led, *previous_pass, same_pairs=same_pairs)
    anew = look_again(collider, surplus, led, *none, same_pairs=same_pairs)
    assert_same(taken_over, anew)
    assert np.any(anew[0].end_pose_count[: anew[0].count[0]] > 0)
    previous_pass[1].shape_a[:] += 1000
    marked = look_again(collider, surplus, led, *previous_pass, same_pairs=same_pairs)[1]
    pairs, count = anew[0], anew[0].count[0]
    size = collider.workspace.size
    # Reach is the approach and a margin; below 0 they meet on their ways.
    slow = RATIO_FAST + RATIO_MARGIN
    is_slow = (pairs.reach[:count] >= 0.0) & (
        pairs.reach[:count] <= slow * np.minimum(size[pairs.shape_a[:count]], size[pairs.shape_b[:count]])
    )
    made = (
        ~pairs.is_recycled[:count] & (pairs.contact_count[:count] > 0) & (pairs.end_pose_count[:count] == 0) & is_slow
    )
    fraction = np.mean(marked.shape_a[pairs.contact_start[:count][made]] >= 1000)
    assert fraction >= (1.0 if same_pairs else 0.4 if shapes == "boxes" else 0.1)


def test_contacts_taken_over_know_their_places_in_the_last_look():
    """There the solver's impulses of that look are; contacts that were made anew have none."""
    rng = np.random.default_rng(1)
    collider = heap(rng, SHAPES["boxes"])
    previous_pass_pairs, previous_pass = collider.pairs[0], collider.contacts[0]
    surplus = rng.choice([0.0, 1e-3, 0.02], BODIES + 1)
    previous_pass.shape_a[:] += 1000
    pairs, contacts = look_again(collider, surplus, np.zeros((BODIES + 1, 6)), previous_pass_pairs, previous_pass)
    known = made = 0
    for pair_number in range(pairs.count[0]):
        start, count = pairs.contact_start[pair_number], pairs.contact_count[pair_number]
        if count == 0:
            continue
        if contacts.shape_a[start] < 1000:
            assert pairs.previous_pass_count[pair_number] == 0
            made += 1
            continue
        assert pairs.previous_pass_count[pair_number] == count
        there = slice(pairs.previous_pass_start[pair_number], pairs.previous_pass_start[pair_number] + count)
        for name in ("shape_a", "shape_b", "position", "normal", "gap"):
            np.testing.assert_array_equal(
                getattr(contacts, name)[start : start + count], getattr(previous_pass, name)[there]
            )
        known += 1
    assert known > 20
    assert made > 5


def test_pairs_that_the_last_look_recycled_are_not_taken_over():
    """Their points are the last substep's, and are measured from there again."""
    floor = {"shape": Box((9, 9, 0.5)), "position": (0, 0, -0.5), "kind": BodyKind.STATIC}
    collider = Collider([floor, {"shape": Box((0.5, 0.5, 0.5)), "position": (0, 0, 0.5)}]).step().step()
    collider.contacts[0].shape_a[:] = 1000
    pairs, contacts = look_again(collider, 0.0, np.zeros((2, 6)), collider.pairs[0], collider.contacts[0])
    assert pairs.is_recycled[0]
    np.testing.assert_array_equal(contacts.matched[:4], range(4))
    np.testing.assert_array_equal(contacts.shape_a[:4], 0)


def test_a_full_buffer_is_not_overrun_by_what_is_taken_over():
    """``needed`` says how many contacts there would have been."""
    collider = heap(np.random.default_rng(0), SHAPES["boxes"])
    count = int(collider.contacts[0].count[0])
    workspace, small = collider.workspace, allocate_contacts(count - 3)
    workspace.predicted.detection_pass[:] = 1
    pairs = allocate_pairs(ROOM[0])
    call_repeat_pairs(collider.pairs[0], pairs)
    small.gap[-1] = np.nan
    previous, previous_pass = ((collider.pairs[place], collider.contacts[place]) for place in (1, 0))
    status = run_stage(collider, NARROW_PHASE, pairs, small, previous, previous_pass)
    assert status == 1
    assert small.needed[0] == count
    assert small.count[0] <= len(small.gap)


def test_same_pairs_keep_what_was_noted_of_them():
    """The list, the contacts of the last look, and who met at the end."""
    previous_pass, pairs = allocate_pairs(5), allocate_pairs(5)
    previous_pass.count[0] = 3
    previous_pass.shape_a[:3], previous_pass.shape_b[:3] = (0, 0, 1), (1, 2, 2)
    previous_pass.previous_pass_start[:3], previous_pass.previous_pass_count[:3] = 4, 2
    previous_pass.end_pose_count[:3] = 0, 1, 0
    call_repeat_pairs(previous_pass, pairs)
    assert pairs.count[0] == 3
    for name in ("shape_a", "shape_b", "previous_pass_start", "previous_pass_count", "end_pose_count"):
        np.testing.assert_array_equal(getattr(pairs, name)[:3], getattr(previous_pass, name)[:3])


# ---- pairs without contacts


def corners_in_world(collider, body, half):
    """Corners of a box where it is."""
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, 8).T
    turn = rotation(collider.state.orientation[body])
    return collider.state.position[body] + (signs * half) @ turn.T


def test_boxes_without_contacts_are_farther_apart_than_noted():
    """The distance is not below ``cull_distance``, also of recycled pairs; and this is often far above ``reach``."""
    rng = np.random.default_rng(3)
    half = np.array([0.3, 0.2, 0.25])
    collider = heap(rng, [Box(half)])
    shown = farther = recycled = 0
    for _ in range(3):
        collider.state.position[1:] += rng.normal(size=(BODIES, 3)) * 1e-3
        collider.step()
        pairs = collider.pairs[0]
        for pair_number in range(pairs.count[0]):
            a, b = pairs.shape_a[pair_number], pairs.shape_b[pair_number]
            if a == 0 or pairs.contact_count[pair_number] > 0 or pairs.reach[pair_number] < 0.0:
                continue
            corners = [corners_in_world(collider, body, half) for body in (a, b)]
            assert signed_distance(*corners)[0] >= pairs.cull_distance[pair_number] - 1e-9
            shown += 1
            recycled += pairs.is_recycled[pair_number]
            farther += pairs.cull_distance[pair_number] > pairs.reach[pair_number] + RATIO_MARGIN * 0.6
    assert shown > 50
    assert recycled > 20
    assert farther > 20


@pytest.mark.parametrize(("speed", "meets"), [(2.0, False), (3.0, True)])
def test_a_pair_without_contacts_meets_at_the_end_where_it_is_led_there(speed, meets):
    """Two boxes 2.5 cm apart that stand still: led together by 2.1 cm they keep 4 mm, led by 3.1 cm they do not.

    They are turned, so that their bounds overlap. Their own velocities ask for no reach.
    """
    half, gap = 0.2, 0.025
    direction = np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0)
    turned = {"shape": Box((half, half, half)), "orientation": about((0, 0, 1), np.pi / 4)}
    collider = Collider([turned, turned | {"position": (2 * half + gap) * direction}]).step()
    assert collider.pairs[0].cull_distance[0] == pytest.approx(gap)
    led = np.zeros((2, 6))
    led[1, :3] = -speed * direction
    pairs, contacts = look_again(collider, 0.0, led, collider.pairs[0], collider.contacts[0])
    assert pairs.count[0] == 1
    assert (gap - speed * SUBSTEP < RATIO_MARGIN * 2 * half) == meets
    assert pairs.end_pose_count[0] == (4 if meets else 0)
    assert contacts.count[0] == (4 if meets else 0)


@pytest.mark.parametrize("speed", [-3.0, 0.0, 0.5])
def test_contacts_of_the_end_stay_while_they_hold(speed):
    """What one look made at the end holds boxes apart: a later one that leads them apart, or nowhere, repeats it."""
    half, gap = 0.2, 0.025
    direction = np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0)
    turned = {"shape": Box((half, half, half)), "orientation": about((0, 0, 1), np.pi / 4)}
    collider = Collider([turned, turned | {"position": (2 * half + gap) * direction}]).step()
    led = np.zeros((2, 6))
    led[1, :3] = -3.0 * direction
    previous_pass = look_again(collider, 0.0, led, collider.pairs[0], collider.contacts[0])
    cached = previous_pass[0]
    assert cached.end_pose_count[0] == cached.contact_count[0] == 4
    cached.previous_pass_start[0], cached.previous_pass_count[0] = cached.contact_start[0], cached.contact_count[0]
    call_repeat_pairs(cached, collider.pairs[0])
    led[1, :3] = -speed * direction
    pairs, contacts = look_again(collider, 0.0, led, *previous_pass, same_pairs=True)
    assert pairs.end_pose_count[0] == contacts.count[0] == 4
    assert pairs.reach[0] < 0.0
    for name in WRITTEN:
        np.testing.assert_array_equal(getattr(contacts, name)[:4], getattr(previous_pass[1], name)[:4], err_msg=name)


def test_no_pair_that_comes_near_at_the_end_is_skipped():
    """Bodies are led about, and turned by a tenth of a radian: pairs that have no contacts after all are farther apart
    at the end than the margin. The distances are those of least squares.
    """
    half = np.array([0.35, 0.1, 0.2])
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, 8).T
    margin = RATIO_MARGIN * 2 * half.max()
    distances = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        collider = heap(rng, [Box(half)])
        led = collider.state.velocity + rng.normal(size=(BODIES + 1, 6)) * ([2.0] * 3 + [8.0] * 3)
        led[0] = 0.0
        pairs, _ = look_again(collider, 0.0, led, collider.pairs[0], collider.contacts[0])
        for pair_number in range(pairs.count[0]):
            a, b = pairs.shape_a[pair_number], pairs.shape_b[pair_number]
            if a > 0 and pairs.contact_count[pair_number] == 0 and pairs.reach[pair_number] >= 0.0:
                poses = collider.workspace.predicted.shape_pose[[a, b]]
                corners = ((signs * half) @ pose[:3].T + pose[3] for pose in poses)
                distances.append(signed_distance(*corners)[0])
    assert len(distances) > 300
    assert min(distances) > margin * (1 - 1e-9)
    assert min(distances) < 3 * margin
