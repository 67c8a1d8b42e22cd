"""Random scenes as plain data, which can be stored, taken apart piece by piece, and built again."""

import json
import math
from pathlib import Path

import numpy as np

from cairn.solver_core import (
    Axis,
    BodyKind,
    Box,
    Capsule,
    Cone,
    ConeTwist,
    ConvexHull,
    Cylinder,
    Fixed,
    Generic,
    Hinge,
    Motor,
    Piston,
    Point,
    Rope,
    Slider,
    Sphere,
    Spring,
    TriangleMesh,
)
from cairn.solver_core.model.builder import ModelBuilder
from cairn.solver_core.model.compound import Compound
from cairn.solver_core.model.model import Model

from .matter import add_calls, add_matter, built_joint, settings_of

# What makes a scene hard: each has some of these.
EXTREMES = ("heavy", "sizes", "far", "coincident", "needles", "spins", "fast", "crowded")
MOST_BODIES = 14
GRAVITY = 9.81
FLOOR = 0.0


def random_scene(seed: int, matter: bool = False) -> dict:
    """A scene, {"gravity", "bodies", "joints", "driven", "options", "frames"}; the same for the same seed.

    With ``matter`` bodies are made of something, pushed, led and kept waiting, and there are fields (``matter``).
    """
    random = np.random.default_rng([seed, 46])
    chance = random.random
    extremes = {name for name in EXTREMES if chance() < 0.15}
    count = 1 + int(MOST_BODIES * chance() ** 1.5)
    gravity = [0.0, 0.0, -GRAVITY] if chance() < 0.85 else (random.normal(size=3) * 5.0 * (chance() < 0.5)).tolist()
    center = np.zeros(3)
    if "far" in extremes:
        center[:2] = random.uniform(-1.0, 1.0, 2) * 10.0 ** random.uniform(2, 4)
    scene: dict = {"gravity": gravity, "bodies": [], "joints": [], "driven": {}, "frames": int(random.integers(6, 30))}
    has_floor = chance() < 0.85
    if has_floor:
        scene["bodies"].append(_ground(random, center))
    first = len(scene["bodies"])
    for _ in range(count):
        scene["bodies"].append(_body(random, extremes, center))
    if "coincident" in extremes:
        for body in scene["bodies"][first + 1 :: 2]:
            body["position"] = list(scene["bodies"][first]["position"])
    if len(scene["bodies"]) > 1 and chance() < 0.5:
        for _ in range(int(random.integers(1, count + 1))):
            scene["joints"].append(_joint(random, scene["bodies"], first))
    if chance() < 0.25:
        number = str(int(random.integers(first, len(scene["bodies"]))))
        scene["bodies"][int(number)]["kind"] = "KINEMATIC"
        scene["driven"][number] = (random.normal(size=6) * ([1.0] * 3 + [2.0] * 3)).tolist()
    scene["options"] = _options(random)
    return add_matter(scene, seed) if matter else scene


def _ground(random, center):
    if random.random() < 0.6:
        shape: dict = {"type": "Box", "half_extents": [500.0, 500.0, 5.0]}
        place = [center[0], center[1], FLOOR - 5.0]
    else:
        count, side = int(random.integers(3, 12)), 60.0
        line = np.linspace(-0.5 * side, 0.5 * side, count)
        heights = random.normal(size=(count, count)) * 0.5 * random.random()
        vertices = [[x, y, heights[i, j]] for i, x in enumerate(line) for j, y in enumerate(line)]
        corners = [(i * count + j, (i + 1) * count + j) for i in range(count - 1) for j in range(count - 1)]
        triangles = [triangle for a, b in corners for triangle in ((a, b, b + 1), (a, b + 1, a + 1))]
        shape = {"type": "TriangleMesh", "vertices": vertices, "triangles": triangles}
        place = [center[0], center[1], FLOOR - 1.0]
    return {"shape": shape, "kind": "STATIC", "position": place, "friction": float(random.random())}


