"""Compiling ahead of the first frame, so that a user can be told and can stop in between."""

import numpy as np

from .model import BodyKind, ModelBuilder
from .shapes import Box, ShapeKind
from .simulation import SimulationOptions
from .stepper import compile_stages


def warm_up(options: SimulationOptions | None = None, progress=None, shape_kinds=(ShapeKind.BOX,)) -> None:
    """Compile, or load from the cache, all kernels that a simulation with these options calls.

    Parameters
    ----------
    options : SimulationOptions, optional
    progress : callable (done, total, name), optional
        Called before each kernel; it may raise to stop between two.
    shape_kinds : sequence of ShapeKind
        That the model has (``ShapeArrays.kind``).
    """
    options = options or SimulationOptions()
    builder = ModelBuilder()
    builder.add_body(shape=Box((1.0, 1.0, 0.0)), kind=BodyKind.STATIC)
    kinds = np.asarray(shape_kinds, np.int64)
    for done, total, name in compile_stages(builder.build(), kinds, options.method, options.friction):
        if progress is not None:
            progress(done, total, name)
