"""Start a function of the core that calls kernels in a Python process of its own, with this one's cache of kernels."""

import importlib
import json

from . import kernel, sources
from .child_process import start


def start_with_kernels(function, argument: str, stderr):
    """Start ``function(argument)`` in a child process, as ``child_process.start`` does, and do not wait for it.

    Parameters
    ----------
    function : function
        At the top level of a module of the core, which the child imports once it knows where compiled kernels are.
    argument : str
    stderr : file

    Returns
    -------
    subprocess.Popen
        To be passed to ``child_process.stop`` in the end.

    Raises
    ------
    OSError
        No Python can be started.
    """
    folder = kernel.chosen_folder()
    task = {
        "kernels": folder and str(folder),
        "fingerprint": sources.core_fingerprint(),
        "module": function.__module__,
        "function": function.__name__,
        "argument": argument,
    }
    return start(_run, json.dumps(task), stderr=stderr)


def _run(task: str) -> None:
    """Run in the child."""
    task = json.loads(task)
    if sources.core_fingerprint() != task["fingerprint"]:
        raise SystemExit("Cairn's files have changed since it was loaded")
    kernel.set_cache_folder(task["kernels"])
    getattr(importlib.import_module(task["module"]), task["function"])(task["argument"])
