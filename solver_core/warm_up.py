"""Compiling ahead of the first frame, so that a user sees progress and can stop in between."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from .compile_plan import what_to_compile
from .compiled.compile_processes import compile_in_children, typical_seconds
from .geometry.shapes import ShapeKind
from .options import SimulationOptions
from .parallel.workers import worker_count

# Work done so far, work in all [s of a core, roughly], and the name of a kernel. What is only loaded is no work.
Step: TypeAlias = tuple[float, float, str]

# Tasks that are done in this process: looking again costs a small bake some ten milliseconds.
_done_tasks: set[tuple] = set()


def warm_up(
    options: SimulationOptions | None = None,
    progress: Callable[[float, float, str], object] | None = None,
    shape_kinds: Iterable[int] = (ShapeKind.BOX,),
    body_count: int = 1,
    joints: bool = False,
    waits: bool = False,
    fields: bool = False,
    guides: bool = False,
    rolls: bool = False,
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
    joints, fields, guides : bool
        Whether the model has any.
    waits : bool
        Whether it has bodies that wait for an activation.
    rolls : bool
        Whether it has rolling or spinning friction.
    """
    chosen = options or SimulationOptions()
    for done, total, name in warm_up_steps(chosen, shape_kinds, body_count, joints, waits, fields, guides, rolls):
        if progress is not None:
            progress(done, total, name)


def warm_up_steps(
    options: SimulationOptions,
    shape_kinds: Iterable[int],
    body_count: int = 1,
    joints: bool = False,
    waits: bool = False,
    fields: bool = False,
    guides: bool = False,
    rolls: bool = False,
) -> Iterator[Step]:
    """``warm_up`` as a generator. Children (``compile_processes``) compile what is in no cache yet, if they can.

    Yields
    ------
    tuple of (float, float, str)
        Work done so far and work in all, as ``compile_processes.typical_seconds`` estimates it, and the kernel that
        comes next or takes longest. Closing the generator stops.
    """
    workers = worker_count(options.threads, body_count)
    kinds = [int(kind) for kind in shape_kinds]
    notes = options.contacts or waits
    yield from _compile((options.method, options.friction, kinds, workers, joints, notes, waits, fields, guides, rolls))


def contact_steps(shape_kinds: Iterable[int]) -> Iterator[Step]:
    """As ``warm_up_steps``, of what ``Simulation.overlaps`` calls before the first frame."""
    yield from _compile(("", "", [int(kind) for kind in shape_kinds], 1, False, False, False))


def _compile(task):
    method, friction, kinds, *others = task
    key = method, friction, frozenset(kinds), *others
    if key in _done_tasks:
        return
    compilations = what_to_compile(*task)
    missing = [compilation.name for compilation in compilations if not compilation.is_cached()]
    total = sum(typical_seconds(name) for name in missing)
    reached = 0.0
    for done, name in compile_in_children(what_to_compile, missing, task):
        reached = done
        yield reached, total, name
    # What they have done is only loaded here, in no time.
    done = 0.0
    for compilation in compilations:
        yield max(done, reached), total, compilation.name
        compilation.compile()
        if compilation.name in missing:
            done += typical_seconds(compilation.name)
    _done_tasks.add(key)
