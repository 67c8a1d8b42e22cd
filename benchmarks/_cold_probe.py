"""One start of a new process, as JSON on its output: what compiles or loads, and for how long.

Run by ``cold_start`` with the folder of the kernel cache in NUMBA_CACHE_DIR:
``python -m benchmarks._cold_probe METHOD FRICTION [alone]``. ``alone`` compiles without children, and lists what.
"""

import json
import os
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
        self.done.append(
            {
                "function": f"{module}.{function.__name__}",
                "types": [str(kind) for kind in event.data["args"]],
                "own": spent - inner,
                "with inner": spent,
                "depth": len(self.open),
            }
        )
        if self.open:
            self.open[-1][2] += spent


def main(method, friction, alone=""):
    """Start, compile stage by stage, play one frame, and tell."""
    from numba.core import event

    compilations = _Compilations()
    listener = type("Listener", (event.Listener,), {"on_start": None, "on_end": None})
    listener.on_start = lambda self, data: compilations.on_start(data)
    listener.on_end = lambda self, data: compilations.on_end(data)
    event.register("numba:compile", listener())

    from cairn.solver_core import scenes
    from cairn.solver_core.compiled import compile_processes
    from cairn.solver_core.options import SimulationOptions
    from cairn.solver_core.simulation import Simulation
    from cairn.solver_core.warm_up import warm_up

    if alone:
        compile_processes.child_count = lambda: 0
    imported = time.perf_counter()
    options = SimulationOptions(method=method, friction=friction)
    stages, begun = {}, []

    def progress(done, total, name):
        end_stage()
        begun[:] = name, time.thread_time()

    def end_stage():
        if begun:
            name, start = begun
            stages[name] = stages.get(name, 0.0) + time.thread_time() - start

    warm_up(options, progress)
    end_stage()
    compiled = time.perf_counter()
    Simulation(scenes.stack(10).build_model(), options).advance_frame()
    ended = time.perf_counter()
    times = os.times()
    print(
        json.dumps(
            {
                "import": imported - started,
                "kernels": compiled - imported,
                "frame": ended - compiled,
                "wall": ended - started,
                "cpu": time.process_time(),
                "children": times.children_user + times.children_system,
                "stages": stages,
                "compilations": compilations.done,
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