def _body(random, extremes, center):
    chance = random.random
    size = 10.0 ** random.uniform(-1, 0.3)
    if "sizes" in extremes:
        size = 10.0 ** random.uniform(-2.5, 3)
    spread = 1.0 if "crowded" in extremes else 4.0
    place = center + random.uniform(-1, 1, 3) * spread * [1, 1, 0.5] + [0, 0, 0.5 * spread + size]
    body = {
        "shape": _shape(random, size, "needles" in extremes),
        "mass": float(10.0 ** (random.uniform(-6, 13) if "heavy" in extremes else random.uniform(-1, 2))),
        "position": place.tolist(),
        "orientation": random.normal(size=4).tolist() if chance() < 0.7 else [1.0, 0.0, 0.0, 0.0],
        "kind": "STATIC" if chance() < 0.08 else "DYNAMIC",
        "friction": float(chance() * 2.0 * (chance() < 0.8)),
        "restitution": float(chance() * (chance() < 0.4)),
    }
    if chance() < 0.3:
        body["linear_damping"], body["angular_damping"] = float(0.2 * chance()), float(0.2 * chance())
    is_static = body["kind"] == "STATIC"
    if chance() < 0.4 and not is_static:
        speed = 10.0 ** random.uniform(1, 3) if "fast" in extremes else 3.0
        body["linear_velocity"] = (speed * random.normal(size=3)).tolist()
    if chance() < 0.4 and not is_static:
        speed = 10.0 ** random.uniform(1, 4) if "spins" in extremes else 3.0
        body["angular_velocity"] = (speed * random.normal(size=3)).tolist()
    if chance() < 0.1:
        body["starts_asleep"] = True
    if chance() < 0.1:
        body["center_of_mass"] = "origin"
    return body


def _shape(random, size, is_needle, depth=0):
    kinds = ["Box", "Sphere", "Capsule", "Cylinder", "Cone", "ConvexHull"] + ["Compound"] * (depth == 0)
    kind = kinds[random.integers(len(kinds))]
    thin = 10.0 ** random.uniform(-3, -1) if is_needle else random.uniform(0.3, 1.0)
    pose = {}
    if depth:
        pose = {"position": (size * random.normal(size=3)).tolist(), "orientation": random.normal(size=4).tolist()}
    if kind == "Box":
        return {
            "type": kind,
            "half_extents": [0.5 * size, 0.5 * size * thin, 0.5 * size * random.uniform(0.2, 1)],
        } | pose
    if kind == "Sphere":
        return {"type": kind, "radius": 0.5 * size} | ({"position": pose["position"]} if pose else {})
    if kind == "Capsule":
        return {"type": kind, "radius": 0.3 * size * thin, "half_length": 0.4 * size} | pose
    if kind in ("Cylinder", "Cone"):
        return {"type": kind, "radius": 0.5 * size * thin, "half_height": 0.5 * size} | pose
    if kind == "ConvexHull":
        points = random.normal(size=(int(random.integers(4, 40)), 3)) * 0.4 * size * [1.0, 1.0, thin]
        return {"type": kind, "points": points.tolist()}
    parts = [_shape(random, 0.5 * size, is_needle, 1) for _ in range(int(random.integers(2, 4)))]
    return {"type": kind, "parts": parts}


def _axis(random):
    chance = random.random
    if chance() < 0.3:
        return {"lower": 0.0, "upper": 0.0}
    if chance() < 0.3:
        return {}
    axis: dict = {}
    if chance() < 0.6:
        lower, upper = sorted(random.normal(size=2))
        axis |= {"lower": float(lower), "upper": float(upper)}
    if chance() < 0.2:
        axis["friction"] = float(10.0 ** random.uniform(-2, 3))
    if chance() < 0.25:
        axis["spring"] = {
            "stiffness": float(10.0 ** random.uniform(0, 5)),
            "damping": float(10.0 ** random.uniform(-1, 3)),
        }
    if chance() < 0.15:
        largest = math.inf if chance() < 0.2 else float(10.0 ** random.uniform(0, 12))
        axis["motor"] = {"velocity": float(2.0 * random.normal()), "largest": largest}
    return axis


