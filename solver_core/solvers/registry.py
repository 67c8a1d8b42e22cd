"""The solvers by name. A solver's file registers itself at its foot; ``_FILES`` says where a name lives,
so that only the solver that is used is loaded and compiled.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass

# name -> file in this folder; the order is the one in which users see them
_FILES = {"nncg": "nncg", "pgs": "pgs"}

METHODS = tuple(_FILES)

_registered: dict[str, "Method"] = {}


@dataclass(frozen=True)
class Method:
    """One solver of contact problems.

    Attributes
    ----------
    name, title : str
        As options name it; as users see it.
    kernel : callable
        (rows, islands, island, free_velocity, velocity, workspace, settings)
        -> (status, iterations, residual, scale, worst block).
    frictions : tuple of str
        Models of friction that it knows.
    max_iterations : int
        Its own limit.
    source : str
    """

    name: str
    title: str
    kernel: Callable
    frictions: tuple[str, ...]
    max_iterations: int
    source: str


def register(method: Method) -> None:
    """Make a solver known; called at the foot of its file."""
    _registered[method.name] = method


def find_method(name: str, friction: str = "box") -> Method:
    """Load the solver called ``name``.

    Raises
    ------
    ValueError
        There is no such solver, or it does not know this model of friction.
    """
    if name not in _FILES:
        raise ValueError(f"there is no solver {name!r}; choose one of {', '.join(METHODS)}")
    if name not in _registered:
        importlib.import_module(f".{_FILES[name]}", __package__)
    method = _registered[name]
    if friction not in method.frictions:
        raise ValueError(f"solver {name!r} knows friction {', '.join(method.frictions)}, not {friction!r}")
    return method
