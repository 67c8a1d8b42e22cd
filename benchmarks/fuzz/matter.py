"""What the scenes of ``--matter`` have beside: what bodies are made of, what pushes and leads them, what they wait for.

It comes from random numbers of its own, so a seed without it is the scene that it always was.
"""

import numpy as np

from cairn.solver_core import (
    Activation,
    Bond,
    Charge,
    Drag,
    Force,
    Gear,
    Guide,
    Harmonic,
    Magnetic,
    ModelBuilder,
    Turbulence,
    Vortex,
    Wind,
)

_RULES = ("product", "mean", "least", "largest")
_FIELDS = {kind.__name__: kind for kind in (Force, Wind, Vortex, Harmonic, Drag, Charge, Magnetic, Turbulence)}
# Of a body: given to the builder by calls of their own.
CALLS = ("push", "guide", "charge", "activation")


def add_matter(scene: dict, seed: int) -> dict:
    """The scene with matter, pushes, guides, fields, bodies that wait, and glue; the same for the same seed."""
    random = np.random.default_rng([seed, 58])
    chance = random.random
    for body in scene["bodies"]:
        _add_to_body(random, body, scene)
    for joint in scene["joints"]:
        if joint["type"] == "Fixed" and joint["b"] is not None and chance() < 0.5:
            joint["type"] = "Bond"
            names = ("tension", "shear", "torsion", "bending_y", "bending_z")
            joint["strengths"] = {name: float(10.0 ** random.uniform(0, 5)) for name in names}
        elif joint["type"] == "Generic" and joint["b"] is not None and chance() < 0.3:
            joint["type"], joint["ratio"] = "Gear", float(random.normal())
    if chance() < 0.2:
        scene["fields"] = [_field(random) for _ in range(int(random.integers(1, 4)))]
    return scene


def _add_to_body(random, body, scene):
    chance = random.random
    if chance() < 0.3:
        body["rolling_friction"] = float(10.0 ** random.uniform(-4, 1))
    if chance() < 0.3:
        body["spinning_friction"] = float(10.0 ** random.uniform(-4, 1))
    if chance() < 0.2:
        body["sliding_friction"] = float(body.get("friction", 0.5) * chance() * (2.0 if chance() < 0.2 else 1.0))
    for name in ("friction_rule", "restitution_rule"):
        if chance() < 0.15:
            body[name] = str(random.choice(_RULES))
    if chance() < 0.1:
        body["surface_velocity"] = (10.0 ** random.uniform(-1, 1.5) * random.normal(size=3)).tolist()
    if chance() < 0.1:
        body["largest_speed"] = float(10.0 ** random.uniform(-1, 1))
    if chance() < 0.1:
        body["collision_mask"] = int(random.integers(1, 4))
    if body["kind"] != "DYNAMIC":
        return
    if chance() < 0.08:
        size = 10.0 ** random.uniform(-1, 3)
        body["push"] = (size * random.normal(size=6) * (chance(6) < 0.6)).tolist()
    if chance() < 0.08:
        body["guide"] = {"frequency": float(10.0 ** random.uniform(-1, 2)), "damping_ratio": float(2.0 * chance())}
        if chance() < 0.5:
            body["guide"]["largest_force"] = float(10.0 ** random.uniform(0, 6))
        body["guide"]["follow"] = float(chance() if chance() < 0.5 else 1.0)
    if chance() < 0.1:
        body["activation"] = ["touch"] if chance() < 0.5 else ["impulse", float(10.0 ** random.uniform(-2, 3))]
    if chance() < 0.1:
        body["charge"] = float(random.normal())


def _field(random):
    kind = str(random.choice(list(_FIELDS)))
    field = {
        "type": kind,
        "position": (3.0 * random.normal(size=3)).tolist(),
        "axis": random.normal(size=3).tolist(),
        "strength": float(random.normal() * 10.0 ** random.uniform(-1, 3)),
        "shape": str(random.choice(["point", "line", "plane"])),
        "flow": float(10.0 ** random.uniform(-2, 2) * (random.random() < 0.2)),
        "noise": float(random.random() * (random.random() < 0.3)),
    }
    if kind in ("Harmonic", "Drag"):
        # the opposite of a spring, or of a drag, leads to infinity
        field["strength"] = abs(field["strength"])
    if kind == "Harmonic":
        field["damping"] = float(random.random())
    return field


def drives(scene: dict) -> bool:
    """Whether something of this pushes, leads or drives bodies, or lets them wait, so that energy comes in."""
    names = ("push", "guide", "activation", "surface_velocity")
    return bool(scene.get("fields")) or any(name in body for body in scene["bodies"] for name in names)


def settings_of(body: dict) -> dict:
    """What ``add_body`` gets of a stored body."""
    given = {key: value for key, value in body.items() if key not in ("shape", "kind", *CALLS)}
    if "activation" in body and body["kind"] == "DYNAMIC":
        kind, *threshold = body["activation"]
        given["activation"] = getattr(Activation, kind)(*threshold)
    return given


def add_calls(builder: ModelBuilder, scene: dict) -> None:
    """Fields, and what acts on single bodies."""
    for number, body in enumerate(scene["bodies"]):
        if "push" in body:
            builder.push_body(number, body["push"][:3], body["push"][3:])
        if "guide" in body:
            builder.guide_body(number, Guide(**body["guide"]))
        if "charge" in body:
            builder.respond_to_fields(number, charge=body["charge"])
    for field in scene.get("fields", ()):
        builder.add_field(_FIELDS[field["type"]](**{key: value for key, value in field.items() if key != "type"}))


def built_joint(joint: dict) -> Bond | Gear | None:
    """A joint of this module; None of another kind."""
    if joint["type"] == "Bond":
        return Bond(**joint["strengths"])
    if joint["type"] == "Gear":
        return Gear(ratio=joint["ratio"])
    return None