def _joint(random, bodies, first):
    chance = random.random
    a = int(random.integers(first, len(bodies)))
    others = [number for number in range(len(bodies)) if number != a]
    b = others[random.integers(len(others))] if others and chance() < 0.8 else None
    kinds = ["Fixed", "Point", "Hinge", "Slider", "Piston", "Generic", "ConeTwist"] + ["Rope"] * (b is not None)
    kind = kinds[random.integers(len(kinds))]
    place = np.array(bodies[a]["position"])
    if b is not None and b >= first and chance() < 0.8:
        place = 0.5 * (place + bodies[b]["position"])
    joint = {"type": kind, "a": a, "b": b, "position": (place + 0.1 * random.normal(size=3)).tolist()}
    joint["orientation"] = random.normal(size=4).tolist()
    if kind in ("Hinge", "Slider"):
        joint["axis"] = _axis(random)
    elif kind == "Piston":
        joint |= {"linear": _axis(random), "angular": _axis(random)}
    elif kind == "Generic":
        joint |= {"linear": [_axis(random) for _ in range(3)], "angular": [_axis(random) for _ in range(3)]}
    elif kind == "ConeTwist":
        joint |= {"swing": float(random.uniform(0, 1.5)), "twist": float(random.uniform(0, 3))}
    elif kind == "Rope":
        joint |= {"length": float(10.0 ** random.uniform(-2, 1)), "anchor_b": list(bodies[b]["position"])}
    if chance() < 0.2:
        joint["breaking_force"] = float(10.0 ** random.uniform(0, 5))
    if chance() < 0.2:
        joint["collide"] = True
    return joint


def _options(random):
    chance = random.random
    options: dict = {"frame_rate": 24.0, "substeps": int(random.choice([1, 2, 4, 4, 4, 10]))}
    if chance() < 0.5:
        options["max_substeps"] = 32
    if chance() < 0.2:
        options["quality"] = str(random.choice(["preview", "exact"]))
    elif chance() < 0.1:
        method, friction = [("nncg", "cone"), ("pgs", "box"), ("amgs", "box")][random.integers(3)]
        options |= {"method": method, "friction": friction}
    return options


# Building


def build(scene: dict) -> Model:
    """The model of a scene; raises ``ModelError`` or ``ShapeError`` where it has none."""
    builder = ModelBuilder(scene["gravity"])
    for body in scene["bodies"]:
        builder.add_body(shape=_built(body["shape"]), kind=BodyKind[body["kind"]], **settings_of(body))
    add_calls(builder, scene)
    for joint in scene["joints"]:
        settings = {
            key: joint[key]
            for key in ("position", "orientation", "anchor_b", "breaking_force", "collide")
            if key in joint
        }
        builder.add_joint(built_joint(joint) or _built_joint(joint), joint["a"], joint["b"], **settings)
    return builder.build()


_SHAPES = {"Box": Box, "Sphere": Sphere, "Capsule": Capsule, "Cylinder": Cylinder, "Cone": Cone}


def _built(shape):
    given = {key: value for key, value in shape.items() if key != "type"}
    if shape["type"] == "ConvexHull":
        return ConvexHull.from_points(given["points"])
    if shape["type"] == "TriangleMesh":
        return TriangleMesh(given["vertices"], given["triangles"])
    if shape["type"] == "Compound":
        return Compound([_built(part) for part in given["parts"]])
    return _SHAPES[shape["type"]](**given)


def _built_axis(axis):
    given = dict(axis)
    if "spring" in given:
        given["spring"] = Spring(**given["spring"])
    if "motor" in given:
        given["motor"] = Motor(**given["motor"])
    return Axis(**given)


def _built_joint(joint):
    kind = joint["type"]
    if kind in ("Hinge", "Slider"):
        return {"Hinge": Hinge, "Slider": Slider}[kind](axis=_built_axis(joint["axis"]))
    if kind == "Piston":
        return Piston(linear=_built_axis(joint["linear"]), angular=_built_axis(joint["angular"]))
    if kind == "Generic":
        return Generic(
            linear=tuple(map(_built_axis, joint["linear"])), angular=tuple(map(_built_axis, joint["angular"]))
        )
    if kind == "ConeTwist":
        return ConeTwist(swing=joint["swing"], twist=joint["twist"])
    if kind == "Rope":
        return Rope(length=joint["length"])
    return {"Fixed": Fixed, "Point": Point}[kind]()


def save(scene: dict, path: Path) -> None:
    """Write a scene; JSON of Python, in which infinity has a name."""
    path.write_text(json.dumps(scene, indent=1) + "\n", encoding="utf-8")


def load(path: Path) -> dict:
    """What ``save`` has written."""
    return json.loads(path.read_text(encoding="utf-8"))
