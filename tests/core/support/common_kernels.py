"""The kernels that most tests call, compiled side by side before the first test runs.

Compiling them is most of the time of a first run. Left to the tests, two processes compile the same kernels at the same
time, or one of them is left with the longest at the end.
"""

from itertools import product

from cairn.solver_core.compile_plan import what_to_compile
from cairn.solver_core.compiled.compile_processes import compile_in_children
from cairn.solver_core.compiled.function_tables import Compilation
from cairn.solver_core.geometry.shapes import ShapeKind
from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.solvers.registry import METHODS, find_method

# The methods that take longest to compile, in that order; they come first, so that no process is left with one.
LONGEST = ("auto", "fischer_newton", "alm_newton", "lemke", "lemke_structural", "lemke_reduced", "nncg", "staggered")


def _by_time(method: str) -> int:
    return LONGEST.index(method) if method in LONGEST else len(LONGEST)


def common_kernels(methods=METHODS) -> list[Compilation]:
    """What simulations of any shape call, with each solver, with joints and without, by one worker and by two."""
    kinds = [int(kind) for kind in ShapeKind]
    found = {}
    for method in sorted(methods, key=_by_time):
        for friction, workers, joints in product(find_method(method).frictions, (1, 2), (False, True)):
            for compilation in what_to_compile(method, friction, kinds, workers, joints):
                name = f"{method} {friction} {workers} {joints}: {compilation.name}"
                found.setdefault(compilation.identity(), compilation._replace(name=name))
    return list(found.values())


def methods_named(ids) -> list[str]:
    """The solvers that the ids of these tests name among their parameters, and the default one."""
    words = {word for name in ids for word in name.partition("[")[2].removesuffix("]").split("-")}
    return [method for method in METHODS if method in words or method == SimulationOptions().method]


def compile_common_kernels(ids) -> None:
    """Compile what these tests need and the cache on disk lacks, in as many processes as there are cores."""
    methods = methods_named(ids)
    missing = [compilation.name for compilation in common_kernels(methods) if not compilation.is_cached()]
    for _ in compile_in_children(common_kernels, missing, (methods,)):
        pass
