"""Take a scene apart that fails: the smallest one that fails in the same way."""

import copy
from collections.abc import Callable, Iterator


def shrink(scene: dict, fails: Callable[[dict], bool], patience: int = 400) -> dict:
    """The scene without all that it fails without.

    Parameters
    ----------
    scene : dict
    fails : callable (dict) -> bool
        Whether a scene fails as this one does.
    patience : int
        Most scenes that are tried.
    """
    tried = 0
    smaller = True
    while smaller:
        smaller = False
        for candidate in _simpler(scene):
            tried += 1
            if tried > patience:
                return scene
            if fails(candidate):
                scene, smaller = candidate, True
                break
    return scene


def _simpler(scene) -> Iterator[dict]:
    """Scenes with something left out, the most first."""
    bodies = scene["bodies"]
    for half in (slice(0, len(bodies) // 2), slice(len(bodies) // 2, None)):
        gone = set(range(*half.indices(len(bodies))))
        if 1 < len(gone) < len(bodies):
            yield without_bodies(scene, gone)
    if scene["frames"] > 1:
        yield scene | {"frames": scene["frames"] // 2}
        yield scene | {"frames": scene["frames"] - 1}
    for number in reversed(range(len(bodies))):
        if len(bodies) > 1:
            yield without_bodies(scene, {number})
    for number in reversed(range(len(scene["joints"]))):
        yield scene | {"joints": scene["joints"][:number] + scene["joints"][number + 1 :]}
    for number in reversed(range(len(scene.get("fields", ())))):
        yield scene | {"fields": scene["fields"][:number] + scene["fields"][number + 1 :]}
    for number, body in enumerate(bodies):
        for name in body.keys() - {"shape", "kind", "position"}:
            yield _with_body(scene, number, {key: value for key, value in body.items() if key != name})
        if body["shape"]["type"] == "Compound":
            for part in body["shape"]["parts"]:
                yield _with_body(scene, number, body | {"shape": part})
        if body["shape"]["type"] in ("ConvexHull", "Compound", "Cone", "Cylinder", "Capsule"):
            yield _with_body(scene, number, body | {"shape": {"type": "Sphere", "radius": 0.3}})
    for name in scene["options"].keys() - {"frame_rate"}:
        yield scene | {"options": {key: value for key, value in scene["options"].items() if key != name}}
    for name in list(scene["driven"]):
        rest = {key: value for key, value in scene["driven"].items() if key != name}
        yield _with_body(scene | {"driven": rest}, int(name), bodies[int(name)] | {"kind": "STATIC"})


def _with_body(scene, number, body):
    return scene | {"bodies": [*scene["bodies"][:number], body, *scene["bodies"][number + 1 :]]}


def without_bodies(scene: dict, gone: set[int]) -> dict:
    """The scene without some bodies, and without what hangs on them."""
    kept = [number for number in range(len(scene["bodies"])) if number not in gone]
    place = {number: at for at, number in enumerate(kept)}
    joints = []
    for joint in copy.deepcopy(scene["joints"]):
        if joint["a"] in gone or joint["b"] in gone:
            continue
        joint["a"], joint["b"] = place[joint["a"]], None if joint["b"] is None else place[joint["b"]]
        joints.append(joint)
    driven = {str(place[int(name)]): value for name, value in scene["driven"].items() if int(name) not in gone}
    return scene | {"bodies": [scene["bodies"][number] for number in kept], "joints": joints, "driven": driven}
