"""Jointed scenes simulated by Blender's Bullet, by Rapier and by Cairn, in one process: how far joints open, and the
time.

Each scene becomes Blender objects with Blender's own rigid body constraints (as ``cairn demo`` makes them), and both
simulate those, Blender at its defaults (10 substeps, 10 iterations) and Cairn at its defaults. Rapier plays what it has
the same shapes and joints for (``rapier_joints``), at its defaults. A joint's opening is the
distance of the two points that it holds together, from the poses after every frame; all are measured alike.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from cairn.addon.cli import ensure_registered
from cairn.addon.demo import build_scene
from cairn.addon.read.scene_export import export_scene
from cairn.solver_core import Fixed, Hinge, Point, scenes
from cairn.solver_core.geometry import rotations
from cairn.solver_core.geometry.shapes import Box
from cairn.solver_core.model.model import BodyKind
from cairn.solver_core.scenes.scene import Scene, SceneBody, SceneJoint

from .blender_bullet import DEFAULTS, CairnMotion, motion_of_bullet, time_of_bullet
from .rapier_joints import can_play, play_in_rapier
from .report import Claim, Report

# Cairn may take so many times as long as Bullet, and as Rapier.
_MOST_OF_BULLET, _MOST_OF_RAPIER = 1.0, 3.0
# Largest opening of any joint at any frame [m].
_OPENING = 1e-5
_LINK = 0.3  # length of a chain's links [m]
# What holds a point of both bodies.
_HOLDING = (Fixed, Point, Hinge)


def chain(load: float, level: bool, count: int = 30) -> Scene:
    """Links of 1 kg with a load at their end, from a fixed block: level, or hanging down.

    Parameters
    ----------
    load : float
        [kg].
    level : bool
    count : int
    """
    direction = np.array([1.0, 0.0, 0.0]) if level else np.array([0.0, 0.0, -1.0])
    half = np.abs(direction) * (0.45 * _LINK) + 0.04 * (1.0 - np.abs(direction))
    bodies = [SceneBody("Block", Box((0.1, 0.1, 0.1)), kind=BodyKind.STATIC, position=tuple(-0.1 * direction))]
    for number in range(count):
        place = (number + 0.5) * _LINK * direction
        bodies.append(SceneBody(f"Link.{number + 1:02d}", Box(tuple(half)), position=tuple(map(float, place))))
    place = (count * _LINK + 0.5) * direction
    bodies.append(SceneBody("Load", Box((0.4, 0.4, 0.4)), mass=load, position=tuple(map(float, place))))
    return _scene("chain", bodies, _ties(bodies, [number * _LINK * direction for number in range(count + 1)], Point))


def cantilever(count: int = 10) -> Scene:
    """Cubes of 1 m and 1 kg fixed to each other in a row, the first one to a wall."""
    cube = Box((0.49, 0.49, 0.49))
    bodies = [SceneBody("Wall", cube, kind=BodyKind.STATIC)]
    bodies += [
        SceneBody(f"Cube.{number:02d}", cube, position=(float(number), 0.0, 0.0)) for number in range(1, count + 1)
    ]
    places = [np.array([number + 0.5, 0.0, 0.0]) for number in range(count)]
    return _scene("cantilever", bodies, _ties(bodies, places, Fixed))


def _ties(bodies, places, kind):
    return [
        SceneJoint(
            name=f"Tie.{number + 1:02d}",
            joint=kind(),
            first=bodies[number].name,
            second=bodies[number + 1].name,
            position=tuple(map(float, place)),
        )
        for number, place in enumerate(places)
    ]


def _scene(name, bodies, joints):
    return Scene(name, name, bodies, frame_count=240, camera=(0.0, -20.0, 0.0), target=(0.0, 0.0, 0.0), joints=joints)


@dataclass(frozen=True)
class Case:
    """A scene, and how it is played.

    Attributes
    ----------
    name : str
    make : callable
    frames : int
    repetitions : int
        Of the timed playbacks.
    """

    name: str
    make: Callable[[], Scene]
    frames: int = 240
    repetitions: int = 3


_CASES = (
    Case("chain, 100 kg, level", lambda: chain(100.0, True)),
    Case("chain, 1000 kg, level", lambda: chain(1000.0, True)),
    Case("chain, 1000 kg, hanging", lambda: chain(1000.0, False)),
    Case("cantilever", cantilever),
    Case("bridge", scenes.bridge, frames=192),
    Case("wrecking_ball", scenes.wrecking_ball, frames=72, repetitions=1),
    Case("ragdoll", scenes.ragdoll, frames=144),
    Case("drawbridge", scenes.drawbridge, frames=120, repetitions=1),
    Case("car", scenes.car, frames=120),
)
CASES = {case.name: case for case in _CASES}
_QUICK_FRAMES = 24


def run(quick, plots, only=None) -> Report:
    """Play every scene; ``quick`` takes a second of each but the longest, ``only`` names scenes."""
    ensure_registered()
    cases = [CASES[name] for name in only or CASES]
    if quick:
        cases = [replace(case, frames=_QUICK_FRAMES, repetitions=1) for case in cases if case.name != "wrecking_ball"]
    rows, claims = [], []
    for case in cases:
        row, case_claims = _measure(case)
        print(row, file=sys.stderr, flush=True)  # a full run takes a while
        rows.append(row)
        claims += case_claims
    notes = [
        "Openings in m and the turn of the worst fixed joint in degrees, the largest of all frames; processor times a "
        "frame in ms. Bodies that start with a velocity rest here."
    ]
    return Report(name="joints_bullet", rows=rows, claims=claims, notes=notes)


def _measure(case):
    """A row of the table, and the claims on it."""
    description = case.make()
    resting = {"linear_velocity": (0.0, 0.0, 0.0), "angular_velocity": (0.0, 0.0, 0.0)}
    bodies = [replace(body, **resting) for body in description.bodies]
    description = replace(description, bodies=bodies, frame_count=case.frames)
    scene = build_scene(description)
    for body in description.bodies:
        scene.objects[body.name].rigid_body.use_deactivation = False
    export = export_scene(scene)
    CairnMotion(export).play(2)  # compiles
    bullet, rapier, ours = [], [], []
    has_rapier = can_play(description)
    for _ in range(case.repetitions):
        bullet.append(time_of_bullet(scene, DEFAULTS))
        if has_rapier:
            rapier.append(play_in_rapier(description, case.frames))
        simulated = CairnMotion(export)
        ours.append(simulated.play(case.frames))
    theirs = _openings(description, motion_of_bullet(scene, export, DEFAULTS))
    opening, turn = _openings(description, simulated.motion)
    row = {
        "scene": case.name,
        "bodies": len(description.bodies),
        "joints": len(description.joints),
        "Bullet: ms": 1e3 * median(bullet) / case.frames,
        "Bullet: opening": theirs[0],
        "Bullet: turn": theirs[1],
        "Cairn: ms": 1e3 * median(ours) / case.frames,
        "opening": opening,
        "turn": turn,
        "missed": simulated.missed,
        "time, Cairn over Bullet": median(mine / his for mine, his in zip(ours, bullet, strict=True)),
    }
    if has_rapier:
        row["Rapier: ms"] = 1e3 * median(played.seconds for played in rapier) / case.frames
        row["Rapier: opening"], row["Rapier: turn"] = _openings(description, rapier[0].motion)
        row["time, Cairn over Rapier"] = median(mine / his.seconds for mine, his in zip(ours, rapier, strict=True))
    claims = [
        Claim(f"{case.name}: opening", f"{_OPENING:g}; Bullet {theirs[0]:.2g}", opening, opening <= _OPENING),
        Claim(
            f"{case.name}: time over Bullet's",
            f"{_MOST_OF_BULLET:g} or less",
            row["time, Cairn over Bullet"],
            row["time, Cairn over Bullet"] <= _MOST_OF_BULLET,
            True,
        ),
    ]
    if has_rapier:
        ratio = row["time, Cairn over Rapier"]
        asked = f"{_MOST_OF_RAPIER:g} or less"
        claims.append(Claim(f"{case.name}: time over Rapier's", asked, ratio, ratio <= _MOST_OF_RAPIER, True))
    return row, claims


def _openings(description, motion):
    """Largest distance of the two points of a joint [m], and largest turn within a fixed one [degrees]."""
    row = {body.name: number for number, body in enumerate(description.bodies)}
    position, orientation = (np.array(values) for values in zip(*motion, strict=True))
    opening = turn = 0.0
    for joint in description.joints:
        if not isinstance(joint.joint, _HOLDING):
            continue
        first, second = row[joint.first], row[joint.second]
        places = []
        for body in (first, second):
            back = rotations.conjugate(orientation[0, body])
            arm = rotations.rotate(back, np.array(joint.position) - position[0, body])
            places.append(position[:, body] + rotations.rotate(orientation[:, body], arm))
        opening = max(opening, float(np.linalg.norm(places[0] - places[1], axis=1).max()))
        if isinstance(joint.joint, Fixed):
            between = rotations.multiply(rotations.conjugate(orientation[:, first]), orientation[:, second])
            change = rotations.multiply(rotations.conjugate(between[:1]), between)
            angle = 2.0 * np.arctan2(np.linalg.norm(change[:, 1:], axis=1), np.abs(change[:, 0]))
            turn = max(turn, float(np.degrees(angle.max())))
    return opening, turn
