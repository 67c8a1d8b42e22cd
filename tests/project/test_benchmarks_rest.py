"""When a pile of ``blender_bullet`` rests."""

import numpy as np
import pytest

pytest.importorskip("bpy", reason="the benchmark plays Blender's Bullet")

from benchmarks.blender_bullet import rest_begins


def falling(until, bodies=200, frames=20, rolls=0):
    """Positions of boxes of a metre that fall until a frame, but for some that roll on."""
    heights = np.minimum(np.arange(frames + 1.0), until)[:, None] * np.ones(bodies)
    path = np.stack([0.0 * heights, 0.0 * heights, -0.1 * heights], axis=2)
    path[:, :rolls, 0] = np.arange(frames + 1.0)[:, None]
    return path


def test_a_pile_rests_once_but_few_of_it_move():
    sizes = np.ones(200)
    assert rest_begins(falling(12), sizes) == 12
    assert rest_begins(falling(12, rolls=1), sizes) == 12
    assert rest_begins(falling(12, rolls=10), sizes) is None
    assert rest_begins(falling(20), sizes) is None
    assert rest_begins(falling(0), sizes) == 0
    assert rest_begins(falling(12), 100.0 * sizes) == 0
