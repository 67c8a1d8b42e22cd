"""Check scenes one after the other, a line each: ``python -m benchmarks.fuzz.worker SEED SEED`` or ``... FILE``.

``--matter`` before them gives the scenes of these seeds matter, forces and so on (``matter``).
A process of its own, so that a scene that crashes or hangs it is known, and the others go on.
"""

import json
import sys
from pathlib import Path

from .oracles import check
from .scenes import load, random_scene


def main() -> int:
    """Say before each scene which it is, and then what was found."""
    matter = "--matter" in sys.argv
    arguments = [word for word in sys.argv[1:] if word != "--matter"]
    scenes = range(*map(int, arguments)) if len(arguments) == 2 else arguments
    for name in scenes:
        print(json.dumps({"begins": name}), flush=True)
        found = check(load(Path(name)) if isinstance(name, str) else random_scene(name, matter))
        print(json.dumps({"name": name, "kind": found and found.kind, "text": found and found.text}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
