"""Which cases of a grid run on which Python by day: the two take turns, and at night each runs all.

What a kernel computes is machine code, the same for each Python with one Numba; ``.ci/run`` compares the bits of
models and of motions between them. So a case that asks kernels alone (``SHARED``) runs on one of the Pythons: if it
names a solver, on the one that compiles that solver's kernel, so that neither compiles all of them; else on the one
that a hash of its id says. Each such test runs on both with some of its cases, and one without parameters as it stands.

Half of a cold run compiles, and the kernels that only one file calls would be compiled on both. So files that ask
nothing but kernels (``WHOLE``) are one Python's but for the cases that name a solver, and so are those whose tests are
marked ``one_python``, because they take long. What can differ between the Pythons (Blender's module, the command line,
children, what leans on private parts of Numba) runs on both in full.
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
# Folders whose files are one Python's: what they call is compiled.
_OF_KERNELS = "collision", "constraints", "dynamics", "physics", "scenes", "solvers"
WHOLE = (*(f"tests/core/{name}/" for name in _OF_KERNELS), "tests/scenes/")
# A test with the first mark runs all its cases on each Python, one with the other none on the other Python.
EVERY, ONE = "every_python", "one_python"


def left_to_others(items, python=sys.version_info[:2]) -> list:
    """Those of the collected ``items`` that another Python than ``python`` runs by day."""
    place = PYTHONS.index(python) if python in PYTHONS else 0
    cases = defaultdict(list)
    left = []
    for item in items:
        if item.get_closest_marker(ONE):
            if turn_of_file(item) != place:
                left.append(item)
        elif is_of_one_python(item):
            turn = turn_of_solver(item.callspec.params) if hasattr(item, "callspec") else None
            if (turn_of_file(item) if turn is None else turn) != place:
                left.append(item)
        elif is_shared(item):
            cases[item.nodeid.partition("[")[0]].append(item)
    for those in cases.values():
        own = [item for item in those if turn_of_case(item) == place]
        # each Python runs each test
        own = own or [min(those, key=lambda item: _hash(item.nodeid))]
        left += [item for item in those if item not in own]
    return left


def is_of_one_python(item) -> bool:
    """Whether it is a test of a file that asks nothing but kernels."""
    return item.nodeid.startswith(WHOLE) and item.get_closest_marker(EVERY) is None


def is_shared(item) -> bool:
    """Whether it is a case of a test that asks kernels alone."""
    is_case = hasattr(item, "callspec") and item.get_closest_marker(EVERY) is None
    return is_case and item.nodeid.startswith(SHARED) and not item.nodeid.startswith(NOT_SHARED)


def turn_of_file(item) -> int:
    """Place in ``PYTHONS`` of the one that runs the item's file."""
    return turn_of_text(item.nodeid.partition("::")[0])


def turn_of_case(item) -> int:
    """Place in ``PYTHONS`` of the one that runs the case."""
    turn = turn_of_solver(item.callspec.params)
    return turn_of_text(item.nodeid) if turn is None else turn


def turn_of_text(text: str) -> int:
    """Place in ``PYTHONS`` that a hash deals: an order that nobody chose, and that no other test changes."""
    return _hash(text)[0] % len(PYTHONS)


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


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
