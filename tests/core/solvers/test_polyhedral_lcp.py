"""Contacts with polyhedral friction as an LCP: its rows against the equations of Lloyd 2004, eq. 8, one by one."""

import numpy as np
import pytest
import scipy.sparse
from contact_problems import dense_form, random_problem

from benchmarks.problems.peg_in_hole import peg_in_hole
from cairn.solver_core.solvers.pivoting.polyhedral import (
    delassus_of,
    friction_directions,
    impulses_from_lcp,
    polyhedral_lcp,
)


@pytest.mark.parametrize("directions", [4, 6, 8])
def test_directions_are_corners_of_the_unit_circle(directions):
    """Compare with cosines and sines, and ask that opposite ones cancel to the bit."""
    corners = friction_directions(directions)
    angle = 2.0 * np.pi * np.arange(directions) / directions
    np.testing.assert_allclose(corners, np.column_stack([np.cos(angle), np.sin(angle)]), atol=1e-15)
    assert np.array_equal(corners[directions // 2 :], -corners[: directions // 2])


@pytest.mark.parametrize("matrix_form", [np.asarray, scipy.sparse.csr_array])
def test_slacks_are_speeds_and_reserves(matrix_form):
    """Write nu, sigma and gamma out for each contact and direction."""
    contacts, directions = 5, 6
    W, q = dense_form(random_problem(3, contacts, seed=1))
    rng = np.random.default_rng(2)
    mu = rng.uniform(0.1, 1.0, contacts)
    lcp = polyhedral_lcp(matrix_form(W), q, mu, directions)
    x = rng.normal(size=lcp.size)
    theta, phi, lam = np.split(x, [contacts, contacts * (1 + directions)])
    r = impulses_from_lcp(x, contacts, directions)
    u = W @ r + q
    slack = lcp.slack(x)
    for contact in range(contacts):
        first = contacts + directions * contact
        own = phi[directions * contact : directions * (contact + 1)]
        corners = friction_directions(directions)
        np.testing.assert_allclose(r[3 * contact : 3 * contact + 3], [theta[contact], *(own @ corners)], atol=1e-14)
        assert slack[contact] == pytest.approx(u[3 * contact], abs=1e-12)
        tangential = corners @ u[3 * contact + 1 : 3 * contact + 3] + lam[contact]
        np.testing.assert_allclose(slack[first : first + directions], tangential, atol=1e-12)
        reserve = mu[contact] * theta[contact] - own.sum()
        assert slack[contacts * (1 + directions) + contact] == pytest.approx(reserve, abs=1e-12)


def test_explicit_matrix_is_that_of_the_rows():
    """Compare W and q with the plain expansion of the rows."""
    problem = random_problem(4, 7, friction=0.3, seed=3)
    W, q, mu = delassus_of(problem)
    expected_W, expected_q = dense_form(problem)
    np.testing.assert_allclose(W, expected_W, atol=1e-13)
    np.testing.assert_allclose(q, expected_q, atol=1e-13)
    assert np.all(mu == 0.3)


def test_peg_has_six_degrees_of_freedom_and_inward_normals():
    """Ask for the rank and for a kinetic energy that cannot be negative, and push along a normal."""
    contacts = 16
    problem = peg_in_hole(contacts, seed=4)
    W, _, mu = delassus_of(problem)
    eigenvalues = np.linalg.eigvalsh(W)
    assert np.sum(eigenvalues > 1e-10 * eigenvalues[-1]) == 6
    assert eigenvalues[0] > -1e-12 * eigenvalues[-1]
    assert np.all((mu >= 0.2) & (mu <= 0.3))
    # opposite contacts of one ring: contact 0 and contact 8 of 16 (rings alternate), at angle 0 and pi
    np.testing.assert_allclose(problem.rows.jacobian[0, 6:9], [-1.0, 0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(problem.rows.jacobian[24, 6:9], [1.0, 0.0, 0.0], atol=1e-15)
    # the speed of a contact point is that of a rigid body: v + omega x arm
    velocity = np.random.default_rng(5).normal(size=6)
    arm = np.array([0.5, 0.0, -1.0])
    point = velocity[:3] + np.cross(velocity[3:], arm)
    np.testing.assert_allclose(problem.rows.jacobian[:3, 6:] @ velocity, [-point[0], point[2], point[1]], atol=1e-12)
    assert np.all(problem.rows.jacobian[:, :6] == -problem.rows.jacobian[:, 6:])
