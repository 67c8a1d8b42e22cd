"""Cairn's simulation core: contact problems, their solvers and time stepping. It knows nothing of Blender.

The public names are loaded at first use, because building a model needs NumPy only while a simulation loads Numba.
"""

import importlib

_HOME = {
    "Box": "shapes",
    "Sphere": "shapes",
    "Capsule": "round_shapes",
    "Cylinder": "round_shapes",
    "Cone": "round_shapes",
    "ConvexHull": "shapes",
    "TriangleMesh": "triangle_mesh",
    "ShapeError": "shapes",
    "BodyKind": "model",
    "Model": "model",
    "ModelBuilder": "model",
    "ModelError": "model",
    "FrameInput": "simulation",
    "FrameReport": "simulation",
    "Simulation": "simulation",
    "SimulationError": "simulation",
    "SimulationOptions": "simulation",
    "Trajectory": "trajectory",
    "ContactProblem": "problem",
    "SolverOptions": "problem",
    "LCP": "problem",
    "ContactResult": "problem",
    "LcpResult": "problem",
    "SolverResult": "problem",
    "solve_contacts": "solve",
    "solve_lcp": "solve",
}

__all__ = sorted(_HOME)


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
