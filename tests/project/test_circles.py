"""Circles in a plane: contacts against brute force, rows against the explicit product, and the laws of a step."""

import numpy as np
import pytest

from benchmarks.problems.circles import (
    PLANE_COLUMNS,
    CircleState,
    CircleWorld,
    advance,
    at_rest,
    balls_in_box,
    carry_impulses,
    circle_stack,
    deepest_overlap,
    find_contacts,
    friction_problem,
    frictionless_lcp,
    frictionless_velocity,
    motion_margin,
    pool,
    total_energy,
)
from cairn.solver_core.problem.problem import SolverOptions
from cairn.solver_core.solve import solve_contacts, solve_lcp

# Exact enough that what a solve leaves over is lost in the tolerances below.
_TIGHT = SolverOptions(tolerance=1e-13, max_iterations=100_000)


def make_world(radius, mass=None, walls=(), **laws):
    """A world without gravity; walls as (normal x, normal y, offset)."""
    walls = np.array(walls, float).reshape(-1, 3)
    laws = {"gravity": np.zeros(2), "time_step": 0.01, **laws}
    radius = np.array(radius, float)
    mass = np.ones(len(radius)) if mass is None else np.array(mass, float)
    return CircleWorld(radius=radius, mass=mass, wall_normal=walls[:, :2], wall_offset=walls[:, 2], **laws)


def moving(position, velocity):
    """Circles with velocities (v_x, v_y), none turning."""
    state = at_rest(position)
    state.velocity[:, :2] = velocity
    return state


def step(world, state):
    """One frictionless step, solved tightly."""
    contacts = find_contacts(world, state, motion_margin(world, state))
    lcp = frictionless_lcp(world, state, contacts)
    result = solve_lcp(lcp, "pgs", options=_TIGHT)
    return advance(world, state, frictionless_velocity(world, state, lcp, result.x))


def crowded(seed, margin=0.1):
    """Circles thrown into a box without regard for each other, and their contacts."""
    rng = np.random.default_rng(seed)
    world = make_world(
        rng.uniform(0.1, 0.5, 40),
        rng.uniform(0.5, 2.0, 40),
        walls=[(1, 0, 0), (-1, 0, -6), (0, 1, 0), (np.sqrt(0.5), np.sqrt(0.5), 0.5)],
        gravity=np.array([0.0, -9.81]),
        friction=0.3,
    )
    state = CircleState(rng.uniform(0, 6, (40, 2)), np.zeros(40), rng.normal(size=(40, 3)))
    return world, state, find_contacts(world, state, margin)


def dense_rows(world, problem):
    """J and M^-1 J' of the rows over all bodies' plane velocities."""
    rows = problem.rows
    count = int(rows.count[1])
    block = np.repeat(np.arange(rows.count[0]), np.diff(rows.block_row))
    jacobian, response = np.zeros((2, count, world.body_count, 3))
    for target, source in ((jacobian, rows.jacobian), (response, rows.response)):
        target[np.arange(count), rows.body_a[block]] += source[:, PLANE_COLUMNS]
        target[np.arange(count), rows.body_b[block]] += source[:, 6 + np.array(PLANE_COLUMNS)]
    return jacobian.reshape(count, -1), response.reshape(count, -1)


# ------------------------------------------------------------------------------------------------------------ contacts


