"""Contacts from step to step: recycling misses nothing, matching keeps identity, buffers hold, bits repeat."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import reference_collision
from reference_collision import SUBSTEP, Collider, about, rotation

from cairn.solver_core.collision.data.contact_arrays import STATUS_CAPACITY, STATUS_OK, allocate_contacts, grown
from cairn.solver_core.collision.data.workspace import FACE_OF_B, RATIO_MARGIN
from cairn.solver_core.collision.pair_cache import RATIO_RECYCLE
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.model import BodyKind

FLOOR = {"shape": Box((5, 5, 0.5)), "position": (0, 0, -0.5), "kind": BodyKind.STATIC}
CUBE = Box((0.5, 0.5, 0.5))
CORNERS = ConvexHull.from_box((0.5, 0.5, 0.5)).vertices


def on_floor(shape=CUBE, position=(0, 0, 0.5), **options) -> Collider:
    return Collider([FLOOR, {"shape": shape, "position": position}], **options).step()


# ---- recycling


def test_contacts_of_bodies_at_rest_stay_to_the_bit():
    """Nothing moves: the same points, normals and gaps, each older by a step."""
    collider = on_floor()
    first = collider.manifold()
    for step in range(1, 5):
        again = collider.step().manifold()
        assert again.is_recycled
        np.testing.assert_array_equal(again.local_a, first.local_a)
        np.testing.assert_array_equal(again.local_b, first.local_b)
        np.testing.assert_array_equal(again.normal, first.normal)
        np.testing.assert_array_equal(again.age, step)


def test_small_motion_keeps_points_and_measures_gaps_anew():
    """A box that sinks, slides and tilts a little: fixed points in both bodies, gaps exact to the tilt squared."""
    collider = on_floor()
    first = collider.manifold()
    tilt = 3e-4
    turn = about((1, 0, 0), tilt)
    collider.place(1, (1e-4, 0, 0.5 - 1e-4), turn)
    manifold = collider.step().manifold()
    assert manifold.is_recycled
    np.testing.assert_array_equal(manifold.local_b, first.local_b)
    heights = (CORNERS[:4] @ rotation(turn).T)[:, 2] + 0.5 - 1e-4
    np.testing.assert_allclose(np.sort(manifold.gap), np.sort(heights), atol=tilt**2)


@pytest.mark.parametrize("shift", [(0.003, 0, 0), (0, 0, 0.003), (0, 0, -0.003)])
def test_larger_motion_makes_new_contacts(shift):
    """Beyond the tolerance the points are those of the new pose, exactly."""
    collider = on_floor()
    collider.place(1, np.array([0, 0, 0.5]) + shift)
    manifold = collider.step().manifold()
    assert not manifold.is_recycled
    np.testing.assert_allclose(manifold.gap, shift[2], atol=1e-12)
    np.testing.assert_allclose(np.sort(manifold.local_b[:, 0]), (-0.5, -0.5, 0.5, 0.5), atol=1e-12)


def test_many_small_motions_add_up():
    """A creeping box: its contacts never lag behind by more than the tolerance."""
    collider = on_floor()
    for step in range(200):
        collider.place(1, (0.0005 * step, 0, 0.5))
        manifold = collider.step().manifold()
        lag = np.abs(np.sort(manifold.position[:, 0]) - np.array([-0.5, -0.5, 0.5, 0.5]) - 0.0005 * step).max()
        assert lag <= RATIO_RECYCLE * 1.01


@pytest.mark.parametrize("speed", [0.02, 0.3, 3.0])
def test_a_tipping_box_gets_its_four_corners_before_they_touch(speed):
    """A box turns about a lower edge onto the floor: no corner goes below the floor without a contact of its own."""
    collider = on_floor()
    step_angle = speed * SUBSTEP
    angle, previous = 0.3, None
    while angle > -1e-3:
        # About the edge along y at x = 0.5, z = 0.
        turn = about((0, 1, 0), angle)
        center = np.array([0.5, 0, 0]) + rotation(turn) @ np.array([-0.5, 0, 0.5])
        collider.place(1, center, turn)
        if previous is not None:
            collider.state.velocity[1, :3] = (center - previous) / SUBSTEP
            collider.state.velocity[1, 3:] = (0, -speed, 0)
        previous = center
        manifold = collider.step().manifold()
        heights = (CORNERS @ rotation(turn).T + center)[:, 2]
        # Corners that this step's motion may bring to the floor are among the contacts.
        assert np.sum(heights <= step_angle) <= len(manifold.gap), (angle, manifold)
        assert manifold.gap.min() == pytest.approx(heights.min(), abs=RATIO_RECYCLE**2)
        angle -= step_angle
    assert len(manifold.gap) == 4


def test_a_box_that_comes_down_fast_after_a_rest_is_caught():
    """Recycled emptiness and recycled manifolds end as soon as speed could make up for the margin."""
    collider = on_floor(position=(0, 0, 0.515))
    assert len(collider.manifold().gap) == 0
    collider.state.velocity[1] = (0, 0, -10.0, 0, 0, 0)
    np.testing.assert_allclose(collider.step().manifold().gap, 0.015, atol=1e-12)


def test_speed_that_bodies_share_makes_no_contacts():
    """A stack in free fall and one on a turntable have the contacts, to the bit, of one at rest, and recycle them."""
    tower = [{"shape": CUBE, "position": (0, 0, float(k))} for k in range(4)]
    count = Collider(tower).step().contacts[0].count[0]
    assert count == 12
    for linear, spin in (((0, 0, -40.0), 0.0), ((0, 0, 0), 8.0)):
        moving = [{**body, "linear_velocity": linear, "angular_velocity": (0, 0, spin)} for body in tower]
        collider = Collider(moving).step()
        assert collider.contacts[0].count[0] == count
        for step in range(1, 4):
            turn = about((0, 0, 1), spin * step * SUBSTEP)
            for body in range(4):
                collider.place(body, np.array([0, 0, body]) + np.multiply(linear, step * SUBSTEP), turn)
            assert collider.step().manifold(1, 2).is_recycled


def test_a_nan_pose_touches_nothing():
    """A lost body makes no pairs and does not disturb the others'."""
    collider = on_floor()
    collider.state.position[1, 0] = np.nan
    assert collider.step().pair_list() == []


