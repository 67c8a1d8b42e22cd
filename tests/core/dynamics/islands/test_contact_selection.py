"""Of two bodies with very many contacts some are solved: those that bear and stop what all of them would."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from cairn.solver_core.collision.data.contact_arrays import allocate_contacts
from cairn.solver_core.dynamics.islands.contact_selection import allocate_selection, select_contacts
from cairn.solver_core.dynamics.islands.policy import (
    LENGTHS_OF_FAN,
    MOST_BEARING,
    MOST_CONTACTS,
    RATIO_OF_HIT,
    SHARE_MISSED,
)
from cairn.solver_core.problem.rows import allocate_islands, allocate_rows

BODIES, H = 4, 0.01


class Touching:
    """Contacts of bodies at the origin, in the order in which they are given, as the step has them."""

    def __init__(self, points, normals, gaps, body_b=None, body_a=None):
        count = len(points)
        self.contacts, self.rows = allocate_contacts(count), allocate_rows(count, 3 * count, BODIES)
        self.selection, self.islands = allocate_selection(count, BODIES), allocate_islands(count, BODIES)
        self.contacts.count[0] = self.rows.count[0] = count
        self.contacts.position[:], self.contacts.normal[:], self.contacts.gap[:] = points, normals, gaps
        self.contacts.body_a[:] = 0 if body_a is None else body_a
        self.contacts.body_b[:] = 1 if body_b is None else body_b
        self.rows.body_a[:], self.rows.body_b[:] = self.contacts.body_a, self.contacts.body_b
        self.contacts.shape_b[:] = 1 + np.arange(count) // 4
        self.rows.block_row[:] = 3 * np.arange(count + 1)
        own = np.hstack([normals, np.cross(points, normals)])
        self.rows.jacobian[::3] = np.hstack([-own, own])
        self.velocity = np.zeros((BODIES, 6))
        self.pose = np.tile(np.vstack([np.eye(3), np.zeros(3)]), (BODIES, 1, 1))

    def select(self, is_later_pass=False):
        """Which contacts are kept."""
        select_contacts(
            self.rows, self.contacts, self.velocity, is_later_pass, self.pose, H, self.selection, self.islands
        )
        kept = ~self.islands.is_left_out[: self.contacts.count[0]]
        assert self.selection.count[0] == np.count_nonzero(~kept)
        return kept


def around(random, count, spread=1.0):
    """Points of a ball, with normals anywhere and gaps of a thousandth."""
    normals = random.normal(size=(count, 3))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    return spread * random.uniform(-1.0, 1.0, (count, 3)), normals, 1e-3 * random.uniform(size=count)


def fan():
    """The 72 ways of the fan."""
    axes = np.eye(6)
    ways = [sign * axis for axis in axes for sign in (-1, 1)]
    for one, other in itertools.combinations(axes, 2):
        ways += [(s * one + t * other) / np.sqrt(2.0) for s in (-1, 1) for t in (-1, 1)]
    return np.array(ways)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("scale", [1e-2, 1e2])
def test_what_is_kept_stops_each_motion_of_the_fan_where_all_would(seed, scale):
    """As plain NumPy has it: within the share that is said, or there are as many contacts as there may be."""
    random = np.random.default_rng(seed)
    points, normals, gaps = around(random, int(random.integers(MOST_CONTACTS + 1, 400)))
    if seed % 2:
        normals = np.round(normals)
        normals /= np.linalg.norm(normals, axis=1)[:, None]
    touching = Touching(scale * points, normals, scale * gaps)
    kept = touching.select()
    assert 6 <= np.count_nonzero(kept) <= MOST_CONTACTS

    arms = points - points.mean(axis=0)
    reach = np.linalg.norm(arms, axis=1).max()
    along = np.hstack([normals, np.cross(arms / reach, normals)]) @ fan().T
    missed = []
    for length in LENGTHS_OF_FAN:
        met = gaps[:, None] / (length * reach) + along
        missed.append(met[kept].min(axis=0) - met.min(axis=0))
    if np.count_nonzero(kept) < MOST_CONTACTS:
        assert np.max(missed) <= SHARE_MISSED + 1e-9
    else:
        # the fan has more corners than there may be contacts, and the worst ones come first
        assert np.mean(missed) < 0.1


def test_the_corners_of_a_patch_bear_what_all_of_it_does():
    """A force anywhere on a face is one of forces on those that are kept, but for a hundredth of its width."""
    steps = np.linspace(-1.0, 1.0, 9)
    points = np.array([(x, y, 0.3) for x in steps for y in steps])
    touching = Touching(points, np.tile([0.0, 0.0, 1.0], (81, 1)), np.zeros(81))
    kept = touching.select()
    assert 4 <= np.count_nonzero(kept) <= 12
    corners = np.vstack([np.ones(np.count_nonzero(kept)), points[kept, :2].T])
    for point in points:
        shares = linprog(np.ones(corners.shape[1]), A_eq=corners, b_eq=[1.0, *(0.99 * point[:2])])
        assert shares.success


def test_few_contacts_are_left_as_they_are():
    """Up to the limit nothing is left out, whatever other bodies have; impulses stay."""
    random = np.random.default_rng(1)
    sizes = (MOST_CONTACTS, 3 * MOST_CONTACTS, MOST_CONTACTS)
    points, normals, gaps = around(random, sum(sizes))
    body_b = np.repeat([1, 2, 3], sizes)
    random.shuffle(body_b)  # of the same first body: pairs of its parts with those of several others
    touching = Touching(points, normals, gaps, body_b=body_b)
    touching.rows.impulse[:] = random.uniform(size=3 * sum(sizes))
    before = touching.rows.impulse.copy()
    kept = touching.select()
    assert kept[body_b != 2].all()
    assert np.count_nonzero(kept[body_b == 2]) <= MOST_CONTACTS
    now = touching.rows.impulse.reshape(-1, 3)
    assert np.array_equal(now[kept], before.reshape(-1, 3)[kept])
    assert not now[~kept].any()

    touching.contacts.body_b[:] = touching.rows.body_b[:] = np.where(np.arange(sum(sizes)) % 5, body_b, 3)
    touching.contacts.count[0] = touching.rows.count[0] = MOST_CONTACTS
    assert touching.select().all()
    assert not touching.islands.is_left_out.any()


def test_contacts_of_one_pair_of_shapes_all_stay():
    """They were reduced where they were made: a body on a mesh of many slopes needs what it has."""
    touching = Touching(*around(np.random.default_rng(7), 200))
    touching.contacts.shape_b[:] = 1
    assert touching.select().all()


def test_what_bears_most_stays():
    """The strongest of the last solve are kept, also amid the others."""
    random = np.random.default_rng(2)
    points, normals, gaps = around(random, 300)
    touching = Touching(points, normals, gaps)
    strongest = random.choice(300, MOST_BEARING, replace=False)
    touching.rows.impulse[::3] = 1e-3
    touching.rows.impulse[3 * strongest] = 1.0
    assert touching.select()[strongest].all()


def test_what_hits_keeps_all_contacts():
    """Bodies that are to be led into each other farther than the fan reaches; not those that are so already."""
    points, normals, gaps = around(np.random.default_rng(3), 200)
    touching = Touching(points, normals, gaps)
    reach = np.linalg.norm(points - points.mean(axis=0), axis=1).max()
    touching.velocity[1, 2] = -(2.0 * RATIO_OF_HIT * reach + gaps.max()) / H
    assert touching.select().all()
    touching.velocity[1, 2] = 0.0
    assert not touching.select().all()
    touching.contacts.gap[:] -= 4.0 * RATIO_OF_HIT * reach
    assert not touching.select().all()


def test_bodies_that_a_solution_led_into_each_other_keep_all_in_the_next_pass():
    """And those that follow, until the substep ends."""
    touching = Touching(*around(np.random.default_rng(4), 200))
    assert not touching.select().all()
    touching.selection.is_missed[:2] = True
    assert touching.select(is_later_pass=True).all()
    assert touching.select(is_later_pass=True).all()
    assert not touching.select().all()


def test_the_choice_turns_with_the_bodies():
    """The fan is that of the first body, so the same contacts are kept however the two lie in the world."""
    points, normals, gaps = around(np.random.default_rng(5), 250)
    kept = Touching(points, normals, gaps).select()
    turn = np.linalg.qr(np.random.default_rng(6).normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    turned = Touching(points @ turn.T, normals @ turn.T, gaps)
    turned.pose[0, :3] = turn
    assert np.array_equal(turned.select(), kept)