@pytest.mark.parametrize("seed", range(3))
def test_contacts_are_those_of_a_search_of_all_pairs(seed):
    """Pairs, gaps and normals equal those of a double loop over circles and walls."""
    world, state, contacts = crowded(seed)
    wanted = {}
    for b in range(world.circle_count):
        for a in range(b):
            between = state.position[b] - state.position[a]
            distance = np.linalg.norm(between)
            wanted[a, b] = distance - world.radius[a] - world.radius[b], between / distance
        for wall, normal in enumerate(world.wall_normal):
            gap = normal @ state.position[b] - world.wall_offset[wall] - world.radius[b]
            wanted[world.circle_count + wall, b] = gap, normal
    wanted = {pair: found for pair, found in wanted.items() if found[0] <= 0.1}

    assert list(zip(contacts.body_a, contacts.body_b, strict=True)) == sorted(wanted)
    assert np.all(np.diff(contacts.key) > 0)
    for pair, gap, normal in zip(sorted(wanted), contacts.gap, contacts.normal, strict=True):
        assert gap == pytest.approx(wanted[pair][0], abs=1e-14)
        np.testing.assert_allclose(normal, wanted[pair][1], atol=1e-14)


def test_circles_in_one_place_still_part():
    """Two circles with one centre have a unit normal, and no NaN anywhere."""
    world = make_world([1.0, 1.0])
    contacts = find_contacts(world, at_rest([[2.0, 3.0], [2.0, 3.0]]), 0.0)
    assert contacts.gap == pytest.approx([-2.0])
    assert np.linalg.norm(contacts.normal) == 1.0


@pytest.mark.parametrize("count", [0, 1])
def test_a_lone_circle_meets_walls_only(count):
    """No circle and one circle need no search of pairs."""
    world = make_world(np.ones(count), walls=[(0, 1, 0)])
    contacts = find_contacts(world, at_rest(np.ones((count, 2))), 0.0)
    assert list(contacts.body_a) == [1] * count


def test_impulses_go_with_their_pairs():
    """Impulses carried over are found at the same pairs, zero at new ones, in one row a contact or two."""
    world, _, earlier = crowded(0)
    _, state, _ = crowded(0)
    moved = state._replace(position=state.position + np.random.default_rng(1).normal(0.0, 0.05, (40, 2)))
    contacts = find_contacts(world, moved, 0.1)
    impulse = np.random.default_rng(2).uniform(1.0, 2.0, (len(earlier.key), 2))
    start = carry_impulses(contacts, earlier, impulse)
    known = dict(zip(earlier.key, impulse, strict=True))
    assert 0 < sum(key in known for key in contacts.key) < len(contacts.key)
    for key, pair in zip(contacts.key, start, strict=True):
        np.testing.assert_array_equal(pair, known.get(key, np.zeros(2)))
    np.testing.assert_array_equal(carry_impulses(contacts, earlier, impulse[:, 0]), start[:, 0])


# ---------------------------------------------------------------------------------------------------------------- rows


def test_rows_and_factors_make_the_same_matrix():
    """The rows' W is J M^-1 J', its normal part the explicit product of the LCP's factors, its diagonal W_ii."""
    world, state, contacts = crowded(1)
    lcp, problem = frictionless_lcp(world, state, contacts), friction_problem(world, state, contacts)
    jacobian, response = dense_rows(world, problem)
    matrix = jacobian @ response.T
    np.testing.assert_allclose(response, jacobian * world.inverse_mass.ravel(), atol=1e-14)
    np.testing.assert_allclose(matrix[::2, ::2], lcp.dense, atol=1e-13)
    np.testing.assert_allclose(problem.rows.diagonal, np.diag(matrix), rtol=1e-13)
    free = problem.free_velocity[:, PLANE_COLUMNS].ravel()
    np.testing.assert_allclose((jacobian @ free + problem.rows.bias)[::2], lcp.b, atol=1e-13)
    assert lcp.factors[0].shape == (len(contacts.gap), 3 * world.body_count)


