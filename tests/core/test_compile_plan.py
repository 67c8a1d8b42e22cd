"""A simulation calls no kernel that is not planned: what is not there is in no zip, and a bake compiles it first."""

import json
import subprocess
import sys

import pytest
from numba import config

from cairn.solver_core.compile_plan import everything_to_compile
from cairn.solver_core.problem.rows import FRICTION_MODELS

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="plain Python has nothing to compile")

# In a process of its own: here other tests may have compiled for the same types what this simulation calls.
STEP = """
import json, sys
import numpy as np
from numba.core.dispatcher import Dispatcher
from cairn.solver_core.geometry.shapes import Box, Sphere
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.joints.hinge import Hinge
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.options import FrameInput, SimulationOptions
from cairn.solver_core.simulation import Simulation
from cairn.solver_core.warm_up import warm_up

joints = json.loads(sys.argv[1])
options = SimulationOptions(method="pgs", friction="box", contacts=joints)
builder = ModelBuilder()
builder.add_body(shape=Box((10.0, 10.0, 1.0)), kind=BodyKind.STATIC, position=(0.0, 0.0, -0.5))
box = builder.add_body(shape=Box((1.0, 1.0, 1.0)), position=(0.0, 0.0, 2.0))
ball = builder.add_body(shape=Sphere(0.5), position=(0.0, 0.0, 4.0))
keyed = builder.add_body(shape=Box((1.0, 1.0, 1.0)), kind=BodyKind.KINEMATIC, position=(3.0, 0.0, 2.0))
if joints:
    builder.add_joint(Hinge(), ball, box, position=(0.0, 0.0, 3.2), breaking_force=1e-6)
    builder.add_joint(Hinge(), box, position=(0.0, 0.0, 2.0))
model = builder.build()
warm_up(options, None, model.arrays.shapes.kind, model.body_count, joints)

compiled = []
compile_for = Dispatcher._compile_for_args

def recorded(self, *given, **named):
    compiled.append(self.__name__)
    return compile_for(self, *given, **named)

Dispatcher._compile_for_args = recorded
simulation = Simulation(model, options)
broke = []
for frame in range(6):
    position, orientation = (np.array(poses) for poses in simulation.poses())
    position[keyed, 2] += 0.1
    enabled = np.array([True, frame < 2]) if joints else None
    report = simulation.advance_frame(FrameInput(position=position, orientation=orientation, joint_enabled=enabled))
    broke += report.broke if joints else []
    simulation.restore(simulation.checkpoint())
print(json.dumps([compiled, len(broke)]))
"""


@pytest.mark.parametrize("joints", [False, True])
def test_what_a_simulation_calls_is_planned(joints):
    child = subprocess.run(
        [sys.executable, "-c", STEP, json.dumps(joints)], capture_output=True, text=True, check=False, timeout=900
    )
    assert child.returncode == 0, child.stderr
    compiled, broke = json.loads(child.stdout.splitlines()[-1])
    assert compiled == []
    assert broke == int(joints)


def test_a_zip_may_leave_laws_of_friction_out():
    """Each other kernel is there; whole islands with polygonal friction are solved by one of their own."""
    whole, without = (
        {compilation.kernel.__name__ for compilation in everything_to_compile(["auto"], frictions)}
        for frictions in (FRICTION_MODELS, ["cone", "box"])
    )
    assert whole - without == {"solve_auto_polyhedral_of_islands"}
    assert without < whole
