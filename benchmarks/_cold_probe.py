"""One start of a new process, as JSON on its output: what compiles or loads, and for how long.

Run by ``cold_start`` with the folder of the kernel cache in NUMBA_CACHE_DIR:
``python -m benchmarks._cold_probe METHOD FRICTION``.
"""

import json
import sys
import time

started = time.perf_counter()


class _Compilations:
    """Listens to Numba: thread seconds of each compilation, without those that it starts itself."""

    def __init__(self):
        self.open, self.done = [], []

    def on_start(self, event):
        self.open.append([event.data["dispatcher"].py_func, time.thread_time(), 0.0])

    def on_end(self, event):
        function, begun, inner = self.open.pop()
        spent = time.thread_time() - begun
        # Kernels that are made from text have no module.
        module = (function.__module__ or "made").removeprefix("cairn.solver_core.")
        name = f"{module}.{function.__name__}"
        self.done.append({"function": name, "own": spent - inner, "with inner": spent, "depth": len(self.open)})
        if self.open:
            self.open[-1][2] += spent


def main(method, friction):
    """Start, compile stage by stage, play one frame, and tell."""
    from numba.core import event

    compilations = _Compilations()
    listener = type("Listener", (event.Listener,), {"on_start": None, "on_end": None})
    listener.on_start = lambda self, data: compilations.on_start(data)
    listener.on_end = lambda self, data: compilations.on_end(data)
    event.register("numba:compile", listener())

    from cairn.solver_core import scenes
    from cairn.solver_core.simulation import Simulation, SimulationOptions
    from cairn.solver_core.warm_up import warm_up

    imported = time.perf_counter()
    options = SimulationOptions(method=method, friction=friction)
    stages, begun = [], []

    def progress(done, total, name):
        if begun:
            stages.append((begun[-1][0], time.thread_time() - begun[-1][1]))
        begun.append((name, time.thread_time()))

    warm_up(options, progress)
    stages.append((begun[-1][0], time.thread_time() - begun[-1][1]))
    compiled = time.perf_counter()
    Simulation(scenes.stack(10).build_model(), options).advance_frame()
    ended = time.perf_counter()
    print(
        json.dumps(
            {
                "import": imported - started,
                "kernels": compiled - imported,
                "frame": ended - compiled,
                "wall": ended - started,
                "cpu": time.process_time(),
                "stages": dict(stages),
                "compilations": compilations.done,
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