def test_friction_rows_see_the_speed_at_the_contact():
    """u_t is the speed of b's surface against a's along the tangent, spins included."""
    world, state, contacts = crowded(2)
    problem = friction_problem(world, state, contacts)
    jacobian, _ = dense_rows(world, problem)
    velocity = np.vstack([state.velocity, np.zeros((4, 3))])
    speeds = (jacobian @ velocity.ravel())[1::2]

    def surface_velocity(body, arm):
        linear, spin = velocity[body, :2], velocity[body, 2]
        return linear + spin * np.array([-arm[1], arm[0]])

    for contact, (a, b) in enumerate(zip(contacts.body_a, contacts.body_b, strict=True)):
        normal = contacts.normal[contact]
        arm_a = world.radius[a] * normal if a < world.circle_count else np.zeros(2)
        slip = surface_velocity(b, -world.radius[b] * normal) - surface_velocity(a, arm_a)
        assert speeds[contact] == pytest.approx(slip @ np.array([-normal[1], normal[0]]), abs=1e-13)


def test_rows_without_friction_solve_as_the_lcp():
    """The contact solver on rows with mu = 0 and the LCP solver on the factors reach the same velocities."""
    world, state = pool(columns=5, courses=4, friction=0.0)
    contacts = find_contacts(world, state, 0.05)
    lcp = frictionless_lcp(world, state, contacts)
    plain = solve_lcp(lcp, "pgs", options=_TIGHT)
    rows = solve_contacts(friction_problem(world, state, contacts), "pgs", options=_TIGHT)
    np.testing.assert_allclose(
        rows.velocity[: world.circle_count, PLANE_COLUMNS],
        frictionless_velocity(world, state, lcp, plain.x),
        atol=1e-10,
    )


# ---------------------------------------------------------------------------------------------------------------- laws


def test_a_collision_keeps_momentum_and_goes_along_the_normal():
    """Of two free circles the total momentum stays, and speeds across the normal and spins do not change."""
    world = make_world([1.0, 0.5], [2.0, 1.0])
    state = moving([[0.0, 0.0], [1.2, 0.905]], [[3.0, 1.0], [-2.0, 0.5]])
    contact = find_contacts(world, state, 0.1)
    after = step(world, state)
    momentum = world.mass @ state.velocity
    np.testing.assert_allclose(world.mass @ after.velocity, momentum, atol=1e-13)
    tangent = np.array([-contact.normal[0, 1], contact.normal[0, 0]])
    np.testing.assert_allclose(after.velocity[:, :2] @ tangent, state.velocity[:, :2] @ tangent, atol=1e-13)
    assert np.ptp(after.velocity[:, :2] @ contact.normal[0]) * world.time_step <= contact.gap[0] + 1e-13


@pytest.mark.parametrize("restitution", [0.0, 0.2, 1.0])
def test_a_bounce_leaves_with_its_share_of_the_speed(restitution):
    """Two equal circles that meet head on part with e times the speed at which they met."""
    world = make_world([1.0, 1.0], restitution=restitution)
    state = moving([[0.0, 0.0], [2.0, 0.0]], [[3.0, 0.0], [-1.0, 0.0]])
    after = step(world, state).velocity[:, 0]
    assert after[1] - after[0] == pytest.approx(4.0 * restitution, abs=1e-12)


def test_a_resting_circle_does_not_bounce():
    """What gravity alone brings about in a step is no bounce: a circle on the floor stays to the bit of the solver."""
    world = make_world([1.0], walls=[(0, 1, 0)], gravity=np.array([0.0, -9.81]), restitution=0.9)
    state = at_rest([[0.0, 1.0]])
    for _ in range(50):
        state = step(world, state)
    np.testing.assert_allclose(state.position, [[0.0, 1.0]], atol=1e-12)
    np.testing.assert_allclose(state.velocity, 0.0, atol=1e-12)


def test_free_fall_follows_its_closed_form():
    """Semi-implicit Euler: after n steps y = -g h^2 n (n + 1) / 2, and energy has fallen by n m (g h)^2 / 2."""
    world = make_world([1.0], [3.0], gravity=np.array([0.0, -10.0]))
    state = at_rest([[0.0, 0.0]])
    for _ in range(20):
        state = step(world, state)
    assert state.position[0, 1] == pytest.approx(-10.0 * 0.01**2 * 20 * 21 / 2, rel=1e-12)
    assert total_energy(world, state) == pytest.approx(-20 * 0.5 * 3.0 * (10.0 * 0.01) ** 2, rel=1e-12)


