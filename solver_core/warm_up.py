"""Compiling ahead of the first frame, so that a user can be told and can stop in between."""

import numpy as np

from .compile_workers import compile_in_children
from .entries import Compilation
from .lanes import lane_count
from .model import BodyKind, ModelBuilder
from .shapes import Box, ShapeKind
from .simulation import SimulationOptions
from .stepper import frame_to_compile


def warm_up(
    options: SimulationOptions | None = None, progress=None, shape_kinds=(ShapeKind.BOX,), body_count: int = 1
) -> None:
    """Compile, or load from the cache, all kernels that a simulation with these options calls.

    Parameters
    ----------
    options : SimulationOptions, optional
    progress : callable (done, total, name), optional
        Called before each kernel, and now and then while kernels are compiled; it may raise to stop.
    shape_kinds : sequence of ShapeKind
        That the model has (``ShapeArrays.kind``).
    body_count : int
        Of the model: with many, several threads share the work.
    """
    for done, total, name in warm_up_steps(options or SimulationOptions(), shape_kinds, body_count):
        if progress is not None:
            progress(done, total, name)


def warm_up_steps(options: SimulationOptions, shape_kinds, body_count: int = 1):
    """``warm_up`` as a generator. What is in no cache yet is compiled by children (``compile_workers``), if it can be.

    Yields
    ------
    tuple of (int, int, str)
        Kernels done so far, kernels in all, and the one that comes next or takes longest. Closing the generator stops.
    """
    lanes = lane_count(options.threads, body_count)
    task = options.method, options.friction, [int(kind) for kind in shape_kinds], lanes
    compilations = what_to_compile(*task)
    missing = [compilation.name for compilation in compilations if not compilation.is_cached()]
    total, cached = len(compilations), len(compilations) - len(missing)
    reached = 0
    for done, name in compile_in_children(missing, task):
        reached = cached + done
        yield reached, total, name
    # What they have done is only loaded here, in no time.
    reached = min(reached, total - 1)
    for done, compilation in enumerate(compilations):
        yield max(done, reached), total, compilation.name
        compilation.compile()


def what_to_compile(method: str, friction: str, shape_kinds, lanes: int) -> list[Compilation]:
    """All kernels that a simulation calls."""
    builder = ModelBuilder()
    builder.add_body(shape=Box((1.0, 1.0, 0.0)), kind=BodyKind.STATIC)
    return frame_to_compile(builder.build(), np.asarray(shape_kinds, np.int64), method, friction, lanes)
