"""Cairn's simulation core: contact problems, their solvers and time stepping. It knows nothing of Blender.

The public names are loaded at first use, because building a model needs NumPy only while a simulation loads Numba.
"""

import importlib
from typing import TYPE_CHECKING

_HOME = {
    "Box": "geometry.shapes",
    "Sphere": "geometry.shapes",
    "Capsule": "geometry.round_shapes",
    "Cylinder": "geometry.round_shapes",
    "Cone": "geometry.round_shapes",
    "ConvexHull": "geometry.hulls",
    "TriangleMesh": "geometry.triangle_mesh",
    "ShapeError": "geometry.shapes",
    "Activation": "model.activation",
    "BodyKind": "model.model",
    "Model": "model.model",
    "ModelBuilder": "model.builder",
    "ModelError": "model.builder",
    "Axis": "model.joints.axis",
    "Spring": "model.joints.axis",
    "Motor": "model.joints.axis",
    "FREE": "model.joints.axis",
    "LOCKED": "model.joints.axis",
    "Bond": "model.joints.bond",
    "Fixed": "model.joints.fixed",
    "Point": "model.joints.point",
    "Hinge": "model.joints.hinge",
    "Slider": "model.joints.slider",
    "Piston": "model.joints.piston",
    "Generic": "model.joints.generic",
    "MotorJoint": "model.joints.motor_joint",
    "Rope": "model.joints.rope",
    "Gear": "model.joints.gear",
    "RackAndPinion": "model.joints.gear",
    "ConeTwist": "model.joints.cone_twist",
    "Force": "model.fields",
    "Wind": "model.fields",
    "Vortex": "model.fields",
    "Harmonic": "model.fields",
    "Drag": "model.fields",
    "Charge": "model.fields",
    "Magnetic": "model.fields",
    "Turbulence": "model.fields",
    "Guide": "model.guides",
    "Pull": "model.pull",
    "FrameInput": "options",
    "FrameContacts": "report",
    "FrameReport": "report",
    "Simulation": "simulation",
    "SimulationError": "simulation",
    "SimulationOptions": "options",
    "Trajectory": "trajectory",
    "ContactProblem": "problem.problem",
    "SolverOptions": "problem.problem",
    "LCP": "problem.problem",
    "ContactResult": "problem.problem",
    "LcpResult": "problem.problem",
    "SolverResult": "problem.problem",
    "solve_contacts": "solve",
    "solve_lcp": "solve",
}

__all__ = sorted(_HOME)

# The same names for type checkers, which do not follow what is loaded later.
if TYPE_CHECKING:
    from .geometry.hulls import ConvexHull as ConvexHull
    from .geometry.round_shapes import Capsule as Capsule
    from .geometry.round_shapes import Cone as Cone
    from .geometry.round_shapes import Cylinder as Cylinder
    from .geometry.shapes import Box as Box
    from .geometry.shapes import ShapeError as ShapeError
    from .geometry.shapes import Sphere as Sphere
    from .geometry.triangle_mesh import TriangleMesh as TriangleMesh
    from .model.activation import Activation as Activation
    from .model.builder import ModelBuilder as ModelBuilder
    from .model.builder import ModelError as ModelError
    from .model.fields import Charge as Charge
    from .model.fields import Drag as Drag
    from .model.fields import Force as Force
    from .model.fields import Harmonic as Harmonic
    from .model.fields import Magnetic as Magnetic
    from .model.fields import Turbulence as Turbulence
    from .model.fields import Vortex as Vortex
    from .model.fields import Wind as Wind
    from .model.guides import Guide as Guide
    from .model.joints.axis import FREE as FREE
    from .model.joints.axis import LOCKED as LOCKED
    from .model.joints.axis import Axis as Axis
    from .model.joints.axis import Motor as Motor
    from .model.joints.axis import Spring as Spring
    from .model.joints.bond import Bond as Bond
    from .model.joints.cone_twist import ConeTwist as ConeTwist
    from .model.joints.fixed import Fixed as Fixed
    from .model.joints.gear import Gear as Gear
    from .model.joints.gear import RackAndPinion as RackAndPinion
    from .model.joints.generic import Generic as Generic
    from .model.joints.hinge import Hinge as Hinge
    from .model.joints.motor_joint import MotorJoint as MotorJoint
    from .model.joints.piston import Piston as Piston
    from .model.joints.point import Point as Point
    from .model.joints.rope import Rope as Rope
    from .model.joints.slider import Slider as Slider
    from .model.model import BodyKind as BodyKind
    from .model.model import Model as Model
    from .model.pull import Pull as Pull
    from .options import FrameInput as FrameInput
    from .options import SimulationOptions as SimulationOptions
    from .problem.problem import LCP as LCP
    from .problem.problem import ContactProblem as ContactProblem
    from .problem.problem import ContactResult as ContactResult
    from .problem.problem import LcpResult as LcpResult
    from .problem.problem import SolverOptions as SolverOptions
    from .problem.problem import SolverResult as SolverResult
    from .report import FrameContacts as FrameContacts
    from .report import FrameReport as FrameReport
    from .simulation import Simulation as Simulation
    from .simulation import SimulationError as SimulationError
    from .solve import solve_contacts as solve_contacts
    from .solve import solve_lcp as solve_lcp
    from .trajectory import Trajectory as Trajectory


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