def test_a_normal_turns_with_the_body_that_has_the_face():
    """A box that stands tilted on a table; both turn together, and the table's normal with them."""
    tilt = about((1, 2, 0), 0.01)
    for order in (0, 1):
        small = {"shape": CUBE, "position": (0, 0, 1.0), "orientation": tilt}
        large = {"shape": Box((1, 1, 0.5)), "position": (0, 0, 0)}
        collider = Collider([large, small] if order == 0 else [small, large]).step()
        first = collider.manifold()
        assert first.reference == (FACE_OF_B if order else 0)
        # A turn about the tilt's own axis, so that the quaternions' product is one turn by the sum of the angles.
        turn = about((1, 2, 0), 0.4)
        collider.place(order, (0, 0, 0), turn)
        collider.place(1 - order, rotation(turn) @ np.array([0, 0, 1.0]), about((1, 2, 0), 0.41))
        manifold = collider.step().manifold()
        assert manifold.is_recycled
        np.testing.assert_allclose(manifold.normal, first.normal @ rotation(turn).T, atol=1e-12)
        np.testing.assert_allclose(manifold.gap, first.gap, atol=1e-12)


def test_the_margin_exceeds_what_recycling_allows():
    """What is recycled may have moved by RATIO_RECYCLE; features within the margin are in the manifold already."""
    assert RATIO_MARGIN >= 2 * RATIO_RECYCLE


# ---- matching


def mark_impulses(collider, a=0, b=1):
    """Give each contact an impulse of its own, as a solver would."""
    contacts = collider.contacts[0]
    for contact in range(contacts.count[0]):
        contacts.impulse[contact] = (contact + 1.0, 0.0, 10.0 * (contact + 1.0))
    return collider.manifold(a, b)


def test_impulses_follow_their_corners_when_a_box_slides():
    """New contacts at new places: each corner keeps its impulse and grows older."""
    collider = on_floor()
    before = mark_impulses(collider)
    collider.place(1, (0.02, 0.01, 0.5), about((0, 0, 1), 0.01))
    after = collider.step().manifold()
    assert not after.is_recycled
    np.testing.assert_array_equal(after.age, 1)
    for point, impulse in zip(after.local_b, after.impulse, strict=True):
        nearest = np.argmin(np.linalg.norm(before.local_b - point, axis=1))
        np.testing.assert_array_equal(impulse, before.impulse[nearest])


def test_matching_is_one_to_one():
    """From four corners to eight: four keep an impulse, four are new; and the sum is that of the four."""
    collider = Collider([{"shape": CUBE}, {"shape": CUBE, "position": (0, 0, 1.0)}]).step()
    before = mark_impulses(collider)
    collider.place(1, (0, 0, 1.0), about((0, 0, 1), 0.05))
    after = collider.step().manifold()
    assert len(after.gap) == 8
    assert sorted(after.age) == [0, 0, 0, 0, 1, 1, 1, 1]
    np.testing.assert_allclose(after.impulse.sum(axis=0), before.impulse.sum(axis=0))
    assert len(set(after.matched[after.matched >= 0])) == 4


def test_a_rolling_sphere_keeps_its_contact():
    """The point of touch wanders over both surfaces; the contact's impulse and age go with it."""
    collider = on_floor(Sphere(0.5))
    mark_impulses(collider)
    for step in range(1, 50):
        angle = 2.0 * step * SUBSTEP
        collider.place(1, (0.5 * angle, 0, 0.5), about((0, 1, 0), angle))
        manifold = collider.step().manifold()
        np.testing.assert_array_equal(manifold.age, [step])
        np.testing.assert_array_equal(manifold.impulse, [(1.0, 0.0, 10.0)])


