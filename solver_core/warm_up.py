"""Compiling ahead of the first frame, so that a user can be told and can stop in between."""

from .compile_lists import what_to_compile
from .compile_workers import compile_in_children
from .lanes import lane_count
from .shapes import ShapeKind
from .simulation import SimulationOptions


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
    yield from _compile((options.method, options.friction, [int(kind) for kind in shape_kinds], lanes))


def contact_steps(shape_kinds):
    """As ``warm_up_steps``, of what ``Simulation.overlaps`` calls before the first frame."""
    yield from _compile(("", "", [int(kind) for kind in shape_kinds], 1))


def _compile(task):
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
