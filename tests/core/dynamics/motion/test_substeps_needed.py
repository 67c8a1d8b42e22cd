"""How many substeps a frame needs."""

import math

import numpy as np
import pytest

from cairn.solver_core.dynamics.motion.substeps_needed import SECONDS_KEPT, substeps_needed
from cairn.solver_core.model.model import BodyKind

GRAVITY, FRAME = 9.81, 1.0 / 24.0


def needed(size, speed=0.0, spin=0.0, kind=BodyKind.DYNAMIC, gravity=GRAVITY, contact_turn=0.0):
    velocity = np.zeros((2, 6))
    velocity[1, 0], velocity[1, 5] = speed, spin
    kinds = np.array([BodyKind.STATIC.value, kind.value])
    return substeps_needed(kinds, velocity, np.array([1e-3, size]), np.array([0.0, contact_turn]), gravity, FRAME)


@pytest.mark.parametrize("size", [0.11, 0.5, 2.0, 100.0])
@pytest.mark.parametrize("speed", [0.0, 0.1, 1.0, 4.0])
def test_what_is_larger_than_ten_centimetres_needs_no_more_than_four(size, speed):
    """At 24 frames a second, at the speeds of a fall through ten times its size."""
    assert needed(size, min(speed, math.sqrt(20.0 * GRAVITY * size))) <= 4


def test_a_small_body_that_moves_needs_more():
    """So that implicit Euler takes a second to stop it: the coin of 24 mm 18 a frame; by its spin alone, too."""
    assert needed(0.024, speed=0.1) == math.ceil(FRAME * GRAVITY * SECONDS_KEPT / 0.024) == 18
    assert needed(0.024, spin=10.0) == 18
    # a world scaled with its gravity is the same world
    assert needed(2.4, speed=10.0, gravity=100.0 * GRAVITY) == 18


def test_what_rests_or_cannot_fall_needs_none_of_its_own():
    """A still coin, one in free space, one that is driven slowly, and a world without bodies."""
    assert needed(0.024) == needed(0.024, speed=0.01) == 1
    assert needed(0.024, speed=0.1, gravity=0.0) == 1
    assert needed(0.024, speed=0.1, kind=BodyKind.KINEMATIC) == 1
    assert substeps_needed(np.zeros(0, int), np.zeros((0, 6)), np.zeros(0), np.zeros(0), GRAVITY, FRAME) == 1


def test_what_is_fast_goes_half_its_size_a_substep():
    """Or turns by half a radian."""
    assert needed(1.0, speed=24.0 * 3.2) == 7
    assert needed(1.0, spin=24.0 * 3.2) == 7


def test_what_rolls_on_its_rim_goes_round_by_a_tenth_of_a_radian():
    """By the share of the rim in the motion; not what only wobbles, and slower than half of a fall through its size."""
    spin = 2.0 * math.sqrt(GRAVITY / 1.0)
    assert needed(1.0, spin=spin, contact_turn=24.0) == 10
    assert needed(1.0, speed=spin / 2.0, spin=spin, contact_turn=24.0) == math.ceil(10.0 / math.sqrt(2.0))
    assert needed(1.0, speed=spin, contact_turn=24.0) <= 4
    assert needed(1.0, spin=0.4 * spin, contact_turn=24.0) <= 4