def test_nothing_passes_a_wall_or_another_circle():
    """A fast circle stops at the wall, and one that hits a row of others moves none into its neighbour."""
    world = make_world([0.1] * 4, walls=[(-1, 0, -1)])
    state = moving([[-5.0, 0.0], [0.0, 0.0], [0.25, 0.02], [0.5, 0.0]], [[600.0, 0.0], [0, 0], [0, 0], [0, 0]])
    for _ in range(20):
        state = step(world, state)
        assert deepest_overlap(world, state) < 1e-9
    assert state.position[:, 0].max() <= 0.9 + 1e-9


def test_energy_never_grows():
    """Solved tightly, no step of the balls in the box adds energy."""
    world, state = balls_in_box(20)
    energies = [total_energy(world, state)]
    for _ in range(150):
        state = step(world, state)
        energies.append(total_energy(world, state))
    rounding = 1e-12 * energies[0]
    assert np.diff(energies).max() <= rounding
    assert deepest_overlap(world, state) < 1e-9


def test_friction_slows_a_slide_by_mu_g():
    """A circle that slides on the floor loses mu g h a step and gains spin 2 mu g h / r, until it rolls."""
    world = make_world([0.5], [3.0], walls=[(0, 1, 0)], gravity=np.array([0.0, -10.0]), friction=0.2)
    state = moving([[0.0, 0.5]], [[6.0, 0.0]])
    for _ in range(200):
        contacts = find_contacts(world, state, motion_margin(world, state))
        result = solve_contacts(friction_problem(world, state, contacts), "pgs", options=_TIGHT)
        before, state = state, advance(world, state, result.velocity[:1, PLANE_COLUMNS])
        slides = before.velocity[0, 0] + 0.5 * before.velocity[0, 2] > 0.1
        if slides:
            assert state.velocity[0, 0] - before.velocity[0, 0] == pytest.approx(-0.2 * 10.0 * 0.01, abs=1e-10)
            assert state.velocity[0, 2] - before.velocity[0, 2] == pytest.approx(
                -2 * 0.2 * 10.0 * 0.01 / 0.5, abs=1e-10
            )
    # a disc that starts to slide at v rolls in the end at two thirds of v
    np.testing.assert_allclose(state.velocity, [[4.0, 0.0, -8.0]], atol=1e-9)


# -------------------------------------------------------------------------------------------------------------- scenes


def test_scenes_are_those_of_the_papers():
    """Numbers, radii, masses and widths are the papers', and nothing overlaps at the start."""
    world, state = pool(lightest=1.0, heaviest=3.0)
    assert world.circle_count == 221
    assert 3 * world.body_count == 672
    assert set(world.radius) == {0.21}
    assert world.wall_offset[1] - world.wall_offset[0] == -6.0
    order = np.argsort(state.position[:, 1] + 1e-9 * world.mass)
    assert world.mass[order[0]] == 1.0
    assert world.mass[order[-1]] == 3.0
    assert np.all(np.diff(world.mass[order]) >= 0.0)
    assert deepest_overlap(world, state) == 0.0
    for seed in range(3):
        assert deepest_overlap(*pool(seed=seed)) == 0.0

    world, state = circle_stack(150)
    assert set(world.radius) == {0.18}
    assert deepest_overlap(world, state) < 1e-12
    assert len(find_contacts(world, state, 1e-9).gap) == 150

    world, state = balls_in_box()
    assert world.circle_count == 150
    assert world.time_step == 0.015
    assert list(world.wall_offset) == [0.0, -30.0, 0.0, -30.0]
    assert deepest_overlap(world, state) == 0.0
    assert np.all(find_contacts(world, state, 0.0).gap > 0.0)
