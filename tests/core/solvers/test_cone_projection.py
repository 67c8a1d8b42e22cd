"""Coulomb's law as a projection on a contact's cone, and as it stands: convex geometry, derivatives, equivalence."""

import numpy as np
import pytest

from cairn.solver_core.problem.rows import BOX_FRICTION, CONE_FRICTION
from cairn.solver_core.solvers.newton.cone import project_contacts

COUNT = 100_000
ROUNDING = 1e-13
each_model = pytest.mark.parametrize("model", [CONE_FRICTION, BOX_FRICTION], ids=["cone", "box"])


def random_points(seed=0, count=COUNT):
    """Points of all sizes and directions, also on the axis and at the apex, and coefficients of friction from 0 on."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(count, 3)) * 10.0 ** rng.uniform(-3.0, 3.0, (count, 1))
    mu = rng.choice([0.0, 0.1, 0.5, 1.0, 3.0], count)
    z[:100, 1:] = 0.0
    z[100:110] = 0.0
    z[110:200, 2] = 0.0
    return mu, z


def project(model, mu, z, associated=True):
    projected, derivative = np.empty(z.size), np.empty((z.size, 3))
    project_contacts(model, associated, mu, z.ravel(), projected, derivative)
    return projected.reshape(-1, 3), derivative.reshape(-1, 3, 3)


def radius(model, tangents):
    """Norm by which friction is bounded: Euclidean, or the larger of both."""
    return np.abs(tangents).max(axis=1) if model == BOX_FRICTION else np.linalg.norm(tangents, axis=1)


def dual_radius(model, tangents):
    """The dual norm: u is in the dual cone where u_n >= mu |u_t| in it."""
    return np.abs(tangents).sum(axis=1) if model == BOX_FRICTION else np.linalg.norm(tangents, axis=1)


@each_model
def test_projections_lie_in_the_cone(model):
    """|p_t| <= mu p_n."""
    mu, z = random_points()
    p, _ = project(model, mu, z)
    size = np.linalg.norm(z, axis=1)
    assert np.all(radius(model, p[:, 1:]) <= mu * p[:, 0] + ROUNDING * size)
    assert np.all(p[:, 0] >= 0.0)


@each_model
def test_projecting_twice_changes_nothing(model):
    """P P z = P z."""
    mu, z = random_points()
    p, _ = project(model, mu, z)
    again, _ = project(model, mu, p)
    assert np.abs(again - p).max(axis=1) == pytest.approx(0.0, abs=ROUNDING * np.linalg.norm(z, axis=1).max())


@each_model
def test_what_is_taken_away_is_orthogonal_and_in_the_polar_cone(model):
    """(z - P z) . P z = 0 and P z - z is in the dual cone: with membership, what makes P z the nearest point."""
    mu, z = random_points()
    p, _ = project(model, mu, z)
    rest = p - z
    size = np.linalg.norm(z, axis=1)
    assert np.all(np.abs(np.sum(rest * p, axis=1)) <= ROUNDING * np.maximum(size, 1e-300) ** 2)
    assert np.all(rest[:, 0] >= mu * dual_radius(model, rest[:, 1:]) - 10.0 * ROUNDING * size)


@each_model
def test_no_friction_leaves_a_half_line(model):
    """mu = 0: P z = (max(z_n, 0), 0, 0), and D is the projection on it."""
    _, z = random_points()
    p, derivative = project(model, np.zeros(COUNT), z)
    assert np.array_equal(p[:, 0], np.maximum(z[:, 0], 0.0))
    assert not p[:, 1:].any()
    assert np.array_equal(derivative[:, 0, 0], (z[:, 0] >= 0.0).astype(float))
    assert derivative.sum() == derivative[:, 0, 0].sum()


@each_model
def test_derivative_is_symmetric_with_eigenvalues_from_0_to_1(model):
    """A projection on a convex set is the gradient of a convex function and does not expand."""
    mu, z = random_points(1, 20_000)
    _, derivative = project(model, mu, z)
    assert np.array_equal(derivative, np.swapaxes(derivative, 1, 2))
    values = np.linalg.eigvalsh(derivative)
    assert values.min() >= -1e-12
    assert values.max() <= 1.0 + 1e-12


@each_model
@pytest.mark.parametrize("associated", [True, False], ids=["cone form", "as it stands"])
def test_derivative_agrees_with_finite_differences(model, associated):
    """Central differences, at points that are not near a kink (there both sides of it are looked at by the step)."""
    rng = np.random.default_rng(2)
    z = rng.normal(size=(20_000, 3)) + [0.3, 0.0, 0.0]
    mu = rng.choice([0.2, 0.7, 1.5], len(z))
    _, derivative = project(model, mu, z, associated)
    step = 1e-6
    worst = np.zeros(len(z))
    for axis in range(3):
        ahead, behind = z.copy(), z.copy()
        ahead[:, axis] += step
        behind[:, axis] -= step
        p_ahead, d_ahead = project(model, mu, ahead, associated)
        p_behind, d_behind = project(model, mu, behind, associated)
        smooth = np.abs(d_ahead - d_behind).max(axis=(1, 2)) < 1e-3
        error = np.abs((p_ahead - p_behind) / (2.0 * step) - derivative[:, :, axis]).max(axis=1)
        worst = np.maximum(worst, np.where(smooth, error, 0.0))
        assert smooth.mean() > 0.99
    assert worst.max() < 1e-5


@each_model
def test_scaling_impulses_scales_projections(model):
    """P(t z) = t P(z) for t > 0."""
    mu, z = random_points(3, 10_000)
    p, derivative = project(model, mu, z)
    scaled, scaled_derivative = project(model, mu, 4.0 * z)
    assert np.array_equal(scaled, 4.0 * p)
    assert scaled_derivative == pytest.approx(derivative, abs=1e-12)


def solutions_of_the_law(model, count=5_000):
    """Impulses and velocities that obey Coulomb's law: open, sticking and sliding contacts."""
    rng = np.random.default_rng(4)
    mu = rng.uniform(0.05, 1.5, count)
    r, u = np.zeros((count, 3)), np.zeros((count, 3))
    kind = np.arange(count) % 3
    opening, sticking, sliding = kind == 0, kind == 1, kind == 2
    u[opening] = rng.normal(size=(opening.sum(), 3))
    u[opening, 0] = rng.uniform(0.0, 2.0, opening.sum())
    r[~opening, 0] = rng.uniform(0.1, 2.0, (~opening).sum())
    direction = rng.normal(size=(count, 2))
    bound = (mu * r[:, 0])[:, None]
    if model == BOX_FRICTION:
        share = rng.uniform(-1.0, 1.0, (count, 2))
        r[sticking, 1:] = (share * bound)[sticking]
        r[sliding, 1:] = (-np.sign(direction) * bound)[sliding]
    else:
        unit = direction / np.linalg.norm(direction, axis=1, keepdims=True)
        r[sticking, 1:] = (rng.uniform(0.0, 1.0, (count, 1)) * unit * bound)[sticking]
        r[sliding, 1:] = (-unit * bound)[sliding]
    u[sliding, 1:] = direction[sliding]
    return mu, r, u