def test_a_stack_on_a_fast_lift_keeps_its_contacts():
    """Bodies that move together by many times the matching distance in a step."""
    collider = Collider([{"shape": CUBE}, {"shape": CUBE, "position": (0, 0, 1.0)}]).step()
    mark_impulses(collider)
    turn = about((0, 0, 1), 0.7)
    collider.place(0, (30.0, 0, 0), turn)
    collider.place(1, (30.0, 0.004, 1.0), turn)
    after = collider.step().manifold()
    assert not after.is_recycled
    np.testing.assert_array_equal(after.age, 1)


def test_a_contact_on_another_side_is_new():
    """A box that has been put to another face of its neighbour starts without impulses."""
    collider = Collider([{"shape": CUBE}, {"shape": CUBE, "position": (0, 0, 1.0)}]).step()
    mark_impulses(collider)
    collider.place(1, (1.0, 0, 0))
    after = collider.step().manifold()
    np.testing.assert_array_equal(after.age, 0)
    np.testing.assert_array_equal(after.impulse, 0.0)


def test_a_pair_that_was_apart_starts_anew():
    """Contacts of two steps ago are forgotten."""
    collider = on_floor()
    mark_impulses(collider)
    collider.place(1, (0, 0, 3.0))
    assert len(collider.step().manifold().gap) == 0
    collider.place(1, (0, 0, 0.5))
    np.testing.assert_array_equal(collider.step().manifold().age, 0)


# ---- buffers


def test_a_full_contact_buffer_is_reported_and_not_overrun():
    """Three boxes need twelve contacts: with room for five, the status says so, and what lies behind stays."""
    bodies = [FLOOR] + [{"shape": CUBE, "position": (2.0 * x, 0, 0.5)} for x in range(3)]
    collider = Collider(bodies, contact_capacity=5)
    collider.contacts[1].gap[:] = np.nan
    collider.step()
    assert collider.status == (STATUS_OK, STATUS_CAPACITY)
    contacts = collider.contacts[0]
    assert contacts.needed[0] == 12
    assert contacts.count[0] <= 5
    collider.contacts = [grown(buffer, 16) for buffer in collider.contacts]
    collider.contacts.reverse()
    collider.pairs.reverse()
    collider.step()
    assert collider.status == (STATUS_OK, STATUS_OK)
    assert collider.contacts[0].count[0] == 12


def test_a_full_pair_buffer_is_reported_and_not_overrun():
    """Likewise for pairs: no contact is made from a part of them."""
    bodies = [FLOOR] + [{"shape": CUBE, "position": (1.2 * x, 0, 0.5)} for x in range(5)]
    collider = Collider(bodies, pair_capacity=2).step()
    assert collider.status == (STATUS_CAPACITY, STATUS_OK)
    assert collider.pairs[0].needed[0] >= 5
    assert collider.contacts[0].count[0] == 0


def test_grown_buffers_keep_what_they_held():
    """A copy with more room."""
    small = allocate_contacts(3)
    small.normal[:] = np.arange(9.0).reshape(3, 3)
    small.count[0] = 3
    large = grown(small, 10)
    np.testing.assert_array_equal(large.normal[:3], small.normal)
    assert large.count[0] == 3
    assert len(large.gap) == 10


# ---- repeatability


HEAP = """
import sys, hashlib
sys.path.insert(0, {folder!r})
import numpy as np
from reference_collision import Collider
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.geometry.hulls import ConvexHull
from cairn.solver_core.geometry.shapes import Box, Sphere
rng = np.random.default_rng(5)
shapes = [Box((0.5, 0.4, 0.3)), Sphere(0.4), ConvexHull.from_points(rng.normal(size=(12, 3)) * 0.4)]
bodies = [{{"shape": Box((9, 9, 0.5)), "position": (0, 0, -0.5), "kind": BodyKind.STATIC}}]
for index in range({count}):
    place = rng.uniform(-1, 1, 3) * {spread} + (0, 0, 1)
    bodies.append({{"shape": shapes[index % 3], "position": place, "orientation": rng.normal(size=4)}})
collider = Collider(bodies, pair_capacity=4000, contact_capacity=9000)
digest = hashlib.sha256()
for step in range({steps}):
    collider.state.position[1:] += rng.normal(size=({count}, 3)) * 0.002
    collider.step()
    count = collider.contacts[0].count[0]
    for array in collider.contacts[0][2:]:
        digest.update(array[:count].tobytes())
print(count, digest.hexdigest())
"""


def run_heap(count, steps, spread, **environment):
    code = HEAP.format(folder=str(Path(reference_collision.__file__).parent), count=count, steps=steps, spread=spread)
    result = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.split()


def test_a_heap_has_the_same_bits_in_every_process():
    """Contacts of many steps, hashed, in two processes."""
    first, second = (run_heap(60, 20, 1.5) for _ in range(2))
    assert first == second
    assert int(first[0]) > 50


def test_the_kernels_run_without_compilation():
    """Plain Python (NUMBA_DISABLE_JIT) makes as many contacts as the compiled kernels."""
    assert run_heap(6, 3, 0.5, NUMBA_DISABLE_JIT="1")[0] == run_heap(6, 3, 0.5)[0]
