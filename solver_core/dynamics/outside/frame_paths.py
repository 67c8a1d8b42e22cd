"""What goes on cubic paths in a frame: driven bodies, meshes that deform and round shapes that grow (``driven_paths``).

Such a frame is simulated substep by substep, each with velocities of its own; to a frame's kernel they are constant.
"""

import numpy as np

from .driven_paths import aim_on_paths, allocate_paths, hermite, lay_paths
from .shape_parameters import GrowthPath, VertexPaths


class FramePaths:
    """Paths of one frame.

    Parameters
    ----------
    model : Model
    state : StateArrays
        At the frame's beginning; the velocities of bodies on curved paths become the means along these.
    workspace : CollisionWorkspace
    frame_input : FrameInput
    target : tuple or None
        Position and orientation of all body frames at the frame's end.
    meshes, shapes
        Of ``mesh_targets`` and ``shape_targets``, in the order of the input.
    duration : float
        [s], above 0.

    Raises
    ------
    ValueError
        Rates have the wrong shape, or hold NaN where they must not.
    """

    def __init__(self, model, state, workspace, frame_input, target, meshes, shapes, duration):
        self._state = state
        self._bodies = None
        if frame_input.velocity is not None and target is not None:
            self._lay(model, frame_input.velocity, target, duration)
        self._surfaces = []
        for kind, given, targets, rates in (
            (VertexPaths, frame_input.vertices, meshes, frame_input.vertex_velocities),
            (GrowthPath, frame_input.shapes, shapes, frame_input.shape_rates),
        ):
            for key, aimed in zip(given or (), targets, strict=True):
                if rates and key in rates:
                    wanted = (2, *np.shape(given[key])) if kind is VertexPaths else (2, 5)
                    name = model.names[key[0] if isinstance(key, tuple) else key]
                    self._surfaces.append(kind(model, workspace, aimed, _rates(rates[key], wanted, name), duration))

    def __bool__(self):
        """Whether anything is on a curved path."""
        return self._bodies is not None or bool(self._surfaces)

    @property
    def reaches(self):
        """Of surfaces on such paths: shapes that change, and how far these may go [m]."""
        return [surface.reach for surface in self._surfaces]

    def aim(self, substep, substeps, h):
        """Give all that is on a path the velocity that leads along it through a substep, counted from 0."""
        share = (substep + 1) / substeps
        if self._bodies is not None:
            state = self._state
            aim_on_paths(self._bodies, share, substep / substeps, state.position, state.orientation, state.velocity, h)
        for surface in self._surfaces:
            surface.aim(hermite(share), h)

    def end(self):
        """Leave driven bodies the velocities that they have at the frame's end."""
        if self._bodies is not None:
            curved = self._bodies.is_curved
            self._state.velocity[curved] = self._bodies.end_velocity[curved]

    def _lay(self, model, given, target, duration):
        given, state = np.array(given, float), self._state
        if given.shape != (2, *state.velocity.shape):
            raise ValueError(f"velocity has the shape {given.shape}; it must be {(2, *state.velocity.shape)}")
        paths, present = allocate_paths(model.body_count), (state.position, state.orientation)
        if lay_paths(state.kind, model.frame_position, present, target, given, duration, state.velocity, paths):
            self._bodies = paths


def _rates(given, shape, name):
    rates = np.array(given, float)
    if rates.shape != shape:
        raise ValueError(f"rates of {name} have the shape {rates.shape}; it must be {shape}")
    if not np.all(np.isfinite(rates)):
        raise ValueError(f"rates of {name} hold NaN or infinity")
    return rates