@each_model
def test_both_forms_hold_exactly_where_the_law_does(model):
    """r = P_K(r - rho (u + s n)) with De Saxce's shift, and r = P(r - rho u) as it stands, at solutions of the law."""
    mu, r, u = solutions_of_the_law(model)
    shift = mu * dual_radius(model, u[:, 1:])
    shifted = u + shift[:, None] * [1.0, 0.0, 0.0]
    for rho in (0.1, 1.0, 30.0):
        by_cone, _ = project(model, mu, r - rho * shifted)
        as_it_stands, _ = project(model, mu, r - rho * u, associated=False)
        assert by_cone == pytest.approx(r, abs=1e-12 * (1.0 + 10.0 * rho))
        assert as_it_stands == pytest.approx(r, abs=1e-12 * (1.0 + 10.0 * rho))


@each_model
def test_both_forms_object_to_what_breaks_the_law(model):
    """Moving the friction of sliding contacts off its bound, or letting open contacts approach, is seen by both."""
    mu, r, u = solutions_of_the_law(model)
    kind = np.arange(len(mu)) % 3
    r[kind == 2, 1:] *= 0.9
    u[kind == 0, 0] = -0.1
    wrong = kind != 1
    shift = mu * dual_radius(model, u[:, 1:])
    by_cone, _ = project(model, mu, r - (u + shift[:, None] * [1.0, 0.0, 0.0]))
    as_it_stands, _ = project(model, mu, r - u, associated=False)
    assert np.all(np.abs(by_cone - r).max(axis=1)[wrong] > 1e-4)
    assert np.all(np.abs(as_it_stands - r).max(axis=1)[wrong] > 1e-4)
