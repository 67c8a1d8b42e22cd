"""What the tests start in child Pythons; nothing of Cairn is imported here."""

import importlib
import json
import os
import sys


def tell(package, *words):
    """Print the words, the name of the core's module of shapes, what is loaded, and where modules are looked for."""
    shapes = importlib.import_module(f"{package}.solver_core.geometry.shapes")
    print(json.dumps([words, shapes.Box.__module__, sorted(sys.modules), sys.path]))


def tell_file(package):
    """Print where the core's module of shapes was found."""
    print(importlib.import_module(f"{package}.solver_core.geometry.shapes").__file__)


def wait_for_input():
    sys.stdin.read()


def fail():
    raise ValueError("no such thing")


def crash_at_the_second(folder, first, count):
    """In place of ``decompose_folder``: ends as a library does that goes wrong, at the second mesh."""
    from cairn.solver_core.geometry import decomposition

    for number in range(int(first), int(count)):
        if number == 1:
            os.abort()
        decomposition.decompose_folder(folder, str(number), str(number + 1))
