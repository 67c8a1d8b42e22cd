"""Start a function of the core in a Python process of its own.

    child = start(decompose_file, "mesh.npz", "parts.npz")
    while child.poll() is None:  # a child that fails ends with a return code that is not 0
        yield
    stop(child)  # in a ``finally``: also ends one that is still at work

``multiprocessing`` would import ``__main__`` anew and use threads, and inside Blender only Blender runs the package's
own ``__init__``. So this file is also the script that the child runs: it puts empty modules in the place of the
packages above the core, under the names that they have here (Numba's cache knows kernels by their module's name), and
imports the function's module. The child has no ``bpy``. It runs this Python (inside Blender, Blender's own) and finds
the same packages.
"""

import contextlib
import importlib
import json
import os
import subprocess
import sys
import types
from pathlib import Path


def start(function, *arguments: str, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
    """Start ``function(*arguments)`` in a child process and do not wait for it.

    Parameters
    ----------
    function : function
        At the top level of a module of the core; the child imports that module.
    *arguments : str
    stdin, stdout, stderr
        As of ``subprocess.Popen``. The pipe to ``stdin`` ends when this process ends, for whatever reason: a child
        that runs until it is told to stop should read it.

    Returns
    -------
    subprocess.Popen
        To be passed to ``stop`` in the end.

    Raises
    ------
    OSError
        No Python can be started.
    """
    if not sys.executable:
        raise OSError("this Python does not know its own executable")
    task = {
        "core": __package__.rpartition(".")[0],
        # as it is known here, through a link or not: Numba's cache knows kernels by their files' paths
        "folder": str(Path(__file__).absolute().parents[2]),
        "module": function.__module__,
        "function": function.__name__,
        "arguments": arguments,
    }
    # The child searches the folders of this process only: not the script's (-P), nor those that ``site`` adds (-S).
    words = [sys.executable, "-P", "-S", __file__, json.dumps(task)]
    return subprocess.Popen(
        words,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        env=_environment(),
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


def stop(child: subprocess.Popen) -> None:
    """End a child, even if it is still at work, and close its pipes."""
    if child.poll() is None:
        child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):  # a child that has ended reads no more
                pipe.close()


def _environment() -> dict[str, str]:
    environment = dict(os.environ)
    if sys.flags.ignore_environment:  # as Blender does: the variables are meant for another Python
        environment = {name: value for name, value in environment.items() if not name.startswith("PYTHON")}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    return environment


def _run(task: dict) -> None:
    """Run in the child."""
    above = task["core"].rpartition(".")[0]
    names = above.split(".") if above else []
    for count in range(1, len(names) + 1):
        name = ".".join(names[:count])
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [task["folder"]] if name == above else []
    function = getattr(importlib.import_module(task["module"]), task["function"])
    function(*task["arguments"])


if __name__ == "__main__":
    _run(json.loads(sys.argv[1]))
