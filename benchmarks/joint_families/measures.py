"""One scene by both engines: energy, openings and times."""

from dataclasses import dataclass
from time import process_time

import numpy as np

from cairn.addon.cli import ensure_registered
from cairn.addon.demo import build_scene
from cairn.addon.settings import BakeSettings
from cairn.solver_core import ConeTwist, Fixed, FrameInput, Generic, Hinge, Point, Simulation, SimulationOptions
from cairn.solver_core.geometry import rotations
from cairn.solver_core.model.model import BodyKind

from ..blender_bullet import DEFAULTS, time_of_bullet

_FRAME_RATE = 24.0
# What a bake is asked for by default: more substeps where something moves fast.
_OF_A_BAKE = BakeSettings(threads=1)
_G = 9.81


@dataclass
class Outcome:
    """What came of a scene.

    Attributes
    ----------
    name : str
    bodies, joints : int
        That move; all.
    finite : bool
        Whether all poses are numbers.
    gain, gain_of_frame : float
        Largest energy over the start, and over the frame before, of the sum of m g reach; 0 where something drives.
    opening, bullet_opening : float
        Largest distance of two points that a joint holds together, after any frame, of the smallest body's longest
        side.
    missed : int
    ms, worst_ms, bullet_ms : float
        Processor time a frame, and of the longest one after the first [ms].
    speed : float
        Largest speed of a body over that of what is led, where something is led.
    """

    name: str
    bodies: int
    joints: int
    finite: bool
    gain: float
    gain_of_frame: float
    opening: float
    missed: int
    ms: float
    worst_ms: float
    speed: float = 0.0
    bullet_ms: float | None = None
    bullet_opening: float | None = None


def outcome(name, assembly, frames, with_bullet) -> Outcome:
    """Play a scene."""
    found = _by_cairn(name, assembly, frames)
    if with_bullet:
        scene = _for_bullet(assembly, frames)
        found.bullet_ms = 1e3 * time_of_bullet(scene, DEFAULTS) / frames
        found.bullet_opening = _opening(assembly, _motion_of_bullet(scene, assembly))
    return found


def _by_cairn(name, assembly, frames):
    model = assembly.scene(name, frames).build_model()
    moves = model.initial_state.kind == BodyKind.DYNAMIC
    scale = _G * assembly.reach * model.arrays.mass[moves].sum()
    simulation = Simulation(model, SimulationOptions(**_OF_A_BAKE.options(_FRAME_RATE)))
    motion, reports, seconds = [simulation.poses()], [], []
    speed = led_speed = 0.0
    for frame in range(1, frames + 1):
        given = led(assembly, motion[0], frame)
        started = process_time()
        reports.append(simulation.advance_frame(given))
        seconds.append(process_time() - started)
        motion.append(simulation.poses())
        speeds = np.linalg.norm(motion[-1][0] - motion[-2][0], axis=1)
        speed, led_speed = max(speed, speeds[moves].max()), max(led_speed, speeds[~moves].max(initial=0.0))
    energy = np.array([report.kinetic_energy + report.potential_energy for report in reports])
    gains = max(energy.max() - energy[0], 0.0), max(np.diff(energy).max(), 0.0)
    return Outcome(
        name=name,
        bodies=int(moves.sum()),
        joints=len(assembly.joints),
        finite=bool(np.isfinite([position for position, _ in motion]).all()),
        gain=0.0 if assembly.driven else float(gains[0] / scale),
        gain_of_frame=0.0 if assembly.driven else float(gains[1] / scale),
        opening=_opening(assembly, motion),
        missed=sum(report.missed for report in reports),
        ms=1e3 * float(np.mean(seconds[1:])),
        worst_ms=1e3 * max(seconds[1:]),
        speed=float(speed / led_speed) if led_speed else 0.0,
    )


def led(assembly, start, frame):
    """Where what is led is at the end of a frame: ``FrameInput``, or None where nothing is."""
    if not assembly.paths:
        return None
    position, orientation = np.array(start[0]), np.array(start[1])
    for row, body in enumerate(assembly.bodies):
        if body.name in assembly.paths:
            position[row], orientation[row] = assembly.paths[body.name](frame / _FRAME_RATE)
    return FrameInput(position=position, orientation=orientation)


def _for_bullet(assembly, frames):
    """The scene as an animator would have set it up."""
    ensure_registered()
    scene = build_scene(assembly.scene("families", frames))
    for body in assembly.bodies:
        scene.objects[body.name].rigid_body.use_deactivation = False
    for name, path in assembly.paths.items():
        ob = scene.objects[name]
        for frame in range(frames + 1):
            ob.location, ob.rotation_quaternion = path(frame / _FRAME_RATE)
            for channel in ("location", "rotation_quaternion"):
                ob.keyframe_insert(channel, frame=scene.frame_start + frame)
    return scene


def _motion_of_bullet(scene, assembly):
    motion = []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        matrices = [scene.objects[body.name].matrix_world for body in assembly.bodies]
        places = [matrix.translation for matrix in matrices], [matrix.to_quaternion() for matrix in matrices]
        motion.append(tuple(map(np.array, places)))
    return motion


def _opening(assembly, motion):
    """Largest distance of the two points of a joint that holds a point, of the smallest moving body's longest side."""
    row = {body.name: number for number, body in enumerate(assembly.bodies)}
    position, orientation = (np.array(values) for values in zip(*motion, strict=True))
    opening = 0.0
    for joint in assembly.joints:
        if joint.breaking_load is None and _holds_a_point(joint.joint):
            places = []
            for name in (joint.first, joint.second):
                body = assembly.bodies[row[name]]
                back = rotations.conjugate(np.array(body.orientation))
                arm = rotations.rotate(back, np.subtract(joint.position, body.position))
                places.append(position[:, row[name]] + rotations.rotate(orientation[:, row[name]], arm))
            opening = max(opening, float(np.linalg.norm(places[0] - places[1], axis=1).max()))
    sizes = [body.shape.size for body in assembly.bodies if body.kind == BodyKind.DYNAMIC]
    return opening / min(sizes)


def _holds_a_point(joint):
    if isinstance(joint, Generic):
        return all(axis.is_locked for axis in joint.linear)
    return isinstance(joint, Fixed | Point | Hinge | ConeTwist)
