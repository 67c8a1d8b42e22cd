"""The random jointed scenes: drawn as a seed says, measured as it is, and what once exploded does not."""

import numpy as np
import pytest

from benchmarks.joint_families.assembly import Assembly, about, scaled, turn_of
from benchmarks.joint_families.families import FAMILIES, draw
from benchmarks.joint_families.measures import _opening, outcome
from cairn.solver_core import Box, Point
from cairn.solver_core.geometry import rotations
from cairn.solver_core.model.model import BodyKind

pytestmark = pytest.mark.one_python


@pytest.mark.parametrize("family", FAMILIES)
def test_a_seed_is_a_scene(family):
    """The same one each time, another one for another seed, and the core takes it."""
    first, again, other = draw(family, 3), draw(family, 3), draw(family, 4)
    assert repr(first.bodies) == repr(again.bodies)  # arrays in shapes have no one truth
    assert repr(first.joints) == repr(again.joints)
    assert repr(first.bodies) != repr(other.bodies)
    model = first.scene(family, 1).build_model()
    assert len(model.arrays.mass) == len(first.bodies)
    assert len(first.joints) > 0


def test_what_is_scaled_is_alike():
    """Twice as large: all places and sides are, joints hold the same places of their bodies, and masses stay."""
    small = FAMILIES["rigs"](np.random.default_rng(1))
    large = scaled(small, 2.0)
    for one, two in zip(small.bodies, large.bodies, strict=True):
        assert np.allclose(2.0 * np.array(one.position), two.position, rtol=1e-6)
        assert two.shape.size == pytest.approx(2.0 * one.shape.size)
        assert two.mass == one.mass
    for name, path in small.paths.items():
        assert np.allclose(2.0 * path(0.7)[0], large.paths[name](0.7)[0])


@pytest.mark.parametrize("way", [(1, 0, 0), (0, 0, -1), (0.3, -0.5, 0.2)])
def test_a_turn_leads_z_to_its_axis(way):
    z = rotations.rotate(turn_of(way), np.array([0.0, 0.0, 1.0]))
    assert np.allclose(z, np.array(way) / np.linalg.norm(way))


def _pendulum():
    scene = Assembly()
    block = scene.body(Box((0.1, 0.1, 0.1)), (0, 0, 0), kind=BodyKind.STATIC)
    arm = scene.body(Box((0.5, 0.05, 0.05)), (0.6, 0, 0), mass=2.0)
    scene.joint(Point(), block, arm, (0.1, 0, 0))
    return scene


def test_an_opening_is_the_distance_of_the_two_points():
    """Of an arm of one metre that is led away by 3 cm, and then turned about its end, which opens nothing."""
    scene = _pendulum()
    start = [np.array(body.position) for body in scene.bodies]
    level = np.array([1.0, 0.0, 0.0, 0.0])
    away = [start[0], start[1] + (0.0, 0.03, 0.0)]
    turn = about((0, 1, 0), 0.4)
    turned = [start[0], np.array([0.1, 0, 0]) + rotations.rotate(turn, np.array([0.5, 0.0, 0.0]))]
    motion = [(np.array(start), np.array([level, level])), (np.array(turned), np.array([level, turn]))]
    assert _opening(scene, motion) == pytest.approx(0.0, abs=1e-7)
    motion.append((np.array(away), np.array([level, level])))
    assert _opening(scene, motion) == pytest.approx(0.03, rel=1e-6)


def test_a_pendulum_is_played():
    """It gains nothing beyond the rule's own error of energy, stays closed, and Bullet plays it, too."""
    found = outcome("pendulum", _pendulum(), 24, with_bullet=True)
    assert (found.bodies, found.joints, found.missed, found.finite) == (1, 1, 0, True)
    assert found.gain < 1e-5
    assert found.opening < 1e-6
    assert 0.0 < found.bullet_opening < 0.1
    assert found.ms > 0.0


def test_a_wall_that_goes_to_pieces_gains_nothing():
    """Bricks of 5 kg on weak glue, hit by 160 kg: what each bond bore pushed its brick once more, and they flew off.

    Energy came to half of the sum of m g reach in that frame.
    """
    found = outcome("wall", draw("walls", 5), 24, with_bullet=False)
    assert found.gain == 0.0
    assert found.gain_of_frame < 1e-2


@pytest.mark.parametrize(
    ("family", "seed", "most"), [("trees", 3, 20), ("rigs", 1, 5), ("rigs", 3, 5), ("rigs", 9, 5), ("figures", 0, 5)]
)
def test_what_contradicts_ends_in_a_compromise(family, seed, most):
    """Bars that overlap where they meet, limits that exclude each other: of 480 substeps few are missed.

    They were hundreds when impulses grew that balance each other, poses were led to what nothing allows, and limits
    were closed only where they touch.
    """
    found = outcome(f"{family} {seed}", draw(family, seed), 120, False)
    assert found.finite
    assert found.missed <= most
    assert found.opening < 1e-4
    assert found.gain <= 1e-9
