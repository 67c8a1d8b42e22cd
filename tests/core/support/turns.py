"""Which cases of a grid run on which Python by day: the two take turns, and at night each runs all.

What a kernel computes is machine code, the same for each Python with one Numba; ``.ci/run`` compares the bits of
models and of motions between them. So a case that asks kernels alone (``SHARED``) runs on one of the Pythons: if it
names a solver, on the one that compiles that solver's kernel, so that neither compiles all of them; else on the one
whose turn it is among the cases of its test. Each test runs on both with some of its cases, and one without parameters
as it stands. What can differ between the Pythons (Blender's module, the command line, children, what leans on private
parts of Numba) runs on both in full.
"""

import hashlib
import sys
from collections import defaultdict

from cairn.solver_core.options import SimulationOptions
from cairn.solver_core.solvers.registry import LCP_METHODS, METHODS, find_method

PYTHONS = ((3, 11), (3, 13))
# Folders of tests whose cases the Pythons share, and those in them that lean on Python itself.
SHARED = ("tests/core/", "tests/project/", "tests/scenes/")
NOT_SHARED = ("tests/core/compiled/", "tests/core/parallel/")
# A test with this mark runs all its cases on each Python.
MARK = "every_python"


def left_to_others(items, python=sys.version_info[:2]) -> list:
    """Those of the collected ``items`` that another Python than ``python`` runs by day."""
    cases = defaultdict(list)
    for item in items:
        if is_shared(item):
            cases[item.nodeid.partition("[")[0]].append(item)
    place = PYTHONS.index(python) if python in PYTHONS else 0
    left = []
    for those in cases.values():
        turns = turns_of({item.nodeid: turn_of_solver(item.callspec.params) for item in those})
        left += [item for item in those if place not in turns[item.nodeid]]
    return left


def is_shared(item) -> bool:
    """Whether it is a case of a test that asks kernels alone."""
    is_case = hasattr(item, "callspec") and item.get_closest_marker(MARK) is None
    return is_case and item.nodeid.startswith(SHARED) and not item.nodeid.startswith(NOT_SHARED)


def turns_of(solvers: dict[str, int | None]) -> dict[str, set[int]]:
    """Places in ``PYTHONS`` of those that run each case of one test.

    Parameters
    ----------
    solvers : dict
        Case's id -> the place that its solver gives it (``turn_of_solver``).
    """
    # an order that nobody chose: neighbours in a grid have nothing to do with each other in it
    ordered = sorted(solvers, key=lambda name: hashlib.sha256(name.encode()).digest())
    turns, free = {}, 0
    for name in ordered:
        if solvers[name] is None:
            turns[name] = {free % len(PYTHONS)}
            free += 1
        else:
            turns[name] = {solvers[name]}
    for place in range(len(PYTHONS)):
        if not any(place in taken for taken in turns.values()):
            turns[ordered[0]].add(place)
    return turns


def turn_of_solver(parameters) -> int | None:
    """Place in ``PYTHONS`` of the one that compiles what a case with these parameters names.

    None if it names no solver, or the default one, which each has compiled anyway.
    """
    method, friction = parameters.get("method"), parameters.get("friction")
    if method in METHODS:
        known = find_method(method).frictions
        return _TURNS.get(find_method(method, friction if friction in known else known[0]).kernel)
    return _TOOLBOX.index(method) % len(PYTHONS) if method in _TOOLBOX else None


def _kernels_in_turn() -> dict:
    default = find_method(SimulationOptions().method).kernel
    methods = [find_method(method, friction) for method in METHODS for friction in find_method(method).frictions]
    kernels = dict.fromkeys(method.kernel for method in methods if method.kernel is not default)
    return {kernel: number % len(PYTHONS) for number, kernel in enumerate(kernels)}


_TURNS = _kernels_in_turn()
# Methods of the toolbox on (A, b) that have no namesake among those.
_TOOLBOX = [method for method in LCP_METHODS if method not in METHODS]
