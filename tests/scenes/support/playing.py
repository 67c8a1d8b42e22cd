"""Plays of a file: by Blender's Bullet, frame by frame, and by Cairn, through the add-on's own bake and its keys."""

from dataclasses import dataclass, field
from pathlib import Path
from time import process_time

import bpy
import numpy as np

from cairn.addon.bake import bake_frames
from cairn.addon.read.scene_export import export_scene
from cairn.addon.settings import BakeSettings
from cairn.solver_core.diagnostics import deepest_overlap


@dataclass
class Play:
    """What one engine made of a file.

    Attributes
    ----------
    names : list of str
        Objects with a rigid body.
    active : list of str
        Those of the type Active.
    matrices : float64 [frame_count, body_count, 4, 4]
        World matrices, from the first frame on.
    vertices : dict of str to float64 [vertex_count, 3]
        Of the meshes as evaluated, in the objects' own space.
    anchors : list of (str, str or None, str or None, float64 [3])
        Joints that hold two points together: name, the two bodies, the point at the start.
    first_frame : int
    fps : float
        Frames in a second of the simulated world.
    seconds : float
        Processor time of the simulation alone.
    bake_seconds : float
        Of the whole bake; 0 for Bullet.
    missed : int
        Solves that ended above their tolerance; 0 for Bullet.
    """

    names: list
    active: list
    matrices: np.ndarray
    vertices: dict
    anchors: list
    first_frame: int
    fps: float
    seconds: float
    bake_seconds: float = 0.0
    missed: int = 0
    notes: list = field(default_factory=list)

    def matrix(self, name):
        """[frame_count, 4, 4]."""
        return self.matrices[:, self.names.index(name)]

    def path(self, name):
        """Places of an object's origin [frame_count, 3]."""
        return self.matrix(name)[:, :3, 3]

    def points(self, name):
        """Vertices in the world [frame_count, vertex_count, 3]."""
        matrix = self.matrix(name)
        return np.einsum("fij,vj->fvi", matrix[:, :3, :3], self.vertices[name]) + matrix[:, None, :3, 3]

    def middle(self, name):
        """Middle of the bounding box [frame_count, 3]."""
        points = self.points(name)
        return 0.5 * (points.min(axis=1) + points.max(axis=1))

    def size(self, name):
        """Largest extent at the start, or at the end of what starts as a point [m]."""
        points = self.points(name)
        return float(np.ptp(points[0], axis=0).max()) or float(np.ptp(points[-1], axis=0).max())

    def speed(self, name):
        """Speeds of the fastest vertex between frames [frame_count - 1]."""
        return np.linalg.norm(np.diff(self.points(name), axis=0), axis=2).max(axis=1) * self.fps

    def chosen(self, prefix):
        """Names of active bodies that begin so."""
        found = [name for name in self.active if name.startswith(prefix)]
        assert found, f"no active body begins with {prefix!r}"
        return found

    def frame(self, number):
        """Index of a frame of the file."""
        return number - self.first_frame


# Of joints that hold two points together; the others let them slide or swing apart.
_HOLDING = {"FIXED", "POINT", "HINGE"}


def play_cairn(scene, end=None) -> Play:
    """Bake, and read the keys back as the viewport shows them."""
    first = scene.rigidbody_world.point_cache.frame_start
    play = _described(scene)
    settings = BakeSettings.from_scene(scene, {"threads": 1} | ({} if end is None else {"end": end}))
    steps = bake_frames(scene, settings)
    simulating = whole = 0.0
    while True:
        started = process_time()
        try:
            progress = next(steps)
        except StopIteration as stop:
            result = stop.value
            whole += process_time() - started
            break
        spent = process_time() - started
        whole += spent
        simulating += spent if progress.stage == "simulate" else 0.0
    assert result.error is None, result.error
    play.seconds, play.bake_seconds = simulating, whole
    play.missed = result.report["totals"]["missed"]
    play.notes = [str(note) for note in result.export.notes]
    play.matrices = _matrices(scene, play.names, range(first, result.frame_end + 1))
    return play


