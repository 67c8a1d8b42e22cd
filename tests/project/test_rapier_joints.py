"""What ``joints_bullet`` plays in Rapier is the same scene: its joints are where ours are, and hold the same axes."""

import math

import numpy as np
import pytest

from benchmarks.joints_bullet import CASES, _openings
from benchmarks.rapier_joints import can_play, play_in_rapier
from cairn.solver_core import ConeTwist, Fixed, Hinge, Point, Simulation
from cairn.solver_core.geometry import rotations
from cairn.solver_core.geometry.shapes import Box
from cairn.solver_core.model.joints.axis import Axis
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.scenes.scene import Scene, SceneBody, SceneJoint

pytest.importorskip("rapier3d")
FRAMES = 24
LIMIT = math.radians(35.0)
# z along y, and both bodies turned
ABOUT_Y = rotations.from_rotation_vector(np.array([-0.5 * math.pi, 0.0, 0.0]))
TURNED = rotations.from_rotation_vector(np.array([0.3, 0.5, -0.4]))


def arm(joint):
    """An arm along x on a fixed block, both with turned frames; it falls, clockwise as seen from -y."""
    bodies = [
        SceneBody("Block", Box((0.1, 0.1, 0.1)), kind=BodyKind.STATIC, orientation=tuple(map(float, TURNED))),
        SceneBody("Arm", Box((0.3, 0.05, 0.1)), mass=2.0, position=(0.45, 0.0, 0.0)),
    ]
    tie = SceneJoint(
        name="Tie",
        joint=joint,
        first="Block",
        second="Arm",
        position=(0.1, 0.0, 0.0),
        orientation=tuple(map(float, ABOUT_Y)),
    )
    return Scene("arm", "arm", bodies, FRAMES, (0.0, -3.0, 0.0), (0.0, 0.0, 0.0), joints=[tie])


@pytest.mark.parametrize(
    ("joint", "tolerance"),
    [
        (Point(), 0.02),
        (Fixed(), 1e-3),
        (Hinge(), 0.02),
        (Hinge(Axis(lower=-LIMIT, upper=LIMIT)), 0.02),
        (ConeTwist(swing=math.pi, twist=LIMIT), 0.02),
    ],
)
def test_an_arm_moves_as_in_cairn(joint, tolerance):
    """Within what first order at 60 steps a second leaves."""
    scene = arm(joint)
    theirs = play_in_rapier(scene, FRAMES)
    simulation = Simulation(scene.build_model(), SimulationOptions())
    for frame in range(1, FRAMES + 1):
        simulation.advance_frame()
        if frame % 4 == 0 and frame <= FRAMES // 2:
            assert theirs.motion[frame][0][1] == pytest.approx(simulation.poses()[0][1], abs=tolerance * frame / 4)
    assert _openings(scene, theirs.motion)[0] < 5e-3
    assert theirs.seconds > 0.0


def test_what_rapier_lacks_is_not_played():
    """Springs, ropes and shapes of several parts."""
    played = {name: can_play(case.make()) for name, case in CASES.items()}
    assert played.pop("drawbridge") is False
    assert played.pop("car") is False
    assert all(played.values())
