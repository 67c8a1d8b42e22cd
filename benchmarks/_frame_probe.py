"""Plays ready-made scenes when told to, for ``base_processor``: lines of JSON in, lines of JSON out.

``["SCENE", 12]`` gives the processor's milliseconds of each of the scene's next 12 frames, and a hash of the state
after them; a scene begins when it is first named. The processor to compile for is in ``NUMBA_CPU_NAME``, or it is this
machine's.
"""

import json
import sys
import time


def main():
    """Answer until the input ends."""
    from cairn.solver_core import scenes
    from cairn.solver_core.options import SimulationOptions
    from cairn.solver_core.simulation import Simulation

    running = {}
    for line in sys.stdin:
        name, count = json.loads(line)
        if name not in running:
            running[name] = Simulation(scenes.SCENES[name]().build_model(), SimulationOptions(threads=1))
        times = []
        for _ in range(count):
            started = time.process_time_ns()
            running[name].advance_frame()
            times.append((time.process_time_ns() - started) / 1e6)
        print(json.dumps([times, running[name].digest()]), flush=True)


if __name__ == "__main__":
    main()
