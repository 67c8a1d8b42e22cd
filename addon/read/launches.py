"""Bodies that animation lets go: the speed with which they leave.

Between two frames in which it is *Animated* a body has the speed of its keys, and leaves with it. A body that is let go
in the frame after the start has no such step before; its keys at the start and at that frame are a speed all the same,
and the simulation begins with it. All of it is read from the evaluated scene.
"""

from dataclasses import dataclass

import numpy as np

from ...solver_core.geometry import rotations
from .frame_samples import evaluate_frame, simulation_paused
from .notes import Note
from .object_keys import key_of
from .scene_animation import AnimationSurvey, flag_values, flags_animated
from .scene_poses import finite_matrix, rigid_poses

# Frames that are evaluated for this at most; of bodies that are let go in others nothing is said.
_MOST_FRAMES = 12
# Below this share of its own size a second a body counts as at rest.
_RATIO_REST = 1e-4


@dataclass(frozen=True)
class LetGo:
    """One body, let go in the step that ends at ``frame``; its poses in the two frames that give its speed."""

    frame: int
    duration: float  # [s]
    matrices: tuple  # of two [4, 4]
    from_start: bool  # there is no step before

    def velocity(self, model, index) -> np.ndarray:
        """Linear velocity of the centre of mass [m/s] and angular velocity [rad/s], in world axes [6]."""
        if self.duration <= 0.0:
            return np.zeros(6)
        centers, turns = [], []
        for matrix in self.matrices:
            position, orientation = rigid_poses(matrix[None])
            centers.append(_center(model, index, position, orientation))
            turns.append(orientation[0])
        change = rotations.multiply(turns[1], rotations.conjugate(turns[0]))
        turn = rotations.to_rotation_vector(change if change[0] >= 0.0 else -change)
        return np.concatenate([centers[1] - centers[0], turn]) / self.duration


def motion_into_start(scene, objects, export) -> dict:
    """Velocities with which animation brings bodies to the first frame: {object: linear and angular [6]}.

    Parameters
    ----------
    scene : bpy.types.Scene
        Other frames are shown, with Blender's own simulation off; the caller shows what was shown.
    objects : sequence of bpy.types.Object
    export : SceneExport
        Of the scene: the first frame, and where the bodies' centres of mass are.

    Returns
    -------
    dict
        For objects that are bodies of the export.
    """
    start, matrices = export.frame_start, {}
    indices = {(body.object_name, body.library): body.index for body in export.bodies}
    with simulation_paused(scene):
        for at in (start - 1, start):
            graph = evaluate_frame(scene, at)
            world, render = graph.scene_eval.rigidbody_world, graph.scene_eval.render
            duration = world.time_scale * render.fps_base / render.fps
            for ob in objects:
                if key_of(ob) in indices:
                    matrix = finite_matrix(ob.evaluated_get(graph), f"at frame {at}")
                    matrices.setdefault(ob, []).append(matrix)
    return {
        ob: LetGo(start, duration, tuple(pair), True).velocity(export.model, indices[key_of(ob)])
        for ob, pair in matrices.items()
    }


def _center(model, index, position, orientation):
    """Where a body's centre of mass is for a pose of its user frame [3]."""
    positions, orientations = model.initial_state.position.copy(), model.initial_state.orientation.copy()
    positions[index], orientations[index] = position[0], orientation[0]
    return model.body_poses(positions, orientations)[0][index]


def find_let_go(scene, wanted: dict, frames: range) -> dict[str, LetGo]:
    """How the bodies of ``wanted`` are let go (each with the frame: ``first_let_go``), by full name.

    Other frames are shown then.
    """
    if not wanted:
        return {}
    needed = sorted({at for frame in wanted.values() for at in _frames_of_speed(frame, frames[0])})[:_MOST_FRAMES]
    shown, durations = {}, {}
    for at in needed:
        graph = evaluate_frame(scene, at)
        world, render = graph.scene_eval.rigidbody_world, graph.scene_eval.render
        durations[at] = world.time_scale * render.fps_base / render.fps
        for ob, frame in wanted.items():
            if at in _frames_of_speed(frame, frames[0]):
                shown[ob.name_full, at] = finite_matrix(ob.evaluated_get(graph), f"at frame {at}")
    found = {}
    for ob, frame in wanted.items():
        before, after = _frames_of_speed(frame, frames[0])
        if (ob.name_full, before) in shown and (ob.name_full, after) in shown:
            matrices = shown[ob.name_full, before], shown[ob.name_full, after]
            found[ob.name_full] = LetGo(frame, durations[after], matrices, frame == frames[0] + 1)
    return found


def _frames_of_speed(frame, start):
    return (start, start + 1) if frame == start + 1 else (frame - 2, frame - 1)


def first_let_go(ob, frames: range, survey: AnimationSurvey) -> int | None:
    """The first frame in which a body is dynamic after one in which it was animated; None if there is none."""
    if ob.rigid_body.type != "ACTIVE" or not flags_animated(ob) or not survey.may_move(ob):
        return None
    every = np.array(frames)
    kinematic, enabled = flag_values(ob, "kinematic", every), flag_values(ob, "enabled", every)
    if kinematic is None or enabled is None:
        return None
    let_go = np.flatnonzero(kinematic[:-1] & ~kinematic[1:] & enabled[1:])
    return int(every[let_go[0] + 1]) if len(let_go) else None


def launch(model, let_go: dict, index: dict) -> list[Note]:
    """Give bodies that are let go at once the speed of their keys; returns how fast those leave that are let go.

    Parameters
    ----------
    model : Model
        The velocities of its initial state are written.
    let_go : dict of str to LetGo
        By full names of objects.
    index : dict of str to int
        Rows of the model by these names.
    """
    notes = []
    for name, found in let_go.items():
        body = index[name]
        velocity = found.velocity(model, body)
        if found.from_start:
            model.initial_state.velocity[body] = velocity
        notes.append(let_go_note(model.names[body], found, velocity, model.arrays.size[body]))
    return notes


def let_go_note(name, let_go: LetGo, velocity, size) -> Note:
    """How fast a body leaves."""
    speed, spin = float(np.linalg.norm(velocity[:3])), float(np.linalg.norm(velocity[3:]))
    said = []
    if speed > _RATIO_REST * size:
        said.append(f"at {speed:.2g} m/s")
    if spin > _RATIO_REST:
        said.append(f"turning at {spin:.2g} rad/s")
    if said:
        return Note("info", name, f"leaves {', '.join(said)} in frame {let_go.frame}")
    text = f"is let go in frame {let_go.frame} without any speed: its keys just before do not move it, so it drops"
    return Note("info", name, text)