def play_bullet(scene, end=None) -> Play:
    """Play forwards; the time is that of the first playback less that of a second one, which reads the cache."""
    cache = scene.rigidbody_world.point_cache
    frames = range(cache.frame_start, (end or cache.frame_end) + 1)
    play = _described(scene)
    _forget_cache(scene)
    seconds = []
    for _ in range(2):
        started = process_time()
        for frame in frames:
            scene.frame_set(frame)
        seconds.append(process_time() - started)
    play.seconds = max(seconds[0] - seconds[1], 1e-4)
    play.matrices = _matrices(scene, play.names, frames)
    return play


def opened_again():
    """The scene after a save and an opening of its file, as other people's files come."""
    path = str(Path(bpy.app.tempdir) / "played.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, check_existing=False)
    bpy.ops.wm.open_mainfile(filepath=path, load_ui=False)
    return bpy.context.scene


def _forget_cache(scene):
    """Have Bullet build its world anew from the poses of the first frame; a change of its settings does that."""
    world, first = scene.rigidbody_world, scene.rigidbody_world.point_cache.frame_start
    for _ in range(2):
        scene.frame_set(first)
        world.solver_iterations += 1
        scene.frame_set(first)
        world.solver_iterations -= 1
        scene.frame_set(first)


def _matrices(scene, names, frames):
    """World matrices [frame_count, body_count, 4, 4] as shown."""
    matrices = []
    for frame in frames:
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        matrices.append([np.array(bpy.data.objects[name].evaluated_get(graph).matrix_world) for name in names])
    return np.array(matrices)


def _described(scene):
    """A play without its motion."""
    cache = scene.rigidbody_world.point_cache
    scene.frame_set(cache.frame_start)
    graph = bpy.context.evaluated_depsgraph_get()
    bodies = [ob for ob in scene.objects if ob.rigid_body]
    vertices = {}
    for ob in bodies:
        evaluated = ob.evaluated_get(graph)
        points = np.array([tuple(vertex.co) for vertex in evaluated.data.vertices])
        vertices[ob.name] = points.reshape(-1, 3)
    anchors = []
    for ob in scene.objects:
        constraint = ob.rigid_body_constraint
        if constraint and constraint.type in _HOLDING:
            pair = [end.name if end else None for end in (constraint.object1, constraint.object2)]
            anchors.append((ob.name, *pair, np.array(ob.matrix_world.translation)))
    return Play(
        names=[ob.name for ob in bodies],
        active=[ob.name for ob in bodies if ob.rigid_body.type == "ACTIVE"],
        matrices=np.empty((0, len(bodies), 4, 4)),
        vertices=vertices,
        anchors=anchors,
        first_frame=cache.frame_start,
        fps=scene.render.fps / scene.rigidbody_world.time_scale,
        seconds=0.0,
    )


def joint_gap(play):
    """Largest distance of two points that a joint holds together, over all frames [m]."""
    worst = 0.0
    for _, first, second, point in play.anchors:
        ends = []
        for name in (first, second):
            if name is None:
                ends.append(np.tile(point, (len(play.matrices), 1)))
                continue
            matrix = play.matrix(name)
            local = np.linalg.solve(matrix[0, :3, :3], point - matrix[0, :3, 3])
            ends.append(matrix[:, :3, :3] @ local + matrix[:, :3, 3])
        worst = max(worst, float(np.linalg.norm(ends[0] - ends[1], axis=1).max()))
    return worst


def overlaps(scene, play, every=4):
    """Deepest overlap of any pair by Cairn's collision after each ``every``-th frame [m], [frames].

    ``scene`` is unplayed; its shapes are those that Cairn reads.
    """
    export = export_scene(scene)
    columns = [play.names.index(body.object_name) for body in export.bodies]
    depths = []
    for matrices in play.matrices[::every, columns]:
        axes = matrices[:, :3, :3].copy()
        axes[~axes.any(axis=(1, 2))] = np.eye(3)  # what has not popped in yet
        axes /= np.linalg.norm(axes, axis=1, keepdims=True)
        depths.append(deepest_overlap(export.model, np.ascontiguousarray(matrices[:, :3, 3]), _quaternions(axes)))
    return np.array(depths)


def _quaternions(axes):
    """Unit quaternions (w, x, y, z) of rotation matrices [count, 3, 3]."""
    from mathutils import Matrix

    return np.array([tuple(Matrix(matrix.tolist()).to_quaternion()) for matrix in axes])
