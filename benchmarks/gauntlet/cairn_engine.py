"""A scene in Cairn: at its defaults, on one thread, with bodies kept awake."""

from dataclasses import replace
from time import process_time

import numpy as np

from cairn.solver_core import (
    BodyKind,
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Model,
    ModelBuilder,
    Simulation,
    SimulationError,
    SimulationOptions,
    Sphere,
)
from cairn.solver_core.model.compound import Compound
from cairn.solver_core.options import SMALL_STEPS_OF_QUALITY

from .scene import GRAVITY, matrix

FRAME_RATE = 24.0
OPTIONS = SimulationOptions(frame_rate=FRAME_RATE, threads=1, sleeping=False)
QUALITIES = tuple(SMALL_STEPS_OF_QUALITY)

# kinds of shapes that this process has compiled for
_compiled = set()


def options_of(quality) -> SimulationOptions:
    """The benchmark's options, with this quality or, if it is None, the default one."""
    return replace(OPTIONS, quality=quality) if quality else OPTIONS


class CairnEngine:
    """One scene.

    Parameters
    ----------
    scene : Scene
    options : SimulationOptions, optional

    Attributes
    ----------
    missed : list of bool
        Of each frame, whether a solve ended above its tolerance.
    residual : list of float
        Of each frame, the largest residual, relative to its problem's scale.
    """

    name = "Cairn"

    def __init__(self, scene, options=OPTIONS):
        model = build_model(scene)
        kinds = frozenset(model.arrays.shapes.kind.tolist()), options.method, options.friction
        if kinds not in _compiled:
            Simulation(model, options).advance_frame()
            _compiled.add(kinds)
        self._simulation = Simulation(model, options)
        self.missed, self.residual = [], []

    def play(self, frames) -> tuple[np.ndarray, list]:
        """Some frames; fewer where the motion is no longer finite.

        Parameters
        ----------
        frames : int

        Returns
        -------
        seconds : float64 [frames]
            Processor time of each, without reading the state.
        states : list
            Position [body_count, 3], orientation [body_count, 4] and velocities [body_count, 6] at each frame's end.
        """
        seconds, states = np.zeros(frames), []
        for frame in range(frames):
            started = process_time()
            try:
                report = self._simulation.advance_frame()
            except SimulationError:
                break
            seconds[frame] = process_time() - started
            self.missed.append(report.missed > 0)
            self.residual.append(float(report.residual))
            states.append((*self._simulation.poses(), self._simulation.velocities()))
        return seconds, states


def build_model(scene) -> Model:
    """The scene as Cairn's model, body by body.

    Parameters
    ----------
    scene : Scene
    """
    builder = ModelBuilder(gravity=(0.0, 0.0, -GRAVITY))
    for number, body in enumerate(scene.bodies):
        shapes = [_shape(part) for part in body.parts]
        builder.add_body(
            name=f"body {number}",
            shape=shapes[0] if len(shapes) == 1 else Compound(shapes),
            kind=BodyKind.STATIC if body.static else BodyKind.DYNAMIC,
            mass=body.mass,
            position=body.position,
            orientation=body.orientation,
            friction=body.friction,
            restitution=body.restitution,
            linear_velocity=body.velocity,
            angular_velocity=body.spin,
        )
    return builder.build()


def inertias(model) -> np.ndarray:
    """Inertia about the centres of mass in the user frames [body_count, 3, 3], from the shapes' closed forms."""
    axes = matrix(model.frame_orientation)  # the user frame in the body frame, whose axes are the principal ones
    return np.einsum("bji,bj,bjk->bik", axes, model.arrays.inertia, axes)


def _shape(part):
    if part.kind == "hull":
        return ConvexHull.from_points(part.points)
    if part.kind == "sphere":
        return Sphere(*part.numbers, part.position)
    if part.kind == "box":
        return Box(part.numbers, part.position, part.orientation)
    shape = {"capsule": Capsule, "cylinder": Cylinder, "cone": Cone}[part.kind]
    return shape(*part.numbers, part.position, part.orientation)
